/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lock of a machine over a real sshd: whose it is, when it is stale, and what comes before it. */
#include "unit/ssh_box_fixture.h"
#include "target/ssh_run.h"

#include <sys/wait.h>

static void a_lock_is_taken_renewed_and_given_back(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	must(&e, ssh_box_lock(&box, &e));
	_cleanup_free_ char *first = get_file("lock");
	_cleanup_free_ char *pid = xasprintf("pid=%ld\n", (long)getpid());

	assert_has(first, pid);
	assert_has(first, "campaign=hunt\n");
	must(&e, ssh_box_lock(&box, &e));
	_cleanup_free_ char *second = get_file("lock");

	assert_string_not_equal(first, second);
	must(&e, ssh_box_unlock(&box, &e));
	assert_false(fs_exists(in_dir("lock")));
	_cleanup_free_ char *left = sh("ls -d lock* 2>/dev/null || :");

	assert_string_equal(left, "");
}

/* A lock as another would have made it, with some lines changed by sed. */
static void other_lock(const char *sed)
{
	_cleanup_strv_ struct strv lines = STRV_INIT;
	_cleanup_str_ struct str text = STR_INIT;
	struct err e = ERR_INIT;

	must(&e, ssh_lock_describe("other's", &lines, &e));
	for (size_t i = 0; i < lines.n; i++)
		str_addf(&text, "%s\n", lines.v[i]);
	put_file("lock", str_text(&text));
	shell("sed -i '%s' lock", sed);
}

static void a_lock_of_another_host_is_refused_with_who_and_since_when(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	other_lock("s/^host=.*/host=elsewhere/; s/^user=.*/user=ann/; s/^pid=.*/pid=77/; "
		   "s/^since=.*/since=1700000000/");
	assert_int_equal(ssh_box_lock(&box, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "in use by campaign 'other's' of ann@elsewhere (pid 77) since "
			  "2023-11-14 22:13:20 +0000");
	assert_has(e.msg, in_dir("lock"));
	/* Ours to leave alone. */
	must(&e, ssh_box_unlock(&box, &e));
	assert_true(fs_exists(in_dir("lock")));
}

static void a_lock_of_a_living_process_of_this_host_is_refused(void **state)
{
	_cleanup_free_ char *start = sh("cut -d' ' -f22 /proc/1/stat");
	_cleanup_free_ char *sed = xasprintf("s/^pid=.*/pid=1/; s/^start=.*/start=%s/", start);
	struct err e = ERR_INIT;

	(void)state;
	other_lock(sed);
	assert_int_equal(ssh_box_lock(&box, &e), -1);
	assert_has(e.msg, "(pid 1)");
}

/* @sed makes the lock stale: it is taken over. */
static void is_taken_over(const char *sed)
{
	struct err e = ERR_INIT;

	other_lock(sed);
	must(&e, ssh_box_lock(&box, &e));
	_cleanup_free_ char *now = get_file("lock");

	assert_has(now, "campaign=hunt\n");
	must(&e, ssh_box_unlock(&box, &e));
}

static void a_lock_of_a_process_that_is_gone_is_taken_over(void **state)
{
	(void)state;
	is_taken_over("s/^pid=.*/pid=4194303/");
}

static void a_lock_whose_pid_was_used_again_is_taken_over(void **state)
{
	(void)state;
	is_taken_over("s/^pid=.*/pid=1/; s/^start=.*/start=99999999/");
}

static void a_lock_from_before_this_host_booted_is_taken_over(void **state)
{
	(void)state;
	is_taken_over("s/^pid=.*/pid=1/; s/^boot=.*/boot=aaaaaaaa-0000/");
}

static void a_damaged_lock_is_taken_over(void **state)
{
	(void)state;
	is_taken_over("d");
}

static void a_process_of_another_container_is_not_taken_for_gone(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	other_lock("s/^pid=.*/pid=4194303/; s/^pidns=.*/pidns=pid:[1]/");
	assert_int_equal(ssh_box_lock(&box, &e), -1);
}

static void of_many_who_want_it_one_gets_it(void **state)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;
	_cleanup_str_ struct str command = STR_INIT;
	_cleanup_strv_ struct strv args = STRV_INIT;

	(void)state;
	/* All see the same stale lock; each comes with a token of its own. */
	put_file("lock", "token=old\n");
	shell("rm -f got.*");
	for (int i = 0; i < 12; i++) {
		strv_clear(&argv);
		strv_clear(&args);
		strv_add(&args, in_dir("lock"));
		strv_addf(&args, "token=new%d", i);
		strv_add(&args, "old");
		ssh_box_argv(&box, SSH_LOCK, false, &args, &argv);
		ssh_quote(&command, argv.v);
		str_addf(&command, " >got.%d 2>/dev/null &\n", i);
	}
	shell("%swait", str_text(&command));
	_cleanup_free_ char *n = sh("grep -l '^lock=taken' got.* | wc -l");
	_cleanup_free_ char *who = sh("cat lock");
	_cleanup_free_ char *winner = sh("grep -l '^lock=taken' got.* | sed 's/got./token=new/'");

	assert_string_equal(n, "1");
	assert_string_equal(who, winner);
}

/* A jump set off by a campaign that is gone: nothing is touched before it. */
static void a_machine_on_its_way_down_is_waited_for(void **state)
{
	int64_t begun = clock_mono_ms();
	struct err e = ERR_INIT;
	const char *path;
	pid_t pid;

	(void)state;
	shell("mkdir -p root/proc/77; printf 'sh\\0-c\\0true\\0kregress-jump\\0' "
	      ">root/proc/77/cmdline");
	path = in_dir("root/proc/77/cmdline");
	pid = fork();
	if (pid == 0) {
		sleep(2);
		_exit(unlink(path));
	}
	must(&e, ssh_box_lock(&box, &e));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(clock_mono_ms() - begun >= 1900);
	assert_true(clock_mono_ms() - begun < 9000);
}

static void a_lock_that_cannot_be_written_is_our_trouble(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	box.o.lock_path = "/proc/kregress.lock";
	assert_int_equal(ssh_box_lock(&box, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "cannot write /proc/kregress.lock.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_lock_is_taken_renewed_and_given_back, fresh),
		cmocka_unit_test_setup(a_lock_of_another_host_is_refused_with_who_and_since_when,
				       fresh),
		cmocka_unit_test_setup(a_lock_of_a_living_process_of_this_host_is_refused, fresh),
		cmocka_unit_test_setup(a_lock_of_a_process_that_is_gone_is_taken_over, fresh),
		cmocka_unit_test_setup(a_lock_whose_pid_was_used_again_is_taken_over, fresh),
		cmocka_unit_test_setup(a_lock_from_before_this_host_booted_is_taken_over, fresh),
		cmocka_unit_test_setup(a_damaged_lock_is_taken_over, fresh),
		cmocka_unit_test_setup(a_process_of_another_container_is_not_taken_for_gone, fresh),
		cmocka_unit_test_setup(of_many_who_want_it_one_gets_it, fresh),
		cmocka_unit_test_setup(a_machine_on_its_way_down_is_waited_for, fresh),
		cmocka_unit_test_setup(a_lock_that_cannot_be_written_is_our_trouble, fresh),
	};

	return cmocka_run_group_tests(tests, open_box, close_box);
}
