/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which commit to measure next, and what the measured ones say. */
#include "core/engine_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"

static struct measured *measured_get(struct engine *e, uint32_t node)
{
	struct measured *m = engine_measured_of(e, node);

	if (m)
		return m;
	m = xcalloc(1, sizeof(*m));
	m->node = node;
	xgrow(&e->commit, &e->room, e->n_commits + 1, sizeof(struct measured *));
	e->commit[e->n_commits++] = m;
	e->slot[node] = (uint32_t)e->n_commits;
	return m;
}

static bool is_end(const struct engine *e, const struct measured *m)
{
	return m == e->commit[GOOD_END] || m == e->commit[BAD_END];
}

struct engine *engine_new(const struct engine_opts *o)
{
	struct engine *e = xcalloc(1, sizeof(*e));
	uint32_t old = o->dag->n;

	e->o = *o;
	e->nodes = o->dag->n + 1 + o->merge_bases;
	e->slot = xcalloc(e->nodes, sizeof(*e->slot));
	e->mark = xcalloc(o->dag->n + (size_t)1, sizeof(*e->mark));
	e->alike = xcalloc(o->dag->n + (size_t)1, sizeof(*e->alike));
	e->bad = o->dag->tip;
	measured_get(e, o->hunt_fix ? o->dag->tip : old);
	measured_get(e, o->hunt_fix ? old : o->dag->tip);
	e->look = o->verdict.end_boots > o->verdict.min_boots ? o->verdict.end_boots
							      : o->verdict.min_boots;
	if (!e->look)
		e->look = 1;
	e->phase = PHASE_ENDS;
	e->node = e->commit[GOOD_END]->node;
	engine_bayes_init(e);
	return e;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->n_commits; i++) {
		verdict_data_release(&e->commit[i]->data);
		free(e->commit[i]);
	}
	free(e->commit);
	free(e->slot);
	free(e->mark);
	free(e->alike);
	free(e->move);
	free(e->scratch);
	free(e->scratch2);
	free(e->all);
	engine_bayes_release(e);
	pick_bisect_free(e->picker);
	free(e);
}

/*
 * No search: what is known of each end goes with the refusal. Ends that do not differ are
 * neither good nor bad, whatever the threshold.
 */
void engine_refuse_ends(struct engine *e, enum engine_status status, uint32_t node)
{
	for (size_t i = 0; i < e->n_commits; i++) {
		struct measured *m = e->commit[i];

		if (m->data.failed || status == ENGINE_SWAPPED || status == ENGINE_SAME_SIDE)
			m->verdict = verdict_decide(&e->o.verdict, &e->ends, &m->data, &e->pool,
						    dag_candidates(e->o.dag), NULL);
		if (m->verdict == VERDICT_UNSET && m->data.n)
			m->verdict = VERDICT_UNSURE;
	}
	engine_finish(e, status, node);
}

bool engine_is_failure_acceptable(const struct engine *e, int end)
{
	enum trial_outcome failed = e->commit[end]->data.failed;

	return end == BAD_END && e->o.verdict.kind != THRESHOLD_AUTO &&
	       verdict_of_failure(&e->o.verdict, failed) == VERDICT_BAD;
}

static size_t fewest_boots(const struct engine *e)
{
	const struct verdict_data *good = &e->commit[GOOD_END]->data;
	const struct verdict_data *bad = &e->commit[BAD_END]->data;

	return bad->failed || good->n <= bad->n ? good->n : bad->n;
}

static void ends_look(struct engine *e)
{
	const struct verdict_opts *v = &e->o.verdict;
	unsigned most = v->max_boots > v->end_boots ? v->max_boots : v->end_boots;
	size_t fewest = fewest_boots(e);

	bool is_bayes = engine_is_bayes(e);

	verdict_ends(v, &e->commit[GOOD_END]->data, &e->commit[BAD_END]->data, &e->pool,
		     dag_candidates(e->o.dag), is_bayes || fewest < most, &e->ends);
	e->look = fewest + 1;
	if (e->o.noise.search != ENGINE_BISECT && !is_bayes)
		engine_bayes_choose(e);
	if (engine_is_bayes(e)) {
		engine_bayes_ends(e);
		return;
	}
	if (e->ends.state == ENDS_APART)
		engine_search_begin(e);
	else if (e->ends.state == ENDS_SWAPPED)
		engine_refuse_ends(e, ENGINE_SWAPPED, DAG_NONE);
	else if (e->ends.state == ENDS_SAME_SIDE)
		engine_refuse_ends(e, ENGINE_SAME_SIDE, DAG_NONE);
	else if (e->ends.state == ENDS_NO_DIFFERENCE)
		engine_refuse_ends(e, ENGINE_NO_DIFFERENCE, DAG_NONE);
}

static void ends_next(struct engine *e)
{
	const struct measured *good = e->commit[GOOD_END], *bad = e->commit[BAD_END];

	for (int end = GOOD_END; end <= BAD_END; end++)
		if (e->commit[end]->data.failed && !engine_is_failure_acceptable(e, end)) {
			engine_refuse_ends(e, ENGINE_END_UNMEASURED, e->commit[end]->node);
			return;
		}
	/* bayes asks for the ends in an order of its own */
	if (engine_is_bayes(e) || fewest_boots(e) >= e->look)
		ends_look(e);
	if (e->phase == PHASE_ENDS && !engine_is_bayes(e))
		e->node = bad->data.failed || good->data.n <= bad->data.n ? good->node : bad->node;
}

/* Welford: the pool's sum of squares grows by this boot's share, exactly 0 for equal values. */
static void pool_boot(struct engine *e, struct measured *m, bool copy)
{
	double value = m->data.boot[m->data.n - 1], delta = value - m->mean;

	m->mean += delta / (double)m->data.n;
	/* the boots that it repeats are in the pool already */
	if (m->data.n < 2 || copy)
		return;
	e->pool.ss += delta * (value - m->mean);
	e->pool.df++;
}

/* Beyond that squares are no numbers: pick_bayes takes no such value. */
#define VALUE_MOST 1e150

static bool is_beyond_measure(const struct engine *e, const struct trial *t)
{
	for (size_t i = 0; e->o.noise.search != ENGINE_BISECT && i < t->n; i++)
		if (fabs(t->samples[i]) > VALUE_MOST)
			return true;
	return false;
}

void engine_observe(struct engine *e, uint32_t node, const struct trial *t)
{
	static const struct trial garbled = { .outcome = TRIAL_GARBLED };
	struct measured *m;
	size_t before;

	if (e->phase == PHASE_DONE || node >= e->nodes || t->outcome == TRIAL_UNSET)
		return;
	if (t->outcome == TRIAL_OK && is_beyond_measure(e, t))
		t = &garbled;
	m = measured_get(e, node);
	before = m->data.n;
	verdict_data_add(&m->data, t);
	if (m->data.n > before)
		pool_boot(e, m, t->copy);
	if (t->outcome != TRIAL_OK && !m->alike)
		m->alike = t->alike;
	if (e->o.noise.search != ENGINE_BISECT)
		engine_bayes_tell(e, m, t, m->data.n > before);
	if (e->phase == PHASE_ENDS && is_end(e, m))
		ends_next(e);
	else if (e->phase == PHASE_RECHECK && engine_decide(e, m))
		engine_recheck_next(e);
	else if (e->phase == PHASE_MERGE_BASES && engine_decide(e, m))
		engine_merge_bases_next(e);
	else if (e->phase == PHASE_SEARCH && engine_is_bayes(e))
		engine_bayes_next(e);
	else if (e->phase == PHASE_SEARCH && engine_decide(e, m))
		engine_search_next(e);
}

void engine_next(struct engine *e, struct engine_step *step)
{
	const struct measured *m;

	*step = (struct engine_step){ .phase = e->phase, .node = DAG_NONE };
	if (e->bayes.searched) {
		step->left = engine_bayes_left(e, NULL);
		step->steps = engine_bayes_steps(e);
	} else if (e->picker) {
		step->left = e->pick.left;
		step->steps = e->pick.steps;
	} else {
		step->left = dag_candidates(e->o.dag);
		step->steps = pick_bisect_steps(step->left);
	}
	if (e->phase == PHASE_DONE)
		return;
	step->node = e->node;
	step->layout = e->layout;
	m = engine_measured_of(e, e->node);
	step->boot = m ? (unsigned)m->data.n + 1 : 1;
}

/* Before the search: all. */
static void make_all(struct engine *e)
{
	const struct dag *d = e->o.dag;

	if (e->all)
		return;
	e->all = xcalloc(d->n, sizeof(*e->all));
	for (uint32_t i = 0; i < d->n; i++)
		if (!d->treesame || !d->treesame[i])
			e->all[e->n_all++] = i;
}

void engine_result(struct engine *e, struct engine_result *r)
{
	*r = (struct engine_result){ .status = e->status, .node = DAG_NONE };
	if (e->phase == PHASE_DONE)
		r->node = e->node;
	if (e->status == ENGINE_FOUND) {
		r->left = &e->node;
		r->n_left = 1;
	} else if (e->bayes.searched && e->status < ENGINE_NO_DIFFERENCE) {
		r->n_left = engine_bayes_left(e, &r->left);
	} else if (e->picker) {
		r->n_left = pick_bisect_left(e->picker, &r->left);
	} else {
		make_all(e);
		r->left = e->all;
		r->n_left = e->n_all;
	}
}

size_t engine_moves(const struct engine *e, const struct engine_move **moves)
{
	if (e->bayes.searched)
		return engine_bayes_moves(e, moves);
	*moves = e->move;
	return e->n_moves;
}

const struct ends *engine_ends(const struct engine *e)
{
	return &e->ends;
}

const struct stats_pool *engine_pool(const struct engine *e)
{
	return &e->pool;
}

/* Ends that have no trial yet stand in commit[], but were not tested. */
static uint32_t untested_ends(const struct engine *e)
{
	return (uint32_t)!engine_has_trial(e->commit[GOOD_END]) +
	       !engine_has_trial(e->commit[BAD_END]);
}

uint32_t engine_tested_count(const struct engine *e)
{
	return (uint32_t)e->n_commits - untested_ends(e);
}

/* Bayes makes no verdict of a commit's own values: they are shown with the confidence. */
static struct stats_interval interval_of(const struct engine *e, const struct measured *m)
{
	struct stats_pool pool = verdict_pool(&e->o.verdict, &e->pool);

	if (e->bayes.searched)
		return stats_mean_interval(m->mean, m->data.n, &pool, 1 - e->o.verdict.confidence);
	return verdict_interval(&e->o.verdict, &m->data, &e->pool, dag_candidates(e->o.dag));
}

static void describe(const struct engine *e, const struct measured *m, struct engine_commit *out)
{
	*out = (struct engine_commit){
		.node = m->node,
		.verdict = engine_is_bayes(e) ? engine_bayes_verdict(e, m) : m->verdict,
		.new_state = NAN,
		.data = &m->data,
	};
	if (engine_is_bayes(e) && m->node <= e->o.dag->n)
		out->new_state = bayes_new_state(e->bayes.model, m->node);
	if (m->data.n)
		out->interval = interval_of(e, m);
}

void engine_tested(const struct engine *e, uint32_t i, struct engine_commit *out)
{
	size_t at = i;

	if (!engine_has_trial(e->commit[GOOD_END]))
		at++;
	if (at >= BAD_END && !engine_has_trial(e->commit[BAD_END]))
		at++;
	describe(e, e->commit[at], out);
}

bool engine_commit_of(const struct engine *e, uint32_t node, struct engine_commit *out)
{
	const struct measured *m = node < e->nodes ? engine_measured_of(e, node) : NULL;

	if (!m || !engine_has_trial(m))
		return false;
	describe(e, m, out);
	return true;
}

const char *engine_phase_name(enum engine_phase p)
{
	static const char *const names[] = {
		[PHASE_ENDS] = "ends",
		[PHASE_RECHECK] = "recheck",
		[PHASE_MERGE_BASES] = "merge bases",
		[PHASE_SEARCH] = "search",
		[PHASE_CONFIRM] = "confirm",
		[PHASE_DONE] = "done",
	};

	return (unsigned)p < ARRAY_SIZE(names) && names[p] ? names[p] : "unset";
}
