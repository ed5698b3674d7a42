/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a broken range costs: borders and git's way, over whole hunts of about 1000 commits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gsl/gsl_rng.h>

#include "base/str.h"
#include "core/dag.h"
#include "core/pick_bisect.h"

static gsl_rng *rng;

static int make_rng(void **state)
{
	(void)state;
	rng = gsl_rng_alloc(gsl_rng_taus2);
	gsl_rng_set(rng, 20261202);
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

/* A history with its truth. */
struct world {
	struct dag d;
	uint32_t culprit;
	bool *is_new;
	uint32_t *broken; /* 0: can be tested; else what it fails of */
};

static void add_commit(struct dag *d, const uint32_t *parents, size_t n)
{
	struct commit_id id = { .raw = { 0 } };

	/* names in no order, as hashes are: git's walk around skips looks at them */
	for (int i = 0; i < COMMIT_RAW; i++)
		id.raw[i] = (uint8_t)below(256);
	dag_add(d, &id, 1000000 + d->n);
	for (size_t i = 0; i < n; i++)
		dag_parent(d, d->n - 1, parents[i]);
}

/* Up to @width (8) lines of work that fork and merge, one in the end; 1: a line of @n. */
static void world_new(struct world *w, uint32_t n, uint32_t width)
{
	uint32_t head[8] = { 0 }, heads = 1;

	*w = (struct world){ .d = DAG_INIT };
	add_commit(&w->d, NULL, 0);
	while (w->d.n < n || heads > 1) {
		uint32_t a = below(heads), b = below(heads);

		if (a != b && (w->d.n >= n || !below(4))) {
			add_commit(&w->d, (const uint32_t[]){ head[a], head[b] }, 2);
			head[a] = w->d.n - 1;
			head[b] = head[--heads];
		} else if (w->d.n < n) {
			add_commit(&w->d, &head[a], 1);
			head[heads < width && !below(4) ? heads++ : a] = w->d.n - 1;
		}
	}
	dag_finish(&w->d);
	w->d.tip = w->d.n - 1;
	w->is_new = xcalloc(w->d.n, sizeof(*w->is_new));
	w->broken = xcalloc(w->d.n, sizeof(*w->broken));
}

static void world_release(struct world *w)
{
	dag_release(&w->d);
	free(w->is_new);
	free(w->broken);
}
#define _cleanup_world_ _cleanup_(world_release)

/* @mark: @from and its descendants; numbers rise from parent to child. */
static void mark_descendants(const struct dag *d, uint32_t from, bool *mark)
{
	for (uint32_t i = 0; i < d->n; i++) {
		mark[i] = i == from;
		for (uint32_t k = 0; k < dag_parent_count(d, i); k++)
			mark[i] |= mark[dag_parents(d, i)[k]];
	}
}

static void set_culprit(struct world *w, uint32_t culprit)
{
	w->culprit = culprit;
	mark_descendants(&w->d, culprit, w->is_new);
}

static void break_line(struct world *w, uint32_t from, uint32_t n)
{
	for (uint32_t i = from; i < from + n; i++)
		w->broken[i] = 1;
}

/*
 * Broken is what has x and not its fix y, from a twentieth to half of all; or, @amid, what
 * is both a descendant of x and an ancestor of y.
 */
static void break_region(struct world *w, bool amid)
{
	_cleanup_free_ bool *has_x = xcalloc(w->d.n, sizeof(*has_x));
	_cleanup_free_ bool *has_y = xcalloc(w->d.n, sizeof(*has_y));
	_cleanup_free_ bool *below_y = xcalloc(w->d.n, sizeof(*below_y));
	uint32_t n;

	do {
		uint32_t y = below(w->d.n);

		mark_descendants(&w->d, below(w->d.n), has_x);
		mark_descendants(&w->d, y, has_y);
		memset(below_y, 0, w->d.n * sizeof(*below_y));
		dag_mark_ancestors(&w->d, y, below_y);
		n = 0;
		for (uint32_t i = 0; i < w->d.n; i++) {
			w->broken[i] = has_x[i] && (amid ? below_y[i] : !has_y[i]);
			n += w->broken[i];
		}
	} while (n < w->d.n / 20 || n > w->d.n / 2 || w->broken[w->d.tip]);
}

enum way { UNBROKEN, GIT, BORDERS, WAYS };

/* How many tests; *@list: how many are named in the end. The culprit is among them. */
static unsigned hunt(const struct world *w, enum way way, uint32_t *list)
{
	_cleanup_free_ uint32_t *alike = xcalloc(w->d.n, sizeof(*alike));
	_cleanup_free_ enum dag_mark *mark = xcalloc(w->d.n, sizeof(*mark));
	struct pick_bisect *p = pick_bisect_new(
		&w->d, &(struct pick_opts){ .alike = way == BORDERS ? alike : NULL });
	uint32_t bad = w->d.tip;
	const uint32_t *left;
	bool found = false;
	struct pick pick;
	unsigned tests = 0;

	mark[bad] = DAG_BAD;
	for (pick_bisect_next(p, mark, bad, &pick); pick.kind == PICK_TEST; tests++) {
		uint32_t x = pick.node;

		assert_int_equal(mark[x], DAG_UNKNOWN);
		if (way != UNBROKEN && w->broken[x]) {
			mark[x] = DAG_SKIP;
			alike[x] = w->broken[x];
		} else {
			mark[x] = w->is_new[x] ? DAG_BAD : DAG_GOOD;
			bad = w->is_new[x] ? x : bad;
		}
		pick_bisect_next(p, mark, bad, &pick);
	}
	*list = pick_bisect_left(p, &left);
	assert_true(pick.kind == PICK_FOUND ? *list == 1 : pick.kind == PICK_ONLY_SKIPPED);
	for (uint32_t i = 0; i < *list; i++)
		found |= left[i] == w->culprit;
	assert_true(found);
	pick_bisect_free(p);
	return tests;
}

/* Sums of one kind of hunt. */
struct figures {
	unsigned runs, most[WAYS];
	double tests[WAYS], list[WAYS];
};

static void hunt_each_way(struct figures *f, const struct world *w)
{
	f->runs++;
	for (int way = 0; way < WAYS; way++) {
		uint32_t list;
		unsigned tests = hunt(w, (enum way)way, &list);

		f->tests[way] += tests;
		f->list[way] += list;
		if (tests > f->most[way])
			f->most[way] = tests;
	}
}

static double mean(const struct figures *f, enum way way)
{
	return f->tests[way] / f->runs;
}

static void print(const char *what, const struct figures *f)
{
	print_message("# %-44s %4u hunts: borders %.2f, git %.2f, no broken range %.2f; at most "
		      "%u, %u, %u; named %.1f, %.1f\n",
		      what, f->runs, mean(f, BORDERS), mean(f, GIT), mean(f, UNBROKEN),
		      f->most[BORDERS], f->most[GIT], f->most[UNBROKEN], f->list[BORDERS] / f->runs,
		      f->list[GIT] / f->runs);
}

static void a_range_of_200_across_the_middle_costs_few_tests(void **state)
{
	_cleanup_world_ struct world w;
	struct figures outside = { .runs = 0 }, inside = { .runs = 0 };

	(void)state;
	world_new(&w, 1000, 1);
	break_line(&w, 400, 200);
	for (uint32_t c = 0; c < 1000; c++) {
		set_culprit(&w, c);
		if (!w.broken[c])
			hunt_each_way(&outside, &w);
		else if (c % 20 == 0)
			hunt_each_way(&inside, &w);
	}
	print("400 to 599 of 1000 broken, culprit outside", &outside);
	print("400 to 599 of 1000 broken, culprit inside", &inside);
	assert_int_equal(outside.runs, 800);
	/* the promise is 6; what it took when this was written: 1.5 */
	assert_true(mean(&outside, BORDERS) - mean(&outside, UNBROKEN) <= 6);
	assert_true(mean(&outside, BORDERS) - mean(&outside, UNBROKEN) <= 2);
	assert_true(mean(&outside, BORDERS) < mean(&outside, GIT));
	/* two borders by halving, and the probes */
	assert_true(inside.most[BORDERS] <= 3 * 8 + 1 + 11);
	/* 200 that cannot be told apart, and the first after them */
	assert_true(inside.list[BORDERS] == 201.0 * inside.runs);
}

static void ranges_of_any_place_and_length_cost_few_tests(void **state)
{
	struct figures outside = { .runs = 0 }, inside = { .runs = 0 };

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		_cleanup_world_ struct world w;
		uint32_t n = 5 + below(500);

		world_new(&w, 1000, 1);
		break_line(&w, below(999 - n), n);
		set_culprit(&w, below(1000));
		hunt_each_way(w.broken[w.culprit] ? &inside : &outside, &w);
	}
	print("a range of 5 to 504 anywhere, culprit outside", &outside);
	print("a range of 5 to 504 anywhere, culprit inside", &inside);
	assert_true(mean(&outside, BORDERS) - mean(&outside, UNBROKEN) <= 3);
	assert_true(mean(&outside, BORDERS) < mean(&outside, GIT));
	assert_true(inside.most[BORDERS] <= 40);
}

static void regions_of_merged_histories_cost_few_tests(void **state)
{
	(void)state;
	for (int amid = 0; amid < 2; amid++) {
		struct figures outside = { .runs = 0 }, inside = { .runs = 0 };

		for (unsigned i = 0; i < 120; i++) {
			_cleanup_world_ struct world w;

			world_new(&w, 1000, 2 + below(7));
			break_region(&w, amid);
			set_culprit(&w, below(w.d.n));
			hunt_each_way(w.broken[w.culprit] ? &inside : &outside, &w);
		}
		print(amid ? "merges, from x to y broken, culprit outside"
			   : "merges, broken by x until fix y, culprit outside",
		      &outside);
		print(amid ? "merges, from x to y broken, culprit inside"
			   : "merges, broken by x until fix y, culprit inside",
		      &inside);
		assert_true(mean(&outside, BORDERS) - mean(&outside, UNBROKEN) <= 4);
		assert_true(mean(&outside, BORDERS) < mean(&outside, GIT));
		assert_true(mean(&inside, BORDERS) <= 60);
	}
}

static void several_ranges_cost_few_tests(void **state)
{
	(void)state;
	for (int alike = 0; alike < 2; alike++) {
		struct figures f = { .runs = 0 };

		for (unsigned i = 0; i < 300; i++) {
			_cleanup_world_ struct world w;

			world_new(&w, 1000, 1);
			for (uint32_t k = 0; k < 3; k++) {
				uint32_t n = 20 + below(100), from = below(999 - n);

				for (uint32_t x = from; x < from + n; x++)
					w.broken[x] = alike ? 1 : 1 + k;
			}
			do {
				set_culprit(&w, below(1000));
			} while (w.broken[w.culprit]);
			hunt_each_way(&f, &w);
		}
		print(alike ? "three ranges, one failure, culprit outside"
			    : "three ranges, three failures, culprit outside",
		      &f);
		assert_true(mean(&f, BORDERS) - mean(&f, UNBROKEN) <= 3);
	}
}

static void single_broken_commits_cost_no_more_than_with_git(void **state)
{
	static const char *const what[] = { "5 % broken, all alike", "5 % broken, each otherwise",
					    "5 % broken, merges, all alike" };

	(void)state;
	for (unsigned kind = 0; kind < ARRAY_SIZE(what); kind++) {
		struct figures f = { .runs = 0 };

		for (unsigned i = 0; i < 400; i++) {
			_cleanup_world_ struct world w;

			world_new(&w, 1000, kind == 2 ? 8 : 1);
			for (uint32_t x = 0; x < w.d.tip; x++)
				if (!below(20))
					w.broken[x] = kind == 1 ? 1 + x : 1;
			set_culprit(&w, below(w.d.n));
			hunt_each_way(&f, &w);
		}
		print(what[kind], &f);
		assert_true(mean(&f, BORDERS) <= mean(&f, GIT) + 1);
	}
}

static void a_good_hole_in_a_broken_range_is_found(void **state)
{
	struct figures f = { .runs = 0 };

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		_cleanup_world_ struct world w;
		uint32_t from = 300 + below(200), hole = from + 20 + below(110);

		/* the culprit stands in a hole of 50 amid 200 */
		world_new(&w, 1000, 1);
		break_line(&w, from, 200);
		memset(w.broken + hole, 0, 50 * sizeof(*w.broken));
		set_culprit(&w, hole + 1 + below(49));
		hunt_each_way(&f, &w);
	}
	print("a hole of 50 in a range of 200, culprit in it", &f);
	/* in four of five; else the list has the whole range */
	assert_true(f.list[BORDERS] <= f.runs * (0.8 * 1 + 0.2 * 201));
	assert_true(mean(&f, BORDERS) < mean(&f, GIT));
}

/* Failures without a word of why are alike, but no range: most commits are broken, here and there. */
static void commits_that_can_be_tested_here_and_there_are_found(void **state)
{
	static const uint32_t every[] = { 3, 4, 5, 8, 10 };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(every); k++) {
		struct figures f = { .runs = 0 };
		char what[64];

		for (unsigned i = 0; i < 100; i++) {
			_cleanup_world_ struct world w;

			world_new(&w, 600, 1);
			for (uint32_t x = 0; x < w.d.tip; x++)
				w.broken[x] = below(every[k]) != 0;
			set_culprit(&w, 1 + below(w.d.n - 1));
			hunt_each_way(&f, &w);
		}
		snprintf(what, sizeof(what), "one in %u can be tested", every[k]);
		print(what, &f);
		assert_true(mean(&f, BORDERS) <= 1.6 * mean(&f, GIT));
		/* where hardly one in eight can be tested, the list is long */
		assert_true(every[k] > 5 || f.list[BORDERS] <= 2 * f.list[GIT]);
	}
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void a_pick_among_15_k_commits_and_50_groups_is_quick(void **state)
{
	_cleanup_world_ struct world w;
	_cleanup_free_ uint32_t *alike = NULL;
	_cleanup_free_ enum dag_mark *mark = NULL;
	struct pick_bisect *p;
	struct pick pick;
	double took;

	(void)state;
	world_new(&w, 15000, 8);
	alike = xcalloc(w.d.n, sizeof(*alike));
	mark = xcalloc(w.d.n, sizeof(*mark));
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t x = below(w.d.tip);

		mark[x] = DAG_SKIP;
		alike[x] = 1 + i % 50;
	}
	p = pick_bisect_new(&w.d, &(struct pick_opts){ .alike = alike });
	took = seconds();
	pick_bisect_next(p, mark, w.d.tip, &pick);
	took = seconds() - took;
	pick_bisect_free(p);
	print_message("# %u commits, 50 groups: %.3f s for a pick\n", w.d.n, took);
	assert_int_equal(pick.kind, PICK_TEST);
	/* many times what it takes, for slow machines and sanitizers */
	assert_true(took < 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_of_200_across_the_middle_costs_few_tests),
		cmocka_unit_test(ranges_of_any_place_and_length_cost_few_tests),
		cmocka_unit_test(regions_of_merged_histories_cost_few_tests),
		cmocka_unit_test(several_ranges_cost_few_tests),
		cmocka_unit_test(single_broken_commits_cost_no_more_than_with_git),
		cmocka_unit_test(a_good_hole_in_a_broken_range_is_found),
		cmocka_unit_test(commits_that_can_be_tested_here_and_there_are_found),
		cmocka_unit_test(a_pick_among_15_k_commits_and_50_groups_is_quick),
	};

	return cmocka_run_group_tests_name("sim_borders", tests, make_rng, free_rng);
}
