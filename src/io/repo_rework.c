/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A commit undone or made again on top of another, in the private repository. */
#include "io/repo_internal.h"

#include <git2.h>
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"

/* All renames between culprit and newer end count; libgit2 itself looks at 200. */
#define RENAMES_MOST 4000

static const char *const verb[] = { [REPO_REVERT] = "revert", [REPO_APPLY] = "apply" };

/* A tree is untrusted: is @path below where it is put, and no file of git's? */
static bool is_inside(const char *path)
{
	for (const char *at = path; *at;) {
		size_t n = strcspn(at, "/");

		if (!n || (n == 1 && at[0] == '.') || (n == 2 && !strncmp(at, "..", 2)) ||
		    (n == 4 && !strncasecmp(at, ".git", 4)))
			return false;
		at += n;
		at += *at == '/';
	}
	return *path;
}

/* One file as git leaves it in a conflict: with marks, or the side that there still is. */
static int leave_file(struct repo *priv, const char *dir, const git_index_entry *const side[3],
		      struct err *e)
{
	const git_index_entry *any = side[1] ? side[1] : side[2] ? side[2] : side[0];
	_cleanup_free_ char *path = fs_join(dir, any->path);
	_cleanup_free_ char *parent = fs_dirname(path);
	git_merge_file_result merged = { .ptr = NULL };
	git_blob *blob = NULL;
	int rc, ret;

	if (!is_inside(any->path))
		return 0;
	if (fs_mkdirs(parent, e) < 0)
		return -1;
	if (side[1] && side[2]) {
		rc = git_merge_file_from_index(&merged, priv->git, side[0], side[1], side[2], NULL);
		ret = rc < 0 ? repo_fail(e, rc, "cannot merge '%s'", any->path)
			     : fs_write(path, merged.ptr, merged.len, e);
		git_merge_file_result_free(&merged);
		return ret;
	}
	rc = git_blob_lookup(&blob, priv->git, &any->id);
	ret = rc < 0 ? repo_fail(e, rc, "cannot read '%s'", any->path)
		     : fs_write(path, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob), e);
	git_blob_free(blob);
	return ret;
}

/* Paths that git could not merge, each once; the files into @dir. */
static int list_conflicts(struct repo *priv, git_index *index, const char *dir, struct strv *paths,
			  struct err *e)
{
	const git_index_entry *side[3]; /* base, ours, theirs */
	git_index_conflict_iterator *it;
	int rc = git_index_conflict_iterator_new(&it, index), ret = 0;

	if (rc < 0)
		return repo_fail(e, rc, "cannot list the conflicts");
	while (ret == 0 && (rc = git_index_conflict_next(&side[0], &side[1], &side[2], it)) == 0) {
		const git_index_entry *any = side[1] ? side[1] : side[2] ? side[2] : side[0];

		if (any && !strv_has(paths, any->path)) {
			strv_add(paths, any->path);
			ret = dir ? leave_file(priv, dir, side, e) : 0;
		}
	}
	git_index_conflict_iterator_free(it);
	if (ret < 0 || rc != GIT_ITEROVER)
		return ret < 0 ? -1 : repo_fail(e, rc, "cannot list the conflicts");
	return 0;
}

/*
 * The same change always gets the same name: author, date and text are fixed, so that a
 * resumed campaign finds its kernel in the cache.
 */
static int commit_tree(struct repo *priv, git_index *index, git_commit *onto, const char *text,
		       struct commit_id *out, struct err *e)
{
	_cleanup_(repo_free_tree) git_tree *tree = NULL;
	git_signature who = { .name = (char *)(uintptr_t) "kregress",
			      .email = (char *)(uintptr_t) "kregress@localhost",
			      .when = { .time = git_commit_time(onto) } };
	const git_commit *parents[] = { onto };
	git_oid tree_id, id;
	int rc = git_index_write_tree_to(&tree_id, index, priv->git);

	if (rc == 0)
		rc = git_tree_lookup(&tree, priv->git, &tree_id);
	if (rc == 0)
		rc = git_commit_create(&id, priv->git, NULL, &who, &who, NULL, text, tree, 1,
				       parents);
	if (rc < 0)
		return repo_fail(e, rc, "cannot store '%.*s'", (int)strcspn(text, "\n"), text);
	*out = repo_id(&id);
	return 1;
}

int repo_rework(struct repo *priv, enum repo_rework how, const struct commit_id *culprit,
		const struct commit_id *onto, const char *left, struct commit_id *out,
		struct strv *conflicts, struct err *e)
{
	_cleanup_(repo_free_commit) git_commit *what = NULL;
	_cleanup_(repo_free_commit) git_commit *base = NULL;
	_cleanup_(repo_free_index) git_index *index = NULL;
	git_merge_options o;
	char hex[COMMIT_HEX + 1], text[128];
	int rc = git_commit_lookup(&what, priv->git, repo_oid(culprit));

	git_merge_options_init(&o, GIT_MERGE_OPTIONS_VERSION);
	o.flags = GIT_MERGE_FIND_RENAMES;
	o.target_limit = RENAMES_MOST;
	commit_hex(culprit, hex);
	if (rc == 0)
		rc = git_commit_lookup(&base, priv->git, repo_oid(onto));
	if (rc == 0)
		rc = (how == REPO_REVERT ? git_revert_commit : git_cherrypick_commit)(
			&index, priv->git, what, base, git_commit_parentcount(what) > 1 ? 1 : 0,
			&o);
	if (rc < 0)
		return repo_fail(e, rc, "cannot %s %.12s", verb[how], hex);
	if (git_index_has_conflicts(index))
		return list_conflicts(priv, index, left, conflicts, e);
	snprintf(text, sizeof(text), "%s %s\n", how == REPO_REVERT ? "Revert" : "Apply", hex);
	return commit_tree(priv, index, base, text, out, e);
}

int repo_patch(struct repo *priv, const char *name, const struct str *patch,
	       const struct commit_id *onto, struct commit_id *out, struct err *e)
{
	_cleanup_(repo_free_commit) git_commit *base = NULL;
	_cleanup_(repo_free_tree) git_tree *tree = NULL;
	_cleanup_(repo_free_index) git_index *index = NULL;
	git_diff *diff = NULL;
	char hex[COMMIT_HEX + 1];
	int rc = git_commit_lookup(&base, priv->git, repo_oid(onto));

	if (rc == 0)
		rc = git_commit_tree(&tree, base);
	if (rc < 0)
		return repo_fail(e, rc, "cannot read %.12s", commit_hex(onto, hex));
	rc = git_diff_from_buffer(&diff, str_text(patch), patch->len);
	if (rc < 0 || git_diff_num_deltas(diff) == 0) {
		git_diff_free(diff);
		return err_set(e, ERR_CONFIG, "'%s' has no patch that git can read", name);
	}
	rc = git_apply_to_tree(&index, priv->git, tree, diff, NULL);
	git_diff_free(diff);
	if (rc < 0) {
		repo_fail(e, rc, "'%s' does not apply to %.12s", name, commit_hex(onto, hex));
		e->code = e->code == ERR_GIT ? ERR_CONFIG : e->code;
		return -1;
	}
	return commit_tree(priv, index, base, "Changed by hand\n", out, e) < 0 ? -1 : 0;
}

int rework_commit(struct repo *priv, const struct commit_id *tree_id, const struct commit_id *onto,
		  const char *text, struct commit_id *out, struct err *e)
{
	_cleanup_(repo_free_commit) git_commit *base = NULL;
	_cleanup_(repo_free_tree) git_tree *tree = NULL;
	_cleanup_(repo_free_index) git_index *index = NULL;
	int rc = git_commit_lookup(&base, priv->git, repo_oid(onto));

	if (rc == 0)
		rc = git_tree_lookup(&tree, priv->git, repo_oid(tree_id));
	if (rc == 0)
		rc = git_index_new(&index);
	if (rc == 0)
		rc = git_index_read_tree(index, tree);
	if (rc < 0)
		return repo_fail(e, rc, "cannot read what git merged");
	return commit_tree(priv, index, base, text, out, e);
}

bool repo_has(struct repo *r, const struct commit_id *id)
{
	_cleanup_(repo_free_commit) git_commit *c = NULL;

	return git_commit_lookup(&c, r->git, repo_oid(id)) == 0;
}
