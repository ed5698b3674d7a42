/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics against published tables, closed forms and examples worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/stats.h"

static void assert_near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g", got, want);
}

static void the_median_is_the_middle_or_half_way_between_two(void **state)
{
	const double odd[] = { 9, -1, 4 }, even[] = { 8, 1, 2, 5 }, one[] = { 7 };

	(void)state;
	assert_near(stats_median(odd, 3), 4, 0);
	assert_near(stats_median(even, 4), 3.5, 0);
	assert_near(stats_median(one, 1), 7, 0);
	/* order kept */
	assert_true(odd[0] == 9 && odd[1] == -1 && odd[2] == 4);
}

static void mean_and_sum_of_squares_match_a_hand_example(void **state)
{
	/* mean 5; deviations -3 -1 -1 -1 0 0 2 4: squares sum to 32 */
	const double v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };

	(void)state;
	assert_near(stats_mean(v, 8), 5, 1e-12);
	assert_near(stats_sum_squares(v, 8), 32, 1e-12);
	assert_near(stats_sum_squares(v, 1), 0, 0);
	assert_near(stats_sum_squares(v, 0), 0, 0);
}

static void equal_values_have_no_spread_at_all(void **state)
{
	double v[100];

	(void)state;
	for (int i = 0; i < 100; i++)
		v[i] = 0.1;
	assert_true(stats_mean(v, 100) == 0.1);
	assert_true(stats_sum_squares(v, 100) == 0);
}

static void a_small_spread_on_a_large_value_is_not_lost(void **state)
{
	/* the textbook formula n·Σx² − (Σx)² gives rubbish here */
	const double v[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };

	(void)state;
	assert_near(stats_sum_squares(v, 3), 2, 1e-6);
}

static void the_pooled_deviation_weighs_groups_by_their_degrees_of_freedom(void **state)
{
	/* squares 8 on 2 df and 2 on 1 df; a single value adds nothing: sqrt(10/3) */
	const double a[] = { 10, 12, 14 }, b[] = { 20, 22 }, c[] = { 99 };
	struct stats_pool p = { 0, 0 };

	(void)state;
	assert_near(stats_pool_sd(&p), 0, 0);
	stats_pool_add(&p, c, 1);
	assert_int_equal(p.df, 0);
	stats_pool_add(&p, a, 3);
	stats_pool_add(&p, b, 2);
	assert_int_equal(p.df, 3);
	assert_near(p.ss, 10, 1e-12);
	assert_near(stats_pool_sd(&p), 1.8257418583505538, 1e-12);
}

static void t_quantiles_are_those_of_the_published_table(void **state)
{
	/* Fisher & Yates, Statistical Tables, table III */
	static const struct {
		double p, df, t;
	} table[] = {
		{ 0.975, 1, 12.706 }, { 0.975, 2, 4.303 },  { 0.975, 4, 2.776 },
		{ 0.95, 10, 1.812 },  { 0.995, 5, 4.032 },  { 0.9995, 20, 3.850 },
		{ 0.975, 30, 2.042 }, { 0.95, 120, 1.658 }, { 0.75, 3, 0.765 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_near(stats_t_quantile(table[i].p, table[i].df), table[i].t, 0.0005001);
		assert_near(stats_t_quantile(1 - table[i].p, table[i].df), -table[i].t, 0.0005001);
	}
	assert_near(stats_t_quantile(0.5, 7), 0, 1e-12);
}

/* Closed forms of P(T <= t) for 1 to 3 degrees of freedom, by integrating the density by hand. */
static double t_cdf_by_hand(double t, int df)
{
	double s = t / sqrt(3);

	if (df == 1)
		return 0.5 + atan(t) / M_PI;
	if (df == 2)
		return 0.5 + t / (2 * sqrt(2 + t * t));
	return 0.5 + (s / (1 + s * s) + atan(s)) / M_PI;
}

static void t_probabilities_agree_with_the_closed_forms(void **state)
{
	(void)state;
	for (int df = 1; df <= 3; df++)
		for (double t = -9; t <= 9; t += 0.37) {
			assert_near(stats_t_cdf(t, df), t_cdf_by_hand(t, df), 1e-12);
			assert_near(stats_t_quantile(t_cdf_by_hand(t, df), df), t, 1e-7);
		}
}

static void the_interval_of_a_mean_matches_a_hand_example(void **state)
{
	/*
	 * s = 1.825742 on 3 df, n = 3: 12 ± t(0.975; 3) s/√3 = 3.182446 · 1.054093 = 3.354593
	 * (t by integrating the density with Simpson's rule in python3)
	 */
	const struct stats_pool p = { 10, 3 };
	struct stats_interval i = stats_mean_interval(12, 3, &p, 0.05);

	(void)state;
	assert_near(i.estimate, 12, 0);
	assert_near(i.low, 12 - 3.354593, 2e-6);
	assert_near(i.high, 12 + 3.354593, 2e-6);
}

static void the_interval_of_a_difference_matches_a_hand_example(void **state)
{
	/* 1.825742 · √(1/3 + 1/2) = 1.666667; times 3.182446 = 5.304077 */
	const struct stats_pool p = { 10, 3 };
	struct stats_interval i = stats_diff_interval(12, 3, 21, 2, &p, 0.05);

	(void)state;
	assert_near(i.estimate, 9, 0);
	assert_near(i.low, 9 - 5.304077, 2e-6);
	assert_near(i.high, 9 + 5.304077, 2e-6);
	i = stats_diff_interval(21, 2, 12, 3, &p, 0.05);
	assert_near(i.estimate, -9, 0);
}

static void the_p_of_a_difference_matches_a_hand_example(void **state)
{
	/* t = 9/1.666667 = 5.4 on 3 df: 2 (1 − F(5.4)) = 0.012448 by the closed form */
	const struct stats_pool p = { 10, 3 };

	(void)state;
	assert_near(stats_diff_p(12, 3, 21, 2, &p), 0.0124483606, 1e-9);
	assert_near(stats_diff_p(21, 2, 12, 3, &p), 0.0124483606, 1e-9);
	assert_near(stats_diff_p(5, 3, 5, 2, &p), 1, 1e-12);
}

static void without_spread_intervals_are_points_and_p_is_0_or_1(void **state)
{
	const struct stats_pool p = { 0, 4 };
	struct stats_interval i = stats_mean_interval(3, 2, &p, 0.05);

	(void)state;
	assert_true(i.low == 3 && i.high == 3 && i.estimate == 3);
	i = stats_diff_interval(3, 2, 4, 2, &p, 0.05);
	assert_true(i.low == 1 && i.high == 1);
	assert_near(stats_diff_p(3, 2, 4, 2, &p), 0, 0);
	assert_near(stats_diff_p(3, 2, 3, 2, &p), 1, 0);
}

static void an_unknown_spread_excludes_nothing(void **state)
{
	const struct stats_pool p = { 0, 0 };
	struct stats_interval i = stats_mean_interval(3, 1, &p, 0.05);

	(void)state;
	assert_true(isinf(i.low) && i.low < 0 && isinf(i.high) && i.high > 0);
	assert_near(stats_diff_p(3, 1, 4, 1, &p), 1, 0);
}

static void levels_near_0_give_wide_intervals_not_crashes(void **state)
{
	double last = 0;

	(void)state;
	for (size_t df = 1; df <= 1000; df = df * 3) {
		struct stats_pool p = { (double)df, df };

		last = 0;
		for (double alpha = 1; alpha > 1e-12; alpha /= 7) {
			struct stats_interval i = stats_mean_interval(0, 1, &p, alpha);

			assert_true(isfinite(i.high) && i.high >= last);
			last = i.high;
		}
	}
	assert_true(isinf(stats_mean_interval(0, 1, &(struct stats_pool){ 1, 1 }, 0).high));
}

static void welch_of_equal_spreads_is_the_pooled_test_with_all_degrees_of_freedom(void **state)
{
	/* variances 4 and 4, n = 3: df = 4, error √(8/3) = 1.632993; t(0.975; 4) = 2.776445 */
	const double a[] = { 10, 12, 14 }, b[] = { 16, 18, 20 };
	struct stats_interval d;
	double p;

	(void)state;
	assert_true(stats_welch(a, 3, b, 3, 0.05, &d, &p));
	assert_near(d.estimate, 6, 1e-12);
	assert_near(d.low, 6 - 2.776445 * 1.632993, 5e-6);
	assert_near(d.high, 6 + 2.776445 * 1.632993, 5e-6);
	/* on 4 df P(|T| <= t) = (3u − u³)/2 with u = t/√(4 + t²) */
	double t = 6 / sqrt(8.0 / 3), u = t / sqrt(4 + t * t);

	assert_near(p, 1 - (1.5 * u - 0.5 * u * u * u), 1e-12);
}

static void welch_with_one_side_still_goes_by_the_other_alone(void **state)
{
	/* var(b)/n = 4/3 on 2 df, closed form of p: 1 − t/√(2 + t²) */
	const double a[] = { 10, 10, 10, 10 }, b[] = { 16, 18, 20 };
	double t = 8 / sqrt(4.0 / 3), p;
	struct stats_interval d;

	(void)state;
	assert_true(stats_welch(a, 4, b, 3, 0.05, &d, &p));
	assert_near(d.estimate, 8, 1e-12);
	assert_near(p, 1 - t / sqrt(2 + t * t), 1e-12);
	assert_near(d.high - 8, 4.302653 * sqrt(4.0 / 3), 5e-6);
	/* the other way round: the same with the other sign */
	assert_true(stats_welch(b, 3, a, 4, 0.05, &d, &p));
	assert_near(d.estimate, -8, 1e-12);
	assert_near(p, 1 - t / sqrt(2 + t * t), 1e-12);
}

static void welch_has_nothing_to_say_of_single_or_equal_values(void **state)
{
	const double a[] = { 10, 10 }, b[] = { 11, 11 }, c[] = { 12, 13 };
	struct stats_interval d = { 1, 2, 3 };
	double p = 4;

	(void)state;
	assert_false(stats_welch(a, 2, b, 2, 0.05, &d, &p));
	assert_false(stats_welch(a, 1, c, 2, 0.05, &d, &p));
	assert_false(stats_welch(c, 2, b, 1, 0.05, &d, &p));
	assert_near(d.estimate, 1, 0);
	assert_near(p, 4, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_is_the_middle_or_half_way_between_two),
		cmocka_unit_test(mean_and_sum_of_squares_match_a_hand_example),
		cmocka_unit_test(equal_values_have_no_spread_at_all),
		cmocka_unit_test(a_small_spread_on_a_large_value_is_not_lost),
		cmocka_unit_test(the_pooled_deviation_weighs_groups_by_their_degrees_of_freedom),
		cmocka_unit_test(t_quantiles_are_those_of_the_published_table),
		cmocka_unit_test(t_probabilities_agree_with_the_closed_forms),
		cmocka_unit_test(the_interval_of_a_mean_matches_a_hand_example),
		cmocka_unit_test(the_interval_of_a_difference_matches_a_hand_example),
		cmocka_unit_test(the_p_of_a_difference_matches_a_hand_example),
		cmocka_unit_test(without_spread_intervals_are_points_and_p_is_0_or_1),
		cmocka_unit_test(an_unknown_spread_excludes_nothing),
		cmocka_unit_test(levels_near_0_give_wide_intervals_not_crashes),
		cmocka_unit_test(
			welch_of_equal_spreads_is_the_pooled_test_with_all_degrees_of_freedom),
		cmocka_unit_test(welch_with_one_side_still_goes_by_the_other_alone),
		cmocka_unit_test(welch_has_nothing_to_say_of_single_or_equal_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
