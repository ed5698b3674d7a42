/* SPDX-License-Identifier: GPL-2.0-or-later */
/* patch.NAME of [build]: which commits each is for, and the setup of a trial that follows. */
#ifndef KR_CAMPAIGN_PATCHES_H
#define KR_CAMPAIGN_PATCHES_H

#include "campaign/session.h"

/*
 * Resolve the ranges and read the files; needs the repository and the session's setup hash.
 * ERR_CONFIG with the place in the file: a revision that is unknown, a range without commits.
 */
int patches_open(struct session *s, struct err *e);
void patches_free(struct patches *p);

/* What builder_open() is to know of them. Borrowed from @s until session_close(). */
void patches_to_builder(const struct session *s, struct build_opts *o);

/*
 * @id is a commit that kregress made on top of @like, which no range can hold: the patches
 * for @like are for it as well. Once is enough.
 */
void patches_take_after(struct session *s, const struct commit_id *id,
			const struct commit_id *like);

/*
 * What makes values of @id comparable: the session's setup, and for a commit that patches of a
 * range are for, their contents too. So a fix that is added or changed makes void what is
 * stored of the commits in its range, and of no other. Borrowed until session_close().
 */
const char *session_setup_of(const struct session *s, const struct commit_id *id);

#endif
