/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: data of every kind: counts, negative, without noise, drifting; very long histories. */
#include "unit/bayes_fixture.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>

/* Ends and some commits of a line of 8 with the step at 4: (a + b·value). */
static struct bayes *tell_scaled(const struct dag *d, double a, double b, double build_sd)
{
	static const double e[12] = { -0.61, 0.27, 1.13, -0.34, 0.05, -1.21,
				      0.72,  0.44, -0.9, 0.31,  -0.2, 0.6 };
	static const uint32_t node[12] = { 8, 7, 8, 7, 8, 7, 3, 4, 1, 4, 3, 5 };
	struct bayes *s = bayes_new(&(struct bayes_opts){ .dag = d, .build_sd = build_sd });

	for (int i = 0; i < 12; i++) {
		double v = (node[i] >= 4 && node[i] < 8) * 2.5 + e[i];

		assert_int_equal(bayes_observe(s, node[i], 0, a + b * v), 0);
	}
	return s;
}

/* The unit of the metric, its zero and its sign are nobody's business. */
static void shares_do_not_depend_on_unit_zero_and_sign(void **state)
{
	static const double scale[][2] = {
		{ 0, 1000 }, { -50, 1 }, { 7, -1 }, { 0, -1e-9 }, { 1e6, 3 }
	};
	struct dag d;

	(void)state;
	make_dag(&d, 8, NULL);
	for (int k = 0; k < 2; k++) {
		struct bayes *plain = tell_scaled(&d, 0, 1, k ? BAYES_AUTO : 0);

		assert_true(bayes_share(plain, 4) > 0.2);
		for (size_t i = 0; i < ARRAY_SIZE(scale); i++) {
			struct bayes *b = tell_scaled(&d, scale[i][0], scale[i][1],
						      k ? BAYES_AUTO : 0);

			for (uint32_t x = 0; x < 8; x++)
				assert_near(bayes_share(b, x), bayes_share(plain, x), 5e-3);
			bayes_free(b);
		}
		bayes_free(plain);
	}
	dag_release(&d);
}

/*
 * Small counts that repeat themselves by chance: 0 and 1 with an error in ten, told as values. Were
 * they taken for exact, the first error would blame for certain.
 */
static void small_counts_that_repeat_are_not_taken_for_exact(void **state)
{
	struct dag d;
	struct bayes *b = on_line(&d, 16, (struct bayes_opts){ .build_sd = 0 });
	struct bayes_step s;

	(void)state;
	for (int i = 0; i < 3; i++) {
		bayes_observe(b, 16, 0, 0);
		bayes_observe(b, 15, 0, 1);
	}
	bayes_observe(b, 7, 0, 1); /* an error: the step is at 12 */
	bayes_observe(b, 3, 0, 0);
	bayes_observe(b, 5, 0, 0);
	bayes_observe(b, 6, 0, 0);
	assert_true(bayes_share(b, 7) < 0.99);
	assert_true(sum_of_shares(b, 16) > 1 - 1e-6);
	for (int i = 0; i < 4; i++)
		bayes_observe(b, 7, 0, 0);
	assert_true(bayes_share(b, 7) < 0.05);
	bayes_next(b, &s);
	assert_true(s.action && s.node > 7);
	bayes_free(b);
	dag_release(&d);
}

/* Counts of events that are many: Poisson, 900 and 1100. */
static void large_counts_are_values(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	struct dag d;
	struct bayes *b = on_line(&d, 100, (struct bayes_opts){ .build_sd = 0, .effect = 0.02 });
	struct bayes_step s;
	unsigned boots = 0;

	(void)state;
	for (bayes_next(b, &s); s.action && boots < 200; bayes_next(b, &s), boots++)
		bayes_observe(b, s.node, s.layout,
			      gsl_ran_poisson(rng, s.node >= 70 && s.node < 100 ? 1100 : 900));
	assert_int_equal(s.status, BAYES_FOUND);
	assert_true(bayes_share(b, 70) > 0.95);
	gsl_rng_free(rng);
	bayes_free(b);
	dag_release(&d);
}

/* deterministic: a difference is one when it exceeds the effect, 2 %; one boot a commit. */
static void without_variance_a_difference_is_one_beyond_the_effect(void **state)
{
	static const struct {
		double old, new;
		enum bayes_status status;
	} cases[] = {
		{ 1000, 1019.9, BAYES_NO_DIFFERENCE },
		{ 1000, 1020.1, BAYES_FOUND },
		{ 1000, 979.9, BAYES_FOUND },
		{ 1000, 980.1, BAYES_NO_DIFFERENCE },
		{ -1000, -1021, BAYES_FOUND },
		{ -1000, -1019, BAYES_NO_DIFFERENCE },
		{ 0, 1e-6, BAYES_FOUND },
		{ 0, 0, BAYES_NO_DIFFERENCE },
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		struct dag d;
		struct bayes *b = on_line(
			&d, 64, (struct bayes_opts){ .deterministic = true, .effect = 0.02 });
		struct bayes_step s;
		unsigned boots = 0;

		for (bayes_next(b, &s); s.action && boots < 100; bayes_next(b, &s), boots++)
			bayes_observe(b, s.node, s.layout,
				      s.node >= 41 && s.node < 64 ? cases[k].new : cases[k].old);
		assert_int_equal(s.status, cases[k].status);
		/* both ends; log2(64) more where there is something to find */
		assert_int_equal(boots, s.status == BAYES_FOUND ? 8 : 2);
		if (s.status == BAYES_FOUND)
			assert_near(bayes_share(b, 41), 1, 1e-9);
		bayes_free(b);
		dag_release(&d);
	}
}

/* A metric that is 0 has no relative effect: no refusal, no equivalence; the posterior decides. */
static void a_metric_that_is_zero_is_searched_like_any_other(void **state)
{
	static const double e[4] = { 0.31, -0.2, -0.31, 0.2 };
	struct dag d;
	struct bayes *b = on_line(&d, 32, (struct bayes_opts){ .build_sd = 0, .effect = 0.02 });
	struct bayes_step s;
	unsigned k = 0;

	(void)state;
	for (bayes_next(b, &s); s.action && k < 200; bayes_next(b, &s), k++)
		bayes_observe(b, s.node, s.layout, e[k % 4] + (s.node >= 9 && s.node < 32) * 3);
	assert_int_equal(s.status, BAYES_FOUND);
	assert_true(bayes_share(b, 9) > 0.95);
	bayes_free(b);
	dag_release(&d);
}

/* Both ends in turn, 30 boots each: the machine gains 3 σ in a straight line, the step is 5 σ. */
static void a_straight_drift_is_seen_and_taken_out(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);

	(void)state;
	for (int drifts = 0; drifts < 2; drifts++) {
		struct dag d;
		struct bayes *b = on_line(&d, 4, (struct bayes_opts){ .build_sd = 0 });
		struct bayes_intervals i;
		struct bayes_levels l;

		gsl_rng_set(rng, 5);
		for (int k = 0; k < 60; k++)
			bayes_observe(b, k % 2 ? 3 : 4, 0,
				      100 + k % 2 * 5 + drifts * 3 * k / 59.0 +
					      gsl_ran_gaussian(rng, 1));
		assert_true(bayes_intervals(b, 0.95, &i) && bayes_levels(b, &l));
		if (drifts) {
			assert_true(i.drifting > 0.95);
			assert_near(i.drift, 3, 1);
		} else {
			assert_true(i.drifting < 0.3);
			assert_near(i.drift, 0, 0);
		}
		assert_near(l.level[1] - l.level[0], 5, 0.7);
		/* with the drift in it: √(1 + 9/12) = 1.32 */
		assert_near(l.sigma, 1, 0.2);
		bayes_free(b);
		dag_release(&d);
	}
	gsl_rng_free(rng);
}

#define ENDS 24
#define IN_A_ROW 24
#define BOOTS (ENDS + IN_A_ROW)

/*
 * Log marginal likelihood of @y by generalised least squares with the whole covariance I + q·XX' (σ² and both
 * levels integrated out under flat priors), where boots from ENDS on are in @state.
 */
static double joint_evidence(const double y[BOOTS], int state, double size)
{
	gsl_matrix *v = gsl_matrix_alloc(BOOTS, BOOTS), *zt = gsl_matrix_calloc(3, BOOTS);
	gsl_matrix *m = gsl_matrix_alloc(3, 3);
	double log_det = 0, rest, a, b, c, det;

	for (int i = 0; i < BOOTS; i++) {
		for (int j = 0; j < BOOTS; j++) {
			double sum = i == j, step = (BOOTS - 1) / 8.0;

			for (int k = 0; k < 8; k++)
				sum += size * size / 8 * fmin(1, fmax(0, (i - k * step) / step)) *
				       fmin(1, fmax(0, (j - k * step) / step));
			gsl_matrix_set(v, (size_t)i, (size_t)j, sum);
		}
		gsl_matrix_set(zt, i < ENDS ? i % 2 : state, (size_t)i, 1);
		gsl_matrix_set(zt, 2, (size_t)i, y[i]);
	}
	gsl_linalg_cholesky_decomp1(v);
	for (size_t i = 0; i < BOOTS; i++)
		log_det += 2 * log(gsl_matrix_get(v, i, i));
	/* of levels and values, whitened */
	gsl_blas_dtrsm(CblasRight, CblasLower, CblasTrans, CblasNonUnit, 1, v, zt);
	gsl_blas_dgemm(CblasNoTrans, CblasTrans, 1, zt, zt, 0, m);
	a = gsl_matrix_get(m, 0, 0), b = gsl_matrix_get(m, 0, 1), c = gsl_matrix_get(m, 1, 1);
	det = a * c - b * b;
	rest = gsl_matrix_get(m, 2, 2) -
	       (c * pow(gsl_matrix_get(m, 0, 2), 2) -
		2 * b * gsl_matrix_get(m, 0, 2) * gsl_matrix_get(m, 1, 2) +
		a * pow(gsl_matrix_get(m, 1, 2), 2)) /
		       det;
	gsl_matrix_free(v);
	gsl_matrix_free(zt);
	gsl_matrix_free(m);
	return -log_det / 2 - log(det) / 2 - (BOOTS - 2) / 2.0 * log(rest);
}

/*
 * A commit booted many times in a row, while the machine drifts: what the drift is then thought to be is off by
 * the same for all of these boots, so that they do not add up to certainty.
 */
static void boots_in_a_row_share_what_the_drift_is_off_by(void **state)
{
	static const double sizes[] = { 0, 0.5, 1, 2 }, prior[] = { 0.85, 0.05, 0.05, 0.05 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);

	(void)state;
	for (unsigned long seed = 1; seed <= 6; seed++) {
		struct dag d;
		struct bayes *b = on_line(&d, 4, (struct bayes_opts){ .build_sd = 0 });
		double y[BOOTS], p[2] = { 0, 0 }, most = -INFINITY, got, want;

		gsl_rng_set(rng, seed);
		for (int k = 0; k < BOOTS; k++) {
			y[k] = 100 + 5.0 * k / BOOTS + gsl_ran_gaussian(rng, 1) +
			       (k < ENDS ? k % 2 * 3 : 0.2 * (double)seed);
			bayes_observe(b, k >= ENDS ? 1 : k % 2 ? 3 : 4, 0, y[k]);
		}
		for (int s = 0; s < 2; s++)
			for (int q = 0; q < 4; q++)
				most = fmax(most, joint_evidence(y, s, sizes[q]));
		for (int s = 0; s < 2; s++)
			for (int q = 0; q < 4; q++)
				p[s] += prior[q] * exp(joint_evidence(y, s, sizes[q]) - most);
		/* estimated by steps, the odds are up to 2.6 times as high in logarithms; 3.6 to 7 with each boot on its own */
		got = log(bayes_new_state(b, 1) / (1 - bayes_new_state(b, 1)));
		want = log(p[1] / p[0]);
		if (!(got / want > 0.5 && got / want < 3))
			fail_msg("seed %lu: log odds %g, of the whole covariance %g", seed, got,
				 want);
		bayes_free(b);
		dag_release(&d);
	}
	gsl_rng_free(rng);
}

/* Long after both ends were booted last, one of them is asked for again. */
static void the_ends_are_looked_at_again_now_and_then(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	struct dag d;
	struct bayes *b = on_line(&d, 3000, (struct bayes_opts){ .build_sd = 0 });
	struct bayes_step s;
	unsigned since = 0, most = 0, asked = 0, k = 0;

	(void)state;
	for (bayes_next(b, &s); s.action && k < 400; bayes_next(b, &s), k++) {
		bool end = s.node == 3000 || s.node == 2999;

		since = end ? 0 : since + 1;
		most = since > most ? since : most;
		asked += s.why == BAYES_WHY_DRIFT;
		assert_true(s.why != BAYES_WHY_DRIFT || end);
		bayes_observe(b, s.node, s.layout,
			      (s.node >= 1234 && s.node < 3000) * 1.6 + gsl_ran_gaussian(rng, 1));
	}
	assert_true(asked > 0 && most <= 15);
	gsl_rng_free(rng);
	bayes_free(b);
	dag_release(&d);
}

static void every_step_says_why(void **state)
{
	struct dag d;
	struct bayes *b = on_line(&d, 40, (struct bayes_opts){ .build_sd = 0, .max_boots = 9 });
	struct bayes_step s;
	unsigned k = 0;

	(void)state;
	for (bayes_next(b, &s); s.action && k < 50; bayes_next(b, &s), k++) {
		if (k < 4)
			assert_int_equal(s.why, BAYES_WHY_ENDS_FIRST);
		if (s.action == BAYES_COMMIT && k > 4)
			assert_int_equal(s.why, BAYES_WHY_MIDDLE);
		assert_true(s.why != BAYES_WHY_UNSET);
		bayes_observe(b, s.node, 0, (s.node >= 20 && s.node < 40) * 4 + k * 7 % 5 * 0.4);
	}
	assert_int_equal(k, 9);
	assert_int_equal(s.status, BAYES_LIST);
	assert_int_equal(s.why, BAYES_WHY_BUDGET);
	bayes_free(b);
	dag_release(&d);
}

static void one_and_four_tenths_million_commits_can_be_searched(void **state)
{
	const uint32_t n = 1400000, culprit = 987654;
	struct dag d;
	struct bayes *b = on_line(&d, n, (struct bayes_opts){ .deterministic = true });
	struct bayes_step s;
	unsigned boots = 0;

	(void)state;
	for (bayes_next(b, &s); s.action && boots < 100; bayes_next(b, &s), boots++)
		bayes_observe(b, s.node, s.layout, s.node >= culprit && s.node < n ? 2 : 1);
	assert_int_equal(s.status, BAYES_FOUND);
	assert_near(bayes_share(b, culprit), 1, 1e-9);
	/* log2(1.4 million) = 20.4, and the ends */
	assert_true(boots <= 23);
	bayes_free(b);
	dag_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_do_not_depend_on_unit_zero_and_sign),
		cmocka_unit_test(small_counts_that_repeat_are_not_taken_for_exact),
		cmocka_unit_test(large_counts_are_values),
		cmocka_unit_test(without_variance_a_difference_is_one_beyond_the_effect),
		cmocka_unit_test(a_metric_that_is_zero_is_searched_like_any_other),
		cmocka_unit_test(a_straight_drift_is_seen_and_taken_out),
		cmocka_unit_test(boots_in_a_row_share_what_the_drift_is_off_by),
		cmocka_unit_test(the_ends_are_looked_at_again_now_and_then),
		cmocka_unit_test(every_step_says_why),
		cmocka_unit_test(one_and_four_tenths_million_commits_can_be_searched),
	};

	return cmocka_run_group_tests_name("pick_bayes_data", tests, NULL, NULL);
}
