/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of a comparison: kernels, setups, boots, numbers. */
#ifndef KR_CAMPAIGN_COMPARE_INTERNAL_H
#define KR_CAMPAIGN_COMPARE_INTERNAL_H

#include "campaign/compare.h"

/* A kernel as the user names it, and the commit that it is. */
struct compare_kernel {
	const char *word; /* borrowed */
	struct commit_id base, id;
	struct strv reverted; /* 40 hex digits each */
	struct strv patches;  /* paths */
	char *subject;        /* of base, untrusted */
	bool failed;          /* it cannot be built */
	char *detail;         /* why not, untrusted */
};

/* One variant at one value of the sweep: the campaign as it is then. */
struct compare_setup {
	size_t variant, point;
	struct config cfg; /* the session's, but for: */
	char *args, *append;
	struct strv command, words;
	struct workload_setting *settings; /* the workload's and the variant's; texts borrowed */
	size_t n_settings;
	struct strv texts;        /* of the variant's */
	struct strv labels;       /* of session */
	char hash[HASH_HEX_SIZE]; /* session's setup */
};

/* One stored boot. */
struct compare_boot {
	int64_t trial;
	enum trial_outcome outcome;
	double value; /* median of its runs; with TRIAL_OK */
	char *detail; /* untrusted */
};

/* A kernel with a setup. */
struct compare_cell {
	char setup[HASH_HEX_SIZE]; /* of its trials */
	struct compare_boot *boot; /* in the order of the log */
	size_t n, room;
	bool untestable; /* that is what it says of itself: no more boots */
};

struct comparison {
	struct session *s;
	struct compare_kernel *kernel;
	size_t n_kernels;
	struct compare_setup *setup; /* variant × points + point */
	size_t n_setups, n_variants, n_points;
	struct compare_cell *cell; /* setup × kernels + kernel */
	size_t n_cells;
	/* what the session has without a setup applied */
	const struct config *cfg;
	struct workload_setting *settings;
	size_t n_settings;
	char hash[HASH_HEX_SIZE];
	size_t applied;    /* SIZE_MAX: none */
	unsigned measured; /* boots of this call */
};

/* The kernels of the command line, their commits made where there are none. */
int compare_kernels(struct comparison *c, char *const *words, size_t n, struct err *e);

/* Variants × values of the sweep. */
int compare_setups(struct comparison *c, struct err *e);
/* The session measures with setup @i from now on; compare_restore() ends that. */
void compare_apply(struct comparison *c, size_t i);
void compare_restore(struct comparison *c);
/*
 * @words with @value for the argument @name, appended to @out: instead of {name}, wherever it
 * stands in a word; else after --name; else "--name value" at the end.
 */
void compare_place(const struct strv *words, const char *name, const char *value, struct strv *out);

/* The same for cell @i, and what rows and commands are told of its boots. */
void compare_use(struct comparison *c, size_t i);

/* -1 with ERR_CONFIG: not on this target, or of nothing. */
int compare_can_profile(const struct comparison *c, struct err *e);
/* Boots for a profile of each kernel where it has none, and how they differ, into @out. */
int compare_profile(struct comparison *c, struct report_compare *out, struct err *e);

/* All numbers of the report. */
int compare_judge(struct comparison *c, struct report_compare *out, struct err *e);

#endif
