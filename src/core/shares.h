/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares of looks or samples by name, of two kernels: where the time goes, and what differs. */
#ifndef KR_CORE_SHARES_H
#define KR_CORE_SHARES_H

#include <stddef.h>
#include <stdint.h>

/* Of one boot. */
struct shares {
	uint64_t total; /* looks; counts of several names may be more together, one's is not */
	struct share {
		char *name;
		uint64_t count;
	} * v;
	size_t n, room;
};
#define SHARES_MAX 65536 /* names of one boot; more are left out */
void shares_release(struct shares *s);
/* @count more looks at @name; at most @s->total are counted, which is set before. */
void shares_add(struct shares *s, const char *name, uint64_t count);

struct share_diff {
	const char *name; /* of a boot's */
	double mean[2];   /* 0 … 1 */
	double sd[2];     /* of the boots; 0 with one */
	uint64_t count[2];
	double error; /* ± of mean[1] − mean[0] at 95 % */
};

/*
 * All names of the boots of two kernels, the largest difference first, then by name. The mean
 * is over all looks of a kernel. Its variance is that of a binomial share, p(1 − p)/n, or that
 * which the boots show, sd²/boots, whichever is larger: looks of one boot share its luck. A name
 * never seen in n looks has p below 3/n at 95 % (Hanley and Lippman-Hand, JAMA 249, 1983): the
 * variance is that of at least one look. The error is 1.96·√(sum of both). Frees nothing;
 * the caller frees *@out. 0 where a side has no looks.
 */
size_t shares_compare(const struct shares *const boots[2], const size_t n_boots[2],
		      struct share_diff **out);

#endif
