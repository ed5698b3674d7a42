/* SPDX-License-Identifier: GPL-2.0-or-later */
/* good = auto: walk back from bad until the value is as before a step. */
#ifndef KR_CAMPAIGN_AUTO_GOOD_H
#define KR_CAMPAIGN_AUTO_GOOD_H

#include "campaign/session.h"
#include "report/report.h"

/*
 * All of it is a function of the store: the good end is the first of the commits of
 * repo_earlier() whose campaign (that commit .. bad) its ends did not refuse. A resumed campaign
 * comes to the same one, and measures nothing twice.
 */

/* s->bad is resolved: find the commits to try. ERR_CONFIG: there is none before it. */
int auto_good_open(struct session *s, struct err *e);

/*
 * Set the good end to the first of them and make history and engine (what ends_walk() does
 * elsewhere); also to begin anew when failed ends get another try. What is skipped by the file,
 * or has no commit of the paths behind it, is passed over; ERR_CONFIG when nothing remains.
 */
int auto_good_first(struct session *s, struct err *e);

/*
 * After a replay or a step: while the engine has refused this good end and there is another
 * commit to try, go on with that one (history, engine and replay anew). Nothing without
 * good = auto.
 */
int auto_good_settle(struct session *s, struct err *e);

/* What was tried, for the report: fills r->tries and what belongs to it. */
void auto_good_report(const struct session *s, struct report *r);

void auto_good_free(struct auto_good *a);

#endif
