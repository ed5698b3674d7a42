/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Untrusted text in XML, HTML, addresses of files and lines of limited width. */
#ifndef KR_REPORT_ESCAPE_H
#define KR_REPORT_ESCAPE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"

/*
 * @text as element content or as the value of a quoted attribute of XML and HTML: first
 * neutralised (controls, bytes that are no UTF-8, and characters that turn the direction of text
 * as \xNN), then <, >, &, " and ' as references. So what comes out has no "]]>" and no tag.
 * NULL prints nothing. @lines: newlines stay.
 */
void escape_text(FILE *out, const char *text, bool lines);
/* The same, appended. */
void escape_add(struct str *out, const char *text, bool lines);

/* The absolute @path (or @dir/@name) as a file: URL, everything unusual as %NN. */
void escape_url(FILE *out, const char *dir, const char *name);

/* Columns of the UTF-8 text: wide characters, and those that might be, are two. */
size_t escape_columns(const char *text);
/* Bytes of @text that fit @columns, at the border of a character. */
size_t escape_fit(const char *text, size_t columns);

/*
 * @text neutralised, in lines of at most @width columns, each after @indent; broken at blanks,
 * else anywhere. The first line begins with @first (as wide as the indent, or NULL).
 */
void escape_wrap(FILE *out, const char *text, const char *first, const char *indent, size_t width);

/* @text neutralised on one line of at most @columns, "..." at its end where it was cut. */
void escape_cut(struct str *out, const char *text, size_t columns);

#endif
