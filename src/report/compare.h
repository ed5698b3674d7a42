/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels side by side: what was measured of each, against the reference. */
#ifndef KR_REPORT_COMPARE_H
#define KR_REPORT_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/commit.h"
#include "core/compare.h"
#include "core/metric.h"
#include "core/trial.h"
#include "report/evidence.h"

/* Owned strings; what comes from outside is neutralised when it is shown. */
struct compare_report_kernel {
	char *word;                    /* as it was asked for */
	struct commit_id id;           /* what was measured */
	struct commit_id base;         /* the revision; differs where something was made on it */
	struct strv reverted, patches; /* 40 hex digits; paths */
	char *subject;                 /* of base */
	char *failed;                  /* it cannot be built: why; NULL */
};

struct compare_report_variant {
	char *name, *settings; /* "" and "": there are no variants */
};

struct compare_report_boot {
	int64_t trial;
	enum trial_outcome outcome;
	double value; /* median of its runs; with TRIAL_OK */
	char *detail;
};

/* One kernel with one variant at one value of the sweep. */
struct compare_report_cell {
	size_t kernel, variant, point;
	struct compare_report_boot *boot;
	size_t n_boots;
	unsigned n;              /* boots with a value */
	double median, min, max; /* of these; NAN: none */
	struct compare_contrast mean;
	size_t reference; /* the cell that it is compared with; itself: it is a reference */
	struct compare_contrast change; /* a share; p of Welch's test; NAN without one */
	double p_corrected;
	bool significant;
	bool apart; /* its boots and the reference's lie one after the other, not interleaved */
};

/* The same averaged over some values of the sweep. */
struct compare_report_average {
	size_t kernel, variant;
	bool is_reference;
	struct compare_contrast mean, change;
	double p_corrected;
	bool significant;
};

/* A boot that is far from the others of its cell; it is in all numbers. */
struct compare_report_outlier {
	size_t cell, boot; /* boot: in the cell, from 0 */
	double others;     /* mean of the others */
	double change;     /* of the cell against its reference without it; NAN: none */
};

struct compare_report_profile {
	size_t kernel, variant; /* against the reference kernel with it */
	struct report_evidence evidence;
};

struct report_compare {
	char *name, *metric, *unit;
	enum metric_better better;
	double confidence;
	unsigned boots;    /* wanted of each */
	unsigned measured; /* in this call */
	char *state;
	struct compare_report_kernel *kernel;
	size_t n_kernels;
	struct compare_report_variant *variant; /* at least one */
	size_t n_variants;
	char *sweep;                      /* NULL: none */
	struct strv points;               /* its values; one "" without a sweep */
	struct compare_report_cell *cell; /* (variant × points + point) × kernels + kernel */
	size_t n_cells;
	size_t tests;                           /* that p_corrected of the cells accounts for */
	struct compare_report_average *average; /* variant × kernels + kernel */
	size_t n_averages;
	double average_from, average_to;
	size_t average_points; /* values of the sweep in it */
	size_t average_tests;
	struct compare_report_outlier *outlier;
	size_t n_outliers;
	struct compare_report_profile *profile;
	size_t n_profiles;
};
void report_compare_release(struct report_compare *r);

/* Is there a kernel without a value? */
bool report_compare_lacks(const struct report_compare *r);

void report_compare_text(const struct report_compare *r, FILE *out);
void report_compare_json(const struct report_compare *r, FILE *out);

/*
 * Write compare.gnuplot, and by it value.svg, value.png, change.svg and change.png into folder
 * @dir, made if missing: the means over the sweep, and their change against the reference, one line
 * for each kernel and variant, with intervals. 0; 1: all but the pictures, @why says why not; -1.
 */
int report_compare_plots(const struct report_compare *r, const char *dir, char *why,
			 size_t why_size, struct err *e);

/* "v6.14, teo, interval=400": a cell in words. Appends. */
void report_compare_cell_name(const struct report_compare *r, const struct compare_report_cell *c,
			      struct str *out);

#endif
