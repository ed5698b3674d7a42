/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of [compare]: sweep, range of an average, variants. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/config_table.h"

#define VALUES_MAX 1000
#define VALUE_LENGTH_MAX 100

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char name_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/* The name becomes an option of a program, and stands in braces. */
static bool is_argument(const char *name)
{
	size_t n = strlen(name);

	return n && n <= 64 && strchr(letters, *name) && strspn(name, name_bytes) == n;
}

/* Two numbers parted by "..", in order. */
static bool parse_range(const char *text, double *from, double *to)
{
	const char *dots = strstr(text, "..");

	return dots && config_parse_real(text, (size_t)(dots - text), from) &&
	       config_parse_real(dots + 2, strlen(dots + 2), to) && *from <= *to;
}

/* FROM..TO step N: each computed from the start, so that errors do not add up. */
static const char *add_steps(const char *range, const char *step_text, struct strv *out)
{
	double from, to, step;

	if (!parse_range(range, &from, &to))
		return "a range is FROM..TO, two numbers in order";
	if (!config_parse_real(step_text, strlen(step_text), &step) || step <= 0)
		return "step is a number above 0";
	if ((to - from) / step >= VALUES_MAX)
		return "more than 1000 values";
	for (size_t i = 0; from + (double)i * step <= to + step * 1e-9; i++) {
		char buf[40];
		double v = from + (double)i * step;

		/* 0.1 three times is 0.3 to a person */
		snprintf(buf, sizeof(buf), "%.12g", fabs(v) < step * 1e-9 ? 0 : v);
		strv_add(out, buf);
	}
	return NULL;
}

static const char *add_list(const char *list, struct strv *out)
{
	for (const char *p = list;; p++) {
		size_t n = strcspn(p, ",");
		_cleanup_free_ char *value = xstrndup(p, n);

		if (!n)
			return "a value is empty";
		if (n > VALUE_LENGTH_MAX)
			return "a value is longer than 100 bytes";
		if (strv_has(out, value))
			return "a value is there twice";
		if (out->n == VALUES_MAX)
			return "more than 1000 values";
		strv_add(out, value);
		p += n;
		if (!*p)
			return NULL;
	}
}

static const char *take_values(const struct strv *words, struct strv *out)
{
	if (words->n == 4 && str_eq(words->v[2], "step"))
		return add_steps(words->v[1], words->v[3], out);
	if (words->n != 2)
		return "write 'NAME FROM..TO step N', or 'NAME V1,V2,...'";
	if (strstr(words->v[1], "..") && !strchr(words->v[1], ','))
		return "a range needs its step: NAME FROM..TO step N";
	return add_list(words->v[1], out);
}

static int parse_sweep(const struct config *c, const struct config_key *k, const char *text,
		       void *field, struct err *e)
{
	_cleanup_strv_ struct strv words = STRV_INIT;
	struct config_sweep *s = field;
	const char *mistake;

	if (config_kind_words.parse(c, k, text, &words, e) < 0)
		return -1;
	if (!words.n)
		return 0;
	if (!is_argument(words.v[0]))
		return config_bad_value(e, "argument", words.v[0], k->key,
					"a letter first, then letters, digits, '_' and '-', up to "
					"64; without the dashes before it");
	mistake = take_values(&words, &s->values);
	if (mistake)
		return config_bad_value(e, "value", text, k->key, mistake);
	s->name = xstrdup(words.v[0]);
	return 0;
}

static void format_sweep(const struct config_key *k, const void *field, struct str *out)
{
	const struct config_sweep *s = field;
	_cleanup_strv_ struct strv words = STRV_INIT;
	_cleanup_str_ struct str list = STR_INIT;

	(void)k;
	if (!s->name)
		return;
	for (size_t i = 0; i < s->values.n; i++)
		str_addf(&list, "%s%s", i ? "," : "", s->values.v[i]);
	strv_add(&words, s->name);
	strv_add(&words, str_text(&list));
	str_join_words(out, words.v);
}

static void release_sweep(void *field)
{
	struct config_sweep *s = field;

	strv_release(&s->values);
	free(s->name);
	s->name = NULL;
}

static int parse_span(const struct config *c, const struct config_key *k, const char *text,
		      void *field, struct err *e)
{
	struct config_span *s = field;

	(void)c;
	if (!*text)
		return 0;
	if (!parse_range(text, &s->from, &s->to))
		return config_bad_value(e, "range", text, k->key, "FROM..TO, two numbers in order");
	s->given = true;
	return 0;
}

static void format_span(const struct config_key *k, const void *field, struct str *out)
{
	const struct config_span *s = field;

	(void)k;
	if (!s->given)
		return;
	config_format_real(out, s->from);
	str_add(out, "..");
	config_format_real(out, s->to);
}

/* What the words mean is the target's business; that they are settings is ours. */
static int parse_variant(const struct config *c, const struct config_key *k, const char *text,
			 void *field, struct err *e)
{
	struct config_patch *v = field;

	if (config_kind_words.parse(c, k, text, &v->words, e) < 0)
		return -1;
	for (size_t i = 0; i < v->words.n; i++)
		if (!strchr(v->words.v[i], '=') || v->words.v[i][0] == '=')
			return config_bad_value(e, "setting", v->words.v[i], k->key,
						"NAME=VALUE or /sys/...=VALUE");
	return 0;
}

static void format_variant(const struct config_key *k, const void *field, struct str *out)
{
	const struct config_patch *v = field;

	(void)k;
	str_join_words(out, v->words.v);
}

const struct config_kind config_kind_sweep = {
	.type = "NAME FROM..TO step N | NAME V1,V2,...",
	.parse = parse_sweep,
	.format = format_sweep,
	.release = release_sweep,
};
const struct config_kind config_kind_span = {
	.type = "FROM..TO",
	.parse = parse_span,
	.format = format_span,
};
const struct config_kind config_kind_variant = {
	.type = "words",
	.parse = parse_variant,
	.format = format_variant,
	.release = config_release_named,
	.joins_lines = true,
};
