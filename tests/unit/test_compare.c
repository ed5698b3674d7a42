/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparisons: order of boots, and statistics against values computed by other means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/str.h"
#include "campaign/compare_internal.h"
#include "core/compare.h"

static void assert_near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g", got, want);
}

static const double four[] = { 10.1, 9.9, 10.0, 10.4 };
static const double five[] = { 12.0, 12.6, 11.4, 12.2, 13.1 };

/* ---- order ---- */

static void two_kernels_are_booted_abba_and_then_from_the_other_end(void **state)
{
	static const size_t want[4][2] = { { 0, 1 }, { 1, 0 }, { 1, 0 }, { 0, 1 } };
	size_t got[2];

	(void)state;
	for (size_t round = 0; round < 4; round++) {
		compare_order(1, 2, round, got);
		assert_memory_equal(got, want[round], sizeof(got));
	}
}

static void each_round_boots_each_cell_once_and_keeps_a_setup_together(void **state)
{
	(void)state;
	for (size_t round = 0; round < 9; round++) {
		size_t got[15], seen[15] = { 0 };

		compare_order(5, 3, round, got);
		for (size_t i = 0; i < 15; i++) {
			seen[got[i]]++;
			assert_int_equal(got[i] / 3, got[i / 3 * 3] / 3);
		}
		for (size_t i = 0; i < 15; i++)
			assert_int_equal(seen[i], 1);
	}
}

/* A drift that grows with each boot must add the same to all, over each two rounds. */
static void a_linear_drift_cancels_over_two_rounds(void **state)
{
	(void)state;
	for (size_t kernels = 2; kernels < 7; kernels++)
		for (size_t pair = 0; pair < 4; pair++) {
			size_t n = 3 * kernels, got[18], sum[18] = { 0 };

			for (size_t round = 2 * pair; round < 2 * pair + 2; round++) {
				compare_order(3, kernels, round, got);
				for (size_t i = 0; i < n; i++)
					sum[got[i]] += (round % 2) * n + i;
			}
			for (size_t i = 1; i < n; i++)
				assert_int_equal(sum[i], sum[0]);
		}
}

static void each_pair_of_rounds_begins_with_another_kernel(void **state)
{
	size_t got[3];

	(void)state;
	for (size_t pair = 0; pair < 6; pair++) {
		compare_order(1, 3, 2 * pair, got);
		assert_int_equal(got[0], pair % 3);
	}
}

/* ---- numbers: python3's statistics, and t by numerical integration of its density ---- */

static void one_group_gives_the_interval_of_its_mean(void **state)
{
	const struct compare_term t = { five, 5, 1 };
	struct compare_contrast c;

	(void)state;
	compare_contrast(&t, 1, 0.05, &c);
	assert_near(c.estimate, 12.26, 1e-12);
	assert_near(c.low, 11.466888639818075, 1e-9);
	assert_near(c.high, 13.053111360181925, 1e-9);
	assert_near(c.df, 4, 1e-12);
}

static void two_groups_give_the_test_of_welch(void **state)
{
	const struct compare_term t[] = { { five, 5, 1 }, { four, 4, -1 } };
	struct compare_contrast c;

	(void)state;
	compare_contrast(t, 2, 0.05, &c);
	assert_near(c.estimate, 2.16, 1e-12);
	assert_near(c.df, 5.086911320442503, 1e-9);
	assert_near(c.p, 0.0008138133781684525, 1e-10);
	assert_near(c.low, 1.3789719393715034, 1e-8);
	assert_near(c.high, 2.941028060628497, 1e-8);
}

static void a_change_has_the_spread_of_the_reference_in_it(void **state)
{
	const struct compare_pair p = { five, four, 5, 4 };
	struct compare_contrast c;

	(void)state;
	compare_change(&p, 1, 0.05, &c);
	assert_near(c.estimate, 0.21386138613861383, 1e-12);
	assert_near(c.low, 0.13613736629710088, 1e-9);
	assert_near(c.high, 0.2915854059801268, 1e-9);
	/* of one point: that of the difference */
	assert_near(c.p, 0.0008138133781684525, 1e-10);
}

static void an_average_weighs_each_point_alike(void **state)
{
	const double ref[] = { 20, 22, 21 }, v[] = { 19, 18, 20 };
	const struct compare_pair p[] = { { five, four, 5, 4 }, { v, ref, 3, 3 } };
	struct compare_contrast c;

	(void)state;
	compare_change(p, 2, 0.05, &c);
	assert_near(c.estimate, 0.0593116454502593, 1e-12);
	assert_near(c.low, 0.004057893439033219, 1e-9);
	assert_near(c.high, 0.11456539746148538, 1e-9);
	assert_near(c.p, 0.042614601211774975, 1e-9);
}

static void a_negative_reference_does_not_turn_the_sign(void **state)
{
	const double ref[] = { -10, -10.2 }, v[] = { -8, -8.4 };
	const struct compare_pair p = { v, ref, 2, 2 };
	struct compare_contrast c;

	(void)state;
	/* -8.2 against -10.1: up by 1.9/10.1 */
	compare_change(&p, 1, 0.05, &c);
	assert_near(c.estimate, 1.9 / 10.1, 1e-12);
	assert_true(c.low < c.estimate && c.estimate < c.high);
}

static void where_nothing_varies_the_difference_is_exact(void **state)
{
	const double a[] = { 3, 3 }, b[] = { 4, 4 };
	const struct compare_pair other = { b, a, 2, 2 }, same = { a, a, 2, 2 };
	struct compare_contrast c;

	(void)state;
	compare_change(&other, 1, 0.05, &c);
	assert_near(c.low, 1.0 / 3, 1e-12);
	assert_near(c.high, 1.0 / 3, 1e-12);
	assert_near(c.p, 0, 0);
	compare_change(&same, 1, 0.05, &c);
	assert_near(c.p, 1, 0);
}

static void one_boot_has_a_mean_but_no_interval_and_no_p(void **state)
{
	const struct compare_pair p = { five, four, 1, 4 }, none = { five, four, 0, 4 };
	struct compare_contrast c;

	(void)state;
	compare_change(&p, 1, 0.05, &c);
	assert_near(c.estimate, (12.0 - 10.1) / 10.1, 1e-12);
	assert_true(isinf(c.low) && isinf(c.high) && isnan(c.p));
	compare_change(&none, 1, 0.05, &c);
	assert_true(isnan(c.estimate) && isnan(c.p));
}

static void a_reference_of_zero_has_no_change(void **state)
{
	const double zero[] = { 1, -1 };
	const struct compare_pair p = { five, zero, 5, 2 };
	struct compare_contrast c;

	(void)state;
	compare_change(&p, 1, 0.05, &c);
	assert_true(isnan(c.estimate) && isnan(c.p));
}

static void holm_multiplies_by_what_is_left_and_never_goes_down(void **state)
{
	/* by hand: .005·4, .01·3, .03·2, max(.04·1, .06); NAN does not count */
	double p[] = { 0.01, 0.04, NAN, 0.03, 0.005 };

	(void)state;
	assert_int_equal(compare_holm(p, 5), 4);
	assert_near(p[0], 0.03, 1e-12);
	assert_near(p[1], 0.06, 1e-12);
	assert_true(isnan(p[2]));
	assert_near(p[3], 0.06, 1e-12);
	assert_near(p[4], 0.02, 1e-12);
	p[0] = 0.7;
	p[1] = 0.6;
	compare_holm(p, 2);
	assert_near(p[0], 1, 0);
	assert_near(p[1], 1, 0);
}

/*
 * @n values of which the last is the farthest, with G = @g: n − 1 values of mean 0 and sum of
 * squares 1 (±a pairs), and one at x, so that x·(n−1)/n / sd = g.
 */
static void with_g(size_t n, double g, double *v)
{
	double lo = 0, hi = 1e6, mean, ss, a = sqrt(1.0 / (double)((n - 1) / 2 * 2));

	for (size_t i = 0; i + 1 < n; i++)
		v[i] = i + 2 == n && (n - 1) % 2 ? 0 : i % 2 ? a : -a;
	for (int step = 0; step < 200; step++) {
		v[n - 1] = (lo + hi) / 2;
		mean = v[n - 1] / (double)n;
		ss = 0;
		for (size_t i = 0; i < n; i++)
			ss += (v[i] - mean) * (v[i] - mean);
		if ((v[n - 1] - mean) / sqrt(ss / (double)(n - 1)) < g)
			lo = v[n - 1];
		else
			hi = v[n - 1];
	}
}

static void outliers_are_those_of_the_published_table(void **state)
{
	/* two-sided 5 % (2.5 % one-sided): Grubbs and Beck, Technometrics 14 (1972), table 1 */
	static const struct {
		size_t n;
		double g;
	} table[] = { { 4, 1.481 }, { 5, 1.715 },  { 6, 1.887 },
		      { 8, 2.126 }, { 10, 2.290 }, { 20, 2.709 } };
	double v[20];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		with_g(table[i].n, table[i].g + 0.002, v);
		assert_int_equal(compare_outlier(v, table[i].n, 0.05, 0), table[i].n - 1);
		with_g(table[i].n, table[i].g - 0.002, v);
		assert_int_equal(compare_outlier(v, table[i].n, 0.05, 0), table[i].n);
	}
}

static void what_is_near_enough_is_no_outlier(void **state)
{
	const double v[] = { 100, 100, 100, 101 }, few[] = { 1, 9 };

	(void)state;
	assert_int_equal(compare_outlier(v, 4, 0.05, 0.005), 3);
	assert_int_equal(compare_outlier(v, 4, 0.05, 0.02), 4);
	assert_int_equal(compare_outlier(few, 2, 0.05, 0), 2);
	assert_int_equal(compare_outlier(v, 3, 0.05, 0), 3); /* all the same */
}

/* ---- the place of a sweep's value ---- */

static void assert_placed(const char *args, const char *want)
{
	_cleanup_strv_ struct strv words = STRV_INIT, got = STRV_INIT;
	_cleanup_str_ struct str text = STR_INIT;

	assert_int_equal(str_split_words(args, &words, NULL), 0);
	compare_place(&words, "interval", "400", &got);
	str_join_words(&text, got.v);
	assert_string_equal(str_text(&text), want);
}

static void a_value_stands_in_braces_else_after_its_option_else_last(void **state)
{
	(void)state;
	assert_placed("", "--interval 400");
	assert_placed("--pages 64", "--pages 64 --interval 400");
	assert_placed("--interval 1 --pages 64", "--interval 400 --pages 64");
	assert_placed("--interval=1 x", "--interval=400 x");
	assert_placed("--interval", "--interval 400");
	assert_placed("a{interval}b{interval} --interval 1", "a400b400 --interval 1");
	assert_placed("{intervals} --intervals 1", "'{intervals}' --intervals 1 --interval 400");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_kernels_are_booted_abba_and_then_from_the_other_end),
		cmocka_unit_test(each_round_boots_each_cell_once_and_keeps_a_setup_together),
		cmocka_unit_test(a_linear_drift_cancels_over_two_rounds),
		cmocka_unit_test(each_pair_of_rounds_begins_with_another_kernel),
		cmocka_unit_test(one_group_gives_the_interval_of_its_mean),
		cmocka_unit_test(two_groups_give_the_test_of_welch),
		cmocka_unit_test(a_change_has_the_spread_of_the_reference_in_it),
		cmocka_unit_test(an_average_weighs_each_point_alike),
		cmocka_unit_test(a_negative_reference_does_not_turn_the_sign),
		cmocka_unit_test(where_nothing_varies_the_difference_is_exact),
		cmocka_unit_test(one_boot_has_a_mean_but_no_interval_and_no_p),
		cmocka_unit_test(a_reference_of_zero_has_no_change),
		cmocka_unit_test(holm_multiplies_by_what_is_left_and_never_goes_down),
		cmocka_unit_test(outliers_are_those_of_the_published_table),
		cmocka_unit_test(what_is_near_enough_is_no_outlier),
		cmocka_unit_test(a_value_stands_in_braces_else_after_its_option_else_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
