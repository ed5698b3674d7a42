/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two files that apply a series share. Nothing else includes this. */
#ifndef KR_IO_REPO_SERIES_INTERNAL_H
#define KR_IO_REPO_SERIES_INTERNAL_H

#include "io/mbox.h"
#include "io/repo.h"

/* A series that is being applied; its files are in @dir. */
struct applying {
	struct repo *priv;
	const struct repo_series *s;
	const struct mbox_patch *p; /* the present one */
	char *dir, *index, *patch;
	char parent[COMMIT_HEX + 1];
	int64_t time; /* of the parent's committer */
	char *place;  /* where the present one does not apply */
};

/*
 * git with @args in the private repository, on @index, in @cwd (NULL: a->dir). Exit status or
 * -1; what git prints on both streams is appended to @out.
 */
int series_git(const struct applying *a, const char *index, const char *cwd,
	       const char *const *args, struct str *out, struct err *e);
/* "git <what>" failed, and said @words: our failure. Returns -1. */
int series_git_failed(const struct applying *a, const char *what, const char *words, struct err *e);
/* Make @index that of a->parent. */
int series_read_tree(const struct applying *a, const char *index, struct err *e);

/* The present patch into a->index. 1: done, 0: it does not apply, at a->place; -1. */
int series_patch(struct applying *a, struct err *e);
/* Tell of it, in a->s->reject_path too. Returns -1. */
int series_does_not_apply(struct applying *a, struct err *e);

#endif
