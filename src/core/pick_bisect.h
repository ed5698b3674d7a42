/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The next commit to test: the very one that git bisect picks. */
#ifndef KR_CORE_PICK_BISECT_H
#define KR_CORE_PICK_BISECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/dag.h"

/* What is known of each node. Values a caller may set; 0 is "nothing known". */
enum dag_mark { DAG_UNKNOWN = 0, DAG_GOOD, DAG_BAD, DAG_SKIP };

enum pick_kind {
	PICK_TEST = 1,     /* test this one next */
	PICK_FOUND,        /* node is the first bad commit */
	PICK_ONLY_SKIPPED, /* only skipped commits are left to test: see pick_bisect_left() */
	PICK_EMPTY,        /* no candidate: bad is reachable from good, or none touches the paths */
};

struct pick {
	enum pick_kind kind;
	uint32_t node;  /* PICK_TEST, PICK_FOUND */
	uint32_t left;  /* candidates left (n of FACTS.md 1), itself included */
	uint32_t steps; /* steps left as git estimates them (rule 8) */
};

struct pick_opts {
	bool first_parent;
	/* Commits outside the dag are skipped, such as a merge base: git then sorts (rule 5). */
	bool any_skip;
	/*
	 * Borrowed, n entries that the caller keeps current: of DAG_SKIP nodes, the
	 * same number where they failed alike; 0: tells nothing of its neighbours
	 * (unsure, or the user's word). Skipped candidates are then walked by the
	 * borders of what is broken (pick_borders.h); while there are none, the pick
	 * is rule 4's, whatever is skipped elsewhere. NULL: as git walks them (rule 5).
	 */
	const uint32_t *alike;
};

/* Scratch and cached state for one dag; created once, so that later picks are cheap. */
struct pick_bisect;
struct pick_bisect *pick_bisect_new(const struct dag *d, const struct pick_opts *o);
void pick_bisect_free(struct pick_bisect *p);

/*
 * @mark: n entries. The bad commit is the DAG_BAD node that no other DAG_BAD
 * commit has moved past: git keeps one bad ref, so the caller passes @bad
 * explicitly (the tip at first, later the last commit called bad). Candidates
 * are the ancestors of @bad not reachable from a DAG_GOOD node.
 * Follows FACTS.md 1, rules 1–6 and 8. Deterministic; cannot fail.
 */
void pick_bisect_next(struct pick_bisect *p, const enum dag_mark *mark, uint32_t bad,
		      struct pick *out);

/*
 * After PICK_ONLY_SKIPPED: the commits one of which is the first bad one, bad
 * included (unless it does not touch the paths), in list order; with alike, also
 * untested ones amid those that failed alike. Else: the candidates that are left,
 * in list order. Borrowed until the next call; returns the count.
 */
uint32_t pick_bisect_left(const struct pick_bisect *p, const uint32_t **nodes);

/* Steps left for @n candidates, as git prints "roughly N steps" (rule 8). */
uint32_t pick_bisect_steps(uint32_t n);

#endif
