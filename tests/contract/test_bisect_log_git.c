/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions of git bisect over generated histories: their logs read, written, and replayed by git. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "contract/bisect_compare.h"
#include "contract/histories.h"
#include "io/repo.h"

#define SESSIONS 48
#define VERDICTS 6

static char *dir;
static struct repo *repo;
static struct made_history *histories;
static unsigned n_sessions;
static unsigned long n_verdicts, n_found, n_limited, n_stopped, n_refused;

/* NULL: git's default, or by the first verdict. */
struct terms {
	const char *new_, *old;
	const char *option[3];
};
static const struct terms term_sets[] = {
	{ "bad", "good", { NULL } },
	{ "bad", "good", { NULL } },
	{ "new", "old", { NULL } },
	{ "slow", "fast", { "--term-old=fast", "--term-new=slow" } },
	{ "broken", "fixed", { "--term-bad=broken", "--term-good=fixed" } },
	{ "bad", "old", { "--term-old=old" } },
	{ "it's!", "\"w\xc3\xb6rks\"", { "--term-new=it's!", "--term-old=\"w\xc3\xb6rks\"" } },
	{ "bug/new", "bug/old", { "--term-new=bug/new", "--term-old=bug/old" } },
};

static const char *const path_sets[][4] = {
	{ "a" },
	{ "a/x.c", "no such file" },
	{ "it's", "b/", "'" },
	{ "top.c", "!bang!", "back\\slash" },
	{ "*.c", ":!a/sub" },
	{ "\"double\"", "a", "tab\there" },
	{ "\xc3\xbcn\xc3\xaf", "a/x.c", "\xff\xfe" },
	{ "--first-parent", "b", "--" },
	{ "$(touch x)", "top.c", "`a`" },
};

struct session {
	const struct made_history *h;
	unsigned number, bad, good, culprit;
	const struct terms *terms;
	const char *const *paths;
	bool first_parent, is_late; /* ends by verdicts, not in start */
	bool has_ranges;
	uint64_t rng;
	/* what was told to git, in order */
	struct strv told;
};

/* Run git in @dir; its output. The exit status. */
static int git(const struct strv *args, struct str *out)
{
	const struct proc_opts o = {
		.argv = args->v, .cwd = dir, .out = out, .merge_stderr = true
	};
	struct proc_result res;
	struct err e = ERR_INIT;

	if (proc_run(&o, &res, &e))
		fail_msg("git: %s", e.msg);
	assert_int_equal(res.end, PROC_EXITED);
	return res.status;
}

static char *shell(const char *script)
{
	char *argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)script, NULL };
	struct str out = STR_INIT;
	const struct proc_opts o = { .argv = argv, .cwd = dir, .out = &out };
	struct proc_result res;
	struct err e = ERR_INIT;

	if (proc_run(&o, &res, &e))
		fail_msg("%s", e.msg);
	while (out.len && out.buf[out.len - 1] == '\n')
		out.buf[--out.len] = '\0';
	return str_detach(&out);
}

static void tell(struct session *s, const char *verb, unsigned i)
{
	char hex[COMMIT_HEX + 1];

	strv_addf(&s->told, "%s %s", verb, commit_hex(&s->h->commit[i].id, hex));
	n_verdicts++;
}

/* The commit by one of its names. */
static void add_name(struct session *s, struct strv *args, unsigned i)
{
	char hex[COMMIT_HEX + 1];

	commit_hex(&s->h->commit[i].id, hex);
	if (i == s->h->n - 1 && random_below(&s->rng, 2))
		strv_addf(args, "h%u", s->number);
	else if (random_below(&s->rng, 4) == 0)
		strv_addf(args, "%.14s", hex);
	else
		strv_add(args, hex);
}

static void start(struct session *s)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;

	strv_add(&args, "git");
	strv_add(&args, "bisect");
	strv_add(&args, "start");
	for (const char *const *o = s->terms->option; *o; o++) {
		const char *value = strchr(*o, '=');

		if (random_below(&s->rng, 2)) {
			strv_add(&args, *o);
			continue;
		}
		strv_take(&args, xstrndup(*o, (size_t)(value - *o)));
		strv_add(&args, value + 1);
	}
	if (s->first_parent)
		strv_add(&args, "--first-parent");
	if (!s->is_late) {
		add_name(s, &args, s->bad);
		add_name(s, &args, s->good);
		tell(s, s->terms->new_, s->bad);
		tell(s, s->terms->old, s->good);
	}
	strv_add(&args, "--");
	for (const char *const *p = s->paths; p && *p; p++)
		strv_add(&args, *p);
	git(&args, &out);
}

static void verdict(struct session *s, const char *verb, unsigned i)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;

	strv_add(&args, "git");
	strv_add(&args, "bisect");
	strv_add(&args, verb);
	add_name(s, &args, i);
	tell(s, verb, i);
	git(&args, &out);
	n_found += strstr(str_text(&out), " is the first ") != NULL;
}

static void skip_range(struct session *s, unsigned from, unsigned to)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;
	char a[COMMIT_HEX + 1], b[COMMIT_HEX + 1];

	strv_add(&args, "git");
	strv_add(&args, "bisect");
	strv_add(&args, "skip");
	strv_addf(&args, "%s..%s", commit_hex(&s->h->commit[from].id, a),
		  commit_hex(&s->h->commit[to].id, b));
	git(&args, &out);
	s->has_ranges = true;
}

static void give_verdicts(struct session *s)
{
	if (s->is_late && random_below(&s->rng, 2))
		verdict(s, s->terms->new_, s->bad);
	if (s->is_late)
		verdict(s, s->terms->old, s->good);
	for (unsigned k = random_below(&s->rng, VERDICTS + 1); k; k--) {
		unsigned i = random_below(&s->rng, s->h->n);

		if (random_below(&s->rng, 4) == 0)
			verdict(s, "skip", i);
		else if (random_below(&s->rng, 8) == 0)
			skip_range(s, random_below(&s->rng, s->h->n), i);
		else
			verdict(s,
				history_is_ancestor(s->h, s->culprit, i) ? s->terms->new_
									 : s->terms->old,
				i);
	}
}

/* The log says, in order, what was told. (git tells each commit of a range.) */
static void check_order(const struct session *s, const struct bisect_log *log)
{
	char hex[COMMIT_HEX + 1];

	if (s->has_ranges)
		return;
	assert_int_equal(log->n, s->told.n);
	for (size_t i = 0; i < log->n; i++) {
		const struct bisect_entry *entry = &log->entry[i];
		const char *term = entry->state == BISECT_NEW   ? log->term_new
				   : entry->state == BISECT_OLD ? log->term_old
								: "skip";
		_cleanup_free_ char *line = xasprintf("%s %s", term, commit_hex(&entry->id, hex));

		assert_string_equal(line, s->told.v[i]);
	}
}

/* What was read is what the session was given and what git's refs say. */
static void check_log(const struct session *s, const struct bisect_log *log, const char *refs)
{
	_cleanup_free_ char *ours = refs_of(log);
	size_t n = 0;

	assert_string_equal(ours, refs);
	check_order(s, log);
	/* the words new and old are settled by the first verdict */
	if (log->n || s->terms->option[0]) {
		bool only_skips = s->is_late && !strstr(refs, "/old-") && !strstr(refs, "/new ");

		if (!only_skips || s->terms->option[0]) {
			assert_string_equal(log->term_new, s->terms->new_);
			assert_string_equal(log->term_old, s->terms->old);
		}
	}
	assert_int_equal(log->first_parent, s->first_parent);
	for (const char *const *p = s->paths; p && *p; p++)
		assert_string_equal(log->paths.v[n++], *p);
	assert_int_equal(log->paths.n, n);
}

/* All that git has after a replay: refs, terms, paths, first-parent, the next commit, what it said. */
static char *state_after_replay(const char *log)
{
	_cleanup_str_ struct str name = STR_INIT;
	_cleanup_free_ char *path = fs_join(dir, "log"), *state = NULL, *said = NULL;
	struct err e = ERR_INIT;

	assert_int_equal(fs_write(path, log, strlen(log), &e), 0);
	said = shell(
		"git bisect reset >/dev/null 2>&1; git bisect replay log >said 2>&1;"
		" echo status $?; grep -E 'is the first|error|fatal|No testable|only .skip' said");
	state = shell(BISECT_REFS
		      "; echo '^'; cat BISECT_TERMS BISECT_NAMES 2>/dev/null; tail -n 2 said;"
		      " ls BISECT_FIRST_PARENT 2>/dev/null; git bisect reset >/dev/null 2>&1");
	return xasprintf("%s\n%s", state, said);
}

/* Did git read the log to its end? Status 1 is a line that stopped it. */
static bool replays(const char *state)
{
	return !strstr(state, "status 1");
}

static char *subject(void *cookie, const struct commit_id *id)
{
	struct repo_commit c = { 0 };
	struct err e = ERR_INIT;
	char *text;

	(void)cookie;
	if (repo_commit_read(repo, id, &c, &e))
		fail_msg("%s", e.msg);
	text = xstrdup(c.subject);
	repo_commit_release(&c);
	return text;
}

static void check_session(struct session *s)
{
	_cleanup_(bisect_log_release) struct bisect_log saved = BISECT_LOG_INIT,
							present = BISECT_LOG_INIT;
	_cleanup_free_ char *path = fs_join(dir, "BISECT_LOG");
	_cleanup_free_ char *refs = NULL, *by_git = NULL, *by_us = NULL, *expected = NULL;
	_cleanup_str_ struct str text = STR_INIT, ours = STR_INIT;
	struct err e = ERR_INIT;

	start(s);
	if (!fs_exists(path)) {
		/* git gave it up at once: the ends are the wrong way round */
		n_refused++;
		assert_int_equal(bisect_log_in_progress(repo, &present, &e), 0);
		return;
	}
	give_verdicts(s);
	refs = shell(BISECT_REFS);
	if (fs_read(path, 1u << 20, &text, &e) || bisect_log_in_progress(repo, &present, &e) != 1 ||
	    bisect_log_parse("git.log", text.buf, text.len, &saved, &e) ||
	    bisect_log_resolve(repo, &saved, &e))
		fail_msg("%s\n%s", e.msg, str_text(&text));
	check_log(s, &present, refs);
	check_log(s, &saved, refs);
	bisect_log_write(&saved, subject, NULL, &ours);
	by_us = state_after_replay(ours.buf);
	by_git = state_after_replay(text.buf);
	if (replays(by_git) && strcmp(by_git, by_us))
		print_error("git wrote:\n%s\nwe wrote:\n%s\n", text.buf, ours.buf);
	/* all that was told, and nothing else */
	expected = xasprintf("%s%s^", refs, *refs ? "\n" : "");
	if (!str_starts(by_us, expected))
		print_error("expected:\n%s\ngot:\n%s\n", expected, by_us);
	assert_true(str_starts(by_us, expected));
	/* git stops in its own log where the ends of start are an answer, or ask for a base */
	if (replays(by_git))
		assert_string_equal(by_us, by_git);
	else
		n_stopped++;
	n_limited += s->paths != NULL;
}

static void choose(struct session *s, unsigned number)
{
	*s = (struct session){
		.h = &histories[number],
		.number = number,
		.rng = histories[number].seed ^ 0xb15ec7,
		.terms = &term_sets[number % ARRAY_SIZE(term_sets)],
	};
	s->bad = random_below(&s->rng, 3) ? s->h->n - 1 : random_below(&s->rng, s->h->n);
	s->good = random_below(&s->rng, 1 + s->h->n / 4);
	s->culprit = random_below(&s->rng, s->bad + 1);
	s->first_parent = random_below(&s->rng, 4) == 0;
	/* git keeps to bad and good once start names commits */
	s->is_late = random_below(&s->rng, 4) == 0 || strcmp(s->terms->new_, "new") == 0;
	if (random_below(&s->rng, 2))
		s->paths = path_sets[random_below(&s->rng, ARRAY_SIZE(path_sets))];
}

static void logs_of_git_are_read_and_ours_replay_to_the_same(void **state)
{
	(void)state;
	for (unsigned i = 0; i < n_sessions; i++) {
		struct session s;

		choose(&s, i);
		check_session(&s);
		strv_release(&s.told);
	}
	print_message(
		"%u sessions, %lu verdicts, %lu with paths, %lu came to an end; git could not "
		"replay %lu of its own logs\n",
		n_sessions, n_verdicts, n_limited, n_found, n_stopped);
	assert_true(n_stopped + n_refused < n_sessions / 2);
	assert_true(n_found > 0 && n_limited > 0 && n_verdicts > 3 * n_sessions);
}

/* In histories of all shapes, also those with several merge bases. */
static void ranges_to_skip_are_those_of_git_rev_list(void **state)
{
	unsigned long n = 0;

	(void)state;
	for (unsigned i = 0; i < n_sessions; i++) {
		_cleanup_(bisect_log_release) struct bisect_log log = BISECT_LOG_INIT;
		_cleanup_free_ char *range = NULL, *text = NULL, *script = NULL, *by_git = NULL;
		_cleanup_free_ char *by_us = NULL;
		const struct made_history *h = &histories[i];
		uint64_t rng = h->seed ^ 0x5c1b;
		char a[COMMIT_HEX + 1], b[COMMIT_HEX + 1];
		struct err e = ERR_INIT;

		commit_hex(&h->commit[random_below(&rng, h->n)].id, a);
		commit_hex(&h->commit[random_below(&rng, h->n)].id, b);
		range = xasprintf("%s%s%s", i % 7 ? a : "", i % 2 ? ".." : "...", i % 11 ? b : "");
		text = xasprintf("git bisect start\ngit bisect skip %s\n", range);
		script = xasprintf("git rev-list %s | sort | sed 's,.*,refs/bisect/skip-& &,'",
				   range);
		by_git = shell(script);
		if (bisect_log_parse("l", text, strlen(text), &log, &e) ||
		    bisect_log_resolve(repo, &log, &e))
			fail_msg("%s: %s", range, e.msg);
		by_us = refs_of(&log);
		assert_string_equal(by_us, by_git);
		n += log.n;
	}
	print_message("%u ranges, %lu commits\n", n_sessions, n);
	assert_true(n > n_sessions);
}

static void make_repository(void)
{
	struct err e = ERR_INIT;

	/* git bisect wants a HEAD */
	if (!histories_import(dir, histories, n_sessions) ||
	    !run(dir, "git symbolic-ref HEAD refs/heads/h0") || repo_open(dir, &repo, &e))
		fail_msg("no repository: %s", e.msg);
}

static int set_up(void **state)
{
	const char *many = getenv("KREGRESS_HISTORIES"), *soak = getenv("KREGRESS_SOAK");

	(void)state;
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	n_sessions = many ? (unsigned)strtoul(many, NULL, 10) : SESSIONS * (soak ? 10 : 1);
	dir = xstrdup(access("/dev/shm", W_OK) ? "/tmp/kregress-logs-XXXXXX"
					       : "/dev/shm/kregress-logs-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	histories = xcalloc(n_sessions, sizeof(*histories));
	for (unsigned i = 0; i < n_sessions; i++)
		history_make(&histories[i], UINT64_C(0xb15ec700000000) + i, 30);
	make_repository();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	repo_close(repo);
	fs_remove_tree(dir, NULL);
	free(dir);
	free(histories);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logs_of_git_are_read_and_ours_replay_to_the_same),
		cmocka_unit_test(ranges_to_skip_are_those_of_git_rev_list),
	};

	return cmocka_run_group_tests_name("bisect_log_git", tests, set_up, tear_down);
}
