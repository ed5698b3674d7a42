/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How suspect each commit is before anything is measured: for search = bayes. */
#ifndef KR_CAMPAIGN_PRIOR_H
#define KR_CAMPAIGN_PRIOR_H

#include "campaign/session.h"

/* Of a commit that changes nothing these kernels are built from: next to nothing, but not nothing. */
#define PRIOR_IDLE 1e-6
/*
 * Of a merge whose own changes are idle, while either side brings some: only what both do together
 * can be new in it. About one merge in twenty lines of blame is such a culprit at most.
 */
#define PRIOR_CLEAN_MERGE 0.05

/*
 * Fill @w, of s->dag.n weights: for each candidate the product of what prior = FILE says and of what
 * is known of the files that it changes; 0 for what paths = leaves out. The latter is known once
 * kernels of both ends have been built here (else 1), and is kept in the state directory,
 * which a viewer reads. Says by log_info() how many commits got almost nothing. ERR_CONFIG with
 * file:line for a mistake in the file.
 */
int prior_weights(struct session *s, double *w, struct err *e);

/* ---- prior_file.c: prior = FILE ---- */

struct prior_file;
/* Read and check it; revisions are resolved in @repo. ERR_CONFIG with file:line. */
int prior_file_load(const char *path, struct repo *repo, struct prior_file **out, struct err *e);
void prior_file_free(struct prior_file *p);
/* Does any line have a pathspec, so that a commit's files matter? */
bool prior_file_has_paths(const struct prior_file *p);
/* Of a file: what the last line that takes it says; 1: none. */
double prior_file_path(const struct prior_file *p, const char *path);
/* Of a commit, by its name alone; 1: not named. */
double prior_file_commit(const struct prior_file *p, const struct commit_id *id);

/* ---- prior_built.c: what is built ---- */

enum prior_kind {
	PRIOR_ORDINARY = 0,
	PRIOR_IS_IDLE,        /* changes nothing that is built */
	PRIOR_IS_CLEAN_MERGE, /* no change of its own that is built */
};
/*
 * Fill @kind, of s->dag.n. 1; 0: not known (yet), all are PRIOR_ORDINARY; -1.
 */
int prior_built(struct session *s, unsigned char *kind, struct err *e);

#endif
