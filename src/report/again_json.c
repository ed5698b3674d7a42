/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A campaign decided again, as one JSON object (jansson). */
#include "report/again.h"

#include "report/json_value.h"

static json_t *verdict(enum verdict v)
{
	return v == VERDICT_UNSET ? json_null() : json_string(verdict_name(v));
}

static json_t *settings(const struct report_again *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->n_settings; i++)
		json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "key",
						      json_of_text(a->setting[i].key), "before",
						      json_of_text(a->setting[i].before), "after",
						      json_of_text(a->setting[i].after)));
	return list;
}

static json_t *end(const struct report *r, size_t i, const struct commit_id *id)
{
	const struct report_commit *c = i < r->n_tested ? &r->tested[i] : NULL;

	return json_pack("{s:o, s:o, s:o}", "commit", json_of_commit(id), "estimate",
			 c && c->has_interval ? json_of_number(c->interval.estimate) : json_null(),
			 "interval", json_of_interval(c && c->has_interval ? &c->interval : NULL));
}

static json_t *left(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_left; i++)
		json_array_append_new(list, json_of_commit(&r->left[i]));
	return list;
}

static json_t *tested(const struct report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_tested; i++)
		json_array_append_new(list, json_pack("{s:o, s:o}", "commit",
						      json_of_commit(&r->tested[i].id), "verdict",
						      verdict(r->tested[i].verdict)));
	return list;
}

static json_t *side(const struct report *r)
{
	json_t *o = json_object();
	bool found = str_eq(report_status_name(r), "found");
	const char *better = r->ends.better == METRIC_HIGHER ? "higher" : "lower";

	json_object_set_new(o, "status", json_string(report_status_name(r)));
	json_object_set_new(o, "culprit", found ? json_of_commit(&r->culprit.id) : json_null());
	json_object_set_new(o, "confidence",
			    found ? json_of_number(r->culprit_share) : json_null());
	json_object_set_new(o, "left", left(r));
	json_object_set_new(o, "metric", json_of_text(r->metric));
	json_object_set_new(o, "unit", json_of_text(r->unit));
	json_object_set_new(o, "threshold",
			    r->ends.state ? json_of_number(r->ends.threshold) : json_null());
	json_object_set_new(o, "better", r->ends.state ? json_string(better) : json_null());
	json_object_set_new(o, "good", end(r, r->good, &r->good_id));
	json_object_set_new(o, "bad", end(r, r->bad, &r->bad_id));
	json_object_set_new(o, "tested", tested(r));
	return o;
}

static json_t *commits(const struct report_again *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->n_commits; i++) {
		const struct report_again_commit *c = &a->commit[i];

		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:b, s:i, s:i, s:o, s:o}", "commit",
					json_of_commit(&c->id), "before", verdict(c->before),
					"after", verdict(c->after), "asked", (int)c->asked,
					"stored", (int)c->stored, "used", (int)c->used, "estimate",
					c->has_interval ? json_of_number(c->interval.estimate)
							: json_null(),
					"interval",
					json_of_interval(c->has_interval ? &c->interval : NULL)));
	}
	return list;
}

static json_t *needs(const struct report_needs *n)
{
	if (!n->phase)
		return json_null();
	return json_pack("{s:s, s:o, s:i, s:i, s:o, s:i, s:i}", "phase",
			 engine_phase_name(n->phase), "commit", json_of_commit(&n->commit),
			 "stored", (int)n->stored, "at_least", (int)n->at_least, "at_most",
			 n->at_most ? json_integer(n->at_most) : json_null(), "steps",
			 (int)n->steps, "each", (int)n->each);
}

static json_t *go_on(const struct report_go_on *g)
{
	return json_pack("{s:b, s:o, s:i, s:i}", "ended", (int)(g->status != ENGINE_RUNNING),
			 "culprit", json_of_commit(&g->culprit), "left", (int)g->left, "steps",
			 (int)g->steps);
}

void report_again_json(const struct report_again *a, FILE *out)
{
	json_t *o = json_object();

	json_object_set_new(o, "schema", json_integer(JSON_SCHEMA));
	json_object_set_new(o, "settings", settings(a));
	json_object_set_new(o, "before", side(&a->before));
	json_object_set_new(o, "after", side(&a->after));
	json_object_set_new(o, "commits", commits(a));
	json_object_set_new(o, "search",
			    json_pack("{s:i, s:o, s:o}", "same", (int)a->same, "next",
				      json_of_commit(report_again_next(a, false)), "instead_of",
				      json_of_commit(report_again_next(a, true))));
	json_object_set_new(o, "needs", needs(&a->needs));
	json_object_set_new(o, "go_on", go_on(&a->go_on));
	json_object_set_new(o, "trials",
			    json_pack("{s:i, s:i, s:i, s:i, s:i}", "stored", (int)a->stored, "used",
				      (int)a->used, "other_setup", (int)a->other_setup, "no_value",
				      (int)a->no_value, "mended", (int)a->mended));
	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(JSON_PRECISION));
	fputc('\n', out);
	json_decref(o);
}
