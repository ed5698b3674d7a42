/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One campaign opened: its file, history, store, engine and target together. */
#ifndef KR_CAMPAIGN_SESSION_H
#define KR_CAMPAIGN_SESSION_H

#include <stdbool.h>

#include "base/err.h"
#include "base/hash.h"
#include "core/dag.h"
#include "core/engine.h"
#include "io/build.h"
#include "io/config.h"
#include "io/repo.h"
#include "io/store.h"
#include "io/workload.h"
#include "target/target.h"

struct bisect_log;
struct auto_good;
struct series;
struct patches;
struct guest_parts;

enum session_mode {
	SESSION_VIEW = 1, /* read the state, change nothing, take no lock */
	SESSION_RUN,      /* lock the state directory, write */
};

/* How to open a campaign. */
struct session_opts {
	enum session_mode mode;
	bool ends_optional; /* a file without good and bad is no error */
	bool no_ends;       /* those of the file are not looked at (kregress compare) */
	bool any_store;     /* the store is used whatever campaign it belongs to (kregress test) */
	const struct bisect_log *here; /* the bisection that runs us, for its terms; NULL: none */
	const struct bisect_log
		*import; /* resolved: it gives ends and verdicts; NULL: the file does */
	bool recheck;    /* what it says of other commits is measured again */
};

/* What was said of a commit without measuring it. */
struct session_said {
	struct commit_id id;
	enum verdict verdict; /* GOOD, BAD, SKIP */
	bool person;          /* in a bisect log; else skip = in the file */
};

struct session {
	const struct config *cfg; /* borrowed */
	enum session_mode mode;
	struct workload workload;    /* name == NULL: none */
	const struct metric *metric; /* the deciding one */
	struct metric bare_metric;   /* it, where no workload declares it */
	char *unit;                  /* of the deciding metric */

	struct repo *repo;      /* where commits are: the user's, or with a series our own */
	struct repo *user_repo; /* with a series: the user's, to build from; else NULL */
	bool has_ends;          /* false (ends_optional): no ends, no history, no engine */
	bool fix;               /* hunt = fix */
	bool first_parent;
	struct strv paths;
	char *term_old, *term_new; /* of an imported bisect log; NULL: the usual ones */
	char *import;              /* the text of that log; NULL: none */
	bool new_import;           /* of this call: not in the store yet */
	bool recheck;
	struct session_said *told; /* each commit once; the last word counts */
	size_t n_told, told_room;
	struct auto_good *auto_good; /* good = auto: see auto_good.h; else NULL */
	struct series *series;       /* see series.h; else NULL */

	struct commit_id good, bad; /* the metric's words */
	struct commit_id old, new;  /* history's */
	struct commit_id
		*older; /* old, then those said to be in the old state beside the candidates */
	size_t n_older;
	struct commit_id *merge_base;
	size_t n_merge_bases;
	struct dag dag;
	struct engine *engine;
	struct engine_given *given; /* for the engine: told, by node */
	size_t n_given;
	struct engine_opts engine_opts; /* what it was made with */
	double *prior;                  /* of the candidates, for bayes */
	bool prior_learnt;              /* in this run */
	int64_t retry_after; /* failures of the ends up to this trial were given another try */
	struct verdict_opts verdict;

	bool claimed;        /* see session_claim() */
	struct store *store; /* NULL in SESSION_VIEW before the first run */
	int lock_fd;
	char setup[HASH_HEX_SIZE];  /* what makes values comparable; see session_setup_of() */
	struct commit_id *trial_of; /* the commit of each trial read so far, by its number */
	size_t n_trial_of, trial_of_room;
	unsigned other_setup;    /* stored trials of another setup: not used */
	struct patches *patches; /* see patches.h; NULL: no patch.NAME */

	struct builder *builder;   /* opened at the first build */
	struct strv fragments;     /* campaign's and workload's */
	struct target target;      /* opened at the first trial */
	struct guest_parts *parts; /* that a target over SSH borrows; else NULL */
	struct machine machine;
	struct strv env; /* KREGRESS_… for commands */
	/* Of what is compared, "NAME=value": facts of each trial, and KREGRESS_NAME for commands. */
	struct strv labels;
	char *objects; /* of our own repository, when kernels are made there; NULL: none are */

	/* of this call */
	char *hand; /* run --revert; NULL: none */
	double started, make_seconds, boot_seconds, run_seconds;
	char stage[160]; /* for the progress line */
	double stage_started;
	char *said;  /* of the last build: options dropped, patches applied */
	double pace; /* mean seconds of a step so far; 0: not known */

	double page_next; /* of status.html: not before; clock_mono_s() */
	bool page_failed; /* and that was said */
};

/*
 * Open the campaign: checks every path and revision it names (ERR_CONFIG),
 * walks the history, opens the store and replays it. @s is an empty struct;
 * session_close() releases it, also after a failure.
 */
int session_open(struct session *s, const struct config *cfg, const struct session_opts *o,
		 struct err *e);
void session_close(struct session *s);

/* Once the ends are apart: from now on the store belongs to this campaign, and to no other. */
int session_claim(struct session *s, struct err *e);

/* Engine number of @id; DAG_NONE: no commit of this campaign. */
uint32_t session_node(const struct session *s, const struct commit_id *id);
/* Commit of an engine number. */
const struct commit_id *session_commit(const struct session *s, uint32_t node);
/* Can the layout of a kernel be drawn anew (layout = random)? Else all trials have layout 0. */
bool session_layouts(const struct session *s);
/* Values of the deciding metric in a stored trial, warm-ups dropped; owned array, @n. */
double *session_samples(const struct session *s, const struct store_trial *t, size_t *n);

/* The hash of target, workload, kernel configuration and runs that a trial belongs to. */
int session_setup_hash(struct session *s, struct err *e);

#endif
