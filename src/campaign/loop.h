/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ask the engine, do, tell it; until one commit is left. */
#ifndef KR_CAMPAIGN_LOOP_H
#define KR_CAMPAIGN_LOOP_H

#include "campaign/session.h"

/*
 * Run the campaign to its end. 0: the engine is done (see engine_result());
 * -1: we failed or were interrupted; the state is saved either way.
 */
int loop_run(struct session *s, struct err *e);

#endif
