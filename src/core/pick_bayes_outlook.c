/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: what a boot would show under each hypothesis, and the bits that it tells. */
#include "core/pick_bayes_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"

/*
 * What a step's value would be, under each hypothesis of the culprit. Those that foretell nearly
 * the same are one: it tells nothing between them.
 */
#define BINS 64

struct forecast {
	double p, mean, square; /* mean and square times p */
};

struct outlook {
	struct forecast bin[BINS];
	double low, width;
};

static void outlook_init(struct outlook *o, const struct bayes *b)
{
	double old = b->at.level[OLD], new = b->at.level[NEW];
	double unit = sqrt(b->at.sigma * b->at.sigma + b->at.luck * b->at.luck);

	*o = (struct outlook){ .low = 0, .width = 1.0 / BINS };
	if (b->o.metric == BAYES_PASS)
		return;
	o->low = fmin(old, new) - 3 * unit;
	o->width = (fabs(new - old) + 6 * unit) / BINS;
}

/* A hypothesis with sums over its points, which weigh @p together. */
static void outlook_add(struct outlook *o, double p, double mean, double square)
{
	double place = p > 0 ? (mean / p - o->low) / o->width : 0;
	struct forecast *f = &o->bin[place < 0 ? 0 : place >= BINS ? BINS - 1 : (int)place];

	f->p += p;
	f->mean += mean;
	f->square += square;
}

static double variance(const struct forecast *f)
{
	return f->square / f->p - (f->mean / f->p) * (f->mean / f->p);
}

/* Gauss–Hermite, seven points, for a standard normal (Abramowitz & Stegun, 25.10). */
static const double node7[7] = { -3.7504397177257425, -2.3667594107345415, -1.1544053947399682, 0,
				 1.1544053947399682,  2.3667594107345415,  3.7504397177257425 };
static const double weight7[7] = { 0.00054826885597221791, 0.030757123967586497,
				   0.24012317860501272,    0.45714285714285714,
				   0.24012317860501272,    0.030757123967586497,
				   0.00054826885597221791 };

static double density(double x, double mean, double var)
{
	return exp(-(x - mean) * (x - mean) / (2 * var)) / sqrt(var);
}

/* Bits that one value tells of the hypothesis, when all forecasts are normal. */
static double bits_of_value(const struct outlook *o)
{
	double p[BINS], mean[BINS], var[BINS], all = 0, bits = 0;
	int n = 0;

	for (int s = 0; s < BINS; s++) {
		if (o->bin[s].p < 1e-5)
			continue;
		p[n] = o->bin[s].p;
		mean[n] = o->bin[s].mean / p[n];
		var[n] = variance(&o->bin[s]);
		all += p[n++];
	}
	for (int s = 0; s < n; s++)
		for (int k = 0; k < 7; k++) {
			double x = mean[s] + sqrt(var[s]) * node7[k], sum = 0;

			for (int t = 0; t < n; t++)
				sum += p[t] / all * density(x, mean[t], var[t]);
			bits -= p[s] / all * weight7[k] * log2(sum / density(x, mean[s], var[s]));
		}
	return fmax(0, bits);
}

double bayes_entropy(double p)
{
	return p > 0 && p < 1 ? -p * log2(p) - (1 - p) * log2(1 - p) : 0;
}

/* The same for pass or fail: the mean is the chance of 1. */
static double bits_of_pass(const struct outlook *o)
{
	double mean = 0, all = 0, bits;

	for (int s = 0; s < BINS; s++) {
		mean += o->bin[s].mean;
		all += o->bin[s].p;
	}
	bits = bayes_entropy(mean / all);
	for (int s = 0; s < BINS; s++)
		if (o->bin[s].p > 1e-12)
			bits -= o->bin[s].p / all * bayes_entropy(o->bin[s].mean / o->bin[s].p);
	return fmax(0, bits);
}

static double bits_of_step(const struct bayes *b, const struct outlook *o)
{
	return b->o.metric == BAYES_PASS ? bits_of_pass(o) : bits_of_value(o);
}

/*
 * Add hypothesis class @k, of which @share is such that the commit is in @state. @u: its build,
 * NULL: a new one.
 */
static void foretell(const struct bayes *b, struct outlook *o, uint32_t k, double share, int state,
		     const struct build *u)
{
	const struct cloud *c = &b->cloud[state == ALONE];
	const double *level = c->level[state == NEW], *point = b->class[k].point;
	double p = 0, mean = 0, square = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		double at = level[i], var = c->sigma[i] * c->sigma[i];

		if (u) {
			at += u->luck[state][i].mean;
			var += u->luck[state][i].var;
		} else {
			var += c->luck[i] * c->luck[i];
		}
		p += point[i];
		mean += point[i] * at;
		square += point[i] * (at * at + var);
	}
	if (share * p > 0)
		outlook_add(o, share * p, share * mean, share * square);
}

static bool is_live(const struct bayes *b, uint32_t k)
{
	return b->class[k].post > 1e-4;
}

/* A boot of the @m-th measured commit. */
double bayes_bits_of_measured(const struct bayes *b, uint32_t m, const struct build *u)
{
	struct outlook o;

	outlook_init(&o, b);
	if (is_live(b, 0))
		foretell(b, &o, 0, 1, ALONE, u);
	for (uint32_t k = 1; k < b->n_classes; k++)
		if (is_live(b, k))
			foretell(b, &o, k, 1, b->class[k].in[m] ? NEW : OLD, u);
	return bits_of_step(b, &o);
}

void bayes_draws_release(struct draws *d)
{
	free(d->of);
	free(d->by_class);
}

void bayes_draw(const struct bayes *b, struct draws *t)
{
	const struct dag *d = b->o.dag;
	double total = 1 - b->none, sum = 0;
	uint32_t s = 0;

	t->of = xcalloc(b->n + (size_t)1, sizeof(*t->of));
	t->by_class = xcalloc(b->n_classes, sizeof(*t->by_class));
	for (uint32_t x = 0; x < b->n; x++) {
		sum += bayes_share(b, x);
		for (; s < SAMPLES && (s + 0.5) * total < sum * SAMPLES; s++) {
			t->of[x].word[s / 64] |= UINT64_C(1) << s % 64;
			t->by_class[b->class_of[x]].word[s / 64] |= UINT64_C(1) << s % 64;
		}
	}
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t x = b->order[i];

		for (uint32_t k = d->parent_start[x]; k < d->parent_start[x + 1]; k++)
			for (int w = 0; w < WORDS; w++)
				t->of[x].word[w] |= t->of[d->parent[k]].word[w];
	}
}

static unsigned bits_set(const struct mask *m)
{
	unsigned n = 0;

	for (int w = 0; w < WORDS; w++)
		n += (unsigned)__builtin_popcountll(m->word[w]);
	return n;
}

double bayes_draws_share(const struct draws *t, uint32_t x)
{
	return (double)bits_set(&t->of[x]) / SAMPLES;
}

/* A fresh build of a commit not measured yet. */
double bayes_bits_of_other(const struct bayes *b, const struct draws *t, uint32_t x)
{
	struct outlook o;

	outlook_init(&o, b);
	if (is_live(b, 0))
		foretell(b, &o, 0, 1, ALONE, NULL);
	for (uint32_t k = 1; k < b->n_classes; k++) {
		struct mask both = t->by_class[k];
		unsigned all = bits_set(&both);
		double share;

		for (int w = 0; w < WORDS; w++)
			both.word[w] &= t->of[x].word[w];
		if (!all)
			continue;
		share = (double)bits_set(&both) / all;
		if (share > 0)
			foretell(b, &o, k, share, NEW, NULL);
		if (share < 1)
			foretell(b, &o, k, 1 - share, OLD, NULL);
	}
	return bits_of_step(b, &o);
}

/* Bits of a fresh commit with even odds: the most that a boot can tell. */
double bayes_nominal_bits(const struct bayes *b)
{
	double d = fabs(b->at.level[NEW] - b->at.level[OLD]);
	double var = b->at.sigma * b->at.sigma + b->at.luck * b->at.luck;
	struct outlook o = { .width = 1 };

	if (b->o.metric == BAYES_PASS)
		return 0.1;
	o.bin[0] = (struct forecast){ 0.5, 0, 0.5 * var };
	o.bin[1] = (struct forecast){ 0.5, 0.5 * d, 0.5 * (d * d + var) };
	return bits_of_value(&o);
}
