/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The candidate commits of a hunt and their parents, as indices. */
#include "core/dag.h"

#include <stdlib.h>

#include "base/str.h"
#include "core/history.h"

void dag_release(struct dag *d)
{
	free(d->id);
	free(d->time);
	free(d->treesame);
	free(d->parent_start);
	free(d->parent);
	free(d->index);
	free(d->to_history);
	if (d->history)
		history_release(d->history);
	free(d->history);
	*d = (struct dag)DAG_INIT;
}

uint32_t dag_add(struct dag *d, const struct commit_id *id, int64_t time)
{
	size_t room = d->node_room;

	xgrow(&d->id, &d->node_room, d->n + 1, sizeof(*d->id));
	if (d->node_room != room) {
		d->time = xrealloc(d->time, d->node_room, sizeof(*d->time));
		d->parent_start = xrealloc(d->parent_start, d->node_room + 1,
					   sizeof(*d->parent_start));
	}
	d->id[d->n] = *id;
	d->time[d->n] = time;
	return d->n++;
}

static void begin_up_to(struct dag *d, uint32_t node)
{
	while (d->begun <= node)
		d->parent_start[d->begun++] = d->parents;
}

void dag_parent(struct dag *d, uint32_t node, uint32_t parent)
{
	begin_up_to(d, node);
	xgrow(&d->parent, &d->parent_room, d->parents + 1, sizeof(*d->parent));
	d->parent[d->parents++] = parent;
}

/* Where @id is in the index, or the empty slot where it would be. */
static uint32_t *find_slot(const struct dag *d, const struct commit_id *id)
{
	uint32_t slot;

	/* object names are hashes already */
	memcpy(&slot, id->raw, sizeof(slot));
	slot &= d->index_size - 1;
	while (d->index[slot] != DAG_NONE && !commit_eq(&d->id[d->index[slot]], id))
		slot = (slot + 1) & (d->index_size - 1);
	return &d->index[slot];
}

void dag_finish(struct dag *d)
{
	if (!d->parent_start)
		d->parent_start = xcalloc(1, sizeof(*d->parent_start));
	begin_up_to(d, d->n);
	d->index_size = 16;
	while (d->index_size < 2 * d->n)
		d->index_size *= 2;
	d->index = xrealloc(d->index, d->index_size, sizeof(*d->index));
	memset(d->index, 0xff, d->index_size * sizeof(*d->index));
	for (uint32_t i = 0; i < d->n; i++)
		*find_slot(d, &d->id[i]) = i;
}

uint32_t dag_candidates(const struct dag *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n; i++)
		n += !d->treesame || !d->treesame[i];
	return n;
}

uint32_t dag_find(const struct dag *d, const struct commit_id *id)
{
	return d->n ? *find_slot(d, id) : DAG_NONE;
}

void dag_mark_ancestors(const struct dag *d, uint32_t node, bool *mark)
{
	_cleanup_free_ uint32_t *stack = NULL;
	size_t room = 0, depth = 1;

	if (mark[node])
		return;
	xgrow(&stack, &room, 1, sizeof(*stack));
	stack[0] = node;
	mark[node] = true;
	while (depth) {
		uint32_t x = stack[--depth];

		xgrow(&stack, &room, depth + dag_parent_count(d, x), sizeof(*stack));
		for (uint32_t i = d->parent_start[x]; i < d->parent_start[x + 1]; i++) {
			uint32_t p = d->parent[i];

			if (mark[p])
				continue;
			mark[p] = true;
			stack[depth++] = p;
		}
	}
}
