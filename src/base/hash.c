/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 and HMAC-SHA1 by nettle. */
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nettle/hmac.h>
#include <nettle/sha2.h>

#include "base/hex.h"
#include "base/str.h"

struct hash {
	struct sha256_ctx ctx;
};

static void finish(struct sha256_ctx *ctx, char hex[HASH_HEX_SIZE])
{
	uint8_t raw[SHA256_DIGEST_SIZE];

	sha256_digest(ctx, sizeof(raw), raw);
	hex_encode(raw, sizeof(raw), hex);
}

struct hash *hash_new(void)
{
	struct hash *h = xcalloc(1, sizeof(*h));

	sha256_init(&h->ctx);
	return h;
}

void hash_add(struct hash *h, const void *data, size_t n)
{
	uint8_t frame[8];

	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)((uint64_t)n >> (8 * i));
	sha256_update(&h->ctx, sizeof(frame), frame);
	if (n)
		sha256_update(&h->ctx, n, data);
}

void hash_add_text(struct hash *h, const char *text)
{
	hash_add(h, text ? "t" : "n", 1);
	hash_add(h, text ? text : "", text ? strlen(text) : 0);
}

void hash_feed(struct hash *h, const void *data, size_t n)
{
	sha256_update(&h->ctx, n, data);
}

void hash_hex(struct hash *h, char hex[HASH_HEX_SIZE])
{
	finish(&h->ctx, hex);
	free(h);
}

int hash_file(const char *path, char hex[HASH_HEX_SIZE], struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct sha256_ctx ctx;
	uint8_t buf[65536];
	ssize_t n;

	if (fd < 0)
		return err_sys(e, errno, "cannot open '%s'", path);
	sha256_init(&ctx);
	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, errno, "cannot read '%s'", path);
		sha256_update(&ctx, (size_t)n, buf);
	}
	finish(&ctx, hex);
	return 0;
}

void hash_bytes(const void *data, size_t n, char hex[HASH_HEX_SIZE])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, n, data);
	finish(&ctx, hex);
}

void hash_raw(const void *data, size_t n, uint8_t raw[HASH_RAW_SIZE])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, n, data);
	sha256_digest(&ctx, HASH_RAW_SIZE, raw);
}

void hash_hmac_sha1(const void *key, size_t key_bytes, const void *data, size_t n,
		    uint8_t mac[HASH_SHA1_SIZE])
{
	struct hmac_sha1_ctx ctx;

	hmac_sha1_set_key(&ctx, key_bytes, key);
	hmac_sha1_update(&ctx, n, data);
	hmac_sha1_digest(&ctx, HASH_SHA1_SIZE, mac);
}
