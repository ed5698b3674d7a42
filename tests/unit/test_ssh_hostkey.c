/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections to a real sshd: host keys, and servers that are none. */
#include "unit/ssh_fixture.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static struct sshd server; /* with all host keys, for all user keys */

static int start(void **state)
{
	if (make_keys(state) < 0)
		return -1;
	sshd_start(&server, "");
	return 0;
}

static int stop(void **state)
{
	sshd_stop(&server);
	return remove_dir(state);
}

/* ---- host keys ----------------------------------------------------------------------------- */

static void each_type_of_host_key_is_accepted_where_it_is_known(void **state)
{
	static const char *const names[] = { "host_ed25519", "host_ecdsa256", "host_ecdsa384",
					     "host_ecdsa521" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *extra = xasprintf("HostKey %s", names[i]);
		struct sshd s;

		sshd_start(&s, extra);
		know(s.port, names[i]);
		ssh_close(must_open(s.port, "user_ed25519"));
		sshd_stop(&s);
	}
}

static void of_several_host_keys_the_known_one_is_asked_for(void **state)
{
	(void)state;
	know(server.port, "host_ecdsa384");
	ssh_close(must_open(server.port, "user_ed25519"));
	know(server.port, "host_ecdsa521");
	ssh_close(must_open(server.port, "user_ed25519"));
}

static void a_server_that_has_only_an_rsa_key_is_refused_with_the_reason(void **state)
{
	struct sshd s;

	(void)state;
	sshd_start(&s, "HostKey host_rsa");
	know(s.port, "host_rsa");
	REFUSED(s.port, "user_ed25519", SSH_STEP_HOST_KEY, "agree on keys", "RSA", "ssh-keygen -A");
	sshd_stop(&s);
}

/* The command in the message from @from on. */
static char *command_in(const char *msg, const char *from)
{
	const char *at = strstr(msg, from);

	assert_non_null(at);
	return xstrdup(at);
}

static void an_unknown_key_is_refused_and_the_remedy_in_the_message_helps(void **state)
{
	_cleanup_free_ char *fingerprint = sh("ssh-keygen -lf host_ed25519.pub | cut -d' ' -f2");
	_cleanup_free_ char *command = NULL, *before = NULL;
	struct ssh_conn *c = NULL;
	struct err e = ERR_INIT;

	(void)state;
	put_file("known", "# nothing\n");
	REFUSED(server.port, "user_ed25519", SSH_STEP_HOST_KEY, "is not known", fingerprint,
		"ssh-ed25519", "ssh-keyscan -p ", "known");
	before = get_file("known");
	assert_string_equal(before, "# nothing\n"); /* never accepted silently */
	assert_int_equal(open_with(server.port, "user_ed25519", &c, NULL, &e), -1);
	command = command_in(e.msg, "ssh-keyscan");
	shell("%s 2>/dev/null", command);
	ssh_close(must_open(server.port, "user_ed25519"));
}

static void a_changed_key_is_refused_and_the_remedy_in_the_message_helps(void **state)
{
	_cleanup_free_ char *command = NULL, *other = public_key("other"), *text = NULL;
	_cleanup_free_ char *place = xasprintf("%s:2", in_dir("known"));
	struct ssh_conn *c = NULL;
	struct err e = ERR_INIT;

	(void)state;
	text = xasprintf("# x\n[127.0.0.1]:%u %s\n", server.port, other);
	put_file("known", text);
	REFUSED(server.port, "user_ed25519", SSH_STEP_HOST_KEY, "has changed", place,
		"ssh-keygen -R ");
	assert_int_equal(open_with(server.port, "user_ed25519", &c, NULL, &e), -1);
	command = command_in(e.msg, "ssh-keygen -R");
	shell("{ %s ; } 2>/dev/null >&2 || exit 1", command);
	ssh_close(must_open(server.port, "user_ed25519"));
}

static void a_revoked_key_is_refused_though_it_is_listed_too(void **state)
{
	_cleanup_free_ char *key = public_key("host_ed25519"), *text = NULL, *place = NULL;

	(void)state;
	text = xasprintf("[127.0.0.1]:%u %s\n@revoked * %s\n", server.port, key, key);
	put_file("known", text);
	place = xasprintf("revoked by %s:2", in_dir("known"));
	REFUSED(server.port, "user_ed25519", SSH_STEP_HOST_KEY, place);
}

static void hashed_names_bad_lines_and_long_ones_before_do_not_hide_the_key(void **state)
{
	(void)state;
	know(server.port, "host_ed25519");
	shell("ssh-keygen -q -H -f known 2>/dev/null; rm -f known.old; "
	      "{ echo junk; echo '[127.0.0.1]:%u ssh-ed25519 AAA!'; echo '@odd x y z'; "
	      "printf 'h ssh-rsa '; head -c 9000 /dev/zero | tr '\\0' A; echo; "
	      "sed 's/$/\\r/' known; } >k && mv k known",
	      server.port);
	ssh_close(must_open(server.port, "user_ed25519"));
}

static void what_the_files_have_instead_is_said(void **state)
{
	_cleanup_free_ char *rsa = public_key("host_rsa"), *ca = public_key("other"), *text = NULL;

	(void)state;
	text = xasprintf("junk\n[127.0.0.1]:%u %s\n@cert-authority * %s\n", server.port, rsa, ca);
	put_file("known", text);
	REFUSED(server.port, "user_ed25519", SSH_STEP_HOST_KEY, "is not known", "@cert-authority",
		"known:2 has its ssh-rsa key only", "known:1 is malformed");
}

/* ---- not there ----------------------------------------------------------------------------- */

static void nobody_there_is_told_from_a_refusal(void **state)
{
	unsigned port = (unsigned)free_port();

	(void)state;
	REFUSED(port, "user_ed25519", SSH_STEP_REACH, "cannot connect", "refused");
}

static int listen_on(unsigned *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, n), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

static int open_for(const char *host, unsigned port, int64_t timeout_ms, enum ssh_step *step,
		    struct err *e)
{
	_cleanup_strv_ struct strv known = STRV_INIT;
	const struct ssh_opts o = { .host = host,
				    .port = port,
				    .user = "root",
				    .known_hosts = &known,
				    .agent = "",
				    .timeout_ms = timeout_ms };
	struct ssh_conn *c = NULL;
	int ret;

	strv_add(&known, in_dir("known"));
	ret = ssh_open(&o, &c, step, e);
	ssh_close(c);
	return ret;
}

static void a_server_that_says_nothing_is_given_up_at_the_deadline(void **state)
{
	int64_t begun = clock_mono_ms();
	enum ssh_step step;
	struct err e = ERR_INIT;
	unsigned port;
	int fd = listen_on(&port); /* the kernel accepts, nobody reads */

	(void)state;
	assert_int_equal(open_for("127.0.0.1", port, 1000, &step, &e), -1);
	assert_int_equal(e.code, ERR_TIMEOUT);
	assert_int_equal(step, SSH_STEP_REACH);
	assert_in_range(clock_mono_ms() - begun, 900, 3000);
	close(fd);
}

/* What a server says to whoever comes: @text, @times over, then it closes; in a child. */
static pid_t talker(const char *text, long times, unsigned *port)
{
	int fd = listen_on(port);
	pid_t pid = fork();

	if (pid > 0)
		close(fd);
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int s = accept(fd, NULL, NULL);

		for (long i = 0; i < times; i++)
			if (send(s, text, strlen(text), MSG_NOSIGNAL) < 0)
				break;
		close(s);
	}
}

static void what_is_no_ssh_server_is_given_up_however_much_it_says(void **state)
{
	static const struct {
		const char *text;
		long times;
	} cases[] = { { "", 1 },
		      { "HTTP/1.0 400 Bad Request\r\n\r\n", 1 },
		      { "220 mail.example.org ESMTP\r\n", 100000000 },
		      { "SSH-2.0-OpenSSH_9.2\r\n", 100000000 },
		      { "no line end ", 100000000 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t begun = clock_mono_ms();
		struct err e = ERR_INIT;
		unsigned port;
		pid_t pid = talker(cases[i].text, cases[i].times, &port);

		assert_int_equal(open_for("127.0.0.1", port, 4000, NULL, &e), -1);
		assert_true(e.code == ERR_LAB || e.code == ERR_TIMEOUT);
		assert_true(clock_mono_ms() - begun < 6000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* A machine that goes down just then: nothing to do with its host key. */
static void one_that_hangs_up_after_its_greeting_was_only_to_be_reached(void **state)
{
	enum ssh_step step = SSH_STEP_NONE;
	struct err e = ERR_INIT;
	unsigned port;
	pid_t pid = talker("SSH-2.0-OpenSSH_9.2\r\n", 1, &port);

	(void)state;
	assert_int_equal(open_for("127.0.0.1", port, 4000, &step, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_int_equal(step, SSH_STEP_REACH);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_name_that_does_not_exist_is_said(void **state)
{
	enum ssh_step step;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(open_for("no-such-host.invalid", 22, 20000, &step, &e), -1);
	assert_int_equal(step, SSH_STEP_REACH);
	assert_has(e.msg, "no-such-host.invalid");
	assert_int_equal(e.code, ERR_NOT_FOUND);
	/* One that exists is looked up in /etc/hosts, and then refused for its key. */
	assert_int_equal(open_for("localhost", server.port, 20000, &step, &e), -1);
	assert_int_equal(step, SSH_STEP_HOST_KEY);
	assert_int_equal(open_for("-h", 22, 20000, &step, &e), -1);
	assert_has(e.msg, "cannot look up '-h'");
}

static void a_signal_ends_the_waiting(void **state)
{
	int64_t begun = clock_mono_ms();
	struct err e = ERR_INIT;
	unsigned port;
	int fd = listen_on(&port), wstatus;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		sig_install();
		_exit(open_for("127.0.0.1", port, 30000, NULL, &e) < 0 && e.code == ERR_INTERRUPTED
			      ? 0
			      : 1);
	}
	poll(NULL, 0, 500);
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &wstatus, 0), pid);
	assert_true(WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == 0);
	assert_true(clock_mono_ms() - begun < 5000);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_of_host_key_is_accepted_where_it_is_known),
		cmocka_unit_test(of_several_host_keys_the_known_one_is_asked_for),
		cmocka_unit_test(a_server_that_has_only_an_rsa_key_is_refused_with_the_reason),
		cmocka_unit_test(an_unknown_key_is_refused_and_the_remedy_in_the_message_helps),
		cmocka_unit_test(a_changed_key_is_refused_and_the_remedy_in_the_message_helps),
		cmocka_unit_test(a_revoked_key_is_refused_though_it_is_listed_too),
		cmocka_unit_test(hashed_names_bad_lines_and_long_ones_before_do_not_hide_the_key),
		cmocka_unit_test(what_the_files_have_instead_is_said),
		cmocka_unit_test(nobody_there_is_told_from_a_refusal),
		cmocka_unit_test(a_server_that_says_nothing_is_given_up_at_the_deadline),
		cmocka_unit_test(what_is_no_ssh_server_is_given_up_however_much_it_says),
		cmocka_unit_test(one_that_hangs_up_after_its_greeting_was_only_to_be_reached),
		cmocka_unit_test(a_name_that_does_not_exist_is_said),
		cmocka_unit_test(a_signal_ends_the_waiting),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
