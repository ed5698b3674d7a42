/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When two failures are alike. */
#include "core/signature.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/str.h"

/* Of the input; what a target tells of a failure is cut off at 255. */
#define INPUT_MAX 1024
/* So far below that, that the same text cut off at another place ends here alike. */
#define TEXT_MAX 160

/* Names that a counter follows. */
static const char *const counted[] = { "CPU", "cpu", "tmp", "tmp_", "__compiletime_assert_" };

/* What makes a number tell. */
static const char *const telling[] = { "status ", "signal ", "exitcode=", "error -", "errno " };

/* Where names are made at random. */
static const char *const temporary[] = { "/tmp/", "/var/tmp/" };

static const struct {
	const char *from, *to;
} quotes[] = { { "\xe2\x80\x98", "'" }, { "\xe2\x80\x99", "'" }, { "`", "'" } };

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t word_length(const char *s)
{
	size_t n = 0;

	while (is_word(s[n]))
		n++;
	return n;
}

static bool all_hex(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return n > 0;
}

static bool has_digit(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isdigit((unsigned char)s[i]))
			return true;
	return false;
}

/* 12, 0x1f, 4f2a, ffffffff81a0b2c0. A word such as "effaced" has no digit. */
static bool is_number(const char *s, size_t n)
{
	if (n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return all_hex(s + 2, n - 2);
	return all_hex(s, n) &&
	       (isdigit((unsigned char)s[0]) || n >= 16 || (n >= 8 && has_digit(s, n)));
}

/* "[   12.345678]", "[  T123]", "[   C1]": a time or a caller. Its length, 0: none. */
static size_t stamp_length(const char *s)
{
	size_t n = 1 + strspn(s + (*s == '['), " "), digits;

	if (*s != '[')
		return 0;
	if (s[n] == 'T' || s[n] == 'C') {
		digits = strspn(s + ++n, "0123456789");
	} else {
		digits = strspn(s + n, "0123456789.");
		if (!memchr(s + n, '.', digits))
			return 0;
	}
	return digits && s[n + digits] == ']' ? n + digits + 1 : 0;
}

/* The text as it grows. */
struct text {
	struct str out;
	size_t number_end; /* where the last number ends in it; 0: none yet */
};

static bool ends_with(const struct str *out, const char *end)
{
	size_t n = strlen(end);

	return out->len >= n && !memcmp(out->buf + out->len - n, end, n);
}

/* Does @out end with one of the @n @ends? */
static bool ends_with_any(const struct str *out, const char *const *ends, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ends_with(out, ends[i]))
			return true;
	return false;
}

/* N, once for 12:5 and for 6.10.3. */
static void add_number(struct text *t)
{
	struct str *out = &t->out;

	if (t->number_end && t->number_end + 1 == out->len &&
	    (ends_with(out, ":") || ends_with(out, ".")))
		out->buf[--out->len] = 0;
	else
		str_add(out, "N");
	t->number_end = out->len;
}

/* Length of the name at @s without its counter; @n: it has none. */
static size_t without_counter(const char *s, size_t n)
{
	size_t stem = n;

	while (stem && isdigit((unsigned char)s[stem - 1]))
		stem--;
	for (size_t i = 0; stem < n && i < ARRAY_SIZE(counted); i++)
		if (strlen(counted[i]) == stem && !memcmp(counted[i], s, stem))
			return stem;
	return n;
}

static void add_word(struct text *t, const char *s, size_t n)
{
	size_t digits, stem;

	if (ends_with_any(&t->out, telling, ARRAY_SIZE(telling))) {
		str_addmem(&t->out, s, n);
		return;
	}
	if (ends_with_any(&t->out, temporary, ARRAY_SIZE(temporary)) || is_number(s, n)) {
		add_number(t);
		return;
	}
	/* 22s, 512kB */
	digits = strspn(s, "0123456789");
	if (digits)
		add_number(t);
	stem = without_counter(s, n);
	str_addmem(&t->out, s + digits, stem - digits);
	if (stem < n)
		add_number(t);
}

/* One byte or quotation mark that is no word; returns how many bytes it was. */
static size_t add_mark(struct str *out, const char *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(quotes); i++) {
		if (!str_starts(s, quotes[i].from))
			continue;
		str_add(out, quotes[i].to);
		return strlen(quotes[i].from);
	}
	if (!strchr(" \t\n", *s))
		str_addmem(out, s, 1);
	else if (out->len && !ends_with(out, " "))
		str_add(out, " ");
	return 1;
}

/* Not in the middle of a character. */
static void cut(struct str *s)
{
	if (s->len > TEXT_MAX) {
		s->len = TEXT_MAX;
		while (s->len && ((unsigned char)s->buf[s->len] & 0xc0) == 0x80)
			s->len--;
	}
	while (s->len && s->buf[s->len - 1] == ' ')
		s->len--;
	s->buf[s->len] = 0;
}

char *signature_text(const char *detail)
{
	_cleanup_str_ struct str clean = STR_INIT;
	struct text t = { .out = STR_INIT };
	const char *s;

	if (detail)
		str_neutralise(&clean, detail, strnlen(detail, INPUT_MAX), true);
	str_add(&t.out, "");
	for (s = str_text(&clean); *s && t.out.len <= TEXT_MAX;) {
		size_t n = stamp_length(s);

		if (!n && (n = word_length(s)) > 0)
			add_word(&t, s, n);
		else if (!n)
			n = add_mark(&t.out, s);
		s += n;
	}
	cut(&t.out);
	return str_detach(&t.out);
}

uint32_t signature_of(enum trial_outcome outcome, const char *detail)
{
	_cleanup_free_ char *text = NULL;
	uint32_t hash = 2166136261u;

	if (outcome == TRIAL_OK || outcome == TRIAL_UNSET)
		return 0;
	text = signature_text(detail);
	hash = (hash ^ (uint32_t)outcome) * 16777619u;
	for (const char *s = text; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 16777619u;
	return hash ? hash : 1;
}
