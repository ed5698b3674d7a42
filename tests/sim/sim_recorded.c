/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The replay of recorded boots: reads what was written, plants what it says, finds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "bench/noise_figures.h"
#include "sim/recorded.h"

#define DATA "tests/bench/boots-demo.txt"

static char path[] = "/tmp/sim-recorded-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

/* What recorded_open() says of @text. */
static struct recorded *opened(const char *text, uint32_t tip)
{
	struct err e = ERR_INIT;
	struct recorded *r;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	r = recorded_open(path, tip, &e);
	assert_int_equal(r == NULL, e.code != ERR_NONE);
	return r;
}

/* 1 and 2 in a line, 3 beside 2, 4 merges them and was never booted, 5; 6 is beside 5. */
static const char small[] = "# boots\n"
			    "commit 0 aa -\ncommit 1 ab 0\ncommit 2 ac 1\ncommit 3 ad 1\n"
			    "commit 4 ae 2 3\ncommit 5 af 4\ncommit 6 ba 1\n\n"
			    "boot 0 0 10 30 20\nboot 1 0 21 21 21\nboot 0 1 1 1 1\n"
			    "boot 0 2 2 2 2\nboot 0 3 3 3 3\nboot 0 5 5 7 5\nboot 0 6 9 9 9\n";

static void a_file_is_read_as_it_was_written(void **state)
{
	struct recorded *r = opened(small, 5);
	static const double value[] = { 1, 2, 3, 0, 5 };

	(void)state;
	assert_non_null(r);
	/* the good end and commit 6 are no candidates */
	assert_int_equal(r->dag.n, 5);
	assert_int_equal(r->dag.tip, 4);
	for (uint32_t x = 0; x < 5; x++) {
		assert_int_equal(r->number[x], x + 1);
		assert_int_equal(r->is_skipped[x], x == 3);
		assert_int_equal(r->c[x + 1].boots, x != 3);
		if (x != 3)
			assert_float_equal(r->c[x + 1].value[0], value[x], 0);
	}
	assert_int_equal(dag_parent_count(&r->dag, 0), 0);
	assert_int_equal(dag_parent_count(&r->dag, 3), 2);
	assert_int_equal(dag_parents(&r->dag, 3)[0], 1);
	assert_int_equal(dag_parents(&r->dag, 3)[1], 2);
	/* the median of the runs of each boot */
	assert_int_equal(r->c[0].boots, 2);
	assert_float_equal(r->c[0].value[0], 20, 0);
	assert_float_equal(r->c[0].value[1], 21, 0);
	recorded_close(r);
}

static void only_what_the_tip_holds_is_a_candidate(void **state)
{
	struct recorded *r = opened(small, 6);

	(void)state;
	assert_non_null(r);
	assert_int_equal(r->dag.n, 2);
	assert_int_equal(r->number[0], 1);
	assert_int_equal(r->number[1], 6);
	assert_int_equal(r->c[3].node, DAG_NONE);
	recorded_close(r);
}

/* The boots have a step of their own, at commit 3: whoever finds that one has not found the other. */
static void another_step_than_the_planted_one_is_not_right(void **state)
{
	static const char text[] = "commit 0 aa -\ncommit 1 ab 0\ncommit 2 ac 1\ncommit 3 ad 2\n"
				   "commit 4 ae 3\nboot 0 0 100\nboot 0 0 101\nboot 0 0 102\n"
				   "boot 0 1 101\nboot 0 1 102\nboot 0 2 100\nboot 0 2 101\n"
				   "boot 0 3 201\nboot 0 3 200\nboot 0 4 202\nboot 0 4 201\n"
				   "boot 0 4 200\n";
	const struct bayes_opts told = { .confidence = 0.95, .price = { 30, 1, 4 } };
	struct recorded *r = opened(text, 4);
	unsigned other = 0;

	(void)state;
	assert_non_null(r);
	for (unsigned long seed = 0; seed < 20; seed++) {
		struct outcome o[2];
		struct replay p;

		replay_new(&p, r, 1.0001, seed);
		replay_search(&p, &told, &o[0]);
		replay_bisect(&p, 1, &o[1]);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(o[i].status, BAYES_FOUND);
			assert_int_equal(o[i].right, p.culprit == 2);
		}
		other += p.culprit != 2;
		replay_release(&p);
	}
	assert_true(other > 5);
	recorded_close(r);
}

static void commits_of_one_kernel_have_its_boots(void **state)
{
	/* the kernel's line comes after a boot of it, as in a recording */
	struct recorded *r = opened("commit 0 aa -\ncommit 1 ab 0\ncommit 2 ac 1\ncommit 3 ad 2\n"
				    "boot 0 0 7\nboot 0 2 1\nsame 2 1\nboot 1 1 2\nboot 0 3 5\n"
				    "boot 2 2 3\n",
				    3);
	struct replay p;

	(void)state;
	assert_non_null(r);
	assert_int_equal(r->c[1].boots, 3);
	assert_int_equal(r->c[2].boots, 0);
	assert_false(r->is_skipped[1]);
	replay_new(&p, r, 10, 5);
	/* three boots, dealt to whom asks; node 0 is commit 1 */
	assert_float_equal(replay_boot(&p, 0) / (p.is_new[0] ? 10 : 1) +
				   replay_boot(&p, 1) / (p.is_new[1] ? 10 : 1) +
				   replay_boot(&p, 0) / (p.is_new[0] ? 10 : 1),
			   6, 1e-9);
	replay_release(&p);
	recorded_close(r);
}

static void damaged_files_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"commit 0 aa -\n",
		"commit 0 aa -\ncommit 1 ab 0\nboot 0 1 1\n", /* no boot of the good end */
		"commit 0 aa -\ncommit 1 ab 0\nboot 0 0 1\n", /* none of the tip */
		"commit 0 aa -\ncommit 2 ab 0\nboot 0 0 1\n", /* a number left out */
		"commit 0 aa -\ncommit 1 ab\nboot 0 0 1\n",   /* no parent */
		"commit 0 aa -\ncommit 1 ab 1\nboot 0 0 1\n", /* its own parent */
		"commit 0 aa -\ncommit 1 ab 0\nboot 0 0\nboot 0 1 1\n", /* no value */
		"commit 0 aa -\ncommit 1 ab 0\nboot 0 0 1\nboot 0 1 x\n",
		"commit 0 aa -\ncommit 1 ab 0\nboot 0 0 1\nboot 0 2 1\n", /* no such commit */
		"commit 0 aa -\ncommit 1 ab 0\nsame 1 2\nboot 0 0 1\nboot 0 1 1\n",
		"commit 0 aa -\ncommit 1 ab 0\nboot 0 0 1\nboot 0 1 1\nhello\n",
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(bad); k++)
		assert_null(opened(bad[k], 0));
}

static void every_boot_is_dealt_once_before_one_comes_again(void **state)
{
	struct recorded *r = opened(small, 5);
	struct replay p;

	(void)state;
	assert_non_null(r);
	replay_new(&p, r, 0.5, 3);
	for (int i = 0; i < 5; i++)
		assert_float_equal(replay_boot(&p, r->dag.n) + replay_boot(&p, r->dag.n), 41, 0);
	replay_release(&p);
	recorded_close(r);
}

static void the_planted_change_scales_all_from_the_culprit_on(void **state)
{
	struct recorded *r = opened(small, 5);
	unsigned culprits[5] = { 0 };

	(void)state;
	assert_non_null(r);
	for (unsigned long seed = 0; seed < 60; seed++) {
		struct replay p;

		replay_new(&p, r, 0.5, seed);
		culprits[p.culprit]++;
		/* 1 is an ancestor of all; 2 not of 3, nor 3 of 2 */
		assert_float_equal(replay_boot(&p, 0), p.culprit == 0 ? 0.5 : 1, 0);
		assert_float_equal(replay_boot(&p, 1), p.culprit <= 1 ? 1 : 2, 0);
		assert_float_equal(replay_boot(&p, 2), p.culprit != 1 ? 1.5 : 3, 0);
		assert_float_equal(replay_boot(&p, 4), 2.5, 0);
		replay_release(&p);
	}
	/* never one that did not boot, nor its child */
	assert_true(culprits[0] && culprits[1] && culprits[2]);
	assert_int_equal(culprits[3] + culprits[4], 0);
	recorded_close(r);
}

/* Searches over @r with a change of @factor; @looks: of git bisect, 0: bayes. */
static void search_all(const struct recorded *r, double factor, unsigned looks, unsigned n,
		       struct figures *f)
{
	_cleanup_free_ struct outcome *o = xcalloc(n, sizeof(*o));
	const struct bayes_opts told = { .build_sd = BAYES_AUTO,
					 .confidence = 0.95,
					 .effect = 0.02,
					 .max_boots = 300,
					 .price = { 30, 1, 4 } };

	for (unsigned i = 0; i < n; i++) {
		struct replay p;

		replay_new(&p, r, factor, 100 + i);
		if (looks)
			replay_bisect(&p, looks, &o[i]);
		else
			replay_search(&p, &told, &o[i]);
		replay_release(&p);
	}
	figures_get(o, n, f);
}

static void twice_the_time_in_the_recorded_boots_is_found_by_all(void **state)
{
	struct err e = ERR_INIT;
	struct recorded *r = recorded_open(DATA, 24, &e);
	struct figures f;

	(void)state;
	assert_non_null(r);
	assert_int_equal(r->dag.n, 24);
	for (int slower = 0; slower < 2; slower++) {
		search_all(r, slower ? 2 : 0.5, 0, 20, &f);
		assert_int_equal(f.found_right, 20);
		assert_in_range(f.boots.mean, 5, 60);
		search_all(r, slower ? 2 : 0.5, 3, 20, &f);
		assert_int_equal(f.found_right, 20);
		/* ten boots of the ends, three of each of three to seven commits */
		assert_in_range(f.boots.mean, 10 + 3 * 3, 10 + 3 * 7);
	}
	recorded_close(r);
}

/* @factor planted 40 times: what bayes names is right, whether it names much or not. */
static void plant(const struct recorded *r, double factor, struct figures *bayes,
		  struct figures *threshold)
{
	search_all(r, factor, 0, 40, bayes);
	search_all(r, factor, 3, 40, threshold);
	print_message("# %g %%, 40 replays: bayes names %u commits, %u right (%.1f boots, %u too "
		      "noisy); bisect with three boots %u, %u right (%.1f)\n",
		      100 * (factor - 1), bayes->found, bayes->found_right, bayes->boots.mean,
		      bayes->blind, threshold->found, threshold->found_right,
		      threshold->boots.mean);
	assert_false(figures_too_few(bayes->found_right, bayes->found, 0.95));
}

static void five_percent_in_the_recorded_boots_blame_nobody_wrongly(void **state)
{
	struct err e = ERR_INIT;
	struct recorded *r = recorded_open(DATA, 24, &e);
	struct figures bayes, threshold;

	(void)state;
	assert_non_null(r);
	plant(r, 1.05, &bayes, &threshold);
	recorded_close(r);
}

static void fifteen_percent_in_the_recorded_boots_are_found(void **state)
{
	struct err e = ERR_INIT;
	struct recorded *r = recorded_open(DATA, 24, &e);
	struct figures bayes, threshold;

	(void)state;
	assert_non_null(r);
	plant(r, 1.15, &bayes, &threshold);
	assert_false(figures_too_few(bayes.found_right, bayes.n, 0.95));
	assert_true(bayes.found_right >= threshold.found_right);
	recorded_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_as_it_was_written),
		cmocka_unit_test(only_what_the_tip_holds_is_a_candidate),
		cmocka_unit_test(another_step_than_the_planted_one_is_not_right),
		cmocka_unit_test(commits_of_one_kernel_have_its_boots),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(every_boot_is_dealt_once_before_one_comes_again),
		cmocka_unit_test(the_planted_change_scales_all_from_the_culprit_on),
		cmocka_unit_test(twice_the_time_in_the_recorded_boots_is_found_by_all),
		cmocka_unit_test(five_percent_in_the_recorded_boots_blame_nobody_wrongly),
		cmocka_unit_test(fifteen_percent_in_the_recorded_boots_are_found),
	};

	return cmocka_run_group_tests_name("sim_recorded", tests, make_file, remove_file);
}
