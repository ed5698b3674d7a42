/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finished kernels, keyed by content: insert at once, verify on use, oldest out first. */
#include "io/build_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"

#define META_MAX BUILD_FILE_MAX

static char *entry_path(const struct build_cache *c, const char *key)
{
	return fs_join(c->dir, key);
}

/* Temporary names hold our slot's name: its lock makes them ours alone. */
static char *temp_path(const struct build_cache *c, const char *what)
{
	return xasprintf("%s/.%s-%s", c->dir, what, c->tag);
}

int build_cache_open(struct build_cache *c, const char *dir, const char *tag, uint64_t limit,
		     struct err *e)
{
	*c = (struct build_cache){ .dir = xstrdup(dir), .tag = xstrdup(tag), .limit = limit };
	_cleanup_free_ char *fresh = temp_path(c, "new");
	_cleanup_free_ char *dead = temp_path(c, "old");

	if (fs_mkdirs(dir, e) < 0 || fs_remove_tree(fresh, e) < 0 || fs_remove_tree(dead, e) < 0)
		return -1;
	return 0;
}

void build_cache_close(struct build_cache *c)
{
	for (size_t i = 0; i < c->n_held; i++)
		close(c->held[i]);
	free(c->held);
	strv_release(&c->held_keys);
	free(c->dir);
	free(c->tag);
	*c = (struct build_cache){ .dir = NULL };
}

bool build_cache_has(const struct build_cache *c, const char *key)
{
	_cleanup_free_ char *entry = entry_path(c, key);
	_cleanup_free_ char *meta = fs_join(entry, "meta");

	return fs_exists(meta);
}

/* ---- meta: lines NAME=value ---- */

static void add_file(struct str *meta, const char *field, const char *name, const char *path,
		     char hex[HASH_HEX_SIZE], struct err *e, int *ret)
{
	if (!path || *ret < 0)
		return;
	*ret = hash_file(path, hex, e);
	str_addf(meta, "%s=%s %s\n", field, *ret < 0 ? "" : hex, name);
}

/*
 * Which state the packages of this machine are in. A failed build may have failed for
 * want of one, in words that build_log_fault() does not know: it counts only as long as
 * nothing was installed or removed.
 */
static void host_state(struct str *out)
{
	static const char *const places[] = { "/var/lib/dpkg/status", "/var/lib/rpm",
					      "/usr/lib/sysimage/rpm", "/var/lib/pacman/local",
					      "/lib/apk/db/installed" };
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (stat(places[i], &st) == 0)
			str_addf(out, "%zu:%lld.%09ld ", i, (long long)st.st_mtim.tv_sec,
				 st.st_mtim.tv_nsec);
}

static void add_host_state(struct str *meta)
{
	_cleanup_str_ struct str state = STR_INIT;

	host_state(&state);
	str_addf(meta, "host=%s\n", str_text(&state));
}

static bool host_has_changed(const char *then)
{
	_cleanup_str_ struct str now = STR_INIT;

	host_state(&now);
	return !str_eq(then, str_text(&now));
}

static int format_meta(const struct build_artifacts *a, const struct build_result *r,
		       struct str *meta, struct err *e)
{
	char hex[HASH_HEX_SIZE];
	int ret = 0;

	str_addf(meta, "outcome=%s\n", trial_outcome_name(r->outcome));
	add_file(meta, "image", a->image_name, a->image, hex, e, &ret);
	add_file(meta, "vmlinux", "vmlinux", a->vmlinux, hex, e, &ret);
	add_file(meta, "modules", "modules.tar", a->modules, hex, e, &ret);
	add_file(meta, "config", "config", a->config, hex, e, &ret);
	if (r->outcome == TRIAL_BUILD_FAILED)
		add_host_state(meta);
	if (r->release)
		str_addf(meta, "release=%s\n", r->release);
	if (r->build_id[0])
		str_addf(meta, "build_id=%s\n", r->build_id);
	if (r->signature)
		str_addf(meta, "signature=%s\n", r->signature);
	for (size_t i = 0; i < r->dropped.n; i++)
		str_addf(meta, "dropped=%s\n", r->dropped.v[i]);
	for (size_t i = 0; i < r->patches_applied.n; i++)
		str_addf(meta, "patch=%s\n", r->patches_applied.v[i]);
	return ret;
}

/* "<64 hex> <name>" of an entry's file: is it there, and as it was put there? */
static bool file_is_whole(const char *entry, const char *value, char **path,
			  char hash[HASH_HEX_SIZE])
{
	char hex[HASH_HEX_SIZE];

	if (strlen(value) < HASH_HEX_SIZE + 1 || value[HASH_HEX_SIZE - 1] != ' ' ||
	    strchr(value + HASH_HEX_SIZE, '/'))
		return false;
	free(*path);
	*path = fs_join(entry, value + HASH_HEX_SIZE);
	if (hash_file(*path, hex, NULL) < 0 || strncmp(hex, value, HASH_HEX_SIZE - 1) != 0)
		return false;
	if (hash)
		memcpy(hash, hex, HASH_HEX_SIZE);
	return true;
}

static void set_text(char **p, const char *value)
{
	free(*p);
	*p = xstrdup(value);
}

/* They come after the image: with them it is another kernel. */
static bool take_modules(const char *entry, const char *value, struct build_result *r)
{
	char both[2 * HASH_HEX_SIZE], hex[HASH_HEX_SIZE];

	if (!file_is_whole(entry, value, &r->modules, hex))
		return false;
	snprintf(both, sizeof(both), "%s %s", r->image_hash, hex);
	hash_bytes(both, strlen(both), r->image_hash);
	return true;
}

static bool take_field(const char *entry, const char *name, const char *value,
		       struct build_result *r)
{
	if (str_eq(name, "outcome"))
		return (r->outcome = trial_outcome_parse(value)) != TRIAL_UNSET;
	if (str_eq(name, "image"))
		return file_is_whole(entry, value, &r->image, r->image_hash);
	if (str_eq(name, "vmlinux"))
		return file_is_whole(entry, value, &r->vmlinux, NULL);
	if (str_eq(name, "modules"))
		return take_modules(entry, value, r);
	if (str_eq(name, "config"))
		return file_is_whole(entry, value, &r->config, NULL);
	if (str_eq(name, "release"))
		set_text(&r->release, value);
	else if (str_eq(name, "signature"))
		set_text(&r->signature, value);
	else if (str_eq(name, "build_id"))
		snprintf(r->build_id, sizeof(r->build_id), "%s", value);
	else if (str_eq(name, "dropped"))
		strv_add(&r->dropped, value);
	else if (str_eq(name, "patch"))
		strv_add(&r->patches_applied, value);
	return true;
}

/* The last line of meta is the hash of all before it. */
static bool meta_is_whole(struct str *meta)
{
	char hex[HASH_HEX_SIZE];
	const size_t tail = 6 + HASH_HEX_SIZE; /* "check=", hash, newline */

	if (meta->len <= tail || memchr(meta->buf, '\0', meta->len))
		return false;
	size_t n = meta->len - tail;

	hash_bytes(meta->buf, n, hex);
	if (strncmp(meta->buf + n, "check=", 6) != 0 ||
	    strncmp(meta->buf + n + 6, hex, HASH_HEX_SIZE - 1) != 0)
		return false;
	meta->buf[n] = '\0';
	return true;
}

/* @stale: whole, but of no use any more. */
static bool read_entry(const char *entry, struct build_result *r, bool *stale)
{
	_cleanup_free_ char *path = fs_join(entry, "meta");
	_cleanup_str_ struct str meta = STR_INIT;
	char *save = NULL;

	if (fs_read(path, META_MAX, &meta, NULL) < 0 || !meta_is_whole(&meta))
		return false;
	for (char *l = strtok_r(meta.buf, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(l, '=');

		if (!value)
			return false;
		*value++ = '\0';
		if (str_eq(l, "host"))
			*stale = host_has_changed(value);
		else if (!take_field(entry, l, value, r))
			return false;
	}
	return r->outcome != TRIAL_UNSET && (r->outcome != TRIAL_OK || r->image);
}

/* ---- locks: an entry in use is not removed ---- */

/*
 * Lock the entry's meta: the descriptor that holds the lock, -1: it is not there (or
 * being removed). The lock counts only if the name still leads to the file locked.
 */
static int lock_entry(const char *entry, int how)
{
	_cleanup_free_ char *path = fs_join(entry, "meta");
	struct stat opened, named;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, how | LOCK_NB) == 0 && fstat(fd, &opened) == 0 &&
	    stat(path, &named) == 0 && opened.st_ino == named.st_ino)
		return fd;
	str_closep(&fd);
	return -1;
}

/* Until build_cache_close(); once is enough. */
static void hold(struct build_cache *c, const char *key, int *fd)
{
	if (strv_has(&c->held_keys, key)) {
		str_closep(fd);
		return;
	}
	strv_add(&c->held_keys, key);
	xgrow(&c->held, &c->room_held, c->n_held + 1, sizeof(*c->held));
	c->held[c->n_held++] = *fd;
	*fd = -1;
}

/* Out of the way in one step, then piece by piece. */
static int remove_entry(const struct build_cache *c, const char *entry, struct err *e)
{
	_cleanup_free_ char *dead = temp_path(c, "old");

	if (fs_remove_tree(dead, e) < 0)
		return -1;
	if (rename(entry, dead) < 0 && errno != ENOENT)
		return err_sys(e, errno, "cannot remove '%s'", entry);
	return fs_remove_tree(dead, e);
}

/* What a caller has set of @r and keeps. */
static void forget_entry(struct build_result *r)
{
	struct build_result kept = { .log_path = r->log_path,
				     .seconds = r->seconds,
				     .seconds_make = r->seconds_make };

	memcpy(kept.key, r->key, sizeof(kept.key));
	r->log_path = NULL;
	build_result_release(r);
	*r = kept;
}

static char *entry_log(const char *entry)
{
	_cleanup_free_ char *path = fs_join(entry, "log");
	_cleanup_str_ struct str text = STR_INIT;

	return fs_read_tail(path, BUILD_LOG_TAIL, &text, NULL) < 0 ? NULL : str_detach(&text);
}

int build_cache_get(struct build_cache *c, const char *key, struct build_result *r, char **log,
		    struct err *e)
{
	_cleanup_free_ char *entry = entry_path(c, key);
	_cleanup_close_ int fd = lock_entry(entry, LOCK_SH);
	bool stale = false;

	if (fd < 0)
		return 0;
	bool whole = read_entry(entry, r, &stale);

	if (!whole || stale) {
		if (!whole)
			log_warn("the cached kernel '%s' is damaged: it is dropped and built "
				 "again",
				 entry);
		else
			log_info("a build that failed is tried again: packages of this machine "
				 "have changed since");
		forget_entry(r);
		return remove_entry(c, entry, e);
	}
	futimens(fd, NULL); /* last use; a failure costs no more than an early eviction */
	*log = entry_log(entry);
	hold(c, key, &fd);
	return 1;
}

static int copy_in(const char *dir, const char *name, const char *from, struct err *e)
{
	if (!from)
		return 0;
	_cleanup_free_ char *to = fs_join(dir, name);

	return fs_copy(from, to, e);
}

static int fill_entry(const char *dir, const struct build_artifacts *a,
		      const struct build_result *r, struct err *e)
{
	_cleanup_free_ char *path = fs_join(dir, "meta");
	_cleanup_str_ struct str meta = STR_INIT;
	char hex[HASH_HEX_SIZE];

	if (fs_mkdirs(dir, e) < 0 || copy_in(dir, a->image_name, a->image, e) < 0 ||
	    copy_in(dir, "vmlinux", a->vmlinux, e) < 0 ||
	    copy_in(dir, "modules.tar", a->modules, e) < 0 ||
	    copy_in(dir, "config", a->config, e) < 0 || copy_in(dir, "log", a->log, e) < 0 ||
	    copy_in(dir, "used", a->used, e) < 0 || format_meta(a, r, &meta, e) < 0)
		return -1;
	hash_bytes(meta.buf, meta.len, hex);
	str_addf(&meta, "check=%s\n", hex);
	return fs_write(path, meta.buf, meta.len, e);
}

static void sync_dir(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		fsync(fd);
}

int build_cache_put(struct build_cache *c, const char *key, const struct build_artifacts *a,
		    const struct build_result *r, struct err *e)
{
	_cleanup_free_ char *entry = entry_path(c, key);
	_cleanup_free_ char *fresh = temp_path(c, "new");

	if (fs_remove_tree(fresh, e) < 0)
		return -1;
	if (fill_entry(fresh, a, r, e) < 0) {
		fs_remove_tree(fresh, NULL);
		return err_wrap(e, "cannot put a kernel into the cache");
	}
	sync_dir(fresh);
	if (rename(fresh, entry) < 0) {
		int code = errno;

		fs_remove_tree(fresh, NULL);
		if (code != ENOTEMPTY && code != EEXIST)
			return err_sys(e, code, "cannot put a kernel into the cache as '%s'",
				       entry);
	}
	sync_dir(c->dir);
	return build_cache_trim(c, key, e);
}

/* ---- size limit ---- */

struct entry {
	char *path;
	uint64_t bytes;
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct entry *)a)->used;
	const struct timespec *y = &((const struct entry *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return (x->tv_sec > y->tv_sec) - (x->tv_sec < y->tv_sec);
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static size_t list_entries(const struct build_cache *c, struct entry **out, struct err *e)
{
	DIR *d = opendir(c->dir);
	size_t n = 0, room = 0;

	*out = NULL;
	if (!d) {
		err_sys(e, errno, "cannot read '%s'", c->dir);
		return SIZE_MAX;
	}
	for (struct dirent *de; (de = readdir(d));) {
		_cleanup_free_ char *path = fs_join(c->dir, de->d_name);
		_cleanup_free_ char *meta = fs_join(path, "meta");
		struct stat st;

		if (de->d_name[0] == '.' || stat(meta, &st) < 0)
			continue;
		xgrow(out, &room, n + 1, sizeof(**out));
		(*out)[n++] = (struct entry){ fs_join(c->dir, de->d_name), fs_tree_bytes(path),
					      st.st_mtim };
	}
	closedir(d);
	return n;
}

static int evict(struct build_cache *c, const struct entry *en, const char *keep, uint64_t *total,
		 struct err *e)
{
	_cleanup_close_ int fd = str_eq(en->path, keep) ? -1 : lock_entry(en->path, LOCK_EX);

	if (fd < 0)
		return 0;
	log_verbose("cache above its limit: '%s' goes", en->path);
	*total -= en->bytes;
	return remove_entry(c, en->path, e);
}

int build_cache_trim(struct build_cache *c, const char *key, struct err *e)
{
	_cleanup_free_ char *keep = entry_path(c, key);
	_cleanup_free_ struct entry *v = NULL;
	size_t n = list_entries(c, &v, e);
	uint64_t total = 0;
	int ret = 0;

	if (n == SIZE_MAX)
		return -1;
	for (size_t i = 0; i < n; i++)
		total += v[i].bytes;
	if (n)
		qsort(v, n, sizeof(*v), by_use);
	for (size_t i = 0; i < n && total > c->limit && ret == 0; i++)
		ret = evict(c, &v[i], keep, &total, e);
	for (size_t i = 0; i < n; i++)
		free(v[i].path);
	return ret;
}
