/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logging in at a real sshd: keys of files and of an agent. */
#include "unit/ssh_fixture.h"

#include "target/ssh_config.h"

/* libssh2 1.10 forgets two numbers with each login by an ecdsa key of a file. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libcrypto.so\n";
}

static struct proc agent = PROC_INIT;
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
	/* It is setgid, and so does not die with us. */
	proc_stop(&agent, 100);
	sshd_stop(&server);
	return remove_dir(state);
}

/* ---- keys of the user ---------------------------------------------------------------------- */

static void each_type_of_user_key_logs_in(void **state)
{
	static const char *const names[] = { "user_ed25519", "user_ecdsa256", "user_ecdsa384",
					     "user_ecdsa521" };

	(void)state;
	know(server.port, "host_ed25519");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ssh_close(must_open(server.port, names[i]));
}

static void keys_in_the_old_format_log_in(void **state)
{
	(void)state;
	know(server.port, "host_ed25519");
	shell("cp user_ecdsa256 pem && ssh-keygen -q -p -m PEM -P '' -N '' -f pem >/dev/null");
	ssh_close(must_open(server.port, "pem"));
}

static void keys_that_cannot_be_used_are_explained(void **state)
{
	(void)state;
	know(server.port, "host_ed25519");
	REFUSED(server.port, "user_rsa", SSH_STEP_LOGIN, "user_rsa", "RSA", "SHA-2", "ed25519");
	REFUSED(server.port, "other", SSH_STEP_LOGIN, "other: refused", "authorized_keys");
	shell("cp user_ed25519 locked && ssh-keygen -q -p -P '' -N secret -f locked >/dev/null");
	REFUSED(server.port, "locked", SSH_STEP_LOGIN, "passphrase", "ssh-add");
	shell("cp user_ecdsa256 pem2 && ssh-keygen -q -p -m PEM -P '' -N secret -f pem2 "
	      ">/dev/null");
	REFUSED(server.port, "pem2", SSH_STEP_LOGIN, "passphrase");
	shell("cp user_ed25519 wide && chmod 644 wide");
	REFUSED(server.port, "wide", SSH_STEP_LOGIN, "chmod 600");
	REFUSED(server.port, "missing", SSH_STEP_LOGIN, "missing", "No such file");
	shell("echo nothing >junk && chmod 600 junk");
	REFUSED(server.port, "junk", SSH_STEP_LOGIN, "is not a private key");
	REFUSED(server.port, "user_ed25519.pub", SSH_STEP_LOGIN, "a public key");
	shell("echo 'PuTTY-User-Key-File-3: ssh-ed25519' >ppk && chmod 600 ppk");
	REFUSED(server.port, "ppk", SSH_STEP_LOGIN, "PuTTY");
}

static void a_damaged_key_file_asks_nothing_and_hangs_nothing(void **state)
{
	(void)state;
	know(server.port, "host_ed25519");
	shell("head -c 200 user_ed25519 >cut && chmod 600 cut");
	REFUSED(server.port, "cut", SSH_STEP_LOGIN, "is not a private key");
	shell("printf -- '-----BEGIN EC PRIVATE KEY-----\\nAAAA\\n-----END EC PRIVATE KEY-----\\n' "
	      ">pem3 && chmod 600 pem3");
	REFUSED(server.port, "pem3", SSH_STEP_LOGIN, "pem3");
}

static void a_server_that_wants_a_password_is_refused(void **state)
{
	struct sshd s;

	(void)state;
	sshd_start(&s, "PubkeyAuthentication no\nPasswordAuthentication yes");
	know(s.port, "host_ed25519");
	REFUSED(s.port, "user_ed25519", SSH_STEP_LOGIN, "accepts no keys, only: password");
	sshd_stop(&s);
}

/* ---- agent --------------------------------------------------------------------------------- */

static void agent_start(void)
{
	_cleanup_free_ char *path = xstrdup(in_dir("agent"));
	char *argv[] = { "ssh-agent", "-D", "-a", path, NULL };
	const struct proc_opts o = { .argv = argv };
	struct err e = ERR_INIT;

	unlink(in_dir("agent"));
	if (proc_start(&o, false, &agent, &e) < 0)
		fail_msg("%s", e.msg);
	for (int i = 0; i < 200 && !fs_exists(in_dir("agent")); i++)
		poll(NULL, 0, 10);
}

static void agent_add(const char *name)
{
	shell("chmod 600 %s && SSH_AUTH_SOCK=%s ssh-add -q %s", name, in_dir("agent"), name);
}

/* Open through an agent; @identity may be NULL. */
static int open_by_agent(const char *socket_path, const char *identity, int64_t timeout_ms,
			 struct err *e)
{
	_cleanup_strv_ struct strv identities = STRV_INIT, known = STRV_INIT;
	const struct ssh_opts o = { .host = "127.0.0.1",
				    .port = server.port,
				    .user = user_name(),
				    .identities = &identities,
				    .known_hosts = &known,
				    .agent = socket_path,
				    .timeout_ms = timeout_ms };
	struct ssh_conn *c = NULL;
	int ret;

	if (identity)
		strv_add(&identities, in_dir(identity));
	strv_add(&known, in_dir("known"));
	setenv("HOME", in_dir("home"), 1);
	ret = ssh_open(&o, &c, NULL, e);
	ssh_close(c);
	return ret;
}

static void an_agent_s_key_logs_in_and_its_rsa_key_is_passed_over(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	know(server.port, "host_ed25519");
	agent_start();
	assert_int_equal(open_by_agent(in_dir("agent"), NULL, 20000, &e), -1);
	assert_has(e.msg, "the ssh agent has no keys");
	agent_add("user_rsa");
	assert_int_equal(open_by_agent(in_dir("agent"), NULL, 20000, &e), -1);
	assert_has(e.msg, "'user-rsa' of the agent: RSA");
	agent_add("other");
	assert_int_equal(open_by_agent(in_dir("agent"), NULL, 20000, &e), -1);
	assert_has(e.msg, "'other' of the agent: refused");
	for (int i = 0; i < 2; i++) {
		agent_add(i ? "user_ecdsa521" : "user_ed25519");
		if (open_by_agent(in_dir("agent"), NULL, 20000, &e) < 0)
			fail_msg("%s", e.msg);
		shell("SSH_AUTH_SOCK=%s ssh-add -q -d user_ed25519 2>/dev/null || :",
		      in_dir("agent"));
	}
	proc_stop(&agent, 100);
}

static void an_identity_with_a_passphrase_is_used_from_the_agent(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	know(server.port, "host_ed25519");
	shell("cp user_ed25519 secret && ssh-keygen -q -p -P '' -N x -f secret >/dev/null; "
	      "cp other.pub only.pub; cp user_ed25519.pub mine.pub");
	agent_start();
	agent_add("user_ed25519");
	agent_add("other");
	if (open_by_agent(in_dir("agent"), "secret", 20000, &e) < 0)
		fail_msg("%s", e.msg);
	if (open_by_agent(in_dir("agent"), "mine.pub", 20000, &e) < 0)
		fail_msg("%s", e.msg);
	/* Only what is named: the agent has a key that would do. */
	assert_int_equal(open_by_agent(in_dir("agent"), "only.pub", 20000, &e), -1);
	assert_null(strstr(e.msg, "user-ed25519"));
	/* A locked agent shows nothing; the file serves. */
	assert_int_equal(open_by_agent(in_dir("agent"), "user_ecdsa256", 20000, &e), 0);
	proc_stop(&agent, 100);
}

static void an_agent_that_is_gone_or_silent_costs_no_more_than_the_deadline(void **state)
{
	struct sockaddr_un where = { .sun_family = AF_UNIX };
	int64_t begun = clock_mono_ms();
	struct err e = ERR_INIT;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	know(server.port, "host_ed25519");
	assert_int_equal(open_by_agent(in_dir("nobody"), NULL, 20000, &e), -1);
	assert_has(e.msg, "no ssh agent at");
	assert_int_equal(open_by_agent(in_dir("nobody"), "user_ed25519", 20000, &e), 0);
	snprintf(where.sun_path, sizeof(where.sun_path), "%s/silent", fx_dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	assert_int_equal(listen(fd, 5), 0);
	begun = clock_mono_ms();
	assert_int_equal(open_by_agent(where.sun_path, NULL, 1500, &e), -1);
	assert_true(clock_mono_ms() - begun < 4000);
	close(fd);
}

static void too_many_keys_are_explained(void **state)
{
	struct sshd s;
	unsigned saved = server.port;
	struct err e = ERR_INIT;

	(void)state;
	sshd_start(&s, "MaxAuthTries 2");
	server.port = s.port;
	know(s.port, "host_ed25519");
	shell("for i in 1 2 3; do ssh-keygen -q -t ed25519 -N '' -C k$i -f k$i; done");
	agent_start();
	agent_add("k1");
	agent_add("k2");
	agent_add("k3");
	assert_int_equal(open_by_agent(in_dir("agent"), NULL, 20000, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "Too many authentication failures");
	assert_has(e.msg, "identity =");
	proc_stop(&agent, 100);
	server.port = saved;
	sshd_stop(&s);
}

/* ---- through ~/.ssh/config ------------------------------------------------------------------ */

static void an_alias_of_ssh_config_leads_there(void **state)
{
	_cleanup_(ssh_config_release) struct ssh_config conf = SSH_CONFIG_INIT;
	_cleanup_strv_ struct strv paths = STRV_INIT;
	const struct ssh_config_query q = { .alias = "bench", .home = fx_dir };
	_cleanup_free_ char *text = NULL, *theirs = NULL;
	struct ssh_opts o = { .timeout_ms = 20000, .agent = "" };
	struct ssh_conn *c = NULL;
	struct err e = ERR_INIT;

	(void)state;
	know(server.port, "host_ed25519");
	text = xasprintf("Host bench\nHostName 127.0.0.1\nPort %u\nUser %s\nIdentityFile "
			 "%s/user_ed25519\nUserKnownHostsFile %s/known\nIdentityAgent none\n",
			 server.port, user_name(), fx_dir, fx_dir);
	put_file("config", text);
	shell("chmod 600 config");
	theirs = sh("ssh -F config bench echo there");
	assert_string_equal(theirs, "there");
	strv_add(&paths, in_dir("config"));
	if (ssh_config_read(&paths, &q, &conf, &e) < 0)
		fail_msg("%s", e.msg);
	o.host = conf.host_name;
	o.port = conf.port;
	o.user = conf.user;
	o.identities = &conf.identities;
	o.known_hosts = &conf.known_hosts;
	if (ssh_open(&o, &c, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	ssh_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_of_user_key_logs_in),
		cmocka_unit_test(keys_in_the_old_format_log_in),
		cmocka_unit_test(keys_that_cannot_be_used_are_explained),
		cmocka_unit_test(a_damaged_key_file_asks_nothing_and_hangs_nothing),
		cmocka_unit_test(a_server_that_wants_a_password_is_refused),
		cmocka_unit_test(an_agent_s_key_logs_in_and_its_rsa_key_is_passed_over),
		cmocka_unit_test(an_identity_with_a_passphrase_is_used_from_the_agent),
		cmocka_unit_test(an_agent_that_is_gone_or_silent_costs_no_more_than_the_deadline),
		cmocka_unit_test(too_many_keys_are_explained),
		cmocka_unit_test(an_alias_of_ssh_config_leads_there),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
