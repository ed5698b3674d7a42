/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a regex (first line) and as the output of a workload (the rest). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/replay.h"

#include "base/str.h"
#include "core/metric.h"

#define MUST(what)                                                     \
	do {                                                           \
		if (!(what)) {                                         \
			fprintf(stderr, "does not hold: %s\n", #what); \
			abort();                                       \
		}                                                      \
	} while (0)

/* Both searches agree, and what they give is finite and within the declared range. */
static void check(const struct metric *m, const char *text, size_t n)
{
	_cleanup_free_ double *values = NULL;
	double last = 0;
	size_t count = 0;
	enum metric_find all = metric_find_all(m, text, n, &values, &count);
	enum metric_find one = metric_find_last(m, text, n, &last);

	MUST((all == METRIC_MISSING) == (one == METRIC_MISSING));
	MUST((all == METRIC_BAD_REGEX) == (one == METRIC_BAD_REGEX));
	if (one == METRIC_FOUND)
		MUST(isfinite(last) && last >= m->min && last <= m->max);
	if (all != METRIC_FOUND)
		return;
	MUST(count > 0 && one == METRIC_FOUND && values[count - 1] == last);
	for (size_t i = 0; i < count; i++)
		MUST(isfinite(values[i]) && values[i] >= m->min && values[i] <= m->max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *text = (const char *)data, *newline = n ? memchr(text, '\n', n) : NULL;
	size_t head = newline ? (size_t)(newline - text) : 0;
	_cleanup_free_ char *regex = xstrndup(text, head);
	char name[] = "exit_ms", unit[] = "ms", why[128];
	struct metric m = { .name = name, .unit = unit, .min = -INFINITY, .max = INFINITY };

	check(&m, text, n);
	m.min = -1;
	m.max = 1e6;
	check(&m, text, n);
	m.regex = regex;
	if (metric_check_regex(regex, why, sizeof(why)))
		MUST(metric_find_last(&m, text, n, &m.min) == METRIC_BAD_REGEX);
	else
		check(&m, text + head, n - head);
	return 0;
}
