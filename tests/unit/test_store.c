/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store: round trips seen by a second reader, kill -9, damage, full disks, locks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "base/fs.h"
#include "base/str.h"
#include "io/store.h"

static char tmp[] = "/tmp/kregress-store-XXXXXX";
static unsigned files;

/* In the place of the C library's: how often the disk was waited for. */
static unsigned syncs;

int fsync(int fd)
{
	syncs++;
	return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	syncs++;
	return (int)syscall(SYS_fdatasync, fd);
}

static int make_tmp(void **state)
{
	(void)state;
	return mkdtemp(tmp) ? 0 : -1;
}

static int drop_tmp(void **state)
{
	(void)state;
	return fs_remove_tree(tmp, NULL);
}

/* A path that nobody has used yet. */
static char *fresh_path(void)
{
	return xasprintf("%s/%u.db", tmp, files++);
}

static void storep_close(struct store **s)
{
	store_close(*s);
}
#define _cleanup_store_ _cleanup_(storep_close)

static struct store *open_store(const char *path, bool read_only)
{
	struct err e = ERR_INIT;
	struct store *s = NULL;

	if (store_open(path, read_only, &s, &e) < 0)
		fail_msg("%s", e.msg);
	return s;
}

static void assert_open_fails(const char *path, bool read_only, enum err_code code,
			      const char *words)
{
	struct err e = ERR_INIT;
	struct store *s = NULL;

	assert_int_equal(store_open(path, read_only, &s, &e), -1);
	assert_null(s);
	assert_int_equal(e.code, code);
	if (!strstr(e.msg, words))
		fail_msg("no '%s' in '%s'", words, e.msg);
}

/* The independent reader: one value as text, through a connection of its own. Owned. */
static char *sql_value(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	char *out = NULL;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	sqlite3_busy_timeout(db, 5000);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	if (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0))
		out = xstrdup((const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	sqlite3_close(db);
	return out;
}

static void assert_sql(const char *path, const char *sql, const char *want)
{
	_cleanup_free_ char *got = sql_value(path, sql);

	if (!str_eq(got, want))
		fail_msg("%s: got '%s', want '%s'", sql, got ? got : "NULL", want ? want : "NULL");
}

static int sql_exec(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
	return rc;
}

static struct commit_id commit_of(uint8_t byte)
{
	struct commit_id id;

	memset(id.raw, byte, sizeof(id.raw));
	return id;
}

/* Words that read-only structs of a test point to. */
static char ms[] = "ms", exit_ms[] = "exit_ms", search[] = "search", setup[] = "a1b2";

/* A trial of commit @byte with @n samples 1.5, 2.5, …, the first a warm-up. */
static int64_t add_trial(struct store *s, uint8_t byte, size_t n, struct err *e)
{
	_cleanup_free_ struct store_sample *samples = xcalloc(n + 1, sizeof(*samples));
	struct store_trial t = { .commit = commit_of(byte),
				 .outcome = TRIAL_OK,
				 .setup = setup,
				 .purpose = search,
				 .time = 1000 + byte,
				 .samples = samples,
				 .n_samples = n };

	for (size_t i = 0; i < n; i++)
		samples[i] = (struct store_sample){ .metric = exit_ms,
						    .unit = ms,
						    .run = (int)i,
						    .warmup = !i,
						    .value = 1.5 + (double)i };
	if (store_trial_begin(s, &t.commit, &t.id, e) < 0)
		return -1;
	return store_trial_add(s, &t, e) < 0 ? -1 : t.id;
}

/* What a visit gives, as text. */
struct seen {
	struct str text;
	int stop_at, count;
};

static int see_build(const struct store_build *b, void *cookie)
{
	struct seen *seen = cookie;

	str_addf(&seen->text, "build %d;", (int)b->id);
	return ++seen->count == seen->stop_at ? 42 : 0;
}

static int see_trial(const struct store_trial *t, void *cookie)
{
	struct seen *seen = cookie;

	str_addf(&seen->text, "trial %d:%zu;", (int)t->id, t->n_samples);
	return ++seen->count == seen->stop_at ? 42 : 0;
}

static int see_note(const struct store_note *n, void *cookie)
{
	struct seen *seen = cookie;

	str_addf(&seen->text, "note %s;", n->kind);
	return ++seen->count == seen->stop_at ? 42 : 0;
}

static const struct store_visitor see_all = { see_build, see_trial, see_note, NULL };

static void assert_visit(struct store *s, int stop_at, int ret, const char *want)
{
	struct seen seen = { .stop_at = stop_at };
	struct store_visitor v = see_all;
	struct err e = ERR_INIT;

	v.cookie = &seen;
	assert_int_equal(store_visit(s, &v, &e), ret);
	assert_string_equal(str_text(&seen.text), want);
	str_release(&seen.text);
}

static void a_new_store_is_durable_append_only_and_marked_as_ours(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);

	(void)state;
	assert_sql(path, "PRAGMA journal_mode", "wal");
	assert_sql(path, "PRAGMA user_version", "2");
	assert_sql(path, "PRAGMA application_id", "1802659175"); /* "kreg" */
	assert_sql(path, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'", "15");
	assert_visit(s, 0, 0, "");
}

static void the_disk_is_waited_for_at_each_acknowledgement(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	struct commit_id id = commit_of(1);
	struct err e = ERR_INIT;
	int64_t number;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		syncs = 0;
		assert_int_equal(store_trial_begin(s, &id, &number, &e), 0);
		assert_true(syncs >= 1);
		syncs = 0;
		assert_true(add_trial(s, 1, 3, &e) > 0);
		assert_true(syncs >= 2);
		syncs = 0;
		assert_int_equal(store_note_add(s, "k", "t", 0, &e), 0);
		assert_true(syncs >= 1);
	}
}

static void a_trial_is_read_by_a_second_reader_as_it_was_given(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(add_trial(s, 0xab, 3, &e), 1);
	assert_sql(path, "SELECT commit_id FROM trial", "abababababababababababababababababababab");
	assert_sql(path, "SELECT outcome || purpose || setup || time FROM trial",
		   "oksearcha1b21171");
	assert_sql(path, "SELECT typeof(build_row) || typeof(twin) || typeof(detail) FROM trial",
		   "nullnullnull");
	assert_sql(path,
		   "SELECT group_concat(run || metric || warmup || value || unit) FROM"
		   " (SELECT * FROM sample ORDER BY position)",
		   "0exit_ms11.5ms,1exit_ms02.5ms,2exit_ms03.5ms");
}

static int keep_trial(const struct store_trial *t, void *cookie)
{
	struct store_trial *to = cookie;

	*to = *t;
	to->detail = t->detail ? xstrdup(t->detail) : NULL;
	to->dir = t->dir ? xstrdup(t->dir) : NULL;
	to->samples = NULL;
	to->setup = to->purpose = to->boot_id = to->facts = NULL;
	assert_int_equal(t->n_samples, 4);
	assert_true(t->samples[0].value == 0.1 + 0.2);
	assert_true(t->samples[1].value == -5e-324);
	assert_true(t->samples[2].value == 1.7976931348623157e308);
	assert_true(t->samples[3].value == 3);
	assert_null(t->samples[3].unit);
	assert_int_equal(t->samples[3].run, 7);
	assert_true(t->samples[3].warmup);
	assert_string_equal(t->facts, "mem=1\ncpu=2\n");
	assert_string_equal(t->boot_id, "boot");
	to->n_samples = 0;
	return 0;
}

static void every_field_comes_back_bit_for_bit(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	char detail[] = "bytes \x01\x1b[31m\xff\xfe' \"; DROP TABLE trial; --", dir[] = "trials/1";
	char facts[] = "mem=1\ncpu=2\n", boot[] = "boot", none[] = "";
	struct store_sample samples[] = {
		{ exit_ms, ms, 0, false, 0.1 + 0.2 },
		{ exit_ms, ms, 1, false, -5e-324 },
		{ exit_ms, none, 2, false, 1.7976931348623157e308 },
		{ exit_ms, NULL, 7, true, 3 },
	};
	struct store_trial t = { .commit = commit_of(1),
				 .outcome = TRIAL_CRASHED,
				 .detail = detail,
				 .dir = dir,
				 .facts = facts,
				 .boot_id = boot,
				 .boot_seconds = 0.25,
				 .run_seconds = 1e-9,
				 .total_seconds = 1e9,
				 .time = INT64_MAX,
				 .layout = UINT32_MAX,
				 .samples = samples,
				 .n_samples = 4 };
	_cleanup_(store_trial_release) struct store_trial got = { .id = 0 };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(store_trial_begin(s, &t.commit, &t.id, &e), 0);
	assert_int_equal(store_trial_add(s, &t, &e), 0);
	assert_int_equal(
		store_visit(s, &(struct store_visitor){ .trial = keep_trial, .cookie = &got }, &e),
		0);
	assert_true(commit_eq(&got.commit, &t.commit));
	assert_int_equal(got.outcome, TRIAL_CRASHED);
	assert_string_equal(got.detail, detail);
	assert_string_equal(got.dir, dir);
	assert_true(got.time == INT64_MAX && got.total_seconds == 1e9 && got.run_seconds == 1e-9);
	assert_int_equal(got.twin + got.build_id, 0);
	assert_true(got.layout == UINT32_MAX);
}

static int add_layout(const struct store_trial *t, void *cookie)
{
	str_addf(cookie, "%u;", t->layout);
	return 0;
}

static void assert_layouts(struct store *s, const char *want)
{
	_cleanup_str_ struct str got = STR_INIT;
	struct err e = ERR_INIT;

	assert_int_equal(
		store_visit(s, &(struct store_visitor){ .trial = add_layout, .cookie = &got }, &e),
		0);
	assert_string_equal(str_text(&got), want);
}

static void a_store_from_before_layouts_is_read_as_it_is_and_upgraded_by_a_writer(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	struct store_trial t = { .commit = commit_of(2), .outcome = TRIAL_CRASHED, .layout = 7 };
	struct err e = ERR_INIT;

	(void)state;
	{
		_cleanup_store_ struct store *s = open_store(path, false);

		add_trial(s, 1, 3, &e);
	}
	assert_int_equal(sql_exec(path, "ALTER TABLE trial DROP COLUMN layout"), SQLITE_OK);
	assert_int_equal(sql_exec(path, "PRAGMA user_version = 1"), SQLITE_OK);
	{
		_cleanup_store_ struct store *s = open_store(path, true);

		assert_layouts(s, "0;");
		assert_sql(path, "PRAGMA user_version", "1");
	}
	_cleanup_store_ struct store *s = open_store(path, false);

	assert_sql(path, "PRAGMA user_version", "2");
	assert_int_equal(store_trial_begin(s, &t.commit, &t.id, &e), 0);
	assert_int_equal(store_trial_add(s, &t, &e), 0);
	assert_layouts(s, "0;7;");
	assert_sql(path, "SELECT group_concat(layout) FROM trial", "0,7");
	assert_sql(path, "PRAGMA foreign_key_check", NULL);
}

static int check_build(const struct store_build *b, void *cookie)
{
	(*(int *)cookie)++;
	assert_int_equal(b->id, 1);
	assert_int_equal(b->outcome, TRIAL_BUILD_FAILED);
	assert_string_equal(b->key, "k");
	assert_string_equal(b->release, "6.12.0-kregress");
	assert_string_equal(b->detail, "");
	assert_null(b->image_hash);
	assert_null(b->build_id);
	assert_true(b->cached && b->seconds == 12.5 && b->seconds_make == 11.25 && b->time == 77);
	return 0;
}

static void builds_get_their_numbers_and_trials_point_to_them(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	char key[] = "k", release[] = "6.12.0-kregress", none[] = "";
	struct store_build b = { .id = 99,
				 .commit = commit_of(2),
				 .outcome = TRIAL_BUILD_FAILED,
				 .key = key,
				 .release = release,
				 .detail = none,
				 .cached = true,
				 .seconds = 12.5,
				 .seconds_make = 11.25,
				 .time = 77 };
	struct store_trial t = { .commit = commit_of(2), .outcome = TRIAL_BUILD_FAILED };
	struct err e = ERR_INIT;
	int builds = 0;

	(void)state;
	assert_int_equal(store_build_add(s, &b, &e), 0);
	assert_int_equal(b.id, 1);
	assert_int_equal(
		store_visit(s, &(struct store_visitor){ .build = check_build, .cookie = &builds },
			    &e),
		0);
	assert_int_equal(builds, 1);
	t.build_id = 1;
	store_trial_begin(s, &t.commit, &t.id, &e);
	assert_int_equal(store_trial_add(s, &t, &e), 0);
	assert_sql(path,
		   "SELECT outcome FROM build JOIN trial USING(outcome)"
		   " WHERE trial.build_row = build.id",
		   "build_failed");
	store_trial_begin(s, &t.commit, &t.id, &e);
	t.build_id = 5;
	assert_int_equal(store_trial_add(s, &t, &e), -1);
	assert_int_equal(e.code, ERR_INTERNAL);
	t.build_id = 0;
	t.twin = 1;
	assert_int_equal(store_trial_add(s, &t, &e), 0);
	assert_sql(path, "SELECT twin FROM trial WHERE id = 2", "1");
}

static void a_visit_follows_the_log_and_stops_when_told(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	struct store_build b = { .commit = commit_of(3), .outcome = TRIAL_OK };
	struct err e = ERR_INIT;

	(void)state;
	store_note_add(s, "start", NULL, 0, &e);
	add_trial(s, 1, 2, &e);
	store_build_add(s, &b, &e);
	store_note_add(s, "lab", "lost", 0, &e);
	add_trial(s, 2, 0, &e);
	store_build_add(s, &b, &e);
	store_note_add(s, "stop", "done", 12.5, &e);
	assert_visit(s, 0, 0, "note start;trial 1:2;build 1;note lab;trial 2:0;build 2;note stop;");
	assert_visit(s, 3, 42, "note start;trial 1:2;build 1;");
	assert_int_equal(store_visit(s, &(struct store_visitor){ .cookie = NULL }, &e), 0);
	assert_sql(path, "SELECT text || seconds FROM note WHERE kind = 'stop'", "done12.5");
	assert_sql(path, "SELECT abs(time - strftime('%s', 'now')) < 60 FROM note", "1");
}

static int add_note_and_visit(const struct store_note *n, void *cookie)
{
	struct err e = ERR_INIT;

	(void)n;
	assert_int_equal(store_note_add(cookie, "more", "", 0, &e), 0);
	assert_int_equal(store_visit(cookie, &(struct store_visitor){ .trial = NULL }, &e), 0);
	return 0;
}

static void a_callback_may_write_and_visit_without_an_endless_loop(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	struct store_visitor v = { .note = add_note_and_visit, .cookie = s };
	struct err e = ERR_INIT;

	(void)state;
	store_note_add(s, "a", "", 0, &e);
	store_note_add(s, "b", "", 0, &e);
	assert_int_equal(store_visit(s, &v, &e), 0);
	assert_visit(s, 0, 0, "note a;note b;note more;note more;");
}

static void numbers_of_trials_are_never_given_twice(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	struct commit_id id = commit_of(9);
	struct err e = ERR_INIT;
	int64_t number = 0;

	(void)state;
	for (int64_t want = 1; want <= 3; want++) {
		_cleanup_store_ struct store *s = open_store(path, false);

		/* begun, then cut off */
		assert_int_equal(store_trial_begin(s, &id, &number, &e), 0);
		assert_int_equal(number, want);
	}
	assert_sql(path, "SELECT count(*) FROM trial", "0");
}

static void a_trial_is_stored_once_and_only_if_begun(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	struct store_trial t = { .id = 1, .commit = commit_of(1), .outcome = TRIAL_GARBLED };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(store_trial_add(s, &t, &e), -1);
	assert_int_equal(e.code, ERR_INTERNAL);
	add_trial(s, 1, 1, &e);
	assert_int_equal(store_trial_add(s, &t, &e), -1);
	assert_sql(path, "SELECT count(*) || outcome FROM trial", "1ok");
	/* refused rows leave no place in the log */
	assert_sql(path, "SELECT count(*) FROM log", "1");
}

static void a_value_that_is_not_finite_stores_nothing(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	struct store_sample sample = { exit_ms, ms, 0, false, NAN };
	struct store_trial t = {
		.commit = commit_of(1), .outcome = TRIAL_OK, .samples = &sample, .n_samples = 1
	};
	struct err e = ERR_INIT;

	(void)state;
	store_trial_begin(s, &t.commit, &t.id, &e);
	assert_int_equal(store_trial_add(s, &t, &e), -1);
	sample.value = INFINITY;
	assert_int_equal(store_trial_add(s, &t, &e), -1);
	assert_sql(path, "SELECT count(*) FROM trial", "0");
}

static void rows_cannot_be_changed_or_deleted(void **state)
{
	static const char *const tries[] = {
		"UPDATE trial SET outcome = 'crashed'",
		"DELETE FROM trial",
		"DELETE FROM sample",
		"UPDATE sample SET value = 0",
		"UPDATE note SET text = ''",
		"DELETE FROM note",
		"DELETE FROM log",
		"UPDATE log SET kind = 'x'",
		"DELETE FROM trial_begin",
		"UPDATE trial_begin SET time = 0",
		"DELETE FROM build",
		"UPDATE build SET key = ''",
		"DELETE FROM campaign",
		"UPDATE campaign SET text = ''",
		"INSERT INTO campaign VALUES(1, 'n', 'other', 't', 0)",
	};
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	char name[] = "n", identity[] = "i", text[] = "t";
	struct store_campaign c = { name, identity, text, 5 };
	struct store_build b = { .commit = commit_of(1), .outcome = TRIAL_OK };
	struct err e = ERR_INIT;

	(void)state;
	store_campaign_add(s, &c, &e);
	store_build_add(s, &b, &e);
	add_trial(s, 1, 1, &e);
	store_note_add(s, "k", "t", 0, &e);
	for (size_t i = 0; i < ARRAY_SIZE(tries); i++)
		assert_int_equal(sql_exec(path, tries[i]) & 0xff, SQLITE_CONSTRAINT);
	assert_sql(path,
		   "SELECT sum(n) FROM (SELECT count(*) AS n FROM log UNION ALL"
		   " SELECT count(*) FROM sample UNION ALL SELECT count(*) FROM trial_begin)",
		   "6");
}

static void a_campaign_is_set_once_and_its_text_may_change(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	char name[] = "hunt", identity[] = "repo=/r\n", text[] = "a = 1", text2[] = "a = 2";
	char other[] = "repo=/other\n";
	struct store_campaign c = { name, identity, text, 5 };
	_cleanup_(store_campaign_release) struct store_campaign got = { .name = NULL };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(store_campaign_get(s, &got, &e), 0);
	assert_int_equal(store_campaign_add(s, &c, &e), 0);
	assert_int_equal(store_campaign_add(s, &c, &e), 0);
	assert_sql(path, "SELECT count(*) FROM campaign", "1");
	c.text = text2;
	c.time = 6;
	assert_int_equal(store_campaign_add(s, &c, &e), 0);
	assert_sql(path, "SELECT count(*) FROM campaign", "2");
	assert_int_equal(store_campaign_get(s, &got, &e), 1);
	assert_string_equal(got.text, text2);
	assert_string_equal(got.identity, identity);
	assert_int_equal(got.time, 6);
	c.identity = other;
	assert_int_equal(store_campaign_add(s, &c, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "another campaign, 'hunt'"));
	assert_sql(path, "SELECT count(*) FROM campaign", "2");
}

static void long_text_is_cut_at_a_whole_character(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	size_t max = 1 << 20;
	_cleanup_free_ char *text = xcalloc(max + 10, 1), *length = NULL;
	struct err e = ERR_INIT;

	(void)state;
	memset(text, 'x', max + 9);
	memcpy(text + max - 1, "\xe2\x82\xac", 3); /* a euro sign across the limit */
	assert_int_equal(store_note_add(s, "long", text, 0, &e), 0);
	length = sql_value(path, "SELECT length(CAST(text AS BLOB)) FROM note");
	assert_int_equal(atoi(length), (int)max - 1);
}

static void a_reader_works_beside_a_writer_and_writes_nothing(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	struct err e = ERR_INIT;

	(void)state;
	assert_open_fails(path, true, ERR_NOT_FOUND, "no store");
	assert_int_equal(access(path, F_OK), -1);
	{
		_cleanup_store_ struct store *writer = open_store(path, false);
		_cleanup_store_ struct store *reader = open_store(path, true);

		add_trial(writer, 1, 1, &e);
		assert_visit(reader, 0, 0, "trial 1:1;");
		add_trial(writer, 2, 1, &e);
		assert_visit(reader, 0, 0, "trial 1:1;trial 2:1;");
		assert_int_equal(store_note_add(reader, "x", "y", 0, &e), -1);
		assert_int_equal(e.code, ERR_STORE);
		/* in the middle of a write */
		assert_int_equal(add_trial(writer, 3, 1, &e), 3);
	}
	/* and after a clean end */
	_cleanup_store_ struct store *late = open_store(path, true);

	assert_visit(late, 0, 0, "trial 1:1;trial 2:1;trial 3:1;");
}

static void a_locked_store_is_waited_for_then_named(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	_cleanup_store_ struct store *s = open_store(path, false);
	struct err e = ERR_INIT;
	sqlite3 *other = NULL;
	time_t begin = time(NULL);

	(void)state;
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(store_note_add(s, "a", "b", 0, &e), -1);
	assert_int_equal(e.code, ERR_STORE);
	assert_non_null(strstr(e.msg, "another process holds it"));
	assert_true(time(NULL) - begin >= 4);
	sqlite3_close(other);
	assert_int_equal(store_note_add(s, "a", "b", 0, &e), 0);
	assert_visit(s, 0, 0, "note a;");
}

static void what_is_no_store_is_refused_and_left_alone(void **state)
{
	_cleanup_free_ char *text = fresh_path(), *foreign = fresh_path(), *newer = fresh_path();
	_cleanup_free_ char *missing = xasprintf("%s/no/such/dir.db", tmp);
	struct err e = ERR_INIT;

	(void)state;
	fs_write(text, "[campaign]\nname = not a database, but long enough to look\n", 57, &e);
	assert_open_fails(text, false, ERR_STORE, "not a SQLite database");
	assert_open_fails(text, true, ERR_STORE, "not a SQLite database");
	sql_exec(foreign, "CREATE TABLE t(a)");
	assert_open_fails(foreign, false, ERR_STORE, "no store of kregress");
	assert_sql(foreign, "PRAGMA journal_mode", "delete");
	store_close(open_store(newer, false));
	sql_exec(newer, "PRAGMA user_version = 3");
	assert_open_fails(newer, false, ERR_STORE, "newer kregress");
	assert_open_fails(newer, true, ERR_STORE, "schema 3");
	assert_open_fails(missing, false, ERR_STORE, "must exist and be writable");
	assert_open_fails(missing, true, ERR_NOT_FOUND, "kregress run");
}

/* Overwrite @n bytes of a file at @offset. */
static void damage(const char *path, long offset, size_t n)
{
	FILE *f = fopen(path, "r+b");

	assert_non_null(f);
	fseek(f, offset, SEEK_SET);
	for (size_t i = 0; i < n; i++)
		fputc(0xa5, f);
	fclose(f);
}

static void a_damaged_store_is_noticed_not_believed(void **state)
{
	_cleanup_free_ char *pages = fresh_path(), *row = fresh_path();
	struct err e = ERR_INIT;
	struct seen seen = { .count = 0 };
	struct store_visitor v = see_all;

	(void)state;
	{
		_cleanup_store_ struct store *s = open_store(pages, false);

		for (uint8_t i = 0; i < 100; i++)
			add_trial(s, i, 10, &e);
	}
	damage(pages, 4096 * 3, 4096 * 12);
	assert_open_fails(pages, false, ERR_STORE, "damaged");

	store_close(open_store(row, false));
	assert_int_equal(sql_exec(row,
				  "INSERT INTO log VALUES(1, 'trial');"
				  "INSERT INTO trial_begin VALUES(1, hex(zeroblob(20)), 0);"
				  "INSERT INTO trial VALUES(1, 1, hex(zeroblob(20)), NULL, NULL,"
				  " NULL, 'splendid', '', '', '', '', NULL, 0, 0, 0, 0, 0)"),
			 SQLITE_OK);
	_cleanup_store_ struct store *s = open_store(row, true);

	v.cookie = &seen;
	assert_int_equal(store_visit(s, &v, &e), -1);
	assert_int_equal(e.code, ERR_STORE);
	assert_non_null(strstr(e.msg, "outcome"));
	assert_int_equal(seen.count, 0);
}

static void a_row_that_the_log_promises_must_be_there(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	struct seen seen = { .count = 0 };
	struct store_visitor v = see_all;
	struct err e = ERR_INIT;

	(void)state;
	store_close(open_store(path, false));
	sql_exec(path, "INSERT INTO log VALUES(7, 'note'), (8, 'of a later kregress')");
	_cleanup_store_ struct store *s = open_store(path, true);

	v.cookie = &seen;
	assert_int_equal(store_visit(s, &v, &e), -1);
	assert_non_null(strstr(e.msg, "row 7"));
}

static void a_path_that_looks_like_a_uri_is_a_path(void **state)
{
	char old[4096];

	(void)state;
	assert_non_null(getcwd(old, sizeof(old)));
	assert_int_equal(chdir(tmp), 0);
	store_close(open_store("file:x.db?mode=memory", false));
	assert_int_equal(access("file:x.db?mode=memory", F_OK), 0);
	store_close(open_store(":memory:", false));
	assert_int_equal(access(":memory:", F_OK), 0);
	assert_int_equal(chdir(old), 0);
}

/* Fill the store in @path until a write fails; then make room by @more_room and write again. */
static int fill_until_full(const char *path, void (*more_room)(const char *), const char *words)
{
	_cleanup_free_ char *text = xcalloc(1, 50001);
	struct err e = ERR_INIT;
	struct store *s = NULL;
	int stored = 0;

	if (store_open(path, false, &s, &e) < 0)
		return 1;
	memset(text, 'x', 50000);
	while (stored < 1000 && !store_note_add(s, "fill", text, 0, &e))
		stored++;
	if (stored == 1000 || e.code != ERR_STORE || !strstr(e.msg, words)) {
		fprintf(stderr, "# after %d: %s\n", stored, e.msg);
		return 2;
	}
	more_room(path);
	if (store_note_add(s, "fill", text, 0, &e) < 0)
		return 3;
	store_close(s);
	s = NULL;
	if (store_open(path, false, &s, &e) < 0)
		return 4;
	struct seen seen = { .count = 0 };
	struct store_visitor v = see_all;

	v.cookie = &seen;
	if (store_visit(s, &v, &e) != 0 || seen.count != stored + 1)
		return 5;
	store_close(s);
	str_release(&seen.text);
	return 0;
}

static void lift_file_limit(const char *path)
{
	(void)path;
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
}

static void drop_ballast(const char *path)
{
	_cleanup_free_ char *dir = fs_dirname(path), *ballast = fs_join(dir, "ballast");

	unlink(ballast);
}

/* A file system of 2 MB, half of it taken by a file. 77: not allowed to mount here. */
static int full_file_system(const char *dir)
{
	_cleanup_free_ char *path = fs_join(dir, "s.db"), *ballast = fs_join(dir, "ballast");
	_cleanup_free_ char *bytes = xcalloc(1, 1 << 20);
	struct err e = ERR_INIT;

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", dir, "tmpfs", 0, "size=2m") < 0)
		return 77;
	if (fs_write(ballast, bytes, 1 << 20, &e) < 0)
		return 6;
	return fill_until_full(path, drop_ballast, "free some disk space");
}

static int in_child(int (*run)(const char *), const char *arg)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(run(arg));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int limited_file(const char *path)
{
	/* the soft limit alone: the test lifts it again */
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1000000, RLIM_INFINITY });
	return fill_until_full(path, lift_file_limit, "check the disk");
}

static void a_write_that_fails_loses_nothing_and_can_be_tried_again(void **state)
{
	_cleanup_free_ char *path = fresh_path();

	(void)state;
	assert_int_equal(in_child(limited_file, path), 0);
}

static void a_full_disk_is_named_and_loses_nothing(void **state)
{
	int ret = in_child(full_file_system, tmp);

	(void)state;
	if (ret == 77) {
		print_message("# skipped: mounting a small tmpfs is not allowed here\n");
		skip();
	}
	assert_int_equal(ret, 0);
}

/* Write trials of 20 samples for ever; each number goes to @fd once it is acknowledged. */
static void write_for_ever(const char *path, int fd)
{
	struct err e = ERR_INIT;
	struct store *s = NULL;

	if (store_open(path, false, &s, &e) < 0)
		_exit(1);
	for (;;) {
		int64_t id = add_trial(s, 5, 20, &e);

		if (id < 0 || write(fd, &id, sizeof(id)) != sizeof(id))
			_exit(1);
	}
}

/*
 * One writer, killed after @us, counted from its first acknowledgement when it @works by then;
 * the numbers that it acknowledged as "1,2,3", and how many.
 */
static int kill_a_writer(const char *path, bool works, unsigned us, struct str *acknowledged)
{
	struct timespec wait = { .tv_nsec = (long)us * 1000 };
	int fds[2], status, n = 0;
	int64_t id;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		write_for_ever(path, fds[1]);
	}
	close(fds[1]);
	if (works) {
		assert_int_equal(read(fds[0], &id, sizeof(id)), sizeof(id));
		str_addf(acknowledged, "%lld", (long long)id);
		n = 1;
	}
	nanosleep(&wait, NULL);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	for (; read(fds[0], &id, sizeof(id)) == sizeof(id); n++)
		str_addf(acknowledged, "%s%lld", n ? "," : "", (long long)id);
	close(fds[0]);
	return n;
}

/* All of "1,2,3" are there with all of their samples, and no trial is there with some. */
static void assert_whole(const char *path, const char *acknowledged, int n)
{
	_cleanup_free_ char *sql = xasprintf("SELECT count(*) FROM trial WHERE id IN (%s) AND"
					     " (SELECT count(*) FROM sample WHERE trial = id) = 20",
					     acknowledged);
	_cleanup_free_ char *want = xasprintf("%d", n);

	assert_sql(path, sql, want);
	assert_sql(path,
		   "SELECT count(*) FROM trial WHERE"
		   " (SELECT count(*) FROM sample WHERE trial = id) <> 20",
		   "0");
	assert_sql(path,
		   "SELECT count(*) FROM log LEFT JOIN trial USING(seq)"
		   " WHERE trial.id IS NULL",
		   "0");
	assert_sql(path, "PRAGMA integrity_check", "ok");
}

static void whatever_was_acknowledged_survives_kill_9_whole(void **state)
{
	_cleanup_free_ char *path = fresh_path();
	unsigned seed = 20261130;
	int total = 0;

	(void)state;
	for (int round = 0; round < 30; round++) {
		_cleanup_str_ struct str acknowledged = STR_INIT;
		int n;

		seed = seed * 1103515245 + 12345;
		n = kill_a_writer(path, round % 3, seed / 65536 % 40000, &acknowledged);
		store_close(open_store(path, false));
		assert_whole(path, str_text(&acknowledged), n);
		total += n;
	}
	assert_true(total >= 20);
	print_message("# 30 writers killed, %d trials acknowledged, all there\n", total);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_store_is_durable_append_only_and_marked_as_ours),
		cmocka_unit_test(the_disk_is_waited_for_at_each_acknowledgement),
		cmocka_unit_test(a_trial_is_read_by_a_second_reader_as_it_was_given),
		cmocka_unit_test(every_field_comes_back_bit_for_bit),
		cmocka_unit_test(
			a_store_from_before_layouts_is_read_as_it_is_and_upgraded_by_a_writer),
		cmocka_unit_test(builds_get_their_numbers_and_trials_point_to_them),
		cmocka_unit_test(a_visit_follows_the_log_and_stops_when_told),
		cmocka_unit_test(a_callback_may_write_and_visit_without_an_endless_loop),
		cmocka_unit_test(numbers_of_trials_are_never_given_twice),
		cmocka_unit_test(a_trial_is_stored_once_and_only_if_begun),
		cmocka_unit_test(a_value_that_is_not_finite_stores_nothing),
		cmocka_unit_test(rows_cannot_be_changed_or_deleted),
		cmocka_unit_test(a_campaign_is_set_once_and_its_text_may_change),
		cmocka_unit_test(long_text_is_cut_at_a_whole_character),
		cmocka_unit_test(a_reader_works_beside_a_writer_and_writes_nothing),
		cmocka_unit_test(a_locked_store_is_waited_for_then_named),
		cmocka_unit_test(what_is_no_store_is_refused_and_left_alone),
		cmocka_unit_test(a_damaged_store_is_noticed_not_believed),
		cmocka_unit_test(a_row_that_the_log_promises_must_be_there),
		cmocka_unit_test(a_path_that_looks_like_a_uri_is_a_path),
		cmocka_unit_test(a_write_that_fails_loses_nothing_and_can_be_tried_again),
		cmocka_unit_test(a_full_disk_is_named_and_loses_nothing),
		cmocka_unit_test(whatever_was_acknowledged_survives_kill_9_whole),
	};

	return cmocka_run_group_tests(tests, make_tmp, drop_tmp);
}
