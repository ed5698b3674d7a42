/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One trial: commit → build → boot → run → store → engine. */
#include "campaign/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "campaign/patches.h"
#include "campaign/replay.h"
#include "campaign/trial_internal.h"

void trial_attempt_release(struct attempt *a)
{
	build_result_release(&a->build);
	observed_release(&a->observed);
}

/* Store a finished trial, tell the engine, fill the line of progress. */
static int finish(struct attempt *a, const struct store_trial *t, struct trial_report *r,
		  struct err *e)
{
	_cleanup_free_ double *v = NULL;
	size_t n = 0;

	if (store_trial_add(a->s->store, t, e) < 0)
		return -1;
	if (replay_counts(a->s, t))
		replay_trial(a->s, t);
	v = session_samples(a->s, t, &n);
	r->outcome = t->outcome;
	r->estimate = n ? stats_median(v, n) : 0;
	r->boot_seconds = t->boot_seconds;
	r->run_seconds = t->run_seconds;
	snprintf(r->detail, sizeof(r->detail), "%s", t->detail ? t->detail : "");
	return 0;
}

int trial_record_failure(struct attempt *a, struct trial_report *r, struct err *e)
{
	_cleanup_(store_trial_release) struct store_trial t = {
		.commit = *a->id,
		.build_id = a->build_row,
		.setup = xstrdup(session_setup_of(a->s, a->id)),
		.purpose = xstrdup(a->purpose),
		.outcome = a->build.outcome,
		.detail = xstrdup(a->build.signature ? a->build.signature : ""),
		.dir = xstrdup(""),
	};

	if (store_trial_begin(a->s->store, a->id, &t.id, e) < 0)
		return -1;
	t.time = clock_real_s();
	return finish(a, &t, r, e);
}

/* A boot time-out counts only where the lab is proved healthy. */
static int check_lab(struct session *s, struct err *e)
{
	struct err why = ERR_INIT;
	int ret = trial_canary(s, &why);

	if (ret > 0)
		return 0;
	*e = why;
	if (ret < 0)
		return -1;
	if (store_note_add(s->store, "lab", why.msg, 0, e) < 0)
		return -1;
	*e = why;
	return -1;
}

static int boot_and_record(struct attempt *a, struct trial_report *r, struct err *e)
{
	const struct config *c = a->s->cfg;
	_cleanup_(store_trial_release) struct store_trial t = { .id = 0 };
	bool timed_out = false;

	if (trial_boot(a, c->measure.runs_per_boot + c->measure.warmup_runs, &t, &timed_out, e) < 0)
		return -1;
	if (timed_out && check_lab(a->s, e) < 0)
		return -1;
	if (finish(a, &t, r, e) < 0)
		return -1;
	return observe_store(a->s, t.id, &a->observed, e);
}

int trial_run(struct session *s, const struct commit_id *id, uint32_t layout, const char *purpose,
	      struct trial_report *r, struct err *e)
{
	_cleanup_(trial_attempt_release) struct attempt a = {
		.s = s, .id = id, .layout = layout, .purpose = purpose
	};
	int ret;

	memset(r, 0, sizeof(*r));
	commit_hex(a.id, a.hex);
	if (s->cfg->build.type == BUILD_NONE)
		return boot_and_record(&a, r, e);
	if (trial_build(&a, e) < 0)
		return -1;
	r->cached = a.build.cached;
	r->build_seconds = a.build.seconds;
	if (a.build.outcome != TRIAL_OK)
		return trial_record_failure(&a, r, e);
	ret = trial_take_over(&a, r, e);
	if (ret != 0)
		return ret < 0 ? -1 : 0;
	return boot_and_record(&a, r, e);
}
