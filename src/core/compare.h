/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels measured side by side: the order of their boots, and what their values say. */
#ifndef KR_CORE_COMPARE_H
#define KR_CORE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The order of one round, in which each of @setups × @kernels cells is booted once: cell =
 * setup × kernels + kernel, into @out. The kernels of a setup follow each other, so that what is
 * compared lies close together in time. Even rounds go forward, each odd one is the one before it
 * backwards (A B C, C B A), so that over each two rounds all kernels of a setup have the same mean
 * place and a linear drift cancels (Cox, Planning of Experiments, 1958, 14.2); and each pair begins
 * with another kernel and another setup.
 */
void compare_order(size_t setups, size_t kernels, size_t round, size_t *out);

/* One group of boots in a sum: @coef × the mean of its values. Borrowed. */
struct compare_term {
	const double *v;
	size_t n;
	double coef;
};

/* Σ coef·mean with its interval and its test against 0. */
struct compare_contrast {
	double estimate, low, high; /* ±∞ where the spread of a group is not known (n < 2) */
	double df;                  /* 0: not known, or nothing varies */
	double p;                   /* two-sided; NAN: not known */
};

/*
 * Each group has a variance of its own: v = Σ coef²·s²/n with df = v² / Σ (coef²·s²/n)²/(n − 1)
 * (Welch 1947; Satterthwaite 1946). Two terms, +1 and −1, are Welch's test; one is the interval of a
 * mean. Nothing varies at all: a point, and p is 0 or 1. A group without values: all is NAN.
 */
void compare_contrast(const struct compare_term *term, size_t n, double alpha,
		      struct compare_contrast *out);

/* Values of one kernel and of the reference at one point. Borrowed. */
struct compare_pair {
	const double *v, *ref;
	size_t n, n_ref;
};

/*
 * The mean over @n points of (mean − reference mean) / |reference mean|: a share, not percent. The interval is that
 * of the ratio's linear part (delta method), so the reference's own spread is in it; p is that of the
 * same sum with the reference as scale, Σ (mean − reference mean)/reference mean against 0, which for
 * one point is Welch's test. NAN where a reference mean is 0 or a group is empty.
 */
void compare_change(const struct compare_pair *pair, size_t n, double alpha,
		    struct compare_contrast *out);

/*
 * p values corrected for their number (Holm 1979), in place. NAN is none and does not count. Returns
 * how many there are.
 */
size_t compare_holm(double *p, size_t n);

/*
 * The value that is too far from the others to be of their kind: Grubbs' two-sided test of one
 * outlier at @alpha (Technometrics 11, 1969), and farther than @least × |median| from the median.
 * Its index; @n: none. Fewer than three values tell nothing.
 */
size_t compare_outlier(const double *v, size_t n, double alpha, double least);

#endif
