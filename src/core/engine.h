/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which commit to measure next, and what the measured ones say: pure, replayable. */
#ifndef KR_CORE_ENGINE_H
#define KR_CORE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/dag.h"
#include "core/pick_bayes.h"
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

enum engine_search {
	ENGINE_BISECT = 0, /* git's choice of commit, verdicts by threshold */
	ENGINE_BAYES,      /* pick_bayes */
	/*
	 * The ends are measured as for bisect. At each look at them: where one boot of a commit
	 * halfway between the ends' levels and the threshold could decide (the nearer end lies
	 * verdict_alpha()'s normal quantile of boot-to-boot deviations from it, or more), bisect;
	 * else bayes from then on. A threshold that is not auto asks for verdicts by it: bisect.
	 */
	ENGINE_AUTO,
};

/* What bayes and auto need beside the verdict's options. */
struct engine_noise {
	enum engine_search search;
	double build_sd;        /* BAYES_AUTO, or a deviation ≥ 0 … */
	bool build_sd_relative; /* … as a share of the good end's value, else in the metric's unit */
	bool deterministic;     /* nothing varies: one boot decides */
	bool rebuild;           /* another layout of a measured commit may be asked for */
	unsigned runs, warmups; /* of one boot, for the prices; 0 runs: 1 */
	unsigned max_end_boots; /* of each end, before they are called not different; 0: 60 */
	const double *prior;    /* borrowed; see bayes_opts; read when the ends have their boots */
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
	struct engine_noise noise;
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
 *
 * With bayes: ENDS lasts until pick_bayes would rather boot another commit than an end, and the
 * ends differ in the right direction; shown to be equivalent, swapped, or on one side of the
 * threshold they are refused as above. SEARCH: pick_bayes's step, an end again at times. What was
 * said of a commit, and a failure that counts as bad, leave no doubt: commits that they exclude
 * have no prior. Where the bad end fails, which counts as bad, or all values are 0 or 1, it is a
 * search for what passes and what fails, each by chance.
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
	uint32_t node;   /* the commit to boot once; undefined in PHASE_DONE */
	unsigned boot;   /* 1-based: which boot of this commit it will be */
	uint32_t layout; /* which build of it; 0: the usual one */
	uint32_t left;   /* candidates left; with bayes those of the credible set */
	uint32_t steps;  /* picks left, as git estimates; with bayes boots left */
};

enum engine_status {
	ENGINE_RUNNING = 0,
	ENGINE_FOUND,          /* culprit is the one */
	ENGINE_SHORT_LIST,     /* only skipped ones are left, with bayes a credible set: see left */
	ENGINE_NO_DIFFERENCE,  /* the ends do not differ */
	ENGINE_SWAPPED,        /* they differ the other way round */
	ENGINE_SAME_SIDE,      /* they differ, both on one side of the threshold */
	ENGINE_END_UNMEASURED, /* an end failed (node says which) */
	ENGINE_BAD_MERGE_BASE, /* a merge base is in the new state already (node) */
	ENGINE_NOT_CONFIRMED, /* reserved: found, but fresh boots of it and its parent do not differ so */
	ENGINE_BLIND, /* with bayes: the ends look alike, and boots enough to see effect are not allowed */
	ENGINE_NO_CULPRIT, /* with bayes: the ends looked apart, but no commit of the range did it */
};

struct engine_result {
	enum engine_status status;
	uint32_t node; /* culprit, failed end, bad merge base; else DAG_NONE */
	/*
	 * Candidates that are left, also while running; list order, with bayes the largest share
	 * first; borrowed until the next call.
	 */
	const uint32_t *left;
	uint32_t n_left;
};

/* One commit that was measured. Borrowed. */
struct engine_commit {
	uint32_t node;
	/*
	 * UNSET while it is being measured; never changes once made. With bayes, of a candidate:
	 * good or bad where its state is known with the confidence, else UNSET and at the end UNSURE.
	 */
	enum verdict verdict;
	double new_state; /* with bayes: chance of the new state; else NAN */
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

/*
 * A kernel of @node was built as @layout in @seconds (0: it was there already): from now on it is
 * cached. @node DAG_NONE: no commit of the engine's, only the price is learnt. Told in the order
 * of the log, between the trials: the steps of bayes depend on it, never what it concludes.
 */
void engine_built(struct engine *e, uint32_t node, uint32_t layout, double seconds);

void engine_result(struct engine *e, struct engine_result *r);

/*
 * What moved the search, in order: exactly what git bisect would have been told. The ends are
 * not in it, nor verdicts that contradicted what was known. With bayes: what it could be told
 * truthfully by now, the commits whose state is known with the confidence.
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

/* Which search it is by now, and for auto why. */
struct engine_choice {
	enum engine_search search; /* AUTO: not decided yet */
	bool by_auto;
	bool threshold_given; /* bisect, because the threshold is not auto */
	bool end_fails;       /* bisect, because the bad end fails, which leaves no doubt */
	/* What auto decided by; 0 before: */
	double distance; /* of the nearer end from the threshold, in boot-to-boot deviations */
	double wanted;   /* for which one boot decides */
	double sd;       /* that deviation */
	double boots;    /* a commit, that a threshold verdict would need on the whole */
};
void engine_choice(const struct engine *e, struct engine_choice *c);

/* Power of the ends' comparison at α = β = 0.01: see bayes_boots_needed(). */
struct engine_power {
	unsigned boots;  /* of the end that has fewer */
	double sd;       /* boot to boot, pooled */
	double smallest; /* difference that so many boots can see; the metric's unit */
	double effect;   /* the smallest that matters; the metric's unit */
	double needed;   /* boots an end to see that */
	double difference, needed_difference; /* as measured, and boots an end to see it */
};
/* False before both ends have a boot, or where the deviation is not known. */
bool engine_power(const struct engine *e, struct engine_power *p);

/* What bayes thinks, for status and reports. Borrowed until the next observation. */
struct engine_belief {
	bool pass;   /* pass or fail: levels are rates of the new and old state */
	double none; /* P(no culprit in the range) */
	double bits_left;
	const struct bayes_candidate *top; /* the credible set at the confidence, largest first */
	uint32_t n_top;
	bool has_levels;
	struct bayes_levels levels;
	struct bayes_intervals intervals; /* at the confidence; with has_levels */
	double run_sd;                    /* run to run within a boot, pooled; 0: not known */
	unsigned runs_best;               /* bayes_runs_per_boot(); 0: not known */
	struct bayes_price price;
	struct bayes_step step; /* the next one; STOP: it is done */
	/*
	 * Boots to go, between low and high four times of five: what the information that is missing
	 * needs over a channel of two levels, log₂(N)/C + ln(1/(1 − c))/(d²/2) (Burnashev, Problems
	 * Inform. Transmission 12 (1976) 250), times what campaigns took above it in simulations.
	 */
	double boots, boots_low, boots_high;
	double seconds; /* that they take */
};
/* False: not with bayes (yet). */
bool engine_belief(const struct engine *e, struct engine_belief *b);
/* P(@node is the culprit); NAN: not with bayes. */
double engine_share(const struct engine *e, uint32_t node);

const char *engine_phase_name(enum engine_phase p);

#endif
