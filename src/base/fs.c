/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files and directories; writes that survive a crash. */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sig.h"

int fs_mkdirs(const char *path, struct err *e)
{
	_cleanup_free_ char *p = xstrdup(path);

	for (char *s = p + 1; *p; s++) {
		char c = *s;

		if (c != '/' && c)
			continue;
		*s = '\0';
		if (mkdir(p, 0777) < 0 && errno != EEXIST)
			return err_sys(e, errno, "cannot create directory '%s'", p);
		*s = c;
		if (!c)
			break;
	}
	if (!fs_is_dir(path))
		return err_sys(e, ENOTDIR, "cannot create directory '%s'", path);
	return 0;
}

static int open_read(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		int sys = errno;

		err_sys(e, sys, "cannot open '%s'", path);
		if (e && sys == ENOENT)
			e->code = ERR_NOT_FOUND;
	}
	return fd;
}

/* Append up to @max bytes from @fd; 0 or -1. */
static int slurp(int fd, const char *path, size_t max, struct str *out, struct err *e)
{
	char buf[65536];
	size_t total = 0;
	ssize_t n;

	str_add(out, "");
	while (total <= max) {
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, errno, "cannot read '%s'", path);
		if (n == 0)
			return 0;
		total += (size_t)n;
		str_addmem(out, buf, (size_t)n);
	}
	return err_set(e, ERR_SYS, "'%s' is larger than %zu bytes", path, max);
}

int fs_read(const char *path, size_t max, struct str *out, struct err *e)
{
	_cleanup_close_ int fd = open_read(path, e);

	return fd < 0 ? -1 : slurp(fd, path, max, out, e);
}

bool fs_read_at(int fd, uint64_t bytes, uint64_t offset, void *buf, size_t n)
{
	if (offset > bytes || n > bytes - offset)
		return false;
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(fd, (char *)buf + done, n - done, (off_t)(offset + done));

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

int fs_read_tail(const char *path, size_t max, struct str *out, struct err *e)
{
	_cleanup_close_ int fd = open_read(path, e);
	off_t size;

	if (fd < 0)
		return -1;
	size = lseek(fd, 0, SEEK_END);
	lseek(fd, size > (off_t)max ? size - (off_t)max : 0, SEEK_SET);
	/* The file may grow while it is read. */
	return slurp(fd, path, max + (16u << 20), out, e);
}

static int write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -1;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

static int sync_dir_of(const char *path)
{
	_cleanup_free_ char *dir = fs_dirname(path);
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : fsync(fd);
}

/* Give @fd (open on @tmp) its final name. */
static int settle(int fd, const char *tmp, const char *path, struct err *e)
{
	if (fsync(fd) < 0 || rename(tmp, path) < 0 || sync_dir_of(path) < 0) {
		int sys = errno;

		unlink(tmp);
		return err_sys(e, sys, "cannot write '%s'", path);
	}
	return 0;
}

int fs_write(const char *path, const void *data, size_t n, struct err *e)
{
	_cleanup_free_ char *tmp = xasprintf("%s.tmp%ld", path, (long)getpid());
	_cleanup_close_ int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		return err_sys(e, errno, "cannot create '%s'", path);
	if (write_all(fd, data, n) < 0) {
		int sys = errno;

		unlink(tmp);
		return err_sys(e, sys, "cannot write '%s'", path);
	}
	return settle(fd, tmp, path, e);
}

static int copy_bytes(int in, int out, const char *from, const char *to, struct err *e)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, errno, "cannot read '%s'", from);
		if (write_all(out, buf, (size_t)n) < 0)
			return err_sys(e, errno, "cannot write '%s'", to);
	}
	return 0;
}

int fs_copy(const char *from, const char *to, struct err *e)
{
	_cleanup_free_ char *tmp = xasprintf("%s.tmp%ld", to, (long)getpid());
	_cleanup_close_ int in = open_read(from, e);
	_cleanup_close_ int out = -1;
	struct stat st;

	if (in < 0)
		return -1;
	if (fstat(in, &st) < 0)
		return err_sys(e, errno, "cannot read '%s'", from);
	out = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, st.st_mode & 0777);
	if (out < 0)
		return err_sys(e, errno, "cannot create '%s'", to);
	if (copy_bytes(in, out, from, to, e) < 0) {
		unlink(tmp);
		return -1;
	}
	return settle(out, tmp, to, e);
}

bool fs_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

bool fs_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *fs_join(const char *a, const char *b)
{
	if (b[0] == '/')
		return xstrdup(b);
	return xasprintf("%s%s%s", a, str_ends(a, "/") ? "" : "/", b);
}

char *fs_dirname(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

char *fs_absolute(const char *path)
{
	char *real = realpath(path, NULL);
	const char *slash = strrchr(path, '/');

	if (real)
		return real;
	if (slash && !slash[1]) { /* a trailing slash */
		_cleanup_free_ char *cut = xstrndup(path, (size_t)(slash - path));

		return *cut ? fs_absolute(cut) : xstrdup("/");
	}
	_cleanup_free_ char *dir = fs_dirname(path);
	/* the folder one stands in may be gone */
	_cleanup_free_ char *base = str_eq(dir, path) ? NULL : fs_absolute(dir);

	if (!base || str_eq(dir, "."))
		return base ? fs_join(base, path) : xstrdup(path);

	return fs_join(base, slash ? slash + 1 : path);
}

int fs_lock(const char *path, bool wait, int *fd, long *owner, struct err *e)
{
	_cleanup_close_ int f = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	char text[32] = "";
	ssize_t n;

	if (f < 0)
		return err_sys(e, errno, "cannot open lock '%s'", path);
	while (flock(f, wait ? LOCK_EX : LOCK_EX | LOCK_NB) < 0) {
		if (errno == EINTR && sig_check(e) < 0)
			return -1;
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return err_sys(e, errno, "cannot lock '%s'", path);
		n = pread(f, text, sizeof(text) - 1, 0);
		if (owner)
			*owner = n > 0 ? strtol(text, NULL, 10) : 0;
		return 0;
	}
	n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	if (ftruncate(f, 0) < 0 || pwrite(f, text, (size_t)n, 0) != n)
		return err_sys(e, errno, "cannot write lock '%s'", path);
	*fd = str_steal_fd(&f);
	return 1;
}

int fs_lock_wait(const char *path, const char *what, int *fd, struct err *e)
{
	long owner = 0;
	int got = fs_lock(path, false, fd, &owner, e);

	if (got != 0)
		return got < 0 ? -1 : 0;
	if (owner)
		log_info("waiting for process %ld, which uses %s", owner, what);
	else
		log_info("waiting for another process, which uses %s", what);
	return fs_lock(path, true, fd, &owner, e) < 0 ? -1 : 0;
}
