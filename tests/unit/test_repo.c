/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repositories: opening them, naming commits, the candidates; beside git itself. */
#include "unit/repo_fixture.h"

static void assert_open_fails(const char *name, const char *text)
{
	_cleanup_free_ char *path = fs_join(top, name);
	struct repo *r = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(repo_open(path, &r, &e), -1);
	assert_null(r);
	if (!strstr(e.msg, text))
		fail_msg("'%s' does not say '%s'", e.msg, text);
	assert_non_null(strstr(e.msg, path));
	assert_int_equal(e.code, ERR_CONFIG);
}

static void revisions_name_the_commits_that_git_rev_parse_names(void **state)
{
	static const char *const revs[] = {
		"HEAD",       "@",           "main",         "topic",
		"HEAD~3",     "HEAD^",       "main~2^2",     "v1",
		"v1^{}",      "v1^{commit}", "tags/v1",      "refs/heads/topic",
		"heads/main", "HEAD@{0}",    "main@{1}",     ":/mm: two",
		":/^mm",      ":/!-names",   "main^{/root}", "main~1^{/t[wx]o|header}",
		"HEAD~2^2~1", "v1^0",
	};
	struct repo *r = open_at("main");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(revs); i++) {
		_cleanup_free_ char *git =
			sh("cd main; git rev-parse \"$(git rev-parse '%s')^{commit}\"", revs[i]);
		char hex[COMMIT_HEX + 1];
		struct commit_id id = resolve(r, revs[i]);

		if (strcmp(commit_hex(&id, hex), git))
			fail_msg("%s: git says %s, we say %s", revs[i], git, hex);
	}
	repo_close(r);
}

static void short_names_and_describe_names_are_resolved(void **state)
{
	struct repo *r = open_at("main");
	_cleanup_free_ char *full = sh("git -C main rev-parse HEAD~1");
	_cleanup_free_ char *brief = sh("git -C main rev-parse --short=7 HEAD~1");
	_cleanup_free_ char *described = sh("git -C main describe HEAD~1");
	struct commit_id id = resolve(r, brief), id2 = resolve(r, described);
	_cleanup_free_ char *abbrev = repo_abbrev(r, &id);
	char hex[COMMIT_HEX + 1];

	(void)state;
	assert_string_equal(commit_hex(&id, hex), full);
	assert_true(commit_eq(&id, &id2));
	assert_int_equal(strlen(abbrev), 12);
	assert_true(str_starts(full, abbrev));
	repo_close(r);
}

static void assert_unresolved(struct repo *r, const char *rev, const char *text)
{
	struct commit_id id = { { 0 } };
	struct err e = ERR_INIT;

	assert_int_equal(repo_resolve(r, rev, "bad in [campaign]", &id, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "bad in [campaign]"));
	if (!strstr(e.msg, text))
		fail_msg("'%s' does not say '%s'", e.msg, text);
	assert_true(commit_is_null(&id));
}

static void unknown_and_ambiguous_revisions_are_errors_that_say_where(void **state)
{
	struct repo *r = open_at("main");

	(void)state;
	assert_unresolved(r, "v9.99", "unknown revision 'v9.99'");
	assert_unresolved(r, "0123456789012345678901234567890123456789", "unknown revision");
	assert_unresolved(r, "HEAD:mm/a", "'HEAD:mm/a' does not name a commit");
	assert_unresolved(r, "HEAD~99", "unknown revision");
	assert_unresolved(r, ":/no such text", "unknown revision");
	assert_unresolved(r, ":/(", "does not name a commit");
	assert_unresolved(r, "", "a revision is wanted");
	assert_unresolved(r, "HEAD~~^{nonsense", "does not name a commit");
	repo_close(r);
	/* enough objects that four digits are not enough for all of them */
	do_sh("git init -q many; cd many; git commit -q --allow-empty -m x; "
	      "i=0; while [ $i -lt 900 ]; do echo $i >f$i; i=$((i+1)); done; git add .; "
	      "git commit -q -m y");
	r = open_at("many");
	{
		_cleanup_free_ char *twice = sh("git -C many rev-list --all --objects | cut -c1-4 "
						"| sort | uniq -d | head -1");

		assert_int_equal(strlen(twice), 4);
		assert_unresolved(r, twice, "is ambiguous");
	}
	repo_close(r);
}

static void folders_worktrees_and_bare_repositories_open(void **state)
{
	struct commit_id head, main_head, id;
	_cleanup_free_ char *common = fs_join(top, "main/.git");
	_cleanup_free_ char *bare = fs_join(top, "bare.git");
	_cleanup_free_ char *wt = fs_join(top, "wt");
	struct err e = ERR_INIT;
	struct repo *r;

	(void)state;
	do_sh("git -C main worktree add -q -b other ../wt HEAD~2; git clone -q --bare main "
	      "bare.git");
	r = open_at("main/mm");
	assert_string_equal(repo_common_dir(r), common);
	main_head = resolve(r, "HEAD");
	repo_close(r);
	r = open_at("wt");
	assert_string_equal(repo_common_dir(r), common);
	head = resolve(r, "HEAD");
	id = resolve(r, "main~2");
	assert_true(commit_eq(&head, &id));
	repo_close(r);
	r = open_at("bare.git");
	assert_string_equal(repo_common_dir(r), bare);
	id = resolve(r, "HEAD");
	assert_true(commit_eq(&id, &main_head));
	repo_close(r);
	assert_int_equal(repo_head(wt, &id, &e), 0);
	assert_true(commit_eq(&id, &head));
}

static void places_that_are_no_repository_are_named_in_the_error(void **state)
{
	_cleanup_free_ char *empty = fs_join(top, "empty");
	struct commit_id id;
	struct err e = ERR_INIT;

	(void)state;
	do_sh("mkdir plain; git init -q empty; git init -q --object-format=sha256 sha256");
	assert_open_fails("plain", "not a git repository");
	assert_open_fails("nowhere", "no such directory");
	assert_open_fails("main/mm/a/b", "no such directory");
	assert_open_fails("sha256", "extension");
	assert_int_equal(repo_head(empty, &id, &e), -1);
	assert_non_null(strstr(e.msg, "has no commit yet"));
}

static void extensions_that_do_not_matter_for_reading_are_accepted(void **state)
{
	(void)state;
	do_sh("git clone -q main ext; cd ext; git config core.repositoryFormatVersion 1; "
	      "git config extensions.worktreeConfig true; git config extensions.preciousObjects "
	      "true");
	repo_close(open_at("ext"));
	do_sh("git -C ext config extensions.unheardOf true");
	assert_open_fails("ext", "extension");
}

static void a_repository_of_another_user_is_refused_with_the_line_that_helps(void **state)
{
	_cleanup_free_ char *line = xasprintf("safe.directory '%s/foreign'", top);

	(void)state;
	if (geteuid()) {
		print_message("only root can make a repository of another user\n");
		skip();
	}
	do_sh("git clone -q main foreign; chown -R 12345 foreign");
	assert_open_fails("foreign", "belongs to another user");
	assert_open_fails("foreign/mm", line);
	do_sh("git config --global safe.directory /somewhere/else");
	assert_open_fails("foreign", line);
	free(sh("git config --global --add %s", line));
	repo_close(open_at("foreign"));
}

static void assert_candidates(struct repo *r, const char *bad, const char *good,
			      const char *const *paths, const char *subjects)
{
	struct commit_id tip = resolve(r, bad), not_ = resolve(r, good);
	_cleanup_strv_ struct strv pathv = STRV_INIT;
	_cleanup_(dag_release) struct dag d = DAG_INIT;
	_cleanup_str_ struct str found = STR_INIT;
	const struct repo_range range = { .tip = &tip, .not_ = &not_, .n_not = 1, .paths = &pathv };
	struct err e = ERR_INIT;

	for (; paths && *paths; paths++)
		strv_add(&pathv, *paths);
	if (repo_candidates(r, &range, &d, &e))
		fail_msg("%s", e.msg);
	for (uint32_t i = 0; i < d.n; i++) {
		struct repo_commit c = { 0 };

		if (d.treesame && d.treesame[i])
			continue;
		assert_int_equal(repo_commit_read(r, &d.id[i], &c, &e), 0);
		str_addf(&found, "%s%s", found.len ? " | " : "", c.subject);
		repo_commit_release(&c);
	}
	assert_string_equal(str_text(&found), subjects);
	if (d.n)
		assert_true(commit_eq(&d.id[d.tip], &tip));
}

static void candidates_are_listed_oldest_first(void **state)
{
	struct repo *r = open_at("main");
	static const char *const mm[] = { "mm/", NULL }, *const bad[] = { ":(attr:x)y", NULL };
	static const char *const outside[] = { "../x", NULL };
	struct commit_id tip = resolve(r, "main");
	_cleanup_strv_ struct strv paths = STRV_INIT;
	const struct repo_range range = { .tip = &tip, .paths = &paths };
	struct dag d = DAG_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_candidates(r, "main", "v1", NULL,
			  "mm: two | topic: a header | mm: three | "
			  "merge topic | link: a file now | odd names");
	assert_candidates(r, "main~1", "topic", NULL, "mm: three | merge topic | link: a file now");
	assert_candidates(r, "main", "v1", mm, "mm: two | mm: three | link: a file now");
	assert_candidates(r, "v1", "main", NULL, "");
	strv_add(&paths, bad[0]);
	assert_int_equal(repo_candidates(r, &range, &d, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "':(attr:x)y'"));
	strv_clear(&paths);
	strv_add(&paths, outside[0]);
	assert_int_equal(repo_candidates(r, &range, &d, &e), -1);
	assert_non_null(strstr(e.msg, "outside the repository"));
	repo_close(r);
}

static void a_range_that_a_shallow_clone_cuts_off_is_an_error_that_says_so(void **state)
{
	struct repo *r;
	struct commit_id tip, not_;
	const struct repo_range range = { .tip = &tip, .not_ = &not_, .n_not = 1 };
	struct dag d = DAG_INIT;
	struct err e = ERR_INIT;

	(void)state;
	do_sh("git clone -q --depth 3 -b main \"file://$PWD/main\" shallow; git -C shallow fetch "
	      "-q "
	      "--depth 1 origin side:refs/remotes/origin/side");
	r = open_at("shallow");
	assert_true(repo_is_shallow(r));
	assert_candidates(r, "HEAD", "HEAD~1", NULL, "odd names");
	assert_unresolved(r, "HEAD~5", "git fetch --unshallow");
	tip = resolve(r, "HEAD");
	not_ = resolve(r, "origin/side");
	assert_int_equal(repo_candidates(r, &range, &d, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "because the clone is shallow (git fetch --unshallow"));
	assert_int_equal(d.n, 0);
	repo_close(r);
	r = open_at("main");
	assert_false(repo_is_shallow(r));
	repo_close(r);
}

static void ancestors_and_merge_bases_are_found(void **state)
{
	struct repo *r = open_at("main");
	struct commit_id v1 = resolve(r, "v1"), tip = resolve(r, "main");
	struct commit_id topic = resolve(r, "topic"), three = resolve(r, "main~2^1");
	struct commit_id two = resolve(r, "topic~1");
	_cleanup_free_ struct commit_id *base = NULL;
	struct err e = ERR_INIT;
	size_t n;

	(void)state;
	assert_int_equal(repo_is_ancestor(r, &v1, &tip, &e), 1);
	assert_int_equal(repo_is_ancestor(r, &tip, &v1, &e), 0);
	assert_int_equal(repo_is_ancestor(r, &tip, &tip, &e), 1);
	assert_int_equal(repo_is_ancestor(r, &topic, &three, &e), 0);
	assert_int_equal(repo_merge_bases(r, &topic, &three, 1, &base, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_true(commit_eq(&base[0], &two));
	repo_close(r);
}

static void a_commit_is_read_as_it_was_written(void **state)
{
	struct repo *r = open_at("main");
	struct commit_id id = resolve(r, "main~3"), tree;
	_cleanup_free_ char *tree_hex = sh("git -C main rev-parse main~3^{tree}");
	struct repo_commit c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	assert_true(commit_parse(tree_hex, &tree));
	assert_int_equal(repo_commit_read(r, &id, &c, &e), 0);
	assert_string_equal(c.subject, "mm: three");
	assert_string_equal(c.author, "A U Thor");
	assert_string_equal(c.email, "a@u");
	assert_int_equal(c.author_time, 1700000000 + 4 * 60);
	assert_int_equal(c.author_offset_min, 90);
	assert_int_equal(c.parents, 1);
	assert_true(commit_eq(&c.tree, &tree));
	repo_commit_release(&c);
	id = resolve(r, "v1");
	assert_int_equal(repo_commit_read(r, &id, &c, &e), 0);
	assert_int_equal(c.parents, 0);
	assert_true(commit_is_null(&c.parent));
	repo_commit_release(&c);
	repo_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(revisions_name_the_commits_that_git_rev_parse_names),
		cmocka_unit_test(short_names_and_describe_names_are_resolved),
		cmocka_unit_test(unknown_and_ambiguous_revisions_are_errors_that_say_where),
		cmocka_unit_test(folders_worktrees_and_bare_repositories_open),
		cmocka_unit_test(places_that_are_no_repository_are_named_in_the_error),
		cmocka_unit_test(extensions_that_do_not_matter_for_reading_are_accepted),
		cmocka_unit_test(candidates_are_listed_oldest_first),
		cmocka_unit_test(a_range_that_a_shallow_clone_cuts_off_is_an_error_that_says_so),
		cmocka_unit_test(ancestors_and_merge_bases_are_found),
		cmocka_unit_test(a_commit_is_read_as_it_was_written),
		cmocka_unit_test(a_repository_of_another_user_is_refused_with_the_line_that_helps),
	};

	return cmocka_run_group_tests_name("repo", tests, set_up, tear_down);
}
