/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a session to the plain data of a report. */
#ifndef KR_CAMPAIGN_SUMMARY_H
#define KR_CAMPAIGN_SUMMARY_H

#include "campaign/session.h"
#include "report/report.h"

/* Fill @r (empty; report_release() by the caller) from engine, store and history. */
int summary_make(struct session *s, struct report *r, struct err *e);

#endif
