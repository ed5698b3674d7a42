/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to again*.c: stored trials in memory, and settings as text. */
#ifndef KR_CAMPAIGN_AGAIN_INTERNAL_H
#define KR_CAMPAIGN_AGAIN_INTERNAL_H

#include "campaign/again.h"
#include "campaign/session.h"

/* One stored trial, with the values of the deciding metric alone. */
struct again_row {
	struct store_trial t;
	size_t root; /* the row whose boot it is: itself, or the one it took over */
	bool counts; /* for the search, under the new settings */
	bool confirms;
	bool used;       /* the engine was told it */
	int64_t told_as; /* of a root: the trial by which the engine knows its values; 0: it does not */
};

/* A stored build: its price, which some searches go by. */
struct again_build {
	struct store_build b; /* numbers only */
	bool used;
};

struct again_rows {
	struct again_row *v;
	size_t n, room;
	struct again_build *build;
	size_t n_builds, build_room;
	struct strv metrics; /* all that the trials have values of */
	unsigned no_value, mended;
	bool metric_seen;
	struct session *s;
};
void again_rows_release(struct again_rows *rows);
/* All trials of the store as @s sees them. */
int again_rows_load(struct again_rows *rows, struct session *s, struct err *e);
/* Replay them through a new engine of the session, in the order in which it asks. */
void again_rows_replay(struct again_rows *rows);

/* What a setting is to a replay. */
enum again_kind {
	AGAIN_DECIDES = 1, /* how values become an answer */
	AGAIN_MEASURES,    /* what was measured */
	AGAIN_HUNT,        /* which campaign it is */
};
enum again_kind again_kind_of(const char *key);

/* "section.key = value" lines of the store's campaign; @out stays empty where it has none yet. */
int again_stored_lines(struct store *store, struct strv *out, struct err *e);
/* The same of a configuration. */
void again_config_lines(const struct config *c, struct strv *out);
/* Value of @key in them, "" where it is empty; NULL: not there. Borrowed. */
const char *again_value(const struct strv *lines, const char *key);

/* @cfg with the settings that decide as @stored has them. @out is released by the caller. */
int again_config_before(const struct config *cfg, const struct strv *stored, struct config *out,
			struct err *e);
/* @cfg without those of @given that decide. */
int again_config_file(const struct config *cfg, const struct strv *given, struct config *out,
		      struct err *e);
/* Which settings that decide differ between the two: into @a. */
void again_differences(const struct config *before, const struct config *after,
		       struct report_again *a);
/* Nothing stored was measured as @cfg measures: ERR_CONFIG that says why. */
int again_refuse_setup(const struct config *cfg, const struct strv *stored,
		       const struct strv *given, unsigned trials, struct err *e);
/* Say which of @given can make no difference. */
void again_warn_idle(const struct config *cfg, const struct strv *stored, const struct strv *given);

#endif
