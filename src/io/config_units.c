/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers with units in campaign files: durations and sizes. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/config_table.h"

/* Ten years: longer ones are a slip, and deadlines are sums of such numbers. */
#define DURATION_MAX_MS (3652ll * 24 * 3600 * 1000)

struct config_unit {
	const char *name;
	uint64_t factor;
};

/* Largest first: combinations go down. */
static const struct config_unit durations[] = {
	{ "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 },
};
static const struct config_unit sizes[] = {
	{ "T", (uint64_t)1 << 40 },
	{ "G", (uint64_t)1 << 30 },
	{ "M", (uint64_t)1 << 20 },
	{ "K", (uint64_t)1 << 10 },
};

int config_bad_value(struct err *e, const char *kind, const char *text, const char *what,
		     const char *remedy)
{
	_cleanup_free_ char *shown = faults_quote(text);

	return err_set(e, ERR_CONFIG, "bad %s '%s'%s%s (%s)", kind, shown,
		       what && *what ? " for " : "", what ? what : "", remedy);
}

bool config_take_digits(const char **s, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return false;
	errno = 0;
	*value = strtoull(*s, &end, 10);
	*s = end;
	return errno == 0;
}

/* The unit that is the letters at *@s, searched from @units on; NULL: none. */
static const struct config_unit *take_unit(const char **s, const struct config_unit *units,
					   size_t n)
{
	size_t len = strspn(*s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	for (size_t i = 0; i < n; i++) {
		if (strlen(units[i].name) == len && !strncmp(units[i].name, *s, len)) {
			*s += len;
			return &units[i];
		}
	}
	return NULL;
}

int config_parse_duration(const char *text, const char *what, int64_t *ms, struct err *e)
{
	const struct config_unit *from = durations;
	const char *s = text;
	uint64_t total = 0;

	do {
		const struct config_unit *unit;
		uint64_t v;

		if (!config_take_digits(&s, &v))
			return config_bad_value(e, "duration", text, what,
						"write it as 90s, 10m or 2h");
		unit = take_unit(&s, from, (size_t)(durations + ARRAY_SIZE(durations) - from));
		if (!unit)
			return config_bad_value(
				e, "duration", text, what,
				*s ? "units are d, h, m, s and ms, the largest first"
				   : "its unit is missing: write 90s, 10m or 2h");
		if (__builtin_mul_overflow(v, unit->factor, &v) ||
		    __builtin_add_overflow(total, v, &total) || total > DURATION_MAX_MS)
			return config_bad_value(e, "duration", text, what,
						"it is longer than ten years");
		from = unit + 1;
	} while (*s);
	*ms = (int64_t)total;
	return 0;
}

int config_parse_size(const char *text, const char *what, uint64_t *bytes, struct err *e)
{
	const char *s = text;
	const struct config_unit *unit;
	uint64_t v;

	if (!config_take_digits(&s, &v))
		return config_bad_value(e, "size", text, what, "write it as 512M or 2G");
	unit = take_unit(&s, sizes, ARRAY_SIZE(sizes));
	if (!unit || *s)
		return config_bad_value(e, "size", text, what,
					*s ? "units are K, M, G and T"
					   : "its unit is missing: write 512M or 2G");
	if (__builtin_mul_overflow(v, unit->factor, &v))
		return config_bad_value(e, "size", text, what, "it is too large");
	*bytes = v;
	return 0;
}

/* The number in the largest unit that divides it. */
static void format_units(struct str *out, uint64_t v, const struct config_unit *units, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i + 1 < n && (v == 0 || v % units[i].factor != 0))
			continue;
		str_addf(out, "%llu%s", (unsigned long long)(v / units[i].factor), units[i].name);
		return;
	}
}

/* Is @v in the key's range? Else the message names the bounds as a file would. */
static int check_range(const struct config_key *k, const char *kind, const char *text, uint64_t v,
		       const struct config_unit *units, size_t n, struct err *e)
{
	_cleanup_str_ struct str range = STR_INIT;

	if (v >= k->min && v <= k->max)
		return 0;
	str_add(&range, "from ");
	format_units(&range, k->min, units, n);
	str_add(&range, " to ");
	format_units(&range, k->max, units, n);
	return config_bad_value(e, kind, text, k->key, str_text(&range));
}

/* Kinds: the value, then the bounds of the key. */
static int parse_duration(const struct config *c, const struct config_key *k, const char *text,
			  void *field, struct err *e)
{
	(void)c;
	if (config_parse_duration(text, k->key, field, e) < 0)
		return -1;
	return check_range(k, "duration", text, (uint64_t) * (int64_t *)field, durations,
			   ARRAY_SIZE(durations), e);
}

static void format_duration(const struct config_key *k, const void *field, struct str *out)
{
	(void)k;
	format_units(out, (uint64_t) * (const int64_t *)field, durations, ARRAY_SIZE(durations));
}

static int parse_size(const struct config *c, const struct config_key *k, const char *text,
		      void *field, struct err *e)
{
	(void)c;
	if (config_parse_size(text, k->key, field, e) < 0)
		return -1;
	return check_range(k, "size", text, *(uint64_t *)field, sizes, ARRAY_SIZE(sizes), e);
}

static void format_size(const struct config_key *k, const void *field, struct str *out)
{
	(void)k;
	format_units(out, *(const uint64_t *)field, sizes, ARRAY_SIZE(sizes));
}

const struct config_kind config_kind_duration = {
	.type = "duration",
	.parse = parse_duration,
	.format = format_duration,
};
const struct config_kind config_kind_size = {
	.type = "size",
	.parse = parse_size,
	.format = format_size,
};
