/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows behind an answer, as plain data: what the long reports print beside it. */
#ifndef KR_REPORT_RECORD_H
#define KR_REPORT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "core/commit.h"
#include "report/report.h"

/* Values of one metric in one boot, warm-ups dropped. */
struct record_values {
	size_t metric; /* index into record.metric */
	double *v;
	size_t n;
};

/* One stored trial. */
struct record_trial {
	int64_t id, time;
	struct commit_id commit;
	char *purpose, *detail, *dir; /* dir: relative to the state directory, "" for none */
	enum trial_outcome outcome;
	int64_t twin; /* values of that trial; 0: its own */
	bool counts;  /* for the search: neither confirmation nor canary, and of this setup */
	bool confirms;
	double boot_seconds, run_seconds;
	struct strv logs; /* names of files in dir that are there */
	struct record_values *values;
	size_t n_values;
};

/* A commit that was booted, in the order of history. */
struct record_commit {
	struct commit_id id;
	const struct report_commit *tested; /* borrowed of the report; NULL: confirmed only */
	char *role;                         /* "good end", "culprit" …; "" */
	bool placed;                        /* position is known */
	uint32_t position; /* 0: the old end, then 1 … candidates; larger: beside the range */
	char *label;       /* first digits, "reverted", "applied" */
};

struct record_metric {
	char *name, *unit;
};

struct record_fact {
	char *name, *value;
	bool varies; /* not all trials had this value: it is the last one's */
};

/* Probability that this commit is the one. */
struct record_share {
	struct commit_id id;
	uint32_t position; /* in the range, 1 the oldest; 0: not known */
	double share;      /* 0 … 1 */
};

/* What search = bayes believes; n = 0: nothing to show. */
struct record_posterior {
	struct record_share *share; /* owned; largest first */
	size_t n;
	double none; /* that no commit of the range made a difference; 0 … 1 */
	/* What it takes for the value before and after; else those of the ends are drawn. */
	bool levels_known;
	struct stats_interval old_level, new_level;
};

struct record {
	struct record_posterior posterior;
	struct record_trial *trial;
	size_t n_trials, trial_room;
	struct record_commit *commit;
	size_t n_commits, commit_room;
	struct record_metric *metric; /* the deciding one first */
	size_t n_metrics, metric_room;
	struct record_fact *fact;
	size_t n_facts, fact_room;
	char *campaign;    /* "section.key = value" lines in force */
	char *given;       /* the same as a campaign file: only what is given, no folders of ours */
	char *bisect_log;  /* what git bisect replay takes; NULL: none */
	char *rerun;       /* the command line that runs the campaign */
	char *config_path; /* kernel configuration of the culprit, else of the bad end; NULL */
	char *compiler;    /* NULL: not known */
	char *state_dir;
	char *title;         /* of the commits' range, "v6.10..v6.11" */
	struct strv to, cc;  /* "Name <address>", for mail */
	char *no_maintainer; /* why the tree's own script did not say; NULL: it did */
	int64_t first, last; /* time of the first and last trial; 0: none */
	bool live;           /* the campaign is running: the page is made anew */
	int64_t now;         /* when the page was made; 0: not said */
	char *stage;         /* what is being done; NULL */
};
void record_release(struct record *d);

/* Index of metric @name; added where it is new. */
size_t record_metric_add(struct record *d, const char *name, const char *unit);
/* Set fact @name; a second value marks it as varying. */
void record_fact_set(struct record *d, const char *name, const char *value);
/* Its value, NULL: not known. Borrowed. */
const char *record_fact(const struct record *d, const char *name);
const struct record_values *record_values_of(const struct record_trial *t, size_t metric);

/* Boots of @commit that measured @metric, each with the median over its runs. */
struct record_sides {
	double *boot; /* owned */
	size_t n;
	double mean, sd;         /* sd 0 for n < 2 */
	unsigned booted, failed; /* boots, and how many of them were not ok */
	enum trial_outcome why;  /* the first that was not */
};
/* @confirm: only fresh boots of the confirmation, else only those of the search. */
void record_side(const struct record *d, const struct commit_id *commit, size_t metric,
		 bool confirm, struct record_sides *out);

/* kregress report --format …; @r and @d belong together. */
void report_mail(const struct report *r, const struct record *d, FILE *out);
void report_html(const struct report *r, const struct record *d, FILE *out);
void report_junit(const struct report *r, const struct record *d, FILE *out);
/* The object of report_json() and the keys that only this command adds; one line. */
void report_json_long(const struct report *r, const struct record *d, FILE *out);

#endif
