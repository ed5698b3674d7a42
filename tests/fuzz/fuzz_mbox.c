/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a mail: what we read of it ourselves stays in bounds and makes sense. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/replay.h"

#include "io/mbox_internal.h"

#define MUST(what)                                                     \
	do {                                                           \
		if (!(what)) {                                         \
			fprintf(stderr, "does not hold: %s\n", #what); \
			abort();                                       \
		}                                                      \
	} while (0)

/* What is left of a subject is its end; numbers are in their ranges. */
static void check_subject(const char *text)
{
	struct mbox_tag tag;
	const char *rest = mbox_subject(text, &tag);

	MUST(rest >= text && rest <= text + strlen(text));
	MUST(tag.version >= 1 && tag.version <= MBOX_NUMBER_MAX);
	MUST(tag.number <= MBOX_NUMBER_MAX && tag.total <= MBOX_NUMBER_MAX);
	MUST(tag.numbered || (!tag.number && !tag.total));
}

static void check_headers(const char *mail, size_t n)
{
	static const char *const names[] = { "Subject", "Message-ID", "References" };
	size_t bytes = mbox_header_bytes(mail, n);

	MUST(bytes <= n);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *value = mbox_header(mail, bytes, names[i]);
		_cleanup_strv_ struct strv ids = STRV_INIT;

		if (!value)
			continue;
		MUST(!strchr(value, '\n'));
		check_subject(value);
		mbox_ids(value, &ids);
		for (size_t k = 0; k < ids.n; k++)
			MUST(ids.v[k][0] && !strpbrk(ids.v[k], "<>"));
	}
}

static void check_trailers(const char *text)
{
	_cleanup_strv_ struct strv found = STRV_INIT;

	mbox_trailers(text, &found);
	for (size_t i = 0; i < found.n; i++) {
		_cleanup_strv_ struct strv again = STRV_INIT;

		MUST(!strchr(found.v[i], '\n') && strchr(found.v[i], '@'));
		MUST(mbox_has_trailer(found.v[i], found.v[i]));
		mbox_trailers(found.v[i], &again);
		MUST(again.n == 1 && str_eq(again.v[0], found.v[i]));
	}
}

static void check_diff(const char *data, size_t n)
{
	_cleanup_str_ struct str diff = STR_INIT;
	size_t len;

	str_addmem(&diff, data, n);
	mbox_unify_ends(&diff);
	MUST(diff.len <= n && diff.buf[diff.len] == '\0');
	len = diff.len;
	MUST(mbox_has_diff(data) || len == n);
	MUST(!mbox_has_diff(data) || mbox_has_diff(diff.buf));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	_cleanup_free_ char *text = xcalloc(n + 1, 1);

	if (n)
		memcpy(text, data, n);
	check_subject(text);
	check_headers(text, n);
	check_trailers(text);
	check_diff(text, n);
	return 0;
}
