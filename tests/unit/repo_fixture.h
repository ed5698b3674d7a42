/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scratch folder and the repository that the tests of io/repo work on. */
#ifndef KR_TESTS_REPO_FIXTURE_H
#define KR_TESTS_REPO_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/sig.h"
#include "base/str.h"
#include "io/repo.h"

/* libgit2 1.5 forgets a buffer of the regular expressions it tries on describe names. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpcre2";
}

static char top[] = "/tmp/kregress-repo-XXXXXX";

/* Run a shell script in the scratch folder; its output without the last line break. Owned. */
static char *sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *sh(const char *fmt, ...)
{
	struct str out = STR_INIT;
	struct proc_result res;
	struct err e = ERR_INIT;
	char *text, *script;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	script = xasprintf("set -e\n%s", text);
	{
		char *argv[] = { xstrdup("sh"), xstrdup("-c"), script, NULL };
		const struct proc_opts o = {
			.argv = argv, .cwd = top, .out = &out, .inherit_stderr = true
		};

		if (proc_run(&o, &res, &e))
			fail_msg("%s", e.msg);
		if (res.end != PROC_EXITED || res.status)
			fail_msg("failed: %s", text);
		free(argv[0]);
		free(argv[1]);
	}
	free(text);
	free(script);
	while (out.len && out.buf[out.len - 1] == '\n')
		out.buf[--out.len] = '\0';
	return str_detach(&out);
}

static void do_sh(const char *script)
{
	free(sh("%s", script));
}

static struct repo *open_at(const char *name)
{
	_cleanup_free_ char *path = fs_join(top, name);
	struct repo *r = NULL;
	struct err e = ERR_INIT;

	if (repo_open(path, &r, &e))
		fail_msg("%s", e.msg);
	return r;
}

static struct commit_id resolve(struct repo *r, const char *rev)
{
	struct commit_id id = { { 0 } };
	struct err e = ERR_INIT;

	if (repo_resolve(r, rev, "good in [campaign]", &id, &e))
		fail_msg("%s", e.msg);
	return id;
}

/* What every test works on: a merge, a tag, odd files; commits one minute apart. */
static const char make_main[] =
	"git init -q -b main main && cd main\n"
	"n=1700000000; commit() { n=$((n+60)); git add -A;"
	" GIT_AUTHOR_DATE=\"$n +0130\" GIT_COMMITTER_DATE=\"$((n+5)) +0000\""
	" git commit -q --allow-empty -m \"$1\"; }\n"
	"mkdir mm include; echo one >mm/a; echo '*.o' >.gitignore; printf 'x\\r\\n' >crlf.txt\n"
	"echo '* text=auto eol=crlf' >.gitattributes; ln -s mm/a link; echo '#!' >run; chmod +x "
	"run\n"
	"commit 'root: begin'; git tag -a -m tag v1\n"
	"echo two >mm/a; commit 'mm: two'\n"
	"git checkout -q -b topic; echo t >include/t; commit 'topic: a header'\n"
	"git checkout -q main; echo three >mm/a; commit 'mm: three\n\nlong text'\n"
	"n=$((n+60)); GIT_COMMITTER_DATE=\"$n +0000\" git merge -q --no-ff -m 'merge topic' topic\n"
	"rm link; echo file >link; git mv run mm/run; commit 'link: a file now'\n"
	"git branch -q side v1; git update-index --add --cacheinfo "
	"160000,$(git rev-parse v1^{}),sub; commit_tree=1\n"
	"printf odd >\"$(printf 'new\\nline \\\"q\\\" \\377')\"; git add -A -- . ':!sub'\n"
	"GIT_COMMITTER_DATE=\"$((n+120)) +0000\" git commit -q -m 'odd names'\n";

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(top))
		return -1;
	setenv("HOME", top, 1);
	setenv("XDG_CONFIG_HOME", top, 1);
	unsetenv("GIT_CONFIG_GLOBAL");
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	do_sh("git config --global user.name 'A U Thor'; git config --global user.email a@u");
	do_sh(make_main);
	return 0;
}

static int tear_down(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	return fs_remove_tree(top, &e);
}

#endif
