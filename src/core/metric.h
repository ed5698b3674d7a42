/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in what a workload prints. */
#ifndef KR_CORE_METRIC_H
#define KR_CORE_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum metric_better { METRIC_BETTER_NONE = 0, METRIC_LOWER, METRIC_HIGHER };

/* One [metric NAME] of a workload's INI. */
struct metric {
	char *name; /* [A-Za-z0-9_.-]+ */
	char *unit; /* "" or NULL: not declared, any will do */
	enum metric_better better;
	char *regex; /* POSIX extended with one group, matched line by line; NULL: our own line format */
	double min, max; /* declared range, inclusive; -INFINITY, INFINITY: none */
};

void metric_release(struct metric *m);
bool metric_name_is_valid(const char *name);

enum metric_find {
	METRIC_FOUND = 1,
	METRIC_MISSING, /* no line of it */
	METRIC_NOT_NUMBER, /* a line of it whose value is no finite number (nan, inf, text, overflow) */
	METRIC_OUT_OF_RANGE, /* finite, but outside min … max */
	METRIC_WRONG_UNIT,   /* our own format with another unit than declared */
	METRIC_BAD_REGEX,    /* the regex does not compile */
};

/*
 * All values of @m in @text (@n bytes, untrusted, may hold NULs), in order:
 * lines "kregress: metric NAME VALUE [UNIT]", or the regex's group. One value
 * per printed line. @values: owned array, @count: how many; set for
 * METRIC_FOUND only. Numbers as strtod() in the C locale takes them, hex and
 * nan excluded. Lines longer than 4096 bytes are cut there, and a value that touches the cut is
 * METRIC_NOT_NUMBER. The first bad line decides.
 */
enum metric_find metric_find_all(const struct metric *m, const char *text, size_t n,
				 double **values, size_t *count);

/* The one value of a run: the last line of @m in its output (earlier ones are interim reports). */
enum metric_find metric_find_last(const struct metric *m, const char *text, size_t n,
				  double *value);

/*
 * The unit that the first valid line of @m in our own format names, untrusted bytes, cut
 * to @size; "" where there is none or @m has a regex. For a metric that nobody declares.
 */
void metric_printed_unit(const struct metric *m, const char *text, size_t n, char *buf,
			 size_t size);

/*
 * Names of the metrics in our own format that @text has, each once, in order of
 * appearance, at most METRIC_NAMES_MAX. Appends.
 */
void metric_printed_names(const char *text, size_t n, struct strv *names);
#define METRIC_NAMES_MAX 64

/* "missing from the output", "not a finite number", … Static. */
const char *metric_find_text(enum metric_find f);

/*
 * Check a regex: NULL if it compiles, has exactly one group and cannot take for ever, else why
 * not (static or in @buf).
 */
const char *metric_check_regex(const char *regex, char *buf, size_t size);

#endif
