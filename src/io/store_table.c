/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the store: schema, and which member of which struct is which column. */
#include "io/store_table.h"

#include <string.h>

#include "base/str.h"
#include "io/store.h"

/*
 * log gives every row its place; the other tables hang on it. trial_begin gives
 * out the numbers of trials, also of those that were cut off.
 */
static const char tables_sql[] =
	"CREATE TABLE log(seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL);"
	"CREATE TABLE campaign(seq INTEGER PRIMARY KEY REFERENCES log(seq),"
	" name TEXT NOT NULL, identity TEXT NOT NULL, text TEXT NOT NULL,"
	" time INTEGER NOT NULL);"
	"CREATE TABLE build(seq INTEGER NOT NULL UNIQUE REFERENCES log(seq),"
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" commit_id TEXT NOT NULL CHECK(length(commit_id) = 40), outcome TEXT NOT NULL,"
	" key TEXT, image_hash TEXT, build_id TEXT, release TEXT, signature TEXT,"
	" log_path TEXT, config_path TEXT, detail TEXT, cached INTEGER NOT NULL,"
	" seconds REAL NOT NULL, seconds_make REAL NOT NULL, time INTEGER NOT NULL);"
	"CREATE TABLE trial_begin(id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" commit_id TEXT NOT NULL CHECK(length(commit_id) = 40), time INTEGER NOT NULL);"
	"CREATE TABLE trial(seq INTEGER NOT NULL UNIQUE REFERENCES log(seq),"
	" id INTEGER PRIMARY KEY REFERENCES trial_begin(id),"
	" commit_id TEXT NOT NULL CHECK(length(commit_id) = 40),"
	" build_row INTEGER REFERENCES build(id), setup TEXT, purpose TEXT,"
	" outcome TEXT NOT NULL, detail TEXT, dir TEXT, boot_id TEXT, facts TEXT,"
	" twin INTEGER REFERENCES trial(id), boot_seconds REAL NOT NULL,"
	" run_seconds REAL NOT NULL, total_seconds REAL NOT NULL, time INTEGER NOT NULL,"
	" layout INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE sample(trial INTEGER NOT NULL REFERENCES trial(id),"
	" position INTEGER NOT NULL, metric TEXT NOT NULL, unit TEXT, run INTEGER NOT NULL,"
	" warmup INTEGER NOT NULL, value REAL NOT NULL, PRIMARY KEY(trial, position))"
	" WITHOUT ROWID;"
	"CREATE TABLE note(seq INTEGER PRIMARY KEY REFERENCES log(seq), time INTEGER NOT NULL,"
	" kind TEXT NOT NULL, text TEXT, seconds REAL NOT NULL);"
	"CREATE TRIGGER campaign_identity BEFORE INSERT ON campaign"
	" WHEN EXISTS(SELECT 1 FROM campaign WHERE identity <> NEW.identity)"
	" BEGIN SELECT RAISE(ABORT, 'the identity of a campaign never changes'); END;";

const char store_upgrade_sql[] = "ALTER TABLE trial ADD COLUMN layout INTEGER NOT NULL DEFAULT 0;"
				 "PRAGMA user_version = 2;";

#define CAMPAIGN(kind, member)                                                                   \
	{                                                                                        \
		.name = #member, .type = kind, .offset = offsetof(struct store_campaign, member) \
	}
static const struct store_column campaign_columns[] = {
	CAMPAIGN(COL_TEXT, name),
	CAMPAIGN(COL_TEXT, identity),
	CAMPAIGN(COL_TEXT, text),
	CAMPAIGN(COL_INT64, time),
};

#define BUILD(kind, member)                                                                   \
	{                                                                                     \
		.name = #member, .type = kind, .offset = offsetof(struct store_build, member) \
	}
static const struct store_column build_columns[] = {
	BUILD(COL_REF, id), /* 0 as NULL: SQLite gives the number */
	{ .name = "commit_id", .type = COL_COMMIT, .offset = offsetof(struct store_build, commit) },
	BUILD(COL_OUTCOME, outcome),
	BUILD(COL_TEXT, key),
	BUILD(COL_TEXT, image_hash),
	BUILD(COL_TEXT, build_id),
	BUILD(COL_TEXT, release),
	BUILD(COL_TEXT, signature),
	BUILD(COL_TEXT, log_path),
	BUILD(COL_TEXT, config_path),
	BUILD(COL_TEXT, detail),
	BUILD(COL_BOOL, cached),
	BUILD(COL_REAL, seconds),
	BUILD(COL_REAL, seconds_make),
	BUILD(COL_INT64, time),
};

#define TRIAL(kind, member)                                                                   \
	{                                                                                     \
		.name = #member, .type = kind, .offset = offsetof(struct store_trial, member) \
	}
static const struct store_column trial_columns[] = {
	TRIAL(COL_INT64, id),
	{ .name = "commit_id", .type = COL_COMMIT, .offset = offsetof(struct store_trial, commit) },
	{ .name = "build_row", .type = COL_REF, .offset = offsetof(struct store_trial, build_id) },
	TRIAL(COL_TEXT, setup),
	TRIAL(COL_TEXT, purpose),
	TRIAL(COL_OUTCOME, outcome),
	TRIAL(COL_TEXT, detail),
	TRIAL(COL_TEXT, dir),
	TRIAL(COL_TEXT, boot_id),
	TRIAL(COL_TEXT, facts),
	TRIAL(COL_REF, twin),
	TRIAL(COL_REAL, boot_seconds),
	TRIAL(COL_REAL, run_seconds),
	TRIAL(COL_REAL, total_seconds),
	TRIAL(COL_INT64, time),
	{ .name = "layout",
	  .type = COL_UINT32,
	  .offset = offsetof(struct store_trial, layout),
	  .since = 2 },
};

#define SAMPLE(kind, member)                                                                   \
	{                                                                                      \
		.name = #member, .type = kind, .offset = offsetof(struct store_sample, member) \
	}
static const struct store_column sample_columns[] = {
	SAMPLE(COL_TEXT, metric), SAMPLE(COL_TEXT, unit),  SAMPLE(COL_INT, run),
	SAMPLE(COL_BOOL, warmup), SAMPLE(COL_REAL, value),
};

#define NOTE(kind, member)                                                                   \
	{                                                                                    \
		.name = #member, .type = kind, .offset = offsetof(struct store_note, member) \
	}
static const struct store_column note_columns[] = {
	NOTE(COL_INT64, time),
	NOTE(COL_TEXT, kind),
	NOTE(COL_TEXT, text),
	NOTE(COL_REAL, seconds),
};

const struct store_table store_tables[STORE_TABLES] = {
	{ "campaign", "seq", 1, campaign_columns, ARRAY_SIZE(campaign_columns) },
	{ "build", "seq", 1, build_columns, ARRAY_SIZE(build_columns) },
	{ "trial", "seq", 1, trial_columns, ARRAY_SIZE(trial_columns) },
	{ "sample", "trial, position", 2, sample_columns, ARRAY_SIZE(sample_columns) },
	{ "note", "seq", 1, note_columns, ARRAY_SIZE(note_columns) },
};

char *store_schema(void)
{
	static const char *const logs[] = { "log",   "campaign", "build", "trial_begin",
					    "trial", "sample",   "note" };
	static const char *const changes[] = { "UPDATE", "DELETE" };
	struct str sql = STR_INIT;

	str_add(&sql, tables_sql);
	for (size_t i = 0; i < ARRAY_SIZE(logs); i++)
		for (size_t j = 0; j < ARRAY_SIZE(changes); j++)
			str_addf(&sql,
				 "CREATE TRIGGER %s_no_%s BEFORE %s ON %s BEGIN"
				 " SELECT RAISE(ABORT, 'the log is append-only'); END;",
				 logs[i], changes[j], changes[j], logs[i]);
	str_addf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
		 STORE_APPLICATION_ID, STORE_SCHEMA_VERSION);
	return str_detach(&sql);
}

char *store_table_sql(const struct store_table *t, bool insert, int version)
{
	_cleanup_str_ struct str names = STR_INIT, marks = STR_INIT;

	for (int i = 0; i < t->n_columns; i++) {
		str_addf(&names, "%s%s", i ? ", " : "",
			 insert || t->column[i].since <= version ? t->column[i].name : "0");
		str_add(&marks, ", ?");
	}
	if (insert)
		return xasprintf("INSERT INTO %s(%s, %s) VALUES(%s%s)", t->name, t->key,
				 str_text(&names), t->n_keys == 2 ? "?, ?" : "?", str_text(&marks));
	return xasprintf("SELECT %s FROM %s WHERE %.*s = ? ORDER BY %s", str_text(&names), t->name,
			 (int)strcspn(t->key, ","), t->key, t->key);
}

void store_row_release(enum store_table_id id, void *row)
{
	for (int i = 0; i < store_tables[id].n_columns; i++)
		if (store_tables[id].column[i].type == COL_TEXT)
			str_freep((char *)row + store_tables[id].column[i].offset);
}
