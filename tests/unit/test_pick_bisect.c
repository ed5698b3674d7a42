/* SPDX-License-Identifier: GPL-2.0-or-later */
/* git's choice of commit, with values worked out by hand (tests/contract asks git itself). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/dag.h"
#include "core/pick_bisect.h"

/*
 * @parents: one string per node, a letter for each parent: "" "a" "ab". Object
 * names rise with the number, times by ten seconds.
 */
static struct dag make(const char *const *parents, uint32_t n)
{
	struct dag d = DAG_INIT;

	for (uint32_t i = 0; i < n; i++) {
		struct commit_id id = { { (uint8_t)(i + 1) } };

		dag_add(&d, &id, 1000 + 10 * (int64_t)i);
	}
	for (uint32_t i = 0; i < n; i++)
		for (const char *p = parents[i]; *p; p++)
			dag_parent(&d, i, (uint32_t)(*p - 'a'));
	dag_finish(&d);
	d.tip = n - 1;
	return d;
}

static const char *const line[] = { "", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };

static struct pick pick(const struct dag *d, const char *marks, uint32_t bad,
			const struct pick_opts *o)
{
	const struct pick_opts none = { .any_skip = false };
	struct pick_bisect *p = pick_bisect_new(d, o ? o : &none);
	enum dag_mark mark[64] = { DAG_UNKNOWN };
	struct pick out;

	for (uint32_t i = 0; marks[i]; i++)
		mark[i] = marks[i] == 'g'   ? DAG_GOOD
			  : marks[i] == 's' ? DAG_SKIP
			  : marks[i] == 'b' ? DAG_BAD
					    : DAG_UNKNOWN;
	pick_bisect_next(p, mark, bad, &out);
	pick_bisect_free(p);
	return out;
}

static void a_line_is_halved(void **state)
{
	_cleanup_(dag_release) struct dag d = make(line, 8);
	struct pick p = pick(&d, "", 7, NULL);

	(void)state;
	/* weights 1 … 8: 2·4 − 8 = 0 */
	assert_int_equal(p.kind, PICK_TEST);
	assert_int_equal(p.node, 3);
	assert_int_equal(p.left, 8);
	assert_int_equal(p.steps, 2);
	p = pick(&d, "...g", 7, NULL);
	assert_int_equal(p.node, 5);
	assert_int_equal(p.left, 4);
	assert_int_equal(p.steps, 1);
	/* of five, 2 and 3 are both halfway: the first one */
	p = pick(&d, "..g....b", 7, NULL);
	assert_int_equal(p.node, 4);
	p = pick(&d, "...b", 3, NULL);
	assert_int_equal(p.node, 1);
}

static void the_last_candidate_is_the_answer(void **state)
{
	_cleanup_(dag_release) struct dag d = make(line, 8);
	struct pick p = pick(&d, "....gb.b", 5, NULL);

	(void)state;
	assert_int_equal(p.kind, PICK_FOUND);
	assert_int_equal(p.node, 5);
	assert_int_equal(p.left, 1);
	assert_int_equal(p.steps, 0);
	p = pick(&d, ".....g..", 3, NULL);
	assert_int_equal(p.kind, PICK_EMPTY);
	assert_int_equal(p.left, 0);
	assert_int_equal(p.node, DAG_NONE);
}

static void a_halfway_merge_comes_before_a_halfway_commit(void **state)
{
	/* weights: a 1, b 2, c 3 (halfway), d 2, e = merge of b and d 4 (halfway), f 6, g 7 */
	static const char *const parents[] = { "", "a", "b", "a", "bd", "ec", "f" };
	_cleanup_(dag_release) struct dag d = make(parents, 7);

	(void)state;
	assert_int_equal(pick(&d, "", 6, NULL).node, 4);
	/* with the first parents only: a b e f g, b is halfway */
	assert_int_equal(pick(&d, "", 6, &(struct pick_opts){ .first_parent = true }).node, 1);
	assert_int_equal(pick(&d, "", 6, &(struct pick_opts){ .first_parent = true }).left, 5);
}

static void without_a_halfway_commit_the_nearest_is_taken(void **state)
{
	/* six roots below one octopus: w = 1 six times, then 7; nothing is halfway of 7 */
	static const char *const parents[] = { "", "", "", "", "", "", "abcdef" };
	_cleanup_(dag_release) struct dag d = make(parents, 7);

	(void)state;
	assert_int_equal(pick(&d, "", 6, NULL).node, 0);
	assert_int_equal(pick(&d, "g", 6, NULL).node, 1);
	assert_int_equal(pick(&d, "g", 6, NULL).left, 6);
}

static void a_parent_behind_its_child_costs_a_pass(void **state)
{
	/*
	 * e - d - c - a, and b between d and c with a clock that was slow: the list
	 * is a b c d e, b before its parent. Weights a 1, b 3, c 2, d 4, e 5; b and c
	 * are halfway of 5, but c is known first.
	 */
	static const char *const parents[] = { "", "c", "a", "bc", "d" };
	_cleanup_(dag_release) struct dag d = make(parents, 5);

	(void)state;
	assert_int_equal(pick(&d, "", 4, NULL).node, 2);
}

static void a_skipped_commit_is_left_by_gits_own_random_distance(void **state)
{
	_cleanup_(dag_release) struct dag d = make(line, 8);
	struct pick p = pick(&d, "...s", 7, NULL);

	(void)state;
	/*
	 * By distance: d; c e; b f; a g; h. Without d seven are left: c e b f a g h.
	 * prn(7) = (7·1103515245 + 12345)/65536 mod 32768 = 19564 in 32 bits;
	 * 7·19564/32768 = 4; 4·isqrt(19564)/isqrt(32768) = 4·139/181 = 3: f.
	 */
	assert_int_equal(p.kind, PICK_TEST);
	assert_int_equal(p.node, 5);
	assert_int_equal(p.left, 8);
}

static void any_skip_ref_turns_to_the_sorted_list(void **state)
{
	_cleanup_(dag_release) struct dag d = make(line, 11);
	const struct pick_opts o = { .any_skip = true };

	(void)state;
	/* i to k: weights 1, 2, 3, distances 1, 1, 0. Plainly j (i has no parent), sorted i */
	assert_int_equal(pick(&d, ".......g", 10, NULL).node, 9);
	assert_int_equal(pick(&d, ".......g", 10, &o).node, 8);
	/* the same with a skipped commit among those known to be good */
	assert_int_equal(pick(&d, "..s....g", 10, NULL).node, 8);
}

static void only_skipped_commits_are_a_short_list(void **state)
{
	_cleanup_(dag_release) struct dag d = make(line, 5);
	struct pick_bisect *p = pick_bisect_new(&d, &(struct pick_opts){ .any_skip = false });
	const enum dag_mark mark[] = { DAG_GOOD, DAG_SKIP, DAG_SKIP, DAG_BAD, DAG_BAD };
	const enum dag_mark no_skip[] = { DAG_GOOD, DAG_UNKNOWN, DAG_UNKNOWN, DAG_BAD, DAG_BAD };
	const uint32_t *left;
	struct pick out;

	(void)state;
	pick_bisect_next(p, mark, 3, &out);
	assert_int_equal(out.kind, PICK_ONLY_SKIPPED);
	assert_int_equal(pick_bisect_left(p, &left), 3);
	assert_memory_equal(left, ((uint32_t[]){ 1, 2, 3 }), 3 * sizeof(*left));
	/* the same picker, asked something else */
	pick_bisect_next(p, no_skip, 3, &out);
	assert_int_equal(out.kind, PICK_TEST);
	/* weights 1 and 2 are both halfway of 3, but git never looks at those without a parent */
	assert_int_equal(out.node, 2);
	assert_int_equal(pick_bisect_left(p, &left), 3);
	pick_bisect_free(p);
}

static void commits_outside_the_paths_weigh_nothing_and_are_never_picked(void **state)
{
	/* of a … h only b, d and g count: weights 0 1 1 2 2 2 3 3; b and d are halfway of 3 */
	_cleanup_(dag_release) struct dag d = make(line, 8);
	struct pick p;

	(void)state;
	d.treesame = xcalloc(8, sizeof(*d.treesame));
	for (unsigned i = 0; i < 8; i++)
		d.treesame[i] = i != 1 && i != 3 && i != 6;
	p = pick(&d, "", 7, NULL);
	assert_int_equal(p.left, 3);
	assert_int_equal(p.node, 1);
	p = pick(&d, ".g", 7, NULL);
	assert_int_equal(p.left, 2);
	assert_int_equal(p.node, 3);
	/* the tip itself does not count: nothing is left to blame */
	p = pick(&d, ".g.g..g", 7, NULL);
	assert_int_equal(p.kind, PICK_EMPTY);
}

static void steps_are_estimated_as_git_does(void **state)
{
	static const struct {
		uint32_t n, steps;
	} known[] = {
		{ 0, 0 },    { 1, 0 },    { 2, 0 },     { 3, 1 },        { 4, 1 },
		{ 5, 1 },    { 6, 2 },    { 8, 2 },     { 10, 2 },       { 11, 3 },
		{ 1024, 9 }, { 1365, 9 }, { 1366, 10 }, { 1000000, 19 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		assert_int_equal(pick_bisect_steps(known[i].n), known[i].steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_halved),
		cmocka_unit_test(the_last_candidate_is_the_answer),
		cmocka_unit_test(a_halfway_merge_comes_before_a_halfway_commit),
		cmocka_unit_test(without_a_halfway_commit_the_nearest_is_taken),
		cmocka_unit_test(a_parent_behind_its_child_costs_a_pass),
		cmocka_unit_test(a_skipped_commit_is_left_by_gits_own_random_distance),
		cmocka_unit_test(any_skip_ref_turns_to_the_sorted_list),
		cmocka_unit_test(only_skipped_commits_are_a_short_list),
		cmocka_unit_test(commits_outside_the_paths_weigh_nothing_and_are_never_picked),
		cmocka_unit_test(steps_are_estimated_as_git_does),
	};

	return cmocka_run_group_tests_name("pick_bisect", tests, NULL, NULL);
}
