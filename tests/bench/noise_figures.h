/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What many campaigns come to: shares, means, percentiles, calibration. */
#ifndef KR_TESTS_BENCH_NOISE_FIGURES_H
#define KR_TESTS_BENCH_NOISE_FIGURES_H

#include <gsl/gsl_cdf.h>

#include "bench/noise_jobs.h"

struct spread {
	double mean, median, p90;
};

struct figures {
	unsigned n, right, found, found_right;
	unsigned denied; /* "no difference", "no culprit" */
	unsigned blind;  /* refused: too much noise for the boots allowed */
	double claimed;  /* mean over the found */
	struct spread runs, boots, kernels, list;
};

static inline int figures_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of the unsigned at @offset in each outcome. */
static inline struct spread figures_spread(const struct outcome *o, unsigned n, size_t offset)
{
	_cleanup_free_ double *v = xcalloc(n, sizeof(*v));
	struct spread s = { 0 };

	for (unsigned i = 0; i < n; i++) {
		unsigned x;

		memcpy(&x, (const char *)&o[i] + offset, sizeof(x));
		v[i] = x;
		s.mean += v[i] / n;
	}
	qsort(v, n, sizeof(*v), figures_by_value);
	s.median = v[n / 2];
	s.p90 = v[n * 9 / 10];
	return s;
}

static inline void figures_get(const struct outcome *o, unsigned n, struct figures *f)
{
	*f = (struct figures){ .n = n };
	for (unsigned i = 0; i < n; i++) {
		f->right += o[i].right;
		f->found += o[i].status == BAYES_FOUND;
		f->denied += o[i].status == BAYES_NO_DIFFERENCE || o[i].status == BAYES_NO_CULPRIT;
		f->blind += o[i].status == BAYES_BLIND;
		f->found_right += o[i].status == BAYES_FOUND && o[i].right;
		f->claimed += o[i].status == BAYES_FOUND ? o[i].claimed : 0;
	}
	f->claimed /= f->found ? f->found : 1;
	f->runs = figures_spread(o, n, offsetof(struct outcome, runs));
	f->boots = figures_spread(o, n, offsetof(struct outcome, boots));
	f->kernels = figures_spread(o, n, offsetof(struct outcome, kernels));
	f->list = figures_spread(o, n, offsetof(struct outcome, list));
}

static inline double figures_hours(const struct figures *f, const struct bayes_price *p)
{
	return (f->kernels.mean * p->build + f->boots.mean * p->boot + f->runs.mean * p->run) /
	       3600;
}

/* Would so few of @n right, each with probability @p, come about once in a hundred? */
static inline bool figures_too_few(unsigned right, unsigned n, double p)
{
	return right < n && gsl_cdf_binomial_P(right, p, n) < 0.01;
}

/* Claims of single commits, by what they claim. */
#define BANDS 6
static const double band_from[BANDS] = { 0.95, 0.96, 0.97, 0.98, 0.99, 0.995 };

struct calibration {
	unsigned claims[BANDS], right[BANDS];
	double claimed[BANDS];
};

static inline void calibration_add(struct calibration *c, const struct outcome *o, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		int k = BANDS - 1;

		if (o[i].status != BAYES_FOUND)
			continue;
		while (k && o[i].claimed < band_from[k])
			k--;
		c->claims[k]++;
		c->claimed[k] += o[i].claimed;
		c->right[k] += o[i].right;
	}
}

#endif
