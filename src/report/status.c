/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a campaign stands, and why. */
#include "report/print.h"

static void print_stand(FILE *out, const struct report *r)
{
	char hex[COMMIT_HEX + 1];

	if (r->status == ENGINE_FOUND && r->confirm.state == CONFIRM_UNFINISHED)
		fprintf(out, "confirming %s\n", commit_hex(&r->culprit.id, hex));
	else if (r->status == ENGINE_FOUND)
		fprintf(out, r->fix ? "fixed by %s\n" : "found %s\n",
			commit_hex(&r->culprit.id, hex));
	else if (r->status != ENGINE_RUNNING)
		fprintf(out, "ended: %s\n", report_status_name(r));
	else if (commit_is_null(&r->good_id))
		fputs("single commits, measured by kregress test: the file names no ends\n", out);
	else if (!r->n_tested)
		fputs("not started\n", out);
	else if (r->phase == PHASE_SEARCH && r->noise.is_bayes)
		fprintf(out, "searching, %zu of %u commits hold %g%% of what is likely\n",
			r->n_left, r->candidates, 100 * r->confidence);
	else if (r->phase == PHASE_SEARCH)
		fprintf(out, "searching, %zu of %u commits left, about %u more step%s\n", r->n_left,
			r->candidates, r->steps, r->steps == 1 ? "" : "s");
	else
		fprintf(out, "measuring the %s, %u commits in the range\n",
			r->phase == PHASE_MERGE_BASES ? "merge bases"
			: r->phase == PHASE_RECHECK   ? "verdicts of the bisect log again"
						      : "ends",
			r->candidates);
}

static const char *label(const struct report *r, size_t i)
{
	return i == r->good ? "good end" : i == r->bad ? "bad end" : "";
}

static void print_tested(FILE *out, const struct report *r, const struct report_commit *c,
			 const char *what)
{
	char hex[COMMIT_HEX + 1], value[160];

	if (c->has_interval && c->outcome == TRIAL_OK)
		report_interval(&c->interval, r->unit, value, sizeof(value));
	else
		snprintf(value, sizeof(value), "%s", trial_outcome_name(c->outcome));
	fprintf(out, "  %-8s  %-6s  %s  %3u  %-28s  ", what,
		c->verdict == VERDICT_UNSET ? "open" : verdict_name(c->verdict),
		print_abbrev(&c->id, hex), c->trials, value);
	print_clean(out, c->subject);
	fputc('\n', out);
}

void report_status(const struct report *r, FILE *out)
{
	fputs("Campaign  ", out);
	print_clean(out, r->name);
	fprintf(out, " (%s hunt, ", r->fix ? "fix" : "regression");
	print_clean(out, r->metric);
	fputs(")\nState     ", out);
	print_stand(out, r);
	if (r->ends.state) {
		fputs("Decides   ", out);
		print_threshold(out, r);
		fputc('\n', out);
	}
	print_choice(out, r);
	print_belief(out, r);
	if (r->n_tested)
		fputs("\nTested\n", out);
	for (size_t i = 0; i < r->n_tested; i++)
		print_tested(out, r, &r->tested[i], label(r, i));
	print_tries(out, r);
	print_untested(out, r);
	print_told(out, r);
	print_unseen(out, r);
	print_cost(out, r);
}
