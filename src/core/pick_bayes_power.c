/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: what the boots of the ends can see, and whether the ends are as good as equal. */
#include "core/pick_bayes_internal.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

double bayes_boots_needed(double d, double alpha)
{
	double z = gsl_cdf_ugaussian_Qinv(alpha);

	return 2 * (2 * z) * (2 * z) / (d * d);
}

double bayes_smallest_step(unsigned boots, double alpha)
{
	return sqrt(bayes_boots_needed(1, alpha) / boots);
}

unsigned bayes_runs_per_boot(const struct bayes_price *p, double run_sd, double boot_sd)
{
	double runs;

	if (!(p->run > 0) || !(boot_sd > 0))
		return run_sd > 0 ? 20 : 1;
	runs = sqrt(p->boot / p->run) * run_sd / boot_sd;
	return runs < 1 ? 1 : runs > 20 ? 20 : (unsigned)(runs + 0.5);
}

/*
 * The ends are looked at after each boot until they are as good as equal, and each look may err:
 * over ten looks at growing data a test at 1 % errs more than four times as often as over one
 * (Armitage, McPherson & Rowe, J. R. Stat. Soc. A 132 (1969) 235).
 */
#define LOOKS 4

/* Mean and sum of squares of all boots of an end. */
static void end_moments(const struct measured *m, double *mean, double *ss)
{
	unsigned n = 0;

	*mean = *ss = 0;
	for (uint32_t u = 0; u < m->n_builds; u++)
		for (uint32_t i = 0; i < m->build[u].n; i++) {
			double delta = m->build[u].boot[i].value - *mean;

			*mean += delta / ++n;
			*ss += delta * (m->build[u].boot[i].value - *mean);
		}
}

/* P of a mean difference so near 0 if the levels differed by the effect, the worse of both sides. */
static double equal_p(const struct bayes_power *p, double sd, double df)
{
	double diff = fabs(p->level[NEW] - p->level[OLD]);

	if (!(sd > 0))
		return diff < p->effect ? 0 : 1;
	return gsl_cdf_tdist_P((diff - p->effect) / sd, df);
}

bool bayes_power_of_ends(const struct bayes *b, double alpha, double luck, struct bayes_power *p)
{
	const struct measured *end[2] = { bayes_measured(b, b->n),
					  bayes_measured(b, b->o.dag->tip) };
	double ss[2], df, sd, half;

	if (b->o.deterministic || b->o.metric == BAYES_PASS || !end[OLD] || !end[NEW] ||
	    end[OLD]->boots < 2 || end[NEW]->boots < 2)
		return false;
	*p = (struct bayes_power){ .boots = { end[OLD]->boots, end[NEW]->boots } };
	for (int s = OLD; s <= NEW; s++)
		end_moments(end[s], &p->level[s], &ss[s]);
	df = p->boots[OLD] + p->boots[NEW] - 2.0;
	p->sd = sqrt((ss[OLD] + ss[NEW]) / df);
	p->effect = b->o.effect * fabs(p->level[OLD]);
	p->smallest = p->sd * bayes_smallest_step(1, alpha) *
		      sqrt((1.0 / p->boots[OLD] + 1.0 / p->boots[NEW]) / 2);
	p->boots_needed = fmax(2, ceil(bayes_boots_needed(p->effect / p->sd, alpha) - 1e-9));
	p->is_blind = p->boots_needed > b->o.max_end_boots;
	sd = sqrt(p->sd * p->sd * (1.0 / p->boots[OLD] + 1.0 / p->boots[NEW]) + 2 * luck * luck);
	half = gsl_cdf_tdist_Qinv(alpha, df) * sd;
	p->difference.low = p->level[NEW] - p->level[OLD] - half;
	p->difference.high = p->level[NEW] - p->level[OLD] + half;
	p->equal_p = equal_p(p, sd, df);
	p->is_equivalent = p->equal_p < alpha / LOOKS;
	return true;
}

bool bayes_power(const struct bayes *b, double alpha, struct bayes_power *p)
{
	return bayes_power_of_ends(b, alpha, 0, p);
}
