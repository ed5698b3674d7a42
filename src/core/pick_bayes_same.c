/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: commits whose kernels are one and the same. */
#include "core/pick_bayes_internal.h"

#include <stdlib.h>

#include "base/str.h"

/* The old end stays itself, then the new end, then the older commit. */
static bool is_first(const struct bayes *b, uint32_t x, uint32_t y)
{
	if (x == b->n || y == b->n)
		return x == b->n;
	if (x == b->o.dag->tip || y == b->o.dag->tip)
		return x == b->o.dag->tip;
	return x < y;
}

static void move_boots(struct bayes *b, struct measured *from, struct measured *to)
{
	for (uint32_t u = 0; u < from->n_builds; u++) {
		const struct build *old = &from->build[u];
		struct build *new = bayes_build_get(b, to, old->layout);

		xgrow(&new->boot, &new->room, new->n + (size_t)old->n, sizeof(*new->boot));
		for (uint32_t i = 0; i < old->n; i++)
			new->boot[new->n++] = old->boot[i];
		bayes_build_release(old);
	}
	to->boots += from->boots;
	from->boots = from->n_builds = 0;
}

/* All that is stored under @from is stored under @to from now on. */
static void rename_boots(struct bayes *b, uint32_t from, uint32_t to)
{
	struct measured *f = bayes_measured(b, from), *t = bayes_measured(b, to);

	if (f && t)
		move_boots(b, f, t);
	else if (f)
		f->node = to;
	for (uint32_t x = 0; x <= b->n; x++) {
		if (b->alias[x] == from)
			b->alias[x] = to;
		if (b->alias[x] == to)
			b->slot[x] = t ? b->slot[to] : b->slot[from];
	}
}

/* One kernel is in one state: what is in the one's history and not in the other's changes nothing. */
static void clear_between(struct bayes *b, uint32_t x, uint32_t y)
{
	_cleanup_free_ bool *in_x = xcalloc(b->n + (size_t)1, sizeof(*in_x));
	_cleanup_free_ bool *in_y = xcalloc(b->n + (size_t)1, sizeof(*in_y));

	if (x < b->n)
		dag_mark_ancestors(b->o.dag, x, in_x);
	if (y < b->n)
		dag_mark_ancestors(b->o.dag, y, in_y);
	for (uint32_t k = 0; k < b->n; k++)
		if (in_x[k] != in_y[k])
			b->prior[k] = 0;
}

int bayes_same_build(struct bayes *b, uint32_t node, uint32_t other)
{
	uint32_t x, y;

	if (node > b->n || other > b->n)
		return -1;
	if (!b->alias) {
		b->alias = xcalloc(b->n + (size_t)1, sizeof(*b->alias));
		for (uint32_t k = 0; k <= b->n; k++)
			b->alias[k] = k;
	}
	x = b->alias[node];
	y = b->alias[other];
	if (x == y)
		return 0;
	clear_between(b, node, other);
	if (is_first(b, x, y))
		rename_boots(b, y, x);
	else
		rename_boots(b, x, y);
	b->step_known = false;
	bayes_refresh(b);
	return 0;
}
