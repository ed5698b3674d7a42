/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decide again from stored trials under other settings. */
#include "campaign/again.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "campaign/again_internal.h"
#include "campaign/summary.h"

#define SUBJECT_MAX 400 /* bytes that are kept of a commit's first line */

/* The campaign as it was run, and as it would be now. */
struct again {
	struct config before_cfg;
	bool has_before_cfg;
	struct session before, after;
	struct again_rows rows;
	struct strv stored; /* settings of the store; empty: none yet */
	struct report_again *out;
};

static void again_release(struct again *a)
{
	session_close(&a->before);
	session_close(&a->after);
	again_rows_release(&a->rows);
	if (a->has_before_cfg)
		config_release(&a->before_cfg);
	strv_release(&a->stored);
}

static int open_view(struct session *s, const struct config *c, struct err *e)
{
	return session_open(s, c, &(struct session_opts){ .mode = SESSION_VIEW }, e);
}

static int nothing_stored(const struct config *c, struct err *e)
{
	return err_set(e, ERR_NOT_FOUND,
		       "nothing to decide again: no trial is stored in '%s' yet (start the "
		       "campaign: kregress run)",
		       c->campaign.state);
}

/* By the settings of the store. 1, 0: they cannot be used any more, -1. */
static int open_before_stored(struct again *a, const struct config *cfg, struct err *e)
{
	struct err why = ERR_INIT;

	if (!a->stored.n)
		return 0;
	if (again_config_before(cfg, &a->stored, &a->before_cfg, &why) == 0) {
		a->has_before_cfg = true;
		if (open_view(&a->before, &a->before_cfg, &why) == 0)
			return 1;
		session_close(&a->before);
		config_release(&a->before_cfg);
		a->has_before_cfg = false;
	}
	if (why.code != ERR_CONFIG) {
		*e = why;
		return -1;
	}
	log_warn("the settings that the campaign was run with cannot be used any more, the file's "
		 "are compared with: %s",
		 why.msg);
	return 0;
}

static int open_before(struct again *a, const struct config *cfg, const struct strv *given,
		       struct err *e)
{
	int ret = open_before_stored(a, cfg, e);

	if (ret != 0) {
		a->out->before_stored = ret > 0;
		return ret < 0 ? -1 : 0;
	}
	if (again_config_file(cfg, given, &a->before_cfg, e) < 0)
		return -1;
	a->has_before_cfg = true;
	return open_view(&a->before, &a->before_cfg, e);
}

static int no_metric(const struct again *a, struct err *e)
{
	_cleanup_str_ struct str has = STR_INIT;

	for (size_t i = 0; i < a->rows.metrics.n && has.len < 200; i++) {
		str_add(&has, has.len ? ", " : "");
		str_neutralise(&has, a->rows.metrics.v[i], strnlen(a->rows.metrics.v[i], 40),
			       false);
	}
	return err_set(e, ERR_CONFIG,
		       "%s: no stored trial has a value of metric '%s' (they have: %s)",
		       config_where(a->after.cfg, "workload.metric"), a->after.metric->name,
		       str_text(&has));
}

/* Is there anything to decide about, by this metric? */
static int check_rows(struct again *a, const struct strv *given, struct err *e)
{
	const struct config *c = a->after.cfg;
	unsigned counting = 0, ran = 0;

	for (size_t i = 0; i < a->rows.n; i++) {
		const struct again_row *row = &a->rows.v[i];

		counting += row->counts;
		ran += row->counts &&
		       (row->t.outcome == TRIAL_OK || row->t.outcome == TRIAL_GARBLED);
	}
	a->out->stored = counting;
	a->out->other_setup = a->after.other_setup;
	if (!counting && a->after.other_setup)
		return again_refuse_setup(c, &a->stored, given, a->after.other_setup, e);
	if (!counting)
		return nothing_stored(c, e);
	return ran && !a->rows.metric_seen ? no_metric(a, e) : 0;
}

/* What a run with the new settings begins with: the session as it was opened. */
static void note_go_on(struct session *s, struct report_go_on *g)
{
	struct engine_result r;
	struct engine_step step;

	engine_result(s->engine, &r);
	engine_next(s->engine, &step);
	g->status = r.status;
	g->left = r.n_left;
	g->steps = step.steps;
	if (r.status == ENGINE_FOUND)
		g->culprit = *session_commit(s, r.node);
}

static struct report_again_commit *commit_of(struct again *a, const struct commit_id *id)
{
	struct report_again *out = a->out;

	for (size_t i = 0; i < out->n_commits; i++)
		if (commit_eq(&out->commit[i].id, id))
			return &out->commit[i];
	out->commit = xrealloc(out->commit, out->n_commits + 1, sizeof(*out->commit));
	out->commit[out->n_commits] = (struct report_again_commit){ .id = *id };
	return &out->commit[out->n_commits++];
}

/* False: it is outside the range, or was not measured. */
static bool engine_knows(const struct session *s, const struct commit_id *id,
			 struct engine_commit *c)
{
	uint32_t node = session_node(s, id);

	return node != DAG_NONE && engine_commit_of(s->engine, node, c);
}

/* The verdict that counts: what was said of a commit goes before what was measured. */
static enum verdict verdict_on(const struct session *s, const struct engine_commit *c)
{
	for (size_t i = 0; i < s->n_given; i++)
		if (s->given[i].node == c->node && !s->given[i].recheck)
			return s->given[i].verdict;
	return c->verdict;
}

static void note_after(const struct again *a, struct report_again_commit *c,
		       const struct engine_commit *ec)
{
	c->after = verdict_on(&a->after, ec);
	c->has_interval = ec->data->n > 0;
	c->interval = ec->interval;
}

/* Verdicts by all that is stored, before and now. */
static void list_commits(struct again *a)
{
	for (size_t i = 0; i < a->rows.n; i++) {
		const struct again_row *row = &a->rows.v[i];
		struct report_again_commit *c;
		struct engine_commit ec;

		if (!row->counts)
			continue;
		c = commit_of(a, &row->t.commit);
		if (c->stored++)
			continue;
		if (engine_knows(&a->before, &c->id, &ec))
			c->before = verdict_on(&a->before, &ec);
		if (engine_knows(&a->after, &c->id, &ec))
			note_after(a, c, &ec);
	}
}

/* What the replay made of those that it asked for. */
static void note_asked(struct again *a)
{
	for (size_t i = 0; i < a->rows.n; i++) {
		const struct again_row *row = &a->rows.v[i];
		struct report_again_commit *c;
		struct engine_commit ec;

		if (!row->used)
			continue;
		c = commit_of(a, &row->t.commit);
		c->used++;
		a->out->used++;
		c->asked = true;
		if (engine_knows(&a->after, &c->id, &ec))
			note_after(a, c, &ec);
	}
}

static int subject_of(struct session *s, const struct commit_id *id, char **subject, struct err *e)
{
	_cleanup_(repo_commit_release) struct repo_commit rc = { .subject = NULL };

	if (repo_commit_read(s->repo, id, &rc, e) < 0)
		return -1;
	*subject = xstrndup(rc.subject ? rc.subject : "", SUBJECT_MAX);
	return 0;
}

static int add_subjects(struct again *a, struct err *e)
{
	for (size_t i = 0; i < a->out->n_commits; i++)
		if (subject_of(&a->after, &a->out->commit[i].id, &a->out->commit[i].subject, e) < 0)
			return -1;
	return 0;
}

static unsigned at_least_one(unsigned want, size_t have)
{
	return want > have ? want - (unsigned)have : 1;
}

/* An end that fails has no more boots to come. */
static size_t end_boots(const struct session *s, const struct commit_id *id, unsigned want)
{
	struct engine_commit c;

	if (!engine_knows(s, id, &c))
		return 0;
	return c.data->failed ? want : c.data->n;
}

static unsigned end_lack(const struct session *s, unsigned want)
{
	size_t good = end_boots(s, &s->good, want), bad = end_boots(s, &s->bad, want);

	return (good < want ? want - (unsigned)good : 0) + (bad < want ? want - (unsigned)bad : 0);
}

/* The bounds are those of threshold verdicts; another search stops by its own lights. */
static void bound_boots(const struct session *s, struct report_needs *n)
{
	const struct verdict_opts *v = &s->verdict;
	unsigned least = v->end_boots > v->min_boots ? v->end_boots : v->min_boots;
	unsigned most = v->max_boots > v->end_boots ? v->max_boots : v->end_boots;
	struct engine_choice choice;
	bool bounded;

	engine_choice(s->engine, &choice);
	/* what auto will come to with a threshold that is given */
	bounded = choice.search == ENGINE_BISECT ||
		  (choice.search == ENGINE_AUTO && v->kind != THRESHOLD_AUTO);
	n->steps_are_boots = choice.search == ENGINE_BAYES && n->phase == PHASE_SEARCH;
	if (n->phase == PHASE_ENDS) {
		n->at_least = at_least_one(end_lack(s, least), 0);
		n->at_most = bounded ? at_least_one(end_lack(s, most), 0) : 0;
	} else {
		n->at_least = bounded ? at_least_one(v->min_boots, n->stored) : 1;
		n->at_most = bounded ? at_least_one(v->max_boots, n->stored) : 0;
	}
}

static int note_search_needs(struct again *a, struct err *e)
{
	struct session *s = &a->after;
	struct report_needs *n = &a->out->needs;
	struct engine_commit c;
	struct engine_step step;

	engine_next(s->engine, &step);
	if (step.phase == PHASE_DONE)
		return 0;
	n->phase = step.phase;
	n->commit = *session_commit(s, step.node);
	n->steps = step.steps;
	n->each = s->verdict.min_boots ? s->verdict.min_boots : 1;
	if (engine_commit_of(s->engine, step.node, &c))
		n->stored = (unsigned)c.data->n;
	bound_boots(s, n);
	return subject_of(s, &n->commit, &n->subject, e);
}

static unsigned confirm_lack(const struct again *a, const struct commit_id *id, unsigned want)
{
	unsigned have = 0;

	for (size_t i = 0; i < a->rows.n; i++)
		have += a->rows.v[i].confirms && commit_eq(&a->rows.v[i].t.commit, id);
	return want > have ? want - have : 0;
}

/* A culprit that was never confirmed, because the campaign found another one or none. */
static int note_confirm_needs(struct again *a, struct err *e)
{
	const struct report *r = &a->out->after;
	struct report_needs *n = &a->out->needs;
	unsigned boots = a->after.cfg->confirm.boots, most = a->after.verdict.max_boots;

	most = most > boots ? most : boots;
	if (r->status != ENGINE_FOUND || r->confirm.state != CONFIRM_UNFINISHED)
		return 0;
	n->phase = PHASE_CONFIRM;
	n->commit = r->culprit.id;
	n->at_least = at_least_one(confirm_lack(a, &r->culprit.id, boots) +
					   confirm_lack(a, &r->confirm.parent, boots),
				   0);
	n->at_most = confirm_lack(a, &r->culprit.id, most) +
		     confirm_lack(a, &r->confirm.parent, most);
	if (a->after.cfg->confirm.revert) /* reverted and applied */
		n->at_most += 2 * boots;
	return subject_of(&a->after, &n->commit, &n->subject, e);
}

static void count_same(struct report_again *out)
{
	for (;;) {
		const struct commit_id *was = report_again_next(out, true);
		const struct commit_id *is = report_again_next(out, false);

		if (!was || !is || !commit_eq(was, is))
			return;
		out->same++;
	}
}

static int compare(struct again *a, struct err *e)
{
	struct report_again *out = a->out;

	again_differences(&a->before_cfg, a->after.cfg, out);
	note_go_on(&a->after, &out->go_on);
	list_commits(a);
	again_rows_replay(&a->rows);
	note_asked(a);
	out->no_value = a->rows.no_value;
	out->mended = a->rows.mended;
	if (add_subjects(a, e) < 0 || note_search_needs(a, e) < 0 ||
	    summary_make(&a->before, &out->before, e) < 0 ||
	    summary_make(&a->after, &out->after, e) < 0 || note_confirm_needs(a, e) < 0)
		return -1;
	count_same(out);
	return 0;
}

int again_make(const struct config *cfg, const struct strv *given, struct report_again *out,
	       struct err *e)
{
	_cleanup_(again_release) struct again a = { .out = out,
						    .before = { .lock_fd = -1 },
						    .after = { .lock_fd = -1 } };

	if (open_view(&a.after, cfg, e) < 0)
		return -1;
	if (!a.after.store)
		return nothing_stored(cfg, e);
	if (again_stored_lines(a.after.store, &a.stored, e) < 0 ||
	    again_rows_load(&a.rows, &a.after, e) < 0 || check_rows(&a, given, e) < 0)
		return -1;
	again_warn_idle(cfg, &a.stored, given);
	if (open_before(&a, cfg, given, e) < 0)
		return -1;
	return compare(&a, e);
}
