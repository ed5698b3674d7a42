/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: slow drift of the machine, found and taken out of the values. */
#include "core/pick_bayes_internal.h"

#include <math.h>
#include <string.h>

/*
 * A boot of build a at time t: y = level and luck of a + g(t) + noise. Each build's mean is free, so
 * that neither states nor luck matter: only builds booted at several times tell. g is a sum of KNOTS ramps, one
 * after the other, whose heights are N(0, qσ²); q has a prior on a grid, most of it at "no drift", and σ
 * is integrated out (conjugate regression: Gelman et al., Bayesian Data Analysis, 3rd ed., 14.2 and
 * 14.8). Shift and variance are averaged over q (Hoeting et al., Stat. Sci. 14 (1999) 382).
 */
#define KNOTS 8
#define SIZES 4
static const double sizes[SIZES] = { 0, 0.5, 1, 2 }; /* deviation of the whole drift, in σ */
#ifndef NODRIFT
#define NODRIFT 0.85
#endif
static const double size_prior[SIZES] = { NODRIFT, (1 - NODRIFT) / 3, (1 - NODRIFT) / 3,
					  (1 - NODRIFT) / 3 };
/* Residuals are cut there, in σ: an outlier is no drift. */
#define CUT 4.0
/* Shifts that move by more, in σ, are worth a new cloud. */
#define MOVED 0.1
/* Boots after which an end is looked at again, to see drift at all. */
#ifndef SENTINEL
#define SENTINEL 15
#endif
#ifndef SENTINEL_DRIFTING
#define SENTINEL_DRIFTING 7 /* where drift was seen, as likely as that */
#endif
#ifndef DRIFTING
#define DRIFTING 0.3
#endif
/* Where drift is less likely, the values stay as they are. */
#define LEAST_SURE 0.5
/* Degrees of freedom within builds below which nothing is said. */
#define LEAST_DF 4

struct fit {
	double g[KNOTS][KNOTS], c[KNOTS], yy; /* X'X, X'y, y'y, within builds */
	double boots, df;
	double mean[KNOTS]; /* of the ramps over all boots */
};

struct solution {
	double height[KNOTS], inverse[KNOTS][KNOTS];
	double log_evidence, sigma2;
};

static void ramps(const struct bayes *b, uint32_t when, double x[KNOTS])
{
	double step = fmax(1, b->boots - 1.0) / KNOTS;

	for (int k = 0; k < KNOTS; k++)
		x[k] = fmin(1, fmax(0, (when - k * step) / step));
}

static double build_mean(const struct build *u, double x_mean[KNOTS], const struct bayes *b)
{
	double sum = 0;

	memset(x_mean, 0, KNOTS * sizeof(*x_mean));
	for (uint32_t i = 0; i < u->n; i++) {
		double x[KNOTS];

		ramps(b, u->boot[i].when, x);
		for (int k = 0; k < KNOTS; k++)
			x_mean[k] += x[k] / u->n;
		sum += u->boot[i].told / u->n;
	}
	return sum;
}

static void add_build(const struct bayes *b, const struct build *u, struct fit *f)
{
	double x_mean[KNOTS], mean = build_mean(u, x_mean, b), cut = CUT * b->at.sigma;

	for (uint32_t i = 0; i < u->n; i++) {
		double x[KNOTS], y = fmin(cut, fmax(-cut, u->boot[i].told - mean));

		ramps(b, u->boot[i].when, x);
		for (int k = 0; k < KNOTS; k++) {
			f->mean[k] += x[k];
			x[k] -= x_mean[k];
		}
		for (int k = 0; k < KNOTS; k++) {
			f->c[k] += x[k] * y;
			for (int l = 0; l < KNOTS; l++)
				f->g[k][l] += x[k] * x[l];
		}
		f->yy += y * y;
	}
	f->boots += u->n;
	f->df += u->n ? u->n - 1.0 : 0;
}

/* Inverse and log determinant of the symmetric positive @a, by elimination. */
static double invert(double a[KNOTS][KNOTS], double inverse[KNOTS][KNOTS])
{
	double log_det = 0;

	for (int k = 0; k < KNOTS; k++)
		for (int l = 0; l < KNOTS; l++)
			inverse[k][l] = k == l;
	for (int k = 0; k < KNOTS; k++) {
		double pivot = a[k][k];

		log_det += log(pivot);
		for (int l = 0; l < KNOTS; l++) {
			a[k][l] /= pivot;
			inverse[k][l] /= pivot;
		}
		for (int r = 0; r < KNOTS; r++) {
			double factor = a[r][k];

			for (int l = 0; r != k && l < KNOTS; l++) {
				a[r][l] -= factor * a[k][l];
				inverse[r][l] -= factor * inverse[k][l];
			}
		}
	}
	return log_det;
}

static void solve(const struct fit *f, double size, struct solution *s)
{
	double a[KNOTS][KNOTS], q = size * size / KNOTS, rest = f->yy, log_det = 0;

	memset(s, 0, sizeof(*s));
	if (size > 0) {
		memcpy(a, f->g, sizeof(a));
		for (int k = 0; k < KNOTS; k++)
			a[k][k] += 1 / q;
		log_det = invert(a, s->inverse) + KNOTS * log(q);
		for (int k = 0; k < KNOTS; k++) {
			for (int l = 0; l < KNOTS; l++)
				s->height[k] += s->inverse[k][l] * f->c[l];
			rest -= s->height[k] * f->c[k];
		}
	}
	rest = fmax(rest, 1e-12 * f->yy);
	s->sigma2 = rest / f->df;
	s->log_evidence = -log_det / 2 - f->df / 2 * log(rest);
}

/* Shift and its variance where the ramps, less their means, are @x, if @s is so. */
static double shift_at(const struct solution *s, const double x[KNOTS], double *var)
{
	double shift = 0;

	*var = 0;
	for (int k = 0; k < KNOTS; k++) {
		shift += x[k] * s->height[k];
		for (int l = 0; l < KNOTS; l++)
			*var += s->sigma2 * x[k] * x[l] * s->inverse[k][l];
	}
	return shift;
}

static void weigh(const struct solution s[SIZES], double weight[SIZES])
{
	double most = -INFINITY, sum = 0;

	for (int k = 0; k < SIZES; k++)
		most = fmax(most, s[k].log_evidence);
	for (int k = 0; k < SIZES; k++)
		sum += weight[k] = size_prior[k] * exp(s[k].log_evidence - most);
	for (int k = 0; k < SIZES; k++)
		weight[k] /= sum;
}

/* The same, averaged over the sizes. */
static double average(const struct solution s[SIZES], const double weight[SIZES],
		      const double x[KNOTS], double *var)
{
	double shift = 0, square = 0;

	for (int k = 1; k < SIZES; k++) {
		double at_var, at = shift_at(&s[k], x, &at_var);

		shift += weight[k] * at;
		square += weight[k] * (at * at + at_var);
	}
	*var = fmax(0, square - shift * shift);
	return shift;
}

struct shifts {
	double low, high, moved;
};

/*
 * Boots of a build that follow each other are off by the same, and more of them do not help: what their mean
 * is off by counts as luck of the build, the rest as noise of the boot.
 */
static void shift_build(struct bayes *b, const struct fit *f, const struct solution s[SIZES],
			const double weight[SIZES], struct build *u, struct shifts *all, bool set)
{
	double x_mean[KNOTS] = { 0 }, shared;

	for (uint32_t i = 0; i < u->n; i++) {
		double x[KNOTS];

		ramps(b, u->boot[i].when, x);
		for (int k = 0; k < KNOTS; k++)
			x_mean[k] += (x[k] - f->mean[k] / f->boots) / u->n;
	}
	average(s, weight, x_mean, &shared);
	for (uint32_t i = 0; i < u->n; i++) {
		struct boot *boot = &u->boot[i];
		double x[KNOTS], var, shift;

		ramps(b, boot->when, x);
		for (int k = 0; k < KNOTS; k++)
			x[k] -= f->mean[k] / f->boots;
		shift = average(s, weight, x, &var);
		all->moved = fmax(all->moved, fabs(boot->told - shift - boot->value));
		all->low = fmin(all->low, shift);
		all->high = fmax(all->high, shift);
		if (!set)
			continue;
		boot->value = boot->told - shift;
		boot->drift_var = fmax(0, var - shared);
	}
	if (set)
		u->drift_var = shared;
}

/* Takes the shifts out of all values (@set), or tells only how far one would move. */
static double shift_all(struct bayes *b, const struct fit *f, const struct solution s[SIZES],
			const double weight[SIZES], bool set)
{
	struct shifts all = { .low = INFINITY, .high = -INFINITY };

	for (uint32_t m = 0; m < b->n_m; m++)
		for (uint32_t u = 0; u < b->m[m]->n_builds; u++)
			shift_build(b, f, s, weight, &b->m[m]->build[u], &all, set);
	if (set)
		b->drift.range = all.high - all.low;
	return all.moved;
}

bool bayes_drift_correct(struct bayes *b)
{
	struct fit f = { .yy = 0 };
	struct solution s[SIZES];
	const double none[SIZES] = { 1 };
	double weight[SIZES];

	if (b->exact || b->o.metric == BAYES_PASS || !(b->at.sigma > 0))
		return false;
	for (uint32_t m = 0; m < b->n_m; m++)
		for (uint32_t u = 0; u < b->m[m]->n_builds; u++)
			add_build(b, &b->m[m]->build[u], &f);
	if (f.df < LEAST_DF || !(f.yy > 0))
		return false;
	for (int k = 0; k < SIZES; k++)
		solve(&f, sizes[k], &s[k]);
	weigh(s, weight);
	b->drift.sure = 1 - weight[0];
	if (b->drift.sure < LEAST_SURE)
		memcpy(weight, none, sizeof(weight));
	if (shift_all(b, &f, s, weight, false) <= MOVED * b->at.sigma)
		return false;
	shift_all(b, &f, s, weight, true);
	return true;
}

bool bayes_drift_wants_end(const struct bayes *b, uint32_t *node)
{
	uint32_t last[2] = { 0, 0 }, latest;

	if (b->exact || b->o.metric == BAYES_PASS)
		return false;
	for (int s = OLD; s <= NEW; s++) {
		const struct measured *m = bayes_measured(b, s ? b->o.dag->tip : b->n);

		for (uint32_t u = 0; u < m->n_builds; u++)
			for (uint32_t i = 0; i < m->build[u].n; i++)
				last[s] = m->build[u].boot[i].when > last[s]
						  ? m->build[u].boot[i].when
						  : last[s];
	}
	*node = last[NEW] < last[OLD] ? b->o.dag->tip : b->n;
	latest = last[NEW] < last[OLD] ? last[OLD] : last[NEW];
	return b->boots > latest + (b->drift.sure > DRIFTING ? SENTINEL_DRIFTING : SENTINEL);
}
