/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Crosses broken ranges by their borders. */
#include "core/pick_borders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define FEW 8

/* What the groups say of each place. */
struct view {
	const struct borders *b;
	double *log1;    /* log(1 + i), i up to n */
	double *chance;  /* to be broken: the highest of all groups */
	bool *shadow;    /* of any group */
	uint32_t *depth; /* in a shadow: distance to the nearest member; else UINT32_MAX */
	/* Of the group at hand. */
	bool *broken;            /* a member; in the end also in the shadow */
	uint32_t *below, *above; /* weight of the nearest broken ancestor, descendant; 0: none */
	double *own;             /* chance */
};

static void view_init(struct view *v, const struct borders *b)
{
	size_t n = b->n + (size_t)1;

	*v = (struct view){
		.b = b,
		.log1 = xcalloc(n, sizeof(*v->log1)),
		.chance = xcalloc(n, sizeof(*v->chance)),
		.shadow = xcalloc(n, sizeof(*v->shadow)),
		.depth = xcalloc(n, sizeof(*v->depth)),
		.broken = xcalloc(n, sizeof(*v->broken)),
		.below = xcalloc(n, sizeof(*v->below)),
		.above = xcalloc(n, sizeof(*v->above)),
		.own = xcalloc(n, sizeof(*v->own)),
	};
	for (uint32_t i = 0; i < n; i++) {
		v->log1[i] = log1p(i);
		v->depth[i] = UINT32_MAX;
	}
}

static void view_release(struct view *v)
{
	free(v->log1);
	free(v->chance);
	free(v->shadow);
	free(v->depth);
	free(v->broken);
	free(v->below);
	free(v->above);
	free(v->own);
}

static bool is_skipped(const struct borders *b, uint32_t x)
{
	return !b->same[x] && b->mark[b->list[x]] == DAG_SKIP && b->list[x] != b->bad;
}

static bool is_untested(const struct borders *b, uint32_t x)
{
	enum dag_mark m = b->mark[b->list[x]];

	return !b->same[x] && m != DAG_SKIP && m != DAG_GOOD && b->list[x] != b->bad;
}

/* The group of a skipped one; 0: none. */
static uint32_t group_of(const struct borders *b, uint32_t x)
{
	return is_skipped(b, x) ? b->alike[b->list[x]] : 0;
}

bool borders_has_skipped(const struct borders *b)
{
	for (uint32_t x = 0; x < b->n; x++)
		if (is_skipped(b, x))
			return true;
	return false;
}

/* The nearest ancestor has the largest weight of all. */
static void find_below(struct view *v)
{
	const struct borders *b = v->b;

	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t x = b->order[i];

		v->below[x] = 0;
		for (uint32_t k = b->start[x]; k < b->start[x + 1]; k++) {
			uint32_t p = b->parent[k];
			uint32_t w = v->broken[p] ? b->weight[p] : v->below[p];

			if (w > v->below[x])
				v->below[x] = w;
		}
	}
}

static void find_above(struct view *v)
{
	const struct borders *b = v->b;

	for (uint32_t x = 0; x < b->n; x++)
		v->above[x] = 0;
	for (uint32_t i = b->n; i--;) {
		uint32_t x = b->order[i];
		uint32_t w = v->broken[x] ? b->weight[x] : v->above[x];

		for (uint32_t k = b->start[x]; w && k < b->start[x + 1]; k++) {
			uint32_t *above = &v->above[b->parent[k]];

			if (!*above || w < *above)
				*above = w;
		}
	}
}

/* Put the shadow of the members among what is broken. */
static void cast_shadow(struct view *v)
{
	const struct borders *b = v->b;

	for (uint32_t x = 0; x < b->n; x++) {
		uint32_t down, up;

		if (!v->below[x] || !v->above[x])
			continue;
		down = b->weight[x] - v->below[x];
		up = v->above[x] - b->weight[x];
		v->shadow[x] = v->broken[x] = true;
		if (down < v->depth[x])
			v->depth[x] = down;
		if (up < v->depth[x])
			v->depth[x] = up;
	}
}

static double chance_at(const struct view *v, uint32_t distance, uint32_t room)
{
	return room ? 1 - v->log1[distance] / v->log1[room] : 1;
}

static double chance_of(const struct view *v, uint32_t x)
{
	const struct borders *b = v->b;
	uint32_t w = b->weight[x];
	double most = 0;

	if (v->broken[x])
		return 1;
	if (v->below[x])
		return chance_at(v, w - v->below[x], b->counting - v->below[x]);
	if (v->above[x])
		return chance_at(v, v->above[x] - w, v->above[x]);
	for (uint32_t k = b->start[x]; k < b->start[x + 1]; k++)
		if (v->own[b->parent[k]] > most)
			most = v->own[b->parent[k]];
	return most;
}

static void add_group(struct view *v, uint32_t group)
{
	const struct borders *b = v->b;

	for (uint32_t x = 0; x < b->n; x++)
		v->broken[x] = group_of(b, x) == group;
	find_below(v);
	find_above(v);
	cast_shadow(v);
	/* now distances are from the shadow's border too */
	find_below(v);
	find_above(v);
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t x = b->order[i];

		v->own[x] = chance_of(v, x);
		if (v->own[x] > v->chance[x])
			v->chance[x] = v->own[x];
	}
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void add_groups(struct view *v)
{
	const struct borders *b = v->b;
	_cleanup_free_ uint32_t *group = xcalloc(b->n + (size_t)1, sizeof(*group));
	uint32_t n = 0;

	for (uint32_t x = 0; x < b->n; x++)
		if (group_of(b, x))
			group[n++] = group_of(b, x);
	qsort(group, n, sizeof(*group), by_value);
	for (uint32_t i = 0; i < n; i++)
		if (!i || group[i] != group[i - 1])
			add_group(v, group[i]);
}

/* Bits that tell on which side of a commit of weight @w of @n the first bad one is. */
static double entropy(uint32_t w, uint32_t n)
{
	double p = (double)w / n, q = (double)(n - w) / n;

	return w && w < n ? -(p * log2(p) + q * log2(q)) : 0;
}

/* What is worth most, of the shadow or of what is outside. */
static uint32_t most_worth(const struct view *v, bool shadow)
{
	const struct borders *b = v->b;
	uint32_t best = DAG_NONE;
	double most = -1;

	for (uint32_t x = 0; x < b->n; x++) {
		double worth;

		if (!is_untested(b, x) || v->shadow[x] != shadow)
			continue;
		worth = shadow ? v->log1[v->depth[x]] : 1 - v->chance[x];
		worth *= entropy(b->weight[x], b->counting);
		/* a tie is a tie in spite of rounding */
		if (worth > most + 1e-12) {
			most = worth;
			best = x;
		}
	}
	return best;
}

static uint32_t log2_up(uint32_t n)
{
	uint32_t log = 0;

	while (UINT64_C(1) << log < n)
		log++;
	return log;
}

/* Is more of the shadow to be tested? */
static bool is_worth_probing(const struct view *v)
{
	const struct borders *b = v->b;
	uint32_t untested = 0, skipped = 0;

	for (uint32_t x = 0; x < b->n; x++) {
		untested += v->shadow[x] && is_untested(b, x);
		skipped += v->shadow[x] && is_skipped(b, x);
	}
	return untested <= FEW || skipped <= log2_up(b->counting) * (b->porous ? 6 : 3);
}

/* Is one that could be tested a descendant of one member of @group and an ancestor of another? */
static bool has_hole(const struct dag *d, const enum dag_mark *mark, const uint32_t *alike,
		     uint32_t group, bool *below_member, bool *below_tested)
{
	memset(below_member, 0, d->n * sizeof(*below_member));
	for (uint32_t i = 0; i < d->n; i++)
		if (mark[i] == DAG_SKIP && alike[i] == group)
			dag_mark_ancestors(d, i, below_member);
	for (uint32_t t = 0; t < d->n; t++) {
		if (!below_member[t] || (mark[t] != DAG_GOOD && mark[t] != DAG_BAD))
			continue;
		memset(below_tested, 0, d->n * sizeof(*below_tested));
		dag_mark_ancestors(d, t, below_tested);
		for (uint32_t i = 0; i < d->n; i++)
			if (mark[i] == DAG_SKIP && alike[i] == group && below_tested[i])
				return true;
	}
	return false;
}

bool borders_are_porous(const struct dag *d, const enum dag_mark *mark, const uint32_t *alike)
{
	_cleanup_free_ bool *a = xcalloc(d->n + (size_t)1, sizeof(*a));
	_cleanup_free_ bool *b = xcalloc(d->n + (size_t)1, sizeof(*b));
	_cleanup_free_ uint32_t *group = NULL;
	size_t n = 0, room = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		if (mark[i] != DAG_SKIP || !alike[i])
			continue;
		xgrow(&group, &room, n + 1, sizeof(*group));
		group[n++] = alike[i];
	}
	if (n)
		qsort(group, n, sizeof(*group), by_value);
	for (size_t i = 1; i < n; i++)
		/* it takes two members to be between */
		if (group[i] == group[i - 1] && (i == 1 || group[i] != group[i - 2]) &&
		    has_hole(d, mark, alike, group[i], a, b))
			return true;
	return false;
}

uint32_t borders_pick(const struct borders *b)
{
	_cleanup_(view_release) struct view v = { .b = NULL };
	uint32_t x;

	view_init(&v, b);
	add_groups(&v);
	x = most_worth(&v, false);
	if (x == DAG_NONE && is_worth_probing(&v))
		x = most_worth(&v, true);
	return x;
}
