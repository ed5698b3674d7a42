/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the store in SQLite; private to store.c. Also there: store_open(), store_close(). */
#ifndef KR_IO_STORE_DB_H
#define KR_IO_STORE_DB_H

#include "io/store.h"
#include "io/store_table.h"

/* All fail with ERR_STORE; a row that the schema refuses is ERR_INTERNAL. */

/* A write transaction; waits a few seconds for another writer. */
int store_db_begin(struct store *s, struct err *e);
/* Commit (durable on return) when @ret is 0, else roll back; -1 unless committed. */
int store_db_end(struct store *s, int ret, struct err *e);

/* Give the row of @id that is written next its place in the log. */
int store_db_log(struct store *s, enum store_table_id id, int64_t *seq, struct err *e);
/* @key2: for tables with two keys. Texts above STORE_TEXT_MAX bytes are cut to whole characters. */
int store_db_insert(struct store *s, enum store_table_id id, int64_t key, int64_t key2,
		    const void *row, struct err *e);
/* Number that SQLite gave the row inserted last. */
int64_t store_db_last_id(const struct store *s);

/* What stands in the log after *@seq, moved on: 1, 0: the end, -1. *@id STORE_TABLES: unknown. */
int store_db_log_next(struct store *s, int64_t *seq, enum store_table_id *id, struct err *e);
/* Largest seq in @table, 0: empty. */
int store_db_newest(struct store *s, const char *table, int64_t *seq, struct err *e);
/* The one row of @key into @row (zeroed; the caller releases it, also on -1): 1, 0: none, -1. */
int store_db_get(struct store *s, enum store_table_id id, int64_t key, void *row, struct err *e);
/* Append the samples of @t->id to @t. */
int store_db_samples(struct store *s, struct store_trial *t, struct err *e);

/* Borrowed; for messages. */
const char *store_db_path(const struct store *s);

#endif
