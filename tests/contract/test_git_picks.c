/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our picks beside those of the installed git, to the end of each hunt, over random histories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "contract/histories.h"
#include "core/dag.h"
#include "core/pick_bisect.h"
#include "io/repo.h"

static char *dir;
static struct repo *repo;
static struct made_history *histories;
static unsigned n_histories, n_sessions;
static unsigned long picks, skipped_picks, sets, ends, steps_seen, git_erred;

/* One hunt: which ends, and what every commit would answer. */
struct hunt {
	const struct made_history *h;
	unsigned bad, good[3], goods;
	bool first_parent;
	const char *const *paths; /* NULL-terminated; NULL: none */
	unsigned culprit;
	unsigned skip_of_8;       /* so many of eight commits cannot be tested */
	uint64_t rng;
	bool is_skipped[HISTORY_MAX];
	/* ours */
	struct dag dag;
	struct pick_bisect *picker;
	enum dag_mark *mark;
	uint32_t bad_node;
};

static const char *const path_sets[][4] = {
	{ "a" }, { "a/x.c" }, { "b/" }, { "a/sub", "top.c" }, { "*.c" }, { "a", ":!a/sub" },
	{ "./b/../a/sub/" }, { "none" }, { "top.c", "b/w" }, { ":(top)b/x*" }, { "a/*" }, { "?/w" },
};

static void describe(const struct hunt *t)
{
	char hex[COMMIT_HEX + 1];

	print_error("history %#llx: %s, dates %s, %u commits%s, bad %s\n",
		    (unsigned long long)t->h->seed, shape_name[t->h->shape],
		    dates_name[t->h->dates], t->h->n, t->first_parent ? ", first parent" : "",
		    commit_hex(&t->h->commit[t->bad].id, hex));
	for (unsigned i = 0; i < t->goods; i++)
		print_error("  good %s\n", commit_hex(&t->h->commit[t->good[i]].id, hex));
	for (const char *const *p = t->paths; p && *p; p++)
		print_error("  path %s\n", *p);
}

static unsigned number_of(const struct hunt *t, const struct commit_id *id)
{
	for (unsigned i = 0; i < t->h->n; i++)
		if (commit_eq(&t->h->commit[i].id, id))
			return i;
	fail_msg("a commit of another history");
	return 0;
}

/* Run git with the arguments in @args, its output in @out. */
static int git(const struct strv *args, struct str *out)
{
	const struct proc_opts o = {
		.argv = args->v, .cwd = dir, .out = out, .merge_stderr = true,
	};
	struct proc_result res;
	struct err e = ERR_INIT;

	if (proc_run(&o, &res, &e))
		fail_msg("git: %s", e.msg);
	assert_int_equal(res.end, PROC_EXITED);
	return res.status;
}

static void add_paths(struct strv *args, const struct hunt *t)
{
	strv_add(args, "--");
	for (const char *const *p = t->paths; p && *p; p++)
		strv_add(args, *p);
}

static int by_id(const void *a, const void *b)
{
	return commit_cmp(a, b);
}

/* What git rev-list is told: the bad commit and all good ones, in the order of their names. */
static void add_range(struct strv *args, const struct hunt *t)
{
	struct commit_id good[HISTORY_MAX];
	char hex[COMMIT_HEX + 1];
	size_t n = 0;

	if (t->first_parent)
		strv_add(args, "--first-parent");
	strv_add(args, commit_hex(&t->dag.id[t->bad_node], hex));
	for (unsigned i = 0; i < t->goods; i++)
		good[n++] = t->h->commit[t->good[i]].id;
	for (uint32_t i = 0; i < t->dag.n; i++)
		if (t->mark[i] == DAG_GOOD)
			good[n++] = t->dag.id[i];
	qsort(good, n, sizeof(*good), by_id);
	for (size_t i = 0; i < n; i++)
		strv_addf(args, "^%s", commit_hex(&good[i], hex));
	add_paths(args, t);
}

static void open_hunt(struct hunt *t)
{
	struct commit_id good[3];
	_cleanup_strv_ struct strv paths = STRV_INIT;
	const struct repo_range range = {
		.tip = &t->h->commit[t->bad].id, .not_ = good, .n_not = t->goods,
		.first_parent = t->first_parent, .paths = &paths,
	};
	const struct pick_opts o = { .first_parent = t->first_parent };
	struct err e = ERR_INIT;

	for (const char *const *p = t->paths; p && *p; p++)
		strv_add(&paths, *p);
	for (unsigned i = 0; i < t->goods; i++)
		good[i] = t->h->commit[t->good[i]].id;
	qsort(good, t->goods, sizeof(*good), by_id);
	t->dag = (struct dag)DAG_INIT;
	if (repo_candidates(repo, &range, &t->dag, &e))
		fail_msg("candidates: %s", e.msg);
	t->mark = xcalloc(t->dag.n + 1, sizeof(*t->mark));
	t->picker = pick_bisect_new(&t->dag, &o);
	t->bad_node = t->dag.tip;
}

static void close_hunt(struct hunt *t)
{
	pick_bisect_free(t->picker);
	free(t->mark);
	dag_release(&t->dag);
}

static bool is_candidate(const struct hunt *t, unsigned i)
{
	bool is = history_is_ancestor(t->h, i, number_of(t, &t->dag.id[t->bad_node]));

	for (unsigned k = 0; k < t->goods; k++)
		is &= !history_is_ancestor(t->h, i, t->good[k]);
	for (uint32_t k = 0; k < t->dag.n; k++)
		is &= t->mark[k] != DAG_GOOD ||
		      !history_is_ancestor(t->h, i, number_of(t, &t->dag.id[k]));
	return is;
}

/*
 * Where the clocks are wild, git's walk can end too early, and it takes
 * commits below a good one for candidates. Is this such a case? (When it
 * happens in the first walk we do the same; later ones we do better.)
 */
static bool git_errs(struct hunt *t)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;
	const char *const *paths = t->paths;
	bool first_parent = t->first_parent;
	int expected = 0;

	if (t->h->dates != DATES_WILD)
		return false;
	t->paths = NULL;
	t->first_parent = false;
	strv_add(&args, "git");
	strv_add(&args, "rev-list");
	strv_add(&args, "--count");
	add_range(&args, t);
	t->paths = paths;
	t->first_parent = first_parent;
	assert_int_equal(git(&args, &out), 0);
	for (unsigned i = 0; i < t->h->n; i++)
		expected += is_candidate(t, i);
	git_erred += atoi(str_text(&out)) != expected;
	return atoi(str_text(&out)) != expected;
}

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

static void compare_node(const struct hunt *t, const char *git_hex, uint32_t node)
{
	char hex[COMMIT_HEX + 1] = "nothing";

	if (node != DAG_NONE)
		commit_hex(&t->dag.id[node], hex);
	if (strcmp(git_hex, hex)) {
		describe(t);
		fail_msg("git picks %s, we pick %s", git_hex, hex);
	}
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
	if (sscanf(str_text(&out), "bisect_rev='%40[0-9a-f]'\nbisect_nr=%d\nbisect_good=%d\n"
		   "bisect_bad=%d\nbisect_all=%d\nbisect_steps=%d", hex, &nr, &good, &bad, &all,
		   &steps) != 6) {
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

/* Take an answer: does @node have the culprit in it? */
static void answer(struct hunt *t, uint32_t node)
{
	unsigned i = number_of(t, &t->dag.id[node]);

	if (history_is_ancestor(t->h, t->culprit, i)) {
		t->mark[node] = DAG_BAD;
		t->bad_node = node;
	} else {
		t->mark[node] = DAG_GOOD;
	}
}

static void choose_ends(struct hunt *t, bool ancestors_only)
{
	const struct made_history *h = t->h;

	t->bad = random_below(&t->rng, 4) ? h->n - 1 :
		 h->n / 2 + random_below(&t->rng, h->n - h->n / 2);
	t->goods = 0;
	for (unsigned k = 1 + random_below(&t->rng, 3); k; k--) {
		unsigned i = random_below(&t->rng, 4) ? random_below(&t->rng, 1 + h->n / 6) :
			     random_below(&t->rng, h->n);

		if (i == t->bad || (ancestors_only && !history_is_ancestor(h, i, t->bad)))
			continue;
		t->good[t->goods++] = i;
	}
	t->culprit = random_below(&t->rng, t->bad + 1);
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
		      "hunts left where git's walk erred\n", n_histories, sets, picks, git_erred);
	assert_true(git_erred < n_histories / 50 && picks > 2 * n_histories);
}

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
	for (unsigned i = 0; i < n_sessions; i++) {
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
	assert_true(steps_seen > n_sessions);
}

/* The order is git's too: the first one is tested first. */
static void merge_bases_are_those_of_git(void **state)
{
	unsigned long several = 0, compared = 0;

	(void)state;
	for (unsigned i = 0; i < n_sessions; i++) {
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
		assert_int_equal(repo_merge_bases(repo, a, b, &base, &n, &e), 0);
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

static unsigned from_env(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static int set_up(void **state)
{
	unsigned soak = from_env("KREGRESS_SOAK", 1);
	unsigned seed = from_env("KREGRESS_SEED", 20261130);
	struct err e = ERR_INIT;

	(void)state;
	/* nothing of the user's settings may matter */
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	n_histories = from_env("KREGRESS_HISTORIES", 2200 * (soak ? soak : 1));
	n_sessions = n_histories / 7;
	dir = xstrdup("/tmp/kregress-picks-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	histories = xcalloc(n_histories, sizeof(*histories));
	for (unsigned i = 0; i < n_histories; i++)
		history_make(&histories[i], ((uint64_t)seed << 32) + i,
			     i % 16 ? 40 : HISTORY_MAX);
	/* git bisect wants a HEAD */
	if (!histories_import(dir, histories, n_histories) ||
	    !run(dir, "git symbolic-ref HEAD refs/heads/h0"))
		return -1;
	return repo_open(dir, &repo, &e);
}

static int tear_down(void **state)
{
	(void)state;
	repo_close(repo);
	if (!getenv("KEEP"))
		fs_remove_tree(dir, NULL);
	free(dir);
	free(histories);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(picks_without_skips_are_those_of_rev_list),
		cmocka_unit_test(sessions_with_skips_are_those_of_git_bisect),
		cmocka_unit_test(merge_bases_are_those_of_git),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
