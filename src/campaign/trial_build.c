/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build part of a trial, and identical kernels. */
#include "campaign/trial_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "campaign/patches.h"
#include "campaign/progress.h"
#include "campaign/replay.h"
#include "campaign/series.h"

int trial_open_builder(struct session *s, struct err *e)
{
	const struct config *c = s->cfg;
	struct build_opts o = {
		.repo = s->user_repo ? s->user_repo : s->repo,
		.arch = c->build.arch,
		.config = c->build.config,
		.fragments = &s->fragments,
		.patches = &c->build.patches,
		.make_args = &c->build.make_args,
		.layout = (enum layout_mode)c->build.layout,
		.jobs = c->build.jobs,
		.timeout_ms = c->build.timeout_ms,
		.ccache = c->build.ccache,
		.command = &c->build.command,
		.command_dir = c->dir,
		.command_env = &s->env,
		.want_modules = c->target.type == TARGET_SSH,
		.cache_limit_bytes = c->build.cache_limit_bytes,
		.tick = progress_tick,
		.tick_cookie = s,
	};

	if (s->builder)
		return 0;
	patches_to_builder(s, &o);
	if (!s->env.n) {
		strv_addf(&s->env, "KREGRESS_STATE=%s", c->campaign.state);
		series_env(s, &s->env);
	}
	return builder_open(&o, &s->builder, e);
}

struct row_search {
	const struct commit_id *id;
	const char *key;
	int64_t row;
};

static int see_row(const struct store_build *b, void *cookie)
{
	struct row_search *q = cookie;

	if (commit_eq(&b->commit, q->id) && str_eq(b->key, q->key))
		q->row = b->id;
	return 0;
}

/* What the report says of a build besides its outcome. */
static char *describe(const struct build_result *b)
{
	_cleanup_str_ struct str text = STR_INIT;

	for (size_t i = 0; i < b->dropped.n; i++)
		str_addf(&text, "%s%s",
			 i ? ", " : "options that this commit does not have: ", b->dropped.v[i]);
	for (size_t i = 0; i < b->patches_applied.n; i++)
		str_addf(&text, "%s%s",
			 i          ? ", "
			 : text.len ? "; patched: "
				    : "patched: ",
			 b->patches_applied.v[i]);
	return str_detach(&text);
}

/* Options that a commit lacks and patches it got: said when they change from build to build. */
static void say_once(struct session *s, const char *hex, const char *detail)
{
	if (str_eq(s->said, detail))
		return;
	free(s->said);
	s->said = xstrdup(detail);
	if (detail[0])
		log_info("kernel of %.12s: %s", hex, detail);
}

static int store_row(struct attempt *a, struct err *e)
{
	struct row_search q = { .id = a->id, .key = a->build.key };
	struct store_visitor v = { .build = see_row, .cookie = &q };
	_cleanup_free_ char *detail = describe(&a->build);
	struct store_build row = {
		.commit = *a->id,
		.outcome = a->build.outcome,
		.key = a->build.key,
		.image_hash = a->build.image_hash,
		.build_id = a->build.build_id,
		.release = a->build.release,
		.signature = a->build.signature,
		.log_path = a->build.log_path,
		.config_path = a->build.config,
		.detail = detail,
		.cached = a->build.cached,
		.seconds = a->build.seconds,
		.seconds_make = a->build.seconds_make,
		.time = clock_real_s(),
	};

	if (store_visit(a->s->store, &v, e) < 0)
		return -1;
	a->build_row = q.row;
	if (q.row)
		return 0;
	if (store_build_add(a->s->store, &row, e) < 0)
		return -1;
	a->build_row = row.id;
	replay_build(a->s, &row);
	say_once(a->s, a->hex, detail);
	return 0;
}

int trial_build(struct attempt *a, struct err *e)
{
	struct session *s = a->s;
	_cleanup_free_ char *dir = fs_join(s->cfg->campaign.state, "builds");
	_cleanup_free_ char *log = a->layout ? xasprintf("%s/%.12s-layout%u.log", dir, a->hex,
							 a->layout)
					     : xasprintf("%s/%.12s.log", dir, a->hex);

	progress_stage(s, "build %.12s", a->hex);
	if (fs_mkdirs(dir, e) < 0 || trial_open_builder(s, e) < 0 ||
	    builder_build(s->builder, a->id, a->layout, log, &a->build, e) < 0)
		return -1;
	s->make_seconds += a->build.seconds_make;
	return store_row(a, e);
}

/* Trials of an identical kernel. */
struct twin_search {
	struct attempt *a;
	int64_t *rows; /* builds of the same image by other commits */
	size_t n_rows, room_rows;
	bool own;      /* this commit was measured itself */
	int64_t taken; /* the last trial that it took over already */
	struct commit_id twin;
	struct store_trial *copies;
	size_t n, room;
};

static int see_twin_build(const struct store_build *b, void *cookie)
{
	struct twin_search *q = cookie;

	if (!str_eq(b->image_hash, q->a->build.image_hash) || commit_eq(&b->commit, q->a->id))
		return 0;
	xgrow(&q->rows, &q->room_rows, q->n_rows + 1, sizeof(*q->rows));
	q->rows[q->n_rows++] = b->id;
	return 0;
}

static bool is_twin(const struct twin_search *q, const struct store_trial *t)
{
	/* Its other layouts are other kernels. */
	if (t->twin || (!commit_is_null(&q->twin) && !commit_eq(&t->commit, &q->twin)))
		return false;
	for (size_t i = 0; i < q->n_rows; i++)
		if (q->rows[i] == t->build_id)
			return true;
	return false;
}

static struct store_trial copy_trial(const struct twin_search *q, const struct store_trial *t)
{
	struct store_trial c = {
		.commit = *q->a->id,
		.build_id = q->a->build_row,
		.setup = xstrdup(session_setup_of(q->a->s, q->a->id)),
		.purpose = xstrdup(q->a->purpose),
		.outcome = t->outcome,
		.detail = t->detail ? xstrdup(t->detail) : NULL,
		.dir = xstrdup(t->dir ? t->dir : ""),
		.boot_id = t->boot_id ? xstrdup(t->boot_id) : NULL,
		.facts = t->facts ? xstrdup(t->facts) : NULL,
		.twin = t->id,
		.layout = q->a->layout,
		.n_samples = t->n_samples,
		.samples = xcalloc(t->n_samples, sizeof(*t->samples)),
	};

	for (size_t i = 0; i < t->n_samples; i++) {
		c.samples[i] = t->samples[i];
		c.samples[i].metric = xstrdup(t->samples[i].metric);
		c.samples[i].unit = xstrdup(t->samples[i].unit ? t->samples[i].unit : "");
	}
	return c;
}

static int see_twin_trial(const struct store_trial *t, void *cookie)
{
	struct twin_search *q = cookie;

	if (!replay_counts(q->a->s, t))
		return 0;
	if (commit_eq(&t->commit, q->a->id)) {
		q->own |= !t->twin;
		q->taken = t->twin > q->taken ? t->twin : q->taken;
	}
	if (t->outcome != TRIAL_OK || !is_twin(q, t))
		return 0;
	q->twin = t->commit;
	xgrow(&q->copies, &q->room, q->n + 1, sizeof(*q->copies));
	q->copies[q->n++] = copy_trial(q, t);
	return 0;
}

static void twin_release(struct twin_search *q)
{
	for (size_t i = 0; i < q->n; i++)
		store_trial_release(&q->copies[i]);
	free(q->copies);
	free(q->rows);
}

/* Those from @first on, which are new. */
static int store_copies(struct twin_search *q, size_t first, struct trial_report *r, struct err *e)
{
	struct session *s = q->a->s;
	size_t n;

	for (size_t i = first; i < q->n; i++) {
		struct store_trial *t = &q->copies[i];

		if (store_trial_begin(s->store, q->a->id, &t->id, e) < 0)
			return -1;
		t->time = clock_real_s();
		if (store_trial_add(s->store, t, e) < 0)
			return -1;
		replay_trial(s, t);
	}
	_cleanup_free_ double *v = session_samples(s, &q->copies[first], &n);

	r->outcome = TRIAL_OK;
	r->estimate = n ? stats_median(v, n) : 0;
	r->twin = q->twin;
	r->taken_over = (unsigned)(q->n - first);
	return 1;
}

int trial_take_over(struct attempt *a, struct trial_report *r, struct err *e)
{
	_cleanup_(twin_release) struct twin_search q = { .a = a };
	struct store_visitor v = { .build = see_twin_build, .trial = see_twin_trial, .cookie = &q };
	size_t first = 0;

	if (!a->build.image_hash[0] || str_eq(a->purpose, "confirm") || replay_compares(a->purpose))
		return 0;
	if (store_visit(a->s->store, &v, e) < 0)
		return -1;
	/* The twin may have been booted again since its trials were taken over the last time. */
	while (first < q.n && q.copies[first].twin <= q.taken)
		first++;
	if (q.own || first == q.n)
		return 0;
	return store_copies(&q, first, r, e);
}
