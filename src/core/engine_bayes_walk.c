/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's search = bayes: what the model's steps do to the search. */
#include "core/engine_internal.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

/*
 * Ends are called swapped when "they do not differ" has but this share of the error allowed,
 * however long one looks: as pick_bayes blames a commit.
 */
#define SWAPPED_SHARE 0.2
/* An end that fails so often in a row, once the search has begun, cannot be measured any more. */
#define END_FAILURES 3

/* What auto goes by: how far the threshold is from the nearer end, in deviations of one boot. */
static void measure_distance(struct engine *e)
{
	const struct verdict_opts *v = &e->o.verdict;
	struct stats_pool pool = verdict_pool(v, &e->pool);
	struct engine_choice *c = &e->bayes.choice;
	double nearer = fmin(fabs(e->ends.good.estimate - e->ends.threshold),
			     fabs(e->ends.bad.estimate - e->ends.threshold));

	c->sd = stats_pool_sd(&pool);
	c->wanted = gsl_cdf_ugaussian_Qinv(verdict_alpha(v, dag_candidates(e->o.dag)) / 2);
	c->distance = c->sd > 0 ? nearer / c->sd : INFINITY;
	c->boots = fmax(1, ceil(pow(c->wanted / c->distance, 2)));
}

/* Is there no question of noise? */
static bool is_bisect_anyway(struct engine *e)
{
	struct engine_choice *c = &e->bayes.choice;

	c->threshold_given = e->o.verdict.kind != THRESHOLD_AUTO;
	c->end_fails = e->commit[BAD_END]->data.failed != TRIAL_UNSET;
	return c->threshold_given || c->end_fails || e->o.noise.deterministic;
}

/* Do the ends show that noise asks for bayes? */
static bool is_noisy(struct engine *e)
{
	const struct engine_choice *c = &e->bayes.choice;

	if (!verdict_pool(&e->o.verdict, &e->pool).df)
		return false;
	measure_distance(e);
	return c->distance < c->wanted;
}

/* The equivalence of ends that vary is the model's to show, with fewer false alarms. */
static bool is_equivalent(const struct engine *e)
{
	return e->ends.equivalent && (!engine_is_bayes(e) || !(stats_pool_sd(&e->pool) > 0));
}

static bool is_refused(const struct engine *e)
{
	return is_equivalent(e) || e->ends.state == ENDS_SWAPPED || e->ends.state == ENDS_SAME_SIDE;
}

void engine_bayes_choose(struct engine *e)
{
	struct engine_choice *c = &e->bayes.choice;

	if (c->search == ENGINE_AUTO && is_bisect_anyway(e))
		c->search = ENGINE_BISECT;
	if (c->search == ENGINE_AUTO && !is_refused(e)) {
		if (is_noisy(e))
			c->search = ENGINE_BAYES;
		else if (e->ends.state == ENDS_APART)
			c->search = ENGINE_BISECT;
	}
	if (c->search == ENGINE_BAYES)
		engine_bayes_make(e);
}

/* Is the end that is called bad the worse one, by what is known? Failing is worse. */
static bool is_right_way(const struct engine *e)
{
	const struct ends *n = &e->ends;

	return !isfinite(n->bad.estimate) || n->good.estimate == n->bad.estimate ||
	       (n->bad.estimate > n->good.estimate) == (n->better == METRIC_LOWER);
}

static uint32_t fewer_boots(const struct engine *e)
{
	const struct measured *good = e->commit[GOOD_END], *bad = e->commit[BAD_END];

	return good->data.n <= bad->data.n ? good->node : bad->node;
}

static unsigned most_end_boots(const struct engine *e)
{
	const struct engine_noise *n = &e->o.noise;

	return n->max_end_boots ? n->max_end_boots : 60;
}

/*
 * Something other than the ends is asked for, but they differ the wrong way round: for certain, or
 * else they are booted on.
 */
static void doubt_ends(struct engine *e)
{
	double none = bayes_no_culprit(e->bayes.model);

	e->node = fewer_boots(e);
	e->layout = 0;
	if (none <= SWAPPED_SHARE * (1 - e->o.verdict.confidence))
		engine_refuse_ends(e, ENGINE_SWAPPED, DAG_NONE);
	else if (engine_measured_of(e, e->node)->data.n >= most_end_boots(e))
		engine_refuse_ends(e, ENGINE_NO_DIFFERENCE, DAG_NONE);
}

/* Is the question still whether the ends differ? */
static bool is_open_end(const struct bayes_step *s)
{
	return s->action != BAYES_STOP &&
	       (s->why == BAYES_WHY_ENDS_FIRST || s->why == BAYES_WHY_ENDS_DIFFER ||
		s->why == BAYES_WHY_ENDS_EQUAL);
}

void engine_bayes_ends(struct engine *e)
{
	struct bayes_step s;

	if (is_refused(e)) {
		engine_refuse_ends(e,
				   is_equivalent(e)                ? ENGINE_NO_DIFFERENCE
				   : e->ends.state == ENDS_SWAPPED ? ENGINE_SWAPPED
								   : ENGINE_SAME_SIDE,
				   DAG_NONE);
		return;
	}
	bayes_next(e->bayes.model, &s);
	if (is_open_end(&s)) {
		e->node = s.node;
		e->layout = s.layout;
	} else if (s.status == BAYES_BLIND) {
		engine_refuse_ends(e, ENGINE_BLIND, DAG_NONE);
	} else if (s.action == BAYES_STOP &&
		   (s.status == BAYES_NO_DIFFERENCE || s.status == BAYES_NO_CULPRIT)) {
		engine_refuse_ends(e, ENGINE_NO_DIFFERENCE, DAG_NONE);
	} else if (!is_right_way(e)) {
		doubt_ends(e);
	} else {
		e->ends.state = ENDS_APART;
		e->bayes.searched = true;
		engine_search_begin(e);
	}
}

/* The ends as known by now; that they are apart stays so. */
static void look_again(struct engine *e)
{
	const struct verdict_data *good = &e->commit[GOOD_END]->data;
	const struct verdict_data *bad = &e->commit[BAD_END]->data;

	verdict_ends(&e->o.verdict, good, bad, &e->pool, dag_candidates(e->o.dag), true, &e->ends);
	e->ends.state = ENDS_APART;
}

static bool wants_min_boots(const struct engine *e)
{
	const struct measured *m = engine_measured_of(e, e->node);

	return m && e->node < e->o.dag->n && e->node != e->o.dag->tip && m->data.n &&
	       !m->data.failed && m->data.n < e->o.verdict.min_boots;
}

/* Ends that do not differ are neither good nor bad. */
static void conclude_none(struct engine *e, enum engine_status status)
{
	for (int end = GOOD_END; end <= BAD_END; end++)
		e->commit[end]->verdict = VERDICT_UNSURE;
	engine_finish(e, status, DAG_NONE);
}

static void conclude(struct engine *e, enum bayes_status status)
{
	const uint32_t *left;

	switch (status) {
	case BAYES_FOUND:
		engine_bayes_left(e, &left);
		engine_finish(e, ENGINE_FOUND, left[0]);
		break;
	case BAYES_NO_DIFFERENCE:
		conclude_none(e, ENGINE_NO_DIFFERENCE);
		break;
	case BAYES_BLIND:
		conclude_none(e, ENGINE_BLIND);
		break;
	case BAYES_NO_CULPRIT:
		conclude_none(e, ENGINE_NO_CULPRIT);
		break;
	default:
		engine_finish(e, ENGINE_SHORT_LIST, DAG_NONE);
	}
}

void engine_bayes_next(struct engine *e)
{
	struct bayes_step s;

	for (int end = 0; end < 2; end++)
		if (e->bayes.failed_end[end] >= END_FAILURES) {
			engine_refuse_ends(e, ENGINE_END_UNMEASURED,
					   end ? e->o.dag->tip : e->o.dag->n);
			return;
		}
	look_again(e);
	if (wants_min_boots(e))
		return;
	bayes_next(e->bayes.model, &s);
	if (s.action == BAYES_STOP) {
		conclude(e, s.status);
		return;
	}
	e->node = s.node;
	e->layout = s.layout;
}
