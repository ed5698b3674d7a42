/* SPDX-License-Identifier: GPL-2.0-or-later */
/* After the search: culprit against parent in fresh, interleaved boots, and reverted. */
#ifndef KR_CAMPAIGN_CONFIRM_H
#define KR_CAMPAIGN_CONFIRM_H

#include "campaign/session.h"
#include "report/report.h"

/*
 * Boot culprit, parent and (revert = yes, where it applies) the bad end without the
 * culprit, `boots` times each, in the order A B C C B A …; what the store has already is
 * not booted again. Nothing to do where boots is 0 or no culprit was found.
 */
int confirm_run(struct session *s, struct err *e);

/* What the stored boots say; @c is empty, its strings belong to the report. */
int confirm_judge(struct session *s, struct report_confirm *c, struct err *e);

#endif
