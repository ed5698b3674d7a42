/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base: words, names near by, untrusted bytes, children, files, locks, hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/str.h"

static char tmp[] = "/tmp/kregress-base-XXXXXX";

static int make_tmp(void **state)
{
	(void)state;
	return mkdtemp(tmp) ? 0 : -1;
}

static int drop_tmp(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	return fs_remove_tree(tmp, &e);
}

static void errors_are_wrapped_and_keep_their_code(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(err_set(&e, ERR_GIT, "no such %s", "commit"), -1);
	err_wrap(&e, "cannot walk '%s'", "linux");
	err_hint(&e, "fetch it");
	assert_string_equal(e.msg, "cannot walk 'linux': no such commit (fetch it)");
	assert_int_equal(e.code, ERR_GIT);
	err_sys(&e, ENOENT, "cannot open 'x'");
	assert_string_equal(e.msg, "cannot open 'x': No such file or directory");
	assert_int_equal(e.sys, ENOENT);
}

static void an_error_longer_than_its_buffer_is_cut_not_overrun(void **state)
{
	struct err e = ERR_INIT;
	char text[2000];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&e, ERR_SYS, "%s", text);
	err_wrap(&e, "%s", text);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
}

static void exit_statuses_follow_the_design(void **state)
{
	(void)state;
	assert_int_equal(err_exit_status(ERR_NONE), 0);
	assert_int_equal(err_exit_status(ERR_CONFIG), 129);
	assert_int_equal(err_exit_status(ERR_USAGE), 129);
	assert_int_equal(err_exit_status(ERR_INTERRUPTED), 130);
	assert_int_equal(err_exit_status(ERR_LAB), 128);
}

static void words_are_split_as_a_shell_does(void **state)
{
	_cleanup_strv_ struct strv sv = STRV_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(str_split_words(" a 'b c' \"d \\\" $e\" f\\ g '' h\"i\"'j' ", &sv, &e), 0);
	assert_int_equal(sv.n, 6);
	assert_string_equal(sv.v[0], "a");
	assert_string_equal(sv.v[1], "b c");
	assert_string_equal(sv.v[2], "d \" $e");
	assert_string_equal(sv.v[3], "f g");
	assert_string_equal(sv.v[4], "");
	assert_string_equal(sv.v[5], "hij");
	assert_null(sv.v[6]);
}

static void an_open_quote_is_an_error_and_adds_nothing(void **state)
{
	_cleanup_strv_ struct strv sv = STRV_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(str_split_words("a 'b", &sv, &e), -1);
	assert_int_equal(str_split_words("a \\", &sv, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_int_equal(sv.n, 0);
}

static void joined_words_survive_a_real_shell(void **state)
{
	char *words[] = { "plain", "two words", "it's", "", "$HOME `id` \\ \"q\"", NULL };
	_cleanup_str_ struct str line = STR_INIT;
	_cleanup_str_ struct str out = STR_INIT;
	struct err e = ERR_INIT;
	struct proc_result res;

	(void)state;
	str_add(&line, "printf '<%s>' ");
	str_join_words(&line, words);
	char *argv[] = { "sh", "-c", line.buf, NULL };
	struct proc_opts o = { .argv = argv, .out = &out };

	assert_int_equal(proc_run(&o, &res, &e), 0);
	assert_string_equal(out.buf, "<plain><two words><it's><><$HOME `id` \\ \"q\">");
}

static void a_name_near_by_is_found_and_a_far_one_is_not(void **state)
{
	static const char *const names[] = { "threshold", "better", "effect", "jobs" };

	(void)state;
	assert_string_equal(str_did_you_mean("treshold", names, 4), "threshold");
	assert_string_equal(str_did_you_mean("ebtter", names, 4), "better");
	assert_string_equal(str_did_you_mean("job", names, 4), "jobs");
	assert_null(str_did_you_mean("zzzzzz", names, 4));
}

static void untrusted_bytes_are_neutralised(void **state)
{
	static const char evil[] = "a\033[31m\tb\0c\nä\xff\xc2\x9b\xe2\x80\xae";
	_cleanup_str_ struct str out = STR_INIT;

	(void)state;
	str_neutralise(&out, evil, sizeof(evil) - 1, false);
	assert_string_equal(out.buf, "a\\x1b[31m\tb\\x00c\\x0aä\\xff\\xc2\\x9b\\xe2\\x80\\xae");
	str_clear(&out);
	str_neutralise(&out, "x\ny\rz", 5, true);
	assert_string_equal(out.buf, "x\ny\\x0dz");
}

static void durations_read_well(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(str_duration(4.23, buf, sizeof(buf)), "4.2s");
	assert_string_equal(str_duration(59, buf, sizeof(buf)), "59s");
	assert_string_equal(str_duration(192, buf, sizeof(buf)), "3m 12s");
	assert_string_equal(str_duration(3720, buf, sizeof(buf)), "1h 02m");
}

static void run(char *const *argv, struct proc_opts o, struct proc_result *res, struct str *out)
{
	struct err e = ERR_INIT;

	o.argv = argv;
	o.out = out;
	assert_int_equal(proc_run(&o, res, &e), 0);
}

static void a_child_reports_status_signal_timeout_and_flood(void **state)
{
	_cleanup_str_ struct str out = STR_INIT;
	struct proc_result res;

	(void)state;
	run((char *[]){ "sh", "-c", "echo hi; exit 3", NULL }, (struct proc_opts){ 0 }, &res, &out);
	assert_int_equal(res.end, PROC_EXITED);
	assert_int_equal(res.status, 3);
	assert_string_equal(out.buf, "hi\n");
	run((char *[]){ "sh", "-c", "kill -9 $$", NULL }, (struct proc_opts){ 0 }, &res, &out);
	assert_int_equal(res.end, PROC_SIGNALED);
	assert_int_equal(res.status, SIGKILL);
	run((char *[]){ "sleep", "60", NULL }, (struct proc_opts){ .timeout_ms = 100 }, &res, &out);
	assert_int_equal(res.end, PROC_TIMED_OUT);
	str_clear(&out);
	run((char *[]){ "yes", NULL }, (struct proc_opts){ .max_output = 1000 }, &res, &out);
	assert_int_equal(res.end, PROC_TOO_MUCH);
	assert_int_equal(out.len, 1000);
	run((char *[]){ "kregress-no-such-program", NULL }, (struct proc_opts){ 0 }, &res, &out);
	assert_int_equal(res.end, PROC_NO_START);
	assert_int_equal(res.status, ENOENT);
}

static void a_child_gets_settings_and_no_open_files(void **state)
{
	_cleanup_strv_ struct strv env = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;
	struct proc_result res;

	(void)state;
	setenv("KR_TEST_DROP", "x", 1);
	strv_add(&env, "KR_TEST_SET=a b");
	strv_add(&env, "KR_TEST_DROP");
	run((char *[]){ "sh", "-c",
			"echo \"$KR_TEST_SET,${KR_TEST_DROP-unset}\"; ls /proc/self/fd | wc -l",
			NULL },
	    (struct proc_opts){ .env = &env, .cwd = "/" }, &res, &out);
	/* 0, 1, 2 and the one that ls reads the folder through */
	assert_string_equal(out.buf, "a b,unset\n4\n");
}

static void grandchildren_of_a_timed_out_child_die_too(void **state)
{
	_cleanup_str_ struct str out = STR_INIT;
	struct proc_result res;
	long pid;

	(void)state;
	run((char *[]){ "sh", "-c", "sleep 300 & echo $!; wait", NULL },
	    (struct proc_opts){ .timeout_ms = 300 }, &res, &out);
	assert_int_equal(res.end, PROC_TIMED_OUT);
	pid = strtol(out.buf, NULL, 10);
	assert_true(pid > 1);
	for (int i = 0; i < 100 && kill((pid_t)pid, 0) == 0; i++)
		usleep(20000);
	/* A zombie waiting for init still answers kill(0): look at its state. */
	_cleanup_free_ char *path = xasprintf("/proc/%ld/stat", pid);
	_cleanup_str_ struct str stat = STR_INIT;
	struct err e = ERR_INIT;

	if (fs_read(path, 4096, &stat, &e) == 0)
		assert_non_null(strstr(stat.buf, ") Z "));
}

static void children_die_with_us_when_we_are_killed(void **state)
{
	int fds[2];
	pid_t us, child = 0;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	us = fork();
	if (us == 0) {
		struct proc p = PROC_INIT;
		struct err e = ERR_INIT;
		char *argv[] = { "sleep", "300", NULL };
		struct proc_opts o = { .argv = argv };

		if (proc_start(&o, false, &p, &e) < 0 || write(fds[1], &p.pid, sizeof(p.pid)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(fds[0], &child, sizeof(child)), sizeof(child));
	assert_int_equal(kill(child, 0), 0);
	kill(us, SIGKILL);
	waitpid(us, NULL, 0);
	_cleanup_free_ char *path = xasprintf("/proc/%ld/stat", (long)child);
	bool gone = false;

	for (int i = 0; i < 100 && !gone; i++) {
		_cleanup_str_ struct str stat = STR_INIT;
		struct err e = ERR_INIT;

		usleep(20000);
		gone = fs_read(path, 4096, &stat, &e) < 0 || strstr(stat.buf, ") Z ");
	}
	assert_true(gone);
	close(fds[0]);
	close(fds[1]);
}

static void files_are_written_whole_and_read_back(void **state)
{
	_cleanup_free_ char *path = fs_join(tmp, "a/b/file");
	_cleanup_free_ char *dir = fs_dirname(path);
	_cleanup_free_ char *copy = fs_join(tmp, "copy");
	_cleanup_str_ struct str text = STR_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(fs_mkdirs(dir, &e), 0);
	assert_int_equal(fs_write(path, "hello\0x", 7, &e), 0);
	assert_int_equal(fs_copy(path, copy, &e), 0);
	assert_int_equal(fs_read(copy, 100, &text, &e), 0);
	assert_int_equal(text.len, 7);
	assert_memory_equal(text.buf, "hello\0x", 7);
	str_clear(&text);
	assert_int_equal(fs_read(copy, 3, &text, &e), -1);
	assert_int_equal(fs_read_tail(copy, 2, &text, &e), 0);
	assert_int_equal(fs_read("/nonexistent/x", 3, &text, &e), -1);
	assert_int_equal(e.code, ERR_NOT_FOUND);
	assert_int_equal(fs_tree_bytes(tmp), 14);
	assert_int_equal(fs_mkdirs(path, &e), -1);
	assert_int_equal(e.sys, ENOTDIR);
}

static void a_full_disk_is_an_error_and_leaves_the_old_file(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(fs_write("/dev/full/x", "a", 1, &e), -1);
	assert_int_equal(e.code, ERR_SYS);
}

static void removing_a_tree_does_not_follow_links(void **state)
{
	_cleanup_free_ char *keep = fs_join(tmp, "keep");
	_cleanup_free_ char *dir = fs_join(tmp, "dir");
	_cleanup_free_ char *link = fs_join(dir, "link");
	_cleanup_free_ char *file = fs_join(keep, "file");
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(fs_mkdirs(keep, &e), 0);
	assert_int_equal(fs_mkdirs(dir, &e), 0);
	assert_int_equal(fs_write(file, "x", 1, &e), 0);
	assert_int_equal(symlink(keep, link), 0);
	assert_int_equal(fs_remove_tree(dir, &e), 0);
	assert_false(fs_exists(dir));
	assert_true(fs_exists(file));
	assert_int_equal(fs_remove_tree(dir, &e), 0);
}

static void paths_are_made_absolute_also_where_nothing_is(void **state)
{
	_cleanup_free_ char *a = fs_absolute("/proc/../no/such//"), *b = fs_absolute("no-such");
	_cleanup_free_ char *cwd = getcwd(NULL, 0), *want = fs_join(cwd, "no-such");

	(void)state;
	assert_string_equal(a, "/no/such");
	assert_string_equal(b, want);
}

static void a_lock_is_held_by_one_process_and_names_it(void **state)
{
	_cleanup_free_ char *path = fs_join(tmp, "lock");
	struct err e = ERR_INIT;
	int fd = -1, status;
	long owner = 0;

	(void)state;
	assert_int_equal(fs_lock(path, false, &fd, &owner, &e), 1);
	pid_t pid = fork();

	if (pid == 0) {
		int other = -1;
		int ret = fs_lock(path, false, &other, &owner, &e);

		_exit(ret == 0 && owner == (long)getppid() ? 7 : 1);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 7);
	close(fd);
	assert_int_equal(fs_lock(path, false, &fd, &owner, &e), 1);
	close(fd);
}

static void hashes_are_those_of_sha256sum(void **state)
{
	_cleanup_free_ char *path = fs_join(tmp, "hashed");
	_cleanup_str_ struct str out = STR_INIT;
	char hex[HASH_HEX_SIZE], a[HASH_HEX_SIZE], b[HASH_HEX_SIZE];
	struct err e = ERR_INIT;
	struct proc_result res;
	struct hash *h;

	(void)state;
	assert_int_equal(fs_write(path, "kernel image", 12, &e), 0);
	assert_int_equal(hash_file(path, hex, &e), 0);
	run((char *[]){ "sha256sum", path, NULL }, (struct proc_opts){ 0 }, &res, &out);
	assert_memory_equal(out.buf, hex, 64);
	hash_bytes("kernel image", 12, a);
	assert_string_equal(a, hex);
	h = hash_new();
	hash_add_text(h, "ab");
	hash_add_text(h, "c");
	hash_hex(h, a);
	h = hash_new();
	hash_add_text(h, "a");
	hash_add_text(h, "bc");
	hash_hex(h, b);
	assert_string_not_equal(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_wrapped_and_keep_their_code),
		cmocka_unit_test(an_error_longer_than_its_buffer_is_cut_not_overrun),
		cmocka_unit_test(exit_statuses_follow_the_design),
		cmocka_unit_test(words_are_split_as_a_shell_does),
		cmocka_unit_test(an_open_quote_is_an_error_and_adds_nothing),
		cmocka_unit_test(joined_words_survive_a_real_shell),
		cmocka_unit_test(a_name_near_by_is_found_and_a_far_one_is_not),
		cmocka_unit_test(untrusted_bytes_are_neutralised),
		cmocka_unit_test(durations_read_well),
		cmocka_unit_test(a_child_reports_status_signal_timeout_and_flood),
		cmocka_unit_test(a_child_gets_settings_and_no_open_files),
		cmocka_unit_test(grandchildren_of_a_timed_out_child_die_too),
		cmocka_unit_test(children_die_with_us_when_we_are_killed),
		cmocka_unit_test(files_are_written_whole_and_read_back),
		cmocka_unit_test(a_full_disk_is_an_error_and_leaves_the_old_file),
		cmocka_unit_test(removing_a_tree_does_not_follow_links),
		cmocka_unit_test(paths_are_made_absolute_also_where_nothing_is),
		cmocka_unit_test(a_lock_is_held_by_one_process_and_names_it),
		cmocka_unit_test(hashes_are_those_of_sha256sum),
	};

	return cmocka_run_group_tests(tests, make_tmp, drop_tmp);
}
