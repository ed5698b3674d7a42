/* SPDX-License-Identifier: GPL-2.0-or-later */
/* out/.config: made from target or file and fragments, checked, left alone where it can be. */
#include "io/build_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

/*
 * A configuration takes about as long as the compilation of a neighbour commit.
 * So it is made anew only when one of the files that can decide it has another time or
 * size than at the last one, or compiler, arguments or what was asked for differ.
 */
#define STAMP_NAME ".kregress-config"

/* ---- fingerprint of the sources of a configuration ---- */

/*
 * Kconfig files, whatever lies in scripts/ (the configuration programs, and the probes
 * that Kconfig files call), ready-made configurations, shell scripts and arch
 * tools (more probes), and the Makefiles that set what the probes get.
 */
static bool decides_config(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (str_starts(name, "Kconfig") || str_starts(path, "scripts/"))
		return true;
	if (str_ends(name, ".sh") || str_ends(name, ".config") || str_ends(name, "_defconfig") ||
	    strstr(path, "/configs/"))
		return true;
	if (str_starts(name, "Makefile"))
		return !slash || str_starts(path, "arch/");
	return str_starts(path, "arch/") && strstr(path, "/tools/");
}

static void add_file(struct hash *h, int dirfd, const char *name, const char *path)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	int64_t facts[3] = { st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec };

	hash_add_text(h, path);
	hash_add(h, facts, sizeof(facts));
}

static bool is_dir(int dirfd, const struct dirent *de)
{
	struct stat st;

	if (de->d_type != DT_UNKNOWN)
		return de->d_type == DT_DIR;
	return fstatat(dirfd, de->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* @dirfd is consumed; @path is "" at the top, else ends in a slash, and is left as it was. */
static int walk(struct hash *h, int dirfd, struct str *path, struct err *e)
{
	DIR *d = fdopendir(dirfd);
	size_t len = path->len;
	int ret = 0;

	if (!d) {
		close(dirfd);
		return err_sys(e, errno, "cannot read the sources");
	}
	for (struct dirent *de; ret == 0 && (de = readdir(d));) {
		if (str_eq(de->d_name, ".") || str_eq(de->d_name, ".."))
			continue;
		str_add(path, de->d_name);
		if (is_dir(dirfd, de)) {
			int fd = openat(dirfd, de->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

			str_add(path, "/");
			ret = fd < 0 ? err_sys(e, errno, "cannot read '%s'", path->buf)
				     : walk(h, fd, path, e);
		} else if (decides_config(path->buf)) {
			add_file(h, dirfd, de->d_name, path->buf);
		}
		path->len = len;
		path->buf[len] = '\0';
	}
	closedir(d);
	return ret;
}

static int fingerprint(const struct builder *b, char hex[HASH_HEX_SIZE], struct err *e)
{
	_cleanup_str_ struct str path = STR_INIT;
	struct hash *h = hash_new();
	int fd = open(b->src, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret;

	str_add(&path, "");
	hash_add_text(h, b->config_inputs);
	ret = fd < 0 ? err_sys(e, errno, "cannot read '%s'", b->src) : walk(h, fd, &path, e);
	hash_hex(h, hex);
	return ret;
}

/* ---- the stamp: "<fingerprint> <hash of .config>" ---- */

static void stamp_text(const char *print, const char *config, struct str *out)
{
	char hex[HASH_HEX_SIZE];

	if (hash_file(config, hex, NULL) == 0)
		str_addf(out, "%s %s\n", print, hex);
}

static bool stamp_holds(const char *stamp, const char *print, const char *config)
{
	_cleanup_str_ struct str was = STR_INIT;
	_cleanup_str_ struct str is = STR_INIT;

	stamp_text(print, config, &is);
	return is.len && fs_read(stamp, 1024, &was, NULL) == 0 &&
	       str_eq(str_text(&was), str_text(&is));
}

/* ---- making it ---- */

static int run_target(struct builder *b, struct build_job *j, const char *target, struct err *e)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;

	build_make_argv(b, b->jobs, &argv);
	strv_add(&argv, target);
	return build_make_run(b, j, &argv, e);
}

/* A target that this commit's make does not know is no broken build. */
static void note_missing_target(const struct builder *b, struct build_job *j)
{
	_cleanup_free_ char *rule = xasprintf("No rule to make target '%s'", b->config);

	if (!strstr(j->error, rule) && !strstr(j->error, "Can't find default configuration"))
		return;
	j->r->outcome = TRIAL_UNTESTABLE;
	_cleanup_free_ char *kconfig = fs_join(b->src, "Kconfig");

	j->r->signature = xasprintf("this commit has no configuration '%s'%s", b->config,
				    fs_exists(kconfig)
					    ? ""
					    : ": it is no Linux kernel tree (to measure "
					      "without building: type = none in [build])");
}

static int make_base(struct builder *b, struct build_job *j, const char *config, struct err *e)
{
	if (b->config_text)
		return fs_write(config, b->config_text, strlen(b->config_text), e) < 0 ? -1 : 1;
	int ret = run_target(b, j, b->config, e);

	if (ret == 0)
		note_missing_target(b, j);
	return ret;
}

/* The release is always <version>-kregress: what the tree or a file says of it goes. */
static void force_release(struct str *merged)
{
	str_add(merged, "CONFIG_LOCALVERSION=\"\"\n# CONFIG_LOCALVERSION_AUTO is not set\n");
}

static int add_fragments(struct builder *b, const char *config, struct err *e)
{
	_cleanup_str_ struct str base = STR_INIT;
	_cleanup_str_ struct str merged = STR_INIT;

	if (fs_read(config, BUILD_FILE_MAX, &base, e) < 0)
		return -1;
	build_config_merge(str_text(&base), &b->ask, &merged);
	force_release(&merged);
	return fs_write(config, str_text(&merged), merged.len, e);
}

/* The file with the old time returns when the new one says the same: nothing to rebuild. */
static int settle_file(const char *old, const char *config, struct err *e)
{
	char a[HASH_HEX_SIZE], z[HASH_HEX_SIZE];

	if (!fs_exists(old))
		return 0;
	bool same = hash_file(old, a, NULL) == 0 && hash_file(config, z, NULL) == 0 && str_eq(a, z);

	if ((same ? rename(old, config) : unlink(old)) < 0)
		return err_sys(e, errno, "cannot replace '%s'", config);
	return 0;
}

static int make_config(struct builder *b, struct build_job *j, const char *config, struct err *e)
{
	_cleanup_free_ char *old = xasprintf("%s.kregress", config);
	int ret;

	if (rename(config, old) < 0 && errno != ENOENT)
		return err_sys(e, errno, "cannot rename '%s'", config);
	ret = make_base(b, j, config, e);
	if (ret <= 0)
		return ret;
	if (add_fragments(b, config, e) < 0)
		return -1;
	ret = run_target(b, j, "olddefconfig", e);
	if (ret <= 0)
		return ret;
	return settle_file(old, config, e) < 0 ? -1 : 1;
}

static int check(struct builder *b, struct build_job *j, const char *config, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	_cleanup_str_ struct str missing = STR_INIT;

	if (fs_read(config, BUILD_FILE_MAX, &text, e) < 0)
		return -1;
	strv_clear(&j->r->dropped);
	build_config_check(str_text(&text), text.len, &b->ask, &missing, &j->r->dropped);
	build_layout_settle(b, &j->r->dropped);
	for (size_t i = 0; i < j->r->dropped.n; i++)
		if (build_log_line(j->log_path, e, "optional, dropped by this commit: %s",
				   j->r->dropped.v[i]) < 0)
			return -1;
	if (!missing.len)
		return 1;
	j->r->outcome = TRIAL_UNTESTABLE;
	j->r->signature = xasprintf("options missing: %s", str_text(&missing));
	return build_log_line(j->log_path, e, "%s", j->r->signature);
}

int build_configure(struct builder *b, struct build_job *j, struct err *e)
{
	_cleanup_free_ char *config = fs_join(b->out, ".config");
	_cleanup_free_ char *stamp = fs_join(b->out, STAMP_NAME);
	_cleanup_str_ struct str text = STR_INIT;
	char print[HASH_HEX_SIZE];

	if (fingerprint(b, print, e) < 0)
		return -1;
	if (stamp_holds(stamp, print, config)) {
		if (build_log_line(j->log_path, e,
				   "configuration kept: no file that decides it "
				   "has changed since the last build") < 0)
			return -1;
		return check(b, j, config, e);
	}
	if (unlink(stamp) < 0 && errno != ENOENT)
		return err_sys(e, errno, "cannot remove '%s'", stamp);
	int ret = make_config(b, j, config, e);

	if (ret <= 0)
		return ret;
	stamp_text(print, config, &text);
	if (fs_write(stamp, str_text(&text), text.len, e) < 0)
		return -1;
	return check(b, j, config, e);
}
