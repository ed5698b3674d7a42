/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A piece of history in memory: commits and their parents by index. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/history.h"

void history_release(struct history *h)
{
	free(h->id);
	free(h->time);
	free(h->parent_start);
	free(h->parent_end);
	free(h->parent);
	free(h->content);
	free(h->older);
	free(h->index);
	*h = (struct history)HISTORY_INIT;
}

/* Object names are hashes already: any four bytes of them will do. */
static uint32_t slot_of(const struct commit_id *id, uint32_t size)
{
	uint32_t hash;

	memcpy(&hash, id->raw, sizeof(hash));
	return hash & (size - 1);
}

static uint32_t *find_slot(const struct history *h, const struct commit_id *id)
{
	uint32_t slot = slot_of(id, h->index_size);

	while (h->index[slot] != HISTORY_NONE && !commit_eq(&h->id[h->index[slot]], id))
		slot = (slot + 1) & (h->index_size - 1);
	return &h->index[slot];
}

static void grow_index(struct history *h)
{
	h->index_size = h->index_size ? 2 * h->index_size : 256;
	h->index = xrealloc(h->index, h->index_size, sizeof(*h->index));
	memset(h->index, 0xff, h->index_size * sizeof(*h->index));
	for (uint32_t i = 0; i < h->n; i++)
		*find_slot(h, &h->id[i]) = i;
}

static void grow_nodes(struct history *h)
{
	size_t room = h->room;

	xgrow(&h->id, &h->room, h->n + 1, sizeof(*h->id));
	if (h->room == room)
		return;
	h->time = xrealloc(h->time, h->room, sizeof(*h->time));
	h->parent_start = xrealloc(h->parent_start, h->room, sizeof(*h->parent_start));
	h->parent_end = xrealloc(h->parent_end, h->room, sizeof(*h->parent_end));
}

uint32_t history_node(struct history *h, const struct commit_id *id)
{
	uint32_t *slot;

	if (2 * (h->n + 1) > h->index_size)
		grow_index(h);
	slot = find_slot(h, id);
	if (*slot != HISTORY_NONE)
		return *slot;
	grow_nodes(h);
	h->id[h->n] = *id;
	h->time[h->n] = -1;
	h->parent_start[h->n] = h->parent_end[h->n] = 0;
	*slot = h->n;
	return h->n++;
}

uint32_t history_find(const struct history *h, const struct commit_id *id)
{
	return h->index_size ? *find_slot(h, id) : HISTORY_NONE;
}

void history_set(struct history *h, uint32_t node, int64_t time, const struct commit_id *parents,
		 size_t n)
{
	xgrow(&h->parent, &h->parent_room, h->parents + n, sizeof(*h->parent));
	h->time[node] = time < 0 ? 0 : time;
	h->parent_start[node] = h->parents;
	for (size_t i = 0; i < n; i++)
		h->parent[h->parents++] = history_node(h, &parents[i]);
	h->parent_end[node] = h->parents;
}

void history_add_older(struct history *h, uint32_t node)
{
	xgrow(&h->older, &h->older_room, h->n_older + 1, sizeof(*h->older));
	h->older[h->n_older++] = node;
}
