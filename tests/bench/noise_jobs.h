/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Campaigns of one row, shared out to processes; results do not depend on how many there are. */
#ifndef KR_TESTS_BENCH_NOISE_JOBS_H
#define KR_TESTS_BENCH_NOISE_JOBS_H

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/noise_rows.h"
#include "sim/noise_baselines.h"

/* Who searches: bayes, git bisect with so many boots a commit, Beta–Bernoulli. */
enum searcher {
	SEARCH_BAYES = 0,
	SEARCH_BISECT,
	SEARCH_BETABERN,
};

struct batch {
	enum searcher who;
	unsigned looks; /* of git bisect */
	const struct row *row;
	struct bayes_price price; /* told to bayes */
	unsigned campaigns, jobs;
	unsigned long seed;
};

/* A boot as a baseline sees it: greater is new. */
static inline double batch_look(void *stage, uint32_t node)
{
	struct stage *g = stage;

	return scene_boot(g, node, 0) * (g->w.s.d < 0 ? -1 : 1);
}

static inline void batch_baseline(const struct batch *b, struct stage *g, struct outcome *o)
{
	struct baseline s = {
		.dag = &g->w.dag, .is_skipped = g->w.is_skipped, .look = batch_look, .world = g
	};
	uint32_t found;

	if (b->who == SEARCH_BISECT)
		found = baseline_bisect(&s, b->looks);
	else
		found = baseline_betabern(&s, g->w.s.confidence, &o->claimed);
	o->status = found == DAG_NONE ? BAYES_LIST : BAYES_FOUND;
	o->right = found != DAG_NONE && !g->w.s.none && g->is_step[found];
	o->list = found != DAG_NONE;
	o->boots = s.boots;
	o->runs = s.boots * (g->c.runs ? g->c.runs : 1);
	o->kernels = s.kernels;
}

static inline void batch_one(const struct batch *b, unsigned i, struct outcome *o)
{
	struct stage g;

	*o = (struct outcome){ .runs = 0 };
	scene_new(&g, &b->row->c, b->seed + 7919ul * i);
	if (b->who == SEARCH_BAYES)
		scene_search(&g, &b->price, o);
	else
		batch_baseline(b, &g, o);
	scene_release(&g);
}

/* Campaigns @k, @k + jobs, … in a process of their own. */
static inline pid_t batch_start(const struct batch *b, unsigned k, struct outcome *o)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (unsigned i = k; i < b->campaigns; i += b->jobs)
		batch_one(b, i, &o[i]);
	_exit(0);
}

/* Outcomes of all campaigns; batch_release() them. NULL: a process failed. */
static inline struct outcome *batch_run(const struct batch *b)
{
	size_t size_bytes = b->campaigns * sizeof(struct outcome);
	struct outcome *o = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool ok = true;

	if (o == MAP_FAILED)
		return NULL;
	for (unsigned k = 0; k < b->jobs; k++)
		ok &= batch_start(b, k, o) > 0;
	for (unsigned k = 0; k < b->jobs; k++) {
		int status = 1;

		ok &= wait(&status) > 0 && status == 0;
	}
	if (ok)
		return o;
	munmap(o, size_bytes);
	return NULL;
}

static inline void batch_release(const struct batch *b, struct outcome *o)
{
	munmap(o, b->campaigns * sizeof(struct outcome));
}

#endif
