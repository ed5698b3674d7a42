/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels measured side by side: the order of their boots, and what their values say. */
#include "core/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"
#include "core/stats.h"

void compare_order(size_t setups, size_t kernels, size_t round, size_t *out)
{
	size_t n = setups * kernels, turn = round / 2;

	for (size_t i = 0; i < n; i++) {
		size_t at = round % 2 ? n - 1 - i : i;
		size_t setup = (at / kernels + turn) % setups;
		size_t kernel = (at % kernels + turn) % kernels;

		out[i] = setup * kernels + kernel;
	}
}

/* Variance of the mean, times the square of the coefficient. */
static double term_variance(const struct compare_term *t)
{
	return t->coef * t->coef * stats_sum_squares(t->v, t->n) / (double)(t->n - 1) /
	       (double)t->n;
}

static void nothing_known(struct compare_contrast *out)
{
	*out = (struct compare_contrast){ .estimate = NAN, .low = NAN, .high = NAN, .p = NAN };
}

/* No spread at all: the estimate is exact. */
static void exact(struct compare_contrast *out)
{
	out->low = out->high = out->estimate;
	out->p = out->estimate == 0 ? 1 : 0;
}

void compare_contrast(const struct compare_term *term, size_t n, double alpha,
		      struct compare_contrast *out)
{
	double variance = 0, spread = 0, half;
	bool known = true;

	*out = (struct compare_contrast){ .p = NAN, .low = -INFINITY, .high = INFINITY };
	for (size_t i = 0; i < n; i++) {
		const struct compare_term *t = &term[i];
		double v;

		if (!t->n) {
			nothing_known(out);
			return;
		}
		out->estimate += t->coef * stats_mean(t->v, t->n);
		if (t->n < 2) {
			known = false;
			continue;
		}
		v = term_variance(t);
		variance += v;
		spread += v * v / (double)(t->n - 1);
	}
	if (!known)
		return;
	if (!(variance > 0)) {
		exact(out);
		return;
	}
	out->df = variance * variance / spread;
	half = -stats_t_quantile(alpha / 2, out->df) * sqrt(variance);
	out->low = out->estimate - half;
	out->high = out->estimate + half;
	out->p = 2 * stats_t_cdf(-fabs(out->estimate) / sqrt(variance), out->df);
}

void compare_change(const struct compare_pair *pair, size_t n, double alpha,
		    struct compare_contrast *out)
{
	_cleanup_free_ struct compare_term *delta = xcalloc(2 * n, sizeof(*delta));
	_cleanup_free_ struct compare_term *null = xcalloc(2 * n, sizeof(*null));
	struct compare_contrast test;
	double change = 0;

	nothing_known(out);
	for (size_t i = 0; i < n; i++) {
		const struct compare_pair *p = &pair[i];
		double mean, ref;

		if (!p->n || !p->n_ref)
			return;
		mean = stats_mean(p->v, p->n);
		ref = stats_mean(p->ref, p->n_ref);
		if (ref == 0)
			return;
		change += (mean - ref) / fabs(ref) / (double)n;
		/* d((m − r)/|r|) = dm/|r| − (m/r)·dr/|r| */
		delta[2 * i] = (struct compare_term){ p->v, p->n, 1 / fabs(ref) / (double)n };
		delta[2 * i + 1] = (struct compare_term){ p->ref, p->n_ref,
							  -mean / ref / fabs(ref) / (double)n };
		null[2 * i] = delta[2 * i];
		null[2 * i + 1] = (struct compare_term){ p->ref, p->n_ref,
							 -1 / fabs(ref) / (double)n };
	}
	compare_contrast(delta, 2 * n, alpha, out);
	compare_contrast(null, 2 * n, alpha, &test);
	/* around the change itself: the linear part has the spread, not the place */
	out->low += change - out->estimate;
	out->high += change - out->estimate;
	out->estimate = change;
	out->p = test.p;
	out->df = test.df;
}

struct ranked {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

size_t compare_holm(double *p, size_t n)
{
	_cleanup_free_ struct ranked *r = xcalloc(n, sizeof(*r));
	size_t m = 0;
	double last = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			r[m++] = (struct ranked){ p[i], i };
	qsort(r, m, sizeof(*r), by_p);
	for (size_t i = 0; i < m; i++) {
		last = fmax(last, fmin(1, r[i].p * (double)(m - i)));
		p[r[i].at] = last;
	}
	return m;
}

size_t compare_outlier(const double *v, size_t n, double alpha, double least)
{
	double mean, sd, t, limit, far = 0, median;
	size_t at = 0;

	if (n < 3)
		return n;
	mean = stats_mean(v, n);
	sd = sqrt(stats_sum_squares(v, n) / (double)(n - 1));
	for (size_t i = 0; i < n; i++) {
		if (fabs(v[i] - mean) <= far)
			continue;
		far = fabs(v[i] - mean);
		at = i;
	}
	t = stats_t_quantile(alpha / (2 * (double)n), (double)(n - 2));
	limit = ((double)n - 1) / sqrt((double)n) * sqrt(t * t / ((double)n - 2 + t * t));
	median = stats_median(v, n);
	if (!(sd > 0) || far / sd <= limit || fabs(v[at] - median) <= least * fabs(median))
		return n;
	return at;
}
