/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The candidate commits of a hunt and their parents, as indices. */
#ifndef KR_CORE_DAG_H
#define KR_CORE_DAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/commit.h"

struct history;

#define DAG_NONE UINT32_MAX

/*
 * Nodes 0 … n-1 are what `git rev-list <bad> --not <good>` lists (with the
 * same --first-parent and paths), in git's bisection list order: oldest first
 * (FACTS.md 1, rule 2). Parents are only those within the set; a parent may
 * have a larger index than its child under clock skew.
 * With paths the nodes are those without paths; treesame tells which of them
 * rev-list leaves out (see dag_candidates()).
 * Built by dag_add() for each node in list order, then dag_parent() in parent
 * order, then dag_finish().
 */
struct dag {
	uint32_t n;
	struct commit_id *id;
	int64_t *time;          /* committer time, seconds */
	bool *treesame;         /* with paths: does not touch them (no candidate); NULL: none */
	uint32_t *parent_start; /* n + 1 offsets into parent */
	uint32_t *parent;
	uint32_t tip; /* the bad end, or DAG_NONE */
	/*
	 * What was read around the candidates, so that later picks see what git
	 * sees; NULL: the nodes are all there is. Owned, as is the map into it.
	 */
	struct history *history;
	uint32_t *to_history;
	/* private: open-addressing index from id to node, room for building */
	uint32_t *index;
	uint32_t index_size;
	size_t node_room, parent_room;
	uint32_t parents, begun; /* parents given, nodes whose parent_start is set */
};
#define DAG_INIT                \
	{                       \
		.tip = DAG_NONE \
	}

void dag_release(struct dag *d);
/* Append a node; returns its index. */
uint32_t dag_add(struct dag *d, const struct commit_id *id, int64_t time);
/* Append @parent to the parents of @node; nodes in ascending order. */
void dag_parent(struct dag *d, uint32_t node, uint32_t parent);
/* Ends building: offsets complete, index made. */
void dag_finish(struct dag *d);
/* How many nodes are candidates: all that are not treesame; what rev-list --count says. */
uint32_t dag_candidates(const struct dag *d);
/* Node of @id, DAG_NONE: not in the set. */
uint32_t dag_find(const struct dag *d, const struct commit_id *id);
static inline uint32_t dag_parent_count(const struct dag *d, uint32_t node)
{
	return d->parent_start[node + 1] - d->parent_start[node];
}
static inline const uint32_t *dag_parents(const struct dag *d, uint32_t node)
{
	return d->parent + d->parent_start[node];
}
/* Set @mark[i] for @node and all its ancestors in the set; @mark has n entries. */
void dag_mark_ancestors(const struct dag *d, uint32_t node, bool *mark);

#endif
