/* SPDX-License-Identifier: GPL-2.0-or-later */
/* After the search: culprit against parent, reverted, and applied, in fresh boots. */
#include "campaign/confirm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "campaign/confirm_internal.h"
#include "campaign/patches.h"
#include "campaign/status_page.h"
#include "campaign/trial.h"

static const char *const arm_name[ARMS] = { "parent", "culprit", "culprit reverted",
					    "culprit applied" };

const char *const confirm_note_made[ARMS] = { [ARM_REVERT] = "revert", [ARM_APPLY] = "apply" };
const char *const confirm_note_conflict[ARMS] = {
	[ARM_REVERT] = "revert-conflict", [ARM_APPLY] = "apply-conflict"
};

void confirm_release(struct confirm *c)
{
	for (int i = 0; i < ARMS; i++) {
		verdict_data_release(&c->arm[i].data);
		free(c->arm[i].detail);
		free(c->arm[i].conflicts);
		free(c->arm[i].by_hand);
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

/* What a note says of an arm; the last one counts. */
static void take_note(struct arm *a, bool is_conflict, const char *text)
{
	free(a->conflicts);
	free(a->by_hand);
	a->conflicts = a->by_hand = NULL;
	if (is_conflict)
		a->conflicts = xstrdup(text);
	else
		commit_parse(text, &a->id);
}

/*
 * Notes "revert <culprit> <commit made>" and "revert-conflict <culprit> <files>" remember what
 * became of the revert, "revert-hand <culprit> <file or revision>" after the first that a person
 * made it; and so for apply. Other settings can have found another culprit, whose notes
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
	for (int i = ARM_REVERT; i < ARMS; i++)
		if (str_eq(n->kind, confirm_note_made[i]))
			take_note(&c->arm[i], false, rest);
		else if (str_eq(n->kind, confirm_note_conflict[i]))
			take_note(&c->arm[i], true, rest);
	if (str_eq(n->kind, "revert-hand")) {
		free(c->arm[ARM_REVERT].by_hand);
		c->arm[ARM_REVERT].by_hand = xstrdup(rest);
	}
	return 0;
}

int confirm_load(struct session *s, struct confirm *c, struct err *e)
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

bool confirm_is_new(const struct confirm *c)
{
	return commit_eq(&c->arm[ARM_CULPRIT].id, &c->s->new) &&
	       !commit_is_null(&c->arm[ARM_PARENT].id);
}

bool confirm_is_next(const struct confirm *c)
{
	return commit_eq(&c->arm[ARM_PARENT].id, &c->s->old);
}

/* Enough boots that none of the two failed in? */
static bool pair_has(const struct confirm *c, unsigned boots)
{
	for (int i = ARM_PARENT; i <= ARM_CULPRIT; i++)
		if (c->arm[i].detail || c->arm[i].boots < boots)
			return false;
	return true;
}

/*
 * Boots of an arm. Where those asked for leave it open whether culprit and parent differ, these two
 * get as many as a commit may have. Two looks, each one-sided at half of 1 − confidence, keep to
 * the whole of it.
 */
static unsigned wanted(const struct confirm *c, enum arm_index i)
{
	unsigned boots = c->s->cfg->confirm.boots, most = c->s->verdict.max_boots;
	struct confirm_pair pair;

	if (i > ARM_CULPRIT || most <= boots || !pair_has(c, boots))
		return boots;
	confirm_compare(c, boots, &pair);
	return pair.stands || pair.refuted ? boots : most;
}

bool confirm_wants(const struct confirm *c, enum arm_index i)
{
	const struct arm *a = &c->arm[i];

	return !commit_is_null(&a->id) && !a->detail && a->boots < wanted(c, i);
}

/* The arm with the fewest boots; ties alternate A B C D, D C B A. -1: all done. */
static int next_arm(const struct confirm *c)
{
	bool wants[ARMS];
	int best = -1;

	/* a root has no parent to be compared with */
	if (commit_is_null(&c->arm[ARM_PARENT].id))
		return -1;
	for (int i = 0; i < ARMS; i++) {
		wants[i] = confirm_wants(c, (enum arm_index)i);
		if (wants[i] && (best < 0 || c->arm[i].boots < c->arm[best].boots))
			best = i;
	}
	if (best < 0 || c->arm[best].boots % 2 == 0)
		return best;
	for (int i = ARMS - 1; i > best; i--)
		if (wants[i] && c->arm[i].boots == c->arm[best].boots)
			return i;
	return best;
}

static int boot_arm(struct confirm *c, int i, struct err *e)
{
	struct session *s = c->s;
	/* where layouts are drawn, two of the same luck would be compared again and again */
	uint32_t layout = session_layouts(s) ? c->arm[i].boots : 0;
	struct trial_report r;
	char hex[COMMIT_HEX + 1], number[32];

	if (trial_run(s, &c->arm[i].id, layout, "confirm", &r, e) < 0)
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
		int arm, ret = confirm_load(s, &c, e);

		if (ret <= 0)
			return ret;
		ret = confirm_prepare(&c, e);
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
