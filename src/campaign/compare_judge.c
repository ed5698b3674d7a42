/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels measured side by side: from stored boots to the numbers of the report. */
#include "campaign/compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/stats.h"

#define OUTLIER_ALPHA 0.05

/* The values of one cell. */
struct values {
	double *v;
	size_t n;
	size_t *boot; /* which boot each is of */
};

struct judging {
	struct comparison *c;
	struct report_compare *r;
	struct values *values; /* of each cell */
	double alpha;
};

static void judging_release(struct judging *g)
{
	for (size_t i = 0; i < g->r->n_cells; i++) {
		free(g->values[i].v);
		free(g->values[i].boot);
	}
	free(g->values);
}

static void copy_kernels(const struct comparison *c, struct report_compare *r)
{
	r->kernel = xcalloc(c->n_kernels, sizeof(*r->kernel));
	for (; r->n_kernels < c->n_kernels; r->n_kernels++) {
		const struct compare_kernel *k = &c->kernel[r->n_kernels];
		struct compare_report_kernel *to = &r->kernel[r->n_kernels];

		*to = (struct compare_report_kernel){
			.word = xstrdup(k->word),
			.id = k->id,
			.base = k->base,
			.subject = xstrdup(k->subject ? k->subject : ""),
			.failed = k->failed ? xstrdup(k->detail ? k->detail : "") : NULL,
		};
		strv_extend(&to->reverted, &k->reverted);
		strv_extend(&to->patches, &k->patches);
	}
}

static void copy_plan(const struct comparison *c, struct report_compare *r)
{
	const struct config *cfg = c->cfg;

	r->name = xstrdup(cfg->campaign.name);
	r->metric = xstrdup(c->s->metric->name);
	r->unit = xstrdup(c->s->unit ? c->s->unit : "");
	r->state = xstrdup(cfg->campaign.state);
	r->better = c->s->verdict.better;
	r->confidence = c->s->verdict.confidence;
	r->boots = cfg->compare.boots;
	r->measured = c->measured;
	r->variant = xcalloc(c->n_variants, sizeof(*r->variant));
	for (; r->n_variants < c->n_variants; r->n_variants++) {
		const struct config_patch *v = cfg->compare.variant.n
						       ? &cfg->compare.variant.v[r->n_variants]
						       : NULL;
		_cleanup_str_ struct str text = STR_INIT;

		if (v)
			str_join_words(&text, v->words.v);
		r->variant[r->n_variants] = (struct compare_report_variant){
			xstrdup(v ? v->name : ""), xstrdup(str_text(&text))
		};
	}
	if (cfg->compare.sweep.name) {
		r->sweep = xstrdup(cfg->compare.sweep.name);
		strv_extend(&r->points, &cfg->compare.sweep.values);
	} else {
		strv_add(&r->points, "");
	}
}

static void copy_boots(const struct compare_cell *from, struct compare_report_cell *to,
		       struct values *v)
{
	to->boot = xcalloc(from->n, sizeof(*to->boot));
	v->v = xcalloc(from->n, sizeof(*v->v));
	v->boot = xcalloc(from->n, sizeof(*v->boot));
	for (; to->n_boots < from->n; to->n_boots++) {
		const struct compare_boot *b = &from->boot[to->n_boots];

		to->boot[to->n_boots] = (struct compare_report_boot){ b->trial, b->outcome,
								      b->value,
								      xstrdup(b->detail) };
		if (b->outcome != TRIAL_OK)
			continue;
		v->boot[v->n] = to->n_boots;
		v->v[v->n++] = b->value;
	}
}

static void sum_up(struct compare_report_cell *to, const struct values *v, double alpha)
{
	struct compare_term term = { v->v, v->n, 1 };

	to->n = (unsigned)v->n;
	to->median = to->min = to->max = NAN;
	compare_contrast(&term, 1, alpha, &to->mean);
	if (!v->n)
		return;
	to->median = stats_median(v->v, v->n);
	to->min = to->max = v->v[0];
	for (size_t i = 1; i < v->n; i++) {
		to->min = fmin(to->min, v->v[i]);
		to->max = fmax(to->max, v->v[i]);
	}
}

/* With one kernel it is the variants that are compared. */
static size_t reference_of(const struct comparison *c, size_t i)
{
	size_t setup = i / c->n_kernels;

	return c->n_kernels > 1 ? setup * c->n_kernels : setup % c->n_points;
}

/* Did all boots of one come before all of the other? One boot each says nothing. */
static bool lie_apart(const struct compare_report_cell *a, const struct compare_report_cell *b)
{
	if (a->n_boots < 2 || b->n_boots < 2)
		return false;
	return a->boot[a->n_boots - 1].trial < b->boot[0].trial ||
	       b->boot[b->n_boots - 1].trial < a->boot[0].trial;
}

static struct compare_pair pair_of(const struct judging *g, size_t i)
{
	const struct values *v = &g->values[i], *ref = &g->values[g->r->cell[i].reference];

	return (struct compare_pair){ v->v, ref->v, v->n, ref->n };
}

static void none(struct compare_contrast *c)
{
	*c = (struct compare_contrast){ .estimate = NAN, .low = NAN, .high = NAN, .p = NAN };
}

static void judge_cells(struct judging *g)
{
	struct report_compare *r = g->r;
	_cleanup_free_ double *p = xcalloc(r->n_cells, sizeof(*p));

	for (size_t i = 0; i < r->n_cells; i++) {
		struct compare_report_cell *cell = &r->cell[i];
		struct compare_pair pair = pair_of(g, i);

		p[i] = NAN;
		none(&cell->change);
		if (cell->reference == i)
			continue;
		compare_change(&pair, 1, g->alpha, &cell->change);
		cell->apart = !isnan(cell->change.estimate) &&
			      lie_apart(cell, &r->cell[cell->reference]);
		p[i] = cell->change.p;
	}
	r->tests = compare_holm(p, r->n_cells);
	for (size_t i = 0; i < r->n_cells; i++) {
		r->cell[i].p_corrected = p[i];
		r->cell[i].significant = p[i] < g->alpha;
	}
}

/* ---- averages ---- */

static bool in_average(const struct report_compare *r, size_t point)
{
	double v = strtod(r->points.v[point], NULL);

	return v >= r->average_from && v <= r->average_to;
}

static void average_one(const struct judging *g, struct compare_report_average *a)
{
	const struct report_compare *r = g->r;
	_cleanup_free_ struct compare_term *term = xcalloc(r->points.n, sizeof(*term));
	_cleanup_free_ struct compare_pair *pair = xcalloc(r->points.n, sizeof(*pair));
	size_t n = 0;

	for (size_t point = 0; point < r->points.n; point++) {
		size_t i = (a->variant * r->points.n + point) * r->n_kernels + a->kernel;

		if (!in_average(r, point))
			continue;
		a->is_reference = r->cell[i].reference == i;
		pair[n] = pair_of(g, i);
		term[n++] = (struct compare_term){ g->values[i].v, g->values[i].n,
						   1 / (double)r->average_points };
	}
	compare_contrast(term, n, g->alpha, &a->mean);
	none(&a->change);
	if (!a->is_reference)
		compare_change(pair, n, g->alpha, &a->change);
}

static void judge_averages(struct judging *g)
{
	const struct config_span *span = &g->c->cfg->compare.average;
	struct report_compare *r = g->r;
	size_t n = r->n_variants * r->n_kernels;
	_cleanup_free_ double *p = xcalloc(n, sizeof(*p));

	if (!span->given)
		return;
	r->average_from = span->from;
	r->average_to = span->to;
	for (size_t point = 0; point < r->points.n; point++)
		r->average_points += in_average(r, point);
	r->average = xcalloc(n, sizeof(*r->average));
	for (size_t i = 0; i < n; i++) {
		struct compare_report_average *a = &r->average[i];

		a->variant = i / r->n_kernels;
		a->kernel = i % r->n_kernels;
		average_one(g, a);
		p[i] = a->is_reference ? NAN : a->change.p;
	}
	r->n_averages = n;
	r->average_tests = compare_holm(p, n);
	for (size_t i = 0; i < n; i++) {
		r->average[i].p_corrected = p[i];
		r->average[i].significant = p[i] < g->alpha;
	}
}

/* ---- outliers ---- */

/* The cell's change against its reference if one of its values had not been. */
static double change_without(const struct judging *g, size_t i, const double *rest, size_t n)
{
	struct compare_pair pair = pair_of(g, i);
	struct compare_contrast c;

	if (g->r->cell[i].reference == i)
		return NAN;
	pair.v = rest;
	pair.n = n;
	compare_change(&pair, 1, g->alpha, &c);
	return c.estimate;
}

static void find_outlier(struct judging *g, size_t i)
{
	const struct values *v = &g->values[i];
	size_t at = compare_outlier(v->v, v->n, OUTLIER_ALPHA, g->c->s->verdict.effect), n = 0;
	_cleanup_free_ double *rest = xcalloc(v->n, sizeof(*rest));
	struct report_compare *r = g->r;

	if (at == v->n)
		return;
	for (size_t j = 0; j < v->n; j++)
		if (j != at)
			rest[n++] = v->v[j];
	r->outlier = xrealloc(r->outlier, r->n_outliers + 1, sizeof(*r->outlier));
	r->outlier[r->n_outliers++] = (struct compare_report_outlier){
		.cell = i,
		.boot = v->boot[at],
		.others = stats_mean(rest, n),
		.change = change_without(g, i, rest, n),
	};
}

int compare_judge(struct comparison *c, struct report_compare *out, struct err *e)
{
	struct judging g = { .c = c,
			     .r = out,
			     .values = xcalloc(c->n_cells, sizeof(*g.values)),
			     .alpha = 1 - c->s->verdict.confidence };

	(void)e;
	copy_kernels(c, out);
	copy_plan(c, out);
	out->cell = xcalloc(c->n_cells, sizeof(*out->cell));
	out->n_cells = c->n_cells;
	for (size_t i = 0; i < c->n_cells; i++) {
		struct compare_report_cell *cell = &out->cell[i];

		cell->kernel = i % c->n_kernels;
		cell->variant = c->setup[i / c->n_kernels].variant;
		cell->point = c->setup[i / c->n_kernels].point;
		cell->reference = reference_of(c, i);
		copy_boots(&c->cell[i], cell, &g.values[i]);
		sum_up(cell, &g.values[i], g.alpha);
	}
	judge_cells(&g);
	judge_averages(&g);
	for (size_t i = 0; i < c->n_cells; i++)
		find_outlier(&g, i);
	judging_release(&g);
	return 0;
}
