/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to engine*.c: the engine's state, and what its parts need of each other. */
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

/* One trial of a candidate or end, as bayes is told of it. */
struct told {
	uint32_t node, layout;
	enum trial_outcome outcome;
	double value;  /* TRIAL_OK: the median … */
	unsigned runs; /* … of so many, which had this deviation (NAN: not known) */
	double run_sd;
	uint32_t alike; /* of a failure */
	uint32_t twin;  /* DAG_NONE: measured itself; else the commit whose boot this is */
};

/* Seconds so far, for the prices. */
struct spent {
	double build, boot, run;
	unsigned builds, boots;
};

/*
 * What search = bayes and auto know beside the engine. All trials are kept in their order, so that
 * the model can be made when it is wanted, and anew when what is said for certain changes.
 */
struct engine_bayes {
	struct told *told;
	size_t n_told, room;
	struct spent spent;
	struct stats_pool runs; /* within boots */
	bool *cached;           /* dag->n + 1 */
	struct engine_choice choice;

	struct bayes *model;    /* NULL: not wanted (yet) */
	bool by_outcome;        /* pass or fail: what failed, or lies beyond the threshold */
	bool pass;              /* pass or fail: all values are 0 or 1, or by_outcome */
	double *prior;          /* dag->n; without what is excluded */
	unsigned failed_end[2]; /* how often in a row: the old one, the new one */
	bool searched;          /* the search has begun */

	/* answers to questions, made when they are asked */
	bool list_known;
	struct bayes_candidate *list;
	uint32_t *left, n_list;
	struct engine_move *move;
	size_t n_moves, move_room;
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
	uint32_t layout;

	enum dag_mark *mark;
	uint32_t *alike; /* of skipped candidates */
	uint32_t bad;    /* git's one bad ref */
	struct engine_move *move;
	size_t n_moves, move_room;
	uint32_t bases_told; /* merge bases that are in move already */
	struct pick_bisect *picker;
	struct pick pick;

	struct engine_bayes bayes;

	bool *scratch, *scratch2; /* dag->n each */
	uint32_t *all, n_all;     /* candidates before the search */
};

enum { GOOD_END = 0, BAD_END = 1 };

/* The commit as measured; NULL: it was not. */
static inline struct measured *engine_measured_of(const struct engine *e, uint32_t node)
{
	return e->slot[node] ? e->commit[e->slot[node] - 1] : NULL;
}

static inline bool engine_has_trial(const struct measured *m)
{
	return m->data.n || m->data.failed;
}

/* Verdicts speak of the metric, the walk of history: old and new. */
static inline bool engine_is_new_state(const struct engine *e, enum verdict v)
{
	return v == (e->o.hunt_fix ? VERDICT_GOOD : VERDICT_BAD);
}

static inline bool engine_is_old_state(const struct engine *e, enum verdict v)
{
	return v == (e->o.hunt_fix ? VERDICT_BAD : VERDICT_GOOD);
}

/* May this end be judged by its failure alone? */
bool engine_is_failure_acceptable(const struct engine *e, int end);
/* No search: what is known of each end goes with the refusal. */
void engine_refuse_ends(struct engine *e, enum engine_status status, uint32_t node);

/* engine_bayes.c: the model and what it is told. */
void engine_bayes_init(struct engine *e);
void engine_bayes_release(struct engine *e);
/* The trial was added to @m; @ok: it gave a value. */
void engine_bayes_tell(struct engine *e, const struct measured *m, const struct trial *t, bool ok);
/* Make the model of all that was told. */
void engine_bayes_make(struct engine *e);
/* Mean seconds by now. */
struct bayes_price engine_price(const struct engine *e);
static inline bool engine_is_bayes(const struct engine *e)
{
	return e->bayes.model != NULL;
}

/* engine_bayes_walk.c: what the model's steps do to the search. */
/* verdict_ends() took a look at the ends: is it bayes from now on? */
void engine_bayes_choose(struct engine *e);
/* After a look at the ends with bayes: search, refuse, or another boot. */
void engine_bayes_ends(struct engine *e);
void engine_bayes_next(struct engine *e);

/* engine_belief.c: answers. */
/* The word for a measured commit. */
enum verdict engine_bayes_verdict(const struct engine *e, const struct measured *m);
size_t engine_bayes_moves(const struct engine *e, const struct engine_move **moves);
/* The credible set, the largest share first; @left may be NULL. */
uint32_t engine_bayes_left(const struct engine *e, const uint32_t **left);
/* Boots left. */
uint32_t engine_bayes_steps(const struct engine *e);

/* What was said of @node and counts; VERDICT_UNSET: nothing. */
enum verdict engine_given_of(const struct engine *e, uint32_t node);
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
