/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One commit measured and judged for its own sake: what `kregress test` does. */
#ifndef KR_CAMPAIGN_SINGLE_H
#define KR_CAMPAIGN_SINGLE_H

#include "campaign/session.h"
#include "report/report.h"

/* What became of the commit. Released by single_release(). */
struct single {
	struct commit_id id;
	enum verdict verdict;
	enum trial_outcome outcome; /* TRIAL_OK, or the first that was not; UNSET: not measured */
	char *detail;               /* of that failure, untrusted; NULL */
	bool has_interval;
	struct stats_interval interval;
	double threshold;
	size_t boots;    /* with a value */
	size_t copies;   /* of these, boots of another commit's identical kernel */
	double *samples; /* the deciding metric's, warm-ups dropped */
	size_t n_samples;
	unsigned trials; /* boots of its own, failed ones too */
	bool measured;   /* this call booted or built something: it was not all in the store */
};
void single_release(struct single *o);

/*
 * Does the threshold, or the side that is good, come from measuring the ends? Reads the
 * workload's file for what it says of the metric.
 */
int single_needs_ends(const struct config *c, bool *needs, struct err *e);

/*
 * Bring @s (SESSION_RUN) to a verdict on @id, which is in its repository, in the campaign's
 * range or not. The ends are measured first where they are needed and not known. Trials go into
 * the campaign's store with purpose "test", and what is there already is not measured again.
 * @out is empty. -1: we failed or were interrupted (what was measured is kept), or the
 * ends are not apart, so that nothing can be told good from bad (ERR_LAB).
 */
int single_run(struct session *s, const struct commit_id *id, struct single *out, struct err *e);

/*
 * Make it the commit that @r, by summary_make(), was asked for, and one of the tested ones; without
 * an engine also judge the others.
 */
int single_report(struct session *s, const struct single *o, struct report *r, struct err *e);

#endif
