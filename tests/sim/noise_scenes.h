/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scenes of the table of make bench-noise: noise_world.h with drift, runs in a boot, more steps, units. */
#ifndef KR_TESTS_SIM_NOISE_SCENES_H
#define KR_TESTS_SIM_NOISE_SCENES_H

#include "core/stats.h"
#include "sim/noise_world.h"

/* Deviations in units of σ of one boot. */
struct scene {
	struct scenario s;
	double drift;   /* amplitude of a sine over SCENE_PERIOD boots, phase drawn */
	unsigned runs;  /* runs a boot, whose median is its value; 0: 1 */
	double run_sd;  /* of one run, beside the boot's */
	unsigned steps; /* further steps of ± 0.4 d anywhere */
	double before;  /* level in the metric's unit; 0: 100, and σ is 1 */
	double spread;  /* σ in that unit */
};

#define SCENE_PERIOD 80
#define SCENE_RUNS_MAX 15

struct stage {
	struct world w;
	struct scene c;
	double *extra; /* n + 1: what the further steps add */
	bool *is_step; /* n: makes a step */
	double phase;
	unsigned boots;
};

/* One search over a scene. */
struct outcome {
	enum bayes_status status;
	bool right;
	double claimed; /* share of the first of the list */
	unsigned runs, boots, kernels, list;
};

static inline void scene_add_step(struct stage *g, uint32_t node, double height)
{
	_cleanup_free_ bool *above = xcalloc(g->w.dag.n, sizeof(bool));

	g->is_step[node] = true;
	for (uint32_t x = node; x < g->w.dag.n; x++) {
		above[x] = x == node;
		for (uint32_t k = 0; k < dag_parent_count(&g->w.dag, x); k++)
			above[x] |= above[dag_parents(&g->w.dag, x)[k]];
		g->extra[x] += above[x] ? height : 0;
	}
}

static inline void scene_new(struct stage *g, const struct scene *c, unsigned long seed)
{
	*g = (struct stage){ .c = *c };
	world_new(&g->w, &c->s, seed);
	g->extra = xcalloc(g->w.dag.n + (size_t)1, sizeof(double));
	g->is_step = xcalloc(g->w.dag.n, sizeof(bool));
	g->is_step[g->w.culprit] = !c->s.none;
	g->phase = 2 * M_PI * gsl_rng_uniform(g->w.rng);
	for (unsigned k = 0; k < c->steps; k++)
		scene_add_step(g, (uint32_t)gsl_rng_uniform_int(g->w.rng, g->w.dag.n),
			       (gsl_rng_uniform(g->w.rng) < 0.5 ? -0.4 : 0.4) * c->s.d);
}

static inline void scene_release(struct stage *g)
{
	world_release(&g->w);
	free(g->extra);
	free(g->is_step);
}

/* The value of one boot of @runs runs. */
static inline double scene_boot(struct stage *g, uint32_t node, uint32_t layout)
{
	double v = world_boot(&g->w, node, layout), run[SCENE_RUNS_MAX];
	unsigned n = g->c.runs ? g->c.runs : 1;

	if (g->c.s.pass_fail > 0)
		return v;
	v += g->extra[node] + g->c.drift * sin(2 * M_PI * g->boots++ / SCENE_PERIOD + g->phase);
	for (unsigned k = 0; k < n; k++)
		run[k] = gsl_ran_gaussian(g->w.rng, g->c.run_sd);
	v += stats_median(run, n);
	return g->c.before > 0 ? g->c.before + (v - 100) * g->c.spread : v;
}

static inline void scene_judge(const struct stage *g, struct bayes *b, struct outcome *o)
{
	struct bayes_candidate *list;

	o->list = bayes_credible(b, g->w.s.confidence, &list);
	for (uint32_t k = 0; k < o->list; k++)
		o->right |= g->is_step[list[k].node];
	/* a step denied is a wrong answer, whatever a list would hold */
	if (o->status != BAYES_FOUND && o->status != BAYES_LIST)
		o->right = false;
	if (g->w.s.none)
		o->right = o->status == BAYES_NO_DIFFERENCE || o->status == BAYES_NO_CULPRIT;
	o->claimed = o->list ? list[0].share : 0;
	free(list);
}

/* search = bayes. */
static inline void scene_search(struct stage *g, const struct bayes_price *p, struct outcome *o)
{
	struct bayes_opts opts = world_opts(&g->w, p);
	struct bayes_step s;
	struct bayes *b;

	opts.runs = g->c.runs;
	b = bayes_new(&opts);
	*o = (struct outcome){ .runs = 0 };
	for (bayes_next(b, &s); s.action; bayes_next(b, &s)) {
		o->kernels += s.action != BAYES_BOOT;
		if (g->w.is_skipped[s.node]) {
			bayes_skip(b, s.node, 1);
			continue;
		}
		o->boots++;
		bayes_observe(b, s.node, s.layout, scene_boot(g, s.node, s.layout));
	}
	o->runs = o->boots * (g->c.runs ? g->c.runs : 1);
	o->status = s.status;
	scene_judge(g, b, o);
	bayes_free(b);
}

#endif
