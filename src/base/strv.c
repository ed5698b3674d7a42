/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Vectors of strings, splitting into words, neutralising untrusted bytes. */
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool strv_eq(const struct strv *a, const struct strv *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i], b->v[i]))
			return false;
	return true;
}

void strv_clear(struct strv *sv)
{
	for (size_t i = 0; i < sv->n; i++)
		free(sv->v[i]);
	sv->n = 0;
	if (sv->v)
		sv->v[0] = NULL;
}

void strv_release(struct strv *sv)
{
	strv_clear(sv);
	free(sv->v);
	memset(sv, 0, sizeof(*sv));
}

void strv_take(struct strv *sv, char *s)
{
	xgrow(&sv->v, &sv->room, sv->n + 2, sizeof(*sv->v));
	sv->v[sv->n++] = s;
	sv->v[sv->n] = NULL;
}

void strv_add(struct strv *sv, const char *s)
{
	strv_take(sv, xstrdup(s));
}

void strv_addf(struct strv *sv, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_take(sv, xvasprintf(fmt, ap));
	va_end(ap);
}

void strv_extend(struct strv *sv, const struct strv *from)
{
	for (size_t i = 0; i < from->n; i++)
		strv_add(sv, from->v[i]);
}

bool strv_has(const struct strv *sv, const char *s)
{
	for (size_t i = 0; i < sv->n; i++)
		if (strcmp(sv->v[i], s) == 0)
			return true;
	return false;
}

/* One word from *@p on; 1 and @word, 0 at the end, -1 on an open quote or escape. */
static int next_word(const char **p, struct str *word)
{
	const char *s = *p;
	char quote = 0;

	while (isspace((unsigned char)*s))
		s++;
	if (!*s)
		return 0;
	str_add(word, "");
	for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
		if (!quote && (*s == '\'' || *s == '"')) {
			quote = *s;
		} else if (quote && *s == quote) {
			quote = 0;
		} else if (*s == '\\' && quote != '\'') {
			if (!s[1])
				return -1;
			/* Inside "…" only \" and \\ are special. */
			if (!quote || s[1] == '"' || s[1] == '\\')
				s++;
			str_addmem(word, s, 1);
		} else {
			str_addmem(word, s, 1);
		}
	}
	*p = s;
	return quote ? -1 : 1;
}

int str_split_words(const char *text, struct strv *out, struct err *e)
{
	_cleanup_strv_ struct strv words = STRV_INIT;
	const char *p = text;
	int ret;

	do {
		_cleanup_str_ struct str word = STR_INIT;

		ret = next_word(&p, &word);
		if (ret < 0)
			return err_set(e, ERR_CONFIG,
				       "open quote or backslash at the end of '%.200s'", text);
		if (ret > 0)
			strv_take(&words, str_detach(&word));
	} while (ret > 0);
	strv_extend(out, &words);
	return 0;
}

static void quote_word(struct str *out, const char *word)
{
	static const char safe[] = "@%+=:,./-_";
	bool plain = *word != '\0';

	for (const char *s = word; *s && plain; s++)
		plain = isalnum((unsigned char)*s) || strchr(safe, *s);
	if (plain) {
		str_add(out, word);
		return;
	}
	str_add(out, "'");
	for (const char *s = word; *s; s++)
		if (*s == '\'')
			str_add(out, "'\\''");
		else
			str_addmem(out, s, 1);
	str_add(out, "'");
}

void str_join_words(struct str *out, char *const *words)
{
	for (size_t i = 0; words && words[i]; i++) {
		if (i)
			str_add(out, " ");
		quote_word(out, words[i]);
	}
}

/* Optimal string alignment distance (Levenshtein and swaps of neighbours); words over 63 bytes: 99. */
static unsigned distance(const char *a, const char *b)
{
	unsigned d[3][64];
	size_t n = strlen(a), m = strlen(b);

	if (n > 63 || m > 63)
		return 99;
	for (size_t j = 0; j <= m; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = d[i % 3], *last = d[(i + 2) % 3], *before = d[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);

			best = last[j] + 1 < best ? last[j] + 1 : best;
			best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
	}
	return d[n % 3][m];
}

const char *str_did_you_mean(const char *word, const char *const *names, size_t n)
{
	size_t len = strlen(word);
	/* A third of the letters may be wrong, as git allows for its commands. */
	unsigned best = len < 4 ? 2 : (unsigned)(len / 3) + 1;
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned d = distance(word, names[i]);

		if (d < best) {
			best = d;
			found = names[i];
		}
	}
	return found;
}

/* Length of the valid, printable UTF-8 sequence at @s (at most @n bytes); 0: none. */
static size_t utf8_len(const unsigned char *s, size_t n)
{
	size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t c;

	if (s[0] < 0xc2 || s[0] > 0xf4 || len > n)
		return 0;
	c = s[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fu);
	}
	if ((len == 3 && c < 0x800) || (len == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	/* C1 controls, surrogates, bidirectional controls and line separators can deceive; no XML
	 * may hold the last two of a plane. */
	if (c < 0xa0 || (c >= 0xd800 && c < 0xe000) || (c >= 0x200b && c <= 0x200f) ||
	    (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	    c == 0x61c || (c & 0xfffe) == 0xfffe)
		return 0;
	return len;
}

void str_neutralise(struct str *out, const char *data, size_t n, bool keep_newlines)
{
	const unsigned char *s = (const unsigned char *)data;
	size_t i = 0;

	str_add(out, "");
	while (i < n) {
		size_t len = 0;

		if ((s[i] >= 0x20 && s[i] < 0x7f) || s[i] == '\t' ||
		    (keep_newlines && s[i] == '\n'))
			len = 1;
		else if (s[i] >= 0x80)
			len = utf8_len(s + i, n - i);
		if (len)
			str_addmem(out, s + i, len);
		else
			str_addf(out, "\\x%02x", s[i]);
		i += len ? len : 1;
	}
}
