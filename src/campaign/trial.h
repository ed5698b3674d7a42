/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One trial: commit → build → boot → run → store → engine. */
#ifndef KR_CAMPAIGN_TRIAL_H
#define KR_CAMPAIGN_TRIAL_H

#include "campaign/session.h"

/* What one call did, for the line of progress. */
struct trial_report {
	enum trial_outcome outcome;
	char detail[256];
	double estimate;       /* median of the deciding metric; valid for TRIAL_OK */
	bool cached;           /* no compilation */
	struct commit_id twin; /* not null: identical kernel, values taken over */
	unsigned taken_over;   /* how many trials */
	double build_seconds, boot_seconds, run_seconds;
};

/*
 * Build and boot layout @layout of commit @id once, store what came and tell the engine. -1 when we
 * failed (nothing is blamed, all is resumable). @purpose goes into the log: "ends",
 * "search", …; trials of "confirm" and "compare" are stored, but the engine does not
 * count them.
 */
int trial_run(struct session *s, const struct commit_id *id, uint32_t layout, const char *purpose,
	      struct trial_report *r, struct err *e);

#endif
