/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The next commit to test where some cannot be: a broken range is crossed by its borders. */
#ifndef KR_CORE_PICK_BORDERS_H
#define KR_CORE_PICK_BORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/pick_bisect.h"

/*
 * Skipped commits that failed alike are a group, seen as parts of one broken
 * range. What is both a descendant of one and an ancestor of another lies in
 * the group's shadow: broken as well, it is assumed. Beyond, a range of
 * unknown size (scale-free prior) ends before a commit at distance d with
 * probability log(1 + d) / log(1 + room), where room is what is left on that
 * side; distances are differences of weight (FACTS.md 1, rule 3). A commit
 * beside the range is broken with what its parents are: it has the same past.
 *
 * 1. Outside all shadows, the commit that promises most information: that
 *    probability (the least of all groups) times H(w/n), H the binary entropy.
 * 2. When only shadow is left, it is probed for a hole, far from what is known
 *    broken first: log(1 + d) H(w/n). All of it, if at most eight are left, else
 *    until 3 ceil(log2 n) + 1 commits in it are skipped; 6 ceil(log2 n) + 1 where a
 *    commit amid those that fail alike could be tested: what fails is no one range then.
 * Ties: the first in list order. A function of what it is given, not of earlier calls.
 */

/* The candidates of one pick, by place in list order. All borrowed. */
struct borders {
	uint32_t n;
	uint32_t counting;      /* those that are not treesame */
	const uint32_t *list;   /* place: its node */
	const uint32_t *order;  /* places, parents before children */
	const uint32_t *start;  /* parents of x: parent[start[x]] … parent[start[x + 1] - 1] */
	const uint32_t *parent; /* places */
	const uint32_t *weight; /* place: counting ones that it reaches, itself included */
	const bool *same;       /* place: treesame */
	/* by node */
	const enum dag_mark *mark;
	const uint32_t *alike; /* see struct pick_opts */
	uint32_t bad;
	bool porous; /* see borders_are_porous() */
};

/* Could a commit be tested that lies between two that failed alike? Looks at the whole @d. */
bool borders_are_porous(const struct dag *d, const enum dag_mark *mark, const uint32_t *alike);

/* Is there a skipped one among them? Without any, the pick is git's. */
bool borders_has_skipped(const struct borders *b);

/*
 * The place to test next, DAG_NONE: only skipped ones, shadow and bad are left.
 * Time is about the edges times the groups; cannot fail.
 */
uint32_t borders_pick(const struct borders *b);

#endif
