/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An engine over a line of commits, told by hand. Include after cmocka.h. */
#ifndef KR_TESTS_UNIT_ENGINE_FIXTURE_H
#define KR_TESTS_UNIT_ENGINE_FIXTURE_H

#include "base/str.h"
#include "core/engine.h"

/* A line of @n commits 0 … n−1, oldest first. */
struct fixture {
	struct dag dag;
	struct engine_opts o;
	struct engine *e;
};

static inline void fixture_release(struct fixture *f)
{
	engine_free(f->e);
	dag_release(&f->dag);
}
#define _cleanup_fixture_ _cleanup_(fixture_release)

static inline void add_node(struct dag *d, uint32_t i)
{
	struct commit_id id = { .raw = { 1, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i } };

	dag_add(d, &id, 1000 + i);
}

static const struct verdict_opts by_threshold = {
	.kind = THRESHOLD_ABSOLUTE,
	.threshold = 15,
	.better = METRIC_LOWER,
	.effect = 0.02,
	.confidence = 0.95,
	.min_boots = 1,
	.max_boots = 4,
	.end_boots = 2,
};

static inline void line(struct fixture *f, uint32_t n)
{
	f->dag = (struct dag)DAG_INIT;
	for (uint32_t i = 0; i < n; i++)
		add_node(&f->dag, i);
	for (uint32_t i = 1; i < n; i++)
		dag_parent(&f->dag, i, i - 1);
	dag_finish(&f->dag);
	f->dag.tip = n - 1;
	f->o = (struct engine_opts){ .dag = &f->dag, .verdict = by_threshold };
	f->e = NULL;
}

static inline void start(struct fixture *f)
{
	f->e = engine_new(&f->o);
}

static inline void tell(struct fixture *f, uint32_t node, double value)
{
	engine_observe(f->e, node,
		       &(struct trial){ .outcome = TRIAL_OK, .samples = &value, .n = 1 });
}

static inline void tell_failure(struct fixture *f, uint32_t node, enum trial_outcome outcome)
{
	engine_observe(f->e, node, &(struct trial){ .outcome = outcome });
}

static inline void assert_asks(struct fixture *f, enum engine_phase phase, uint32_t node,
			       unsigned boot)
{
	struct engine_step step;

	engine_next(f->e, &step);
	assert_int_equal(step.phase, phase);
	assert_int_equal(step.node, node);
	assert_int_equal(step.boot, boot);
}

static inline void assert_ends_as(struct fixture *f, enum engine_status status, uint32_t node)
{
	struct engine_result r;
	struct engine_step step;

	engine_result(f->e, &r);
	assert_int_equal(r.status, status);
	assert_int_equal(r.node, node);
	engine_next(f->e, &step);
	assert_int_equal(step.phase, status ? PHASE_DONE : step.phase);
}

static inline enum verdict verdict_on(struct fixture *f, uint32_t node)
{
	struct engine_commit c;

	return engine_commit_of(f->e, node, &c) ? c.verdict : VERDICT_UNSET;
}

/* Ends without noise: old end 10, tip 20, two boots each. */
static inline void tell_ends(struct fixture *f)
{
	uint32_t old = f->dag.n, tip = f->dag.tip;

	for (int i = 0; i < 2; i++) {
		tell(f, old, 10);
		tell(f, tip, 20);
	}
}

#endif
