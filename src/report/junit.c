/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The campaign as a test suite of JUnit: one case for the answer, one for each commit measured. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "report/escape.h"
#include "report/html.h"
#include "report/print.h"
#include "report/record.h"

/* What a case came to, in JUnit's words. */
enum end { END_PASSED = 0, END_FAILURE, END_ERROR, END_SKIPPED };
static const char *const element[] = { NULL, "failure", "error", "skipped" };

/* A regression that was found fails; a fix that was found, or no difference, does not. */
static enum end end_of_answer(const struct report *r)
{
	const char *s = report_status_name(r);

	if (str_eq(s, "found"))
		return r->fix ? END_PASSED : END_FAILURE;
	if (str_eq(s, "no_difference"))
		return r->fix ? END_FAILURE : END_PASSED;
	if (str_eq(s, "interrupted"))
		return END_SKIPPED;
	if (str_eq(s, "short_list"))
		return r->fix ? END_SKIPPED : END_FAILURE;
	return END_ERROR;
}

/* A bad commit is what was looked for, and fails; one that could not be told is skipped. */
static enum end end_of_commit(const struct report_commit *c)
{
	if (c->verdict == VERDICT_GOOD)
		return END_PASSED;
	return c->verdict == VERDICT_BAD ? END_FAILURE : END_SKIPPED;
}

static void begin_case(FILE *out, const struct report *r, const char *class, double seconds)
{
	fputs("    <testcase classname=\"", out);
	escape_text(out, r->name, false);
	fprintf(out, ".%s\" time=\"%.3f\" name=\"", class, seconds > 0 ? seconds : 0);
}

static void end_case(FILE *out, enum end end, const char *message, const char *body)
{
	fputs("\">", out);
	if (end != END_PASSED) {
		fprintf(out, "\n      <%s message=\"", element[end]);
		escape_text(out, message, false);
		/* skipped has no type in most schemas */
		fputs(end == END_SKIPPED ? "\">" : "\" type=\"kregress\">", out);
		escape_text(out, body, true);
		fprintf(out, "</%s>\n    ", element[end]);
	}
	fputs("</testcase>\n", out);
}

static double seconds_of(const struct record *d, const struct commit_id *id)
{
	double sum = 0;

	for (size_t i = 0; i < d->n_trials; i++)
		if (commit_eq(&d->trial[i].commit, id) && !d->trial[i].twin)
			sum += d->trial[i].boot_seconds + d->trial[i].run_seconds;
	return sum;
}

static void describe(const struct report *r, const struct report_commit *c, struct str *out)
{
	char value[160], limit[32];

	if (c->outcome != TRIAL_OK || !c->has_interval) {
		str_addf(out, "%s%s%s", print_outcome(c->outcome),
			 c->detail && c->detail[0] ? ": " : "", c->detail ? c->detail : "");
		return;
	}
	str_addf(out, "%s %s, threshold %s", r->metric,
		 report_interval(&c->interval, r->unit, value, sizeof(value)),
		 report_number(r->ends.threshold, limit, sizeof(limit)));
}

static void commit_case(FILE *out, const struct report *r, const struct record *d,
			const struct report_commit *c)
{
	_cleanup_str_ struct str message = STR_INIT;
	char hex[COMMIT_HEX + 1];

	describe(r, c, &message);
	begin_case(out, r, "commits", seconds_of(d, &c->id));
	fprintf(out, "%s ", print_abbrev(&c->id, hex));
	escape_text(out, c->subject, false);
	end_case(out, end_of_commit(c), str_text(&message), c->log_path ? c->log_path : "");
}

static void answer_case(FILE *out, const struct report *r)
{
	_cleanup_str_ struct str message = STR_INIT;
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	report_text(r, f);
	fclose(f);
	html_headline(r, &message);
	begin_case(out, r, "answer", 0);
	escape_text(out, r->metric, false);
	end_case(out, end_of_answer(r), str_text(&message), text);
	free(text);
}

static void property(FILE *out, const char *name, const char *value)
{
	if (!value || !value[0])
		return;
	fputs("      <property name=\"", out);
	escape_text(out, name, false);
	fputs("\" value=\"", out);
	escape_text(out, value, false);
	fputs("\"/>\n", out);
}

static void properties(FILE *out, const struct report *r, const struct record *d)
{
	char hex[COMMIT_HEX + 1];
	bool found = str_eq(report_status_name(r), "found");

	fputs("    <properties>\n", out);
	property(out, "status", report_status_name(r));
	property(out, "culprit", found ? commit_hex(&r->culprit.id, hex) : "");
	property(out, "range", d->title);
	property(out, "metric", r->metric);
	property(out, "unit", r->unit);
	property(out, "state", d->state_dir);
	property(out, "compiler", d->compiler);
	for (size_t i = 0; i < d->n_facts; i++)
		property(out, d->fact[i].name, d->fact[i].value);
	fputs("    </properties>\n", out);
}

/* ISO 8601 in UTC, as the schemas have it. */
static void suite(FILE *out, const struct report *r, const struct record *d, const size_t n[4])
{
	time_t first = (time_t)d->first;
	char when[32] = "1970-01-01T00:00:00";
	struct tm tm;

	if (gmtime_r(&first, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kregress\">\n"
	      "  <testsuite name=\"",
	      out);
	escape_text(out, r->name, false);
	fprintf(out,
		"\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\" "
		"timestamp=\"%s\">\n",
		n[0] + n[1] + n[2] + n[3], n[END_FAILURE], n[END_ERROR], n[END_SKIPPED],
		r->seconds_total > 0 ? r->seconds_total : 0, when);
}

void report_junit(const struct report *r, const struct record *d, FILE *out)
{
	size_t n[4] = { 0 };

	n[end_of_answer(r)]++;
	for (size_t i = 0; i < r->n_tested; i++)
		n[end_of_commit(&r->tested[i])]++;
	suite(out, r, d, n);
	properties(out, r, d);
	answer_case(out, r);
	for (size_t i = 0; i < r->n_tested; i++)
		commit_case(out, r, d, &r->tested[i]);
	fputs("  </testsuite>\n</testsuites>\n", out);
}
