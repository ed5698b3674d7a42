/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that wrap libgit2 (repo*.c) share. Nothing else includes this. */
#ifndef KR_IO_REPO_INTERNAL_H
#define KR_IO_REPO_INTERNAL_H

#include "core/history.h"
#include "io/repo.h"

/* libgit2's own names, so that this header stands without git2.h. */
typedef struct git_repository git_repository;
typedef struct git_odb git_odb;
typedef struct git_oid git_oid;
typedef struct git_object git_object;
typedef struct git_commit git_commit;
typedef struct git_tree git_tree;
typedef struct git_odb_object git_odb_object;
typedef struct git_index git_index;

struct repo {
	git_repository *git;
	git_odb *odb;
	char *common_dir;
	bool is_shallow;
	struct repo *names; /* looked up there when not known here; borrowed, may be NULL */
};

/* Scope cleanup for libgit2's objects; NULL is fine. */
void repo_free_object(git_object **p);
void repo_free_commit(git_commit **p);
void repo_free_tree(git_tree **p);
void repo_free_odb_object(git_odb_object **p);
void repo_free_index(git_index **p);

/* The two kinds of object name. Borrowed. */
const git_oid *repo_oid(const struct commit_id *id);
struct commit_id repo_id(const git_oid *oid);

/*
 * Fill @e with the text given and what libgit2 says of its last failure @rc;
 * ERR_GIT, or ERR_SYS when the disk is full. Returns -1.
 */
int repo_fail(struct err *e, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * The newest commit reachable from @from (NULL: any ref) whose message matches
 * @text as git's ":/text" means it. Returns libgit2's codes: GIT_ENOTFOUND,
 * GIT_EINVALIDSPEC; GIT_EUSER with @e set when a signal came.
 */
int repo_search(struct repo *r, const git_oid *from, const char *text, git_oid *found,
		struct err *e);

/*
 * The one commit whose name, or whose tag's name, begins with @hex, as git takes it where a commit is
 * wanted and other objects share the digits. Looks at all names: for what is ambiguous only.
 * libgit2's codes: GIT_EAMBIGUOUS, GIT_ENOTFOUND (too few digits), GIT_EUSER when a signal came.
 */
int repo_prefix(struct repo *r, const char *hex, git_oid *commit);

/* A commit of ours on top of @onto that has that tree. 1 with @out; -1. */
int rework_commit(struct repo *priv, const struct commit_id *tree_id, const struct commit_id *onto,
		  const char *text, struct commit_id *out, struct err *e);

/* Beyond the border of a shallow clone? */
bool repo_is_cut_off(struct repo *r, const struct commit_id *id);
/* 1: @to is reachable from @from, 0: not, -1: failure, or the history ends before that is known. */
int repo_reaches(struct repo *r, const struct commit_id *from, const struct commit_id *to,
		 struct err *e);

/* What a walk needs to load commits; all but r and want_trees start as zero. */
struct repo_loader {
	struct repo *r;
	struct commit_id *tree; /* with want_trees: the tree of each node */
	size_t tree_room;
	bool want_trees;
	/* private */
	struct commit_id *parent;
	size_t parent_room;
	uint32_t loads;
};
void repo_loader_release(struct repo_loader *l);
/*
 * A history_load_fn; @cookie is the repo_loader. Honours sig_check(). ERR_CONFIG where the
 * history ends because the clone is shallow.
 */
int repo_load(void *cookie, struct history *h, uint32_t node, uint32_t child, struct err *e);

/* A pathspec of the campaign, made to number the contents of trees. */
int repo_paths_new(struct repo *r, const struct strv *paths, struct repo_paths **out,
		   struct err *e);
/*
 * @number: the same for trees in which all paths are the same (names, modes
 * and contents), 0 where none of them exists.
 */
int repo_paths_content(struct repo_paths *p, const struct commit_id *tree, uint32_t *number,
		       struct err *e);

#endif
