/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes as lower-case hex digits. */
#include "base/hex.h"

#include <errno.h>
#include <sys/random.h>

void hex_encode(const void *data, size_t n, char *hex)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *raw = data;

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[raw[i] >> 4];
		hex[2 * i + 1] = digits[raw[i] & 15];
	}
	hex[2 * n] = 0;
}

int hex_token(char hex[HEX_TOKEN_SIZE], struct err *e)
{
	unsigned char raw[(HEX_TOKEN_SIZE - 1) / 2];

	if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw))
		return err_sys(e, errno, "cannot get random bytes");
	hex_encode(raw, sizeof(raw), hex);
	return 0;
}
