/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's extra runs on a machine (--here), this one: what is counted is the workload's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fs.h"
#include "base/proc.h"
#include "core/counters.h"
#include "core/sleepers.h"
#include "target/guest.h"
#include "target/results.h"

#define NONCE "0123abcd"

static char dir[] = "/tmp/kregress-observe-XXXXXX";
static struct target_result result;
static struct results records;

static int set_up(void **state)
{
	_cleanup_free_ char *work = NULL;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	work = fs_join(dir, "work");
	return mkdir(work, 0755);
}

static int tear_down(void **state)
{
	(void)state;
	return fs_remove_tree(dir, NULL);
}

static int clean_up(void **state)
{
	_cleanup_free_ char *name = fs_join(dir, "agent.pid");

	(void)state;
	unlink(name);
	results_release(&records);
	target_result_release(&result);
	return 0;
}

/* One run that counts of @script, then those that @o asks for. */
static void run(const char *script, const struct target_observe *o)
{
	_cleanup_str_ struct str text = STR_INIT, said = STR_INIT;
	_cleanup_free_ char *job = fs_join(dir, "job"), *copy = xstrdup(script);
	char *words[] = { "sh", "-c", copy, NULL };
	const struct guest_job g = {
		.nonce = NONCE, .runs = 1, .run_timeout_ms = 20000, .observe = *o, .argv = words
	};
	struct err e = ERR_INIT;
	_cleanup_free_ char *agent = guest_agent_path(&e);
	char *argv[] = { agent, "--here", dir, NULL };
	const struct proc_opts p = { .argv = argv, .out = &said, .timeout_ms = 60000 };
	struct proc_result end;

	if (!agent || guest_job_write(&g, &text, &e) < 0 ||
	    fs_write(job, text.buf, text.len, &e) < 0 || proc_run(&p, &end, &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(end.end == PROC_EXITED && end.status == 0);
	results_init(&records, NONCE, 1, &result);
	results_feed(&records, str_text(&said), said.len, 0);
	assert_int_equal(records.failure, RESULTS_FINE);
	assert_string_equal(records.extra_text, "");
	assert_true(records.bye);
	assert_int_equal(result.n_runs, 1);
}

static const struct target_file *file(const char *phase, const char *name)
{
	for (size_t i = 0; i < result.n_files; i++)
		if (!strcmp(result.files[i].phase, phase) && !strcmp(result.files[i].name, name))
			return &result.files[i];
	fail_msg("no %s %s", phase, name);
	return NULL;
}

static double share_running(void)
{
	const struct target_file *f = file("over", "stacks");
	struct sleepers s = { .n = 0 };
	double share = 0;

	sleepers_read(f->text, f->n, &s);
	assert_true(s.places.total > 10);
	for (size_t i = 0; i < s.places.n; i++)
		if (!strcmp(s.places.v[i].name, "[running]\n"))
			share = (double)s.places.v[i].count / (double)s.places.total;
	sleepers_release(&s);
	return share;
}

/* However busy this machine is: only the workload's processes are looked at, those that left too. */
static void sleepers_of_the_workload_alone_are_seen(void **state)
{
	(void)state;
	run("sleep 0.5 & setsid sleep 1 & wait",
	    &(struct target_observe){ .stacks = 40, .time_ms = 1500 });
	assert_true(share_running() < 0.4);
	clean_up(NULL);
	run("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done",
	    &(struct target_observe){ .stacks = 40, .time_ms = 1500 });
	assert_true(share_running() > 0.6);
}

static void snapshots_of_this_machine_are_understood(void **state)
{
	static const char *const phases[] = { "before", "during", "after" };

	(void)state;
	run("sleep 0.2", &(struct target_observe){ .snapshots = true });
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		const struct target_file *f = file(phases[i], "meminfo");
		struct counters c = { .v = NULL };
		double total = 0;

		counters_parse("meminfo", f->text, f->n, &c);
		for (size_t k = 0; k < c.n; k++)
			if (!strcmp(c.v[k].name, "meminfo/MemTotal"))
				total = c.v[k].value;
		/* The same by another way: pages of physical memory; some machines round. */
		if (total < 1 || total > 1.05 * (double)sysconf(_SC_PHYS_PAGES) *
						 (double)sysconf(_SC_PAGESIZE) / 1024)
			fail_msg("%g kB of memory", total);
		counters_release(&c);
	}
}

static void nothing_asked_for_is_nothing_done(void **state)
{
	(void)state;
	run("true", &(struct target_observe){ .snapshots = false });
	assert_false(records.extra);
	assert_int_equal(result.n_files, 0);
}

/* The profile is taken from outside: the agent only runs the workload for so long. */
static void runs_go_on_until_the_time_has_passed(void **state)
{
	_cleanup_free_ char *count = fs_join(dir, "count"), *script = NULL;
	_cleanup_str_ struct str text = STR_INIT;

	(void)state;
	script = xasprintf("echo x >>%s; sleep 0.2", count);
	run(script, &(struct target_observe){ .profile = 1, .time_ms = 1000 });
	assert_int_equal(fs_read(count, 1000, &text, NULL), 0);
	/* one that counts, and at most five of a fifth of a second; on a busy machine fewer */
	assert_true(text.len / 2 >= 2 && text.len / 2 <= 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(sleepers_of_the_workload_alone_are_seen, clean_up),
		cmocka_unit_test_teardown(snapshots_of_this_machine_are_understood, clean_up),
		cmocka_unit_test_teardown(nothing_asked_for_is_nothing_done, clean_up),
		cmocka_unit_test_teardown(runs_go_on_until_the_time_has_passed, clean_up),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
