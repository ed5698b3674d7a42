/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Present state is a replay of the log through the engine. */
#ifndef KR_CAMPAIGN_REPLAY_H
#define KR_CAMPAIGN_REPLAY_H

#include "campaign/session.h"

/* Tell the engine every stored trial of this setup, in order of the log. */
int replay_store(struct session *s, struct err *e);

/* The same for an engine just made, without giving failed ends another try. */
int replay_again(struct session *s, struct err *e);

/* With a new engine over the same history. */
int replay_anew(struct session *s, struct err *e);

/* Does this trial count for the search: of this setup, and no canary, confirmation or comparison? */
bool replay_counts(const struct session *s, const struct store_trial *t);

/* Is a trial of this purpose kregress compare's? */
bool replay_compares(const char *purpose);

/* The unit is known from the first stored value where no workload declares it. */
void replay_learn_unit(struct session *s, const struct store_trial *t);

/* Tell the engine of a stored build. */
void replay_build(struct session *s, const struct store_build *b);

/* Tell the engine one stored trial. */
void replay_trial(struct session *s, const struct store_trial *t);

#endif
