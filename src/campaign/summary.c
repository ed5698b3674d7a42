/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a session to the plain data of a report. */
#include "campaign/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "campaign/auto_good.h"
#include "campaign/confirm.h"
#include "campaign/evidence.h"
#include "campaign/replay.h"

#define SUBJECT_MAX 400 /* bytes that a report shows of a commit's first line */

/* A visit of the store that adds up what the report counts. */
struct tally {
	struct session *s;
	struct report *r;
	/* of the kregress process whose rows are being read */
	int64_t session_start, last_row;
	struct seen_trial {
		int64_t id;
		struct commit_id commit;
	} * seen;
	size_t n_seen, seen_room;
};

static struct report_commit *find_tested(struct report *r, const struct commit_id *id)
{
	for (size_t i = 0; i < r->n_tested; i++)
		if (commit_eq(&r->tested[i].id, id))
			return &r->tested[i];
	return NULL;
}

static int tally_build(const struct store_build *b, void *cookie)
{
	struct tally *t = cookie;
	struct report_commit *c = find_tested(t->r, &b->commit);

	t->last_row = b->time;
	t->r->builds++;
	t->r->seconds_build += b->seconds;
	t->r->seconds_make += b->seconds_make;
	if (c && b->outcome != TRIAL_OK && !c->log_path && b->log_path)
		c->log_path = xstrdup(b->log_path);
	return 0;
}

/* @c NULL: a confirmation's or canary's, which only the totals count. */
static void add_samples(struct tally *t, struct report_commit *c, const struct store_trial *row)
{
	size_t n;
	_cleanup_free_ double *v = session_samples(t->s, row, &n);

	if (!row->twin)
		t->r->samples += n;
	if (!c)
		return;
	c->samples = xrealloc(c->samples, c->n_samples + n, sizeof(double));
	for (size_t i = 0; i < n; i++)
		c->samples[c->n_samples++] = v[i];
}

/* Twins refer back to a trial that was read before. */
static struct commit_id commit_of_trial(const struct tally *t, int64_t id)
{
	struct commit_id none = { { 0 } };

	for (size_t i = 0; i < t->n_seen; i++)
		if (t->seen[i].id == id)
			return t->seen[i].commit;
	return none;
}

static void remember(struct tally *t, const struct store_trial *row)
{
	xgrow(&t->seen, &t->seen_room, t->n_seen + 1, sizeof(*t->seen));
	t->seen[t->n_seen].id = row->id;
	t->seen[t->n_seen++].commit = row->commit;
}

static void tally_failure(struct tally *t, struct report_commit *c, const struct store_trial *row)
{
	c->outcome = row->outcome;
	c->detail = row->detail ? xstrdup(row->detail) : NULL;
	if (row->dir && row->dir[0]) {
		free(c->log_path);
		c->log_path = fs_join(t->s->cfg->campaign.state, row->dir);
	}
}

static int tally_trial(const struct store_trial *row, void *cookie)
{
	struct tally *t = cookie;
	struct report_commit *c = find_tested(t->r, &row->commit);
	/* A build that failed was never booted. */
	bool booted = !row->twin && row->dir && row->dir[0];

	remember(t, row);
	t->last_row = row->time;
	if (booted) {
		t->r->trials++;
		t->r->seconds_boot += row->boot_seconds;
		t->r->seconds_workload += row->run_seconds;
	}
	if (!replay_counts(t->s, row))
		c = NULL;
	add_samples(t, c, row);
	if (!c)
		return 0;
	c->trials += booted;
	if (row->outcome != TRIAL_OK && c->outcome == TRIAL_OK)
		tally_failure(t, c, row);
	if (row->twin && commit_is_null(&c->twin))
		c->twin = commit_of_trial(t, row->twin);
	return 0;
}

static int tally_note(const struct store_note *n, void *cookie)
{
	struct tally *t = cookie;

	if (str_eq(n->kind, "start")) {
		/* The one before was killed: its time ends with its last row. */
		if (t->session_start && t->last_row > t->session_start)
			t->r->seconds_total += (double)(t->last_row - t->session_start);
		t->session_start = n->time;
	} else if (str_eq(n->kind, "stop")) {
		t->r->seconds_total += n->seconds;
		t->session_start = 0;
	}
	t->last_row = n->time;
	return 0;
}

static int fill_commit(struct session *s, const struct commit_id *id, struct report_commit *c,
		       struct err *e)
{
	_cleanup_(repo_commit_release) struct repo_commit rc = { .subject = NULL };
	char date[40];

	if (repo_commit_read(s->repo, id, &rc, e) < 0)
		return -1;
	c->id = *id;
	c->subject = xstrndup(rc.subject ? rc.subject : "", SUBJECT_MAX);
	c->author = xstrdup(rc.author ? rc.author : "");
	c->email = xstrdup(rc.email ? rc.email : "");
	c->date = xstrdup(clock_format(rc.author_time, date, sizeof(date)));
	return 0;
}

/* Without ends there is no engine: the commits that the store has, for `test`. */
struct stored_commits {
	struct session *s;
	struct report *r;
	struct err *e;
	size_t room;
};

static int see_stored(const struct store_trial *row, void *cookie)
{
	struct stored_commits *q = cookie;
	struct report *r = q->r;

	if (!replay_counts(q->s, row) || find_tested(r, &row->commit))
		return 0;
	xgrow(&r->tested, &q->room, r->n_tested + 1, sizeof(*r->tested));
	r->tested[r->n_tested] = (struct report_commit){ .outcome = TRIAL_OK };
	return fill_commit(q->s, &row->commit, &r->tested[r->n_tested++], q->e);
}

static int fill_stored(struct session *s, struct report *r, struct err *e)
{
	struct stored_commits q = { .s = s, .r = r, .e = e };
	struct store_visitor v = { .trial = see_stored, .cookie = &q };

	return s->store ? store_visit(s->store, &v, e) : 0;
}

static int fill_tested(struct session *s, struct report *r, struct err *e)
{
	uint32_t n;

	r->good = r->bad = SIZE_MAX;
	if (!s->engine)
		return fill_stored(s, r, e);
	n = engine_tested_count(s->engine);
	r->tested = xcalloc(n, sizeof(*r->tested));
	for (uint32_t i = 0; i < n; i++) {
		struct report_commit *c = &r->tested[r->n_tested];
		struct engine_commit ec;

		engine_tested(s->engine, i, &ec);
		if (fill_commit(s, session_commit(s, ec.node), c, e) < 0)
			return -1;
		r->n_tested++;
		c->verdict = ec.verdict;
		c->outcome = TRIAL_OK;
		c->has_interval = ec.data->n > 0;
		c->interval = ec.interval;
		c->new_state = ec.new_state;
		if (commit_eq(&c->id, &s->good))
			r->good = i;
		if (commit_eq(&c->id, &s->bad))
			r->bad = i;
	}
	return 0;
}

static int fill_left(struct session *s, const struct engine_result *er, struct report *r,
		     struct err *e)
{
	/* Only a short list is worth its subjects. */
	bool subjects = er->n_left <= 200;

	r->left = xcalloc(er->n_left, sizeof(*r->left));
	r->left_subject = xcalloc(er->n_left, sizeof(*r->left_subject));
	if (r->noise.is_bayes)
		r->left_share = xcalloc(er->n_left, sizeof(*r->left_share));
	for (uint32_t i = 0; i < er->n_left; i++) {
		_cleanup_(repo_commit_release) struct repo_commit rc = { .subject = NULL };

		r->left[i] = *session_commit(s, er->left[i]);
		if (r->left_share)
			r->left_share[i] = engine_share(s->engine, er->left[i]);
		if (subjects && repo_commit_read(s->repo, &r->left[i], &rc, e) < 0)
			return -1;
		if (subjects)
			r->left_subject[i] = xstrndup(rc.subject ? rc.subject : "", SUBJECT_MAX);
		r->n_left++;
	}
	return 0;
}

static int fill_culprit(struct session *s, uint32_t node, struct report *r, struct err *e)
{
	const struct commit_id *id = session_commit(s, node);
	_cleanup_(repo_commit_release) struct repo_commit rc = { .subject = NULL };

	if (repo_commit_read(s->repo, id, &rc, e) < 0)
		return -1;
	r->culprit_parent = rc.parent;
	r->culprit_share = engine_share(s->engine, node);
	return fill_commit(s, id, &r->culprit, e);
}

static char *subject_of(struct session *s, const struct commit_id *id)
{
	_cleanup_(repo_commit_release) struct repo_commit rc = { .subject = NULL };
	struct err ignored = ERR_INIT;

	if (repo_commit_read(s->repo, id, &rc, &ignored) < 0 || !rc.subject)
		return NULL;
	return xstrndup(rc.subject, SUBJECT_MAX);
}

/* Which search it is, and what bayes believes. */
static void fill_noise(struct session *s, const struct engine_step *step, struct report *r)
{
	struct report_noise *n = &r->noise;

	n->runs = s->cfg->measure.runs_per_boot;
	engine_choice(s->engine, &n->choice);
	engine_power(s->engine, &n->power);
	n->is_bayes = engine_belief(s->engine, &n->belief);
	if (step->phase != PHASE_DONE) {
		n->next = *session_commit(s, step->node);
		n->next_is_end = step->node == s->dag.n || step->node == s->dag.tip;
		n->next_boot = step->boot;
	}
	if (!n->is_bayes)
		return;
	n->share = xcalloc(REPORT_SHARES, sizeof(*n->share));
	for (uint32_t i = 0; i < n->belief.n_top && i < REPORT_SHARES; i++) {
		struct report_share *one = &n->share[n->n_share++];

		one->id = *session_commit(s, n->belief.top[i].node);
		one->subject = subject_of(s, &one->id);
		one->share = n->belief.top[i].share;
	}
	n->belief.top = NULL;
}

static int fill_result(struct session *s, struct report *r, struct err *e)
{
	struct engine_result er;
	struct engine_step step;

	if (!s->engine)
		return 0;
	engine_result(s->engine, &er);
	engine_next(s->engine, &step);
	r->status = er.status;
	r->phase = step.phase;
	r->steps = step.steps;
	fill_noise(s, &step, r);
	if (er.status == ENGINE_FOUND)
		return fill_culprit(s, er.node, r, e);
	if (er.node != DAG_NONE)
		r->subject_of_status = *session_commit(s, er.node);
	return fill_left(s, &er, r, e);
}

/* Path of the .config that @id was built with. */
struct config_path_search {
	const struct commit_id *id;
	char *path;
};

static int see_config(const struct store_build *b, void *cookie)
{
	struct config_path_search *q = cookie;

	if (!commit_eq(&b->commit, q->id) || !b->config_path || !b->config_path[0])
		return 0;
	free(q->path);
	q->path = xstrdup(b->config_path);
	return 0;
}

static char *config_of(struct session *s, const struct commit_id *id)
{
	struct config_path_search q = { .id = id };
	struct store_visitor v = { .build = see_config, .cookie = &q };
	struct err e = ERR_INIT;

	store_visit(s->store, &v, &e);
	return q.path;
}

/* A culprit may work through Kconfig: compare with the parent, where both were built. */
static int fill_config_diff(struct session *s, struct report *r, struct err *e)
{
	_cleanup_free_ char *ours = NULL, *parents = NULL;

	if (commit_is_null(&r->culprit.id) || s->cfg->build.type != BUILD_KERNEL)
		return 0;
	ours = config_of(s, &r->culprit.id);
	parents = config_of(s, &r->culprit_parent);
	if (!ours || !parents || !fs_exists(ours) || !fs_exists(parents))
		return 0;
	if (build_config_diff(parents, ours, &r->config_diff, e) < 0)
		return -1;
	r->config_diff_known = true;
	return 0;
}

/* Only what concerns the candidates: a range to be skipped can be far larger. */
static void fill_told(struct session *s, struct report *r)
{
	r->told = xcalloc(s->n_told, sizeof(*r->told));
	for (size_t i = 0; i < s->n_told; i++) {
		const struct session_said *t = &s->told[i];
		uint32_t node = session_node(s, &t->id);
		struct engine_commit c;

		if (node == DAG_NONE)
			continue;
		r->told[r->n_told++] = (struct report_told){
			.id = t->id,
			.verdict = t->verdict,
			.person = t->person,
			.measured = engine_commit_of(s->engine, node, &c) ? c.verdict
									  : VERDICT_UNSET,
		};
	}
}

static void fill_settings(struct session *s, struct report *r)
{
	const struct config *c = s->cfg;

	r->name = xstrdup(c->campaign.name);
	r->metric = xstrdup(s->metric->name);
	r->state_dir = xstrdup(c->campaign.state);
	r->repo = xstrdup(c->campaign.repo);
	r->fix = s->fix;
	if (s->term_new && !str_eq(s->term_new, "bad") && !str_eq(s->term_new, "fixed"))
		r->term_new = xstrdup(s->term_new);
	r->good_id = s->good;
	r->bad_id = s->bad;
	r->candidates = dag_candidates(&s->dag);
	r->effect = s->verdict.effect;
	r->confidence = s->verdict.confidence;
	if (s->engine) {
		r->ends = *engine_ends(s->engine);
		r->sd = stats_pool_sd(engine_pool(s->engine));
		r->df = engine_pool(s->engine)->df;
	}
	r->deterministic = c->target.type == TARGET_QEMU && c->target.deterministic;
	r->single_boots = s->verdict.max_boots == 1 && s->verdict.end_boots == 1;
	r->session_total = clock_mono_s() - s->started;
	r->session_make = s->make_seconds;
	r->session_boot = s->boot_seconds;
	r->session_workload = s->run_seconds;
}

int summary_make(struct session *s, struct report *r, struct err *e)
{
	struct tally t = { .s = s, .r = r };
	struct store_visitor v = {
		.build = tally_build, .trial = tally_trial, .note = tally_note, .cookie = &t
	};
	int ret = 0;

	r->culprit_share = NAN;
	fill_settings(s, r);
	fill_told(s, r);
	auto_good_report(s, r);
	if (fill_tested(s, r, e) < 0 || fill_result(s, r, e) < 0)
		return -1;
	if (s->store && store_visit(s->store, &v, e) < 0)
		ret = -1;
	free(t.seen);
	if (ret < 0)
		return -1;
	r->unit = xstrdup(s->unit ? s->unit : "");
	if (s->engine && confirm_judge(s, &r->confirm, e) < 0)
		return -1;
	if (!commit_is_null(&r->culprit.id) && !commit_is_null(&r->culprit_parent) &&
	    evidence_make(s, "confirm", &r->culprit_parent, &r->culprit.id, &r->evidence, e) < 0)
		return -1;
	if (r->confirm.state == CONFIRM_NO)
		r->status = ENGINE_NOT_CONFIRMED;
	return s->store ? fill_config_diff(s, r, e) : 0;
}
