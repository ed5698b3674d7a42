/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom a report concerns: the tree's own script is asked. */
#ifndef KR_CAMPAIGN_MAINTAINERS_H
#define KR_CAMPAIGN_MAINTAINERS_H

#include "campaign/session.h"
#include "report/record.h"

/*
 * Fill d->to and d->cc for the culprit of @r: its author, and what scripts/get_maintainer.pl of
 * that commit says of its patch. The script runs for at most half a minute in a folder of our
 * own that has it and MAINTAINERS. Where it does not run, d->no_maintainer says why: no failure.
 */
void maintainers_ask(struct session *s, const struct report *r, struct record *d);

#endif
