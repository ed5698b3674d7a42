/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel's modules: made, installed into a folder of the slot, packed (libarchive). */
#include "io/build_internal.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

#define DEPTH_MAX 32

static char *tree_of(const struct builder *b)
{
	return fs_join(b->slot, "modules");
}

bool build_modules_are_wanted(const struct builder *b)
{
	_cleanup_free_ char *path = fs_join(b->out, ".config");
	_cleanup_str_ struct str text = STR_INIT;

	return b->want_modules && fs_read(path, BUILD_FILE_MAX, &text, NULL) == 0 &&
	       strstr(str_text(&text), "\nCONFIG_MODULES=y\n") && strstr(str_text(&text), "=m\n");
}

int build_modules_install(struct builder *b, struct build_job *j, unsigned jobs, struct err *e)
{
	_cleanup_free_ char *tree = tree_of(b);
	_cleanup_strv_ struct strv argv = STRV_INIT;

	if (fs_remove_tree(tree, e) < 0)
		return -1;
	build_make_argv(b, jobs, &argv);
	strv_addf(&argv, "INSTALL_MOD_PATH=%s", tree);
	strv_add(&argv, "INSTALL_MOD_STRIP=1");
	/* Its lists depend on the depmod of this machine; the one that boots makes its own. */
	strv_add(&argv, "DEPMOD=true");
	strv_add(&argv, "modules_install");
	return build_make_run(b, j, &argv, e);
}

/* ---- the archive --------------------------------------------------------------------------- */

struct packer {
	struct archive *a;
	const char *path; /* of the archive */
	const char *tree;
};

static int pack_failed(const struct packer *p, struct err *e)
{
	int code = archive_errno(p->a);

	if (code > 0)
		return err_sys(e, code, "cannot write '%s'", p->path);
	return err_set(e, ERR_SYS, "cannot write '%s': %s", p->path, archive_error_string(p->a));
}

/* The same modules give the same bytes: whose they are, and since when, is left out. */
static int put_header(struct packer *p, const char *name, unsigned mode, la_int64_t size,
		      struct err *e)
{
	struct archive_entry *entry = archive_entry_new();
	int ret;

	archive_entry_set_pathname(entry, name);
	archive_entry_set_mode(entry, (mode_t)mode);
	archive_entry_set_size(entry, size);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	archive_entry_set_uname(entry, "root");
	archive_entry_set_gname(entry, "root");
	archive_entry_set_mtime(entry, 0, 0);
	ret = archive_write_header(p->a, entry);
	archive_entry_free(entry);
	return ret == ARCHIVE_OK ? 0 : pack_failed(p, e);
}

static int put_file(struct packer *p, const char *path, const char *name, la_int64_t size,
		    struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char buf[65536];

	if (fd < 0)
		return err_sys(e, errno, "cannot read '%s'", path);
	if (put_header(p, name, S_IFREG | 0644, size, e) < 0)
		return -1;
	while (size > 0) {
		ssize_t n = read(fd, buf,
				 size < (la_int64_t)sizeof(buf) ? (size_t)size : sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(e, n < 0 ? errno : EIO, "cannot read '%s'", path);
		if (archive_write_data(p->a, buf, (size_t)n) != n)
			return pack_failed(p, e);
		size -= n;
	}
	return 0;
}

static int put_tree(struct packer *p, const char *name, unsigned depth, struct err *e);

/* Links lead into the slot; other than files and folders a kernel's modules do not have. */
static int put_member(struct packer *p, const char *name, unsigned depth, struct err *e)
{
	_cleanup_free_ char *path = fs_join(p->tree, name);
	struct stat st;

	if (lstat(path, &st) < 0)
		return err_sys(e, errno, "cannot read '%s'", path);
	if (S_ISDIR(st.st_mode))
		return put_tree(p, name, depth, e);
	return S_ISREG(st.st_mode) ? put_file(p, path, name, st.st_size, e) : 0;
}

static int is_member(const struct dirent *d)
{
	return !str_eq(d->d_name, ".") && !str_eq(d->d_name, "..");
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int put_tree(struct packer *p, const char *name, unsigned depth, struct err *e)
{
	_cleanup_free_ char *path = fs_join(p->tree, name);
	struct dirent **list = NULL;
	int n, ret;

	if (depth > DEPTH_MAX)
		return err_set(e, ERR_SYS, "'%s' lies too deep for a module", path);
	n = scandir(path, &list, is_member, by_bytes);
	if (n < 0)
		return err_sys(e, errno, "cannot read '%s'", path);
	ret = put_header(p, name, S_IFDIR | 0755, 0, e);
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *member = fs_join(name, list[i]->d_name);

		if (ret == 0)
			ret = put_member(p, member, depth + 1, e);
		free(list[i]);
	}
	free(list);
	return ret;
}

static int write_archive(struct packer *p, const char *name, struct err *e)
{
	if (archive_write_set_format_gnutar(p->a) != ARCHIVE_OK ||
	    archive_write_add_filter_none(p->a) != ARCHIVE_OK ||
	    archive_write_open_filename(p->a, p->path) != ARCHIVE_OK)
		return pack_failed(p, e);
	if (put_tree(p, name, 0, e) < 0)
		return -1;
	return archive_write_close(p->a) == ARCHIVE_OK ? 0 : pack_failed(p, e);
}

int build_modules_pack(const char *tree, const char *release, const char *path, struct err *e)
{
	struct packer p = { .a = archive_write_new(), .path = path, .tree = tree };
	_cleanup_free_ char *name = xasprintf("lib/modules/%s", release);
	int ret = write_archive(&p, name, e);

	archive_write_free(p.a);
	if (ret < 0)
		unlink(path);
	return ret;
}

int build_modules_store(struct builder *b, const char *release, char **path, struct err *e)
{
	_cleanup_free_ char *tree = tree_of(b);
	_cleanup_free_ char *tar = fs_join(b->slot, "modules.tar");

	if (!release)
		return err_set(e, ERR_LAB, "modules of a kernel that does not tell its release");
	if (build_modules_pack(tree, release, tar, e) < 0 || fs_remove_tree(tree, e) < 0)
		return -1;
	*path = tar;
	tar = NULL;
	return 0;
}
