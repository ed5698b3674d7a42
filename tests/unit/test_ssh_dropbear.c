/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands and files over dropbear: what a small machine has. */
#include "unit/ssh_fixture.h"

#include "target/ssh_copy.h"

static struct proc bear = PROC_INIT;

/* It knows authorized_keys in the home of the password file only: it is shown another one. */
static struct ssh_conn *open_dropbear(void)
{
	unsigned port = (unsigned)free_port();
	_cleanup_free_ char *where = xasprintf("127.0.0.1:%u", port), *pub = NULL, *text = NULL;
	_cleanup_free_ char *log = xstrdup(in_dir("bear.log")), *key = xstrdup(in_dir("bear_key"));
	_cleanup_strv_ struct strv env = STRV_INIT;
	char *argv[] = { "dropbear", "-F", "-E", "-r", key, "-p", where, NULL };
	const struct proc_opts o = {
		.argv = argv, .env = &env, .log_path = log, .merge_stderr = true
	};
	struct err e = ERR_INIT;

	shell("[ -e bear_key ] || dropbearkey -t ed25519 -f bear_key >/dev/null 2>&1; "
	      "mkdir -p home/.ssh && chmod 700 . home home/.ssh && cp authorized home/.ssh/"
	      "authorized_keys && chmod 600 home/.ssh/authorized_keys; "
	      "echo \"$(id -un):x:$(id -u):$(id -g)::$PWD/home:/bin/sh\" >passwd; "
	      "echo \"$(id -gn):x:$(id -g):\" >group");
	strv_add(&env, "LD_PRELOAD=libnss_wrapper.so");
	strv_addf(&env, "NSS_WRAPPER_PASSWD=%s/passwd", fx_dir);
	strv_addf(&env, "NSS_WRAPPER_GROUP=%s/group", fx_dir);
	pub = sh("dropbearkey -y -f bear_key | grep '^ssh-ed25519 ' | cut -d' ' -f1,2");
	text = xasprintf("[127.0.0.1]:%u %s\n", port, pub);
	put_file("known", text);
	if (proc_start(&o, false, &bear, &e) < 0)
		fail_msg("%s", e.msg);
	wait_for_port(port);
	return must_open(port, "user_ed25519");
}

static void of_dropbear_a_silent_end_is_not_taken_for_success(void **state)
{
	static const struct {
		const char *script, *signal;
		int status;
	} cases[] = { { "exit 0", "", 0 },
		      { "exit 1", "", 1 },
		      { "exit 255", "", 255 },
		      { "exit 221", "", 221 },
		      { "kill -SEGV $$", "SEGV", 139 },
		      { "kill -BUS $$", "BUS", 135 },
		      { "kill -KILL $$", "KILL", 137 } };
	struct ssh_conn *c = open_dropbear();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *script = xasprintf("ulimit -c 0; %s", cases[i].script);
		struct ssh_command o = { .argv = NULL };
		struct ssh_result r;

		run_on(c, script, &o, &r);
		assert_int_equal(r.status, cases[i].status);
		assert_string_equal(r.signal, cases[i].signal);
	}
	ssh_close(c);
	proc_stop(&bear, 500);
}

static void of_dropbear_too_what_takes_too_long_is_killed(void **state)
{
	const char *odd = odd_seconds();
	_cleanup_free_ char *script = xasprintf("sleep %s & sleep %s", odd, odd);
	struct ssh_conn *c = open_dropbear();
	struct ssh_command o = { .timeout_ms = 1000 };
	struct ssh_result r;
	struct err e = ERR_INIT;

	(void)state;
	run_on(c, script, &o, &r);
	assert_int_equal(r.end, SSH_TIMED_OUT);
	assert_false(sleeps(odd));
	assert_int_equal(ssh_check_shell(c, 20000, &e), 0);
	ssh_close(c);
	proc_stop(&bear, 500);
}

static void of_dropbear_files_arrive_whole(void **state)
{
	struct ssh_conn *c = open_dropbear();
	const struct ssh_upload u = {
		.from = in_dir("from"), .to = in_dir("to"), .mode = 0600, .timeout_ms = 30000
	};
	struct err e = ERR_INIT;

	(void)state;
	shell("head -c 5000000 /dev/urandom >from");
	if (ssh_upload(c, &u, &e) < 0)
		fail_msg("%s", e.msg);
	shell("cmp from to");
	ssh_close(c);
	proc_stop(&bear, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_dropbear_a_silent_end_is_not_taken_for_success),
		cmocka_unit_test(of_dropbear_too_what_takes_too_long_is_killed),
		cmocka_unit_test(of_dropbear_files_arrive_whole),
	};

	return cmocka_run_group_tests(tests, make_keys, remove_dir);
}
