/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a log of git bisect: refused with a message, or written and read back the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/replay.h"

#include "base/str.h"
#include "io/bisect_log.h"

#define MUST(what)                                                     \
	do {                                                           \
		if (!(what)) {                                         \
			fprintf(stderr, "does not hold: %s\n", #what); \
			abort();                                       \
		}                                                      \
	} while (0)

/* A refusal names the file and holds no byte that a terminal would obey. */
static void check_message(const struct err *e)
{
	MUST(e->code == ERR_CONFIG);
	MUST(str_starts(e->msg, "fuzz.log:"));
	for (const char *s = e->msg; *s; s++)
		MUST(((unsigned char)*s >= 0x20 || *s == '\t') && *s != 0x7f);
}

/* What was read keeps to its bounds. */
static void check_log(const struct bisect_log *log, int lines)
{
	int last = 0;

	MUST(*log->term_new && *log->term_old && !str_eq(log->term_new, log->term_old));
	for (size_t i = 0; i < log->n; i++) {
		const struct bisect_entry *entry = &log->entry[i];

		MUST(entry->state >= BISECT_NEW && entry->state <= BISECT_SKIP);
		MUST(*entry->rev && commit_is_null(&entry->id));
		MUST(entry->line >= last && entry->line <= lines);
		last = entry->line;
	}
	for (size_t i = 0; i < log->paths.n; i++)
		MUST(*log->paths.v[i] && !strchr(log->paths.v[i], '\n'));
}

static void check_same(const struct bisect_log *a, const struct bisect_log *b)
{
	MUST(str_eq(a->term_new, b->term_new) && str_eq(a->term_old, b->term_old));
	MUST(a->first_parent == b->first_parent && a->no_checkout == b->no_checkout);
	MUST(a->n == b->n && a->paths.n == b->paths.n);
	for (size_t i = 0; i < a->n; i++)
		MUST(a->entry[i].state == b->entry[i].state &&
		     str_eq(a->entry[i].rev, b->entry[i].rev));
	for (size_t i = 0; i < a->paths.n; i++)
		MUST(str_eq(a->paths.v[i], b->paths.v[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	_cleanup_(bisect_log_release) struct bisect_log log = BISECT_LOG_INIT;
	_cleanup_(bisect_log_release) struct bisect_log again = BISECT_LOG_INIT;
	_cleanup_str_ struct str text = STR_INIT;
	/* A copy of the exact size: a read past its end is seen. */
	_cleanup_free_ char *copy = xcalloc(n + !n, 1);
	struct err e = ERR_INIT;
	int lines = 1;

	memcpy(copy, data, n);
	for (size_t i = 0; i < n; i++)
		lines += copy[i] == '\n';
	if (bisect_log_parse("fuzz.log", copy, n, &log, &e)) {
		check_message(&e);
		return 0;
	}
	check_log(&log, lines);
	bisect_log_write(&log, NULL, NULL, &text);
	if (bisect_log_parse("fuzz.log", text.buf, text.len, &again, &e)) {
		fprintf(stderr, "what was written is refused: %s\n%s", e.msg, text.buf);
		abort();
	}
	check_same(&log, &again);
	return 0;
}
