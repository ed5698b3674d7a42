/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where our private repository of a user's repository is. */
#include "io/repo.h"

#include <string.h>

#include "base/fs.h"
#include "base/hash.h"

#define NAME_DIGITS 16 /* of the hash: short paths, and no chance of a clash */

int repo_open_ours(struct repo *user, struct repo **out, struct err *e)
{
	const char *common = repo_common_dir(user);
	char hex[HASH_HEX_SIZE];

	hash_bytes(common, strlen(common), hex);
	_cleanup_free_ char *base = fs_cache_dir();
	_cleanup_free_ char *cache = fs_absolute(base);
	_cleanup_free_ char *dir = xasprintf("%s/repos/%.*s", cache, NAME_DIGITS, hex);
	_cleanup_free_ char *lock = fs_join(dir, "lock");
	_cleanup_free_ char *path = fs_join(dir, "repo.git");
	_cleanup_close_ int fd = -1;

	if (fs_mkdirs(dir, e) < 0 || fs_lock_wait(lock, "our copy of the repository", &fd, e) < 0)
		return -1;
	return repo_open_private(path, user, out, e);
}
