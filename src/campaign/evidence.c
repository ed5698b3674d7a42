/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From stored rows to what changed inside the kernel, of one commit against another. */
#include "campaign/evidence.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign/patches.h"
#include "core/counters.h"
#include "core/sleepers.h"

#define FALSE_SHARE 0.05

/* Growing lists of what the boots of one commit told. */
struct kernel {
	struct commit_id id;
	struct counters *counters;
	struct sleepers *sleepers;
	struct shares *profile;
	size_t n_counters, n_sleepers, n_profile;
	size_t room_counters, room_sleepers, room_profile;
};

/* A stored trial that counts, and whose it is. */
struct boot {
	int64_t id;
	int kernel;
};

struct gathering {
	struct session *s;
	const char *purpose;
	struct kernel kernel[COUNTERS_GROUPS];
	int n_kernels;
	struct boot *boot;
	size_t n_boots, room;
	double seconds, cost; /* of all profiles */
};

static void gathering_release(struct gathering *g)
{
	for (int i = 0; i < g->n_kernels; i++) {
		struct kernel *k = &g->kernel[i];

		for (size_t b = 0; b < k->n_counters; b++)
			counters_release(&k->counters[b]);
		for (size_t b = 0; b < k->n_sleepers; b++)
			sleepers_release(&k->sleepers[b]);
		for (size_t b = 0; b < k->n_profile; b++)
			shares_release(&k->profile[b]);
		free(k->counters);
		free(k->sleepers);
		free(k->profile);
	}
	free(g->boot);
}

/* Which of the kernels, a new one where there is room; -1: none. */
static int kernel_of(struct gathering *g, const struct commit_id *id)
{
	for (int i = 0; i < g->n_kernels; i++)
		if (commit_eq(&g->kernel[i].id, id))
			return i;
	if (g->n_kernels == COUNTERS_GROUPS)
		return -1;
	g->kernel[g->n_kernels].id = *id;
	return g->n_kernels++;
}

static int see_trial(const struct store_trial *t, void *cookie)
{
	struct gathering *g = cookie;
	int kernel;

	if (!str_eq(t->purpose, g->purpose) || t->outcome != TRIAL_OK || t->twin ||
	    !str_eq(t->setup, session_setup_of(g->s, &t->commit)) ||
	    (kernel = kernel_of(g, &t->commit)) < 0)
		return 0;
	xgrow(&g->boot, &g->room, g->n_boots + 1, sizeof(*g->boot));
	g->boot[g->n_boots++] = (struct boot){ t->id, kernel };
	return 0;
}

/* "samples N seconds S cost C", then "COUNT FUNCTION" lines. */
static void read_profile(const char *text, struct gathering *g, struct shares *out)
{
	unsigned long long n;
	double seconds, cost;

	if (sscanf(text, "samples %llu seconds %lf cost %lf", &n, &seconds, &cost) != 3)
		return;
	out->total = n;
	g->seconds += seconds;
	g->cost += cost;
	while ((text = strchr(text, '\n')) != NULL) {
		char name[256];
		int at = 0;

		text++;
		if (!isdigit((unsigned char)*text) ||
		    sscanf(text, "%llu %255[^\n]%n", &n, name, &at) != 2 || text[at] > '\n')
			continue;
		shares_add(out, name, n);
	}
}

static void take_counters(struct kernel *k, const char *text)
{
	xgrow(&k->counters, &k->room_counters, k->n_counters + 1, sizeof(*k->counters));
	k->counters[k->n_counters] = (struct counters){ .v = NULL };
	counters_read(text, strlen(text), &k->counters[k->n_counters++]);
}

static void take_stacks(struct kernel *k, const char *text)
{
	xgrow(&k->sleepers, &k->room_sleepers, k->n_sleepers + 1, sizeof(*k->sleepers));
	k->sleepers[k->n_sleepers] = (struct sleepers){ .n = 0 };
	sleepers_read(text, strlen(text), &k->sleepers[k->n_sleepers++]);
}

static void take_profile(struct gathering *g, struct kernel *k, const char *text)
{
	xgrow(&k->profile, &k->room_profile, k->n_profile + 1, sizeof(*k->profile));
	k->profile[k->n_profile] = (struct shares){ .total = 0 };
	read_profile(text, g, &k->profile[k->n_profile++]);
}

/* The first line of a note is the trial that it belongs to, which comes before it. */
static int see_note(const struct store_note *n, void *cookie)
{
	struct gathering *g = cookie;
	struct kernel *k = NULL;
	const char *text = n->text ? strchr(n->text, '\n') : NULL;
	long long id = text ? atoll(n->text) : 0;

	for (size_t i = 0; text && i < g->n_boots && !k; i++)
		if (g->boot[i].id == id)
			k = &g->kernel[g->boot[i].kernel];
	if (!k)
		return 0;
	if (str_eq(n->kind, "counters"))
		take_counters(k, text + 1);
	else if (str_eq(n->kind, "stacks"))
		take_stacks(k, text + 1);
	else if (str_eq(n->kind, "profile"))
		take_profile(g, k, text + 1);
	return 0;
}

/* ---- comparing ----------------------------------------------------------------------------- */

static void fill_counters(const struct gathering *g, struct report_evidence *out)
{
	struct counters_group group[COUNTERS_GROUPS] = { { .boot = NULL } };
	struct counters_moved *moved;
	size_t n;

	for (int i = 0; i < g->n_kernels; i++)
		group[i] = (struct counters_group){ g->kernel[i].counters,
						    g->kernel[i].n_counters };
	for (int i = 0; i < EVIDENCE_SIDES; i++)
		out->counter_boots[i] = (unsigned)group[i].n;
	out->false_share = FALSE_SHARE;
	n = counters_compare(group, (size_t)g->n_kernels, &out->counters_compared, &moved);
	out->counters = xcalloc(n, sizeof(*out->counters));
	for (size_t i = 0; i < n; i++) {
		struct evidence_counter *c = &out->counters[i];

		*c = (struct evidence_counter){
			.name = xstrdup(moved[i].name),
			.level = moved[i].level,
			.t = moved[i].t,
			.p = moved[i].p,
			.q = moved[i].q,
			.significant = moved[i].q <= FALSE_SHARE,
		};
		for (int k = 0; k < EVIDENCE_SIDES; k++)
			c->side[k] = (struct evidence_side){ moved[i].mean[k], moved[i].sd[k] };
		out->counters_significant += c->significant;
	}
	out->n_counters = n;
	free(moved);
}

static uint64_t total_of(const struct shares *boots, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += boots[i].total;
	return total;
}

static void set_sides(struct evidence_side side[EVIDENCE_SIDES], const struct share_diff *d)
{
	for (int i = 0; i < EVIDENCE_SIDES; i++)
		side[i] = (struct evidence_side){ d->mean[i], d->sd[i] };
}

/* The whole stack that stands for @place: the culprit's, or else the parent's, one a line. */
static char *frames_of(const struct gathering *g, const char *place)
{
	for (int i = EVIDENCE_SIDES - 1; i >= 0; i--) {
		const struct kernel *k = &g->kernel[i];
		const char *frames = sleepers_common(k->sleepers, k->n_sleepers, place);
		char *copy;

		if (!frames)
			continue;
		copy = xstrdup(frames);
		for (char *p = copy; *p; p++)
			if (*p == ';')
				*p = '\n';
		return copy;
	}
	return xstrdup("");
}

static void fill_stacks(const struct gathering *g, struct report_evidence *out)
{
	struct shares *boots[EVIDENCE_SIDES];
	const struct shares *view[EVIDENCE_SIDES];
	size_t n_boots[EVIDENCE_SIDES], n;
	struct share_diff *d;

	for (int i = 0; i < EVIDENCE_SIDES; i++) {
		const struct kernel *k = &g->kernel[i];

		boots[i] = xcalloc(k->n_sleepers, sizeof(*boots[i]));
		for (size_t b = 0; b < k->n_sleepers; b++)
			boots[i][b] = k->sleepers[b].places; /* borrowed */
		view[i] = boots[i];
		n_boots[i] = k->n_sleepers;
		out->stack_boots[i] = (unsigned)k->n_sleepers;
		out->stack_looks[i] = total_of(boots[i], n_boots[i]);
	}
	n = shares_compare(view, n_boots, &d);
	out->stacks = xcalloc(n, sizeof(*out->stacks));
	for (size_t i = 0; i < n; i++) {
		struct evidence_stack *to = &out->stacks[out->n_stacks++];
		const char *nl = strchr(d[i].name, '\n');

		to->in = xstrndup(d[i].name, (size_t)(nl - d[i].name));
		to->under = xstrdup(nl + 1);
		to->frames = frames_of(g, d[i].name);
		to->error = d[i].error;
		set_sides(to->side, &d[i]);
	}
	free(d);
	for (int i = 0; i < EVIDENCE_SIDES; i++)
		free(boots[i]);
}

static void fill_profile(const struct gathering *g, struct report_evidence *out)
{
	const struct shares *boots[EVIDENCE_SIDES];
	size_t n_boots[EVIDENCE_SIDES], n;
	uint64_t samples = 0;
	struct share_diff *d;

	for (int i = 0; i < EVIDENCE_SIDES; i++) {
		const struct kernel *k = &g->kernel[i];

		boots[i] = k->profile;
		n_boots[i] = k->n_profile;
		out->profile_boots[i] = (unsigned)k->n_profile;
		out->profile_samples[i] = total_of(k->profile, k->n_profile);
		samples += out->profile_samples[i];
	}
	n = shares_compare(boots, n_boots, &d);
	out->symbols = xcalloc(n, sizeof(*out->symbols));
	for (size_t i = 0; i < n; i++) {
		struct evidence_symbol *to = &out->symbols[out->n_symbols++];

		to->name = xstrdup(d[i].name);
		to->error = d[i].error;
		set_sides(to->side, &d[i]);
		for (int k = 0; k < EVIDENCE_SIDES; k++)
			to->samples[k] = d[i].count[k];
	}
	free(d);
	if (n && g->seconds > 0)
		out->profile_how = xasprintf(
			"program counters from outside, about %.0f times a second; the guest stood "
			"still for it during %.0f%% of that time",
			(double)samples / g->seconds, 100 * g->cost / g->seconds);
}

int evidence_make(struct session *s, const char *purpose, const struct commit_id *parent,
		  const struct commit_id *culprit, struct report_evidence *out, struct err *e)
{
	_cleanup_(gathering_release) struct gathering g = { .s = s, .purpose = purpose };
	struct store_visitor v = { .trial = see_trial, .note = see_note, .cookie = &g };

	if (!s->store)
		return 0;
	kernel_of(&g, parent);
	kernel_of(&g, culprit);
	if (g.n_kernels < EVIDENCE_SIDES)
		return 0;
	if (store_visit(s->store, &v, e) < 0)
		return -1;
	fill_counters(&g, out);
	fill_stacks(&g, out);
	fill_profile(&g, out);
	return 0;
}
