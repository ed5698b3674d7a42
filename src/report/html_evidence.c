/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters, stacks, profile and posterior in the HTML report. */
#include <math.h>

#include "report/escape.h"
#include "report/html.h"
#include "report/plot.h"

#define ROWS_MAX 50

static void table(FILE *out, const char *label, const char *first, const char *parent,
		  const char *culprit, const char *last)
{
	fprintf(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>"
		"<thead><tr><th scope=\"col\">%s</th><th scope=\"col\" class=\"n\">%s</th><th "
		"scope=\"col\" class=\"n\">%s</th><th scope=\"col\" "
		"class=\"n\">%s</th></tr></thead>"
		"<tbody>\n",
		label, first, parent, culprit, last);
}

static void table_end(FILE *out, size_t n)
{
	fputs("</tbody></table></div>\n", out);
	if (n > ROWS_MAX)
		fprintf(out, "<p class=\"dim\">… and %zu more</p>\n", n - ROWS_MAX);
	html_close(out);
}

static void numbers(FILE *out, double a, double b)
{
	char x[32], y[32];

	fprintf(out, "<td class=\"n\">%s</td><td class=\"n\">%s</td>",
		report_number(a, x, sizeof(x)), report_number(b, y, sizeof(y)));
}

static void nothing(FILE *out)
{
	fputs("<p>Nothing differs.</p>\n", out);
	html_close(out);
}

static void counter_row(FILE *out, const struct evidence_counter *c)
{
	fputs("<tr><td class=\"id\">", out);
	html_text(out, c->name);
	fputs(c->level ? " <span class=\"dim\">(level)</span></td>" : "</td>", out);
	numbers(out, c->side[EVIDENCE_PARENT].mean, c->side[EVIDENCE_CULPRIT].mean);
	if (isfinite(c->t))
		fprintf(out, "<td class=\"n\">%+.1f%s</td></tr>\n", c->t,
			c->significant ? " *" : "");
	else
		fputs("<td class=\"n\">no spread</td></tr>\n", out);
}

static void counters(FILE *out, const struct report_evidence *v)
{
	if (!v->counter_boots[EVIDENCE_CULPRIT])
		return;
	html_open(out, "counters", "Counters inside the kernel");
	fprintf(out,
		"<p class=\"dim\">Means over %u boots of the parent and %u of the culprit, %zu "
		"counters compared; ranked by how far they moved, in standard errors. A star: %zu "
		"that moved beyond their own boot-to-boot spread, of which %g %% may be "
		"false.</p>\n",
		v->counter_boots[EVIDENCE_PARENT], v->counter_boots[EVIDENCE_CULPRIT],
		v->counters_compared, v->counters_significant, 100 * v->false_share);
	if (!v->n_counters) {
		nothing(out);
		return;
	}
	table(out, "Counters", "counter", "parent", "culprit", "moved");
	for (size_t i = 0; i < v->n_counters && i < ROWS_MAX; i++)
		counter_row(out, &v->counters[i]);
	table_end(out, v->n_counters);
}

static void shares_cells(FILE *out, const struct evidence_side *side, double error)
{
	double a = 100 * side[EVIDENCE_PARENT].mean, b = 100 * side[EVIDENCE_CULPRIT].mean;

	fprintf(out,
		"<td class=\"n\">%.1f %%</td><td class=\"n\">%.1f %%</td><td class=\"n\">%+.1f", a,
		b, b - a);
	if (isfinite(error))
		fprintf(out, " ± %.1f", 100 * error);
	fputs("</td>", out);
}

static void stacks(FILE *out, const struct report_evidence *v)
{
	if (!v->stack_boots[EVIDENCE_CULPRIT])
		return;
	html_open(out, "stacks", "Where the workload slept");
	fprintf(out,
		"<p class=\"dim\">Kernel stacks of its threads, looked at %llu times in the parent "
		"and %llu in the culprit; shares of the run&#39;s time.</p>\n",
		(unsigned long long)v->stack_looks[EVIDENCE_PARENT],
		(unsigned long long)v->stack_looks[EVIDENCE_CULPRIT]);
	if (!v->n_stacks) {
		nothing(out);
		return;
	}
	table(out, "Stacks", "asleep in, under", "parent", "culprit", "points");
	for (size_t i = 0; i < v->n_stacks && i < ROWS_MAX; i++) {
		fputs("<tr><td><strong class=\"id\">", out);
		html_text(out, v->stacks[i].in);
		fputs("</strong> ", out);
		html_text(out, v->stacks[i].under);
		fputs("<details><summary>stack</summary><pre>", out);
		escape_text(out, v->stacks[i].frames, true);
		fputs("</pre></details></td>", out);
		shares_cells(out, v->stacks[i].side, v->stacks[i].error);
		fputs("</tr>\n", out);
	}
	table_end(out, v->n_stacks);
}

static void profile(FILE *out, const struct report_evidence *v)
{
	if (!v->profile_boots[EVIDENCE_CULPRIT])
		return;
	html_open(out, "profile", "Profile");
	fprintf(out, "<p class=\"dim\">%llu samples of the parent, %llu of the culprit",
		(unsigned long long)v->profile_samples[EVIDENCE_PARENT],
		(unsigned long long)v->profile_samples[EVIDENCE_CULPRIT]);
	if (v->profile_how) {
		fputs(": ", out);
		html_text(out, v->profile_how);
	}
	fputs(".</p>\n", out);
	if (!v->n_symbols) {
		nothing(out);
		return;
	}
	table(out, "Profile", "symbol", "parent", "culprit", "points");
	for (size_t i = 0; i < v->n_symbols && i < ROWS_MAX; i++) {
		fputs("<tr><td class=\"id\">", out);
		html_text(out, v->symbols[i].name);
		fputs("</td>", out);
		shares_cells(out, v->symbols[i].side, v->symbols[i].error);
		fputs("</tr>\n", out);
	}
	table_end(out, v->n_symbols);
}

static void posterior(FILE *out, const struct report *r, const struct record *d)
{
	const struct record_posterior *v = &d->posterior;

	if (!v->n)
		return;
	html_open(out, "posterior", "Posterior");
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Posterior\">",
	      out);
	plot_shares(r, d, false, out);
	fputs("</div>\n<ul>\n", out);
	for (size_t i = 0; i < v->n && i < 10; i++) {
		fputs("<li>", out);
		html_commit(out, &v->share[i].id, false);
		fprintf(out, " %.2f %%</li>\n", 100 * v->share[i].share);
	}
	if (v->none > 0)
		fprintf(out, "<li>no commit of the range %.2f %%</li>\n", 100 * v->none);
	fputs("</ul>\n", out);
	html_close(out);
}

void html_evidence(FILE *out, const struct report *r, const struct record *d)
{
	posterior(out, r, d);
	counters(out, &r->evidence);
	stacks(out, &r->evidence);
	profile(out, &r->evidence);
}
