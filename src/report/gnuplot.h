/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all plots by gnuplot share. */
#ifndef KR_REPORT_GNUPLOT_H
#define KR_REPORT_GNUPLOT_H

#include <stdio.h>

#include "base/err.h"

/* Untrusted @text (NULL: "") as a single-quoted string of gnuplot: literal, neutralised. */
void gnuplot_quote(FILE *out, const char *text);

/* Run gnuplot on @script in @dir, at most a minute. 0; 1: it did not work, @why says why; -1. */
int gnuplot_run(const char *dir, const char *script, char *why, size_t size, struct err *e);

/*
 * Close the memory stream @f and write what it holds, *@text with @n bytes, as @dir/@name. *@text
 * is freed and NULL.
 */
int gnuplot_write(const char *dir, const char *name, FILE *f, char **text, const size_t *n,
		  struct err *e);

#endif
