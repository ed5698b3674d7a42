/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patches over the sources: applied where they apply, reverted after. */
#include "io/build_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"

/*
 * make goes by times, so these must be right in both directions. While sources
 * are patched the originals wait in <slot>/orig, hard links with their own times.
 * Reverting moves the patched files to <slot>/patched and the originals back. If the
 * next patched file has the same text, the old one returns with its old time and
 * nothing is compiled for it; if the file is not patched (alike) next time, it gets
 * the present time, because objects were made from the patched text since.
 */

static char *in_slot(const struct builder *b, const char *folder, const char *path)
{
	return xasprintf("%s/%s/%s", b->slot, folder, path);
}

bool build_patch_is_for(const struct builder *b, size_t i, const struct commit_id *commit)
{
	return !b->patch_is_for || b->patch_is_for(b->patch_cookie, i, commit);
}

/* git apply with options, in the sources. Exit status, or -1. @merge: complaints into @out too. */
static int git_apply(struct builder *b, const char *patch, const char *const *options,
		     struct str *out, bool merge, struct err *e)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;
	struct proc_result res;

	strv_add(&argv, "git");
	strv_add(&argv, "apply");
	for (; *options; options++)
		strv_add(&argv, *options);
	strv_add(&argv, "--");
	strv_add(&argv, patch);
	struct proc_opts o = { .argv = argv.v,
			       .env = &b->env,
			       .cwd = b->src,
			       .out = out,
			       .merge_stderr = merge,
			       .timeout_ms = 60000,
			       .max_output = BUILD_FILE_MAX };

	if (proc_run(&o, &res, e) < 0)
		return -1;
	if (res.end == PROC_NO_START)
		return err_set(e, ERR_LAB, "cannot run 'git' (install the package 'git')");
	if (res.end != PROC_EXITED) {
		char how[64];

		return err_set(e, ERR_SYS, "git apply of '%s': %s", patch,
			       proc_describe(&res, how, sizeof(how)));
	}
	return res.status;
}

/* @key and @name: where the campaign file has it. */
static int check_one(struct builder *b, const char *key, const char *name, const char *patch,
		     struct err *e)
{
	static const char *const options[] = { "--numstat", NULL };
	int status = git_apply(b, patch, options, NULL, false, e);

	if (status > 0)
		return err_set(e, ERR_CONFIG,
			       "%s%s in [build]: git apply does not take '%s' for a patch", key,
			       name, patch);
	return status;
}

int build_patch_check(struct builder *b, struct err *e)
{
	for (size_t i = 0; i < b->patches.n; i++)
		if (check_one(b, "patches", "", b->patches.v[i], e) < 0)
			return -1;
	for (size_t i = 0; i < b->n_patch; i++)
		if (check_one(b, "patch.", b->patch[i].name, b->patch[i].file, e) < 0)
			return -1;
	return 0;
}

static int make_parent(const char *path, struct err *e)
{
	_cleanup_free_ char *dir = fs_dirname(path);

	return fs_mkdirs(dir, e);
}

/* Keep the original of one path; of a path that is new there is none. */
static int save_original(struct builder *b, const char *path, struct err *e)
{
	_cleanup_free_ char *src = fs_join(b->src, path);
	_cleanup_free_ char *orig = in_slot(b, "orig", path);

	if (strv_has(&b->patched, path))
		return 0;
	if (make_parent(orig, e) < 0)
		return -1;
	strv_add(&b->patched, path);
	if (link(src, orig) == 0 || errno == ENOENT)
		return 0;
	return fs_copy(src, orig, e); /* a file system without hard links */
}

/* @list: "added TAB removed TAB path NUL" each. */
static int save_originals(struct builder *b, const struct str *list, struct err *e)
{
	const char *p = str_text(list), *end = p + list->len;

	while (p < end) {
		const char *tab = strchr(p, '\t');

		tab = tab ? strchr(tab + 1, '\t') : NULL;
		if (tab && tab[1] && save_original(b, tab + 1, e) < 0)
			return -1;
		p += strlen(p) + 1;
	}
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* git's first error: "patch failed: main.c:12". It may warn of blanks before. Its length. */
static int first_complaint(const struct str *said, const char **text)
{
	const char *s = str_text(said), *next;

	while (!str_starts(s, "error: ") && (next = strchr(s, '\n')))
		s = next + 1;
	s = str_starts(s, "error: ") ? s + strlen("error: ") : str_text(said);
	*text = s;
	return (int)strcspn(s, "\n");
}

/* Does it apply? 1, 0 with what git says of it in @said, -1. */
static int applies(struct builder *b, const char *patch, struct str *said, struct err *e)
{
	static const char *const check[] = { "--check", NULL };
	int status = git_apply(b, patch, check, said, true, e);
	const char *text;
	int n = first_complaint(said, &text);

	/* Other than 1: it is not there any more, or no patch any more. */
	if (status > 1)
		return err_set(e, ERR_SYS, "cannot apply patch '%s': git: %.*s", patch, n, text);
	return status < 0 ? -1 : !status;
}

static int apply_one(struct builder *b, struct build_job *j, const char *patch, struct err *e)
{
	static const char *const list[] = { "--numstat", "-z", NULL };
	static const char *const apply[] = { NULL };
	_cleanup_str_ struct str paths = STR_INIT;
	const char *name = base_name(patch);
	int status = git_apply(b, patch, list, &paths, false, e);

	if (status < 0 || save_originals(b, &paths, e) < 0)
		return -1;
	if (status == 0)
		status = git_apply(b, patch, apply, NULL, false, e);
	if (status < 0)
		return -1;
	if (status > 0)
		return err_set(e, ERR_SYS,
			       "git apply fails with exit status %d on '%s', which it "
			       "said applies (is the disk full?)",
			       status, patch);
	_cleanup_str_ struct str shown = STR_INIT;

	str_neutralise(&shown, name, strlen(name), false);
	strv_add(&j->r->patches_applied, str_text(&shown));
	return build_log_line(j->log_path, e, "patch %s applied", name);
}

/* Where it applies. */
static int try_one(struct builder *b, struct build_job *j, const char *patch, struct err *e)
{
	_cleanup_str_ struct str said = STR_INIT;
	int ret = applies(b, patch, &said, e);

	if (ret > 0)
		return apply_one(b, j, patch, e);
	return ret < 0 ? -1
		       : build_log_line(j->log_path, e, "patch %s does not apply here",
					base_name(patch));
}

/* The key of the kernel says which bytes went into it. */
static int check_unchanged(const struct build_named_patch *p, struct err *e)
{
	char hex[HASH_HEX_SIZE];

	if (hash_file(p->file, hex, e) < 0)
		return err_wrap(e, "patch.%s in [build]", p->name);
	if (str_eq(hex, p->hash))
		return 0;
	return err_set(e, ERR_CONFIG,
		       "patch.%s in [build]: '%s' was changed meanwhile (start again to use it)",
		       p->name, p->file);
}

static int try_named(struct builder *b, struct build_job *j, const struct build_named_patch *p,
		     struct err *e)
{
	_cleanup_str_ struct str said = STR_INIT;
	const char *text;
	int n, ret;

	if (check_unchanged(p, e) < 0)
		return -1;
	if (!p->must)
		return try_one(b, j, p->file, e);
	ret = applies(b, p->file, &said, e);
	if (ret != 0)
		return ret < 0 ? -1 : apply_one(b, j, p->file, e);
	n = first_complaint(&said, &text);
	n = n < BUILD_SIGNATURE_MAX / 2 ? n : BUILD_SIGNATURE_MAX / 2;
	j->misfit = true;
	j->r->outcome = TRIAL_UNTESTABLE;
	j->r->signature = xasprintf("patch %s does not apply: %.200s: %.*s", p->name,
				    base_name(p->file), n, text);
	return build_log_line(j->log_path, e, "%s", j->r->signature);
}

static bool same_bytes(const char *a, const char *b)
{
	char x[HASH_HEX_SIZE], y[HASH_HEX_SIZE];

	return hash_file(a, x, NULL) == 0 && hash_file(b, y, NULL) == 0 && str_eq(x, y);
}

/* Files patched as the last time get their old times back. */
static int restore_times(struct builder *b, struct err *e)
{
	for (size_t i = 0; i < b->patched.n; i++) {
		_cleanup_free_ char *src = fs_join(b->src, b->patched.v[i]);
		_cleanup_free_ char *last = in_slot(b, "patched", b->patched.v[i]);

		if (fs_exists(last) && same_bytes(src, last) && rename(last, src) < 0)
			return err_sys(e, errno, "cannot rename '%s'", last);
	}
	return 0;
}

/* What is still in <slot>/patched is not patched alike now: its sources count as new. */
static int touch_others(struct builder *b, struct err *e)
{
	_cleanup_free_ char *top = fs_join(b->slot, "patched");
	char *const paths[] = { top, NULL };

	if (!fs_exists(top))
		return 0;
	FTS *t = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);

	if (!t)
		return err_sys(e, errno, "cannot read '%s'", top);
	for (FTSENT *f; (f = fts_read(t));) {
		if (f->fts_info == FTS_D || f->fts_info == FTS_DP)
			continue;
		_cleanup_free_ char *src = fs_join(b->src, f->fts_path + strlen(top) + 1);

		utimensat(AT_FDCWD, src, NULL, AT_SYMLINK_NOFOLLOW); /* may be gone: fine */
	}
	fts_close(t);
	return fs_remove_tree(top, e);
}

int build_patch_apply(struct builder *b, struct build_job *j, struct err *e)
{
	_cleanup_free_ char *orig = fs_join(b->slot, "orig");

	strv_clear(&b->patched);
	if (fs_remove_tree(orig, e) < 0)
		return -1;
	for (size_t i = 0; i < b->patches.n; i++)
		if (try_one(b, j, b->patches.v[i], e) < 0)
			return -1;
	for (size_t i = 0; i < b->n_patch && !j->misfit; i++)
		if (build_patch_is_for(b, i, j->id) && try_named(b, j, &b->patch[i], e) < 0)
			return -1;
	/* Nothing will be made of what is there: what was made last stays what times go by. */
	if (j->misfit)
		return 0;
	return restore_times(b, e) < 0 ? -1 : touch_others(b, e);
}

void build_patch_revert(struct builder *b)
{
	for (size_t i = 0; i < b->patched.n; i++) {
		_cleanup_free_ char *src = fs_join(b->src, b->patched.v[i]);
		_cleanup_free_ char *orig = in_slot(b, "orig", b->patched.v[i]);
		_cleanup_free_ char *last = in_slot(b, "patched", b->patched.v[i]);

		if (make_parent(last, NULL) < 0 || (rename(src, last) < 0 && errno != ENOENT) ||
		    (rename(orig, src) < 0 && errno != ENOENT))
			log_warn("cannot revert '%s': the next checkout restores it", src);
	}
	strv_clear(&b->patched);
}
