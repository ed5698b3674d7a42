/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what the runs printed to samples. */
#include "campaign/trial_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_sample(struct store_trial *t, size_t *room, const struct metric *m, unsigned run,
		       bool warmup, double value, const char *unit)
{
	struct store_sample *v;

	xgrow(&t->samples, room, t->n_samples + 1, sizeof(*t->samples));
	v = &t->samples[t->n_samples++];
	*v = (struct store_sample){ .metric = xstrdup(m->name),
				    .unit = xstrdup(m->unit && m->unit[0] ? m->unit : unit),
				    .run = (int)run,
				    .warmup = warmup,
				    .value = value };
}

/* The trial ran, but what it printed is not what it declares. */
static void garbled(struct store_trial *t, const struct metric *m, unsigned run, const char *why)
{
	if (t->outcome != TRIAL_OK)
		return;
	t->outcome = TRIAL_GARBLED;
	free(t->detail);
	t->detail = run ? xasprintf("run %u: metric %s is %s", run, m->name, why)
			: xasprintf("metric %s: %s", m->name, why);
}

/* A target that frames each run: the last line of a metric in a run is its value. */
static void parse_framed(struct session *s, const struct target_result *r, size_t *room,
			 const struct metric *m, struct store_trial *t)
{
	unsigned warmups = s->cfg->measure.warmup_runs;

	for (unsigned i = 0; i < r->n_runs; i++) {
		double value;
		enum metric_find f = metric_find_last(m, r->runs[i].output, r->runs[i].n, &value);

		if (f == METRIC_FOUND)
			add_sample(t, room, m, i, i < warmups, value, "");
		else if (m == s->metric || f != METRIC_MISSING)
			garbled(t, m, i + 1, metric_find_text(f));
	}
}

/* A command target prints all runs in one output: one line of each metric a run. */
static void parse_lines(struct session *s, const struct target_result *r, unsigned runs,
			size_t *room, const struct metric *m, struct store_trial *t)
{
	_cleanup_free_ double *values = NULL;
	_cleanup_str_ struct str unit = STR_INIT;
	char why[128], raw[32];
	size_t n = 0;
	enum metric_find f = r->n_runs ? metric_find_all(m, r->runs[0].output, r->runs[0].n,
							 &values, &n)
				       : METRIC_MISSING;

	if (f != METRIC_FOUND) {
		if (m == s->metric || (s->workload.name && f != METRIC_MISSING))
			garbled(t, m, 0, metric_find_text(f));
		return;
	}
	if (n != runs && m != s->metric && !s->workload.name)
		return;
	if (n != runs) {
		snprintf(why, sizeof(why),
			 "%zu values printed, %u runs were wanted (KREGRESS_RUNS)", n, runs);
		garbled(t, m, 0, why);
		return;
	}
	metric_printed_unit(m, r->runs[0].output, r->runs[0].n, raw, sizeof(raw));
	str_neutralise(&unit, raw, strlen(raw), false);
	if (m == &s->bare_metric && s->unit && !str_eq(s->unit, str_text(&unit))) {
		snprintf(why, sizeof(why), "in '%s', not in '%s' as before", str_text(&unit),
			 s->unit);
		garbled(t, m, 0, why);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		add_sample(t, room, m, i, i < s->cfg->measure.warmup_runs, values[i],
			   str_text(&unit));
}

static void parse_metric(struct session *s, const struct target_result *r, unsigned runs,
			 size_t *room, const struct metric *m, struct store_trial *t)
{
	if (s->cfg->target.type == TARGET_COMMAND)
		parse_lines(s, r, runs, room, m, t);
	else
		parse_framed(s, r, room, m, t);
}

/* Nobody declares what a command target prints: record what it names besides. */
static void parse_undeclared(struct session *s, const struct target_result *r, unsigned runs,
			     size_t *room, struct store_trial *t)
{
	_cleanup_strv_ struct strv names = STRV_INIT;

	if (r->n_runs)
		metric_printed_names(r->runs[0].output, r->runs[0].n, &names);
	for (size_t i = 0; i < names.n; i++) {
		struct metric m = { .name = names.v[i],
				    .min = -__builtin_inf(),
				    .max = __builtin_inf() };

		/* What does not decide and is malformed is left out, as if it were not there. */
		if (!str_eq(m.name, s->metric->name))
			parse_lines(s, r, runs, room, &m, t);
	}
}

void trial_parse(struct session *s, const struct target_result *r, unsigned runs,
		 struct store_trial *t)
{
	size_t room = 0;

	if (r->outcome != TRIAL_OK)
		return;
	if (!s->workload.name) {
		parse_metric(s, r, runs, &room, s->metric, t);
		parse_undeclared(s, r, runs, &room, t);
	}
	for (size_t i = 0; i < s->workload.n_metrics; i++)
		parse_metric(s, r, runs, &room, &s->workload.metric[i], t);
}
