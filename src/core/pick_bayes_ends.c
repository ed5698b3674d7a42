/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: do the ends differ, are they equal, or can nobody see? */
#include "core/pick_bayes_internal.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

/* The ends' own boots are worth it as long as one tells so many bits. */
#define ENDS_BITS 0.02
/* Errors of both kinds where the ends are compared on their own. */
#define ALPHA 0.01
/* A spread that few boots show is no ground to refuse. */
#define BOOTS_FOR_REFUSAL 8
/* A step larger than the effect asked for may be seen all the same: so sure must it be that none is. */
#define NONE_FOR_REFUSAL 0.8

static unsigned boots_of(const struct bayes *b, uint32_t node)
{
	const struct measured *m = bayes_measured(b, node);

	return m ? m->boots : 0;
}

unsigned bayes_end_boots(const struct bayes *b)
{
	return boots_of(b, b->n) + boots_of(b, b->o.dag->tip);
}

void bayes_stop(struct bayes_step *s, enum bayes_status status, enum bayes_why why)
{
	*s = (struct bayes_step){ .status = status, .node = DAG_NONE, .why = why };
}

void bayes_boot_one(const struct bayes *b, struct bayes_step *s, uint32_t node, enum bayes_why why)
{
	const struct measured *m = bayes_measured(b, node);

	*s = (struct bayes_step){
		.action = m ? BAYES_BOOT : BAYES_COMMIT,
		.node = node,
		.layout = m ? m->build[0].layout : 0,
		.seconds = bayes_price_of(b, node, !m),
		.why = why,
	};
}

void bayes_boot_end(const struct bayes *b, struct bayes_step *s, enum bayes_why why)
{
	unsigned old = boots_of(b, b->n), new = boots_of(b, b->o.dag->tip);

	bayes_boot_one(b, s, new < old ? b->o.dag->tip : b->n, why);
}

/* Can the ends' own boots still tell whether there is a difference? */
static bool is_end_telling(const struct bayes *b)
{
	double most = 0;

	for (int s = OLD; s <= NEW; s++) {
		uint32_t m = b->slot[s ? b->o.dag->tip : b->n] - 1;

		most = fmax(most, bayes_bits_of_measured(b, m, &b->m[m]->build[0]));
	}
	return most > ENDS_BITS;
}

/* Even if the spread is as small as 1 − α of all samples would have it? */
static bool is_surely_blind(const struct bayes *b, const struct bayes_power *p)
{
	double df = p->boots[OLD] + p->boots[NEW] - 2.0;

	return p->boots[OLD] >= BOOTS_FOR_REFUSAL && p->boots[NEW] >= BOOTS_FOR_REFUSAL &&
	       p->boots_needed * df / gsl_cdf_chisq_Qinv(ALPHA, df) > b->o.max_end_boots;
}

/* The posterior has it that there is no culprit. Is it so small that it does not matter? */
static void decide_equal(const struct bayes *b, const struct bayes_power *p, bool is_known,
			 struct bayes_step *s)
{
	bool can = bayes_end_boots(b) < 2 * b->o.max_end_boots;

	if (b->n_m > 2)
		bayes_stop(s, BAYES_NO_CULPRIT, BAYES_WHY_SURE);
	else if (!is_known)
		bayes_stop(s, BAYES_NO_DIFFERENCE, BAYES_WHY_SURE);
	else if (p->is_equivalent)
		bayes_stop(s, BAYES_NO_DIFFERENCE, BAYES_WHY_EQUIVALENT);
	else if (!can || is_surely_blind(b, p))
		bayes_stop(s, BAYES_BLIND, BAYES_WHY_POWER);
	else
		bayes_boot_end(b, s, BAYES_WHY_ENDS_EQUAL);
}

bool bayes_decide_by_ends(const struct bayes *b, struct bayes_step *s)
{
	bool open = b->none > ENDS_APART && bayes_end_boots(b) < 2 * b->o.max_end_boots;
	struct bayes_power as_built, p;
	bool is_known = !b->exact && bayes_power_of_ends(b, ALPHA, b->at.luck, &p) &&
			bayes_power(b, ALPHA, &as_built) && p.effect > 0 && p.sd > 0;

	if (is_known && p.is_equivalent) {
		bayes_stop(s, BAYES_NO_DIFFERENCE, BAYES_WHY_EQUIVALENT);
		return true;
	}
	if (b->none >= bayes_claim(b, b->o.confidence)) {
		decide_equal(b, &as_built, is_known, s);
		return true;
	}
	if (is_known && b->none > NONE_FOR_REFUSAL && b->n_m <= 2 && is_surely_blind(b, &p)) {
		bayes_stop(s, BAYES_BLIND, BAYES_WHY_POWER);
		return true;
	}
	if (open && !b->exact && is_end_telling(b)) {
		bayes_boot_end(b, s, BAYES_WHY_ENDS_DIFFER);
		return true;
	}
	return false;
}

/* That there is no difference takes more than that none was seen: it must be too small to matter. */
enum bayes_status bayes_unsure(const struct bayes *b)
{
	struct bayes_power p;

	if (b->none <= 0.5)
		return BAYES_LIST;
	if (b->exact || !bayes_power(b, ALPHA, &p) || !(p.effect > 0) || !(p.sd > 0))
		return BAYES_NO_DIFFERENCE;
	return p.is_equivalent ? BAYES_NO_DIFFERENCE : BAYES_BLIND;
}
