/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares of two kernels, and stacks folded to the place where a thread sleeps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/str.h"
#include "core/sleepers.h"

static void check_place(const char *frames, const char *expected)
{
	_cleanup_str_ struct str place = STR_INIT;

	sleepers_place(frames, &place);
	assert_string_equal(str_text(&place), expected);
}

/* The first is the stack of the mail that started it. */
static void a_stack_is_folded_to_what_waits_and_its_caller(void **state)
{
	(void)state;
	check_place("__wait_rcu_gp;synchronize_rcu;hugetlb_vmemmap_restore_folios;"
		    "update_and_free_pages_bulk;hugetlb_vm_op_close",
		    "synchronize_rcu\nhugetlb_vmemmap_restore_folios");
	check_place("__wait_for_common;wait_for_completion_state;__wait_rcu_gp;"
		    "synchronize_rcu_normal;synchronize_rcu;f",
		    "synchronize_rcu\nf");
	/* As gcc splits it, and as a guessing unwinder of 6.12 shows it. */
	check_place("__wait_rcu_gp;synchronize_rcu_normal.part.0;__call_rcu_common.constprop.0;"
		    "get_completed_synchronize_rcu;hugetlb_vmemmap_restore_folios;f",
		    "synchronize_rcu\nhugetlb_vmemmap_restore_folios");
	check_place("rwsem_down_write_slowpath;down_write;do_exit", "down_write\ndo_exit");
	check_place("do_wait;kernel_wait4", "do_wait\nkernel_wait4");
	check_place("schedule", "schedule\n");
	check_place("schedule;schedule_timeout", "schedule_timeout\n");
	/* Only a pattern with a star means any ending. */
	check_place("wait_rcu_gp_mine;f", "wait_rcu_gp_mine\nf");
	check_place("schedule_hrtimeout_range;do_poll;f", "do_poll\nf");
}

static void looks_are_counted_by_place(void **state)
{
	static const char text[] = "looks 100 us 5 cost_us 1 lost 0\n"
				   "40 D __wait_rcu_gp;synchronize_rcu;f;g\n"
				   "20 D __wait_rcu_gp;synchronize_rcu;f;h\n"
				   "99 S do_wait;kernel_wait4\n"
				   "30 R\n7 S\n5 Z\n3 X odd\n"
				   "6 D evil<b>;f\n-4 D f\n8 D  two\nnoise\n";
	struct sleepers s = { .n = 0 };

	(void)state;
	sleepers_read(text, sizeof(text) - 1, &s);
	assert_int_equal(s.places.total, 100);
	assert_int_equal(s.places.n, 5);
	assert_string_equal(s.places.v[0].name, "[asleep]\n");
	assert_int_equal(s.places.v[0].count, 7);
	assert_int_equal(s.places.v[1].count, 30);
	assert_string_equal(s.places.v[2].name, "do_wait\nkernel_wait4");
	assert_string_equal(s.places.v[4].name, "synchronize_rcu\nf");
	assert_int_equal(s.places.v[4].count, 60);
	assert_string_equal(sleepers_common(&s, 1, "synchronize_rcu\nf"),
			    "__wait_rcu_gp;synchronize_rcu;f;g");
	assert_null(sleepers_common(&s, 1, "nowhere\n"));
	sleepers_release(&s);
}

static void a_place_has_no_more_looks_than_there_were(void **state)
{
	static const char text[] = "looks 10 us\n8 D a;f\n9 D b;a;f\n7 D a;f;g\n";
	struct sleepers s = { .n = 0 };

	(void)state;
	sleepers_read(text, sizeof(text) - 1, &s);
	for (size_t i = 0; i < s.places.n; i++)
		assert_true(s.places.v[i].count <= 10);
	assert_string_equal(s.places.v[0].name, "a\nf");
	assert_int_equal(s.places.v[0].count, 10);
	sleepers_release(&s);
}

static void looks_without_a_head_are_not_counted(void **state)
{
	static const char text[] = "40 D a;b\nlooks 0\n5 D a;b\n";
	struct sleepers s = { .n = 0 };

	(void)state;
	sleepers_read(text, sizeof(text) - 1, &s);
	assert_int_equal(s.places.n, 0);
	sleepers_release(&s);
}

/* ---- shares -------------------------------------------------------------------------------- */

static void near(double got, double expected)
{
	if (!(fabs(got - expected) <= 1e-9))
		fail_msg("%.12g where %.12g is right", got, expected);
}

/*
 * By hand. f: 10 of 100 and 60 of 100: both binomial, error 1.96·√(0.09/100 + 0.24/100).
 * g: 30 and 31 against 50 and 50 of 100 in one boot each. only: never in 100 looks, the variance
 * is that of one.
 */
static void differences_come_with_their_error_and_largest_first(void **state)
{
	struct shares a = { .total = 100 }, b = { .total = 100 };
	const struct shares *boots[2] = { &a, &b };
	const size_t n_boots[2] = { 1, 1 };
	struct share_diff *d;

	(void)state;
	shares_add(&a, "f", 4);
	shares_add(&a, "f", 6);
	shares_add(&a, "g", 30);
	shares_add(&b, "g", 50);
	shares_add(&b, "only", 2);
	shares_add(&b, "f", 60);
	assert_int_equal(shares_compare(boots, n_boots, &d), 3);
	assert_string_equal(d[0].name, "f");
	near(d[0].mean[0], 0.1);
	near(d[0].mean[1], 0.6);
	near(d[0].error, 1.959963984540054 * sqrt(0.0009 + 0.0024));
	assert_int_equal(d[0].count[1], 60);
	assert_string_equal(d[1].name, "g");
	assert_string_equal(d[2].name, "only");
	near(d[2].mean[0], 0);
	near(d[2].error, 1.959963984540054 * sqrt(0.01 * 0.99 / 100 + 0.02 * 0.98 / 100));
	free(d);
	shares_release(&a);
	shares_release(&b);
}

/* Two boots of 1000 looks at 20 % and 40 %: mean 0.3, sd 0.1414, which is far above binomial. */
static void boots_that_disagree_widen_the_error(void **state)
{
	struct shares a[2] = { { .total = 1000 }, { .total = 1000 } }, b[1] = { { .total = 1000 } };
	const struct shares *boots[2] = { a, b };
	const size_t n_boots[2] = { 2, 1 };
	struct share_diff *d;

	(void)state;
	shares_add(&a[0], "f", 200);
	shares_add(&a[1], "f", 400);
	shares_add(&b[0], "f", 500);
	assert_int_equal(shares_compare(boots, n_boots, &d), 1);
	near(d[0].mean[0], 0.3);
	near(d[0].sd[0], sqrt(0.02));
	near(d[0].error, 1.959963984540054 * sqrt(0.02 / 2 + 0.25 / 1000));
	free(d);
	shares_release(&a[0]);
	shares_release(&a[1]);
	shares_release(&b[0]);
}

static void a_side_without_looks_has_no_shares(void **state)
{
	struct shares a = { .total = 10 };
	const struct shares *boots[2] = { &a, NULL };
	const size_t n_boots[2] = { 1, 0 };
	struct share_diff *d;

	(void)state;
	shares_add(&a, "f", 2);
	assert_int_equal(shares_compare(boots, n_boots, &d), 0);
	assert_null(d);
	shares_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_is_folded_to_what_waits_and_its_caller),
		cmocka_unit_test(looks_are_counted_by_place),
		cmocka_unit_test(a_place_has_no_more_looks_than_there_were),
		cmocka_unit_test(looks_without_a_head_are_not_counted),
		cmocka_unit_test(differences_come_with_their_error_and_largest_first),
		cmocka_unit_test(boots_that_disagree_widen_the_error),
		cmocka_unit_test(a_side_without_looks_has_no_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
