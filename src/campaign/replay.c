/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Present state is a replay of the log through the engine. */
#include "campaign/replay.h"

#include <stdlib.h>

#include "base/log.h"

double *session_samples(const struct session *s, const struct store_trial *t, size_t *n)
{
	double *v = xcalloc(t->n_samples, sizeof(*v));

	*n = 0;
	for (size_t i = 0; i < t->n_samples; i++)
		if (!t->samples[i].warmup && str_eq(t->samples[i].metric, s->metric->name))
			v[(*n)++] = t->samples[i].value;
	return v;
}

bool replay_counts(const struct session *s, const struct store_trial *t)
{
	return str_eq(t->setup, s->setup) && !str_eq(t->purpose, "canary") &&
	       !str_eq(t->purpose, "confirm");
}

/* The unit is known from the first stored value where no workload declares it. */
static void learn_unit(struct session *s, const struct store_trial *t)
{
	for (size_t i = 0; i < t->n_samples && !s->unit; i++)
		if (str_eq(t->samples[i].metric, s->metric->name) && t->samples[i].unit &&
		    t->samples[i].unit[0])
			s->unit = xstrdup(t->samples[i].unit);
}

void replay_trial(struct session *s, const struct store_trial *t)
{
	uint32_t node = session_node(s, &t->commit);
	_cleanup_free_ double *v = NULL;
	struct trial trial = { .outcome = t->outcome };

	if (node == DAG_NONE)
		return;
	learn_unit(s, t);
	v = session_samples(s, t, &trial.n);
	trial.samples = v;
	/* Another metric may decide now than when it was measured. */
	if (trial.outcome == TRIAL_OK && !trial.n)
		trial.outcome = TRIAL_GARBLED;
	engine_observe(s->engine, node, &trial);
}

static int see_trial(const struct store_trial *t, void *cookie)
{
	struct session *s = cookie;

	if (!str_eq(t->setup, s->setup))
		s->other_setup++;
	else if (replay_counts(s, t))
		replay_trial(s, t);
	return 0;
}

int replay_store(struct session *s, struct err *e)
{
	struct store_visitor v = { .trial = see_trial, .cookie = s };

	return store_visit(s->store, &v, e) < 0 ? -1 : 0;
}
