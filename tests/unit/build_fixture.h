/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A miniature tree that looks like the kernel's to make: targets, O=, Kconfig,
 * fragments, release. It is a stand-in that tests the logic of slot, cache and errors;
 * tests/e2e builds real kernels.
 */
#ifndef KR_TESTS_BUILD_FIXTURE_H
#define KR_TESTS_BUILD_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "io/build_internal.h"

static char *fx_top; /* temporary folder: repo, cache, log, fragments */
static struct repo *fx_repo;

/* Run a shell command in the temporary folder; its stdout without the last newline, owned. */
static char *sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *sh(const char *fmt, ...)
{
	va_list ap;
	struct str out = STR_INIT;
	struct proc_result res;
	struct err e = ERR_INIT;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	char name[] = "sh", set[] = "-ec";
	char *argv[] = { name, set, text, NULL };
	struct proc_opts o = { .argv = argv, .cwd = fx_top, .out = &out, .inherit_stderr = true };

	if (proc_run(&o, &res, &e) < 0 || res.end != PROC_EXITED || res.status != 0)
		fail_msg("'%s' failed: %s", text, e.msg);
	while (out.len && out.buf[out.len - 1] == '\n')
		out.buf[--out.len] = '\0';
	return str_detach(&out);
}

static void shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline void shell(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	free(sh("%s", text));
}

static const char fx_makefile[] =
	"VERSION = 6.1.2\n"
	"CC = gcc\n"
	"OBJS = $(patsubst %.c,$(O)/%.o,$(wildcard *.c))\n"
	"bzImage: $(O)/arch/x86/boot/bzImage $(O)/include/config/kernel.release\n"
	"$(O)/arch/x86/boot/bzImage: $(O)/vmlinux\n"
	"\t@mkdir -p $(@D)\n"
	"\t@{ echo image of $(KBUILD_BUILD_USER) '$(KBUILD_BUILD_TIMESTAMP)'; cat $<; } >$@\n"
	"$(O)/vmlinux: $(OBJS)\n"
	"\t@$(CC) -nostdlib -static -Wl,--build-id=sha1 -Wl,-e,main -o $@ $(sort $^)\n"
	"$(O)/%.o: %.c $(O)/.config\n"
	"\t@echo $* >>$(O)/compiled\n"
	"\t@echo '  CC      $*.o'\n"
	"\t@$(CC) -g -fno-stack-protector -c -o $@ $(CURDIR)/$<\n"
	"$(O)/include/config/kernel.release: Makefile\n"
	"\t@mkdir -p $(@D)\n"
	"\t@echo $(VERSION)$(LOCALVERSION) >$@\n"
	"tinyconfig:\n"
	"\t@echo config >>$(O)/configured\n"
	"\t@cp tiny.config $(O)/.config\n"
	/* Kconfig: "NAME default" a line; what it does not know is dropped in silence. */
	"olddefconfig:\n"
	"\t@! grep -n '^broken' Kconfig | sed 's/^\\([0-9]*\\):.*/Kconfig:\\1: syntax error/' | "
	"grep .\n"
	"\t@awk 'NR == FNR { if (match($$0, /^# CONFIG_[A-Z0-9_]* is/)) v[$$2] = \"n\";\\\n"
	"\t\telse if ((i = index($$0, \"=\"))) v[substr($$0, 1, i - 1)] = substr($$0, i + 1); next "
	"}\\\n"
	"\t\t{ s = \"CONFIG_\" $$1; x = s in v ? v[s] : $$2;\\\n"
	"\t\tif (x == \"n\") print \"# \" s \" is not set\"; else print s \"=\" x }' \\\n"
	"\t\t$(O)/.config Kconfig >$(O)/.config.new && mv $(O)/.config.new $(O)/.config\n";

static inline void write_file(const char *path, const char *text)
{
	_cleanup_free_ char *full = fs_join(fx_top, path);
	struct err e = ERR_INIT;

	if (fs_write(full, text, strlen(text), &e) < 0)
		fail_msg("%s", e.msg);
}

static inline char *read_file(const char *path)
{
	_cleanup_free_ char *full = fs_join(fx_top, path);
	struct str s = STR_INIT;
	struct err e = ERR_INIT;

	if (fs_read(full, 1 << 20, &s, &e) < 0)
		fail_msg("%s", e.msg);
	return str_detach(&s);
}

/* Commit what is in the work tree, whatever it is. */
static inline struct commit_id commit_all(void)
{
	struct commit_id id;
	_cleanup_free_ char *hex =
		sh("cd repo; git add -A; git commit -q --allow-empty -m x; git rev-parse HEAD");

	assert_true(commit_parse(hex, &id));
	return id;
}

static inline int fx_setup(void **state)
{
	struct err e = ERR_INIT;
	char name[] = "/tmp/kregress-build-XXXXXX";

	(void)state;
	fx_top = xstrdup(mkdtemp(name));
	shell("git init -q repo; cd repo; git config user.name t; git config user.email t@t");
	write_file("repo/Makefile", fx_makefile);
	write_file("repo/tiny.config", "# tiny\nCONFIG_A=y\nCONFIG_SIZE=0x10\n");
	write_file("repo/Kconfig", "A n\nB n\nNAME \"none\"\nSIZE 5\nLOCALVERSION \"-x\"\n");
	write_file("repo/main.c", "int other(void);\nint main(void) { return other(); }\n");
	write_file("repo/other.c", "int other(void) { return 1; }\n");
	_cleanup_free_ char *cache = fs_join(fx_top, "cache");
	_cleanup_free_ char *repo = fs_join(fx_top, "repo");

	setenv("XDG_CACHE_HOME", cache, 1);
	if (repo_open(repo, &fx_repo, &e) < 0)
		fail_msg("%s", e.msg);
	return 0;
}

static inline int fx_teardown(void **state)
{
	(void)state;
	repo_close(fx_repo);
	fx_repo = NULL;
	fs_remove_tree(fx_top, NULL);
	free(fx_top);
	fx_top = NULL;
	return 0;
}

/* Options of a tinyconfig build; the lists may be filled before open_builder(). */
struct fx {
	struct build_opts o;
	struct strv fragments, patches, make_args, command, env;
};

static inline void fx_init(struct fx *f)
{
	*f = (struct fx){ .o = { .repo = fx_repo,
				 .arch = "x86_64",
				 .config = "tinyconfig",
				 .jobs = 2,
				 .timeout_ms = 60000,
				 .ccache = 0 } };
	f->o.fragments = &f->fragments;
	f->o.patches = &f->patches;
	f->o.make_args = &f->make_args;
	f->o.command = &f->command;
	f->o.command_env = &f->env;
	f->o.command_dir = fx_top;
}

static inline void fx_release(struct fx *f)
{
	strv_release(&f->fragments);
	strv_release(&f->patches);
	strv_release(&f->make_args);
	strv_release(&f->command);
	strv_release(&f->env);
}

static inline void close_builder(struct builder **b)
{
	builder_close(*b);
}
#define _cleanup_fx_ _cleanup_(fx_release)
#define _cleanup_builder_ _cleanup_(close_builder)
#define _cleanup_result_ _cleanup_(build_result_release)

static inline struct builder *open_builder(const struct fx *f)
{
	struct builder *b = NULL;
	struct err e = ERR_INIT;

	if (builder_open(&f->o, &b, &e) < 0)
		fail_msg("%s", e.msg);
	return b;
}

static inline int try_build(struct builder *b, struct commit_id id, struct build_result *r,
			    struct err *e)
{
	_cleanup_free_ char *log = fs_join(fx_top, "log");

	return builder_build(b, &id, 0, log, r, e);
}

static inline struct build_result build(struct builder *b, struct commit_id id)
{
	struct build_result r = { .outcome = TRIAL_UNSET };
	struct err e = ERR_INIT;

	if (try_build(b, id, &r, &e) < 0)
		fail_msg("%s", e.msg);
	return r;
}

/* How often the stand-in's make has compiled anything in this slot's O= folder. */
static inline int compiled(const struct builder *b, const char *what)
{
	_cleanup_free_ char *n = sh("grep -c '^%s$' '%s'/compiled || :", what, builder_out(b));

	return atoi(n);
}

static inline int64_t mtime_ns(const char *dir, const char *name)
{
	_cleanup_free_ char *path = fs_join(dir, name);
	struct stat st;

	if (stat(path, &st) < 0)
		return -1;
	return st.st_mtim.tv_sec * (int64_t)1000000000 + st.st_mtim.tv_nsec;
}

#endif
