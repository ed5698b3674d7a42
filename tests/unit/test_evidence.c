/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The section on the inside of the kernel: hand-made data, whole outputs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/str.h"
#include "report/evidence.h"

static void check(const struct report_evidence *v, size_t max, const char *expected)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	report_evidence_text(v, max, f);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

static void nothing_observed_is_nothing_printed(void **state)
{
	const struct report_evidence v = { .n_counters = 0 };

	(void)state;
	assert_false(report_evidence_any(&v));
	check(&v, 10, "");
}

static void a_sleep_is_a_sentence_with_its_stack(void **state)
{
	struct evidence_stack stacks[] = {
		{ .in = "[running]",
		  .under = "",
		  .frames = "",
		  .side = { { 0.9, 0 }, { 0.2, 0 } },
		  .error = 0.05 },
		{ .in = "synchronize_rcu",
		  .under = "hugetlb_vmemmap_restore_folios",
		  .frames = "__wait_rcu_gp\nsynchronize_rcu\nhugetlb_vmemmap_restore_folios",
		  .side = { { 0, 0 }, { 0.604, 0.01 } },
		  .error = 0.041 },
		{ .in = "do_wait",
		  .under = "evil\033[31m",
		  .frames = "",
		  .side = { { 0.5, 0 }, { 0.51, 0 } },
		  .error = 0.1 },
	};
	const struct report_evidence v = { .stack_boots = { 2, 2 },
					   .stack_looks = { 190, 210 },
					   .stacks = stacks,
					   .n_stacks = 3 };

	(void)state;
	assert_true(report_evidence_any(&v));
	check(&v, 10,
	      "\nWhere its threads were, in extra runs (190 and 210 looks in 2 and 2 boots):\n"
	      "  The culprit's workload is asleep in synchronize_rcu under "
	      "hugetlb_vmemmap_restore_folios\n"
	      "  for 60% of its run, its parent's for 0%:\n"
	      "        __wait_rcu_gp\n        synchronize_rcu\n        "
	      "hugetlb_vmemmap_restore_folios\n"
	      "  parent  culprit  difference\n"
	      "   90.0%   20.0%   -70.0 ± 5.0   [running]\n"
	      "    0.0%   60.4%   +60.4 ± 4.1   asleep in synchronize_rcu under "
	      "hugetlb_vmemmap_restore_folios\n"
	      "   50.0%   51.0%    +1.0 ± 10.0  asleep in do_wait under evil\\x1b[31m\n");
}

static void counters_say_which_are_more_than_chance(void **state)
{
	struct evidence_counter counters[] = {
		{ .name = "softirqs/RCU",
		  .side = { { 15, 1 }, { 112.7, 2.1 } },
		  .t = 73.3,
		  .q = 0.001,
		  .significant = true },
		{ .name = "vmstat/nr_x",
		  .level = true,
		  .side = { { 5, 0 }, { 4, 0 } },
		  .t = -2.1,
		  .q = 0.4 },
	};
	struct report_evidence v = { .counter_boots = { 3, 3 },
				     .counters = counters,
				     .n_counters = 2,
				     .counters_compared = 640,
				     .counters_significant = 1,
				     .false_share = 0.05 };
	static const char head[] =
		"\nCounters of the kernel over one extra run (3 and 3 boots), 640 compared:\n";
	static const char columns[] =
		"        parent ± boots          culprit ± boots            t\n";
	static const char first[] =
		"            15 ± 1                112.7 ± 2.1          +73.3  softirqs/RCU\n";
	_cleanup_free_ char *one = xasprintf(
		"%s  1 moved beyond their own spread (of these about 5%% by chance)\n%s%s", head,
		columns, first);
	_cleanup_free_ char *none = xasprintf(
		"%s  none moved further than so many counters do by chance; the first:\n%s%s%s",
		head, columns, first,
		"             5 ± 0                    4 ± 0             -2.1  vmstat/nr_x "
		"(level)\n");

	(void)state;
	check(&v, 10, one);
	v.counters_significant = 0;
	check(&v, 10, none);
	counters[0].q = counters[0].t = counters[1].q = counters[1].t = NAN;
	v.n_counters = 1;
	v.counter_boots[0] = v.counter_boots[1] = 1;
	check(&v, 10,
	      "\nCounters of the kernel over one extra run (1 and 1 boots), 640 compared:\n"
	      "  one boot of each does not tell how far they vary anyhow\n"
	      "        parent ± boots          culprit ± boots            t\n"
	      "            15 ± 1                112.7 ± 2.1              -  softirqs/RCU\n");
}

static void a_profile_is_symbol_by_symbol(void **state)
{
	struct evidence_symbol symbols[] = {
		{ .name = "default_idle", .side = { { 0.001, 0 }, { 0.741, 0 } }, .error = 0.024 },
		{ .name = "clear_page_erms",
		  .side = { { 0.816, 0 }, { 0.208, 0 } },
		  .error = 0.064 },
	};
	const struct report_evidence v = { .profile_boots = { 3, 3 },
					   .profile_samples = { 1296, 1912 },
					   .profile_how = "so",
					   .symbols = symbols,
					   .n_symbols = 2 };

	(void)state;
	check(&v, 1,
	      "\nProfile, in extra runs (1296 and 1912 samples in 3 and 3 boots):\n  so\n"
	      "  parent  culprit  difference\n"
	      "    0.1%   74.1%   +74.0 ± 2.4   default_idle\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_observed_is_nothing_printed),
		cmocka_unit_test(a_sleep_is_a_sentence_with_its_stack),
		cmocka_unit_test(counters_say_which_are_more_than_chance),
		cmocka_unit_test(a_profile_is_symbol_by_symbol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
