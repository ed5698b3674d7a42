/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows behind an answer: what belongs together, sums, release. */
#include "report/record.h"

#include <math.h>
#include <stdlib.h>

#include "core/stats.h"

static void trial_release(struct record_trial *t)
{
	for (size_t i = 0; i < t->n_values; i++)
		free(t->values[i].v);
	free(t->values);
	free(t->purpose);
	free(t->detail);
	free(t->dir);
	strv_release(&t->logs);
}

static void lists_release(struct record *d)
{
	for (size_t i = 0; i < d->n_trials; i++)
		trial_release(&d->trial[i]);
	for (size_t i = 0; i < d->n_commits; i++) {
		free(d->commit[i].label);
		free(d->commit[i].role);
	}
	for (size_t i = 0; i < d->n_metrics; i++) {
		free(d->metric[i].name);
		free(d->metric[i].unit);
	}
	for (size_t i = 0; i < d->n_facts; i++) {
		free(d->fact[i].name);
		free(d->fact[i].value);
	}
	free(d->trial);
	free(d->commit);
	free(d->metric);
	free(d->fact);
}

void record_release(struct record *d)
{
	lists_release(d);
	free(d->posterior.share);
	free(d->campaign);
	free(d->given);
	free(d->bisect_log);
	free(d->rerun);
	free(d->config_path);
	free(d->compiler);
	free(d->state_dir);
	free(d->title);
	free(d->no_maintainer);
	free(d->stage);
	strv_release(&d->to);
	strv_release(&d->cc);
	*d = (struct record){ .trial = NULL };
}

size_t record_metric_add(struct record *d, const char *name, const char *unit)
{
	for (size_t i = 0; i < d->n_metrics; i++) {
		if (!str_eq(d->metric[i].name, name))
			continue;
		if (!d->metric[i].unit[0] && unit) {
			free(d->metric[i].unit);
			d->metric[i].unit = xstrdup(unit);
		}
		return i;
	}
	xgrow(&d->metric, &d->metric_room, d->n_metrics + 1, sizeof(*d->metric));
	d->metric[d->n_metrics] = (struct record_metric){ .name = xstrdup(name),
							  .unit = xstrdup(unit ? unit : "") };
	return d->n_metrics++;
}

void record_fact_set(struct record *d, const char *name, const char *value)
{
	struct record_fact *f;

	for (size_t i = 0; i < d->n_facts; i++) {
		f = &d->fact[i];
		if (!str_eq(f->name, name))
			continue;
		if (str_eq(f->value, value))
			return;
		free(f->value);
		f->value = xstrdup(value);
		f->varies = true;
		return;
	}
	xgrow(&d->fact, &d->fact_room, d->n_facts + 1, sizeof(*d->fact));
	d->fact[d->n_facts++] = (struct record_fact){ .name = xstrdup(name),
						      .value = xstrdup(value) };
}

const char *record_fact(const struct record *d, const char *name)
{
	for (size_t i = 0; i < d->n_facts; i++)
		if (str_eq(d->fact[i].name, name))
			return d->fact[i].value;
	return NULL;
}

const struct record_values *record_values_of(const struct record_trial *t, size_t metric)
{
	for (size_t i = 0; i < t->n_values; i++)
		if (t->values[i].metric == metric && t->values[i].n)
			return &t->values[i];
	return NULL;
}

/* Copies of an identical kernel's boots are no boots of their own where real ones exist. */
static bool belongs(const struct record_trial *t, const struct commit_id *commit, bool confirm)
{
	return commit_eq(&t->commit, commit) && (confirm ? t->confirms : t->counts);
}

void record_side(const struct record *d, const struct commit_id *commit, size_t metric,
		 bool confirm, struct record_sides *out)
{
	const struct record_values *v;

	*out = (struct record_sides){ .boot = xcalloc(d->n_trials, sizeof(double)) };
	for (size_t i = 0; i < d->n_trials; i++) {
		const struct record_trial *t = &d->trial[i];

		if (!belongs(t, commit, confirm))
			continue;
		out->booted++;
		if (t->outcome != TRIAL_OK) {
			out->why = out->failed++ ? out->why : t->outcome;
			continue;
		}
		v = record_values_of(t, metric);
		if (v)
			out->boot[out->n++] = stats_median(v->v, v->n);
	}
	if (out->n)
		out->mean = stats_mean(out->boot, out->n);
	if (out->n > 1)
		out->sd = sqrt(stats_sum_squares(out->boot, out->n) / (double)(out->n - 1));
}
