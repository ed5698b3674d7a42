/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The redrawn line: stage, steps left, elapsed, ETA. */
#ifndef KR_CAMPAIGN_PROGRESS_H
#define KR_CAMPAIGN_PROGRESS_H

#include "campaign/session.h"

/* A new stage begins: "build 1a2b3c4d5e6f", "boot", "run 2/5". */
void progress_stage(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Redraw; the cookie is the session. Fits proc_opts.tick and build_opts.tick. */
void progress_tick(void *cookie);
/* The same for a target, which names its own stage. */
void progress_target_tick(void *cookie, const char *stage);

#endif
