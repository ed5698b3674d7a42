/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result channel of a guest: untrusted bytes to runs (protocol: qemu/README.md). */
#ifndef KR_TARGET_RESULTS_H
#define KR_TARGET_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "target/target.h"

#define RESULTS_LINE_MAX 1024               /* longer lines are no records */
#define RESULTS_EXTRA_MAX ((size_t)8 << 20) /* bytes that extra runs may send */

/* What ended the trial early; the text is in `text`. */
enum results_failure {
	RESULTS_FINE = 0,
	RESULTS_UNTESTABLE, /* the agent could not apply a setting */
	RESULTS_NO_EXEC,    /* the workload could not be started: ours, not the kernel's */
	RESULTS_TIMED_OUT,  /* the agent ended a run at its limit */
	RESULTS_TOO_MUCH,   /* a run printed more than TARGET_OUTPUT_MAX */
	RESULTS_GARBLED,    /* records out of order */
};

struct results {
	const char *nonce;         /* borrowed */
	unsigned wanted;           /* runs of the job */
	struct target_result *out; /* complete runs are added here; borrowed */

	bool hello, bye; /* seen */
	/* All runs that count are over and extra ones began: from here on nothing that goes wrong
	 * is an outcome, it ends the extra runs (bye). */
	bool extra;
	char extra_text[256]; /* what went wrong in them, neutralised; "" nothing */
	bool profiling;       /* runs for the profile are going on */
	unsigned extra_step;  /* grows with each record of them */
	bool in_run;
	unsigned run; /* begun last, 0: none */
	enum results_failure failure;
	char text[256]; /* why, neutralised */

	char boot_id[40], build_id[65], release[80], cpu[80]; /* of the hello; "" not told */
	unsigned long memory_kb;
	unsigned cpus;

	/* private */
	struct str buf; /* bytes of the run, or of the line outside a run */
	size_t line;    /* where the current line starts in buf */
	size_t noise;   /* bytes outside runs */
	double run_start;
	bool in_file;       /* the bytes of a file come: buf */
	size_t extra_bytes; /* all that came in extra runs */
};

/* @nonce and @out must outlive @r. */
void results_init(struct results *r, const char *nonce, unsigned runs, struct target_result *out);
void results_release(struct results *r);

/*
 * Take @n bytes that arrived at @now_s (any clock, seconds). How the bytes are cut into
 * calls makes no difference. After a failure or the bye the rest is ignored.
 */
void results_feed(struct results *r, const char *data, size_t n, double now_s);

#endif
