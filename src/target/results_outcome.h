/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent's records and the kernel's console say together; the same wherever it ran. */
#ifndef KR_TARGET_RESULTS_OUTCOME_H
#define KR_TARGET_RESULTS_OUTCOME_H

#include "target/console.h"
#include "target/results.h"

/* All borrowed. */
struct results_view {
	const struct results *results;
	const struct target_job *job;
	const char *where;   /* "in the guest", "on 'box'": for messages */
	const char *console; /* what the kernel said since the hello; untrusted */
	size_t console_bytes;
};

/* Fill outcome and detail. Returns 0. */
int results_outcome(struct target_result *r, enum trial_outcome o, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Judge what came after the hello, in @r. 0: judged. 1: the records ended early, and neither
 * they nor the console say why: the caller knows. -1: we failed (ERR_LAB: the workload could
 * not be started).
 */
int results_judge(const struct results_view *v, struct target_result *r, struct err *e);

/* The agent told of an early end (results->failure is set): its part of the above. */
int results_judge_failure(const struct results_view *v, struct target_result *r, struct err *e);

/* Is this the kernel that was asked for? -1, ERR_LAB. What it does not tell counts for it. */
int results_check_kernel(const struct results_view *v, struct err *e);

/* What the hello told, if it came: ids into @r, and the facts cpu, cpus and memory_kb. */
void results_take_hello(const struct results *h, struct target_result *r);

/* "in run 2", "after run 2", "before run 1". Returns @buf. */
const char *results_when(const struct results *h, char *buf, size_t size);

#endif
