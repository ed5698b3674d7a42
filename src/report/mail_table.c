/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers with spread in the table form of 0-day. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/mail.h"
#include "report/print.h"

#define ROWS_MAX 40 /* of counters and symbols */

/*
 *      %stddev     %change         %stddev
 *          \          |                \
 *      2.14 ±  3%   +17904%     385.3 ±  1%  exit_ms
 */
static const char heading[] = "         %stddev     %change         %stddev\n"
			      "             \\          |                \\\n";

/* Right-aligned in @width columns: ± is two bytes. */
static void pad(FILE *out, const char *text, size_t width)
{
	size_t n = escape_columns(text);

	fprintf(out, "%*s%s", n < width ? (int)(width - n) : 0, "", text);
}

static void value(FILE *out, double mean, double sd, bool spread, size_t width)
{
	char number[32], text[64];
	double percent = mean != 0 ? 100 * sd / fabs(mean) : 0;

	report_number(mean, number, sizeof(number));
	if (!spread)
		snprintf(text, sizeof(text), "%s      ", number);
	else if (percent > 999)
		snprintf(text, sizeof(text), "%s ±>999%%", number);
	else
		snprintf(text, sizeof(text), "%s ±%3.0f%%", number, percent);
	pad(out, text, width);
}

static void change(FILE *out, double a, double b)
{
	char text[32] = "-";
	double percent = 100 * (b - a) / fabs(a);

	if (a != 0 && isfinite(percent))
		snprintf(text, sizeof(text), fabs(percent) < 1e6 ? "%+.1f%%" : "%+.1e%%", percent);
	pad(out, text, 12);
}

static void name(FILE *out, const char *text, const char *unit)
{
	_cleanup_free_ char *whole = xasprintf("%s%s%s%s", text, unit[0] ? " (" : "", unit,
					       unit[0] ? ")" : "");
	_cleanup_str_ struct str cut = STR_INIT;

	escape_cut(&cut, whole, MAIL_WIDTH - 18 - 12 - 18 - 2);
	fprintf(out, "  %s\n", str_text(&cut));
}

static void commit_line(FILE *out, const struct commit_id *id, const char *subject)
{
	_cleanup_str_ struct str cut = STR_INIT;
	char hex[COMMIT_HEX + 1];

	fprintf(out, "  %s", print_abbrev(id, hex));
	if (subject && subject[0]) {
		escape_cut(&cut, subject, MAIL_WIDTH - 19);
		fprintf(out, " (\"%s\")", str_text(&cut));
	}
	fputc('\n', out);
}

/* The two names over the columns: 16 and 27 digits, as they stand there in 0-day's mails. */
static void columns(FILE *out, const struct mail_pair *p)
{
	char a[COMMIT_HEX + 1], b[COMMIT_HEX + 1];

	fprintf(out, "\n%.16s %.27s\n---------------- ---------------------------\n",
		commit_hex(p->a, a), commit_hex(p->b, b));
}

static bool metric_row(FILE *out, const struct record *d, const struct mail_pair *p, size_t m,
		       bool first)
{
	struct record_sides a, b;
	bool both;

	record_side(d, p->a, m, p->confirm, &a);
	record_side(d, p->b, m, p->confirm, &b);
	/* nothing on both sides is no news, but for the metric that decides */
	both = a.n && b.n && (m == 0 || a.mean != 0 || b.mean != 0);
	if (both) {
		if (first)
			fputs(heading, out);
		value(out, a.mean, a.sd, a.n > 1, 18);
		change(out, a.mean, b.mean);
		value(out, b.mean, b.sd, b.n > 1, 18);
		name(out, d->metric[m].name, d->metric[m].unit);
	}
	free(a.boot);
	free(b.boot);
	return both;
}

/* Boots that failed, as 0-day shows what is reproduced. */
static void fail_rows(FILE *out, const struct record *d, const struct mail_pair *p)
{
	struct record_sides a, b;
	char runs[2][32];

	record_side(d, p->a, 0, p->confirm, &a);
	record_side(d, p->b, 0, p->confirm, &b);
	snprintf(runs[0], sizeof(runs[0]), "%u:%u", a.failed, a.booted);
	snprintf(runs[1], sizeof(runs[1]), "%u:%u", b.failed, b.booted);
	if (a.failed || b.failed) {
		fputs("       fail:runs  %reproduction    fail:runs\n"
		      "           |             |             |\n",
		      out);
		pad(out, runs[0], 14);
		fprintf(out, "%12.0f%%",
			a.booted && b.booted
				? 100.0 * b.failed / b.booted - 100.0 * a.failed / a.booted
				: 0);
		pad(out, runs[1], 16);
		fprintf(out, "  %s\n", trial_outcome_name(b.failed ? b.why : a.why));
	}
	free(a.boot);
	free(b.boot);
}

static unsigned boots(const struct record *d, const struct commit_id *id, bool confirm)
{
	struct record_sides s;

	record_side(d, id, 0, confirm, &s);
	free(s.boot);
	return s.booted;
}

void mail_table(FILE *out, const struct record *d, const struct mail_pair *p)
{
	unsigned a = boots(d, p->a, p->confirm), b = boots(d, p->b, p->confirm);
	bool first = true;

	if (!a || !b)
		return;
	fprintf(out, "\n%s (%u and %u boots)\n\ncommit:\n", p->title, a, b);
	commit_line(out, p->a, p->subject[0]);
	commit_line(out, p->b, p->subject[1]);
	columns(out, p);
	for (size_t m = 0; m < d->n_metrics; m++)
		first &= !metric_row(out, d, p, m, first);
	fail_rows(out, d, p);
}

static void counters(FILE *out, const struct report_evidence *v)
{
	if (!v->n_counters)
		return;
	fprintf(out,
		"\nCounters inside the kernel, parent and culprit (%u and %u boots; * beyond\n"
		"their own spread)\n\n%s",
		v->counter_boots[EVIDENCE_PARENT], v->counter_boots[EVIDENCE_CULPRIT], heading);
	for (size_t i = 0; i < v->n_counters && i < ROWS_MAX; i++) {
		const struct evidence_counter *c = &v->counters[i];
		const struct evidence_side *a = &c->side[EVIDENCE_PARENT];
		const struct evidence_side *b = &c->side[EVIDENCE_CULPRIT];

		value(out, a->mean, a->sd, v->counter_boots[EVIDENCE_PARENT] > 1, 18);
		change(out, a->mean, b->mean);
		value(out, b->mean, b->sd, v->counter_boots[EVIDENCE_CULPRIT] > 1, 18);
		_cleanup_free_ char *label = xasprintf("%s%s", c->significant ? "* " : "", c->name);

		name(out, label, "");
	}
}

/* Percent of the parent, points between, percent of the culprit. */
static void share_row(FILE *out, const struct evidence_side *side)
{
	double a = 100 * side[EVIDENCE_PARENT].mean, b = 100 * side[EVIDENCE_CULPRIT].mean;
	char text[32];

	snprintf(text, sizeof(text), "%.2f", a);
	pad(out, text, 12);
	snprintf(text, sizeof(text), "%+.2f", b - a);
	pad(out, text, 18);
	snprintf(text, sizeof(text), "%.2f", b);
	pad(out, text, 18);
}

static void profile(FILE *out, const struct report_evidence *v)
{
	if (!v->n_symbols)
		return;
	fprintf(out, "\nProfile, percent of %llu and %llu samples, parent and culprit\n\n",
		(unsigned long long)v->profile_samples[EVIDENCE_PARENT],
		(unsigned long long)v->profile_samples[EVIDENCE_CULPRIT]);
	for (size_t i = 0; i < v->n_symbols && i < ROWS_MAX; i++) {
		share_row(out, v->symbols[i].side);
		name(out, v->symbols[i].name, "");
	}
}

static void stacks(FILE *out, const struct report_evidence *v)
{
	if (!v->n_stacks)
		return;
	fputs("\nWhere the workload slept, percent of its time, parent and culprit\n\n", out);
	for (size_t i = 0; i < v->n_stacks && i < ROWS_MAX; i++) {
		const struct evidence_stack *s = &v->stacks[i];
		bool under = s->under && s->under[0];
		_cleanup_free_ char *where = xasprintf("in %s%s%s", s->in, under ? " under " : "",
						       under ? s->under : "");

		share_row(out, s->side);
		fputc('\n', out);
		escape_wrap(out, where, NULL, "      ", MAIL_WIDTH);
	}
}

void mail_evidence(FILE *out, const struct report *r)
{
	counters(out, &r->evidence);
	stacks(out, &r->evidence);
	profile(out, &r->evidence);
}
