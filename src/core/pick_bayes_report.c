/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: what is thought now: shares, credible sets, levels, intervals. */
#include "core/pick_bayes_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"

double bayes_share(const struct bayes *b, uint32_t node)
{
	const struct class *c;

	if (node >= b->n)
		return 0;
	c = &b->class[b->class_of[node]];
	return c->mass > 0 ? c->post * b->prior[node] / c->mass : 0;
}

double bayes_no_culprit(const struct bayes *b)
{
	return b->none;
}

double bayes_new_state(const struct bayes *b, uint32_t node)
{
	_cleanup_free_ bool *mark = NULL;
	double p = 0;

	if (node >= b->n)
		return 0;
	if (bayes_measured(b, node) && b->ready)
		return bayes_measured(b, node)->p_new;
	mark = xcalloc(b->n + (size_t)1, sizeof(*mark));
	dag_mark_ancestors(b->o.dag, node, mark);
	for (uint32_t x = 0; x < b->n; x++)
		if (mark[x])
			p += bayes_share(b, x);
	return p;
}

double bayes_bits_left(const struct bayes *b)
{
	double bits = b->none > 0 ? -b->none * log2(b->none) : 0;

	for (uint32_t x = 0; x < b->n; x++) {
		double p = bayes_share(b, x);

		if (p > 0)
			bits -= p * log2(p);
	}
	return bits;
}

/*
 * The posterior is right on average over its priors, not for each size of step and luck: wrong claims
 * pile up on small steps (simulated at d = 1: 93.5 % of claims at 95 %), most with much luck (d = 1.5,
 * r = 0.5: 83 %). There only a part of the error allowed is spent.
 */
#define GUARD_FROM 2.5 /* deviations: from here all of it is */
#define GUARD_STEP 0.4
#ifndef GUARD_LUCK
#define GUARD_LUCK 0.25
#endif
#define LUCK_SEEN 0.3       /* of the deviation from boot to boot */
#define LUCK_SEEN_BELOW 2.0 /* deviations */
#define GUARD_LUCK_SEEN 0.2
#ifndef GUARD_DRIFT
#define GUARD_DRIFT 0.4
#endif
#define DRIFT_GUARD_FROM 0.3
double bayes_claim(const struct bayes *b, double confidence)
{
	double d, part = 1;

	if (b->exact || b->o.metric == BAYES_PASS)
		return confidence;
	d = fabs(b->at.level[NEW] - b->at.level[OLD]) / b->at.sigma;
	if (b->o.build_sd != 0)
		part = d < LUCK_SEEN_BELOW && b->at.luck > LUCK_SEEN * b->at.sigma ? GUARD_LUCK_SEEN
										   : GUARD_LUCK;
	else if (d < GUARD_FROM)
		part = fmax(GUARD_STEP, d / GUARD_FROM);
	/* what is left of a drift after it was taken out is no noise of each boot's own */
	if (b->drift.sure > DRIFT_GUARD_FROM)
		part *= GUARD_DRIFT;
	return 1 - part * (1 - confidence);
}

static int by_share(const void *a, const void *b)
{
	const struct bayes_candidate *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

uint32_t bayes_credible(const struct bayes *b, double confidence, struct bayes_candidate **list)
{
	struct bayes_candidate *all = xcalloc(b->n + (size_t)1, sizeof(*all));
	double want = bayes_claim(b, confidence) * (1 - b->none), sum = 0;
	uint32_t n = 0, k = 0;

	for (uint32_t x = 0; x < b->n; x++)
		if (bayes_share(b, x) > 0)
			all[n++] = (struct bayes_candidate){ x, bayes_share(b, x) };
	qsort(all, n, sizeof(*all), by_share);
	while (k < n && sum < want * (1 - 1e-12))
		sum += all[k++].share;
	*list = all;
	return k;
}

bool bayes_levels(const struct bayes *b, struct bayes_levels *l)
{
	if (b->ready)
		*l = b->at;
	return b->ready;
}

struct weighted {
	double value, weight;
};

static int by_value(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Quantile of weighted points, each at the middle of its weight, between them linear. */
static double quantile(const struct weighted *w, uint32_t n, double p)
{
	double sum = 0, last = 0, at = w[0].value;

	for (uint32_t i = 0; i < n; i++) {
		double middle = sum + w[i].weight / 2;

		if (middle >= p)
			return i && middle > last
				       ? at + (w[i].value - at) * (p - last) / (middle - last)
				       : w[i].value;
		if (w[i].weight > 0) {
			last = middle;
			at = w[i].value;
		}
		sum += w[i].weight;
	}
	return at;
}

/* Of @x − @minus (NULL: 0) over the points of those that have a culprit. */
static struct bayes_interval interval(const struct bayes *b, const double *x, const double *minus,
				      double confidence)
{
	const struct cloud *c = &b->cloud[0];
	_cleanup_free_ struct weighted *w = xcalloc(c->n, sizeof(*w));
	double sum = 0;

	for (uint32_t i = 0; i < c->n; i++)
		sum += c->weight[i];
	for (uint32_t i = 0; i < c->n; i++)
		w[i] = (struct weighted){ x[i] - (minus ? minus[i] : 0), c->weight[i] / sum };
	qsort(w, c->n, sizeof(*w), by_value);
	return (struct bayes_interval){ quantile(w, c->n, (1 - confidence) / 2),
					quantile(w, c->n, (1 + confidence) / 2) };
}

bool bayes_intervals(const struct bayes *b, double confidence, struct bayes_intervals *i)
{
	const struct cloud *c = &b->cloud[0];

	if (!b->ready)
		return false;
	*i = (struct bayes_intervals){
		.run_sd = b->run_df > 0 ? sqrt(b->run_ss / b->run_df) : NAN,
		.drift = b->drift.range,
		.drifting = b->drift.sure,
	};
	if (b->exact || !(b->none < 1)) {
		for (int s = OLD; s <= NEW; s++)
			i->level[s] = (struct bayes_interval){ b->at.level[s], b->at.level[s] };
		i->step.low = i->step.high = b->at.level[NEW] - b->at.level[OLD];
		return true;
	}
	for (int s = OLD; s <= NEW; s++)
		i->level[s] = interval(b, c->level[s], NULL, confidence);
	i->step = interval(b, c->level[NEW], c->level[OLD], confidence);
	if (b->o.metric == BAYES_PASS)
		return true;
	i->boot_sd = interval(b, c->sigma, NULL, confidence);
	i->build_sd = interval(b, c->luck, NULL, confidence);
	return true;
}
