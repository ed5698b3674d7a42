/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The append-only log of a campaign (SQLite, WAL, synchronous=FULL). */
#ifndef KR_IO_STORE_H
#define KR_IO_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "core/commit.h"
#include "core/trial.h"

struct store;

/*
 * Open or create @path. @read_only: it must exist (else ERR_NOT_FOUND), nothing is written
 * (works beside a running campaign). A store of an older kregress is brought up to date when it is
 * opened for writing. ERR_STORE: damaged, of a newer kregress, no space, not
 * SQLite, locked by another process for more than 5 s. After a failure the store stays usable:
 * what failed is not in it (a failed COMMIT: perhaps), all the rest is.
 * Free text is kept byte for byte up to its first NUL; above 1 MiB it is cut.
 */
int store_open(const char *path, bool read_only, struct store **out, struct err *e);
void store_close(struct store *s);

/* What the campaign is; set once. Texts are owned by the struct when read. */
struct store_campaign {
	char *name;     /* [campaign] name */
	char *identity; /* one line a field: repository, ends, hunt …; compared as a whole */
	char *text;     /* effective campaign, as "section.key = value" lines */
	int64_t time;   /* seconds since the epoch */
};
void store_campaign_release(struct store_campaign *c);
/* 1 and the newest @c (owned, released by the caller), 0: none yet, -1. */
int store_campaign_get(struct store *s, struct store_campaign *c, struct err *e);
/*
 * A changed text or name is appended as a new row, an unchanged one is not. Another identity
 * than the store's: ERR_CONFIG. All texts are set.
 */
int store_campaign_add(struct store *s, const struct store_campaign *c, struct err *e);

struct store_build {
	int64_t id; /* 1-based; set by store_build_add */
	struct commit_id commit;
	enum trial_outcome outcome;
	char *key, *image_hash, *build_id, *release; /* NULL or "": not known */
	char *signature, *log_path, *config_path;
	char *detail; /* options dropped, patches applied: for the report */
	bool cached;
	double seconds; /* all of it */
	double seconds_make;
	int64_t time;
};
void store_build_release(struct store_build *b);
int store_build_add(struct store *s, struct store_build *b, struct err *e);

struct store_sample {
	char *metric, *unit;
	int run; /* 0-based; warm-ups have their own numbers and warmup = true */
	bool warmup;
	double value;
};

struct store_trial {
	int64_t id; /* 1-based, in the order of the log */
	struct commit_id commit;
	int64_t build_id; /* row of build; 0: nothing was built */
	char *setup;      /* hash of all that makes values comparable: target, workload, runs */
	char *purpose; /* "ends", "search", "confirm", "canary", "test", "compare", "compare-profile" */
	enum trial_outcome outcome;
	char *detail;
	char *dir; /* trial folder, relative to the state directory */
	char *boot_id;
	char *facts;  /* lines NAME=value */
	int64_t twin; /* 0, or the trial whose values this commit takes over (identical kernel) */
	double boot_seconds, run_seconds, total_seconds;
	int64_t time;    /* when it ended */
	uint32_t layout; /* which redrawing of its kernel's layout; 0: none */
	struct store_sample *samples;
	size_t n_samples;
};
void store_trial_release(struct store_trial *t);
/*
 * Reserve the number of the next trial, for its folder and KREGRESS_TRIAL:
 * one more than any number ever given, also to trials that were cut off.
 */
int store_trial_begin(struct store *s, const struct commit_id *commit, int64_t *id, struct err *e);
/*
 * Commit the finished trial and its samples in one transaction; id as begun, once. ERR_INTERNAL:
 * a value that is not finite, an id not begun or stored already, an unknown build or twin.
 */
int store_trial_add(struct store *s, const struct store_trial *t, struct err *e);

/* One line for the log: a decision, trouble, a start or stop. */
struct store_note {
	int64_t time;
	char *kind; /* "start", "stop", "warning", "lab", "verdict", "result", … */
	char *text;
	double seconds; /* "stop": wall time of the session */
};
void store_note_release(struct store_note *n);
int store_note_add(struct store *s, const char *kind, const char *text, double seconds,
		   struct err *e);

/*
 * All rows in order of the log, up to the last one at the time of the call; the callback's
 * struct is borrowed. A non-zero return stops and is returned. NULL callbacks are skipped. A
 * callback may use the store.
 */
struct store_visitor {
	int (*build)(const struct store_build *b, void *cookie);
	int (*trial)(const struct store_trial *t, void *cookie);
	int (*note)(const struct store_note *n, void *cookie);
	void *cookie;
};
int store_visit(struct store *s, const struct store_visitor *v, struct err *e);

#endif
