/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces that the reports for a person share. */
#ifndef KR_REPORT_PRINT_H
#define KR_REPORT_PRINT_H

#include <stdio.h>

#include "report/report.h"

/* At most this many entries of one list are printed; the rest is counted. */
#define PRINT_LIST_MAX 20

/* Untrusted text on one line, fit for a terminal; NULL prints nothing. */
void print_clean(FILE *out, const char *text);

/* First 12 digits of a commit's name into @buf; returns @buf. */
#define PRINT_ABBREV 12
const char *print_abbrev(const struct commit_id *id, char buf[COMMIT_HEX + 1]);

/* The commit among those tested, NULL: it is not. */
const struct report_commit *print_find(const struct report *r, const struct commit_id *id);

/* What was said of the commit, NULL: nothing. */
const struct report_told *print_find_told(const struct report *r, const struct commit_id *id);
/* Verdicts that a person gave: how many count, and which the measurements contradict. */
void print_told(FILE *out, const struct report *r);

/* One line of a table of measured commits. */
struct print_row {
	char label[64];                /* "good end", "parent, good end" … */
	const struct report_commit *c; /* borrowed */
};
/* Add @c (NULL: nothing) to @rows; a commit that is there already gets the label too. */
void print_row_add(struct print_row *rows, size_t *n, const char *label,
		   const struct report_commit *c);
/* "  label  commit  estimate [interval]  boots, values", aligned. */
void print_rows(FILE *out, const struct report *r, const struct print_row *rows, size_t n);

/* The two ends, in the order of history. */
void print_ends(FILE *out, const struct report *r);
/* "lower is better, threshold 2.28 ms", NULL-safe before the ends are known. */
void print_threshold(FILE *out, const struct report *r);
/* "+853%, +16.2 ms [14, 18]" of @b against @a; interval where @i is not NULL. */
void print_difference(FILE *out, const struct report *r, double a, double b,
		      const struct stats_interval *i);

/* With bayes, and where auto decided: which search it is and why. */
void print_choice(FILE *out, const struct report *r);
/* With bayes: levels, spread, commits with most weight, what is to go and why. For status. */
void print_belief(FILE *out, const struct report *r);
/* What the boots of the ends can see, and how many a step of the effect would need. */
void print_power(FILE *out, const struct report *r);
/* With bayes: why the next step was chosen, in words. Static. */
const char *print_why_step(const struct report *r);
/* "97.3%" of a chance, never rounded up to 100 % nor down to 0. */
const char *print_share(double share, char *buf, size_t size);
/* What deterministic = yes cannot see, where it was used. */
void print_unseen(FILE *out, const struct report *r);

/* What fresh boots said of the culprit, where there were any. */
void print_confirm(FILE *out, const struct report *r);
/* Where the files of a revert that conflicts are, and what to do; nothing where there are none. */
void print_conflict_remedy(FILE *out, const struct report *r);

/* good = auto: that no good end was found, what was tried and what to do. */
void print_no_good(FILE *out, const struct report *r);
/* Which good end it found after which others; nothing otherwise. */
void print_tries(FILE *out, const struct report *r);

/* What skipped and failed commits failed of, grouped. */
void print_untested(FILE *out, const struct report *r);
/* The commits that are left, each with what is known of it. */
void print_left(FILE *out, const struct report *r);
/* Boots, builds, split of the time, where state and logs are. */
void print_cost(FILE *out, const struct report *r);

/* "build failed" … from the enum; "not decided" for TRIAL_OK. Static. */
const char *print_outcome(enum trial_outcome o);

#endif
