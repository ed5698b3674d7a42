/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels measured side by side: which boot is next, and the rows that are there. */
#include "campaign/compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sig.h"
#include "campaign/layout.h"
#include "campaign/loop.h"
#include "campaign/patches.h"
#include "campaign/replay.h"
#include "campaign/trial_internal.h"

#define KERNEL_LABEL 200 /* bytes of a kernel's name in a row */
#define LINE 500         /* bytes of what is said of a failure */

static void kernel_release(struct compare_kernel *k)
{
	strv_release(&k->reverted);
	strv_release(&k->patches);
	free(k->subject);
	free(k->detail);
}

static void setup_release(struct compare_setup *u)
{
	strv_release(&u->command);
	strv_release(&u->words);
	strv_release(&u->texts);
	strv_release(&u->labels);
	free(u->settings);
	free(u->args);
	free(u->append);
}

static void drop_boots(struct comparison *c)
{
	for (size_t i = 0; i < c->n_cells; i++) {
		for (size_t j = 0; j < c->cell[i].n; j++)
			free(c->cell[i].boot[j].detail);
		free(c->cell[i].boot);
		c->cell[i].boot = NULL;
		c->cell[i].n = c->cell[i].room = 0;
		c->cell[i].untestable = false;
	}
}

static void comparison_release(struct comparison *c)
{
	compare_restore(c);
	drop_boots(c);
	for (size_t i = 0; i < c->n_kernels; i++)
		kernel_release(&c->kernel[i]);
	for (size_t i = 0; c->setup && i < c->n_setups; i++)
		setup_release(&c->setup[i]);
	free(c->kernel);
	free(c->setup);
	free(c->cell);
}

static void make_cells(struct comparison *c)
{
	c->n_cells = c->n_setups * c->n_kernels;
	c->cell = xcalloc(c->n_cells, sizeof(*c->cell));
	for (size_t i = 0; i < c->n_cells; i++) {
		compare_apply(c, i / c->n_kernels);
		snprintf(c->cell[i].setup, sizeof(c->cell[i].setup), "%s",
			 session_setup_of(c->s, &c->kernel[i % c->n_kernels].id));
	}
	compare_restore(c);
}

/* ---- rows ---- */

static struct compare_cell *cell_of(struct comparison *c, const struct store_trial *t, size_t *k)
{
	for (*k = 0; *k < c->n_kernels && !commit_eq(&c->kernel[*k].id, &t->commit); ++*k)
		;
	for (size_t u = 0; *k < c->n_kernels && u < c->n_setups; u++) {
		struct compare_cell *cell = &c->cell[u * c->n_kernels + *k];

		if (str_eq(cell->setup, t->setup))
			return cell;
	}
	return NULL;
}

static int see_trial(const struct store_trial *t, void *cookie)
{
	struct comparison *c = cookie;
	struct compare_cell *cell;
	_cleanup_free_ double *v = NULL;
	size_t n, k;

	if (!str_eq(t->purpose, "compare") || !(cell = cell_of(c, t, &k)))
		return 0;
	v = session_samples(c->s, t, &n);
	/* measured when another metric decided, without a value of this one: as if it were not there */
	if (t->outcome == TRIAL_OK && !n)
		return 0;
	replay_learn_unit(c->s, t);
	/* without a folder it was never booted */
	if (t->outcome != TRIAL_OK && (!t->dir || !t->dir[0])) {
		c->kernel[k].failed = true;
		free(c->kernel[k].detail);
		c->kernel[k].detail = xstrdup(t->detail ? t->detail : "");
		return 0;
	}
	cell->untestable |= t->outcome == TRIAL_UNTESTABLE;
	xgrow(&cell->boot, &cell->room, cell->n + 1, sizeof(*cell->boot));
	cell->boot[cell->n++] = (struct compare_boot){
		.trial = t->id,
		.outcome = t->outcome,
		.value = t->outcome == TRIAL_OK ? stats_median(v, n) : 0,
		.detail = xstrdup(t->detail ? t->detail : ""),
	};
	return 0;
}

static int load_rows(struct comparison *c, struct err *e)
{
	struct store_visitor v = { .trial = see_trial, .cookie = c };

	drop_boots(c);
	return store_visit(c->s->store, &v, e) < 0 ? -1 : 0;
}

/* ---- boots ---- */

static bool wants(const struct comparison *c, size_t i)
{
	const struct compare_cell *cell = &c->cell[i];

	return cell->n < c->cfg->compare.boots && !cell->untestable &&
	       !c->kernel[i % c->n_kernels].failed;
}

static size_t boots_left(const struct comparison *c)
{
	size_t left = 0;

	for (size_t i = 0; i < c->n_cells; i++)
		left += wants(c, i) ? c->cfg->compare.boots - c->cell[i].n : 0;
	return left;
}

void compare_use(struct comparison *c, size_t i)
{
	_cleanup_str_ struct str label = STR_INIT;
	const char *word = c->kernel[i % c->n_kernels].word;

	compare_apply(c, i / c->n_kernels);
	strv_clear(&c->s->labels);
	strv_extend(&c->s->labels, &c->setup[i / c->n_kernels].labels);
	str_add(&label, "KERNEL=");
	str_neutralise(&label, word, strnlen(word, KERNEL_LABEL), false);
	strv_add(&c->s->labels, str_text(&label));
}

/* All kernels first: what is compared is booted close together in time. */
static int build_one(struct comparison *c, size_t k, struct err *e)
{
	_cleanup_(trial_attempt_release) struct attempt a = { .s = c->s,
							      .id = &c->kernel[k].id,
							      .purpose = "compare" };
	_cleanup_str_ struct str line = STR_INIT, clean = STR_INIT;
	struct trial_report r = { .outcome = TRIAL_UNSET };
	size_t i = k;

	while (i < c->n_cells && !wants(c, i))
		i += c->n_kernels;
	if (i >= c->n_cells)
		return 0;
	compare_use(c, i);
	commit_hex(a.id, a.hex);
	if (sig_check(e) < 0 || trial_build(&a, e) < 0)
		return -1;
	if (a.build.outcome == TRIAL_OK)
		return 0;
	c->kernel[k].failed = true;
	str_addf(&line, "compare: %.*s: %s: %s", KERNEL_LABEL, c->kernel[k].word,
		 trial_outcome_name(a.build.outcome), a.build.signature ? a.build.signature : "");
	str_neutralise(&clean, line.buf, line.len < LINE ? line.len : LINE, false);
	log_info("%s", str_text(&clean));
	return trial_record_failure(&a, &r, e);
}

static void say_boot(const struct comparison *c, size_t i, size_t left,
		     const struct trial_report *r)
{
	const struct compare_setup *u = &c->setup[i / c->n_kernels];
	_cleanup_str_ struct str line = STR_INIT;
	const char *word = c->kernel[i % c->n_kernels].word;

	str_addf(&line, "compare: %zu left: ", left);
	str_neutralise(&line, word, strnlen(word, KERNEL_LABEL), false);
	if (c->cfg->compare.variant.n)
		str_addf(&line, ", %s", c->cfg->compare.variant.v[u->variant].name);
	if (c->cfg->compare.sweep.name)
		str_addf(&line, ", %s=%s", c->cfg->compare.sweep.name,
			 c->cfg->compare.sweep.values.v[u->point]);
	str_addf(&line, " boot %zu: ", c->cell[i].n);
	loop_describe(c->s, r, &line);
	log_info("%s", str_text(&line));
}

static int boot_one(struct comparison *c, size_t i, size_t round, struct err *e)
{
	uint32_t layout = session_layouts(c->s) ? (uint32_t)round : 0;
	struct trial_report r;

	compare_use(c, i);
	if (sig_check(e) < 0 ||
	    trial_run(c->s, &c->kernel[i % c->n_kernels].id, layout, "compare", &r, e) < 0)
		return -1;
	c->measured++;
	/* the rows are what counts: read again after each boot */
	if (load_rows(c, e) < 0)
		return -1;
	say_boot(c, i, boots_left(c), &r);
	return 0;
}

static int run_round(struct comparison *c, size_t round, struct err *e)
{
	_cleanup_free_ size_t *order = xcalloc(c->n_cells, sizeof(*order));

	compare_order(c->n_setups, c->n_kernels, round, order);
	for (size_t j = 0; j < c->n_cells; j++) {
		size_t i = order[j];

		if (c->cell[i].n > round || !wants(c, i))
			continue;
		if (boot_one(c, i, round, e) < 0)
			return -1;
	}
	return 0;
}

static int run_rounds(struct comparison *c, struct err *e)
{
	if (c->s->cfg->build.type == BUILD_KERNEL)
		for (size_t k = 0; k < c->n_kernels; k++)
			if (build_one(c, k, e) < 0)
				return -1;
	for (size_t round = 0; round < c->cfg->compare.boots; round++)
		if (run_round(c, round, e) < 0)
			return -1;
	return 0;
}

static int measure(struct comparison *c, struct err *e)
{
	struct session *s = c->s;
	struct err ignored = ERR_INIT;
	size_t left = boots_left(c);
	int ret;

	if (!left)
		return 0;
	log_info("compare: %zu kernel%s, %zu boots to go; state in %s", c->n_kernels,
		 c->n_kernels == 1 ? "" : "s", left, s->cfg->campaign.state);
	if (store_note_add(s->store, "start", "compare", 0, e) < 0)
		return -1;
	ret = run_rounds(c, e);
	log_progress("%s", "");
	/* After a failure the first error is the one to report. */
	if (store_note_add(s->store, "stop", ret < 0 ? e->msg : "done", clock_mono_s() - s->started,
			   ret < 0 ? &ignored : e) < 0)
		return -1;
	return ret < 0 ? -1 : load_rows(c, e);
}

int compare_run(struct session *s, char *const *words, size_t n, bool profile,
		struct report_compare *out, struct err *e)
{
	_cleanup_(comparison_release) struct comparison c = {
		.s = s,
		.cfg = s->cfg,
		.settings = s->workload.setup,
		.n_settings = s->workload.n_setup,
		.applied = SIZE_MAX,
	};

	memcpy(c.hash, s->setup, sizeof(c.hash));
	if (compare_setups(&c, e) < 0 || compare_kernels(&c, words, n, e) < 0)
		return -1;
	if (profile && compare_can_profile(&c, e) < 0)
		return -1;
	make_cells(&c);
	if (load_rows(&c, e) < 0 || measure(&c, e) < 0)
		return -1;
	if (profile && compare_profile(&c, out, e) < 0)
		return -1;
	return compare_judge(&c, out, e);
}
