/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows in SQLite: open, prepared statements, transactions; the only user of sqlite3. */
#include "io/store_db.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/str.h"

enum {
	BUSY_MS = 5000,
	VALUE_MAX = 1 << 26, /* no value of a store of ours is longer: damage */
};

/* Prepared once a connection: an insert of each table, a select of each, and these. */
enum {
	STMT_INSERT = 0,
	STMT_SELECT = STORE_TABLES,
	STMT_LOG = 2 * STORE_TABLES,
	STMT_LOG_NEXT,
	STMT_TRIAL_BEGIN,
	STMTS,
};
static const char *const fixed_sql[STMTS] = {
	[STMT_LOG] = "INSERT INTO log(kind) VALUES(?)",
	[STMT_LOG_NEXT] = "SELECT seq, kind FROM log WHERE seq > ? ORDER BY seq LIMIT 1",
	[STMT_TRIAL_BEGIN] = "INSERT INTO trial_begin(commit_id, time) VALUES(?, ?)",
};

struct store {
	sqlite3 *db;
	char *path;
	int version; /* of its schema */
	sqlite3_stmt *stmt[STMTS];
};

static const char *remedy_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return "free some disk space and run again: nothing stored is lost";
	case SQLITE_CORRUPT:
		return "damaged; keep a copy, then try: sqlite3 FILE .recover";
	case SQLITE_NOTADB:
		return "not a SQLite database; move it away or choose another state directory";
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return "another process holds it; end that one and run again";
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
		return "the state directory must exist and be writable for this user";
	case SQLITE_IOERR:
		return "check the disk and its free space, then run again";
	default:
		return NULL;
	}
}

/* What SQLite refused, as an error of ours. @what: "write trial 7 to". */
static int store_fail(struct store *s, const char *what, struct err *e)
{
	int rc = sqlite3_extended_errcode(s->db);
	int sys = sqlite3_system_errno(s->db);
	bool is_io = (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN;
	const char *remedy = remedy_of(rc);

	if ((rc & 0xff) == SQLITE_NOMEM)
		abort();
	err_set(e, (rc & 0xff) == SQLITE_CONSTRAINT ? ERR_INTERNAL : ERR_STORE,
		"cannot %s store '%s': %s%s%s", what, s->path, sqlite3_errmsg(s->db),
		is_io && sys ? ": " : "", is_io && sys ? strerror(sys) : "");
	if (e)
		e->sys = is_io ? sys : 0;
	return remedy ? err_hint(e, "%s", remedy) : -1;
}

static int store_exec(struct store *s, const char *sql, const char *what, struct err *e)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return store_fail(s, what, e);
	return 0;
}

/* First column of the first row, as a number (0: none) or owned text. */
static int query(struct store *s, const char *sql, sqlite3_int64 *number, char **text,
		 struct err *e)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW && number)
		*number = sqlite3_column_int64(st, 0);
	if (rc == SQLITE_ROW && text) {
		const char *value = (const char *)sqlite3_column_text(st, 0);

		*text = xstrdup(value ? value : "");
	}
	/* Finalizing would reset the error code of a failed step to that same code. */
	sqlite3_finalize(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : store_fail(s, "read", e);
}

static sqlite3_stmt *stmt_get(struct store *s, int index, const char *what, struct err *e)
{
	_cleanup_free_ char *made = NULL;
	const char *sql = fixed_sql[index];

	if (s->stmt[index])
		return s->stmt[index];
	if (!sql) {
		made = store_table_sql(&store_tables[index % STORE_TABLES], index < STMT_SELECT,
				       s->version);
		sql = made;
	}
	if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt[index], NULL) !=
	    SQLITE_OK)
		store_fail(s, what, e);
	return s->stmt[index];
}

/* Gives a statement back: it holds no lock and no borrowed text any more. */
static void stmt_done(sqlite3_stmt **st)
{
	if (!*st)
		return;
	sqlite3_reset(*st); /* its result is that of the last step, which was looked at */
	sqlite3_clear_bindings(*st);
}
#define _cleanup_stmt_ _cleanup_(stmt_done)

/* Untrusted text as it is, cut to whole characters; the bytes stay the caller's. */
static int bind_text(sqlite3_stmt *st, int at, const char *text)
{
	size_t n = text ? strnlen(text, STORE_TEXT_MAX + 1) : 0;

	if (n > STORE_TEXT_MAX)
		for (n = STORE_TEXT_MAX; n > STORE_TEXT_MAX - 4 && (text[n] & 0xc0) == 0x80;)
			n--;
	return sqlite3_bind_text(st, at, text, (int)n, SQLITE_STATIC);
}

static int bind_column(sqlite3_stmt *st, int at, const struct store_column *c, const void *row)
{
	const void *p = (const char *)row + c->offset;
	char hex[COMMIT_HEX + 1];

	switch (c->type) {
	case COL_REF:
		if (!*(const int64_t *)p)
			return sqlite3_bind_null(st, at);
		/* fall through */
	case COL_INT64:
		return sqlite3_bind_int64(st, at, *(const int64_t *)p);
	case COL_INT:
		return sqlite3_bind_int(st, at, *(const int *)p);
	case COL_UINT32:
		return sqlite3_bind_int64(st, at, *(const uint32_t *)p);
	case COL_BOOL:
		return sqlite3_bind_int(st, at, *(const bool *)p);
	case COL_REAL:
		return sqlite3_bind_double(st, at, *(const double *)p);
	case COL_TEXT:
		return bind_text(st, at, *(char *const *)p);
	case COL_COMMIT:
		return sqlite3_bind_text(st, at, commit_hex(p, hex), -1, SQLITE_TRANSIENT);
	case COL_OUTCOME:
		return bind_text(st, at, trial_outcome_name(*(const enum trial_outcome *)p));
	}
	return SQLITE_MISUSE;
}

/* False: no value that we can have written. */
static bool read_column(sqlite3_stmt *st, int at, const struct store_column *c, void *row)
{
	void *p = (char *)row + c->offset;
	int type = sqlite3_column_type(st, at); /* before the text, which may change it */
	const char *text = (const char *)sqlite3_column_text(st, at);

	switch (c->type) {
	case COL_REF:
	case COL_INT64:
		*(int64_t *)p = sqlite3_column_int64(st, at);
		return true;
	case COL_INT:
		*(int *)p = sqlite3_column_int(st, at);
		return true;
	case COL_UINT32:
		*(uint32_t *)p = (uint32_t)sqlite3_column_int64(st, at);
		return sqlite3_column_int64(st, at) == *(uint32_t *)p;
	case COL_BOOL:
		*(bool *)p = sqlite3_column_int(st, at);
		return true;
	case COL_REAL:
		*(double *)p = sqlite3_column_double(st, at);
		/* what is no number would be read as 0 */
		return (type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(*(double *)p);
	case COL_TEXT:
		*(char **)p = text ? xstrdup(text) : NULL;
		return true;
	case COL_COMMIT:
		return text && commit_parse(text, p);
	case COL_OUTCOME:
		*(enum trial_outcome *)p = trial_outcome_parse(text);
		return *(enum trial_outcome *)p != TRIAL_UNSET;
	}
	return false;
}

int store_db_insert(struct store *s, enum store_table_id id, int64_t key, int64_t key2,
		    const void *row, struct err *e)
{
	_cleanup_free_ char *what = xasprintf("write a %s to", store_tables[id].name);
	_cleanup_stmt_ sqlite3_stmt *st = stmt_get(s, STMT_INSERT + (int)id, what, e);
	const struct store_table *t = &store_tables[id];
	int rc;

	if (!st)
		return -1;
	rc = sqlite3_bind_int64(st, 1, key);
	if (rc == SQLITE_OK && t->n_keys == 2)
		rc = sqlite3_bind_int64(st, 2, key2);
	for (int i = 0; rc == SQLITE_OK && i < t->n_columns; i++)
		rc = bind_column(st, t->n_keys + 1 + i, &t->column[i], row);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	return rc == SQLITE_DONE ? 0 : store_fail(s, what, e);
}

/* Read the row that @st stands on into @row (zeroed, released by the caller also on failure). */
static int row_read(struct store *s, enum store_table_id id, sqlite3_stmt *st, int64_t key,
		    void *row, struct err *e)
{
	const struct store_table *t = &store_tables[id];

	for (int i = 0; i < t->n_columns; i++)
		if (!read_column(st, i, &t->column[i], row))
			return err_set(e, ERR_STORE,
				       "store '%s' is damaged: %s %lld has no valid %s "
				       "(keep a copy; restore it from a backup)",
				       s->path, t->name, (long long)key, t->column[i].name);
	return 0;
}

int store_db_get(struct store *s, enum store_table_id id, int64_t key, void *row, struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *st = stmt_get(s, STMT_SELECT + (int)id, "read", e);
	int rc;

	if (!st)
		return -1;
	rc = sqlite3_bind_int64(st, 1, key);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		return row_read(s, id, st, key, row, e) < 0 ? -1 : 1;
	return rc == SQLITE_DONE ? 0 : store_fail(s, "read", e);
}

int store_db_begin(struct store *s, struct err *e)
{
	return store_exec(s, "BEGIN IMMEDIATE", "write to", e);
}

int store_db_end(struct store *s, int ret, struct err *e)
{
	if (!ret)
		ret = store_exec(s, "COMMIT", "write to", e);
	if (ret && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return ret;
}

int store_db_log(struct store *s, enum store_table_id id, int64_t *seq, struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *st = stmt_get(s, STMT_LOG, "write to", e);

	if (!st)
		return -1;
	if (bind_text(st, 1, store_tables[id].name) != SQLITE_OK || sqlite3_step(st) != SQLITE_DONE)
		return store_fail(s, "write to", e);
	*seq = sqlite3_last_insert_rowid(s->db);
	return 0;
}

/* Is there nothing in it yet? Anything but a store of ours that we can read is refused. */
static int check_format(struct store *s, bool *is_empty, struct err *e)
{
	sqlite3_int64 application = 0, version = 0, things = 0;

	if (query(s, "PRAGMA application_id", &application, NULL, e) < 0 ||
	    query(s, "PRAGMA user_version", &version, NULL, e) < 0 ||
	    query(s, "SELECT count(*) FROM sqlite_schema", &things, NULL, e) < 0)
		return -1;
	*is_empty = !application && !version && !things;
	s->version = (int)version;
	if (*is_empty)
		return 0;
	if (application != STORE_APPLICATION_ID)
		return err_set(e, ERR_STORE,
			       "'%s' is a database, but no store of kregress "
			       "(move it away or choose another state directory)",
			       s->path);
	if (version < 1 || version > STORE_SCHEMA_VERSION)
		return err_set(
			e, ERR_STORE, "store '%s' has schema %lld, this kregress knows %d (%s)",
			s->path, (long long)version, STORE_SCHEMA_VERSION,
			version > STORE_SCHEMA_VERSION ? "use the newer kregress that wrote it"
						       : "it is damaged; restore a backup");
	return 0;
}

static int store_create(struct store *s, struct err *e)
{
	_cleanup_free_ char *sql = store_schema();
	bool is_empty = false;
	int ret;

	if (store_db_begin(s, e) < 0)
		return -1;
	ret = check_format(s, &is_empty, e); /* another process may have been faster */
	if (!ret && is_empty)
		ret = store_exec(s, sql, "create", e);
	s->version = STORE_SCHEMA_VERSION;
	return store_db_end(s, ret, e);
}

static int store_upgrade(struct store *s, struct err *e)
{
	bool is_empty = false;
	int ret;

	if (store_db_begin(s, e) < 0)
		return -1;
	ret = check_format(s, &is_empty, e); /* another process may have been faster */
	if (!ret && s->version < STORE_SCHEMA_VERSION)
		ret = store_exec(s, store_upgrade_sql, "upgrade", e);
	s->version = STORE_SCHEMA_VERSION;
	return store_db_end(s, ret, e);
}

static int open_for_writing(struct store *s, bool is_empty, struct err *e)
{
	_cleanup_free_ char *mode = NULL, *health = NULL;

	if (query(s, "PRAGMA journal_mode = WAL", NULL, &mode, e) < 0)
		return -1;
	if (!str_eq(mode, "wal"))
		return err_set(e, ERR_STORE,
			       "store '%s' cannot use a write-ahead log "
			       "(put the state directory on a local file system)",
			       s->path);
	if (is_empty)
		return store_create(s, e);
	if (query(s, "PRAGMA quick_check(1)", NULL, &health, e) < 0)
		return -1;
	if (!str_eq(health, "ok"))
		return err_set(e, ERR_STORE,
			       "store '%s' is damaged: %s "
			       "(keep a copy, then try: sqlite3 FILE .recover)",
			       s->path, health);
	return s->version < STORE_SCHEMA_VERSION ? store_upgrade(s, e) : 0;
}

/*
 * In a folder that we cannot write to, SQLite cannot make the files beside a store with a
 * write-ahead log. Where that log is empty, nobody is at work: the store alone is read.
 * Owned URI; NULL: open it as usual.
 */
static char *immutable_uri(const char *path)
{
	_cleanup_free_ char *dir = fs_dirname(path);
	_cleanup_free_ char *wal = xasprintf("%s-wal", path);
	struct str uri = STR_INIT;
	struct stat st;

	if (access(dir, W_OK) == 0 || (stat(wal, &st) == 0 && st.st_size > 0))
		return NULL;
	str_add(&uri, "file:");
	for (const char *p = path; *p; p++)
		if (strchr("%?#", *p))
			str_addf(&uri, "%%%02x", (unsigned char)*p);
		else
			str_addmem(&uri, p, 1);
	str_add(&uri, "?immutable=1");
	return str_detach(&uri);
}

static int open_connection(struct store *s, bool read_only, struct err *e)
{
	int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	_cleanup_free_ char *uri = read_only ? immutable_uri(s->path) : NULL;

	if (uri)
		flags |= SQLITE_OPEN_URI;
	if (sqlite3_open_v2(uri ? uri : s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		return store_fail(s, "open", e);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	/* A store may come from elsewhere: nothing in its schema is trusted to run functions. */
	if (sqlite3_busy_timeout(s->db, BUSY_MS) != SQLITE_OK ||
	    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) != SQLITE_OK ||
	    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) != SQLITE_OK)
		return store_fail(s, "set up", e);
	return store_exec(s, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;", "open", e);
}

static int not_there(const char *path, struct err *e)
{
	return err_set(e, ERR_NOT_FOUND, "no store '%s' yet (start the campaign: kregress run)",
		       path);
}

static void store_closep(struct store **s)
{
	store_close(*s);
}

int store_open(const char *path, bool read_only, struct store **out, struct err *e)
{
	_cleanup_(store_closep) struct store *s = xcalloc(1, sizeof(*s));
	bool is_empty = false;

	/* "file:x" and ":memory:" mean something else to SQLite: a directory in front prevents it. */
	s->path = *path == '/' ? xstrdup(path) : xasprintf("./%s", path);
	if (read_only && access(path, F_OK) < 0 && errno == ENOENT)
		return not_there(path, e);
	if (open_connection(s, read_only, e) < 0 || check_format(s, &is_empty, e) < 0)
		return -1;
	if (read_only && is_empty)
		return not_there(path, e);
	if (!read_only && open_for_writing(s, is_empty, e) < 0)
		return -1;
	*out = s;
	s = NULL;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (int i = 0; i < STMTS; i++)
		sqlite3_finalize(s->stmt[i]);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

int store_trial_begin(struct store *s, const struct commit_id *commit, int64_t *id, struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *st = stmt_get(s, STMT_TRIAL_BEGIN, "write to", e);
	char hex[COMMIT_HEX + 1];

	if (!st)
		return -1;
	if (sqlite3_bind_text(st, 1, commit_hex(commit, hex), -1, SQLITE_STATIC) != SQLITE_OK ||
	    sqlite3_bind_int64(st, 2, clock_real_s()) != SQLITE_OK ||
	    sqlite3_step(st) != SQLITE_DONE)
		return store_fail(s, "write to", e);
	*id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int store_db_samples(struct store *s, struct store_trial *t, struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *st = stmt_get(s, STMT_SELECT + TABLE_SAMPLE, "read", e);
	size_t room = 0;
	int rc;

	if (!st)
		return -1;
	rc = sqlite3_bind_int64(st, 1, t->id);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW)
			break;
		xgrow(&t->samples, &room, t->n_samples + 1, sizeof(*t->samples));
		t->samples[t->n_samples] = (struct store_sample){ .metric = NULL };
		if (row_read(s, TABLE_SAMPLE, st, t->id, &t->samples[t->n_samples++], e) < 0)
			return -1;
	}
	return rc == SQLITE_DONE ? 0 : store_fail(s, "read", e);
}

int store_db_log_next(struct store *s, int64_t *seq, enum store_table_id *id, struct err *e)
{
	_cleanup_stmt_ sqlite3_stmt *st = stmt_get(s, STMT_LOG_NEXT, "read", e);
	int rc;

	if (!st)
		return -1;
	rc = sqlite3_bind_int64(st, 1, *seq);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_DONE)
		return 0;
	if (rc != SQLITE_ROW)
		return store_fail(s, "read", e);
	*seq = sqlite3_column_int64(st, 0);
	for (*id = 0; *id < STORE_TABLES; (*id)++)
		if (str_eq(store_tables[*id].name, (const char *)sqlite3_column_text(st, 1)))
			break;
	return 1;
}

int store_db_newest(struct store *s, const char *table, int64_t *seq, struct err *e)
{
	_cleanup_free_ char *sql = xasprintf("SELECT max(seq) FROM %s", table);
	sqlite3_int64 newest = 0;

	if (query(s, sql, &newest, NULL, e) < 0)
		return -1;
	*seq = newest;
	return 0;
}

int64_t store_db_last_id(const struct store *s)
{
	return sqlite3_last_insert_rowid(s->db);
}

const char *store_db_path(const struct store *s)
{
	return s->path;
}
