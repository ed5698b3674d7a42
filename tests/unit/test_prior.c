/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Weights before anything is measured: prior = FILE, and what the kernels were built from. */
#include "repo_fixture.h"

#include <math.h>

#include "base/log.h"
#include "campaign/prior.h"
#include "io/used.h"

/*
 * A kernel's history in small; each commit's subject is what it is. "mm/memory.c", "mm/vmscan.c", "mm/util.c",
 * "init/main.c" and "mm/internal.h" are what the kernels were built from.
 */
static const char make_kernel[] =
	"rm -rf k; git init -q -b main k; cd k; n=1700000000\n"
	"put() { mkdir -p $(dirname $1); echo $n >>$1; }\n"
	"tick() { n=$((n+60)); export GIT_AUTHOR_DATE=\"$n +0000\" GIT_COMMITTER_DATE=\"$n "
	"+0000\"; }\n"
	"commit() { tick; for f in $2; do put $f; done; git add -A; git commit -q -m $1; }\n"
	"commit good 'init/main.c mm/memory.c mm/vmscan.c mm/util.c mm/internal.h drivers/gpu/a.c "
	"drivers/gpu/a.h drivers/gpu/Kconfig Documentation/x.rst include/linux/gpu.h'\n"
	"commit idle-doc Documentation/x.rst\n"
	"commit mm-code mm/memory.c\n"
	"commit idle-driver 'drivers/gpu/a.c drivers/gpu/a.h'\n"
	"commit driver-and-mm 'drivers/gpu/a.c mm/vmscan.c'\n"
	"commit kconfig drivers/gpu/Kconfig\n"
	"commit public-header include/linux/gpu.h\n"
	"commit new-file drivers/gpu/b.c\n"
	/* Merges: of documentation alone; clean, code on both sides; with a change of their own. */
	"git checkout -q -b docs HEAD~2; commit idle-doc2 Documentation/x.rst\n"
	"git checkout -q main; tick; git merge -q --no-ff -m idle-merge docs\n"
	"git checkout -q -b side HEAD~1; commit side-code mm/vmscan.c\n"
	"git checkout -q main; commit main-code mm/internal.h\n"
	"tick; git merge -q --no-ff -m clean-merge side\n"
	"git checkout -q -b side2 HEAD~1; commit side-code2 mm/util.c\n"
	"git checkout -q main; commit main-code2 mm/internal.h\n"
	"tick; git merge -q --no-ff --no-commit side2; put mm/memory.c; git add -A\n"
	"git commit -q -m evil-merge\n"
	"git rm -q drivers/gpu/b.c; commit deletion ''\n"
	"git mv drivers/gpu/a.h drivers/gpu/c.h; commit renaming ''\n"
	"commit bad mm/memory.c\n"
	"git tag bad; git tag good $(git rev-list --max-parents=0 HEAD)\n";

/* A session as far as priors look at it. */
struct world {
	struct config cfg;
	struct session s;
	double *w;
};

static void free_world(struct world *x)
{
	store_close(x->s.store);
	repo_close(x->s.repo);
	dag_release(&x->s.dag);
	free(x->cfg.campaign.state);
	free(x->cfg.prior);
	free(x->w);
}
#define _cleanup_world_ _cleanup_(free_world)

static void open_world(struct world *x, bool first_parent)
{
	struct err e = ERR_INIT;

	free(sh("rm -rf state cache; mkdir -p state"));
	_cleanup_free_ char *cache = fs_join(top, "cache");

	setenv("XDG_CACHE_HOME", cache, 1);
	*x = (struct world){ .s = { .mode = SESSION_RUN, .dag = DAG_INIT } };
	x->s.cfg = &x->cfg;
	x->cfg.campaign.state = fs_join(top, "state");
	x->cfg.prior = xstrdup("");
	x->s.repo = open_at("k");
	x->s.first_parent = first_parent;
	x->s.old = resolve(x->s.repo, "good");
	x->s.new = resolve(x->s.repo, "bad");
	strcpy(x->s.setup, "today");
	struct repo_range range = {
		.tip = &x->s.new, .not_ = &x->s.old, .n_not = 1, .first_parent = first_parent
	};

	if (repo_candidates(x->s.repo, &range, &x->s.dag, &e) < 0)
		fail_msg("%s", e.msg);
	x->w = xcalloc(x->s.dag.n, sizeof(double));
	_cleanup_free_ char *db = fs_join(top, "state/store.db");

	if (store_open(db, false, &x->s.store, &e) < 0)
		fail_msg("%s", e.msg);
}

/* @commit was built from @paths and measured under @setup. */
static void measure(struct world *x, const char *rev, const char *digit, const char *setup,
		    const char *paths)
{
	char key[HASH_HEX_SIZE], purpose[] = "ends";
	_cleanup_free_ char *words = xstrdup(setup);
	struct err e = ERR_INIT;
	struct store_build b = { .outcome = TRIAL_OK, .key = key };
	struct store_trial t = { .outcome = TRIAL_OK, .setup = words, .purpose = purpose };
	struct used *u = used_new();
	_cleanup_str_ struct str text = STR_INIT;

	memset(key, *digit, sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	b.commit = t.commit = resolve(x->s.repo, rev);
	assert_int_equal(store_build_add(x->s.store, &b, &e), 0);
	t.build_id = b.id;
	assert_int_equal(store_trial_begin(x->s.store, &t.commit, &t.id, &e), 0);
	assert_int_equal(store_trial_add(x->s.store, &t, &e), 0);
	used_scan(u, "/s", paths, strlen(paths));
	used_format(u, &text);
	used_free(u);
	_cleanup_free_ char *name = xasprintf("%s/cache/kregress/kernels/%s/used", top, key);
	_cleanup_free_ char *dir = fs_dirname(name);

	assert_int_equal(fs_mkdirs(dir, &e), 0);
	assert_int_equal(fs_write(name, text.buf, text.len, &e), 0);
}

static void weigh(struct world *x)
{
	struct err e = ERR_INIT;

	if (prior_weights(&x->s, x->w, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Weight of the commit with that subject. */
static double weight(const struct world *x, const char *subject)
{
	_cleanup_free_ char *hex = sh("cd k; git log --format='%%H %%s' bad | sed -n 's/ %s$//p'",
				      subject);
	struct commit_id id;
	uint32_t node;

	assert_true(commit_parse(hex, &id));
	node = dag_find(&x->s.dag, &id);
	assert_true(node != DAG_NONE);
	return x->w[node];
}

static void assert_weight(const struct world *x, const char *subject, double want)
{
	double got = weight(x, subject);

	if (fabs(got - want) > 1e-12 * want)
		fail_msg("%s: %g instead of %g", subject, got, want);
}

#define BUILT "/s/init/main.c /s/mm/memory.c /s/mm/internal.h /s/mm/util.c"

static void commits_that_change_nothing_built_get_almost_no_weight(void **state)
{
	static const char *const ordinary[] = {
		"mm-code",   "driver-and-mm", "kconfig",  "public-header", "new-file",
		"side-code", "evil-merge",    "deletion", "renaming",      "bad"
	};
	_cleanup_world_ struct world x;

	(void)state;
	open_world(&x, false);
	measure(&x, "good", "a", "today", BUILT);
	measure(&x, "bad", "b", "today", BUILT " /s/mm/vmscan.c");
	weigh(&x);
	assert_weight(&x, "idle-doc", PRIOR_IDLE);
	assert_weight(&x, "idle-driver", PRIOR_IDLE);
	assert_weight(&x, "idle-merge", PRIOR_IDLE);
	assert_weight(&x, "clean-merge", PRIOR_CLEAN_MERGE);
	for (size_t i = 0; i < ARRAY_SIZE(ordinary); i++)
		assert_weight(&x, ordinary[i], 1);
}

static void on_first_parents_a_merge_brings_in_the_other_side(void **state)
{
	_cleanup_world_ struct world x;

	(void)state;
	open_world(&x, true);
	measure(&x, "good", "a", "today", BUILT);
	measure(&x, "bad", "b", "today", BUILT " /s/mm/vmscan.c");
	weigh(&x);
	assert_weight(&x, "idle-merge", PRIOR_IDLE);
	assert_weight(&x, "clean-merge", 1);
	assert_weight(&x, "evil-merge", 1);
}

static void assert_all_alike(const struct world *x)
{
	for (uint32_t i = 0; i < x->s.dag.n; i++)
		assert_true(x->w[i] == 1);
}

static void nothing_is_believed_before_both_ends_were_built_under_this_setup(void **state)
{
	_cleanup_world_ struct world x;

	(void)state;
	open_world(&x, false);
	weigh(&x);
	assert_all_alike(&x);
	measure(&x, "bad", "b", "today", BUILT);
	measure(&x, "good", "c", "yesterday", BUILT);
	weigh(&x);
	assert_all_alike(&x);
	/* In the cache of another machine, or built before kregress looked: */
	measure(&x, "good", "d", "today", BUILT);
	free(sh("rm cache/kregress/kernels/ddd*/used"));
	weigh(&x);
	assert_all_alike(&x);
	measure(&x, "good", "e", "today", BUILT);
	weigh(&x);
	assert_weight(&x, "idle-doc", PRIOR_IDLE);
}

static void another_kernel_adds_to_what_counts_and_a_viewer_sees_what_was_kept(void **state)
{
	_cleanup_world_ struct world x;

	(void)state;
	open_world(&x, false);
	x.s.mode = SESSION_VIEW;
	weigh(&x);
	assert_all_alike(&x);
	x.s.mode = SESSION_RUN;
	measure(&x, "good", "a", "today", BUILT);
	measure(&x, "bad", "b", "today", BUILT);
	weigh(&x);
	assert_weight(&x, "side-code", PRIOR_IDLE);
	assert_weight(&x, "idle-driver", PRIOR_IDLE);
	measure(&x, "main^{/mm-code}", "c", "today", "/s/drivers/gpu/a.h");
	x.s.mode = SESSION_VIEW;
	memset(x.w, 0, x.s.dag.n * sizeof(double));
	weigh(&x);
	assert_weight(&x, "idle-driver", PRIOR_IDLE);
	x.s.mode = SESSION_RUN;
	weigh(&x);
	assert_weight(&x, "idle-driver", 1);
	assert_weight(&x, "idle-doc", PRIOR_IDLE);
	/* Damaged, what was kept is made anew. */
	free(sh("sed -i '$d' state/built"));
	weigh(&x);
	assert_weight(&x, "idle-doc", PRIOR_IDLE);
	free(sh("tail -n 1 state/built | grep -qx end"));
}

static void put_prior(struct world *x, const char *text)
{
	free(x->cfg.prior);
	x->cfg.prior = fs_join(top, "prior.txt");
	assert_int_equal(fs_write(x->cfg.prior, text, strlen(text), NULL), 0);
}

static void a_file_gives_weights_to_paths_and_commits(void **state)
{
	_cleanup_world_ struct world x;

	(void)state;
	open_world(&x, false);
	put_prior(&x, "# suspects\n\n 5\tmm/\r\n0.25 mm/vmscan.c\n1e-2 drivers/\n"
		      "3 commit bad\n2   commit main~1\n");
	weigh(&x);
	assert_weight(&x, "mm-code", 5);
	assert_weight(&x, "side-code", 0.25);     /* the last line that takes a path */
	assert_weight(&x, "driver-and-mm", 0.25); /* the most suspect of its files */
	assert_weight(&x, "idle-driver", 0.01);
	assert_weight(&x, "idle-doc", 1);
	assert_weight(&x, "clean-merge", 1); /* no file of its own */
	assert_weight(&x, "evil-merge", 5);
	assert_weight(&x, "bad", 15);
	assert_weight(&x, "renaming", 0.02);
	measure(&x, "good", "a", "today", BUILT);
	measure(&x, "bad", "b", "today", BUILT);
	weigh(&x);
	assert_weight(&x, "idle-driver", 0.01 * PRIOR_IDLE);
	assert_weight(&x, "mm-code", 5);
}

static void assert_refused(struct world *x, const char *text, const char *place, const char *words)
{
	struct err e = ERR_INIT;

	put_prior(x, text);
	assert_int_equal(prior_weights(&x->s, x->w, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	if (!strstr(e.msg, place) || !strstr(e.msg, words))
		fail_msg("no '%s' and '%s' in '%s'", place, words, e.msg);
}

static void mistakes_are_named_with_their_line(void **state)
{
	_cleanup_world_ struct world x;

	(void)state;
	open_world(&x, false);
	assert_refused(&x, "1 mm\nlots drivers\n", "prior.txt:2", "bad weight 'lots'");
	assert_refused(&x, "0 mm\n", "prior.txt:1", "nothing is impossible");
	assert_refused(&x, "-1 mm\n", "prior.txt:1", "bad weight '-1'");
	assert_refused(&x, "nan mm\n", "prior.txt:1", "bad weight 'nan'");
	assert_refused(&x, "inf mm\n", "prior.txt:1", "bad weight 'inf'");
	assert_refused(&x, "1e999 mm\n", "prior.txt:1", "bad weight '1e999'");
	assert_refused(&x, "0x10 mm\n", "prior.txt:1", "bad weight '0x10'");
	assert_refused(&x, "1e7 mm\n", "prior.txt:1", "1000000");
	assert_refused(&x, "\n\n5\n", "prior.txt:3", "weight alone");
	assert_refused(&x, "5 commit nosuch\n", "prior.txt:1", "nosuch");
	assert_refused(&x, "5 ../x\n", "prior.txt:1", "outside the repository");
	assert_refused(&x, "5 :(icase)x\n", "prior.txt:1", "magic");
	assert_refused(&x, "\x1b[31m mm\n", "prior.txt:1", "bad weight");
	free(sh("rm prior.txt"));
	struct err e = ERR_INIT;

	assert_int_equal(prior_weights(&x.s, x.w, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
}

static int set_up_kernel(void **state)
{
	if (set_up(state) < 0)
		return -1;
	do_sh(make_kernel);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commits_that_change_nothing_built_get_almost_no_weight),
		cmocka_unit_test(on_first_parents_a_merge_brings_in_the_other_side),
		cmocka_unit_test(nothing_is_believed_before_both_ends_were_built_under_this_setup),
		cmocka_unit_test(
			another_kernel_adds_to_what_counts_and_a_viewer_sees_what_was_kept),
		cmocka_unit_test(a_file_gives_weights_to_paths_and_commits),
		cmocka_unit_test(mistakes_are_named_with_their_line),
	};

	return cmocka_run_group_tests(tests, set_up_kernel, tear_down);
}
