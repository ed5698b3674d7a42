/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The posterior of search = bayes against numerical integration written here. */
#include "unit/bayes_fixture.h"

#define LEVELS 61
#define SIGMAS 41
#define LUCKS 61
#define NODES 8
#define LUCK_PRIOR_MEAN 0.5

struct data {
	uint32_t n; /* commits of the history */
	const struct dag *dag;
	double value[NODES + 1][8]; /* by node, the old end last; one build each */
	unsigned boots[NODES + 1];
};

static double noise(double e, double sigma)
{
	double z = e / sigma;

	return (0.98 * exp(-z * z / 2) / sqrt(2 * M_PI) +
		0.02 / 7 / ((1 + fabs(z) / 3.5) * (1 + fabs(z) / 3.5))) /
	       sigma;
}

/* Density of all boots of one build at a level: its luck summed over. */
static double build_density(const double *v, unsigned n, double level, double sigma, double luck)
{
	double sum = 0, norm = 0;

	for (int k = 0; k < LUCKS; k++) {
		double u = luck > 0 ? -4.5 + 9.0 * k / (LUCKS - 1) : 0, f = exp(-u * u / 2);

		norm += f;
		for (unsigned i = 0; i < n; i++)
			f *= noise(v[i] - level - u * luck, sigma);
		sum += f;
	}
	return sum / norm;
}

static double prior_of_step(double step, double sigma, double luck)
{
	double s = 1.5 * sqrt(sigma * sigma + luck * luck), d = step / s;

	return 2 / M_PI * d * d / ((1 + d * d) * (1 + d * d)) / s;
}

static bool is_ancestor(const struct dag *d, uint32_t a, uint32_t x)
{
	if (a == x)
		return true;
	for (uint32_t k = 0; k < dag_parent_count(d, x); k++)
		if (is_ancestor(d, a, dag_parents(d, x)[k]))
			return true;
	return false;
}

/* Adds prior × likelihood of each culprit (post[n]: none) for one ratio luck : σ to @post. */
static void integrate(const struct data *t, double ratio, double weight, double low, double high,
		      double *post)
{
	static double f[NODES + 1][LEVELS];
	double step = (high - low) / (LEVELS - 1);

	for (int s = 0; s < SIGMAS; s++) {
		double log_step = log(60) / (SIGMAS - 1), sigma = 0.15 * exp(log_step * s);

		for (uint32_t x = 0; x <= t->n; x++)
			for (int i = 0; i < LEVELS; i++)
				f[x][i] = build_density(t->value[x], t->boots[x], low + step * i,
							sigma, ratio * sigma);
		for (int i = 0; i < LEVELS; i++) {
			double none = 1;

			for (uint32_t x = 0; x <= t->n; x++)
				none *= f[x][i];
			post[t->n] += weight * 0.4 * none * step * log_step;
			for (int j = 0; j < LEVELS; j++) {
				double prior = prior_of_step(step * (j - i), sigma, ratio * sigma);

				for (uint32_t c = 0; c < t->n; c++) {
					double all = f[t->n][i];

					for (uint32_t x = 0; x < t->n; x++)
						all *= is_ancestor(t->dag, c, x) ? f[x][j]
										 : f[x][i];
					post[c] += weight * 0.6 / t->n * prior * all * step * step *
						   log_step;
				}
			}
		}
	}
}

static void brute_force(const struct data *t, double build_sd, double *post)
{
	static const double ratio[] = { 0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.1, 1.5 };
	double sum = 0;

	memset(post, 0, (t->n + 1) * sizeof(*post));
	for (int r = 0; r < (build_sd == 0 ? 1 : 9); r++) {
		double a = r ? 2 / LUCK_PRIOR_MEAN * (ratio[r - 1] + ratio[r]) / 2 : 0;
		double b = r < 8 ? 2 / LUCK_PRIOR_MEAN * (ratio[r] + ratio[r + 1]) / 2 : 1e9;

		integrate(t, ratio[r], build_sd == 0 ? 1 : (1 + a) * exp(-a) - (1 + b) * exp(-b),
			  -8, 12, post);
	}
	for (uint32_t c = 0; c <= t->n; c++)
		sum += post[c];
	for (uint32_t c = 0; c <= t->n; c++)
		post[c] /= sum;
}

static void draw_data(struct data *t, const struct dag *d, gsl_rng *rng, double luck)
{
	uint32_t culprit = (uint32_t)gsl_rng_uniform_int(rng, d->n);

	*t = (struct data){ .n = d->n, .dag = d };
	for (uint32_t x = 0; x <= d->n; x++) {
		double u = gsl_ran_gaussian(rng, luck);
		bool end = x == d->n || x == d->tip;

		t->boots[x] = end ? 4 : (unsigned)gsl_rng_uniform_int(rng, 4);
		for (unsigned i = 0; i < t->boots[x]; i++) {
			t->value[x][i] = u + gsl_ran_gaussian(rng, 1);
			if (x < d->n && is_ancestor(d, culprit, x))
				t->value[x][i] += 2.5;
		}
	}
}

static struct bayes *tell(const struct data *t, double build_sd)
{
	struct bayes *b = bayes_new(&(struct bayes_opts){ .dag = t->dag, .build_sd = build_sd });

	for (unsigned i = 0; i < 8; i++)
		for (uint32_t x = t->n + 1; x--;)
			if (i < t->boots[x])
				assert_int_equal(bayes_observe(b, x, 0, t->value[x][i]), 0);
	return b;
}

static void compare(const struct dag *d, double build_sd, double luck, unsigned long seed,
		    int times, double tolerance)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	double worst = 0, sum = 0;

	gsl_rng_set(rng, seed);
	for (int k = 0; k < times; k++) {
		double post[NODES + 1], off = 0;
		struct data t;
		struct bayes *b;

		draw_data(&t, d, rng, luck);
		brute_force(&t, build_sd, post);
		b = tell(&t, build_sd);
		for (uint32_t c = 0; c < d->n; c++)
			off = fmax(off, fabs(bayes_share(b, c) - post[c]));
		off = fmax(off, fabs(bayes_no_culprit(b) - post[d->n]));
		bayes_free(b);
		worst = fmax(worst, off);
		sum += off;
	}
	print_message("# %d posteriors: largest difference of a share, mean %.4f, worst %.4f\n",
		      times, sum / times, worst);
	gsl_rng_free(rng);
	assert_true(worst < tolerance);
}

static void a_line_without_luck_has_the_posterior_of_plain_integration(void **state)
{
	struct dag d;

	(void)state;
	make_dag(&d, 5, NULL);
	compare(&d, 0, 0, 1, 12, 0.03);
	dag_release(&d);
}

static void a_line_with_unknown_luck_has_the_posterior_of_plain_integration(void **state)
{
	struct dag d;

	(void)state;
	make_dag(&d, 5, NULL);
	compare(&d, BAYES_AUTO, 0.5, 2, 6, 0.04);
	dag_release(&d);
}

static void a_merge_has_the_posterior_of_plain_integration(void **state)
{
	static const uint32_t parents[6][2] = {
		{ DAG_NONE, DAG_NONE }, { 0, DAG_NONE }, { 0, DAG_NONE },
		{ 2, DAG_NONE },        { 1, 3 },        { 4, DAG_NONE }
	};
	struct dag d;

	(void)state;
	make_dag(&d, 6, parents);
	compare(&d, 0, 0, 3, 12, 0.03);
	dag_release(&d);
}

/* Rates by summing a fine grid: prior (p − q)² over Jeffreys', as the header of the module says. */
static double chance_of_first(unsigned old_fails, unsigned old, unsigned new_fails, unsigned new,
			      unsigned mid_fails, unsigned mid)
{
	const int n = 400;
	double first = 0, second = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double p = pow(sin(M_PI / 2 * (i + 0.5) / n), 2);
			double q = pow(sin(M_PI / 2 * (j + 0.5) / n), 2);
			double f = (p - q) * (p - q) * pow(p, old_fails) *
				   pow(1 - p, old - old_fails) * pow(q, new_fails) *
				   pow(1 - q, new - new_fails);

			first += f * pow(q, mid_fails) * pow(1 - q, mid - mid_fails);
			second += f * pow(p, mid_fails) * pow(1 - p, mid - mid_fails);
		}
	return first / (first + second);
}

static void pass_and_fail_have_the_posterior_of_beta_integrals(void **state)
{
	static const unsigned cases[][6] = { { 0, 4, 4, 4, 1, 1 },
					     { 1, 5, 4, 5, 1, 2 },
					     { 2, 6, 5, 6, 0, 3 },
					     { 0, 3, 2, 4, 2, 2 } };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		const unsigned *c = cases[k];
		struct dag d;
		struct bayes *b = on_line(&d, 2, (struct bayes_opts){ .metric = BAYES_PASS });
		double both;

		for (unsigned i = 0; i < c[1]; i++)
			bayes_observe(b, 2, 0, i < c[0]);
		for (unsigned i = 0; i < c[3]; i++)
			bayes_observe(b, 1, 0, i < c[2]);
		for (unsigned i = 0; i < c[5]; i++)
			bayes_observe(b, 0, 0, i < c[4]);
		both = bayes_share(b, 0) + bayes_share(b, 1);
		assert_near(bayes_share(b, 0) / both,
			    chance_of_first(c[0], c[1], c[2], c[3], c[4], c[5]), 0.01);
		bayes_free(b);
		dag_release(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_without_luck_has_the_posterior_of_plain_integration),
		cmocka_unit_test(a_line_with_unknown_luck_has_the_posterior_of_plain_integration),
		cmocka_unit_test(a_merge_has_the_posterior_of_plain_integration),
		cmocka_unit_test(pass_and_fail_have_the_posterior_of_beta_integrals),
	};

	return cmocka_run_group_tests_name("pick_bayes_posterior", tests, NULL, NULL);
}
