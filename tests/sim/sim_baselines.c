/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of make bench-noise: its baselines and scenes are what they say they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench/noise_figures.h"

/* The figures of NOISE.md, got there by other means. */
static void the_bound_is_the_published_one(void **state)
{
	(void)state;
	assert_float_equal(baseline_capacity(0.5), 0.044, 0.0005);
	assert_float_equal(baseline_capacity(1), 0.161, 0.0005);
	assert_float_equal(baseline_capacity(2), 0.486, 0.0005);
	assert_float_equal(baseline_capacity(4), 0.913, 0.0005);
	assert_float_equal(baseline_bound(1000, 0.5, 0.95), 252, 2);
	assert_float_equal(baseline_bound(1000, 1, 0.95), 68, 0.5);
	assert_float_equal(baseline_bound(1000, 2, 0.95), 22, 0.1);
	assert_float_equal(baseline_bound(1000, 4, 0.95), 11.3, 0.05);
}

/*
 * Share of bisections of 1000 commits that end right: ten answers, on either side of a threshold
 * that is itself wrong by N(0, (1/5 + 1/5)/4); by integration over that error.
 */
static double bisect_right(double d, unsigned looks)
{
	double right = 0, step = 0.002, sd = sqrt(0.1), root = sqrt(looks);

	for (double x = -6; x < 6; x += step) {
		double old = gsl_cdf_ugaussian_P(root * (d / 2 + x * sd));
		double new = gsl_cdf_ugaussian_P(root * (d / 2 - x * sd));

		right += step * gsl_ran_ugaussian_pdf(x) * pow((old + new) / 2, log2(1000));
	}
	return right;
}

static void git_bisect_is_right_as_often_as_theory_says(void **state)
{
	static const struct {
		double d;
		unsigned looks;
	} cases[] = { { 2, 1 }, { 2, 3 }, { 3, 1 }, { 3, 3 } };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		const struct row r = {
			.c.s = { .commits = 1000, .d = cases[k].d, .confidence = 0.95 }
		};
		const struct batch b = { .who = SEARCH_BISECT,
					 .looks = cases[k].looks,
					 .row = &r,
					 .campaigns = 1000,
					 .jobs = 2,
					 .seed = 5 };
		struct outcome *o = batch_run(&b);
		double want = bisect_right(cases[k].d, cases[k].looks);
		struct figures f;

		assert_non_null(o);
		figures_get(o, b.campaigns, &f);
		assert_float_equal(f.right / 1000., want, 3.5 * sqrt(want * (1 - want) / 1000));
		/* ten boots of the ends, and nine or ten commits */
		assert_in_range(f.boots.mean, 10 + 9 * cases[k].looks, 10 + 10 * cases[k].looks);
		assert_float_equal(f.kernels.mean, 2 + (f.boots.mean - 10) / cases[k].looks, 1e-6);
		batch_release(&b, o);
	}
}

/* ∫ p^k (1 − p)^(n − k) over Beta(½, ½): p = sin² θ makes θ uniform. */
static double binomial_mean(unsigned n, unsigned k)
{
	unsigned grid = 2000;
	double sum = 0;

	for (unsigned i = 0; i < grid; i++) {
		double t = M_PI / 2 * (i + 0.5) / grid;

		sum += pow(sin(t), 2. * k) * pow(cos(t), 2. * (n - k)) / grid;
	}
	return sum;
}

/* 0 - 1 - 2, 0 - 3, and the merge 4 of 2 and 3. */
static void fork_and_merge(struct dag *d)
{
	static const uint32_t parents[5][2] = {
		{ DAG_NONE, DAG_NONE }, { 0, DAG_NONE }, { 1, DAG_NONE }, { 0, DAG_NONE }, { 2, 3 },
	};

	*d = (struct dag)DAG_INIT;
	for (uint32_t x = 0; x < 5; x++) {
		struct commit_id id = { .raw = { (uint8_t)(x + 1) } };

		dag_add(d, &id, x);
		for (int i = 0; i < 2; i++)
			if (parents[x][i] != DAG_NONE)
				dag_parent(d, x, parents[x][i]);
	}
	dag_finish(d);
	d->tip = 4;
}

static void beta_bernoulli_is_the_integral_over_both_rates(void **state)
{
	/* node, boots, above; who is new by culprit 0 … 4 */
	static const unsigned told[][3] = { { 5, 5, 1 }, { 4, 5, 4 }, { 2, 3, 2 }, { 3, 2, 1 } };
	static const bool is_new[6][5] = {
		{ 1 }, { 1, 1 }, { 1, 1, 1 }, { 1, 0, 0, 1 }, { 1, 1, 1, 1, 1 }, { 0 },
	};
	double want[5], sum = 0;
	struct betabern s;
	struct dag d;
	struct baseline b = { .dag = &d };

	(void)state;
	fork_and_merge(&d);
	betabern_open(&s, &b);
	for (size_t i = 0; i < ARRAY_SIZE(told); i++)
		betabern_tell(&s, told[i][0], told[i][1], told[i][2]);
	betabern_posterior(&s);
	for (unsigned c = 0; c < 5; c++) {
		unsigned n[2] = { 0 }, k[2] = { 0 };

		for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
			n[is_new[told[i][0]][c]] += told[i][1];
			k[is_new[told[i][0]][c]] += told[i][2];
		}
		sum += want[c] = binomial_mean(n[0], k[0]) * binomial_mean(n[1], k[1]);
	}
	for (unsigned c = 0; c < 5; c++)
		assert_float_equal(s.share[c], want[c] / sum, 1e-6);
	betabern_close(&s);
	dag_release(&d);
}

static void beta_bernoulli_claims_hold(void **state)
{
	const struct row r = {
		.c.s = { .commits = 300, .d = 3, .confidence = 0.95, .merges = 0.08 }
	};
	const struct batch b = {
		.who = SEARCH_BETABERN, .row = &r, .campaigns = 200, .jobs = 2, .seed = 5
	};
	struct outcome *o = batch_run(&b);
	struct figures f;

	(void)state;
	assert_non_null(o);
	figures_get(o, b.campaigns, &f);
	assert_true(f.found >= 190);
	assert_false(figures_too_few(f.found_right, f.found, 0.95));
	batch_release(&b, o);
}

/* Mean and variance of many boots of the old end. */
static void boots_of(const struct scene *given, double *mean, double *variance)
{
	unsigned n = 100 * SCENE_PERIOD;
	struct scene c = *given;
	double sum = 0, squares = 0;
	struct stage g;

	c.s.commits = 20;
	scene_new(&g, &c, 9);
	for (unsigned i = 0; i < n; i++) {
		double v = scene_boot(&g, g.w.dag.n, 0);

		sum += v;
		squares += v * v;
	}
	scene_release(&g);
	*mean = sum / n;
	*variance = squares / n - *mean * *mean;
}

static void scenes_have_the_noise_that_they_name(void **state)
{
	double mean, variance;

	(void)state;
	boots_of(&(struct scene){ .s = { .d = 2 } }, &mean, &variance);
	assert_float_equal(mean, 100, 0.05);
	assert_float_equal(variance, 1, 0.06);
	boots_of(&(struct scene){ .s = { .d = 2 }, .drift = 2 }, &mean, &variance);
	assert_float_equal(mean, 100, 0.05);
	assert_float_equal(variance, 1 + 2, 0.15);
	/* the median of three normal values has 0.4487 of one's variance */
	boots_of(&(struct scene){ .s = { .d = 2 }, .runs = 3, .run_sd = 2 }, &mean, &variance);
	assert_float_equal(variance, 1 + 4 * 0.4487, 0.15);
	boots_of(&(struct scene){ .s = { .d = 2 }, .before = 5000, .spread = 50 }, &mean,
		 &variance);
	assert_float_equal(mean, 5000, 2.5);
	assert_float_equal(variance, 2500, 150);
}

static void further_steps_change_all_that_follows(void **state)
{
	const struct scene c = { .s = { .commits = 300, .d = 3, .merges = 0.1 }, .steps = 2 };
	unsigned steps = 0;
	struct stage g;

	(void)state;
	scene_new(&g, &c, 4);
	for (uint32_t x = 0; x < g.w.dag.n; x++) {
		steps += g.is_step[x];
		for (uint32_t k = 0; !g.is_step[x] && k < dag_parent_count(&g.w.dag, x); k++)
			if (dag_parent_count(&g.w.dag, x) == 1)
				assert_float_equal(g.extra[x], g.extra[dag_parents(&g.w.dag, x)[k]],
						   1e-9);
	}
	assert_int_equal(steps, 3);
	assert_float_equal(g.extra[g.w.dag.n], 0, 1e-9);
	scene_release(&g);
}

static void results_do_not_depend_on_the_number_of_processes(void **state)
{
	struct row r;
	struct batch b = {
		.price = { 30, 5, 60 }, .campaigns = 15, .jobs = 1, .seed = 3, .row = &r
	};
	struct outcome *one, *three;

	(void)state;
	row_get(0, &r);
	one = batch_run(&b);
	b.jobs = 3;
	three = batch_run(&b);
	assert_non_null(one);
	assert_non_null(three);
	for (unsigned i = 0; i < b.campaigns; i++) {
		assert_int_equal(one[i].boots, three[i].boots);
		assert_int_equal(one[i].right, three[i].right);
		assert_in_range(one[i].boots, 10, 100);
	}
	batch_release(&b, one);
	batch_release(&b, three);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bound_is_the_published_one),
		cmocka_unit_test(git_bisect_is_right_as_often_as_theory_says),
		cmocka_unit_test(beta_bernoulli_is_the_integral_over_both_rates),
		cmocka_unit_test(beta_bernoulli_claims_hold),
		cmocka_unit_test(scenes_have_the_noise_that_they_name),
		cmocka_unit_test(further_steps_change_all_that_follows),
		cmocka_unit_test(results_do_not_depend_on_the_number_of_processes),
	};

	return cmocka_run_group_tests_name("sim_baselines", tests, NULL, NULL);
}
