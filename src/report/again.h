/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A campaign decided again from its store under other settings, as plain data. */
#ifndef KR_REPORT_AGAIN_H
#define KR_REPORT_AGAIN_H

#include "report/report.h"

/* One setting that decides and that is another now. */
struct report_setting {
	char *key;            /* "verdict.threshold" */
	char *before, *after; /* NULL: not set */
};

/* One commit that has trials. */
struct report_again_commit {
	struct commit_id id;
	char *subject; /* untrusted; NULL: not known */
	enum verdict before;
	/* by the replay; of a commit that it did not ask for: by all that is stored */
	enum verdict after;
	bool asked; /* the replay asked for it */
	bool has_interval;
	struct stats_interval interval; /* after */
	unsigned stored, used;          /* trials, those taken over from an identical kernel too */
};

/* Where the replay ended for want of a boot. */
struct report_needs {
	enum engine_phase phase; /* 0: it did not */
	struct commit_id commit; /* the one asked for; PHASE_CONFIRM: the culprit */
	char *subject;           /* untrusted */
	unsigned stored;         /* trials of it that were used up; 0: it was never measured */
	/* boots that its verdict needs besides (PHASE_ENDS, PHASE_CONFIRM: of all concerned) */
	unsigned at_least, at_most; /* at_most 0: not known */
	unsigned steps;             /* commits to measure after it, as git estimates */
	bool steps_are_boots;       /* steps: boots, as bayes expects */
	unsigned each;              /* boots that each of them takes at least */
};

/* What `kregress run` with the new settings makes of all that is stored, whatever was asked for. */
struct report_go_on {
	enum engine_status status;
	struct commit_id culprit; /* null: none */
	size_t left;
	unsigned steps;
};

struct report_again {
	struct report before, after;
	bool before_stored; /* the settings before are those of the store; else the file's */
	struct report_setting *setting;
	size_t n_settings;
	struct report_again_commit *commit; /* in the order of first measuring */
	size_t n_commits;
	struct report_needs needs;
	struct report_go_on go_on;
	size_t same; /* commits that the search asks for first, the same in the same order */
	unsigned stored, used; /* trials that count for the search */
	unsigned other_setup;  /* trials of another setup, left out */
	unsigned no_value;     /* trials that ran, but without all values of the metric: garbled */
	unsigned mended;       /* garbled trials whose fault is not this metric's: ok */
};
void report_again_release(struct report_again *a);

/* Has this commit another verdict than before? One that is not judged any more has none. */
bool report_again_is_flip(const struct report_again_commit *c);
/* The commit that the search asks for after the @a->same first ones; NULL: none. Borrowed. */
const struct commit_id *report_again_next(const struct report_again *a, bool before);

/* For a person. */
void report_again_text(const struct report_again *a, FILE *out);
/* One JSON object with a newline. */
void report_again_json(const struct report_again *a, FILE *out);

#endif
