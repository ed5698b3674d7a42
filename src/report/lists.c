/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of a report: what failed and why, what is left, what it cost. */
#include <stdlib.h>

#include "core/signature.h"
#include "report/print.h"

/* Commits of one verdict and outcome, under one heading. */
struct group {
	enum verdict verdict;
	enum trial_outcome outcome;
};

/*
 * An end that was measured is shown as one: it is no skipped commit, whatever came of the ends.
 * What good = auto tried before has a list of its own.
 */
static bool is_of_use(const struct report *r, const struct report_commit *c)
{
	bool is_tried = false;

	for (size_t i = 0; i < r->n_tries && r->ends.state != ENDS_APART; i++)
		is_tried |= commit_eq(&c->id, &r->tries[i].id);
	/* with bayes every value counts, also that of a commit whose state stays open */
	return c->outcome == TRIAL_OK &&
	       (r->noise.is_bayes || is_tried || commit_eq(&c->id, &r->good_id) ||
		commit_eq(&c->id, &r->bad_id));
}

static bool is_in(const struct report *r, const struct report_commit *c, const struct group *g)
{
	return c->verdict == g->verdict && c->outcome == g->outcome && !is_of_use(r, c);
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

static void print_commit_line(FILE *out, const struct report_commit *c)
{
	char hex[COMMIT_HEX + 1];

	fprintf(out, "    %s ", print_abbrev(&c->id, hex));
	print_clean(out, c->subject);
	fputc('\n', out);
}

/* The members of a group that failed alike, by number: 0 where it belongs to no group here. */
static uint32_t *signatures(const struct report *r, const struct group *g)
{
	uint32_t *of = xcalloc(r->n_tested, sizeof(*of));

	for (size_t i = 0; i < r->n_tested; i++)
		if (is_in(r, &r->tested[i], g))
			of[i] = g->outcome == TRIAL_OK
					? 1 + (uint32_t)i
					: signature_of(g->outcome, r->tested[i].detail);
	return of;
}

static size_t alike(const uint32_t *of, size_t n, uint32_t signature)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += of[i] == signature;
	return count;
}

/* Several commits that failed alike: why, once, then the commits. */
static size_t print_alike(FILE *out, const struct report *r, const uint32_t *of, size_t first,
			  size_t room)
{
	size_t n = alike(of, r->n_tested, of[first]), printed = 0;

	fprintf(out, "    %zu failed alike:\n", n);
	print_why(out, "      ", &r->tested[first]);
	for (size_t i = first; i < r->n_tested && printed < room; i++)
		if (of[i] == of[first]) {
			fputs("  ", out);
			print_commit_line(out, &r->tested[i]);
			printed++;
		}
	return printed;
}

static void print_group(FILE *out, const struct report *r, const struct group *g)
{
	_cleanup_free_ uint32_t *of = signatures(r, g);
	size_t n = r->n_tested - alike(of, r->n_tested, 0), printed = 0;

	if (!n)
		return;
	fprintf(out, "  %s (%zu)\n", print_outcome(g->outcome), n);
	for (size_t i = 0; i < r->n_tested && printed < PRINT_LIST_MAX; i++) {
		if (!of[i] || alike(of, i, of[i]))
			continue;
		if (alike(of, r->n_tested, of[i]) > 1) {
			printed += print_alike(out, r, of, i, PRINT_LIST_MAX - printed);
			continue;
		}
		print_commit_line(out, &r->tested[i]);
		print_why(out, "      ", &r->tested[i]);
		printed++;
	}
	if (n > printed)
		fprintf(out, "    … and %zu more: see kregress log\n", n - printed);
}

static size_t count(const struct report *r, enum verdict v, bool only_failed)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_tested; i++)
		n += r->tested[i].verdict == v && !is_of_use(r, &r->tested[i]) &&
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

const struct report_told *print_find_told(const struct report *r, const struct commit_id *id)
{
	for (size_t i = 0; i < r->n_told; i++)
		if (commit_eq(&r->told[i].id, id))
			return &r->told[i];
	return NULL;
}

/* What is known of a commit that is left. */
static const char *state_of(const struct report *r, const struct commit_id *id,
			    const struct report_commit *c)
{
	const struct report_told *t = print_find_told(r, id);

	if (c && c->outcome == TRIAL_OK && c->verdict != VERDICT_UNSURE)
		return NULL;
	if (c)
		return print_outcome(c->outcome);
	if (t && t->verdict == VERDICT_SKIP)
		return t->person ? "skipped in the bisect log" : "skip = in the campaign file";
	if (t)
		return "called so in the bisect log";
	return r->status == ENGINE_SHORT_LIST
		       ? "not tested: it lies between commits that fail alike"
		       : print_outcome(TRIAL_UNSET);
}

void print_left(FILE *out, const struct report *r)
{
	char hex[COMMIT_HEX + 1];

	for (size_t i = 0; i < r->n_left; i++) {
		const struct report_commit *c = print_find(r, &r->left[i]);
		const char *state = state_of(r, &r->left[i], c);

		fprintf(out, "  %s ", commit_hex(&r->left[i], hex));
		print_clean(out, r->left_subject ? r->left_subject[i] : NULL);
		if (state)
			fprintf(out, "\n    %s\n", state);
		else
			fprintf(out, "\n    measured: %s\n", verdict_name(c->verdict));
		/* the log is named below, with all that failed alike */
		if (c && c->detail && c->detail[0]) {
			fputs("    ", out);
			print_clean(out, c->detail);
			fputc('\n', out);
		}
	}
}

void print_told(FILE *out, const struct report *r)
{
	size_t believed = 0, wrong = 0;
	char hex[COMMIT_HEX + 1];

	for (size_t i = 0; i < r->n_told; i++) {
		const struct report_told *t = &r->told[i];

		believed += t->person && !t->measured;
		wrong += t->person && t->measured && t->measured != t->verdict;
	}
	if (believed)
		fprintf(out,
			"\n%zu verdict%s of the bisect log counted without being measured (run "
			"--recheck measures).\n",
			believed, believed == 1 ? "" : "s");
	if (wrong)
		fputs("\nMeasured otherwise than the bisect log says\n", out);
	for (size_t i = 0; i < r->n_told; i++) {
		const struct report_told *t = &r->told[i];

		if (t->person && t->measured && t->measured != t->verdict)
			fprintf(out, "  %s called %s, measured %s\n", print_abbrev(&t->id, hex),
				verdict_name(t->verdict), verdict_name(t->measured));
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
