/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel told of itself in the extra runs of one boot: kept as files, and as rows. */
#ifndef KR_CAMPAIGN_OBSERVE_H
#define KR_CAMPAIGN_OBSERVE_H

#include "campaign/session.h"

/* Texts of the rows to come; NULL: nothing of the kind came. */
struct observed {
	char *counters, *stacks, *profile;
};
void observed_release(struct observed *o);

/* What a trial of this purpose is to look at: as [confirm] has it for "confirm"; the profile for "compare-profile". */
struct target_observe observe_wanted(const struct session *s, const char *purpose);

/*
 * Keep what came in @r: proc-before.txt, proc-during.txt, proc-after.txt, stacks.txt and
 * profile.txt in @dir, and what rows need in @out. Addresses become functions by @vmlinux (NULL:
 * not known). -1: cannot write.
 */
int observe_keep(const struct target_result *r, const char *vmlinux, const char *dir,
		 struct observed *out, struct err *e);

/*
 * Rows of the stored trial @id: notes of the kinds "counters", "stacks" and "profile" whose first
 * line is its number. What a note is worth: core/counters.h, sleepers.h, and for a profile
 * "samples N seconds S cost C", then "COUNT FUNCTION" lines.
 */
int observe_store(struct session *s, int64_t id, const struct observed *o, struct err *e);

#endif
