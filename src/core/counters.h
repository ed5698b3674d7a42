/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of /proc: snapshots to numbers, and which of them moved beyond their own spread. */
#ifndef KR_CORE_COUNTERS_H
#define KR_CORE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

#define COUNTERS_MAX 32768    /* of one boot; more are left out */
#define COUNTERS_NAME_MAX 120 /* bytes; longer ones are left out */

/* Numbers by name. Names are unique and sorted once read with counters_sort(). */
struct counters {
	struct counter {
		char *name;
		bool level; /* a level; else a change */
		double value;
	} * v;
	size_t n, room;
};
void counters_release(struct counters *c);

/*
 * Append what @text, the contents of /proc/@file, says (untrusted): "vmstat/pgfault",
 * "meminfo/MemFree", "buddyinfo/node0/DMA32/order3", "pagetypeinfo/node0/DMA/Movable/order3",
 * "zoneinfo/node0/Normal/nr_free_pages", "softirqs/RCU" and "interrupts/LOC" (over all CPUs),
 * "pressure/memory/some" (µs). Lines that are none of it are left out, also the values of one CPU.
 */
void counters_parse(const char *file, const char *text, size_t n, struct counters *out);

/* By name, levels after changes; of those with the same name the first stays. */
void counters_sort(struct counters *c);

/*
 * What one boot tells, from its three sorted snapshots: for each counter that is in the first and
 * the last its change, and for those that go up and down (free pages; not: page faults) also the
 * level @during the run. Appends to @out and sorts it.
 */
void counters_boot(const struct counters *before, const struct counters *during,
		   const struct counters *after, struct counters *out);

/* One line each, "c NAME VALUE" or "l NAME VALUE", and back; lines that are none are left out. */
struct str;
void counters_write(const struct counters *c, struct str *out);
void counters_read(const char *text, size_t n, struct counters *out);

/* Boots of kernels: parent, culprit, and others, which only tell of the spread. */
#define COUNTERS_GROUPS 4
struct counters_group {
	const struct counters *boot;
	size_t n;
};

struct counters_moved {
	const char *name; /* of a boot's */
	bool level;
	double mean[2], sd[2]; /* of groups 0 and 1 */
	double t;              /* (mean[1] − mean[0]) / its standard error */
	double p, q;           /* NAN: no spread is known */
};

/*
 * Counters that are in all boots of the first two groups and are not the same in all of them,
 * those that moved most first: by |t|, then by the share of the change, then by name.
 *
 * t is Student's with the variance within groups, pooled over all groups (Snedecor & Cochran,
 * Statistical Methods, 8th ed., 6.8 and 12.3), but at least 1/12: a count is rounded to one, and
 * a uniform error of that width has this variance (W. F. Sheppard, Proc. London Math. Soc. 29,
 * 1898), so that boots that agree exactly do not make any difference infinitely sure. q is p
 * adjusted for the number of counters by Y. Benjamini and Y. Hochberg, J. R. Statist. Soc. B 57,
 * 1995: among those with q ≤ x about a share of x is false. It holds for counters that move
 * together, as these do (Benjamini and Yekutieli, Ann. Statist. 29, 2001). Those that never vary
 * are left out before, which does not bias it (Bourgon et al., PNAS 107, 2010).
 *
 * Without two boots in any group t, p and q are NAN, and the share of the change alone ranks.
 * @compared: how many there were, also those that never vary. The caller frees *@out.
 */
size_t counters_compare(const struct counters_group *group, size_t n_groups, size_t *compared,
			struct counters_moved **out);

#endif
