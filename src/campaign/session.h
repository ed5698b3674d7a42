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

enum session_mode {
	SESSION_VIEW = 1, /* read the state, change nothing, take no lock */
	SESSION_RUN,      /* lock the state directory, write */
};

struct session {
	const struct config *cfg; /* borrowed */
	enum session_mode mode;
	struct workload workload;    /* name == NULL: none */
	const struct metric *metric; /* the deciding one */
	struct metric bare_metric;   /* it, where no workload declares it */
	char *unit;                  /* of the deciding metric */

	struct repo *repo;
	struct commit_id good, bad; /* the metric's words */
	struct commit_id old, new;  /* history's */
	struct commit_id *merge_base;
	size_t n_merge_bases;
	struct dag dag;
	struct engine *engine;
	struct engine_opts engine_opts; /* what it was made with */
	int64_t retry_after; /* failures of the ends up to this trial were given another try */
	struct verdict_opts verdict;

	struct store *store; /* NULL in SESSION_VIEW before the first run */
	int lock_fd;
	char setup[HASH_HEX_SIZE]; /* what makes values comparable */
	unsigned other_setup;      /* stored trials of another setup: not used */

	struct builder *builder; /* opened at the first build */
	struct strv fragments;   /* campaign's and workload's */
	struct target target;    /* opened at the first trial */
	struct machine machine;
	struct strv env; /* KREGRESS_… for commands */

	/* of this call */
	double started, make_seconds, boot_seconds, run_seconds;
	char stage[160]; /* for the progress line */
	double stage_started;
	char *said;  /* of the last build: options dropped, patches applied */
	double pace; /* mean seconds of a step so far; 0: not known */
};

/*
 * Open the campaign: checks every path and revision it names (ERR_CONFIG),
 * walks the history, opens the store and replays it. @s is an empty struct;
 * session_close() releases it, also after a failure.
 */
int session_open(struct session *s, const struct config *cfg, enum session_mode mode,
		 struct err *e);
void session_close(struct session *s);

/* Engine number of @id; DAG_NONE: no commit of this campaign. */
uint32_t session_node(const struct session *s, const struct commit_id *id);
/* Commit of an engine number. */
const struct commit_id *session_commit(const struct session *s, uint32_t node);
/* Values of the deciding metric in a stored trial, warm-ups dropped; owned array, @n. */
double *session_samples(const struct session *s, const struct store_trial *t, size_t *n);

/* The hash of target, workload, kernel configuration and runs that a trial belongs to. */
int session_setup_hash(struct session *s, struct err *e);

#endif
