/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small histories for the tests of search = bayes. */
#ifndef KR_TESTS_UNIT_BAYES_FIXTURE_H
#define KR_TESTS_UNIT_BAYES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "base/str.h"
#include "core/pick_bayes.h"

static inline void assert_near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g", got, want);
}

/* @parents: two per commit, DAG_NONE: none. */
static inline void make_dag(struct dag *d, uint32_t n, const uint32_t (*parents)[2])
{
	*d = (struct dag)DAG_INIT;
	for (uint32_t x = 0; x < n; x++) {
		struct commit_id id = { .raw = { (uint8_t)(x >> 16), (uint8_t)(x >> 8),
						 (uint8_t)x } };

		dag_add(d, &id, 1000 + x);
		for (int k = 0; k < 2; k++)
			if (parents && parents[x][k] != DAG_NONE)
				dag_parent(d, x, parents[x][k]);
		if (!parents && x)
			dag_parent(d, x, x - 1);
	}
	dag_finish(d);
	d->tip = n - 1;
}

static inline struct bayes *on_line(struct dag *d, uint32_t n, struct bayes_opts o)
{
	make_dag(d, n, NULL);
	o.dag = d;
	return bayes_new(&o);
}

static inline double sum_of_shares(const struct bayes *b, uint32_t n)
{
	double sum = bayes_no_culprit(b);

	for (uint32_t x = 0; x < n; x++)
		sum += bayes_share(b, x);
	return sum;
}

#endif
