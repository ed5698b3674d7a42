/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel was built from, by the .cmd files that its make left; what cannot matter to it. */
#ifndef KR_IO_USED_H
#define KR_IO_USED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "io/repo.h"

/* A set of paths, relative to the top of the sources. */
struct used;
struct used *used_new(void);
void used_free(struct used *u);
size_t used_count(const struct used *u);
bool used_has(const struct used *u, const char *path);

/*
 * Add what the text of a .cmd file names below the folder @src (absolute): sources, headers, and
 * whatever else its command line has. The bytes are untrusted.
 */
void used_scan(struct used *u, const char *src, const char *text, size_t n);
/*
 * Add what all .cmd files below the O= folder @out name. 1; 0: that cannot be all that was used (one
 * of them is too large, or there are none, as of a tree that is no kernel's); -1.
 */
int used_scan_tree(struct used *u, const char *src, const char *out, struct err *e);

/* The set as a file's text, sorted; and the inverse: false: damaged, @u may have some of it. */
void used_format(const struct used *u, struct str *out);
bool used_parse(struct used *u, const char *text, size_t n);
/* Equal for equal sets. */
void used_digest(const struct used *u, char hex[HASH_HEX_SIZE]);

/*
 * Can this change of @path be without effect on all kernels of the set? Only code that none of them
 * was built from, and documentation; and no file that is new or gone, no header that anybody may
 * include, nothing that decides what is built, and nothing of a kind that we do not know.
 */
bool used_is_idle(const struct used *u, const char *path, enum repo_change change);

#endif
