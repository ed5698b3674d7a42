/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base64 by nettle. */
#include "base/base64.h"

#include <stdint.h>
#include <stdlib.h>

#include <nettle/base64.h>

void base64_add(struct str *out, const void *data, size_t n)
{
	_cleanup_free_ char *text = xcalloc(BASE64_ENCODE_RAW_LENGTH(n) + 1, 1);

	base64_encode_raw(text, n, data);
	str_add(out, text);
}

bool base64_parse(const char *text, size_t n, struct str *out)
{
	size_t bytes = BASE64_DECODE_LENGTH(n);
	_cleanup_free_ uint8_t *data = xcalloc(bytes + 1, 1);
	struct base64_decode_ctx ctx;

	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &bytes, data, n, text) || !base64_decode_final(&ctx))
		return false;
	str_addmem(out, data, bytes);
	return true;
}
