/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cpio (newc) archive for a guest, made in milliseconds (libarchive). */
#include "io/initramfs.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

/* newc has 32 bits for a size. */
#define FILE_MAX UINT32_MAX

struct writer {
	struct archive *a;
	const char *path; /* of the archive, for messages */
	struct strv dirs; /* folders written already */
	int64_t inode;
};

static int write_failed(const struct writer *w, struct err *e)
{
	int code = archive_errno(w->a);

	if (code > 0)
		return err_sys(e, code, "cannot write '%s'", w->path);
	return err_set(e, ERR_SYS, "cannot write '%s': %s", w->path, archive_error_string(w->a));
}

/* Header of one member; its data follow. */
static int put_header(struct writer *w, const char *name, unsigned mode, uint64_t size,
		      struct err *e)
{
	struct archive_entry *entry = archive_entry_new();
	int ret;

	archive_entry_set_pathname(entry, name);
	archive_entry_set_mode(entry, (mode_t)mode);
	archive_entry_set_size(entry, (la_int64_t)size);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_nlink(entry, 1);
	archive_entry_set_ino64(entry, ++w->inode);
	ret = archive_write_header(w->a, entry);
	archive_entry_free(entry);
	return ret == ARCHIVE_OK ? 0 : write_failed(w, e);
}

static int put_dir(struct writer *w, const char *name, unsigned mode, struct err *e)
{
	if (strv_has(&w->dirs, name))
		return 0;
	strv_add(&w->dirs, name);
	return put_header(w, name, mode | S_IFDIR, 0, e);
}

static int put_parents(struct writer *w, const char *name, struct err *e)
{
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		_cleanup_free_ char *dir = xstrndup(name, (size_t)(slash - name));

		if (put_dir(w, dir, 0755, e) < 0)
			return -1;
	}
	return 0;
}

static int put_bytes(struct writer *w, const void *data, size_t n, struct err *e)
{
	return archive_write_data(w->a, data, n) == (la_ssize_t)n ? 0 : write_failed(w, e);
}

/* Copy exactly @size bytes: the header has promised them. */
static int put_contents(struct writer *w, int fd, const char *source, uint64_t size, struct err *e)
{
	char buf[65536];

	while (size > 0) {
		ssize_t n = read(fd, buf, size < sizeof(buf) ? (size_t)size : sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, errno, "cannot read '%s'", source);
		if (n == 0)
			return err_set(e, ERR_SYS, "'%s' became shorter while it was read", source);
		if (put_bytes(w, buf, (size_t)n, e) < 0)
			return -1;
		size -= (uint64_t)n;
	}
	return 0;
}

static int put_host_file(struct writer *w, const struct initramfs_file *f, struct err *e)
{
	_cleanup_close_ int fd = open(f->source, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, errno, "cannot read '%s' for the guest", f->source);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_CONFIG, "'%s' is not a file and cannot go into the guest",
			       f->source);
	if ((uint64_t)st.st_size > FILE_MAX)
		return err_set(e, ERR_CONFIG, "'%s' is too large for an initramfs (4 GiB at most)",
			       f->source);
	if (put_header(w, f->name, (f->mode & 07777) | S_IFREG, (uint64_t)st.st_size, e) < 0)
		return -1;
	return put_contents(w, fd, f->source, (uint64_t)st.st_size, e);
}

/* No absolute names, and none that the kernel would unpack to some other place. */
static bool name_is_valid(const char *name)
{
	for (const char *part = name;; part++) {
		size_t n = strcspn(part, "/");

		if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && !strncmp(part, "..", 2)))
			return false;
		part += n;
		if (!*part)
			return true;
	}
}

static int put_file(struct writer *w, const struct initramfs_file *f, struct err *e)
{
	if (!name_is_valid(f->name))
		return err_set(e, ERR_CONFIG, "bad name '%s' for a file in the guest", f->name);
	if (put_parents(w, f->name, e) < 0)
		return -1;
	if (S_ISDIR(f->mode))
		return put_dir(w, f->name, f->mode, e);
	if (f->source)
		return put_host_file(w, f, e);
	if (put_header(w, f->name, (f->mode & 07777) | S_IFREG, f->n, e) < 0)
		return -1;
	return put_bytes(w, f->data, f->n, e);
}

static int write_all(struct writer *w, const struct initramfs_file *files, size_t n, struct err *e)
{
	if (archive_write_set_format_cpio_newc(w->a) != ARCHIVE_OK ||
	    archive_write_add_filter_none(w->a) != ARCHIVE_OK ||
	    archive_write_open_filename(w->a, w->path) != ARCHIVE_OK)
		return write_failed(w, e);
	for (size_t i = 0; i < n; i++)
		if (put_file(w, &files[i], e) < 0)
			return -1;
	return archive_write_close(w->a) == ARCHIVE_OK ? 0 : write_failed(w, e);
}

int initramfs_write(const char *path, const struct initramfs_file *files, size_t n,
		    uint64_t *size_bytes, struct err *e)
{
	struct writer w = { .a = archive_write_new(), .path = path };
	struct stat st;
	int ret;

	ret = write_all(&w, files, n, e);
	archive_write_free(w.a);
	strv_release(&w.dirs);
	if (ret < 0) {
		unlink(path); /* half an archive would boot half a guest */
		return -1;
	}
	if (stat(path, &st) < 0)
		return err_sys(e, errno, "cannot write '%s'", path);
	if (size_bytes)
		*size_bytes = (uint64_t)st.st_size;
	return 0;
}
