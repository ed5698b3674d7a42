/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time: monotonic for durations, wall clock for records. */
#ifndef KR_BASE_CLOCK_H
#define KR_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds of CLOCK_MONOTONIC. */
int64_t clock_mono_ms(void);
/* Seconds of CLOCK_MONOTONIC with its full resolution. */
double clock_mono_s(void);
/* Seconds since the epoch. */
int64_t clock_real_s(void);

/* "2026-11-30 13:56:10 +0000" (UTC) from seconds since the epoch, into @buf. Returns @buf. */
const char *clock_format(int64_t real_s, char *buf, int size);

/* A deadline @ms from now as an absolute clock_mono_ms() value; @ms < 0: never (INT64_MAX). */
int64_t clock_deadline(int64_t ms);
/* Milliseconds left until @deadline for poll(): 0 when passed, -1 for "never"; at most INT_MAX. */
int clock_left_ms(int64_t deadline);

#endif
