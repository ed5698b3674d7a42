/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the workloads share: strict option values, the metric line, the clock, small files. */
#ifndef WORKLOAD_COMMON_H
#define WORKLOAD_COMMON_H

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Exit status of every workload: measured, could not measure, wrong command line. */
enum wl_exit { WL_OK = 0, WL_FAILED = 1, WL_USAGE = 2 };

/* Name of the program for messages; each workload defines it. */
extern const char wl_name[];

static inline void __attribute__((format(printf, 2, 0)))
wl_vsay(const char *what, const char *fmt, va_list ap)
{
	fprintf(stderr, "%s: %s", wl_name, what);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

/* Say on stderr something that does not end the run. */
static inline void __attribute__((format(printf, 1, 2))) wl_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	wl_vsay("note: ", fmt, ap);
	va_end(ap);
}

/* Say on stderr why nothing was measured, and the remedy. Returns WL_FAILED. */
static inline int __attribute__((format(printf, 1, 2))) wl_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	wl_vsay("", fmt, ap);
	va_end(ap);
	return WL_FAILED;
}

/* End with WL_USAGE after saying what is wrong with the command line. */
static inline void __attribute__((format(printf, 1, 2), noreturn)) wl_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	wl_vsay("", fmt, ap);
	va_end(ap);
	fprintf(stderr, "Try '%s --help'\n", wl_name);
	exit(WL_USAGE);
}

/* CLOCK_MONOTONIC in nanoseconds. */
static inline int64_t wl_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Print one metric line. @value must be finite: a workload without a value fails instead. */
static inline void wl_metric(const char *name, double value, const char *unit)
{
	printf("kregress: metric %s %.6f %s\n", name, value, unit);
}

/* Print one metric line of a count. */
static inline void wl_metric_count(const char *name, uint64_t value, const char *unit)
{
	printf("kregress: metric %s %llu %s\n", name, (unsigned long long)value, unit);
}

/* Flush stdout. Returns WL_OK, or WL_FAILED when the results could not be written. */
static inline int wl_finish(void)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return wl_fail("cannot write the results to standard output: %s", strerror(errno));
	return WL_OK;
}

/*
 * Parse the decimal number that is all of @text, between @min and @max; ends with WL_USAGE and
 * the name of the option otherwise.
 */
static inline uint64_t wl_number(const char *option, const char *text, uint64_t min, uint64_t max)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || v < min || v > max)
		wl_usage("bad value '%s' for %s: a whole number from %llu to %llu is wanted", text,
			 option, (unsigned long long)min, (unsigned long long)max);
	return v;
}

/* Power of two of a size suffix: k, M, G (any case), nothing; -1 for anything else. */
static inline int wl_size_shift(const char *suffix)
{
	if (!*suffix)
		return 0;
	if (suffix[1])
		return -1;
	switch (tolower((unsigned char)*suffix)) {
	case 'k':
		return 10;
	case 'm':
		return 20;
	case 'g':
		return 30;
	default:
		return -1;
	}
}

/* Parse a size in bytes, with k, M or G (powers of 1024), from @min to @max bytes. */
static inline uint64_t wl_size(const char *option, const char *text, uint64_t min, uint64_t max)
{
	unsigned long long v;
	char *end;
	int shift;

	errno = 0;
	v = strtoull(text, &end, 10);
	shift = wl_size_shift(end);
	if (!isdigit((unsigned char)text[0]) || errno || shift < 0)
		wl_usage("bad size '%s' for %s: bytes, or a number with k, M or G are wanted", text,
			 option);
	if (v > (UINT64_MAX >> shift) || v << shift < min || v << shift > max)
		wl_usage("bad size '%s' for %s: from %llu to %llu bytes are possible", text, option,
			 (unsigned long long)min, (unsigned long long)max);
	return v << shift;
}

/* Parse a positive number of seconds, fractions allowed, up to @max; the answer is nanoseconds. */
static inline int64_t wl_seconds_ns(const char *option, const char *text, double max)
{
	char *end;
	double v = strtod(text, &end);

	/* strtod also takes spaces, signs, hexadecimals, inf and nan: not a number of seconds here */
	if (strspn(text, "0123456789.") != strlen(text) || end == text || *end || v > max ||
	    v * 1e9 < 1)
		wl_usage("bad value '%s' for %s: seconds up to %g, such as 10 or 0.5, are wanted",
			 text, option, max);
	return (int64_t)(v * 1e9 + 0.5);
}

/* Parse a word of the list @words (NULL at its end); the answer is its index. */
static inline int wl_choice(const char *option, const char *text, const char *const *words)
{
	char list[128] = "";
	size_t used = 0;

	for (int i = 0; words[i]; i++) {
		if (!strcmp(text, words[i]))
			return i;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 words[i]);
		if (used >= sizeof(list))
			used = sizeof(list) - 1;
	}
	wl_usage("bad value '%s' for %s: one of %s is wanted", text, option, list);
}

/* Explain a failed getopt_long(): @c is its answer (':' or '?'), called with opterr = 0. */
static inline void __attribute__((noreturn)) wl_bad_option(int c, char *const *argv)
{
	const char *word = argv[optind - 1];

	if (c == ':')
		wl_usage("option '%s' needs a value", word);
	if (optopt && word[0] == '-' && word[1] != '-')
		wl_usage("unknown option '-%c'", optopt);
	wl_usage("unknown or ambiguous option '%s'", word);
}

/* Read a file that holds one number. Returns 0, or -1 with errno. */
static inline int wl_read_number(const char *path, uint64_t *value)
{
	char buf[32], *end;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0) {
		errno = n ? errno : EIO;
		return -1;
	}
	buf[n] = 0;
	errno = 0;
	*value = strtoull(buf, &end, 10);
	if (end == buf)
		errno = EINVAL;
	return errno ? -1 : 0;
}

/* Write a number to a file of /proc or /sys. Returns 0, or -1 with errno. */
static inline int wl_write_number(const char *path, uint64_t value)
{
	char buf[32];
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int len = snprintf(buf, sizeof(buf), "%llu\n", (unsigned long long)value);
	int saved;
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, buf, (size_t)len);
	saved = errno;
	close(fd);
	errno = n < 0 ? saved : EIO;
	return n == len ? 0 : -1;
}

#endif
