/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: observations, classes of candidates, posterior. */
#include "core/pick_bayes_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/reach.h"

/* Points whose weights are worse spread than this are drawn anew, so often at most. */
#ifndef ESS_LEAST
#define ESS_LEAST 0.45
#endif
#define REDRAWS 2
/* Squares of larger values, summed, are no numbers. */
#define VALUE_MOST 1e150

static void defaults(struct bayes_opts *o)
{
	if (!(o->confidence > 0 && o->confidence < 1))
		o->confidence = 0.95;
	if (!(o->no_culprit > 0))
		o->no_culprit = 0.4;
	if (!o->end_boots)
		o->end_boots = o->deterministic ? 1 : 2;
	if (!o->max_end_boots)
		o->max_end_boots = 60;
	if (!o->runs)
		o->runs = 1;
}

static uint32_t class_new(struct bayes *b)
{
	xgrow(&b->class, &b->class_room, b->n_classes + 1, sizeof(*b->class));
	b->class[b->n_classes] = (struct class){
		.in = xcalloc(b->m_room + 1, sizeof(bool)),
		.point = xcalloc(b->cloud[b->n_classes == 0].n, sizeof(double)),
		.top = DAG_NONE,
	};
	return b->n_classes++;
}

/* Masses, sizes and tops, after nodes moved from one class to another. */
static void count_classes(struct bayes *b)
{
	for (uint32_t k = 1; k < b->n_classes; k++) {
		b->class[k].mass = 0;
		b->class[k].size = 0;
		b->class[k].top = DAG_NONE;
	}
	for (uint32_t x = 0; x < b->n; x++) {
		struct class *c = &b->class[b->class_of[x]];

		c->mass += b->prior[x];
		c->size += b->prior[x] > 0;
		if (b->prior[x] > 0 && (c->top == DAG_NONE || b->prior[x] > b->prior[c->top]))
			c->top = x;
	}
}

static void make_prior(struct bayes *b)
{
	const struct dag *d = b->o.dag;
	double sum = 0;

	b->prior = xcalloc(b->n + (size_t)1, sizeof(*b->prior));
	for (uint32_t x = 0; x < b->n; x++) {
		double w = b->o.prior ? b->o.prior[x] : 1;

		b->prior[x] = (d->treesame && d->treesame[x]) || !isfinite(w) || w < 0 ? 0 : w;
		sum += b->prior[x];
	}
	for (uint32_t x = 0; x < b->n; x++)
		b->prior[x] *= sum > 0 ? (1 - b->o.no_culprit) / sum : 0;
}

struct bayes *bayes_new(const struct bayes_opts *o)
{
	struct bayes *b = xcalloc(1, sizeof(*b));
	const struct dag *d = o->dag;
	struct reach_graph g = { .n = d->n, .start = d->parent_start, .parent = d->parent };

	b->o = *o;
	b->n = d->n;
	defaults(&b->o);
	b->order = xcalloc(b->n + (size_t)1, sizeof(*b->order));
	reach_order(&g, b->order);
	make_prior(b);
	b->class_of = xcalloc(b->n + (size_t)1, sizeof(*b->class_of));
	b->skipped = xcalloc(b->n + (size_t)1, sizeof(*b->skipped));
	b->slot = xcalloc(b->n + (size_t)1, sizeof(*b->slot));
	bayes_cloud_init(b);
	class_new(b);
	class_new(b);
	for (uint32_t x = 0; x < b->n; x++)
		b->class_of[x] = 1;
	count_classes(b);
	b->class[0].mass = b->none = b->o.no_culprit;
	b->class[1].post = 1 - b->none;
	return b;
}

void bayes_build_release(const struct build *u)
{
	free(u->boot);
	for (int s = 0; s < STATES; s++)
		free(u->luck[s]);
}

static void measured_free(struct measured *m)
{
	for (uint32_t u = 0; u < m->n_builds; u++)
		bayes_build_release(&m->build[u]);
	for (int s = 0; s < STATES; s++)
		free(m->ll[s]);
	free(m->build);
	free(m);
}

void bayes_free(struct bayes *b)
{
	if (!b)
		return;
	for (uint32_t k = 0; k < b->n_m; k++)
		measured_free(b->m[k]);
	for (uint32_t k = 0; k < b->n_classes; k++) {
		free(b->class[k].in);
		free(b->class[k].point);
	}
	bayes_cloud_release(b);
	free(b->m);
	free(b->class);
	free(b->order);
	free(b->prior);
	free(b->class_of);
	free(b->skipped);
	free(b->slot);
	free(b->alias);
	free(b);
}

/* The part of class @k that @moves becomes a class of its own, unless it is all of it or none. */
static void split_class(struct bayes *b, uint32_t k, const uint32_t *inside, const uint32_t *size,
			uint32_t *to)
{
	uint32_t new;

	to[k] = k;
	if (!inside[k] || inside[k] == size[k])
		return;
	new = class_new(b);
	memcpy(b->class[new].in, b->class[k].in, b->n_m * sizeof(bool));
	b->class[new].post = b->class[k].post * inside[k] / size[k];
	b->class[k].post -= b->class[new].post;
	to[k] = new;
}

/* A commit was measured first: its ancestors part from the rest, class by class. */
static void split_classes(struct bayes *b, uint32_t node)
{
	uint32_t n = b->n_classes, m = b->n_m - 1;
	_cleanup_free_ bool *mark = xcalloc(b->n + (size_t)1, sizeof(*mark));
	_cleanup_free_ uint32_t *inside = xcalloc(n, sizeof(*inside));
	_cleanup_free_ uint32_t *size = xcalloc(n, sizeof(*size));
	_cleanup_free_ uint32_t *to = xcalloc(n, sizeof(*to));

	if (node < b->n)
		dag_mark_ancestors(b->o.dag, node, mark);
	for (uint32_t x = 0; x < b->n; x++) {
		inside[b->class_of[x]] += mark[x];
		size[b->class_of[x]]++;
	}
	for (uint32_t k = 1; k < n; k++)
		split_class(b, k, inside, size, to);
	for (uint32_t x = 0; x < b->n; x++)
		if (mark[x])
			b->class_of[x] = to[b->class_of[x]];
	for (uint32_t k = 1; k < n; k++)
		if (inside[k])
			b->class[to[k]].in[m] = true;
	count_classes(b);
}

static struct measured *measured_get(struct bayes *b, uint32_t node)
{
	struct measured *m = bayes_measured(b, node);
	size_t room = b->m_room;

	if (m)
		return m;
	m = xcalloc(1, sizeof(*m));
	m->node = node;
	bayes_measured_init(b, m);
	m->p_new = bayes_new_state(b, node);
	xgrow(&b->m, &b->m_room, b->n_m + 1, sizeof(struct measured *));
	b->m[b->n_m++] = m;
	b->slot[node] = b->n_m;
	if (b->m_room != room)
		for (uint32_t k = 0; k < b->n_classes; k++) {
			bool *in = xcalloc(b->m_room + 1, sizeof(bool));

			memcpy(in, b->class[k].in, (b->n_m - 1) * sizeof(bool));
			free(b->class[k].in);
			b->class[k].in = in;
		}
	split_classes(b, node);
	return m;
}

struct build *bayes_build_get(struct bayes *b, struct measured *m, uint32_t layout)
{
	for (uint32_t u = 0; u < m->n_builds; u++)
		if (m->build[u].layout == layout)
			return &m->build[u];
	xgrow(&m->build, &m->room, m->n_builds + 1, sizeof(*m->build));
	m->build[m->n_builds] = (struct build){ .layout = layout };
	bayes_build_init(b, &m->build[m->n_builds]);
	return &m->build[m->n_builds++];
}

static bool is_constant(const struct measured *m)
{
	for (uint32_t u = 0; u < m->n_builds; u++)
		for (uint32_t i = 0; i < m->build[u].n; i++)
			if (m->build[u].boot[i].told != m->build[0].boot[0].told)
				return false;
	return true;
}

static double first(const struct measured *m)
{
	return m->build[0].boot[0].told;
}

/*
 * Small counts are equal now and then for all their noise. Ends that lie many counts apart, or are
 * equal, have none if each repeats itself.
 */
#define COUNTS_APART 8
static bool is_coarse(double old, double new)
{
	bool counts = old == rint(old) && new == rint(new);

	return counts && old != new &&fabs(new - old) < COUNTS_APART;
}

/* Have the values no spread at all? Then every one is at the level of an end, to the bit. */
static bool is_exact(const struct bayes *b)
{
	const struct measured *old = bayes_measured(b, b->n);
	const struct measured *new = bayes_measured(b, b->o.dag->tip);

	if (b->o.deterministic)
		return true;
	if (b->o.metric == BAYES_PASS || old->boots < 2 || new->boots < 2 ||
	    is_coarse(first(old), first(new)))
		return false;
	for (uint32_t k = 0; k < b->n_m; k++) {
		const struct measured *m = b->m[k];

		if (!m->boots)
			continue; /* its boots are another's: one kernel */
		if (!is_constant(m) || (first(m) != first(old) && first(m) != first(new)))
			return false;
	}
	return true;
}

/* Variance of rounding to whole numbers, where all values are (Sheppard); else next to none. */
static double rounding(const struct bayes *b)
{
	bool whole = true;
	double most = 0;

	for (uint32_t m = 0; m < b->n_m; m++)
		for (uint32_t u = 0; u < b->m[m]->n_builds; u++)
			for (uint32_t i = 0; i < b->m[m]->build[u].n; i++) {
				double v = b->m[m]->build[u].boot[i].told;

				whole = whole && v == rint(v);
				most = fmax(most, fabs(v));
			}
	return whole && most < 1e6 ? 1 / 12.0 : 1e-24 * most * most;
}

static bool ends_have_boots(const struct bayes *b)
{
	const struct measured *old = bayes_measured(b, b->n);
	const struct measured *new = bayes_measured(b, b->o.dag->tip);

	return old && new && old->boots >= b->o.end_boots &&new->boots >= b->o.end_boots;
}

static void redraw(struct bayes *b)
{
	b->rounding = rounding(b);
	for (int i = 0; i < REDRAWS; i++) {
		bayes_cloud_redraw(b);
		bayes_update(b, true);
		if (b->exact || b->o.metric == BAYES_PASS || b->ess >= ESS_LEAST)
			break;
	}
	/* where the posterior is no one hill, better cannot be had */
	b->ess_least = fmin(ESS_LEAST, 0.6 * b->ess);
}

static void begin(struct bayes *b)
{
	b->ready = true;
	for (uint32_t m = 0; m < b->n_m; m++)
		b->m[m]->p_new = (1 - b->none) * (b->m[m]->node == b->n            ? 0
						  : b->m[m]->node == b->o.dag->tip ? 1
										   : 0.5);
	redraw(b);
}

static void add_boot(struct bayes *b, struct build *u, double value, unsigned runs, double run_sd)
{
	xgrow(&u->boot, &u->room, u->n + 1, sizeof(*u->boot));
	u->boot[u->n++] =
		(struct boot){ .value = value, .told = value, .runs = runs, .when = b->boots++ };
	if (runs > 1 && run_sd >= 0 && run_sd <= VALUE_MOST) {
		b->run_ss += (runs - 1) * run_sd * run_sd;
		b->run_df += runs - 1;
	}
}

/* The points have taken in all but the last boot of @u. */
static void take_last(struct bayes *b, struct measured *m, struct build *u)
{
	if (u->n == 1)
		for (int s = 0; s < STATES; s++)
			for (uint32_t i = 0; i < b->cloud[s == ALONE].n; i++)
				u->luck[s][i].var = pow(b->cloud[s == ALONE].luck[i], 2);
	bayes_cloud_boot(b, m, u);
	bayes_update(b, false);
	if (bayes_drift_correct(b)) {
		redraw(b);
		return;
	}
	if (!b->exact && b->o.metric == BAYES_VALUE && b->ess < b->ess_least)
		redraw(b);
}

int bayes_observe_runs(struct bayes *b, uint32_t node, uint32_t layout, double value, unsigned runs,
		       double run_sd)
{
	struct measured *m;
	struct build *u;
	bool was_exact = b->exact;

	if (node > b->n || !runs || !(fabs(value) <= VALUE_MOST) ||
	    (b->o.metric == BAYES_PASS && value != 0 && value != 1))
		return -1;
	b->step_known = false;
	m = measured_get(b, bayes_alias(b, node));
	u = bayes_build_get(b, m, layout);
	add_boot(b, u, value, runs, run_sd);
	m->boots++;
	if (!ends_have_boots(b))
		return 0;
	b->exact = is_exact(b);
	if (!b->ready || b->exact != was_exact)
		begin(b);
	else
		take_last(b, m, u);
	return 0;
}

int bayes_observe(struct bayes *b, uint32_t node, uint32_t layout, double value)
{
	return bayes_observe_runs(b, node, layout, value, b->o.runs, NAN);
}

/* The classes' posteriors before the ends have their boots: the prior's. */
static void set_prior_posts(struct bayes *b)
{
	double sum = 0;

	for (uint32_t k = 0; k < b->n_classes; k++)
		sum += b->class[k].mass;
	for (uint32_t k = 0; k < b->n_classes; k++)
		b->class[k].post = b->class[k].mass / sum;
	b->none = b->class[0].post;
}

void bayes_refresh(struct bayes *b)
{
	count_classes(b);
	if (!b->ready && ends_have_boots(b)) {
		b->exact = is_exact(b);
		begin(b);
	} else if (b->ready) {
		b->exact = is_exact(b);
		redraw(b);
	} else {
		set_prior_posts(b);
	}
}

int bayes_skip(struct bayes *b, uint32_t node, uint32_t alike)
{
	if (node >= b->n)
		return -1;
	b->step_known = false;
	b->n_skipped += !b->skipped[node];
	b->skipped[node] = alike == UINT32_MAX ? alike : alike + 1;
	return 0;
}
