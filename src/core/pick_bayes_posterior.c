/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: the posterior of classes of commits and points, from the likelihoods. */
#include "core/pick_bayes_internal.h"

#include <math.h>
#include <string.h>

/* Posterior below which a class is left out until the next redraw. */
#define NEGLIGIBLE 1e-10

/* log of prior × likelihood of class @k at point @i, likelihood of all old in @base. */
static double class_point(const struct bayes *b, uint32_t k, uint32_t i, double base)
{
	const struct class *c = &b->class[k];

	for (uint32_t m = 0; m < b->n_m; m++)
		if (c->in[m])
			base += b->m[m]->ll[NEW][i] - b->m[m]->ll[OLD][i];
	return base + log(c->mass);
}

/* Fills class.point with logarithms for the classes that count; returns the largest. */
static double log_points(struct bayes *b, bool all)
{
	const struct cloud *c = &b->cloud[0];
	double most = -INFINITY;

	for (uint32_t i = 0; i < c->n; i++) {
		double base = c->lw[i];

		for (uint32_t m = 0; m < b->n_m; m++)
			base += b->m[m]->ll[OLD][i];
		for (uint32_t k = 1; k < b->n_classes; k++) {
			double *p = &b->class[k].point[i];

			*p = -INFINITY;
			if (b->class[k].mass > 0 && (all || b->class[k].post > NEGLIGIBLE))
				*p = class_point(b, k, i, base);
			if (*p > most)
				most = *p;
		}
	}
	return most;
}

static double log_points_alone(struct bayes *b)
{
	const struct cloud *c = &b->cloud[1];
	double most = -INFINITY;

	for (uint32_t i = 0; i < c->n; i++) {
		double p = c->lw[i] + log(b->class[0].mass);

		for (uint32_t m = 0; m < b->n_m; m++)
			p += b->m[m]->ll[ALONE][i];
		b->class[0].point[i] = p;
		if (p > most)
			most = p;
	}
	return most;
}

/* From logarithms to shares of class and point, which sum to @share over classes @from … @to − 1. */
static double exponentiate(struct bayes *b, uint32_t from, uint32_t to, double most)
{
	const struct cloud *c = &b->cloud[from == 0];
	double sum = 0;

	for (uint32_t k = from; k < to; k++) {
		b->class[k].post = 0;
		for (uint32_t i = 0; i < c->n; i++) {
			double *p = &b->class[k].point[i];

			*p = *p > most - 45 ? exp(*p - most) : 0;
			b->class[k].post += *p;
		}
		sum += b->class[k].post;
	}
	return sum;
}

static void scale(struct bayes *b, uint32_t from, uint32_t to, double factor)
{
	struct cloud *c = &b->cloud[from == 0];

	memset(c->weight, 0, c->n * sizeof(double));
	for (uint32_t k = from; k < to; k++) {
		b->class[k].post *= factor;
		for (uint32_t i = 0; i < c->n; i++) {
			b->class[k].point[i] *= factor;
			c->weight[i] += b->class[k].point[i];
		}
	}
}

static void find_means(struct bayes *b)
{
	const struct cloud *c = &b->cloud[0];
	struct bayes_levels at = { .sigma = 0 };
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		sum += c->weight[i];
		squares += c->weight[i] * c->weight[i];
	}
	b->ess = squares > 0 ? sum * sum / squares / c->n : 0;
	if (!(sum > 0) || b->exact)
		return;
	memset(b->ratio_post, 0, sizeof(b->ratio_post));
	for (uint32_t i = 0; i < c->n; i++) {
		double w = c->weight[i] / sum;

		for (int s = OLD; s <= NEW; s++) {
			at.level[s] += w * c->level[s][i];
			at.level_sd[s] += w * c->level[s][i] * c->level[s][i];
		}
		at.sigma += w * c->sigma[i];
		at.luck += w * c->luck[i];
		b->ratio_post[c->ratio[i]] += w;
	}
	for (int s = OLD; s <= NEW; s++)
		at.level_sd[s] = sqrt(fmax(0, at.level_sd[s] - at.level[s] * at.level[s]));
	b->at = at;
}

static void find_states(struct bayes *b)
{
	for (uint32_t m = 0; m < b->n_m; m++) {
		double p = 0;

		for (uint32_t k = 1; k < b->n_classes; k++)
			if (b->class[k].in[m])
				p += b->class[k].post;
		b->m[m]->p_new = p;
	}
}

void bayes_update(struct bayes *b, bool all)
{
	double most = log_points(b, all), alone = log_points_alone(b);
	double z = exponentiate(b, 1, b->n_classes, most) / b->cloud[0].n;
	double z_alone = exponentiate(b, 0, 1, alone) / b->cloud[1].n;
	double odds = exp(alone - most) * z_alone / z; /* of no culprit */

	/* no commit may be it: the prior has none */
	b->none = z > 0 && !isinf(odds) ? odds / (1 + odds) : 1;
	scale(b, 0, 1, b->none / (z_alone * b->cloud[1].n));
	scale(b, 1, b->n_classes, z > 0 ? (1 - b->none) / (z * b->cloud[0].n) : 0);
	find_means(b);
	find_states(b);
}
