/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which commit to measure next, and what the measured ones say: pure, replayable. */
#ifndef KR_CORE_ENGINE_H
#define KR_CORE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/dag.h"
#include "core/pick_bisect.h"
#include "core/trial.h"
#include "core/verdict.h"

/*
 * A verdict that was said, not measured: by a person in a bisect log, or skip = in the file.
 * Counts as soon as the ends are apart, and before what was measured of that commit. With
 * @recheck it does not count: the commit is measured before the search instead.
 */
struct engine_given {
	uint32_t node;        /* a candidate or merge base */
	enum verdict verdict; /* GOOD, BAD, SKIP: in the metric's words */
	bool recheck;
};

/*
 * Commits are numbered: 0 … dag->n − 1 the candidates, dag->n the old end (it
 * is no candidate), dag->n + 1 … the merge bases. The new end is dag->tip.
 * Old and new are history's words; good and bad are the metric's: in a
 * regression hunt the old end is the good one, in a fix hunt the bad one.
 */
struct engine_opts {
	const struct dag *dag; /* borrowed; must outlive the engine; its tip is set */
	uint32_t merge_bases;  /* how many must be tested first (0: old is an ancestor of new) */
	bool hunt_fix;
	bool first_parent;
	bool borders; /* skipped commits are walked by the borders of what fails alike, else as git does */
	bool any_skip; /* commits outside the candidates are skipped: see pick_opts */
	const struct engine_given *given; /* borrowed; must outlive the engine */
	size_t n_given;
	struct verdict_opts verdict;
};

/*
 * ENDS: always the end with fewer ok boots, the good one first (G B G B …), until both have
 * max(end_boots, min_boots), then looks by verdict_ends(), one more boot of each between two
 * looks, until max(max_boots, end_boots). An end that fails is END_UNMEASURED, unless it is
 * the bad one, policy calls that failure bad, and the threshold is absolute or relative: then
 * the good end is measured alone.
 * RECHECK: those given that are to be measured, in their order.
 * MERGE_BASES: each must be in the old state; skipped and unsure ones are passed over.
 * SEARCH: pick_bisect's commit, booted until its verdict; unsure is walked like a skip.
 */
enum engine_phase {
	PHASE_ENDS = 1,
	PHASE_RECHECK,
	PHASE_MERGE_BASES,
	PHASE_SEARCH,
	PHASE_CONFIRM, /* reserved: not entered yet */
	PHASE_DONE,
};

struct engine_step {
	enum engine_phase phase;
	uint32_t node;  /* the commit to boot once; undefined in PHASE_DONE */
	unsigned boot;  /* 1-based: which boot of this commit it will be */
	uint32_t left;  /* candidates left */
	uint32_t steps; /* picks left, as git estimates */
};

enum engine_status {
	ENGINE_RUNNING = 0,
	ENGINE_FOUND,          /* culprit is the one */
	ENGINE_SHORT_LIST,     /* only skipped ones are left: see left */
	ENGINE_NO_DIFFERENCE,  /* the ends do not differ */
	ENGINE_SWAPPED,        /* they differ the other way round */
	ENGINE_SAME_SIDE,      /* they differ, both on one side of the threshold */
	ENGINE_END_UNMEASURED, /* an end failed (node says which) */
	ENGINE_BAD_MERGE_BASE, /* a merge base is in the new state already (node) */
	ENGINE_NOT_CONFIRMED, /* reserved: found, but fresh boots of it and its parent do not differ so */
};

struct engine_result {
	enum engine_status status;
	uint32_t node; /* culprit, failed end, bad merge base; else DAG_NONE */
	/* Candidates that are left, also while running; list order; borrowed until the next call. */
	const uint32_t *left;
	uint32_t n_left;
};

/* One commit that was measured. Borrowed. */
struct engine_commit {
	uint32_t node;
	enum verdict verdict; /* UNSET while it is being measured; never changes once made */
	const struct verdict_data *data;
	struct stats_interval interval; /* valid when data->n > 0 */
};

/*
 * All state is a function of the trials told, in their order: never of when engine_next() or
 * engine_result() was called. So a replay of the log gives the same steps.
 */
struct engine;
struct engine *engine_new(const struct engine_opts *o);
void engine_free(struct engine *e);

/* The next step; the same answer until engine_observe() is called. Cannot fail. */
void engine_next(struct engine *e, struct engine_step *step);

/*
 * Tell one trial of @node (any commit, asked for or not: a replayed or taken
 * over one counts the same). After PHASE_DONE it is ignored, as is a node that does not exist.
 * A commit not asked for gets its verdict as soon as its boots suffice (none before the ends are
 * apart). It moves the search unless it contradicts it: new state outside the candidates,
 * or old state in a descendant of the commit that is called new.
 */
void engine_observe(struct engine *e, uint32_t node, const struct trial *t);

void engine_result(struct engine *e, struct engine_result *r);

/*
 * What moved the search, in order: exactly what git bisect would have been told. The ends are
 * not in it, nor verdicts that contradicted what was known.
 */
struct engine_move {
	uint32_t node;
	enum dag_mark mark; /* DAG_BAD: new state, DAG_GOOD: old state, DAG_SKIP */
};
/* Borrowed until the next call; returns the count. */
size_t engine_moves(const struct engine *e, const struct engine_move **moves);

/* The ends as last looked at; state 0 before the first look. Kept when the search begins. */
const struct ends *engine_ends(const struct engine *e);
/* Pooled boot-to-boot deviation so far. */
const struct stats_pool *engine_pool(const struct engine *e);
/* Commits in the order of first testing (ends first). */
uint32_t engine_tested_count(const struct engine *e);
void engine_tested(const struct engine *e, uint32_t i, struct engine_commit *out);
/* Data of one node; false when it was never measured. */
bool engine_commit_of(const struct engine *e, uint32_t node, struct engine_commit *out);

const char *engine_phase_name(enum engine_phase p);

#endif
