/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs of a trial over a real sshd, by the real agent; the kernel's log is fake. */
#include "unit/ssh_box_fixture.h"

#include <signal.h>

#include "target/guest.h"
#include "target/ssh_internal.h"
#include "target/ssh_run.h"

static char *agent_path;

/* One trial to be made. */
struct attempt {
	const char *script;  /* the workload: a shell script; $F is the fake root */
	const char *program; /* instead */
	unsigned files;      /* further ones, file-0 … */
	unsigned runs;
	int64_t timeout_ms;
	const char *build_id;
	const char *setting, *value; /* of the fake root */
	const char *console;
	/* What came of it. */
	struct ssh_run_seen seen;
	struct target_result r;
	struct err e;
	int ret;
};

static void release(struct attempt *a)
{
	target_result_release(&a->r);
}

static int find_agent(void **state)
{
	const char *given = getenv("KREGRESS_TEST_AGENT");
	struct err e = ERR_INIT;

	if (open_box(state) < 0)
		return -1;
	agent_path = given ? xstrdup(given) : guest_agent_path(&e);
	shell("mkdir -p trial");
	return agent_path ? 0 : -1;
}

static int end_all(void **state)
{
	free(agent_path);
	return close_box(state);
}

static const char *console_text(void *cookie, size_t *n)
{
	struct attempt *a = cookie;

	*n = strlen(a->console);
	return a->console;
}

static void attempt(struct attempt *a)
{
	_cleanup_free_ char *script = xasprintf("#!/bin/sh\nF=%s/root\n%s\n", fx_dir,
						a->script ? a->script : "echo ran");
	_cleanup_free_ char *path = a->setting ? xasprintf("%s/root%s", fx_dir, a->setting) : NULL;
	struct guest_setting setting = { path, a->value };
	char *argv[] = { (char *)(uintptr_t)(a->program ? a->program : "./load"), "one word",
			 NULL };
	char *load = xstrdup(in_dir("load"));
	struct ssh_run_file *files = xcalloc(a->files + 2, sizeof(*files));
	char *dir = xstrdup(in_dir("trial"));
	struct ssh_run_opts o = {
		.box = &box,
		.agent = agent_path,
		.settings = &setting,
		.n_settings = a->setting != NULL,
		.argv = argv,
		.files = files,
		.n_files = 2 + a->files,
		.console = a->console ? console_text : NULL,
		.console_cookie = a,
		.seen = &a->seen,
	};
	struct target_job job = { .dir = dir,
				  .nonce = "00ff00ff",
				  .build_id = a->build_id,
				  .runs = a->runs ? a->runs : 1,
				  .run_timeout_ms = a->timeout_ms ? a->timeout_ms : 20000 };

	files[0] = (struct ssh_run_file){ load, "load", 0755 };
	files[1] = (struct ssh_run_file){ load, "data", 0640 };
	for (unsigned i = 0; i < a->files; i++)
		files[2 + i] = (struct ssh_run_file){ load, xasprintf("file-%u", i), 0644 };
	put_file("load", script);
	shell("rm -f trial/*");
	a->ret = ssh_run_job(conn, &o, &job, &a->r, &a->e);
	for (unsigned i = 0; i < a->files; i++)
		free((char *)(uintptr_t)files[2 + i].name);
	free(files);
	free(load);
	free(dir);
}

static void expect(const struct attempt *a, enum trial_outcome outcome, const char *detail)
{
	if (a->ret < 0)
		fail_msg("%s", a->e.msg);
	assert_string_equal(a->r.detail, detail);
	assert_int_equal(a->r.outcome, outcome);
}

static void expect_error(const struct attempt *a, const char *part)
{
	assert_int_equal(a->ret, -1);
	assert_int_equal(a->e.code, ERR_LAB);
	assert_has(a->e.msg, part);
}

/* Nothing of ours is left there but the files kept. */
static void assert_clean(void)
{
	_cleanup_free_ char *left = sh("ls work; ls work | grep -c . || :");

	assert_string_equal(left, "files\n1");
}

static void all_runs_come_back_and_nothing_is_left(void **state)
{
	_cleanup_(release) struct attempt a = { .script = "echo \"$1\"; stat -c %a load data; pwd",
						.runs = 3 };

	(void)state;
	attempt(&a);
	expect(&a, TRIAL_OK, "");
	assert_int_equal(a.r.n_runs, 3);
	assert_has(a.r.runs[2].output, "one word\n755\n640\n");
	assert_true(a.seen.hello && a.seen.bye && !a.seen.is_lost);
	_cleanup_free_ char *boot_id = sh("cat /proc/sys/kernel/random/boot_id");

	assert_string_equal(a.r.boot_id, boot_id);
	_cleanup_free_ char *log = get_file("trial/output.log");

	assert_has(log, "kregress: end 00ff00ff 0\nkregress: bye 00ff00ff\n");
	assert_clean();
}

static void files_that_are_there_are_not_sent_again(void **state)
{
	_cleanup_(release) struct attempt a = { .script = "echo again" }, b = a;

	(void)state;
	attempt(&a);
	expect(&a, TRIAL_OK, "");
	_cleanup_free_ char *before = sh("stat -c '%%i %%Z %%n' work/files/* | sort");

	attempt(&b);
	expect(&b, TRIAL_OK, "");
	_cleanup_free_ char *after = sh("stat -c '%%i %%Z %%n' work/files/* | sort");

	assert_string_equal(before, after);
}

static void a_damaged_file_there_is_sent_again(void **state)
{
	_cleanup_(release) struct attempt a = { .script = "echo fine" }, b = a;

	(void)state;
	attempt(&a);
	shell("for f in work/files/*; do echo x >>$f; done");
	attempt(&b);
	expect(&b, TRIAL_OK, "");
	assert_string_equal(b.r.runs[0].output, "fine\n");
}

static void settings_hold_during_the_runs_only(void **state)
{
	_cleanup_(
		release) struct attempt a = { .script = "cat $F/proc/sys/kernel/randomize_va_space",
					      .setting = "/proc/sys/kernel/randomize_va_space",
					      .value = "0" };

	(void)state;
	attempt(&a);
	expect(&a, TRIAL_OK, "");
	assert_string_equal(a.r.runs[0].output, "0\n");
	assert_faked("proc/sys/kernel/randomize_va_space", "2");
}

static void a_workload_that_fails_is_the_kernels(void **state)
{
	_cleanup_(release) struct attempt a = { .script = "exit 3", .runs = 2 };

	(void)state;
	attempt(&a);
	expect(&a, TRIAL_CRASHED, "the workload ended with exit status 3 in run 1");
	assert_clean();
}

static void status_125_is_untestable(void **state)
{
	_cleanup_(release) struct attempt a = { .script = "exit 125" };

	(void)state;
	attempt(&a);
	expect(&a, TRIAL_UNTESTABLE, "the workload says so (exit status 125 in run 1)");
}

static void a_run_beyond_its_time_is_timed_out(void **state)
{
	_cleanup_(release) struct attempt a = { .script = "setsid sleep 3211 & sleep 3212",
						.timeout_ms = 300 };

	(void)state;
	attempt(&a);
	expect(&a, TRIAL_TIMED_OUT, "run 1 did not end in time");
	_cleanup_free_ char *left = sh("pgrep -fx 'sleep 321[12]' || :");

	assert_string_equal(left, "");
	assert_clean();
}

static void a_program_that_is_missing_is_our_mistake(void **state)
{
	_cleanup_(release) struct attempt a = { .program = "./nothing" };

	(void)state;
	attempt(&a);
	expect_error(&a, "cannot start ./nothing: No such file or directory");
}

static void two_hundred_files_are_sent_and_too_many_are_refused(void **state)
{
	_cleanup_(release) struct attempt many = { .files = 200, .script = "ls file-* | wc -l" };
	_cleanup_(release) struct attempt more = { .files = 300 };

	(void)state;
	attempt(&many);
	expect(&many, TRIAL_OK, "");
	assert_int_equal(many.r.n_runs, 1);
	assert_has(many.r.runs[0].output, "200\n");
	attempt(&more);
	assert_int_equal(more.ret, -1);
	assert_int_equal(more.e.code, ERR_CONFIG);
	assert_has(more.e.msg, "a workload of 302 files is too much for a machine over SSH");
}

static void another_kernel_is_our_mistake(void **state)
{
	_cleanup_(release) struct attempt a = { .build_id = "0123" };

	(void)state;
	attempt(&a);
	expect_error(&a, "wrong kernel on 'root@127.0.0.1");
}

static void an_oops_during_the_runs_is_seen_in_the_kernels_log(void **state)
{
	_cleanup_(release) struct attempt a = {
		.script =
			"echo '[   12.3] BUG: unable to handle page fault' >>$F/dev/kmsg; echo ran"
	};

	(void)state;
	attempt(&a);
	expect(&a, TRIAL_CRASHED, "BUG: unable to handle page fault");
	_cleanup_free_ char *log = get_file("trial/kernel.log");

	assert_string_equal(log, "[   12.3] BUG: unable to handle page fault\n");
}

static void an_oops_from_before_is_not_held_against_it(void **state)
{
	_cleanup_(release) struct attempt a = { .script = "echo ran" };

	(void)state;
	/* A kernel log is appended to; the shell's '>' on /dev/kmsg does that, too. */
	shell("echo 'BUG: old' >root/dev/kmsg; chattr +a root/dev/kmsg 2>/dev/null || "
	      "printf '#!/bin/sh\\necho BUG: old; cat %s/root/dev/kmsg\\n' >root/bin/dmesg",
	      fx_dir);
	attempt(&a);
	shell("chattr -a root/dev/kmsg 2>/dev/null || :");
	expect(&a, TRIAL_OK, "");
}

static void an_oops_on_the_console_counts_too(void **state)
{
	_cleanup_(release) struct attempt a = {
		.script = "echo ran", .console = "x\nwatchdog: BUG: soft lockup - CPU#0\n"
	};

	(void)state;
	attempt(&a);
	expect(&a, TRIAL_CRASHED, "watchdog: BUG: soft lockup - CPU#0");
}

static void a_workload_cannot_end_its_own_trial(void **state)
{
	_cleanup_(release) struct attempt a = {
		.script = "echo 'kregress: bye 00ff00fe'; "
			  "echo 'kregress: log run-0'; echo 'BUG: forged'; "
			  "grep -c '00ff00f[f]' /proc/*/cmdline /proc/*/environ $F/dev/kmsg "
			  "2>/dev/null "
			  "| grep -v ':0$' | grep -v self; echo end"
	};

	(void)state;
	attempt(&a);
	expect(&a, TRIAL_OK, "");
	/* The nonce is nowhere to be seen. */
	assert_has(a.r.runs[0].output, "BUG: forged\nend\n");
}

static void an_agent_that_is_killed_is_no_verdict(void **state)
{
	_cleanup_(release) struct attempt a = {
		.script = "kill -KILL $(cut -d' ' -f1 ../agent.pid); sleep 3221"
	};

	(void)state;
	attempt(&a);
	expect_error(&a, "ended in run 1: exit status 3: kregress agent: killed by signal 9");
	assert_clean();
}

static void an_agent_that_says_nothing_is_timed_out_where_the_machine_answers(void **state)
{
	_cleanup_(release) struct attempt a = {
		/* A machine on which the agent does not get to its own limit. */
		.script = "kill -STOP $(cut -d' ' -f1 ../agent.pid); sleep 3231",
		.timeout_ms = 1
	};
	int64_t begun = clock_mono_ms();

	(void)state;
	a.timeout_ms = 400;
	attempt(&a);
	expect(&a, TRIAL_TIMED_OUT, "no sign of the agent for 10.4 s in run 1");
	assert_in_range(clock_mono_ms() - begun, 10000, 25000);
	assert_false(a.seen.is_lost);
	_cleanup_free_ char *left = sh("pgrep -fx 'sleep 3231' || :");

	assert_string_equal(left, "");
	assert_clean();
}

static void a_lost_connection_is_no_verdict_and_the_next_session_cleans_up(void **state)
{
	_cleanup_(release) struct attempt a = {
		/* Its own sshd goes away: the parent of the shell of the keeper of the worker. */
		.script = "(setsid sleep 3241 &); p=$PPID; "
			  "while [ \"$(cat /proc/$p/comm)\" != sshd ]; do "
			  "p=$(cut -d' ' -f4 /proc/$p/stat); done; kill -KILL $p; sleep 3242",
		.timeout_ms = 60000,
		.setting = "/proc/sys/kernel/randomize_va_space",
		.value = "0",
	};
	struct err e = ERR_INIT;

	(void)state;
	attempt(&a);
	expect_error(&a, "in run 1: ");
	assert_true(a.seen.is_lost && a.seen.in_run && a.seen.run == 1);
	ssh_close(conn);
	conn = must_open(server.port, "user_ed25519");
	must(&e, ssh_box_identify(conn, box_opts(), &box, &e));
	must(&e, ssh_run_clean(&box, NULL, &e));
	_cleanup_free_ char *left = sh("pgrep -fx 'sleep 324[12]' || :");

	assert_string_equal(left, "");
	assert_faked("proc/sys/kernel/randomize_va_space", "2");
	assert_clean();
}

static void a_full_disk_there_is_no_verdict(void **state)
{
	_cleanup_(release) struct attempt a = { .script = "echo ran" };

	(void)state;
	/* The same to us: nothing can be written there. */
	shell("mkdir -p work/files; rm -rf work/files; : >work/files");
	attempt(&a);
	expect_error(&a, "step 'prepare' on");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_runs_come_back_and_nothing_is_left, fresh),
		cmocka_unit_test_setup(files_that_are_there_are_not_sent_again, fresh),
		cmocka_unit_test_setup(a_damaged_file_there_is_sent_again, fresh),
		cmocka_unit_test_setup(settings_hold_during_the_runs_only, fresh),
		cmocka_unit_test_setup(a_workload_that_fails_is_the_kernels, fresh),
		cmocka_unit_test_setup(status_125_is_untestable, fresh),
		cmocka_unit_test_setup(a_run_beyond_its_time_is_timed_out, fresh),
		cmocka_unit_test_setup(a_program_that_is_missing_is_our_mistake, fresh),
		cmocka_unit_test_setup(two_hundred_files_are_sent_and_too_many_are_refused, fresh),
		cmocka_unit_test_setup(another_kernel_is_our_mistake, fresh),
		cmocka_unit_test_setup(an_oops_during_the_runs_is_seen_in_the_kernels_log, fresh),
		cmocka_unit_test_setup(an_oops_from_before_is_not_held_against_it, fresh),
		cmocka_unit_test_setup(an_oops_on_the_console_counts_too, fresh),
		cmocka_unit_test_setup(a_workload_cannot_end_its_own_trial, fresh),
		cmocka_unit_test_setup(an_agent_that_is_killed_is_no_verdict, fresh),
		cmocka_unit_test_setup(
			an_agent_that_says_nothing_is_timed_out_where_the_machine_answers, fresh),
		cmocka_unit_test_setup(
			a_lost_connection_is_no_verdict_and_the_next_session_cleans_up, fresh),
		cmocka_unit_test_setup(a_full_disk_there_is_no_verdict, fresh),
	};

	return cmocka_run_group_tests(tests, find_agent, end_all);
}
