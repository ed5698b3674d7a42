/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer as one JSON object (jansson); keys as DESIGN.md fixes them. */
#include "report/print.h"

#include <math.h>

#include "report/json_value.h"

static json_t *interval(const struct report_commit *c)
{
	return json_of_interval(c && c->has_interval ? &c->interval : NULL);
}

static json_t *end(const struct report *r, size_t i, const struct commit_id *id)
{
	const struct report_commit *c = i < r->n_tested ? &r->tested[i] : NULL;

	return json_pack("{s:o, s:o, s:o}", "commit", json_of_commit(c ? &c->id : id), "estimate",
			 c && c->has_interval ? json_of_number(c->interval.estimate) : json_null(),
			 "interval", interval(c));
}

static json_t *candidate(const struct commit_id *id, double share)
{
	return json_pack("{s:o, s:o}", "commit", json_of_commit(id), "share",
			 json_of_number(share));
}

static json_t *candidates(const struct report *r)
{
	json_t *list = json_array();

	if (!commit_is_null(&r->culprit.id)) {
		json_array_append_new(list, candidate(&r->culprit.id,
						      r->noise.is_bayes ? r->culprit_share : NAN));
		return list;
	}
	if (r->status != ENGINE_SHORT_LIST && r->status != ENGINE_RUNNING)
		return list;
	for (size_t i = 0; i < r->n_left; i++)
		json_array_append_new(
			list, candidate(&r->left[i], r->left_share ? r->left_share[i] : NAN));
	return list;
}

/* Of the answer; null before there is one, and in bisect mode. */
static json_t *confidence(const struct report *r)
{
	double sum = 0;

	if (!r->noise.is_bayes)
		return json_null();
	if (r->status == ENGINE_FOUND || r->status == ENGINE_NOT_CONFIRMED)
		return json_of_number(r->culprit_share);
	if (r->status == ENGINE_NO_CULPRIT || r->status == ENGINE_NO_DIFFERENCE)
		return json_of_number(r->noise.belief.none);
	if (r->status != ENGINE_SHORT_LIST)
		return json_null();
	for (size_t i = 0; i < r->n_left; i++)
		sum += r->left_share[i];
	return json_of_number(sum);
}

static json_t *between(double low, double high)
{
	return json_of_interval(&(struct stats_interval){ .low = low, .high = high });
}

static json_t *expected(const struct engine_belief *b)
{
	return json_pack("{s:o, s:o, s:o}", "boots", json_of_number(b->boots), "interval",
			 between(b->boots_low, b->boots_high), "seconds",
			 json_of_number(b->seconds));
}

static json_t *level(const struct engine_belief *b, int state)
{
	return json_pack("{s:o, s:o}", "estimate", json_of_number(b->levels.level[state]),
			 "interval",
			 between(b->intervals.level[state].low, b->intervals.level[state].high));
}

static json_t *levels(const struct engine_belief *b)
{
	if (!b->has_levels)
		return json_null();
	return json_pack("{s:o, s:o}", "old", level(b, 0), "new", level(b, 1));
}

static json_t *spread(const struct engine_belief *b)
{
	return json_pack("{s:o, s:o, s:o}", "run",
			 b->run_sd > 0 ? json_of_number(b->run_sd) : json_null(), "boot",
			 b->has_levels && !b->pass ? json_of_number(b->levels.sigma) : json_null(),
			 "build", b->has_levels ? json_of_number(b->levels.luck) : json_null());
}

static json_t *weights(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->noise.n_share; i++)
		json_array_append_new(list,
				      candidate(&r->noise.share[i].id, r->noise.share[i].share));
	return list;
}

/* Which search it is, why, and with bayes what it believes. */
static json_t *search(const struct report *r)
{
	static const char *const mode[] = { "bisect", "bayes", "auto" };
	const struct report_noise *n = &r->noise;
	const struct engine_belief *b = &n->belief;
	_cleanup_str_ struct str why = STR_INIT;
	json_t *o = json_object();

	report_choice(&n->choice, r->unit ? r->unit : "", &why);
	json_object_set_new(o, "mode", json_string(mode[n->choice.search]));
	json_object_set_new(o, "why", json_of_text(str_text(&why)));
	if (!n->is_bayes)
		return o;
	json_object_set_new(o, "no_culprit", json_of_number(b->none));
	json_object_set_new(o, "bits_left", json_of_number(b->bits_left));
	json_object_set_new(o, "most_weight", weights(r));
	json_object_set_new(o, "levels", levels(b));
	json_object_set_new(o, "deviation", spread(b));
	if (r->status != ENGINE_RUNNING)
		return o;
	json_object_set_new(o, "expected", expected(b));
	json_object_set_new(o, "next",
			    json_pack("{s:o, s:s}", "commit", json_of_commit(&n->next), "why",
				      print_why_step(r)));
	return o;
}

static json_t *outcome(const struct report_commit *c)
{
	return c->outcome == TRIAL_UNSET ? json_null()
					 : json_string(trial_outcome_name(c->outcome));
}

static json_t *tested_one(const struct report_commit *c)
{
	json_t *samples = json_array();
	enum verdict v = c->verdict == VERDICT_UNSET ? VERDICT_UNSURE : c->verdict;

	for (size_t i = 0; i < c->n_samples; i++)
		json_array_append_new(samples, json_of_number(c->samples[i]));
	return json_pack("{s:o, s:s, s:o, s:i, s:o}", "commit", json_of_commit(&c->id), "verdict",
			 verdict_name(v), "outcome", outcome(c), "trials", (int)c->trials,
			 "samples", samples);
}

static json_t *tested(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_tested; i++)
		json_array_append_new(list, tested_one(&r->tested[i]));
	return list;
}

static json_t *seconds(const struct report *r)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "total", json_of_number(r->seconds_total), "build",
			 json_of_number(r->seconds_build), "boot", json_of_number(r->seconds_boot),
			 "workload", json_of_number(r->seconds_workload));
}

/* What `test` was asked for, beside the campaign as it stands. */
static void add_asked(const struct report *r, json_t *o)
{
	for (size_t i = 0; r->tested && i < r->n_tested; i++) {
		const struct report_commit *c = &r->tested[i];

		if (commit_is_null(&r->asked) || !commit_eq(&c->id, &r->asked))
			continue;
		json_object_set_new(o, "commit", json_of_commit(&c->id));
		json_object_set_new(o, "verdict", json_string(verdict_name(c->verdict)));
		json_object_set_new(o, "outcome", outcome(c));
	}
}

void report_json(const struct report *r, FILE *out)
{
	/* A script must not take a commit for the culprit before it is confirmed. */
	bool found = str_eq(report_status_name(r), "found");
	json_t *o = json_object();

	json_object_set_new(o, "schema", json_integer(JSON_SCHEMA));
	json_object_set_new(o, "status", json_string(report_status_name(r)));
	json_object_set_new(o, "culprit", found ? json_of_commit(&r->culprit.id) : json_null());
	json_object_set_new(o, "candidates", candidates(r));
	json_object_set_new(o, "confidence", confidence(r));
	json_object_set_new(o, "metric", json_of_text(r->metric));
	json_object_set_new(o, "unit", json_of_text(r->unit));
	json_object_set_new(o, "good", end(r, r->good, &r->good_id));
	json_object_set_new(o, "bad", end(r, r->bad, &r->bad_id));
	json_object_set_new(o, "tested", tested(r));
	json_object_set_new(o, "builds", json_integer(r->builds));
	json_object_set_new(o, "trials", json_integer(r->trials));
	json_object_set_new(o, "samples", json_integer((json_int_t)r->samples));
	json_object_set_new(o, "seconds", seconds(r));
	if (r->noise.is_bayes)
		json_object_set_new(o, "search", search(r));
	add_asked(r, o);
	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(JSON_PRECISION));
	fputc('\n', out);
	json_decref(o);
}
