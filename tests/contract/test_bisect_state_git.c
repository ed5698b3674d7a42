/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bisection in progress, and hand-made logs, beside what git bisect itself makes of them. */
#include "unit/repo_fixture.h"

#include "contract/bisect_compare.h"
#include "io/bisect_log.h"

/* "c1" … "c16": a line of commits with tags, on branch main of "r"; files a, b and "odd it's". */
static const char make_line[] =
	"git init -q -b main r && cd r && n=1700000000\n"
	"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do n=$((n+60)); echo $i >a\n"
	"test $((i % 3)) = 0 && echo $i >b; test $((i % 5)) = 0 && echo $i >\"odd it's\"\n"
	"git add -A; GIT_AUTHOR_DATE=\"$n +0\" GIT_COMMITTER_DATE=\"$n +0\" git commit -q -m "
	"\"commit $i\"\n"
	"git tag c$i; done; git tag -a -m annotated v9 c9\n";

static int set_up_line(void **state)
{
	if (set_up(state))
		return -1;
	do_sh(make_line);
	return 0;
}

static void release(struct bisect_log *log)
{
	bisect_log_release(log);
}

/* The bisection in progress at @where. */
static void in_progress(const char *where, struct bisect_log *log)
{
	struct repo *r = open_at(where);
	struct err e = ERR_INIT;
	int ret = bisect_log_in_progress(r, log, &e);

	repo_close(r);
	if (ret != 1)
		fail_msg("%d: %s", ret, e.msg);
}

static void check_none(const char *where)
{
	_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;
	struct repo *r = open_at(where);
	struct err e = ERR_INIT;

	assert_int_equal(bisect_log_in_progress(r, &log, &e), 0);
	assert_null(log.name);
	repo_close(r);
}

/* What is in progress at @where is what git's refs say, under these terms. */
static void check_refs(const char *where, const char *terms)
{
	_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;
	_cleanup_free_ char *by_git = sh("cd %s; " BISECT_REFS, where);
	_cleanup_free_ char *by_us = NULL, *ours = NULL;

	in_progress(where, &log);
	by_us = refs_of(&log);
	ours = xasprintf("%s %s", log.term_new, log.term_old);
	assert_string_equal(by_us, by_git);
	assert_true(*by_git);
	assert_string_equal(ours, terms);
}

/* Is the commit under test at @where the one that git names @rev there? */
static void check_head(const char *where, const char *rev)
{
	_cleanup_free_ char *path = fs_join(top, where);
	_cleanup_free_ char *by_git = sh("cd %s; git rev-parse %s", where, rev);
	char hex[COMMIT_HEX + 1];
	struct commit_id id;
	struct err e = ERR_INIT;

	if (repo_bisect_head(path, &id, &e))
		fail_msg("%s", e.msg);
	assert_string_equal(commit_hex(&id, hex), by_git);
}

static void each_worktree_has_its_own_bisection(void **state)
{
	(void)state;
	do_sh("cd r; git worktree add -q --detach ../w1 c16; git worktree add -q --detach ../w2 "
	      "c16");
	check_none("r");
	check_none("w1");
	do_sh("cd r; git bisect start c16 c1 -- a; git bisect skip c8; git bisect good c2");
	check_none("w1");
	do_sh("cd w1; git bisect start --term-old=fast --term-new=slow --no-checkout c15 c3;"
	      "git bisect fast c5; git bisect skip c9..c11; git pack-refs --all");
	check_none("w2");
	check_refs("r", "bad good");
	check_refs("w1", "slow fast");
	check_head("r", "HEAD");
	check_head("w1", "BISECT_HEAD");
	check_head("w2", "HEAD");
	do_sh("cd w1; git bisect reset");
	check_none("w1");
	check_refs("r", "bad good");
	do_sh("cd r; git bisect reset");
	check_none("r");
	check_head("r", "HEAD");
}

static void a_bare_repository_is_bisected_too(void **state)
{
	(void)state;
	do_sh("git clone -q --bare r bare; cd bare; git bisect start --term-bad=a/b "
	      "--term-good=c/d "
	      "c16 c1; git bisect c/d c3");
	check_refs("bare", "a/b c/d");
	check_head("bare", "BISECT_HEAD");
	do_sh("cd bare; git bisect reset");
	check_none("bare");
}

/* So many verdicts are known at @where. */
static void check_n(const char *where, size_t n)
{
	_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;

	in_progress(where, &log);
	assert_int_equal(log.n, n);
}

static void check_first_parent(bool expected)
{
	_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;

	in_progress("r", &log);
	assert_int_equal(log.first_parent, expected);
}

static char *states_and_tags(const struct bisect_log *log)
{
	struct str out = STR_INIT;
	char hex[COMMIT_HEX + 1];

	for (size_t i = 0; i < log->n; i++) {
		_cleanup_free_ char *tag = sh("cd r; git describe --tags --exact-match %s",
					      commit_hex(&log->entry[i].id, hex));

		str_addf(&out, "%s%c%s", i ? " " : "", " +-?"[log->entry[i].state], tag);
	}
	return str_detach(&out);
}

static void check_states(const char *expected)
{
	_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;
	_cleanup_free_ char *ours = NULL;

	in_progress("r", &log);
	ours = states_and_tags(&log);
	assert_string_equal(ours, expected);
}

static void the_log_gives_the_order_and_refs_what_it_lacks(void **state)
{
	(void)state;
	do_sh("cd r; git bisect start c16 c1; git bisect skip c8; git bisect good c2");
	check_states("+c16 -c1 ?c8 -c2");
	/* a ref is gone: the log still tells */
	do_sh("cd r; git update-ref -d refs/bisect/skip-$(git rev-parse c8)");
	check_states("+c16 -c1 ?c8 -c2");
	do_sh("cd r; git update-ref refs/bisect/bad c14; for v in good:c3 skip:c7; do"
	      " n=$(git rev-parse ${v#*:}); git update-ref refs/bisect/${v%:*}-$n $n; done");
	check_states("+c16 -c1 ?c8 -c2 +c14 -c3 ?c7");
	/* back to a commit that was the new one before */
	do_sh("cd r; git bisect bad c12; git update-ref refs/bisect/bad c16");
	check_states("+c16 -c1 ?c8 -c2 +c12 +c16 -c3 ?c7");
	do_sh("cd r; rm .git/BISECT_LOG; git update-ref refs/bisect/unknown c5");
	check_n("r", 5);
	do_sh("cd r; git update-ref -d refs/bisect/unknown; touch .git/BISECT_FIRST_PARENT");
	check_refs("r", "bad good");
	check_first_parent(true);
	do_sh("cd r; git bisect reset; git bisect start");
	check_first_parent(false);
	check_states("");
	do_sh("cd r; git bisect reset");
}

static void damaged_files_of_git_bisect_are_named(void **state)
{
	static const struct {
		const char *spoil, *what;
	} damage[] = {
		{ "printf bad >.git/BISECT_TERMS", "BISECT_TERMS' does not hold two terms" },
		{ "echo \"'a\" >.git/BISECT_NAMES", "BISECT_NAMES' has an open quote" },
		{ "echo junk >.git/BISECT_LOG", "BISECT_LOG: not a log of git bisect" },
		{ "echo 'git bisect good dead' >>.git/BISECT_LOG",
		  "BISECT_LOG:4: commit 'dead' is not in" },
		{ "echo $(printf %040d 7) >.git/refs/bisect/bad",
		  "is damaged: 'refs/bisect/bad' names no commit" },
	};
	struct err e = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		struct bisect_log log = BISECT_LOG_INIT;
		struct repo *r;

		free(sh("cd r; git bisect reset 2>&1 || :; git bisect start c16 c1; %s",
			damage[i].spoil));
		r = open_at("r");
		assert_int_equal(bisect_log_in_progress(r, &log, &e), -1);
		if (!strstr(e.msg, damage[i].what))
			fail_msg("%s", e.msg);
		assert_null(log.name);
		repo_close(r);
	}
	do_sh("cd r; rm -rf .git/refs/bisect .git/BISECT_*; git checkout -q main");
}

/* ---- logs ---- */

/* 0 and the log, resolved in r; -1 and the message in @e. */
static int read_log(const char *text, struct bisect_log *log, struct err *e)
{
	struct repo *r = open_at("r");
	int ret = bisect_log_parse("l", text, strlen(text), log, e);

	if (!ret)
		ret = bisect_log_resolve(r, log, e);
	repo_close(r);
	return ret;
}

/*
 * Logs that git bisect replay takes ('=') or refuses ('!') as we do; '>': only we take
 * it. A tag in a line stands for its object name: git names refs by the words given.
 */
static const char *const replayed[] = {
	"=git bisect start '@c9' '@c2'\n",
	"=git bisect start '@c9' '@c2'\r\ngit bisect good @c3\r\n",
	"=git bisect start '@c9' '@c2'\ngit bisect good @c3\ngit bisect start '@c8' '@c1'\n",
	"=git bisect start '@c9' '--first-parent' '@c2' '@c3'\ngit bisect terms\n",
	"=junk\n  git bisect start '@c9' '@c2'\n\tgit-bisect good @c3\ngit bisectgood @c4\n",
	"=git bisect start\ngit bisect old @c3\ngit bisect new @c9\n",
	"=git bisect start '--term-old=a/b' '--term-new' 'c/d' '@c9' '@c2'\ngit bisect a/b @c4\n",
	"=git bisect start '--term-old=old' '@c9' '@c2'\ngit bisect old @c3\n",
	"=git bisect start '--term-old=fast' '--term-new=slow' '@c9' '@c2' '--' 'a' 'b'\n"
	"git bisect fast @c3\ngit bisect start '@c8' '@c1'\ngit bisect fast @c4\n",
	"=git bisect start '@c16' '@c2' '--' 'b' 'odd it'\\''s' ''\\!'x'\ngit bisect skip @c6\n",
	"=git bisect start '@c16' '@c2' 'b' 'odd it'\\''s'\n",
	/* git forgets a single path without "--" */
	"=git bisect start '@c16' '@c2' 'b'\n",
	"=git bisect start 'b' 'a'\ngit bisect bad @c12\ngit bisect good @c3\n",
	"!git bisect start '@c9' '@c2'\ngit bisect reset\n",
	"!git bisect start '@c9' '@c2'\ngit bisect visualize\n",
	"!git bisect start '@c9' '@c2'\ngit bisect log\n",
	"!git bisect start '@c9' '@c2'\ngit bisect old @c3\n",
	"!git bisect start '@c9' '@c2'\ngit bisect bad\n",
	"!git bisect start '@c9' '--nope'\n",
	"!git bisect start '@c9' 'none' '--'\n",
	"!git bisect start '--term-old=bad' '@c9' '@c2'\n",
	"!git bisect start '--term-new=old' '@c9' '@c2'\n",
	"!git bisect start '--term-old=c' '--term-new=c' '@c9' '@c2'\n",
	"!git bisect start '--term-old=skip' '@c9' '@c2'\n",
	"!git bisect start '--term-old=a b' '@c9' '@c2'\n",
	"!git bisect start '--term-old=a..b' '@c9' '@c2'\n",
	"!git bisect start '--term-old=x.lock' '@c9' '@c2'\n",
	"!git bisect start '--term-old'\n",
	"!git bisect start '--term-old=fast' '--term-new=slow' '@c9' '@c2'\n"
	"git bisect start '@c8' '@c1'\ngit bisect good @c4\n",
	"!git bisect start '@c9' '@c2'\ngit bisect good dead\n",
	"!junk\n",
	">git bisect start '@c9' '@c2'\ngit bisect good @c3 @c4\n",
	">git bisect start '@c9' '@c2'\ngit bisect skip @c3..@c5\n",
	">git bisect start '@c9' '@c2'\ngit bisect good '@c3'\n",
};

/* @text with each "@c<n>" as the name of the object. Owned. */
static char *with_names(const char *text)
{
	struct str out = STR_INIT;

	for (; *text; text++) {
		if (*text == '@') {
			int n = (int)strspn(text + 2, "0123456789") + 1;
			_cleanup_free_ char *name = sh("cd r; git rev-parse %.*s", n, text + 1);

			str_add(&out, name);
			text += n;
		} else {
			str_addmem(&out, text, 1);
		}
	}
	return str_detach(&out);
}

/* All that git has after it replayed @text in r; NULL: it refused, or found nothing in it. */
static char *state_of_git(const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/log", top), *status = NULL;
	struct err e = ERR_INIT;
	char *state;

	assert_int_equal(fs_write(path, text, strlen(text), &e), 0);
	status = sh("cd r; git bisect reset >/dev/null 2>&1 || :; s=0;"
		    "git bisect replay ../log >/dev/null 2>&1 || s=$?; echo $s");
	if (strcmp(status, "0"))
		return NULL;
	state = sh("cd r; " BISECT_REFS "; cat .git/BISECT_TERMS 2>/dev/null || :;"
		   "sed \"s/^ //; s/^'--' //\" .git/BISECT_NAMES 2>/dev/null | grep . || :;"
		   "test ! -e .git/BISECT_FIRST_PARENT || echo first");
	if (!*state)
		str_freep(&state);
	return state;
}

/* The same of what we read; the paths in git's quotes by our own writer. */
static char *state_of_log(const struct bisect_log *log)
{
	_cleanup_free_ char *refs = refs_of(log);
	_cleanup_str_ struct str text = STR_INIT;
	const char *dashes;
	struct str out = STR_INIT;

	str_addf(&out, "%s\n%s\n%s", refs, log->term_new, log->term_old);
	bisect_log_write(log, NULL, NULL, &text);
	dashes = strstr(text.buf, " '--' ");
	if (dashes)
		str_addf(&out, "\n%.*s", (int)strcspn(dashes + 6, "\n"), dashes + 6);
	if (log->first_parent)
		str_add(&out, "\nfirst");
	return str_detach(&out);
}

static void what_git_replays_is_read_as_git_reads_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(replayed); i++) {
		_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;
		_cleanup_free_ char *text = with_names(replayed[i] + 1);
		_cleanup_free_ char *by_git = state_of_git(text), *by_us = NULL;
		struct err e = ERR_INIT;
		int ret = read_log(text, &log, &e);

		if (ret != (replayed[i][0] == '!' ? -1 : 0) || !by_git != (replayed[i][0] != '='))
			fail_msg("%sgit: %s; we: %s", replayed[i], by_git ? by_git : "refused",
				 e.msg);
		if (!by_git)
			continue;
		by_us = state_of_log(&log);
		if (strcmp(by_us, by_git))
			print_error("%s", replayed[i]);
		assert_string_equal(by_us, by_git);
	}
	do_sh("cd r; git bisect reset");
}

/* Does the entry name the commit of @tag? */
static void check_entry(const struct bisect_entry *entry, const char *rev, const char *tag)
{
	struct repo *r = open_at("r");
	struct commit_id id = resolve(r, tag);
	char ours[COMMIT_HEX + 1], wanted[COMMIT_HEX + 1];

	repo_close(r);
	assert_string_equal(entry->rev, rev);
	assert_string_equal(commit_hex(&entry->id, ours), commit_hex(&id, wanted));
}

static void check_read(const char *text, struct bisect_log *log)
{
	struct err e = ERR_INIT;

	if (read_log(text, log, &e))
		fail_msg("%s", e.msg);
}

static void names_that_move_mean_what_git_noted_then(void **state)
{
	_cleanup_(release) struct bisect_log moved = BISECT_LOG_INIT, edited = BISECT_LOG_INIT,
					     gone = BISECT_LOG_INIT;
	_cleanup_free_ char *first = NULL, *second = NULL;

	(void)state;
	first = sh(
		"cd r; git checkout -q -b topic c16; git bisect start HEAD c2 topic~9 >/dev/null;"
		"git bisect log; git bisect reset 2>/dev/null;"
		"for i in 1 2; do git commit -q --allow-empty -m later; done");
	check_read(first, &moved);
	check_entry(&moved.entry[0], "HEAD", "c16");
	check_entry(&moved.entry[1], "c2", "c2");
	check_entry(&moved.entry[2], "topic~9", "c7");
	/* a person wrote another tag into the command; one that has an object of its own */
	second = sh("cd r; git bisect start topic~2 c2 >/dev/null; git bisect log |"
		    "sed \"s/'c2'/'v9'/\"; git bisect reset 2>/dev/null");
	check_read(second, &edited);
	check_entry(&edited.entry[0], "topic~2", "c16");
	check_entry(&edited.entry[1], "v9", "c9");
	do_sh("cd r; git checkout -q main; git branch -q -D topic");
	check_read(second, &gone);
	check_entry(&gone.entry[0], "topic~2", "c16");
}

static void a_log_of_another_repository_is_refused(void **state)
{
	static const char *const starts[] = { "HEAD HEAD~3", "HEAD HEAD~3 --", "main v1 -- mm" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;
		_cleanup_free_ char *text =
			sh("cd main; git bisect start %s >/dev/null; git bisect log;"
			   "git bisect reset 2>/dev/null",
			   starts[i]);
		_cleanup_free_ char *hex = sh("cd main; git rev-parse HEAD");
		_cleanup_free_ char *want = NULL;
		struct err e = ERR_INIT;

		want = xasprintf(
			"l:3: commit '%s' is not in '%s/r/.git': is this the log of another "
			"repository? (git fetch --tags, or set repo = in [campaign])",
			hex, top);
		assert_int_equal(read_log(text, &log, &e), -1);
		assert_string_equal(e.msg, want);
		assert_int_equal(e.code, ERR_CONFIG);
	}
}

static void words_that_are_neither_commit_nor_path_are_refused(void **state)
{
	_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(read_log("git bisect start c9 v6.11\n", &log, &e), -1);
	assert_non_null(strstr(e.msg, "l:1: commit 'v6.11' is not in"));
}

static char *hostile(void *cookie, const struct commit_id *id)
{
	(void)cookie;
	(void)id;
	return xstrdup("\033[2Jx'y\"\rz\ngit bisect reset\n");
}

static void subjects_and_paths_cannot_break_our_log(void **state)
{
	_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;
	_cleanup_str_ struct str text = STR_INIT;
	_cleanup_free_ char *by_git = NULL, *names = NULL;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(read_log("git bisect start c9 c2\ngit bisect good c3\n", &log, &e), 0);
	strv_add(&log.paths, "git bisect reset");
	strv_add(&log.paths, "it's\ngit bisect reset\n!");
	strv_add(&log.paths, "a");
	bisect_log_write(&log, hostile, NULL, &text);
	by_git = state_of_git(text.buf);
	assert_non_null(by_git);
	assert_null(strchr(text.buf, '\033'));
	names = sh("cd r; cat .git/BISECT_NAMES; git bisect reset 2>/dev/null");
	assert_string_equal(names,
			    " '--' 'git bisect reset' 'it'\\''s?git bisect reset?'\\!'' 'a'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_worktree_has_its_own_bisection),
		cmocka_unit_test(a_bare_repository_is_bisected_too),
		cmocka_unit_test(the_log_gives_the_order_and_refs_what_it_lacks),
		cmocka_unit_test(damaged_files_of_git_bisect_are_named),
		cmocka_unit_test(what_git_replays_is_read_as_git_reads_it),
		cmocka_unit_test(names_that_move_mean_what_git_noted_then),
		cmocka_unit_test(a_log_of_another_repository_is_refused),
		cmocka_unit_test(words_that_are_neither_commit_nor_path_are_refused),
		cmocka_unit_test(subjects_and_paths_cannot_break_our_log),
	};

	return cmocka_run_group_tests_name("bisect_state_git", tests, set_up_line, tear_down);
}
