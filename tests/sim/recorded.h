/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots of real kernels, recorded by tests/bench/record-boots, and searches over them. */
#ifndef KR_TESTS_SIM_RECORDED_H
#define KR_TESTS_SIM_RECORDED_H

#include "base/err.h"
#include "core/stats.h"
#include "sim/noise_baselines.h"

#define RECORDED_COMMITS_MAX 256
#define RECORDED_BOOTS_MAX 256
#define RECORDED_RUNS_MAX 64

/* A commit of the file, by its number there; 0 is the good end. */
struct recorded_commit {
	bool given;
	char id[16];
	uint32_t parents, parent[8];
	uint32_t kernel; /* the number that has the boots of its kernel; DAG_NONE: never booted */
	unsigned boots;  /* after reading: of the kernel, at its number only */
	double *value;   /* median of a boot's runs, in the order recorded */
	uint32_t node;   /* in the dag; DAG_NONE: no ancestor of the tip */
};

struct recorded {
	struct recorded_commit c[RECORDED_COMMITS_MAX];
	unsigned commits;
	struct dag dag;
	uint32_t *number; /* of each node, n + 1; the old end last */
	bool *is_skipped; /* n: never booted */
};

static inline void recorded_close(struct recorded *r)
{
	for (unsigned k = 0; k < RECORDED_COMMITS_MAX; k++)
		free(r->c[k].value);
	dag_release(&r->dag);
	free(r->number);
	free(r->is_skipped);
	free(r);
}

/* The next number of *@at, below @limit; -1: there is none. */
static inline int recorded_number(char **at, unsigned limit)
{
	char *end;
	unsigned long n = strtoul(*at, &end, 10);

	if (end == *at || n >= limit)
		return -1;
	*at = end;
	return (int)n;
}

/* "NUMBER ID PARENT…" or "NUMBER ID -" */
static inline int recorded_read_commit(struct recorded *r, char *line)
{
	int number = recorded_number(&line, RECORDED_COMMITS_MAX), parent, used = 0;
	struct recorded_commit *c;

	if (number < 0 || (unsigned)number != r->commits)
		return -1;
	c = &r->c[number];
	c->kernel = (uint32_t)number;
	if (sscanf(line, " %15[0-9a-f]%n", c->id, &used) != 1)
		return -1;
	line += used;
	while (c->parents < ARRAY_SIZE(c->parent) &&
	       (parent = recorded_number(&line, (unsigned)number)) >= 0)
		c->parent[c->parents++] = (uint32_t)parent;
	c->given = true;
	r->commits++;
	return number && !c->parents ? -1 : 0;
}

static inline void recorded_add(struct recorded_commit *c, double value)
{
	c->value = xrealloc(c->value, c->boots + (size_t)1, sizeof(double));
	c->value[c->boots++] = value;
}

/* "NUMBER NUMBER": the second has the boots of both. */
static inline int recorded_read_same(struct recorded *r, char *line)
{
	int number = recorded_number(&line, r->commits);
	int kernel = number < 0 ? -1 : recorded_number(&line, r->commits);

	if (kernel < 0 || r->c[kernel].kernel != (uint32_t)kernel)
		return -1;
	r->c[number].kernel = (uint32_t)kernel;
	return 0;
}

/* "ROUND NUMBER VALUE…" */
static inline int recorded_read_boot(struct recorded *r, char *line)
{
	int round = recorded_number(&line, 1000000);
	int number = round < 0 ? -1 : recorded_number(&line, r->commits);
	double run[RECORDED_RUNS_MAX];
	unsigned runs = 0;
	char *end;

	if (number < 0 || r->c[number].boots == RECORDED_BOOTS_MAX)
		return -1;
	for (double v = strtod(line, &end); end != line && runs < RECORDED_RUNS_MAX;
	     v = strtod(line = end, &end))
		run[runs++] = v;
	if (!runs || *end != '\n')
		return -1;
	recorded_add(&r->c[number], stats_median(run, runs));
	return 0;
}

/* Boots go to where the kernel is. */
static inline void recorded_pool(struct recorded *r)
{
	for (unsigned k = 0; k < r->commits; k++) {
		struct recorded_commit *c = &r->c[k];

		for (unsigned i = 0; c->kernel != k && i < c->boots; i++)
			recorded_add(&r->c[c->kernel], c->value[i]);
		c->boots = c->kernel == k ? c->boots : 0;
	}
	for (unsigned k = 0; k < r->commits; k++)
		if (!r->c[r->c[k].kernel].boots)
			r->c[k].kernel = DAG_NONE;
}

static inline int recorded_read(struct recorded *r, FILE *f)
{
	char line[4096];

	while (fgets(line, sizeof(line), f)) {
		int ret = *line == '#' || *line == '\n' ? 0
			  : str_starts(line, "commit ") ? recorded_read_commit(r, line + 7)
			  : str_starts(line, "same ")   ? recorded_read_same(r, line + 5)
			  : str_starts(line, "boot ")   ? recorded_read_boot(r, line + 5)
							: -1;

		if (ret < 0)
			return -1;
	}
	recorded_pool(r);
	return r->commits > 1 && r->c[0].kernel != DAG_NONE ? 0 : -1;
}

/* The commits that @tip holds, as the candidates of a search from commit 0. */
static inline void recorded_range(struct recorded *r, uint32_t tip)
{
	bool held[RECORDED_COMMITS_MAX] = { false };

	held[tip] = true;
	for (uint32_t k = tip; k > 0; k--)
		for (uint32_t i = 0; held[k] && i < r->c[k].parents; i++)
			held[r->c[k].parent[i]] = true;
	r->dag = (struct dag)DAG_INIT;
	r->number = xcalloc(tip + (size_t)1, sizeof(*r->number));
	r->is_skipped = xcalloc(tip + (size_t)1, sizeof(*r->is_skipped));
	for (uint32_t k = 1; k <= tip; k++) {
		struct commit_id id = { .raw = { (uint8_t)(k >> 8), (uint8_t)k } };

		r->c[k].node = held[k] ? r->dag.n : DAG_NONE;
		if (!held[k])
			continue;
		r->number[r->dag.n] = k;
		r->is_skipped[r->dag.n] = r->c[k].kernel == DAG_NONE;
		dag_add(&r->dag, &id, 1000000 + k);
		for (uint32_t i = 0; i < r->c[k].parents; i++)
			if (r->c[k].parent[i])
				dag_parent(&r->dag, r->dag.n - 1, r->c[r->c[k].parent[i]].node);
	}
	dag_finish(&r->dag);
	r->dag.tip = r->dag.n - 1;
}

/* The boots of @path on the way to commit number @tip (0: the last). NULL: see @e. */
static inline struct recorded *recorded_open(const char *path, uint32_t tip, struct err *e)
{
	struct recorded *r = xcalloc(1, sizeof(*r));
	FILE *f = fopen(path, "r");
	int ret = f ? recorded_read(r, f) : -1;

	if (f)
		fclose(f);
	if (ret == 0)
		tip = tip ? tip : r->commits - 1;
	if (ret < 0 || tip >= r->commits || r->c[tip].kernel == DAG_NONE) {
		err_set(e, ERR_NOT_FOUND,
			"cannot replay '%s': no recorded boots, or none of the tip", path);
		recorded_close(r);
		return NULL;
	}
	recorded_range(r, tip);
	return r;
}

/* One campaign: a culprit and what it costs, and the order in which boots are dealt. */
struct replay {
	const struct recorded *r;
	uint32_t culprit;
	double factor; /* of the values from the culprit on */
	bool *is_new;
	unsigned *deck[RECORDED_COMMITS_MAX], dealt[RECORDED_COMMITS_MAX]; /* by kernel */
	gsl_rng *rng;
};

/* The culprit can be told from its neighbours where they boot. */
static inline bool replay_can_be(const struct recorded *r, uint32_t node)
{
	if (r->is_skipped[node])
		return false;
	for (uint32_t k = 0; k < dag_parent_count(&r->dag, node); k++)
		if (r->is_skipped[dag_parents(&r->dag, node)[k]])
			return false;
	return true;
}

static inline void replay_new(struct replay *p, const struct recorded *r, double factor,
			      unsigned long seed)
{
	*p = (struct replay){ .r = r, .factor = factor, .rng = gsl_rng_alloc(gsl_rng_taus2) };
	gsl_rng_set(p->rng, seed);
	do
		p->culprit = (uint32_t)gsl_rng_uniform_int(p->rng, r->dag.n);
	while (!replay_can_be(r, p->culprit));
	p->is_new = xcalloc(r->dag.n + (size_t)1, sizeof(bool));
	for (uint32_t x = 0; x < r->dag.n; x++) {
		p->is_new[x] = x == p->culprit;
		for (uint32_t k = 0; k < dag_parent_count(&r->dag, x); k++)
			p->is_new[x] |= p->is_new[dag_parents(&r->dag, x)[k]];
	}
	for (unsigned k = 0; k < r->commits; k++) {
		p->deck[k] = xcalloc(r->c[k].boots + (size_t)1, sizeof(unsigned));
		for (unsigned i = 0; i < r->c[k].boots; i++)
			p->deck[k][i] = i;
	}
}

static inline void replay_release(struct replay *p)
{
	for (unsigned k = 0; k < p->r->commits; k++)
		free(p->deck[k]);
	free(p->is_new);
	gsl_rng_free(p->rng);
}

/* A recorded boot of @node's kernel: each once before one comes again. */
static inline double replay_boot(struct replay *p, uint32_t node)
{
	uint32_t kernel = p->r->c[p->r->number[node]].kernel;
	const struct recorded_commit *c = &p->r->c[kernel];
	unsigned at = p->dealt[kernel]++ % c->boots;

	if (!at)
		gsl_ran_shuffle(p->rng, p->deck[kernel], c->boots, sizeof(unsigned));
	return c->value[p->deck[kernel][at]] * (p->is_new[node] ? p->factor : 1);
}

/* For a baseline: greater is new. */
static inline double replay_look(void *replay, uint32_t node)
{
	struct replay *p = replay;

	return replay_boot(p, node) * (p->factor < 1 ? -1 : 1);
}

static inline void replay_bisect(struct replay *p, unsigned looks, struct outcome *o)
{
	struct baseline b = {
		.dag = &p->r->dag, .is_skipped = p->r->is_skipped, .look = replay_look, .world = p
	};
	uint32_t found = baseline_bisect(&b, looks);

	*o = (struct outcome){ .status = found == DAG_NONE ? BAYES_LIST : BAYES_FOUND,
			       .right = found == p->culprit,
			       .list = 1,
			       .boots = b.boots,
			       .runs = b.boots,
			       .kernels = b.kernels };
}

/* @given: what the search is told; its dag is set here. */
static inline void replay_search(struct replay *p, const struct bayes_opts *given,
				 struct outcome *o)
{
	struct bayes_opts opts = *given;
	struct bayes_candidate *list;
	struct bayes_step s;
	struct bayes *b;

	opts.dag = &p->r->dag;
	b = bayes_new(&opts);
	*o = (struct outcome){ .runs = 0 };
	for (bayes_next(b, &s); s.action; bayes_next(b, &s)) {
		o->kernels += s.action != BAYES_BOOT;
		if (s.node < p->r->dag.n && p->r->is_skipped[s.node]) {
			bayes_skip(b, s.node, 1);
			continue;
		}
		o->boots++;
		bayes_observe(b, s.node, s.layout, replay_boot(p, s.node));
	}
	o->runs = o->boots;
	o->status = s.status;
	o->list = bayes_credible(b, opts.confidence, &list);
	for (uint32_t k = 0; k < o->list; k++)
		o->right |= list[k].node == p->culprit;
	o->right &= s.status == BAYES_FOUND || s.status == BAYES_LIST;
	o->claimed = o->list ? list[0].share : 0;
	free(list);
	bayes_free(b);
}

#endif
