/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole sessions of git bisect, with commits that cannot be tested, beside ours. */
#define HUNTS 240
#include "contract/hunt.h"

static unsigned long skipped_picks, ends, steps_seen;

/* git bisect itself; @verb "start" or a verdict. Its output in @out. */
static int git_bisect(struct hunt *t, const char *verb, uint32_t node, struct str *out)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	char hex[COMMIT_HEX + 1];

	strv_add(&args, "git");
	strv_add(&args, "bisect");
	strv_add(&args, verb);
	if (!strcmp(verb, "start")) {
		strv_add(&args, "--no-checkout");
		add_range(&args, t);
		/* git bisect start takes the good ones as plain names */
		for (size_t i = 0; i < args.n; i++)
			if (args.v[i][0] == '^')
				memmove(args.v[i], args.v[i] + 1, COMMIT_HEX + 1);
	} else {
		strv_add(&args, commit_hex(&t->dag.id[node], hex));
	}
	return git(&args, out);
}

static void compare_short_list(struct hunt *t, const char *text)
{
	const uint32_t *left;
	uint32_t n = pick_bisect_left(t->picker, &left);
	bool *listed = xcalloc(t->dag.n + 1, sizeof(*listed));
	unsigned lines = 0;

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		char hex[COMMIT_HEX + 1] = "";
		struct commit_id id;

		line += *line == '\n';
		if (sscanf(line, "%40[0-9a-f]", hex) != 1 || !commit_parse(hex, &id) ||
		    line[COMMIT_HEX] != '\n')
			continue;
		/* git may name the bad commit twice */
		lines += !listed[dag_find(&t->dag, &id)];
		listed[dag_find(&t->dag, &id)] = true;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!listed[left[i]]) {
			describe(t);
			fail_msg("git does not list all of our short list: %s", text);
		}
	if (lines != n)
		describe(t);
	assert_int_equal(lines, n);
	free(listed);
}

/* What git printed must be what we say. Returns false at the end of the session. */
static bool compare_bisect(struct hunt *t, const struct pick *p, const char *text)
{
	const char *first_bad = strstr(text, " is the first bad commit");
	_cleanup_str_ struct str head = STR_INIT;
	_cleanup_free_ char *path = fs_join(dir, "BISECT_HEAD");
	const char *steps = strstr(text, "(roughly ");
	struct err e = ERR_INIT;

	ends++;
	if (first_bad) {
		char hex[COMMIT_HEX + 1] = "";

		assert_true(first_bad - text >= COMMIT_HEX);
		memcpy(hex, first_bad - COMMIT_HEX, COMMIT_HEX);
		compare_node(t, hex, p->kind == PICK_FOUND ? p->node : DAG_NONE);
		return false;
	}
	if (strstr(text, "There are only 'skip'ped commits left")) {
		if (p->kind != PICK_ONLY_SKIPPED)
			describe(t);
		assert_int_equal(p->kind, PICK_ONLY_SKIPPED);
		compare_short_list(t, text);
		return false;
	}
	if (strstr(text, "No testable commit found") || strstr(text, " was both good and bad")) {
		assert_int_equal(p->kind, PICK_EMPTY);
		return false;
	}
	ends--;
	if (fs_read(path, 100, &head, &e) || !steps) {
		describe(t);
		fail_msg("git bisect said: %s", text);
	}
	head.buf[COMMIT_HEX] = '\0';
	compare_node(t, head.buf, p->kind == PICK_TEST ? p->node : DAG_NONE);
	assert_int_equal(p->steps, atoi(steps + strlen("(roughly ")));
	steps_seen++;
	return true;
}

/* A whole session of git bisect, with commits that cannot be tested. */
static void compare_session(struct hunt *t)
{
	_cleanup_str_ struct str out = STR_INIT;
	struct pick p;

	open_hunt(t);
	for (unsigned i = 0; i < t->h->n; i++)
		t->is_skipped[i] = random_below(&t->rng, 8) < t->skip_of_8;
	run(dir, "git bisect reset -q >/dev/null 2>&1; rm -f BISECT_*");
	if (t->dag.n)
		git_bisect(t, "start", 0, &out);
	for (unsigned i = 0; t->dag.n; i++) {
		const char *verb = "good";

		assert_true(i <= t->dag.n);
		pick_bisect_next(t->picker, t->mark, t->bad_node, &p);
		if (i && git_errs(t))
			break;
		if (!compare_bisect(t, &p, str_text(&out)))
			break;
		skipped_picks++;
		if (t->is_skipped[number_of(t, &t->dag.id[p.node])]) {
			t->mark[p.node] = DAG_SKIP;
			verb = "skip";
		} else {
			answer(t, p.node);
			if (t->mark[p.node] == DAG_BAD)
				verb = "bad";
		}
		str_clear(&out);
		git_bisect(t, verb, p.node, &out);
	}
	close_hunt(t);
}

static void sessions_with_skips_are_those_of_git_bisect(void **state)
{
	(void)state;
	for (unsigned i = 0; i < n_histories; i++) {
		struct hunt t = { .h = &histories[i], .rng = histories[i].seed ^ 0x5e55 };

		choose_ends(&t, true);
		if (!t.goods)
			t.good[t.goods++] = 0;
		if (!history_is_ancestor(t.h, t.good[0], t.bad))
			continue;
		t.first_parent = random_below(&t.rng, 5) == 0;
		t.skip_of_8 = random_below(&t.rng, 8);
		if (random_below(&t.rng, 3) == 0)
			t.paths = path_sets[random_below(&t.rng, ARRAY_SIZE(path_sets))];
		compare_session(&t);
	}
	print_message("%lu sessions of git bisect: %lu picks equal, same ends\n", ends,
		      skipped_picks);
	assert_true(steps_seen > n_histories);
}

/* The order is git's too: the first one is tested first. */
static void merge_bases_are_those_of_git(void **state)
{
	unsigned long several = 0, compared = 0;

	(void)state;
	for (unsigned i = 0; i < n_histories; i++) {
		const struct made_history *h = &histories[i];
		uint64_t rng = h->seed ^ 0xba5e;
		unsigned near = h->n < 8 ? h->n : 8;
		const struct commit_id *a = &h->commit[h->n - 1 - random_below(&rng, near)].id;
		const struct commit_id *b = &h->commit[h->n - 1 - random_below(&rng, h->n)].id;
		_cleanup_strv_ struct strv args = STRV_INIT;
		_cleanup_str_ struct str out = STR_INIT, ours = STR_INIT;
		_cleanup_free_ struct commit_id *base = NULL;
		char hex[COMMIT_HEX + 1];
		struct err e = ERR_INIT;
		size_t n;

		strv_add(&args, "git");
		strv_add(&args, "merge-base");
		strv_add(&args, "--all");
		strv_add(&args, commit_hex(a, hex));
		strv_add(&args, commit_hex(b, hex));
		git(&args, &out);
		assert_int_equal(repo_merge_bases(repo, a, b, 1, &base, &n, &e), 0);
		for (size_t k = 0; k < n; k++)
			str_addf(&ours, "%s\n", commit_hex(&base[k], hex));
		if (h->dates == DATES_ALL_EQUAL || h->dates == DATES_TIES) {
			assert_int_equal(ours.len, out.len);
			for (size_t k = 0; k < n; k++)
				assert_non_null(strstr(str_text(&out), commit_hex(&base[k], hex)));
			continue;
		}
		if (strcmp(str_text(&ours), str_text(&out)))
			print_error("%s %s seed %#llx\n", shape_name[h->shape],
				    dates_name[h->dates], (unsigned long long)h->seed);
		assert_string_equal(str_text(&ours), str_text(&out));
		assert_int_equal(repo_is_ancestor(repo, a, b, &e), n == 1 && commit_eq(a, base));
		several += n > 1;
		compared++;
	}
	print_message("%lu pairs: same merge bases (%lu with several)\n", compared, several);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sessions_with_skips_are_those_of_git_bisect),
		cmocka_unit_test(merge_bases_are_those_of_git),
	};

	return cmocka_run_group_tests_name("git_sessions", tests, set_up, tear_down);
}
