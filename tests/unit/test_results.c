/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result channel: frames, and everything that is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "target/results.h"

#define NONCE "00c0ffee00c0ffee"
#define R(verb, rest) "kregress: " verb " " NONCE rest "\n"
#define HELLO                                                                           \
	R("hello", " 1 boot_id=461fabfc-bfc4-45ec-a2f2-d67859a8d364 build_id=eeff08bf " \
		   "release=6.12.117-kregress memory_kb=505820 cpus=2 cpu=QEMU TCG CPU 2.5+")

static struct target_result out;
static struct results res;

static void feed_in(const char *text, size_t n, size_t step)
{
	double now = 0;

	target_result_release(&out);
	results_release(&res);
	results_init(&res, NONCE, 2, &out);
	for (size_t at = 0; at < n; at += step, now += 1)
		results_feed(&res, text + at, n - at < step ? n - at : step, now);
}

static void feed(const char *text)
{
	feed_in(text, strlen(text), strlen(text) + 1);
}

static int clean_up(void **state)
{
	(void)state;
	target_result_release(&out);
	results_release(&res);
	return 0;
}

static void check_failure(const char *text, enum results_failure failure, const char *why)
{
	feed(text);
	if (res.failure != failure || !strstr(res.text, why))
		fail_msg("failure %d: %s", (int)res.failure, res.text);
}

static void a_whole_trial_is_understood_however_it_is_cut(void **state)
{
	static const char text[] = "noise\n" HELLO R("begin", " 1") "a\n\nb\0c\n" R("end", " 0")
		R("begin", " 2") R("end", " 3") R("bye", "") "after\n";

	(void)state;
	for (size_t step = 1; step < sizeof(text); step++) {
		feed_in(text, sizeof(text) - 1, step);
		assert_int_equal(res.failure, RESULTS_FINE);
		assert_true(res.hello && res.bye && !res.in_run);
		assert_string_equal(res.boot_id, "461fabfc-bfc4-45ec-a2f2-d67859a8d364");
		assert_string_equal(res.build_id, "eeff08bf");
		assert_string_equal(res.release, "6.12.117-kregress");
		assert_string_equal(res.cpu, "QEMU TCG CPU 2.5+");
		assert_int_equal(res.memory_kb, 505820);
		assert_int_equal(res.cpus, 2);
		assert_int_equal(out.n_runs, 2);
		assert_int_equal(out.runs[0].n, 7);
		assert_memory_equal(out.runs[0].output, "a\n\nb\0c\n", 7);
		assert_int_equal(out.runs[0].status, 0);
		assert_int_equal(out.runs[1].n, 0);
		assert_int_equal(out.runs[1].status, 3);
	}
}

static void seconds_are_those_between_begin_and_end(void **state)
{
	(void)state;
	feed(HELLO);
	results_feed(&res, R("begin", " 1"), sizeof(R("begin", " 1")) - 1, 10.25);
	results_feed(&res, "x\n", 2, 11);
	results_feed(&res, R("end", " 0"), sizeof(R("end", " 0")) - 1, 12.5);
	assert_int_equal(out.n_runs, 1);
	assert_true(out.runs[0].seconds == 2.25);
}

static void records_of_another_nonce_are_output(void **state)
{
	static const char foreign[] = "kregress: end 1111111111111111 0\n"
				      "kregress: end " NONCE "0 0\nkregress: end\nkregress: end "
				      "\n"
				      " kregress: end " NONCE " 0\nkregress: bye 00c0ffee\n";
	_cleanup_free_ char *text = xasprintf("%s%s%s%s", HELLO, R("begin", " 1"), foreign,
					      R("end", " 0"));

	(void)state;
	feed(text);
	assert_int_equal(out.n_runs, 1);
	assert_int_equal(out.runs[0].n, strlen(foreign));
	assert_memory_equal(out.runs[0].output, foreign, strlen(foreign));
}

static void records_out_of_order_are_garbled(void **state)
{
	(void)state;
	check_failure(R("begin", " 1"), RESULTS_GARBLED, "run '1' began where run 1 of 2 was due");
	check_failure(HELLO R("begin", " 2"), RESULTS_GARBLED, "run '2' began");
	check_failure(HELLO R("begin", " x"), RESULTS_GARBLED, "run 'x' began");
	check_failure(HELLO R("begin", " 1x"), RESULTS_GARBLED, "run '1x' began");
	check_failure(HELLO R("begin", " 1") R("begin", " 2"), RESULTS_GARBLED,
		      "run 1 has no end record");
	check_failure(HELLO R("begin", " 1") R("bye", ""), RESULTS_GARBLED,
		      "run 1 has no end record");
	check_failure(HELLO R("end", " 0"), RESULTS_GARBLED, "never began");
	check_failure(HELLO HELLO, RESULTS_GARBLED, "unexpected record 'hello'");
	check_failure(HELLO R("salute", ""), RESULTS_GARBLED, "unexpected record 'salute'");
	check_failure(HELLO R("begin", " 1") R("end", " 0") R("begin", " 2") R("end", " 0")
			      R("begin", " 3"),
		      RESULTS_GARBLED, "run '3' began where run 3 of 2");
}

static void a_status_that_is_none_is_garbled(void **state)
{
	static const char *const bad[] = { "", "-1", "256", "0x0", "1 2", "99999999999999999999" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		_cleanup_free_ char *text = xasprintf("%s%skregress: end " NONCE " %s\n", HELLO,
						      R("begin", " 1"), bad[i]);

		check_failure(text, RESULTS_GARBLED, "run 1 ended with status");
		assert_int_equal(out.n_runs, 0);
	}
}

static void the_agents_own_verdicts_are_told_apart(void **state)
{
	(void)state;
	check_failure(HELLO R("untestable", " setup: cannot write 1 to /proc/x: No such file"),
		      RESULTS_UNTESTABLE, "setup: cannot write 1 to /proc/x: No such file");
	check_failure(HELLO R("begin", " 1") R("noexec", " cannot start ./x: No such file"),
		      RESULTS_NO_EXEC, "cannot start ./x: No such file");
	check_failure(HELLO R("begin", " 1") "abc\n" R("end", " timeout"), RESULTS_TIMED_OUT,
		      "run 1 did not end in time");
	check_failure(HELLO R("begin", " 1") "abc\n" R("end", " too-much"), RESULTS_TOO_MUCH,
		      "run 1 printed more than");
	check_failure(R("hello", " 2 boot_id=x"), RESULTS_GARBLED, "another protocol");
	check_failure(R("hello", " 1 boot_id=<b> build_id=ee release=6 cpus=1 cpu="),
		      RESULTS_GARBLED, "hello is garbled");
}

static void text_of_the_guest_comes_back_harmless(void **state)
{
	(void)state;
	check_failure(HELLO R("untestable", " \x1b[2J<x>\x07"), RESULTS_UNTESTABLE,
		      "\\x1b[2J<x>\\x07");
}

static void memory_stays_bounded_whatever_comes(void **state)
{
	static char block[65536];

	(void)state;
	memset(block, 'x', sizeof(block));
	/* Outside a run: one endless line. */
	feed(HELLO);
	for (int i = 0; i < 15; i++)
		results_feed(&res, block, sizeof(block), 0);
	assert_int_equal(res.failure, RESULTS_FINE);
	assert_true(res.buf.room < 65536 * 2);
	results_feed(&res, "\n" R("begin", " 1"), sizeof(R("begin", " 1")), 0);
	assert_true(res.in_run);
	/* Inside: an endless line, though the agent would have cut it. */
	for (int i = 0; i < 1000 && !res.failure; i++)
		results_feed(&res, block, sizeof(block), 0);
	assert_int_equal(res.failure, RESULTS_TOO_MUCH);
	assert_true(res.buf.room < 8u << 20);
	/* No run at all, and no end of noise. */
	feed(HELLO);
	for (int i = 0; i < 1000 && !res.failure; i++)
		results_feed(&res, block, sizeof(block), 0);
	assert_int_equal(res.failure, RESULTS_GARBLED);
}

#define RUNS HELLO R("begin", " 1") R("end", " 0") R("begin", " 2") R("end", " 0")

static void extra_runs_bring_files_however_they_are_cut(void **state)
{
	static const char text[] = RUNS R("extra", " snapshots")
		R("file", " before vmstat") "a 1\nkregress: end 0123456789abcdef 0\n" R(
			"eof", " whole") R("file", " before pressure/cpu") R("eof", " cut")
			R("extra", " profile") R("over", " 5000")
				R("file", " over stacks") "looks 1\n" R("eof", " whole")
					R("bye", "");

	(void)state;
	for (size_t step = 1; step < sizeof(text); step++) {
		feed_in(text, sizeof(text) - 1, step);
		assert_int_equal(res.failure, RESULTS_FINE);
		assert_true(res.extra && res.bye && !res.profiling);
		assert_string_equal(res.extra_text, "");
		assert_int_equal(out.n_runs, 2);
		assert_int_equal(out.n_files, 3);
		assert_string_equal(out.files[0].phase, "before");
		assert_string_equal(out.files[0].name, "vmstat");
		assert_string_equal(out.files[0].text, "a 1\nkregress: end 0123456789abcdef 0\n");
		assert_false(out.files[0].cut);
		assert_string_equal(out.files[1].name, "pressure/cpu");
		assert_int_equal(out.files[1].n, 0);
		assert_true(out.files[1].cut);
		assert_string_equal(out.files[2].text, "looks 1\n");
	}
	feed(RUNS R("extra", " profile"));
	assert_true(res.profiling && !res.bye);
	feed(RUNS R("extra", " profile") R("extra", " stacks"));
	assert_true(!res.profiling && !res.bye);
}

/* What goes wrong once the runs that count are over ends them, and takes nothing away. */
static void a_mistake_in_extra_runs_is_no_failure(void **state)
{
	static const char *const wrong[] = {
		R("begin", " 3"),
		R("end", " 0"),
		R("noexec", " x"),
		R("hello", " 1"),
		R("eof", " whole"),
		R("file", " before"),
		R("file", " b4 vmstat"),
		R("file", " before ../../etc/passwd"),
		R("file", " toolongaphase vmstat"),
		R("file", " before vmstat") R("file", " before x"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		_cleanup_str_ struct str text = STR_INIT;

		str_addf(&text, "%s%s%s", RUNS, R("extra", " snapshots"), wrong[i]);
		feed(str_text(&text));
		assert_int_equal(res.failure, RESULTS_FINE);
		assert_true(res.bye && res.extra_text[0]);
		assert_int_equal(out.n_runs, 2);
	}
}

static void extra_runs_come_after_all_others(void **state)
{
	(void)state;
	check_failure(HELLO R("extra", " stacks"), RESULTS_GARBLED, "after run 0 of 2");
	check_failure(HELLO R("begin", " 1") R("extra", " stacks"), RESULTS_GARBLED,
		      "after run 1 of 2");
	check_failure(HELLO R("begin", " 1") R("end", " 0") R("extra", " stacks"), RESULTS_GARBLED,
		      "after run 1 of 2");
	check_failure(HELLO R("begin", " 1") R("end", " 0") R("begin", " 2") R("end", " 3")
			      R("extra", " stacks"),
		      RESULTS_GARBLED, "after run 2 of 2");
	check_failure(RUNS R("file", " before vmstat"), RESULTS_GARBLED,
		      "unexpected record 'file'");
}

static void files_stay_bounded_whatever_comes(void **state)
{
	static char block[65536];
	size_t n = 0;

	(void)state;
	memset(block, 'x', sizeof(block));
	block[sizeof(block) - 1] = '\n';
	feed(RUNS R("extra", " snapshots") R("file", " before vmstat"));
	for (; n < 64u << 20 && !res.bye; n += sizeof(block))
		results_feed(&res, block, sizeof(block), 0);
	assert_true(res.bye && n <= RESULTS_EXTRA_MAX + sizeof(block));
	assert_int_equal(res.failure, RESULTS_FINE);
	assert_non_null(strstr(res.extra_text, "sent more than"));
	assert_null(out.files[0].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_trial_is_understood_however_it_is_cut),
		cmocka_unit_test(seconds_are_those_between_begin_and_end),
		cmocka_unit_test(records_of_another_nonce_are_output),
		cmocka_unit_test(records_out_of_order_are_garbled),
		cmocka_unit_test(a_status_that_is_none_is_garbled),
		cmocka_unit_test(the_agents_own_verdicts_are_told_apart),
		cmocka_unit_test(text_of_the_guest_comes_back_harmless),
		cmocka_unit_test(memory_stays_bounded_whatever_comes),
		cmocka_unit_test(extra_runs_bring_files_however_they_are_cut),
		cmocka_unit_test(a_mistake_in_extra_runs_is_no_failure),
		cmocka_unit_test(extra_runs_come_after_all_others),
		cmocka_unit_test(files_stay_bounded_whatever_comes),
	};

	return cmocka_run_group_tests(tests, NULL, clean_up);
}
