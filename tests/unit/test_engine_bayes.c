/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine with search = bayes and auto: what it asks, what it believes, how it ends. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "unit/engine_fixture.h"

/* A line whose commits from @culprit on are @step above 100, boots scatter by 1. */
struct noisy {
	struct fixture f;
	uint32_t culprit;
	double step;
	gsl_rng *rng;
};

static void noisy_release(struct noisy *w)
{
	gsl_rng_free(w->rng);
	fixture_release(&w->f);
}
#define _cleanup_noisy_ _cleanup_(noisy_release)

static const struct verdict_opts by_halves = {
	.effect = 0.001,
	.confidence = 0.95,
	.better = METRIC_LOWER,
	.min_boots = 1,
	.max_boots = 8,
	.end_boots = 3,
};

static void noisy_line(struct noisy *w, uint32_t n, uint32_t culprit, double step)
{
	line(&w->f, n);
	w->f.o.verdict = by_halves;
	w->f.o.noise = (struct engine_noise){ .search = ENGINE_BAYES, .build_sd = 0, .runs = 1 };
	w->culprit = culprit;
	w->step = step;
	w->rng = gsl_rng_alloc(gsl_rng_taus2);
	gsl_rng_set(w->rng, 7);
}

static double boot(struct noisy *w, uint32_t node)
{
	bool is_new = node >= w->culprit && node < w->f.dag.n;

	return 100 + w->step * is_new + gsl_ran_gaussian(w->rng, 1);
}

/* What is asked next. */
static uint32_t asked(struct fixture *f)
{
	struct engine_step step;

	engine_next(f->e, &step);
	return step.node;
}

static enum engine_phase phase_of(struct fixture *f)
{
	struct engine_step step;

	engine_next(f->e, &step);
	return step.phase;
}

static void run_to_search(struct noisy *w)
{
	while (phase_of(&w->f) != PHASE_SEARCH) {
		assert_int_not_equal(phase_of(&w->f), PHASE_DONE);
		tell(&w->f, asked(&w->f), boot(w, asked(&w->f)));
	}
}

static void run_to_end(struct noisy *w)
{
	for (int i = 0; i < 500 && phase_of(&w->f) != PHASE_DONE; i++)
		tell(&w->f, asked(&w->f), boot(w, asked(&w->f)));
	assert_int_equal(phase_of(&w->f), PHASE_DONE);
}

static void every_step_and_share_is_the_models(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	struct bayes_opts o;
	struct bayes_step step;
	struct bayes *model;
	struct engine_result r;
	unsigned steps = 0;

	(void)state;
	noisy_line(&w, 60, 41, 3);
	start(&w.f);
	o = (struct bayes_opts){ .dag = &w.f.dag,
				 .build_sd = 0,
				 .confidence = 0.95,
				 .effect = 0.001,
				 .end_boots = 3,
				 .runs = 1 };
	model = bayes_new(&o);
	for (;; steps++) {
		uint32_t node = asked(&w.f);
		double v;

		bayes_next(model, &step);
		/* the ends take turns until they have their boots */
		if (steps < 6)
			assert_int_equal(node, steps % 2 ? 59 : 60);
		else
			assert_int_equal(node, step.node);
		if (step.action == BAYES_STOP)
			break;
		v = boot(&w, node);
		tell(&w.f, node, v);
		assert_int_equal(bayes_observe_runs(model, node, 0, v, 1, NAN), 0);
		for (uint32_t x = 0; x < 60 && steps > 5; x++)
			assert_true(engine_share(w.f.e, x) == bayes_share(model, x));
	}
	assert_int_equal(step.status, BAYES_FOUND);
	assert_ends_as(&w.f, ENGINE_FOUND, 41);
	engine_result(w.f.e, &r);
	assert_true(engine_share(w.f.e, r.node) >= 0.95);
	assert_true(steps > 10 && steps < 60);
	bayes_free(model);
}

static void words_are_given_when_the_state_is_known(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	struct engine_commit c;

	(void)state;
	noisy_line(&w, 60, 41, 4);
	start(&w.f);
	run_to_end(&w);
	assert_int_equal(verdict_on(&w.f, 60), VERDICT_GOOD);
	assert_int_equal(verdict_on(&w.f, 59), VERDICT_BAD);
	for (uint32_t i = 0; i < engine_tested_count(w.f.e); i++) {
		enum verdict want;

		engine_tested(w.f.e, i, &c);
		if (c.node >= 59)
			continue;
		want = c.new_state >= 0.95   ? VERDICT_BAD
		       : c.new_state <= 0.05 ? VERDICT_GOOD
					     : VERDICT_UNSURE;
		assert_int_equal(c.verdict, want);
	}
	assert_int_equal(verdict_on(&w.f, 41), VERDICT_BAD);
}

static void in_between_nothing_is_said_of_a_commit(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	struct engine_commit c;
	unsigned open = 0;

	(void)state;
	noisy_line(&w, 60, 41, 2);
	start(&w.f);
	run_to_search(&w);
	while (phase_of(&w.f) == PHASE_SEARCH) {
		uint32_t node = asked(&w.f);

		tell(&w.f, node, boot(&w, node));
		if (node >= 59 || phase_of(&w.f) == PHASE_DONE)
			continue;
		assert_true(engine_commit_of(w.f.e, node, &c));
		if (c.new_state > 0.05 && c.new_state < 0.95) {
			assert_int_equal(c.verdict, VERDICT_UNSET);
			open++;
		}
	}
	assert_true(open >= 3);
}

static void in_a_fix_hunt_the_new_state_is_good(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	const struct engine_move *move;
	size_t n;

	(void)state;
	noisy_line(&w, 60, 20, -4);
	w.f.o.hunt_fix = true;
	start(&w.f);
	assert_int_equal(asked(&w.f), 59);
	run_to_end(&w);
	assert_ends_as(&w.f, ENGINE_FOUND, 20);
	assert_int_equal(verdict_on(&w.f, 20), VERDICT_GOOD);
	n = engine_moves(w.f.e, &move);
	assert_true(n >= 2);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(move[i].mark, move[i].node >= 20 ? DAG_BAD : DAG_GOOD);
}

static void git_is_told_only_what_it_can_believe(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	const struct engine_move *move;
	uint32_t bad = 119;
	size_t n;

	(void)state;
	noisy_line(&w, 120, 77, 2);
	start(&w.f);
	assert_int_equal(engine_moves(w.f.e, &move), 0);
	run_to_end(&w);
	assert_ends_as(&w.f, ENGINE_FOUND, 77);
	n = engine_moves(w.f.e, &move);
	assert_true(n >= 4);
	for (size_t i = 0; i < n; i++) {
		struct engine_commit c;

		assert_true(engine_commit_of(w.f.e, move[i].node, &c));
		assert_true(move[i].mark == DAG_BAD ? c.new_state >= 0.95 : c.new_state <= 0.05);
		/* git's bad one only moves back, and no good one is above it */
		if (move[i].mark == DAG_BAD) {
			assert_true(move[i].node < bad);
			bad = move[i].node;
		} else {
			assert_true(move[i].node < 77);
		}
	}
	assert_int_equal(bad, 77);
}

static void what_a_person_says_is_certain(void **state)
{
	static const struct engine_given given[] = {
		{ .node = 30, .verdict = VERDICT_GOOD },
		{ .node = 50, .verdict = VERDICT_BAD },
		{ .node = 40, .verdict = VERDICT_SKIP },
	};
	_cleanup_noisy_ struct noisy w = { .step = 0 };

	(void)state;
	noisy_line(&w, 60, 36, 4);
	w.f.o.given = given;
	w.f.o.n_given = 3;
	start(&w.f);
	run_to_search(&w);
	assert_true(engine_share(w.f.e, 30) == 0);
	assert_true(engine_share(w.f.e, 51) == 0);
	assert_true(engine_share(w.f.e, 31) > 0 && engine_share(w.f.e, 50) > 0);
	while (phase_of(&w.f) != PHASE_DONE) {
		assert_int_not_equal(asked(&w.f), 40);
		tell(&w.f, asked(&w.f), boot(&w, asked(&w.f)));
	}
	assert_ends_as(&w.f, ENGINE_FOUND, 36);
}

static void words_that_exclude_all_leave_nothing(void **state)
{
	static const struct engine_given given[] = {
		{ .node = 50, .verdict = VERDICT_GOOD },
		{ .node = 30, .verdict = VERDICT_BAD },
	};
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	struct engine_result r;

	(void)state;
	noisy_line(&w, 60, 36, 4);
	w.f.o.given = given;
	w.f.o.n_given = 2;
	start(&w.f);
	for (int i = 0; i < 300 && phase_of(&w.f) != PHASE_DONE; i++)
		tell(&w.f, asked(&w.f), boot(&w, asked(&w.f)));
	engine_result(w.f.e, &r);
	assert_int_not_equal(r.status, ENGINE_FOUND);
	assert_int_not_equal(r.status, ENGINE_RUNNING);
}

static void what_fails_is_passed_over_and_not_asked_again(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	unsigned failures = 0;

	(void)state;
	noisy_line(&w, 60, 33, 4);
	start(&w.f);
	run_to_search(&w);
	while (phase_of(&w.f) != PHASE_DONE) {
		uint32_t node = asked(&w.f);
		struct engine_commit c;

		if (engine_commit_of(w.f.e, node, &c))
			assert_int_equal(c.data->failed, TRIAL_UNSET);
		if (node >= 26 && node < 32) {
			tell_failure(&w.f, node, TRIAL_BUILD_FAILED);
			assert_int_equal(verdict_on(&w.f, node), VERDICT_SKIP);
			failures++;
		} else {
			tell(&w.f, node, boot(&w, node));
		}
	}
	assert_true(failures >= 1);
	assert_ends_as(&w.f, ENGINE_FOUND, 33);
}

static void a_failure_that_counts_as_bad_is_certain(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };

	(void)state;
	noisy_line(&w, 60, 33, 4);
	w.f.o.verdict.crash_is_bad = true;
	start(&w.f);
	run_to_search(&w);
	tell_failure(&w.f, 45, TRIAL_CRASHED);
	assert_int_equal(verdict_on(&w.f, 45), VERDICT_BAD);
	assert_true(engine_share(w.f.e, 46) == 0);
	assert_true(engine_share(w.f.e, 45) > 0);
	run_to_end(&w);
	assert_ends_as(&w.f, ENGINE_FOUND, 33);
}

/* The bad end crashes nine times of ten, the good one never; commits before 25 are good. */
static void a_crash_by_chance_is_pass_or_fail(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	struct engine_belief b;
	unsigned boots = 0;

	(void)state;
	noisy_line(&w, 60, 25, 0);
	w.f.o.verdict.crash_is_bad = true;
	w.f.o.verdict.kind = THRESHOLD_ABSOLUTE;
	w.f.o.verdict.threshold = 110;
	start(&w.f);
	for (; boots < 300 && phase_of(&w.f) != PHASE_DONE; boots++) {
		uint32_t node = asked(&w.f);

		if (node >= 25 && node < 60 && (boots < 6 || gsl_rng_uniform(w.rng) < 0.9))
			tell_failure(&w.f, node, TRIAL_CRASHED);
		else
			tell(&w.f, node, boot(&w, node));
	}
	assert_ends_as(&w.f, ENGINE_FOUND, 25);
	assert_true(engine_belief(w.f.e, &b));
	assert_true(b.pass);
	assert_true(b.levels.level[1] > 0.7 && b.levels.level[0] < 0.3);
}

static void values_of_0_and_1_are_pass_or_fail_until_another_comes(void **state)
{
	_cleanup_fixture_ struct fixture f;
	struct engine_belief b;

	(void)state;
	line(&f, 40);
	f.o.verdict = by_halves;
	f.o.noise = (struct engine_noise){ .search = ENGINE_BAYES, .build_sd = 0 };
	start(&f);
	for (int i = 0; i < 3; i++) {
		tell(&f, 40, 0);
		tell(&f, 39, 1);
	}
	assert_true(engine_belief(f.e, &b));
	assert_true(b.pass);
	tell(&f, 20, 0.5);
	assert_true(engine_belief(f.e, &b));
	assert_false(b.pass);
}

static void swapped_ends_are_refused(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };

	(void)state;
	noisy_line(&w, 60, 33, -6);
	start(&w.f);
	for (int i = 0; i < 200 && phase_of(&w.f) != PHASE_DONE; i++) {
		assert_true(asked(&w.f) >= 59);
		tell(&w.f, asked(&w.f), boot(&w, asked(&w.f)));
	}
	assert_ends_as(&w.f, ENGINE_SWAPPED, DAG_NONE);
}

static void equal_ends_are_no_difference_or_cannot_be_told(void **state)
{
	unsigned blind = 0;

	(void)state;
	for (unsigned long seed = 1; seed <= 10; seed++) {
		_cleanup_noisy_ struct noisy w = { .step = 0 };
		struct engine_result r;
		struct engine_power p;

		/* shown: 10 % of 100 is ten deviations */
		noisy_line(&w, 60, 33, 0);
		gsl_rng_set(w.rng, seed);
		w.f.o.verdict.effect = 0.1;
		start(&w.f);
		run_to_end(&w);
		assert_ends_as(&w.f, ENGINE_NO_DIFFERENCE, DAG_NONE);
		/* 0.1 % is a tenth of one: n = 2 (2.3263 + 2.3263)² / 0.1² = 4329 */
		engine_free(w.f.e);
		w.f.o.verdict.effect = 0.001;
		start(&w.f);
		run_to_end(&w);
		engine_result(w.f.e, &r);
		assert_true(r.status == ENGINE_BLIND || r.status == ENGINE_NO_DIFFERENCE ||
			    r.status == ENGINE_NO_CULPRIT);
		blind += r.status == ENGINE_BLIND;
		assert_true(engine_power(w.f.e, &p));
		assert_true(fabs(p.needed * pow(p.effect / p.sd, 2) - 43.295) < 0.01);
		assert_true(p.needed > 1000 && p.boots < 60);
	}
	assert_true(blind >= 1);
}

static void without_variance_one_boot_decides(void **state)
{
	_cleanup_fixture_ struct fixture f;
	unsigned boots = 0;

	(void)state;
	line(&f, 64);
	f.o.verdict = by_halves;
	f.o.verdict.end_boots = 1;
	f.o.verdict.effect = 0.02;
	f.o.noise = (struct engine_noise){ .search = ENGINE_BAYES,
					   .build_sd = 0,
					   .deterministic = true };
	start(&f);
	for (; boots < 30 && phase_of(&f) != PHASE_DONE; boots++) {
		uint32_t node = asked(&f);

		/* drifts by less than the step */
		tell(&f, node, node == 64 ? 100 : 100 + 0.01 * node + 5 * (node >= 23));
	}
	assert_ends_as(&f, ENGINE_FOUND, 23);
	assert_true(boots <= 2 + 7);
}

static void less_than_the_effect_is_no_difference_without_variance(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 64);
	f.o.verdict = by_halves;
	f.o.verdict.end_boots = f.o.verdict.max_boots = 1;
	f.o.verdict.effect = 0.02;
	f.o.noise = (struct engine_noise){ .search = ENGINE_BAYES,
					   .build_sd = 0,
					   .deterministic = true };
	start(&f);
	tell(&f, 64, 100);
	tell(&f, 63, 101.9);
	assert_ends_as(&f, ENGINE_NO_DIFFERENCE, DAG_NONE);
}

/* Ends of 3 boots each around 100 and 100 + @step: deviation 1. */
static void tell_spread_ends(struct fixture *f, double step)
{
	static const double away[] = { -1, 0, 1 };

	for (int i = 0; i < 3; i++) {
		tell(f, f->dag.n, 100 + away[i]);
		tell(f, f->dag.tip, 100 + step + away[i]);
	}
}

static struct engine_choice choice_of(double step, enum threshold_kind kind)
{
	_cleanup_fixture_ struct fixture f;
	struct engine_choice c;

	line(&f, 64);
	f.o.verdict = by_halves;
	f.o.verdict.kind = kind;
	f.o.verdict.threshold = 105;
	f.o.noise = (struct engine_noise){ .search = ENGINE_AUTO, .build_sd = 0 };
	start(&f);
	engine_choice(f.e, &c);
	assert_int_equal(c.search, ENGINE_AUTO);
	tell_spread_ends(&f, step);
	engine_choice(f.e, &c);
	assert_true(c.by_auto);
	return c;
}

/*
 * One verdict of six (log2 64) and eight looks: α = 0.05/6/8, its half's normal quantile is 3.2786
 * (R: qnorm(1 - 0.05/96)). The threshold is half-way.
 */
static void auto_goes_by_the_distance_from_the_threshold(void **state)
{
	struct engine_choice c;

	(void)state;
	c = choice_of(6, THRESHOLD_AUTO);
	assert_int_equal(c.search, ENGINE_BAYES);
	assert_true(fabs(c.distance - 3) < 1e-9 && fabs(c.sd - 1) < 1e-9);
	assert_true(fabs(c.wanted - 3.2786) < 1e-3);
	assert_true(c.boots == 2);
	c = choice_of(7, THRESHOLD_AUTO);
	assert_int_equal(c.search, ENGINE_AUTO); /* not apart yet with four degrees of freedom */
	assert_true(c.boots == 1);
	c = choice_of(60, THRESHOLD_AUTO);
	assert_int_equal(c.search, ENGINE_BISECT);
	c = choice_of(6, THRESHOLD_ABSOLUTE);
	assert_int_not_equal(c.search, ENGINE_BAYES);
	assert_true(c.threshold_given);
}

static void min_boots_are_kept_to(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	uint32_t last = DAG_NONE, times = 0;

	(void)state;
	noisy_line(&w, 60, 33, 6);
	w.f.o.verdict.min_boots = 3;
	start(&w.f);
	run_to_search(&w);
	while (phase_of(&w.f) != PHASE_DONE) {
		uint32_t node = asked(&w.f);

		if (last < 59 && times < 3)
			assert_int_equal(node, last);
		times = node == last ? times + 1 : 1;
		last = node;
		tell(&w.f, node, boot(&w, node));
	}
	assert_ends_as(&w.f, ENGINE_FOUND, 33);
}

static void an_end_that_fails_on_and_on_stops_the_search(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };

	(void)state;
	noisy_line(&w, 60, 33, 4);
	start(&w.f);
	run_to_search(&w);
	tell_failure(&w.f, 59, TRIAL_CRASHED);
	tell_failure(&w.f, 59, TRIAL_CRASHED);
	tell(&w.f, 59, 104);
	tell_failure(&w.f, 59, TRIAL_CRASHED);
	tell_failure(&w.f, 59, TRIAL_CRASHED);
	assert_int_equal(phase_of(&w.f), PHASE_SEARCH);
	tell_failure(&w.f, 59, TRIAL_CRASHED);
	assert_ends_as(&w.f, ENGINE_END_UNMEASURED, 59);
}

static void values_beyond_all_measure_are_garbled(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };

	(void)state;
	noisy_line(&w, 60, 33, 4);
	start(&w.f);
	run_to_search(&w);
	tell(&w.f, 30, 1e200);
	assert_int_equal(verdict_on(&w.f, 30), VERDICT_SKIP);
	run_to_end(&w);
	assert_ends_as(&w.f, ENGINE_FOUND, 33);
}

static void identical_kernels_are_one(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	double v = 104.3, none;
	struct trial copy = {
		.outcome = TRIAL_OK, .samples = &v, .n = 1, .copy = true, .twin = 40
	};
	struct engine_belief b;

	(void)state;
	noisy_line(&w, 60, 33, 4);
	start(&w.f);
	run_to_search(&w);
	tell(&w.f, 40, v);
	assert_true(engine_belief(w.f.e, &b));
	none = b.none;
	engine_observe(w.f.e, 45, &copy);
	/* nothing between them can be it, and no boot counts twice */
	for (uint32_t x = 41; x <= 45; x++)
		assert_true(engine_share(w.f.e, x) == 0);
	assert_true(engine_share(w.f.e, 40) > 0 && engine_share(w.f.e, 46) > 0);
	assert_true(engine_belief(w.f.e, &b));
	assert_true(fabs(b.none - none) < 0.2 * none + 0.01);
	run_to_end(&w);
	assert_ends_as(&w.f, ENGINE_FOUND, 33);
}

static void prices_are_means_of_what_was_told(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	struct engine_belief b;
	double v[] = { 100, 101 };
	struct trial t = {
		.outcome = TRIAL_OK, .samples = v, .n = 2, .boot_seconds = 10, .run_seconds = 9
	};

	(void)state;
	noisy_line(&w, 60, 33, 4);
	w.f.o.noise.runs = 2;
	w.f.o.noise.warmups = 1;
	start(&w.f);
	engine_built(w.f.e, 60, 0, 300);
	engine_built(w.f.e, DAG_NONE, 0, 100);
	engine_built(w.f.e, 3, 0, 0); /* it was there: no price */
	run_to_search(&w);
	engine_observe(w.f.e, 20, &t);
	t.boot_seconds = 20;
	t.run_seconds = 15;
	engine_observe(w.f.e, 25, &t);
	assert_true(engine_belief(w.f.e, &b));
	assert_true(fabs(b.price.build - 200) < 1e-9);
	assert_true(fabs(b.price.run - 4) < 1e-9);         /* 12 s for three runs */
	assert_true(fabs(b.price.boot - (15 + 4)) < 1e-9); /* the warm-up is the boot's */
	assert_true(fabs(b.run_sd - M_SQRT1_2) < 1e-9);
}

static void a_cached_kernel_is_taken_before_one_to_be_built(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	uint32_t first;

	(void)state;
	noisy_line(&w, 60, 33, 4);
	start(&w.f);
	engine_built(w.f.e, 60, 0, 3600);
	engine_built(w.f.e, 25, 0, 0);
	run_to_search(&w);
	first = asked(&w.f);
	assert_int_equal(first, 25);
}

static void merge_bases_are_tested_before_by_the_threshold(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };

	(void)state;
	noisy_line(&w, 60, 33, 20);
	w.f.o.merge_bases = 1;
	start(&w.f);
	for (int i = 0; i < 60 && phase_of(&w.f) == PHASE_ENDS; i++)
		tell(&w.f, asked(&w.f), boot(&w, asked(&w.f)));
	assert_asks(&w.f, PHASE_MERGE_BASES, 61, 1);
	tell(&w.f, 61, 120);
	assert_ends_as(&w.f, ENGINE_BAD_MERGE_BASE, 61);
}

static void numbers_that_vary_by_nothing_need_no_statistics(void **state)
{
	_cleanup_fixture_ struct fixture f;
	unsigned boots = 0;

	(void)state;
	line(&f, 64);
	f.o.verdict = by_halves;
	f.o.noise = (struct engine_noise){ .search = ENGINE_BAYES, .build_sd = BAYES_AUTO };
	start(&f);
	for (; boots < 40 && phase_of(&f) != PHASE_DONE; boots++)
		tell(&f, asked(&f), asked(&f) < 64 && asked(&f) >= 17 ? 20 : 10);
	assert_ends_as(&f, ENGINE_FOUND, 17);
	assert_true(boots <= 6 + 8);
}

static void one_commit_is_found_or_nothing_is(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };

	(void)state;
	noisy_line(&w, 1, 0, 8);
	start(&w.f);
	run_to_end(&w);
	assert_ends_as(&w.f, ENGINE_FOUND, 0);
}

static void all_skipped_is_a_list_of_all(void **state)
{
	_cleanup_noisy_ struct noisy w = { .step = 0 };
	struct engine_result r;

	(void)state;
	noisy_line(&w, 8, 3, 8);
	start(&w.f);
	run_to_search(&w);
	for (int i = 0; i < 200 && phase_of(&w.f) != PHASE_DONE; i++) {
		uint32_t node = asked(&w.f);

		if (node >= 7)
			tell(&w.f, node, boot(&w, node));
		else
			tell_failure(&w.f, node, TRIAL_UNTESTABLE);
	}
	engine_result(w.f.e, &r);
	assert_int_equal(r.status, ENGINE_SHORT_LIST);
	assert_int_equal(r.n_left, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_step_and_share_is_the_models),
		cmocka_unit_test(words_are_given_when_the_state_is_known),
		cmocka_unit_test(in_between_nothing_is_said_of_a_commit),
		cmocka_unit_test(in_a_fix_hunt_the_new_state_is_good),
		cmocka_unit_test(git_is_told_only_what_it_can_believe),
		cmocka_unit_test(what_a_person_says_is_certain),
		cmocka_unit_test(words_that_exclude_all_leave_nothing),
		cmocka_unit_test(what_fails_is_passed_over_and_not_asked_again),
		cmocka_unit_test(a_failure_that_counts_as_bad_is_certain),
		cmocka_unit_test(a_crash_by_chance_is_pass_or_fail),
		cmocka_unit_test(values_of_0_and_1_are_pass_or_fail_until_another_comes),
		cmocka_unit_test(swapped_ends_are_refused),
		cmocka_unit_test(equal_ends_are_no_difference_or_cannot_be_told),
		cmocka_unit_test(without_variance_one_boot_decides),
		cmocka_unit_test(less_than_the_effect_is_no_difference_without_variance),
		cmocka_unit_test(auto_goes_by_the_distance_from_the_threshold),
		cmocka_unit_test(min_boots_are_kept_to),
		cmocka_unit_test(an_end_that_fails_on_and_on_stops_the_search),
		cmocka_unit_test(values_beyond_all_measure_are_garbled),
		cmocka_unit_test(identical_kernels_are_one),
		cmocka_unit_test(prices_are_means_of_what_was_told),
		cmocka_unit_test(a_cached_kernel_is_taken_before_one_to_be_built),
		cmocka_unit_test(merge_bases_are_tested_before_by_the_threshold),
		cmocka_unit_test(numbers_that_vary_by_nothing_need_no_statistics),
		cmocka_unit_test(one_commit_is_found_or_nothing_is),
		cmocka_unit_test(all_skipped_is_a_list_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
