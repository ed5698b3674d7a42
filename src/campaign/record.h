/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a session's store to the rows that the long reports print. */
#ifndef KR_CAMPAIGN_RECORD_H
#define KR_CAMPAIGN_RECORD_H

#include "campaign/session.h"
#include "report/record.h"

/*
 * Fill @d (empty; record_release() by the caller, before report_release() of @r) with all
 * stored trials and what is stored around them. @r is the session's summary_make().
 */
int record_make(struct session *s, const struct report *r, struct record *d, struct err *e);

#endif
