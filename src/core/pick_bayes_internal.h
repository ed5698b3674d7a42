/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to pick_bayes*.c: state of the search, and what its parts need of each other. */
#ifndef KR_CORE_PICK_BAYES_INTERNAL_H
#define KR_CORE_PICK_BAYES_INTERNAL_H

#include "core/pick_bayes.h"

enum { OLD = 0, NEW = 1, ALONE = 2, STATES = 3 };

/* Where the luck of one build is thought to be, for one point and state. */
struct luck {
	double mean, var;
};

struct boot {
	double value; /* as told, less what is thought to be drift */
	double told;
	uint32_t runs;
	uint32_t when;    /* boots before it, of the whole search */
	double drift_var; /* of what was taken off, beside the build's */
};

/* One build of a commit. luck[state][point]. */
struct build {
	uint32_t layout;
	uint32_t n;
	size_t room;
	double drift_var; /* of what was taken off its boots, shared by all */
	struct boot *boot;
	struct luck *luck[STATES];
};

/* A commit with boots. ll[state][point]: log-likelihood of all its boots. */
struct measured {
	uint32_t node, boots;
	struct build *build;
	uint32_t n_builds;
	size_t room;
	double *ll[STATES];
	double p_new; /* posterior of the new state */
};

/*
 * Points in the space of the unknowns: levels, σ, luck. State ALONE (no culprit) has points of
 * its own with one level.
 */
struct cloud {
	uint32_t n;
	double *z;        /* n × 4: the lattice, fixed: uniform, then three normal deviates */
	double *level[2]; /* ALONE: both the same array */
	double *sigma, *luck;
	double *lw;     /* log prior − log proposal */
	double *weight; /* posterior, sums to 1 */
	uint8_t *ratio; /* which of the grid */
};

#define RATIOS 9

/* What is thought of the machine's drift. */
struct drift {
	double sure;  /* P(it drifts) */
	double range; /* largest − smallest shift, the metric's unit */
};

/*
 * Candidates that no measured commit tells apart. Class 0 is "no culprit". in[m]: the m-th
 * measured commit is in the new state when the culprit is of this class.
 */
struct class
{
	double mass; /* prior */
	double post;
	uint32_t size;
	uint32_t top; /* the node with the largest prior */
	bool *in;
	double *point; /* posterior of class and point together */
};

struct bayes {
	struct bayes_opts o;
	uint32_t n; /* dag->n */
	uint32_t *order;
	double *prior; /* n */
	uint32_t *class_of;
	uint32_t *skipped; /* 0: no; else 1 + alike */
	uint32_t n_skipped;
	struct class *class;
	uint32_t n_classes;
	size_t class_room;

	uint32_t *slot;  /* n + 1: 1 + index into m */
	uint32_t *alias; /* n + 1: the node whose kernel it is; NULL: each its own */
	struct measured **m;
	uint32_t n_m;
	size_t m_room;
	uint32_t boots;
	double run_ss; /* squares within boots, on run_df degrees of freedom */
	double run_df;
	double rounding; /* variance that no boot is without */
	struct drift drift;

	bool ready; /* both ends have their boots */
	bool exact; /* no variance so far, or none allowed */
	struct cloud cloud[2];
	double ratio_post[RATIOS];
	struct bayes_levels at; /* posterior means */
	double none;            /* posterior of no culprit */
	double ess, ess_least;  /* effective share of the points; below that they are redrawn */

	bool step_known;
	struct bayes_step step;
};

static inline struct measured *bayes_measured(const struct bayes *b, uint32_t node)
{
	return b->slot[node] ? b->m[b->slot[node] - 1] : NULL;
}

/* pick_bayes_cloud.c */
#define LUCK_MEAN 0.5
#define OUTLIER 0.02 /* how often a boot is one, and how wide those are, in σ */
#define OUTLIER_SCALE 3.5
extern const double bayes_ratios[RATIOS];
/* Prior of each ratio. */
double bayes_ratio_prior(int i);
/* Quantile of Student's t on 4 degrees of freedom. */
double bayes_deviate(double u);
/* Forget the likelihoods, and take in all boots. */
void bayes_cloud_take_all(struct bayes *b);
/* Variance of a boot's noise where that of a boot with the usual runs is @var. */
double bayes_boot_variance(const struct bayes *b, const struct boot *boot, double var);
static inline bool bayes_is_learning_luck(const struct bayes *b)
{
	return b->o.build_sd < 0;
}
void bayes_cloud_init(struct bayes *b);
void bayes_cloud_release(struct bayes *b);
/* Take in the last boot of @build. */
void bayes_cloud_boot(struct bayes *b, struct measured *m, struct build *build);
void bayes_build_init(const struct bayes *b, struct build *build);
void bayes_measured_init(const struct bayes *b, struct measured *m);

/* pick_bayes_draw.c: draw the points anew around what is known, and take in all boots again. */
void bayes_cloud_redraw(struct bayes *b);
/* Median of the boots of an end's first build. */
double bayes_end_median(const struct bayes *b, uint32_t node);

/* pick_bayes.c */
struct build *bayes_build_get(struct bayes *b, struct measured *m, uint32_t layout);
void bayes_build_release(const struct build *u);
/* After priors or boots were changed by other ways than a new boot. */
void bayes_refresh(struct bayes *b);

/* pick_bayes_power.c: bayes_power(); the ends' builds have luck of deviation @luck. */
bool bayes_power_of_ends(const struct bayes *b, double alpha, double luck, struct bayes_power *p);

/*
 * pick_bayes_drift.c: estimate drift from all boots; true: their values changed, take them in again.
 */
bool bayes_drift_correct(struct bayes *b);
/* Were the ends left alone for so long that drift would go unseen? @node: the one to boot. */
bool bayes_drift_wants_end(const struct bayes *b, uint32_t *node);

/* pick_bayes_ends.c: is it the ends that need boots, or end it all? False: go on. */
bool bayes_decide_by_ends(const struct bayes *b, struct bayes_step *s);
/* What is said where the search gives up. */
enum bayes_status bayes_unsure(const struct bayes *b);
unsigned bayes_end_boots(const struct bayes *b);
/* Boot the end that has fewer, the old one first. */
void bayes_boot_end(const struct bayes *b, struct bayes_step *s, enum bayes_why why);
void bayes_boot_one(const struct bayes *b, struct bayes_step *s, uint32_t node, enum bayes_why why);
void bayes_stop(struct bayes_step *s, enum bayes_status status, enum bayes_why why);
/* Expected seconds of one boot. */
double bayes_price_of(const struct bayes *b, uint32_t node, bool build);
/* "No culprit" at least so likely: the ends are booted, not searched between. */
#ifndef ENDS_APART
#define ENDS_APART 0.33
#endif

/* What all builds and boots of the kernel of @node are stored under. */
static inline uint32_t bayes_alias(const struct bayes *b, uint32_t node)
{
	return b->alias ? b->alias[node] : node;
}

/* pick_bayes_report.c: the posterior that a claim at @confidence needs. */
double bayes_claim(const struct bayes *b, double confidence);

/*
 * pick_bayes_posterior.c: all that follows from the likelihoods. With @all also the classes that were
 * negligible before.
 */
void bayes_update(struct bayes *b, bool all);

/* pick_bayes_outlook.c */
#define SAMPLES 256 /* culprits drawn, for the states of all commits at once */
#define WORDS (SAMPLES / 64)

struct mask {
	uint64_t word[WORDS];
};

/* Culprits drawn from the posterior; of[x]: those that put commit x in the new state. */
struct draws {
	struct mask *of;
	struct mask *by_class; /* those of each class */
};

void bayes_draws_release(struct draws *d);
/* Culprits at even steps of the cumulated posterior; then what each commit inherits. */
void bayes_draw(const struct bayes *b, struct draws *t);
/* Share of the draws that put @x in the new state. */
double bayes_draws_share(const struct draws *t, uint32_t x);

double bayes_entropy(double p);
/* Bits that one boot tells of the culprit: the @m-th measured commit's build @u, or a new one (NULL). */
double bayes_bits_of_measured(const struct bayes *b, uint32_t m, const struct build *u);
/* A fresh build of @x, not measured yet. */
double bayes_bits_of_other(const struct bayes *b, const struct draws *t, uint32_t x);
/* A fresh commit with even odds, levels known: the most that a boot can tell. */
double bayes_nominal_bits(const struct bayes *b);

#endif
