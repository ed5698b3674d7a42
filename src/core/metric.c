/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in what a workload prints. */
#include "core/metric.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define LINE_MAX_BYTES 4096
#define NAME_MAX_BYTES 64
#define REGEX_MAX_BYTES 512
#define GROUPS_MAX 32
/* Of regex_cost(): what glibc unrolls repetitions into stays small. */
#define COST_MAX 20000u

static const char line_start[] = "kregress: metric";

void metric_release(struct metric *m)
{
	free(m->name);
	free(m->unit);
	free(m->regex);
	memset(m, 0, sizeof(*m));
}

bool metric_name_is_valid(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= NAME_MAX_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
		       n;
}

/* One printed line, copied so that it ends in NUL and holds none. */
struct line {
	char text[LINE_MAX_BYTES + 1];
	size_t n;
	bool cut; /* it was longer: what touches its end may have lost digits */
};

/* The next line of @text from *@pos on; false at its end. */
static bool next_line(const char *text, size_t n, size_t *pos, struct line *out)
{
	const char *start = text + *pos, *newline;
	size_t len;

	if (*pos >= n)
		return false;
	newline = memchr(start, '\n', n - *pos);
	len = newline ? (size_t)(newline - start) : n - *pos;
	*pos += len + 1;
	if (len > 0 && start[len - 1] == '\r')
		len--;
	out->cut = len > LINE_MAX_BYTES;
	out->n = out->cut ? LINE_MAX_BYTES : len;
	memcpy(out->text, start, out->n);
	out->text[out->n] = '\0';
	/* a NUL would end the line early, and "12<NUL>.5" would read as 12 */
	for (size_t i = 0; i < out->n; i++) {
		if (!out->text[i])
			out->text[i] = '\001';
	}
	return true;
}

/* Is all of text[0 … n-1] a finite decimal? strtod() alone also takes blanks, hex, nan and inf. */
static bool parse_number(const char *text, size_t n, double *value)
{
	char buf[LINE_MAX_BYTES + 1], *end;
	double v;

	if (n == 0 || n >= sizeof(buf))
		return false;
	memcpy(buf, text, n);
	buf[n] = '\0';
	if (strspn(buf, "0123456789+-.eE") != n)
		return false;
	errno = 0;
	v = strtod(buf, &end);
	/* a number too small to hold would become zero, and a zero is a measurement */
	if (end != buf + n || !isfinite(v) || (errno == ERANGE && v == 0))
		return false;
	*value = v;
	return true;
}

/* A number within the declared range. */
static enum metric_find check_value(const struct metric *m, const char *text, size_t n,
				    double *value)
{
	if (!parse_number(text, n, value))
		return METRIC_NOT_NUMBER;
	return *value < m->min || *value > m->max ? METRIC_OUT_OF_RANGE : METRIC_FOUND;
}

/* Advance *@s over the blanks that must stand there; false when there is none. */
static bool skip_blanks(const char **s)
{
	size_t n = strspn(*s, " \t");

	*s += n;
	return n > 0;
}

/* "kregress: metric NAME VALUE [UNIT]" */
static enum metric_find match_own(const struct metric *m, const struct line *l, double *value)
{
	const char *s = l->text, *number;
	size_t n = strlen(m->name), len;
	enum metric_find found;

	if (!str_starts(s, line_start))
		return METRIC_MISSING;
	s += strlen(line_start);
	if (!skip_blanks(&s) || strncmp(s, m->name, n) != 0)
		return METRIC_MISSING;
	s += n;
	if (*s && !skip_blanks(&s))
		return METRIC_MISSING;
	if (l->cut)
		return METRIC_NOT_NUMBER;
	number = s;
	len = strcspn(s, " \t");
	found = check_value(m, number, len, value);
	if (found == METRIC_NOT_NUMBER)
		return found;
	s += len;
	skip_blanks(&s);
	for (len = strlen(s); len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t');)
		len--;
	/* no unit declared: any will do */
	if (len > 0 && m->unit && *m->unit && (strlen(m->unit) != len || memcmp(s, m->unit, len)))
		return METRIC_WRONG_UNIT;
	return found;
}

/* The group of the regex in one line. */
static enum metric_find match_regex(const struct metric *m, const regex_t *re, const struct line *l,
				    double *value)
{
	regmatch_t match[2];
	size_t n;

	if (regexec(re, l->text, 2, match, 0) != 0)
		return METRIC_MISSING;
	if (match[1].rm_so < 0 || (l->cut && (size_t)match[1].rm_eo == l->n))
		return METRIC_NOT_NUMBER;
	n = (size_t)(match[1].rm_eo - match[1].rm_so);
	return check_value(m, l->text + match[1].rm_so, n, value);
}

/* A compiled metric, and the line being looked at. */
struct finder {
	const struct metric *m;
	regex_t re;
	bool has_re;
	struct line line;
};

static void finder_release(struct finder *f)
{
	if (f->has_re)
		regfree(&f->re);
}

/* False: the regex is not usable. */
static bool finder_init(struct finder *f, const struct metric *m)
{
	char why[128];

	f->m = m;
	if (!m->regex)
		return true;
	if (metric_check_regex(m->regex, why, sizeof(why)))
		return false;
	f->has_re = regcomp(&f->re, m->regex, REG_EXTENDED) == 0;
	return f->has_re;
}

static enum metric_find match_line(const struct finder *f, double *value)
{
	return f->has_re ? match_regex(f->m, &f->re, &f->line, value)
			 : match_own(f->m, &f->line, value);
}

enum metric_find metric_find_all(const struct metric *m, const char *text, size_t n,
				 double **values, size_t *count)
{
	_cleanup_(finder_release) struct finder f = { .has_re = false };
	_cleanup_free_ double *list = NULL;
	size_t len = 0, room = 0, pos = 0;

	if (!finder_init(&f, m))
		return METRIC_BAD_REGEX;
	while (next_line(text, n, &pos, &f.line)) {
		double value;
		enum metric_find found = match_line(&f, &value);

		if (found == METRIC_MISSING)
			continue;
		if (found != METRIC_FOUND)
			return found;
		xgrow(&list, &room, len + 1, sizeof(*list));
		list[len++] = value;
	}
	if (len == 0)
		return METRIC_MISSING;
	*values = list;
	list = NULL;
	*count = len;
	return METRIC_FOUND;
}

enum metric_find metric_find_last(const struct metric *m, const char *text, size_t n, double *value)
{
	_cleanup_(finder_release) struct finder f = { .has_re = false };
	enum metric_find last = METRIC_MISSING;
	double last_value = 0;
	size_t pos = 0;

	if (!finder_init(&f, m))
		return METRIC_BAD_REGEX;
	while (next_line(text, n, &pos, &f.line)) {
		double v = 0;
		enum metric_find found = match_line(&f, &v);

		if (found == METRIC_MISSING)
			continue;
		last = found;
		last_value = v;
	}
	if (last == METRIC_FOUND)
		*value = last_value;
	return last;
}

const char *metric_find_text(enum metric_find f)
{
	static const char *const text[] = {
		[METRIC_FOUND] = "found",
		[METRIC_MISSING] = "missing from the output",
		[METRIC_NOT_NUMBER] = "not a finite number",
		[METRIC_OUT_OF_RANGE] = "out of its declared range",
		[METRIC_WRONG_UNIT] = "printed in another unit than declared",
		[METRIC_BAD_REGEX] = "not searched: its regex does not compile",
	};

	return (size_t)f < ARRAY_SIZE(text) && text[f] ? text[f] : "unknown";
}

/* Just past a bracket expression whose '[' is at @s; NULL when it is open. */
static const char *skip_bracket(const char *s)
{
	s++;
	if (*s == '^')
		s++;
	if (*s == ']')
		s++;
	while (*s && *s != ']') {
		const char class = *s == '[' ? s[1] : '\0';

		s++;
		if (class != ':' && class != '.' && class != '=')
			continue;
		/* [:alpha:] and its like end in the same byte and ']' */
		for (s++; *s && !(*s == class && s[1] == ']');)
			s++;
		s += *s ? 2 : 0;
	}
	return *s ? s + 1 : NULL;
}

/* How often the quantifier at *@s makes glibc repeat what stands before it; moves past it. */
static uint64_t quantifier(const char **s)
{
	uint64_t most = 0;

	if (**s == '+' || **s == '*' || **s == '?') {
		(*s)++;
		return 2;
	}
	for ((*s)++; **s && **s != '}'; (*s)++) {
		char *end;

		if (!isdigit((unsigned char)**s))
			continue;
		errno = 0;
		uint64_t v = strtoull(*s, &end, 10);

		most = errno ? UINT64_MAX / 2 : v > most ? v : most;
		*s = end - 1;
	}
	if (**s)
		(*s)++;
	return most + 1;
}

/*
 * About how many nodes glibc makes of @re: it writes repetitions out, so that nested ones
 * multiply (sources: glibc posix/regcomp.c, parse_dup_op). UINT64_MAX: too deep, an open
 * bracket, or a back-reference, which can take exponential time.
 */
static uint64_t regex_cost(const char *re)
{
	uint64_t sum[GROUPS_MAX + 1] = { 0 };
	unsigned depth = 0;

	for (const char *s = re; s && *s;) {
		uint64_t atom = 1;

		if (*s == '(') {
			if (++depth > GROUPS_MAX)
				return UINT64_MAX;
			sum[depth] = 0;
			s++;
			continue;
		}
		if (*s == ')' && depth > 0)
			atom += sum[depth--];
		if (*s == '\\' && isdigit((unsigned char)s[1]))
			return UINT64_MAX;
		if (*s == '[')
			s = skip_bracket(s);
		else
			s += *s == '\\' && s[1] ? 2 : 1;
		while (s && *s && strchr("*+?{", *s)) {
			uint64_t times = quantifier(&s);

			if (atom > COST_MAX || times > COST_MAX)
				return UINT64_MAX;
			atom *= times;
		}
		sum[depth] += atom;
		if (sum[depth] > COST_MAX)
			return UINT64_MAX;
	}
	for (; depth > 0; depth--)
		sum[0] += sum[depth];
	return sum[0];
}

const char *metric_check_regex(const char *regex, char *buf, size_t size)
{
	regex_t re;
	size_t groups;
	int ret;

	if (strlen(regex) > REGEX_MAX_BYTES)
		return "longer than 512 bytes";
	if (regex_cost(regex) > COST_MAX)
		return "too costly: nested repetitions, large counts or back-references";
	ret = regcomp(&re, regex, REG_EXTENDED);
	if (ret != 0) {
		regerror(ret, &re, buf, size);
		return buf;
	}
	groups = re.re_nsub;
	regfree(&re);
	if (groups == 1)
		return NULL;
	snprintf(buf, size, "it has %zu groups (…) and must have exactly one", groups);
	return buf;
}

void metric_printed_unit(const struct metric *m, const char *text, size_t n, char *buf, size_t size)
{
	struct metric any = { .name = m->name, .min = -INFINITY, .max = INFINITY };
	struct line line;
	size_t pos = 0;
	double v;

	*buf = '\0';
	while (!m->regex && next_line(text, n, &pos, &line)) {
		const char *s = line.text + strlen(line_start);

		if (match_own(&any, &line, &v) != METRIC_FOUND)
			continue;
		/* Blanks, name, blanks and number are there: it matched. */
		skip_blanks(&s);
		s += strcspn(s, " \t");
		skip_blanks(&s);
		s += strcspn(s, " \t");
		skip_blanks(&s);
		snprintf(buf, size, "%.*s", (int)strcspn(s, " \t"), s);
		return;
	}
}

void metric_printed_names(const char *text, size_t n, struct strv *names)
{
	struct line line;
	size_t pos = 0;

	while (names->n < METRIC_NAMES_MAX && next_line(text, n, &pos, &line)) {
		const char *s = line.text + strlen(line_start);
		_cleanup_free_ char *name = NULL;

		if (!str_starts(line.text, line_start) || !skip_blanks(&s))
			continue;
		name = xstrndup(s, strcspn(s, " \t"));
		if (metric_name_is_valid(name) && !strv_has(names, name))
			strv_add(names, name);
	}
}
