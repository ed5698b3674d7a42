/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hunts over random histories, ours beside git's: what both comparisons share. HUNTS: how many. */
#ifndef KR_TESTS_HUNT_H
#define KR_TESTS_HUNT_H

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
static unsigned n_histories;
static unsigned long git_erred;

/* One hunt: which ends, and what every commit would answer. */
struct hunt {
	const struct made_history *h;
	unsigned bad, good[3], goods;
	bool first_parent;
	const char *const *paths; /* NULL-terminated; NULL: none */
	unsigned culprit;
	unsigned skip_of_8; /* so many of eight commits cannot be tested */
	uint64_t rng;
	bool is_skipped[HISTORY_MAX];
	/* ours */
	struct dag dag;
	struct pick_bisect *picker;
	enum dag_mark *mark;
	uint32_t bad_node;
};

static const char *const path_sets[][4] = {
	{ "a" },
	{ "a/x.c" },
	{ "b/" },
	{ "a/sub", "top.c" },
	{ "*.c" },
	{ "a", ":!a/sub" },
	{ "./b/../a/sub/" },
	{ "none" },
	{ "top.c", "b/w" },
	{ ":(top)b/x*" },
	{ "a/*" },
	{ "?/w" },
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
		.argv = args->v,
		.cwd = dir,
		.out = out,
		.merge_stderr = true,
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
		.tip = &t->h->commit[t->bad].id,
		.not_ = good,
		.n_not = t->goods,
		.first_parent = t->first_parent,
		.paths = &paths,
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

	t->bad = random_below(&t->rng, 4) ? h->n - 1
					  : h->n / 2 + random_below(&t->rng, h->n - h->n / 2);
	t->goods = 0;
	for (unsigned k = 1 + random_below(&t->rng, 3); k; k--) {
		unsigned i = random_below(&t->rng, 4) ? random_below(&t->rng, 1 + h->n / 6)
						      : random_below(&t->rng, h->n);

		if (i == t->bad || (ancestors_only && !history_is_ancestor(h, i, t->bad)))
			continue;
		t->good[t->goods++] = i;
	}
	t->culprit = random_below(&t->rng, t->bad + 1);
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
	n_histories = from_env("KREGRESS_HISTORIES", HUNTS * (soak ? soak : 1));
	dir = xstrdup("/tmp/kregress-hunts-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	histories = xcalloc(n_histories, sizeof(*histories));
	for (unsigned i = 0; i < n_histories; i++)
		history_make(&histories[i], ((uint64_t)seed << 32) + i, i % 16 ? 40 : HISTORY_MAX);
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

#endif
