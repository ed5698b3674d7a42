/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checking a commit out into a source slot: exactly its tree, unchanged files untouched. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/sig.h"
#include "io/repo_internal.h"

/*
 * libgit2's own checkout needs a HEAD that tells what was there before, obeys
 * the user's filters, follows no interrupt and takes five times as long. Here
 * directories are opened without following links, so that nothing outside the
 * slot is ever written.
 */
struct checkout {
	struct repo *priv;
	git_index *index; /* what we wrote, with the stat data it had then */
	const char *top;
	struct timespec stamp; /* when the index was written */
	struct str path;       /* of the entry being looked at, within the top */
	size_t changed;
	bool index_is_dirty;
};

/* Directory names, sorted. */
static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void set_path(struct checkout *c, size_t dir_len, const char *name)
{
	c->path.len = dir_len;
	if (dir_len)
		str_add(&c->path, "/");
	str_add(&c->path, name);
}

static int fail_at(const struct checkout *c, const char *what, struct err *e)
{
	int sys = errno;

	err_sys(e, sys, "cannot %s '%s/%s'", what, c->top, str_text(&c->path));
	if (sys == ENOSPC || sys == EDQUOT)
		return err_hint(e, "the disk is full: free some space and start again");
	return -1;
}

static int remove_entry(struct checkout *c, struct err *e)
{
	_cleanup_free_ char *full = fs_join(c->top, str_text(&c->path));

	git_index_remove(c->index, str_text(&c->path), 0);
	git_index_remove_directory(c->index, str_text(&c->path), 0);
	c->index_is_dirty = true;
	c->changed++;
	return fs_remove_tree(full, e);
}

static int list_names(int fd, struct strv *names)
{
	/* fdopendir() takes its descriptor over */
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *d;

	if (!dir) {
		if (copy >= 0)
			close(copy);
		return -1;
	}
	while ((errno = 0, d = readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			strv_add(names, d->d_name);
	closedir(dir);
	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), by_name);
	return errno ? -1 : 0;
}

/* Remove what does not belong here. @tree NULL: nothing does. */
static int remove_others(struct checkout *c, int fd, const git_tree *tree, size_t dir_len,
			 struct err *e)
{
	_cleanup_strv_ struct strv names = STRV_INIT;

	if (list_names(fd, &names))
		return fail_at(c, "read", e);
	for (size_t i = 0; i < names.n; i++) {
		if (tree && git_tree_entry_byname(tree, names.v[i]))
			continue;
		set_path(c, dir_len, names.v[i]);
		if (remove_entry(c, e))
			return -1;
	}
	return 0;
}

/* Stat data as the index keeps it. */
static void fill_entry(git_index_entry *en, const struct stat *st)
{
	en->ctime.seconds = (int32_t)st->st_ctim.tv_sec;
	en->ctime.nanoseconds = (uint32_t)st->st_ctim.tv_nsec;
	en->mtime.seconds = (int32_t)st->st_mtim.tv_sec;
	en->mtime.nanoseconds = (uint32_t)st->st_mtim.tv_nsec;
	en->dev = (uint32_t)st->st_dev;
	en->ino = (uint32_t)st->st_ino;
	en->uid = st->st_uid;
	en->gid = st->st_gid;
	en->file_size = (uint32_t)st->st_size;
}

static bool same_stat(const git_index_entry *en, const struct stat *st)
{
	git_index_entry now = { .mode = 0 };

	fill_entry(&now, st);
	return en->ctime.seconds == now.ctime.seconds && en->ino == now.ino &&
	       en->ctime.nanoseconds == now.ctime.nanoseconds &&
	       en->mtime.seconds == now.mtime.seconds &&
	       en->mtime.nanoseconds == now.mtime.nanoseconds && en->file_size == now.file_size &&
	       en->dev == now.dev;
}

/* Written in the same tick as the index: a later change would not show in its times. */
static bool is_racy(const struct checkout *c, const struct stat *st)
{
	return st->st_mtim.tv_sec > c->stamp.tv_sec ||
	       (st->st_mtim.tv_sec == c->stamp.tv_sec && st->st_mtim.tv_nsec >= c->stamp.tv_nsec);
}

static mode_t kind_of(git_filemode_t mode)
{
	return mode == GIT_FILEMODE_LINK ? S_IFLNK : S_IFREG;
}

/* The object name that the file or link would have. */
static int hash_entry(struct checkout *c, int fd, const char *name, const struct stat *st,
		      git_oid *oid)
{
	_cleanup_free_ char *full = fs_join(c->top, str_text(&c->path));
	_cleanup_free_ char *target = NULL;
	ssize_t n;

	if (S_ISREG(st->st_mode))
		return git_odb_hashfile(oid, full, GIT_OBJECT_BLOB);
	target = xcalloc(1, (size_t)st->st_size + 1);
	n = readlinkat(fd, name, target, (size_t)st->st_size + 1);
	return n == st->st_size ? git_odb_hash(oid, target, (size_t)n, GIT_OBJECT_BLOB) : -1;
}

/* Remember that the entry at the path is @oid, with the times it has now. */
static int note(struct checkout *c, int fd, const char *name, const git_oid *oid,
		git_filemode_t mode, struct err *e)
{
	git_index_entry en = { .mode = mode, .path = c->path.buf };
	struct stat st;
	int rc;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return fail_at(c, "look at", e);
	git_oid_cpy(&en.id, oid);
	fill_entry(&en, &st);
	rc = git_index_add(c->index, &en);
	c->index_is_dirty = true;
	return rc ? repo_fail(e, rc, "cannot note '%s'", str_text(&c->path)) : 0;
}

static int write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t done = write(fd, data, n);

		if (done < 0 && errno != EINTR)
			return -1;
		if (done > 0) {
			data += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

static int write_file(struct checkout *c, int fd, const char *name, git_odb_object *blob,
		      git_filemode_t mode, struct err *e)
{
	_cleanup_close_ int out = openat(fd, name,
					 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
					 mode == GIT_FILEMODE_BLOB_EXECUTABLE ? 0777 : 0666);

	if (out < 0)
		return fail_at(c, "create", e);
	if (write_all(out, git_odb_object_data(blob), git_odb_object_size(blob)))
		return fail_at(c, "write", e);
	return 0;
}

static int write_entry(struct checkout *c, int fd, const char *name, const git_oid *oid,
		       git_filemode_t mode, struct err *e)
{
	_cleanup_(repo_free_odb_object) git_odb_object *blob = NULL;
	int rc = git_odb_read(&blob, c->priv->odb, oid);

	if (rc)
		return repo_fail(e, rc, "cannot read the contents of '%s'", str_text(&c->path));
	c->changed++;
	if (mode != GIT_FILEMODE_LINK)
		return write_file(c, fd, name, blob, mode, e);
	/* libgit2 ends what it reads with a NUL */
	if (symlinkat(git_odb_object_data(blob), fd, name))
		return fail_at(c, "create", e);
	return 0;
}

static bool has_mode(const struct stat *st, git_filemode_t mode)
{
	bool exec = mode == GIT_FILEMODE_BLOB_EXECUTABLE;

	return (st->st_mode & S_IFMT) == kind_of(mode) &&
	       (S_ISLNK(st->st_mode) || exec == !!(st->st_mode & S_IXUSR));
}

static int checkout_file(struct checkout *c, int fd, const char *name, const git_oid *oid,
			 git_filemode_t mode, struct err *e)
{
	const git_index_entry *en = git_index_get_bypath(c->index, str_text(&c->path), 0);
	struct stat st;
	git_oid now;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW)) {
		if (errno != ENOENT)
			return fail_at(c, "look at", e);
	} else if (!has_mode(&st, mode)) {
		if (remove_entry(c, e))
			return -1;
	} else if (en && git_oid_equal(&en->id, oid) && same_stat(en, &st) && !is_racy(c, &st)) {
		return 0;
	} else if (!hash_entry(c, fd, name, &st, &now) && git_oid_equal(&now, oid)) {
		return note(c, fd, name, oid, mode, e);
	} else if (unlinkat(fd, name, 0)) {
		return fail_at(c, "remove", e);
	}
	if (write_entry(c, fd, name, oid, mode, e))
		return -1;
	return note(c, fd, name, oid, mode, e);
}

/* Open the directory @name, made if missing, in place of whatever else is there. */
static int enter(struct checkout *c, int fd, const char *name, struct err *e)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int dir = openat(fd, name, flags);

	if (dir >= 0)
		return dir;
	if (errno == ENOTDIR || errno == ELOOP) {
		if (remove_entry(c, e))
			return -1;
	} else if (errno != ENOENT) {
		return fail_at(c, "open", e);
	}
	if (mkdirat(fd, name, 0777))
		return fail_at(c, "make", e);
	dir = openat(fd, name, flags);
	return dir < 0 ? fail_at(c, "open", e) : dir;
}

static int checkout_tree(struct checkout *c, int fd, const git_oid *oid, struct err *e);

/* As git makes it of a submodule that is not checked out: an empty directory. */
static int checkout_gitlink(struct checkout *c, int fd, struct err *e)
{
	return remove_others(c, fd, NULL, c->path.len, e);
}

static int checkout_entry(struct checkout *c, int fd, const git_tree_entry *entry, struct err *e)
{
	const char *name = git_tree_entry_name(entry);
	git_filemode_t mode = git_tree_entry_filemode(entry);
	const git_oid *oid = git_tree_entry_id(entry);
	_cleanup_close_ int dir = -1;

	if (!*name || str_eq(name, ".") || str_eq(name, "..") || strchr(name, '/') ||
	    !strcasecmp(name, ".git"))
		return err_set(e, ERR_GIT, "the commit holds a file with the forbidden name '%s'",
			       str_text(&c->path));
	if (mode != GIT_FILEMODE_TREE && mode != GIT_FILEMODE_COMMIT)
		return checkout_file(c, fd, name, oid, mode, e);
	dir = enter(c, fd, name, e);
	if (dir < 0)
		return -1;
	if (mode == GIT_FILEMODE_COMMIT)
		return checkout_gitlink(c, dir, e);
	return checkout_tree(c, dir, oid, e);
}

/* Make the directory @fd, which is at c->path, be the tree @oid. */
static int checkout_tree(struct checkout *c, int fd, const git_oid *oid, struct err *e)
{
	_cleanup_(repo_free_tree) git_tree *tree = NULL;
	size_t dir_len = c->path.len;
	int rc = git_tree_lookup(&tree, c->priv->git, oid);

	if (rc)
		return repo_fail(e, rc, "cannot read the directory '%s'", str_text(&c->path));
	if (sig_check(e) || remove_others(c, fd, tree, dir_len, e))
		return -1;
	for (size_t i = 0; i < git_tree_entrycount(tree); i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(tree, i);

		set_path(c, dir_len, git_tree_entry_name(entry));
		if (checkout_entry(c, fd, entry, e))
			return -1;
	}
	c->path.len = dir_len;
	c->path.buf[dir_len] = '\0';
	return 0;
}

/* An index that is missing or damaged only costs time: everything is hashed. */
static int open_index(struct checkout *c, const char *path, struct err *e)
{
	struct stat st;
	int rc;

	if (!stat(path, &st))
		c->stamp = st.st_mtim;
	rc = git_index_open(&c->index, path);
	if (rc && !unlink(path))
		rc = git_index_open(&c->index, path);
	return rc ? repo_fail(e, rc, "cannot use the index '%s'", path) : 0;
}

static void checkout_release(struct checkout *c)
{
	if (c->index)
		git_index_free(c->index);
	str_release(&c->path);
}

int repo_checkout(struct repo *priv, const struct commit_id *id, const char *dir,
		  const char *index_path, size_t *changed, struct err *e)
{
	_cleanup_(checkout_release) struct checkout c = { .priv = priv, .top = dir };
	_cleanup_(repo_free_commit) git_commit *commit = NULL;
	char hex[COMMIT_HEX + 1];
	int rc = git_commit_lookup(&commit, priv->git, repo_oid(id)), ret;
	_cleanup_close_ int fd = -1;

	if (rc)
		return repo_fail(e, rc, "cannot read commit '%s'", commit_hex(id, hex));
	if (fs_mkdirs(dir, e) || open_index(&c, index_path, e))
		return -1;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, errno, "cannot open '%s'", dir);
	str_add(&c.path, "");
	ret = checkout_tree(&c, fd, git_commit_tree_id(commit), e);
	/* also after a failure: what was written need not be looked at again */
	rc = c.index_is_dirty ? git_index_write(c.index) : 0;
	if (changed)
		*changed = c.changed;
	if (ret)
		return err_wrap(e, "cannot check out '%s'", commit_hex(id, hex));
	return rc ? repo_fail(e, rc, "cannot write the index '%s'", index_path) : 0;
}
