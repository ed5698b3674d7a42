/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A commit's name: our own type, so that no library's type crosses a header. */
#ifndef KR_CORE_COMMIT_H
#define KR_CORE_COMMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define COMMIT_RAW 20
#define COMMIT_HEX 40

/* SHA-1 object name, raw. All zero: none. */
struct commit_id {
	uint8_t raw[COMMIT_RAW];
};

/* 40 hex digits and NUL into @hex; returns @hex. */
char *commit_hex(const struct commit_id *id, char hex[COMMIT_HEX + 1]);
/* From exactly 40 hex digits; false: not that (@id untouched). */
bool commit_parse(const char *hex, struct commit_id *id);
static inline int commit_cmp(const struct commit_id *a, const struct commit_id *b)
{
	return memcmp(a->raw, b->raw, COMMIT_RAW);
}
static inline bool commit_eq(const struct commit_id *a, const struct commit_id *b)
{
	return commit_cmp(a, b) == 0;
}
bool commit_is_null(const struct commit_id *id);

#endif
