/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress report --format json: the object of run --json, and the rows behind it (jansson). */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_value.h"
#include "report/record.h"

static json_t *interval(const struct stats_interval *i)
{
	return json_pack("{s:o, s:o}", "estimate", json_of_number(i->estimate), "interval",
			 json_of_interval(i));
}

/* A name in a small table, null for the first. */
static json_t *word(const char *const *words, size_t n, unsigned i)
{
	return i && i < n ? json_string(words[i]) : json_null();
}

static json_t *confirm(const struct report *r)
{
	static const char *const state[] = { NULL,           "unfinished",  "confirmed",
					     "contradicted", "fails_again", "unmeasured" };
	static const char *const revert[] = { NULL,     "measured", "conflicts",
					      "failed", "same",     "not_built" };
	static const char *const test[] = { NULL, "welch", "pooled", "exact" };
	const struct report_confirm *c = &r->confirm;
	bool pair = c->state == CONFIRM_YES || c->state == CONFIRM_NO;
	json_t *o;

	if (!c->state)
		return json_null();
	o = json_pack("{s:o, s:i, s:o, s:o}", "state", word(state, ARRAY_SIZE(state), c->state),
		      "boots", (int)c->boots, "detail", json_of_text(c->detail), "revert",
		      word(revert, ARRAY_SIZE(revert), c->revert));
	json_object_set_new(o, "parent", pair ? interval(&c->parent_side) : json_null());
	json_object_set_new(o, "culprit", pair ? interval(&c->culprit_side) : json_null());
	json_object_set_new(o, "difference", pair ? interval(&c->diff) : json_null());
	json_object_set_new(o, "p", pair ? json_of_number(c->p) : json_null());
	json_object_set_new(o, "test", pair ? word(test, ARRAY_SIZE(test), c->test) : json_null());
	if (c->undecided)
		json_object_set_new(o, "state", json_string("undecided"));
	json_object_set_new(o, "ends_percent", json_of_number(c->ends_percent));
	json_object_set_new(o, "by_hand", json_of_text(c->by_hand));
	json_object_set_new(o, "reverted_percent",
			    c->revert == REVERT_MEASURED ? json_of_number(c->revert_percent)
							 : json_null());
	json_object_set_new(o, "applied_percent",
			    c->apply == REVERT_MEASURED ? json_of_number(c->apply_percent)
							: json_null());
	json_object_set_new(o, "reverted",
			    c->revert == REVERT_MEASURED ? interval(&c->revert_side) : json_null());
	json_object_set_new(o, "revert_detail", json_of_text(c->revert_detail));
	json_object_set_new(o, "apply", word(revert, ARRAY_SIZE(revert), c->apply));
	json_object_set_new(o, "applied",
			    c->apply == REVERT_MEASURED ? interval(&c->apply_side) : json_null());
	json_object_set_new(o, "apply_detail", json_of_text(c->apply_detail));
	return o;
}

static json_t *facts(const struct record *d)
{
	json_t *o = json_object();

	for (size_t i = 0; i < d->n_facts; i++) {
		_cleanup_str_ struct str name = STR_INIT;

		str_neutralise(&name, d->fact[i].name, strlen(d->fact[i].name), false);
		json_object_set_new(o, str_text(&name), json_of_text(d->fact[i].value));
	}
	if (d->compiler)
		json_object_set_new(o, "compiler", json_of_text(d->compiler));
	return o;
}

static json_t *samples(const struct record *d, const struct record_trial *t)
{
	json_t *o = json_object();

	for (size_t i = 0; i < t->n_values; i++) {
		const char *metric = d->metric[t->values[i].metric].name;
		_cleanup_str_ struct str name = STR_INIT;
		json_t *list = json_array();

		str_neutralise(&name, metric, strlen(metric), false);
		for (size_t j = 0; j < t->values[i].n; j++)
			json_array_append_new(list, json_of_number(t->values[i].v[j]));
		json_object_set_new(o, str_text(&name), list);
	}
	return o;
}

static json_t *trials(const struct record *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->n_trials; i++) {
		const struct record_trial *t = &d->trial[i];

		json_array_append_new(
			list,
			json_pack("{s:I, s:I, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:b}", "trial",
				  (json_int_t)t->id, "time", (json_int_t)t->time, "commit",
				  json_of_commit(&t->commit), "purpose", json_of_text(t->purpose),
				  "outcome", trial_outcome_name(t->outcome), "detail",
				  json_of_text(t->detail), "dir", json_of_text(t->dir), "twin",
				  t->twin ? json_integer(t->twin) : json_null(), "samples",
				  samples(d, t), "counts", (int)t->counts));
	}
	return list;
}

/* Tested commits with what a person reads of them, in the order of history. */
static json_t *commits(const struct record *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->n_commits; i++) {
		const struct record_commit *c = &d->commit[i];
		const struct report_commit *t = c->tested;

		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o, s:o, s:o}", "commit",
						json_of_commit(&c->id), "position",
						c->placed ? json_integer(c->position) : json_null(),
						"role", json_of_text(c->role), "subject",
						json_of_text(t ? t->subject : NULL), "author",
						json_of_text(t ? t->author : NULL)));
	}
	return list;
}

static json_t *pair(const char *key, const char *name, const struct evidence_side *side)
{
	return json_pack("{s:o, s:o, s:o}", key, json_of_text(name), "parent",
			 json_of_number(side[EVIDENCE_PARENT].mean), "culprit",
			 json_of_number(side[EVIDENCE_CULPRIT].mean));
}

static json_t *counters(const struct report_evidence *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n_counters; i++) {
		json_t *o = pair("name", v->counters[i].name, v->counters[i].side);

		json_object_set_new(o, "moved", json_of_number(v->counters[i].t));
		json_object_set_new(o, "q", json_of_number(v->counters[i].q));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *stacks(const struct report_evidence *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n_stacks; i++) {
		json_t *o = pair("in", v->stacks[i].in, v->stacks[i].side);

		json_object_set_new(o, "under", json_of_text(v->stacks[i].under));
		json_object_set_new(o, "frames", json_of_text(v->stacks[i].frames));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *evidence(const struct report *r, const struct record *d)
{
	const struct report_evidence *v = &r->evidence;
	json_t *profile = json_array(), *posterior = json_array();

	for (size_t i = 0; i < v->n_symbols; i++)
		json_array_append_new(profile,
				      pair("symbol", v->symbols[i].name, v->symbols[i].side));
	for (size_t i = 0; i < d->posterior.n; i++)
		json_array_append_new(posterior,
				      json_pack("{s:o, s:o}", "commit",
						json_of_commit(&d->posterior.share[i].id), "share",
						json_of_number(d->posterior.share[i].share)));
	return json_pack("{s:o, s:o, s:o, s:o}", "counters", counters(v), "stacks", stacks(v),
			 "profile", profile, "posterior", posterior);
}

/* What run --json prints, read back: the keys that are fixed have one source. */
static json_t *base(const struct report *r)
{
	char *line = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&line, &n);
	json_t *o;

	report_json(r, f);
	fclose(f);
	o = json_loads(line, 0, NULL);
	free(line);
	return o ? o : json_object();
}

void report_json_long(const struct report *r, const struct record *d, FILE *out)
{
	json_t *o = base(r);

	json_object_set_new(o, "name", json_of_text(r->name));
	json_object_set_new(o, "hunt", json_string(r->fix ? "fix" : "regression"));
	json_object_set_new(o, "range", json_of_text(d->title));
	json_object_set_new(o, "threshold",
			    r->ends.state ? json_of_number(r->ends.threshold) : json_null());
	json_object_set_new(o, "confirm", confirm(r));
	json_object_set_new(o, "facts", facts(d));
	json_object_set_new(o, "commits", commits(d));
	json_object_set_new(o, "log", trials(d));
	json_object_set_new(o, "evidence", evidence(r, d));
	json_object_set_new(o, "campaign", json_of_text(d->campaign));
	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(JSON_PRECISION));
	fputc('\n', out);
	json_decref(o);
}
