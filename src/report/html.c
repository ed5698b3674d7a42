/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report as one self-contained page: order of its parts, and the answer. */
#include "report/html.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "report/escape.h"
#include "report/plot.h"
#include "report/print.h"

#define REFRESH_S 5 /* of a live page */

void html_text(FILE *out, const char *text)
{
	escape_text(out, text, false);
}

void html_open(FILE *out, const char *id, const char *title)
{
	fprintf(out, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", id, id, title);
}

void html_close(FILE *out)
{
	fputs("</section>\n", out);
}

void html_interval(FILE *out, const struct report *r, const struct stats_interval *i)
{
	char buf[160];

	html_text(out, report_interval(i, r->unit, buf, sizeof(buf)));
}

void html_change(FILE *out, double a, double b)
{
	double change = 100 * (b - a) / fabs(a);

	if (a == 0 || !isfinite(change))
		fputs("–", out);
	else
		fprintf(out, "%+.*f %%",
			fabs(change) < 10     ? 2
			: fabs(change) < 1000 ? 1
					      : 0,
			change);
}

void html_commit(FILE *out, const struct commit_id *id, bool link)
{
	char hex[COMMIT_HEX + 1];

	print_abbrev(id, hex);
	if (link)
		fprintf(out, "<a class=\"id\" href=\"#c-%s\">%s</a>", hex, hex);
	else
		fprintf(out, "<span class=\"id\">%s</span>", hex);
}

static void headline_found(const struct report *r, struct str *out)
{
	char hex[COMMIT_HEX + 1];

	print_abbrev(&r->culprit.id, hex);
	if (r->confirm.state == CONFIRM_UNFINISHED)
		str_addf(out, "confirming %s", hex);
	else if (r->fix)
		str_addf(out, "fixed by %s, the first good commit", hex);
	else
		str_addf(out, "%s is the first bad commit", hex);
}

void html_headline(const struct report *r, struct str *out)
{
	static const char *const text[] = {
		[ENGINE_NO_DIFFERENCE] = "no difference: the two ends cannot be told apart",
		[ENGINE_SWAPPED] = "good and bad are swapped: the good end is the worse one",
		[ENGINE_SAME_SIDE] = "the ends differ, but the threshold is not between them",
		[ENGINE_END_UNMEASURED] = "one end could not be measured",
		[ENGINE_BAD_MERGE_BASE] = "the merge base has the new state already",
		[ENGINE_NOT_CONFIRMED] = "not confirmed: fresh boots do not show the difference",
	};

	if (r->status == ENGINE_FOUND)
		headline_found(r, out);
	else if (report_no_good(r))
		str_add(out, "no good end found");
	else if (r->status == ENGINE_SHORT_LIST && r->n_left)
		str_addf(out, "the first %s commit is one of %zu that cannot be tested",
			 r->fix ? "good" : "bad", r->n_left);
	else if (r->status == ENGINE_SHORT_LIST)
		str_add(out, "the verdicts contradict each other");
	else if (r->status == ENGINE_RUNNING && !r->n_tested)
		str_add(out, "not started");
	else if (r->status == ENGINE_RUNNING)
		str_addf(out, "not finished: %zu of %u commits left, about %u more step%s",
			 r->n_left, r->candidates, r->steps, r->steps == 1 ? "" : "s");
	else if (r->status == ENGINE_NO_DIFFERENCE && report_ends_differ(r))
		str_add(out, "the ends differ, but one lies too near the threshold");
	else if ((unsigned)r->status < ARRAY_SIZE(text) && text[r->status])
		str_add(out, text[r->status]);
}

/* Numbers over boots for one side, and what it is. */
static void side_row(FILE *out, const struct report *r, const char *name,
		     const struct commit_id *id, const struct stats_interval *i, unsigned boots,
		     double against)
{
	fprintf(out, "<tr><th scope=\"row\">%s</th><td>", name);
	html_commit(out, id, true);
	fputs("</td><td class=\"n\">", out);
	html_interval(out, r, i);
	fputs("</td><td class=\"n\">", out);
	if (isfinite(against))
		html_change(out, against, i->estimate);
	fprintf(out, "</td><td class=\"n boots\">%u</td></tr>\n", boots);
}

static void tested_row(FILE *out, const struct report *r, const char *name,
		       const struct report_commit *c, double against)
{
	if (!c)
		return;
	if (c->has_interval) {
		side_row(out, r, name, &c->id, &c->interval, c->trials, against);
		return;
	}
	fprintf(out, "<tr><th scope=\"row\">%s</th><td>", name);
	html_commit(out, &c->id, true);
	fprintf(out, "</td><td class=\"n\">%s</td><td></td><td class=\"n boots\">%u</td></tr>\n",
		print_outcome(c->outcome), c->trials);
}

static const struct report_commit *at(const struct report *r, size_t i)
{
	return i < r->n_tested ? &r->tested[i] : NULL;
}

static double estimate(const struct report_commit *c)
{
	return c && c->has_interval ? c->interval.estimate : NAN;
}

static void search_rows(FILE *out, const struct report *r)
{
	const struct report_commit *old = at(r, r->fix ? r->bad : r->good);
	const struct report_commit *new = at(r, r->fix ? r->good : r->bad);
	const struct report_commit *culprit = print_find(r, &r->culprit.id);
	const struct report_commit *parent = print_find(r, &r->culprit_parent);
	double base = estimate(old);

	tested_row(out, r, r->fix ? "bad end" : "good end", old, NAN);
	if (parent && parent != old && !commit_is_null(&r->culprit_parent))
		tested_row(out, r, "parent", parent, base);
	if (culprit && culprit != new && !commit_is_null(&r->culprit.id))
		tested_row(out, r, r->fix ? "fix" : "culprit", culprit, base);
	tested_row(out, r,
		   culprit && culprit == new
			   ? (r->fix ? "good end, the fix" : "bad end, the culprit")
		   : r->fix ? "good end"
			    : "bad end",
		   new, base);
}

static void confirm_rows(FILE *out, const struct report *r)
{
	const struct report_confirm *c = &r->confirm;

	if (c->state != CONFIRM_YES && c->state != CONFIRM_NO)
		return;
	side_row(out, r, "parent, fresh boots", &c->parent, &c->parent_side, c->boots, NAN);
	side_row(out, r, r->fix ? "fix, fresh boots" : "culprit, fresh boots", &r->culprit.id,
		 &c->culprit_side, c->boots, c->parent_side.estimate);
	if (c->revert == REVERT_MEASURED)
		side_row(out, r, r->fix ? "good end, fix reverted" : "bad end, culprit reverted",
			 &c->reverted, &c->revert_side, c->boots, c->parent_side.estimate);
	if (c->apply == REVERT_MEASURED)
		side_row(out, r, r->fix ? "bad end, fix applied" : "good end, culprit applied",
			 &c->applied, &c->apply_side, c->boots, c->parent_side.estimate);
}

/* What a printer for terminals says, escaped, between @before and @after; nothing for nothing. */
static void printed(FILE *out, const struct report *r, void (*print)(FILE *, const struct report *),
		    const char *before, const char *after)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	print(f, r);
	fclose(f);
	if (n) {
		fputs(before, out);
		escape_text(out, text + (text[0] == '\n'), true);
		fputs(after, out);
	}
	free(text);
}

static void print_answer(FILE *out, const struct report *r)
{
	report_text(r, out);
}

/* The whole answer as `run` prints it: what to do next stands there. */
static void in_words(FILE *out, const struct report *r)
{
	bool plain = r->status == ENGINE_FOUND || r->status == ENGINE_RUNNING;

	fprintf(out, "<details%s><summary>The answer as text</summary>\n", plain ? "" : " open");
	printed(out, r, print_answer, "<pre>", "</pre>");
	fputs("</details>\n", out);
}

static void culprit_lines(FILE *out, const struct report *r)
{
	const struct report_commit *c = &r->culprit;
	char hex[COMMIT_HEX + 1];

	if (commit_is_null(&c->id))
		return;
	fputs("<p class=\"big\">", out);
	html_text(out, c->subject);
	fputs("</p>\n<p class=\"dim\">by ", out);
	html_text(out, c->author);
	fputs(" &lt;", out);
	html_text(out, c->email);
	fprintf(out, "&gt;, %s<br><code>%s</code></p>\n", c->date ? c->date : "",
		commit_hex(&c->id, hex));
}

static const char *answer_class(const struct report *r)
{
	if (r->status == ENGINE_RUNNING || r->confirm.state == CONFIRM_UNFINISHED)
		return " open";
	return r->status == ENGINE_FOUND ? (r->fix ? " good" : "") : " open";
}

/* In one line: is it proved? */
static void confirm_line(FILE *out, const struct report *r)
{
	static const char *const text[] = {
		[CONFIRM_NONE] = NULL,
		[CONFIRM_UNFINISHED] = "Its confirmation is not finished.",
		[CONFIRM_YES] = "Confirmed in fresh, interleaved boots",
		[CONFIRM_NO] = "Contradicted by fresh, interleaved boots",
		[CONFIRM_FAILS_AGAIN] = "Confirmed in fresh boots: it fails again",
		[CONFIRM_UNMEASURED] = "Not confirmed: it could not be measured",
	};
	const struct report_confirm *c = &r->confirm;

	if ((unsigned)c->state >= ARRAY_SIZE(text) || !text[c->state])
		return;
	fprintf(out, "<p><strong>%s", text[c->state]);
	if (c->state == CONFIRM_YES || c->state == CONFIRM_NO) {
		fputs(": ", out);
		html_change(out, c->parent_side.estimate, c->culprit_side.estimate);
		fprintf(out, ", p = %.2g", c->p);
	}
	fputs("</strong>", out);
	if (c->revert == REVERT_MEASURED)
		fprintf(out, "; reverted, the difference %s",
			c->revert_helps ? "is gone" : "stays");
	if (c->apply == REVERT_MEASURED)
		fprintf(out, "; applied on the %s end, the difference is %sthere",
			r->fix ? "bad" : "good", c->apply_shows ? "" : "not ");
	fputs("</p>\n", out);
}

/* Live: what is being done now, before anything else. */
static void live_line(FILE *out, const struct record *d)
{
	char when[40];

	if (!d->now)
		return;
	fprintf(out, "<p class=\"dim\">As of %s%s.", clock_format(d->now, when, sizeof(when)),
		d->live ? "; this page is made anew after each step and loads itself again" : "");
	if (d->stage) {
		fputs(" Now: ", out);
		html_text(out, d->stage);
		fputs(".", out);
	}
	fputs("</p>\n", out);
}

void html_answer(FILE *out, const struct report *r, const struct record *d)
{
	_cleanup_str_ struct str line = STR_INIT;

	html_headline(r, &line);
	fprintf(out, "<section class=\"answer%s\" aria-labelledby=\"answer\">\n<h1 id=\"answer\">",
		answer_class(r));
	html_text(out, str_text(&line));
	fputs("</h1>\n", out);
	culprit_lines(out, r);
	confirm_line(out, r);
	live_line(out, d);
	fputs("</section>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Values\">"
	      "<table class=\"cards\"><thead><tr><th scope=\"col\">",
	      out);
	html_text(out, r->metric);
	fputs("</th><th scope=\"col\">commit</th><th scope=\"col\" class=\"n\">value "
	      "[interval]</th><th scope=\"col\" class=\"n\">change</th><th scope=\"col\" "
	      "class=\"n\">boots</th></tr></thead><tbody>\n",
	      out);
	search_rows(out, r);
	confirm_rows(out, r);
	fputs("</tbody></table></div>\n", out);
	printed(out, r, print_threshold, "<p class=\"dim\">", "</p>\n");
	printed(out, r, print_confirm, "<pre>", "</pre>\n");
	in_words(out, r);
}

static void walk(FILE *out, const struct report *r, const struct record *d)
{
	if (!plot_has_walk(d))
		return;
	html_open(out, "walk", "Every sample over the commits in order");
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Plot\">", out);
	plot_walk(r, d, false, out);
	fputs("</div>\n<p class=\"dim\">Oldest commit on the left; a dot is one run, the boots of "
	      "a "
	      "commit stand side by side. Round: good; square: bad; bar: neither; plus: fresh "
	      "boots "
	      "of the confirmation; cross at the bottom: a boot that failed. +N: commits between "
	      "that were not measured. The lines are the levels of the two ends with their "
	      "intervals.</p>\n",
	      out);
	html_close(out);
}

static void navigation(FILE *out, const struct report *r, const struct record *d)
{
	const struct report_evidence *v = &r->evidence;
	const struct {
		bool there;
		const char *id, *name;
	} part[] = {
		{ plot_has_walk(d), "walk", "Plot" },
		{ d->posterior.n > 0, "posterior", "Posterior" },
		{ r->n_tested > 0, "tested", "Commits" },
		{ d->n_trials > 0, "trials", "Trials and logs" },
		{ v->counter_boots[1] > 0, "counters", "Counters" },
		{ v->stack_boots[1] > 0, "stacks", "Stacks" },
		{ v->profile_boots[1] > 0, "profile", "Profile" },
		{ true, "facts", "Measured on" },
		{ true, "rerun", "How to reproduce" },
	};

	fputs("<nav aria-label=\"Parts\">", out);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		if (part[i].there)
			fprintf(out, "<a href=\"#%s\">%s</a> ", part[i].id, part[i].name);
	fputs("</nav>\n", out);
}

static void head(FILE *out, const struct report *r, const struct record *d)
{
	_cleanup_str_ struct str title = STR_INIT;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n",
	      out);
	if (d->live)
		fprintf(out, "<meta http-equiv=\"refresh\" content=\"%d\">\n", REFRESH_S);
	html_headline(r, &title);
	fputs("<title>", out);
	html_text(out, r->name);
	fputs(": ", out);
	html_text(out, str_text(&title));
	fprintf(out, "</title>\n<style>\n%s\n%s\n</style>\n</head>\n<body>\n", html_style(),
		plot_style());
}

void report_html(const struct report *r, const struct record *d, FILE *out)
{
	head(out, r, d);
	fputs("<a class=\"jump\" href=\"#answer\">To the answer</a>\n<header><p class=\"dim\">"
	      "kregress: ",
	      out);
	html_text(out, r->name);
	if (d->title && d->title[0]) {
		fputs(", <span class=\"id\">", out);
		html_text(out, d->title);
		fputs("</span>", out);
	}
	fprintf(out, " (%s)</p></header>\n<main>\n", report_status_name(r));
	html_answer(out, r, d);
	navigation(out, r, d);
	walk(out, r, d);
	html_evidence(out, r, d);
	html_tested(out, r, d);
	html_trials(out, d);
	html_facts(out, r, d);
	html_rerun(out, r, d);
	fputs("</main>\n<footer>Made by kregress " KR_VERSION
	      " from stored rows only.</footer>\n</body>\n</html>\n",
	      out);
}
