/* SPDX-License-Identifier: GPL-2.0-or-later */
/* After the search: culprit against parent in fresh, interleaved boots, reverted and applied. */
#ifndef KR_CAMPAIGN_CONFIRM_H
#define KR_CAMPAIGN_CONFIRM_H

#include "campaign/session.h"
#include "report/report.h"

/*
 * Boot culprit, parent and (revert = yes, where they can be made) the bad end without the
 * culprit and the good end with it, `boots` times each, in the order A B C D D C B A …; what the store
 * has already is not booted again. Nothing to do where boots is 0 or no culprit was found. The
 * files of a revert that conflicts are left in the state directory.
 */
int confirm_run(struct session *s, struct err *e);

/*
 * --revert: the bad end without the culprit is made by a person, as a patch for the bad end in a file, or
 * as a revision. ERR_CONFIG: it is neither, or nothing is reverted.
 */
int confirm_take_hand_made(struct session *s, const char *what, struct err *e);

/* What the stored boots say; @c is empty, its strings belong to the report. */
int confirm_judge(struct session *s, struct report_confirm *c, struct err *e);

#endif
