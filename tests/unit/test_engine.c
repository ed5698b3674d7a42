/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine: phases, ends, merge bases, fix hunts, what is told without being asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/str.h"
#include "core/engine.h"
#include "unit/engine_fixture.h"

static void ends_are_measured_in_turns_good_first(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 8);
	f.o.verdict.end_boots = 3;
	start(&f);
	for (unsigned boot = 1; boot <= 3; boot++) {
		assert_asks(&f, PHASE_ENDS, 8, boot);
		assert_asks(&f, PHASE_ENDS, 8, boot); /* the same until it is told */
		tell(&f, 8, 10);
		assert_asks(&f, PHASE_ENDS, 7, boot);
		assert_int_equal(engine_ends(f.e)->state, 0);
		tell(&f, 7, 20);
	}
	assert_int_equal(engine_ends(f.e)->state, ENDS_APART);
	assert_asks(&f, PHASE_SEARCH, 3, 1);
	assert_int_equal(verdict_on(&f, 8), VERDICT_GOOD);
	assert_int_equal(verdict_on(&f, 7), VERDICT_BAD);
}

static void copies_of_an_identical_kernel_tell_nothing_of_the_spread(void **state)
{
	const double a = 10.5, b = 11.5;
	_cleanup_fixture_ struct fixture f;
	struct stats_pool before;
	struct engine_commit c;

	(void)state;
	line(&f, 8);
	start(&f);
	tell_ends(&f);
	tell(&f, 3, a);
	before = *engine_pool(f.e);
	engine_observe(f.e, 2,
		       &(struct trial){ .outcome = TRIAL_OK, .samples = &a, .n = 1, .copy = true });
	engine_observe(f.e, 2,
		       &(struct trial){ .outcome = TRIAL_OK, .samples = &b, .n = 1, .copy = true });
	assert_int_equal(engine_pool(f.e)->df, before.df);
	assert_true(engine_pool(f.e)->ss == before.ss);
	/* but the commit has them */
	assert_true(engine_commit_of(f.e, 2, &c));
	assert_int_equal(c.data->n, 2);
	/* and a boot of its own counts: mean 11, so that 12 adds (12 − 11)(12 − 34/3) = 2/3 */
	tell(&f, 2, 12);
	assert_int_equal(engine_pool(f.e)->df, before.df + 1);
	assert_true(fabs(engine_pool(f.e)->ss - before.ss - 2.0 / 3) < 1e-12);
}

static void min_boots_hold_for_the_ends_too(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 8);
	f.o.verdict.min_boots = 3;
	start(&f);
	tell_ends(&f);
	assert_asks(&f, PHASE_ENDS, 8, 3);
	tell(&f, 8, 10);
	tell(&f, 7, 20);
	assert_asks(&f, PHASE_SEARCH, 3, 1);
}

static void the_search_halves_a_line_and_finds_the_culprit(void **state)
{
	_cleanup_fixture_ struct fixture f;
	struct engine_step step;

	(void)state;
	line(&f, 8);
	start(&f);
	engine_next(f.e, &step);
	assert_int_equal(step.left, 8);
	assert_int_equal(step.steps, 2);
	tell_ends(&f);
	/* culprit 5: 3 good, 5 bad, 4 good */
	assert_asks(&f, PHASE_SEARCH, 3, 1);
	tell(&f, 3, 10);
	engine_next(f.e, &step);
	assert_int_equal(step.left, 4);
	assert_int_equal(step.node, 5);
	tell(&f, 5, 20);
	assert_asks(&f, PHASE_SEARCH, 4, 1);
	assert_ends_as(&f, ENGINE_RUNNING, DAG_NONE);
	tell(&f, 4, 10);
	assert_ends_as(&f, ENGINE_FOUND, 5);
}

static void first_parent_is_heeded(void **state)
{
	(void)state;
	for (int first_parent = 0; first_parent < 2; first_parent++) {
		_cleanup_fixture_ struct fixture f = { .dag = DAG_INIT };

		/* a line of 5; the third is a merge of the second and the first: halfway, so first */
		for (uint32_t i = 0; i < 5; i++)
			add_node(&f.dag, i);
		for (uint32_t i = 1; i < 5; i++) {
			dag_parent(&f.dag, i, i - 1);
			if (i == 2)
				dag_parent(&f.dag, i, 0);
		}
		dag_finish(&f.dag);
		f.dag.tip = 4;
		f.o = (struct engine_opts){ .dag = &f.dag,
					    .verdict = by_threshold,
					    .first_parent = first_parent };
		start(&f);
		tell_ends(&f);
		assert_asks(&f, PHASE_SEARCH, first_parent ? 1 : 2, 1);
	}
}

static void one_candidate_is_found_right_after_the_ends(void **state)
{
	_cleanup_fixture_ struct fixture f;
	struct engine_result r;

	(void)state;
	line(&f, 1);
	start(&f);
	tell_ends(&f);
	assert_ends_as(&f, ENGINE_FOUND, 0);
	engine_result(f.e, &r);
	assert_int_equal(r.n_left, 1);
	assert_int_equal(r.left[0], 0);
	assert_int_equal(engine_tested_count(f.e), 2);
}

static void candidates_left_are_told_while_it_runs(void **state)
{
	_cleanup_fixture_ struct fixture f;
	struct engine_result r;

	(void)state;
	line(&f, 8);
	start(&f);
	engine_result(f.e, &r);
	assert_int_equal(r.n_left, 8);
	tell_ends(&f);
	tell(&f, 3, 10);
	engine_result(f.e, &r);
	assert_int_equal(r.status, ENGINE_RUNNING);
	assert_int_equal(r.n_left, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(r.left[i], 4 + i);
}

static void a_fix_hunt_looks_for_the_first_good_commit(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 4);
	f.o.hunt_fix = true;
	start(&f);
	/* the good end is the tip now; it still goes first */
	assert_asks(&f, PHASE_ENDS, 3, 1);
	tell(&f, 3, 10);
	assert_asks(&f, PHASE_ENDS, 4, 1);
	tell(&f, 4, 20);
	tell(&f, 3, 10);
	tell(&f, 4, 20);
	assert_int_equal(verdict_on(&f, 3), VERDICT_GOOD);
	assert_int_equal(verdict_on(&f, 4), VERDICT_BAD);
	/* fixed by commit 2: 1 is still bad, 2 is good */
	assert_asks(&f, PHASE_SEARCH, 1, 1);
	tell(&f, 1, 20);
	assert_int_equal(verdict_on(&f, 1), VERDICT_BAD);
	assert_asks(&f, PHASE_SEARCH, 2, 1);
	tell(&f, 2, 10);
	assert_int_equal(verdict_on(&f, 2), VERDICT_GOOD);
	assert_ends_as(&f, ENGINE_FOUND, 2);
}

static void ends_that_do_not_differ_are_refused(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 8);
	start(&f);
	for (int i = 0; i < 2; i++) {
		tell(&f, 8, 10);
		tell(&f, 7, 10.1);
	}
	assert_ends_as(&f, ENGINE_NO_DIFFERENCE, DAG_NONE);
	assert_true(engine_ends(f.e)->equivalent);
	assert_int_equal(verdict_on(&f, 8), VERDICT_UNSURE);
	assert_int_equal(verdict_on(&f, 7), VERDICT_UNSURE);
}

static void noisy_ends_are_measured_up_to_the_maximum(void **state)
{
	static const double noise[] = { -3, 3, -2.5, 2.5 };
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 8);
	start(&f);
	for (unsigned i = 0; i < 4; i++) {
		assert_asks(&f, PHASE_ENDS, 8, i + 1);
		tell(&f, 8, 15 + noise[i]);
		assert_asks(&f, PHASE_ENDS, 7, i + 1);
		tell(&f, 7, 15.2 + noise[i]);
		if (i == 1)
			assert_int_equal(engine_ends(f.e)->state, ENDS_MORE);
	}
	assert_ends_as(&f, ENGINE_NO_DIFFERENCE, DAG_NONE);
	assert_false(engine_ends(f.e)->equivalent);
}

static void between_two_looks_each_end_gets_one_boot_more(void **state)
{
	_cleanup_fixture_ struct fixture f;
	double estimate;

	(void)state;
	line(&f, 8);
	start(&f);
	for (int i = 0; i < 2; i++) {
		tell(&f, 8, 14 + 2 * i);
		tell(&f, 7, 16 + 2 * i);
	}
	estimate = engine_ends(f.e)->good.estimate;
	assert_int_equal(engine_ends(f.e)->state, ENDS_MORE);
	tell(&f, 8, -1000);
	assert_true(engine_ends(f.e)->good.estimate == estimate);
	tell(&f, 7, 16);
	assert_true(engine_ends(f.e)->good.estimate != estimate);
}

static void swapped_ends_and_ends_on_one_side_are_said(void **state)
{
	_cleanup_fixture_ struct fixture swapped, same;

	(void)state;
	line(&swapped, 8);
	start(&swapped);
	line(&same, 8);
	start(&same);
	for (int i = 0; i < 2; i++) {
		tell(&swapped, 8, 20);
		tell(&swapped, 7, 10);
		tell(&same, 8, 10);
		tell(&same, 7, 12);
	}
	assert_ends_as(&swapped, ENGINE_SWAPPED, DAG_NONE);
	assert_int_equal(verdict_on(&swapped, 8), VERDICT_BAD);
	assert_ends_as(&same, ENGINE_SAME_SIDE, DAG_NONE);
	assert_int_equal(verdict_on(&same, 7), VERDICT_GOOD);
}

static void a_failing_end_stops_and_is_named(void **state)
{
	_cleanup_fixture_ struct fixture good, bad;

	(void)state;
	line(&good, 8);
	good.o.verdict.build_failure_is_bad = true;
	start(&good);
	tell_failure(&good, 8, TRIAL_BUILD_FAILED);
	assert_ends_as(&good, ENGINE_END_UNMEASURED, 8);
	assert_int_equal(verdict_on(&good, 8), VERDICT_BAD);
	line(&bad, 8);
	start(&bad);
	tell(&bad, 8, 10);
	tell_failure(&bad, 7, TRIAL_CRASHED);
	assert_ends_as(&bad, ENGINE_END_UNMEASURED, 7);
	assert_int_equal(verdict_on(&bad, 7), VERDICT_SKIP);
	assert_int_equal(verdict_on(&bad, 8), VERDICT_UNSURE);
}

static void a_bad_end_that_fails_as_policy_wants_is_searched_for(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 4);
	f.o.verdict.crash_is_bad = true;
	f.o.verdict.end_boots = 1;
	start(&f);
	tell(&f, 4, 10);
	tell_failure(&f, 3, TRIAL_BOOT_FAILED);
	/* the spread is not known from one boot */
	assert_asks(&f, PHASE_ENDS, 4, 2);
	tell(&f, 4, 10);
	assert_int_equal(verdict_on(&f, 3), VERDICT_BAD);
	assert_asks(&f, PHASE_SEARCH, 1, 1);
	tell(&f, 1, 10);
	tell_failure(&f, 2, TRIAL_CRASHED);
	assert_ends_as(&f, ENGINE_FOUND, 2);
}

static void a_failing_bad_end_has_no_half_way_threshold(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 4);
	f.o.verdict.crash_is_bad = true;
	f.o.verdict.kind = THRESHOLD_AUTO;
	start(&f);
	tell_failure(&f, 3, TRIAL_CRASHED);
	assert_ends_as(&f, ENGINE_END_UNMEASURED, 3);
}

static void failures_are_skipped_or_bad_by_policy(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 4);
	f.o.verdict.build_failure_is_bad = true;
	start(&f);
	tell_ends(&f);
	assert_asks(&f, PHASE_SEARCH, 1, 1);
	tell_failure(&f, 1, TRIAL_BUILD_FAILED);
	assert_int_equal(verdict_on(&f, 1), VERDICT_BAD);
	assert_asks(&f, PHASE_SEARCH, 0, 1);
	tell_failure(&f, 0, TRIAL_GARBLED);
	assert_int_equal(verdict_on(&f, 0), VERDICT_SKIP);
	assert_ends_as(&f, ENGINE_SHORT_LIST, DAG_NONE);
}

static void only_skipped_commits_make_a_short_list(void **state)
{
	_cleanup_fixture_ struct fixture f;
	struct engine_step step;
	struct engine_result r;

	(void)state;
	line(&f, 8);
	start(&f);
	tell_ends(&f);
	/* 3, 4, 5 do not boot; the culprit is 4 */
	for (int i = 0; i < 8; i++) {
		engine_next(f.e, &step);
		if (step.phase == PHASE_DONE)
			break;
		if (step.node >= 3 && step.node <= 5)
			tell_failure(&f, step.node, TRIAL_BOOT_FAILED);
		else
			tell(&f, step.node, step.node < 4 ? 10 : 20);
	}
	assert_ends_as(&f, ENGINE_SHORT_LIST, DAG_NONE);
	engine_result(f.e, &r);
	assert_int_equal(r.n_left, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(r.left[i], 3 + i);
}

static void a_commit_is_booted_until_its_verdict_and_unsure_is_walked_like_a_skip(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 8);
	start(&f);
	for (int i = 0; i < 2; i++) {
		tell(&f, 8, i ? 10.1 : 10);
		tell(&f, 7, i ? 20.1 : 20);
	}
	for (unsigned boot = 1; boot <= 4; boot++) {
		assert_asks(&f, PHASE_SEARCH, 3, boot);
		tell(&f, 3, boot % 2 ? 14.9 : 15.2);
	}
	assert_int_equal(verdict_on(&f, 3), VERDICT_UNSURE);
	/* a skip exists now, so git sorts by distance; 3 is not asked for again */
	tell(&f, 2, 10);
	tell(&f, 4, 100);
	assert_ends_as(&f, ENGINE_SHORT_LIST, DAG_NONE);
}

static void merge_bases_come_first_and_must_be_old(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 4);
	f.o.merge_bases = 3;
	start(&f);
	tell_ends(&f);
	assert_asks(&f, PHASE_MERGE_BASES, 5, 1);
	tell(&f, 5, 10);
	assert_asks(&f, PHASE_MERGE_BASES, 6, 1);
	tell_failure(&f, 6, TRIAL_BUILD_FAILED); /* git warns and goes on */
	assert_asks(&f, PHASE_MERGE_BASES, 7, 1);
	tell(&f, 7, 20);
	assert_ends_as(&f, ENGINE_BAD_MERGE_BASE, 7);
}

static void the_search_follows_merge_bases_that_are_old(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 4);
	f.o.merge_bases = 1;
	f.o.hunt_fix = true;
	start(&f);
	for (int i = 0; i < 2; i++) {
		tell(&f, 3, 10);
		tell(&f, 4, 20);
	}
	tell(&f, 5, 20); /* old state of a fix hunt: still bad */
	assert_asks(&f, PHASE_SEARCH, 1, 1);
}

static void a_skipped_merge_base_changes_the_order_as_in_git(void **state)
{
	/*
	 * Any skip makes git sort by distance and object name. Of 7 commits on a line
	 * the fourth (distance 3, weight 4) and the third (weight 3) tie; the smaller
	 * name is the third here. Without a skip: the first halfway one, the third too;
	 * so reverse the names.
	 */
	_cleanup_fixture_ struct fixture f;

	(void)state;
	for (int skipped = 0; skipped < 2; skipped++) {
		line(&f, 7);
		for (uint32_t i = 0; i < 7; i++)
			f.dag.id[i].raw[3] = (uint8_t)(7 - i);
		dag_finish(&f.dag);
		f.o.merge_bases = 1;
		start(&f);
		for (int i = 0; i < 2; i++) {
			tell(&f, 7, 10);
			tell(&f, 6, 20);
		}
		if (skipped)
			tell_failure(&f, 8, TRIAL_BOOT_FAILED);
		else
			tell(&f, 8, 10);
		assert_asks(&f, PHASE_SEARCH, skipped ? 3 : 2, 1);
		if (!skipped)
			fixture_release(&f);
	}
}

static void what_was_measured_before_counts_once_the_ends_are_apart(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 8);
	start(&f);
	tell(&f, 3, 10);
	tell(&f, 5, 20);
	assert_asks(&f, PHASE_ENDS, 8, 1);
	assert_int_equal(verdict_on(&f, 3), VERDICT_UNSET);
	tell_ends(&f);
	assert_int_equal(verdict_on(&f, 3), VERDICT_GOOD);
	assert_asks(&f, PHASE_SEARCH, 4, 1);
	tell(&f, 4, 20);
	assert_ends_as(&f, ENGINE_FOUND, 4);
}

static void what_nobody_asked_for_moves_the_search_unless_it_contradicts(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 16);
	start(&f);
	tell_ends(&f);
	tell(&f, 9, 20); /* bad in the candidates: they are 0 … 9 now */
	tell(&f, 2, 10); /* good: 3 … 9 */
	assert_asks(&f, PHASE_SEARCH, 5, 1);
	tell(&f, 12, 10); /* good above a bad one: recorded, ignored */
	tell(&f, 1, 20);  /* bad below a good one: the same */
	assert_int_equal(verdict_on(&f, 12), VERDICT_GOOD);
	assert_int_equal(verdict_on(&f, 1), VERDICT_BAD);
	assert_asks(&f, PHASE_SEARCH, 5, 1);
	tell(&f, 5, 20);
	tell(&f, 3, 10);
	tell(&f, 4, 10);
	assert_ends_as(&f, ENGINE_FOUND, 5);
}

static void a_commit_that_gits_walk_lists_wrongly_is_not_asked_for_twice(void **state)
{
	/*
	 * 0 — 1 … 8 with clocks far behind, 0 — 9, and 10 merges both. With 8 good git's walk
	 * gives up five commits below it, so 0 stays on the list. That 0 is bad contradicts 8:
	 * not taken until the search comes to it, where git would take it too.
	 */
	_cleanup_fixture_ struct fixture f = { .dag = DAG_INIT };

	(void)state;
	for (uint32_t i = 0; i < 11; i++) {
		add_node(&f.dag, i);
		if (i)
			dag_parent(&f.dag, i, i == 9 ? 0 : i - 1);
		if (i == 10)
			dag_parent(&f.dag, i, 8);
		if (i >= 1 && i <= 8)
			f.dag.time[i] = 10 + i;
	}
	dag_finish(&f.dag);
	f.dag.tip = 10;
	f.o = (struct engine_opts){ .dag = &f.dag, .verdict = by_threshold };
	start(&f);
	tell_ends(&f);
	tell(&f, 8, 10);
	tell(&f, 0, 20);
	assert_int_equal(verdict_on(&f, 0), VERDICT_BAD);
	assert_asks(&f, PHASE_SEARCH, 9, 1);
	tell(&f, 9, 20);
	assert_ends_as(&f, ENGINE_FOUND, 0);
}

static void verdicts_are_sticky_and_nothing_counts_after_the_end(void **state)
{
	_cleanup_fixture_ struct fixture f;
	struct engine_commit c;

	(void)state;
	line(&f, 4);
	start(&f);
	tell_ends(&f);
	tell(&f, 1, 10);
	tell(&f, 1, 1000);
	tell_failure(&f, 1, TRIAL_CRASHED);
	assert_int_equal(verdict_on(&f, 1), VERDICT_GOOD);
	tell_failure(&f, 2, TRIAL_UNSET); /* no outcome: no trial */
	tell(&f, 4711, 5);                /* no such commit */
	assert_false(engine_commit_of(f.e, 2, &c));
	assert_asks(&f, PHASE_SEARCH, 2, 1);
	tell_failure(&f, 2, TRIAL_GARBLED);
	assert_ends_as(&f, ENGINE_SHORT_LIST, DAG_NONE);
	tell(&f, 0, 10);
	assert_false(engine_commit_of(f.e, 0, &c));
	assert_true(engine_commit_of(f.e, 1, &c));
	assert_int_equal(c.data->n, 2);
}

static void tested_commits_are_listed_ends_first(void **state)
{
	static const uint32_t want[] = { 8, 7, 5, 3 };
	_cleanup_fixture_ struct fixture f;
	struct engine_commit c;

	(void)state;
	line(&f, 8);
	start(&f);
	assert_int_equal(engine_tested_count(f.e), 0);
	tell(&f, 5, 20);
	assert_int_equal(engine_tested_count(f.e), 1);
	engine_tested(f.e, 0, &c);
	assert_int_equal(c.node, 5);
	tell(&f, 7, 20);
	engine_tested(f.e, 0, &c);
	assert_int_equal(c.node, 7);
	engine_tested(f.e, 1, &c);
	assert_int_equal(c.node, 5);
	tell_ends(&f);
	tell(&f, 3, 10);
	assert_int_equal(engine_tested_count(f.e), 4);
	for (uint32_t i = 0; i < 4; i++) {
		engine_tested(f.e, i, &c);
		assert_int_equal(c.node, want[i]);
	}
	assert_true(c.interval.low == 10 && c.interval.high == 10);
}

static void the_pool_is_that_of_all_boots_so_far(void **state)
{
	/* squares 2 (9, 11) and 8 (18, 22) and, in the search, 0.5 (12, 13): on 3 df */
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 8);
	start(&f);
	tell(&f, 8, 9);
	tell(&f, 7, 18);
	tell(&f, 3, 12);
	tell(&f, 8, 11);
	tell(&f, 3, 13);
	tell(&f, 7, 22);
	assert_int_equal(engine_pool(f.e)->df, 3);
	assert_true(fabs(engine_pool(f.e)->ss - 10.5) < 1e-12);
}

static void single_boots_search_by_points(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 4);
	f.o.verdict.max_boots = f.o.verdict.end_boots = 1;
	f.o.verdict.kind = THRESHOLD_AUTO;
	start(&f);
	tell(&f, 4, 10);
	tell(&f, 3, 20);
	assert_asks(&f, PHASE_SEARCH, 1, 1);
	tell(&f, 1, 15); /* exactly half-way: still good */
	assert_asks(&f, PHASE_SEARCH, 2, 1);
	tell(&f, 2, 15.001);
	assert_ends_as(&f, ENGINE_FOUND, 2);
}

static void one_boot_of_each_end_is_not_enough_to_know_the_spread(void **state)
{
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 4);
	f.o.verdict.end_boots = 1;
	start(&f);
	tell(&f, 4, 10);
	tell(&f, 3, 20);
	assert_asks(&f, PHASE_ENDS, 4, 2);
	tell(&f, 4, 10);
	tell(&f, 3, 20);
	assert_asks(&f, PHASE_SEARCH, 1, 1);
}

static void phases_have_names(void **state)
{
	(void)state;
	assert_string_equal(engine_phase_name(PHASE_ENDS), "ends");
	assert_string_equal(engine_phase_name(PHASE_MERGE_BASES), "merge bases");
	assert_string_equal(engine_phase_name(PHASE_SEARCH), "search");
	assert_string_equal(engine_phase_name(PHASE_CONFIRM), "confirm");
	assert_string_equal(engine_phase_name(PHASE_DONE), "done");
	assert_string_equal(engine_phase_name((enum engine_phase)0), "unset");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_measured_in_turns_good_first),
		cmocka_unit_test(copies_of_an_identical_kernel_tell_nothing_of_the_spread),
		cmocka_unit_test(min_boots_hold_for_the_ends_too),
		cmocka_unit_test(the_search_halves_a_line_and_finds_the_culprit),
		cmocka_unit_test(first_parent_is_heeded),
		cmocka_unit_test(one_candidate_is_found_right_after_the_ends),
		cmocka_unit_test(candidates_left_are_told_while_it_runs),
		cmocka_unit_test(a_fix_hunt_looks_for_the_first_good_commit),
		cmocka_unit_test(ends_that_do_not_differ_are_refused),
		cmocka_unit_test(noisy_ends_are_measured_up_to_the_maximum),
		cmocka_unit_test(between_two_looks_each_end_gets_one_boot_more),
		cmocka_unit_test(swapped_ends_and_ends_on_one_side_are_said),
		cmocka_unit_test(a_failing_end_stops_and_is_named),
		cmocka_unit_test(a_bad_end_that_fails_as_policy_wants_is_searched_for),
		cmocka_unit_test(a_failing_bad_end_has_no_half_way_threshold),
		cmocka_unit_test(failures_are_skipped_or_bad_by_policy),
		cmocka_unit_test(only_skipped_commits_make_a_short_list),
		cmocka_unit_test(
			a_commit_is_booted_until_its_verdict_and_unsure_is_walked_like_a_skip),
		cmocka_unit_test(merge_bases_come_first_and_must_be_old),
		cmocka_unit_test(the_search_follows_merge_bases_that_are_old),
		cmocka_unit_test(a_skipped_merge_base_changes_the_order_as_in_git),
		cmocka_unit_test(what_was_measured_before_counts_once_the_ends_are_apart),
		cmocka_unit_test(what_nobody_asked_for_moves_the_search_unless_it_contradicts),
		cmocka_unit_test(a_commit_that_gits_walk_lists_wrongly_is_not_asked_for_twice),
		cmocka_unit_test(verdicts_are_sticky_and_nothing_counts_after_the_end),
		cmocka_unit_test(tested_commits_are_listed_ends_first),
		cmocka_unit_test(the_pool_is_that_of_all_boots_so_far),
		cmocka_unit_test(single_boots_search_by_points),
		cmocka_unit_test(one_boot_of_each_end_is_not_enough_to_know_the_spread),
		cmocka_unit_test(phases_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
