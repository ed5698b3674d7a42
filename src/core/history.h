/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A piece of history in memory, and git's walk that limits it to the candidates. */
#ifndef KR_CORE_HISTORY_H
#define KR_CORE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/commit.h"

#define HISTORY_NONE UINT32_MAX

/*
 * Commits by index, in the order in which they were first heard of. A commit
 * that was heard of as a parent only has no time and no parents yet.
 */
struct history {
	uint32_t n;
	struct commit_id *id;
	int64_t *time;                       /* committer time, seconds; -1: not loaded */
	uint32_t *parent_start, *parent_end; /* offsets into parent */
	uint32_t *parent;
	/*
	 * With paths: commits with the same number have the same content there,
	 * 0 has none of them. NULL: no paths.
	 */
	uint32_t *content;
	uint32_t *older; /* the older ends, in the order given */
	size_t n_older;
	/* private */
	size_t room, parent_room, older_room;
	uint32_t parents; /* used of parent */
	uint32_t *index;
	uint32_t index_size;
};
#define HISTORY_INIT   \
	{              \
		.n = 0 \
	}

void history_release(struct history *h);
/* Index of @id, added (not loaded) if new. */
uint32_t history_node(struct history *h, const struct commit_id *id);
/* Index of @id or HISTORY_NONE. */
uint32_t history_find(const struct history *h, const struct commit_id *id);
static inline bool history_is_loaded(const struct history *h, uint32_t node)
{
	return h->time[node] >= 0;
}
/* Load @node: its committer time (< 0 counts as 0) and its parents, all of them in order. */
void history_set(struct history *h, uint32_t node, int64_t time, const struct commit_id *parents,
		 size_t n);
/* One more older end. */
void history_add_older(struct history *h, uint32_t node);

/*
 * Load @node, the parent of @child (HISTORY_NONE: an end). Returns 0, or -1:
 * it is not there; @e tells why.
 */
typedef int history_load_fn(void *cookie, struct history *h, uint32_t node, uint32_t child,
			    struct err *e);

/* A walk: scratch that is kept from one to the next, and the result. */
struct limit {
	/* result: candidates, oldest first (FACTS 1 rule 2) */
	uint32_t *list;
	uint32_t n;
	/* private */
	uint8_t *flag;
	uint32_t *kept;
	struct limit_pending *heap;
	size_t list_room, flag_room, kept_room, heap_room;
	uint32_t pending, interesting, seq;
};

struct limit_opts {
	uint32_t tip;
	const uint32_t *older;
	size_t n_older;
	bool first_parent;
	bool simplify;         /* leave out side branches that bring nothing to the paths */
	history_load_fn *load; /* NULL: what is not loaded ends the history */
	void *cookie;
};

/*
 * The walk of `git rev-list tip --not older…`: by committer time, the newest
 * first, until all that is pending is known to be reachable from an older end
 * and five more such commits were seen. Under heavy clock skew that is not
 * always the exact difference of the two sets, but it is what git works with.
 * Returns -1 when a candidate's parent cannot be loaded.
 */
int limit_walk(struct limit *l, struct history *h, const struct limit_opts *o, struct err *e);
void limit_release(struct limit *l);

/* After a walk. Is @node a candidate, TREESAME ones (rev-list does not print them) included? */
bool limit_has(const struct limit *l, uint32_t node);
/* Does @node leave the paths as they are in its parents? */
bool limit_is_same(const struct limit *l, uint32_t node);
/* Parents of @node as the walk left them; may hold commits that are no candidates. */
const uint32_t *limit_parents(const struct limit *l, const struct history *h, uint32_t node,
			      uint32_t *count);

#endif
