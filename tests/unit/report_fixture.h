/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of reports share. Included after cmocka. */
#ifndef KR_TESTS_UNIT_REPORT_FIXTURE_H
#define KR_TESTS_UNIT_REPORT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/commit.h"

/* A commit whose 40 digits are all @digit. */
static inline struct commit_id id_of(char digit)
{
	char hex[COMMIT_HEX + 1];
	struct commit_id id = { { 0 } };

	memset(hex, digit, COMMIT_HEX);
	hex[COMMIT_HEX] = '\0';
	assert_true(commit_parse(hex, &id));
	return id;
}

#endif
