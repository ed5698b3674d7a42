/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: power, equivalence, weights of boots, one kernel of two commits, intervals. */
#include "unit/bayes_fixture.h"

static void power_of_the_ends_is_the_textbook_one(void **state)
{
	static const double d[] = { 0.4, 1, 1.5, 2, 3, 4 }, boots[] = { 271, 43, 20, 11, 5, 3 };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(d); k++)
		assert_near(bayes_boots_needed(d[k], 0.01), boots[k], 0.9);
	assert_near(bayes_smallest_step(11, 0.01), 2, 0.05);
}

static void runs_a_boot_follow_the_prices_and_the_variances(void **state)
{
	const struct bayes_price p = { .boot = 90, .run = 10 };

	(void)state;
	/* √(90/10) · 2/3 = 2 */
	assert_int_equal(bayes_runs_per_boot(&p, 2, 3), 2);
	assert_int_equal(bayes_runs_per_boot(&p, 0, 3), 1);
	assert_int_equal(bayes_runs_per_boot(&p, 1e9, 3), 20);
	assert_int_equal(bayes_runs_per_boot(&p, 2, 0), 20);
}

/* 5 % from boot to boot, 2 % wanted: n = 2 (2.3263 · 2)²/0.4² = 270.6, as the issue has it. */
static void a_small_step_under_much_spread_is_refused_with_its_numbers(void **state)
{
	static const double e[8] = { -6, 6, -4, 4, -3, 3, -1, 1 };
	const double scale = 5 / sqrt(2 * (36 + 16 + 9 + 1) * 2 / 14.0);
	struct dag d;
	struct bayes *b = on_line(&d, 10, (struct bayes_opts){ .build_sd = 0, .effect = 0.02 });
	struct bayes_power p;
	struct bayes_step s;

	(void)state;
	for (int i = 0; i < 8; i++) {
		assert_int_equal(bayes_power(b, 0.01, &p), i >= 2);
		bayes_observe(b, 10, 0, 100 + e[i] * scale);
		bayes_observe(b, 9, 0, 100.5 + e[7 - i] * scale);
	}
	assert_true(bayes_power(b, 0.01, &p));
	assert_near(p.sd, 5, 1e-9);
	assert_near(p.effect, 2, 1e-9);
	assert_near(p.boots_needed, 271, 0);
	assert_true(p.is_blind && !p.is_equivalent);
	/* 4.6527 · 5 · √(2/8) */
	assert_near(p.smallest, 11.632, 0.001);
	/* t(0.99; 14) = 2.6245 · 5 · √(2/8) about 0.5 */
	assert_near(p.difference.low, 0.5 - 6.5612, 0.001);
	assert_near(p.difference.high, 0.5 + 6.5612, 0.001);
	/* P(T < (0.5 − 2)/2.5) on 14 degrees of freedom */
	assert_near(p.equal_p, 0.27906, 0.0001);
	bayes_next(b, &s);
	assert_int_equal(s.status, BAYES_BLIND);
	assert_int_equal(s.why, BAYES_WHY_POWER);
	bayes_free(b);
	dag_release(&d);
}

static void ends_that_are_equal_to_within_the_effect_are_no_difference(void **state)
{
	struct dag d;
	struct bayes *b = on_line(&d, 10, (struct bayes_opts){ .build_sd = 0, .effect = 0.02 });
	struct bayes_step s;
	struct bayes_power p;

	(void)state;
	/* a sure difference, of 1 %: ten times the spread, half of what matters */
	for (int i = 0; i < 6; i++) {
		bayes_observe(b, 10, 0, 100 + 0.1 * (i % 3 - 1));
		bayes_observe(b, 9, 0, 101 + 0.1 * (i % 3 - 1));
	}
	assert_true(bayes_power(b, 0.01, &p));
	assert_true(p.is_equivalent);
	bayes_next(b, &s);
	assert_int_equal(s.status, BAYES_NO_DIFFERENCE);
	assert_int_equal(s.why, BAYES_WHY_EQUIVALENT);
	bayes_free(b);
	dag_release(&d);
}

/* Seven commits, 3 and 5 one kernel: 4 and 5 cannot be it; told of either, the same is known. */
static void one_kernel_of_two_commits_is_one_build(void **state)
{
	struct dag d;
	struct bayes *b[3];
	struct bayes_levels l[3];

	(void)state;
	b[0] = on_line(&d, 7, (struct bayes_opts){ .build_sd = BAYES_AUTO });
	for (int k = 1; k < 3; k++)
		b[k] = bayes_new(&(struct bayes_opts){ .dag = &d, .build_sd = BAYES_AUTO });
	assert_int_equal(bayes_same_build(b[0], 5, 3), 0);
	assert_int_equal(bayes_same_build(b[1], 3, 5), 0);
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 4; i++) {
			bayes_observe(b[k], 7, 0, 10 + 0.3 * (i * 3 % 4));
			bayes_observe(b[k], 6, 0, 14 + 0.3 * (i * 2 % 5));
		}
		bayes_observe(b[k], k == 0 ? 5 : 3, 0, 11);
		bayes_observe(b[k], k == 1 ? 3 : 5, 0, 11.4);
	}
	/* told last, of boots that were taken for two kernels' */
	assert_int_equal(bayes_same_build(b[2], 5, 3), 0);
	for (int k = 0; k < 3; k++) {
		bayes_levels(b[k], &l[k]);
		assert_true(bayes_share(b[k], 4) == 0 && bayes_share(b[k], 5) == 0);
		assert_near(sum_of_shares(b[k], 7), 1, 1e-9);
		assert_near(bayes_share(b[k], 6), bayes_share(b[0], 6), 0.02);
		assert_near(bayes_share(b[k], 2), bayes_share(b[0], 2), 0.02);
		assert_near(l[k].sigma, l[0].sigma, 0.1 * l[0].sigma);
	}
	assert_int_equal(bayes_same_build(b[0], 8, 3), -1);
	/* both ends the same: nothing is left */
	assert_int_equal(bayes_same_build(b[0], 7, 6), 0);
	assert_near(bayes_no_culprit(b[0]), 1, 1e-9);
	for (int k = 0; k < 3; k++)
		bayes_free(b[k]);
	dag_release(&d);
}

/*
 * All variance within boots: a boot of 16 runs is worth 16 boots of one. With known luck 0 the
 * sure level of the old end then has the deviation of the mean of all runs.
 */
static void a_boot_of_many_runs_weighs_as_many(void **state)
{
	struct dag d;
	struct bayes *b = on_line(&d, 4, (struct bayes_opts){ .build_sd = 0 });
	struct bayes *one = bayes_new(&(struct bayes_opts){ .dag = &d, .build_sd = 0 });
	struct bayes_levels l, m;
	struct bayes_intervals i;

	(void)state;
	for (int k = 0; k < 8; k++) {
		double e = k % 4 < 2 ? 1 : -1;

		bayes_observe_runs(b, 4, 0, 100.1 + e, 1, NAN);
		bayes_observe_runs(b, 3, 0, 120.1 + e, 1, NAN);
		bayes_observe_runs(one, 4, 0, 100.1 + e, 1, NAN);
		bayes_observe_runs(one, 3, 0, 120.1 + e, 1, NAN);
	}
	bayes_observe_runs(b, 4, 0, 101.1, 56, 3);
	bayes_observe_runs(one, 4, 0, 101.1, 1, NAN);
	assert_int_equal(bayes_observe_runs(b, 4, 0, 101, 0, 1), -1);
	bayes_levels(b, &l);
	bayes_levels(one, &m);
	/* (8 · 100.1 + 56 · 101.1)/64 and (8 · 100.1 + 101.1)/9 */
	assert_near(l.level[0], 100.975, 0.06);
	assert_near(m.level[0], 100.211, 0.06);
	assert_true(bayes_intervals(b, 0.95, &i));
	assert_near(i.run_sd, 3, 1e-9);
	/* ± t · σ/8 */
	assert_near(i.level[0].high - i.level[0].low, 2 * 2.1 * l.sigma / 8, 0.25);
	bayes_free(b);
	bayes_free(one);
	dag_release(&d);
}

/* Levels that no doubt of states touches: t intervals of two samples with pooled deviation, 10 + 10. */
static void intervals_are_those_of_the_textbook_where_nothing_else_is_open(void **state)
{
	static const double e[10] = { -1.3, 0.4, 0.9, -0.2, 1.6, -0.7, 0.1, -1.1, 0.5, -0.2 };
	struct dag d;
	struct bayes *b = on_line(&d, 1, (struct bayes_opts){ .build_sd = 0 });
	struct bayes_intervals i;
	double ss = 0, sd, half;

	(void)state;
	for (int k = 0; k < 10; k++) {
		ss += 2 * e[k] * e[k];
		bayes_observe(b, 1, 0, 50 + e[k]);
		bayes_observe(b, 0, 0, 80 + e[9 - k]);
	}
	sd = sqrt(ss / 18);
	half = 2.1009 * sd / sqrt(10); /* t(0.975; 18) */
	assert_true(bayes_intervals(b, 0.95, &i));
	assert_near(i.level[0].low, 50 - half, 0.25 * half);
	assert_near(i.level[0].high, 50 + half, 0.25 * half);
	assert_near(i.level[1].low, 80 - half, 0.25 * half);
	assert_near(i.step.high, 30 + half * sqrt(2), 0.25 * half);
	/* χ²(0.975; 18) = 31.526, χ²(0.025; 18) = 8.231 */
	assert_near(i.boot_sd.low, sqrt(ss / 31.526), 0.12 * sd);
	assert_near(i.boot_sd.high, sqrt(ss / 8.231), 0.2 * sd);
	bayes_free(b);
	dag_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(power_of_the_ends_is_the_textbook_one),
		cmocka_unit_test(runs_a_boot_follow_the_prices_and_the_variances),
		cmocka_unit_test(a_small_step_under_much_spread_is_refused_with_its_numbers),
		cmocka_unit_test(ends_that_are_equal_to_within_the_effect_are_no_difference),
		cmocka_unit_test(one_kernel_of_two_commits_is_one_build),
		cmocka_unit_test(a_boot_of_many_runs_weighs_as_many),
		cmocka_unit_test(intervals_are_those_of_the_textbook_where_nothing_else_is_open),
	};

	return cmocka_run_group_tests_name("pick_bayes_ends", tests, NULL, NULL);
}
