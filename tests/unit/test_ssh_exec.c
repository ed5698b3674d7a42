/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands over a real sshd: statuses, signals, quoting, limits, deadlines. */
#include "unit/ssh_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#include "target/ssh_exec.h"

static struct sshd server;
static struct ssh_conn *conn;

static int start(void **state)
{
	return connected(state, &server, &conn);
}

static int stop(void **state)
{
	return disconnected(state, &server, conn);
}

static void run(const char *script, struct ssh_command *o, struct ssh_result *r)
{
	run_on(conn, script, o, r);
}

static void exit_statuses_arrive_as_they_are(void **state)
{
	static const int statuses[] = { 0, 1, 2, 125, 127, 128, 130, 221, 222, 255 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		_cleanup_free_ char *script = xasprintf("exit %d", statuses[i]);
		struct ssh_command o = { .argv = NULL };
		struct ssh_result r;

		run(script, &o, &r);
		assert_int_equal(r.end, SSH_EXITED);
		assert_int_equal(r.status, statuses[i]);
		assert_string_equal(r.signal, "");
	}
}

static void a_signal_is_told_from_an_exit(void **state)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = { { "SEGV", 11 }, { "KILL", 9 }, { "TERM", 15 }, { "ABRT", 6 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		_cleanup_free_ char *script = xasprintf("ulimit -c 0; kill -%s $$",
							signals[i].name);
		struct ssh_command o = { .argv = NULL };
		struct ssh_result r;

		run(script, &o, &r);
		assert_int_equal(r.end, SSH_SIGNALED);
		assert_string_equal(r.signal, signals[i].name);
		assert_int_equal(r.status, 128 + signals[i].number);
	}
}

static void a_program_that_does_not_exist_says_so(void **state)
{
	char *argv[] = { "no-such-program", NULL };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(ssh_run(conn, argv, 20000, NULL, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "exit status 127");
	assert_has(e.msg, "not found");
}

static void both_outputs_are_kept_apart_and_our_own_line_is_not_in_them(void **state)
{
	_cleanup_str_ struct str out = STR_INIT, errors = STR_INIT;
	struct ssh_command o = { .out = &out, .errors = &errors };
	struct ssh_result r;

	(void)state;
	run("echo out; echo err >&2; printf 'o2'; printf 'e2' >&2", &o, &r);
	assert_string_equal(str_text(&out), "out\no2");
	assert_string_equal(str_text(&errors), "err\ne2");
	assert_int_equal(r.out_bytes, 6);
	assert_int_equal(r.err_bytes, 6);
}

/* Words that a shell would take apart, each back as it was. */
static void words_arrive_as_they_are(void **state)
{
	static const char *const words[] = { "",
					     "a b",
					     "it's",
					     "'",
					     "''",
					     "\"$HOME\"",
					     "$(touch /tmp/kregress-evil)",
					     "`id`",
					     "a\nb\n",
					     "\\",
					     "\\n\\0",
					     "*",
					     "~",
					     "!x",
					     "# no",
					     "; rm -rf x",
					     "&& false",
					     "| cat",
					     "> f",
					     "-n",
					     "--",
					     "=",
					     "\t\r\v",
					     "\xff\xfe\x01",
					     "{a,b}",
					     "%s" };
	_cleanup_strv_ struct strv argv = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT, want = STR_INIT;
	struct err e = ERR_INIT;

	(void)state;
	strv_add(&argv, "printf");
	strv_add(&argv, "<%s>");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		strv_add(&argv, words[i]);
		str_addf(&want, "<%s>", words[i]);
	}
	if (ssh_run(conn, argv.v, 20000, &out, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(str_text(&out), str_text(&want));
	assert_false(fs_exists("/tmp/kregress-evil"));
	assert_int_equal(ssh_check_shell(conn, 20000, &e), 0);
}

static void three_megabytes_on_stderr_do_not_stop_it(void **state)
{
	_cleanup_str_ struct str out = STR_INIT, errors = STR_INIT;
	struct ssh_command o = { .out = &out, .errors = &errors, .max_errors = 1000 };
	struct ssh_result r;

	(void)state;
	run("head -c 3000000 /dev/zero | tr '\\0' e >&2; echo done", &o, &r);
	assert_int_equal(r.status, 0);
	assert_string_equal(str_text(&out), "done\n");
	assert_int_equal(r.err_bytes, 3000000);
	assert_int_equal(errors.len, 1000);
	assert_int_equal(errors.buf[999], 'e');
}

static void input_goes_through_unchanged_while_output_comes(void **state)
{
	size_t n = 5000000;
	_cleanup_free_ char *in = xcalloc(n, 1);
	_cleanup_str_ struct str out = STR_INIT, errors = STR_INIT;
	struct ssh_command o = { .input = in, .input_bytes = n, .out = &out, .errors = &errors };
	struct ssh_result r;

	(void)state;
	for (size_t i = 0; i < n; i++)
		in[i] = (char)(i * 7 + i / 251);
	run("cat", &o, &r);
	assert_int_equal(r.status, 0);
	assert_int_equal(out.len, n);
	assert_memory_equal(out.buf, in, n);
}

static void a_command_need_not_read_its_input(void **state)
{
	size_t n = 8000000;
	_cleanup_free_ char *in = xcalloc(n, 1);
	_cleanup_str_ struct str out = STR_INIT;
	struct ssh_command o = { .input = in, .input_bytes = n, .out = &out };
	struct ssh_result r;

	(void)state;
	run("echo no; exit 3", &o, &r);
	assert_int_equal(r.status, 3);
	assert_string_equal(str_text(&out), "no\n");
	/* It closes its output and reads on. */
	run("exec >/dev/null 2>&1; wc -c >~/got; exit 4", &o, &r);
	assert_int_equal(r.status, 4);
	run("cat ~/got; rm ~/got", &o, &r);
	assert_has(str_text(&out), "8000000");
}

struct lines {
	struct str got;
	size_t n, longest;
	int ticks;
};

static void take_line(void *cookie, const char *text, size_t n)
{
	struct lines *l = cookie;

	l->n++;
	l->longest = n > l->longest ? n : l->longest;
	if (l->got.len < 1000) {
		str_addmem(&l->got, text, n < 50 ? n : 50);
		str_add(&l->got, "|");
	}
}

static void count_tick(void *cookie)
{
	struct lines *l = cookie;

	l->ticks++;
}

static void lines_come_one_by_one_whatever_the_pieces(void **state)
{
	struct lines l = { .got = STR_INIT };
	struct ssh_command o = { .line = take_line, .tick = count_tick, .cookie = &l };
	struct ssh_result r;

	(void)state;
	run("echo one; printf 'tw'; sleep 0.3; echo o; echo; printf 'a\\0b\\nlast'", &o, &r);
	assert_int_equal(l.n, 5);
	assert_int_equal(l.got.len, strlen("one|two||a.b|last|"));
	assert_memory_equal(l.got.buf, "one|two||a\0b|last|", 18);
	assert_true(l.ticks >= 1);
	str_release(&l.got);
}

static void a_line_without_an_end_is_given_in_pieces(void **state)
{
	struct lines l = { .got = STR_INIT };
	struct ssh_command o = { .line = take_line, .cookie = &l };
	struct ssh_result r;

	(void)state;
	run("head -c 1000000 /dev/zero", &o, &r);
	assert_int_equal(r.out_bytes, 1000000);
	assert_int_equal(l.longest, SSH_LINE_MAX);
	assert_int_equal(l.n, 1000000 / SSH_LINE_MAX + 1);
	str_release(&l.got);
}

static void what_takes_too_long_is_killed_there_with_its_children(void **state)
{
	const char *odd = odd_seconds();
	_cleanup_free_ char *script = xasprintf("sleep %s & sleep %s", odd, odd);
	struct ssh_command o = { .timeout_ms = 1000 };
	struct ssh_result r;
	int64_t begun = clock_mono_ms();

	(void)state;
	run(script, &o, &r);
	assert_int_equal(r.end, SSH_TIMED_OUT);
	assert_true(clock_mono_ms() - begun < 6000);
	assert_false(sleeps(odd));
	/* The connection goes on. */
	o.timeout_ms = 20000;
	run("exit 7", &o, &r);
	assert_int_equal(r.status, 7);
}

static void what_ignores_a_polite_signal_is_killed_too(void **state)
{
	const char *odd = odd_seconds();
	_cleanup_free_ char *script = xasprintf("trap '' TERM HUP; while :; do sleep %s; done",
						odd);
	struct ssh_command o = { .timeout_ms = 800 };
	struct ssh_result r;

	(void)state;
	run(script, &o, &r);
	assert_int_equal(r.end, SSH_TIMED_OUT);
	if (sleeps(odd))
		fail_msg("%s",
			 sh("ps -eo pid,ppid,pgid,stat,args | grep -B1 -A1 '[s]leep %s'", odd));
}

/* Its pid may not have come yet when its time is over. */
static void what_has_only_just_started_is_killed_too(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		const char *odd = odd_seconds();
		_cleanup_free_ char *script = xasprintf("trap '' TERM HUP; sleep %s", odd);
		char *argv[] = { "sh", "-c", script, NULL };
		const struct ssh_command o = { .argv = argv, .timeout_ms = 12 + 4 * i };
		struct ssh_result r;
		struct err e = ERR_INIT;

		if (ssh_exec(conn, &o, &r, &e) < 0) {
			ssh_close(conn); /* so short a time that it was not started */
			conn = must_open(server.port, "user_ed25519");
			continue;
		}
		assert_int_equal(r.end, SSH_TIMED_OUT);
		assert_false(sleeps(odd));
	}
}

static void a_flood_is_stopped_and_does_not_outlive_the_limit(void **state)
{
	const char *odd = odd_seconds();
	_cleanup_free_ char *script = xasprintf("sleep %s & yes", odd);
	_cleanup_str_ struct str out = STR_INIT;
	struct ssh_command o = { .out = &out, .max_output = 100000 };
	struct ssh_result r;

	(void)state;
	run(script, &o, &r);
	assert_int_equal(r.end, SSH_TOO_MUCH);
	assert_int_equal(out.len, 100000);
	assert_false(sleeps(odd));
	/* Endless output does not hide the deadline. */
	o = (struct ssh_command){ .timeout_ms = 1000 };
	run("yes", &o, &r);
	assert_int_equal(r.end, SSH_TIMED_OUT);
	o.timeout_ms = 1000;
	run("yes >&2", &o, &r);
	assert_int_equal(r.end, SSH_TIMED_OUT);
}

static void what_does_not_read_its_input_meets_the_deadline(void **state)
{
	const char *odd = odd_seconds();
	_cleanup_free_ char *script = xasprintf("sleep %s", odd);
	size_t n = 50000000;
	_cleanup_free_ char *in = xcalloc(n, 1);
	struct ssh_command o = { .input = in, .input_bytes = n, .timeout_ms = 1500 };
	struct ssh_result r;

	(void)state;
	run(script, &o, &r);
	assert_int_equal(r.end, SSH_TIMED_OUT);
	assert_false(sleeps(odd));
	o = (struct ssh_command){ .argv = NULL };
	run("exit 9", &o, &r);
	assert_int_equal(r.status, 9);
}

static void an_interrupt_kills_it_there_and_says_so(void **state)
{
	const char *odd = odd_seconds();
	int wstatus;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct ssh_conn *c = must_open(server.port, "user_ed25519");
		_cleanup_free_ char *seconds = xstrdup(odd);
		char *argv[] = { "sleep", seconds, NULL };
		struct ssh_command o = { .argv = argv, .timeout_ms = 30000 };
		struct ssh_result r;
		struct err e = ERR_INIT;

		sig_install();
		_exit(ssh_exec(c, &o, &r, &e) < 0 && e.code == ERR_INTERRUPTED ? 0 : 1);
	}
	for (int i = 0; i < 200 && !sleeps(odd); i++)
		poll(NULL, 0, 50);
	kill(pid, SIGINT);
	assert_int_equal(waitpid(pid, &wstatus, 0), pid);
	assert_true(WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == 0);
	assert_false(sleeps(odd));
}

static void many_commands_on_one_connection_leave_nothing_behind(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++) {
		struct ssh_command o = { .argv = NULL };
		struct ssh_result r;

		run("exit 1", &o, &r);
		assert_int_equal(r.status, 1);
	}
}

static void a_forced_command_is_noticed(void **state)
{
	struct sshd s;
	struct ssh_conn *c;
	struct err e = ERR_INIT;

	(void)state;
	sshd_start(&s, "ForceCommand echo welcome");
	know(s.port, "host_ed25519");
	c = must_open(s.port, "user_ed25519");
	assert_int_equal(ssh_check_shell(c, 20000, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "ForceCommand");
	ssh_close(c);
	sshd_stop(&s);
	know(server.port, "host_ed25519");
}

static void a_shell_that_talks_at_its_start_is_noticed(void **state)
{
	struct sshd s;
	struct ssh_conn *c;
	struct err e = ERR_INIT;

	(void)state;
	sshd_start(&s, "ForceCommand echo Welcome; eval \"$SSH_ORIGINAL_COMMAND\"");
	know(s.port, "host_ed25519");
	c = must_open(s.port, "user_ed25519");
	assert_int_equal(ssh_check_shell(c, 20000, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, ".bashrc");
	ssh_close(c);
	sshd_stop(&s);
	know(server.port, "host_ed25519");
}

static void a_server_without_sessions_is_our_failure(void **state)
{
	struct sshd s;
	struct ssh_conn *c;
	char *argv[] = { "true", NULL };
	struct err e = ERR_INIT;

	(void)state;
	sshd_start(&s, "MaxSessions 0");
	know(s.port, "host_ed25519");
	c = must_open(s.port, "user_ed25519");
	assert_int_equal(ssh_run(c, argv, 20000, NULL, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "open a channel");
	ssh_close(c);
	sshd_stop(&s);
	know(server.port, "host_ed25519");
}

static void a_command_that_is_too_long_is_refused_by_us(void **state)
{
	_cleanup_free_ char *word = xcalloc(40001, 1);
	char *argv[] = { "echo", word, NULL };
	struct err e = ERR_INIT;

	(void)state;
	memset(word, 'x', 40000);
	assert_int_equal(ssh_run(conn, argv, 20000, NULL, &e), -1);
	assert_int_equal(e.code, ERR_INTERNAL);
	word[30000] = '\0';
	assert_int_equal(ssh_run(conn, argv, 20000, NULL, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_statuses_arrive_as_they_are),
		cmocka_unit_test(a_signal_is_told_from_an_exit),
		cmocka_unit_test(a_program_that_does_not_exist_says_so),
		cmocka_unit_test(both_outputs_are_kept_apart_and_our_own_line_is_not_in_them),
		cmocka_unit_test(words_arrive_as_they_are),
		cmocka_unit_test(three_megabytes_on_stderr_do_not_stop_it),
		cmocka_unit_test(input_goes_through_unchanged_while_output_comes),
		cmocka_unit_test(a_command_need_not_read_its_input),
		cmocka_unit_test(lines_come_one_by_one_whatever_the_pieces),
		cmocka_unit_test(a_line_without_an_end_is_given_in_pieces),
		cmocka_unit_test(what_takes_too_long_is_killed_there_with_its_children),
		cmocka_unit_test(what_ignores_a_polite_signal_is_killed_too),
		cmocka_unit_test(what_has_only_just_started_is_killed_too),
		cmocka_unit_test(a_flood_is_stopped_and_does_not_outlive_the_limit),
		cmocka_unit_test(what_does_not_read_its_input_meets_the_deadline),
		cmocka_unit_test(an_interrupt_kills_it_there_and_says_so),
		cmocka_unit_test(many_commands_on_one_connection_leave_nothing_behind),
		cmocka_unit_test(a_forced_command_is_noticed),
		cmocka_unit_test(a_shell_that_talks_at_its_start_is_noticed),
		cmocka_unit_test(a_server_without_sessions_is_our_failure),
		cmocka_unit_test(a_command_that_is_too_long_is_refused_by_us),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
