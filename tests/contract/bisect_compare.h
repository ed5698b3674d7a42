/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A log of git bisect as the refs that it stands for, to be compared with git's own. */
#ifndef KR_TESTS_BISECT_COMPARE_H
#define KR_TESTS_BISECT_COMPARE_H

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "io/bisect_log.h"

/* How git prints the same. */
#define BISECT_REFS "git for-each-ref refs/bisect | awk '{ print $3, $1 }'"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "<ref> <hex>" lines, sorted, for a resolved log; no line break at the end. Owned. */
static char *refs_of(const struct bisect_log *log)
{
	_cleanup_strv_ struct strv lines = STRV_INIT;
	struct str out = STR_INIT;
	const struct bisect_entry *last = bisect_log_last_new(log);
	char hex[COMMIT_HEX + 1];

	if (last)
		strv_addf(&lines, "refs/bisect/%s %s", log->term_new, commit_hex(&last->id, hex));
	for (size_t i = 0; i < log->n; i++) {
		const struct bisect_entry *entry = &log->entry[i];
		const char *term = entry->state == BISECT_SKIP ? "skip" : log->term_old;

		commit_hex(&entry->id, hex);
		if (entry->state != BISECT_NEW)
			strv_addf(&lines, "refs/bisect/%s-%s %s", term, hex, hex);
	}
	if (lines.n)
		qsort(lines.v, lines.n, sizeof(*lines.v), by_text);
	for (size_t i = 0; i < lines.n; i++)
		if (!i || strcmp(lines.v[i], lines.v[i - 1]))
			str_addf(&out, "%s%s", out.len ? "\n" : "", lines.v[i]);
	return str_detach(&out);
}

#endif
