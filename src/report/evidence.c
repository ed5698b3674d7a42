/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changed inside the kernel: the section of the text report. */
#include "report/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/print.h"

#define FRAMES_SHOWN 12

bool report_evidence_any(const struct report_evidence *v)
{
	return v->n_counters || v->n_stacks || v->n_symbols ||
	       (v->counter_boots[EVIDENCE_PARENT] && v->counter_boots[EVIDENCE_CULPRIT]);
}

void report_evidence_release(struct report_evidence *v)
{
	for (size_t i = 0; i < v->n_counters; i++)
		free(v->counters[i].name);
	for (size_t i = 0; i < v->n_stacks; i++) {
		free(v->stacks[i].in);
		free(v->stacks[i].under);
		free(v->stacks[i].frames);
	}
	for (size_t i = 0; i < v->n_symbols; i++)
		free(v->symbols[i].name);
	free(v->counters);
	free(v->stacks);
	free(v->symbols);
	free(v->profile_how);
	*v = (struct report_evidence){ .n_counters = 0 };
}

/* Beyond the error of the difference, so not one that chance explains. */
static bool stands_out(const struct evidence_side *side, double error)
{
	return fabs(side[EVIDENCE_CULPRIT].mean - side[EVIDENCE_PARENT].mean) > error;
}

/* "63.1% (parent: 0.0%), +63.1 ± 4.0" */
static void print_shares(FILE *out, const struct evidence_side *side, double error)
{
	double parent = 100 * side[EVIDENCE_PARENT].mean,
	       culprit = 100 * side[EVIDENCE_CULPRIT].mean;

	fprintf(out, "%5.1f%%  %5.1f%%  %+6.1f ± %-4.1f", parent, culprit, culprit - parent,
		100 * error);
}

/* ---- stacks -------------------------------------------------------------------------------- */

static void print_sentence(FILE *out, const struct evidence_stack *s)
{
	bool asleep = s->in[0] != '[';

	fputs(asleep ? "asleep in " : "", out);
	print_clean(out, s->in);
	if (s->under[0]) {
		fputs(" under ", out);
		print_clean(out, s->under);
	}
}

static void print_frames(FILE *out, const char *frames)
{
	for (int i = 0; *frames && i < FRAMES_SHOWN; i++) {
		char name[128];
		size_t n = strcspn(frames, "\n");

		snprintf(name, sizeof(name), "%.*s", (int)(n < 127 ? n : 127), frames);
		fputs("        ", out);
		print_clean(out, name);
		fputc('\n', out);
		frames += n + (frames[n] == '\n');
	}
}

/* What differs most, as a sentence and with its whole stack; it must be a sleep of the culprit's. */
static void print_sleep(FILE *out, const struct report_evidence *v)
{
	for (size_t i = 0; i < v->n_stacks; i++) {
		const struct evidence_stack *s = &v->stacks[i];

		if (s->in[0] == '[' || !stands_out(s->side, s->error))
			continue;
		fputs("  The culprit's workload is ", out);
		print_sentence(out, s);
		fprintf(out, "\n  for %.0f%% of its run, its parent's for %.0f%%:\n",
			100 * s->side[EVIDENCE_CULPRIT].mean, 100 * s->side[EVIDENCE_PARENT].mean);
		print_frames(out, s->frames);
		return;
	}
}

static void print_stacks(FILE *out, const struct report_evidence *v, size_t max)
{
	if (!v->n_stacks)
		return;
	fprintf(out,
		"\nWhere its threads were, in extra runs (%llu and %llu looks in %u and %u "
		"boots):\n",
		(unsigned long long)v->stack_looks[EVIDENCE_PARENT],
		(unsigned long long)v->stack_looks[EVIDENCE_CULPRIT],
		v->stack_boots[EVIDENCE_PARENT], v->stack_boots[EVIDENCE_CULPRIT]);
	print_sleep(out, v);
	fputs("  parent  culprit  difference\n", out);
	for (size_t i = 0; i < v->n_stacks && i < max; i++) {
		fputs("  ", out);
		print_shares(out, v->stacks[i].side, v->stacks[i].error);
		fputs("  ", out);
		print_sentence(out, &v->stacks[i]);
		fputc('\n', out);
	}
}

/* ---- counters ------------------------------------------------------------------------------ */

static void print_side(FILE *out, const struct evidence_side *s)
{
	char mean[64], sd[64];

	report_number(s->mean, mean, sizeof(mean));
	report_number(s->sd, sd, sizeof(sd));
	fprintf(out, "  %12s ± %-8s", mean, sd);
}

static void print_counters(FILE *out, const struct report_evidence *v, size_t max)
{
	size_t shown = v->counters_significant ? v->counters_significant : 5;
	bool spread = v->n_counters && !isnan(v->counters[0].q);

	if (!v->counters_compared)
		return;
	fprintf(out,
		"\nCounters of the kernel over one extra run (%u and %u boots), %zu compared:\n",
		v->counter_boots[EVIDENCE_PARENT], v->counter_boots[EVIDENCE_CULPRIT],
		v->counters_compared);
	if (!spread)
		fputs(v->n_counters ? "  one boot of each does not tell how far they vary anyhow\n"
				    : "  none differs\n",
		      out);
	else if (!v->counters_significant)
		fputs("  none moved further than so many counters do by chance; the first:\n", out);
	else
		fprintf(out,
			"  %zu moved beyond their own spread (of these about %.0f%% by chance)\n",
			v->counters_significant, 100 * v->false_share);
	if (v->n_counters)
		fprintf(out, "  %12s ± %-8s  %12s ± %-8s  %8s\n", "parent", "boots", "culprit",
			"boots", "t");
	for (size_t i = 0; i < v->n_counters && i < max && i < shown; i++) {
		const struct evidence_counter *c = &v->counters[i];

		print_side(out, &c->side[EVIDENCE_PARENT]);
		print_side(out, &c->side[EVIDENCE_CULPRIT]);
		if (isnan(c->t))
			fprintf(out, "  %8s  ", "-");
		else
			fprintf(out, "  %+8.1f  ", c->t);
		print_clean(out, c->name);
		fputs(c->level ? " (level)\n" : "\n", out);
	}
	if (shown > max)
		fprintf(out, "  … and %zu more\n", shown - max);
}

/* ---- profile ------------------------------------------------------------------------------- */

static void print_profile(FILE *out, const struct report_evidence *v, size_t max)
{
	if (!v->n_symbols)
		return;
	fprintf(out, "\nProfile, in extra runs (%llu and %llu samples in %u and %u boots):\n",
		(unsigned long long)v->profile_samples[EVIDENCE_PARENT],
		(unsigned long long)v->profile_samples[EVIDENCE_CULPRIT],
		v->profile_boots[EVIDENCE_PARENT], v->profile_boots[EVIDENCE_CULPRIT]);
	if (v->profile_how) {
		fputs("  ", out);
		print_clean(out, v->profile_how);
		fputc('\n', out);
	}
	fputs("  parent  culprit  difference\n", out);
	for (size_t i = 0; i < v->n_symbols && i < max; i++) {
		fputs("  ", out);
		print_shares(out, v->symbols[i].side, v->symbols[i].error);
		fputs("  ", out);
		print_clean(out, v->symbols[i].name);
		fputc('\n', out);
	}
}

void report_evidence_text(const struct report_evidence *v, size_t max, FILE *out)
{
	print_stacks(out, v, max);
	print_counters(out, v, max);
	print_profile(out, v, max);
}
