/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The few statistics that verdicts rest on (GSL). */
#ifndef KR_CORE_STATS_H
#define KR_CORE_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Median of @n ≥ 1 values; @v is not changed. */
double stats_median(const double *v, size_t n);
double stats_mean(const double *v, size_t n);
/* Sum of squares about the mean; 0 for n < 2. */
double stats_sum_squares(const double *v, size_t n);

/*
 * Pooled standard deviation of groups: sqrt(Σ SS_i / Σ (n_i − 1)), textbook
 * pooled variance (Snedecor & Cochran, Statistical Methods, 8th ed., 6.8).
 */
struct stats_pool {
	double ss; /* sum of squares within groups */
	size_t df; /* Σ (n_i − 1) */
};
void stats_pool_add(struct stats_pool *p, const double *v, size_t n);
/* 0 when df is 0. */
double stats_pool_sd(const struct stats_pool *p);

/* t with P(T ≤ t) = @p on @df ≥ 1 degrees of freedom. */
double stats_t_quantile(double p, double df);
/* P(T ≤ t). */
double stats_t_cdf(double t, double df);

struct stats_interval {
	double estimate, low, high;
};

/*
 * Two-sided interval mean ± t(1 − alpha/2; df)·sd/√n. sd = 0: a point. df = 0
 * with sd unknown: −∞ … ∞ .
 */
struct stats_interval stats_mean_interval(double mean, size_t n, const struct stats_pool *pool,
					  double alpha);

/*
 * Difference b − a of two means with the pooled deviation, two-sided at
 * @alpha; sd·√(1/na + 1/nb).
 */
struct stats_interval stats_diff_interval(double mean_a, size_t na, double mean_b, size_t nb,
					  const struct stats_pool *pool, double alpha);

/* Two-sided p of that difference being 0 (t test with pooled variance); sd = 0: 0 or 1. */
double stats_diff_p(double mean_a, size_t na, double mean_b, size_t nb,
		    const struct stats_pool *pool);

/*
 * Welch's t test: a difference without the assumption that both sides vary alike, from their
 * values alone; degrees of freedom by Welch and Satterthwaite (Biometrika 34 (1947) 28, eq. 28). *@diff
 * is mean(b) − mean(a) with its two-sided interval at @alpha, *@p the two-sided p of its being 0.
 * False, and nothing is set: a side has fewer than 2 values, or neither varies.
 */
bool stats_welch(const double *a, size_t na, const double *b, size_t nb, double alpha,
		 struct stats_interval *diff, double *p);

#endif
