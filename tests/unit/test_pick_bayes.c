/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: cases worked by hand, bad input, prices, speed. */
#include "unit/bayes_fixture.h"

/* Answer every step with @good up to @culprit − 1 and @bad from it; returns the boots. */
static unsigned answer(struct bayes *b, uint32_t n, uint32_t culprit, double good, double bad,
		       struct bayes_step *s)
{
	unsigned boots = 0;

	for (bayes_next(b, s); s->action && boots < 1000; bayes_next(b, s), boots++)
		assert_int_equal(bayes_observe(b, s->node, s->layout,
					       s->node < n && s->node >= culprit ? bad : good),
				 0);
	return boots;
}

static void without_noise_one_boot_of_each_commit_halves_the_history(void **state)
{
	static const double values[][2] = { { 10, 20 }, { 0, 1 }, { -5, -16 }, { 0, -1e-9 } };

	(void)state;
	for (size_t v = 0; v < ARRAY_SIZE(values); v++)
		for (uint32_t culprit = 0; culprit < 16; culprit++) {
			struct dag d;
			struct bayes *b = on_line(&d, 16,
						  (struct bayes_opts){ .build_sd = BAYES_AUTO,
								       .deterministic = v % 2 });
			struct bayes_step s;
			unsigned boots = answer(b, 16, culprit, values[v][0], values[v][1], &s);

			assert_int_equal(s.status, BAYES_FOUND);
			assert_near(bayes_share(b, culprit), 1, 1e-9);
			/* log2(16), and the ends: 3 boots each, or one where it is said to be exact */
			assert_true(boots <= 4u + (v % 2 ? 2 : 6));
			bayes_free(b);
			dag_release(&d);
		}
}

static void constant_data_are_no_difference(void **state)
{
	(void)state;
	for (int exact = 0; exact < 2; exact++) {
		struct dag d;
		struct bayes *b = on_line(&d, 100, (struct bayes_opts){ .deterministic = exact });
		struct bayes_step s;

		assert_true(answer(b, 100, 100, 7, 7, &s) <= 6);
		assert_int_equal(s.status, BAYES_NO_DIFFERENCE);
		assert_true(bayes_no_culprit(b) > 0.99);
		bayes_free(b);
		dag_release(&d);
	}
}

static void one_commit_is_the_culprit_when_the_ends_differ(void **state)
{
	struct dag d;
	struct bayes *b = on_line(&d, 1, (struct bayes_opts){ .build_sd = 0 });
	struct bayes_step s;
	unsigned k = 0;

	(void)state;
	for (bayes_next(b, &s); s.action && k < 100; bayes_next(b, &s), k++)
		bayes_observe(b, s.node, 0, (s.node == 0 ? 9 : 5) + (k % 3) * 0.1);
	assert_int_equal(s.status, BAYES_FOUND);
	assert_true(bayes_share(b, 0) > 0.95);
	bayes_free(b);
	dag_release(&d);
}

static void what_is_no_number_or_no_commit_is_refused_and_changes_nothing(void **state)
{
	struct dag d;
	struct bayes *b = on_line(&d, 10, (struct bayes_opts){ .build_sd = 0 });
	struct bayes *pass = bayes_new(&(struct bayes_opts){ .dag = &d, .metric = BAYES_PASS });
	struct bayes_step before, after;

	(void)state;
	bayes_observe(b, 10, 0, 1);
	bayes_next(b, &before);
	assert_int_equal(bayes_observe(b, 9, 0, NAN), -1);
	assert_int_equal(bayes_observe(b, 9, 0, INFINITY), -1);
	assert_int_equal(bayes_observe(b, 11, 0, 1), -1);
	assert_int_equal(bayes_skip(b, 10, 0), -1);
	assert_int_equal(bayes_observe(pass, 9, 0, 0.5), -1);
	bayes_next(b, &after);
	assert_memory_equal(&before, &after, sizeof(after));
	bayes_free(b);
	bayes_free(pass);
	dag_release(&d);
}

static void data_that_contradict_themselves_blame_nobody(void **state)
{
	(void)state;
	for (int exact = 0; exact < 2; exact++) {
		struct dag d;
		struct bayes *b = on_line(&d, 10, (struct bayes_opts){ .deterministic = exact });

		for (int i = 0; i < 4; i++) {
			double e = exact ? 0 : i * 0.2;

			bayes_observe(b, 10, 0, 0 + e);
			bayes_observe(b, 9, 0, 10 + e);
			bayes_observe(b, 3, 0, 10 - e);
			bayes_observe(b, 6, 0, 0.5 * e);
		}
		assert_near(sum_of_shares(b, 10), 1, 1e-9);
		/* new from 0 … 3 on, or from 7 … 9: both leave one commit unexplained */
		for (uint32_t x = 0; x < 10; x++)
			assert_true(bayes_share(b, x) < 0.5);
		assert_true(bayes_share(b, 2) > bayes_share(b, 5));
		bayes_free(b);
		dag_release(&d);
	}
}

static void extreme_and_single_values_leave_shares_that_sum_to_one(void **state)
{
	static const double values[][2] = { { 1e9, 1e9 + 1 },
					    { -1e150, 1e150 },
					    { 1e-300, 2e-300 },
					    { 5, 5 + 1e-15 * 5 },
					    { 0, -0.0 } };

	(void)state;
	for (size_t v = 0; v < ARRAY_SIZE(values); v++)
		for (int noisy = 0; noisy < 2; noisy++) {
			struct dag d;
			struct bayes *b = on_line(
				&d, 10,
				(struct bayes_opts){ .build_sd = BAYES_AUTO, .end_boots = 1 });
			struct bayes_step s;
			unsigned k = 0;

			for (bayes_next(b, &s); s.action && k < 60; bayes_next(b, &s), k++) {
				double a = values[v][s.node < 10 && s.node > 4];

				if (noisy)
					a *= 1 + 1e-3 * (k * 7 % 5);
				if (fabs(a) <= 1e150)
					assert_int_equal(bayes_observe(b, s.node, s.layout, a), 0);
				assert_near(sum_of_shares(b, 10), 1, 1e-6);
			}
			bayes_free(b);
			dag_release(&d);
		}
}

static void where_no_commit_may_be_it_there_is_no_culprit(void **state)
{
	const double prior[5] = { 0 };
	struct dag d;
	struct bayes *b = on_line(&d, 5, (struct bayes_opts){ .build_sd = 0, .prior = prior });
	struct bayes_step s;

	(void)state;
	for (int i = 0; i < 4; i++) {
		bayes_observe(b, 5, 0, i);
		bayes_observe(b, 4, 0, 10 + i);
	}
	assert_near(bayes_no_culprit(b), 1, 1e-12);
	bayes_next(b, &s);
	assert_int_equal(s.action, BAYES_STOP);
	bayes_free(b);
	dag_release(&d);
}

static void where_all_is_skipped_the_list_is_all(void **state)
{
	struct dag d;
	struct bayes *b = on_line(&d, 10, (struct bayes_opts){ .build_sd = 0 });
	struct bayes_candidate *list;
	struct bayes_step s;
	unsigned k = 0;

	(void)state;
	for (bayes_next(b, &s); s.action && k < 1000; bayes_next(b, &s), k++)
		if (s.node == 9 || s.node == 10)
			bayes_observe(b, s.node, s.layout, (s.node == 9) * 8 + (k * 7 % 5) * 0.3);
		else
			bayes_skip(b, s.node, 1);
	assert_int_equal(s.status, BAYES_LIST);
	assert_int_equal(bayes_credible(b, 0.999, &list), 10);
	free(list);
	bayes_free(b);
	dag_release(&d);
}

static void skips_tell_nothing_of_the_culprit(void **state)
{
	struct dag d;
	struct bayes *b = on_line(&d, 10, (struct bayes_opts){ .build_sd = 0 });
	double before;

	(void)state;
	for (int i = 0; i < 5; i++) {
		bayes_observe(b, 10, 0, i * 0.5);
		bayes_observe(b, 9, 0, 9 + i * 0.4);
	}
	bayes_observe(b, 4, 0, 0.7);
	before = bayes_share(b, 6);
	bayes_skip(b, 6, 3);
	assert_true(bayes_share(b, 6) == before);
	bayes_free(b);
	dag_release(&d);
}

static void the_state_is_one_of_what_was_told_not_of_what_was_asked(void **state)
{
	struct dag d;
	struct bayes *asked = on_line(&d, 50, (struct bayes_opts){ .build_sd = BAYES_AUTO });
	struct bayes *told = bayes_new(&(struct bayes_opts){ .dag = &d, .build_sd = BAYES_AUTO });
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	struct bayes_step s, t;

	(void)state;
	for (bayes_next(asked, &s); s.action; bayes_next(asked, &s)) {
		double v = (s.node < 50 && s.node >= 17) * 3 + gsl_ran_gaussian(rng, 1);

		bayes_observe(asked, s.node, s.layout, v);
		bayes_observe(told, s.node, s.layout, v);
	}
	bayes_next(told, &t);
	assert_memory_equal(&s, &t, sizeof(s));
	for (uint32_t x = 0; x < 50; x++)
		assert_true(bayes_share(asked, x) == bayes_share(told, x));
	gsl_rng_free(rng);
	bayes_free(asked);
	bayes_free(told);
	dag_release(&d);
}

static void a_commit_without_prior_is_never_blamed(void **state)
{
	struct dag d;
	double prior[20];
	struct bayes *b;
	struct bayes_step s;

	(void)state;
	for (int x = 0; x < 20; x++)
		prior[x] = x == 12 ? 0 : 1;
	b = on_line(&d, 20, (struct bayes_opts){ .deterministic = true, .prior = prior });
	answer(b, 20, 12, 1, 2, &s);
	assert_true(bayes_share(b, 12) == 0);
	bayes_free(b);
	dag_release(&d);
}

static void a_cached_kernel_is_preferred_where_builds_cost(void **state)
{
	struct dag d;
	bool cached[101] = { false };
	struct bayes *b;
	struct bayes_step s;

	(void)state;
	cached[20] = true;
	b = on_line(
		&d, 100,
		(struct bayes_opts){ .build_sd = 0, .cached = cached, .price = { 3000, 1, 1 } });
	for (int i = 0; i < 6; i++) {
		bayes_observe(b, 100, 0, i % 3);
		bayes_observe(b, 99, 0, 9 + i % 3);
	}
	bayes_next(b, &s);
	assert_int_equal(s.action, BAYES_COMMIT);
	assert_int_equal(s.node, 20);
	bayes_free(b);
	cached[20] = false;
	b = bayes_new(&(struct bayes_opts){ .dag = &d, .cached = cached });
	for (int i = 0; i < 6; i++) {
		bayes_observe(b, 100, 0, i % 3);
		bayes_observe(b, 99, 0, 9 + i % 3);
	}
	bayes_next(b, &s);
	assert_int_equal(s.node, 49);
	bayes_free(b);
	dag_release(&d);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void a_step_among_100000_commits_is_quick(void **state)
{
	static const uint32_t sizes[] = { 15000, 100000 };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
		struct dag d;
		struct bayes *b = on_line(&d, sizes[k],
					  (struct bayes_opts){ .build_sd = BAYES_AUTO });
		gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
		double sum = 0, worst = 0;
		unsigned boots = 0;

		for (;; boots++) {
			double took = cpu_seconds();
			struct bayes_step s;

			bayes_next(b, &s);
			if (s.action)
				bayes_observe(b, s.node, s.layout,
					      (s.node < d.n && s.node > d.n / 3) * 2 +
						      gsl_ran_gaussian(rng, 1));
			took = cpu_seconds() - took;
			sum += took;
			worst = fmax(worst, took);
			if (!s.action)
				break;
		}
		print_message("# %u commits, %u boots: a step takes %.1f ms, at most %.1f ms\n",
			      sizes[k], boots, 1e3 * sum / boots, 1e3 * worst);
		/* many times what it takes, for slow machines and sanitizers */
		assert_true(sum / boots < 1);
		gsl_rng_free(rng);
		bayes_free(b);
		dag_release(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_noise_one_boot_of_each_commit_halves_the_history),
		cmocka_unit_test(constant_data_are_no_difference),
		cmocka_unit_test(one_commit_is_the_culprit_when_the_ends_differ),
		cmocka_unit_test(what_is_no_number_or_no_commit_is_refused_and_changes_nothing),
		cmocka_unit_test(data_that_contradict_themselves_blame_nobody),
		cmocka_unit_test(extreme_and_single_values_leave_shares_that_sum_to_one),
		cmocka_unit_test(where_no_commit_may_be_it_there_is_no_culprit),
		cmocka_unit_test(where_all_is_skipped_the_list_is_all),
		cmocka_unit_test(skips_tell_nothing_of_the_culprit),
		cmocka_unit_test(the_state_is_one_of_what_was_told_not_of_what_was_asked),
		cmocka_unit_test(a_commit_without_prior_is_never_blamed),
		cmocka_unit_test(a_cached_kernel_is_preferred_where_builds_cost),
		cmocka_unit_test(a_step_among_100000_commits_is_quick),
	};

	return cmocka_run_group_tests_name("pick_bayes", tests, NULL, NULL);
}
