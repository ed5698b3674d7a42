/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent as it works on a real machine (--here), run on this one. */
#include "contract/agent_here_fixture.h"

static void runs_come_framed_as_from_a_guest(void **state)
{
	_cleanup_(here_release) struct here h = { .script = "echo one; printf two", .runs = 2 };
	struct target_result r = { .n_runs = 0 };
	struct results res;

	(void)state;
	run(&h);
	assert_true(WIFEXITED(h.status) && WEXITSTATUS(h.status) == 0);
	results_init(&res, NONCE, 2, &r);
	results_feed(&res, str_text(&h.said), h.said.len, 0);
	assert_int_equal(res.failure, RESULTS_FINE);
	assert_true(res.hello && res.bye);
	assert_int_equal(r.n_runs, 2);
	assert_string_equal(r.runs[1].output, "one\ntwo\n");
	assert_int_equal(r.runs[1].status, 0);
	assert_int_equal(strlen(res.boot_id), 36);
	results_release(&res);
	target_result_release(&r);
}

static void the_job_is_removed_and_the_workload_runs_in_its_folder(void **state)
{
	_cleanup_(
		here_release) struct here h = { .script = "pwd; ls $D; echo $HOME $LC_ALL $PATH" };

	(void)state;
	run(&h);
	has(&h.said, "/work\n");
	has(&h.said, "/tmp C ");
	assert_null(strstr(str_text(&h.said), "\njob\n"));
	assert_false(fs_exists(in_dir("job")));
}

static void a_status_other_than_0_ends_the_runs(void **state)
{
	_cleanup_(here_release) struct here h = { .script = "exit 7", .runs = 3 };

	(void)state;
	run(&h);
	has(&h.said, "begin " NONCE " 1\nkregress: end " NONCE " 7\nkregress: bye " NONCE "\n");
}

static void a_signal_is_told_as_a_shell_does(void **state)
{
	_cleanup_(here_release) struct here h = { .script = "kill -SEGV $$" };

	(void)state;
	run(&h);
	has(&h.said, "end " NONCE " 139\n");
}

static void a_run_beyond_its_time_is_ended_with_all_it_started(void **state)
{
	_cleanup_(here_release) struct here h = {
		.script = "setsid sh -c 'sleep 3111 & sleep 3112' & sleep 3113", .timeout_ms = 500
	};
	int64_t begun = clock_mono_ms();

	(void)state;
	run(&h);
	has(&h.said, "end " NONCE " timeout\nkregress: bye " NONCE "\n");
	assert_true(clock_mono_ms() - begun < 5000);
	assert_false(lives("sleep 311[123]"));
}

static void too_much_output_is_cut(void **state)
{
	_cleanup_(here_release) struct here h = { .script = "yes | head -c 1100000" };

	(void)state;
	run(&h);
	has(&h.said, "end " NONCE " too-much\n");
	assert_in_range(h.said.len, 4096, 6000);
}

static void a_full_mebibyte_arrives_whole(void **state)
{
	_cleanup_(here_release) struct here h = { .script = "yes abc | head -c 1048576" };

	(void)state;
	run(&h);
	has(&h.said, "end " NONCE " 0\n");
	assert_in_range(h.said.len, 1048576, 1048576 + 1000);
}

static void a_program_that_is_not_there_is_no_result(void **state)
{
	_cleanup_(here_release) struct here h = { .program = "./nothing" };

	(void)state;
	run(&h);
	has(&h.said, "noexec " NONCE " cannot start ./nothing: No such file or directory\n");
}

static void stderr_is_marked_line_by_line(void **state)
{
	_cleanup_(here_release) struct here h = {
		.script = "printf 'Kernel panic\\nkregress agent: x\\nrest' >&2"
	};

	(void)state;
	run(&h);
	assert_string_equal(str_text(&h.errors),
			    "workload: Kernel panic\nworkload: kregress agent: x\n"
			    "workload: rest\n");
}

static void settings_hold_during_the_runs_and_are_put_back(void **state)
{
	_cleanup_(here_release) struct here h = { .script = "cat $D/knob",
						  .setting = "knob",
						  .value = "9" };

	(void)state;
	put("knob", "7");
	run(&h);
	has(&h.said, "begin " NONCE " 1\n9\n");
	assert_holds("knob", "7");
}

static void of_a_choice_the_chosen_word_is_put_back(void **state)
{
	_cleanup_(here_release) struct here h = { .script = "printf %s '[xxxxx] x [x] y' >$D/knob",
						  .setting = "knob",
						  .value = "never!" };

	(void)state;
	/* The file stands for sysfs: a plain file keeps what is beyond the bytes written. */
	put("knob", "always [madvise] never\n");
	run(&h);
	assert_holds("knob", "madvise x [x] y");
}

static void a_setting_that_cannot_be_written_is_said_and_the_rest_put_back(void **state)
{
	_cleanup_(here_release) struct here h = { .script = "echo ran",
						  .setting = "missing/knob",
						  .value = "1" };

	(void)state;
	run(&h);
	has(&h.said, "untestable " NONCE " setup: cannot write 1 to ");
	has(&h.said, "bye " NONCE);
	assert_null(strstr(str_text(&h.said), "ran"));
}

static void when_nobody_listens_all_is_ended_and_put_back(void **state)
{
	_cleanup_(here_release) struct here h = {
		.script = "(setsid sh -c '(sleep 3121 &) ; exec sleep 3122' &) ; exec sleep 3123",
		.timeout_ms = 60000,
		.setting = "knob",
		.value = "9",
	};

	(void)state;
	put("knob", "7");
	start(&h);
	read_until(&h, "begin");
	while (!lives("sleep 3121") || !lives("sleep 3122") || !lives("sleep 3123"))
		poll(NULL, 0, 20);
	assert_holds("knob", "9");
	close(h.out);
	h.out = -1;
	gone_soon("sleep 312[123]");
	finish(&h);
	assert_true(WIFEXITED(h.status) && WEXITSTATUS(h.status) == 3);
	assert_holds("knob", "7");
}

/* End one of the agent's two processes; the other must clean up. */
static void end_one(bool keeper, int sig)
{
	_cleanup_(here_release) struct here h = {
		.script = "(setsid sleep 3131 &) ; exec sleep 3132",
		.timeout_ms = 60000,
		.setting = "knob",
		.value = "9",
	};
	_cleanup_str_ struct str pid = STR_INIT;

	put("knob", "7");
	start(&h);
	read_until(&h, "begin");
	while (!lives("sleep 3131") || !lives("sleep 3132"))
		poll(NULL, 0, 20);
	assert_int_equal(fs_read(in_dir("agent.pid"), 100, &pid, NULL), 0);
	assert_int_equal(kill(keeper ? h.pid : (pid_t)atoi(str_text(&pid)), sig), 0);
	gone_soon("sleep 313[12]");
	finish(&h);
	for (int i = 0; keeper && i < 100 && lives(".*--here /tmp/kregress-here-.*"); i++)
		poll(NULL, 0, 20);
	assert_holds("knob", "7");
	assert_null(strstr(str_text(&h.said), "bye"));
}

static void a_killed_worker_is_made_up_for_by_the_keeper(void **state)
{
	(void)state;
	end_one(false, SIGKILL);
}

static void a_killed_keeper_is_made_up_for_by_the_worker(void **state)
{
	(void)state;
	end_one(true, SIGKILL);
}

static void told_to_end_it_leaves_nothing(void **state)
{
	(void)state;
	end_one(false, SIGTERM);
}

static void a_reader_that_does_not_read_does_not_keep_it_from_ending(void **state)
{
	_cleanup_(here_release) struct here h = { .script = "yes | head -c 1000000",
						  .setting = "knob",
						  .value = "9" };
	_cleanup_str_ struct str pid = STR_INIT;

	(void)state;
	put("knob", "7");
	start(&h);
	read_until(&h, "begin " NONCE " 1\ny\n");
	assert_int_equal(fs_read(in_dir("agent.pid"), 100, &pid, NULL), 0);
	/* The pipe is full now, and stays so. */
	poll(NULL, 0, 300);
	assert_int_equal(kill((pid_t)atoi(str_text(&pid)), SIGTERM), 0);
	assert_int_equal(waitpid(h.pid, &h.status, 0), h.pid);
	assert_int_equal(WEXITSTATUS(h.status), 3);
	assert_holds("knob", "7");
	close(h.out);
	close(h.err);
}

static void others_of_the_machine_live_on(void **state)
{
	_cleanup_(here_release) struct here h = { .script = "echo ran" };
	pid_t other = fork();

	(void)state;
	if (other == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	run(&h);
	has(&h.said, "ran\n");
	assert_int_equal(waitpid(other, NULL, WNOHANG), 0);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

static void a_job_that_is_not_understood_is_refused(void **state)
{
	_cleanup_(here_release) struct here h = { .script = "" };

	(void)state;
	start(&h);
	finish(&h);
	str_clear(&h.errors);
	/* Again, without a job: the agent has removed it. */
	_cleanup_free_ char *command = xasprintf("'%s' --here %s 2>%s/said", agent_path, dir, dir);

	assert_int_equal(WEXITSTATUS(system(command)), 2);
	assert_int_equal(fs_read(in_dir("said"), 4096, &h.errors, NULL), 0);
	has(&h.errors, "kregress agent: cannot read ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(runs_come_framed_as_from_a_guest, each),
		cmocka_unit_test_setup(the_job_is_removed_and_the_workload_runs_in_its_folder,
				       each),
		cmocka_unit_test_setup(a_status_other_than_0_ends_the_runs, each),
		cmocka_unit_test_setup(a_signal_is_told_as_a_shell_does, each),
		cmocka_unit_test_setup(a_run_beyond_its_time_is_ended_with_all_it_started, each),
		cmocka_unit_test_setup(too_much_output_is_cut, each),
		cmocka_unit_test_setup(a_full_mebibyte_arrives_whole, each),
		cmocka_unit_test_setup(a_program_that_is_not_there_is_no_result, each),
		cmocka_unit_test_setup(stderr_is_marked_line_by_line, each),
		cmocka_unit_test_setup(settings_hold_during_the_runs_and_are_put_back, each),
		cmocka_unit_test_setup(of_a_choice_the_chosen_word_is_put_back, each),
		cmocka_unit_test_setup(
			a_setting_that_cannot_be_written_is_said_and_the_rest_put_back, each),
		cmocka_unit_test_setup(when_nobody_listens_all_is_ended_and_put_back, each),
		cmocka_unit_test_setup(a_killed_worker_is_made_up_for_by_the_keeper, each),
		cmocka_unit_test_setup(a_killed_keeper_is_made_up_for_by_the_worker, each),
		cmocka_unit_test_setup(told_to_end_it_leaves_nothing, each),
		cmocka_unit_test_setup(a_reader_that_does_not_read_does_not_keep_it_from_ending,
				       each),
		cmocka_unit_test_setup(others_of_the_machine_live_on, each),
		cmocka_unit_test_setup(a_job_that_is_not_understood_is_refused, each),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
