/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a campaign's range comes from: file, bisect log, series, or a search for the good end. */
#ifndef KR_CAMPAIGN_ENDS_H
#define KR_CAMPAIGN_ENDS_H

#include "campaign/session.h"

/*
 * Open the repository and settle good, bad, old, new, paths and what was said of commits:
 * from o->import, else the log that the store keeps, else the file. ERR_CONFIG with the
 * place for revisions that do not exist.
 */
int ends_open(struct session *s, const struct session_opts *o, struct err *e);

/*
 * Walk the history between s->old and s->new and make the engine; also anew, after
 * ends_set_good(). ERR_CONFIG where there is nothing to search; with good = auto: 1 when no
 * commit of the range touches the paths, and then there is no engine.
 */
int ends_walk(struct session *s, struct err *e);

/* The weights of the candidates for bayes, as they were when the search began. */
int ends_recall_prior(struct session *s, struct err *e);
/* The same anew, while the ends are measured: before each of their boots. */
int ends_learn_prior(struct session *s, struct err *e);

/* Another good end: good, bad, old and new by the hunt; history and engine are as before. */
void ends_set_good(struct session *s, const struct commit_id *good);

/* Say something of one commit: see ends_settle_words(). */
void ends_say(struct session *s, const struct commit_id *id, enum verdict v, bool person);

/*
 * Each path of the campaign must name something: in the newer end, in @oldest, or in a commit
 * between. ERR_CONFIG with the place, the path and what was perhaps meant.
 */
int ends_check_paths(const struct session *s, const struct commit_id *oldest, struct err *e);

/* Say which words on commits move nothing, because the commits are not between the ends. */
void ends_warn(const struct session *s);

/* skip = in the file: a word on each commit. ERR_CONFIG: unknown, or one of the ends. */
int ends_take_skips(struct session *s, struct err *e);
/* Of each commit one word: a person's before skip =, a later one before an earlier. */
void ends_settle_words(struct session *s);

/* old and new from good and bad, by the hunt. */
void ends_order(struct session *s);

#endif
