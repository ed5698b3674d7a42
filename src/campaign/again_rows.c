/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stored trials, told to an engine in the order in which it asks for them. */
#include "campaign/again_internal.h"

#include <stdlib.h>
#include <string.h>

#include "campaign/patches.h"
#include "campaign/replay.h"

#define METRICS_MAX 64 /* names kept for a message */

static char *copied(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void again_rows_release(struct again_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		store_trial_release(&rows->v[i].t);
	free(rows->v);
	free(rows->build);
	strv_release(&rows->metrics);
}

/* All of it but the values of other metrics. */
static void copy_trial(struct again_rows *rows, const struct store_trial *t,
		       struct store_trial *out)
{
	*out = *t;
	out->setup = copied(t->setup);
	out->purpose = copied(t->purpose);
	out->detail = copied(t->detail);
	out->dir = copied(t->dir);
	out->boot_id = copied(t->boot_id);
	out->facts = copied(t->facts);
	out->samples = xcalloc(t->n_samples, sizeof(*out->samples));
	out->n_samples = 0;
	for (size_t i = 0; i < t->n_samples; i++) {
		struct store_sample *v;

		if (rows->metrics.n < METRICS_MAX && t->samples[i].metric &&
		    !strv_has(&rows->metrics, t->samples[i].metric))
			strv_add(&rows->metrics, t->samples[i].metric);
		if (!str_eq(t->samples[i].metric, rows->s->metric->name))
			continue;
		v = &out->samples[out->n_samples++];
		*v = t->samples[i];
		v->metric = xstrdup(t->samples[i].metric);
		v->unit = copied(t->samples[i].unit);
	}
}

/*
 * Garbled because of another metric, which decides no more: as far as this one goes it ran. A
 * value that a workload's declaration forbids makes the trial garbled whatever decides.
 */
static bool is_fault_of_other(const struct session *s, const struct store_trial *t)
{
	const char *name = t->detail ? strstr(t->detail, "metric ") : NULL;
	size_t n = strlen(s->metric->name);

	if (!name)
		return false;
	name += strlen("metric ");
	if (!strncmp(name, s->metric->name, n) && (name[n] == ' ' || name[n] == ':'))
		return false;
	return !s->workload.name || strstr(name, metric_find_text(METRIC_MISSING));
}

/* What the outcome is where the new metric decides: it was perhaps another that did. */
static void judge_outcome(struct again_rows *rows, struct store_trial *t)
{
	const struct config *c = rows->s->cfg;
	size_t runs = c->measure.runs_per_boot + c->measure.warmup_runs;

	if (t->outcome == TRIAL_OK && t->n_samples < runs) {
		t->outcome = TRIAL_GARBLED;
		free(t->detail);
		t->detail = xasprintf("metric %s: %zu of %zu values", rows->s->metric->name,
				      t->n_samples, runs);
		rows->no_value++;
	} else if (t->outcome == TRIAL_GARBLED && t->n_samples == runs &&
		   is_fault_of_other(rows->s, t)) {
		t->outcome = TRIAL_OK;
		rows->mended++;
	}
}

/* The row that first had these values; rows refer back only. */
static size_t root_of(const struct again_rows *rows, const struct store_trial *t)
{
	for (size_t i = 0; i < rows->n && t->twin; i++)
		if (rows->v[i].t.id == t->twin)
			return rows->v[i].root;
	return rows->n;
}

static int see_trial(const struct store_trial *t, void *cookie)
{
	struct again_rows *rows = cookie;
	struct again_row row = { .root = root_of(rows, t) };
	bool same_setup = str_eq(t->setup, session_setup_of(rows->s, &t->commit));

	row.counts = replay_counts(rows->s, t);
	row.confirms = same_setup && str_eq(t->purpose, "confirm");
	copy_trial(rows, t, &row.t);
	rows->metric_seen |= row.counts && row.t.n_samples;
	if (row.counts)
		judge_outcome(rows, &row.t);
	xgrow(&rows->v, &rows->room, rows->n + 1, sizeof(*rows->v));
	rows->v[rows->n++] = row;
	return 0;
}

static int see_build(const struct store_build *b, void *cookie)
{
	struct again_rows *rows = cookie;

	xgrow(&rows->build, &rows->build_room, rows->n_builds + 1, sizeof(*rows->build));
	rows->build[rows->n_builds++] = (struct again_build){
		.b = { .id = b->id,
		       .commit = b->commit,
		       .outcome = b->outcome,
		       .cached = b->cached,
		       .seconds = b->seconds,
		       .seconds_make = b->seconds_make },
	};
	return 0;
}

int again_rows_load(struct again_rows *rows, struct session *s, struct err *e)
{
	struct store_visitor v = { .build = see_build, .trial = see_trial, .cookie = rows };

	rows->s = s;
	return store_visit(s->store, &v, e);
}

/* The price of the kernel that @t booted is known before its values. */
static void tell_build(struct again_rows *rows, const struct store_trial *t)
{
	for (size_t i = 0; i < rows->n_builds; i++) {
		struct again_build *b = &rows->build[i];

		if (b->b.id != t->build_id || b->used)
			continue;
		b->used = true;
		replay_build(rows->s, &b->b);
	}
}

/*
 * Values of a boot that the engine knows already, under whichever commit, are copies to it: they
 * tell nothing of the spread. In another order another of them comes first.
 */
static void tell(struct again_rows *rows, size_t i)
{
	struct again_row *row = &rows->v[i], *root = &rows->v[row->root];
	struct store_trial view = row->t;

	view.twin = root->told_as;
	if (!root->told_as)
		root->told_as = row->t.id;
	row->used = true;
	tell_build(rows, &view);
	replay_trial(rows->s, &view);
}

/* The next stored trial for this step; rows->n: there is none. */
static size_t find_next(const struct again_rows *rows, const struct engine_step *step)
{
	const struct commit_id *id = session_commit(rows->s, step->node);
	size_t i = 0;

	while (i < rows->n &&
	       (rows->v[i].used || !rows->v[i].counts || rows->v[i].t.layout != step->layout ||
		!commit_eq(&rows->v[i].t.commit, id)))
		i++;
	return i;
}

/* The trials of an identical kernel are taken over all at once, as when they were stored. */
static void tell_copies(struct again_rows *rows, size_t i)
{
	const struct commit_id *id = &rows->v[i].t.commit;

	if (!rows->v[i].t.twin)
		return;
	for (i++; i < rows->n && rows->v[i].t.twin && commit_eq(&rows->v[i].t.commit, id); i++)
		if (rows->v[i].counts && !rows->v[i].used)
			tell(rows, i);
}

void again_rows_replay(struct again_rows *rows)
{
	struct session *s = rows->s;
	struct engine_step step;

	engine_free(s->engine);
	s->engine = engine_new(&s->engine_opts);
	for (;;) {
		size_t i;

		engine_next(s->engine, &step);
		if (step.phase == PHASE_DONE)
			return;
		i = find_next(rows, &step);
		if (i == rows->n)
			return;
		tell(rows, i);
		tell_copies(rows, i);
	}
}
