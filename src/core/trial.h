/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one boot of one build gave: outcome and samples. */
#ifndef KR_CORE_TRIAL_H
#define KR_CORE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the kernel did. Never what we failed to do. */
enum trial_outcome {
	TRIAL_UNSET = 0,
	TRIAL_OK,
	TRIAL_BUILD_FAILED,
	TRIAL_BOOT_FAILED,
	TRIAL_CRASHED,    /* panic, oops, or the workload died */
	TRIAL_TIMED_OUT,  /* booted, but the workload never ended */
	TRIAL_GARBLED,    /* ended, but what it printed is not what it declares */
	TRIAL_UNTESTABLE, /* this commit cannot be tested (exit 125, a required option missing) */
};
#define TRIAL_OUTCOMES 8

/* What we conclude of a commit. */
enum verdict { VERDICT_UNSET = 0, VERDICT_GOOD, VERDICT_BAD, VERDICT_SKIP, VERDICT_UNSURE };

/* "ok", "build_failed", … and "good", "bad", "skip", "unsure"; "unset" for 0. Static. */
const char *trial_outcome_name(enum trial_outcome o);
const char *verdict_name(enum verdict v);
/* From the name; TRIAL_UNSET: unknown. */
enum trial_outcome trial_outcome_parse(const char *name);

/*
 * The deciding metric's values of one trial, in order of the runs, warm-ups
 * already dropped. Only with TRIAL_OK; then n ≥ 1 and all are finite.
 */
struct trial {
	enum trial_outcome outcome;
	const double *samples;
	size_t n;
	uint32_t alike; /* of a failure: the same number where two failed alike; 0: not known */
	bool copy; /* values of another commit's boot (identical kernel): tell nothing of the spread */
	uint32_t twin;   /* with copy: that commit's engine number; DAG_NONE: none of this hunt */
	uint32_t layout; /* which build of the commit it was; 0: the usual one */
	double boot_seconds, run_seconds; /* what it took; 0: not known */
};

#endif
