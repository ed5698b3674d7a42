/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files a commit changes: what git diff-tree says, for random histories with odd merges. */
#include "../unit/repo_fixture.h"

#include <stdio.h>

/*
 * Files come, go, change, become links, folders and submodules; merges are clean, evil, of three
 * heads, and take a side's tree whole. @1: a seed.
 */
static const char make_history[] =
	"rm -rf r; git init -q -b main r; cd r; s=%u\n"
	"rnd() { s=$(( (s * 1103515245 + 12345) %% 2147483648 )); r=$(( s / 65536 %% $1 )); }\n"
	"null=$(git hash-object -w -t tree /dev/null); root=$(git commit-tree -m root $null)\n"
	"for i in 0 1 2 3 4; do eval o$i=$(echo $i | git hash-object -w --stdin); done\n"
	/* One random change of the index. */
	"change() { rnd 4; d=$r; rnd 2; e=$r; rnd 4\n"
	"	[ $d = 3 ] && p=f$r || p=d$d/e$e/f$r\n"
	"	rnd 12; [ $r != 0 ] || {\n"
	"		p=${p%%%%/*}; git rm -q -r --cached --ignore-unmatch -- $p; }\n"
	"	rnd 5; eval o=\\$o$r; rnd 9\n"
	"	case $r in\n"
	"	0 | 1) git rm -q -r --cached --ignore-unmatch -- $p; return ;;\n"
	"	2) m=120000 ;; 3) m=100755 ;; 4) m=160000 o=$root ;; *) m=100644 ;; esac\n"
	"	git update-index --add --replace --cacheinfo $m,$o,$p; }\n"
	"git read-tree $null; change; change; change\n"
	"main=$(git commit-tree -m first -p $root $(git write-tree)); side=$main third=$root\n"
	"for i in $(seq 30); do\n"
	"	git read-tree $main; rnd 9; [ $r = 0 ] || { change; change; }\n"
	"	main=$(git commit-tree -m $i -p $main $(git write-tree))\n"
	"	git read-tree $side; change; change\n"
	"	side=$(git commit-tree -m $i -p $side $(git write-tree))\n"
	"	[ $((i %% 2)) = 0 ] || continue\n"
	"	parents=\"-p $main -p $side\"; rnd 2; [ $r = 0 ] || parents=\"$parents -p "
	"$third\"\n"
	/* git's own merge of the trees, where it has one; then perhaps something evil. */
	"	rnd 4; case $r in 0) t=$main^{tree} ;; 1) t=$side^{tree} ;;\n"
	"	*) t=$(git merge-tree --write-tree $main $side 2>/dev/null | head -n 1) ;; esac\n"
	"	git read-tree $t; rnd 2; [ $r = 0 ] || change\n"
	"	third=$main; main=$(git commit-tree -m merge $parents $(git write-tree))\n"
	"done; git update-ref refs/heads/main $main; git update-ref refs/heads/side $side\n";

static int see(const char *path, enum repo_change change, void *cookie)
{
	strv_addf(cookie, "%c %s", "?MAD"[change], path);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted(struct strv *lines)
{
	struct str out = STR_INIT;

	str_add(&out, "");
	if (lines->n)
		qsort(lines->v, lines->n, sizeof(*lines->v), by_text);
	for (size_t i = 0; i < lines->n; i++)
		str_addf(&out, "%s%s", i ? "\n" : "", lines->v[i]);
	return str_detach(&out);
}

/*
 * The same from git's raw output: added where any parent lacks it or any mode is that of no plain file,
 * deleted where the last mode is 0.
 */
static char *by_git(const char *what)
{
	return sh("cd r; git diff-tree -r --root --no-commit-id --no-renames %s | awk -F '\\t' '{\n"
		  "n = split(substr($1, match($1, /[^:]/)), w, \" \")\n"
		  "colons = match($1, /[^:]/) - 1; c = \"M\"\n"
		  "for (i = 1; i <= colons + 1; i++) if (w[i] !~ /^100/) c = \"A\"\n"
		  "if (w[colons + 1] == \"000000\") c = \"D\"; print c \" \" $2 }' | LC_ALL=C sort",
		  what);
}

static void assert_as_git(struct repo_changes *c, unsigned nth, const char *what)
{
	_cleanup_strv_ struct strv lines = STRV_INIT;
	struct err e = ERR_INIT;

	if (repo_changes_walk(c, nth, see, &lines, &e) != 0)
		fail_msg("%s: %s", what, e.msg);
	_cleanup_free_ char *got = sorted(&lines), *want = by_git(what);

	if (!str_eq(got, want))
		fail_msg("%s: got\n%s\nwant\n%s", what, got, want);
}

static void compare_commit(struct repo *r, struct repo_changes *c, const char *hex,
			   unsigned counts[4])
{
	struct commit_id id = resolve(r, hex);
	struct err e = ERR_INIT;
	unsigned parents = 99;

	if (repo_changes_of(c, &id, &parents, &e) < 0)
		fail_msg("%s", e.msg);
	counts[parents < 3 ? parents : 3]++;
	_cleanup_free_ char *all = xasprintf("%s %s", parents > 1 ? "-c" : "", hex);

	assert_as_git(c, REPO_ALL_PARENTS, all);
	for (unsigned i = 0; i < parents; i++) {
		_cleanup_free_ char *one = xasprintf("%s^%u %s", hex, i + 1, hex);

		assert_as_git(c, i, one);
	}
}

static void a_commit_changes_what_git_diff_tree_lists(void **state)
{
	unsigned counts[4] = { 0 };

	(void)state;
	for (unsigned seed = 1; seed <= 2; seed++) {
		free(sh(make_history, seed));
		struct repo *r = open_at("r");
		struct repo_changes *c = repo_changes_new(r);
		_cleanup_free_ char *list = sh("cd r; git rev-list --all");
		char *save = NULL;

		for (char *hex = strtok_r(list, "\n", &save); hex;
		     hex = strtok_r(NULL, "\n", &save))
			compare_commit(r, c, hex, counts);
		repo_changes_free(c);
		repo_close(r);
	}
	print_message("# %u roots, %u commits, %u merges, %u of three heads\n", counts[0],
		      counts[1], counts[2], counts[3]);
	assert_true(counts[0] && counts[1] > 100 && counts[2] > 10 && counts[3] > 3);
}

static int stop(const char *path, enum repo_change change, void *cookie)
{
	(void)path;
	(void)change;
	return ++*(int *)cookie == 2 ? 17 : 0;
}

static void a_walk_ends_when_told(void **state)
{
	free(sh("rm -rf r; git init -q r; cd r; touch a b c; git add .; git commit -q -m x"));
	struct repo *r = open_at("r");
	struct repo_changes *c = repo_changes_new(r);
	struct commit_id id = resolve(r, "HEAD");
	struct err e = ERR_INIT;
	unsigned parents;
	int seen = 0;

	(void)state;
	assert_int_equal(repo_changes_of(c, &id, &parents, &e), 0);
	assert_int_equal(repo_changes_walk(c, REPO_ALL_PARENTS, stop, &seen, &e), 17);
	assert_int_equal(seen, 2);
	repo_changes_free(c);
	repo_close(r);
}

static void a_pathspec_takes_what_git_ls_files_takes(void **state)
{
	static const char *const specs[] = {
		"mm", "mm/",    "*.c", "d*/x",   ":!mm", ":(literal)*.c", "include/*/a.h",
		".",  "mm/a.c", "m",   "mm/a.c/"
	};
	free(sh("rm -rf r; git init -q r; cd r; mkdir -p mm/sub include/x dd\n"
		"touch mm/a.c mm/sub/b.c m '*.c' c.c include/x/a.h include/a.h dd/x; git add ."));
	_cleanup_free_ char *files = sh("cd r; git ls-files");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		_cleanup_free_ char *want = sh("cd r; git ls-files -- '%s'", specs[i]);
		_cleanup_free_ char *list = xstrdup(files);
		_cleanup_str_ struct str got = STR_INIT;
		struct repo_paths *p = NULL;
		struct err e = ERR_INIT;
		char *save = NULL;

		assert_int_equal(repo_pathspec_new(specs[i], &p, &e), 0);
		str_add(&got, "");
		for (char *f = strtok_r(list, "\n", &save); f; f = strtok_r(NULL, "\n", &save))
			if (repo_pathspec_has(p, f))
				str_addf(&got, "%s%s", got.len ? "\n" : "", f);
		if (!str_eq(got.buf, want))
			fail_msg("%s: got '%s', want '%s'", specs[i], got.buf, want);
		repo_paths_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_commit_changes_what_git_diff_tree_lists),
		cmocka_unit_test(a_walk_ends_when_told),
		cmocka_unit_test(a_pathspec_takes_what_git_ls_files_takes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
