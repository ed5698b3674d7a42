/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares of looks or samples by name, of two kernels: where the time goes, and what differs. */
#include "core/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define Z_95 1.959963984540054

void shares_release(struct shares *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].name);
	free(s->v);
	*s = (struct shares){ .total = 0 };
}

/* Where @name is, or is to be: sorted. */
static size_t place_of(const struct shares *s, const char *name)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(s->v[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint64_t count_of(const struct shares *s, const char *name)
{
	size_t at = place_of(s, name);

	return at < s->n && str_eq(s->v[at].name, name) ? s->v[at].count : 0;
}

void shares_add(struct shares *s, const char *name, uint64_t count)
{
	size_t at = place_of(s, name);
	struct share *v;

	if (at == s->n || !str_eq(s->v[at].name, name)) {
		if (s->n == SHARES_MAX)
			return;
		xgrow(&s->v, &s->room, s->n + 1, sizeof(*s->v));
		memmove(s->v + at + 1, s->v + at, (s->n - at) * sizeof(*s->v));
		s->v[at] = (struct share){ xstrdup(name), 0 };
		s->n++;
	}
	v = &s->v[at];
	v->count = count < s->total - v->count ? v->count + count : s->total;
}

struct side {
	const struct shares *boot;
	size_t n;
	uint64_t total;
};

/* Mean, spread and count of @name; returns the variance of the mean. */
static double measure(const struct side *s, const char *name, double *mean, double *sd,
		      uint64_t *count)
{
	double p, least, ss = 0, variance, total = (double)s->total;
	size_t n = 0;

	*count = 0;
	for (size_t i = 0; i < s->n; i++)
		*count += count_of(&s->boot[i], name);
	*mean = (double)*count / total;
	for (size_t i = 0; i < s->n; i++) {
		const struct shares *b = &s->boot[i];

		if (!b->total)
			continue;
		p = (double)count_of(b, name) / (double)b->total;
		ss += (p - *mean) * (p - *mean);
		n++;
	}
	*sd = n > 1 ? sqrt(ss / (double)(n - 1)) : 0;
	least = 1 / total;
	p = fmin(fmax(*mean, least), fmax(1 - least, least));
	variance = p * (1 - p) / total;
	return fmax(variance, n ? *sd * *sd / (double)n : 0);
}

static int by_difference(const void *a, const void *b)
{
	const struct share_diff *x = a, *y = b;
	double dx = fabs(x->mean[1] - x->mean[0]), dy = fabs(y->mean[1] - y->mean[0]);

	return dx != dy ? (dx < dy) - (dx > dy) : strcmp(x->name, y->name);
}

/* All names once, sorted; the strings stay the boots'. */
static size_t all_names(const struct side side[2], const char ***out)
{
	struct shares seen = { .total = 0 };
	size_t n;

	for (int i = 0; i < 2; i++)
		for (size_t b = 0; b < side[i].n; b++)
			for (size_t k = 0; k < side[i].boot[b].n; k++)
				shares_add(&seen, side[i].boot[b].v[k].name, 0);
	n = seen.n;
	*out = xcalloc(n, sizeof(**out));
	for (size_t k = 0; k < n; k++)
		for (int i = 0; i < 2 && !(*out)[k]; i++)
			for (size_t b = 0; b < side[i].n && !(*out)[k]; b++) {
				size_t at = place_of(&side[i].boot[b], seen.v[k].name);

				if (at < side[i].boot[b].n &&
				    str_eq(side[i].boot[b].v[at].name, seen.v[k].name))
					(*out)[k] = side[i].boot[b].v[at].name;
			}
	shares_release(&seen);
	return n;
}

size_t shares_compare(const struct shares *const boots[2], const size_t n_boots[2],
		      struct share_diff **out)
{
	struct side side[2];
	_cleanup_free_ const char **name = NULL;
	size_t n;

	*out = NULL;
	for (int i = 0; i < 2; i++) {
		side[i] = (struct side){ boots[i], n_boots[i], 0 };
		for (size_t b = 0; b < n_boots[i]; b++)
			side[i].total += boots[i][b].total;
	}
	if (!side[0].total || !side[1].total)
		return 0;
	n = all_names(side, &name);
	*out = xcalloc(n, sizeof(**out));
	for (size_t k = 0; k < n; k++) {
		struct share_diff *d = &(*out)[k];
		double variance = 0;

		d->name = name[k];
		for (int i = 0; i < 2; i++)
			variance += measure(&side[i], d->name, &d->mean[i], &d->sd[i],
					    &d->count[i]);
		d->error = Z_95 * sqrt(variance);
	}
	if (n)
		qsort(*out, n, sizeof(**out), by_difference);
	return n;
}
