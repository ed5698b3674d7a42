/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel stacks of threads that were looked at: "asleep in synchronize_rcu under …". */
#ifndef KR_CORE_SLEEPERS_H
#define KR_CORE_SLEEPERS_H

#include <stddef.h>

#include "core/shares.h"

/* Of one boot. A place is "IN\nUNDER"; "IN\n" where nothing is known of the caller. */
struct sleepers {
	struct shares places;
	struct sleepers_stack { /* whole stacks, innermost first, functions parted by ';' */
		char *place, *frames;
		uint64_t looks;
	} * v;
	size_t n, room;
};
#define SLEEPERS_MAX 4096
void sleepers_release(struct sleepers *s);

/*
 * What the agent counted (untrusted, qemu/README.md): "looks N …", then "COUNT STATE
 * FUNC;FUNC…" lines. Threads that run are at the place "[running]"; ended ones are left out, as
 * are lines that are none. A stopped or sleeping thread without a stack is at "[asleep]".
 */
void sleepers_read(const char *text, size_t n, struct sleepers *out);

/*
 * The function that a person would say a thread waits in, and its caller: of @frames the first
 * that is not the inside of a lock, of a completion or of the scheduler. Into @place as above.
 */
struct str;
void sleepers_place(const char *frames, struct str *place);

/* The commonest whole stack at @place; NULL: none. Borrowed. */
const char *sleepers_common(const struct sleepers *boots, size_t n, const char *place);

#endif
