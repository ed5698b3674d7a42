/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to engine*.c: the engine's state, and what its two halves need of each other. */
#ifndef KR_CORE_ENGINE_INTERNAL_H
#define KR_CORE_ENGINE_INTERNAL_H

#include "core/engine.h"

/* A commit with trials (the ends: also before they have any). */
struct measured {
	uint32_t node;
	enum verdict verdict;
	uint32_t alike; /* of its failure */
	double mean;    /* running, of data.boot */
	struct verdict_data data;
};

struct engine {
	struct engine_opts o;
	uint32_t nodes; /* candidates, old end, merge bases */
	uint32_t *slot; /* node → 1 + index into commit; 0: none */
	/* In order of first testing; 0 and 1 are the good and the bad end. */
	struct measured **commit;
	size_t n_commits, room;
	struct stats_pool pool;
	struct ends ends;
	size_t look; /* boots that both ends need before they are looked at next */

	enum engine_phase phase;
	enum engine_status status;
	uint32_t node; /* to boot next; when done: engine_result.node */

	enum dag_mark *mark;
	uint32_t *alike; /* of skipped candidates */
	uint32_t bad;    /* git's one bad ref */
	struct engine_move *move;
	size_t n_moves, move_room;
	uint32_t bases_told; /* merge bases that are in move already */
	struct pick_bisect *picker;
	struct pick pick;

	bool *scratch, *scratch2; /* dag->n each */
	uint32_t *all, n_all;     /* candidates before the search */
};

enum { GOOD_END = 0, BAD_END = 1 };

/* The commit as measured; NULL: it was not. */
static inline struct measured *engine_measured_of(const struct engine *e, uint32_t node)
{
	return e->slot[node] ? e->commit[e->slot[node] - 1] : NULL;
}

/* Nothing more to do. */
void engine_finish(struct engine *e, enum engine_status status, uint32_t node);
/* True when @m got its verdict now; it has moved the search. */
bool engine_decide(struct engine *e, struct measured *m);

/* The ends are apart: what was said and measured early counts, then the first commit is picked. */
void engine_search_begin(struct engine *e);
/* A commit of that phase got its verdict: set the next one, or the next phase. */
void engine_recheck_next(struct engine *e);
void engine_merge_bases_next(struct engine *e);
void engine_search_next(struct engine *e);

#endif
