/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels measured side by side: where the time goes in each. */
#include "campaign/compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sig.h"
#include "campaign/evidence.h"
#include "campaign/trial.h"

#define PROFILE_BOOTS 2
#define WORD 200 /* bytes of a kernel's name in a message */
static const char purpose[] = "compare-profile";

/* The stored boots of each cell that were for a profile. */
struct profiled {
	struct comparison *c;
	unsigned *boots;
};

static int see_trial(const struct store_trial *t, void *cookie)
{
	struct profiled *p = cookie;
	struct comparison *c = p->c;

	for (size_t i = 0; str_eq(t->purpose, purpose) && i < c->n_cells; i++)
		if (commit_eq(&c->kernel[i % c->n_kernels].id, &t->commit) &&
		    str_eq(c->cell[i].setup, t->setup))
			p->boots[i]++;
	return 0;
}

/* One value of the sweep is enough: the first that an average would take. */
static size_t point_of(const struct comparison *c)
{
	const struct config_span *span = &c->cfg->compare.average;

	for (size_t i = 0; span->given && i < c->n_points; i++) {
		double v = strtod(c->cfg->compare.sweep.values.v[i], NULL);

		if (v >= span->from && v <= span->to)
			return i;
	}
	return 0;
}

static int boot_cells(struct comparison *c, const unsigned *boots, struct err *e)
{
	_cleanup_free_ size_t *order = xcalloc(c->n_cells, sizeof(*order));
	size_t point = point_of(c);
	struct trial_report r;

	for (size_t round = 0; round < PROFILE_BOOTS; round++) {
		compare_order(c->n_setups, c->n_kernels, round, order);
		for (size_t j = 0; j < c->n_cells; j++) {
			_cleanup_str_ struct str word = STR_INIT;
			size_t i = order[j];

			if (c->setup[i / c->n_kernels].point != point || boots[i] > round ||
			    c->kernel[i % c->n_kernels].failed)
				continue;
			compare_use(c, i);
			if (sig_check(e) < 0 ||
			    trial_run(c->s, &c->kernel[i % c->n_kernels].id, 0, purpose, &r, e) < 0)
				return -1;
			c->measured++;
			str_neutralise(&word, c->kernel[i % c->n_kernels].word,
				       strnlen(c->kernel[i % c->n_kernels].word, WORD), false);
			log_info("compare: profile of %s boot %zu: %s", str_text(&word), round + 1,
				 trial_outcome_name(r.outcome));
		}
	}
	log_progress("%s", "");
	return 0;
}

static int make_evidence(struct comparison *c, struct report_compare *out, struct err *e)
{
	size_t point = point_of(c);

	out->profile = xcalloc(c->n_cells, sizeof(*out->profile));
	for (size_t i = 0; i < c->n_cells; i++) {
		size_t k = i % c->n_kernels;
		struct compare_report_profile *p = &out->profile[out->n_profiles];

		if (!k || c->setup[i / c->n_kernels].point != point || c->kernel[k].failed)
			continue;
		p->kernel = k;
		p->variant = c->setup[i / c->n_kernels].variant;
		compare_use(c, i);
		if (evidence_make(c->s, purpose, &c->kernel[0].id, &c->kernel[k].id, &p->evidence,
				  e) < 0)
			return -1;
		out->n_profiles++;
	}
	return 0;
}

int compare_can_profile(const struct comparison *c, struct err *e)
{
	if (c->cfg->target.type != TARGET_QEMU)
		return err_set(e, ERR_CONFIG,
			       "--profile asks QEMU where the CPUs are: it needs type = qemu in "
			       "[target]");
	if (c->n_kernels < 2)
		return err_set(e, ERR_CONFIG, "--profile compares kernels: name a second COMMIT");
	return 0;
}

int compare_profile(struct comparison *c, struct report_compare *out, struct err *e)
{
	_cleanup_free_ unsigned *boots = xcalloc(c->n_cells, sizeof(*boots));
	struct profiled p = { .c = c, .boots = boots };
	struct store_visitor v = { .trial = see_trial, .cookie = &p };

	if (store_visit(c->s->store, &v, e) < 0 || boot_cells(c, boots, e) < 0)
		return -1;
	return make_evidence(c, out, e);
}
