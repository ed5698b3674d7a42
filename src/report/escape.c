/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Untrusted text in XML, HTML, addresses of files and lines of limited width. */
#include "report/escape.h"

#include <ctype.h>
#include <string.h>

static const char *reference(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	}
	return NULL;
}

void escape_add(struct str *out, const char *text, bool lines)
{
	_cleanup_str_ struct str clean = STR_INIT;
	const char *s, *ref;

	if (!text)
		return;
	str_neutralise(&clean, text, strlen(text), lines);
	for (s = str_text(&clean); *s; s++) {
		ref = reference(*s);
		if (ref)
			str_add(out, ref);
		else
			str_addmem(out, s, 1);
	}
}

void escape_text(FILE *out, const char *text, bool lines)
{
	_cleanup_str_ struct str s = STR_INIT;

	escape_add(&s, text, lines);
	fputs(str_text(&s), out);
}

static void url_part(FILE *out, const char *path)
{
	for (const unsigned char *s = (const unsigned char *)path; *s; s++)
		if (isalnum(*s) || strchr("/-_.~", *s))
			fputc(*s, out);
		else
			fprintf(out, "%%%02X", *s);
}

void escape_url(FILE *out, const char *dir, const char *name)
{
	fputs(dir[0] == '/' ? "file://" : "", out);
	url_part(out, dir);
	if (!name || !name[0])
		return;
	fputc('/', out);
	url_part(out, name);
}

/* Bytes of the character at @s, and its code. The text is valid UTF-8 or read byte by byte. */
static size_t next_char(const char *s, unsigned *code)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : u[0] >= 0xc0 ? 2 : 1;

	*code = n == 1 ? u[0] : u[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return i;
		*code = *code << 6 | (u[i] & 0x3fu);
	}
	return n;
}

/* From Hangul Jamo on characters may be wide: to reckon too much breaks a line early, no more. */
#define FIRST_WIDE 0x1100
static size_t width_of(unsigned code)
{
	return code >= FIRST_WIDE && !(code >= 0x2000 && code < 0x2e80) ? 2 : 1;
}

size_t escape_fit(const char *text, size_t columns)
{
	size_t at = 0, n;
	unsigned code;

	while (text[at]) {
		n = next_char(text + at, &code);
		if (width_of(code) > columns)
			break;
		columns -= width_of(code);
		at += n;
	}
	return at;
}

size_t escape_columns(const char *text)
{
	size_t columns = 0;
	unsigned code;

	while (*text) {
		text += next_char(text, &code);
		columns += width_of(code);
	}
	return columns;
}

/* Tabs would be of any width. */
static void clean_line(struct str *out, const char *text)
{
	size_t from = out->len;

	str_neutralise(out, text ? text : "", text ? strlen(text) : 0, false);
	for (char *s = out->buf + from; *s; s++)
		if (*s == '\t')
			*s = ' ';
}

void escape_wrap(FILE *out, const char *text, const char *first, const char *indent, size_t width)
{
	_cleanup_str_ struct str clean = STR_INIT;
	size_t room = width - escape_columns(indent), n, cut;
	const char *s;

	clean_line(&clean, text);
	s = str_text(&clean);
	fputs(first ? first : indent, out);
	for (;;) {
		n = cut = escape_fit(s, room);
		while (s[n] && cut && s[cut] != ' ')
			cut--;
		if (!s[n] || !cut)
			cut = n;
		fwrite(s, 1, cut, out);
		fputc('\n', out);
		s += cut;
		s += strspn(s, " ");
		if (!*s || !n)
			return;
		fputs(indent, out);
	}
}

void escape_cut(struct str *out, const char *text, size_t columns)
{
	_cleanup_str_ struct str clean = STR_INIT;
	size_t n;

	clean_line(&clean, text);
	if (escape_columns(str_text(&clean)) <= columns) {
		str_add(out, str_text(&clean));
		return;
	}
	n = escape_fit(str_text(&clean), columns > 3 ? columns - 3 : 0);
	while (n && clean.buf[n - 1] == ' ')
		n--;
	str_addmem(out, str_text(&clean), n);
	str_add(out, "...");
}
