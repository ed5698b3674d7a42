/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine: verdicts that were said instead of measured, and the moves git would be told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unit/engine_fixture.h"

static void give(struct fixture *f, const struct engine_given *given, size_t n)
{
	f->o.given = given;
	f->o.n_given = n;
}

static void assert_moves(struct fixture *f, const struct engine_move *want, size_t n)
{
	const struct engine_move *move;

	assert_int_equal(engine_moves(f->e, &move), n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(move[i].node, want[i].node);
		assert_int_equal(move[i].mark, want[i].mark);
	}
}

static void what_was_said_counts_without_being_measured(void **state)
{
	static const struct engine_given given[] = { { 3, VERDICT_GOOD, false },
						     { 11, VERDICT_BAD, false } };
	static const struct engine_move moves[] = {
		{ 3, DAG_GOOD }, { 11, DAG_BAD }, { 7, DAG_GOOD }, { 9, DAG_BAD }, { 8, DAG_BAD }
	};
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 16);
	give(&f, given, 2);
	start(&f);
	tell_ends(&f);
	/* of 4 … 11 the middle is 7: 4 5 6 7 | 8 9 10 11 */
	assert_asks(&f, PHASE_SEARCH, 7, 1);
	assert_int_equal(verdict_on(&f, 3), VERDICT_UNSET);
	tell(&f, 7, 10);
	assert_asks(&f, PHASE_SEARCH, 9, 1);
	tell(&f, 9, 20);
	assert_asks(&f, PHASE_SEARCH, 8, 1);
	tell(&f, 8, 20);
	assert_ends_as(&f, ENGINE_FOUND, 8);
	assert_moves(&f, moves, ARRAY_SIZE(moves));
}

static void what_was_said_is_believed_over_what_was_measured(void **state)
{
	static const struct engine_given given[] = { { 7, VERDICT_GOOD, false } };
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 16);
	give(&f, given, 1);
	start(&f);
	tell(&f, 7, 20); /* measured bad before the ends were */
	tell_ends(&f);
	assert_asks(&f, PHASE_SEARCH, 11, 1);
	assert_int_equal(verdict_on(&f, 7), VERDICT_BAD);
}

static void a_recheck_measures_first_what_was_said(void **state)
{
	static const struct engine_given given[] = { { 3, VERDICT_GOOD, true },
						     { 11, VERDICT_BAD, true },
						     { 7, VERDICT_SKIP, false } };
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 16);
	give(&f, given, 3);
	start(&f);
	tell_ends(&f);
	assert_asks(&f, PHASE_RECHECK, 3, 1);
	tell(&f, 3, 10);
	assert_asks(&f, PHASE_RECHECK, 11, 1);
	tell(&f, 11, 10); /* the person was wrong */
	/* 12 … 15 are left, and 13 is their middle */
	assert_asks(&f, PHASE_SEARCH, 13, 1);
	assert_int_equal(verdict_on(&f, 11), VERDICT_GOOD);
}

static void said_skips_are_passed_over_and_are_left_with_the_answer(void **state)
{
	static const struct engine_given given[] = { { 1, VERDICT_SKIP, false },
						     { 2, VERDICT_SKIP, false } };
	struct engine_result r;
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 4);
	give(&f, given, 2);
	start(&f);
	tell_ends(&f);
	assert_asks(&f, PHASE_SEARCH, 0, 1);
	tell(&f, 0, 10);
	assert_ends_as(&f, ENGINE_SHORT_LIST, DAG_NONE);
	engine_result(f.e, &r);
	assert_int_equal(r.n_left, 3); /* 1, 2 and the bad end */
}

static void a_said_merge_base_is_not_measured(void **state)
{
	static const struct engine_given old[] = { { 5, VERDICT_GOOD, false } };
	static const struct engine_given new[] = { { 5, VERDICT_BAD, false } };
	static const struct engine_move base_is_old[] = { { 5, DAG_GOOD } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		_cleanup_fixture_ struct fixture f;

		line(&f, 4);
		f.o.merge_bases = 1;
		give(&f, i ? new : old, 1);
		start(&f);
		tell_ends(&f);
		if (i) {
			assert_ends_as(&f, ENGINE_BAD_MERGE_BASE, 5);
			continue;
		}
		assert_asks(&f, PHASE_SEARCH, 1, 1);
		assert_moves(&f, base_is_old, 1);
	}
}

static void a_contradicting_word_moves_nothing(void **state)
{
	/* bad at 3, so good at 9, its descendant, cannot be */
	static const struct engine_given given[] = { { 3, VERDICT_BAD, false },
						     { 9, VERDICT_GOOD, false } };
	static const struct engine_move moves[] = { { 3, DAG_BAD } };
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 16);
	give(&f, given, 2);
	start(&f);
	tell_ends(&f);
	assert_asks(&f, PHASE_SEARCH, 1, 1);
	assert_moves(&f, moves, 1);
}

static void words_of_a_fix_hunt_are_the_metrics(void **state)
{
	/* good is new: 5 and later are fixed */
	static const struct engine_given given[] = { { 5, VERDICT_GOOD, false } };
	static const struct engine_move moves[] = { { 5, DAG_BAD } };
	_cleanup_fixture_ struct fixture f;

	(void)state;
	line(&f, 16);
	f.o.hunt_fix = true;
	give(&f, given, 1);
	start(&f);
	for (int i = 0; i < 2; i++) {
		tell(&f, 15, 10);
		tell(&f, 16, 20);
	}
	assert_asks(&f, PHASE_SEARCH, 2, 1);
	assert_moves(&f, moves, 1);
}

static void broken_ranges_are_crossed_by_their_borders(void **state)
{
	_cleanup_fixture_ struct fixture f;
	struct engine_step step;
	unsigned asked = 0, inside = 0;

	(void)state;
	line(&f, 256);
	f.o.borders = true;
	start(&f);
	tell_ends(&f);
	/* 100 … 155 fail alike; 200 is the culprit */
	for (engine_next(f.e, &step); step.phase != PHASE_DONE; engine_next(f.e, &step)) {
		uint32_t x = step.node;
		struct trial t = { .outcome = TRIAL_BUILD_FAILED, .alike = 7 };

		assert_true(++asked < 40);
		if (x >= 100 && x <= 155) {
			inside++;
			engine_observe(f.e, x, &t);
		} else {
			tell(&f, x, x < 200 ? 10 : 20);
		}
	}
	assert_ends_as(&f, ENGINE_FOUND, 200);
	assert_true(inside >= 1 && inside <= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_said_counts_without_being_measured),
		cmocka_unit_test(what_was_said_is_believed_over_what_was_measured),
		cmocka_unit_test(a_recheck_measures_first_what_was_said),
		cmocka_unit_test(said_skips_are_passed_over_and_are_left_with_the_answer),
		cmocka_unit_test(a_said_merge_base_is_not_measured),
		cmocka_unit_test(a_contradicting_word_moves_nothing),
		cmocka_unit_test(words_of_a_fix_hunt_are_the_metrics),
		cmocka_unit_test(broken_ranges_are_crossed_by_their_borders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
