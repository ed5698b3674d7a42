/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer for a person. */
#include <math.h>
#include <string.h>

#include "report/print.h"

static const char *unit_of(const struct report *r)
{
	return r->unit ? r->unit : "";
}

static void print_commit(FILE *out, const struct report_commit *c)
{
	char hex[COMMIT_HEX + 1];

	fprintf(out, "\n  commit %s\n  Author: ", commit_hex(&c->id, hex));
	print_clean(out, c->author);
	if (c->email && c->email[0]) {
		fputs(" <", out);
		print_clean(out, c->email);
		fputc('>', out);
	}
	fputs("\n  Date:   ", out);
	print_clean(out, c->date);
	fputs("\n\n      ", out);
	print_clean(out, c->subject);
	fputc('\n', out);
}

/* "exit_ms: lower is better, threshold 2.28 ms" over a table. */
static void print_heading(FILE *out, const struct report *r)
{
	fputc('\n', out);
	print_clean(out, r->metric);
	if (r->ends.state)
		fputs(": ", out);
	print_threshold(out, r);
	fputc('\n', out);
}

static void print_end_difference(FILE *out, const struct report *r)
{
	if (!r->ends.state || !isfinite(r->ends.diff.estimate))
		return;
	fputs("  bad end against good end: ", out);
	print_difference(out, r, r->ends.good.estimate,
			 r->ends.good.estimate + r->ends.diff.estimate, &r->ends.diff);
	fputc('\n', out);
}

/* The culprit between its tested parent and the ends, in the order of history. */
static void print_sides(FILE *out, const struct report *r)
{
	const struct report_commit *culprit = print_find(r, &r->culprit.id);
	const struct report_commit *parent = print_find(r, &r->culprit_parent);
	struct print_row rows[4];
	size_t n = 0, old = r->fix ? r->bad : r->good, new = r->fix ? r->good : r->bad;

	print_row_add(rows, &n, r->fix ? "bad end" : "good end",
		      old < r->n_tested ? &r->tested[old] : NULL);
	print_row_add(rows, &n, "parent", parent);
	print_row_add(rows, &n, r->fix ? "fix" : "culprit", culprit);
	print_row_add(rows, &n, r->fix ? "good end" : "bad end",
		      new < r->n_tested ? &r->tested[new] : NULL);
	print_heading(out, r);
	print_rows(out, r, rows, n);
	print_end_difference(out, r);
	if (!culprit || !parent || !culprit->has_interval || !parent->has_interval || n < 3)
		return;
	fprintf(out, "  %s against its parent:  ", r->fix ? "fix" : "culprit");
	print_difference(out, r, parent->interval.estimate, culprit->interval.estimate, NULL);
	fputc('\n', out);
}

static void print_config(FILE *out, const struct report *r)
{
	if (!r->config_diff_known)
		return;
	if (!r->config_diff.n) {
		fputs("\nIts kernel configuration is that of its parent.\n", out);
		return;
	}
	fputs("\nIt changes the kernel configuration, which may be all that it does here:\n", out);
	for (size_t i = 0; i < r->config_diff.n; i++) {
		if (i == PRINT_LIST_MAX) {
			fprintf(out, "  … and %zu more lines\n", r->config_diff.n - i);
			break;
		}
		fputs("  ", out);
		print_clean(out, r->config_diff.v[i]);
		fputc('\n', out);
	}
}

static void print_chance(FILE *out, const struct report *r)
{
	char share[24], none[24];

	if (r->noise.is_bayes)
		fprintf(out, "\nIt is the one with %s; that none of the range is, with %s.\n",
			print_share(r->culprit_share, share, sizeof(share)),
			print_share(r->noise.belief.none, none, sizeof(none)));
}

static void say_found(FILE *out, const struct report *r)
{
	char hex[COMMIT_HEX + 1];

	commit_hex(&r->culprit.id, hex);
	if (r->term_new) {
		fprintf(out, "%s is the first ", hex);
		print_clean(out, r->term_new);
		fputs(" commit\n", out);
	} else if (r->fix) {
		fprintf(out, "fixed by %s, the first good commit\n", hex);
	} else {
		fprintf(out, "%s is the first bad commit\n", hex);
	}
	print_commit(out, &r->culprit);
	print_chance(out, r);
	print_sides(out, r);
	print_confirm(out, r);
	print_conflict_remedy(out, r);
	report_evidence_text(&r->evidence, PRINT_LIST_MAX / 2, out);
	print_config(out, r);
}

static void say_not_confirmed(FILE *out, const struct report *r)
{
	fputs("not confirmed: fresh boots of the commit found and of its parent do not differ as "
	      "the search said\n",
	      out);
	if (!commit_is_null(&r->culprit.id))
		print_commit(out, &r->culprit);
	print_sides(out, r);
	print_confirm(out, r);
	print_conflict_remedy(out, r);
	report_evidence_text(&r->evidence, PRINT_LIST_MAX / 2, out);
	fputs("\nSo the step that the search saw does not come back: noise led it astray, or the "
	      "machine\nchanged meanwhile. Measure more (min_boots and end_boots in [measure], "
	      "confidence in\n[verdict]) into another state directory; 'kregress log' has every "
	      "value so far.\n",
	      out);
}

/* Of the short list: neither tested nor said to be skipped. */
static size_t untested(const struct report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_left; i++)
		n += !print_find(r, &r->left[i]) && !print_find_told(r, &r->left[i]);
	return n;
}

/* The credible set of bayes. */
static void say_credible(FILE *out, const struct report *r)
{
	char hex[COMMIT_HEX + 1], share[24];
	size_t n = 0;

	fprintf(out, "the first %s commit is one of these %zu, with %g%% of what is likely:\n",
		r->fix ? "good" : "bad", r->n_left, 100 * r->confidence);
	for (; n < r->n_left && n < PRINT_LIST_MAX; n++) {
		fprintf(out, "  %7s  %s  ", print_share(r->left_share[n], share, sizeof(share)),
			commit_hex(&r->left[n], hex));
		print_clean(out, r->left_subject[n]);
		fputc('\n', out);
	}
	if (n < r->n_left)
		fprintf(out, "  … and %zu more\n", r->n_left - n);
	fprintf(out, "  %7s  no commit of this range\n",
		print_share(r->noise.belief.none, share, sizeof(share)));
	fprintf(out, "\nThe search ends because %s.\n", print_why_step(r));
	print_heading(out, r);
	print_ends(out, r);
	print_end_difference(out, r);
}

static void say_short_list(FILE *out, const struct report *r)
{
	size_t n = untested(r);

	if (r->noise.is_bayes && r->n_left) {
		say_credible(out, r);
		return;
	}

	if (!r->n_left) {
		fputs("the verdicts contradict each other: there is no commit that fits them all\n",
		      out);
		print_heading(out, r);
		print_ends(out, r);
		return;
	}
	fprintf(out,
		"only commits that cannot be tested are left; the first %s commit is one of these "
		"%zu:\n",
		r->fix ? "good" : "bad", r->n_left);
	print_left(out, r);
	if (n)
		fprintf(out,
			"\n%zu of them %s not tested, because commits on both sides fail alike. To "
			"test "
			"them too:\n  kregress run -o verdict.skips=git\n",
			n, n == 1 ? "was" : "were");
	print_heading(out, r);
	print_ends(out, r);
	print_end_difference(out, r);
}

/* No difference with bayes: shown, or not to be seen. */
static void print_none(FILE *out, const struct report *r)
{
	char share[24];

	if (r->noise.belief.step.why == BAYES_WHY_EQUIVALENT || r->ends.equivalent)
		fprintf(out,
			"\nThey are shown to be nearer than the smallest effect that matters, "
			"%g%%.\n",
			100 * r->effect);
	else
		fprintf(out,
			"\nThat no commit of this range made a difference is likely with %s.\n",
			print_share(r->noise.belief.none, share, sizeof(share)));
	print_power(out, r);
}

static void say_blind(FILE *out, const struct report *r)
{
	fputs("refused: the ends look alike, and the boots allowed cannot show a step that "
	      "matters\n",
	      out);
	print_heading(out, r);
	print_ends(out, r);
	print_end_difference(out, r);
	print_power(out, r);
}

static void say_no_culprit(FILE *out, const struct report *r)
{
	fputs("no commit of this range made a difference\n", out);
	print_heading(out, r);
	print_ends(out, r);
	print_end_difference(out, r);
	print_none(out, r);
}

static void say_no_difference(FILE *out, const struct report *r)
{
	double margin = r->effect * fabs(r->ends.good.estimate);
	char buf[64];

	if (report_ends_differ(r))
		fputs("the ends differ, but one of them lies too near the threshold to be called "
		      "good "
		      "or bad\n",
		      out);
	else
		fputs("no difference: the two ends cannot be told apart, so there is nothing to "
		      "search\n",
		      out);
	print_heading(out, r);
	print_ends(out, r);
	print_end_difference(out, r);
	if (r->noise.is_bayes) {
		print_none(out, r);
		return;
	}
	if (r->ends.equivalent)
		fprintf(out,
			"\nThey are shown to be nearer than the smallest effect that matters, %g%% "
			"(%s%s%s).\n",
			100 * r->effect, report_number(margin, buf, sizeof(buf)),
			unit_of(r)[0] ? " " : "", unit_of(r));
	else if (isnan(r->ends.bad.estimate))
		fputs("\nThe bad end fails, and the good end could not be told from the "
		      "threshold.\n",
		      out);
	else if (report_ends_differ(r)) {
		fputs("\nSet threshold = auto in [verdict] (half-way between the two), or allow "
		      "more "
		      "boots\n(end_boots and max_boots in [measure]).\n",
		      out);
		return;
	} else
		fputs("\nThe boots allowed were not enough to tell them apart.\n", out);
	fputs("\nTry a longer workload or one that shows the difference more clearly; more runs "
	      "and boots\n(runs_per_boot, end_boots and max_boots in [measure]); ends that lie "
	      "further apart;\nor, where a smaller difference matters, a nearer threshold and "
	      "effect in [verdict].\n",
	      out);
}

static void say_swapped(FILE *out, const struct report *r)
{
	bool lower = r->ends.better != METRIC_HIGHER;

	fputs("good and bad are swapped: the good end is the worse one\n", out);
	print_heading(out, r);
	print_ends(out, r);
	print_end_difference(out, r);
	fprintf(out,
		"\nThe newer end is the %s one here. To find the commit that made it so, set\n"
		"hunt = %s in [campaign] and exchange the values of good and bad. Or, if a %s\n"
		"value is what you want, set better = %s in [verdict].\n",
		r->fix ? "worse" : "better", r->fix ? "regression" : "fix",
		lower ? "higher" : "lower", lower ? "higher" : "lower");
}

static void say_same_side(FILE *out, const struct report *r)
{
	bool bad;

	fputs("the ends differ, but the threshold is not between them\n", out);
	print_heading(out, r);
	print_ends(out, r);
	print_end_difference(out, r);
	bad = r->ends.better == METRIC_HIGHER ? r->ends.good.estimate < r->ends.threshold
					      : r->ends.good.estimate > r->ends.threshold;
	fprintf(out,
		"\nBoth ends are on the %s side. Set threshold in [verdict] to a value between the "
		"two\nestimates, or to auto (half-way).\n",
		bad ? "bad" : "good");
}

static void say_end_unmeasured(FILE *out, const struct report *r)
{
	const struct report_commit *c = print_find(r, &r->subject_of_status);
	char hex[COMMIT_HEX + 1];
	bool good = c && r->good < r->n_tested && c == &r->tested[r->good];

	fprintf(out, "the %s end %s could not be measured: %s\n", good ? "good" : "bad",
		commit_hex(&r->subject_of_status, hex),
		print_outcome(c ? c->outcome : TRIAL_UNSET));
	if (c && c->detail && c->detail[0]) {
		fputs("\n  ", out);
		print_clean(out, c->detail);
		fputc('\n', out);
	}
	if (c && c->log_path && c->log_path[0]) {
		fputs("  log: ", out);
		print_clean(out, c->log_path);
		fputc('\n', out);
	}
	fputs("\nWithout its value there is nothing to compare with. Mend what failed (the log "
	      "says what),\nor name a commit nearby as this end.",
	      out);
	if (!good)
		fputs(" Where the failure itself is the regression, set\non_crash or "
		      "on_build_failure to bad in [verdict], and a threshold that is not auto.",
		      out);
	fputc('\n', out);
}

/* What git explains of a bad merge base, in the words of the metric. */
static void say_bad_merge_base(FILE *out, const struct report *r)
{
	const char *was = r->fix ? "good" : "bad", *old = r->fix ? "bad" : "good";
	struct print_row rows[3];
	size_t n = 0, end = r->fix ? r->bad : r->good, far = r->fix ? r->good : r->bad;
	char base[COMMIT_HEX + 1], hex[COMMIT_HEX + 1];

	fprintf(out, "the merge base %s is %s\n", commit_hex(&r->subject_of_status, base), was);
	print_row_add(rows, &n, r->fix ? "bad end" : "good end",
		      end < r->n_tested ? &r->tested[end] : NULL);
	print_row_add(rows, &n, "merge base", print_find(r, &r->subject_of_status));
	print_row_add(rows, &n, r->fix ? "good end" : "bad end",
		      far < r->n_tested ? &r->tested[far] : NULL);
	print_heading(out, r);
	print_rows(out, r, rows, n);
	base[PRINT_ABBREV] = '\0';
	print_abbrev(r->fix ? &r->bad_id : &r->good_id, hex);
	fprintf(out,
		"\nThe %s end is not an ancestor of the %s one, and where their histories part the "
		"value is\n%s already. So no commit of this range made the difference: a commit "
		"between\n%s and %s (the %s end) %s. To find it, set\nhunt = %s, good = %s and "
		"bad = %s in [campaign].\n",
		old, was, was, base, hex, old, r->fix ? "made it bad again" : "made it good again",
		r->fix ? "regression" : "fix", r->fix ? base : hex, r->fix ? hex : base);
}

static void say_running(FILE *out, const struct report *r)
{
	fprintf(out, "not finished: %zu commits left", r->n_left);
	if (r->phase == PHASE_SEARCH)
		fprintf(out, ", about %u more %s%s", r->steps, r->noise.is_bayes ? "boot" : "step",
			r->steps == 1 ? "" : "s");
	fputc('\n', out);
	if (!r->n_tested)
		return;
	print_heading(out, r);
	print_ends(out, r);
}

static void print_notes(FILE *out, const struct report *r)
{
	if (r->single_boots && !r->deterministic)
		fputs("\nNote: one boot of each commit, so how much boots differ is not known, and "
		      "every value was\ntaken as exact. With end_boots = 3 in [measure] it would "
		      "be "
		      "known.\n",
		      out);
	print_unseen(out, r);
}

void report_text(const struct report *r, FILE *out)
{
	static void (*const say[])(FILE *, const struct report *) = {
		[ENGINE_RUNNING] = say_running,
		[ENGINE_FOUND] = say_found,
		[ENGINE_SHORT_LIST] = say_short_list,
		[ENGINE_NO_DIFFERENCE] = say_no_difference,
		[ENGINE_SWAPPED] = say_swapped,
		[ENGINE_SAME_SIDE] = say_same_side,
		[ENGINE_END_UNMEASURED] = say_end_unmeasured,
		[ENGINE_BAD_MERGE_BASE] = say_bad_merge_base,
		[ENGINE_NOT_CONFIRMED] = say_not_confirmed,
		[ENGINE_BLIND] = say_blind,
		[ENGINE_NO_CULPRIT] = say_no_culprit,
	};

	if (report_no_good(r))
		print_no_good(out, r);
	else if ((unsigned)r->status < ARRAY_SIZE(say))
		say[r->status](out, r);
	print_tries(out, r);
	print_untested(out, r);
	print_told(out, r);
	print_choice(out, r);
	print_notes(out, r);
	print_cost(out, r);
}
