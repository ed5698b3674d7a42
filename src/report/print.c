/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces that the reports for a person share: tables, differences, lists. */
#include "report/print.h"

#include <math.h>
#include <string.h>

void print_clean(FILE *out, const char *text)
{
	_cleanup_str_ struct str clean = STR_INIT;

	if (!text)
		return;
	str_neutralise(&clean, text, strlen(text), false);
	fputs(str_text(&clean), out);
}

const char *print_abbrev(const struct commit_id *id, char buf[COMMIT_HEX + 1])
{
	commit_hex(id, buf)[PRINT_ABBREV] = '\0';
	return buf;
}

const struct report_commit *print_find(const struct report *r, const struct commit_id *id)
{
	for (size_t i = 0; i < r->n_tested; i++)
		if (commit_eq(&r->tested[i].id, id))
			return &r->tested[i];
	return NULL;
}

const char *print_outcome(enum trial_outcome o)
{
	static const char *const text[TRIAL_OUTCOMES] = {
		[TRIAL_UNSET] = "not measured",
		[TRIAL_OK] = "not decided: its values lie too near the threshold",
		[TRIAL_BUILD_FAILED] = "build failed",
		[TRIAL_BOOT_FAILED] = "did not boot",
		[TRIAL_CRASHED] = "crashed",
		[TRIAL_TIMED_OUT] = "the workload never ended",
		[TRIAL_GARBLED] = "no valid value in the workload's output",
		[TRIAL_UNTESTABLE] = "cannot be tested",
	};

	return (unsigned)o < TRIAL_OUTCOMES ? text[o] : text[TRIAL_UNSET];
}

void print_row_add(struct print_row *rows, size_t *n, const char *label,
		   const struct report_commit *c)
{
	size_t len;

	if (!c)
		return;
	for (size_t i = 0; i < *n; i++) {
		if (!commit_eq(&rows[i].c->id, &c->id))
			continue;
		len = strlen(rows[i].label);
		snprintf(rows[i].label + len, sizeof(rows[i].label) - len, ", %s", label);
		return;
	}
	rows[*n].c = c;
	snprintf(rows[*n].label, sizeof(rows[*n].label), "%s", label);
	(*n)++;
}

static void row_value(const struct report *r, const struct report_commit *c, char *buf, size_t size)
{
	if (c->has_interval)
		report_interval(&c->interval, r->unit, buf, size);
	else
		snprintf(buf, size, "%s", print_outcome(c->outcome));
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

void print_rows(FILE *out, const struct report *r, const struct print_row *rows, size_t n)
{
	int labels = 0, values = 0, width;
	char value[160], hex[COMMIT_HEX + 1];

	for (size_t i = 0; i < n; i++) {
		row_value(r, rows[i].c, value, sizeof(value));
		width = (int)strlen(rows[i].label);
		labels = width > labels ? width : labels;
		width = (int)strlen(value);
		values = width > values ? width : values;
	}
	for (size_t i = 0; i < n; i++) {
		const struct report_commit *c = rows[i].c;

		row_value(r, c, value, sizeof(value));
		fprintf(out, "  %-*s  %s  %-*s  %u boot%s, %zu value%s\n", labels, rows[i].label,
			print_abbrev(&c->id, hex), values, value, c->trials, plural(c->trials),
			c->n_samples, plural(c->n_samples));
	}
}

static const struct report_commit *end_of(const struct report *r, size_t i)
{
	return i < r->n_tested ? &r->tested[i] : NULL;
}

void print_ends(FILE *out, const struct report *r)
{
	struct print_row rows[2];
	size_t n = 0;

	if (r->fix)
		print_row_add(rows, &n, "bad end", end_of(r, r->bad));
	print_row_add(rows, &n, "good end", end_of(r, r->good));
	if (!r->fix)
		print_row_add(rows, &n, "bad end", end_of(r, r->bad));
	print_rows(out, r, rows, n);
}

void print_threshold(FILE *out, const struct report *r)
{
	char buf[64];

	if (!r->ends.state)
		return;
	fprintf(out, "%s is better, threshold %s",
		r->ends.better == METRIC_HIGHER ? "higher" : "lower",
		report_number(r->ends.threshold, buf, sizeof(buf)));
	if (r->unit && r->unit[0]) {
		fputc(' ', out);
		print_clean(out, r->unit);
	}
}

void print_difference(FILE *out, const struct report *r, double a, double b,
		      const struct stats_interval *i)
{
	struct stats_interval point = { .estimate = b - a, .low = b - a, .high = b - a };
	char buf[160];

	if (a != 0)
		fprintf(out, "%+.*f%%, ", fabs((b - a) / a) < 0.1 ? 2 : 0, 100 * (b - a) / fabs(a));
	fprintf(out, "%s%s", b > a ? "+" : "",
		report_interval(i ? i : &point, r->unit, buf, sizeof(buf)));
}
