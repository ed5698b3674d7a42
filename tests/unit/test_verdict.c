/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts by threshold: hand-computed intervals, the ends, policy for failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/str.h"
#include "core/verdict.h"

#define _cleanup_data_ _cleanup_(verdict_data_release)

static const struct verdict_opts plain = {
	.kind = THRESHOLD_ABSOLUTE,
	.threshold = 15,
	.better = METRIC_LOWER,
	.effect = 0.02,
	.confidence = 0.95,
	.min_boots = 1,
	.max_boots = 8,
	.end_boots = 3,
};

static void assert_near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g", got, want);
}

/* One boot with one run a value. */
static void boots(struct verdict_data *d, size_t n, ...)
{
	va_list ap;

	va_start(ap, n);
	for (size_t i = 0; i < n; i++) {
		double value = va_arg(ap, double);

		verdict_data_add(d,
				 &(struct trial){ .outcome = TRIAL_OK, .samples = &value, .n = 1 });
	}
	va_end(ap);
}

static void fails(struct verdict_data *d, enum trial_outcome outcome)
{
	verdict_data_add(d, &(struct trial){ .outcome = outcome });
}

static struct stats_pool pool_of(const struct verdict_data *a, const struct verdict_data *b)
{
	struct stats_pool p = { 0, 0 };

	stats_pool_add(&p, a->boot, a->n);
	stats_pool_add(&p, b->boot, b->n);
	return p;
}

/* Ends with the given boots, looked at: 16 candidates. */
static struct ends look(const struct verdict_opts *o, const struct verdict_data *good,
			const struct verdict_data *bad, bool more_possible)
{
	struct stats_pool p = pool_of(good, bad);
	struct ends ends;

	verdict_ends(o, good, bad, &p, 16, more_possible, &ends);
	return ends;
}

static void a_boot_counts_by_the_median_of_its_runs(void **state)
{
	_cleanup_data_ struct verdict_data d = { .n = 0 };
	const double runs[] = { 3, 100, 1, 2, 4 };

	(void)state;
	verdict_data_add(&d, &(struct trial){ .outcome = TRIAL_OK, .samples = runs, .n = 5 });
	assert_int_equal(d.n, 1);
	assert_near(d.boot[0], 3, 0);
	assert_int_equal(d.failed, TRIAL_UNSET);
}

static void the_first_failure_is_kept(void **state)
{
	_cleanup_data_ struct verdict_data d = { .n = 0 };

	(void)state;
	boots(&d, 1, 5.0);
	fails(&d, TRIAL_CRASHED);
	fails(&d, TRIAL_GARBLED);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.failed, TRIAL_CRASHED);
}

static void ok_without_finite_values_is_garbled_not_a_zero(void **state)
{
	_cleanup_data_ struct verdict_data none = { .n = 0 }, nan = { .n = 0 };
	const double runs[] = { 1, NAN };

	(void)state;
	fails(&none, TRIAL_OK);
	verdict_data_add(&nan, &(struct trial){ .outcome = TRIAL_OK, .samples = runs, .n = 2 });
	assert_int_equal(none.failed, TRIAL_GARBLED);
	assert_int_equal(nan.failed, TRIAL_GARBLED);
	assert_int_equal(none.n + nan.n, 0);
}

static void the_level_is_spent_over_verdicts_and_looks(void **state)
{
	struct verdict_opts o = plain;

	(void)state;
	/* 0.05 / 4 verdicts / 8 looks */
	assert_near(verdict_alpha(&o, 16), 0.0015625, 1e-15);
	assert_near(verdict_alpha(&o, 17), 0.05 / 5 / 8, 1e-15);
	assert_near(verdict_alpha(&o, 2), 0.05 / 1 / 8, 1e-15);
	assert_near(verdict_alpha(&o, 1), 0.05 / 1 / 8, 1e-15);
	assert_near(verdict_alpha(&o, UINT32_MAX), 0.05 / 32 / 8, 1e-15);
	o.min_boots = 5;
	assert_near(verdict_alpha(&o, 16), 0.05 / 4 / 4, 1e-15);
	o.min_boots = 9;
	assert_near(verdict_alpha(&o, 16), 0.05 / 4, 1e-15);
}

static void a_verdict_matches_an_interval_computed_by_hand(void **state)
{
	/*
	 * s = 1 on 4 df; 16 candidates, one look: alpha 0.0125, t(0.99375; 4) = 4.314656
	 * (density integrated with Simpson's rule in python3). Two boots: half width
	 * 4.314656/√2 = 3.050923.
	 */
	const struct stats_pool pool = { 4, 4 };
	struct ends ends = { .threshold = 15, .better = METRIC_LOWER };
	_cleanup_data_ struct verdict_data d = { .n = 0 };
	struct verdict_opts o = plain;
	struct stats_interval i;

	(void)state;
	o.min_boots = o.max_boots = 2;
	boots(&d, 2, 11.0, 12.9);
	assert_int_equal(verdict_decide(&o, &ends, &d, &pool, 16, &i), VERDICT_UNSURE);
	assert_near(i.estimate, 11.95, 1e-12);
	assert_near(i.low, 11.95 - 3.050923, 2e-6);
	assert_near(i.high, 11.95 + 3.050923, 2e-6);
	ends.threshold = 11.95 + 3.050924;
	assert_int_equal(verdict_decide(&o, &ends, &d, &pool, 16, NULL), VERDICT_GOOD);
	ends.threshold = 11.95 + 3.050922;
	assert_int_equal(verdict_decide(&o, &ends, &d, &pool, 16, NULL), VERDICT_UNSURE);
	ends.threshold = 11.95 - 3.050924;
	assert_int_equal(verdict_decide(&o, &ends, &d, &pool, 16, NULL), VERDICT_BAD);
	ends.better = METRIC_HIGHER;
	assert_int_equal(verdict_decide(&o, &ends, &d, &pool, 16, NULL), VERDICT_GOOD);
}

static void more_boots_are_asked_for_until_the_maximum_then_it_is_unsure(void **state)
{
	const struct stats_pool pool = { 400, 4 };
	const struct ends ends = { .threshold = 15, .better = METRIC_LOWER };
	_cleanup_data_ struct verdict_data d = { .n = 0 };

	(void)state;
	assert_int_equal(verdict_decide(&plain, &ends, &d, &pool, 16, NULL), VERDICT_UNSET);
	for (int i = 1; i < 8; i++) {
		boots(&d, 1, 14.0);
		assert_int_equal(verdict_decide(&plain, &ends, &d, &pool, 16, NULL), VERDICT_UNSET);
	}
	boots(&d, 1, 14.0);
	assert_int_equal(verdict_decide(&plain, &ends, &d, &pool, 16, NULL), VERDICT_UNSURE);
}

static void a_clear_value_waits_for_min_boots(void **state)
{
	const struct stats_pool pool = { 0, 4 };
	const struct ends ends = { .threshold = 15, .better = METRIC_LOWER };
	_cleanup_data_ struct verdict_data d = { .n = 0 };
	struct verdict_opts o = plain;

	(void)state;
	o.min_boots = 2;
	boots(&d, 1, 100.0);
	assert_int_equal(verdict_decide(&o, &ends, &d, &pool, 16, NULL), VERDICT_UNSET);
	boots(&d, 1, 100.0);
	assert_int_equal(verdict_decide(&o, &ends, &d, &pool, 16, NULL), VERDICT_BAD);
}

static void exactly_at_the_threshold_is_still_good(void **state)
{
	const struct stats_pool pool = { 0, 4 };
	struct ends ends = { .threshold = 15, .better = METRIC_LOWER };
	_cleanup_data_ struct verdict_data d = { .n = 0 };

	(void)state;
	boots(&d, 1, 15.0);
	assert_int_equal(verdict_decide(&plain, &ends, &d, &pool, 16, NULL), VERDICT_GOOD);
	ends.better = METRIC_HIGHER;
	assert_int_equal(verdict_decide(&plain, &ends, &d, &pool, 16, NULL), VERDICT_GOOD);
	ends.threshold = nextafter(15, 100);
	assert_int_equal(verdict_decide(&plain, &ends, &d, &pool, 16, NULL), VERDICT_BAD);
}

static void failures_follow_policy_alone(void **state)
{
	static const struct {
		enum trial_outcome failed;
		enum verdict by_default, build_bad, crash_bad;
	} table[] = {
		{ TRIAL_BUILD_FAILED, VERDICT_SKIP, VERDICT_BAD, VERDICT_SKIP },
		{ TRIAL_BOOT_FAILED, VERDICT_SKIP, VERDICT_SKIP, VERDICT_BAD },
		{ TRIAL_CRASHED, VERDICT_SKIP, VERDICT_SKIP, VERDICT_BAD },
		{ TRIAL_TIMED_OUT, VERDICT_SKIP, VERDICT_SKIP, VERDICT_BAD },
		{ TRIAL_GARBLED, VERDICT_SKIP, VERDICT_SKIP, VERDICT_SKIP },
		{ TRIAL_UNTESTABLE, VERDICT_SKIP, VERDICT_SKIP, VERDICT_SKIP },
	};
	struct verdict_opts build = plain, crash = plain;

	(void)state;
	build.build_failure_is_bad = true;
	crash.crash_is_bad = true;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_int_equal(verdict_of_failure(&plain, table[i].failed), table[i].by_default);
		assert_int_equal(verdict_of_failure(&build, table[i].failed), table[i].build_bad);
		assert_int_equal(verdict_of_failure(&crash, table[i].failed), table[i].crash_bad);
	}
}

static void one_failed_boot_decides_over_good_ones(void **state)
{
	const struct stats_pool pool = { 0, 4 };
	const struct ends ends = { .threshold = 15, .better = METRIC_LOWER };
	_cleanup_data_ struct verdict_data d = { .n = 0 };
	struct verdict_opts o = plain;

	(void)state;
	boots(&d, 2, 1.0, 1.0);
	fails(&d, TRIAL_CRASHED);
	assert_int_equal(verdict_decide(&o, &ends, &d, &pool, 16, NULL), VERDICT_SKIP);
	o.crash_is_bad = true;
	assert_int_equal(verdict_decide(&o, &ends, &d, &pool, 16, NULL), VERDICT_BAD);
}

static void ends_on_both_sides_are_apart(void **state)
{
	_cleanup_data_ struct verdict_data good = { .n = 0 }, bad = { .n = 0 };
	struct ends e;

	(void)state;
	boots(&good, 3, 9.0, 10.0, 11.0);
	boots(&bad, 3, 29.0, 30.0, 31.0);
	e = look(&plain, &good, &bad, true);
	assert_int_equal(e.state, ENDS_APART);
	assert_int_equal(e.better, METRIC_LOWER);
	assert_near(e.threshold, 15, 0);
	/* s = 1 on 4 df, alpha 0.0015625: t = 7.658209; /√3 = 4.421469; ·√(2/3) = 6.252901 */
	assert_near(e.good.high, 10 + 4.421469, 2e-6);
	assert_near(e.bad.low, 30 - 4.421469, 2e-6);
	assert_near(e.diff.estimate, 20, 1e-12);
	assert_near(e.diff.low, 20 - 6.252901, 2e-6);
}

static void an_end_that_touches_the_threshold_asks_for_more_boots(void **state)
{
	_cleanup_data_ struct verdict_data good = { .n = 0 }, bad = { .n = 0 };
	struct verdict_opts o = plain;

	(void)state;
	boots(&good, 3, 9.0, 10.0, 11.0);
	boots(&bad, 3, 29.0, 30.0, 31.0);
	o.threshold = 14.4; /* below 10 + 4.421 */
	assert_int_equal(look(&o, &good, &bad, true).state, ENDS_MORE);
	o.threshold = 25.6; /* above 30 − 4.421 */
	assert_int_equal(look(&o, &good, &bad, true).state, ENDS_MORE);
	assert_int_equal(look(&o, &good, &bad, false).state, ENDS_NO_DIFFERENCE);
	assert_false(look(&o, &good, &bad, false).equivalent);
}

static void the_auto_threshold_is_half_way_and_better_where_good_is(void **state)
{
	_cleanup_data_ struct verdict_data low = { .n = 0 }, high = { .n = 0 };
	struct verdict_opts o = plain;
	struct ends e;

	(void)state;
	o.kind = THRESHOLD_AUTO;
	o.better = METRIC_BETTER_NONE;
	boots(&low, 3, 9.0, 10.0, 11.0);
	boots(&high, 3, 29.0, 30.0, 31.0);
	e = look(&o, &low, &high, true);
	assert_int_equal(e.state, ENDS_APART);
	assert_near(e.threshold, 20, 1e-12);
	assert_int_equal(e.better, METRIC_LOWER);
	e = look(&o, &high, &low, true);
	assert_int_equal(e.state, ENDS_APART);
	assert_int_equal(e.better, METRIC_HIGHER);
	o.better = METRIC_LOWER;
	assert_int_equal(look(&o, &high, &low, true).state, ENDS_SWAPPED);
}

static void the_relative_threshold_is_signed_on_the_raw_value(void **state)
{
	_cleanup_data_ struct verdict_data good = { .n = 0 }, up = { .n = 0 }, down = { .n = 0 };
	struct verdict_opts o = plain;
	struct ends e;

	(void)state;
	o.kind = THRESHOLD_RELATIVE;
	o.better = METRIC_BETTER_NONE;
	boots(&good, 2, 10.0, 10.0);
	boots(&up, 2, 13.0, 13.0);
	boots(&down, 2, 8.0, 8.0);
	o.threshold = 0.2;
	e = look(&o, &good, &up, true);
	assert_int_equal(e.state, ENDS_APART);
	assert_near(e.threshold, 12, 1e-12);
	assert_int_equal(e.better, METRIC_LOWER);
	o.threshold = -0.15;
	e = look(&o, &good, &down, true);
	assert_int_equal(e.state, ENDS_APART);
	assert_near(e.threshold, 8.5, 1e-12);
	assert_int_equal(e.better, METRIC_HIGHER);
}

static void a_relative_threshold_keeps_its_direction_below_zero(void **state)
{
	_cleanup_data_ struct verdict_data good = { .n = 0 }, bad = { .n = 0 };
	struct verdict_opts o = plain;
	struct ends e;

	(void)state;
	o.kind = THRESHOLD_RELATIVE;
	o.threshold = 0.2;
	boots(&good, 2, -10.0, -10.0);
	boots(&bad, 2, -5.0, -5.0);
	e = look(&o, &good, &bad, true);
	assert_near(e.threshold, -8, 1e-12);
	assert_int_equal(e.state, ENDS_APART);
}

static void swapped_ends_are_told_from_ends_on_one_side(void **state)
{
	_cleanup_data_ struct verdict_data ten = { .n = 0 }, eleven = { .n = 0 },
					   twenty = { .n = 0 };
	struct verdict_opts o = plain;

	(void)state;
	boots(&ten, 2, 10.0, 10.0);
	boots(&eleven, 2, 11.0, 11.0);
	boots(&twenty, 2, 20.0, 20.0);
	assert_int_equal(look(&o, &twenty, &ten, true).state, ENDS_SWAPPED);
	assert_int_equal(look(&o, &ten, &eleven, true).state, ENDS_SAME_SIDE);
	o.threshold = 5;
	assert_int_equal(look(&o, &ten, &twenty, true).state, ENDS_SAME_SIDE);
	/* relative: the threshold hangs on the good end, so swapped means the mirror image */
	o.kind = THRESHOLD_RELATIVE;
	o.threshold = 0.2;
	assert_int_equal(look(&o, &twenty, &ten, true).state, ENDS_SWAPPED);
	assert_int_equal(look(&o, &eleven, &ten, true).state, ENDS_SAME_SIDE);
	assert_int_equal(look(&o, &ten, &eleven, true).state, ENDS_SAME_SIDE);
}

static void with_auto_better_an_absolute_threshold_is_never_swapped(void **state)
{
	_cleanup_data_ struct verdict_data low = { .n = 0 }, high = { .n = 0 };
	struct verdict_opts o = plain;
	struct ends e;

	(void)state;
	o.better = METRIC_BETTER_NONE;
	boots(&low, 2, 10.0, 10.0);
	boots(&high, 2, 20.0, 20.0);
	e = look(&o, &high, &low, true);
	assert_int_equal(e.state, ENDS_APART);
	assert_int_equal(e.better, METRIC_HIGHER);
	/* the good end exactly on it: the bad one tells the side */
	o.threshold = 20;
	e = look(&o, &high, &low, true);
	assert_int_equal(e.state, ENDS_APART);
	assert_int_equal(e.better, METRIC_HIGHER);
	o.threshold = 10;
	e = look(&o, &low, &high, true);
	assert_int_equal(e.state, ENDS_APART);
	assert_int_equal(e.better, METRIC_LOWER);
}

static void points_within_effect_do_not_differ_even_across_the_threshold(void **state)
{
	_cleanup_data_ struct verdict_data good = { .n = 0 }, at = { .n = 0 }, off = { .n = 0 };
	struct ends e;

	(void)state;
	boots(&good, 2, 14.9, 14.9);
	boots(&at, 2, 15.19, 15.19);  /* + 1.95 % */
	boots(&off, 2, 15.21, 15.21); /* + 2.08 % */
	e = look(&plain, &good, &at, true);
	assert_int_equal(e.state, ENDS_NO_DIFFERENCE);
	assert_true(e.equivalent);
	assert_int_equal(look(&plain, &good, &off, true).state, ENDS_APART);
}

static void equivalence_is_shown_by_both_one_sided_tests(void **state)
{
	/*
	 * Boots ± 0.1 about 100 and 100.5: s = 0.1 on 4 df, t(0.95; 4) = 2.131847: the 90 %
	 * interval of the difference is 0.5 ± 2.131847 · 0.1 · √(2/3) = 0.5 ± 0.174064.
	 */
	_cleanup_data_ struct verdict_data good = { .n = 0 }, bad = { .n = 0 };
	struct verdict_opts o = plain;

	(void)state;
	o.threshold = 200;
	boots(&good, 3, 99.9, 100.0, 100.1);
	boots(&bad, 3, 100.4, 100.5, 100.6);
	o.effect = 0.006741;
	assert_int_equal(look(&o, &good, &bad, true).state, ENDS_NO_DIFFERENCE);
	assert_true(look(&o, &good, &bad, true).equivalent);
	o.effect = 0.006740;
	assert_false(look(&o, &good, &bad, true).equivalent);
}

static void noisy_equal_ends_are_refused_at_the_maximum_only(void **state)
{
	_cleanup_data_ struct verdict_data good = { .n = 0 }, bad = { .n = 0 };
	struct verdict_opts o = plain;
	struct ends e;

	(void)state;
	o.kind = THRESHOLD_AUTO;
	boots(&good, 3, 8.0, 10.0, 12.0);
	boots(&bad, 3, 8.5, 10.0, 12.5);
	assert_int_equal(look(&o, &good, &bad, true).state, ENDS_MORE);
	e = look(&o, &good, &bad, false);
	assert_int_equal(e.state, ENDS_NO_DIFFERENCE);
	assert_false(e.equivalent);
	assert_near(e.diff.estimate, 1.0 / 3, 1e-12);
}

static void ends_that_differ_near_one_side_are_said_so_at_the_maximum(void **state)
{
	/* both estimates below 15, one interval reaches above it */
	_cleanup_data_ struct verdict_data good = { .n = 0 }, bad = { .n = 0 };
	struct verdict_opts o = plain;

	(void)state;
	boots(&good, 3, -11.0, -10.0, -9.0);
	boots(&bad, 3, 13.0, 14.0, 15.0);
	assert_int_equal(look(&o, &good, &bad, true).state, ENDS_MORE);
	assert_int_equal(look(&o, &good, &bad, false).state, ENDS_SAME_SIDE);
}

static void an_unknown_spread_asks_for_more_unless_single_boots_were_wanted(void **state)
{
	_cleanup_data_ struct verdict_data good = { .n = 0 }, bad = { .n = 0 }, c = { .n = 0 };
	const struct stats_pool none = { 0, 0 };
	struct verdict_opts o = plain;
	struct ends e;

	(void)state;
	boots(&good, 1, 10.0);
	boots(&bad, 1, 20.0);
	boots(&c, 1, 14.0);
	o.end_boots = 1;
	assert_int_equal(look(&o, &good, &bad, true).state, ENDS_MORE);
	o.max_boots = 1;
	e = look(&o, &good, &bad, false);
	assert_int_equal(e.state, ENDS_APART);
	assert_int_equal(verdict_decide(&o, &e, &c, &none, 16, NULL), VERDICT_GOOD);
	assert_int_equal(look(&o, &bad, &good, false).state, ENDS_SWAPPED);
}

static void a_failing_bad_end_leaves_the_good_one_to_its_side(void **state)
{
	_cleanup_data_ struct verdict_data good = { .n = 0 }, bad = { .n = 0 };
	struct verdict_opts o = plain;
	struct ends e;

	(void)state;
	o.build_failure_is_bad = true;
	fails(&bad, TRIAL_BUILD_FAILED);
	boots(&good, 3, 9.0, 10.0, 11.0);
	/* s = 1 on 2 df: t(1 − 0.0015625/2; 2) = 25.27, /√3 = 14.6 */
	assert_int_equal(look(&o, &good, &bad, true).state, ENDS_MORE);
	assert_int_equal(look(&o, &good, &bad, false).state, ENDS_NO_DIFFERENCE);
	o.threshold = 25;
	e = look(&o, &good, &bad, true);
	assert_int_equal(e.state, ENDS_APART);
	assert_true(isnan(e.bad.estimate) && isnan(e.diff.low));
	o.threshold = -5;
	assert_int_equal(look(&o, &good, &bad, true).state, ENDS_SAME_SIDE);
	o.kind = THRESHOLD_RELATIVE;
	o.threshold = 2;
	e = look(&o, &good, &bad, true);
	assert_int_equal(e.state, ENDS_APART);
	assert_near(e.threshold, 30, 1e-12);
}

static void boots_before_a_failure_do_not_make_the_ends_equivalent(void **state)
{
	_cleanup_data_ struct verdict_data good = { .n = 0 }, bad = { .n = 0 };
	struct verdict_opts o = plain;
	struct ends e;

	(void)state;
	o.crash_is_bad = true;
	boots(&good, 2, 10.0, 10.0);
	boots(&bad, 1, 10.0);
	fails(&bad, TRIAL_CRASHED);
	e = look(&o, &good, &bad, true);
	assert_int_equal(e.state, ENDS_APART);
	assert_false(e.equivalent);
	assert_near(e.bad.estimate, 10, 0);
}

static void huge_values_overflow_to_unsure_not_to_a_verdict(void **state)
{
	_cleanup_data_ struct verdict_data good = { .n = 0 }, bad = { .n = 0 };
	_cleanup_data_ struct verdict_data low = { .n = 0 }, high = { .n = 0 };
	struct verdict_opts o = plain;

	(void)state;
	o.kind = THRESHOLD_AUTO;
	boots(&low, 2, 1e308, 1e308);
	boots(&high, 2, 1.5e308, 1.5e308);
	assert_near(look(&o, &low, &high, true).threshold, 1.25e308, 1e294);
	boots(&good, 2, -1e308, 1e308);
	boots(&bad, 2, 1e308, 1.5e308);
	assert_int_equal(look(&o, &good, &bad, true).state, ENDS_MORE);
	assert_int_equal(look(&o, &good, &bad, false).state, ENDS_NO_DIFFERENCE);
}

static void names_of_outcomes_and_verdicts_round_trip(void **state)
{
	static const char *const names[] = { "ok",        "build_failed", "boot_failed", "crashed",
					     "timed_out", "garbled",      "untestable" };

	(void)state;
	for (int i = 0; i < 7; i++) {
		assert_int_equal(trial_outcome_parse(names[i]), i + 1);
		assert_string_equal(trial_outcome_name((enum trial_outcome)(i + 1)), names[i]);
	}
	assert_int_equal(trial_outcome_parse("unset"), TRIAL_UNSET);
	assert_int_equal(trial_outcome_parse("OK"), TRIAL_UNSET);
	assert_int_equal(trial_outcome_parse(NULL), TRIAL_UNSET);
	assert_string_equal(trial_outcome_name((enum trial_outcome)99), "unset");
	assert_string_equal(verdict_name(VERDICT_GOOD), "good");
	assert_string_equal(verdict_name(VERDICT_BAD), "bad");
	assert_string_equal(verdict_name(VERDICT_SKIP), "skip");
	assert_string_equal(verdict_name(VERDICT_UNSURE), "unsure");
	assert_string_equal(verdict_name(VERDICT_UNSET), "unset");
	assert_string_equal(verdict_name((enum verdict)99), "unset");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_boot_counts_by_the_median_of_its_runs),
		cmocka_unit_test(the_first_failure_is_kept),
		cmocka_unit_test(ok_without_finite_values_is_garbled_not_a_zero),
		cmocka_unit_test(the_level_is_spent_over_verdicts_and_looks),
		cmocka_unit_test(a_verdict_matches_an_interval_computed_by_hand),
		cmocka_unit_test(more_boots_are_asked_for_until_the_maximum_then_it_is_unsure),
		cmocka_unit_test(a_clear_value_waits_for_min_boots),
		cmocka_unit_test(exactly_at_the_threshold_is_still_good),
		cmocka_unit_test(failures_follow_policy_alone),
		cmocka_unit_test(one_failed_boot_decides_over_good_ones),
		cmocka_unit_test(ends_on_both_sides_are_apart),
		cmocka_unit_test(an_end_that_touches_the_threshold_asks_for_more_boots),
		cmocka_unit_test(the_auto_threshold_is_half_way_and_better_where_good_is),
		cmocka_unit_test(the_relative_threshold_is_signed_on_the_raw_value),
		cmocka_unit_test(a_relative_threshold_keeps_its_direction_below_zero),
		cmocka_unit_test(swapped_ends_are_told_from_ends_on_one_side),
		cmocka_unit_test(with_auto_better_an_absolute_threshold_is_never_swapped),
		cmocka_unit_test(points_within_effect_do_not_differ_even_across_the_threshold),
		cmocka_unit_test(equivalence_is_shown_by_both_one_sided_tests),
		cmocka_unit_test(noisy_equal_ends_are_refused_at_the_maximum_only),
		cmocka_unit_test(ends_that_differ_near_one_side_are_said_so_at_the_maximum),
		cmocka_unit_test(an_unknown_spread_asks_for_more_unless_single_boots_were_wanted),
		cmocka_unit_test(a_failing_bad_end_leaves_the_good_one_to_its_side),
		cmocka_unit_test(boots_before_a_failure_do_not_make_the_ends_equivalent),
		cmocka_unit_test(huge_values_overflow_to_unsure_not_to_a_verdict),
		cmocka_unit_test(names_of_outcomes_and_verdicts_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
