/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A commit undone on top of another, in the private repository. */
#include "io/repo_internal.h"

#include <git2.h>
#include <stdio.h>

/* Paths that git could not merge, each once. */
static int list_conflicts(git_index *index, struct strv *paths, struct err *e)
{
	const git_index_entry *ancestor, *ours, *theirs;
	git_index_conflict_iterator *it;
	int rc = git_index_conflict_iterator_new(&it, index);

	if (rc < 0)
		return repo_fail(e, rc, "cannot list the conflicts of a revert");
	while ((rc = git_index_conflict_next(&ancestor, &ours, &theirs, it)) == 0) {
		const git_index_entry *any = ours ? ours : theirs ? theirs : ancestor;

		if (any && !strv_has(paths, any->path))
			strv_add(paths, any->path);
	}
	git_index_conflict_iterator_free(it);
	if (rc != GIT_ITEROVER)
		return repo_fail(e, rc, "cannot list the conflicts of a revert");
	return 0;
}

/*
 * The same reversal always gets the same name: author, date and text are fixed, so
 * that a resumed campaign finds its kernel in the cache.
 */
static int commit_tree(struct repo *priv, git_index *index, git_commit *onto,
		       const struct commit_id *culprit, struct commit_id *out, struct err *e)
{
	_cleanup_(repo_free_tree) git_tree *tree = NULL;
	git_signature who = { .name = (char *)(uintptr_t) "kregress",
			      .email = (char *)(uintptr_t) "kregress@localhost",
			      .when = { .time = git_commit_time(onto) } };
	const git_commit *parents[] = { onto };
	char hex[COMMIT_HEX + 1], text[128];
	git_oid tree_id, id;
	int rc = git_index_write_tree_to(&tree_id, index, priv->git);

	snprintf(text, sizeof(text), "Revert %s\n", commit_hex(culprit, hex));
	if (rc == 0)
		rc = git_tree_lookup(&tree, priv->git, &tree_id);
	if (rc == 0)
		rc = git_commit_create(&id, priv->git, NULL, &who, &who, NULL, text, tree, 1,
				       parents);
	if (rc < 0)
		return repo_fail(e, rc, "cannot store the revert of %.12s", hex);
	*out = repo_id(&id);
	return 1;
}

int repo_revert(struct repo *priv, const struct commit_id *culprit, const struct commit_id *onto,
		struct commit_id *out, struct strv *conflicts, struct err *e)
{
	_cleanup_(repo_free_commit) git_commit *what = NULL;
	_cleanup_(repo_free_commit) git_commit *base = NULL;
	_cleanup_(repo_free_index) git_index *index = NULL;
	git_merge_options o;
	char hex[COMMIT_HEX + 1];
	int rc = git_commit_lookup(&what, priv->git, repo_oid(culprit));

	git_merge_options_init(&o, GIT_MERGE_OPTIONS_VERSION);
	o.flags = GIT_MERGE_FIND_RENAMES;
	if (rc == 0)
		rc = git_commit_lookup(&base, priv->git, repo_oid(onto));
	if (rc == 0)
		rc = git_revert_commit(&index, priv->git, what, base,
				       git_commit_parentcount(what) > 1 ? 1 : 0, &o);
	if (rc < 0)
		return repo_fail(e, rc, "cannot revert %.12s", commit_hex(culprit, hex));
	if (git_index_has_conflicts(index))
		return list_conflicts(index, conflicts, e);
	return commit_tree(priv, index, base, culprit, out, e);
}
