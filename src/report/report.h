/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a campaign came to, as plain data, and the ways to print it. */
#ifndef KR_REPORT_REPORT_H
#define KR_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/str.h"
#include "core/commit.h"
#include "core/engine.h"
#include "report/evidence.h"

/* One measured commit. */
struct report_commit {
	struct commit_id id;
	char *subject, *author, *email, *date; /* untrusted, neutralised when printed */
	enum verdict verdict;
	enum trial_outcome outcome; /* TRIAL_OK, or the first that was not */
	char *detail;               /* why not ok: first error, panic line … ; NULL */
	char *log_path;             /* of that failure; NULL */
	unsigned trials;            /* boots */
	double *samples;            /* the deciding metric's, warm-ups dropped */
	size_t n_samples;
	bool has_interval;
	struct stats_interval interval;
	double new_state;      /* with bayes: chance of the new state; else NAN or unset */
	struct commit_id twin; /* not null: values taken over from this identical kernel */
};
void report_commit_release(struct report_commit *c);

/* Fresh boots after the search: culprit against its parent, and the culprit reverted. */
enum report_confirm_state {
	CONFIRM_NONE = 0, /* not asked for, or not begun */
	CONFIRM_UNFINISHED,
	CONFIRM_YES,         /* the difference stands in fresh, interleaved boots */
	CONFIRM_NO,          /* it does not */
	CONFIRM_FAILS_AGAIN, /* a culprit that failed fails again, its parent does not: see detail */
	CONFIRM_UNMEASURED,  /* the parent cannot be built or booted: see detail */
};
enum report_revert_state {
	REVERT_NONE = 0,
	REVERT_MEASURED,
	REVERT_CONFLICTS, /* detail: the files */
	REVERT_FAILED,    /* the reverted kernel cannot be measured: see detail */
	REVERT_SAME,      /* on that end it is the parent (applied: the culprit) itself */
	REVERT_NO_BUILD,  /* no kernel is built that could be changed */
};
/* How culprit and parent were compared. */
enum report_test {
	TEST_NONE = 0, /* single boots: by the values alone */
	TEST_WELCH,    /* Welch's t test over the fresh boots */
	TEST_POOLED, /* t test with the deviation of all boots: these do not vary, or are too few */
	TEST_EXACT,  /* no boot of a kernel differs from another of it */
};
struct report_confirm {
	enum report_confirm_state state;
	struct commit_id parent;
	unsigned boots; /* of each */
	struct stats_interval parent_side, culprit_side;
	struct stats_interval diff; /* culprit − parent */
	double p;                   /* of the difference being 0 */
	enum report_test test;
	bool undecided; /* CONFIRM_NO: neither the difference nor its absence is shown */
	char *detail;
	enum report_revert_state revert;
	struct commit_id reverted;         /* in the private repository */
	struct stats_interval revert_side; /* the bad end without the culprit */
	bool revert_helps;                 /* it lies on the wanted side of the threshold */
	char *revert_detail;
	char *by_hand;                    /* what --revert named; untrusted; NULL: git's revert */
	char *conflict_dir;               /* where the files of a revert that conflicts are */
	enum report_revert_state apply;   /* on the good end, as revert */
	struct commit_id applied;         /* in the private repository */
	struct stats_interval apply_side; /* the good end with the culprit */
	bool apply_shows;                 /* it lies on the other side of the threshold */
	char *apply_detail;
	/*
	 * The newer end against the older, in percent of the older, and of that what the revert takes
	 * back and what applying makes; NAN: not known.
	 */
	double ends_percent, revert_percent, apply_percent;
};

/* What was said of a commit without measuring it. */
struct report_told {
	struct commit_id id;
	enum verdict verdict;  /* GOOD, BAD, SKIP */
	bool person;           /* in a bisect log; else skip = in the file */
	enum verdict measured; /* VERDICT_UNSET: it was not measured */
};

/* good = auto: a commit that was tried as the good end. */
struct report_try {
	struct commit_id id;
	char *name;                 /* a tag, "3 days before" …; untrusted */
	enum engine_status refused; /* ENGINE_RUNNING: not, or not yet */
	enum trial_outcome outcome; /* of what was refused */
	bool has_interval;
	struct stats_interval interval;
};

/* With search = bayes: what is believed. */
struct report_share {
	struct commit_id id;
	char *subject; /* untrusted; NULL: not known */
	double share;
};
struct report_noise {
	bool is_bayes;
	struct engine_choice choice;
	struct engine_belief belief; /* top is not set: see share */
	struct report_share *share;  /* the commits with most weight, at most REPORT_SHARES */
	size_t n_share;
	struct commit_id next; /* that the next step boots; null: none */
	bool next_is_end;
	unsigned next_boot;        /* 1-based */
	unsigned runs;             /* of each boot */
	struct engine_power power; /* boots 0: not known */
};
#define REPORT_SHARES 10

struct report {
	char *name, *metric, *unit, *state_dir, *repo;
	bool fix;       /* hunt = fix */
	char *term_new; /* the word of a bisect log for the new state; NULL: bad, good */
	enum engine_status status;
	bool interrupted;
	enum engine_phase phase;
	struct commit_id good_id, bad_id;   /* the ends, also before they are measured */
	struct report_commit culprit;       /* ENGINE_FOUND; else its id is null */
	struct commit_id culprit_parent;    /* its first parent; null: none, not known */
	struct commit_id subject_of_status; /* failed end or bad merge base; null: none */
	struct commit_id *left;             /* candidates left */
	char **left_subject;                /* beside them; NULL entries: not known */
	double *left_share;                 /* likewise: chance of each; NULL: not known */
	double culprit_share;               /* NAN: not known */
	size_t n_left;
	uint32_t candidates; /* size of the range */
	uint32_t steps;      /* picks left while running */
	struct ends ends;
	double effect, confidence;
	double sd; /* pooled boot-to-boot deviation */
	size_t df;
	struct report_commit *tested; /* order of first testing, ends first */
	size_t n_tested;
	size_t good, bad;        /* indices of the ends in tested; SIZE_MAX: not measured yet */
	unsigned builds, trials; /* kernels compiled or taken from the cache; boots */
	size_t samples;
	/* over all sessions; build: checkout, configuration and make */
	double seconds_total, seconds_build, seconds_make, seconds_boot, seconds_workload;
	double session_total, session_make, session_boot, session_workload; /* of this call */
	struct strv config_diff; /* culprit's .config against its parent's */
	bool config_diff_known;
	struct report_confirm confirm;
	struct report_evidence evidence;
	struct report_told *told;
	size_t n_told;
	struct report_try *tries; /* the nearest first; the last is the good end, unless refused */
	size_t n_tries;
	bool tries_more; /* the history has older ones */
	struct report_noise noise;
	bool deterministic;
	bool single_boots;      /* no spread known: one boot a commit */
	struct commit_id asked; /* of `test`: one of tested; null: none */
};
void report_release(struct report *r);

/* "found", "short_list", "no_difference", "not_confirmed", "no_culprit", "interrupted" of the JSON. */
const char *report_status_name(const struct report *r);
/* Refused for lack of boots although the interval of the ends' difference excludes 0. */
bool report_ends_differ(const struct report *r);
/* good = auto tried all that it may, and none will do. */
bool report_no_good(const struct report *r);
/* Exit status of `run`: 0 found, 1 ended without, 130 interrupted. */
int report_exit_status(const struct report *r);

/* The answer for a person: culprit, sides, what was skipped and why, where the logs are. */
void report_text(const struct report *r, FILE *out);
/* Where it stands and why, for `status`. */
void report_status(const struct report *r, FILE *out);
/* One JSON object, keys as DESIGN.md fixes them, with a newline. */
void report_json(const struct report *r, FILE *out);

/* Which search it is and, where auto decided, why: one line. Appends. */
void report_choice(const struct engine_choice *c, const char *unit, struct str *out);

/* "12.48", "0.00123", "7692177": @v with enough digits to tell 0.1 % apart. Returns @buf. */
const char *report_number(double v, char *buf, size_t size);
/* "18.1 ms [16, 20]" (or without an interval where it is a point). Returns @buf. */
const char *report_interval(const struct stats_interval *i, const char *unit, char *buf,
			    size_t size);

#endif
