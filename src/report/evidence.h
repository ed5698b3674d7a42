/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changed inside the kernel: counters, stacks and profile of culprit against parent. */
#ifndef KR_REPORT_EVIDENCE_H
#define KR_REPORT_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * All of it from extra runs of the confirmation's boots, whose values do not count. Names come
 * from the kernel or from its symbols and are untrusted: neutralise or escape when shown.
 * Lists are ordered: what moved most is first. Side 0 is the parent, 1 the culprit.
 */
enum { EVIDENCE_PARENT, EVIDENCE_CULPRIT, EVIDENCE_SIDES };

/* Mean over the boots of one side, and the boots' standard deviation (0 with one boot). */
struct evidence_side {
	double mean, sd;
};

/* One counter of /proc. See core/counters.h for the statistic and its sources. */
struct evidence_counter {
	char *name; /* "vmstat/pgfault", "zoneinfo/node0/DMA32/nr_free_pages", "softirqs/RCU" */
	bool level; /* a level halfway through the run; else the change over the run */
	struct evidence_side side[EVIDENCE_SIDES];
	double t; /* difference in standard errors; signed as culprit − parent */
	/* two-sided; q after Benjamini and Hochberg over all counters. NAN: one boot a side has
	 * no spread to compare with. */
	double p, q;
	bool significant; /* q within report_evidence.false_share */
};

/* Where threads of the workload were asleep, as a share of the run's time (0 … 1). */
struct evidence_stack {
	char *in;     /* the function that waits: "synchronize_rcu" */
	char *under;  /* its caller: "hugetlb_vmemmap_restore_folios"; "": it has none */
	char *frames; /* the commonest whole stack, innermost first, one a line */
	struct evidence_side side[EVIDENCE_SIDES];
	double error; /* ± of culprit − parent, 95 % */
};

/* One symbol of the profile: share of all samples (0 … 1), also idle and user space. */
struct evidence_symbol {
	char *name; /* "[user space]", "[unknown]" for what has no symbol */
	struct evidence_side side[EVIDENCE_SIDES];
	uint64_t samples[EVIDENCE_SIDES];
	double error; /* ± of culprit − parent, 95 % */
};

struct report_evidence {
	/* snapshots */
	unsigned counter_boots[EVIDENCE_SIDES]; /* 0: none were taken */
	struct evidence_counter *counters;      /* those that differ at all */
	size_t n_counters;
	size_t counters_compared;    /* how many there were */
	size_t counters_significant; /* not necessarily the first: see significant */
	double false_share;          /* of false ones among these that is accepted: 0.05 */
	/* stacks */
	unsigned stack_boots[EVIDENCE_SIDES];
	uint64_t stack_looks[EVIDENCE_SIDES]; /* how often the threads were looked at */
	struct evidence_stack *stacks;
	size_t n_stacks;
	/* profile */
	unsigned profile_boots[EVIDENCE_SIDES];
	uint64_t profile_samples[EVIDENCE_SIDES];
	char *profile_how; /* "program counter through QMP, 97 samples/s" …; NULL: none */
	struct evidence_symbol *symbols;
	size_t n_symbols;
};
/* Is there anything to show? */
bool report_evidence_any(const struct report_evidence *v);
void report_evidence_release(struct report_evidence *v);
/* The section of the text report: the first @max of each list; nothing where there is nothing. */
void report_evidence_text(const struct report_evidence *v, size_t max, FILE *out);

#endif
