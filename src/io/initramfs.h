/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cpio (newc) archive for a guest, made in milliseconds (libarchive). */
#ifndef KR_IO_INITRAMFS_H
#define KR_IO_INITRAMFS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct initramfs_file {
	const char *name;   /* path in the guest, without leading slash */
	const char *source; /* host file to copy; NULL: @data */
	const void *data;
	size_t n;
	unsigned mode; /* 0755, 0644; with S_IFDIR: a folder */
};

/*
 * Write @files to @path, parent folders added, root-owned, mtime 0: the same
 * input gives the same bytes. @size_bytes (may be NULL): size of the archive.
 */
int initramfs_write(const char *path, const struct initramfs_file *files, size_t n,
		    uint64_t *size_bytes, struct err *e);

#endif
