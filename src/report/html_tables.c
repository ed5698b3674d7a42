/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the HTML report: commits, trials, facts. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "report/escape.h"
#include "report/html.h"
#include "report/print.h"

#define OPEN_TRIALS 60 /* more are folded away at first */
#define VALUES_MAX 12  /* of one trial in its line */

static void why_cell(FILE *out, const struct report_commit *c)
{
	fputs("<td class=\"w\">", out);
	html_text(out, c->subject);
	if (c->outcome != TRIAL_OK && c->detail && c->detail[0]) {
		fputs("<br><span class=\"dim\">", out);
		html_text(out, c->detail);
		fputs("</span>", out);
	}
	if (!commit_is_null(&c->twin)) {
		fputs("<br><span class=\"dim\">byte for byte the kernel of ", out);
		html_commit(out, &c->twin, true);
		fputs("</span>", out);
	}
	fputs("</td>", out);
}

static void value_cell(FILE *out, const struct report *r, const struct report_commit *c)
{
	fputs("<td class=\"n\">", out);
	if (c->has_interval)
		html_interval(out, r, &c->interval);
	else
		fputs(trial_outcome_name(c->outcome), out);
	fputs("</td>", out);
}

static void tested_row(FILE *out, const struct report *r, const struct report_commit *c,
		       const struct record_commit *rc)
{
	enum verdict v = c->verdict;
	bool culprit = !commit_is_null(&r->culprit.id) && commit_eq(&c->id, &r->culprit.id);
	char hex[COMMIT_HEX + 1];

	fprintf(out, "<tr id=\"c-%s\"%s><td class=\"n\">", print_abbrev(&c->id, hex),
		culprit ? " class=\"culprit\"" : "");
	if (rc && rc->placed)
		fprintf(out, "%u", rc->position);
	fputs("</td><td>", out);
	html_commit(out, &c->id, false);
	if (rc && rc->role[0])
		fprintf(out, "<br><span class=\"dim\">%s</span>", rc->role);
	fprintf(out, "</td><td class=\"v %s\">%s</td>", verdict_name(v),
		v == VERDICT_UNSET ? "open" : verdict_name(v));
	value_cell(out, r, c);
	fprintf(out, "<td class=\"n boots\">%u</td>", c->trials);
	why_cell(out, c);
	fputs("</tr>\n", out);
}

/* Fresh boots only: what was made of the ends, or a parent that the search never needed. */
static void fresh_row(FILE *out, const struct record *d, const struct record_commit *rc)
{
	struct record_sides s;
	char hex[COMMIT_HEX + 1], number[32];

	record_side(d, &rc->id, 0, true, &s);
	fprintf(out, "<tr id=\"c-%s\"><td></td><td>", print_abbrev(&rc->id, hex));
	html_commit(out, &rc->id, false);
	fprintf(out, "<br><span class=\"dim\">%s</span></td><td></td><td class=\"n\">", rc->role);
	if (s.n) {
		_cleanup_free_ char *value = xasprintf(
			"%s %s", report_number(s.mean, number, sizeof(number)), d->metric[0].unit);

		html_text(out, value);
	} else
		fputs(trial_outcome_name(s.why), out);
	fprintf(out,
		"</td><td class=\"n boots\">%u</td><td class=\"w dim\">confirmation "
		"only</td></tr>\n",
		s.booted);
	str_freep(&s.boot);
}

void html_tested(FILE *out, const struct report *r, const struct record *d)
{
	if (!d->n_commits)
		return;
	html_open(out, "tested", "Commits in the order of history");
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Commits\"><table "
	      "class=\"cards\">"
	      "<thead><tr><th scope=\"col\" class=\"n\">#</th><th scope=\"col\">commit</th><th "
	      "scope=\"col\">verdict</th><th scope=\"col\" class=\"n\">value [interval]</th><th "
	      "scope=\"col\" class=\"n\">boots</th><th scope=\"col\">subject</th></tr></thead>"
	      "<tbody>\n",
	      out);
	for (size_t i = 0; i < d->n_commits; i++)
		if (d->commit[i].tested)
			tested_row(out, r, d->commit[i].tested, &d->commit[i]);
		else
			fresh_row(out, d, &d->commit[i]);
	fputs("</tbody></table></div>\n", out);
	html_close(out);
}

static void values_cell(FILE *out, const struct record *d, const struct record_trial *t)
{
	const struct record_values *v = record_values_of(t, 0);
	char number[32];

	fputs("<td>", out);
	for (size_t i = 0; v && i < v->n && i < VALUES_MAX; i++)
		fprintf(out, "%s%s", i ? " " : "", report_number(v->v[i], number, sizeof(number)));
	if (v && v->n > VALUES_MAX)
		fprintf(out, " … (%zu values)", v->n);
	if (v && v->n && d->metric[0].unit[0]) {
		fputc(' ', out);
		html_text(out, d->metric[0].unit);
	}
	if (t->twin)
		fprintf(out, " <span class=\"dim\">of trial <a href=\"#t-%lld\">%lld</a></span>",
			(long long)t->twin, (long long)t->twin);
	if (t->detail[0]) {
		fputs(" <span class=\"dim\">", out);
		html_text(out, t->detail);
		fputs("</span>", out);
	}
	fputs("</td>", out);
}

static void logs_cell(FILE *out, const struct record *d, const struct record_trial *t)
{
	/* a live page lies in the state directory itself */
	_cleanup_free_ char *dir = d->live || d->now ? xstrdup(t->dir)
						     : xasprintf("%s/%s", d->state_dir, t->dir);

	fputs("<td>", out);
	for (size_t i = 0; i < t->logs.n; i++) {
		fputs(i ? " <a href=\"" : "<a href=\"", out);
		escape_url(out, dir, t->logs.v[i]);
		fprintf(out, "\" aria-label=\"%s of trial %lld\">", t->logs.v[i], (long long)t->id);
		html_text(out, t->logs.v[i]);
		fputs("</a>", out);
	}
	if (!t->logs.n && t->dir[0])
		html_text(out, t->dir);
	fputs("</td>", out);
}

static void trial_row(FILE *out, const struct record *d, const struct record_trial *t)
{
	bool known = false;
	char when[40];

	for (size_t i = 0; i < d->n_commits && !known; i++)
		known = commit_eq(&d->commit[i].id, &t->commit);
	fprintf(out, "<tr id=\"t-%lld\"><td class=\"n\">%lld</td><td>", (long long)t->id,
		(long long)t->id);
	html_commit(out, &t->commit, known);
	fputs("</td><td>", out);
	html_text(out, t->purpose);
	fprintf(out, "</td><td class=\"v %s\">%s</td>", t->outcome == TRIAL_OK ? "good" : "skip",
		trial_outcome_name(t->outcome));
	values_cell(out, d, t);
	fprintf(out, "<td class=\"n\">%.1f s</td><td class=\"n\">%s</td>",
		t->boot_seconds + t->run_seconds, clock_format(t->time, when, sizeof(when)));
	logs_cell(out, d, t);
	fputs("</tr>\n", out);
}

void html_trials(FILE *out, const struct record *d)
{
	if (!d->n_trials)
		return;
	html_open(out, "trials", "Trials and their logs");
	fprintf(out, "<details%s><summary>%zu trial%s</summary>\n",
		d->n_trials <= OPEN_TRIALS ? " open" : "", d->n_trials,
		d->n_trials == 1 ? "" : "s");
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Trials\"><table "
	      "class=\"cards\">"
	      "<thead><tr><th scope=\"col\" class=\"n\">trial</th><th scope=\"col\">commit</th><th "
	      "scope=\"col\">for</th><th scope=\"col\">outcome</th><th "
	      "scope=\"col\">values</th><th "
	      "scope=\"col\" class=\"n\">took</th><th scope=\"col\" class=\"n\">ended</th><th "
	      "scope=\"col\">logs</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < d->n_trials; i++)
		trial_row(out, d, &d->trial[i]);
	fputs("</tbody></table></div></details>\n", out);
	html_close(out);
}

static void fact(FILE *out, const char *name, const char *value, bool varies)
{
	if (!value || !value[0])
		return;
	fputs("<tr><th scope=\"row\">", out);
	html_text(out, name);
	fputs("</th><td class=\"w\">", out);
	html_text(out, value);
	if (varies)
		fputs(" <span class=\"dim\">(the last trial's; it varies)</span>", out);
	fputs("</td></tr>\n", out);
}

void html_facts(FILE *out, const struct report *r, const struct record *d)
{
	html_open(out, "facts", "Measured on");
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Facts\"><table>"
	      "<tbody>\n",
	      out);
	fact(out, "repository", r->repo, false);
	fact(out, "range", d->title, false);
	fact(out, "compiler", d->compiler, false);
	fact(out, "kernel configuration", d->config_path, false);
	for (size_t i = 0; i < d->n_facts; i++)
		if (!str_eq(d->fact[i].name, "compiler"))
			fact(out, d->fact[i].name, d->fact[i].value, d->fact[i].varies);
	fputs("</tbody></table></div>\n", out);
	if (r->deterministic)
		fputs("<p>Instructions were counted (deterministic = yes): caches, TLBs and "
		      "contention are invisible.</p>\n",
		      out);
	html_close(out);
}

static void folded(FILE *out, const char *title, const char *text)
{
	if (!text || !text[0])
		return;
	fprintf(out, "<details><summary>%s</summary>\n<pre>", title);
	escape_text(out, text, true);
	fputs("</pre></details>\n", out);
}

void html_rerun(FILE *out, const struct report *r, const struct record *d)
{
	(void)r;
	html_open(out, "rerun", "How to reproduce");
	if (d->rerun) {
		fputs("<pre>", out);
		escape_text(out, d->rerun, true);
		fputs("</pre>\n", out);
	}
	folded(out, "The campaign as it ran", d->campaign);
	folded(out, "The log for git bisect replay", d->bisect_log);
	html_close(out);
}
