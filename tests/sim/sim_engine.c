/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine over thousands of generated histories: culprit, budget, error rate, replay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "base/str.h"
#include "core/engine.h"

/* A history with its truth. Values are a function of seed, commit and boot alone. */
struct world {
	struct dag dag;
	uint32_t culprit;
	bool *is_new, *is_broken;
	double good, step, sd; /* sd: boot to boot; runs of one boot scatter by half of it */
	unsigned long seed;
	struct engine_opts o;
};

static gsl_rng *rng; /* draws worlds */

static int make_rng(void **state)
{
	(void)state;
	rng = gsl_rng_alloc(gsl_rng_taus2);
	gsl_rng_set(rng, 20261130);
	return 0;
}

static int free_rng(void **state)
{
	(void)state;
	gsl_rng_free(rng);
	return 0;
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)gsl_rng_uniform_int(rng, n);
}

static void add_commit(struct dag *d, const uint32_t *parents, size_t n)
{
	struct commit_id id = { .raw = { 0 } };

	/* names in no order, as hashes are */
	for (int i = 0; i < COMMIT_RAW; i++)
		id.raw[i] = (uint8_t)below(256);
	dag_add(d, &id, 1000000 + d->n);
	for (size_t i = 0; i < n; i++)
		dag_parent(d, d->n - 1, parents[i]);
}

/* Up to @width lines of work that fork and merge; @width 1: a line. All merged in the end. */
static void grow_history(struct dag *d, uint32_t n, uint32_t width)
{
	uint32_t head[8], heads = 1;

	*d = (struct dag)DAG_INIT;
	add_commit(d, NULL, 0);
	head[0] = 0;
	while (d->n < n || heads > 1) {
		uint32_t a = below(heads), b = below(heads);
		bool closing = d->n >= n;

		if (a != b && (closing || below(4) == 0)) {
			add_commit(d, (const uint32_t[]){ head[a], head[b] }, 2);
			head[a] = d->n - 1;
			head[b] = head[--heads];
		} else if (!closing) {
			add_commit(d, &head[a], 1);
			if (heads < width && below(4) == 0)
				head[heads++] = d->n - 1;
			else
				head[a] = d->n - 1;
		}
	}
	dag_finish(d);
	d->tip = d->n - 1;
}

static const struct verdict_opts usual = {
	.kind = THRESHOLD_AUTO,
	.effect = 0.02,
	.confidence = 0.95,
	.min_boots = 1,
	.max_boots = 8,
	.end_boots = 3,
};

static void world_new(struct world *w, uint32_t n, uint32_t width)
{
	*w = (struct world){ .good = 10, .step = 5, .seed = gsl_rng_get(rng) };
	grow_history(&w->dag, n, width);
	w->culprit = below(w->dag.n);
	w->is_new = xcalloc(w->dag.n, sizeof(bool));
	w->is_broken = xcalloc(w->dag.n, sizeof(bool));
	for (uint32_t i = 0; i < w->dag.n; i++) {
		w->is_new[i] = i == w->culprit;
		for (uint32_t k = 0; k < dag_parent_count(&w->dag, i); k++)
			w->is_new[i] |= w->is_new[dag_parents(&w->dag, i)[k]];
	}
	w->o = (struct engine_opts){ .dag = &w->dag,
				     .verdict = usual,
				     .hunt_fix = below(2),
				     .merge_bases = below(4) ? 0 : 1 + below(2) };
}

static void world_release(struct world *w)
{
	dag_release(&w->dag);
	free(w->is_new);
	free(w->is_broken);
}
#define _cleanup_world_ _cleanup_(world_release)

/* Boot @boot of @node: five runs, or a failure. */
static struct trial boot_world(const struct world *w, uint32_t node, unsigned boot,
			       double samples[5])
{
	bool is_new = node < w->dag.n && w->is_new[node];
	double level = w->good + (is_new != w->o.hunt_fix ? w->step : 0);
	gsl_rng *own;

	if (node < w->dag.n && w->is_broken[node])
		return (struct trial){ .outcome = (node + w->seed) % 2 ? TRIAL_BUILD_FAILED
								       : TRIAL_CRASHED };
	own = gsl_rng_alloc(gsl_rng_taus2);
	gsl_rng_set(own, (w->seed * 31 + node) * 8191 + boot);
	level += gsl_ran_gaussian(own, w->sd);
	for (int i = 0; i < 5; i++)
		samples[i] = level + gsl_ran_gaussian(own, w->sd / 2);
	gsl_rng_free(own);
	return (struct trial){ .outcome = TRIAL_OK, .samples = samples, .n = 5 };
}

struct outcome {
	struct engine *e;
	struct engine_result r;
	unsigned boots, picks;
	uint32_t *log; /* nodes booted, in order */
	size_t room;
};

static void outcome_release(struct outcome *o)
{
	engine_free(o->e);
	free(o->log);
}
#define _cleanup_outcome_ _cleanup_(outcome_release)

/* Run to the end; each answer is lost with probability @flaky, then the same is asked again. */
static void run_world(const struct world *w, double flaky, struct outcome *o)
{
	struct engine_step step, again;
	double samples[5];

	*o = (struct outcome){ .e = engine_new(&w->o) };
	for (engine_next(o->e, &step); step.phase != PHASE_DONE; engine_next(o->e, &step)) {
		struct engine_commit c;
		struct trial t;

		assert_true(o->boots < 5000);
		assert_true(step.node < w->dag.n + 1 + w->o.merge_bases);
		if (engine_commit_of(o->e, step.node, &c))
			assert_int_equal(c.verdict, VERDICT_UNSET);
		while (flaky > 0 && gsl_rng_uniform(rng) < flaky) {
			engine_next(o->e, &again);
			assert_memory_equal(&again, &step, sizeof(step));
		}
		o->picks += step.phase == PHASE_SEARCH && step.boot == 1;
		xgrow(&o->log, &o->room, o->boots + 1, sizeof(*o->log));
		o->log[o->boots++] = step.node;
		t = boot_world(w, step.node, step.boot, samples);
		engine_observe(o->e, step.node, &t);
	}
	engine_result(o->e, &o->r);
}

static bool is_left(const struct engine_result *r, uint32_t node)
{
	for (uint32_t i = 0; i < r->n_left; i++)
		if (r->left[i] == node)
			return true;
	return false;
}

static bool is_right(const struct world *w, const struct outcome *o)
{
	return (o->r.status == ENGINE_FOUND && o->r.node == w->culprit) ||
	       (o->r.status == ENGINE_SHORT_LIST && is_left(&o->r, w->culprit));
}

/* A claim names commits; to refuse the ends is none. */
static bool is_claim(const struct outcome *o)
{
	return o->r.status == ENGINE_FOUND || o->r.status == ENGINE_SHORT_LIST;
}

/* Picks of git's algorithm fed with the truth. */
static unsigned picks_of_git(const struct world *w)
{
	struct pick_bisect *p = pick_bisect_new(&w->dag, &(struct pick_opts){ .any_skip = false });
	_cleanup_free_ enum dag_mark *mark = xcalloc(w->dag.n, sizeof(*mark));
	uint32_t bad = w->dag.tip;
	unsigned picks = 0;
	struct pick pick;

	mark[bad] = DAG_BAD;
	for (pick_bisect_next(p, mark, bad, &pick); pick.kind == PICK_TEST; picks++) {
		mark[pick.node] = w->is_new[pick.node] ? DAG_BAD : DAG_GOOD;
		if (w->is_new[pick.node])
			bad = pick.node;
		pick_bisect_next(p, mark, bad, &pick);
	}
	assert_int_equal(pick.kind, PICK_FOUND);
	assert_int_equal(pick.node, w->culprit);
	pick_bisect_free(p);
	return picks;
}

static unsigned log2_up(uint32_t n)
{
	unsigned bits = 0;

	while ((UINT64_C(1) << bits) < n)
		bits++;
	return bits;
}

/* Sums of one scenario, printed as one line. */
struct figures {
	unsigned runs, claims, right, found;
	double boots, picks, size;
};

static void count(struct figures *f, const struct world *w, const struct outcome *o)
{
	f->runs++;
	f->claims += is_claim(o);
	f->right += is_right(w, o);
	f->found += o->r.status == ENGINE_FOUND;
	f->boots += o->boots;
	f->picks += o->picks;
	f->size += w->dag.n;
}

static void print(const char *scenario, const struct figures *f)
{
	print_message("# %-34s %5u runs  n %5.1f  claims %5u  found %5u  right %5u  wrong %2u  "
		      "boots %5.1f  picks %4.1f\n",
		      scenario, f->runs, f->size / f->runs, f->claims, f->found, f->right,
		      f->claims - f->right, f->boots / f->runs, f->picks / f->runs);
}

/* As many wrong claims as 5 % would give in 1 of 1000 trials, or fewer. */
static void assert_error_rate(const struct figures *f, double rate)
{
	unsigned wrong = f->claims - f->right;

	if (wrong && gsl_cdf_binomial_P(wrong - 1, rate, f->claims) > 0.999)
		fail_msg("%u wrong of %u claims", wrong, f->claims);
}

static void without_noise_the_culprit_is_right_with_the_picks_of_git(void **state)
{
	static const char *const names[] = { "line, no noise", "merges, no noise" };

	(void)state;
	for (uint32_t shape = 0; shape < 2; shape++) {
		struct figures f = { .runs = 0 };
		int worst = -99;

		for (int i = 0; i < 2000; i++) {
			_cleanup_world_ struct world w;
			_cleanup_outcome_ struct outcome o;

			world_new(&w, 1 + below(200), shape ? 2 + below(7) : 1);
			run_world(&w, 0, &o);
			count(&f, &w, &o);
			assert_int_equal(o.r.status, ENGINE_FOUND);
			assert_int_equal(o.r.node, w.culprit);
			assert_int_equal(o.picks, picks_of_git(&w));
			assert_int_equal(o.boots, o.picks + 6 + w.o.merge_bases);
			if ((int)o.picks - (int)log2_up(w.dag.n) > worst)
				worst = (int)o.picks - (int)log2_up(w.dag.n);
		}
		print(names[shape], &f);
		print_message("# %-34s at most ceil(log2 n) %+d picks\n", names[shape], worst);
		assert_true(worst <= (shape ? 3 : 0));
	}
}

static void with_noise_wrong_claims_stay_within_the_confidence(void **state)
{
	/* step in deviations of one boot; boots allowed; share of runs that must find it */
	static const struct {
		double d;
		unsigned max_boots;
		double found;
	} table[] = {
		{ 50, 8, 1 }, { 10, 8, 0.99 }, { 6, 8, 0.95 }, { 4, 8, 0.5 },   { 3, 8, 0 },
		{ 2, 8, 0 },  { 3, 20, 0.5 },  { 2, 40, 0.5 }, { 1, 150, 0.3 },
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(table); k++) {
		struct figures f = { .runs = 0 };
		char name[64];

		for (int i = 0; i < (table[k].max_boots > 100 ? 300 : 1000); i++) {
			_cleanup_world_ struct world w;
			_cleanup_outcome_ struct outcome o;

			world_new(&w, 2 + below(60), 1 + below(5));
			w.sd = 1 / sqrt(1 + 0.25 * 0.287); /* so that a boot's median has 1 */
			w.step = below(2) ? table[k].d : -table[k].d;
			w.o.verdict.max_boots = table[k].max_boots;
			run_world(&w, 0, &o);
			count(&f, &w, &o);
		}
		snprintf(name, sizeof(name), "auto, d = %g, <= %u boots", table[k].d,
			 table[k].max_boots);
		print(name, &f);
		assert_error_rate(&f, 0.05);
		assert_true(f.found >= table[k].found * f.runs);
	}
}

static void given_thresholds_hold_the_confidence_too(void **state)
{
	(void)state;
	for (int kind = THRESHOLD_ABSOLUTE; kind <= THRESHOLD_RELATIVE; kind++) {
		struct figures f = { .runs = 0 };

		for (int i = 0; i < 1000; i++) {
			_cleanup_world_ struct world w;
			_cleanup_outcome_ struct outcome o;

			world_new(&w, 2 + below(60), 1 + below(5));
			/* the threshold at a third or at two thirds of the step */
			w.sd = 0.5;
			w.step = 6;
			w.o.verdict.better = METRIC_LOWER;
			w.o.verdict.kind = (enum threshold_kind)kind;
			w.o.verdict.threshold = kind == THRESHOLD_ABSOLUTE ? 12 + below(2) * 2
									   : 0.2 + below(2) * 0.2;
			run_world(&w, 0, &o);
			count(&f, &w, &o);
		}
		print(kind == THRESHOLD_ABSOLUTE ? "absolute, d = 12" : "relative, d = 12", &f);
		assert_error_rate(&f, 0.05);
		assert_true(f.found >= 0.9 * f.runs);
	}
}

static void a_broken_range_leaves_a_list_with_the_culprit(void **state)
{
	struct figures f = { .runs = 0 };

	(void)state;
	for (int i = 0; i < 2000; i++) {
		_cleanup_world_ struct world w;
		_cleanup_outcome_ struct outcome o;
		uint32_t first, length;

		world_new(&w, 3 + below(100), 1 + below(5));
		/* around the culprit or anywhere; never the tip */
		length = 1 + below(w.dag.n / 3 + 1);
		first = below(2) ? w.culprit - below(w.culprit < length ? w.culprit + 1 : length)
				 : below(w.dag.n);
		for (uint32_t b = first; b < first + length && b < w.dag.tip; b++)
			w.is_broken[b] = true;
		run_world(&w, 0, &o);
		count(&f, &w, &o);
		assert_true(is_right(&w, &o));
		/* a list holds only what cannot be tested, and its newest */
		if (o.r.status == ENGINE_SHORT_LIST) {
			unsigned testable = 0;

			for (uint32_t k = 0; k < o.r.n_left; k++)
				testable += !w.is_broken[o.r.left[k]];
			assert_int_equal(testable, 1);
		}
	}
	print("broken range", &f);
	assert_true(f.found < f.runs && f.found > f.runs / 4);
}

static void a_flaky_lab_changes_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		_cleanup_world_ struct world w;
		_cleanup_outcome_ struct outcome calm, flaky;

		world_new(&w, 2 + below(60), 1 + below(5));
		w.sd = 1;
		w.is_broken[below(w.dag.n)] = true;
		run_world(&w, 0, &calm);
		run_world(&w, 0.4, &flaky);
		assert_int_equal(flaky.r.status, calm.r.status);
		assert_int_equal(flaky.r.node, calm.r.node);
		assert_int_equal(flaky.boots, calm.boots);
		assert_memory_equal(flaky.log, calm.log, calm.boots * sizeof(*calm.log));
	}
}

/* Tell all trials of @from in the order of @log, without ever asking. */
static void replay(const struct world *w, const uint32_t *log, unsigned boots, struct outcome *o)
{
	_cleanup_free_ unsigned *boot = xcalloc(w->dag.n + 1 + w->o.merge_bases, sizeof(*boot));
	double samples[5];

	*o = (struct outcome){ .e = engine_new(&w->o), .boots = boots };
	for (unsigned i = 0; i < boots; i++) {
		struct trial t = boot_world(w, log[i], ++boot[log[i]], samples);

		engine_observe(o->e, log[i], &t);
	}
	engine_result(o->e, &o->r);
}

static void assert_same_state(const struct outcome *a, const struct outcome *b)
{
	struct engine_commit x, y;

	assert_int_equal(a->r.status, b->r.status);
	assert_int_equal(a->r.node, b->r.node);
	assert_int_equal(a->r.n_left, b->r.n_left);
	assert_memory_equal(a->r.left, b->r.left, a->r.n_left * sizeof(uint32_t));
	assert_int_equal(engine_tested_count(a->e), engine_tested_count(b->e));
	for (uint32_t i = 0; i < engine_tested_count(a->e); i++) {
		engine_tested(a->e, i, &x);
		engine_tested(b->e, i, &y);
		assert_int_equal(x.node, y.node);
		assert_int_equal(x.verdict, y.verdict);
		assert_int_equal(x.data->n, y.data->n);
		if (x.data->n)
			assert_memory_equal(&x.interval, &y.interval, sizeof(x.interval));
	}
	assert_int_equal(engine_ends(a->e)->state, engine_ends(b->e)->state);
	assert_true(engine_ends(a->e)->threshold == engine_ends(b->e)->threshold);
	assert_true(stats_pool_sd(engine_pool(a->e)) == stats_pool_sd(engine_pool(b->e)));
}

static void a_replay_without_asking_gives_the_same_state_after_each_trial(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		_cleanup_world_ struct world w;
		_cleanup_outcome_ struct outcome live, again, part;
		struct engine_step step;

		world_new(&w, 2 + below(60), 1 + below(5));
		w.sd = 1;
		w.is_broken[below(w.dag.n)] = true;
		run_world(&w, 0, &live);
		replay(&w, live.log, live.boots, &again);
		assert_same_state(&live, &again);
		/* cut off anywhere, it asks for what was asked then */
		unsigned cut = below(live.boots);

		replay(&w, live.log, cut, &part);
		engine_next(part.e, &step);
		assert_int_equal(step.node, live.log[cut]);
	}
}

static void the_order_of_trials_does_not_matter_without_noise(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++) {
		_cleanup_world_ struct world w;
		_cleanup_outcome_ struct outcome live, again;

		world_new(&w, 2 + below(60), 1 + below(5));
		for (uint32_t k = 0; k < w.dag.n / 4; k++)
			w.is_broken[below(w.dag.tip)] = true;
		run_world(&w, 0, &live);
		gsl_ran_shuffle(rng, live.log, live.boots, sizeof(*live.log));
		replay(&w, live.log, live.boots, &again);
		assert_int_equal(again.r.status, live.r.status);
		assert_int_equal(again.r.node, live.r.node);
		assert_int_equal(again.r.n_left, live.r.n_left);
		assert_memory_equal(again.r.left, live.r.left, live.r.n_left * sizeof(uint32_t));
	}
}

static void trials_of_any_commit_in_any_order_end_at_the_culprit(void **state)
{
	struct figures f = { .runs = 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		_cleanup_world_ struct world w;
		_cleanup_outcome_ struct outcome o = { .e = NULL };
		struct engine_step step;
		double samples[5];

		world_new(&w, 2 + below(60), 1 + below(5));
		o.e = engine_new(&w.o);
		for (engine_next(o.e, &step); step.phase != PHASE_DONE; engine_next(o.e, &step)) {
			uint32_t node = below(3) ? step.node : below(w.dag.n + 1 + w.o.merge_bases);
			struct trial t = boot_world(&w, node, ++o.boots, samples);

			assert_true(o.boots < 1000);
			engine_observe(o.e, node, &t);
		}
		engine_result(o.e, &o.r);
		count(&f, &w, &o);
		assert_int_equal(o.r.status, ENGINE_FOUND);
		assert_int_equal(o.r.node, w.culprit);
	}
	print("a third told unasked", &f);
}

static void clocks_that_are_wrong_never_make_it_ask_in_vain(void **state)
{
	struct figures f = { .runs = 0 };

	(void)state;
	for (int i = 0; i < 2000; i++) {
		_cleanup_world_ struct world w;
		_cleanup_outcome_ struct outcome o = { .e = NULL };
		struct engine_step step;
		double samples[5];

		world_new(&w, 20 + below(100), 2 + below(6));
		for (uint32_t k = 0; k < w.dag.n; k++)
			w.dag.time[k] += below(2) * (below(400) - 200);
		o.e = engine_new(&w.o);
		for (engine_next(o.e, &step); step.phase != PHASE_DONE; engine_next(o.e, &step)) {
			uint32_t node = below(2) ? step.node : below(w.dag.n);
			struct engine_commit c;
			struct trial t = boot_world(&w, node, ++o.boots, samples);

			assert_true(o.boots < 1000);
			if (engine_commit_of(o.e, step.node, &c))
				assert_int_equal(c.verdict, VERDICT_UNSET);
			engine_observe(o.e, node, &t);
		}
		engine_result(o.e, &o.r);
		count(&f, &w, &o);
	}
	print("wrong clocks, half told unasked", &f);
	assert_true(f.right == f.runs);
}

static void ends_without_a_difference_are_refused(void **state)
{
	unsigned refused = 0, apart = 0, runs = 4000;
	double boots = 0;

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		_cleanup_world_ struct world w;
		_cleanup_outcome_ struct outcome o;

		world_new(&w, 2 + below(60), 1);
		w.sd = 0.5 + gsl_rng_uniform(rng);
		w.step = 0;
		run_world(&w, 0, &o);
		refused += o.r.status == ENGINE_NO_DIFFERENCE;
		apart += engine_ends(o.e)->state == ENDS_APART;
		boots += o.boots;
	}
	print_message("# %-34s %5u runs  refused %u  falsely apart %u  boots %.1f\n",
		      "ends without a difference", runs, refused, apart, boots / runs);
	assert_true(refused >= 0.99 * runs);
	assert_true(apart <= 0.005 * runs);
}

static void quiet_equal_ends_are_shown_equivalent_early(void **state)
{
	unsigned equivalent = 0, runs = 500;
	double boots = 0;

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		_cleanup_world_ struct world w;
		_cleanup_outcome_ struct outcome o;

		world_new(&w, 2 + below(60), 1);
		w.sd = 0.02; /* a tenth of what matters: 2 % of 10 */
		w.step = 0;
		run_world(&w, 0, &o);
		equivalent += o.r.status == ENGINE_NO_DIFFERENCE && engine_ends(o.e)->equivalent;
		boots += o.boots;
	}
	print_message("# %-34s %5u runs  shown equivalent %u  boots %.1f\n", "quiet equal ends",
		      runs, equivalent, boots / runs);
	assert_true(equivalent >= 0.99 * runs);
	assert_true(boots / runs < 7);
}

static void a_culprit_that_breaks_the_build_is_found_when_policy_says_bad(void **state)
{
	struct figures f = { .runs = 0 };

	(void)state;
	for (int i = 0; i < 500; i++) {
		_cleanup_world_ struct world w;
		_cleanup_outcome_ struct outcome o;

		world_new(&w, 2 + below(60), 1 + below(5));
		w.sd = 0.5;
		w.o.hunt_fix = false;
		w.o.verdict.kind = THRESHOLD_ABSOLUTE;
		w.o.verdict.threshold = 20;
		w.o.verdict.better = METRIC_LOWER;
		w.o.verdict.build_failure_is_bad = w.o.verdict.crash_is_bad = true;
		for (uint32_t k = 0; k < w.dag.n; k++)
			w.is_broken[k] = w.is_new[k];
		run_world(&w, 0, &o);
		count(&f, &w, &o);
	}
	print("broken from the culprit on", &f);
	assert_error_rate(&f, 0.05);
	assert_true(f.found >= 0.99 * f.runs);
}

static void a_long_history_is_searched_in_linear_time_per_step(void **state)
{
	struct figures f = { .runs = 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		_cleanup_world_ struct world w;
		_cleanup_outcome_ struct outcome o;

		world_new(&w, 15000, 6);
		run_world(&w, 0, &o);
		count(&f, &w, &o);
		assert_int_equal(o.r.status, ENGINE_FOUND);
		assert_int_equal(o.r.node, w.culprit);
	}
	print("15 k commits, no noise", &f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_noise_the_culprit_is_right_with_the_picks_of_git),
		cmocka_unit_test(with_noise_wrong_claims_stay_within_the_confidence),
		cmocka_unit_test(given_thresholds_hold_the_confidence_too),
		cmocka_unit_test(a_broken_range_leaves_a_list_with_the_culprit),
		cmocka_unit_test(a_flaky_lab_changes_nothing),
		cmocka_unit_test(a_replay_without_asking_gives_the_same_state_after_each_trial),
		cmocka_unit_test(the_order_of_trials_does_not_matter_without_noise),
		cmocka_unit_test(trials_of_any_commit_in_any_order_end_at_the_culprit),
		cmocka_unit_test(clocks_that_are_wrong_never_make_it_ask_in_vain),
		cmocka_unit_test(ends_without_a_difference_are_refused),
		cmocka_unit_test(quiet_equal_ends_are_shown_equivalent_early),
		cmocka_unit_test(a_culprit_that_breaks_the_build_is_found_when_policy_says_bad),
		cmocka_unit_test(a_long_history_is_searched_in_linear_time_per_step),
	};

	return cmocka_run_group_tests(tests, make_rng, free_rng);
}
