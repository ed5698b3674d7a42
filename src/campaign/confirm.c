/* SPDX-License-Identifier: GPL-2.0-or-later */
/* After the search: culprit against parent, and reverted. */
#include "campaign/confirm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "campaign/patches.h"
#include "campaign/status_page.h"
#include "campaign/trial_internal.h"

enum arm_index { ARM_PARENT, ARM_CULPRIT, ARM_REVERT, ARMS };

/* One kernel that is compared, and its stored boots. */
struct arm {
	struct commit_id id; /* null: there is none */
	struct verdict_data data;
	unsigned boots; /* good ones and failed ones */
	char *detail;   /* of a failure */
};

struct confirm {
	struct session *s;
	struct arm arm[ARMS];
	char *conflicts; /* files in which the revert conflicts */
};

static const char *const arm_name[ARMS] = { "parent", "culprit", "culprit reverted" };

static void confirm_release(struct confirm *c)
{
	for (int i = 0; i < ARMS; i++) {
		verdict_data_release(&c->arm[i].data);
		free(c->arm[i].detail);
	}
	free(c->conflicts);
}

static int see_trial(const struct store_trial *t, void *cookie)
{
	struct confirm *c = cookie;

	if (!str_eq(t->purpose, "confirm") || !str_eq(t->setup, session_setup_of(c->s, &t->commit)))
		return 0;
	for (int i = 0; i < ARMS; i++) {
		struct arm *a = &c->arm[i];
		struct trial trial = { .outcome = t->outcome };
		double *v;

		if (commit_is_null(&a->id) || !commit_eq(&a->id, &t->commit))
			continue;
		v = session_samples(c->s, t, &trial.n);
		trial.samples = v;
		if (trial.outcome == TRIAL_OK && !trial.n)
			trial.outcome = TRIAL_GARBLED;
		verdict_data_add(&a->data, &trial);
		a->boots++;
		if (trial.outcome != TRIAL_OK && !a->detail)
			a->detail = xasprintf("%s: %s", trial_outcome_name(trial.outcome),
					      t->detail ? t->detail : "");
		free(v);
	}
	return 0;
}

/*
 * Notes "<culprit> <commit without it>" and "<culprit> <files>" remember what became of the
 * revert; other settings can have found another culprit, whose revert is not this one's.
 */
static int see_note(const struct store_note *n, void *cookie)
{
	struct confirm *c = cookie;
	char hex[COMMIT_HEX + 1];
	const char *rest;

	if (!n->text || !str_starts(n->text, commit_hex(&c->arm[ARM_CULPRIT].id, hex)) ||
	    n->text[COMMIT_HEX] != ' ')
		return 0;
	rest = n->text + COMMIT_HEX + 1;
	if (str_eq(n->kind, "revert"))
		commit_parse(rest, &c->arm[ARM_REVERT].id);
	if (str_eq(n->kind, "revert-conflict")) {
		free(c->conflicts);
		c->conflicts = xstrdup(rest);
	}
	return 0;
}

/* Fill the arms from the store. 1: there is a culprit to confirm, 0: not, -1. */
static int load(struct session *s, struct confirm *c, struct err *e)
{
	_cleanup_(repo_commit_release) struct repo_commit rc = { .subject = NULL };
	struct store_visitor notes = { .note = see_note, .cookie = c };
	struct store_visitor trials = { .trial = see_trial, .cookie = c };
	struct engine_result r;

	c->s = s;
	engine_result(s->engine, &r);
	if (r.status != ENGINE_FOUND || !s->cfg->confirm.boots || !s->store)
		return 0;
	c->arm[ARM_CULPRIT].id = *session_commit(s, r.node);
	if (repo_commit_read(s->repo, &c->arm[ARM_CULPRIT].id, &rc, e) < 0)
		return -1;
	c->arm[ARM_PARENT].id = rc.parent;
	if (s->cfg->confirm.revert && store_visit(s->store, &notes, e) < 0)
		return -1;
	if (store_visit(s->store, &trials, e) < 0)
		return -1;
	return 1;
}

/* Make the revert once; where it conflicts, say so and go on without. */
static int prepare_revert(struct confirm *c, struct err *e)
{
	struct session *s = c->s;
	_cleanup_strv_ struct strv conflicts = STRV_INIT;
	_cleanup_str_ struct str files = STR_INIT;
	_cleanup_free_ char *note = NULL;
	char culprit[COMMIT_HEX + 1], hex[COMMIT_HEX + 1];
	int ret;

	/* Without a build of ours there is no kernel to make. */
	if (!s->cfg->confirm.revert || s->cfg->build.type != BUILD_KERNEL ||
	    !commit_is_null(&c->arm[ARM_REVERT].id) || c->conflicts)
		return 0;
	if (trial_open_builder(s, e) < 0)
		return -1;
	commit_hex(&c->arm[ARM_CULPRIT].id, culprit);
	ret = builder_revert(s->builder, &c->arm[ARM_CULPRIT].id, &s->new, &c->arm[ARM_REVERT].id,
			     &conflicts, e);
	if (ret < 0)
		return -1;
	if (ret > 0) {
		patches_take_after(s, &c->arm[ARM_REVERT].id, &s->new);
		note = xasprintf("%s %s", culprit, commit_hex(&c->arm[ARM_REVERT].id, hex));
		return store_note_add(s->store, "revert", note, 0, e);
	}
	str_join_words(&files, conflicts.v);
	c->conflicts = xstrdup(str_text(&files));
	log_info("confirm: the culprit cannot be reverted on the newer end: conflicts in %s",
		 c->conflicts);
	note = xasprintf("%s %s", culprit, c->conflicts);
	return store_note_add(s->store, "revert-conflict", note, 0, e);
}

/* An arm needs boots as long as none of them failed. */
static bool wants(const struct confirm *c, int arm)
{
	const struct arm *a = &c->arm[arm];

	return !commit_is_null(&a->id) && a->boots < c->s->cfg->confirm.boots && !a->detail;
}

/* The arm with the fewest boots; ties alternate A B C, C B A. -1: all done. */
static int next_arm(const struct confirm *c)
{
	int best = -1;

	for (int i = 0; i < ARMS; i++)
		if (wants(c, i) && (best < 0 || c->arm[i].boots < c->arm[best].boots))
			best = i;
	if (best < 0 || c->arm[best].boots % 2 == 0)
		return best;
	for (int i = ARMS - 1; i > best; i--)
		if (wants(c, i) && c->arm[i].boots == c->arm[best].boots)
			return i;
	return best;
}

static int boot_arm(struct confirm *c, int i, struct err *e)
{
	struct session *s = c->s;
	struct trial_report r;
	char hex[COMMIT_HEX + 1], number[32];

	if (trial_run(s, &c->arm[i].id, 0, "confirm", &r, e) < 0)
		return -1;
	if (r.outcome == TRIAL_OK)
		log_info("confirm: %.12s (%s) boot %u: %s %s %s", commit_hex(&c->arm[i].id, hex),
			 arm_name[i], c->arm[i].boots + 1, s->metric->name,
			 report_number(r.estimate, number, sizeof(number)), s->unit ? s->unit : "");
	else
		log_info("confirm: %.12s (%s): %s", commit_hex(&c->arm[i].id, hex), arm_name[i],
			 trial_outcome_name(r.outcome));
	status_page_write(s, false, NULL);
	return 0;
}

int confirm_run(struct session *s, struct err *e)
{
	for (;;) {
		_cleanup_(confirm_release) struct confirm c = { .s = NULL };
		int arm, ret = load(s, &c, e);

		if (ret <= 0)
			return ret;
		if (prepare_revert(&c, e) < 0)
			return -1;
		arm = next_arm(&c);
		if (arm < 0)
			return 0;
		if (boot_arm(&c, arm, e) < 0)
			return -1;
	}
}

/* Deviation from the search and from the confirmation: the same quantity twice. */
static struct stats_pool joint_pool(const struct confirm *c)
{
	struct stats_pool pool = *engine_pool(c->s->engine);

	for (int i = 0; i < ARMS; i++)
		stats_pool_add(&pool, c->arm[i].data.boot, c->arm[i].data.n);
	return verdict_pool(&c->s->verdict, &pool);
}

static struct stats_interval side(const struct confirm *c, int i, const struct stats_pool *pool)
{
	const struct verdict_data *d = &c->arm[i].data;

	return stats_mean_interval(stats_mean(d->boot, d->n), d->n, pool,
				   1 - c->s->verdict.confidence);
}

/* Does the difference stand, in the direction of the hunt and beyond what matters? */
static bool stands(const struct session *s, const struct stats_interval *diff, double parent)
{
	const struct ends *ends = engine_ends(s->engine);
	double limit = s->verdict.effect * (parent < 0 ? -parent : parent);
	/* Not by the ends' difference: it is not known where the bad end fails. */
	bool up = (ends->better == METRIC_LOWER) != (s->fix);

	return up ? diff->low > 0 && diff->estimate > limit
		  : diff->high < 0 && -diff->estimate > limit;
}

static void judge_pair(const struct confirm *c, const struct stats_pool *pool,
		       struct report_confirm *out)
{
	const struct arm *p = &c->arm[ARM_PARENT], *q = &c->arm[ARM_CULPRIT];
	double mp, mq;

	if (q->detail && !p->detail && !wants(c, ARM_PARENT) &&
	    verdict_of_failure(&c->s->verdict, q->data.failed) == VERDICT_BAD) {
		out->state = CONFIRM_FAILS_AGAIN;
		out->detail = xstrdup(q->detail);
		return;
	}
	if (p->detail || q->detail) {
		out->state = CONFIRM_UNMEASURED;
		out->detail = xasprintf("%s: %s", p->detail ? "parent" : "culprit",
					p->detail ? p->detail : q->detail);
		return;
	}
	out->state = CONFIRM_UNFINISHED;
	if (wants(c, ARM_PARENT) || wants(c, ARM_CULPRIT))
		return;
	out->boots = p->boots;
	mp = stats_mean(p->data.boot, p->data.n);
	mq = stats_mean(q->data.boot, q->data.n);
	out->parent_side = side(c, ARM_PARENT, pool);
	out->culprit_side = side(c, ARM_CULPRIT, pool);
	out->diff = stats_diff_interval(mp, p->data.n, mq, q->data.n, pool,
					1 - c->s->verdict.confidence);
	out->p = stats_diff_p(mp, p->data.n, mq, q->data.n, pool);
	out->state = stands(c->s, &out->diff, mp) ? CONFIRM_YES : CONFIRM_NO;
}

static void judge_revert(const struct confirm *c, const struct stats_pool *pool,
			 struct report_confirm *out)
{
	const struct arm *a = &c->arm[ARM_REVERT];
	const struct ends *ends = engine_ends(c->s->engine);
	bool low;

	if (c->conflicts) {
		out->revert = REVERT_CONFLICTS;
		out->revert_detail = xstrdup(c->conflicts);
	} else if (a->detail) {
		out->revert = REVERT_FAILED;
		out->revert_detail = xstrdup(a->detail);
	} else if (a->data.n) {
		out->revert = REVERT_MEASURED;
		out->reverted = a->id;
		out->revert_side = side(c, ARM_REVERT, pool);
		low = out->revert_side.estimate <= ends->threshold;
		out->revert_helps = (ends->better == METRIC_LOWER) == low;
		if (c->s->fix)
			out->revert_helps = !out->revert_helps;
	}
}

int confirm_judge(struct session *s, struct report_confirm *out, struct err *e)
{
	_cleanup_(confirm_release) struct confirm c = { .s = NULL };
	struct stats_pool pool;
	int ret = load(s, &c, e);

	if (ret <= 0)
		return ret;
	pool = joint_pool(&c);
	out->parent = c.arm[ARM_PARENT].id;
	judge_pair(&c, &pool, out);
	judge_revert(&c, &pool, out);
	return 0;
}
