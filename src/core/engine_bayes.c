/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's search = bayes: the model, and what it is told. */
#include "core/engine_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"

void engine_bayes_init(struct engine *e)
{
	e->bayes.cached = xcalloc(e->o.dag->n + (size_t)1, sizeof(bool));
	e->bayes.choice = (struct engine_choice){
		.search = e->o.noise.search,
		.by_auto = e->o.noise.search == ENGINE_AUTO,
	};
}

static void forget_answers(struct engine_bayes *b)
{
	free(b->list);
	free(b->left);
	b->list = NULL;
	b->left = NULL;
	b->n_list = 0;
	b->list_known = false;
}

void engine_bayes_release(struct engine *e)
{
	struct engine_bayes *b = &e->bayes;

	forget_answers(b);
	bayes_free(b->model);
	free(b->told);
	free(b->cached);
	free(b->prior);
	free(b->move);
}

static bool is_end(const struct engine *e, uint32_t node)
{
	return node == e->o.dag->n || node == e->o.dag->tip;
}

static bool is_bad_failure(const struct engine *e, const struct told *t)
{
	return t->outcome != TRIAL_OK &&
	       verdict_of_failure(&e->o.verdict, t->outcome) == VERDICT_BAD;
}

/* A failure that leaves no doubt of the commit's state. */
static bool is_certain(const struct engine *e, const struct told *t)
{
	return is_bad_failure(e, t) && !e->bayes.by_outcome && t->node < e->o.dag->n &&
	       !is_end(e, t->node) && !engine_given_of(e, t->node);
}

/* By outcome: 1 fails, 0 passes. */
static double value_of(const struct engine *e, const struct told *t)
{
	bool beyond;

	if (!e->bayes.by_outcome)
		return t->value;
	if (t->outcome != TRIAL_OK)
		return 1;
	beyond = e->ends.better == METRIC_HIGHER ? t->value < e->ends.threshold
						 : t->value > e->ends.threshold;
	return e->ends.state && beyond;
}

/* Failures of which nothing is known are not alike. */
static uint32_t alike_of(uint32_t node, uint32_t alike)
{
	return alike ? alike : UINT32_MAX - 1 - node;
}

/* False: the model cannot take it, and must be made anew. */
static bool feed(struct engine *e, const struct told *t)
{
	struct engine_bayes *b = &e->bayes;

	if (t->outcome != TRIAL_OK && !(b->by_outcome && is_bad_failure(e, t))) {
		/* an end is never passed over; what is certain is in the prior */
		if (!is_end(e, t->node) && !is_certain(e, t))
			bayes_skip(b->model, t->node, alike_of(t->node, t->alike));
		return true;
	}
	/* the same boot twice is no second one */
	if (t->twin != DAG_NONE) {
		bayes_same_build(b->model, t->node, t->twin);
		return true;
	}
	if (b->pass)
		return bayes_observe(b->model, t->node, t->layout, value_of(e, t)) == 0;
	return bayes_observe_runs(b->model, t->node, t->layout, t->value, t->runs, t->run_sd) == 0;
}

/* Candidates that the state of @node excludes: it has the change, or has it not. */
static void exclude(const struct engine *e, uint32_t node, bool is_new, double *prior)
{
	_cleanup_free_ bool *mark = NULL;

	if (node >= e->o.dag->n)
		return;
	mark = xcalloc(e->o.dag->n, sizeof(*mark));
	dag_mark_ancestors(e->o.dag, node, mark);
	for (uint32_t i = 0; i < e->o.dag->n; i++)
		if (mark[i] != is_new)
			prior[i] = 0;
}

static void make_prior(struct engine *e)
{
	struct engine_bayes *b = &e->bayes;

	free(b->prior);
	b->prior = xcalloc(e->o.dag->n, sizeof(*b->prior));
	for (uint32_t i = 0; i < e->o.dag->n; i++)
		b->prior[i] = e->o.noise.prior ? e->o.noise.prior[i] : 1;
	for (size_t i = 0; i < e->o.n_given; i++) {
		const struct engine_given *g = &e->o.given[i];

		if (!g->recheck && g->verdict != VERDICT_SKIP)
			exclude(e, g->node, engine_is_new_state(e, g->verdict), b->prior);
	}
	for (size_t i = 0; i < b->n_told; i++)
		if (is_certain(e, &b->told[i]))
			exclude(e, b->told[i].node, engine_is_new_state(e, VERDICT_BAD), b->prior);
}

static bool is_pass_or_fail(const struct engine *e)
{
	const struct engine_bayes *b = &e->bayes;

	for (size_t i = 0; i < b->n_told && !b->by_outcome; i++)
		if (b->told[i].outcome == TRIAL_OK && b->told[i].value != 0 &&
		    b->told[i].value != 1)
			return false;
	return true;
}

struct bayes_price engine_price(const struct engine *e)
{
	const struct spent *s = &e->bayes.spent;
	const struct engine_noise *n = &e->o.noise;
	double boots = s->boots ? s->boots : 1, builds = s->builds ? s->builds : 1;
	double run = s->run / boots / ((n->runs ? n->runs : 1) + n->warmups);

	return (struct bayes_price){
		.build = s->build / builds,
		.boot = s->boot / boots + n->warmups * run,
		.run = run,
	};
}

static double build_sd_of(const struct engine *e)
{
	const struct engine_noise *n = &e->o.noise;
	const struct measured *good = e->commit[GOOD_END];

	return n->build_sd < 0 || !n->build_sd_relative ? n->build_sd
							: n->build_sd * fabs(good->mean);
}

static struct bayes_opts opts_of(const struct engine *e)
{
	const struct engine_noise *n = &e->o.noise;
	const struct verdict_opts *v = &e->o.verdict;
	unsigned boots = v->end_boots > v->min_boots ? v->end_boots : v->min_boots;

	/* with one boot of each end nothing is known of the spread */
	if (boots < 2)
		boots = n->deterministic ? 1 : 2;
	return (struct bayes_opts){
		.dag = e->o.dag,
		.metric = e->bayes.pass ? BAYES_PASS : BAYES_VALUE,
		.deterministic = n->deterministic && !e->bayes.by_outcome,
		.build_sd = build_sd_of(e),
		.confidence = v->confidence,
		.effect = v->effect,
		.end_boots = boots,
		.max_end_boots = n->max_end_boots > boots ? n->max_end_boots
				 : n->max_end_boots       ? boots
				 : boots > 60             ? boots
							  : 60,
		.rebuild = n->rebuild,
		.runs = n->runs,
		.price = engine_price(e),
		.prior = e->bayes.prior,
		.cached = e->bayes.cached,
	};
}

static void tell_skips(struct engine *e)
{
	for (size_t i = 0; i < e->o.n_given; i++) {
		const struct engine_given *g = &e->o.given[i];

		if (g->verdict == VERDICT_SKIP && g->node < e->o.dag->n)
			bayes_skip(e->bayes.model, g->node, alike_of(g->node, 0));
	}
}

void engine_bayes_make(struct engine *e)
{
	struct engine_bayes *b = &e->bayes;
	struct bayes_opts o;

	forget_answers(b);
	bayes_free(b->model);
	if (e->phase == PHASE_ENDS)
		b->by_outcome = e->commit[BAD_END]->data.failed &&
				engine_is_failure_acceptable(e, BAD_END);
	b->pass = is_pass_or_fail(e);
	make_prior(e);
	o = opts_of(e);
	b->model = bayes_new(&o);
	tell_skips(e);
	for (size_t i = 0; i < b->n_told; i++)
		feed(e, &b->told[i]);
}

static void spend(struct engine_bayes *b, const struct trial *t)
{
	if (t->copy || !(t->boot_seconds + t->run_seconds > 0))
		return;
	b->spent.boot += t->boot_seconds;
	b->spent.run += t->run_seconds;
	b->spent.boots++;
}

static void learn_price(struct engine *e)
{
	struct bayes_price p = engine_price(e);

	bayes_set_price(e->bayes.model, &p);
}

/* Failures of an end one after the other. */
static void count_failures(struct engine *e, const struct told *t)
{
	unsigned *failed = &e->bayes.failed_end[t->node == e->o.dag->tip];

	if (is_end(e, t->node))
		*failed = t->outcome == TRIAL_OK || (e->bayes.by_outcome && is_bad_failure(e, t))
				  ? 0
				  : *failed + 1;
}

/* What is known for certain is the prior's; an end that fails makes it pass or fail. */
static bool changes_all(const struct engine *e, const struct told *t)
{
	return is_certain(e, t) || (e->phase == PHASE_ENDS && !e->bayes.by_outcome &&
				    is_end(e, t->node) && t->outcome != TRIAL_OK);
}

static double run_sd_of(const struct trial *t)
{
	return t->outcome == TRIAL_OK && t->n > 1
		       ? sqrt(stats_sum_squares(t->samples, t->n) / (double)(t->n - 1))
		       : NAN;
}

void engine_bayes_tell(struct engine *e, const struct measured *m, const struct trial *t, bool ok)
{
	struct engine_bayes *b = &e->bayes;
	struct told *last;

	spend(b, t);
	if (m->node > e->o.dag->n)
		return;
	if (ok && !t->copy)
		stats_pool_add(&b->runs, t->samples, t->n);
	xgrow(&b->told, &b->room, b->n_told + 1, sizeof(*b->told));
	last = &b->told[b->n_told++];
	*last = (struct told){
		.node = m->node,
		.layout = t->layout,
		.outcome = ok                       ? TRIAL_OK
			   : t->outcome == TRIAL_OK ? TRIAL_GARBLED
						    : t->outcome,
		.value = ok ? m->data.boot[m->data.n - 1] : 0,
		.runs = ok ? (unsigned)t->n : 0,
		.run_sd = run_sd_of(t),
		.alike = t->alike,
		.twin = t->copy && t->twin <= e->o.dag->n ? t->twin : DAG_NONE,
	};
	b->cached[m->node] = true;
	count_failures(e, last);
	if (!b->model)
		return;
	forget_answers(b);
	if (changes_all(e, last) || !feed(e, last)) {
		engine_bayes_make(e);
		return;
	}
	learn_price(e);
}

void engine_built(struct engine *e, uint32_t node, uint32_t layout, double seconds)
{
	struct engine_bayes *b = &e->bayes;

	/* only the usual build of a commit is asked for before it is measured */
	if (node <= e->o.dag->n && !layout)
		b->cached[node] = true;
	if (seconds > 0) {
		b->spent.build += seconds;
		b->spent.builds++;
	}
	if (b->model)
		learn_price(e);
}
