/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time. */
#include "base/clock.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

double clock_mono_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int64_t clock_mono_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_real_s(void)
{
	return (int64_t)time(NULL);
}

const char *clock_format(int64_t real_s, char *buf, int size)
{
	time_t t = (time_t)real_s;
	struct tm tm;

	if (size <= 0)
		return "";
	buf[0] = '\0';
	if (gmtime_r(&t, &tm))
		strftime(buf, (size_t)size, "%Y-%m-%d %H:%M:%S +0000", &tm);
	return buf;
}

int64_t clock_deadline(int64_t ms)
{
	int64_t now = clock_mono_ms();

	if (ms < 0 || ms > INT64_MAX - now)
		return INT64_MAX;
	return now + ms;
}

int clock_left_ms(int64_t deadline)
{
	int64_t left;

	if (deadline == INT64_MAX)
		return -1;
	left = deadline - clock_mono_ms();
	if (left <= 0)
		return 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}
