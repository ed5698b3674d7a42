/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in what a workload prints: found, or refused for the right reason, never a wrong number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/str.h"
#include "core/metric.h"

static char name_text[] = "exit_ms", unit_text[] = "ms", no_unit[] = "";
static const struct metric own = {
	.name = name_text, .unit = unit_text, .min = -INFINITY, .max = INFINITY
};

static void check_found_bytes(const struct metric *m, const char *text, size_t n, double expected)
{
	double value = -1;

	assert_int_equal(metric_find_last(m, text, n, &value), METRIC_FOUND);
	assert_true(value == expected);
}

static void check_found(const char *text, double expected)
{
	check_found_bytes(&own, text, strlen(text), expected);
}

static void check_not_bytes(const struct metric *m, const char *text, size_t n,
			    enum metric_find expected)
{
	double value = -1, *values = NULL;
	size_t count = 77;

	assert_int_equal(metric_find_last(m, text, n, &value), expected);
	assert_true(value == -1);
	assert_int_equal(metric_find_all(m, text, n, &values, &count), expected);
	assert_null(values);
	assert_int_equal(count, 77);
}

static void check_not(const char *text, enum metric_find expected)
{
	check_not_bytes(&own, text, strlen(text), expected);
}

static struct metric with_regex(const char *regex)
{
	struct metric m = own;

	/* borrowed: the tests' metrics are not released */
	m.regex = (char *)(uintptr_t)regex;
	return m;
}

static void the_line_of_the_design_is_read(void **state)
{
	(void)state;
	check_found("kregress: metric exit_ms 12.482 ms\n", 12.482);
	check_found("noise\nkregress: metric exit_ms 12.482 ms\nmore\n", 12.482);
	check_found("kregress: metric exit_ms 7\n", 7);
	check_found("kregress: metric exit_ms 7", 7);
	check_found("kregress:\nkregress: metric exit_ms -1.5e-3 ms\r\n", -0.0015);
	check_found("kregress: metric\t exit_ms  +7\tms  \n", 7);
	check_found("kregress: metric exit_ms .5 ms\n", 0.5);
}

static void the_last_line_is_the_value_of_a_run(void **state)
{
	(void)state;
	check_found("kregress: metric exit_ms 1 ms\nkregress: metric exit_ms 2 ms\n", 2);
	check_found("kregress: metric exit_ms nan ms\nkregress: metric exit_ms 2 ms\n", 2);
	check_not("", METRIC_MISSING);
}

static void a_bad_last_line_is_not_hidden_by_a_good_one_before(void **state)
{
	static const char text[] =
		"kregress: metric exit_ms 2 ms\nkregress: metric exit_ms nan ms\n";
	double value = -1;

	(void)state;
	assert_int_equal(metric_find_last(&own, text, strlen(text), &value), METRIC_NOT_NUMBER);
	assert_true(value == -1);
}

static void all_values_come_in_order(void **state)
{
	static const char text[] =
		"kregress: metric exit_ms 3 ms\nkregress: metric other 9 ms\n"
		"log\nkregress: metric exit_ms 1 ms\nkregress: metric exit_ms 2 ms\n";
	double *values = NULL;
	size_t count = 0;

	(void)state;
	assert_int_equal(metric_find_all(&own, text, strlen(text), &values, &count), METRIC_FOUND);
	assert_int_equal(count, 3);
	assert_true(values[0] == 3 && values[1] == 1 && values[2] == 2);
	free(values);
}

static void one_bad_value_makes_all_bad(void **state)
{
	static const char text[] = "kregress: metric exit_ms 3 ms\nkregress: metric exit_ms x ms\n"
				   "kregress: metric exit_ms 2 ms\n";
	double *values = NULL;
	size_t count = 0;

	(void)state;
	assert_int_equal(metric_find_all(&own, text, strlen(text), &values, &count),
			 METRIC_NOT_NUMBER);
	assert_null(values);
}

static void other_lines_are_log(void **state)
{
	(void)state;
	check_not("exit_ms 5 ms\n", METRIC_MISSING);
	check_not(" kregress: metric exit_ms 5 ms\n", METRIC_MISSING);
	check_not("[    1.0] kregress: metric exit_ms 5 ms\n", METRIC_MISSING);
	check_not("kregress: metric exit_ms2 5 ms\n", METRIC_MISSING);
	check_not("kregress: metric exit_m 5 ms\n", METRIC_MISSING);
	check_not("kregress: metricexit_ms 5 ms\n", METRIC_MISSING);
	check_not("kregress: metrics exit_ms 5 ms\n", METRIC_MISSING);
	check_not("kregress: metric", METRIC_MISSING);
	check_not("Kregress: metric exit_ms 5 ms\n", METRIC_MISSING);
}

static void what_is_no_finite_number_is_never_a_value(void **state)
{
	static const char *const bad[] = { "nan",   "NAN",    "inf",    "-inf", "infinity", "0x10",
					   "1e999", "-1e999", "1e-999", "1,5",  "12.5ms",   "--1",
					   "1e",    "e5",     ".",      "+",    "1.2.3",    "1_000",
					   "five",  "1\x80",  "nan(1)" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_free_ char *text = xasprintf("kregress: metric exit_ms %s ms\n", bad[i]);

		check_not(text, METRIC_NOT_NUMBER);
	}
	check_not("kregress: metric exit_ms\n", METRIC_NOT_NUMBER);
	check_not("kregress: metric exit_ms \n", METRIC_NOT_NUMBER);
	check_not("kregress: metric exit_ms ms 5\n", METRIC_NOT_NUMBER);
}

static void zero_is_a_value(void **state)
{
	(void)state;
	check_found("kregress: metric exit_ms 0 ms\n", 0);
	check_found("kregress: metric exit_ms 0e-999 ms\n", 0);
}

static void another_unit_is_refused(void **state)
{
	(void)state;
	check_not("kregress: metric exit_ms 5 s\n", METRIC_WRONG_UNIT);
	check_not("kregress: metric exit_ms 5 m\n", METRIC_WRONG_UNIT);
	check_not("kregress: metric exit_ms 5 msec\n", METRIC_WRONG_UNIT);
	check_not("kregress: metric exit_ms 5 ms 6\n", METRIC_WRONG_UNIT);
}

static void without_a_declared_unit_any_will_do(void **state)
{
	struct metric m = own;

	(void)state;
	m.unit = no_unit;
	check_found_bytes(&m, "kregress: metric exit_ms 5 s\n", 29, 5);
	m.unit = NULL;
	check_found_bytes(&m, "kregress: metric exit_ms 5 s\n", 29, 5);
}

static void the_declared_range_is_inclusive(void **state)
{
	struct metric m = own;

	(void)state;
	m.min = 1;
	m.max = 10;
	check_found_bytes(&m, "kregress: metric exit_ms 1 ms\n", 30, 1);
	check_found_bytes(&m, "kregress: metric exit_ms 10 ms\n", 31, 10);
	check_not_bytes(&m, "kregress: metric exit_ms 0.999 ms\n", 34, METRIC_OUT_OF_RANGE);
	check_not_bytes(&m, "kregress: metric exit_ms 10.01 ms\n", 34, METRIC_OUT_OF_RANGE);
}

static void a_nul_does_not_shorten_a_number(void **state)
{
	(void)state;
	check_not_bytes(&own, "kregress: metric exit_ms 12\0.5 ms\n", 34, METRIC_NOT_NUMBER);
	check_not_bytes(&own, "kregress: metric exit_ms 12 \0ms\n", 32, METRIC_WRONG_UNIT);
	/* and does not end the output */
	check_found_bytes(&own, "\0\0\nkregress: metric exit_ms 5 ms\n", 33, 5);
}

static void a_line_cut_at_4096_bytes_never_loses_digits(void **state)
{
	char text[6000];

	(void)state;
	/* ten digits across the cut */
	memset(text, ' ', sizeof(text));
	memcpy(text, "kregress: metric exit_ms", 24);
	memcpy(text + 4091, "1234567890 ms\n", 14);
	check_not_bytes(&own, text, 4105, METRIC_NOT_NUMBER);
	/* ending on the last byte that fits */
	memset(text + 4091, ' ', 14);
	memcpy(text + 4086, "1234567890\n", 11);
	check_found_bytes(&own, text, 4097, 1234567890);
}

static void a_regex_finds_values_of_other_programs(void **state)
{
	struct metric m = with_regex("^([0-9]+) records/s$");

	(void)state;
	check_found_bytes(&m, "12345 records/s\nreal 10.00 s\n", 29, 12345);
	check_found_bytes(&m, "12345 records/s\r\n", 17, 12345);
	check_not_bytes(&m, "real 10.00 s\n", 13, METRIC_MISSING);
	check_not_bytes(&m, "kregress: metric exit_ms 5 ms\n", 30, METRIC_MISSING);
	m = with_regex("time: ([^ ]*)");
	check_found_bytes(&m, "x time: 1.5e1 s, time: 9\n", 25, 15);
	check_not_bytes(&m, "time: \n", 7, METRIC_NOT_NUMBER);
	check_not_bytes(&m, "time: fast\n", 11, METRIC_NOT_NUMBER);
	check_not_bytes(&m, "time: nan\n", 10, METRIC_NOT_NUMBER);
	m = with_regex("a(1)?b");
	check_not_bytes(&m, "ab\n", 3, METRIC_NOT_NUMBER);
}

static void a_regex_works_line_by_line(void **state)
{
	struct metric m = with_regex("b=([0-9]+)");
	double *values = NULL;
	size_t count = 0;

	(void)state;
	assert_int_equal(metric_find_all(&m, "b=1 b=2\nb=3\n", 12, &values, &count), METRIC_FOUND);
	assert_int_equal(count, 2);
	assert_true(values[0] == 1 && values[1] == 3);
	free(values);
}

static void a_regex_value_that_touches_the_cut_is_refused(void **state)
{
	struct metric m = with_regex("=([0-9]+)");
	char text[5000];

	(void)state;
	memset(text, ' ', sizeof(text));
	memcpy(text + 4090, "=1234567890\n", 12);
	check_not_bytes(&m, text, 4102, METRIC_NOT_NUMBER);
	memset(text, ' ', sizeof(text));
	memcpy(text + 10, "=12", 3);
	check_found_bytes(&m, text, sizeof(text), 12);
}

static void a_regex_that_does_not_compile_is_said(void **state)
{
	struct metric m = with_regex("([0-9]+");

	(void)state;
	check_not_bytes(&m, "5\n", 2, METRIC_BAD_REGEX);
	m = with_regex("[0-9]+");
	check_not_bytes(&m, "5\n", 2, METRIC_BAD_REGEX);
}

static const char *why(const char *regex)
{
	static char buf[128];

	return metric_check_regex(regex, buf, sizeof(buf));
}

static void a_regex_has_exactly_one_group(void **state)
{
	(void)state;
	assert_null(why("([0-9]+)"));
	assert_null(why("[[:space:]]*([0-9.]{1,20}).*"));
	assert_null(why("\\(x\\) = ([0-9]+)"));
	assert_null(why("[)(] ([0-9]+)"));
	assert_null(why("[]x] ([0-9]+) [^]]"));
	assert_string_equal(why("[0-9]+"), "it has 0 groups (…) and must have exactly one");
	assert_string_equal(why("(a)(b)"), "it has 2 groups (…) and must have exactly one");
	assert_non_null(why("(a"));
	assert_non_null(why("[a"));
	assert_non_null(why(""));
}

static void a_regex_that_could_take_for_ever_is_refused(void **state)
{
	static const char costly[] =
		"too costly: nested repetitions, large counts or back-references";
	char long_one[600];

	(void)state;
	assert_string_equal(why("(a{30000}{30000})"), costly);
	assert_string_equal(why("((((a{99}){99}){99}){99})"), costly);
	assert_string_equal(why("(a)\\1"), costly);
	assert_string_equal(why("((((((((((((((((x+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)"), costly);
	memset(long_one, 'a', sizeof(long_one));
	memcpy(long_one, "(1)", 3);
	long_one[513] = '\0';
	assert_string_equal(why(long_one), "longer than 512 bytes");
	long_one[512] = '\0';
	assert_null(why(long_one));
}

static void names_are_of_plain_characters(void **state)
{
	char name[66];

	(void)state;
	assert_true(metric_name_is_valid("exit_ms"));
	assert_true(metric_name_is_valid("a.B-9"));
	assert_false(metric_name_is_valid(""));
	assert_false(metric_name_is_valid("a b"));
	assert_false(metric_name_is_valid("a\n"));
	assert_false(metric_name_is_valid("\xc3\xa9"));
	memset(name, 'x', sizeof(name));
	name[64] = '\0';
	assert_true(metric_name_is_valid(name));
	name[64] = 'x';
	name[65] = '\0';
	assert_false(metric_name_is_valid(name));
}

static void every_answer_has_a_text(void **state)
{
	(void)state;
	for (int f = METRIC_FOUND; f <= METRIC_BAD_REGEX; f++)
		assert_string_not_equal(metric_find_text((enum metric_find)f), "unknown");
	assert_string_equal(metric_find_text(METRIC_MISSING), "missing from the output");
	assert_string_equal(metric_find_text((enum metric_find)99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_of_the_design_is_read),
		cmocka_unit_test(the_last_line_is_the_value_of_a_run),
		cmocka_unit_test(a_bad_last_line_is_not_hidden_by_a_good_one_before),
		cmocka_unit_test(all_values_come_in_order),
		cmocka_unit_test(one_bad_value_makes_all_bad),
		cmocka_unit_test(other_lines_are_log),
		cmocka_unit_test(what_is_no_finite_number_is_never_a_value),
		cmocka_unit_test(zero_is_a_value),
		cmocka_unit_test(another_unit_is_refused),
		cmocka_unit_test(without_a_declared_unit_any_will_do),
		cmocka_unit_test(the_declared_range_is_inclusive),
		cmocka_unit_test(a_nul_does_not_shorten_a_number),
		cmocka_unit_test(a_line_cut_at_4096_bytes_never_loses_digits),
		cmocka_unit_test(a_regex_finds_values_of_other_programs),
		cmocka_unit_test(a_regex_works_line_by_line),
		cmocka_unit_test(a_regex_value_that_touches_the_cut_is_refused),
		cmocka_unit_test(a_regex_that_does_not_compile_is_said),
		cmocka_unit_test(a_regex_has_exactly_one_group),
		cmocka_unit_test(a_regex_that_could_take_for_ever_is_refused),
		cmocka_unit_test(names_are_of_plain_characters),
		cmocka_unit_test(every_answer_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
