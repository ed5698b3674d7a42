/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of the HTML report. */
#ifndef KR_REPORT_HTML_H
#define KR_REPORT_HTML_H

#include "report/record.h"

/* What the page looks like, light and dark, wide and narrow. Static. */
const char *html_style(void);

/* Text of a person, a guest or a file; NULL prints nothing. */
void html_text(FILE *out, const char *text);
/* "<h2 id=…>" and the section around what follows, until html_close(). */
void html_open(FILE *out, const char *id, const char *title);
void html_close(FILE *out);
/* Value and unit, "18.1 ms [16, 20]". */
void html_interval(FILE *out, const struct report *r, const struct stats_interval *i);
/* "+853 %" of @b against @a; a dash where it is not known. */
void html_change(FILE *out, double a, double b);
/* First digits of a commit, linked to its line where @link. */
void html_commit(FILE *out, const struct commit_id *id, bool link);

/* The answer: headline, sides, confirmation. */
void html_answer(FILE *out, const struct report *r, const struct record *d);
/* Commits in the order of history; all stored trials with links to their logs. */
void html_tested(FILE *out, const struct report *r, const struct record *d);
void html_trials(FILE *out, const struct record *d);
/* What was measured on what; how to run it again; the log for git. */
void html_facts(FILE *out, const struct report *r, const struct record *d);
void html_rerun(FILE *out, const struct report *r, const struct record *d);
/* Counters, stacks, profile, posterior: each where it is there. */
void html_evidence(FILE *out, const struct report *r, const struct record *d);

/* Headline without markup, for the title too. Appends. */
void html_headline(const struct report *r, struct str *out);

#endif
