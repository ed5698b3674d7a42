/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From stored rows to what changed inside the kernel, of one commit against another. */
#ifndef KR_CAMPAIGN_EVIDENCE_H
#define KR_CAMPAIGN_EVIDENCE_H

#include "campaign/session.h"
#include "report/evidence.h"

/*
 * Compare what the boots of @culprit with this @purpose ("confirm") told in their extra runs with
 * those of @parent; boots of other commits with it only tell of the spread of counters. @out is
 * empty and stays so where there is nothing to compare.
 */
int evidence_make(struct session *s, const char *purpose, const struct commit_id *parent,
		  const struct commit_id *culprit, struct report_evidence *out, struct err *e);

#endif
