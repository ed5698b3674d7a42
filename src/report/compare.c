/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels side by side: the data, and its tables as text. */
#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/print.h"

#define COLUMNS_MAX 10
#define SYMBOLS_MAX 20
#define WORD_MAX 60 /* columns of a kernel's name in a table */

static void release_cell(struct compare_report_cell *c)
{
	for (size_t i = 0; i < c->n_boots; i++)
		free(c->boot[i].detail);
	free(c->boot);
}

static void release_kernel(struct compare_report_kernel *k)
{
	free(k->word);
	free(k->subject);
	free(k->failed);
	strv_release(&k->reverted);
	strv_release(&k->patches);
}

void report_compare_release(struct report_compare *r)
{
	for (size_t i = 0; i < r->n_kernels; i++)
		release_kernel(&r->kernel[i]);
	for (size_t i = 0; i < r->n_variants; i++) {
		free(r->variant[i].name);
		free(r->variant[i].settings);
	}
	for (size_t i = 0; i < r->n_cells; i++)
		release_cell(&r->cell[i]);
	for (size_t i = 0; i < r->n_profiles; i++)
		report_evidence_release(&r->profile[i].evidence);
	strv_release(&r->points);
	free(r->name);
	free(r->metric);
	free(r->unit);
	free(r->state);
	free(r->sweep);
	free(r->kernel);
	free(r->variant);
	free(r->cell);
	free(r->average);
	free(r->outlier);
	free(r->profile);
	*r = (struct report_compare){ .name = NULL };
}

bool report_compare_lacks(const struct report_compare *r)
{
	for (size_t i = 0; i < r->n_cells; i++)
		if (!r->cell[i].n)
			return true;
	return false;
}

void report_compare_cell_name(const struct report_compare *r, const struct compare_report_cell *c,
			      struct str *out)
{
	escape_cut(out, r->kernel[c->kernel].word, WORD_MAX);
	if (r->variant[c->variant].name[0])
		str_addf(out, ", %s", r->variant[c->variant].name);
	if (r->sweep) {
		str_addf(out, ", %s=", r->sweep);
		escape_cut(out, r->points.v[c->point], WORD_MAX);
	}
}

/* ---- a table: cells of text, as wide as they must be ---- */

struct table {
	struct strv text; /* row by row */
	size_t columns;
	bool right[COLUMNS_MAX]; /* numbers stand at the right */
};

static void add_cell(struct table *t, const char *text)
{
	strv_add(&t->text, text);
}

static void print_line(const struct table *t, size_t row, const size_t *width, FILE *out)
{
	_cleanup_str_ struct str line = STR_INIT;

	for (size_t i = 0; i < t->columns; i++) {
		const char *text = t->text.v[row * t->columns + i];
		int pad = (int)(width[i] - escape_columns(text));

		if (t->right[i])
			str_addf(&line, "  %*s%s", pad, "", text);
		else
			str_addf(&line, "  %s%*s", text, pad, "");
	}
	while (line.len && line.buf[line.len - 1] == ' ')
		line.buf[--line.len] = '\0';
	fprintf(out, "%s\n", str_text(&line));
}

static void print_table(struct table *t, FILE *out)
{
	size_t width[COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < t->text.n; i++) {
		size_t w = escape_columns(t->text.v[i]), column = i % t->columns;

		width[column] = w > width[column] ? w : width[column];
	}
	for (size_t i = 0; i < t->text.n / t->columns; i++)
		print_line(t, i, width, out);
	strv_release(&t->text);
}

static void add_percent(struct table *t, double part, double whole)
{
	char buf[32];

	if (isnan(part) || !isfinite(whole) || whole == 0)
		snprintf(buf, sizeof(buf), "-");
	else
		snprintf(buf, sizeof(buf), "%.1f%%", 100 * part / whole);
	add_cell(t, buf);
}

/* "12.4 [11.9, 12.9]" */
static void add_mean(struct table *t, const struct compare_contrast *c)
{
	const struct stats_interval i = { c->estimate, c->low, c->high };
	char buf[96];

	add_cell(t, isnan(c->estimate) ? "-" : report_interval(&i, "", buf, sizeof(buf)));
}

static void add_change(struct table *t, const struct compare_contrast *c, bool is_reference)
{
	char buf[96];

	if (is_reference || isnan(c->estimate))
		snprintf(buf, sizeof(buf), "%s", is_reference ? "reference" : "-");
	else if (!isfinite(c->low) || !isfinite(c->high))
		snprintf(buf, sizeof(buf), "%+.2f%% [not known]", 100 * c->estimate);
	else
		snprintf(buf, sizeof(buf), "%+.2f%% [%+.2f, %+.2f]", 100 * c->estimate,
			 100 * c->low, 100 * c->high);
	add_cell(t, buf);
}

static void add_p(struct table *t, double p, bool significant)
{
	char buf[40];

	if (isnan(p))
		snprintf(buf, sizeof(buf), "%s", "");
	else if (p < 0.001)
		snprintf(buf, sizeof(buf), "<0.001 %s", significant ? "*" : "");
	else
		snprintf(buf, sizeof(buf), "%.3f %s", p, significant ? "*" : "");
	add_cell(t, buf);
}

static void add_names(struct table *t, const struct report_compare *r, size_t kernel,
		      size_t variant)
{
	_cleanup_str_ struct str word = STR_INIT;

	escape_cut(&word, r->kernel[kernel].word, WORD_MAX);
	add_cell(t, str_text(&word));
	if (r->variant[0].name[0])
		add_cell(t, r->variant[variant].name);
}

static void head_names(struct table *t, const struct report_compare *r)
{
	add_cell(t, "kernel");
	if (r->variant[0].name[0])
		add_cell(t, "variant");
}

static void set_columns(struct table *t, size_t names, size_t numbers)
{
	t->columns = names + numbers + 3;
	for (size_t i = names; i < names + numbers; i++)
		t->right[i] = true;
}

static void print_cells(const struct report_compare *r, FILE *out)
{
	struct table t = { .columns = 0 };
	size_t names = 1 + (r->variant[0].name[0] != 0) + (r->sweep != NULL);
	char number[64], percent[32];

	set_columns(&t, names, 4);
	head_names(&t, r);
	if (r->sweep)
		add_cell(&t, r->sweep);
	snprintf(percent, sizeof(percent), "mean [%g%%]", 100 * r->confidence);
	for (size_t i = 0; i < 7; i++)
		add_cell(&t, (const char *[]){ "boots", "median", "min", "max", percent, "change",
					       "p" }[i]);
	for (size_t i = 0; i < r->n_cells; i++) {
		const struct compare_report_cell *c = &r->cell[i];

		add_names(&t, r, c->kernel, c->variant);
		if (r->sweep) {
			_cleanup_str_ struct str value = STR_INIT;

			escape_cut(&value, r->points.v[c->point], WORD_MAX);
			add_cell(&t, str_text(&value));
		}
		snprintf(number, sizeof(number), "%u", c->n);
		add_cell(&t, number);
		add_cell(&t, c->n ? report_number(c->median, number, sizeof(number)) : "-");
		add_percent(&t, c->min, c->median);
		add_percent(&t, c->max, c->median);
		add_mean(&t, &c->mean);
		add_change(&t, &c->change, c->reference == i);
		add_p(&t, c->p_corrected, c->significant);
	}
	print_table(&t, out);
}

static void print_averages(const struct report_compare *r, FILE *out)
{
	struct table t = { .columns = 0 };
	char from[32], to[32];

	if (!r->n_averages)
		return;
	fprintf(out,
		"\nAveraged over the %zu value%s of %s from %s to %s, each with the same weight:\n",
		r->average_points, r->average_points == 1 ? "" : "s", r->sweep,
		report_number(r->average_from, from, sizeof(from)),
		report_number(r->average_to, to, sizeof(to)));
	set_columns(&t, 1 + (r->variant[0].name[0] != 0), 0);
	head_names(&t, r);
	for (size_t i = 0; i < 3; i++)
		add_cell(&t, (const char *[]){ "mean", "change", "p" }[i]);
	for (size_t i = 0; i < r->n_averages; i++) {
		const struct compare_report_average *a = &r->average[i];

		add_names(&t, r, a->kernel, a->variant);
		add_mean(&t, &a->mean);
		add_change(&t, &a->change, a->is_reference);
		add_p(&t, a->p_corrected, a->significant);
	}
	print_table(&t, out);
}

/* ---- what else there is to know ---- */

static void print_head(const struct report_compare *r, FILE *out)
{
	static const char *const better[] = {
		[METRIC_LOWER] = ", lower is better", [METRIC_HIGHER] = ", higher is better"
	};
	char hex[COMMIT_HEX + 1];

	print_clean(out, r->metric);
	if (r->unit[0]) {
		fputs(" in ", out);
		print_clean(out, r->unit);
	}
	fprintf(out, "%s; %u boots of each, interleaved\n\n",
		better[r->better] ? better[r->better] : "", r->boots);
	for (size_t i = 0; i < r->n_kernels; i++) {
		const struct compare_report_kernel *k = &r->kernel[i];
		_cleanup_str_ struct str word = STR_INIT;

		escape_cut(&word, k->word, WORD_MAX);
		fprintf(out, "  %s is %.12s", str_text(&word), commit_hex(&k->id, hex));
		if (!commit_eq(&k->id, &k->base))
			fprintf(out, ", made on %.12s", commit_hex(&k->base, hex));
		fputs(", ", out);
		print_clean(out, k->subject);
		fputs("\n", out);
	}
	for (size_t i = 0; i < r->n_variants && r->variant[0].name[0]; i++) {
		fprintf(out, "  variant %s: ", r->variant[i].name);
		print_clean(out, r->variant[i].settings[0] ? r->variant[i].settings : "as it is");
		fputc('\n', out);
	}
	fputc('\n', out);
}

static void print_legend(const struct report_compare *r, FILE *out)
{
	size_t tests = r->tests;

	fputs("\nmin and max are in percent of the median. A boot counts once, with the median of "
	      "its "
	      "runs.\n",
	      out);
	if (!tests)
		return;
	fprintf(out,
		"change: of the mean, against %s.\n"
		"p: Welch's test, corrected for the %zu comparison%s of the table (Holm)%s; * p < "
		"%g.\n",
		r->n_kernels > 1 ? "the first kernel with the same settings" : "the first variant",
		tests, tests == 1 ? "" : "s",
		r->n_averages && r->average_tests != tests ? ", the averages for themselves" : "",
		round((1 - r->confidence) * 1e9) / 1e9);
}

static void print_outliers(const struct report_compare *r, FILE *out)
{
	char value[32], others[32];

	if (!r->n_outliers)
		return;
	fputs("\nBoots far from the others of their kind (Grubbs' test); they are in all numbers "
	      "above:\n",
	      out);
	for (size_t i = 0; i < r->n_outliers; i++) {
		const struct compare_report_outlier *o = &r->outlier[i];
		const struct compare_report_cell *c = &r->cell[o->cell];
		const struct compare_report_boot *b = &c->boot[o->boot];
		_cleanup_str_ struct str name = STR_INIT;

		report_compare_cell_name(r, c, &name);
		fprintf(out, "  %s: boot %zu (trial %lld) has %s, the others' mean is %s",
			str_text(&name), o->boot + 1, (long long)b->trial,
			report_number(b->value, value, sizeof(value)),
			report_number(o->others, others, sizeof(others)));
		if (!isnan(o->change))
			fprintf(out, "; without it the change would be %+.2f%%, not %+.2f%%",
				100 * o->change, 100 * c->change.estimate);
		fputc('\n', out);
	}
}

static void print_failures(const struct report_compare *r, FILE *out)
{
	for (size_t i = 0; i < r->n_kernels; i++) {
		if (!r->kernel[i].failed)
			continue;
		fputs("\nThe kernel ", out);
		print_clean(out, r->kernel[i].word);
		fputs(" cannot be built: ", out);
		print_clean(out, r->kernel[i].failed);
		fputc('\n', out);
	}
	for (size_t i = 0; i < r->n_cells; i++) {
		const struct compare_report_cell *c = &r->cell[i];
		_cleanup_str_ struct str name = STR_INIT;

		report_compare_cell_name(r, c, &name);
		for (size_t j = 0; j < c->n_boots; j++) {
			const struct compare_report_boot *b = &c->boot[j];

			if (b->outcome == TRIAL_OK)
				continue;
			fprintf(out, "\n%s: boot %zu (trial %lld): %s: ", str_text(&name), j + 1,
				(long long)b->trial, print_outcome(b->outcome));
			print_clean(out, b->detail);
			fputc('\n', out);
		}
	}
}

static void print_apart(const struct report_compare *r, FILE *out)
{
	for (size_t i = 0; i < r->n_cells; i++) {
		_cleanup_str_ struct str name = STR_INIT;

		if (!r->cell[i].apart)
			continue;
		report_compare_cell_name(r, &r->cell[i], &name);
		fprintf(out,
			"\n%s: all its boots lie before or after those of its reference, of "
			"another\n"
			"comparison: a drift of the machine is in the change (more boots = mix "
			"them)\n",
			str_text(&name));
	}
}

static void print_profile(const struct report_compare *r, const struct compare_report_profile *p,
			  FILE *out)
{
	const struct report_evidence *v = &p->evidence;

	fputs("\nProfile of ", out);
	print_clean(out, r->kernel[p->kernel].word);
	fputs(" against ", out);
	print_clean(out, r->kernel[0].word);
	if (r->variant[0].name[0])
		fprintf(out, ", %s", r->variant[p->variant].name);
	fprintf(out, " (%llu and %llu samples in %u and %u boots):\n",
		(unsigned long long)v->profile_samples[1],
		(unsigned long long)v->profile_samples[0], v->profile_boots[1],
		v->profile_boots[0]);
	if (!v->n_symbols) {
		fputs("  no sample came\n", out);
		return;
	}
	if (v->profile_how) {
		fputs("  ", out);
		print_clean(out, v->profile_how);
		fputc('\n', out);
	}
	fputs("  reference    kernel  difference\n", out);
	for (size_t i = 0; i < v->n_symbols && i < SYMBOLS_MAX; i++) {
		const struct evidence_symbol *s = &v->symbols[i];

		fprintf(out, "    %6.2f%%   %6.2f%%    %+7.2f ± %-5.2f  ", 100 * s->side[0].mean,
			100 * s->side[1].mean, 100 * (s->side[1].mean - s->side[0].mean),
			100 * s->error);
		print_clean(out, s->name);
		fputc('\n', out);
	}
}

void report_compare_text(const struct report_compare *r, FILE *out)
{
	print_head(r, out);
	print_cells(r, out);
	print_averages(r, out);
	print_legend(r, out);
	print_outliers(r, out);
	print_failures(r, out);
	print_apart(r, out);
	for (size_t i = 0; i < r->n_profiles; i++)
		print_profile(r, &r->profile[i], out);
}
