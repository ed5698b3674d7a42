/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels measured side by side, in interleaved boots. */
#ifndef KR_CAMPAIGN_COMPARE_H
#define KR_CAMPAIGN_COMPARE_H

#include "campaign/session.h"
#include "report/compare.h"

/*
 * Measure the kernels @words with each variant and each value of the sweep that [compare] of the
 * file has, as often as it says, and fill @out, which is empty. What the store has is not booted
 * again. @s is open for SESSION_RUN with no_ends. A word is a revision of the campaign's repository,
 * then any number of "~revert:COMMIT,COMMIT…" and "+PATCH" (a file, from the present folder), which
 * are taken from left to right. Where names have those characters themselves, the longest part
 * that is a revision (a file) counts.
 *
 * ERR_CONFIG: a word that is no such thing, a revert that conflicts (the message names the files) or
 * changes nothing, a patch that does not apply, two kernels or variants that are the same, a setting
 * that the target does not have. @profile: also boots for a profile of each.
 */
int compare_run(struct session *s, char *const *words, size_t n, bool profile,
		struct report_compare *out, struct err *e);

#endif
