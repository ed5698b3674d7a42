/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder with a repository, data of our own and a campaign file, for tests of the latter. */
#ifndef UNIT_CAMPAIGN_FIXTURE_H
#define UNIT_CAMPAIGN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fs.h"
#include "io/config.h"

/* A folder with a repository, a campaign file and data of our own; see setup(). */
static char dir[64], file[128];

#define HEAD             \
	"[campaign]\n"   \
	"repo = linux\n" \
	"good = v1\n"    \
	"bad = v2\n"
#define QEMU HEAD "[workload]\nuse = hugetlb_exit\nmetric = exit_ms\n"
/* the next line is line 10 */
#define COMMAND                                                                                \
	HEAD "[workload]\nmetric = exit_ms\n[target]\ntype = command\ncommand = ./measure.sh " \
	     "--x\n"

static inline void put(const char *name, const char *text)
{
	_cleanup_free_ char *path = fs_join(dir, name), *folder = fs_dirname(path);
	struct err e = ERR_INIT;

	if (fs_mkdirs(folder, &e) < 0 || fs_write(path, text, strlen(text), &e) < 0)
		fail_msg("%s", e.msg);
}

static inline int setup(void **state)
{
	_cleanup_free_ char *data = NULL;
	char *real;

	(void)state;
	strcpy(dir, "/tmp/kr-config-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	real = fs_absolute(dir);
	strcpy(dir, real);
	free(real);
	snprintf(file, sizeof(file), "%s/hunt.ini", dir);
	put("data/configs/kernel/qemu-x86_64.config", "CONFIG_A=y\n");
	put("data/configs/kernel/hugetlb.config", "CONFIG_B=y\n");
	put("data/qemu/microvm.ini", "");
	put("data/qemu/pc.ini", "");
	put("data/workloads/hugetlb_exit/hugetlb_exit.ini", "");
	put("data/workloads/ebizzy/ebizzy.ini", "");
	put("linux/HEAD", "");
	put("own/mine.config", "");
	put("own/mine.ini", "");
	put("fixes/b.patch", "");
	put("fixes/a.patch", "");
	put("fixes/with blank.diff", "");
	put("fixes/[x].diff", "");
	put("measure.sh", "#!/bin/sh\n");
	put("plain.sh", "#!/bin/sh\n");
	data = fs_join(dir, "measure.sh");
	chmod(data, 0755);
	free(data);
	data = fs_join(dir, "data");
	setenv("KREGRESS_DATADIR", data, 1);
	setenv("XDG_STATE_HOME", "/var/none/state", 1);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	return fs_remove_tree(dir, NULL);
}

static inline int load_options(const char *text, const struct strv *options, struct config *c,
			       struct err *e)
{
	put("hunt.ini", text);
	return config_load(file, options, c, e);
}

static inline void must_load(const char *text, struct config *c)
{
	struct err e = ERR_INIT;

	if (load_options(text, NULL, c, &e) < 0)
		fail_msg("refused: %s", e.msg);
}

/* "file:@line: " is put before @message; the whole text must be that. */
static inline void check_refused(const char *text, int line, const char *message)
{
	_cleanup_free_ char *expected = xasprintf("%s:%d: %s", file, line, message);
	struct config c = { .path = NULL };
	struct err e = ERR_INIT;

	assert_int_equal(load_options(text, NULL, &c, &e), -1);
	assert_string_equal(e.msg, expected);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_null(c.path);
}

/* A whole campaign for QEMU, and @line below [section] as its lines 8 and 9. */
static inline void check_line(const char *section, const char *line, const char *message)
{
	_cleanup_free_ char *text = xasprintf(QEMU "[%s]\n%s\n", section, line);

	check_refused(text, 9, message);
}

static inline void check_option(const char *option, const char *message)
{
	_cleanup_strv_ struct strv options = STRV_INIT;
	struct config c;
	struct err e = ERR_INIT;

	strv_add(&options, option);
	assert_int_equal(load_options(QEMU, &options, &c, &e), -1);
	assert_string_equal(e.msg, message);
}

static inline void assert_below_dir(const char *path, const char *rest)
{
	assert_int_equal(strncmp(path, dir, strlen(dir)), 0);
	assert_string_equal(path + strlen(dir), rest);
}

#endif
