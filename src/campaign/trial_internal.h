/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of a trial: build, identical kernels, boot, values. */
#ifndef KR_CAMPAIGN_TRIAL_INTERNAL_H
#define KR_CAMPAIGN_TRIAL_INTERNAL_H

#include "campaign/observe.h"
#include "campaign/trial.h"

/* One trial in the making. */
struct attempt {
	struct session *s;
	const struct commit_id *id;
	char hex[COMMIT_HEX + 1];
	uint32_t layout;
	const char *purpose;
	struct build_result build; /* outcome UNSET: nothing is built */
	int64_t build_row;
	struct observed observed; /* in the extra runs of its boot */
};

/* Open the session's builder, if it is not. */
int trial_open_builder(struct session *s, struct err *e);

void trial_attempt_release(struct attempt *a);

/* The kernel of @a->id, its row stored where it is new. */
int trial_build(struct attempt *a, struct err *e);

/*
 * Where the kernel is byte for byte one already measured and this commit was never booted
 * itself: store copies of the trials it does not have yet, tell the engine. 1 when so, 0, -1.
 */
int trial_take_over(struct attempt *a, struct trial_report *r, struct err *e);

/* Append "NAME=value" lines: compiler, and the machine we run on unless the kernel runs elsewhere. */
void trial_add_facts(const struct attempt *a, struct str *facts);

/* No kernel, no boot: store the failure of @a->build as the trial. */
int trial_record_failure(struct attempt *a, struct trial_report *r, struct err *e);

/* Boot once, runs and all. Fills @t but for samples' owner: release with store_trial_release(). */
int trial_boot(struct attempt *a, unsigned runs, struct store_trial *t, bool *boot_timed_out,
	       struct err *e);

/*
 * Values of all metrics in what the runs printed into @t; a deciding metric that is
 * missing or wrong makes the outcome garbled.
 */
void trial_parse(struct session *s, const struct target_result *r, unsigned runs,
		 struct store_trial *t);

/* Is the lab healthy? Boots the last kernel that is known to boot. 1 yes, 0 no (@e says why), -1. */
int trial_canary(struct session *s, struct err *e);

#endif
