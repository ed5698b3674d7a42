/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Candidates and picks beside git rev-list, to the end of each hunt, over random histories. */
#define HUNTS 2050
#include "contract/hunt.h"

static unsigned long picks, sets;

/* The candidates are those that git rev-list prints, none more and none less. */
static void compare_set(struct hunt *t)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;
	unsigned lines = 0;
	uint32_t old_bad = t->bad_node;

	strv_add(&args, "git");
	strv_add(&args, "rev-list");
	if (t->dag.tip == DAG_NONE) {
		assert_int_equal(t->dag.n, 0);
		return;
	}
	t->bad_node = t->dag.tip;
	add_range(&args, t);
	t->bad_node = old_bad;
	assert_int_equal(git(&args, &out), 0);
	for (char *line = strtok(out.buf ? out.buf : (char[]){ "" }, "\n"); line;
	     line = strtok(NULL, "\n"), lines++) {
		struct commit_id id;
		uint32_t node;

		assert_true(commit_parse(line, &id));
		node = dag_find(&t->dag, &id);
		if (node == DAG_NONE || (t->dag.treesame && t->dag.treesame[node])) {
			describe(t);
			fail_msg("not among our candidates: %s", line);
		}
	}
	if (lines != dag_candidates(&t->dag)) {
		describe(t);
		fail_msg("git has %u candidates, we have %u", lines, dag_candidates(&t->dag));
	}
	sets++;
}

/* One pick beside git rev-list --bisect-vars, which knows no skips. */
static void compare_vars(struct hunt *t, const struct pick *p)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;
	char hex[COMMIT_HEX + 1] = "nothing";
	int nr, good, bad, all = 0, steps = 0;

	strv_add(&args, "git");
	strv_add(&args, "rev-list");
	strv_add(&args, "--bisect-vars");
	add_range(&args, t);
	assert_int_equal(git(&args, &out), 0);
	if (sscanf(str_text(&out),
		   "bisect_rev='%40[0-9a-f]'\nbisect_nr=%d\nbisect_good=%d\n"
		   "bisect_bad=%d\nbisect_all=%d\nbisect_steps=%d",
		   hex, &nr, &good, &bad, &all, &steps) != 6) {
		/* no candidate */
		assert_int_equal(p->kind, PICK_EMPTY);
		return;
	}
	if (!all) {
		assert_int_equal(p->kind, PICK_EMPTY);
		return;
	}
	compare_node(t, hex, p->node);
	assert_int_equal(p->left, all);
	assert_int_equal(p->steps, steps);
	picks++;
}

/* Without skips: each pick beside one run of git rev-list. */
static void compare_hunt(struct hunt *t)
{
	struct pick p;

	open_hunt(t);
	compare_set(t);
	for (unsigned i = 0; t->dag.n && i <= t->dag.n; i++) {
		pick_bisect_next(t->picker, t->mark, t->bad_node, &p);
		if (i && git_errs(t))
			break;
		compare_vars(t, &p);
		if (p.kind != PICK_TEST)
			break;
		answer(t, p.node);
	}
	close_hunt(t);
}

static void picks_without_skips_are_those_of_rev_list(void **state)
{
	(void)state;
	for (unsigned i = 0; i < n_histories; i++) {
		struct hunt t = { .h = &histories[i], .rng = histories[i].seed ^ 0x5157 };

		choose_ends(&t, false);
		t.first_parent = random_below(&t.rng, 4) == 0;
		if (random_below(&t.rng, 3) == 0)
			t.paths = path_sets[random_below(&t.rng, ARRAY_SIZE(path_sets))];
		compare_hunt(&t);
	}
	print_message("%u histories: %lu candidate sets and %lu picks equal to git rev-list; %lu "
		      "hunts left where git's walk erred\n",
		      n_histories, sets, picks, git_erred);
	assert_true(git_erred < n_histories / 50 && picks > 2 * n_histories);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(picks_without_skips_are_those_of_rev_list),
	};

	return cmocka_run_group_tests_name("git_picks", tests, set_up, tear_down);
}
