/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Noisy histories with a known culprit, and searches over them. */
#ifndef KR_TESTS_SIM_NOISE_WORLD_H
#define KR_TESTS_SIM_NOISE_WORLD_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "base/str.h"
#include "core/pick_bayes.h"
#include "core/pick_bisect.h"

/* One row of the table. Deviations in units of σ of one boot. */
struct scenario {
	const char *name;
	uint32_t commits;
	double d;    /* step */
	double luck; /* per build */
	bool luck_each_boot;
	double outliers;             /* share, one-sided, exponential with mean 5 */
	double merges;               /* share of commits */
	double skipped;              /* share, in ranges */
	double pass_fail;            /* p: error of one boot; 0: values */
	bool none;                   /* no step */
	double build_sd, confidence; /* told to the search */
	unsigned end_boots;
	bool rebuild;      /* other layouts may be asked for: luck anew */
	double more[2];    /* further steps elsewhere, in σ */
	double base, unit; /* the old level and σ; 0: 100 and 1 */
	double drift;      /* of the machine, over drift_boots boots, then on: σ */
	unsigned drift_boots;
	bool drift_jumps; /* at once, anywhere among these boots */
	double effect;    /* relative to the old level, 100 σ; 0: 0.009 */
	bool thresholded; /* the search sees 1 above half-way between the ends, else 0 */
};

struct world {
	struct scenario s;
	struct dag dag;
	uint32_t culprit;
	bool *is_new, *is_skipped;
	uint32_t step[3]; /* the culprit and where the further steps are, DAG_NONE: none */
	double *level;    /* σ above the old end */
	double *luck;     /* n + 1 */
	double threshold, jump_at;
	unsigned boots;
	unsigned long seed;
	gsl_rng *rng;
};

static inline void world_commit(struct dag *d, gsl_rng *rng, uint32_t a, uint32_t b)
{
	struct commit_id id = { .raw = { 0 } };

	for (int i = 0; i < COMMIT_RAW; i++)
		id.raw[i] = (uint8_t)gsl_rng_uniform_int(rng, 256);
	dag_add(d, &id, 1000000 + d->n);
	if (a != DAG_NONE)
		dag_parent(d, d->n - 1, a);
	if (b != DAG_NONE)
		dag_parent(d, d->n - 1, b);
}

/* Lines of work that fork from one trunk and are merged back, @merges of all commits merges. */
static inline void world_history(struct world *w)
{
	uint32_t head[64], heads = 1, n = w->s.commits;
	struct dag *d = &w->dag;

	*d = (struct dag)DAG_INIT;
	world_commit(d, w->rng, DAG_NONE, DAG_NONE);
	head[0] = 0;
	while (d->n < n || heads > 1) {
		uint32_t k = (uint32_t)gsl_rng_uniform_int(w->rng, heads);
		double u = gsl_rng_uniform(w->rng);

		if (heads > 1 && (d->n + heads > n || u < w->s.merges)) {
			k = k ? k : heads - 1;
			world_commit(d, w->rng, head[0], head[k]);
			head[0] = d->n - 1;
			head[k] = head[--heads];
		} else if (heads < 64 && w->s.merges > 0 && u < 2.2 * w->s.merges &&
			   d->n + heads < n) {
			world_commit(d, w->rng, head[k], DAG_NONE);
			head[heads++] = d->n - 1;
		} else {
			world_commit(d, w->rng, head[k], DAG_NONE);
			head[k] = d->n - 1;
		}
	}
	dag_finish(d);
	d->tip = d->n - 1;
}

static inline void world_skips(struct world *w)
{
	uint32_t left = (uint32_t)(w->s.skipped * w->dag.n);

	while (left) {
		uint32_t length = 1 + (uint32_t)gsl_rng_uniform_int(w->rng, 40);
		uint32_t from = (uint32_t)gsl_rng_uniform_int(w->rng, w->dag.n);

		for (uint32_t x = from; x < from + length && x < w->dag.tip && left; x++) {
			left -= !w->is_skipped[x];
			w->is_skipped[x] = true;
		}
	}
}

/* From @step on (@is_new: marked) the level is @d higher. */
static inline void world_step(struct world *w, uint32_t step, double d, bool *is_new)
{
	_cleanup_free_ bool *in = xcalloc(w->dag.n + (size_t)1, sizeof(*in));

	for (uint32_t x = 0; x < w->dag.n; x++) {
		in[x] = x == step;
		for (uint32_t k = 0; k < dag_parent_count(&w->dag, x); k++)
			in[x] |= in[dag_parents(&w->dag, x)[k]];
		w->level[x] += in[x] * d;
		if (is_new)
			is_new[x] = in[x];
	}
}

static inline void world_new(struct world *w, const struct scenario *s, unsigned long seed)
{
	*w = (struct world){ .s = *s, .seed = seed, .rng = gsl_rng_alloc(gsl_rng_taus2) };
	gsl_rng_set(w->rng, seed);
	world_history(w);
	w->is_new = xcalloc(w->dag.n + (size_t)1, sizeof(bool));
	w->is_skipped = xcalloc(w->dag.n + (size_t)1, sizeof(bool));
	w->level = xcalloc(w->dag.n + (size_t)1, sizeof(double));
	w->luck = xcalloc(w->dag.n + (size_t)1, sizeof(double));
	w->jump_at = s->drift_jumps ? gsl_rng_uniform(w->rng) * s->drift_boots : 0;
	world_skips(w);
	/* a culprit that cannot be told from its neighbours is another question */
	do
		w->culprit = (uint32_t)gsl_rng_uniform_int(w->rng, w->dag.n);
	while (s->skipped > 0 &&
	       (w->is_skipped[w->culprit] || (w->culprit && w->is_skipped[w->culprit - 1])));
	w->step[0] = w->culprit;
	for (int k = 0; k < 2; k++)
		w->step[k + 1] = fabs(s->more[k]) > 0
					 ? (uint32_t)gsl_rng_uniform_int(w->rng, w->dag.n)
					 : DAG_NONE;
	for (uint32_t x = 0; x <= w->dag.n; x++)
		w->luck[x] = s->luck_each_boot ? 0 : gsl_ran_gaussian(w->rng, s->luck);
	world_step(w, w->culprit, s->d, w->is_new);
	for (int k = 0; k < 2; k++)
		if (w->step[k + 1] != DAG_NONE)
			world_step(w, w->step[k + 1], s->more[k], NULL);
	if (s->none) {
		memset(w->is_new, 0, w->dag.n * sizeof(bool));
		memset(w->level, 0, w->dag.n * sizeof(*w->level));
	}
}

static inline void world_release(struct world *w)
{
	dag_release(&w->dag);
	free(w->is_new);
	free(w->is_skipped);
	free(w->level);
	free(w->luck);
	gsl_rng_free(w->rng);
}

/* The luck of a build; layout 0 is the first. */
static inline double world_luck(const struct world *w, uint32_t node, uint32_t layout)
{
	gsl_rng *own;
	double luck;

	if (!layout)
		return w->luck[node];
	own = gsl_rng_alloc(gsl_rng_taus2);
	gsl_rng_set(own, (w->seed * 31 + node) * 8191 + layout);
	luck = gsl_ran_gaussian(own, w->s.luck);
	gsl_rng_free(own);
	return luck;
}

/* What the machine's drift adds to the next boot. */
static inline double world_drift(struct world *w)
{
	unsigned t = w->boots++;

	if (!(fabs(w->s.drift) > 0))
		return 0;
	return w->s.drift * (w->s.drift_jumps ? t >= w->jump_at : (double)t / w->s.drift_boots);
}

static inline double world_boot(struct world *w, uint32_t node, uint32_t layout)
{
	double v;

	if (w->s.pass_fail > 0)
		return (gsl_rng_uniform(w->rng) < w->s.pass_fail) != w->is_new[node];
	v = world_drift(w) + w->level[node] + world_luck(w, node, layout) +
	    gsl_ran_gaussian(w->rng, 1);
	if (w->s.luck_each_boot)
		v += gsl_ran_gaussian(w->rng, w->s.luck);
	if (w->s.outliers > 0 && gsl_rng_uniform(w->rng) < w->s.outliers)
		v += gsl_ran_exponential(w->rng, 5);
	return (w->s.unit > 0 ? w->s.base : 100) + v * (w->s.unit > 0 ? w->s.unit : 1);
}

/* What the search is told of a boot. */
static inline double world_seen(struct world *w, uint32_t node, uint32_t layout)
{
	double v = world_boot(w, node, layout);

	return w->s.thresholded ? v > w->threshold : v;
}

/* How one search ended. */
struct ending {
	enum bayes_status status;
	bool right; /* the culprit found, or in the list; no difference where there is none */
	double claimed;
	unsigned boots, kernels, list;
};

/* Half-way between the means of @boots boots of each end, which are counted. */
static inline void world_threshold(struct world *w, unsigned boots, struct ending *e)
{
	w->threshold = 0;
	for (unsigned i = 0; i < boots; i++)
		w->threshold += (world_boot(w, w->dag.n, 0) + world_boot(w, w->dag.tip, 0)) / 2 /
				boots;
	e->boots += 2 * boots;
}

/* What git bisect with @looks boots a commit finds; adds to @runs. */
static inline uint32_t world_bisect(struct world *w, unsigned looks, double *runs)
{
	struct pick_bisect *p = pick_bisect_new(&w->dag, &(struct pick_opts){ .any_skip = false });
	_cleanup_free_ enum dag_mark *mark = xcalloc(w->dag.n, sizeof(*mark));
	struct ending e = { .boots = 0 };
	uint32_t bad = w->dag.tip;
	struct pick pick;

	mark[bad] = DAG_BAD;
	world_threshold(w, looks > 5 ? looks : 5, &e);
	for (pick_bisect_next(p, mark, bad, &pick); pick.kind == PICK_TEST;
	     pick_bisect_next(p, mark, bad, &pick)) {
		double sum = 0;

		if (w->is_skipped[pick.node]) {
			mark[pick.node] = DAG_SKIP;
			continue;
		}
		for (unsigned i = 0; i < looks; i++, e.boots++)
			sum += world_boot(w, pick.node, 0);
		if (sum > looks * w->threshold) {
			mark[pick.node] = DAG_BAD;
			bad = pick.node;
		} else {
			mark[pick.node] = DAG_GOOD;
		}
	}
	pick_bisect_free(p);
	*runs += e.boots;
	return pick.kind == PICK_FOUND ? pick.node : DAG_NONE;
}

static inline struct bayes_opts world_opts(const struct world *w, const struct bayes_price *p)
{
	return (struct bayes_opts){
		.dag = &w->dag,
		.metric = w->s.pass_fail > 0 || w->s.thresholded ? BAYES_PASS : BAYES_VALUE,
		.build_sd = w->s.build_sd,
		.confidence = w->s.confidence,
		.effect = w->s.effect > 0 ? w->s.effect : 0.009, /* 0.9 σ */
		.max_boots = 500,
		.end_boots = w->s.end_boots,
		.rebuild = w->s.rebuild,
		.price = *p,

	};
}

static inline void world_search(struct world *w, const struct bayes_price *p, struct ending *e)
{
	struct bayes_opts o = world_opts(w, p);
	struct bayes *b = bayes_new(&o);
	struct bayes_candidate *list;
	struct bayes_step s;

	*e = (struct ending){ .boots = 0 };
	if (w->s.thresholded)
		world_threshold(w, 5, e);
	for (bayes_next(b, &s); s.action; bayes_next(b, &s)) {
		e->kernels += s.action != BAYES_BOOT;
		if (w->is_skipped[s.node]) {
			bayes_skip(b, s.node, 1);
			continue;
		}
		e->boots++;
		bayes_observe(b, s.node, s.layout, world_seen(w, s.node, s.layout));
	}
	e->status = s.status;
	e->list = bayes_credible(b, w->s.confidence, &list);
	for (uint32_t k = 0; k < e->list; k++)
		for (int i = 0; i < 3; i++)
			e->right |= !w->s.none && list[k].node == w->step[i];
	/* a step denied is a wrong answer, whatever a list would hold */
	if (s.status != BAYES_FOUND && s.status != BAYES_LIST)
		e->right = false;
	if (w->s.none)
		e->right = s.status == BAYES_NO_DIFFERENCE || s.status == BAYES_NO_CULPRIT;
	e->claimed = e->list ? list[0].share : 0;
	free(list);
	bayes_free(b);
}

#endif
