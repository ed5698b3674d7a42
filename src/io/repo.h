/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's repository, read only, and our private one beside it (libgit2). */
#ifndef KR_IO_REPO_H
#define KR_IO_REPO_H

#include <limits.h>
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
/* Its own git directory: of a linked worktree another one than the common. Borrowed. */
const char *repo_git_dir(const struct repo *r);
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

/* Owned array of all merge bases, as git merge-base --all @a @b[0] … @b[n_b − 1] lists them. */
int repo_merge_bases(struct repo *r, const struct commit_id *a, const struct commit_id *b,
		     size_t n_b, struct commit_id **out, size_t *n, struct err *e);

/*
 * The commits that `git bisect skip <word>` skips: one revision, or a range A..B (what B
 * reaches and A does not). Owned array; ERR_CONFIG with @what when unknown.
 */
int repo_expand(struct repo *r, const char *word, const char *what, struct commit_id **out,
		size_t *n, struct err *e);

/* A commit and what a person calls it. */
struct repo_named {
	struct commit_id id;
	char *name; /* untrusted: a tag's, or "3 days before" */
};
void repo_named_free(struct repo_named *list, size_t n);
/*
 * Where to look for a good commit when only @bad is known: at most @max commits before it,
 * owned by the caller. Those that carry a tag (several on one commit: one entry, an annotated
 * one first), as git rev-list orders them: newest committer time first. In a history without
 * a tag: on first parents the first that is 1 day, 3 days, 1 and 2 weeks, 1, 2 and 4 months
 * (of 30 days) older than @bad; where it is shorter than that its oldest commit comes last.
 * *@n 0: @bad has no ancestor. A shallow clone's history ends at its border. Honours sig_check().
 */
int repo_earlier(struct repo *r, const struct commit_id *bad, unsigned max, struct repo_named **out,
		 size_t *n, struct err *e);

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

/*
 * Do all paths of the range name something: in the tree of its tip or of an older end, or in a
 * commit between? 0: they do; 1: *@path (borrowed) does not, *@near is what was perhaps meant
 * (owned, NULL: nothing is near); -1.
 */
int repo_paths_missing(struct repo *r, const struct repo_range *range, const char **path,
		       char **near, struct err *e);

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

/* Which files commits change, of one commit after the other: keeps trees that neighbours share. */
struct repo_changes;
struct repo_changes *repo_changes_new(struct repo *r); /* @r is borrowed */
void repo_changes_free(struct repo_changes *c);
/* Take commit @id, for the walks that follow; *@parents: how many it has. Honours sig_check(). */
int repo_changes_of(struct repo_changes *c, const struct commit_id *id, unsigned *parents,
		    struct err *e);

/* A rename is a deletion and an addition; so is a change from or to a link or submodule. */
enum repo_change { REPO_MODIFIED = 1, REPO_ADDED, REPO_DELETED };
#define REPO_ALL_PARENTS UINT_MAX
/*
 * Call @see for each file in which the commit differs from its parent @nth (from 0), or with
 * REPO_ALL_PARENTS from each of its parents (a merge's own changes, as git diff-tree -c lists them;
 * missing in any of them is REPO_ADDED). A root's are all added. Folder by folder, within one
 * those that are there first. What @see returns ends the walk unless it is 0, and is returned;
 * it is positive. -1: we failed.
 */
int repo_changes_walk(struct repo_changes *c, unsigned nth,
		      int (*see)(const char *path, enum repo_change change, void *cookie),
		      void *cookie, struct err *e);

/* A pathspec, as paths = takes it. ERR_CONFIG; @text is in the message. */
struct repo_paths;
int repo_pathspec_new(const char *text, struct repo_paths **out, struct err *e);
void repo_paths_free(struct repo_paths *p);
/* Does it take the file @path? */
bool repo_pathspec_has(const struct repo_paths *p, const char *path);

/*
 * Our private bare repository at @path, made if missing, that borrows the
 * objects of @user through objects/info/alternates. Never writes to @user, which must outlive
 * it: what repo_resolve() does not know here, it looks up there.
 */
int repo_open_private(const char *path, struct repo *user, struct repo **out, struct err *e);
/* The one of @user in the cache directory, which all campaigns share; waits while another makes it. */
int repo_open_ours(struct repo *user, struct repo **out, struct err *e);

/*
 * Make the work tree @dir (index kept in @index_path) be the tree of commit
 * @id: only files that differ are rewritten, all others keep their times;
 * tracked files that were changed are restored and untracked ones removed.
 * @changed (may be NULL): how many files were written or removed.
 * Honours sig_check(). ERR_SYS with "disk full" remedy when space ran out.
 */
int repo_checkout(struct repo *priv, const struct commit_id *id, const char *dir,
		  const char *index_path, size_t *changed, struct err *e);

enum repo_rework { REPO_REVERT, REPO_APPLY };

/*
 * Undo @culprit (a merge: against its first parent), or make its change, on top of @onto,
 * three-way with rename detection, as a commit without a ref in the private repository. 1 and
 * @out; 0 and the paths that conflict appended to @conflicts, whose files are left in the
 * folder @left (NULL: nowhere) with git's marks; -1.
 */
int repo_rework(struct repo *priv, enum repo_rework how, const struct commit_id *culprit,
		const struct commit_id *onto, const char *left, struct commit_id *out,
		struct strv *conflicts, struct err *e);

/*
 * Undo @culprit in a work tree at @dir (made anew) with the git program, which finds more renames.
 * 1 and @out as above: it can, and @dir is gone again. 0: @dir is left for a person, whole, a
 * repository on @onto of its own with the conflicts marked, which borrows the objects of @priv;
 * the paths that conflict are appended. -1.
 */
int repo_revert_tree(struct repo *priv, const struct commit_id *culprit,
		     const struct commit_id *onto, const char *dir, struct commit_id *out,
		     struct strv *conflicts, struct err *e);

/* Is that commit known here, or where objects are borrowed? */
bool repo_has(struct repo *r, const struct commit_id *id);

/*
 * @onto changed by @patch (git diff, or a mail with one), as such a commit. @name: of the
 * patch, for messages. ERR_CONFIG: it is none, or does not apply.
 */
int repo_patch(struct repo *priv, const char *name, const struct str *patch,
	       const struct commit_id *onto, struct commit_id *out, struct err *e);

struct mbox;

/* A mail series on a base, as commits in the private repository. */
struct repo_series {
	const char *name;        /* of the mbox, for messages */
	const char *content;     /* hash of its bytes */
	struct commit_id base;   /* what the first patch goes on */
	const char *base_name;   /* as the user calls it, for messages */
	const char *reject_path; /* where a patch that does not apply is told of; NULL: nowhere */
};

/* 1 and @tip: it was applied before, 0: not, -1. */
int repo_series_find(struct repo *priv, const struct repo_series *s, struct commit_id *tip,
		     struct err *e);

/*
 * Apply the patches of @m, one commit each, and keep them from being pruned by a ref. Author,
 * date and text are the mail's, the committer is kregress, a second later each than the base:
 * the same series on the same base always gives the same commits. A patch that applies only
 * by a three-way merge is said by log_info(); one that is in the base already is an empty
 * commit. ERR_CONFIG: one does not apply; git's words and the hunks are in s->reject_path.
 */
int repo_series_apply(struct repo *priv, const struct repo_series *s, const struct mbox *m,
		      struct commit_id *tip, struct err *e);

#endif
