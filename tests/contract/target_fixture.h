/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bench for targets: a folder, a misbehaving workload, a guest, trials. */
#ifndef KR_TESTS_TARGET_FIXTURE_H
#define KR_TESTS_TARGET_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fs.h"
#include "base/proc.h"
#include "io/initramfs.h"
#include "io/workload.h"
#include "target/guest.h"
#include "target/target.h"

#define MAX_WORDS 8

static struct bench {
	char dir[64];       /* of everything, removed at the end */
	char *misbehave;    /* host path of the workload */
	const char *kernel; /* NULL: none given */
	unsigned trials;
} bench;

/* One trial to be made; zero is: one run of 10 s, default memory, no settings. */
struct attempt {
	const char *words[MAX_WORDS]; /* arguments of the workload */
	const char *program;          /* instead of ./misbehave */
	unsigned runs;
	int64_t timeout_ms, boot_timeout_ms;
	const char *append, *image, *build_id, *release, *nonce;
	const char *setting, *value;
	bool no_initrd;
	uint64_t initrd_bytes, memory_bytes;
	enum qemu_accel accel;
	bool auto_accel, deterministic;
	bool full_disk; /* where console.log goes */
	struct target_observe observe;
	unsigned cpus;
	const char *qemu, *machine, *extra_arg, *cache_dir;
};

static void must(const struct err *e, int ret)
{
	if (ret < 0)
		fail_msg("%s", e->msg);
}

static int bench_open(void **state)
{
	_cleanup_free_ char *source = fs_data_dir();
	const char *cc = getenv("GUEST_CC");
	struct proc_opts o = { .merge_stderr = true };
	_cleanup_strv_ struct strv argv = STRV_INIT;
	struct proc_result res;
	struct err e = ERR_INIT;

	(void)state;
	/* Blanks and commas are what QEMU's command line is touchy about. */
	strcpy(bench.dir, "/tmp/kregress, target=1,-XXXXXX");
	if (!mkdtemp(bench.dir))
		return -1;
	bench.kernel = guest_pick_image(getenv("KREGRESS_TEST_KERNEL"),
					getenv("KREGRESS_TEST_VMLINUX"));
	bench.misbehave = fs_join(bench.dir, "misbehave");
	strv_add(&argv, cc && *cc ? cc : "cc");
	strv_add(&argv, "-D_GNU_SOURCE");
	strv_add(&argv, "-O1");
	strv_add(&argv, "-static");
	strv_add(&argv, "-o");
	strv_add(&argv, bench.misbehave);
	strv_addf(&argv, "%s/tests/contract/guest/misbehave.c", source);
	o.argv = argv.v;
	if (proc_run(&o, &res, &e) < 0 || res.end != PROC_EXITED || res.status != 0) {
		print_error("cannot build the workload of the tests\n");
		return -1;
	}
	return 0;
}

static int bench_close(void **state)
{
	(void)state;
	free(bench.misbehave);
	return fs_remove_tree(bench.dir, NULL);
}

/* A fresh folder for one trial. Owned. */
static char *trial_dir(void)
{
	char *dir = xasprintf("%s/trial-%u", bench.dir, ++bench.trials);

	must(NULL, fs_mkdirs(dir, NULL));
	return dir;
}

static void make_initrd(const struct attempt *a, const char *nonce, const char *path,
			uint64_t *bytes)
{
	struct err e = ERR_INIT;
	_cleanup_free_ char *agent = guest_agent_path(&e);
	_cleanup_str_ struct str text = STR_INIT;
	char *argv[MAX_WORDS + 2] = { xstrdup(a->program ? a->program : "./misbehave") };
	struct guest_setting setting = { a->setting, a->value };
	struct guest_job job = {
		.nonce = nonce,
		.runs = a->runs ? a->runs : 1,
		.argv = argv,
		.run_timeout_ms = a->timeout_ms ? a->timeout_ms : 10000,
		.observe = a->observe,
		.settings = &setting,
		.n_settings = a->setting != NULL,
	};

	must(&e, agent ? 0 : -1);
	for (int i = 0; a->words[i]; i++)
		argv[i + 1] = xstrdup(a->words[i]);
	must(&e, guest_job_write(&job, &text, &e));
	struct initramfs_file files[] = {
		{ .name = GUEST_INIT, .source = agent, .mode = 0755 },
		{ .name = GUEST_JOB, .data = text.buf, .n = text.len, .mode = 0644 },
		{ .name = GUEST_WORK_DIR "/misbehave", .source = bench.misbehave, .mode = 0755 },
	};
	must(&e, initramfs_write(path, files, ARRAY_SIZE(files), bytes, &e));
	for (int i = 0; argv[i]; i++)
		free(argv[i]);
}

static void open_qemu(const struct attempt *a, struct target *t)
{
	_cleanup_free_ char *data = fs_data_dir();
	_cleanup_free_ char *path = xasprintf("%s/qemu/%s.ini", data,
					      a->machine ? a->machine : "microvm");
	_cleanup_strv_ struct strv extra = STRV_INIT;
	struct machine m;
	struct err e = ERR_INIT;

	must(&e, machine_load(path, &m, &e));
	if (a->extra_arg)
		strv_add(&extra, a->extra_arg);
	struct target_qemu_opts o = {
		.program = a->qemu ? a->qemu : m.program,
		.accel = a->auto_accel ? QEMU_ACCEL_AUTO
			 : a->accel    ? a->accel
				       : QEMU_ACCEL_TCG,
		.deterministic = a->deterministic,
		.cpus = a->cpus ? a->cpus : 1,
		.memory_bytes = a->memory_bytes ? a->memory_bytes : 256ull << 20,
		.machine_args = &m.args,
		.machine_append = m.append,
		.machine_append_tcg = m.append_tcg,
		.machine_append_deterministic = m.append_deterministic,
		.append = a->append,
		.extra_args = &extra,
		.boot_timeout_ms = a->boot_timeout_ms ? a->boot_timeout_ms : 60000,
		.cache_dir = a->cache_dir,
	};
	must(&e, target_qemu_open(&o, t, &e));
	machine_release(&m);
}

/* What target->trial() returns; the trial's folder stays in @dir (owned), if wanted. */
static inline int try_qemu(const struct attempt *a, struct target_result *r, struct err *e,
			   char **dir)
{
	_cleanup_free_ char *where = trial_dir();
	_cleanup_free_ char *initrd = fs_join(where, "initrd");
	const char *nonce = a->nonce ? a->nonce : "00c0ffee00c0ffee";
	struct target_job job = {
		.commit = "0123456789012345678901234567890123456789",
		.trial = 1,
		.dir = where,
		.image = a->image ? a->image : bench.kernel,
		.initrd = a->no_initrd ? NULL : initrd,
		.build_id = a->build_id,
		.release = a->release,
		.append = "",
		.nonce = nonce,
		.runs = a->runs ? a->runs : 1,
		.run_timeout_ms = a->timeout_ms ? a->timeout_ms : 10000,
		.observe = a->observe,
	};
	struct target t;
	int ret;

	make_initrd(a, nonce, initrd, &job.initrd_bytes);
	if (a->initrd_bytes)
		job.initrd_bytes = a->initrd_bytes;
	if (a->full_disk) {
		_cleanup_free_ char *log = fs_join(where, "console.log");

		assert_int_equal(symlink("/dev/full", log), 0);
	}
	open_qemu(a, &t);
	memset(r, 0, sizeof(*r));
	ret = t.ops->trial(t.priv, &job, r, e);
	target_close(&t);
	if (dir)
		*dir = xstrdup(where);
	return ret;
}

/* The same workload, run by the command target on this host. */
static inline int try_command(const struct attempt *a, struct target_result *r, struct err *e)
{
	_cleanup_free_ char *where = trial_dir();
	_cleanup_strv_ struct strv command = STRV_INIT, env = STRV_INIT;
	struct target_command_opts o = { .command = &command, .dir = bench.dir };
	struct target_job job = {
		.dir = where,
		.env = &env,
		.runs = a->runs ? a->runs : 1,
		.run_timeout_ms = a->timeout_ms ? a->timeout_ms : 10000,
	};
	struct target t;
	int ret;

	strv_add(&command, a->program ? a->program : "./misbehave");
	for (int i = 0; a->words[i]; i++)
		strv_add(&command, a->words[i]);
	strv_add(&env, "KREGRESS_TRIAL=1");
	must(e, target_command_open(&o, &t, e));
	memset(r, 0, sizeof(*r));
	ret = t.ops->trial(t.priv, &job, r, e);
	target_close(&t);
	return ret;
}

/* Value of "NAME=value" among the facts; NULL. Borrowed. */
static inline const char *fact(const struct target_result *r, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < r->facts.n; i++)
		if (!strncmp(r->facts.v[i], name, n) && r->facts.v[i][n] == '=')
			return r->facts.v[i] + n + 1;
	return NULL;
}

#endif
