/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How rows of the store lie in tables and in structs; private to store.c and store_db.c. */
#ifndef KR_IO_STORE_TABLE_H
#define KR_IO_STORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* 2: trial.layout. A store of schema 1 is read as it is, and becomes 2 when it is written to. */
#define STORE_SCHEMA_VERSION 2
#define STORE_TEXT_MAX (1 << 20)        /* bytes of one text */
#define STORE_APPLICATION_ID 0x6b726567 /* "kreg" */

/* How a struct's member is stored. */
enum column_type {
	COL_INT64 = 1,
	COL_REF, /* int64_t, 0 stored as NULL */
	COL_INT,
	COL_UINT32,
	COL_BOOL,
	COL_REAL,    /* finite double */
	COL_TEXT,    /* owned char *, NULL as NULL */
	COL_COMMIT,  /* struct commit_id as 40 hex digits */
	COL_OUTCOME, /* enum trial_outcome by name */
};
struct store_column {
	const char *name;
	enum column_type type;
	size_t offset;
	int since; /* the schema that brought it: 0 in what is read from older ones; 0: the first */
};

enum store_table_id {
	TABLE_CAMPAIGN,
	TABLE_BUILD,
	TABLE_TRIAL,
	TABLE_SAMPLE,
	TABLE_NOTE,
	STORE_TABLES,
};
struct store_table {
	const char *name;
	const char *key; /* one or two columns, comma between, that are no member of the struct */
	int n_keys;
	const struct store_column *column;
	int n_columns;
};
extern const struct store_table store_tables[STORE_TABLES];

/* Statements that make an empty store, append-only triggers included. Owned. */
char *store_schema(void);

/*
 * "INSERT INTO t(key, a, b) VALUES(?, ?, ?)", or "SELECT a, b FROM t WHERE key = ? ORDER BY key"
 * by the first key, in a store of schema @version. Owned.
 */
char *store_table_sql(const struct store_table *t, bool insert, int version);

/* Statements that make a store of schema 1 one of this version. */
extern const char store_upgrade_sql[];

/* Free the texts of a row's struct and set them to NULL. */
void store_row_release(enum store_table_id id, void *row);

#endif
