/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's repository, read only, and our private one beside it (libgit2). */
#ifndef KR_IO_REPO_H
#define KR_IO_REPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "core/commit.h"
#include "core/dag.h"

struct repo;

/*
 * Open the repository at @path: work tree (also a folder inside it), linked
 * worktree, or bare. Fails with ERR_CONFIG: not a repository, owned by another
 * user (with the safe.directory line to add), a format that libgit2 refuses.
 */
int repo_open(const char *path, struct repo **out, struct err *e);
void repo_close(struct repo *r);
/* Absolute path of the common git directory (shared by worktrees). Borrowed. */
const char *repo_common_dir(const struct repo *r);
bool repo_is_shallow(struct repo *r);

/*
 * Any revision that git rev-parse resolves to a commit (tags peeled). @what
 * names the place for messages, such as "good in [campaign]". ERR_CONFIG when
 * unknown or ambiguous.
 */
int repo_resolve(struct repo *r, const char *rev, const char *what, struct commit_id *id,
		 struct err *e);
/* HEAD of the worktree at @dir, resolved. */
int repo_head(const char *dir, struct commit_id *id, struct err *e);

/* 1: @ancestor is reachable from @descendant (or equal), 0: not, -1 failure. */
int repo_is_ancestor(struct repo *r, const struct commit_id *ancestor,
		     const struct commit_id *descendant, struct err *e);

/* Owned array of all merge bases of the two, as git merge-base --all lists them. */
int repo_merge_bases(struct repo *r, const struct commit_id *a, const struct commit_id *b,
		     struct commit_id **out, size_t *n, struct err *e);

struct repo_range {
	const struct commit_id *tip;  /* the newer end */
	const struct commit_id *not_; /* the older ends */
	size_t n_not;
	bool first_parent;
	const struct strv *paths; /* NULL or empty: all */
};
/*
 * Fill @dag (released by the caller) with the candidates: what `git rev-list
 * tip --not not_…` gives, list order of FACTS.md 1 rule 2. A history that ends
 * because the clone is shallow: ERR_CONFIG that says so. Empty set: dag->n == 0, no error.
 */
int repo_candidates(struct repo *r, const struct repo_range *range, struct dag *dag, struct err *e);

struct repo_commit {
	char *subject, *author, *email; /* UTF-8, untrusted */
	int64_t author_time;            /* seconds since the epoch */
	int author_offset_min;
	struct commit_id tree;   /* the tree's object name */
	struct commit_id parent; /* first parent, all zero: root */
	unsigned parents;
};
void repo_commit_release(struct repo_commit *c);
int repo_commit_read(struct repo *r, const struct commit_id *id, struct repo_commit *out,
		     struct err *e);
/* Shortest unambiguous name, at least 12 digits. Owned. */
char *repo_abbrev(struct repo *r, const struct commit_id *id);

/*
 * Our private bare repository at @path, made if missing, that borrows the
 * objects of @user through objects/info/alternates. Never writes to @user.
 */
int repo_open_private(const char *path, struct repo *user, struct repo **out, struct err *e);

/*
 * Make the work tree @dir (index kept in @index_path) be the tree of commit
 * @id: only files that differ are rewritten, all others keep their times;
 * tracked files that were changed are restored and untracked ones removed.
 * @changed (may be NULL): how many files were written or removed.
 * Honours sig_check(). ERR_SYS with "disk full" remedy when space ran out.
 */
int repo_checkout(struct repo *priv, const struct commit_id *id, const char *dir,
		  const char *index_path, size_t *changed, struct err *e);

/*
 * Undo @culprit (a merge: against its first parent) on top of @onto, three-way with
 * rename detection, as a commit without a ref in the private repository. 1 and
 * @out; 0 and the paths that conflict appended to @conflicts; -1.
 */
int repo_revert(struct repo *priv, const struct commit_id *culprit, const struct commit_id *onto,
		struct commit_id *out, struct strv *conflicts, struct err *e);

#endif
