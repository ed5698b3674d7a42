/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of a campaign file that need nothing but their text: numbers, words, choices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/config_table.h"

bool config_parse_real(const char *text, size_t n, double *value)
{
	char buf[64], *end;

	if (n == 0 || n >= sizeof(buf) || strspn(text, "0123456789+-.eE") < n)
		return false;
	memcpy(buf, text, n);
	buf[n] = '\0';
	*value = strtod(buf, &end);
	return *end == '\0' && isfinite(*value);
}

void config_format_real(struct str *out, double v)
{
	char buf[40];

	snprintf(buf, sizeof(buf), "%.15g", v);
	if (strtod(buf, NULL) != v)
		snprintf(buf, sizeof(buf), "%.17g", v);
	str_add(out, buf);
}

/* Kinds */

static int parse_text(const struct config *c, const struct config_key *k, const char *text,
		      void *field, struct err *e)
{
	(void)c, (void)k, (void)e;
	*(char **)field = xstrdup(text);
	return 0;
}

void config_format_text(const struct config_key *k, const void *field, struct str *out)
{
	const char *text = *(char *const *)field;

	(void)k;
	str_add(out, text ? text : "");
}

void config_release_text(void *field)
{
	str_freep(field);
	*(char **)field = NULL;
}

/* It becomes a folder below the state directory. */
static int parse_name(const struct config *c, const struct config_key *k, const char *text,
		      void *field, struct err *e)
{
	size_t n = strlen(text);

	if (n > 100 || text[0] == '.' || text[0] == '-' ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != n)
		return config_bad_value(e, "name", text, "",
					"letters, digits, '_', '.' and '-', up to 100");
	return parse_text(c, k, text, field, e);
}

static int parse_revision(const struct config *c, const struct config_key *k, const char *text,
			  void *field, struct err *e)
{
	/* git would take it for an option wherever it is put on a command line */
	if (text[0] == '-')
		return config_bad_value(e, "revision", text, "", "no revision starts with '-'");
	return parse_text(c, k, text, field, e);
}

static int parse_metric(const struct config *c, const struct config_key *k, const char *text,
			void *field, struct err *e)
{
	if (!metric_name_is_valid(text))
		return config_bad_value(e, "metric name", text, "",
					"letters, digits, '_', '.' and '-', up to 64");
	return parse_text(c, k, text, field, e);
}

static int parse_arch(const struct config *c, const struct config_key *k, const char *text,
		      void *field, struct err *e)
{
	if (!str_eq(text, "x86_64"))
		return config_bad_value(e, "architecture", text, "",
					"this version builds x86_64 only");
	return parse_text(c, k, text, field, e);
}

/* An empty word is a slip of the quotes in every list that takes this kind. */
static int parse_words(const struct config *c, const struct config_key *k, const char *text,
		       void *field, struct err *e)
{
	struct strv *words = field;

	(void)c;
	if (str_split_words(text, words, NULL) < 0)
		return config_bad_value(e, "list of words", text, "",
					"a quote is open, or a backslash ends it");
	if (strv_has(words, ""))
		return config_bad_value(e, "list of words", text, k->key, "it has an empty word");
	return 0;
}

void config_format_words(const struct config_key *k, const void *field, struct str *out)
{
	const struct strv *words = field;

	(void)k;
	str_join_words(out, words->v);
}

void config_release_words(void *field)
{
	strv_release(field);
}

static int parse_bool(const struct config *c, const struct config_key *k, const char *text,
		      void *field, struct err *e)
{
	(void)c, (void)k;
	if (!str_eq(text, "yes") && !str_eq(text, "no"))
		return config_bad_value(e, "value", text, k->key, "yes or no");
	*(bool *)field = text[0] == 'y';
	return 0;
}

static void format_bool(const struct config_key *k, const void *field, struct str *out)
{
	(void)k;
	str_add(out, *(const bool *)field ? "yes" : "no");
}

/* The names that this version takes, for a message. */
static int bad_choice(const struct config_key *k, const char *text, struct err *e)
{
	const char *names[8], *near;
	_cleanup_str_ struct str list = STR_INIT;
	size_t n = 0;

	for (const struct config_choice *c = k->choices; c->name; c++) {
		str_addf(&list, "%s%s", n ? ", " : "", c->name);
		names[n++] = c->name;
	}
	near = str_did_you_mean(text, names, n);
	if (near)
		str_addf(&list, "; did you mean '%s'?", near);
	return config_bad_value(e, "value", text, k->key, str_text(&list));
}

/* A field of a choice is a bool, or an int or enum. */
static int parse_choice(const struct config *c, const struct config_key *k, const char *text,
			void *field, struct err *e)
{
	(void)c;
	for (const struct config_choice *w = k->choices; w->name; w++) {
		if (!str_eq(w->name, text))
			continue;
		if (k->size == sizeof(bool))
			*(bool *)field = w->value != 0;
		else
			*(int *)field = w->value;
		return 0;
	}
	return bad_choice(k, text, e);
}

/* The first name of the value. */
static void format_choice(const struct config_key *k, const void *field, struct str *out)
{
	int value = k->size == sizeof(bool) ? *(const bool *)field : *(const int *)field;

	for (const struct config_choice *w = k->choices; w->name; w++) {
		if (w->value == value) {
			str_add(out, w->name);
			return;
		}
	}
}

static int parse_count(const struct config *c, const struct config_key *k, const char *text,
		       void *field, struct err *e)
{
	const char *s = text;
	char range[64];
	uint64_t v;

	(void)c;
	snprintf(range, sizeof(range), "a whole number from %llu to %llu",
		 (unsigned long long)k->min, (unsigned long long)k->max);
	if (!config_take_digits(&s, &v) || *s || v < k->min || v > k->max)
		return config_bad_value(e, "number", text, k->key, range);
	*(unsigned *)field = (unsigned)v;
	return 0;
}

static void format_count(const struct config_key *k, const void *field, struct str *out)
{
	(void)k;
	str_addf(out, "%u", *(const unsigned *)field);
}

static int parse_number(const struct config *c, const struct config_key *k, const char *text,
			void *field, struct err *e)
{
	char range[64];
	double v;

	(void)c;
	snprintf(range, sizeof(range), "a number from %llu to %llu", (unsigned long long)k->min,
		 (unsigned long long)k->max);
	if (!config_parse_real(text, strlen(text), &v) || v < (double)k->min || v > (double)k->max)
		return config_bad_value(e, "number", text, k->key, range);
	*(double *)field = v;
	return 0;
}

static void format_number(const struct config_key *k, const void *field, struct str *out)
{
	(void)k;
	config_format_real(out, *(const double *)field);
}

static int parse_share(const struct config *c, const struct config_key *k, const char *text,
		       void *field, struct err *e)
{
	size_t n = strlen(text);
	bool percent = n > 0 && text[n - 1] == '%';
	double v;

	(void)c;
	if (!config_parse_real(text, percent ? n - 1 : n, &v))
		return config_bad_value(e, "share", text, k->key, "write it as 95% or 0.95");
	v = percent ? v / 100 : v;
	if (v < 0 || v > 1)
		return config_bad_value(e, "share", text, k->key,
					"from 0% to 100%, or from 0 to 1");
	*(double *)field = v;
	return 0;
}

/* Open at both ends: half is a coin, and certainty is not to be had. */
static int parse_confidence(const struct config *c, const struct config_key *k, const char *text,
			    void *field, struct err *e)
{
	if (parse_share(c, k, text, field, e) < 0)
		return -1;
	if (*(double *)field > 0.5 && *(double *)field < 1)
		return 0;
	return config_bad_value(e, "share", text, k->key, "above 50% and below 100%");
}

static void format_share(const struct config_key *k, const void *field, struct str *out)
{
	char buf[40];

	(void)k;
	snprintf(buf, sizeof(buf), "%.15g%%", *(const double *)field * 100);
	str_add(out, buf);
}

/* "+20%" or "-15%": @n is the length of @text, its last byte the '%'. */
static int parse_relative(const char *text, size_t n, struct verdict_opts *v, struct err *e)
{
	double share;

	if (!config_parse_real(text, n - 1, &share))
		return config_bad_value(e, "threshold", text, "", "12.5, +20%, -15% or auto");
	if (text[0] != '+' && text[0] != '-')
		return config_bad_value(e, "threshold", text, "",
					"a relative one needs a sign: + for more, - for less");
	if (share == 0 || share <= -100 || share > 1e6)
		return config_bad_value(e, "threshold", text, "",
					"above -100%, up to +1000000%, and not zero");
	v->kind = THRESHOLD_RELATIVE;
	v->threshold = share / 100;
	return 0;
}

/* Fills two fields, so it gets the struct that has both. */
static int parse_threshold(const struct config *c, const struct config_key *k, const char *text,
			   void *field, struct err *e)
{
	struct verdict_opts *v = field;
	size_t n = strlen(text);

	(void)c, (void)k;
	v->kind = THRESHOLD_AUTO;
	if (str_eq(text, "auto"))
		return 0;
	if (n > 0 && text[n - 1] == '%')
		return parse_relative(text, n, v, e);
	if (text[0] == '+')
		return config_bad_value(e, "threshold", text, "",
					"with a '%' it is relative, without the '+' absolute");
	if (!config_parse_real(text, n, &v->threshold))
		return config_bad_value(e, "threshold", text, "", "12.5, +20%, -15% or auto");
	v->kind = THRESHOLD_ABSOLUTE;
	return 0;
}

static void format_threshold(const struct config_key *k, const void *field, struct str *out)
{
	const struct verdict_opts *v = field;
	char buf[40];

	(void)k;
	if (v->kind == THRESHOLD_AUTO) {
		str_add(out, "auto");
	} else if (v->kind == THRESHOLD_ABSOLUTE) {
		config_format_real(out, v->threshold);
	} else {
		snprintf(buf, sizeof(buf), "%+.15g%%", v->threshold * 100);
		str_add(out, buf);
	}
}

static int parse_spread(const struct config *c, const struct config_key *k, const char *text,
			void *field, struct err *e)
{
	struct config_spread *s = field;
	size_t n = strlen(text);
	double v;

	(void)c;
	*s = (struct config_spread){ .value = -1 };
	if (str_eq(text, "auto"))
		return 0;
	s->relative = n > 0 && text[n - 1] == '%';
	if (!config_parse_real(text, s->relative ? n - 1 : n, &v) || v < 0)
		return config_bad_value(e, "deviation", text, k->key, "auto, 0, 1.5 or 2%");
	s->value = s->relative ? v / 100 : v;
	return 0;
}

static void format_spread(const struct config_key *k, const void *field, struct str *out)
{
	const struct config_spread *s = field;

	(void)k;
	if (s->value < 0)
		str_add(out, "auto");
	else
		config_format_real(out, s->relative ? s->value * 100 : s->value);
	if (s->relative)
		str_add(out, "%");
}

#define TEXT_KIND(type_, parse_)                                              \
	{                                                                     \
		.type = type_, .parse = parse_, .format = config_format_text, \
		.release = config_release_text                                \
	}

const struct config_kind config_kind_text = TEXT_KIND("text", parse_text);
const struct config_kind config_kind_name = TEXT_KIND("name", parse_name);
const struct config_kind config_kind_revision = TEXT_KIND("revision", parse_revision);
const struct config_kind config_kind_metric = TEXT_KIND("name", parse_metric);
const struct config_kind config_kind_arch = TEXT_KIND("x86_64", parse_arch);
const struct config_kind config_kind_long_text = {
	.type = "text",
	.parse = parse_text,
	.format = config_format_text,
	.release = config_release_text,
	.joins_lines = true,
};
const struct config_kind config_kind_words = {
	.type = "words",
	.parse = parse_words,
	.format = config_format_words,
	.release = config_release_words,
	.joins_lines = true,
};
const struct config_kind config_kind_bool = {
	.type = "yes | no",
	.parse = parse_bool,
	.format = format_bool,
};
const struct config_kind config_kind_choice = {
	.parse = parse_choice,
	.format = format_choice,
};
const struct config_kind config_kind_count = {
	.type = "number",
	.parse = parse_count,
	.format = format_count,
};
const struct config_kind config_kind_number = {
	.type = "number",
	.parse = parse_number,
	.format = format_number,
};
const struct config_kind config_kind_share = {
	.type = "share",
	.parse = parse_share,
	.format = format_share,
};
const struct config_kind config_kind_confidence = {
	.type = "share",
	.parse = parse_confidence,
	.format = format_share,
};
const struct config_kind config_kind_threshold = {
	.type = "value | +N% | -N% | auto",
	.parse = parse_threshold,
	.format = format_threshold,
};
const struct config_kind config_kind_spread = {
	.type = "value | N% | auto",
	.parse = parse_spread,
	.format = format_spread,
};
