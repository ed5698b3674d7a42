/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of the report as a mail. */
#ifndef KR_REPORT_MAIL_H
#define KR_REPORT_MAIL_H

#include "report/record.h"

#define MAIL_WIDTH 75 /* columns, as kernel lists have it */

/* From, To, Cc, Subject, an empty line. */
void mail_headers(FILE *out, const struct report *r, const struct record *d);

/* The table of 0-day for one pair of commits; nothing where one was not booted. */
struct mail_pair {
	const char *title; /* a line over it */
	const struct commit_id *a, *b;
	const char *subject[2];
	bool confirm; /* fresh boots of the confirmation, else those of the search */
};
void mail_table(FILE *out, const struct record *d, const struct mail_pair *p);
/* Counters and profile in the same form, where there are any. */
void mail_evidence(FILE *out, const struct report *r);

/* Machine, kernel, campaign and the log of the search. */
void mail_setup(FILE *out, const struct report *r, const struct record *d);
void mail_log(FILE *out, const struct record *d);

#endif
