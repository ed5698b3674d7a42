/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unknowns of search = bayes (levels, deviations) as a cloud of weighted points. */
#include "core/pick_bayes_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/str.h"
#include "core/stats.h"

#ifndef POINTS
#define POINTS 192
#endif
#define POINTS_ALONE 96
#define RATES 24 /* BAYES_PASS: rates on a grid of its own */

#define IMPOSSIBLE (-50.0) /* a value at the wrong level, where there is no noise */

const double bayes_ratios[RATIOS] = { 0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.1, 1.5 };

/* P(ratio > r): gamma with shape 2, so that none at all is as unlikely as it is in life. */
static double ratio_tail(double r)
{
	double x = 2 * r / LUCK_MEAN;

	return isinf(r) ? 0 : (1 + x) * exp(-x);
}

/* Prior of each ratio: the mass half-way to its neighbours. */
double bayes_ratio_prior(int i)
{
	double low = i ? (bayes_ratios[i - 1] + bayes_ratios[i]) / 2 : 0;
	double high = i < RATIOS - 1 ? (bayes_ratios[i] + bayes_ratios[i + 1]) / 2 : INFINITY;

	return ratio_tail(low) - ratio_tail(high);
}

/* Quantile of Student's t on 4 degrees of freedom (Shaw, J. Comput. Finance 9 (2006) 37, 4.3). */
double bayes_deviate(double u)
{
	double a = 2 * sqrt(u * (1 - u)), q = cos(acos(a) / 3) / a;

	return copysign(2 * sqrt(q - 1), u - 0.5);
}

/* Roberts' lattice: powers of 1/g, g^5 = g + 1. */
static void make_lattice(struct cloud *c)
{
	const double g = 1.1673039782614187;
	double step = 1;

	for (uint32_t d = 0; d < 4; d++) {
		step /= g;
		for (uint32_t i = 0; i < c->n; i++) {
			double u = 0.5 + step * (i + 1);

			u -= floor(u);
			c->z[4 * i + d] = d ? bayes_deviate(u) : u;
		}
	}
}

static void cloud_new(struct cloud *c, uint32_t n)
{
	c->n = n;
	c->z = xcalloc((size_t)4 * n, sizeof(*c->z));
	c->level[OLD] = xcalloc(n, sizeof(double));
	c->level[NEW] = xcalloc(n, sizeof(double));
	c->sigma = xcalloc(n, sizeof(double));
	c->luck = xcalloc(n, sizeof(double));
	c->lw = xcalloc(n, sizeof(double));
	c->weight = xcalloc(n, sizeof(double));
	c->ratio = xcalloc(n, sizeof(*c->ratio));
	make_lattice(c);
}

/* Jeffreys' prior of a rate is uniform in its arc sine; the pair's, times their squared difference. */
static double rate(uint32_t i)
{
	double s = sin(M_PI / 2 * (i + 0.5) / RATES);

	return s * s;
}

static void rates_init(struct bayes *b)
{
	for (uint32_t i = 0; i < RATES * RATES; i++) {
		b->cloud[0].level[OLD][i] = rate(i / RATES);
		b->cloud[0].level[NEW][i] = rate(i % RATES);
		b->cloud[0].lw[i] = 2 * log(fabs(rate(i / RATES) - rate(i % RATES)) + 1e-3);
	}
	for (uint32_t i = 0; i < RATES; i++)
		b->cloud[1].level[OLD][i] = b->cloud[1].level[NEW][i] = rate(i);
}

void bayes_cloud_init(struct bayes *b)
{
	bool pass = b->o.metric == BAYES_PASS;

	cloud_new(&b->cloud[0], pass ? RATES * RATES : POINTS);
	cloud_new(&b->cloud[1], pass ? RATES : POINTS_ALONE);
	if (pass)
		rates_init(b);
	for (int i = 0; i < RATIOS; i++)
		b->ratio_post[i] = bayes_is_learning_luck(b) ? bayes_ratio_prior(i) : i == 0;
}

void bayes_cloud_release(struct bayes *b)
{
	for (int k = 0; k < 2; k++) {
		struct cloud *c = &b->cloud[k];

		free(c->z);
		free(c->level[OLD]);
		free(c->level[NEW]);
		free(c->sigma);
		free(c->luck);
		free(c->lw);
		free(c->weight);
		free(c->ratio);
	}
}

static uint32_t points(const struct bayes *b, int state)
{
	return b->cloud[state == ALONE].n;
}

void bayes_build_init(const struct bayes *b, struct build *build)
{
	for (int s = 0; s < STATES; s++)
		build->luck[s] = xcalloc(points(b, s), sizeof(struct luck));
}

void bayes_measured_init(const struct bayes *b, struct measured *m)
{
	for (int s = 0; s < STATES; s++)
		m->ll[s] = xcalloc(points(b, s), sizeof(double));
}

/*
 * Density of one boot and what it says of its build's luck: two components, the posterior
 * mixture collapsed to its moments.
 */
static inline double boot_density(double value, double level, double noise, struct luck *l)
{
	double sigma = sqrt(noise), var = noise + l->var;
	double e = value - level - l->mean;
	double wide = 1 + fabs(value - level) / (OUTLIER_SCALE * sigma);
	double usual = (1 - OUTLIER) * exp(-e * e / (2 * var)) / sqrt(2 * M_PI * var);
	double all = usual + OUTLIER / (2 * OUTLIER_SCALE * sigma * wide * wide);
	double rho = usual / all, gain = l->var / var * e;

	l->var += -rho * l->var * l->var / var + rho * (1 - rho) * gain * gain;
	l->mean += rho * gain;
	return all;
}

double bayes_boot_variance(const struct bayes *b, const struct boot *boot, double var)
{
	double usual = var, ratio = (double)b->o.runs / boot->runs, change;

	if (boot->runs != b->o.runs && b->run_df > 0) {
		change = b->run_ss / b->run_df * (1.0 / boot->runs - 1.0 / b->o.runs);
		/* at most as if all variance were within boots */
		var = ratio > 1 ? fmin(var + change, usual * ratio)
				: fmax(var + change, usual * ratio);
	}
	return var + boot->drift_var + b->rounding;
}

static void boot_value(const struct bayes *b, int state, const struct boot *boot, struct luck *l,
		       double *ll)
{
	const struct cloud *c = &b->cloud[state == ALONE];
	const double *level = c->level[state == NEW];

	for (uint32_t i = 0; i < c->n; i++) {
		double var = bayes_boot_variance(b, boot, c->sigma[i] * c->sigma[i]);

		ll[i] += log(boot_density(boot->value, level[i], var, &l[i]));
	}
}

static void boot_pass(const struct cloud *c, int state, double value, double *ll)
{
	const double *p = c->level[state == NEW];

	for (uint32_t i = 0; i < c->n; i++)
		ll[i] += log(value > 0.5 ? p[i] : 1 - p[i]);
}

/* Without noise: which of the two levels is nearer. */
static void boot_exact(const struct bayes *b, int state, double value, double *ll)
{
	double d_old = fabs(value - b->at.level[OLD]), d_new = fabs(value - b->at.level[NEW]);
	double matters = b->o.effect * fabs(b->at.level[OLD]);
	bool fits;

	if (state == ALONE)
		fits = d_old <= matters;
	else if (fabs(b->at.level[NEW] - b->at.level[OLD]) <= matters)
		fits = false;
	else
		fits = state == OLD ? d_old <= d_new : d_new < d_old;
	for (uint32_t i = 0; !fits && i < points(b, state); i++)
		ll[i] += IMPOSSIBLE;
}

static void take_boot(struct bayes *b, struct measured *m, struct build *u, const struct boot *boot)
{
	double value = boot->value;

	for (int s = 0; s < STATES; s++) {
		if (b->exact)
			boot_exact(b, s, value, m->ll[s]);
		else if (b->o.metric == BAYES_PASS)
			boot_pass(&b->cloud[s == ALONE], s, value, m->ll[s]);
		else
			boot_value(b, s, boot, u->luck[s], m->ll[s]);
	}
}

void bayes_cloud_boot(struct bayes *b, struct measured *m, struct build *build)
{
	take_boot(b, m, build, &build->boot[build->n - 1]);
}

static void forget_boots(struct bayes *b, struct measured *m)
{
	for (int s = 0; s < STATES; s++) {
		const struct cloud *c = &b->cloud[s == ALONE];

		memset(m->ll[s], 0, c->n * sizeof(double));
		for (uint32_t k = 0; k < m->n_builds; k++)
			for (uint32_t i = 0; i < c->n; i++)
				m->build[k].luck[s][i] = (struct luck){
					.var = c->luck[i] * c->luck[i] + m->build[k].drift_var
				};
	}
}

void bayes_cloud_take_all(struct bayes *b)
{
	for (uint32_t k = 0; k < b->n_m; k++) {
		struct measured *m = b->m[k];

		forget_boots(b, m);
		for (uint32_t u = 0; u < m->n_builds; u++)
			for (uint32_t i = 0; i < m->build[u].n; i++)
				take_boot(b, m, &m->build[u], &m->build[u].boot[i]);
	}
}
