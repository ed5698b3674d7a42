/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bisection begun in git as the range of a campaign, and kept in the store. */
#ifndef KR_CAMPAIGN_IMPORT_H
#define KR_CAMPAIGN_IMPORT_H

#include "campaign/session.h"
#include "io/bisect_log.h"

/* What the notes of a store say of an import: "import" with its text, "recheck". */
struct import_kept {
	char *import; /* owned; NULL: none */
	bool recheck;
};
/* Look into the store before it is opened for good: nothing is made where there is none. */
int import_read(struct session *s, struct import_kept *k, struct err *e);

/*
 * Ends, verdicts, terms, paths and first-parent from a resolved log: the first two commits that
 * it calls so and did not take back are the ends. ERR_CONFIG: it has no ends yet, or (without
 * s->recheck) contradicts itself.
 */
int import_log(struct session *s, const struct bisect_log *log, struct err *e);
/* The same from what the store keeps; warns where the file names other ends. */
int import_kept(struct session *s, const struct import_kept *kept, struct err *e);
/*
 * For kregress test, whose exit status git reads in its own terms: where they say what the
 * hunt is, and the file does not, they decide. ERR_CONFIG where the two contradict.
 */
int import_terms(struct session *s, const struct bisect_log *here, struct err *e);

/*
 * After a replay: words that what was measured contradicts, of the same commit or along the
 * history, are not believed but measured; the engine is made anew.
 */
int import_doubt(struct session *s, struct err *e);

/* Remember the text of a log that was given now, for import_store(). */
void import_keep_text(struct session *s, const struct bisect_log *log);
/* Store what makes this an imported hunt, where the store does not have it yet. */
int import_store(struct session *s, struct err *e);

#endif
