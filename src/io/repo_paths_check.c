/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths of a campaign that never existed: a slip of the pen, which git takes in silence. */
#include <git2.h>
#include <stdlib.h>

#include "io/repo_internal.h"

static void free_paths(struct repo_paths **p)
{
	repo_paths_free(*p);
}

/* 1: @path names something in the tree of @id, 0: not, -1. */
static int is_in_tree(struct repo *r, struct repo_paths *p, const struct commit_id *id,
		      struct err *e)
{
	_cleanup_(repo_commit_release) struct repo_commit c = { .subject = NULL };
	uint32_t number;

	if (repo_commit_read(r, id, &c, e) < 0 || repo_paths_content(p, &c.tree, &number, e) < 0)
		return -1;
	return number != 0;
}

/* It may have come and gone between the ends. */
static int is_touched(struct repo *r, const struct repo_range *range, const struct strv *path,
		      struct err *e)
{
	_cleanup_(dag_release) struct dag dag = DAG_INIT;
	struct repo_range one = *range;

	one.paths = path;
	if (repo_candidates(r, &one, &dag, e) < 0)
		return -1;
	return dag_candidates(&dag) > 0;
}

static int exists(struct repo *r, const struct repo_range *range, const char *path, struct err *e)
{
	_cleanup_(free_paths) struct repo_paths *p = NULL;
	_cleanup_strv_ struct strv one = STRV_INIT;
	int ret;

	strv_add(&one, path);
	if (repo_paths_new(r, &one, &p, e) < 0)
		return -1;
	ret = is_in_tree(r, p, range->tip, e);
	for (size_t i = 0; ret == 0 && i < range->n_not; i++)
		ret = is_in_tree(r, p, &range->not_[i], e);
	return ret ? ret : is_touched(r, range, &one, e);
}

/* The name in @tree that is nearest to the @n bytes at @name. Owned, NULL: none is. */
static char *nearest(const git_tree *tree, const char *name, size_t n)
{
	size_t count = git_tree_entrycount(tree);
	_cleanup_free_ const char **names = xcalloc(count + 1, sizeof(*names));
	_cleanup_free_ char *word = xstrndup(name, n);
	const char *near;

	for (size_t i = 0; i < count; i++)
		names[i] = git_tree_entry_name(git_tree_entry_byindex(tree, i));
	near = str_did_you_mean(word, names, count);
	return near ? xstrdup(near) : NULL;
}

/*
 * @path with the first part that does not exist in @tree replaced by the nearest that does.
 * Owned, NULL: there is none.
 */
static char *correct(struct repo *r, git_tree *tree, const char *path)
{
	size_t n = strcspn(path, "/");
	_cleanup_free_ char *name = xstrndup(path, n);
	const git_tree_entry *entry = git_tree_entry_byname(tree, name);
	_cleanup_(repo_free_tree) git_tree *below = NULL;
	_cleanup_free_ char *near = NULL;

	if (!entry) {
		near = nearest(tree, path, n);
		return near ? xasprintf("%s%s", near, path + n) : NULL;
	}
	if (!path[n] || !path[n + 1] || git_tree_entry_type(entry) != GIT_OBJECT_TREE ||
	    git_tree_lookup(&below, r->git, git_tree_entry_id(entry)))
		return NULL;
	near = correct(r, below, path + n + 1);
	return near ? xasprintf("%s/%s", name, near) : NULL;
}

/* Suggest only what exists. */
static char *suggest(struct repo *r, const struct repo_range *range, const char *path)
{
	_cleanup_(repo_free_commit) git_commit *tip = NULL;
	_cleanup_(repo_free_tree) git_tree *tree = NULL;
	struct err ignored = ERR_INIT;
	char *near = NULL;

	if (strpbrk(path, "*?[\\:") || git_commit_lookup(&tip, r->git, repo_oid(range->tip)) ||
	    git_commit_tree(&tree, tip))
		return NULL;
	near = correct(r, tree, path);
	if (near && exists(r, range, near, &ignored) == 1)
		return near;
	free(near);
	return NULL;
}

int repo_paths_missing(struct repo *r, const struct repo_range *range, const char **path,
		       char **near, struct err *e)
{
	for (size_t i = 0; i < range->paths->n; i++) {
		int ret = exists(r, range, range->paths->v[i], e);

		if (ret < 0)
			return -1;
		if (ret)
			continue;
		*path = range->paths->v[i];
		*near = suggest(r, range, range->paths->v[i]);
		return 1;
	}
	return 0;
}
