/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Campaign files: numbers, units, thresholds and words, right and wrong. */
#include <math.h>
#include "unit/campaign_fixture.h"

static void bad_numbers_are_refused(void **state)
{
	(void)state;
	check_line("build", "jobs = 4x",
		   "bad number '4x' for jobs (a whole number from 0 to 4096)");
	check_line("build", "jobs = -1",
		   "bad number '-1' for jobs (a whole number from 0 to 4096)");
	check_line("build", "jobs = 0x4",
		   "bad number '0x4' for jobs (a whole number from 0 to 4096)");
	check_line("build", "jobs = 18446744073709551617",
		   "bad number '18446744073709551617' for jobs (a whole number from 0 to 4096)");
	check_line("build", "jobs = 4294967297",
		   "bad number '4294967297' for jobs (a whole number from 0 to 4096)");
	check_line("measure", "runs_per_boot = 0",
		   "bad number '0' for runs_per_boot (a whole number from 1 to 10000)");
	check_line("measure", "min_boots = 0",
		   "bad number '0' for min_boots (a whole number from 1 to 10000)");
	check_line("measure", "end_boots = 0",
		   "bad number '0' for end_boots (a whole number from 1 to 10000)");
	check_line("target", "cpus = 1.5",
		   "bad number '1.5' for cpus (a whole number from 1 to 4096)");
}

static void bad_durations_are_refused(void **state)
{
	static const char units[] = "units are d, h, m, s and ms, the largest first";
	char message[200];

	(void)state;
	check_line("build", "timeout = 90",
		   "bad duration '90' for timeout (its unit is missing: write 90s, 10m or 2h)");
	check_line("build", "timeout = soon",
		   "bad duration 'soon' for timeout (write it as 90s, 10m or 2h)");
	snprintf(message, sizeof(message), "bad duration '5 m' for timeout (%s)", units);
	check_line("build", "timeout = 5 m", message);
	snprintf(message, sizeof(message), "bad duration '5min' for timeout (%s)", units);
	check_line("build", "timeout = 5min", message);
	snprintf(message, sizeof(message), "bad duration '30m1h' for timeout (%s)", units);
	check_line("build", "timeout = 30m1h", message);
	snprintf(message, sizeof(message), "bad duration '1.5h' for timeout (%s)", units);
	check_line("build", "timeout = 1.5h", message);
	check_line("build", "timeout = -5m",
		   "bad duration '-5m' for timeout (write it as 90s, 10m or 2h)");
	check_line("build", "timeout = 0s", "bad duration '0s' for timeout (from 1s to 365d)");
	check_line("build", "timeout = 366d", "bad duration '366d' for timeout (from 1s to 365d)");
	check_line("build", "timeout = 99999999999999999999d",
		   "bad duration '99999999999999999999d' for timeout (write it as 90s, 10m or 2h)");
	/* these many milliseconds are 2^64 and a little */
	check_line("build", "timeout = 213503982335d",
		   "bad duration '213503982335d' for timeout (it is longer than ten years)");
	check_line("build", "timeout = 9999999999999999d",
		   "bad duration '9999999999999999d' for timeout (it is longer than ten years)");
}

static void bad_sizes_are_refused(void **state)
{
	(void)state;
	check_line("target", "memory = 512",
		   "bad size '512' for memory (its unit is missing: write 512M or 2G)");
	check_line("target", "memory = 512MB",
		   "bad size '512MB' for memory (units are K, M, G and T)");
	check_line("target", "memory = 1m", "bad size '1m' for memory (units are K, M, G and T)");
	check_line("target", "memory = big", "bad size 'big' for memory (write it as 512M or 2G)");
	check_line("target", "memory = 16777216T",
		   "bad size '16777216T' for memory (it is too large)");
	check_line("target", "memory = 1M", "bad size '1M' for memory (from 16M to 16T)");
}

static void bad_shares_are_refused(void **state)
{
	static const char confidence[] = "for confidence (above 50% and below 100%)";
	static const char *const values[] = { "50%", "0.5", "100%", "1", "10%" };
	char line[100], message[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		snprintf(line, sizeof(line), "confidence = %s", values[i]);
		snprintf(message, sizeof(message), "bad share '%s' %s", values[i], confidence);
		check_line("verdict", line, message);
	}
	check_line("verdict", "confidence = 95",
		   "bad share '95' for confidence (from 0% to 100%, or from 0 to 1)");
	check_line("verdict", "effect = nan",
		   "bad share 'nan' for effect (write it as 95% or 0.95)");
	check_line("verdict", "effect = inf%",
		   "bad share 'inf%' for effect (write it as 95% or 0.95)");
	check_line("verdict", "effect = -1%",
		   "bad share '-1%' for effect (from 0% to 100%, or from 0 to 1)");
	check_line("verdict", "effect = 0x1p-4",
		   "bad share '0x1p-4' for effect (write it as 95% or 0.95)");
	check_line("verdict", "effect = %", "bad share '%' for effect (write it as 95% or 0.95)");
}

static void check_threshold(const char *text, enum threshold_kind kind, double value)
{
	_cleanup_free_ char *file_text = xasprintf(QEMU "[verdict]\nthreshold = %s\n", text);
	struct config c;

	must_load(file_text, &c);
	assert_int_equal(c.verdict.kind, kind);
	assert_true(c.verdict.threshold == value);
	config_release(&c);
}

static void thresholds_are_absolute_relative_or_auto(void **state)
{
	(void)state;
	check_threshold("12.5", THRESHOLD_ABSOLUTE, 12.5);
	check_threshold("-3e2", THRESHOLD_ABSOLUTE, -300);
	check_threshold("0", THRESHOLD_ABSOLUTE, 0);
	check_threshold("+20%", THRESHOLD_RELATIVE, 0.2);
	check_threshold("-0.5%", THRESHOLD_RELATIVE, -0.005);
	check_threshold("auto", THRESHOLD_AUTO, 0);
}

static void check_spread(const char *text, double value, bool relative, const char *dumped)
{
	_cleanup_free_ char *file_text = xasprintf(QEMU "[verdict]\nbuild_sd = %s\n", text);
	_cleanup_free_ char *line = xasprintf("verdict.build_sd = %s\n", dumped);
	_cleanup_str_ struct str dump = STR_INIT;
	struct config c;

	must_load(file_text, &c);
	assert_true(fabs(c.build_sd.value - value) < 1e-15);
	assert_int_equal(c.build_sd.relative, relative);
	config_dump(&c, &dump);
	assert_non_null(strstr(str_text(&dump), line));
	config_release(&c);
}

static void the_spread_of_builds_is_a_value_a_share_or_auto(void **state)
{
	(void)state;
	check_spread("auto", -1, false, "auto");
	check_spread("0", 0, false, "0");
	check_spread("1.5", 1.5, false, "1.5");
	check_spread("2%", 0.02, true, "2%");
	check_line("verdict", "build_sd = -1",
		   "bad deviation '-1' for build_sd (auto, 0, 1.5 or 2%)");
	check_line("verdict", "build_sd = %",
		   "bad deviation '%' for build_sd (auto, 0, 1.5 or 2%)");
	check_line("verdict", "build_sd = nan",
		   "bad deviation 'nan' for build_sd (auto, 0, 1.5 or 2%)");
}

static void bad_thresholds_are_refused(void **state)
{
	(void)state;
	check_line("verdict", "threshold = 20%",
		   "bad threshold '20%' (a relative one needs a sign: + for more, - for less)");
	check_line("verdict", "threshold = +20",
		   "bad threshold '+20' (with a '%' it is relative, without the '+' absolute)");
	check_line("verdict", "threshold = +0%",
		   "bad threshold '+0%' (above -100%, up to +1000000%, and not zero)");
	check_line("verdict", "threshold = -100%",
		   "bad threshold '-100%' (above -100%, up to +1000000%, and not zero)");
	check_line("verdict", "threshold = nan", "bad threshold 'nan' (12.5, +20%, -15% or auto)");
	check_line("verdict", "threshold = inf", "bad threshold 'inf' (12.5, +20%, -15% or auto)");
	check_line("verdict", "threshold = 1e999",
		   "bad threshold '1e999' (12.5, +20%, -15% or auto)");
	check_line("verdict", "threshold = +1e999%",
		   "bad threshold '+1e999%' (12.5, +20%, -15% or auto)");
	check_line("verdict", "threshold = 12.5 ms",
		   "bad threshold '12.5 ms' (12.5, +20%, -15% or auto)");
	check_line("verdict", "threshold = 0x10",
		   "bad threshold '0x10' (12.5, +20%, -15% or auto)");
	check_line("verdict", "threshold = 1 2", "bad threshold '1 2' (12.5, +20%, -15% or auto)");
}

static void a_threshold_must_lie_on_the_bad_side(void **state)
{
	(void)state;
	check_line("verdict", "threshold = -20%\nbetter = lower",
		   "threshold '-20%' contradicts better = lower: bad is more than good (write "
		   "+20%)");
	check_line("verdict", "threshold = +20%\nbetter = higher",
		   "threshold '+20%' contradicts better = higher: bad is less than good (write "
		   "-20%)");
}

static void a_threshold_is_checked_against_the_workloads_idea_of_better(void **state)
{
	_cleanup_free_ char *expected =
		xasprintf("%s:9: threshold '+20%%' contradicts better = higher: bad is less than "
			  "good (write -20%%)",
			  file);
	struct config c;
	struct err e = ERR_INIT;

	(void)state;
	must_load(QEMU "[verdict]\nthreshold = +20%\n", &c);
	assert_int_equal(config_check_better(&c, METRIC_LOWER, &e), 0);
	assert_int_equal(config_check_better(&c, METRIC_BETTER_NONE, &e), 0);
	assert_int_equal(config_check_better(&c, METRIC_HIGHER, &e), -1);
	assert_string_equal(e.msg, expected);
	assert_int_equal(e.code, ERR_CONFIG);
	config_release(&c);
	must_load(QEMU "[verdict]\nthreshold = 5\n", &c);
	assert_int_equal(config_check_better(&c, METRIC_HIGHER, &e), 0);
	config_release(&c);
}

static void better_auto_is_told_from_better_not_given(void **state)
{
	struct config c;

	(void)state;
	must_load(QEMU "[verdict]\nbetter = auto\n", &c);
	assert_int_equal(c.verdict.better, METRIC_BETTER_NONE);
	assert_true(c.better_given);
	config_release(&c);
}

static void bad_words_are_refused_with_the_list(void **state)
{
	(void)state;
	check_line("verdict", "better = lowr",
		   "bad value 'lowr' for better (lower, higher, auto; did you mean 'lower'?)");
	check_refused(
		HEAD "hunt = regressoin\n[workload]\nuse = hugetlb_exit\nmetric = m\n", 5,
		"bad value 'regressoin' for hunt (regression, fix; did you mean 'regression'?)");
	check_refused(HEAD "first_parent = true\n[workload]\nuse = hugetlb_exit\nmetric = m\n", 5,
		      "bad value 'true' for first_parent (yes or no)");
	check_line("build", "ccache = maybe", "bad value 'maybe' for ccache (auto, yes, no)");
	check_line("build", "type = kernl",
		   "bad value 'kernl' for type (kernel, none; did you mean 'kernel'?)");
	check_line("target", "type = qmeu",
		   "bad value 'qmeu' for type (qemu, command, ssh; did you mean 'qemu'?)");
	check_line("target", "accel = KVM", "bad value 'KVM' for accel (auto, kvm, tcg)");
	check_line("verdict", "on_crash = good", "bad value 'good' for on_crash (skip, bad)");
}

static void architectures_of_later_versions_are_named_as_such(void **state)
{
	(void)state;
	check_line("build", "arch = arm64",
		   "bad architecture 'arm64' (this version builds x86_64 only)");
}

static void bad_names_are_refused(void **state)
{
	(void)state;
	check_refused(HEAD "name = a/b\n[workload]\nuse = hugetlb_exit\nmetric = m\n", 5,
		      "bad name 'a/b' (letters, digits, '_', '.' and '-', up to 100)");
	check_refused(HEAD "name = ..\n[workload]\nuse = hugetlb_exit\nmetric = m\n", 5,
		      "bad name '..' (letters, digits, '_', '.' and '-', up to 100)");
	check_refused(HEAD "[workload]\nuse = hugetlb_exit\nmetric = exit ms\n", 7,
		      "bad metric name 'exit ms' (letters, digits, '_', '.' and '-', up to 64)");
	check_refused("[campaign]\nrepo = linux\ngood = --all\nbad = b\n[workload]\n"
		      "use = hugetlb_exit\nmetric = m\n",
		      3, "bad revision '--all' (no revision starts with '-')");
	check_refused("[campaign]\nrepo = linux\ngood = v1\nbad = v1\n[workload]\n"
		      "use = hugetlb_exit\nmetric = m\n",
		      4, "good and bad are the same revision 'v1' (name two ends)");
}

static void make_targets_are_checked(void **state)
{
	(void)state;
	check_line("build", "config = linux/.config",
		   "bad make target 'linux/.config' for config (a file is written file:<path>)");
	check_line("build", "config = .config",
		   "bad make target '.config' for config (a file is written file:<path>)");
	check_line("build", "config = clean",
		   "bad make target 'clean' for config (such as tinyconfig or defconfig, or "
		   "file:<path>)");
	check_line("build", "config = -defconfig",
		   "bad make target '-defconfig' for config (such as tinyconfig or defconfig, or "
		   "file:<path>)");
}

static void open_quotes_are_refused(void **state)
{
	(void)state;
	check_line("build", "make_args = 'a b",
		   "bad list of words ''a b' (a quote is open, or a backslash ends it)");
	check_line("build", "command = a \\",
		   "bad command 'a \\' for command (a quote is open, or a backslash ends it)");
	check_line("build", "patches = ''",
		   "bad list of words '''' for patches (it has an empty word)");
	check_line("build", "command = ''",
		   "bad command '''' for command (its first word is empty)");
}

static void units_are_powers_as_documented(void **state)
{
	int64_t ms = 0;
	uint64_t bytes = 0;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(config_parse_duration("250ms", "x", &ms, &e), 0);
	assert_int_equal(ms, 250);
	assert_int_equal(config_parse_duration("1d2h3m4s5ms", "x", &ms, &e), 0);
	assert_int_equal(ms, 93784005);
	assert_int_equal(config_parse_duration("0s", "x", &ms, &e), 0);
	assert_int_equal(ms, 0);
	assert_int_equal(config_parse_duration("3652d", "x", &ms, &e), 0);
	assert_int_equal(config_parse_duration("3652d1ms", "x", &ms, &e), -1);
	assert_int_equal(config_parse_duration("", "--for", &ms, &e), -1);
	assert_string_equal(e.msg, "bad duration '' for --for (write it as 90s, 10m or 2h)");
	assert_int_equal(config_parse_size("3K", "x", &bytes, &e), 0);
	assert_int_equal(bytes, 3072);
	assert_int_equal(config_parse_size("5T", "x", &bytes, &e), 0);
	assert_int_equal(bytes, 5497558138880);
}

static void help_fits_eighty_columns(void **state)
{
	_cleanup_str_ struct str help = STR_INIT;

	(void)state;
	config_help(&help);
	for (const char *s = help.buf; *s; s += strcspn(s, "\n") + 1) {
		size_t n = strcspn(s, "\n");

		if (n > 80)
			fail_msg("%zu columns: %.*s", n, (int)n, s);
		assert_true(n == 0 || s[n - 1] != ' ');
	}
	assert_non_null(
		strstr(help.buf, "  threshold = value | +N% | -N% | auto   (default: auto)\n"));
	assert_non_null(strstr(help.buf, "  repo = path   (required)\n"));
	assert_non_null(strstr(help.buf, "  search = bisect | bayes | auto   (default: auto)\n"));
	assert_non_null(strstr(help.buf, "  build_sd = value | N% | auto   (default: auto)\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_numbers_are_refused),
		cmocka_unit_test(bad_durations_are_refused),
		cmocka_unit_test(bad_sizes_are_refused),
		cmocka_unit_test(bad_shares_are_refused),
		cmocka_unit_test(thresholds_are_absolute_relative_or_auto),
		cmocka_unit_test(the_spread_of_builds_is_a_value_a_share_or_auto),
		cmocka_unit_test(bad_thresholds_are_refused),
		cmocka_unit_test(a_threshold_must_lie_on_the_bad_side),
		cmocka_unit_test(a_threshold_is_checked_against_the_workloads_idea_of_better),
		cmocka_unit_test(better_auto_is_told_from_better_not_given),
		cmocka_unit_test(bad_words_are_refused_with_the_list),
		cmocka_unit_test(architectures_of_later_versions_are_named_as_such),
		cmocka_unit_test(bad_names_are_refused),
		cmocka_unit_test(make_targets_are_checked),
		cmocka_unit_test(open_quotes_are_refused),
		cmocka_unit_test(units_are_powers_as_documented),
		cmocka_unit_test(help_fits_eighty_columns),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
