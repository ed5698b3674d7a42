/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole trees, free space, and where kregress keeps and finds things. */
#include "base/fs.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

int fs_remove_tree(const char *path, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(e, errno, "cannot remove '%s'", path);
	if (nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) < 0)
		return err_sys(e, errno, "cannot remove '%s'", path);
	return 0;
}

static _Thread_local uint64_t tree_bytes;

static int count_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path;
	(void)ftw;
	if (type == FTW_F)
		tree_bytes += (uint64_t)st->st_size;
	return 0;
}

uint64_t fs_tree_bytes(const char *path)
{
	tree_bytes = 0;
	nftw(path, count_one, 32, FTW_PHYS);
	return tree_bytes;
}

uint64_t fs_free_bytes(const char *path)
{
	_cleanup_free_ char *p = xstrdup(path);
	struct statvfs v;

	while (statvfs(p, &v) < 0) {
		char *dir;

		if (errno != ENOENT || str_eq(p, "/") || str_eq(p, "."))
			return UINT64_MAX;
		dir = fs_dirname(p);
		free(p);
		p = dir;
	}
	return (uint64_t)v.f_bavail * v.f_frsize;
}

static char *xdg_dir(const char *variable, const char *fallback)
{
	const char *base = getenv(variable), *home = getenv("HOME");

	/* The XDG base directory specification: a relative value is ignored. */
	if (base && base[0] == '/')
		return xasprintf("%s/kregress", base);
	return xasprintf("%s/%s/kregress", home && *home ? home : "/tmp", fallback);
}

char *fs_cache_dir(void)
{
	return xdg_dir("XDG_CACHE_HOME", ".cache");
}

char *fs_state_dir(void)
{
	return xdg_dir("XDG_STATE_HOME", ".local/state");
}

char *fs_data_dir(void)
{
	const char *set = getenv("KREGRESS_DATADIR");
	char self[4096];
	ssize_t n;

	if (set && *set)
		return fs_absolute(set);
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	/* In a source tree the binary is ./kregress, or below the build folder of the tree. */
	for (int up = 0; n > 0 && up < 4; up++) {
		char *probe;

		self[n] = '\0';
		char *slash = strrchr(self, '/');

		if (!slash || slash == self)
			break;
		n = slash - self;
		self[n] = '\0';
		probe = xasprintf("%s/configs/kernel", self);
		if (fs_is_dir(probe)) {
			free(probe);
			return xstrdup(self);
		}
		free(probe);
	}
	/* Installed: <prefix>/bin/kregress has <prefix>/share/kregress beside it, wherever that is. */
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = '\0';
		_cleanup_free_ char *bin = fs_dirname(self);
		_cleanup_free_ char *share = fs_join(bin, "../share/kregress");

		if (fs_is_dir(share))
			return fs_absolute(share);
	}
	return xstrdup(KR_DATADIR);
}
