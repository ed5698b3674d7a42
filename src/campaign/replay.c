/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Present state is a replay of the log through the engine. */
#include "campaign/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "campaign/auto_good.h"
#include "campaign/import.h"
#include "campaign/patches.h"
#include "core/signature.h"

double *session_samples(const struct session *s, const struct store_trial *t, size_t *n)
{
	double *v = xcalloc(t->n_samples, sizeof(*v));

	*n = 0;
	for (size_t i = 0; i < t->n_samples; i++)
		if (!t->samples[i].warmup && str_eq(t->samples[i].metric, s->metric->name))
			v[(*n)++] = t->samples[i].value;
	return v;
}

/* An end that failed has another try at each run: what failed may have been mended. */
static bool is_given_up(const struct session *s, const struct store_trial *t)
{
	return t->id <= s->retry_after && t->outcome != TRIAL_OK &&
	       (commit_eq(&t->commit, &s->good) || commit_eq(&t->commit, &s->bad));
}

bool replay_compares(const char *purpose)
{
	return purpose && str_starts(purpose, "compare");
}

bool replay_counts(const struct session *s, const struct store_trial *t)
{
	return !is_given_up(s, t) && str_eq(t->setup, session_setup_of(s, &t->commit)) &&
	       !str_eq(t->purpose, "canary") && !str_eq(t->purpose, "confirm") &&
	       !replay_compares(t->purpose);
}

void replay_learn_unit(struct session *s, const struct store_trial *t)
{
	for (size_t i = 0; i < t->n_samples && !s->unit; i++)
		if (str_eq(t->samples[i].metric, s->metric->name) && t->samples[i].unit &&
		    t->samples[i].unit[0])
			s->unit = xstrdup(t->samples[i].unit);
}

/* Whatever a damaged store says. */
#define TRIALS_MOST (1 << 24)

/* Numbers only grow, and some were begun without being finished. */
static void remember_commit(struct session *s, const struct store_trial *t)
{
	size_t id = (size_t)t->id;

	if (t->id <= 0 || t->id > TRIALS_MOST || id < s->n_trial_of)
		return;
	xgrow(&s->trial_of, &s->trial_of_room, id + 1, sizeof(*s->trial_of));
	memset(s->trial_of + s->n_trial_of, 0, (id + 1 - s->n_trial_of) * sizeof(*s->trial_of));
	s->trial_of[id] = t->commit;
	s->n_trial_of = id + 1;
}

/* Whose boot a trial of an identical kernel is. */
static uint32_t twin_of(const struct session *s, const struct store_trial *t)
{
	size_t id = (size_t)t->twin;

	if (t->twin <= 0 || id >= s->n_trial_of || commit_is_null(&s->trial_of[id]))
		return DAG_NONE;
	return session_node(s, &s->trial_of[id]);
}

void replay_trial(struct session *s, const struct store_trial *t)
{
	uint32_t node = s->engine ? session_node(s, &t->commit) : DAG_NONE;
	_cleanup_free_ double *v = NULL;
	struct trial trial = { .outcome = t->outcome,
			       .copy = t->twin != 0,
			       .twin = twin_of(s, t),
			       .layout = t->layout,
			       .boot_seconds = t->boot_seconds,
			       .run_seconds = t->run_seconds,
			       .alike = signature_of(t->outcome, t->detail) };

	remember_commit(s, t);
	replay_learn_unit(s, t);
	if (node == DAG_NONE)
		return;
	v = session_samples(s, t, &trial.n);
	trial.samples = v;
	/* Measured when another metric decided, without a value of this one: as if it were not there. */
	if (trial.outcome == TRIAL_OK && !trial.n)
		return;
	engine_observe(s->engine, node, &trial);
}

void replay_build(struct session *s, const struct store_build *b)
{
	/* a failed one is no kernel, and its price no build's */
	if (s->engine && b->outcome == TRIAL_OK)
		engine_built(s->engine, session_node(s, &b->commit), 0, b->cached ? 0 : b->seconds);
}

static int see_build(const struct store_build *b, void *cookie)
{
	replay_build(cookie, b);
	return 0;
}

static int see_trial(const struct store_trial *t, void *cookie)
{
	struct session *s = cookie;

	if (replay_compares(t->purpose))
		return 0;
	if (!str_eq(t->setup, session_setup_of(s, &t->commit)))
		s->other_setup++;
	else if (replay_counts(s, t))
		replay_trial(s, t);
	return 0;
}

static int see_last(const struct store_trial *t, void *cookie)
{
	int64_t *last = cookie;

	*last = t->id;
	return 0;
}

/*
 * A note "retry N" gives the ends another try after the failures up to trial N; "revert <culprit>
 * <commit>" tells of a commit of ours, made on the newer end, and "apply" of one on the older.
 */
static int see_note(const struct store_note *n, void *cookie)
{
	struct session *s = cookie;
	struct commit_id id;

	if (str_eq(n->kind, "retry") && n->text)
		s->retry_after = strtoll(n->text, NULL, 10);
	if ((str_eq(n->kind, "revert") || str_eq(n->kind, "apply")) && n->text &&
	    strlen(n->text) > COMMIT_HEX && commit_parse(n->text + COMMIT_HEX + 1, &id))
		patches_take_after(s, &id, n->kind[0] == 'r' ? &s->new : &s->old);
	return 0;
}

int replay_again(struct session *s, struct err *e)
{
	struct store_visitor notes = { .note = see_note, .cookie = s };
	struct store_visitor trials = { .build = see_build, .trial = see_trial, .cookie = s };

	s->other_setup = 0;
	if (store_visit(s->store, &notes, e) < 0)
		return -1;
	return store_visit(s->store, &trials, e) < 0 ? -1 : 0;
}

int replay_anew(struct session *s, struct err *e)
{
	engine_free(s->engine);
	s->engine = engine_new(&s->engine_opts);
	return replay_again(s, e);
}

/* Begin anew with an engine that has not seen the failure of the end. */
static int retry_ends(struct session *s, struct err *e)
{
	struct store_visitor v = { .trial = see_last, .cookie = &s->retry_after };
	char text[32];

	if (store_visit(s->store, &v, e) < 0)
		return -1;
	snprintf(text, sizeof(text), "%lld", (long long)s->retry_after);
	if (store_note_add(s->store, "retry", text, 0, e) < 0)
		return -1;
	log_info("an end could not be measured the last time: trying again");
	if (s->auto_good) {
		/* all that failed so far: from the nearest commit on */
		if (auto_good_first(s, e) < 0 || replay_again(s, e) < 0)
			return -1;
		return auto_good_settle(s, e);
	}
	return replay_anew(s, e);
}

int replay_store(struct session *s, struct err *e)
{
	struct engine_result r;

	if (replay_again(s, e) < 0)
		return -1;
	/* single commits without ends: nothing to decide about */
	if (!s->engine)
		return 0;
	if (auto_good_settle(s, e) < 0) /* auto: */
		return -1;
	if (import_doubt(s, e) < 0)
		return -1;
	engine_result(s->engine, &r);
	if (s->mode != SESSION_RUN || r.status != ENGINE_END_UNMEASURED)
		return 0;
	return retry_ends(s, e);
}
