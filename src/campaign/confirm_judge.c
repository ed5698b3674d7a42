/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fresh boots of the confirmation say. */
#include <math.h>
#include <stdlib.h>

#include "campaign/confirm.h"
#include "campaign/confirm_internal.h"

/* Deviation from the search and from the confirmation: the same quantity twice. */
static struct stats_pool joint_pool(const struct confirm *c)
{
	struct stats_pool pool = *engine_pool(c->s->engine);

	for (int i = 0; i < ARMS; i++)
		stats_pool_add(&pool, c->arm[i].data.boot, c->arm[i].data.n);
	return pool;
}

static struct stats_pool usable_pool(const struct confirm *c)
{
	struct stats_pool pool = joint_pool(c);

	return verdict_pool(&c->s->verdict, &pool);
}

static struct stats_interval side(const struct confirm *c, enum arm_index i)
{
	const struct verdict_data *d = &c->arm[i].data;
	struct stats_pool pool = usable_pool(c);

	return stats_mean_interval(stats_mean(d->boot, d->n), d->n, &pool,
				   1 - c->s->verdict.confidence);
}

/* Where Welch has nothing to go by, the deviation of all that was booted; none at all is exact. */
static void test_pair(const struct confirm *c, size_t most, struct confirm_pair *out)
{
	const struct verdict_data *p = &c->arm[ARM_PARENT].data, *q = &c->arm[ARM_CULPRIT].data;
	double alpha = 1 - c->s->verdict.confidence;
	size_t np = p->n < most ? p->n : most, nq = q->n < most ? q->n : most;
	double mp = stats_mean(p->boot, np), mq = stats_mean(q->boot, nq);
	struct stats_pool all = joint_pool(c), pool = usable_pool(c);

	out->test = TEST_WELCH;
	if (stats_welch(p->boot, np, q->boot, nq, alpha, &out->diff, &out->p))
		return;
	out->test = all.ss > 0 ? TEST_POOLED : all.df ? TEST_EXACT : TEST_NONE;
	out->diff = stats_diff_interval(mp, np, mq, nq, &pool, alpha);
	out->p = stats_diff_p(mp, np, mq, nq, &pool);
}

void confirm_compare(const struct confirm *c, size_t most, struct confirm_pair *out)
{
	const struct session *s = c->s;
	const struct verdict_data *p = &c->arm[ARM_PARENT].data;
	double limit = s->verdict.effect * fabs(stats_mean(p->boot, p->n));
	/* Not by the ends' difference: it is not known where the bad end fails. */
	bool up = (engine_ends(s->engine)->better == METRIC_LOWER) != s->fix;
	double least, middle, furthest;

	test_pair(c, most, out);
	least = up ? out->diff.low : -out->diff.high;
	middle = up ? out->diff.estimate : -out->diff.estimate;
	furthest = up ? out->diff.high : -out->diff.low;
	out->stands = least > 0 && middle > limit;
	out->refuted = furthest <= limit;
}

static void judge_pair(const struct confirm *c, struct report_confirm *out)
{
	const struct arm *p = &c->arm[ARM_PARENT], *q = &c->arm[ARM_CULPRIT];
	struct confirm_pair pair;

	if (commit_is_null(&p->id)) {
		out->state = CONFIRM_UNMEASURED;
		out->detail = xstrdup("it has no parent to be compared with");
		return;
	}
	if (q->detail && !p->detail && !confirm_wants(c, ARM_PARENT) &&
	    verdict_of_failure(&c->s->verdict, q->data.failed) == VERDICT_BAD) {
		out->state = CONFIRM_FAILS_AGAIN;
		out->detail = xstrdup(q->detail);
		return;
	}
	if (p->detail || q->detail) {
		out->state = CONFIRM_UNMEASURED;
		out->detail = xasprintf("fresh boots failed: %s: %s",
					p->detail ? "parent" : "culprit",
					p->detail ? p->detail : q->detail);
		return;
	}
	out->state = CONFIRM_UNFINISHED;
	if (confirm_wants(c, ARM_PARENT) || confirm_wants(c, ARM_CULPRIT))
		return;
	confirm_compare(c, SIZE_MAX, &pair);
	out->boots = p->boots;
	out->parent_side = side(c, ARM_PARENT);
	out->culprit_side = side(c, ARM_CULPRIT);
	out->diff = pair.diff;
	out->p = pair.p;
	out->test = pair.test;
	out->undecided = !pair.stands && !pair.refuted;
	out->state = pair.stands ? CONFIRM_YES : CONFIRM_NO;
}

/* What became of a kernel that was to be made. */
static enum report_revert_state made_state(const struct confirm *c, enum arm_index i,
					   struct stats_interval *value, char **detail)
{
	const struct arm *a = &c->arm[i];

	if (a->conflicts || a->detail) {
		*detail = xstrdup(a->conflicts ? a->conflicts : a->detail);
		return a->conflicts ? REVERT_CONFLICTS : REVERT_FAILED;
	}
	if (commit_is_null(&a->id) && c->s->cfg->confirm.revert) {
		if (i == ARM_REVERT ? confirm_is_new(c) : confirm_is_next(c))
			return REVERT_SAME;
		if (c->s->cfg->build.type == BUILD_NONE)
			return REVERT_NO_BUILD;
	}
	if (!a->data.n)
		return REVERT_NONE;
	*value = side(c, i);
	return REVERT_MEASURED;
}

/* On the side of the metric's good end? */
static bool is_good(const struct confirm *c, const struct stats_interval *value)
{
	const struct ends *ends = engine_ends(c->s->engine);

	return (value->estimate <= ends->threshold) == (ends->better == METRIC_LOWER);
}

/* How much of the ends' difference comes back, and how much the change alone makes; NAN: not known. */
static void fill_percents(const struct session *s, struct report_confirm *out)
{
	const struct ends *ends = engine_ends(s->engine);
	double good = ends->good.estimate, bad = ends->bad.estimate;
	double old = s->fix ? bad : good, new = s->fix ? good : bad;
	double one = 100 / fabs(old) * (new < old ? -1 : 1);

	out->ends_percent = out->revert_percent = out->apply_percent = NAN;
	if (!isfinite(one) || !isfinite(new - old))
		return;
	out->ends_percent = (new - old) * one;
	if (out->revert == REVERT_MEASURED)
		out->revert_percent = (new - out->revert_side.estimate) * one;
	if (out->apply == REVERT_MEASURED)
		out->apply_percent = (out->apply_side.estimate - old) * one;
}

static void judge_made(const struct confirm *c, struct report_confirm *out)
{
	const struct session *s = c->s;

	out->revert = made_state(c, ARM_REVERT, &out->revert_side, &out->revert_detail);
	out->reverted = c->arm[ARM_REVERT].id;
	if (out->revert == REVERT_MEASURED)
		out->revert_helps = is_good(c, &out->revert_side) != s->fix;
	if (c->arm[ARM_REVERT].by_hand)
		out->by_hand = xstrdup(c->arm[ARM_REVERT].by_hand);
	out->apply = made_state(c, ARM_APPLY, &out->apply_side, &out->apply_detail);
	out->applied = c->arm[ARM_APPLY].id;
	if (out->apply == REVERT_MEASURED)
		out->apply_shows = is_good(c, &out->apply_side) == s->fix;
	if (out->revert == REVERT_CONFLICTS)
		out->conflict_dir = confirm_conflict_dir(s, &c->arm[ARM_CULPRIT].id);
	fill_percents(s, out);
}

int confirm_judge(struct session *s, struct report_confirm *out, struct err *e)
{
	_cleanup_(confirm_release) struct confirm c = { .s = NULL };
	int ret = confirm_load(s, &c, e);

	if (ret <= 0)
		return ret;
	out->parent = c.arm[ARM_PARENT].id;
	judge_pair(&c, out);
	judge_made(&c, out);
	return 0;
}
