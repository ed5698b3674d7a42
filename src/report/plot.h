/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk as a picture: every sample over the commits in the order of history. */
#ifndef KR_REPORT_PLOT_H
#define KR_REPORT_PLOT_H

#include "report/record.h"

/* Look of the parts of an SVG, light and dark; for a style element. Static. */
const char *plot_style(void);

/*
 * The samples, boots side by side within a commit, with both levels and the threshold. Search
 * and confirmation are told apart by shape as well as colour; a failed boot is a cross.
 * @alone: a whole SVG file, else part of a page with plot_style(). Without a measured commit
 * nothing.
 */
void plot_walk(const struct report *r, const struct record *d, bool alone, FILE *out);
/* Whether plot_walk() draws anything. */
bool plot_has_walk(const struct record *d);

/* The posterior over the positions of the range; nothing without one. */
void plot_shares(const struct report *r, const struct record *d, bool alone, FILE *out);

/*
 * The same as a gnuplot script that writes @png (a file name beside it): numbers and digits of
 * commits only, and titles as literal text.
 */
void plot_gnuplot(const struct report *r, const struct record *d, const char *png, FILE *out);

/*
 * Write walk.svg, walk.gnuplot and, by gnuplot (at most a minute), walk.png into folder @dir,
 * made if missing; posterior.svg where there is one. 0; 1: all but the PNG, @why says why not;
 * -1.
 */
int plot_files(const struct report *r, const struct record *d, const char *dir, char *why,
	       size_t why_size, struct err *e);

/* What is drawn: shared by the forms. Both levels of the plot in the order of history. */
struct plot_levels {
	bool known[2];
	struct stats_interval level[2]; /* old, new */
};
void plot_levels(const struct report *r, const struct record *d, struct plot_levels *out);
/* "good" (0), "bad" (1), or neither (2): how the commit's points look. */
int plot_class(const struct record_commit *c);

#endif
