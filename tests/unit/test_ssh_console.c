/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine's console as a command shows it: kept, scanned from a mark on, its end told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "target/ssh_console.h"

struct fixture {
	char dir[64];
	char *script, *go;
	struct strv argv;
	struct ssh_console *c;
};

/* A command that prints the file "go" where there is one, again and again, for what is new. */
static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "/tmp/kregress-console-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->go = fs_join(f->dir, "go");
	assert_int_equal(fs_write(f->go, "", 0, NULL), 0);
	strv_add(&f->argv, "tail");
	strv_add(&f->argv, "-s0.05");
	strv_add(&f->argv, "-f");
	strv_add(&f->argv, f->go);
	f->c = ssh_console_new(&f->argv, f->dir);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	ssh_console_free(f->c);
	assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
	strv_release(&f->argv);
	free(f->go);
	free(f);
	return 0;
}

static void say(const struct fixture *f, const char *text)
{
	FILE *out = fopen(f->go, "a");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void start(struct fixture *f)
{
	struct err e = ERR_INIT;

	if (ssh_console_start(f->c, f->dir, NULL, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Until @word was shown, at most 10 s. */
static void await(struct fixture *f, const char *word)
{
	int64_t deadline = clock_deadline(10000);
	size_t n;

	while (!strstr(ssh_console_text(f->c, &n), word)) {
		assert_true(clock_left_ms(deadline) > 0);
		usleep(20000);
	}
}

static void what_it_shows_is_kept_and_scanned_from_the_mark_on(void **state)
{
	struct fixture *f = *state;
	_cleanup_str_ struct str log = STR_INIT;
	_cleanup_free_ char *path = fs_join(f->dir, "console.log");
	char line[200];

	start(f);
	say(f, "[ 1.0] Kernel panic - not syncing: the first\nend1\n");
	await(f, "end1");
	assert_int_equal(ssh_console_scan(f->c, NULL, line, sizeof(line)), CONSOLE_PANIC);
	assert_string_equal(line, "Kernel panic - not syncing: the first");
	ssh_console_mark(f->c);
	assert_int_equal(ssh_console_scan(f->c, NULL, line, sizeof(line)), CONSOLE_CLEAN);
	say(f, "[ 2.0] BUG: kernel NULL pointer dereference, address: 8\nend2\n");
	await(f, "end2");
	assert_int_equal(ssh_console_scan(f->c, NULL, line, sizeof(line)), CONSOLE_OOPS);
	assert_string_equal(line, "BUG: kernel NULL pointer dereference, address: 8");
	assert_int_equal(fs_read(path, 10000, &log, NULL), 0);
	assert_non_null(strstr(str_text(&log), "the first"));
	assert_non_null(strstr(str_text(&log), "end2"));
}

static void what_the_successor_says_is_not_the_fallen_kernels(void **state)
{
	struct fixture *f = *state;
	char line[200];

	start(f);
	say(f, "[ 0.0] Linux version 6.12.1-kregress (x)\n[ 1.0] fine\n"
	       "[ 0.0] Linux version 6.1.0-57 (y)\n"
	       "[ 3.0] Kernel panic - not syncing: of the default kernel\nend\n");
	await(f, "end");
	assert_int_equal(ssh_console_scan(f->c, "6.1.0-57", line, sizeof(line)), CONSOLE_CLEAN);
	assert_int_equal(ssh_console_scan(f->c, "6.1.0-5", line, sizeof(line)), CONSOLE_PANIC);
}

static void a_command_that_ends_is_a_fact_and_no_failure(void **state)
{
	struct fixture *f = *state;
	_cleanup_strv_ struct strv facts = STRV_INIT;
	int64_t deadline = clock_deadline(1500);

	strv_clear(&f->argv);
	strv_add(&f->argv, "sh");
	strv_add(&f->argv, "-c");
	strv_add(&f->argv, "echo gone; exit 7");
	start(f);
	await(f, "gone");
	while (clock_left_ms(deadline) > 0) {
		usleep(20000);
		ssh_console_poll(f->c);
	}
	ssh_console_stop(f->c, &facts);
	assert_int_equal(facts.n, 1);
	assert_string_equal(facts.v[0], "console=exit status 7");
}

static void one_that_runs_to_the_end_is_no_fact(void **state)
{
	struct fixture *f = *state;
	_cleanup_strv_ struct strv facts = STRV_INIT;

	start(f);
	say(f, "x\n");
	await(f, "x");
	ssh_console_stop(f->c, &facts);
	assert_int_equal(facts.n, 0);
}

static void one_that_floods_is_stopped_and_what_is_kept_is_bounded(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *path = fs_join(f->dir, "console.log");
	_cleanup_strv_ struct strv facts = STRV_INIT;
	int64_t deadline = clock_deadline(60000);
	struct stat st = { .st_size = 0 };

	log_set_level(LOG_QUIET);
	strv_clear(&f->argv);
	strv_add(&f->argv, "yes");
	start(f);
	while (st.st_size <= 64 << 20) {
		assert_true(clock_left_ms(deadline) > 0);
		usleep(20000);
		assert_int_equal(stat(path, &st), 0);
	}
	ssh_console_poll(f->c);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 64 << 20);
	ssh_console_stop(f->c, &facts);
	assert_int_equal(facts.n, 1);
	assert_string_equal(facts.v[0], "console=stopped: it showed more than 64 MiB");
}

static void a_program_that_does_not_exist_is_our_failure(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;

	strv_clear(&f->argv);
	strv_add(&f->argv, "/nowhere/no-such-console");
	assert_int_equal(ssh_console_start(f->c, f->dir, NULL, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_non_null(strstr(e.msg, "no-such-console"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_it_shows_is_kept_and_scanned_from_the_mark_on,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_successor_says_is_not_the_fallen_kernels,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_command_that_ends_is_a_fact_and_no_failure,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_runs_to_the_end_is_no_fact, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			one_that_floods_is_stopped_and_what_is_kept_is_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_program_that_does_not_exist_is_our_failure,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
