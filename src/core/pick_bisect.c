/* SPDX-License-Identifier: GPL-2.0-or-later */
/* git bisect's choice of the next commit (FACTS.md 1, rules 1-6 and 8). */
#include "core/pick_bisect.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/history.h"
#include "core/pick_borders.h"
#include "core/reach.h"

struct pick_bisect {
	const struct dag *dag;
	struct pick_opts o;
	struct history *history; /* the dag's own, or &view */
	struct history view;     /* borrows the dag's arrays */
	uint32_t *from_history;  /* NULL: the same numbers */
	struct limit limit;

	/* Of one pick. Places are in list order; list[place] is a node. */
	uint32_t n, counting; /* commits on the list, those that are not treesame */
	uint32_t *list, *place_of;
	uint32_t *start, *parent; /* places */
	bool *same;
	uint32_t *order, *reach;
	int32_t *weight; /* -1: git stops before it knows it */
	uint32_t *left, n_left;
};

static uint32_t to_history(const struct pick_bisect *p, uint32_t node)
{
	return p->dag->to_history ? p->dag->to_history[node] : node;
}

/* A dag without a history is a history itself. */
static void borrow_dag(struct pick_bisect *p)
{
	const struct dag *d = p->dag;

	p->view = (struct history){
		.n = d->n,
		.id = d->id,
		.parent_start = d->parent_start,
		.parent_end = d->parent_start + 1,
		.parent = d->parent,
		.time = xcalloc(d->n + (size_t)1, sizeof(*p->view.time)),
	};
	for (uint32_t i = 0; i < d->n; i++)
		p->view.time[i] = d->time[i] < 0 ? 0 : d->time[i];
	p->history = &p->view;
}

struct pick_bisect *pick_bisect_new(const struct dag *d, const struct pick_opts *o)
{
	struct pick_bisect *p = xcalloc(1, sizeof(*p));

	p->dag = d;
	p->o = *o;
	p->history = d->history;
	if (!p->history)
		borrow_dag(p);
	p->place_of = xcalloc(p->history->n + (size_t)1, sizeof(*p->place_of));
	if (d->history && d->to_history) {
		p->from_history = xcalloc(d->history->n + (size_t)1, sizeof(*p->from_history));
		memset(p->from_history, 0xff, d->history->n * sizeof(*p->from_history));
		for (uint32_t i = 0; i < d->n; i++)
			p->from_history[d->to_history[i]] = i;
	}
	return p;
}

static void clear(struct pick_bisect *p)
{
	free(p->list);
	free(p->start);
	free(p->parent);
	free(p->same);
	free(p->order);
	free(p->reach);
	free(p->weight);
	p->list = p->start = p->parent = p->order = p->reach = NULL;
	p->same = NULL;
	p->weight = NULL;
}

void pick_bisect_free(struct pick_bisect *p)
{
	if (!p)
		return;
	clear(p);
	limit_release(&p->limit);
	free(p->view.time);
	free(p->from_history);
	free(p->place_of);
	free(p->left);
	free(p);
}

static int by_name(const void *a, const void *b, void *cookie)
{
	const struct history *h = cookie;

	return commit_cmp(&h->id[*(const uint32_t *)a], &h->id[*(const uint32_t *)b]);
}

/* All good commits, in the order in which git reads its refs. Owned. */
static uint32_t *good_ones(const struct pick_bisect *p, const enum dag_mark *mark, size_t *n)
{
	struct history *h = p->history;
	uint32_t *good = NULL;
	size_t room = 0;

	*n = 0;
	xgrow(&good, &room, h->n_older + 1, sizeof(*good));
	for (size_t i = 0; i < h->n_older; i++)
		good[(*n)++] = h->older[i];
	for (uint32_t i = 0; i < p->dag->n; i++) {
		if (mark[i] != DAG_GOOD)
			continue;
		xgrow(&good, &room, *n + 1, sizeof(*good));
		good[(*n)++] = to_history(p, i);
	}
	qsort_r(good, *n, sizeof(*good), by_name, h);
	return good;
}

static bool node_is_same(const struct pick_bisect *p, uint32_t node)
{
	if (p->history->content)
		return limit_is_same(&p->limit, to_history(p, node));
	return p->dag->treesame && p->dag->treesame[node];
}

/* The candidates in list order. */
static void make_list(struct pick_bisect *p, const enum dag_mark *mark, uint32_t bad)
{
	size_t n_good;
	_cleanup_free_ uint32_t *good = good_ones(p, mark, &n_good);
	const struct limit_opts o = {
		.tip = to_history(p, bad),
		.older = good,
		.n_older = n_good,
		.first_parent = p->o.first_parent,
		.simplify = p->history->content != NULL,
	};

	/* without a loader the walk has nothing that could fail */
	(void)limit_walk(&p->limit, p->history, &o, NULL);
	p->n = p->counting = 0;
	p->list = xcalloc(p->limit.n + (size_t)1, sizeof(*p->list));
	p->same = xcalloc(p->limit.n + (size_t)1, sizeof(*p->same));
	memset(p->place_of, 0xff, p->history->n * sizeof(*p->place_of));
	for (uint32_t i = 0; i < p->limit.n; i++) {
		uint32_t h = p->limit.list[i];
		uint32_t node = p->from_history ? p->from_history[h] : h;

		if (node == DAG_NONE)
			continue;
		p->place_of[h] = p->n;
		p->same[p->n] = node_is_same(p, node);
		p->counting += !p->same[p->n];
		p->list[p->n++] = node;
	}
}

/* Parents within the list, as places. */
static void make_parents(struct pick_bisect *p)
{
	size_t room = 0;
	uint32_t used = 0;

	p->start = xcalloc(p->n + (size_t)1, sizeof(*p->start));
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t n;
		const uint32_t *parent = limit_parents(&p->limit, p->history,
						       to_history(p, p->list[i]), &n);

		if (p->o.first_parent && n > 1)
			n = 1;
		xgrow(&p->parent, &room, used + n, sizeof(*p->parent));
		for (uint32_t k = 0; k < n; k++)
			if (p->place_of[parent[k]] != DAG_NONE)
				p->parent[used++] = p->place_of[parent[k]];
		p->start[i + 1] = used;
	}
}

static uint32_t parents(const struct pick_bisect *p, uint32_t place)
{
	return p->start[place + 1] - p->start[place];
}

static void weigh(struct pick_bisect *p)
{
	const struct reach_graph g = {
		.n = p->n,
		.start = p->start,
		.parent = p->parent,
		.free = p->same,
	};

	p->order = xcalloc(p->n + (size_t)1, sizeof(*p->order));
	p->reach = xcalloc(p->n + (size_t)1, sizeof(*p->reach));
	p->weight = xcalloc(p->n + (size_t)1, sizeof(*p->weight));
	reach_order(&g, p->order);
	reach_weights(&g, p->order, p->reach);
	for (uint32_t i = 0; i < p->n; i++)
		p->weight[i] = (int32_t)p->reach[i];
}

static bool is_halfway(const struct pick_bisect *p, uint32_t place)
{
	int64_t diff = 2 * (int64_t)p->weight[place] - p->counting;

	if (p->same[place])
		return false;
	diff = diff < 0 ? -diff : diff;
	return diff <= 1 || diff < p->counting / 1024;
}

static int32_t distance(const struct pick_bisect *p, uint32_t place)
{
	int32_t w = p->weight[place], rest = (int32_t)p->counting - w;

	return rest < w ? rest : w;
}

/*
 * In which of git's passes over the list a commit's weight becomes known: 0
 * for roots and merges, which it counts first. A parent further down the list
 * costs one pass more. Commits of passes that git has no need of any more
 * (also because it counts treesame merges as done) stay unknown: weight -1.
 * Owned.
 */
static uint32_t *make_passes(struct pick_bisect *p)
{
	uint32_t *pass = xcalloc(p->n + (size_t)1, sizeof(*pass));
	_cleanup_free_ uint32_t *done = xcalloc(p->n + (size_t)2, sizeof(*done));
	uint32_t known = 0, last = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t x = p->order[i], q;

		if (parents(p, x) != 1) {
			known += parents(p, x) > 1 || !p->same[x];
			continue;
		}
		q = p->parent[p->start[x]];
		pass[x] = pass[q] ? pass[q] + (q > x) : 1;
		done[pass[x]] += !p->same[x];
	}
	while (known < p->counting && last < p->n)
		known += done[++last];
	for (uint32_t x = 0; x < p->n; x++)
		if (pass[x] > last)
			p->weight[x] = -1;
	return pass;
}

/* Rule 4: the first halfway merge, else the first halfway commit, else the nearest to it. */
static uint32_t choose(struct pick_bisect *p)
{
	_cleanup_free_ uint32_t *pass = make_passes(p);
	uint32_t best = DAG_NONE;
	int32_t most = -1;

	for (uint32_t x = 0; x < p->n; x++)
		if (parents(p, x) > 1 && is_halfway(p, x))
			return x;
	for (uint32_t x = 0; x < p->n; x++)
		if (parents(p, x) == 1 && p->weight[x] >= 0 && is_halfway(p, x) &&
		    (best == DAG_NONE || pass[x] < pass[best]))
			best = x;
	if (best != DAG_NONE)
		return best;
	best = 0;
	for (uint32_t x = 0; x < p->n; x++) {
		if (p->same[x] || distance(p, x) <= most)
			continue;
		most = distance(p, x);
		best = x;
	}
	return best;
}

/* Best distance first, then object names. */
static int by_distance(const void *a, const void *b, void *cookie)
{
	const struct pick_bisect *p = cookie;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int32_t dx = distance(p, x), dy = distance(p, y);

	if (dx != dy)
		return dx < dy ? 1 : -1;
	return commit_cmp(&p->dag->id[p->list[x]], &p->dag->id[p->list[y]]);
}

/* Integer square root, to the last bit as git rounds it. */
static int32_t root(int32_t value)
{
	volatile float x = (float)value, step;

	if (!value)
		return 0;
	do {
		volatile float y = (x + (float)value / x) / 2;

		step = y > x ? y - x : x - y;
		x = y;
	} while (step >= 0.5f);
	return (int32_t)x;
}

/* 32-bit product that wraps as the hardware does. */
static int32_t wrap_mul(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a * (uint32_t)b);
}

/* How far to go from the best commit when it is skipped. */
static int32_t skip_index(uint32_t count)
{
	int32_t random = (int32_t)((count * 1103515245u + 12345u) / 65536 % 32768);
	int32_t index = wrap_mul((int32_t)count, random) / 32768;

	return wrap_mul(index, root(random)) / root(32768);
}

/* Rule 5. Returns DAG_NONE when all are skipped. @tried: skipped ones stand before it. */
static uint32_t choose_around_skipped(struct pick_bisect *p, const enum dag_mark *mark,
				      uint32_t bad, bool *tried)
{
	_cleanup_free_ uint32_t *sorted = xcalloc(p->n + (size_t)1, sizeof(*sorted));
	uint32_t n = 0, count = 0;
	int32_t at;

	free(make_passes(p));
	for (uint32_t x = 0; x < p->n; x++)
		if (!p->same[x])
			sorted[n++] = x;
	qsort_r(sorted, n, sizeof(*sorted), by_distance, p);
	n = n ? n : 1;
	*tried = mark[p->list[sorted[0]]] == DAG_SKIP;
	if (!*tried)
		return sorted[0];
	for (uint32_t i = 0; i < n; i++)
		if (mark[p->list[sorted[i]]] != DAG_SKIP)
			sorted[count++] = sorted[i];
	if (!count)
		return DAG_NONE;
	at = skip_index(count);
	if (at < 0 || (uint32_t)at >= count)
		at = 0;
	/* not bad itself, if it can be helped */
	if (p->list[sorted[at]] == bad)
		at = at ? at - 1 : 0;
	return sorted[at];
}

/* What is left after this pick: see pick_bisect_left(). */
static void set_left(struct pick_bisect *p, const enum dag_mark *mark, uint32_t bad,
		     enum pick_kind kind)
{
	p->left = xrealloc(p->left, p->n + (size_t)1, sizeof(*p->left));
	p->n_left = 0;
	for (uint32_t x = 0; x < p->n; x++) {
		uint32_t node = p->list[x];

		if (!p->same[x] && (p->o.alike || kind != PICK_ONLY_SKIPPED ||
				    mark[node] == DAG_SKIP || node == bad))
			p->left[p->n_left++] = node;
	}
}

static bool has_skip(const struct pick_bisect *p, const enum dag_mark *mark)
{
	for (uint32_t i = 0; i < p->dag->n; i++)
		if (mark[i] == DAG_SKIP)
			return true;
	return p->o.any_skip;
}

/* Returns DAG_NONE when only skipped ones and their shadow are left (pick_borders.h). */
static uint32_t choose_by_borders(struct pick_bisect *p, const enum dag_mark *mark, uint32_t bad)
{
	struct borders b = {
		.n = p->n,
		.counting = p->counting,
		.list = p->list,
		.order = p->order,
		.start = p->start,
		.parent = p->parent,
		.weight = p->reach,
		.same = p->same,
		.mark = mark,
		.alike = p->o.alike,
		.bad = bad,
	};

	if (!borders_has_skipped(&b))
		return choose(p);
	b.porous = borders_are_porous(p->dag, mark, p->o.alike);
	return borders_pick(&b);
}

static void decide(struct pick_bisect *p, const enum dag_mark *mark, uint32_t bad, struct pick *out)
{
	bool tried = false;
	uint32_t x;

	if (!p->n)
		return;
	make_parents(p);
	weigh(p);
	if (p->o.alike)
		x = choose_by_borders(p, mark, bad);
	else
		x = has_skip(p, mark) ? choose_around_skipped(p, mark, bad, &tried) : choose(p);
	if (x == DAG_NONE) {
		out->kind = PICK_ONLY_SKIPPED;
	} else if (p->counting) {
		out->node = p->list[x];
		out->kind = PICK_TEST;
		if (out->node == bad)
			out->kind = tried ? PICK_ONLY_SKIPPED : PICK_FOUND;
	}
}

void pick_bisect_next(struct pick_bisect *p, const enum dag_mark *mark, uint32_t bad,
		      struct pick *out)
{
	*out = (struct pick){ .kind = PICK_EMPTY, .node = DAG_NONE };
	if (p->dag->n && bad != DAG_NONE) {
		make_list(p, mark, bad);
		decide(p, mark, bad, out);
		out->left = p->counting;
		out->steps = pick_bisect_steps(p->counting);
		set_left(p, mark, bad, out->kind);
	}
	clear(p);
}

uint32_t pick_bisect_left(const struct pick_bisect *p, const uint32_t **nodes)
{
	*nodes = p->left;
	return p->n_left;
}

uint32_t pick_bisect_steps(uint32_t n)
{
	uint32_t log = 0, power;

	if (n < 3)
		return 0;
	while (n >> (log + 1))
		log++;
	power = UINT32_C(1) << log;
	return power < 3 * (n - power) ? log : log - 1;
}
