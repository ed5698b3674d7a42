/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A commit's name as text and back. */
#include "core/commit.h"

char *commit_hex(const struct commit_id *id, char hex[COMMIT_HEX + 1])
{
	static const char digit[] = "0123456789abcdef";

	for (int i = 0; i < COMMIT_RAW; i++) {
		hex[2 * i] = digit[id->raw[i] >> 4];
		hex[2 * i + 1] = digit[id->raw[i] & 15];
	}
	hex[COMMIT_HEX] = '\0';
	return hex;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool commit_parse(const char *hex, struct commit_id *id)
{
	struct commit_id parsed;

	for (int i = 0; i < COMMIT_RAW; i++) {
		int high = digit_value(hex[2 * i]);
		int low = high < 0 ? -1 : digit_value(hex[2 * i + 1]);

		if (low < 0)
			return false;
		parsed.raw[i] = (uint8_t)(high << 4 | low);
	}
	if (hex[COMMIT_HEX])
		return false;
	*id = parsed;
	return true;
}

bool commit_is_null(const struct commit_id *id)
{
	static const struct commit_id none;

	return commit_eq(id, &none);
}
