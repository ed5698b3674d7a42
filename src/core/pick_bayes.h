/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes: the culprit's posterior from noisy boots, and the step that tells most a second. */
#ifndef KR_CORE_PICK_BAYES_H
#define KR_CORE_PICK_BAYES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dag.h"

/*
 * The model. One commit is the culprit, or none is. A commit is in the new state when the culprit
 * is its ancestor or itself. A boot's value is
 *
 *	level (old or new) + luck of its build + noise of the boot
 *
 * luck ~ N(0, (rσ)²) once a build (a layout), noise ~ (1 − ε) N(0, σ²) + ε wide. Both levels, σ and
 * r stay unknown throughout: a cloud of weighted points (importance sampling on a
 * quasi-random lattice, redrawn where the weights degenerate; Cappé et al., Population Monte
 * Carlo, J. Comput. Graph. Stat. 13 (2004) 907) carries them, and the posterior over the commits is
 * exact for each point. Within a point luck is a Kalman filter whose mixture is collapsed to its
 * first two moments (Bar-Shalom, Tracking and Data Association, 1988, 4.3).
 *
 * Priors: commits by @prior; levels flat; σ flat in its logarithm; the step in units u of one fresh
 * boot's deviation by 2/π · u²/(1 + u²)², which is 0 at no step (a moment prior: Johnson & Rossell,
 * J. R. Stat. Soc. B 72 (2010) 143); its unit is 1.5 of these deviations; r by a gamma density of shape 2 and mean 0.5 (build_sd = auto).
 */
enum bayes_metric {
	BAYES_VALUE = 0,
	BAYES_PASS, /* 0 or 1: two unknown rates, Jeffreys' priors times their squared difference */
};

/* Seconds. */
struct bayes_price {
	double build; /* one kernel that is not in the cache */
	double boot;
	double run;
};

#define BAYES_AUTO (-1.0)

struct bayes_opts {
	const struct dag *dag; /* borrowed; tip set; dag->n is the old end */
	enum bayes_metric metric;
	bool deterministic;     /* no variance at all: one boot decides */
	double build_sd;        /* BAYES_AUTO, 0, or a deviation in the metric's unit */
	double confidence;      /* 0.95 */
	double effect;          /* smallest relative difference that matters: 0.02 */
	double no_culprit;      /* prior of "no culprit in this range"; 0: 0.4 */
	unsigned end_boots;     /* at least, of each end; 0: 2 */
	unsigned max_end_boots; /* at most, before the ends are called not different; 0: 60 */
	unsigned max_boots;     /* of the whole search; 0: no limit */
	bool rebuild;           /* another layout of a measured commit may be asked for */
	unsigned runs;          /* runs a boot, for the price; 0: 1 */
	struct bayes_price price;
	const double *prior; /* n weights ≥ 0, borrowed; NULL: all alike. 0: cannot be it */
	const bool *cached;  /* n + 1, borrowed, may change between calls; NULL: none */
};

enum bayes_action {
	BAYES_STOP = 0,
	BAYES_BOOT,    /* boot a kernel that was measured */
	BAYES_REBUILD, /* a measured commit with another layout */
	BAYES_COMMIT,  /* a commit not measured yet */
};

enum bayes_status {
	BAYES_RUNNING = 0,
	BAYES_FOUND,         /* one commit holds the confidence */
	BAYES_LIST,          /* no affordable step raises it: see bayes_credible() */
	BAYES_NO_DIFFERENCE, /* the ends do not differ, as far as the boots allowed can see */
	BAYES_NO_CULPRIT,    /* "none in this range" holds the confidence */
	/*
	 * The ends look alike, but so many boots as are allowed cannot see a step of @effect: see
	 * bayes_power(). Neither a difference nor none is claimed.
	 */
	BAYES_BLIND,
};

/* Why this step, or why it ends; for the user's eye, nothing depends on it. */
enum bayes_why {
	BAYES_WHY_UNSET = 0,
	BAYES_WHY_ENDS_FIRST,   /* both ends need boots before anything can be said */
	BAYES_WHY_ENDS_DIFFER,  /* is there a difference between the ends at all? */
	BAYES_WHY_ENDS_EQUAL,   /* are they equal to within the effect? */
	BAYES_WHY_DRIFT,        /* an end again, to see whether the machine drifts */
	BAYES_WHY_MIDDLE,       /* a fresh commit that halves what is left */
	BAYES_WHY_NEAR_END,     /* a fresh commit beside an end tells its luck from its level */
	BAYES_WHY_AGAIN,        /* one more boot of this kernel tells most a second */
	BAYES_WHY_LAYOUT,       /* another layout of it does: its luck is in doubt */
	BAYES_WHY_SURE,         /* stop: the confidence is reached */
	BAYES_WHY_BUDGET,       /* stop: max_boots are spent */
	BAYES_WHY_UNAFFORDABLE, /* stop: no step tells enough to pay for it */
	BAYES_WHY_POWER,        /* stop: the spread is too large for the effect */
	BAYES_WHY_EQUIVALENT,   /* stop: the ends differ by less than the effect */
};

struct bayes_step {
	enum bayes_action action;
	enum bayes_status status; /* RUNNING unless STOP */
	uint32_t node;            /* DAG_NONE with STOP */
	uint32_t layout;          /* which build of it */
	double bits;              /* expected information about the culprit */
	double seconds;           /* expected price */
	double boots_left;        /* bits left / bits of this step */
	enum bayes_why why;
};

struct bayes;
struct bayes *bayes_new(const struct bayes_opts *o);
void bayes_free(struct bayes *b);

/*
 * One boot of layout @layout of @node (dag->n: the old end) gave @value. All state is a function of
 * these calls in their order. Returns -1 and changes nothing where the value is not finite or beyond
 * ± 1e150, not 0 or 1 with BAYES_PASS, or there is no such node.
 */
int bayes_observe(struct bayes *b, uint32_t node, uint32_t layout, double value);
/*
 * The same with how the value came about: the mean or median of @runs runs whose deviation within
 * this boot was @run_sd (NAN: not known). A boot with another number of runs than bayes_opts.runs
 * weighs accordingly: its variance is σ² + s²·(1/runs − 1/opts.runs), s² the pooled variance within
 * boots (two-stage sampling: Cochran, Sampling Techniques, 10.3). Also -1 for runs = 0.
 */
int bayes_observe_runs(struct bayes *b, uint32_t node, uint32_t layout, double value, unsigned runs,
		       double run_sd);
/*
 * The kernels of @node and @other are the same, bit for bit: they share one build's luck and all boots, told
 * before or after, and no commit that parts them can be the culprit. -1: no such node.
 */
int bayes_same_build(struct bayes *b, uint32_t node, uint32_t other);
/* @node cannot be tested; tells nothing of the culprit. @alike: failures that look the same. */
int bayes_skip(struct bayes *b, uint32_t node, uint32_t alike);

/* Prices as known by now: they bear on the next step, on nothing else. */
void bayes_set_price(struct bayes *b, const struct bayes_price *p);

/* What to do next; the same answer until something is observed. Cannot fail. */
void bayes_next(struct bayes *b, struct bayes_step *step);

/* P(@node is the culprit). */
double bayes_share(const struct bayes *b, uint32_t node);
/* P(no culprit). */
double bayes_no_culprit(const struct bayes *b);
/* P(@node is in the new state); the old end: 0. */
double bayes_new_state(const struct bayes *b, uint32_t node);
/* Entropy of the posterior, in bits. */
double bayes_bits_left(const struct bayes *b);

struct bayes_candidate {
	uint32_t node;
	double share;
};
/*
 * The smallest set of commits that holds @confidence of what is not "no culprit", largest share
 * first (ties: list order). Owned array; returns the count.
 */
uint32_t bayes_credible(const struct bayes *b, double confidence, struct bayes_candidate **list);

struct bayes_levels {
	double level[2], level_sd[2]; /* old, new */
	double sigma;                 /* boot to boot */
	double luck;                  /* build to build */
};
/* Posterior means; false before both ends have their boots. */
bool bayes_levels(const struct bayes *b, struct bayes_levels *l);

struct bayes_interval {
	double low, high;
};
struct bayes_intervals {
	struct bayes_interval level[2]; /* old, new */
	struct bayes_interval step;     /* new − old */
	struct bayes_interval boot_sd;  /* as bayes_levels.sigma */
	struct bayes_interval build_sd; /* as bayes_levels.luck */
	double run_sd;                  /* within a boot, pooled; NAN: not known */
	double drift;    /* of the machine: largest − smallest shift taken out of the values */
	double drifting; /* P(the machine drifts) */
};
/*
 * Equal-tailed credible intervals, given that there is a culprit, that hold @confidence. False before
 * both ends have their boots, and for pass/fail all but the levels is 0.
 */
bool bayes_intervals(const struct bayes *b, double confidence, struct bayes_intervals *i);

/* What the ends can see: their boots only, pooled deviation. */
struct bayes_power {
	unsigned boots[2]; /* of the old end, the new end */
	double level[2];   /* their means */
	double sd;         /* of one boot */
	double smallest;   /* smallest step that the boots so far can see, with errors α and β */
	double effect;     /* the step asked for: bayes_opts.effect × |old level| */
	double boots_needed; /* boots an end for that, rounded up */
	double equal_p;      /* TOST: P of such means or closer if they differed by effect */
	struct bayes_interval difference; /* new − old, 1 − 2α (TOST's own interval) */
	bool is_blind;                    /* boots_needed > max_end_boots */
	bool is_equivalent;               /* equal_p < α/4: it is looked at again and again */
};
/*
 * One-sided α = β = @alpha (0.01). Equivalence by two one-sided t tests (Schuirmann, J. Pharmacokin.
 * Biopharm. 15 (1987) 657). False with fewer than 2 boots of an end, deterministic, or pass/fail.
 */
bool bayes_power(const struct bayes *b, double alpha, struct bayes_power *p);

/*
 * Power of a comparison of two ends, one-sided α = β = @alpha, known deviation
 * (n = 2 (zα + zβ)²/d²: Cochran, Sampling Techniques, 4.4): boots an end that a step of @d deviations
 * needs, and the smallest step that @boots an end can see.
 */
double bayes_boots_needed(double d, double alpha);
double bayes_smallest_step(unsigned boots, double alpha);
/*
 * Runs a boot that are cheapest for a given precision: √(c_boot/c_run)·s_run/s_boot
 * (two-stage sampling: Cochran, Sampling Techniques, 10.6), at least 1, at most 20.
 */
unsigned bayes_runs_per_boot(const struct bayes_price *p, double run_sd, double boot_sd);

#endif
