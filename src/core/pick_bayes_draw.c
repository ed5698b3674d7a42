/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: where the points of the cloud are drawn, around what is known. */
#include "core/pick_bayes_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/stats.h"

#ifndef STEP_SCALE
#define STEP_SCALE 1.5 /* mode of the prior of the step, in deviations */
#endif

/* Its density at (@x − @mean)/@scale, over @scale. */
static double deviate_density(double x, double mean, double scale)
{
	double z = (x - mean) / scale, a = 1 + z * z / 4;

	return 0.375 / (a * a * sqrt(a) * scale);
}

/* Mean and weight of one build for the proposal; outliers count less. */
struct summary {
	uint32_t node;
	double n, mean, p_new;
};

struct sums {
	struct summary *s;
	size_t n, room;
	double ss, boots;
};

/* Is this boot an outlier, by what is known now? 1: surely not. */
static double trust(const struct bayes *b, double value, double p_new)
{
	double var = b->at.sigma * b->at.sigma + b->at.luck * b->at.luck, f = 0, g = 0;

	for (int s = OLD; s <= NEW; s++) {
		double e = value - b->at.level[s];
		double wide = 1 + fabs(e) / (OUTLIER_SCALE * b->at.sigma),
		       p = s ? p_new : 1 - p_new;

		f += p * exp(-e * e / (2 * var)) / sqrt(2 * M_PI * var);
		g += p / (2 * OUTLIER_SCALE * b->at.sigma * wide * wide);
	}
	return (1 - OUTLIER) * f / ((1 - OUTLIER) * f + OUTLIER * g);
}

/* Of a boot against one with the usual runs. */
static double relative_weight(const struct bayes *b, const struct boot *boot)
{
	double var = b->at.sigma * b->at.sigma;

	return var / bayes_boot_variance(b, boot, var);
}

static void add_summary(const struct bayes *b, struct sums *t, uint32_t node, const struct build *u,
			double p_new)
{
	struct summary s = { .node = node, .p_new = p_new };

	for (uint32_t i = 0; i < u->n; i++) {
		double v = u->boot[i].value, delta = v - s.mean;
		double sure = trust(b, v, p_new) + 1e-3;
		double w = sure * relative_weight(b, &u->boot[i]);

		t->boots += sure;
		s.n += w;
		s.mean += delta * w / s.n;
		t->ss += w * delta * (v - s.mean);
	}
	xgrow(&t->s, &t->room, t->n + 1, sizeof(*t->s));
	t->s[t->n++] = s;
}

/* Approximation of the unknowns' posterior for one luck ratio, and one view of the states. */
struct proposal {
	double mean[2], precision[2]; /* of the levels, in units of 1/σ² */
	double log_sigma, log_sigma_scale;
};

/*
 * Views: as the posterior has the states; only the new end is new; only the old end is old. The
 * last two keep the points near what a level that only one end shows may be.
 */
enum { VIEWS = 3 };
static const double view_share[VIEWS] = { 0.7, 0.15, 0.15 };

static double viewed(const struct bayes *b, const struct summary *s, int view)
{
	if (view == 1)
		return s->node == b->o.dag->tip;
	if (view == 2)
		return s->node != b->n;
	return s->p_new;
}

static void propose(const struct bayes *b, const struct sums *t, double ratio, int view, bool alone,
		    struct proposal *p)
{
	double ss = t->ss, df = fmax(1, t->boots - (alone ? 1 : 2));

	for (int s = OLD; s <= (alone ? OLD : NEW); s++) {
		double a = 0, mean = 0;

		for (int pass = 0; pass < 2; pass++)
			for (size_t k = 0; k < t->n; k++) {
				double p_new = viewed(b, &t->s[k], view);
				double w = (alone ? 1
					    : s   ? p_new
						  : 1 - p_new) /
					   (ratio * ratio + 1 / t->s[k].n);
				double e = t->s[k].mean - mean;

				if (pass) {
					ss += w * e * e;
				} else {
					a += w;
					mean += a > 0 ? w / a * e : 0;
				}
			}
		p->mean[s] = mean;
		p->precision[s] = a;
	}
	/* what is rounded away is no part of σ, but without a floor ln σ has no bound */
	p->log_sigma = log(ss / df + b->rounding) / 2 + 0.25 / df;
	p->log_sigma_scale = sqrt(0.5 / df) + 0.02;
}

/*
 * Prior of the step: none is near 0, for then it is no step (a moment prior: Johnson & Rossell, J.
 * R. Stat. Soc. B 72 (2010) 143), and a power tail; the mode at STEP_SCALE.
 */
static double step_prior(double step, double sigma, double luck)
{
	double unit = STEP_SCALE * sqrt(sigma * sigma + luck * luck),
	       d2 = step * step / (unit * unit);

	return 2 / M_PI * d2 / ((1 + d2) * (1 + d2) * unit);
}

static double level_scale(const struct proposal *p, int s, double sigma)
{
	return 0.95 * sigma / sqrt(p->precision[s]);
}

static double proposal_density(const struct proposal *p, const struct cloud *c, uint32_t i,
			       bool alone)
{
	double q = deviate_density(log(c->sigma[i]), p->log_sigma, p->log_sigma_scale);

	for (int s = OLD; s <= (alone ? OLD : NEW); s++)
		q *= deviate_density(c->level[s][i], p->mean[s], level_scale(p, s, c->sigma[i]));
	return q;
}

static void draw_point(const struct bayes *b, struct cloud *c, uint32_t i, int ratio, int view,
		       const struct proposal p[VIEWS], double share, bool alone)
{
	const double *z = &c->z[(size_t)4 * i];
	const struct proposal *own = &p[view];
	double q = 0, prior = 1;

	c->ratio[i] = (uint8_t)ratio;
	c->sigma[i] = exp(own->log_sigma + own->log_sigma_scale * z[1]);
	c->luck[i] = bayes_is_learning_luck(b) ? bayes_ratios[ratio] * c->sigma[i] : b->o.build_sd;
	for (int s = OLD; s <= (alone ? OLD : NEW); s++)
		c->level[s][i] = own->mean[s] + level_scale(own, s, c->sigma[i]) * z[2 + s];
	for (int v = 0; v < VIEWS; v++)
		if (!alone || !v)
			q += (alone ? 1 : view_share[v]) * proposal_density(&p[v], c, i, alone);
	if (bayes_is_learning_luck(b))
		prior *= bayes_ratio_prior(ratio);
	if (!alone)
		prior *= step_prior(c->level[NEW][i] - c->level[OLD][i], c->sigma[i], c->luck[i]);
	c->lw[i] = log(prior / (q * share));
}

static void draw_cloud(struct bayes *b, const struct sums *t, bool alone)
{
	struct cloud *c = &b->cloud[alone];
	struct proposal p[RATIOS][VIEWS];
	double share[RATIOS], sum = 0;

	for (int r = 0; r < RATIOS; r++) {
		double ratio = bayes_is_learning_luck(b) ? bayes_ratios[r]
							 : b->o.build_sd / b->at.sigma;

		for (int v = 0; v < VIEWS; v++)
			propose(b, t, ratio, v, alone, &p[r][v]);
		share[r] = bayes_is_learning_luck(b)
				   ? b->ratio_post[r] + 0.3 * bayes_ratio_prior(r) + 0.01
				   : r == 0;
		sum += share[r];
	}
	for (uint32_t i = 0; i < c->n; i++) {
		double u = c->z[(size_t)4 * i] * sum;
		int r = 0, view = 0;

		for (; r < RATIOS - 1 && u >= share[r]; r++)
			u -= share[r];
		for (u /= share[r]; !alone && view < VIEWS - 1 && u >= view_share[view]; view++)
			u -= view_share[view];
		draw_point(b, c, i, r, view, p[r], share[r] / sum, alone);
	}
}

double bayes_end_median(const struct bayes *b, uint32_t node)
{
	const struct build *u = &bayes_measured(b, node)->build[0];
	_cleanup_free_ double *v = xcalloc(u->n, sizeof(*v));

	for (uint32_t i = 0; i < u->n; i++)
		v[i] = u->boot[i].value;
	return stats_median(v, u->n);
}

/* Before there is a cloud: medians of the ends and of the distances from them. */
static void guess(struct bayes *b)
{
	_cleanup_free_ double *away = NULL;
	size_t n = 0, room = 0;
	double sum = 0;

	b->at.level[OLD] = bayes_end_median(b, b->n);
	b->at.level[NEW] = bayes_end_median(b, b->o.dag->tip);
	for (int s = OLD; s <= NEW; s++) {
		const struct build *u = &bayes_measured(b, s ? b->o.dag->tip : b->n)->build[0];

		for (uint32_t i = 0; i < u->n; i++) {
			xgrow(&away, &room, n + 1, sizeof(*away));
			away[n++] = fabs(u->boot[i].value - b->at.level[s]);
			sum += away[n - 1];
		}
	}
	/* the median of few is often far too small */
	b->at.sigma = fmax(fmax(2 * stats_median(away, n), 0.6 * sum / (double)n),
			   sqrt(b->rounding));
	b->at.luck = bayes_is_learning_luck(b) ? LUCK_MEAN * b->at.sigma : b->o.build_sd;
}

void bayes_cloud_redraw(struct bayes *b)
{
	struct sums t = { .s = NULL };

	if (b->exact || b->o.metric == BAYES_PASS) {
		if (b->exact) {
			b->at.level[OLD] = bayes_end_median(b, b->n);
			b->at.level[NEW] = bayes_end_median(b, b->o.dag->tip);
		}
		bayes_cloud_take_all(b);
		return;
	}
	if (!(b->at.sigma > 0))
		guess(b);
	for (uint32_t k = 0; k < b->n_m; k++)
		for (uint32_t u = 0; u < b->m[k]->n_builds; u++)
			add_summary(b, &t, b->m[k]->node, &b->m[k]->build[u],
				    b->m[k]->p_new / fmax(1 - b->none, 1e-300));
	draw_cloud(b, &t, false);
	draw_cloud(b, &t, true);
	free(t.s);
	bayes_cloud_take_all(b);
}
