/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of a report: what failed and why, what is left, what it cost. */
#include "report/print.h"

/* Commits of one verdict and outcome, under one heading. */
struct group {
	enum verdict verdict;
	enum trial_outcome outcome;
};

/* An end that was measured is shown as one: it is no skipped commit, whatever came of the ends. */
static bool is_measured_end(const struct report *r, const struct report_commit *c)
{
	return c->outcome == TRIAL_OK &&
	       (commit_eq(&c->id, &r->good_id) || commit_eq(&c->id, &r->bad_id));
}

static bool is_in(const struct report *r, const struct report_commit *c, const struct group *g)
{
	return c->verdict == g->verdict && c->outcome == g->outcome && !is_measured_end(r, c);
}

static void print_why(FILE *out, const char *indent, const struct report_commit *c)
{
	if (c->detail && c->detail[0]) {
		fputs(indent, out);
		print_clean(out, c->detail);
		fputc('\n', out);
	}
	if (c->log_path && c->log_path[0]) {
		fprintf(out, "%slog: ", indent);
		print_clean(out, c->log_path);
		fputc('\n', out);
	}
}

static void print_one(FILE *out, const struct report_commit *c)
{
	char hex[COMMIT_HEX + 1];

	fprintf(out, "    %s ", print_abbrev(&c->id, hex));
	print_clean(out, c->subject);
	fputc('\n', out);
	print_why(out, "      ", c);
}

static void print_group(FILE *out, const struct report *r, const struct group *g)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_tested; i++)
		n += is_in(r, &r->tested[i], g);
	if (!n)
		return;
	fprintf(out, "  %s (%zu)\n", print_outcome(g->outcome), n);
	n = 0;
	for (size_t i = 0; i < r->n_tested; i++) {
		if (!is_in(r, &r->tested[i], g))
			continue;
		if (n++ < PRINT_LIST_MAX)
			print_one(out, &r->tested[i]);
	}
	if (n > PRINT_LIST_MAX)
		fprintf(out, "    … and %zu more: see kregress log\n", n - PRINT_LIST_MAX);
}

static size_t count(const struct report *r, enum verdict v, bool only_failed)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_tested; i++)
		n += r->tested[i].verdict == v && !is_measured_end(r, &r->tested[i]) &&
		     !(only_failed && r->tested[i].outcome == TRIAL_OK);
	return n;
}

static void print_twins(FILE *out, const struct report *r)
{
	char a[COMMIT_HEX + 1], b[COMMIT_HEX + 1];
	bool first = true;

	for (size_t i = 0; i < r->n_tested; i++) {
		const struct report_commit *c = &r->tested[i];

		if (commit_is_null(&c->twin))
			continue;
		if (first)
			fputs("\nIdentical kernels, values taken over\n", out);
		first = false;
		fprintf(out, "  %s is byte for byte the kernel of %s\n", print_abbrev(&c->id, a),
			print_abbrev(&c->twin, b));
	}
}

void print_untested(FILE *out, const struct report *r)
{
	size_t skipped = count(r, VERDICT_SKIP, false) + count(r, VERDICT_UNSURE, false);
	size_t bad = count(r, VERDICT_BAD, true);
	struct group g = { .verdict = VERDICT_SKIP };

	if (skipped)
		fprintf(out, "\nSkipped (%zu)\n", skipped);
	for (g.outcome = TRIAL_OK; (int)g.outcome < TRIAL_OUTCOMES; g.outcome++) {
		g.verdict = VERDICT_SKIP;
		print_group(out, r, &g);
		g.verdict = VERDICT_UNSURE;
		print_group(out, r, &g);
	}
	if (bad)
		fprintf(out, "\nFailed, which counts as bad in this campaign (%zu)\n", bad);
	g.verdict = VERDICT_BAD;
	for (g.outcome = TRIAL_BUILD_FAILED; (int)g.outcome < TRIAL_OUTCOMES; g.outcome++)
		print_group(out, r, &g);
	print_twins(out, r);
}

void print_left(FILE *out, const struct report *r)
{
	char hex[COMMIT_HEX + 1];

	for (size_t i = 0; i < r->n_left; i++) {
		const struct report_commit *c = print_find(r, &r->left[i]);

		fprintf(out, "  %s ", commit_hex(&r->left[i], hex));
		print_clean(out, r->left_subject ? r->left_subject[i] : NULL);
		if (c && c->outcome == TRIAL_OK && c->verdict != VERDICT_UNSURE)
			fprintf(out, "\n    measured: %s\n", verdict_name(c->verdict));
		else
			fprintf(out, "\n    %s\n", print_outcome(c ? c->outcome : TRIAL_UNSET));
		if (c)
			print_why(out, "    ", c);
	}
}

static void print_split(FILE *out, const char *what, double total, double make, double boot,
			double workload)
{
	double other = total - make - boot - workload;
	char buf[32];

	fprintf(out, "%-9s %s: make %.1f%%, boot %.1f%%, workload %.1f%%, other %.1f%%\n", what,
		str_duration(total, buf, sizeof(buf)), 100 * make / total, 100 * boot / total,
		100 * workload / total, 100 * (other > 0 ? other : 0) / total);
}

void print_cost(FILE *out, const struct report *r)
{
	bool worked = r->session_make + r->session_boot + r->session_workload > 0;

	fprintf(out,
		"\nWork      %u commits in the range, %zu tested, %u builds, %u boots, %zu "
		"values\n",
		r->candidates, r->n_tested, r->builds, r->trials, r->samples);
	if (worked)
		print_split(out, "Time", r->session_total, r->session_make, r->session_boot,
			    r->session_workload);
	/* The store's time goes on over interruptions; the same figure is not said twice. */
	if (r->seconds_total > (worked ? r->session_total + 1 : 0))
		print_split(out, "All time", r->seconds_total, r->seconds_make, r->seconds_boot,
			    r->seconds_workload);
	fputs("Logs      ", out);
	print_clean(out, r->state_dir);
	fputc('\n', out);
}
