/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes as lower-case hex digits. */
#ifndef KR_BASE_HEX_H
#define KR_BASE_HEX_H

#include <stddef.h>

#include "base/err.h"

/* @hex has room for 2 * @n digits and a NUL. */
void hex_encode(const void *data, size_t n, char *hex);

#define HEX_TOKEN_SIZE 33
/* 128 random bits. 0/-1 ERR_SYS. */
int hex_token(char hex[HEX_TOKEN_SIZE], struct err *e);

#endif
