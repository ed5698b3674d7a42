/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A campaign in git's words: for git bisect replay. */
#ifndef KR_CAMPAIGN_GIT_LOG_H
#define KR_CAMPAIGN_GIT_LOG_H

#include "campaign/session.h"

/*
 * Append the log that `git bisect replay` takes: the ends, what was said, what was measured,
 * in the order in which it moved the search. Refs after the replay are those that git bisect
 * itself would have. The session has ends.
 */
void git_log(struct session *s, struct str *out);

#endif
