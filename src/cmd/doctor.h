/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kregress doctor looks at, in parts; each prints one line per finding. */
#ifndef KR_CMD_DOCTOR_H
#define KR_CMD_DOCTOR_H

#include <stdbool.h>

#include "io/config.h"

enum doctor_level { DOCTOR_OK = 0, DOCTOR_NOTE, DOCTOR_PROBLEM };

struct doctor {
	const struct config *cfg; /* NULL: no campaign; then all that one could need is looked at */
	unsigned problems, notes;
};

/* One finding, "level  text", on standard output. */
void doctor_say(struct doctor *d, enum doctor_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* What the campaign does, or what any could when there is none. */
bool doctor_builds(const struct doctor *d);
bool doctor_boots(const struct doctor *d);

/* Programs and headers, each with the Debian package that brings it. */
void doctor_tools(struct doctor *d);
/* Room for sources, kernels, logs and guests. */
void doctor_space(struct doctor *d);
/* What makes measured times differ from run to run. */
void doctor_noise(struct doctor *d);
/* Does a guest start under KVM? */
void doctor_kvm(struct doctor *d);
/* Is the campaign's machine there, and what does it lack? Nothing is changed on it. */
void doctor_ssh(struct doctor *d);

#endif
