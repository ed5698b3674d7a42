/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commit names, the graph of candidates, and reach counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/commit.h"
#include "core/dag.h"
#include "core/reach.h"

static struct commit_id id_of(uint32_t i)
{
	struct commit_id id = { { 0 } };

	id.raw[0] = (uint8_t)(i >> 8);
	id.raw[1] = (uint8_t)i;
	id.raw[19] = 1;
	return id;
}

static void add(struct dag *d, uint32_t i)
{
	struct commit_id id = id_of(i);

	assert_int_equal(dag_add(d, &id, 1000 + i), i);
}

static void a_name_is_forty_hex_digits_and_nothing_else(void **state)
{
	const char *hex = "0123456789abcdef0123456789ABCDEF00ff10a5";
	char text[COMMIT_HEX + 1];
	struct commit_id id = { { 7 } }, before = id;

	(void)state;
	assert_false(commit_parse("", &id));
	assert_false(commit_parse("0123456789abcdef0123456789abcdef00ff10a", &id));
	assert_false(commit_parse("0123456789abcdef0123456789abcdef00ff10a5 ", &id));
	assert_false(commit_parse("0123456789abcdef0123456789abcdef00ff10g5", &id));
	assert_true(commit_eq(&id, &before));
	assert_true(commit_parse(hex, &id));
	assert_int_equal(id.raw[1], 0x23);
	assert_int_equal(id.raw[19], 0xa5);
	assert_string_equal(commit_hex(&id, text), "0123456789abcdef0123456789abcdef00ff10a5");
	assert_false(commit_is_null(&id));
	assert_true(commit_parse("0000000000000000000000000000000000000000", &id));
	assert_true(commit_is_null(&id));
}

static void parents_are_kept_in_order_and_nodes_are_found_by_name(void **state)
{
	_cleanup_(dag_release) struct dag d = DAG_INIT;
	struct commit_id id;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		add(&d, i);
	dag_parent(&d, 1, 0);
	dag_parent(&d, 3, 2);
	dag_parent(&d, 3, 1);
	/* under clock skew a parent can stand behind its child */
	dag_parent(&d, 500, 999);
	dag_finish(&d);
	assert_int_equal(dag_parent_count(&d, 0), 0);
	assert_int_equal(dag_parent_count(&d, 1), 1);
	assert_int_equal(dag_parent_count(&d, 2), 0);
	assert_int_equal(dag_parent_count(&d, 3), 2);
	assert_int_equal(dag_parents(&d, 3)[0], 2);
	assert_int_equal(dag_parents(&d, 3)[1], 1);
	assert_int_equal(dag_parents(&d, 500)[0], 999);
	assert_int_equal(dag_parent_count(&d, 999), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		id = id_of(i);
		assert_int_equal(dag_find(&d, &id), i);
	}
	id = id_of(1000);
	assert_int_equal(dag_find(&d, &id), DAG_NONE);
	assert_int_equal(dag_candidates(&d), 1000);
}

static void an_empty_graph_holds_nothing(void **state)
{
	_cleanup_(dag_release) struct dag d = DAG_INIT;
	struct commit_id id = id_of(0);

	(void)state;
	dag_finish(&d);
	assert_int_equal(dag_find(&d, &id), DAG_NONE);
	assert_int_equal(dag_candidates(&d), 0);
	assert_int_equal(d.tip, DAG_NONE);
}

static void ancestors_are_marked_through_all_parents(void **state)
{
	/* 0 - 1 - 3 - 4, 2 - 3, 5 alone */
	_cleanup_(dag_release) struct dag d = DAG_INIT;
	bool mark[6] = { false };

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		add(&d, i);
	dag_parent(&d, 1, 0);
	dag_parent(&d, 3, 1);
	dag_parent(&d, 3, 2);
	dag_parent(&d, 4, 3);
	dag_finish(&d);
	dag_mark_ancestors(&d, 3, mark);
	assert_memory_equal(mark, ((bool[]){ true, true, true, true, false, false }), 6);
	dag_mark_ancestors(&d, 5, mark);
	assert_memory_equal(mark, ((bool[]){ true, true, true, true, false, true }), 6);
}

static void commits_that_do_not_touch_the_paths_are_no_candidates(void **state)
{
	_cleanup_(dag_release) struct dag d = DAG_INIT;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		add(&d, i);
	dag_finish(&d);
	d.treesame = xcalloc(4, sizeof(*d.treesame));
	d.treesame[2] = true;
	assert_int_equal(dag_candidates(&d), 3);
}

/* Reach by brute force. */
static uint32_t count_reach(const struct reach_graph *g, uint32_t from, bool *seen)
{
	uint32_t n = !g->free[from];

	seen[from] = true;
	for (uint32_t k = g->start[from]; k < g->start[from + 1]; k++)
		if (!seen[g->parent[k]])
			n += count_reach(g, g->parent[k], seen);
	return n;
}

/*
 * @n commits with 0 to 3 parents each; numbers are shuffled when @shuffle, so
 * that parents stand behind children too.
 */
static void compare_reach(unsigned seed, uint32_t n, unsigned merges_percent, bool shuffle)
{
	uint32_t *start = xcalloc(n + 1, sizeof(*start)), *parent = xcalloc(3 * n, sizeof(*parent));
	uint32_t *name = xcalloc(n, sizeof(*name)), *at = xcalloc(n, sizeof(*at));
	uint32_t *order = xcalloc(n, sizeof(*order)), *weight = xcalloc(n, sizeof(*weight));
	bool *skip = xcalloc(n, sizeof(*skip)), *seen = xcalloc(n, sizeof(*seen));
	struct reach_graph g = { .n = n, .start = start, .parent = parent, .free = skip };
	uint32_t used = 0;

	srand(seed);
	for (uint32_t i = 0; i < n; i++)
		name[i] = i;
	for (uint32_t i = n - 1; shuffle && i; i--) {
		uint32_t k = (uint32_t)rand() % (i + 1), swap = name[i];

		name[i] = name[k];
		name[k] = swap;
	}
	for (uint32_t i = 0; i < n; i++)
		at[name[i]] = i;
	/* node x is the at[x]th oldest */
	for (uint32_t x = 0; x < n; x++) {
		uint32_t age = at[x], near = age < 40 ? age : 40;

		start[x] = used;
		skip[x] = rand() % 5 == 0;
		for (int k = rand() % 100 < (int)merges_percent ? 2 + rand() % 2 : 1; near && k;
		     k--)
			parent[used++] = name[age - 1 - (uint32_t)rand() % (k > 1 ? near : 1)];
	}
	start[n] = used;
	reach_order(&g, order);
	reach_weights(&g, order, weight);
	for (uint32_t x = 0; x < n; x += 1 + n / 200) {
		memset(seen, 0, n * sizeof(*seen));
		assert_int_equal(weight[x], count_reach(&g, x, seen));
	}
	free(start);
	free(parent);
	free(name);
	free(at);
	free(order);
	free(weight);
	free(skip);
	free(seen);
}

static void reach_counts_equal_those_of_brute_force(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 60; seed++)
		compare_reach(seed, 1 + seed % 30, 30, seed % 2);
	compare_reach(101, 700, 100, false); /* strands of more than one block */
	compare_reach(102, 3000, 60, true);
	compare_reach(103, 5000, 8, false);
	compare_reach(104, 2000, 0, false);
}

static void parents_come_before_children_in_the_order(void **state)
{
	/* 0 has parent 2, 2 has parent 1, 3 has parents 0 and 1 */
	const uint32_t start[] = { 0, 1, 1, 2, 4 }, parent[] = { 2, 1, 0, 1 };
	const struct reach_graph g = { .n = 4, .start = start, .parent = parent };
	uint32_t order[4], weight[4];

	(void)state;
	reach_order(&g, order);
	assert_memory_equal(order, ((uint32_t[]){ 1, 2, 0, 3 }), sizeof(order));
	reach_weights(&g, order, weight);
	assert_memory_equal(weight, ((uint32_t[]){ 3, 1, 2, 4 }), sizeof(weight));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_forty_hex_digits_and_nothing_else),
		cmocka_unit_test(parents_are_kept_in_order_and_nodes_are_found_by_name),
		cmocka_unit_test(an_empty_graph_holds_nothing),
		cmocka_unit_test(ancestors_are_marked_through_all_parents),
		cmocka_unit_test(commits_that_do_not_touch_the_paths_are_no_candidates),
		cmocka_unit_test(reach_counts_equal_those_of_brute_force),
		cmocka_unit_test(parents_come_before_children_in_the_order),
	};

	return cmocka_run_group_tests_name("dag", tests, NULL, NULL);
}
