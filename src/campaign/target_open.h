/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a campaign file to its target. */
#ifndef KR_CAMPAIGN_TARGET_OPEN_H
#define KR_CAMPAIGN_TARGET_OPEN_H

#include "campaign/session.h"

/* Open the session's target, if it is not open. It borrows from the session. */
int target_open(struct session *s, struct err *e);

/* The machine of a campaign with type = ssh, without a workload; all is borrowed from @c. */
struct target_ssh_opts target_ssh_opts_of(const struct config *c);

#endif
