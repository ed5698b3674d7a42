/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: the step that tells most of the culprit a second, and when to stop. */
#include "core/pick_bayes_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/*
 * Where there is no step at all, a likelihood ratio of k comes up with chance 1/k at most, however long
 * one looks (Ville). So a commit is blamed when "none" has but this share of the error allowed.
 */
#ifndef NO_CULPRIT_LEFT
#define NO_CULPRIT_LEFT 0.25
#endif
/* Ends that are equal seldom look so far apart: simulated, 99.3 % are denied with either share. */
#define CLEAR_STEP 3.0 /* deviations */
#define NO_CULPRIT_LEFT_CLEAR 0.6
/* Two rates have no deviation that might be taken for too small. */
#define NO_CULPRIT_LEFT_PASS 0.6
/* While "no culprit" is at least so likely, commits close to the ends are looked at, too. */
#ifndef NONE_OPEN
#define NONE_OPEN 0.02
#endif
/*
 * Give up when the bits that are left would take more boots like the best one than these, and
 * it tells less than this share of what a fresh commit with even odds would.
 */
#ifndef PATIENCE
#define PATIENCE 400
#endif
#ifndef EFFORT
#define EFFORT 12 /* boots for each bit of the history's size, before it is given up */
#endif
#ifndef STUCK
#define STUCK 0.04
#endif

/* Chance that a commit not tried yet builds and boots at all. */
#ifndef TESTABLE
#define TESTABLE 0.85
#endif
/*
 * With pass/fail the greedy choice re-runs kernels for long before it moves on. Simulated at an error of 0.1:
 * 32.8 boots on 15.5 kernels, where TESTABLE takes 34.0 on 13.8.
 */
#define TESTABLE_PASS 1.25

static bool is_cached(const struct bayes *b, uint32_t node)
{
	return b->o.cached && b->o.cached[node];
}

double bayes_price_of(const struct bayes *b, uint32_t node, bool build)
{
	double s = b->o.price.boot + b->o.runs * b->o.price.run;

	if (build && !is_cached(b, node))
		s += b->o.price.build;
	return s > 0 ? s : 1;
}

static void consider(const struct bayes *b, struct bayes_step *best, enum bayes_action action,
		     uint32_t node, uint32_t layout, double bits, enum bayes_why why)
{
	double seconds = bayes_price_of(b, node, action == BAYES_COMMIT);

	if (action == BAYES_REBUILD)
		seconds += b->o.price.build;

	/* a tie is a tie in spite of rounding */
	if (bits <= 1e-12 ||
	    (best->action && bits / seconds <= best->bits / best->seconds * (1 + 1e-9)))
		return;
	*best = (struct bayes_step){
		.action = action,
		.node = node,
		.layout = layout,
		.bits = bits,
		.seconds = seconds,
		.why = why,
	};
}

/*
 * Chance that a commit can be measured, by its distance in list order from those that cannot:
 * 1 − log(1 + i)/log(1 + n) as with skips = borders, and little between two alike.
 */
static double *find_chances(const struct bayes *b)
{
	double *chance, scale = log1p(b->n);
	uint32_t last = DAG_NONE;

	if (!b->n_skipped)
		return NULL;
	chance = xcalloc(b->n + (size_t)1, sizeof(*chance));
	for (uint32_t x = 0; x < b->n; x++)
		chance[x] = 1;
	for (uint32_t x = 0; x < b->n; x++) {
		if (bayes_measured(b, x))
			last = DAG_NONE;
		if (!b->skipped[x]) {
			if (last != DAG_NONE)
				chance[x] = log1p(x - last) / scale;
			continue;
		}
		if (last != DAG_NONE && b->skipped[last] == b->skipped[x])
			for (uint32_t y = last + 1; y < x; y++)
				chance[y] *= 0.05;
		last = x;
	}
	last = DAG_NONE;
	for (uint32_t x = b->n; x--;) {
		if (b->skipped[x])
			last = x;
		else if (bayes_measured(b, x))
			last = DAG_NONE;
		else if (last != DAG_NONE)
			chance[x] = fmin(chance[x], log1p(last - x) / scale);
	}
	return chance;
}

/*
 * Chances of the new state to look for: the middle halves the history; close to an end, where the
 * state is known, a fresh build tells the end's luck from its level, and so "no culprit" from one.
 */
static const double aims[] = { 0.5, 0.06, 0.94 };

/* The commits not measured yet that are nearest to each aim: uncached, cached. */
static void consider_others(const struct bayes *b, struct bayes_step *best)
{
	_cleanup_(bayes_draws_release) struct draws t = { .of = NULL };
	_cleanup_free_ double *chance = find_chances(b);
	size_t n_aims = b->none > NONE_OPEN && !b->exact && b->o.build_sd != 0 ? ARRAY_SIZE(aims)
									       : 1;
	double most[ARRAY_SIZE(aims)][2] = { { 0 } };
	uint32_t node[ARRAY_SIZE(aims)][2];
	double fresh = b->o.metric == BAYES_PASS ? TESTABLE_PASS : TESTABLE;

	memset(node, 0xff, sizeof(node));
	bayes_draw(b, &t);
	for (uint32_t x = 0; x < b->n; x++) {
		bool cached = is_cached(b, x);
		double p = bayes_draws_share(&t, x);

		if (b->skipped[x] || bayes_measured(b, x) ||
		    (b->o.dag->treesame && b->o.dag->treesame[x]))
			continue;
		for (size_t k = 0; k < n_aims; k++) {
			double worth = k ? 1 - fabs(p - aims[k]) : p * (1 - p);

			worth *= chance ? chance[x] : 1;
			if (worth > most[k][cached] * (1 + 1e-9)) {
				most[k][cached] = worth;
				node[k][cached] = x;
			}
		}
	}
	for (size_t k = 0; k < 2 * n_aims; k++) {
		uint32_t x = node[k / 2][k % 2];

		if (x == DAG_NONE)
			continue;
		consider(b, best, BAYES_COMMIT, x, 0,
			 b->exact
				 ? most[k / 2][k % 2]
				 : fresh * bayes_bits_of_other(b, &t, x) * (chance ? chance[x] : 1),
			 k / 2 ? BAYES_WHY_NEAR_END : BAYES_WHY_MIDDLE);
	}
}

static void consider_measured(const struct bayes *b, struct bayes_step *best)
{
	for (uint32_t m = 0; m < b->n_m && !b->exact; m++) {
		const struct measured *x = b->m[m];

		if (x->node < b->n && b->skipped[x->node])
			continue;
		for (uint32_t u = 0; u < x->n_builds; u++)
			consider(b, best, BAYES_BOOT, x->node, x->build[u].layout,
				 bayes_bits_of_measured(b, m, &x->build[u]), BAYES_WHY_AGAIN);
		if (b->o.rebuild && b->at.luck > 0 && x->n_builds)
			consider(b, best, BAYES_REBUILD, x->node,
				 x->build[x->n_builds - 1].layout + 1,
				 bayes_bits_of_measured(b, m, NULL), BAYES_WHY_LAYOUT);
	}
}

/* The largest share of one commit. */
static uint32_t leader(const struct bayes *b, double *share)
{
	uint32_t best = DAG_NONE;

	*share = 0;
	for (uint32_t k = 1; k < b->n_classes; k++) {
		const struct class *c = &b->class[k];
		double p;

		if (c->top == DAG_NONE)
			continue;
		p = c->post * b->prior[c->top] / c->mass;
		if (p > *share) {
			*share = p;
			best = c->top;
		}
	}
	return best;
}

/* Is the best step so poor that what is left cannot be paid? */
static bool is_hopeless(const struct bayes *b, struct bayes_step *s)
{
	double needed = fmax(bayes_bits_left(b) - bayes_entropy(b->o.confidence), 0);

	s->boots_left = s->bits > 0 ? needed / s->bits : INFINITY;
	if (!s->action)
		return true;
	if (b->exact || b->boots < EFFORT * log2(b->n + 1.0))
		return false;
	return s->boots_left > 4 * PATIENCE ||
	       (s->boots_left > PATIENCE && s->bits < STUCK * bayes_nominal_bits(b));
}

/* Stop without an answer; what the best step would have been stays known. */
static void give_up(const struct bayes *b, struct bayes_step *s, enum bayes_why why)
{
	s->action = BAYES_STOP;
	s->status = bayes_unsure(b);
	s->node = DAG_NONE;
	s->why = why;
}

static bool is_found(const struct bayes *b)
{
	double share, left = NO_CULPRIT_LEFT;

	if (b->o.metric == BAYES_PASS)
		left = NO_CULPRIT_LEFT_PASS;
	else if (fabs(b->at.level[NEW] - b->at.level[OLD]) > CLEAR_STEP * b->at.sigma)
		left = NO_CULPRIT_LEFT_CLEAR;
	leader(b, &share);
	return share >= bayes_claim(b, b->o.confidence) &&
	       (b->exact || b->none <= left * (1 - b->o.confidence));
}

static void choose(struct bayes *b, struct bayes_step *s)
{
	uint32_t end;

	if (!b->ready) {
		bayes_boot_end(b, s, BAYES_WHY_ENDS_FIRST);
		return;
	}
	if (bayes_decide_by_ends(b, s))
		return;
	if (is_found(b)) {
		bayes_stop(s, BAYES_FOUND, BAYES_WHY_SURE);
		return;
	}
	if (bayes_drift_wants_end(b, &end)) {
		bayes_boot_one(b, s, end, BAYES_WHY_DRIFT);
		return;
	}
	consider_measured(b, s);
	consider_others(b, s);
	if (b->o.max_boots && b->boots >= b->o.max_boots)
		give_up(b, s, BAYES_WHY_BUDGET);
	else if (is_hopeless(b, s)) {
		if (b->none > ENDS_APART && !b->exact && b->o.build_sd == 0 &&
		    bayes_end_boots(b) < 2 * b->o.max_end_boots)
			bayes_boot_end(b, s, BAYES_WHY_ENDS_DIFFER);
		else
			give_up(b, s, BAYES_WHY_UNAFFORDABLE);
	}
}

void bayes_set_price(struct bayes *b, const struct bayes_price *p)
{
	b->o.price = *p;
	b->step_known = false;
}

void bayes_next(struct bayes *b, struct bayes_step *step)
{
	if (!b->step_known) {
		b->step = (struct bayes_step){ .node = DAG_NONE };
		choose(b, &b->step);
		b->step_known = true;
	}
	*step = b->step;
}
