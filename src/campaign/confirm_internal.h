/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of the confirmation: what is booted, how it is made, what it says. */
#ifndef KR_CAMPAIGN_CONFIRM_INTERNAL_H
#define KR_CAMPAIGN_CONFIRM_INTERNAL_H

#include "campaign/session.h"
#include "core/verdict.h"
#include "report/report.h"

enum arm_index { ARM_PARENT, ARM_CULPRIT, ARM_REVERT, ARM_APPLY, ARMS };

/* One kernel that is compared, and its stored boots. */
struct arm {
	struct commit_id id; /* null: there is none */
	struct verdict_data data;
	unsigned boots;  /* good ones and failed ones */
	char *detail;    /* of a failure */
	char *conflicts; /* files for which it cannot be made */
	char *by_hand;   /* what --revert named, where a person made it */
};

/* Kinds of the notes that say how an arm was made, and why not; NULL: it needs no making. */
extern const char *const confirm_note_made[ARMS], *const confirm_note_conflict[ARMS];

struct confirm {
	struct session *s;
	struct arm arm[ARMS];
};

void confirm_release(struct confirm *c);

/* Fill the arms from the store. 1: there is a culprit to confirm, 0: not, -1. */
int confirm_load(struct session *s, struct confirm *c, struct err *e);

/* Does the arm need another boot? */
bool confirm_wants(const struct confirm *c, enum arm_index i);

/* The culprit is the newer end: reverted there it is its parent. */
bool confirm_is_new(const struct confirm *c);
/* Its parent is the older end: applied there it is itself. */
bool confirm_is_next(const struct confirm *c);

/* What fresh boots of culprit and parent say. */
struct confirm_pair {
	struct stats_interval diff; /* culprit − parent */
	double p;
	enum report_test test;
	bool stands;  /* in the direction of the hunt, and beyond what matters */
	bool refuted; /* no difference that matters fits */
};
/* By at most the first @most good boots of each, which have at least one. */
void confirm_compare(const struct confirm *c, size_t most, struct confirm_pair *out);

/*
 * Make the commits that are missing: the culprit reverted (or what --revert gives) and applied.
 * 1: what the store has of an arm is to be read again; 0; -1.
 */
int confirm_prepare(struct confirm *c, struct err *e);
/* Where a revert that conflicts is left. Owned. */
char *confirm_conflict_dir(const struct session *s, const struct commit_id *culprit);

#endif
