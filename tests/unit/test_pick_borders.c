/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Broken ranges are crossed by their borders: values worked out by hand. */
#include "unit/borders_fixture.h"

#include <stdlib.h>

#include "base/str.h"

static void add_line(struct dag *d, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add(d, (const uint32_t[]){ d->n - 1 }, d->n ? 1 : 0);
}

static struct dag line(uint32_t n)
{
	struct dag d = DAG_INIT;

	add_line(&d, n);
	dag_finish(&d);
	d.tip = n - 1;
	return d;
}

static uint32_t pick(const struct dag *d, const char *marks)
{
	_cleanup_state_ struct state s;

	begin(&s, d, false, marks);
	return next(&s);
}

static void assert_left(const struct state *s, const uint32_t *expected, uint32_t n)
{
	const uint32_t *left;

	assert_int_equal(pick_bisect_left(s->p, &left), n);
	assert_memory_equal(left, expected, n * sizeof(*left));
}

static void around_a_broken_commit_the_middle_is_left_for_a_distance(void **state)
{
	_cleanup_(dag_release) struct dag d = line(16);

	(void)state;
	/*
	 * Weight 8 of 16 is broken; room 8 on both sides. log(1 + d) / log(9) times H(w/16):
	 * d 3: 0.631 · 0.896 = 0.565; d 4: 0.732 · 0.811 = 0.594; d 5: 0.815 · 0.696 = 0.568.
	 * Weights 4 and 12 tie: the first.
	 */
	assert_int_equal(pick(&d, ".......1"), 3);
}

static void what_lies_amid_broken_ones_is_tested_last(void **state)
{
	_cleanup_(dag_release) struct dag d = line(16);
	_cleanup_state_ struct state s;

	(void)state;
	/*
	 * Broken: weights 4 and 12, shadow between, room 4 below and above. d 1: 0.431 · 0.696
	 * = 0.300; d 2: 0.683 · 0.544 = 0.371; d 3: 0.861 · 0.337 = 0.290.
	 */
	begin(&s, &d, false, "...1.......1");
	assert_int_equal(next(&s), 1);
	/* up to 14: weights 1 (d 1 of 2) and 11 of 12 tie */
	set(&s, ".g.1.......1.b");
	s.bad = 13;
	assert_int_equal(next(&s), 2);
	set(&s, ".gg1.......1.b");
	assert_int_equal(next(&s), 12);
	/* only shadow, seven of it: the middle first, depth 4: log 5 · H(5/10) */
	set(&s, ".gg1.......1bb");
	s.bad = 12;
	assert_int_equal(next(&s), 7);
	/* weight 3 of 10: log 3 · 0.881 = 0.968, before 2 (0.500) and 4 (0.673) */
	set(&s, ".gg1...1...1bb");
	assert_int_equal(next(&s), 5);
	/* few as they are, all are tested; then what failed is the answer, and bad */
	set(&s, ".gg1111111.1bb");
	assert_int_equal(next(&s), 10);
	set(&s, ".gg111111111bb");
	assert_int_equal(next(&s), DAG_NONE);
	assert_int_equal(s.pick.kind, PICK_ONLY_SKIPPED);
	assert_left(&s, (const uint32_t[]){ 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, 10);
}

static void a_hole_in_a_broken_range_splits_it(void **state)
{
	_cleanup_(dag_release) struct dag d = line(16);
	_cleanup_state_ struct state s;

	(void)state;
	/* the probe at 7 was good: 8 to 10 are outside now, as no member is below them */
	begin(&s, &d, false, ".gg1...g...1bb");
	s.bad = 12;
	/* n 5, 11 has weight 4. d 1: 0.431 · 0.971 = 0.418; d 2: 0.683 · 0.971 = 0.663; d 3: 0.622 */
	assert_int_equal(next(&s), 9);
	/* or bad: then it ends between 3 and 7 */
	set(&s, ".gg1...b...1bb");
	s.bad = 7;
	/* n 5, 3 has weight 1, room 4: weight 2 (0.418), 3 (0.663), 4 (0.861 · 0.722 = 0.622) */
	assert_int_equal(next(&s), 5);
	set(&s, ".gg1.b.b...1bb");
	s.bad = 5;
	assert_int_equal(next(&s), 4);
	set(&s, ".gg1gb.b...1bb");
	assert_int_equal(next(&s), DAG_NONE);
	assert_int_equal(s.pick.kind, PICK_FOUND);
	assert_int_equal(s.pick.node, 5);
}

/* All that is asked for fails with @answer; how many are asked for. */
static unsigned ask_until_the_end(struct state *s, uint32_t answer)
{
	unsigned picks = 0;

	for (uint32_t x; (x = next(s)) != DAG_NONE; picks++) {
		assert_int_equal(s->mark[x], DAG_UNKNOWN);
		s->mark[x] = DAG_SKIP;
		s->alike[x] = answer;
	}
	assert_int_equal(s->pick.kind, PICK_ONLY_SKIPPED);
	return picks;
}

static void a_large_shadow_is_probed_and_then_believed(void **state)
{
	_cleanup_(dag_release) struct dag d = line(32);
	_cleanup_state_ struct state s;
	uint32_t all[32];

	(void)state;
	/* 29 amid two broken ones: 3 ceil(log2 32) + 1 skipped in all; the answer holds the untested */
	begin(&s, &d, false, "1.............................1b");
	assert_int_equal(next(&s), 15);
	assert_int_equal(ask_until_the_end(&s, 1), 16);
	for (uint32_t i = 0; i < 32; i++)
		all[i] = i;
	assert_left(&s, all, 32);
	/* what could not be decided counts as a probe too */
	set(&s, "1.............................1b");
	assert_int_equal(ask_until_the_end(&s, 0), 16);
	/* what was broken before is not probed again; room for twelve */
	set(&s, "1..1.......1............1.1...1b");
	assert_int_equal(ask_until_the_end(&s, 1), 12);
	/* where one amid them could be tested, it is no one range: all 24 are asked for */
	set(&s, "1...g1........................1b");
	assert_int_equal(ask_until_the_end(&s, 1), 24);
}

static void two_groups_cast_no_shadow_on_what_is_between(void **state)
{
	_cleanup_(dag_release) struct dag few = line(16), many = line(32);
	_cleanup_state_ struct state s;

	(void)state;
	/*
	 * Weights 6 and 10 of 16. Weight 8: of both d 2 of 10, 0.458 · 1. Weight 3: d 3 of 6 and 7
	 * of 10, the least 0.712 · 0.696 = 0.496; weight 4: 0.565 · 0.811 = 0.458. 13 ties with 3.
	 */
	assert_int_equal(pick(&few, ".....1...2"), 2);
	/* all between them: weight 3 of 6 is d 2 of 5 from both, 0.613; 2 and 4 are d 1 from one */
	begin(&s, &few, false, "....g1...2b");
	s.bad = 10;
	assert_int_equal(next(&s), 7);
	state_release(&s);
	/* each of the 29 is tested, whatever the ends failed of */
	begin(&s, &many, false, "1.............................2b");
	assert_int_equal(ask_until_the_end(&s, 0), 29);
}

static void a_skip_that_tells_nothing_is_walked_around_closely(void **state)
{
	_cleanup_(dag_release) struct dag d = line(8);

	(void)state;
	/* H(3/8) = H(5/8) */
	assert_int_equal(pick(&d, "...0"), 2);
	assert_int_equal(pick(&d, "..00"), 4);
	assert_int_equal(pick(&d, "..000"), 1);
}

static void without_a_skipped_candidate_the_pick_is_gits(void **state)
{
	_cleanup_(dag_release) struct dag d = line(11);
	_cleanup_state_ struct state s;

	(void)state;
	/* weights 1, 2, 3 of 3: rule 4 never takes i, which has no parent; rule 5 would */
	begin(&s, &d, true, ".......g");
	assert_int_equal(next(&s), 9);
	set(&s, "..1....g");
	assert_int_equal(next(&s), 9);
	set(&s, "........1.1");
	s.bad = 7;
	/* weights 1 … 8: 2·4 − 8 = 0 */
	assert_int_equal(next(&s), 3);
}

static void the_end_is_told_in_each_way(void **state)
{
	_cleanup_(dag_release) struct dag d = line(5);
	_cleanup_state_ struct state s;

	(void)state;
	begin(&s, &d, false, "...g");
	assert_int_equal(next(&s), DAG_NONE);
	assert_int_equal(s.pick.kind, PICK_FOUND);
	assert_int_equal(s.pick.node, 4);
	/* also if skipped ones are elsewhere */
	set(&s, "1.1g");
	assert_int_equal(next(&s), DAG_NONE);
	assert_int_equal(s.pick.kind, PICK_FOUND);
	set(&s, "....g");
	assert_int_equal(next(&s), DAG_NONE);
	assert_int_equal(s.pick.kind, PICK_EMPTY);
	set(&s, "1121");
	assert_int_equal(next(&s), DAG_NONE);
	assert_int_equal(s.pick.kind, PICK_ONLY_SKIPPED);
	assert_left(&s, (const uint32_t[]){ 0, 1, 2, 3, 4 }, 5);
	set(&s, "0g20");
	assert_int_equal(next(&s), DAG_NONE);
	assert_left(&s, (const uint32_t[]){ 2, 3, 4 }, 3);
}

static void a_branch_beside_is_broken_with_what_it_forked_from(void **state)
{
	_cleanup_(dag_release) struct dag d = DAG_INIT;

	(void)state;
	/* 0 … 5, then 6 and 7 beside each other, merged by 8, then 9. 6 is broken, weight 7 of 10 */
	add_line(&d, 7);
	add(&d, (const uint32_t[]){ 5 }, 1);
	add(&d, (const uint32_t[]){ 6, 7 }, 2);
	add(&d, (const uint32_t[]){ 8 }, 1);
	dag_finish(&d);
	d.tip = 9;
	/*
	 * By itself, 7 would be worth H(0.7) = 0.881, the most. But it is as likely broken as 5,
	 * d 1 of 7: 0.333 · 0.881 = 0.294. Weight 3: d 4, 0.774 · 0.881 = 0.682; 2: 0.622; 4: 0.647;
	 * the merge: d 2 of 3, 0.792 · 0.469 = 0.372.
	 */
	assert_int_equal(pick(&d, "......1"), 2);
}

static void distances_are_from_the_border_of_the_shadow(void **state)
{
	_cleanup_(dag_release) struct dag d = DAG_INIT;

	(void)state;
	/* 0 … 9; 10 forks from 7 and is merged with 9 by 11; then 12 … 17. Broken: 1 and 8 */
	add_line(&d, 10);
	add(&d, (const uint32_t[]){ 7 }, 1);
	add(&d, (const uint32_t[]){ 9, 10 }, 2);
	add_line(&d, 6);
	dag_finish(&d);
	d.tip = 17;
	/*
	 * 10 (weight 9 of 18) forks from the shadow: d 1 of 10, 0.289 · 1; from 1 it would be d 7 of
	 * 16, 0.734. 12: d 4 of 9, 0.699 · 0.852 = 0.596; 13: 0.778 · 0.764 = 0.595; 11: 0.553.
	 */
	assert_int_equal(pick(&d, ".1......1"), 12);
}

static void commits_outside_the_paths_keep_no_distance(void **state)
{
	_cleanup_(dag_release) struct dag d = line(11);
	_cleanup_state_ struct state s;

	(void)state;
	d.treesame = xcalloc(11, sizeof(*d.treesame));
	for (unsigned i = 1; i < 11; i += 2)
		d.treesame[i] = true;
	/* six count, 4 is the third: 0 (d 2 of 3: 0.792 · 0.650) before 2 (0.5 · 0.918); 8 ties */
	begin(&s, &d, false, "....1");
	assert_int_equal(next(&s), 0);
	assert_int_equal(s.pick.left, 6);
	/* one that does not count cannot be skipped: weight 3 of 6 */
	set(&s, "...1");
	assert_int_equal(next(&s), 4);
	/* n 5: 2 0.631 · 0.722; 6 0.5 · 0.971; 8 0.792 · 0.722 */
	set(&s, "g...1");
	assert_int_equal(next(&s), 8);
	/* all that counts is tested: the others are no part of the answer */
	set(&s, "g.1.1.1.b");
	s.bad = 8;
	assert_int_equal(next(&s), DAG_NONE);
	assert_int_equal(s.pick.kind, PICK_ONLY_SKIPPED);
	assert_left(&s, (const uint32_t[]){ 2, 4, 6, 8 }, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(around_a_broken_commit_the_middle_is_left_for_a_distance),
		cmocka_unit_test(what_lies_amid_broken_ones_is_tested_last),
		cmocka_unit_test(a_hole_in_a_broken_range_splits_it),
		cmocka_unit_test(a_large_shadow_is_probed_and_then_believed),
		cmocka_unit_test(two_groups_cast_no_shadow_on_what_is_between),
		cmocka_unit_test(a_skip_that_tells_nothing_is_walked_around_closely),
		cmocka_unit_test(without_a_skipped_candidate_the_pick_is_gits),
		cmocka_unit_test(the_end_is_told_in_each_way),
		cmocka_unit_test(a_branch_beside_is_broken_with_what_it_forked_from),
		cmocka_unit_test(distances_are_from_the_border_of_the_shadow),
		cmocka_unit_test(commits_outside_the_paths_keep_no_distance),
	};

	return cmocka_run_group_tests_name("pick_borders", tests, NULL, NULL);
}
