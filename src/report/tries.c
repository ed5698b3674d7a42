/* SPDX-License-Identifier: GPL-2.0-or-later */
/* good = auto: what was tried as the good end, and what came of it. */
#include "report/print.h"

bool report_no_good(const struct report *r)
{
	return r->n_tries && r->tries[r->n_tries - 1].refused != ENGINE_RUNNING;
}

static const char *why_not(const struct report_try *t)
{
	switch (t->refused) {
	case ENGINE_NO_DIFFERENCE:
	case ENGINE_NO_CULPRIT:
		return "no difference";
	case ENGINE_BLIND:
		return "not to be told from the bad end";
	case ENGINE_SWAPPED:
		return "worse than the bad end";
	case ENGINE_SAME_SIDE:
		return "on the bad end's side of the threshold";
	case ENGINE_END_UNMEASURED:
		return print_outcome(t->outcome);
	default:
		return "good";
	}
}

static void print_line(FILE *out, const struct report *r, const char *name,
		       const struct commit_id *id, const struct stats_interval *i, const char *why)
{
	_cleanup_str_ struct str clean = STR_INIT;
	char hex[COMMIT_HEX + 1], value[96] = "";

	str_neutralise(&clean, name, __builtin_strlen(name), false);
	if (i)
		report_interval(i, r->unit ? r->unit : "", value, sizeof(value));
	fprintf(out, "  %-18s %s  %-24s %s", str_text(&clean), print_abbrev(id, hex), value, why);
	fputc('\n', out);
}

static void print_table(FILE *out, const struct report *r)
{
	const struct report_commit *bad = r->bad < r->n_tested ? &r->tested[r->bad] : NULL;

	fputc('\n', out);
	print_clean(out, r->metric);
	if (r->ends.state)
		fputs(": ", out);
	print_threshold(out, r);
	fputc('\n', out);
	print_line(out, r, "bad end", &r->bad_id, bad && bad->has_interval ? &bad->interval : NULL,
		   "");
	for (size_t i = 0; i < r->n_tries; i++) {
		const struct report_try *t = &r->tries[i];

		print_line(out, r, t->name, &t->id, t->has_interval ? &t->interval : NULL,
			   why_not(t));
	}
}

void print_no_good(FILE *out, const struct report *r)
{
	const struct report_try *last = &r->tries[r->n_tries - 1];
	char hex[COMMIT_HEX + 1];

	fprintf(out, "no good end found: %zu commit%s before the bad end %s tried, back to\n%s (",
		r->n_tries, r->n_tries == 1 ? "" : "s", r->n_tries == 1 ? "was" : "were",
		print_abbrev(&last->id, hex));
	print_clean(out, last->name);
	fputs("), and none of them is better than the bad end\n", out);
	print_table(out, r);
	if (r->tries_more)
		fprintf(out,
			"\nTo go further back, set good_tries in [campaign] to more than %zu: what "
			"was measured\nis not measured again. Or, where a good commit is known, "
			"name "
			"it: good = <commit>.\n",
			r->n_tries);
	else
		fputs("\nThere is no older commit to try. Where a good commit is known, name it: "
		      "good = <commit>.\n",
		      out);
	fputs("If none is known to be better, the workload may not show the difference (a longer "
	      "run, more\nboots: runs_per_boot and end_boots in [measure]), or there never was "
	      "one.\n",
	      out);
}

void print_tries(FILE *out, const struct report *r)
{
	const struct report_try *last = r->n_tries ? &r->tries[r->n_tries - 1] : NULL;
	char hex[COMMIT_HEX + 1];

	if (!last || report_no_good(r))
		return;
	fprintf(out, "\ngood = auto: the %s end is %s (",
		r->ends.state == ENDS_APART ? "good" : "next good", print_abbrev(&last->id, hex));
	print_clean(out, last->name);
	fprintf(out, "), number %zu of those tried\n", r->n_tries);
	for (size_t i = 0; i + 1 < r->n_tries; i++) {
		const struct report_try *t = &r->tries[i];

		print_line(out, r, t->name, &t->id, t->has_interval ? &t->interval : NULL,
			   why_not(t));
	}
}
