/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The few statistics that verdicts rest on (GSL). */
#include "core/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "base/str.h"

double stats_median(const double *v, size_t n)
{
	_cleanup_free_ double *sorted = xcalloc(n, sizeof(*sorted));

	memcpy(sorted, v, n * sizeof(*sorted));
	gsl_sort(sorted, 1, n);
	return gsl_stats_median_from_sorted_data(sorted, 1, n);
}

double stats_mean(const double *v, size_t n)
{
	return gsl_stats_mean(v, 1, n);
}

double stats_sum_squares(const double *v, size_t n)
{
	return n < 2 ? 0 : gsl_stats_tss(v, 1, n);
}

void stats_pool_add(struct stats_pool *p, const double *v, size_t n)
{
	if (n < 2)
		return;
	p->ss += stats_sum_squares(v, n);
	p->df += n - 1;
}

double stats_pool_sd(const struct stats_pool *p)
{
	return p->df ? sqrt(p->ss / (double)p->df) : 0;
}

double stats_t_quantile(double p, double df)
{
	return gsl_cdf_tdist_Pinv(p, df);
}

double stats_t_cdf(double t, double df)
{
	return gsl_cdf_tdist_P(t, df);
}

/* estimate ± t·sd·scale: what both intervals are. */
static struct stats_interval interval_around(double estimate, double scale,
					     const struct stats_pool *pool, double alpha)
{
	double half;

	if (!pool->df)
		half = INFINITY;
	else if (pool->ss == 0)
		half = 0; /* not t·0: t is infinite at alpha = 0 */
	else
		half = gsl_cdf_tdist_Qinv(alpha / 2, (double)pool->df) * stats_pool_sd(pool) *
		       scale;
	return (struct stats_interval){ estimate, estimate - half, estimate + half };
}

static double diff_scale(size_t na, size_t nb)
{
	return sqrt(1 / (double)na + 1 / (double)nb);
}

struct stats_interval stats_mean_interval(double mean, size_t n, const struct stats_pool *pool,
					  double alpha)
{
	return interval_around(mean, 1 / sqrt((double)n), pool, alpha);
}

struct stats_interval stats_diff_interval(double mean_a, size_t na, double mean_b, size_t nb,
					  const struct stats_pool *pool, double alpha)
{
	return interval_around(mean_b - mean_a, diff_scale(na, nb), pool, alpha);
}

double stats_diff_p(double mean_a, size_t na, double mean_b, size_t nb,
		    const struct stats_pool *pool)
{
	double diff = fabs(mean_b - mean_a);

	if (!pool->df)
		return 1;
	if (pool->ss == 0)
		return diff == 0 ? 1 : 0;
	return 2 *
	       gsl_cdf_tdist_Q(diff / (stats_pool_sd(pool) * diff_scale(na, nb)), (double)pool->df);
}

bool stats_welch(const double *a, size_t na, const double *b, size_t nb, double alpha,
		 struct stats_interval *diff, double *p)
{
	double va, vb, d, df, error, half;

	if (na < 2 || nb < 2)
		return false;
	va = stats_sum_squares(a, na) / (double)(na - 1) / (double)na;
	vb = stats_sum_squares(b, nb) / (double)(nb - 1) / (double)nb;
	error = sqrt(va + vb);
	if (error == 0)
		return false;
	df = (va + vb) * (va + vb) / (va * va / (double)(na - 1) + vb * vb / (double)(nb - 1));
	d = stats_mean(b, nb) - stats_mean(a, na);
	half = gsl_cdf_tdist_Qinv(alpha / 2, df) * error;
	*diff = (struct stats_interval){ d, d - half, d + half };
	*p = 2 * gsl_cdf_tdist_Q(fabs(d) / error, df);
	return true;
}
