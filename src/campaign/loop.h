/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ask the engine, do, tell it; until one commit is left. */
#ifndef KR_CAMPAIGN_LOOP_H
#define KR_CAMPAIGN_LOOP_H

#include "campaign/session.h"
#include "campaign/trial.h"

/*
 * Run the campaign to its end. 0: the engine is done (see engine_result());
 * -1: we failed or were interrupted; the state is saved either way.
 */
int loop_run(struct session *s, struct err *e);

/* Only until the ends are settled: apart, or refused (see engine_result()). */
int loop_ends(struct session *s, struct err *e);

/* "exit_ms 18.2 ms [build 1m 02s, 12s]", or what failed: a trial in the line of progress. Appends. */
void loop_describe(const struct session *s, const struct trial_report *r, struct str *out);

#endif
