/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels side by side: one JSON object. */
#include "report/compare.h"

#include <math.h>

#include "report/json_value.h"

static json_t *texts(const struct strv *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(list, json_of_text(v->v[i]));
	return list;
}

static json_t *kernels(const struct report_compare *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_kernels; i++) {
		const struct compare_report_kernel *k = &r->kernel[i];

		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kernel",
					json_of_text(k->word), "commit", json_of_commit(&k->id),
					"base", json_of_commit(&k->base), "reverted",
					texts(&k->reverted), "patches", texts(&k->patches),
					"subject", json_of_text(k->subject), "build_failure",
					json_of_text(k->failed)));
	}
	return list;
}

static json_t *variants(const struct report_compare *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_variants && r->variant[0].name[0]; i++)
		json_array_append_new(list, json_pack("{s:o, s:o}", "name",
						      json_of_text(r->variant[i].name), "settings",
						      json_of_text(r->variant[i].settings)));
	return list;
}

static json_t *variant_name(const struct report_compare *r, size_t i)
{
	return r->variant[i].name[0] ? json_of_text(r->variant[i].name) : json_null();
}

static json_t *interval(const struct compare_contrast *c, double scale)
{
	const struct stats_interval i = { c->estimate, scale * c->low, scale * c->high };

	return json_of_interval(&i);
}

static json_t *boots(const struct compare_report_cell *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n_boots; i++) {
		const struct compare_report_boot *b = &c->boot[i];

		json_array_append_new(
			list,
			json_pack("{s:I, s:s, s:o}", "trial", (json_int_t)b->trial, "outcome",
				  trial_outcome_name(b->outcome), "value",
				  b->outcome == TRIAL_OK ? json_of_number(b->value) : json_null()));
	}
	return list;
}

static void set_change(json_t *o, const struct compare_contrast *change, double p_corrected,
		       bool significant)
{
	json_object_set_new(o, "change_percent", json_of_number(100 * change->estimate));
	json_object_set_new(o, "change_interval", interval(change, 100));
	json_object_set_new(o, "p", json_of_number(change->p));
	json_object_set_new(o, "p_corrected", json_of_number(p_corrected));
	json_object_set_new(o, "significant", json_boolean(significant));
}

static json_t *cell(const struct report_compare *r, size_t i)
{
	const struct compare_report_cell *c = &r->cell[i];
	json_t *o = json_pack(
		"{s:I, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "kernel",
		(json_int_t)c->kernel, "variant", variant_name(r, c->variant), "value",
		r->sweep ? json_of_text(r->points.v[c->point]) : json_null(), "reference",
		c->reference == i, "boots", boots(c), "median", json_of_number(c->median),
		"min_percent", json_of_number(100 * c->min / c->median), "max_percent",
		json_of_number(100 * c->max / c->median), "mean", json_of_number(c->mean.estimate),
		"interval", interval(&c->mean, 1), "interleaved", !c->apart);

	set_change(o, &c->change, c->p_corrected, c->significant);
	return o;
}

static json_t *averages(const struct report_compare *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_averages; i++) {
		const struct compare_report_average *a = &r->average[i];
		json_t *o = json_pack("{s:I, s:o, s:b, s:o, s:o}", "kernel", (json_int_t)a->kernel,
				      "variant", variant_name(r, a->variant), "reference",
				      a->is_reference, "mean", json_of_number(a->mean.estimate),
				      "interval", interval(&a->mean, 1));

		set_change(o, &a->change, a->p_corrected, a->significant);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *outliers(const struct report_compare *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_outliers; i++) {
		const struct compare_report_outlier *o = &r->outlier[i];
		const struct compare_report_boot *b = &r->cell[o->cell].boot[o->boot];

		json_array_append_new(list,
				      json_pack("{s:I, s:I, s:o, s:o, s:o}", "cell",
						(json_int_t)o->cell, "trial", (json_int_t)b->trial,
						"value", json_of_number(b->value), "others_mean",
						json_of_number(o->others), "change_percent_without",
						json_of_number(100 * o->change)));
	}
	return list;
}

static json_t *profile(const struct report_compare *r, const struct compare_report_profile *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->evidence.n_symbols; i++) {
		const struct evidence_symbol *s = &p->evidence.symbols[i];

		json_array_append_new(
			list,
			json_pack("{s:o, s:o, s:o, s:o, s:o}", "symbol", json_of_text(s->name),
				  "reference_percent", json_of_number(100 * s->side[0].mean),
				  "percent", json_of_number(100 * s->side[1].mean), "difference",
				  json_of_number(100 * (s->side[1].mean - s->side[0].mean)),
				  "error", json_of_number(100 * s->error)));
	}
	return json_pack("{s:I, s:o, s:o}", "kernel", (json_int_t)p->kernel, "variant",
			 variant_name(r, p->variant), "symbols", list);
}

void report_compare_json(const struct report_compare *r, FILE *out)
{
	static const char *const better[] = {
		[METRIC_LOWER] = "lower", [METRIC_HIGHER] = "higher"
	};
	json_t *o = json_pack("{s:i, s:o, s:o, s:o, s:o, s:I, s:o, s:o}", "schema", JSON_SCHEMA,
			      "campaign", json_of_text(r->name), "metric", json_of_text(r->metric),
			      "unit", json_of_text(r->unit), "better",
			      json_of_text(better[r->better]), "boots", (json_int_t)r->boots,
			      "kernels", kernels(r), "variants", variants(r));
	json_t *cells = json_array(), *profiles = json_array();

	json_object_set_new(o, "confidence", json_of_number(r->confidence));
	json_object_set_new(o, "sweep",
			    r->sweep ? json_pack("{s:o, s:o}", "name", json_of_text(r->sweep),
						 "values", texts(&r->points))
				     : json_null());
	json_object_set_new(o, "test", json_string("welch"));
	json_object_set_new(o, "correction", json_string("holm"));
	json_object_set_new(o, "comparisons", json_integer((json_int_t)r->tests));
	for (size_t i = 0; i < r->n_cells; i++)
		json_array_append_new(cells, cell(r, i));
	json_object_set_new(o, "cells", cells);
	json_object_set_new(o, "averages", averages(r));
	json_object_set_new(o, "outliers", outliers(r));
	for (size_t i = 0; i < r->n_profiles; i++)
		json_array_append_new(profiles, profile(r, &r->profile[i]));
	json_object_set_new(o, "profiles", profiles);
	json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(JSON_PRECISION));
	fputc('\n', out);
	json_decref(o);
}
