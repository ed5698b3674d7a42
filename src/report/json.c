/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer as one JSON object (jansson); keys as DESIGN.md fixes them. */
#include "report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA 1
/* Decimal digits that every double keeps: 1.9 is printed as 1.9. */
#define PRECISION 15

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *text(const char *s)
{
	_cleanup_str_ struct str clean = STR_INIT;

	if (!s)
		return json_null();
	str_neutralise(&clean, s, strlen(s), true);
	return json_string(str_text(&clean));
}

static json_t *commit(const struct commit_id *id)
{
	char hex[COMMIT_HEX + 1];

	return commit_is_null(id) ? json_null() : json_string(commit_hex(id, hex));
}

static json_t *interval(const struct report_commit *c)
{
	if (!c || !c->has_interval || !isfinite(c->interval.low) || !isfinite(c->interval.high))
		return json_null();
	return json_pack("[f,f]", c->interval.low, c->interval.high);
}

static json_t *end(const struct report *r, size_t i, const struct commit_id *id)
{
	const struct report_commit *c = i < r->n_tested ? &r->tested[i] : NULL;

	return json_pack("{s:o, s:o, s:o}", "commit", commit(c ? &c->id : id), "estimate",
			 c && c->has_interval ? number(c->interval.estimate) : json_null(),
			 "interval", interval(c));
}

static json_t *candidate(const struct commit_id *id)
{
	return json_pack("{s:o, s:n}", "commit", commit(id), "share");
}

static json_t *candidates(const struct report *r)
{
	json_t *list = json_array();

	if (!commit_is_null(&r->culprit.id)) {
		json_array_append_new(list, candidate(&r->culprit.id));
		return list;
	}
	if (r->status != ENGINE_SHORT_LIST && r->status != ENGINE_RUNNING)
		return list;
	for (size_t i = 0; i < r->n_left; i++)
		json_array_append_new(list, candidate(&r->left[i]));
	return list;
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
		json_array_append_new(samples, number(c->samples[i]));
	return json_pack("{s:o, s:s, s:o, s:i, s:o}", "commit", commit(&c->id), "verdict",
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
	return json_pack("{s:o, s:o, s:o, s:o}", "total", number(r->seconds_total), "build",
			 number(r->seconds_build), "boot", number(r->seconds_boot), "workload",
			 number(r->seconds_workload));
}

/* What `test` was asked for, beside the campaign as it stands. */
static void add_asked(const struct report *r, json_t *o)
{
	for (size_t i = 0; i < r->n_tested; i++) {
		const struct report_commit *c = &r->tested[i];

		if (commit_is_null(&r->asked) || !commit_eq(&c->id, &r->asked))
			continue;
		json_object_set_new(o, "commit", commit(&c->id));
		json_object_set_new(o, "verdict", json_string(verdict_name(c->verdict)));
		json_object_set_new(o, "outcome", outcome(c));
	}
}

void report_json(const struct report *r, FILE *out)
{
	/* A script must not take a commit for the culprit before it is confirmed. */
	bool found = str_eq(report_status_name(r), "found");
	json_t *o = json_object();

	json_object_set_new(o, "schema", json_integer(SCHEMA));
	json_object_set_new(o, "status", json_string(report_status_name(r)));
	json_object_set_new(o, "culprit", found ? commit(&r->culprit.id) : json_null());
	json_object_set_new(o, "candidates", candidates(r));
	json_object_set_new(o, "confidence", json_null());
	json_object_set_new(o, "metric", text(r->metric));
	json_object_set_new(o, "unit", text(r->unit));
	json_object_set_new(o, "good", end(r, r->good, &r->good_id));
	json_object_set_new(o, "bad", end(r, r->bad, &r->bad_id));
	json_object_set_new(o, "tested", tested(r));
	json_object_set_new(o, "builds", json_integer(r->builds));
	json_object_set_new(o, "trials", json_integer(r->trials));
	json_object_set_new(o, "samples", json_integer((json_int_t)r->samples));
	json_object_set_new(o, "seconds", seconds(r));
	add_asked(r, o);
	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(PRECISION));
	fputc('\n', out);
	json_decref(o);
}
