/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One patch of a series: applied to an index, or told where it does not apply. */
#include "io/repo_series_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "io/faults.h"
#include "io/gitrun.h"

#define REJECT_MAX ((size_t)1 << 20)

/* ---- git on the temporary index ---- */

/* Exit status; what git prints on both streams is appended to @out. */
int series_git(const struct applying *a, const char *index, const char *cwd,
	       const char *const *args, struct str *out, struct err *e)
{
	_cleanup_strv_ struct strv env = STRV_INIT;
	const struct gitrun g = {
		.args = args, .env = &env, .cwd = cwd ? cwd : a->dir, .out = out, .merge = true
	};

	strv_addf(&env, "GIT_DIR=%s", repo_common_dir(a->priv));
	strv_addf(&env, "GIT_INDEX_FILE=%s", index);
	return gitrun(&g, e);
}

/* git died, or could not write: that says nothing about the patch. */
static bool is_our_failure(const char *words)
{
	static const char *const signs[] = { "\nfatal: ", "No space left on device",
					     "unable to write", "Read-only file system",
					     "Input/output error" };

	if (str_starts(words, "fatal: "))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (strstr(words, signs[i]))
			return true;
	return false;
}

int series_git_failed(const struct applying *a, const char *what, const char *words, struct err *e)
{
	bool full = strstr(words, strerror(ENOSPC)) != NULL;
	char why[200];

	gitrun_reason(words, why, sizeof(why));
	err_set(e, full ? ERR_SYS : ERR_GIT, "git %s in '%s': %s", what, repo_common_dir(a->priv),
		why);
	return full ? err_hint(e, "the disk is full: free some space and start again") : -1;
}

int series_read_tree(const struct applying *a, const char *index, struct err *e)
{
	const char *const args[] = { "read-tree", a->parent, NULL };
	_cleanup_str_ struct str out = STR_INIT;
	int status = series_git(a, index, NULL, args, &out, e);

	return status > 0 ? series_git_failed(a, "read-tree", str_text(&out), e) : status;
}

/* git apply with one more option ("-v": none). 1: it applied, 0: not, -1. */
static int apply_with(const struct applying *a, const char *index, const char *option,
		      struct str *words, struct err *e)
{
	const char *const args[] = { "apply", "--cached", "--whitespace=nowarn",
				     option,  a->patch,   NULL };
	int status = series_git(a, index, NULL, args, words, e);

	if (status <= 0)
		return status < 0 ? -1 : 1;
	return is_our_failure(str_text(words)) ? series_git_failed(a, "apply", str_text(words), e)
					       : 0;
}

/* ---- one patch ---- */

/* "mm/x.c:123", or the first thing that git says. Owned. */
static char *find_place(const char *words)
{
	static const char mark[] = "error: patch failed: ";
	const char *at = strstr(words, mark);
	char place[160];

	if (!at)
		at = strstr(words, "error: ");
	else
		at += strlen(mark);
	return xstrdup(gitrun_reason(at ? at : words, place, sizeof(place)));
}

/* With the blobs that the mail names, where the repository has them. As apply_with(). */
static int apply_three_way(struct applying *a, struct err *e)
{
	_cleanup_free_ char *index = fs_join(a->dir, "index3");
	_cleanup_str_ struct str words = STR_INIT;
	int ret = series_read_tree(a, index, e);

	if (ret == 0)
		ret = apply_with(a, index, "--3way", &words, e);
	if (ret <= 0)
		return ret;
	if (rename(index, a->index) < 0)
		return err_sys(e, errno, "cannot rename '%s'", index);
	log_info("series: patch %u/%u applied by a three-way merge", a->p->number, a->p->total);
	return 1;
}

/* Does it apply backwards? Then what it does is there. As apply_with(). */
static int is_there_already(struct applying *a, struct err *e)
{
	const char *const args[] = { "apply", "--cached", "--check", "-R", a->patch, NULL };
	_cleanup_str_ struct str words = STR_INIT;
	int status = series_git(a, a->index, NULL, args, &words, e);

	if (status != 0)
		return status < 0 ? -1 : 0;
	log_info("series: patch %u/%u is there already: an empty commit", a->p->number,
		 a->p->total);
	return 1;
}

/* Into the index. 1: done, 0: it does not apply (see a->place), -1. */
int series_patch(struct applying *a, struct err *e)
{
	_cleanup_str_ struct str words = STR_INIT;
	int ret = apply_with(a, a->index, "-v", &words, e);

	if (ret != 0)
		return ret;
	free(a->place);
	a->place = find_place(str_text(&words));
	ret = apply_three_way(a, e);
	return ret != 0 ? ret : is_there_already(a, e);
}

/* ---- a patch that does not apply ---- */

/* No way out of the folder that the rejects are made in. */
static bool is_inside(const char *path)
{
	if (*path == '/')
		return false;
	for (const char *p = path; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (str_starts(p, "..") && (!p[2] || p[2] == '/'))
			return false;
	}
	return true;
}

/* Call @fn with each path that the patch changes, of "added TAB removed TAB path NUL" lists. */
static void each_path(const struct applying *a, const struct str *list, struct str *text,
		      void (*fn)(const char *dir, const char *path, struct str *text))
{
	const char *p = str_text(list), *end = p + list->len;
	_cleanup_free_ char *dir = fs_join(a->dir, "rejects");

	for (; p < end; p += strlen(p) + 1) {
		const char *tab = strchr(p, '\t');

		tab = tab ? strchr(tab + 1, '\t') : NULL;
		/* of a rename the list has two more entries, each a path alone */
		const char *path = tab ? tab + 1 : p;

		if (*path && is_inside(path))
			fn(dir, path, text);
	}
}

static void make_parent(const char *dir, const char *path, struct str *text)
{
	_cleanup_free_ char *full = fs_join(dir, path);
	_cleanup_free_ char *parent = fs_dirname(full);

	(void)text;
	fs_mkdirs(parent, NULL);
}

static void add_reject(const char *dir, const char *path, struct str *text)
{
	_cleanup_free_ char *full = xasprintf("%s/%s.rej", dir, path);
	_cleanup_str_ struct str hunks = STR_INIT;

	if (fs_read(full, REJECT_MAX, &hunks, NULL) == 0 && hunks.len) {
		str_add(text, "\n");
		str_addmem(text, hunks.buf, hunks.len);
	}
}

/* git's words and the hunks that it rejects; all of the diff where it rejects more than hunks. */
static int explain(struct applying *a, struct str *text, struct err *e)
{
	const char *const list[] = { "apply", "--numstat", "-z", a->patch, NULL };
	const char *const args[] = { "apply",  "--cached", "--whitespace=nowarn", "--reject", "-v",
				     a->patch, NULL };
	_cleanup_free_ char *dir = fs_join(a->dir, "rejects");
	_cleanup_free_ char *index = fs_join(a->dir, "index-reject");
	_cleanup_str_ struct str paths = STR_INIT;
	size_t before;

	if (fs_mkdirs(dir, e) < 0 || series_git(a, a->index, NULL, list, &paths, e) < 0 ||
	    series_read_tree(a, index, e) < 0)
		return -1;
	each_path(a, &paths, text, make_parent);
	if (series_git(a, index, dir, args, text, e) < 0)
		return -1;
	before = text->len;
	each_path(a, &paths, text, add_reject);
	if (text->len == before) {
		str_add(text, "\n");
		str_addmem(text, a->p->diff.buf, a->p->diff.len);
	}
	return 0;
}

/* The file for the user; false: there is none. */
static bool write_reject(struct applying *a, struct err *e)
{
	_cleanup_free_ char *dir = a->s->reject_path ? fs_dirname(a->s->reject_path) : NULL;
	_cleanup_str_ struct str text = STR_INIT;

	if (!dir)
		return false;
	str_addf(&text, "series %s\npatch %u/%u %s\ndoes not apply on %s (%s)\n\n", a->s->name,
		 a->p->number, a->p->total, a->p->subject, a->s->base_name, a->parent);
	return explain(a, &text, e) == 0 && fs_mkdirs(dir, e) == 0 &&
	       fs_write(a->s->reject_path, str_text(&text), text.len, e) == 0;
}

int series_does_not_apply(struct applying *a, struct err *e)
{
	_cleanup_free_ char *subject = faults_quote(a->p->subject);
	_cleanup_free_ char *base = faults_quote(a->s->base_name);
	struct err why = ERR_INIT;
	bool written = write_reject(a, &why);

	if (why.code == ERR_INTERRUPTED) {
		*e = why;
		return -1;
	}
	err_set(e, ERR_CONFIG, "series '%s': patch %u/%u '%s' does not apply on %s: %s", a->s->name,
		a->p->number, a->p->total, subject, base, a->place);
	return written ? err_hint(e, "the reject is in '%s'", a->s->reject_path) : -1;
}
