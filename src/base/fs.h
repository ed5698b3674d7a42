/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files and directories; writes that survive a crash. */
#ifndef KR_BASE_FS_H
#define KR_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* mkdir -p with mode 0777 & ~umask. */
int fs_mkdirs(const char *path, struct err *e);
/* Append the file's bytes to @out; ERR_CONFIG-free: ERR_NOT_FOUND, ERR_SYS. More than @max bytes: ERR_SYS. */
int fs_read(const char *path, size_t max, struct str *out, struct err *e);
/* @n bytes at @offset of an open file of @bytes; false: it has not so many there, or cannot be read. */
bool fs_read_at(int fd, uint64_t bytes, uint64_t offset, void *buf, size_t n);
/* Append at most the last @max bytes of the file to @out. */
int fs_read_tail(const char *path, size_t max, struct str *out, struct err *e);
/* Write through a temporary name beside it, fsync, rename. */
int fs_write(const char *path, const void *data, size_t n, struct err *e);
/* Copy contents and mode, through a temporary name, fsync, rename. */
int fs_copy(const char *from, const char *to, struct err *e);
/* rm -rf; a missing path is no error. Does not follow symbolic links. */
int fs_remove_tree(const char *path, struct err *e);
/* Free bytes for us on the file system of @path (or its nearest existing parent); UINT64_MAX: unknown. */
uint64_t fs_free_bytes(const char *path);
/* Bytes of the regular files below @path. */
uint64_t fs_tree_bytes(const char *path);
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);
/* "a/b" owned; an absolute @b alone. */
char *fs_join(const char *a, const char *b);
/* Directory part, owned ("." for a bare name). */
char *fs_dirname(const char *path);
/* realpath() of @path, or of its longest existing parent with the rest appended. Owned. */
char *fs_absolute(const char *path);

/*
 * Take an exclusive advisory lock (flock) on @path, created if missing, with our
 * pid written into it. *@fd is set to the open descriptor: closing it unlocks.
 * Returns 1 when taken, 0 when another process holds it (*@owner: its pid, 0
 * unknown), -1 on failure. @wait: block until it is free (ERR_INTERRUPTED on a
 * signal).
 */
int fs_lock(const char *path, bool wait, int *fd, long *owner, struct err *e);
/* Take it, and say by log_info() whom we wait for, "which uses @what". 0 with *@fd, -1. */
int fs_lock_wait(const char *path, const char *what, int *fd, struct err *e);

/* $XDG_CACHE_HOME/kregress (~/.cache), $XDG_STATE_HOME/kregress (~/.local/state). Owned. */
char *fs_cache_dir(void);
char *fs_state_dir(void);
/* Installed data (configs/, qemu/, workloads/): $KREGRESS_DATADIR, beside the binary, else the prefix. Owned. */
char *fs_data_dir(void);

#endif
