/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which counters moved beyond their own boot-to-boot spread. */
#include "core/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/stats.h"

#define ROUNDING_VARIANCE (1.0 / 12)

static int by_name(const void *a, const void *b)
{
	const struct counter *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (int)x->level - (int)y->level;
}

void counters_sort(struct counters *c)
{
	size_t kept = 0;

	if (!c->n)
		return;
	qsort(c->v, c->n, sizeof(*c->v), by_name);
	for (size_t i = 1; i < c->n; i++) {
		if (by_name(&c->v[i], &c->v[kept]) == 0)
			free(c->v[i].name);
		else
			c->v[++kept] = c->v[i];
	}
	c->n = kept + 1;
}

static const struct counter *find(const struct counters *c, const char *name, bool level)
{
	struct counter key = { .level = level };

	/* bsearch() does not write to it. */
	memcpy(&key.name, &name, sizeof(key.name));
	return c->n ? bsearch(&key, c->v, c->n, sizeof(*c->v), by_name) : NULL;
}

/* Does it go up and down? Else it only ever grows. */
static bool is_level(const char *name)
{
	static const char *const growing[] = {
		"nr_dirtied",
		"nr_written",
		"nr_throttled_written",
		"nr_vmscan_write",
		"nr_vmscan_immediate_reclaim",
		"nr_foll_pin_acquired",
		"nr_foll_pin_released",
	};
	const char *last = strrchr(name, '/');

	last = last ? last + 1 : name;
	for (size_t i = 0; i < ARRAY_SIZE(growing); i++)
		if (str_eq(last, growing[i]))
			return false;
	if (str_starts(name, "vmstat/"))
		return str_starts(last, "nr_");
	if (str_starts(name, "zoneinfo/"))
		return !str_starts(last, "numa_") && !str_starts(last, "workingset_");
	return str_starts(name, "meminfo/") || str_starts(name, "buddyinfo/") ||
	       str_starts(name, "pagetypeinfo/");
}

static void append(struct counters *c, bool level, const char *name, double value)
{
	xgrow(&c->v, &c->room, c->n + 1, sizeof(*c->v));
	c->v[c->n++] = (struct counter){ xstrdup(name), level, value };
}

void counters_boot(const struct counters *before, const struct counters *during,
		   const struct counters *after, struct counters *out)
{
	for (size_t i = 0; i < before->n; i++) {
		const char *name = before->v[i].name;
		const struct counter *last = find(after, name, false);
		const struct counter *level = is_level(name) ? find(during, name, false) : NULL;

		if (last)
			append(out, false, name, last->value - before->v[i].value);
		if (level)
			append(out, true, name, level->value);
	}
	counters_sort(out);
}

/* ---- comparing ----------------------------------------------------------------------------- */

/* Values of one counter in all boots of a group into @v (room for them). False: not in all. */
static bool values_of(const struct counters_group *g, const char *name, bool level, double *v)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct counter *c = find(&g->boot[i], name, level);

		if (!c)
			return false;
		v[i] = c->value;
	}
	return true;
}

static bool all_equal(const double *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i] != v[0])
			return false;
	return true;
}

static void judge(struct counters_moved *m, const struct counters_group *group,
		  const struct stats_pool *pool)
{
	double variance, error;

	m->t = m->p = m->q = NAN;
	if (!pool->df)
		return;
	variance = fmax(pool->ss / (double)pool->df, ROUNDING_VARIANCE);
	error = sqrt(variance * (1 / (double)group[0].n + 1 / (double)group[1].n));
	m->t = (m->mean[1] - m->mean[0]) / error;
	m->p = 2 * stats_t_cdf(-fabs(m->t), (double)pool->df);
}

/* 1: @m is filled, 0: it is the same in all boots, -1: it is not in all of them. */
static int compare_one(const struct counters_group *group, size_t n_groups, double *v,
		       struct counters_moved *m)
{
	struct stats_pool pool = { .ss = 0 };
	size_t both = group[0].n + group[1].n;

	if (!values_of(&group[0], m->name, m->level, v) ||
	    !values_of(&group[1], m->name, m->level, v + group[0].n))
		return -1;
	if (all_equal(v, both))
		return 0;
	for (int i = 0; i < 2; i++) {
		const double *mine = i ? v + group[0].n : v;
		size_t n = group[i].n;

		m->mean[i] = stats_mean(mine, n);
		m->sd[i] = n > 1 ? sqrt(stats_sum_squares(mine, n) / (double)(n - 1)) : 0;
		stats_pool_add(&pool, mine, n);
	}
	for (size_t i = 2; i < n_groups; i++)
		if (values_of(&group[i], m->name, m->level, v))
			stats_pool_add(&pool, v, group[i].n);
	judge(m, group, &pool);
	return 1;
}

static double share_of_change(const struct counters_moved *m)
{
	return fabs(m->mean[1] - m->mean[0]) / (fabs(m->mean[0]) + fabs(m->mean[1]) + 1);
}

static int compare_doubles(double x, double y)
{
	return (x < y) - (x > y);
}

static int by_move(const void *a, const void *b)
{
	const struct counters_moved *x = a, *y = b;
	int order = isnan(x->t) ? 0 : compare_doubles(fabs(x->t), fabs(y->t));

	if (!order)
		order = compare_doubles(share_of_change(x), share_of_change(y));
	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (int)x->level - (int)y->level;
}

static int by_p(const void *a, const void *b)
{
	const struct counters_moved *const *x = a, *const *y = b;

	return -compare_doubles((*x)->p, (*y)->p);
}

/* Benjamini and Hochberg: q of the i-th of n in order of p is the least p·n/j of all j ≥ i. */
static void adjust(struct counters_moved *m, size_t n)
{
	_cleanup_free_ struct counters_moved **order = xcalloc(n, sizeof(void *));
	double least = 1;

	for (size_t i = 0; i < n; i++) {
		order[i] = &m[i];
		if (isnan(m[i].p))
			return;
	}
	qsort(order, n, sizeof(void *), by_p);
	for (size_t i = n; i-- > 0;) {
		least = fmin(least, order[i]->p * (double)n / (double)(i + 1));
		order[i]->q = least;
	}
}

size_t counters_compare(const struct counters_group *group, size_t n_groups, size_t *compared,
			struct counters_moved **out)
{
	_cleanup_free_ double *v = NULL;
	size_t most = group[0].n + group[1].n, n = 0, room = 0;
	struct counters_moved *moved = NULL;

	*compared = 0;
	*out = NULL;
	if (!group[0].n || !group[1].n)
		return 0;
	for (size_t i = 2; i < n_groups; i++)
		most = group[i].n > most ? group[i].n : most;
	v = xcalloc(most, sizeof(*v));
	for (size_t i = 0; i < group[0].boot[0].n; i++) {
		const struct counter *c = &group[0].boot[0].v[i];
		struct counters_moved m = { .name = c->name, .level = c->level };
		int ret = compare_one(group, n_groups, v, &m);

		*compared += ret >= 0;
		if (ret <= 0)
			continue;
		xgrow(&moved, &room, n + 1, sizeof(*moved));
		moved[n++] = m;
	}
	if (n) {
		adjust(moved, n);
		qsort(moved, n, sizeof(*moved), by_move);
	}
	*out = moved;
	return n;
}
