/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Good or bad by threshold, from the values of some boots (DESIGN.md, "Threshold verdicts"). */
#ifndef KR_CORE_VERDICT_H
#define KR_CORE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/metric.h"
#include "core/stats.h"
#include "core/trial.h"

enum threshold_kind { THRESHOLD_AUTO = 0, THRESHOLD_ABSOLUTE, THRESHOLD_RELATIVE };

struct verdict_opts {
	enum threshold_kind kind;
	double threshold;          /* absolute: the value; relative: +0.20, -0.15 */
	enum metric_better better; /* METRIC_BETTER_NONE: auto, the side the good end is on */
	double effect;             /* 0.02: smallest relative difference that matters */
	double confidence;         /* 0.95 */
	unsigned min_boots, max_boots, end_boots;
	bool build_failure_is_bad; /* on_build_failure = bad */
	bool crash_is_bad;         /* on_crash = bad: boot_failed, crashed, timed_out */
};

/* Boots of one commit. boot[i] is the median over its runs. */
struct verdict_data {
	double *boot;
	size_t n, room;
	enum trial_outcome failed; /* the first outcome that is not ok; TRIAL_UNSET: none */
};
void verdict_data_release(struct verdict_data *d);
/* Count one trial: its median, or its failure. An ok one without finite values is garbled. */
void verdict_data_add(struct verdict_data *d, const struct trial *t);

/*
 * alpha of one look: (1 − confidence)/⌈log₂ candidates⌉, spent evenly over the looks at
 * min_boots … max_boots (Bonferroni). At least one verdict and one look are reckoned with.
 */
double verdict_alpha(const struct verdict_opts *o, uint32_t candidates);

/*
 * Estimate and interval of one commit, @d->n ≥ 1: mean ± t·s/√n at verdict_alpha(). A
 * point when s = 0, and also when the user asked for single boots (min_boots, max_boots
 * and end_boots all ≤ 1): then s can never be known and the caller says so once.
 */
struct stats_interval verdict_interval(const struct verdict_opts *o, const struct verdict_data *d,
				       const struct stats_pool *pool, uint32_t candidates);

/* What the two ends say together. */
enum ends_state {
	ENDS_MORE = 1,      /* not enough boots to tell: measure both once more */
	ENDS_APART,         /* on opposite sides of the threshold: search */
	ENDS_NO_DIFFERENCE, /* shown to be nearer than effect (TOST), or max_boots reached unseparated */
	ENDS_SWAPPED,       /* named the other way round they would be apart */
	ENDS_SAME_SIDE, /* differ, but both on one side of the threshold */
};
struct ends {
	enum ends_state state;
	double threshold;          /* absolute value decided on; best guess so far in ENDS_MORE */
	enum metric_better better; /* resolved */
	bool equivalent;           /* ENDS_NO_DIFFERENCE: shown by TOST, not only unseparated */
	/* diff = bad − good. bad and diff are NAN when the bad end has no ok boot (it fails). */
	struct stats_interval good, bad, diff;
};

/* What s is taken from: @pool, but where each commit gets one boot, s is unknown and counts as 0. */
struct stats_pool verdict_pool(const struct verdict_opts *o, const struct stats_pool *pool);

/*
 * Look at the ends. The good one has ≥ 1 ok boot; the bad one too, or its failure means bad
 * by policy and the threshold is not auto: then the good end alone must be on its side.
 * @more_possible: n < max_boots (for the ends: max(max_boots, end_boots)) so ENDS_MORE may be
 * answered.
 *
 * Threshold: absolute as given; relative good + r·|good| (so that +20 % is above it also where
 * the metric is negative); auto half-way. better, where auto: by the sign of r, else the side
 * that the good end is on.
 * In this order:
 * 1. NO_DIFFERENCE, equivalent: both one-sided tests at 1 − confidence put the difference
 *    within ± effect·|good| (TOST: Schuirmann, J. Pharmacokin. Biopharm. 15 (1987) 657);
 * 2. APART: each interval beyond the threshold on its own side (then the difference's is
 *    without 0);
 * 3. SWAPPED: the same with the two ends' roles exchanged;
 * 4. SAME_SIDE: the difference's interval is without 0, both intervals beyond the threshold
 *    on one side;
 * 5. MORE, if possible; else by estimates: SAME_SIDE when they differ and both are on one side,
 *    NO_DIFFERENCE otherwise.
 * With the bad end failing: APART, SAME_SIDE (the good end is on the bad side), MORE,
 * NO_DIFFERENCE (the good end could not be told from the threshold).
 */
void verdict_ends(const struct verdict_opts *o, const struct verdict_data *good,
		  const struct verdict_data *bad, const struct stats_pool *pool,
		  uint32_t candidates, bool more_possible, struct ends *out);

/*
 * Look at one commit: VERDICT_UNSET asks for another boot; else final. A failed outcome decides
 * by policy alone. Exactly at the threshold is still good. @ends: threshold and better are used.
 * @interval (may be NULL) gets its estimate and interval when it has boots.
 */
enum verdict verdict_decide(const struct verdict_opts *o, const struct ends *ends,
			    const struct verdict_data *d, const struct stats_pool *pool,
			    uint32_t candidates, struct stats_interval *interval);

/*
 * Policy alone: what a failed outcome means. build_failed by on_build_failure; boot_failed,
 * crashed, timed_out by on_crash; garbled and untestable always skip.
 */
enum verdict verdict_of_failure(const struct verdict_opts *o, enum trial_outcome failed);

#endif
