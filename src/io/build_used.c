/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Beside each kernel in the cache: what it was built from. */
#include "io/build_internal.h"

#include <stdlib.h>

#include "base/fs.h"
#include "io/used.h"

#define USED_MAX (64u << 20)

static void free_used(struct used **u)
{
	used_free(*u);
}

int build_used_write(const struct builder *b, char **path, struct err *e)
{
	_cleanup_(free_used) struct used *u = used_new();
	_cleanup_free_ char *to = fs_join(b->slot, "used");
	_cleanup_str_ struct str text = STR_INIT;
	/* make writes folders as the system calls them: without symbolic links. */
	_cleanup_free_ char *src = realpath(b->src, NULL);
	int ret = used_scan_tree(u, src ? src : b->src, b->out, e);

	if (ret <= 0)
		return ret;
	used_format(u, &text);
	if (fs_write(to, str_text(&text), text.len, e) < 0)
		return -1;
	*path = xstrdup(to);
	return 0;
}

/* A key from a store is untrusted, and becomes part of a path. */
static bool is_key(const char *key)
{
	return strspn(key, "0123456789abcdef") == HASH_HEX_SIZE - 1 && !key[HASH_HEX_SIZE - 1];
}

int build_used_of(const char *key, struct used *u, struct err *e)
{
	_cleanup_free_ char *base = fs_cache_dir();
	_cleanup_free_ char *path = xasprintf("%s/kernels/%s/used", base, key);
	_cleanup_str_ struct str text = STR_INIT;

	if (!is_key(key) || !fs_exists(path))
		return 0;
	if (fs_read(path, USED_MAX, &text, e) < 0)
		return -1;
	return used_parse(u, str_text(&text), text.len);
}
