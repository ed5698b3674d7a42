/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What search = bayes is held against: git bisect, Beta–Bernoulli Bayes on thresholded values, bounds. */
#ifndef KR_TESTS_SIM_NOISE_BASELINES_H
#define KR_TESTS_SIM_NOISE_BASELINES_H

#include "sim/noise_scenes.h"

#define BASELINE_END_BOOTS 5
#define BASELINE_MAX_BOOTS 500

/* Where a baseline looks: value of one boot; greater is new. */
typedef double (*baseline_look)(void *world, uint32_t node);

/* A search without a model, over any dag. */
struct baseline {
	const struct dag *dag;
	const bool *is_skipped; /* n; NULL: none */
	baseline_look look;
	void *world;
	double threshold; /* set by baseline_threshold() */
	unsigned boots, kernels;
	unsigned end_new[2], end_boots; /* looks of the old and the new end above the threshold */
};

/* Half-way between the means of @boots boots of each end. */
static inline void baseline_threshold(struct baseline *b, unsigned boots)
{
	_cleanup_free_ double *v = xcalloc(2 * (size_t)boots, sizeof(*v));

	b->threshold = 0;
	b->end_boots = boots;
	for (unsigned i = 0; i < 2 * boots; i++) {
		v[i] = b->look(b->world, i % 2 ? b->dag->tip : b->dag->n);
		b->threshold += v[i] / (2 * boots);
	}
	for (unsigned i = 0; i < 2 * boots; i++)
		b->end_new[i % 2] += v[i] > b->threshold;
	b->boots += 2 * boots;
	b->kernels += 2;
}

/* What git bisect finds that takes the mean of @looks boots a commit; DAG_NONE: only skips left. */
static inline uint32_t baseline_bisect(struct baseline *b, unsigned looks)
{
	struct pick_bisect *p = pick_bisect_new(b->dag, &(struct pick_opts){ .any_skip = false });
	_cleanup_free_ enum dag_mark *mark = xcalloc(b->dag->n, sizeof(*mark));
	uint32_t bad = b->dag->tip;
	struct pick pick;

	mark[bad] = DAG_BAD;
	baseline_threshold(b, looks > BASELINE_END_BOOTS ? looks : BASELINE_END_BOOTS);
	for (pick_bisect_next(p, mark, bad, &pick); pick.kind == PICK_TEST;
	     pick_bisect_next(p, mark, bad, &pick)) {
		double sum = 0;

		b->kernels++;
		if (b->is_skipped && b->is_skipped[pick.node]) {
			mark[pick.node] = DAG_SKIP;
			continue;
		}
		for (unsigned i = 0; i < looks; i++, b->boots++)
			sum += b->look(b->world, pick.node);
		mark[pick.node] = sum > looks * b->threshold ? DAG_BAD : DAG_GOOD;
		bad = mark[pick.node] == DAG_BAD ? pick.node : bad;
	}
	pick_bisect_free(p);
	return pick.kind == PICK_FOUND ? pick.node : DAG_NONE;
}

/*
 * Bayes on what the threshold leaves: each boot is above it with one unknown rate at old commits,
 * with another at new ones, both Beta(½, ½). Given the culprit the boots are two binomial
 * samples, so its likelihood is B(k0 + ½, n0 − k0 + ½) B(k1 + ½, n1 − k1 + ½).
 */
struct betabern {
	struct baseline *b;
	uint32_t n;
	uint64_t **ancestors;    /* by node, itself among them; NULL until wanted */
	unsigned *boots, *above; /* new ones, by culprit */
	unsigned all_boots, all_above;
	bool *measured;
	double *share, *gamma; /* gamma[k]: ln Γ(k + ½) */
};

static inline void betabern_ancestors(struct betabern *s)
{
	size_t words = (s->n + 63) / 64;

	s->ancestors = xcalloc(s->n, sizeof(*s->ancestors));
	for (uint32_t x = 0; x < s->n; x++) {
		s->ancestors[x] = xcalloc(words, sizeof(uint64_t));
		s->ancestors[x][x / 64] = 1ull << x % 64;
		for (uint32_t k = 0; k < dag_parent_count(s->b->dag, x); k++)
			for (size_t i = 0; i < words; i++)
				s->ancestors[x][i] |= s->ancestors[dag_parents(s->b->dag, x)[k]][i];
	}
}

static inline bool betabern_holds(const struct betabern *s, uint32_t node, uint32_t culprit)
{
	return s->ancestors[node][culprit / 64] >> culprit % 64 & 1;
}

/* @boots boots of @node, @above of them above the threshold; node n is the old end. */
static inline void betabern_tell(struct betabern *s, uint32_t node, unsigned boots, unsigned above)
{
	s->all_boots += boots;
	s->all_above += above;
	for (uint32_t c = 0; node < s->n && c < s->n; c++)
		if (betabern_holds(s, node, c)) {
			s->boots[c] += boots;
			s->above[c] += above;
		}
}

static inline double betabern_beta(const struct betabern *s, unsigned n, unsigned k)
{
	return s->gamma[k] + s->gamma[n - k] - lgamma(n + 1.0);
}

/* Shares of all commits; returns the one with most. */
static inline uint32_t betabern_posterior(struct betabern *s)
{
	double top = -INFINITY, sum = 0;
	uint32_t best = 0;

	for (uint32_t c = 0; c < s->n; c++) {
		s->share[c] = betabern_beta(s, s->boots[c], s->above[c]) +
			      betabern_beta(s, s->all_boots - s->boots[c],
					    s->all_above - s->above[c]);
		if (s->share[c] > top) {
			top = s->share[c];
			best = c;
		}
	}
	for (uint32_t c = 0; c < s->n; c++)
		sum += s->share[c] = exp(s->share[c] - top);
	for (uint32_t c = 0; c < s->n; c++)
		s->share[c] /= sum;
	return best;
}

/* P(new) of @x; those of its parents are in @p. */
static inline double betabern_new_state(const struct betabern *s, uint32_t x, const double *p)
{
	double sum = 0;

	/* the ancestors of a commit with one parent are its parent's and itself */
	if (dag_parent_count(s->b->dag, x) <= 1)
		return s->share[x] +
		       (dag_parent_count(s->b->dag, x) ? p[dag_parents(s->b->dag, x)[0]] : 0);
	for (size_t i = 0; i < (s->n + 63) / 64; i++)
		for (uint64_t m = s->ancestors[x][i]; m; m &= m - 1)
			sum += s->share[i * 64 + (size_t)__builtin_ctzll(m)];
	return sum;
}

/* The commit whose state is most open: P(new) nearest to ½. */
static inline uint32_t betabern_next(const struct betabern *s)
{
	_cleanup_free_ double *p = xcalloc(s->n, sizeof(*p));
	uint32_t best = s->b->dag->tip;
	double nearest = 2;

	for (uint32_t x = 0; x < s->n; x++) {
		p[x] = betabern_new_state(s, x, p);
		if (s->b->is_skipped && s->b->is_skipped[x])
			continue;
		if (fabs(p[x] - 0.5) < nearest) {
			nearest = fabs(p[x] - 0.5);
			best = x;
		}
	}
	return best;
}

static inline void betabern_open(struct betabern *s, struct baseline *b)
{
	*s = (struct betabern){ .b = b, .n = b->dag->n };
	s->boots = xcalloc(s->n, sizeof(*s->boots));
	s->above = xcalloc(s->n, sizeof(*s->above));
	s->measured = xcalloc(s->n + (size_t)1, sizeof(*s->measured));
	s->share = xcalloc(s->n, sizeof(*s->share));
	s->gamma = xcalloc(BASELINE_MAX_BOOTS + 2, sizeof(*s->gamma));
	for (unsigned k = 0; k < BASELINE_MAX_BOOTS + 2; k++)
		s->gamma[k] = lgamma(k + 0.5);
	betabern_ancestors(s);
}

static inline void betabern_close(struct betabern *s)
{
	for (uint32_t x = 0; x < s->n; x++)
		free(s->ancestors[x]);
	free(s->ancestors);
	free(s->boots);
	free(s->above);
	free(s->measured);
	free(s->share);
	free(s->gamma);
}

/* Until one commit holds @confidence: it, and its share in *@claimed; DAG_NONE when boots run out. */
static inline uint32_t baseline_betabern(struct baseline *b, double confidence, double *claimed)
{
	struct betabern s;
	uint32_t best, x;

	baseline_threshold(b, BASELINE_END_BOOTS);
	betabern_open(&s, b);
	betabern_tell(&s, b->dag->n, b->end_boots, b->end_new[0]);
	betabern_tell(&s, b->dag->tip, b->end_boots, b->end_new[1]);
	s.measured[b->dag->tip] = true;
	for (best = betabern_posterior(&s);
	     s.share[best] < confidence && s.all_boots < BASELINE_MAX_BOOTS;
	     best = betabern_posterior(&s)) {
		x = betabern_next(&s);
		b->kernels += !s.measured[x];
		s.measured[x] = true;
		b->boots++;
		betabern_tell(&s, x, 1, b->look(b->world, x) > b->threshold);
	}
	*claimed = s.share[best];
	betabern_close(&s);
	return *claimed < confidence ? DAG_NONE : best;
}

/* Bits of a channel with two levels @d deviations apart, at even odds: its capacity, by a grid. */
static inline double baseline_capacity(double d)
{
	double bits = 0, step = 0.005;

	for (double x = -8; x < d + 8; x += step) {
		double f = exp(-x * x / 2) / sqrt(2 * M_PI);
		double g = exp(-(x - d) * (x - d) / 2) / sqrt(2 * M_PI), m = (f + g) / 2;

		if (f > 0 && g > 0)
			bits += step * (f * log2(f / m) + g * log2(g / m)) / 2;
	}
	return bits;
}

/* Runs that no search can do without: Burnashev, Probl. Inf. Transm. 12 (1976) 250. */
static inline double baseline_bound(double commits, double d, double confidence)
{
	return log2(commits) / baseline_capacity(d) + log(1 / (1 - confidence)) / (d * d / 2);
}

#endif
