/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs of git bisect: what is read from them, what is written, every mistake with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <string.h>

#include "io/bisect_log.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccc"

static void release(struct bisect_log *log)
{
	bisect_log_release(log);
}

static void read_ok(const char *text, struct bisect_log *log)
{
	struct err e = ERR_INIT;

	if (bisect_log_parse("t.log", text, strlen(text), log, &e))
		fail_msg("%s", e.msg);
}

/* "+bad -good ?skipped | path": the log in short. Owned. */
static char *in_short(const struct bisect_log *log)
{
	struct str out = STR_INIT;

	str_addf(&out, "%s/%s%s%s", log->term_new, log->term_old, log->first_parent ? " first" : "",
		 log->no_checkout ? " no-checkout" : "");
	for (size_t i = 0; i < log->n; i++)
		str_addf(&out, " %c%s", " +-?"[log->entry[i].state], log -> entry[i].rev);
	for (size_t i = 0; i < log->paths.n; i++)
		str_addf(&out, " |%s|", log->paths.v[i]);
	return str_detach(&out);
}

static void check(const char *text, const char *expected)
{
	_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;
	_cleanup_free_ char *ours = NULL;

	read_ok(text, &log);
	ours = in_short(&log);
	assert_string_equal(ours, expected);
}

static void check_refused_bytes(const char *text, size_t n, const char *message)
{
	struct bisect_log log = BISECT_LOG_INIT;
	struct err e = ERR_INIT;

	if (bisect_log_parse("t.log", text, n, &log, &e) != -1)
		fail_msg("read: %s", text);
	assert_string_equal(e.msg, message);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_null(log.name);
}

static void check_refused(const char *text, const char *message)
{
	check_refused_bytes(text, strlen(text), message);
}

static void a_log_as_git_writes_it_is_read(void **state)
{
	static const char text[] = "# bad: [" A "] the subject: [x]\n"
				   "# good: [" B "] it's\n"
				   "git bisect start 'HEAD' 'v6.10' '--' 'mm' 'it'\\''s' ''\\!'x'\n"
				   "# skip: [" C "] c\n"
				   "git bisect skip " C "\n"
				   "# status: waiting for nothing\n"
				   "# bad: [" C "] c\n"
				   "git bisect bad " C "\n"
				   "# first bad commit: [" C "] c\n";
	_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;
	char hex[COMMIT_HEX + 1];

	(void)state;
	check(text, "bad/good +HEAD -v6.10 ?" C " +" C " |mm| |it's| |!x|");
	read_ok(text, &log);
	assert_false(log.terms_given);
	assert_int_equal(log.entry[0].line, 3);
	assert_int_equal(log.entry[2].line, 5);
	assert_int_equal(log.entry[3].line, 8);
	assert_string_equal(commit_hex(&log.entry[0].noted, hex), A);
	assert_string_equal(commit_hex(&log.entry[1].noted, hex), B);
	assert_string_equal(commit_hex(&log.entry[3].noted, hex), C);
	assert_true(commit_is_null(&log.entry[0].id));
	assert_ptr_equal(bisect_log_last_new(&log), &log.entry[3]);
	assert_string_equal(log.name, "t.log");
}

static void terms_come_from_start_or_from_the_first_verdict(void **state)
{
	(void)state;
	check("git bisect start\n", "bad/good");
	check("git bisect start\ngit bisect old x\ngit bisect new y\n", "new/old -x +y");
	check("git bisect start\ngit bisect good x\ngit bisect bad y\n", "bad/good -x +y");
	check("git bisect start --term-old=fast '--term-new' slow\ngit bisect slow x\n",
	      "slow/fast +x");
	check("git bisect start --term-good fixed --term-bad=broken y x --\n",
	      "broken/fixed +y -x");
	check("git bisect start --term-old=old y x --\ngit bisect old z\n", "bad/old +y -x -z");
	/* the terms stay with git when it starts again in a replay */
	check("git bisect start --term-old=fast y x --\ngit bisect start z w --\n",
	      "bad/fast +z -w");
}

static void a_later_start_begins_anew(void **state)
{
	(void)state;
	check("git bisect start --first-parent --no-checkout b a -- p\ngit bisect skip s\n"
	      "git bisect start c d --\n",
	      "bad/good +c -d");
}

static void options_stand_anywhere_before_the_dashes(void **state)
{
	(void)state;
	check("git bisect start b --first-parent a --no-checkout -- --first-parent --\n",
	      "bad/good first no-checkout +b -a |--first-parent| |--|");
}

static void loose_forms_are_taken(void **state)
{
	(void)state;
	check("git bisect start 'b' 'a'\r\ngit bisect good c\r\n", "bad/good +b -a -c");
	check("From me\n\n  git-bisect start b a --\n\tgit bisect  good\tc  d\ngit bisectx\n",
	      "bad/good +b -a -c -d");
	check("git bisect start b a --\ngit bisect skip 'c'..d e\ngit bisect terms --term-old\n",
	      "bad/good +b -a ?c..d ?e");
	check("git bisect start b a --\ngit bisect good " C, "bad/good +b -a -" C);
	check("git bisect start b a --\ngit bisect good v6.1", "bad/good +b -a -v6.1");
	/* a verdict that a person removed, but not its comment */
	check("git bisect start b a --\n# bad: [" A "] x\n# good: [" B "] y\ngit bisect good " B
	      "\n",
	      "bad/good +b -a -" B);
}

static void without_dashes_the_comments_tell_commits_from_paths(void **state)
{
	static const char notes[] = "# bad: [" A "] x\n# good: [" B "] y\n";
	_cleanup_free_ char *two = xasprintf("%sgit bisect start b a p q\n", notes);
	_cleanup_free_ char *one = xasprintf("%sgit bisect start b a p\n", notes);
	_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;

	(void)state;
	check(two, "bad/good +b -a |p| |q|");
	/* as git does */
	check(one, "bad/good +b -a");
	check("git bisect start " A " a p\n", "bad/good +" A " -a -p");
	read_ok("git bisect start " A " a p\n", &log);
	assert_false(log.entry[0].may_be_path);
	assert_true(log.entry[1].may_be_path && log.entry[2].may_be_path);
}

static void mistakes_are_named_with_their_line(void **state)
{
	(void)state;
	check_refused("git bisect start b a --\n\ngit bisect god c\n",
		      "t.log:3: unknown term 'god' (the terms of this log are bad, good and skip; "
		      "did you mean 'good'?)");
	check_refused("git bisect start --term-old=fast b a --\ngit bisect wrong c\n",
		      "t.log:2: unknown term 'wrong' (the terms of this log are bad, fast and "
		      "skip)");
	check_refused("git bisect start b a --\ngit bisect reset\n",
		      "t.log:2: a log that is replayed cannot hold the command 'reset' (git bisect "
		      "replay refuses it too: remove the line)");
	check_refused("git bisect start b a --\ngit bisect bad c d\n",
		      "t.log:2: more than one commit after 'bad' (git bisect takes one)");
	check_refused("git bisect start b a --\ngit bisect good\n",
		      "t.log:2: no commit after 'good' (is the log whole?)");
	check_refused("git bisect start b a --\ngit bisect good c ''\n",
		      "t.log:2: no commit after 'good' (is the log whole?)");
	check_refused("git bisect good c\ngit bisect start b a --\n",
		      "t.log:1: no 'git bisect start' before 'good' (take the whole log with git "
		      "bisect log)");
	check_refused("git bisect start '' a --\n",
		      "t.log:1: an empty word in 'git bisect start' (remove it)");
	check_refused("git bisect start b a -- 'p\nq'\n",
		      "t.log:1: a quote is open at the end of 'git bisect start b a -- 'p' (git "
		      "bisect cannot take a path with a line break)");
	check_refused(
		"git bisect start --first-parents b a\n",
		"t.log:1: unknown option of git bisect start: '--first-parents' (did you mean "
		"'--first-parent'?)");
	check_refused("git bisect start b a --\ngit bisect \033[2J\xff c\n",
		      "t.log:2: unknown term '\\x1b[2J\\xff' (the terms of this log are bad, good "
		      "and skip)");
}

static void terms_that_git_refuses_are_refused(void **state)
{
	static const char *const bad[] = { "a b",  ".a",  "a..b", "a.lock", "a~",    "a/", "a//b",
					   "a/.b", "a@{", "a\\b", "",       "a\x7f", "a?" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_free_ char *text = xasprintf("git bisect start '--term-old=%s'\n", bad[i]);
		struct bisect_log log = BISECT_LOG_INIT;
		struct err e = ERR_INIT;

		assert_int_equal(bisect_log_parse("t", text, strlen(text), &log, &e), -1);
		assert_true(str_starts(e.msg, "t:1: not a valid term: '"));
	}
	check_refused("git bisect start --term-old=bad\n",
		      "t.log:1: not a valid term: 'bad' (it would change its meaning)");
	check_refused("git bisect start --term-new=reset\n",
		      "t.log:1: not a valid term: 'reset' (it is a command of git bisect)");
	check_refused("git bisect start --term-new=x --term-old=x\n",
		      "t.log:1: both terms are 'x' (give two different ones)");
	check_refused("git bisect start --term-new\n",
		      "t.log:1: no term after '--term-new' (give it as in --term-old=fast)");
}

static void what_is_no_log_is_refused(void **state)
{
	(void)state;
	check_refused("", "t.log: not a log of git bisect: no line 'git bisect start' (it is what "
			  "git bisect log prints)");
	check_refused("[campaign]\nname = x\n",
		      "t.log: not a log of git bisect: no line 'git bisect start' (it is what git "
		      "bisect log prints)");
	check_refused_bytes("git bisect start\n\0", 18,
			    "t.log: not a log of git bisect: it holds a zero byte (it is what git "
			    "bisect log prints)");
}

static void a_log_that_is_too_long_is_refused(void **state)
{
	size_t n = BISECT_LOG_MAX;
	char *text = xcalloc(n + 1, 1);
	struct bisect_log log = BISECT_LOG_INIT;
	struct err e = ERR_INIT;

	(void)state;
	memset(text, '\n', n + 1);
	memcpy(text, "git bisect start", 16);
	assert_int_equal(bisect_log_parse("t.log", text, n, &log, &e), 0);
	bisect_log_release(&log);
	check_refused_bytes(text, n + 1,
			    "t.log: too long for a log of git bisect (it is what git bisect log "
			    "prints)");
	free(text);
}

/*
 * A log cut at any byte is refused, or says less of the same: never another commit. (The names
 * in the line of start may be cut at a blank: then there are fewer.)
 */
static void a_log_cut_at_any_byte_never_names_another_commit(void **state)
{
	static const char text[] = "# bad: [" A "] x\n# good: [" B "] y\n"
				   "git bisect start '--term-old=good' '" A "' '" B "' '--' 'mm'\n"
				   "# skip: [" C "] c\ngit bisect skip " C "\n"
				   "# bad: [" C "] c\ngit bisect bad " C "\n";
	unsigned refused = 0;

	(void)state;
	for (size_t n = 0; n < strlen(text); n++) {
		_cleanup_(release) struct bisect_log log = BISECT_LOG_INIT;
		struct err e = ERR_INIT;

		if (bisect_log_parse("t", text, n, &log, &e)) {
			refused++;
			continue;
		}
		for (size_t i = 0; i < log.n; i++)
			assert_true(!strcmp(log.entry[i].rev, A) || !strcmp(log.entry[i].rev, B) ||
				    !strcmp(log.entry[i].rev, C));
		assert_true(log.paths.n == 0 || !strcmp(log.paths.v[0], "mm"));
		assert_true(log.n == 0 || log.n >= 2);
	}
	assert_true(refused > 300);
	check_refused("git bisect start b a --\ngit bisect good aaaa",
		      "t.log:2: the log is cut short in its last line 'aaaa' (take it again with "
		      "git bisect log, or remove that line)");
}

static char *subject(void *cookie, const struct commit_id *id)
{
	(void)id;
	return xstrdup(cookie);
}

static void what_is_written_is_what_git_writes(void **state)
{
	static const char expected[] =
		"git bisect start '--term-old=fast' '--term-new=it'\\''s'\\!'' '--first-parent' "
		"'--no-checkout' '--' 'mm' 'a'\\''b c' ''\\!'d' 'e?f'\n"
		"# it's!: [" A "] a \\x1b[1m subject\n"
		"git bisect it's! " A "\n"
		"# fast: [" B "] a \\x1b[1m subject\n"
		"git bisect fast " B "\n"
		"# skip: [" C "] a \\x1b[1m subject\n"
		"git bisect skip " C "\n";
	struct bisect_log log = { .term_new = xstrdup("it's!"),
				  .term_old = xstrdup("fast"),
				  .first_parent = true,
				  .no_checkout = true };
	static const char *const revs[] = { A, B, C }, *const paths[] = { "mm", "a'b c", "!d",
									  "e\nf" };
	_cleanup_str_ struct str out = STR_INIT;
	char text[] = "a \033[1m subject\nand more";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(revs); i++)
		commit_parse(
			revs[i],
			&bisect_log_add(&log, (enum bisect_state)(i + 1), xstrdup("x"), 1)->id);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		strv_add(&log.paths, paths[i]);
	bisect_log_write(&log, subject, text, &out);
	assert_string_equal(out.buf, expected);
	bisect_log_release(&log);
}

static void gits_own_terms_are_not_written(void **state)
{
	struct bisect_log log = { .term_new = xstrdup("bad"), .term_old = xstrdup("good") };
	_cleanup_str_ struct str out = STR_INIT;

	(void)state;
	bisect_log_add(&log, BISECT_OLD, xstrdup("v1"), 1);
	bisect_log_add(&log, BISECT_SKIP, xstrdup(":/fix it"), 1);
	bisect_log_write(&log, NULL, NULL, &out);
	assert_string_equal(out.buf, "git bisect start\ngit bisect good v1\n"
				     "git bisect skip ':/fix it'\n");
	bisect_log_release(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_as_git_writes_it_is_read),
		cmocka_unit_test(terms_come_from_start_or_from_the_first_verdict),
		cmocka_unit_test(a_later_start_begins_anew),
		cmocka_unit_test(options_stand_anywhere_before_the_dashes),
		cmocka_unit_test(loose_forms_are_taken),
		cmocka_unit_test(without_dashes_the_comments_tell_commits_from_paths),
		cmocka_unit_test(mistakes_are_named_with_their_line),
		cmocka_unit_test(terms_that_git_refuses_are_refused),
		cmocka_unit_test(what_is_no_log_is_refused),
		cmocka_unit_test(a_log_that_is_too_long_is_refused),
		cmocka_unit_test(a_log_cut_at_any_byte_never_names_another_commit),
		cmocka_unit_test(what_is_written_is_what_git_writes),
		cmocka_unit_test(gits_own_terms_are_not_written),
	};

	return cmocka_run_group_tests_name("bisect_log", tests, NULL, NULL);
}
