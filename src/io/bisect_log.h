/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What git bisect writes: its log, read and written, and the bisection in progress of a worktree. */
#ifndef KR_IO_BISECT_LOG_H
#define KR_IO_BISECT_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "core/commit.h"

struct repo;

/* A log of more bytes is refused. */
#define BISECT_LOG_MAX (16u << 20)

enum bisect_state { BISECT_NEW = 1, BISECT_OLD, BISECT_SKIP };

/* One verdict that a person, or git bisect run, gave. */
struct bisect_entry {
	enum bisect_state state;
	char *rev; /* as written; "A..B" is a range of commits to skip */
	int line;  /* in the log; 0: not from the log but from a ref, named by rev */
	/* of a start line without "--": if it names no commit, it and the next such are paths */
	bool may_be_path;
	struct commit_id noted; /* what git noted in the comment before; all zero: nothing */
	struct commit_id id;    /* set by bisect_log_resolve(); all zero before */
};

struct bisect_log {
	char *name;                /* where it came from, for messages */
	char *term_new, *term_old; /* never NULL; "bad" and "good" unless said otherwise */
	bool terms_given;          /* by an option of start, or as the words new and old */
	bool first_parent;
	bool no_checkout;
	struct strv paths;          /* pathspecs */
	struct bisect_entry *entry; /* in the order they were given, those of start first */
	size_t n, room;
};
#define BISECT_LOG_INIT      \
	{                    \
		.name = NULL \
	}
void bisect_log_release(struct bisect_log *log);
/* Append a verdict; takes over @rev. Its address is good until the next one. */
struct bisect_entry *bisect_log_add(struct bisect_log *log, enum bisect_state state, char *rev,
				    int line);
/* The last NEW entry, NULL: none. Borrowed. */
const struct bisect_entry *bisect_log_last_new(const struct bisect_log *log);

/*
 * Read @text, the output of git bisect log or a BISECT_LOG, as git bisect
 * replay reads it: a later start begins anew (terms stay where it gives none),
 * lines that are no commands are passed over, a path after commits without "--"
 * is lost if it is alone. Unlike replay it takes several commits in a line,
 * ranges to skip, and words plain or quoted everywhere. ERR_CONFIG with
 * "<name>:<line>:" when it is not such a log, cut short, or uses a word that is
 * not one of its terms. No good or no bad commit is no failure. @out is set
 * only on success.
 */
int bisect_log_parse(const char *name, const char *text, size_t n, struct bisect_log *out,
		     struct err *e);

/*
 * The log as text that git bisect replay takes, appended to @out: a start line
 * with terms, options and paths, then a line for each entry in order, by its id
 * (by rev where it has none), under a comment as git's. @subject: the subject
 * of a commit, owned, NULL if unknown; may itself be NULL. A line break in a
 * path, for which git bisect has no words, becomes "?", which matches it.
 */
void bisect_log_write(const struct bisect_log *log,
		      char *(*subject)(void *cookie, const struct commit_id *id), void *cookie,
		      struct str *out);

/*
 * Fill in the ids: of names that do not move (hex digits, tags) what they name,
 * of others what git noted, if it did. Ranges to skip become their commits.
 * ERR_CONFIG with "<name>:<line>:" for what is not in @r, the user's repository.
 */
int bisect_log_resolve(struct repo *r, struct bisect_log *log, struct err *e);

/*
 * The bisection in progress in the worktree that @r was opened at: the log,
 * then what refs/bisect has beyond it; terms, paths and first-parent as git
 * keeps them in files. 1 and @out, resolved; 0: none in progress; -1.
 */
int bisect_log_in_progress(struct repo *r, struct bisect_log *out, struct err *e);

/*
 * The commit under test in the worktree at @dir: BISECT_HEAD, where git bisect
 * start --no-checkout (or in a bare repository) is at work, else HEAD.
 */
int repo_bisect_head(const char *dir, struct commit_id *id, struct err *e);

#endif
