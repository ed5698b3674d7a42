/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes (nettle): content keys of builds, checksums of images, names of hosts. */
#ifndef KR_BASE_HASH_H
#define KR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define HASH_HEX_SIZE 65 /* 64 hex digits and NUL */

/*
 * Incremental: every field added is framed by its length, so that ("ab","c")
 * and ("a","bc") differ. hash_new() owned by the caller; hash_hex() frees it.
 */
struct hash;
struct hash *hash_new(void);
void hash_add(struct hash *h, const void *data, size_t n);
void hash_add_text(struct hash *h, const char *text); /* NULL is told from "" */
/* Bytes as they are, not framed: of these alone, hash_hex() is what sha256sum prints. */
void hash_feed(struct hash *h, const void *data, size_t n);
void hash_hex(struct hash *h, char hex[HASH_HEX_SIZE]);

/* Plain SHA-256 of a file's bytes, as sha256sum prints it. */
int hash_file(const char *path, char hex[HASH_HEX_SIZE], struct err *e);
/* Plain SHA-256 of bytes. */
void hash_bytes(const void *data, size_t n, char hex[HASH_HEX_SIZE]);
/* The same as 32 raw bytes. */
#define HASH_RAW_SIZE 32
void hash_raw(const void *data, size_t n, uint8_t raw[HASH_RAW_SIZE]);

/* HMAC-SHA1 (RFC 2104), as OpenSSH hashes the names in known_hosts. */
#define HASH_SHA1_SIZE 20
void hash_hmac_sha1(const void *key, size_t key_bytes, const void *data, size_t n,
		    uint8_t mac[HASH_SHA1_SIZE]);

#endif
