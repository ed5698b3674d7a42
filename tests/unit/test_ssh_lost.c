/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections that break, fall silent or hang: noticed in bounded time, and never a verdict. */
#include "unit/ssh_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "target/ssh_copy.h"
#include "target/ssh_exec.h"

#define SILENCE_MS 2000

/* libssh2 1.10 forgets a host key with each exchange of keys, and parts of one that is cut. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libssh2.so\nleak:libcrypto.so\n";
}

/* ---- a proxy that cuts or falls silent -------------------------------------------------------- */

enum fault { PASS = 0, CUT, STALL };

/* Shared with the proxy's process. */
struct control {
	volatile int fault;   /* what happens after so many bytes */
	volatile long after;  /* in the direction of interest */
	volatile int is_down; /* 1: counted from the server to us, 0: the other way */
	volatile long passed[2];
};

static struct control *control;
static struct sshd server;
static unsigned proxy_port;
static pid_t proxy_pid;

static int dial(unsigned port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 ? fd : -1;
}

/* Pass what is there on. False: the connection ends. */
static bool pass_on(int from, int to, int down)
{
	char buf[16384];
	ssize_t n = read(from, buf, sizeof(buf));

	if (n <= 0)
		return false;
	control->passed[down] += n;
	if (control->fault && control->is_down == down && control->passed[down] > control->after) {
		if (control->fault == CUT)
			return false;
		for (;;)
			pause(); /* both sides stay open, nothing moves */
	}
	for (ssize_t done = 0; done < n;) {
		ssize_t w = write(to, buf + done, (size_t)(n - done));

		if (w <= 0)
			return false;
		done += w;
	}
	return true;
}

static void __attribute__((noreturn)) serve(int s)
{
	int up = dial(server.port);
	bool goes_on = up >= 0;

	while (goes_on) {
		struct pollfd pfd[2] = { { .fd = s, .events = POLLIN },
					 { .fd = up, .events = POLLIN } };

		poll(pfd, 2, -1);
		if (pfd[0].revents)
			goes_on = pass_on(s, up, 0);
		if (goes_on && pfd[1].revents)
			goes_on = pass_on(up, s, 1);
	}
	_exit(0);
}

static void proxy_start(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	assert_true(control != MAP_FAILED);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, n), 0);
	assert_int_equal(listen(fd, 16), 0);
	getsockname(fd, (struct sockaddr *)&a, &n);
	proxy_port = ntohs(a.sin_port);
	proxy_pid = fork();
	if (proxy_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGCHLD, SIG_IGN);
		for (;;) {
			int s = accept(fd, NULL, NULL);

			if (s >= 0 && fork() == 0) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				serve(s);
			}
			close(s);
		}
	}
	close(fd);
}

/* The fault happens once @after more bytes have passed in that direction. */
static void arm(enum fault fault, bool is_down, long after)
{
	control->is_down = is_down;
	control->after = control->passed[is_down] + after;
	control->fault = fault;
}

static int start(void **state)
{
	if (make_keys(state) < 0)
		return -1;
	sshd_start(&server, "");
	proxy_start();
	know(proxy_port, "host_ed25519");
	return 0;
}

static int stop(void **state)
{
	kill(proxy_pid, SIGKILL);
	waitpid(proxy_pid, NULL, 0);
	sshd_stop(&server);
	return remove_dir(state);
}

/* A connection through the proxy that notices silence soon. */
static struct ssh_conn *open_proxied(void)
{
	_cleanup_strv_ struct strv identities = STRV_INIT, known = STRV_INIT;
	const struct ssh_opts o = { .host = "127.0.0.1",
				    .port = proxy_port,
				    .user = user_name(),
				    .identities = &identities,
				    .known_hosts = &known,
				    .timeout_ms = 20000,
				    .silence_ms = SILENCE_MS,
				    .keep_alive_ms = 500 };
	char *argv[] = { "true", NULL };
	struct ssh_conn *c = NULL;
	struct err e = ERR_INIT;

	control->fault = PASS;
	strv_add(&identities, in_dir("user_ed25519"));
	strv_add(&known, in_dir("known"));
	if (ssh_open(&o, &c, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	/* What sshd has to say after a login is through then. */
	if (ssh_run(c, argv, 20000, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	return c;
}

/* It must end as our failure, the connection lost, within the time. */
static void lost(struct ssh_conn *c, const char *script, int64_t timeout_ms, int64_t within_ms)
{
	_cleanup_free_ char *text = xstrdup(script);
	char *argv[] = { "sh", "-c", text, NULL }, *again[] = { "true", NULL };
	const struct ssh_command o = { .argv = argv, .timeout_ms = timeout_ms };
	int64_t begun = clock_mono_ms();
	struct err e = ERR_INIT;
	struct ssh_result r;

	if (ssh_exec(c, &o, &r, &e) == 0)
		fail_msg("it ended: %d, status %d", r.end, r.status);
	if (e.code != ERR_LAB || !ssh_is_lost(c))
		fail_msg("code %d: %s", e.code, e.msg);
	assert_has(e.msg, "is lost");
	assert_in_range(clock_mono_ms() - begun, 0, within_ms);
	/* From then on at once. */
	begun = clock_mono_ms();
	assert_int_equal(ssh_run(c, again, 20000, NULL, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_true(clock_mono_ms() - begun < 200);
	begun = clock_mono_ms();
	ssh_close(c);
	assert_true(clock_mono_ms() - begun < 2500);
}

/* ---- cut ------------------------------------------------------------------------------------- */

static void a_connection_that_is_cut_is_no_exit_status(void **state)
{
	struct ssh_conn *c = open_proxied();

	(void)state;
	arm(CUT, true, 200000);
	lost(c, "head -c 3000000 /dev/zero; exit 0", 20000, 5000);
}

/* The first piece is taken slowly: the rest and the end of the connection are there together. */
static void take_slowly(void *cookie, const char *data, size_t n)
{
	size_t *taken = cookie;

	(void)data;
	if (!*taken)
		poll(NULL, 0, 1200);
	*taken += n;
}

static void what_came_before_the_end_is_handed_over(void **state)
{
	struct ssh_conn *c = open_proxied();
	char *argv[] = { "sh", "-c",
			 "for i in 1 2 3 4; do head -c 10000 /dev/zero; sleep 0.1; done; "
			 "kill -9 $PPID",
			 NULL };
	size_t taken = 0;
	const struct ssh_command o = {
		.argv = argv, .timeout_ms = 20000, .data = take_slowly, .cookie = &taken
	};
	struct ssh_result r;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(ssh_exec(c, &o, &r, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_int_equal(taken, 40000);
	ssh_close(c);
}

static void the_server_s_process_may_be_killed(void **state)
{
	struct ssh_conn *c = open_proxied();
	char *argv[] = { "sh", "-c", "kill -9 $PPID; sleep 5", NULL };
	const struct ssh_command o = { .argv = argv, .timeout_ms = 20000 };
	int64_t begun = clock_mono_ms();
	struct ssh_result r;
	struct err e = ERR_INIT;

	(void)state;
	/* Both halves of sshd: the one that is our parent, and its monitor by its end. */
	assert_int_equal(ssh_exec(c, &o, &r, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "is lost");
	assert_true(clock_mono_ms() - begun < 4000);
	ssh_close(c);
}

/* ---- silent ---------------------------------------------------------------------------------- */

static void a_half_open_connection_is_noticed(void **state)
{
	struct ssh_conn *c = open_proxied();

	(void)state;
	arm(STALL, true, 10000);
	lost(c, "head -c 3000000 /dev/zero", 60000, SILENCE_MS + 4000);
}

static void silence_while_a_command_says_nothing_is_noticed_by_keep_alives(void **state)
{
	struct ssh_conn *c = open_proxied();

	(void)state;
	arm(STALL, true, 400); /* enough for the command to start */
	lost(c, "sleep 60", 60000, SILENCE_MS + 5000);
}

static void silence_while_we_send_is_noticed(void **state)
{
	struct ssh_conn *c = open_proxied();
	size_t n = 30000000;
	_cleanup_free_ char *in = xcalloc(n, 1);
	char *argv[] = { "cat", NULL };
	const struct ssh_command o = {
		.argv = argv, .timeout_ms = 60000, .input = in, .input_bytes = n, .max_output = 0
	};
	int64_t begun = clock_mono_ms();
	struct ssh_result r;
	struct err e = ERR_INIT;

	(void)state;
	arm(STALL, false, 1000000);
	assert_int_equal(ssh_exec(c, &o, &r, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_true(ssh_is_lost(c));
	assert_true(clock_mono_ms() - begun < 2 * SILENCE_MS + 5000);
	begun = clock_mono_ms();
	ssh_close(c);
	assert_true(clock_mono_ms() - begun < 2500);
}

static void a_quiet_command_on_a_living_connection_is_waited_for(void **state)
{
	struct ssh_conn *c = open_proxied();
	char *argv[] = { "sh", "-c", "sleep 3.5; exit 3", NULL };
	const struct ssh_command o = { .argv = argv, .timeout_ms = 20000 };
	struct ssh_result r;
	struct err e = ERR_INIT;

	(void)state;
	if (ssh_exec(c, &o, &r, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(r.status, 3);
	ssh_close(c);
}

/* The deadline passes on a dead line: nobody knows what the command did. */
static void a_deadline_on_a_silent_connection_is_not_a_time_out_of_the_command(void **state)
{
	struct ssh_conn *c = open_proxied();

	(void)state;
	arm(STALL, true, 400);
	lost(c, "sleep 60", 1500, SILENCE_MS + 4000);
}

/* So short a time that not even the channel is open. */
static void a_command_that_cannot_start_in_time_is_our_failure(void **state)
{
	struct ssh_conn *c = open_proxied();

	(void)state;
	arm(STALL, true, 0);
	lost(c, "exit 0", 700, 2500);
}

static void a_connection_that_fell_silent_between_two_commands_is_noticed(void **state)
{
	struct ssh_conn *c = open_proxied();
	char *argv[] = { "true", NULL };
	struct err e = ERR_INIT;
	int64_t begun;

	(void)state;
	assert_int_equal(ssh_run(c, argv, 20000, NULL, &e), 0);
	arm(STALL, true, 0);
	begun = clock_mono_ms();
	assert_int_equal(ssh_run(c, argv, 60000, NULL, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_true(clock_mono_ms() - begun < SILENCE_MS + 4000);
	ssh_close(c);
}

static void the_handshake_may_be_cut_or_stall_anywhere(void **state)
{
	(void)state;
	for (long after = 0; after < 4000; after += 350) {
		for (int fault = CUT; fault <= STALL; fault++) {
			_cleanup_strv_ struct strv identities = STRV_INIT, known = STRV_INIT;
			const struct ssh_opts o = { .host = "127.0.0.1",
						    .port = proxy_port,
						    .user = user_name(),
						    .identities = &identities,
						    .known_hosts = &known,
						    .timeout_ms = 400 };
			int64_t begun = clock_mono_ms();
			struct ssh_conn *c = NULL;
			struct err e = ERR_INIT;

			strv_add(&identities, in_dir("user_ed25519"));
			strv_add(&known, in_dir("known"));
			arm((enum fault)fault, true, after);
			if (ssh_open(&o, &c, NULL, &e) == 0) {
				ssh_close(c); /* it was through already */
				continue;
			}
			assert_true(e.code == ERR_LAB || e.code == ERR_TIMEOUT);
			assert_true(clock_mono_ms() - begun < 2500);
		}
	}
	control->fault = PASS;
}

/* ---- keys anew --------------------------------------------------------------------------------- */

static void keys_are_exchanged_anew_in_the_middle(void **state)
{
	size_t n = 6000000;
	_cleanup_free_ char *in = xcalloc(n, 1);
	_cleanup_str_ struct str out = STR_INIT;
	char *cat[] = { "cat", NULL }, *quiet[] = { "sh", "-c", "sleep 2.5; exit 5", NULL };
	struct ssh_command o = {
		.argv = cat, .input = in, .input_bytes = n, .out = &out, .timeout_ms = 20000
	};
	struct ssh_conn *c;
	struct ssh_result r;
	struct err e = ERR_INIT;
	struct sshd s;

	(void)state;
	/* … while sshd asks whether we are there. */
	sshd_start(&s, "RekeyLimit 1M\nClientAliveInterval 1");
	know(s.port, "host_ed25519");
	c = must_open(s.port, "user_ed25519");
	for (size_t i = 0; i < n; i++)
		in[i] = (char)(i * 13 + i / 253);
	if (ssh_exec(c, &o, &r, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(out.len, n);
	assert_memory_equal(out.buf, in, n);
	o = (struct ssh_command){ .argv = quiet, .timeout_ms = 20000 };
	if (ssh_exec(c, &o, &r, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(r.status, 5);
	ssh_close(c);
	sshd_stop(&s);
	know(proxy_port, "host_ed25519");
}

/* ---- uploads --------------------------------------------------------------------------------- */

static void an_upload_that_is_cut_leaves_nothing_under_its_name(void **state)
{
	struct ssh_conn *c = open_proxied();
	const struct ssh_upload u = { .from = in_dir("big"),
				      .to = in_dir("home/arrived"),
				      .mode = 0644,
				      .timeout_ms = 20000 };
	struct err e = ERR_INIT;

	(void)state;
	shell("head -c 5000000 /dev/urandom >big; rm -f home/arrived*");
	arm(CUT, false, 2000000);
	assert_int_equal(ssh_upload(c, &u, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "is lost");
	assert_false(fs_exists(u.to));
	ssh_close(c);
	/* The next one does not stumble over what is left. */
	c = open_proxied();
	if (ssh_upload(c, &u, &e) < 0)
		fail_msg("%s", e.msg);
	shell("cmp big home/arrived && [ -z \"$(ls home/*kregress-new 2>/dev/null)\" ]");
	ssh_close(c);
}

static void an_upload_that_stalls_is_given_up(void **state)
{
	struct ssh_conn *c = open_proxied();
	const struct ssh_upload u = { .from = in_dir("big"),
				      .to = in_dir("home/stalled"),
				      .mode = 0644,
				      .timeout_ms = 60000 };
	int64_t begun = clock_mono_ms();
	struct err e = ERR_INIT;

	(void)state;
	arm(STALL, false, 2000000);
	assert_int_equal(ssh_upload(c, &u, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_true(clock_mono_ms() - begun < 2 * SILENCE_MS + 5000);
	assert_false(fs_exists(u.to));
	ssh_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_that_is_cut_is_no_exit_status),
		cmocka_unit_test(what_came_before_the_end_is_handed_over),
		cmocka_unit_test(the_server_s_process_may_be_killed),
		cmocka_unit_test(a_half_open_connection_is_noticed),
		cmocka_unit_test(silence_while_a_command_says_nothing_is_noticed_by_keep_alives),
		cmocka_unit_test(silence_while_we_send_is_noticed),
		cmocka_unit_test(a_quiet_command_on_a_living_connection_is_waited_for),
		cmocka_unit_test(
			a_deadline_on_a_silent_connection_is_not_a_time_out_of_the_command),
		cmocka_unit_test(a_command_that_cannot_start_in_time_is_our_failure),
		cmocka_unit_test(a_connection_that_fell_silent_between_two_commands_is_noticed),
		cmocka_unit_test(the_handshake_may_be_cut_or_stall_anywhere),
		cmocka_unit_test(keys_are_exchanged_anew_in_the_middle),
		cmocka_unit_test(an_upload_that_is_cut_leaves_nothing_under_its_name),
		cmocka_unit_test(an_upload_that_stalls_is_given_up),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
