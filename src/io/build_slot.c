/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The folder of one repository × architecture × configuration: sources, O= tree, locks. */
#include "io/build_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/sig.h"

#define SLOT_NAME_SIZE 17     /* 16 hex digits: short paths, and no chance of a clash */
#define SPACE_MIN (16u << 20) /* below this a file system counts as full */

static char *slot_path(const struct builder *b, const char *name)
{
	return fs_join(b->slot, name);
}

/* For a person who finds the folder and wonders. */
static int write_about(const struct builder *b, struct err *e)
{
	_cleanup_free_ char *path = slot_path(b, "about");
	_cleanup_str_ struct str text = STR_INIT;

	str_addf(&text,
		 "Sources and build tree of kregress; may be removed when none runs.\n"
		 "repository %s\narch %s\n",
		 repo_common_dir(b->user), b->arch_name);
	if (b->command.n) {
		str_add(&text, "command ");
		str_join_words(&text, b->command.v);
		str_add(&text, "\n");
	} else {
		str_addf(&text, "config %s\n", b->config);
	}
	for (size_t i = 0; i < b->fragments.n; i++)
		str_addf(&text, "fragment %s\n", b->fragments.v[i]);
	return fs_write(path, str_text(&text), text.len, e);
}

static int check_path(const char *cache, struct err *e)
{
	if (!strpbrk(cache, " \t:'\"\\$#%"))
		return 0;
	return err_set(e, ERR_CONFIG,
		       "the kernel's make cannot work below '%s': it has a blank, colon or quote "
		       "in its path (set XDG_CACHE_HOME to a plain one)",
		       cache);
}

/*
 * Named by what the campaign names, not by what is in the files: an edited fragment
 * then rebuilds what depends on it, instead of all in another folder (whose new paths
 * ccache would take for new sources).
 */
static void slot_name(const struct builder *b, char name[HASH_HEX_SIZE])
{
	struct hash *h = hash_new();

	hash_add_text(h, repo_common_dir(b->user));
	hash_add_text(h, b->arch_name);
	hash_add_text(h, b->config);
	for (size_t i = 0; i < b->fragments.n; i++)
		hash_add_text(h, b->fragments.v[i]);
	hash_add_text(h, NULL);
	for (size_t i = 0; i < b->command.n; i++)
		hash_add_text(h, b->command.v[i]);
	hash_hex(h, name);
	name[SLOT_NAME_SIZE - 1] = '\0';
}

int build_slot_open(struct builder *b, struct err *e)
{
	_cleanup_free_ char *base = fs_cache_dir();
	_cleanup_free_ char *cache = fs_absolute(base);
	_cleanup_free_ char *kernels = fs_join(cache, "kernels");
	char hex[HASH_HEX_SIZE];

	slot_name(b, hex);
	b->slot = xasprintf("%s/slots/%s", cache, hex);
	b->src = slot_path(b, "src");
	b->out = slot_path(b, "out");
	b->index = slot_path(b, "index");

	_cleanup_free_ char *lock = slot_path(b, "lock");

	if (check_path(cache, e) < 0 || fs_mkdirs(b->src, e) < 0 || fs_mkdirs(b->out, e) < 0 ||
	    fs_lock_wait(lock, "the same sources", &b->lock_fd, e) < 0 || write_about(b, e) < 0 ||
	    repo_open_ours(b->user, &b->priv, e) < 0)
		return -1;
	return build_cache_open(&b->cache, kernels, hex, b->cache.limit, e);
}

/* ---- state: "make" or "built", and the boot of this host in which it was so ---- */

static void host_boot(struct str *out)
{
	fs_read("/proc/sys/kernel/random/boot_id", 64, out, NULL);
}

static int write_state(const struct builder *b, const char *state, struct err *e)
{
	_cleanup_free_ char *path = slot_path(b, "state");
	_cleanup_str_ struct str text = STR_INIT;

	str_addf(&text, "%s ", state);
	host_boot(&text);
	return fs_write(path, str_text(&text), text.len, e);
}

static int remove_slot_tree(const struct builder *b, const char *name, struct err *e)
{
	_cleanup_free_ char *path = slot_path(b, name);

	return fs_remove_tree(path, e);
}

static int rename_in_slot(const struct builder *b, const char *from, const char *to, struct err *e)
{
	_cleanup_free_ char *a = slot_path(b, from);
	_cleanup_free_ char *z = slot_path(b, to);

	if (rename(a, z) < 0 && errno != ENOENT)
		return err_sys(e, errno, "cannot rename '%s'", a);
	return 0;
}

/*
 * Renamed first: a compiler that outlived a killed kregress then goes on in a
 * folder that nobody uses.
 */
static int discard_out(const struct builder *b, struct err *e)
{
	if (remove_slot_tree(b, "out.dead", e) < 0 || rename_in_slot(b, "out", "out.dead", e) < 0)
		return -1;
	remove_slot_tree(b, "out.dead", NULL);
	return fs_mkdirs(b->out, e);
}

static int repair(struct builder *b, struct err *e)
{
	_cleanup_free_ char *path = slot_path(b, "state");
	_cleanup_str_ struct str state = STR_INIT;
	_cleanup_str_ struct str boot = STR_INIT;

	if (!fs_exists(path))
		return 0;
	fs_read(path, 256, &state, NULL);
	host_boot(&boot);
	/* A make that was killed leaves half-written objects that look finished. */
	bool cut_off = !str_starts(str_text(&state), "built ");
	/* After a crash of the host, so may files that were whole but not on the disk yet. */
	bool crashed = !cut_off && !str_eq(str_text(&state) + strlen("built "), str_text(&boot));

	if (!cut_off && !crashed)
		return 0;
	log_info("the last build in '%s' was cut off: its objects are made again", b->slot);
	if (unlink(b->index) < 0 && errno != ENOENT)
		return err_sys(e, errno, "cannot remove '%s'", b->index);
	if (remove_slot_tree(b, "out.aside", e) < 0)
		return -1;
	return discard_out(b, e);
}

int build_slot_begin(struct builder *b, struct err *e)
{
	if (build_slot_space(b, e) < 0 || repair(b, e) < 0 ||
	    remove_slot_tree(b, "out.dead", e) < 0 || fs_mkdirs(b->out, e) < 0)
		return -1;
	b->orderly = true;
	b->wrote = true;
	return write_state(b, "make", e);
}

void build_slot_end(struct builder *b)
{
	if (b->orderly)
		write_state(b, "built", NULL); /* failing costs a rebuild, no more */
}

void build_slot_close(struct builder *b)
{
	if (!b->slot)
		return;
	_cleanup_free_ char *path = slot_path(b, "state");

	/* On disk now: from here a crash of the host cannot hurt it. */
	if (b->wrote && b->orderly && b->lock_fd >= 0 && syncfs(b->lock_fd) == 0)
		unlink(path);
	str_closep(&b->lock_fd);
}

int build_slot_set_aside(struct builder *b, struct err *e)
{
	if (remove_slot_tree(b, "out.aside", e) < 0 || rename_in_slot(b, "out", "out.aside", e) < 0)
		return -1;
	return fs_mkdirs(b->out, e);
}

int build_slot_keep(struct builder *b, bool fresh, struct err *e)
{
	if (fresh)
		return remove_slot_tree(b, "out.aside", e);
	if (remove_slot_tree(b, "out.dead", e) < 0 || rename_in_slot(b, "out", "out.dead", e) < 0 ||
	    rename_in_slot(b, "out.aside", "out", e) < 0)
		return -1;
	return remove_slot_tree(b, "out.dead", e);
}

int build_slot_space(const struct builder *b, struct err *e)
{
	uint64_t left = fs_free_bytes(b->slot);

	if (left >= SPACE_MIN)
		return 0;
	return err_set(e, ERR_SYS,
		       "disk full: %llu kB are left for building in '%s' (free some, or set "
		       "XDG_CACHE_HOME to a larger file system)",
		       (unsigned long long)(left / 1024), b->slot);
}
