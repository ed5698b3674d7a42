/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's search = bayes: what it believes, in verdicts, moves of git, and figures. */
#include "core/engine_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"

/* P(step is not seen) and P(one is seen that is not there), of the ends' comparison. */
#define POWER_ALPHA 0.01
/*
 * Boots to go against those of the information bound: median, 10 % and 90 % quantiles of simulated
 * campaigns (tests/sim/sim_engine_bayes.c). Luck of builds that cannot be averaged costs most
 * at the end, when a commit is told from its parent.
 */
struct to_go {
	double low, middle, high, last;
};
static const struct to_go plain = { .low = 0.6, .middle = 1, .high = 2, .last = 2 };
static const struct to_go lucky = { .low = 0.8, .middle = 1.6, .high = 5, .last = 30 };

enum verdict engine_bayes_verdict(const struct engine *e, const struct measured *m)
{
	double sure = e->o.verdict.confidence, p;
	enum verdict good = VERDICT_GOOD, bad = VERDICT_BAD;

	if (!e->bayes.searched || m->node >= e->o.dag->n || m->node == e->o.dag->tip)
		return m->verdict;
	if (m->data.failed && !e->bayes.by_outcome)
		return verdict_of_failure(&e->o.verdict, m->data.failed);
	p = bayes_new_state(e->bayes.model, m->node);
	if (p >= sure)
		return e->o.hunt_fix ? good : bad;
	if (p <= 1 - sure)
		return e->o.hunt_fix ? bad : good;
	return e->phase == PHASE_DONE ? VERDICT_UNSURE : VERDICT_UNSET;
}

static void add_move(struct engine_bayes *b, uint32_t node, enum dag_mark mark)
{
	xgrow(&b->move, &b->move_room, b->n_moves + 1, sizeof(*b->move));
	b->move[b->n_moves++] = (struct engine_move){ .node = node, .mark = mark };
}

/*
 * git's bad ref only moves to ancestors of the last one, and what is in the old state never has it
 * as an ancestor: the chance of the new state only grows along history, so the measured ones agree;
 * a person's words may not.
 */
static void move(const struct engine *e, struct engine_bayes *b, uint32_t node, enum verdict v,
		 uint32_t *bad)
{
	_cleanup_free_ bool *mark = NULL;

	if (node >= e->o.dag->n || node == e->o.dag->tip || v == VERDICT_UNSET ||
	    v == VERDICT_UNSURE)
		return;
	if (v == VERDICT_SKIP) {
		add_move(b, node, DAG_SKIP);
		return;
	}
	mark = xcalloc(e->o.dag->n, sizeof(*mark));
	if (engine_is_new_state(e, v)) {
		dag_mark_ancestors(e->o.dag, *bad, mark);
		if (!mark[node])
			return;
		*bad = node;
		add_move(b, node, DAG_BAD);
		return;
	}
	dag_mark_ancestors(e->o.dag, node, mark);
	if (!mark[*bad])
		add_move(b, node, DAG_GOOD);
}

size_t engine_bayes_moves(const struct engine *e, const struct engine_move **moves)
{
	struct engine *owner = (struct engine *)(uintptr_t)e; /* the answer is kept there */
	struct engine_bayes *b = &owner->bayes;
	uint32_t bad = e->o.dag->tip;

	b->n_moves = 0;
	for (size_t i = 0; i < e->n_moves; i++)
		add_move(b, e->move[i].node, e->move[i].mark);
	for (size_t i = 0; i < e->o.n_given; i++)
		if (!e->o.given[i].recheck)
			move(e, b, e->o.given[i].node, e->o.given[i].verdict, &bad);
	for (size_t i = 0; i < e->n_commits; i++) {
		const struct measured *m = e->commit[i];

		if (!engine_given_of(e, m->node))
			move(e, b, m->node, engine_bayes_verdict(e, m), &bad);
	}
	*moves = b->move;
	return b->n_moves;
}

static struct engine_bayes *with_list(const struct engine *e)
{
	struct engine *owner = (struct engine *)(uintptr_t)e; /* the answer is kept there */
	struct engine_bayes *b = &owner->bayes;

	if (b->list_known)
		return b;
	b->list_known = true;
	b->n_list = bayes_credible(b->model, e->o.verdict.confidence, &b->list);
	b->left = xcalloc(b->n_list + (size_t)1, sizeof(*b->left));
	for (uint32_t i = 0; i < b->n_list; i++)
		b->left[i] = b->list[i].node;
	return b;
}

uint32_t engine_bayes_left(const struct engine *e, const uint32_t **left)
{
	struct engine_bayes *b = with_list(e);

	if (left)
		*left = b->left;
	return b->n_list;
}

void engine_choice(const struct engine *e, struct engine_choice *c)
{
	*c = e->bayes.choice;
}

bool engine_power(const struct engine *e, struct engine_power *p)
{
	const struct verdict_data *good = &e->commit[GOOD_END]->data;
	const struct verdict_data *bad = &e->commit[BAD_END]->data;

	if (!good->n || !bad->n || !e->pool.df)
		return false;
	*p = (struct engine_power){
		.boots = (unsigned)(good->n < bad->n ? good->n : bad->n),
		.sd = stats_pool_sd(&e->pool),
		.effect = e->o.verdict.effect * fabs(e->commit[GOOD_END]->mean),
		.difference = e->commit[BAD_END]->mean - e->commit[GOOD_END]->mean,
	};
	p->smallest = bayes_smallest_step(p->boots, POWER_ALPHA) * p->sd;
	p->needed = p->sd > 0 ? bayes_boots_needed(p->effect / p->sd, POWER_ALPHA) : 1;
	p->needed_difference = p->sd > 0 ? bayes_boots_needed(p->difference / p->sd, POWER_ALPHA)
					 : 1;
	return true;
}

/* Of boots alone: the median of n runs varies by π/2 of their mean's (Kendall & Stuart, 14.11). */
static double boot_sd_alone(const struct engine *e, double run_sd)
{
	double runs = e->o.noise.runs ? e->o.noise.runs : 1, all = stats_pool_sd(&e->pool);
	double part = runs > 2 ? M_PI / 2 / runs : 1 / runs;

	return sqrt(fmax(all * all - part * run_sd * run_sd, 0));
}

static double entropy(double p)
{
	return -p * log2(p) - (1 - p) * log2(1 - p);
}

/* Bits that a boot of a commit with even odds tells, levels @d deviations apart. */
static double capacity(double d)
{
	double sum = 0, a = d / 2, step = 0.05;

	for (int i = -160; i <= 160; i++) {
		double z = i * step;

		sum += step * exp(-z * z / 2) / sqrt(2 * M_PI) *
		       log1p(exp(-fmin(2 * a * (a + z), 700))) / M_LN2;
	}
	return fmin(fmax(1 - sum, 1e-3), 1);
}

/* Boots that the missing information needs at @d, at least one. */
static double boots_at(double d, double bits, double sure)
{
	double rest = fmax(bits - entropy(sure), 0);

	d = fmin(fmax(d, 0.05), 50);
	return fmax(rest / capacity(d) + log(1 / (1 - sure)) / (d * d / 2), 1);
}

static void expect_values(const struct engine *e, struct engine_belief *b)
{
	const struct to_go *k = e->o.noise.build_sd == 0 ? &plain : &lucky;
	const struct bayes_levels *l = &b->levels;
	double sure = 1 - (e->o.noise.build_sd == 0 ? 1 : 0.25) * (1 - e->o.verdict.confidence);
	double unit = hypot(l->sigma, l->luck), d = fabs(l->level[1] - l->level[0]) / unit;
	double spread = 1.28 * hypot(l->level_sd[0], l->level_sd[1]) / unit;

	b->boots = k->middle * boots_at(d, b->bits_left, sure);
	b->boots_low = k->low * boots_at(d + spread, b->bits_left, sure);
	b->boots_high = k->high * boots_at(fmax(d - spread, d / 2), b->bits_left, sure) + k->last;
}

static void expect(const struct engine *e, struct engine_belief *b)
{
	if (b->step.action == BAYES_STOP)
		return;
	if (b->has_levels && !b->pass && b->levels.sigma > 0) {
		expect_values(e, b);
	} else {
		b->boots = fmax(b->step.boots_left, fmax(b->bits_left, 1));
		b->boots_low = fmax(b->bits_left / 2, 1);
		b->boots_high = 2 * b->boots + 4 * plain.last;
	}
	b->boots_low = fmax(b->boots_low, 1);
	b->seconds = b->boots * b->step.seconds;
}

bool engine_belief(const struct engine *e, struct engine_belief *b)
{
	const struct engine_bayes *own;

	if (!engine_is_bayes(e))
		return false;
	own = with_list(e);
	*b = (struct engine_belief){
		.pass = own->pass,
		.none = bayes_no_culprit(own->model),
		.bits_left = bayes_bits_left(own->model),
		.top = own->list,
		.n_top = own->n_list,
		.run_sd = stats_pool_sd(&own->runs),
	};
	b->has_levels = bayes_levels(own->model, &b->levels) &&
			bayes_intervals(own->model, e->o.verdict.confidence, &b->intervals);
	b->price = own->spent.boots ? engine_price(e) : (struct bayes_price){ 0 };
	if (own->runs.df && e->pool.df && b->price.run > 0 && b->price.boot > 0)
		b->runs_best = bayes_runs_per_boot(&b->price, b->run_sd,
						   boot_sd_alone(e, b->run_sd));
	bayes_next(own->model, &b->step);
	expect(e, b);
	return true;
}

uint32_t engine_bayes_steps(const struct engine *e)
{
	struct engine_belief b;

	if (!engine_belief(e, &b))
		return 0;
	return (uint32_t)fmin(ceil(b.boots), 1e6);
}

double engine_share(const struct engine *e, uint32_t node)
{
	return engine_is_bayes(e) ? bayes_share(e->bayes.model, node) : NAN;
}
