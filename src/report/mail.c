/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report as kernel lists want it: plain text, at most 75 columns. Nothing is ever sent. */
#include "report/mail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/html.h"
#include "report/print.h"

#define INDENT "  "

/* Untrusted text never begins a line: who reads mails by machine looks for words there. */
static void indented(FILE *out, const char *text)
{
	escape_wrap(out, text, NULL, INDENT, MAIL_WIDTH);
}

static void paragraph(FILE *out, const char *text)
{
	escape_wrap(out, text, NULL, "", MAIL_WIDTH);
}

/* Where logs lie on the machine of the person is nothing for a list. */
static bool is_private(const char *line)
{
	return str_starts(line, "log: ") || str_starts(line, "Logs  ");
}

/* An existing printer's lines, each folded. */
static void folded(FILE *out, const struct report *r, void (*print)(FILE *, const struct report *))
{
	char *text = NULL, *line, *end;
	size_t n = 0, lead;
	FILE *f = open_memstream(&text, &n);

	print(f, r);
	fclose(f);
	for (line = text; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		lead = strspn(line, " ");
		if (is_private(line + lead))
			continue;
		_cleanup_free_ char *indent = xasprintf("%*s", (int)(lead > 20 ? 20 : lead), "");
		_cleanup_free_ char *more = xasprintf("%s    ", indent);

		/* without a word of its own a line is the empty line between two paragraphs */
		if (line[lead])
			escape_wrap(out, line + lead, indent, more, MAIL_WIDTH);
		else
			fputc('\n', out);
	}
	free(text);
}

static bool has_culprit(const struct report *r)
{
	return !commit_is_null(&r->culprit.id) &&
	       (r->status == ENGINE_FOUND || r->status == ENGINE_NOT_CONFIRMED);
}

static bool is_regression(const struct report *r)
{
	return !r->fix && r->status == ENGINE_FOUND;
}

/* What is compared: fresh boots where there are any. */
static void sides(const struct report *r, struct stats_interval *a, struct stats_interval *b)
{
	const struct report_commit *culprit = print_find(r, &r->culprit.id);
	const struct report_commit *parent = print_find(r, &r->culprit_parent);

	*a = *b = (struct stats_interval){ NAN, NAN, NAN };
	if (r->confirm.state == CONFIRM_YES || r->confirm.state == CONFIRM_NO) {
		*a = r->confirm.parent_side;
		*b = r->confirm.culprit_side;
		return;
	}
	if (culprit && culprit->has_interval)
		*b = culprit->interval;
	if (parent && parent->has_interval)
		*a = parent->interval;
}

/* "exit_ms from 2.1 ms to 385 ms (+17900%)", as far as both are known. */
static void add_step(const struct report *r, struct str *out)
{
	struct stats_interval a, b;
	char x[160], y[160];

	sides(r, &a, &b);
	str_addf(out, "%s", r->metric);
	if (isnan(a.estimate) || isnan(b.estimate))
		return;
	str_addf(out, " from %s to %s", report_interval(&a, r->unit, x, sizeof(x)),
		 report_interval(&b, r->unit, y, sizeof(y)));
	if (a.estimate != 0)
		str_addf(out, " (%+.*f%%)",
			 fabs(b.estimate - a.estimate) < fabs(a.estimate) ? 1 : 0,
			 100 * (b.estimate - a.estimate) / fabs(a.estimate));
}

static void say_culprit(FILE *out, const struct report *r)
{
	_cleanup_str_ struct str line = STR_INIT;
	_cleanup_str_ struct str who = STR_INIT;
	char hex[COMMIT_HEX + 1];

	bool proved = r->confirm.state == CONFIRM_YES || r->confirm.state == CONFIRM_FAILS_AGAIN;

	str_addf(&line, "kregress bisected %s; %s:", r->fix ? "a fix" : "a regression",
		 r->status != ENGINE_FOUND ? "fresh boots do not confirm the commit that it found"
		 : proved                  ? "fresh boots confirm the commit"
					   : "the commit that it found is");
	paragraph(out, str_text(&line));
	fprintf(out, "\n" INDENT "commit %s\n", commit_hex(&r->culprit.id, hex));
	str_addf(&who, "Author: %s <%s>", r->culprit.author ? r->culprit.author : "",
		 r->culprit.email ? r->culprit.email : "");
	indented(out, str_text(&who));
	fprintf(out, INDENT "Date:   %s\n\n", r->culprit.date ? r->culprit.date : "");
	escape_wrap(out, r->culprit.subject, NULL, "      ", MAIL_WIDTH);
	fputs("\nAgainst its parent:\n\n", out);
	str_clear(&line);
	add_step(r, &line);
	indented(out, str_text(&line));
}

static void print_all(FILE *out, const struct report *r)
{
	report_text(r, out);
}

static const char *subject_of(const struct report *r, const struct commit_id *id)
{
	const struct report_commit *c = print_find(r, id);

	if (!commit_is_null(&r->culprit.id) && commit_eq(id, &r->culprit.id))
		return r->culprit.subject;
	return c ? c->subject : NULL;
}

static void tables(FILE *out, const struct report *r, const struct record *d)
{
	bool fresh = r->confirm.state == CONFIRM_YES || r->confirm.state == CONFIRM_NO;
	const struct commit_id *old = r->fix ? &r->bad_id : &r->good_id;
	const struct commit_id *new = r->fix ? &r->good_id : &r->bad_id;
	struct mail_pair p = { .title = r->fix ? "bad end and good end" : "good end and bad end",
			       .a = old,
			       .b = new };

	if (has_culprit(r) && !commit_is_null(&r->culprit_parent)) {
		struct mail_pair q = { .title = fresh ? "parent and culprit, fresh boots in turn"
						      : "parent and culprit",
				       .a = &r->culprit_parent,
				       .b = &r->culprit.id,
				       .confirm = fresh };

		q.subject[0] = subject_of(r, q.a);
		q.subject[1] = subject_of(r, q.b);
		mail_table(out, d, &q);
	}
	p.subject[0] = subject_of(r, old);
	p.subject[1] = subject_of(r, new);
	mail_table(out, d, &p);
	fputs("\n(means over boots of the median over runs; spread from boot to boot)\n", out);
}

/* A title that does not fit is cut: the line of a tag must not be broken, and has 75 columns. */
static void fixes_line(FILE *out, const struct report *r)
{
	_cleanup_str_ struct str subject = STR_INIT;
	char hex[COMMIT_HEX + 1];

	escape_cut(&subject, r->culprit.subject, MAIL_WIDTH - 24);
	fprintf(out, "Fixes: %s (\"%s\")\n", print_abbrev(&r->culprit.id, hex), str_text(&subject));
}

static void tags(FILE *out, const struct report *r)
{
	char a[COMMIT_HEX + 1];

	if (!is_regression(r))
		return;
	fputs("\nIf you fix this in a separate patch, please add\n\n"
	      "Reported-by: YOUR NAME <YOUR@ADDRESS>\n"
	      "Closes: https://lore.kernel.org/r/MESSAGE-ID-OF-THIS-MAIL\n",
	      out);
	fixes_line(out, r);
	fprintf(out, "\n#regzbot introduced: %s\n", print_abbrev(&r->culprit.id, a));
}

/* Without one culprit regzbot gets the range, which is all that is known. */
static void range_tag(FILE *out, const struct report *r)
{
	char a[COMMIT_HEX + 1], b[COMMIT_HEX + 1];

	if (r->fix || r->status != ENGINE_SHORT_LIST || !r->n_left)
		return;
	fprintf(out, "\n#regzbot introduced: %s..%s\n", print_abbrev(&r->good_id, a),
		print_abbrev(&r->bad_id, b));
}

void report_mail(const struct report *r, const struct record *d, FILE *out)
{
	mail_headers(out, r, d);
	if (has_culprit(r)) {
		say_culprit(out, r);
		tables(out, r, d);
		folded(out, r, print_confirm);
	} else {
		folded(out, r, print_all);
		if (r->ends.state)
			tables(out, r, d);
	}
	mail_evidence(out, r);
	mail_setup(out, r, d);
	mail_log(out, d);
	if (has_culprit(r))
		folded(out, r, print_untested);
	tags(out, r);
	range_tag(out, r);
}
