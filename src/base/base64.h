/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base64 (RFC 4648, section 4), as keys and hashes are written in OpenSSH's files. */
#ifndef KR_BASE_BASE64_H
#define KR_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Append @n bytes as base64 with its padding. */
void base64_add(struct str *out, const void *data, size_t n);

/*
 * Append the bytes that @n characters of base64 stand for. False, and @out as it was, when they
 * are not base64 or are not padded as they must be.
 */
bool base64_parse(const char *text, size_t n, struct str *out);

#endif
