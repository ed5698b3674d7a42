/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A campaign decided again, for a person. */
#include "report/again.h"

#include <math.h>
#include <stdlib.h>

#include "report/print.h"

void report_again_release(struct report_again *a)
{
	report_release(&a->before);
	report_release(&a->after);
	for (size_t i = 0; i < a->n_settings; i++) {
		free(a->setting[i].key);
		free(a->setting[i].before);
		free(a->setting[i].after);
	}
	free(a->setting);
	for (size_t i = 0; i < a->n_commits; i++)
		free(a->commit[i].subject);
	free(a->commit);
	free(a->needs.subject);
	*a = (struct report_again){ .n_settings = 0 };
}

bool report_again_is_flip(const struct report_again_commit *c)
{
	return c->after != VERDICT_UNSET && c->before != c->after;
}

const struct commit_id *report_again_next(const struct report_again *a, bool before)
{
	const struct report *r = before ? &a->before : &a->after;

	if (a->same < r->n_tested)
		return &r->tested[a->same].id;
	/* one that it has boots of is among the tested ones already */
	if (!before && a->same == r->n_tested && a->needs.phase &&
	    a->needs.phase != PHASE_CONFIRM && !print_find(r, &a->needs.commit))
		return &a->needs.commit;
	return NULL;
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void print_name(FILE *out, const struct commit_id *id, const char *subject)
{
	char hex[COMMIT_HEX + 1];

	fputs(print_abbrev(id, hex), out);
	if (!subject || !subject[0])
		return;
	fputs(" (", out);
	print_clean(out, subject);
	fputc(')', out);
}

static void print_found(FILE *out, const struct report *r)
{
	static const char *const confirmed[] = {
		[CONFIRM_NONE] = "",
		[CONFIRM_UNFINISHED] = ", not confirmed yet",
		[CONFIRM_YES] = ", confirmed",
		[CONFIRM_NO] = ", not confirmed",
		[CONFIRM_FAILS_AGAIN] = ", confirmed: it fails again",
		[CONFIRM_UNMEASURED] = ", its confirmation could not be measured",
	};

	fputs(r->fix ? "fixed by " : "found ", out);
	print_name(out, &r->culprit.id, r->culprit.subject);
	if (isfinite(r->culprit_share))
		fprintf(out, " with %.3g%%", 100 * r->culprit_share);
	fputs(confirmed[r->confirm.state], out);
}

/* What it came to, in half a line. */
static void print_outcome_of(FILE *out, const struct report *r)
{
	char hex[COMMIT_HEX + 1];

	switch (r->status) {
	case ENGINE_FOUND:
	case ENGINE_NOT_CONFIRMED:
		print_found(out, r);
		break;
	case ENGINE_SHORT_LIST:
		if (r->n_left)
			fprintf(out, "no single commit: one of %zu that cannot be tested",
				r->n_left);
		else
			fputs("the verdicts contradict each other", out);
		break;
	case ENGINE_NO_DIFFERENCE:
		fputs(report_ends_differ(r) ? "an end lies too near the threshold"
					    : "no difference between the ends",
		      out);
		break;
	case ENGINE_SWAPPED:
		fputs("good and bad are swapped: the good end is the worse one", out);
		break;
	case ENGINE_SAME_SIDE:
		fputs("the threshold is not between the ends", out);
		break;
	case ENGINE_END_UNMEASURED:
		fprintf(out, "the end %s could not be measured",
			print_abbrev(&r->subject_of_status, hex));
		break;
	case ENGINE_BAD_MERGE_BASE:
		fprintf(out, "the merge base %s is %s already",
			print_abbrev(&r->subject_of_status, hex), r->fix ? "good" : "bad");
		break;
	case ENGINE_BLIND:
		fputs("the boots allowed cannot see the effect that matters", out);
		break;
	case ENGINE_NO_CULPRIT:
		fputs("no commit of the range made a difference", out);
		break;
	case ENGINE_RUNNING:
		fprintf(out, "not decided: %zu commit%s left", r->n_left, plural(r->n_left));
		break;
	}
	fputc('\n', out);
}

static void print_side(FILE *out, const char *label, const struct report *r)
{
	fprintf(out, "\n%-9s ", label);
	print_outcome_of(out, r);
	fputs("          ", out);
	print_clean(out, r->metric);
	if (r->ends.state)
		fputs(": ", out);
	print_threshold(out, r);
	fputc('\n', out);
	print_ends(out, r);
}

static const char *shown(const char *value)
{
	return !value ? "not set" : *value ? value : "empty";
}

static void print_settings(FILE *out, const struct report_again *a)
{
	fprintf(out, "Replay    ");
	print_clean(out, a->after.name);
	fprintf(out, ": %u stored trial%s of %zu commit%s, decided again\n", a->stored,
		plural(a->stored), a->n_commits, plural(a->n_commits));
	for (size_t i = 0; i < a->n_settings; i++) {
		const struct report_setting *s = &a->setting[i];

		fprintf(out, "  %s: was ", s->key);
		print_clean(out, shown(s->before));
		fputs(", is ", out);
		print_clean(out, shown(s->after));
		fputc('\n', out);
	}
	if (!a->n_settings)
		fprintf(out, "  the settings are those %s\n",
			a->before_stored ? "that the campaign was run with" : "of the file");
}

static const char *verdict_word(enum verdict v)
{
	return v == VERDICT_UNSET ? "open" : verdict_name(v);
}

static void print_flip(FILE *out, const struct report_again *a, const struct report_again_commit *c)
{
	char hex[COMMIT_HEX + 1], value[160] = "";

	if (c->has_interval)
		report_interval(&c->interval, a->after.unit, value, sizeof(value));
	fprintf(out, "  %s  %-6s -> %-6s  %-28s  ", print_abbrev(&c->id, hex),
		verdict_word(c->before), verdict_word(c->after), value);
	print_clean(out, c->subject);
	fputs(c->asked ? "\n" : " (not asked for)\n", out);
}

static void count_flips(const struct report_again *a, size_t *flips, size_t *lost)
{
	*flips = *lost = 0;
	for (size_t i = 0; i < a->n_commits; i++) {
		*flips += report_again_is_flip(&a->commit[i]);
		*lost += a->commit[i].before && !a->commit[i].after;
	}
}

static void print_flips(FILE *out, const struct report_again *a)
{
	size_t n, lost;

	count_flips(a, &n, &lost);
	fprintf(out, "\nVerdicts  %zu of %zu change", n, a->n_commits);
	if (lost)
		fprintf(out, ", %zu more cannot be made by what is stored", lost);
	fputc('\n', out);
	for (size_t i = 0, shown = 0; i < a->n_commits; i++) {
		if (!report_again_is_flip(&a->commit[i]))
			continue;
		if (shown++ == PRINT_LIST_MAX) {
			fprintf(out, "  … and %zu more\n", n - PRINT_LIST_MAX);
			return;
		}
		print_flip(out, a, &a->commit[i]);
	}
}

static const char *subject_in(const struct report_again *a, const struct commit_id *id)
{
	for (size_t i = 0; i < a->n_commits; i++)
		if (commit_eq(&a->commit[i].id, id))
			return a->commit[i].subject;
	return commit_eq(&a->needs.commit, id) ? a->needs.subject : NULL;
}

/* Where it would have gone another way. */
static void print_search(FILE *out, const struct report_again *a)
{
	const struct commit_id *was = report_again_next(a, true);
	const struct commit_id *is = report_again_next(a, false);
	size_t more = a->before.n_tested - a->same;

	fputs("\nSearch    ", out);
	if (!was && !is) {
		fputs("the same commits in the same order\n", out);
		return;
	}
	fprintf(out, "the same first %zu commit%s, then ", a->same, plural(a->same));
	if (!is) {
		fprintf(out, "%s: %zu measured commit%s not asked for\n",
			a->needs.phase && a->needs.phase != PHASE_CONFIRM ? "no further"
									  : "the end",
			more, plural(more));
		return;
	}
	print_name(out, is, subject_in(a, is));
	if (was) {
		fputs("\n          instead of ", out);
		print_name(out, was, subject_in(a, was));
	}
	fputc('\n', out);
}

/* "1 to 8 more boots of it" */
static void print_boots(FILE *out, const struct report_needs *n)
{
	if (n->at_most > n->at_least)
		fprintf(out, "%u to %u", n->at_least, n->at_most);
	else
		fprintf(out, "%s%u", n->at_most ? "" : "at least ", n->at_least);
	fprintf(out, " more boot%s of %s", plural(n->at_most ? n->at_most : n->at_least),
		n->phase == PHASE_ENDS      ? "the ends"
		: n->phase == PHASE_CONFIRM ? "it and its parent"
					    : "it");
}

static void print_needs(FILE *out, const struct report_again *a)
{
	const struct report_needs *n = &a->needs;

	if (!n->phase)
		return;
	fputs("Ends at   ", out);
	print_name(out, &n->commit, n->subject);
	if (n->phase == PHASE_CONFIRM)
		fputs(", which fresh boots never confirmed", out);
	else if (n->stored)
		fprintf(out, ", for which the %u stored boot%s not enough", n->stored,
			n->stored == 1 ? " is" : "s are");
	else
		fputs(", which was never measured", out);
	fputs(":\n          ", out);
	print_boots(out, n);
	if (n->phase != PHASE_CONFIRM)
		fprintf(out, ", then about %u more %s%s", n->steps,
			n->steps_are_boots ? "boot" : "commit", plural(n->steps));
	if (!n->steps_are_boots && n->phase != PHASE_CONFIRM && n->steps && n->each > 1)
		fprintf(out, " of at least %u boots", n->each);
	fputc('\n', out);
}

/* Boots that would not have been made, and those that could not be used. */
static void print_trials(FILE *out, const struct report_again *a)
{
	unsigned beyond = 0, never = 0;

	for (size_t i = 0; i < a->n_commits; i++) {
		const struct report_again_commit *c = &a->commit[i];

		if (c->asked)
			beyond += c->stored - c->used;
		else
			never += c->stored;
	}
	fprintf(out, "Trials    %u of %u used", a->used, a->stored);
	if (beyond)
		fprintf(out, "; %u beyond what a verdict needs", beyond);
	if (never)
		fprintf(out, "; %u of commits that are not asked for", never);
	fputc('\n', out);
	if (a->no_value)
		fprintf(out, "          %u ran without all values of this metric: garbled\n",
			a->no_value);
	if (a->mended)
		fprintf(out,
			"          %u garbled for another metric's sake: measured, as far as this "
			"one goes\n",
			a->mended);
	if (a->other_setup)
		fprintf(out, "          %u more of another setup left out: other samples\n",
			a->other_setup);
}

static void print_go_on(FILE *out, const struct report_again *a)
{
	const struct report_go_on *g = &a->go_on;

	if (!a->needs.phase || a->needs.phase == PHASE_CONFIRM ||
	    (g->status == ENGINE_RUNNING && g->left == a->after.n_left))
		return;
	fputs("\nA run with these settings takes all that is stored into account: it ", out);
	if (g->status == ENGINE_RUNNING) {
		fprintf(out, "goes on with %zu\ncommit%s left, about %u step%s\n", g->left,
			plural(g->left), g->steps, plural(g->steps));
	} else if (g->status == ENGINE_FOUND) {
		fputs("says\n", out);
		print_name(out, &g->culprit, subject_in(a, &g->culprit));
		fputc('\n', out);
	} else {
		fputs("ends\nwithout a culprit\n", out);
	}
}

void report_again_text(const struct report_again *a, FILE *out)
{
	print_settings(out, a);
	print_side(out, "Before", &a->before);
	print_side(out, "Now", &a->after);
	print_flips(out, a);
	print_search(out, a);
	print_needs(out, a);
	print_trials(out, a);
	print_go_on(out, a);
	print_unseen(out, &a->after);
}
