/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The initramfs of one trial: agent, job, workload. */
#ifndef KR_CAMPAIGN_GUEST_IMAGE_H
#define KR_CAMPAIGN_GUEST_IMAGE_H

#include "campaign/session.h"

/*
 * Write it to @path, with what the agent is to @observe; the session has a workload. ERR_LAB when the agent was not built,
 * ERR_CONFIG where the workload names too many files.
 */
int guest_image_write(struct session *s, const char *nonce, unsigned runs,
		      const struct target_observe *observe, const char *path, uint64_t *size_bytes,
		      struct err *e);

#endif
