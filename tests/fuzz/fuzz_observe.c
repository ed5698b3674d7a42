/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as files of /proc, stacks and stored counters: names stay fit for a line of a store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/replay.h"

#include "base/str.h"
#include "core/counters.h"
#include "core/sleepers.h"
#include "target/qemu.h"

#define MUST(what)                                                     \
	do {                                                           \
		if (!(what)) {                                         \
			fprintf(stderr, "does not hold: %s\n", #what); \
			abort();                                       \
		}                                                      \
	} while (0)

static const char *const files[] = { "vmstat",  "pagetypeinfo", "zoneinfo",   "buddyinfo",
				     "meminfo", "softirqs",     "interrupts", "pressure/cpu" };

/* What was read is written and read back as the same. */
static void check_counters(struct counters *c)
{
	_cleanup_str_ struct str first = STR_INIT, second = STR_INIT;
	struct counters again = { .v = NULL };

	counters_sort(c);
	MUST(c->n <= COUNTERS_MAX);
	for (size_t i = 0; i < c->n; i++) {
		MUST(isfinite(c->v[i].value));
		MUST(c->v[i].name[0] && strlen(c->v[i].name) <= COUNTERS_NAME_MAX);
		MUST(!strpbrk(c->v[i].name, " \n\t<>&\"'\033"));
	}
	counters_write(c, &first);
	counters_read(str_text(&first), first.len, &again);
	counters_write(&again, &second);
	MUST(!strcmp(str_text(&first), str_text(&second)));
	counters_release(&again);
}

static void check_stacks(const char *data, size_t n)
{
	struct sleepers s = { .n = 0 };

	sleepers_read(data, n, &s);
	for (size_t i = 0; i < s.places.n; i++) {
		MUST(s.places.v[i].count <= s.places.total);
		MUST(strchr(s.places.v[i].name, '\n') != NULL);
	}
	sleepers_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	_cleanup_free_ char *text = xcalloc(n + 1, 1);
	struct counters snapshot = { .v = NULL }, boot = { .v = NULL }, stored = { .v = NULL };
	uint64_t pc[8];

	if (n < 1)
		return 0;
	memcpy(text, data + 1, n - 1);
	counters_parse(files[data[0] % ARRAY_SIZE(files)], text, n - 1, &snapshot);
	check_counters(&snapshot);
	counters_boot(&snapshot, &snapshot, &snapshot, &boot);
	check_counters(&boot);
	counters_read(text, n - 1, &stored);
	check_counters(&stored);
	check_stacks(text, n - 1);
	MUST(qmp_read_counters(text, pc, 8) <= 8);
	counters_release(&snapshot);
	counters_release(&boot);
	counters_release(&stored);
	return 0;
}
