/* SPDX-License-Identifier: GPL-2.0-or-later */
/* After the search: culprit against parent, reverted, and applied. */
#include "campaign/confirm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "campaign/patches.h"
#include "campaign/status_page.h"
#include "campaign/trial_internal.h"

enum arm_index { ARM_PARENT, ARM_CULPRIT, ARM_REVERT, ARM_APPLY, ARMS };

#define PATCH_MAX (16u << 20) /* bytes of a revert made by hand */

/* One kernel that is compared, and its stored boots. */
struct arm {
	struct commit_id id; /* null: there is none */
	struct verdict_data data;
	unsigned boots;  /* good ones and failed ones */
	char *detail;    /* of a failure */
	char *conflicts; /* files for which it cannot be made */
};

struct confirm {
	struct session *s;
	struct arm arm[ARMS];
};

static const char *const arm_name[ARMS] = { "parent", "culprit", "culprit reverted",
					    "culprit applied" };
/* Kinds of notes that say how it was made, and why not. */
static const char *const note_made[ARMS] = { [ARM_REVERT] = "revert", [ARM_APPLY] = "apply" };
static const char *const note_conflict[ARMS] = {
	[ARM_REVERT] = "revert-conflict", [ARM_APPLY] = "apply-conflict"
};

static void confirm_release(struct confirm *c)
{
	for (int i = 0; i < ARMS; i++) {
		verdict_data_release(&c->arm[i].data);
		free(c->arm[i].detail);
		free(c->arm[i].conflicts);
	}
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
 * Notes "<culprit> <commit made>" and "<culprit> <files>" remember what became of the revert and
 * of applying it; the last one counts. Other settings can have found another culprit, whose notes
 * are not this one's.
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
	for (int i = ARM_REVERT; i < ARMS; i++) {
		struct arm *a = &c->arm[i];

		if (!str_eq(n->kind, note_made[i]) && !str_eq(n->kind, note_conflict[i]))
			continue;
		free(a->conflicts);
		a->conflicts = NULL;
		if (str_eq(n->kind, note_made[i]))
			commit_parse(rest, &a->id);
		else
			a->conflicts = xstrdup(rest);
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

/* Where the files of a change that conflicts are left. */
static char *conflict_dir(const struct session *s, enum arm_index i,
			  const struct commit_id *culprit)
{
	char hex[COMMIT_HEX + 1];

	return xasprintf("%s/%s-%.12s", s->cfg->campaign.state, note_conflict[i],
			 commit_hex(culprit, hex));
}

static int note_arm(struct confirm *c, const char *kind, const char *what, struct err *e)
{
	char culprit[COMMIT_HEX + 1];
	_cleanup_free_ char *note = xasprintf("%s %s", commit_hex(&c->arm[ARM_CULPRIT].id, culprit),
					      what);

	return store_note_add(c->s->store, kind, note, 0, e);
}

/* It is a commit of ours on top of @onto from now on. */
static int made(struct confirm *c, enum arm_index i, const struct commit_id *onto, struct err *e)
{
	char hex[COMMIT_HEX + 1];

	patches_take_after(c->s, &c->arm[i].id, onto);
	return note_arm(c, note_made[i], commit_hex(&c->arm[i].id, hex), e);
}

/* Make the culprit's change or its reversal once; where it conflicts, say so and go on without. */
static int prepare(struct confirm *c, enum arm_index i, const struct commit_id *onto, struct err *e)
{
	struct session *s = c->s;
	struct arm *a = &c->arm[i];
	_cleanup_free_ char *dir = conflict_dir(s, i, &c->arm[ARM_CULPRIT].id);
	_cleanup_strv_ struct strv conflicts = STRV_INIT;
	_cleanup_str_ struct str files = STR_INIT;
	int ret;

	if (!commit_is_null(&a->id) || a->conflicts)
		return 0;
	if (trial_open_builder(s, e) < 0)
		return -1;
	ret = builder_rework(s->builder, i == ARM_REVERT ? REPO_REVERT : REPO_APPLY,
			     &c->arm[ARM_CULPRIT].id, onto, dir, &a->id, &conflicts, e);
	if (ret < 0)
		return -1;
	if (ret > 0)
		return made(c, i, onto, e);
	str_join_words(&files, conflicts.v);
	a->conflicts = xstrdup(str_text(&files));
	log_info("confirm: the culprit cannot be %s on the %s end: conflicts in %s (left in '%s')",
		 i == ARM_REVERT ? "reverted" : "applied", i == ARM_REVERT ? "newer" : "older",
		 a->conflicts, dir);
	return note_arm(c, note_conflict[i], a->conflicts, e);
}

/* Without a build of ours there is no kernel to make. */
static bool reverts(const struct session *s)
{
	return s->cfg->confirm.revert && s->cfg->build.type == BUILD_KERNEL;
}

/* The revert that a person made, as a commit. 0; -1. */
static int hand_made(struct session *s, struct commit_id *id, struct err *e)
{
	_cleanup_str_ struct str patch = STR_INIT;

	if (!fs_exists(s->hand))
		return repo_resolve(s->repo, s->hand, "--revert", id, e);
	if (trial_open_builder(s, e) < 0 || fs_read(s->hand, PATCH_MAX, &patch, e) < 0 ||
	    builder_patch(s->builder, s->hand, &patch, &s->new, id, e) < 0)
		return err_wrap(e, "--revert");
	return 0;
}

int confirm_take_hand_made(struct session *s, const char *what, struct err *e)
{
	struct commit_id id;

	if (!s->cfg->confirm.boots || !reverts(s))
		return err_set(e, ERR_CONFIG,
			       "--revert: nothing is reverted here (revert = yes and boots = 3 in "
			       "[confirm], with kernels that are built)");
	if (!fs_exists(what) && repo_resolve(s->repo, what, "--revert", &id, e) < 0)
		return err_wrap(e, "--revert: '%s' is no file, and no commit", what);
	free(s->hand);
	s->hand = xstrdup(what);
	return 0;
}

/* 1: what the store has of an arm is to be read again; 0; -1. */
static int prepare_all(struct confirm *c, struct err *e)
{
	struct session *s = c->s;
	struct commit_id id = c->arm[ARM_REVERT].id;

	if (!reverts(s))
		return 0;
	if (s->hand && hand_made(s, &id, e) < 0)
		return -1;
	if (!commit_eq(&id, &c->arm[ARM_REVERT].id)) {
		c->arm[ARM_REVERT].id = id;
		return made(c, ARM_REVERT, &s->new, e) < 0 ? -1 : 1;
	}
	if (prepare(c, ARM_REVERT, &s->new, e) < 0)
		return -1;
	/* on its own parent it is the culprit */
	if (commit_is_null(&c->arm[ARM_PARENT].id) || commit_eq(&c->arm[ARM_PARENT].id, &s->old))
		return 0;
	return prepare(c, ARM_APPLY, &s->old, e);
}

/* An arm needs boots as long as none of them failed. */
static bool wants(const struct confirm *c, int arm)
{
	const struct arm *a = &c->arm[arm];

	return !commit_is_null(&a->id) && a->boots < c->s->cfg->confirm.boots && !a->detail;
}

/* The arm with the fewest boots; ties alternate A B C D, D C B A. -1: all done. */
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
		ret = prepare_all(&c, e);
		if (ret < 0)
			return -1;
		if (ret > 0)
			continue;
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

/* What became of a kernel that was made. @low: it has less than the threshold. */
static enum report_revert_state made_state(const struct confirm *c, enum arm_index i,
					   const struct stats_pool *pool,
					   struct stats_interval *value, bool *low, char **detail)
{
	const struct arm *a = &c->arm[i];

	if (a->conflicts || a->detail) {
		*detail = xstrdup(a->conflicts ? a->conflicts : a->detail);
		return a->conflicts ? REVERT_CONFLICTS : REVERT_FAILED;
	}
	if (!a->data.n)
		return REVERT_NONE;
	*value = side(c, i, pool);
	*low = value->estimate <= engine_ends(c->s->engine)->threshold;
	return REVERT_MEASURED;
}

static void judge_made(const struct confirm *c, const struct stats_pool *pool,
		       struct report_confirm *out)
{
	/* the wanted side is the one of the metric's good end */
	bool low, lower = engine_ends(c->s->engine)->better == METRIC_LOWER;

	out->revert = made_state(c, ARM_REVERT, pool, &out->revert_side, &low, &out->revert_detail);
	out->reverted = c->arm[ARM_REVERT].id;
	if (out->revert == REVERT_MEASURED)
		out->revert_helps = (low == lower) != c->s->fix;
	out->apply = made_state(c, ARM_APPLY, pool, &out->apply_side, &low, &out->apply_detail);
	out->applied = c->arm[ARM_APPLY].id;
	if (out->apply == REVERT_MEASURED)
		out->apply_shows = (low == lower) == c->s->fix;
	if (out->revert == REVERT_CONFLICTS)
		out->conflict_dir = conflict_dir(c->s, ARM_REVERT, &c->arm[ARM_CULPRIT].id);
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
	judge_made(&c, &pool, out);
	return 0;
}
