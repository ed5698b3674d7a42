/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A revert in a work tree by the git program, left to a person where it conflicts. */
#include "io/repo_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "io/gitrun.h"

/* What git runs on. */
struct place {
	struct repo *priv;
	const char *dir;
	struct strv env;
};

static void place_release(struct place *p)
{
	strv_release(&p->env);
}

/* Exit status, or -1; @merge: its complaints into @out too. */
static int git(const struct place *p, const char *const *args, bool merge, struct str *out,
	       struct err *e)
{
	const struct gitrun g = {
		.args = args, .env = &p->env, .cwd = p->dir, .out = out, .merge = merge
	};

	return gitrun(&g, e);
}

static int failed(const struct place *p, const char *what, const char *words, struct err *e)
{
	bool full = strstr(words, strerror(ENOSPC)) != NULL;
	char why[200];

	err_set(e, full ? ERR_SYS : ERR_GIT, "git %s in '%s': %s", what, p->dir,
		gitrun_reason(words, why, sizeof(why)));
	return full ? err_hint(e, "the disk is full: free some space and start again") : -1;
}

/* One that has no reason to fail. */
static int must(const struct place *p, const char *const *args, struct str *out, struct err *e)
{
	int status = git(p, args, true, out, e);

	return status > 0 ? failed(p, args[0], str_text(out), e) : status;
}

/* Objects are borrowed from ours and from the user's, as we borrow them. */
static int borrow(const struct place *p, struct err *e)
{
	_cleanup_free_ char *file = fs_join(p->dir, ".git/objects/info/alternates");
	_cleanup_free_ char *dir = fs_dirname(file);
	_cleanup_str_ struct str text = STR_INIT;

	str_addf(&text, "%s/objects\n", p->priv->common_dir);
	if (p->priv->names)
		str_addf(&text, "%s/objects\n", p->priv->names->common_dir);
	return fs_mkdirs(dir, e) < 0 || fs_write(file, str_text(&text), text.len, e) < 0 ? -1 : 0;
}

/* A repository of its own: there a person can look around, end the revert and make a diff. */
static int make_tree(const struct place *p, const struct commit_id *onto, struct err *e)
{
	static const char *const init[] = { "init", "-q", NULL };
	char hex[COMMIT_HEX + 1];
	const char *const checkout[] = { "checkout", "-q", "--detach", commit_hex(onto, hex),
					 NULL };
	_cleanup_str_ struct str words = STR_INIT;

	if (fs_remove_tree(p->dir, e) < 0 || fs_mkdirs(p->dir, e) < 0 ||
	    must(p, init, &words, e) < 0 || borrow(p, e) < 0)
		return -1;
	str_clear(&words);
	return must(p, checkout, &words, e);
}

/* 1: it is in the index, 0: conflicts, -1. */
static int try_revert(const struct place *p, const struct commit_id *culprit, bool merge,
		      struct err *e)
{
	char hex[COMMIT_HEX + 1];
	const char *const args[] = { "-c",
				     "merge.renameLimit=20000",
				     "revert",
				     "--no-commit",
				     commit_hex(culprit, hex),
				     merge ? "-m" : NULL,
				     "1",
				     NULL };
	_cleanup_str_ struct str words = STR_INIT;
	int status = git(p, args, true, &words, e);

	if (status <= 0)
		return status < 0 ? -1 : 1;
	return status == 1 ? 0 : failed(p, "revert", str_text(&words), e);
}

static int list_unmerged(const struct place *p, struct strv *conflicts, struct err *e)
{
	static const char *const args[] = { "diff", "--name-only", "--diff-filter=U", "-z", NULL };
	_cleanup_str_ struct str list = STR_INIT;
	int status = git(p, args, false, &list, e);

	if (status != 0)
		return status < 0 ? -1 : failed(p, "diff", "", e);
	for (size_t at = 0; at < list.len; at += strlen(list.buf + at) + 1)
		if (!strv_has(conflicts, list.buf + at))
			strv_add(conflicts, list.buf + at);
	return 0;
}

static int commit_index(const struct place *p, const struct commit_id *culprit,
			const struct commit_id *onto, struct commit_id *out, struct err *e)
{
	static const char *const args[] = { "write-tree", NULL };
	_cleanup_str_ struct str name = STR_INIT;
	char hex[COMMIT_HEX + 1], text[128];
	struct commit_id tree;

	if (must(p, args, &name, e) < 0)
		return -1;
	if (name.len && name.buf[name.len - 1] == '\n')
		name.buf[--name.len] = '\0';
	if (!commit_parse(str_text(&name), &tree))
		return err_set(e, ERR_GIT, "git write-tree gives no name of a tree");
	snprintf(text, sizeof(text), "Revert %s\n", commit_hex(culprit, hex));
	return rework_commit(p->priv, &tree, onto, text, out, e);
}

int repo_revert_tree(struct repo *priv, const struct commit_id *culprit,
		     const struct commit_id *onto, const char *dir, struct commit_id *out,
		     struct strv *conflicts, struct err *e)
{
	_cleanup_(repo_commit_release) struct repo_commit rc = { .subject = NULL };
	_cleanup_(place_release) struct place p = { .priv = priv, .dir = dir };
	int ret;

	/* what git merges is for the private repository, which outlives the folder */
	strv_addf(&p.env, "GIT_OBJECT_DIRECTORY=%s/objects", priv->common_dir);
	/* an empty folder below somebody's work tree is not that work tree */
	strv_addf(&p.env, "GIT_CEILING_DIRECTORIES=%s", dir);
	if (repo_commit_read(priv, culprit, &rc, e) < 0 || make_tree(&p, onto, e) < 0)
		return -1;
	ret = try_revert(&p, culprit, rc.parents > 1, e);
	if (ret <= 0)
		return ret < 0 ? -1 : list_unmerged(&p, conflicts, e);
	ret = commit_index(&p, culprit, onto, out, e);
	return ret < 0 || fs_remove_tree(dir, e) < 0 ? -1 : ret;
}
