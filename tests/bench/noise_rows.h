/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scenes of make bench-noise, and what the search must reach in them. */
#ifndef KR_TESTS_BENCH_NOISE_ROWS_H
#define KR_TESTS_BENCH_NOISE_ROWS_H

#include "sim/noise_scenes.h"

#define ROW_COMMITS 1000
#define ROW_FREE .t = { { .right = 0 } } /* no target */

/* Means of runs and kernels at most; shares at least; 0: nothing asked. */
struct row_target {
	double right, single, runs, kernels, list_median, list_p90;
};

struct row {
	char name[64];
	struct scene c;
	struct row_target t;
	double boot_sd; /* σ of one boot's value with its runs: what d is counted in for the bound */
};

/* A family of scenes: one row for each d. */
struct row_family {
	const char *name;
	struct scene c;
	struct row_target t[5]; /* d = 4, 3, 2, 1.5, 1 */
	bool claim_99;          /* at d = 1.5 */
};

static const double row_steps[5] = { 4, 3, 2, 1.5, 1 };

static const struct row_family row_families[] = {
	{ "linear",
	  { .s = { .build_sd = 0 } },
	  .t = { { .right = .95, .runs = 18, .kernels = 12 },
		 { .right = .95, .runs = 25, .kernels = 15 },
		 { .right = .95, .runs = 45, .kernels = 21 },
		 { .right = .99, .runs = 90, .kernels = 17 },
		 { .right = .95, .runs = 200 } },
	  .claim_99 = true },
	{ "linear, build_sd auto",
	  { .s = { .build_sd = BAYES_AUTO } },
	  .t = { { .right = .95, .runs = 27, .kernels = 18 },
		 { .right = .95, .runs = 37.5, .kernels = 22.5 },
		 { .right = .95, .runs = 67.5, .kernels = 31.5 },
		 { .right = .99, .runs = 135, .kernels = 25.5 },
		 { .right = .95, .runs = 300 } },
	  .claim_99 = true },
	{ "luck 0.5 a build",
	  { .s = { .luck = 0.5, .build_sd = BAYES_AUTO } },
	  .t = { { .right = 0 },
		 { .right = .95, .single = .85, .runs = 60, .kernels = 20 },
		 { .right = .95, .runs = 150, .kernels = 40, .list_median = 8, .list_p90 = 40 },
		 { .right = .95, .runs = 250, .kernels = 60, .list_median = 30 } } },
	{ "luck 0.5 a boot",
	  { .s = { .luck = 0.5, .luck_each_boot = true, .build_sd = BAYES_AUTO } },
	  .t = { { .right = 0 },
		 { .right = 0 },
		 { .right = .95, .single = .9, .runs = 120, .kernels = 30 } } },
	{ "luck 0.5, other layouts",
	  { .s = { .luck = 0.5, .build_sd = BAYES_AUTO, .rebuild = true } },
	  ROW_FREE },
	{ "outliers 5 %",
	  { .s = { .outliers = 0.05 } },
	  .t = { { .right = .95, .runs = 27, .kernels = 18 },
		 { .right = .95, .runs = 37.5, .kernels = 22.5 },
		 { .right = .95, .runs = 67.5, .kernels = 31.5 } } },
	{ "outliers 5 %, auto", { .s = { .outliers = 0.05, .build_sd = BAYES_AUTO } }, ROW_FREE },
	{ "merges 8 %, skips 10 %",
	  { .s = { .merges = 0.08, .skipped = 0.1 } },
	  .t = { { .right = .95, .runs = 21.6, .kernels = 14.4 },
		 { .right = .95, .runs = 30, .kernels = 18 },
		 { .right = .95, .runs = 54, .kernels = 25.2 } } },
	{ "kernel-like, auto", { .s = { .merges = 0.08, .build_sd = BAYES_AUTO } }, ROW_FREE },
	{ "drift to and fro, 0.5", { .drift = 0.5 }, ROW_FREE },
	{ "drift, 1 in 60 boots", { .s = { .drift = 1, .drift_boots = 60 } }, ROW_FREE },
	{ "drift, a jump of 1",
	  { .s = { .drift = 1, .drift_boots = 40, .drift_jumps = true } },
	  ROW_FREE },
	{ "3 runs a boot, each 0.9", { .runs = 3, .run_sd = 0.9 }, ROW_FREE },
	{ "3 steps", { .s = { .build_sd = BAYES_AUTO }, .steps = 2 }, ROW_FREE },
};

/* Without a step, pass or fail, and the regressions of NOISE.md with their spreads. */
static const struct row row_singles[] = {
	{ "no step", { .s = { .none = true, .effect = 0.02 } }, { .right = .99 }, 1 },
	{ "no step, auto",
	  { .s = { .none = true, .effect = 0.02, .build_sd = BAYES_AUTO } },
	  { .right = .99 },
	  1 },
	{ "no step, luck 0.5",
	  { .s = { .none = true, .effect = 0.02, .luck = 0.5, .build_sd = BAYES_AUTO } },
	  { .right = 0 },
	  1 },
	{ "pass/fail 0.05", { .s = { .pass_fail = 0.05 } }, { .right = 0 }, 1 },
	{ "pass/fail 0.1",
	  { .s = { .pass_fail = 0.1 } },
	  { .right = .95, .runs = 33, .kernels = 21 },
	  1 },
	{ "pass/fail 0.2", { .s = { .pass_fail = 0.2 } }, { .right = 0 }, 1 },
#define REAL(NAME, BEFORE, AFTER, SPREAD)                              \
	{                                                              \
		NAME,                                                  \
			{ .s = { .d = ((AFTER) - (BEFORE)) / (SPREAD), \
				 .build_sd = BAYES_AUTO,               \
				 .merges = 0.08,                       \
				 .effect = 0.02 },                     \
			  .before = (BEFORE),                          \
			  .spread = (SPREAD) },                        \
			{ .right = 0 }, 1                              \
	}
	/* spread: one deviation; ± x % of the level before where the table has a share */
	REAL("003af997c8a9 hugetlb surplus", 7692177., 4299393., 384609.),
	REAL("875fa64577da hugetlb_vmemmap", 6842353., 4498326., 136847.),
	REAL("d2136d749d76 mTHP numa", 7392513., 6865649., 147850.),
	REAL("f35b5d7d676e align on THP, s", 318.17, 406.69, 0.7),
	REAL("96204e15310c thp_get_unmapped", 795871., 764972., 15917.),
	REAL("0ede61d8589c TYPESAFE_BY_RCU", 399440., 388036., 7989.),
	REAL("611ae8e3 TLB range flush", 7591.5, 6559.6, 61.),
	REAL("1567b49d1a40 zone device, ns", 2950., 6850., 50.),
	/* 85–112 % of the median as ± 2 deviations */
	REAL("freelist, application launch", 100., 107., 6.75),
#undef REAL
};

#define ROW_FAMILIES ARRAY_SIZE(row_families)
#define ROW_COUNT (5 * ROW_FAMILIES + ARRAY_SIZE(row_singles))

/* σ of one boot's value: its own beside that of the median of its runs (π/2 · s²/n, in the limit). */
static inline double row_sd(const struct scene *c)
{
	double own = c->runs > 1 ? M_PI / 2 * c->run_sd * c->run_sd / c->runs
				 : c->run_sd * c->run_sd;

	return sqrt(1 + own);
}

static inline void row_get(size_t k, struct row *r)
{
	const struct row_family *f = &row_families[k / 5 < ROW_FAMILIES ? k / 5 : 0];

	if (k >= 5 * ROW_FAMILIES) {
		*r = row_singles[k - 5 * ROW_FAMILIES];
	} else {
		*r = (struct row){ .c = f->c, .t = f->t[k % 5] };
		r->c.s.d = row_steps[k % 5];
		if (f->claim_99 && r->c.s.d == 1.5) /* NOLINT: one of the table above */
			r->c.s.confidence = 0.99;
		snprintf(r->name, sizeof(r->name), "%s, d = %g%s", f->name, r->c.s.d,
			 r->c.s.confidence > 0 ? ", claim 99 %" : "");
	}
	r->c.s.name = r->name;
	r->c.s.commits = ROW_COMMITS;
	if (!(r->c.s.confidence > 0))
		r->c.s.confidence = 0.95;
	r->boot_sd = row_sd(&r->c);
}

#endif
