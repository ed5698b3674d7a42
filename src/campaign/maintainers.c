/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom a report concerns: the tree's own script is asked. */
#include "campaign/maintainers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "io/gitrun.h"

#define TIMEOUT_MS 30000
#define OUTPUT_MAX (64u << 10)
#define SCRIPT "scripts/get_maintainer.pl"

struct asking {
	struct session *s;
	const struct report *r;
	char *dir; /* temporary; ours */
	char hex[COMMIT_HEX + 1];
};

static void asking_release(struct asking *a)
{
	struct err ignored = ERR_INIT;

	if (a->dir)
		fs_remove_tree(a->dir, &ignored);
	free(a->dir);
}

static int make_dir(struct asking *a, struct err *e)
{
	const char *base = getenv("TMPDIR");
	char *path = xasprintf("%s/kregress-XXXXXX", base && *base ? base : "/tmp");
	_cleanup_free_ char *scripts = NULL;

	if (!mkdtemp(path)) {
		free(path);
		return err_set(e, ERR_SYS, "no temporary folder");
	}
	a->dir = path;
	scripts = fs_join(a->dir, "scripts");
	return fs_mkdirs(scripts, e);
}

/* What git prints becomes the file @name in our folder. */
static int git_to_file(struct asking *a, const char *const *args, const char *name, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	_cleanup_strv_ struct strv env = STRV_INIT;
	_cleanup_free_ char *path = fs_join(a->dir, name);
	struct gitrun g = { .args = args, .env = &env, .out = &text };
	int ret;

	strv_addf(&env, "GIT_DIR=%s", repo_common_dir(a->s->repo));
	ret = gitrun(&g, e);
	if (ret < 0)
		return -1;
	if (ret > 0)
		return err_set(e, ERR_NOT_FOUND, "this tree has no %s", name);
	return fs_write(path, str_text(&text), text.len, e);
}

static int one_file(struct asking *a, const char *name, struct err *e)
{
	_cleanup_free_ char *what = xasprintf("%s:%s", a->hex, name);
	const char *const args[] = { "-c", "safe.directory=*", "cat-file", "blob", what, NULL };

	return git_to_file(a, args, name, e);
}

static int patch_file(struct asking *a, struct err *e)
{
	char parent[COMMIT_HEX + 1];
	const char *const args[] = { "-c",
				     "safe.directory=*",
				     "diff-tree",
				     "-p",
				     "--root",
				     "--no-ext-diff",
				     "--no-textconv",
				     commit_is_null(&a->r->culprit_parent)
					     ? "--no-commit-id"
					     : commit_hex(&a->r->culprit_parent, parent),
				     a->hex,
				     NULL };

	return git_to_file(a, args, "patch", e);
}

/* "Name <address> (maintainer:MEMORY MANAGEMENT)": maintainers to To, the rest to Cc. */
static void take_line(const char *line, size_t n, struct record *d)
{
	_cleanup_free_ char *copy = xstrndup(line, n);
	char *role = strrchr(copy, '(');
	bool to;

	if (!role || role == copy)
		return;
	to = str_starts(role, "(maintainer") || str_starts(role, "(supporter");
	while (role > copy && role[-1] == ' ')
		role--;
	*role = '\0';
	if (!copy[0] || strv_has(&d->to, copy) || strv_has(&d->cc, copy))
		return;
	strv_add(to ? &d->to : &d->cc, copy);
}

static int run_script(struct asking *a, struct str *out, struct err *e)
{
	static const char *const words[] = {
		"perl", SCRIPT, "--notree", "--nogit", "--nogit-fallback", "--roles", "patch"
	};
	_cleanup_strv_ struct strv argv = STRV_INIT;
	_cleanup_strv_ struct strv env = STRV_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		strv_add(&argv, words[i]);
	struct proc_opts o = { .argv = argv.v,
			       .env = &env,
			       .cwd = a->dir,
			       .timeout_ms = TIMEOUT_MS,
			       .max_output = OUTPUT_MAX,
			       .out = out };
	struct proc_result res;
	char how[64];

	/* settings of the user, and of a repository around, are not the tree's */
	strv_addf(&env, "HOME=%s", a->dir);
	strv_addf(&env, "GIT_CEILING_DIRECTORIES=%s", a->dir);
	if (proc_run(&o, &res, e) < 0)
		return -1;
	if (res.end == PROC_NO_START)
		return err_set(e, ERR_LAB, "perl is not installed");
	if (res.end != PROC_EXITED || res.status != 0)
		return err_set(e, ERR_LAB, "%s", proc_describe(&res, how, sizeof(how)));
	return 0;
}

static int ask(struct asking *a, struct record *d, struct err *e)
{
	_cleanup_str_ struct str out = STR_INIT;
	size_t n;

	if (make_dir(a, e) < 0 || one_file(a, SCRIPT, e) < 0 || one_file(a, "MAINTAINERS", e) < 0 ||
	    patch_file(a, e) < 0 || run_script(a, &out, e) < 0)
		return -1;
	for (const char *at = str_text(&out); *at; at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		take_line(at, n, d);
	}
	return 0;
}

void maintainers_ask(struct session *s, const struct report *r, struct record *d)
{
	_cleanup_(asking_release) struct asking a = { .s = s, .r = r };
	struct err e = ERR_INIT;

	if (commit_is_null(&r->culprit.id)) {
		d->no_maintainer = xstrdup("there is no culprit to ask about");
		return;
	}
	commit_hex(&r->culprit.id, a.hex);
	if (r->culprit.email && r->culprit.email[0])
		strv_addf(&d->to, "%s <%s>", r->culprit.author ? r->culprit.author : "",
			  r->culprit.email);
	if (ask(&a, d, &e) < 0)
		d->no_maintainer = xstrdup(e.msg);
	if (!r->fix && !strv_has(&d->cc, "regressions@lists.linux.dev"))
		strv_add(&d->cc, "regressions@lists.linux.dev");
}
