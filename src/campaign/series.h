/* SPDX-License-Identifier: GPL-2.0-or-later */
/* series = FILE.mbox on base = COMMIT, as commits in our own repository. */
#ifndef KR_CAMPAIGN_SERIES_H
#define KR_CAMPAIGN_SERIES_H

#include "campaign/session.h"

/*
 * Open the user's repository (s->user_repo) and ours (s->repo), apply the series there unless
 * that was done before, and set good, bad, old and new by the hunt. ERR_CONFIG: no mbox, an
 * unknown base, or a patch that does not apply (its reject is <state>/series.rej).
 */
int series_open(struct session *s, struct err *e);
void series_free(struct series *x);

/*
 * What a command needs to see the commits of a series in the user's repository: appends
 * GIT_ALTERNATE_OBJECT_DIRECTORIES to @env, behind what our caller has there. Without a
 * series nothing.
 */
void series_env(const struct session *s, struct strv *env);

#endif
