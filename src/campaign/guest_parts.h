/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs where the kernel runs: the workload's command, files and settings. */
#ifndef KR_CAMPAIGN_GUEST_PARTS_H
#define KR_CAMPAIGN_GUEST_PARTS_H

#include "campaign/session.h"
#include "target/guest.h"
#include "target/ssh_run.h"

/* Values of settings and paths of files are the workload's own. */
struct guest_parts {
	struct strv argv;
	struct guest_setting *settings;
	size_t n_settings;
	struct ssh_run_file *files; /* program first, where there is one; names are in @names */
	size_t n_files;
	struct strv names;
};

/* @p is empty. ERR_CONFIG: too many files, two of one name, or arguments that cannot be. */
int guest_parts_get(const struct session *s, struct guest_parts *p, struct err *e);
void guest_parts_release(struct guest_parts *p);
/* It, and itself; NULL is fine. */
void guest_parts_free(struct guest_parts *p);

#endif
