/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings, vectors of strings and checked allocation. */
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die_of_memory(size_t bytes)
{
	/* The store is append-only: nothing is lost, the campaign resumes. */
	fprintf(stderr, "kregress: out of memory (%zu bytes); run it again to resume\n", bytes);
	abort();
}

void str_freep(void *p)
{
	void **ptr = p;

	free(*ptr);
	*ptr = NULL;
}

void str_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int str_steal_fd(int *fd)
{
	int value = *fd;

	*fd = -1;
	return value;
}

void *xrealloc(void *p, size_t count, size_t size)
{
	size_t bytes;
	void *q;

	if (__builtin_mul_overflow(count, size, &bytes))
		die_of_memory(SIZE_MAX);
	if (!bytes)
		bytes = 1;
	q = realloc(p, bytes);
	if (!q)
		die_of_memory(bytes);
	return q;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		die_of_memory(count * size);
	return p;
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = xrealloc(NULL, len + 1, 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, SIZE_MAX - 1);
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		die_of_memory(0);
	return text;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	return text;
}

void xgrow(void *array, size_t *room, size_t need, size_t size)
{
	void **a = array;
	size_t r = *room ? *room : 8;

	if (need <= *room)
		return;
	while (r < need)
		if (__builtin_mul_overflow(r, 2, &r))
			die_of_memory(SIZE_MAX);
	*a = xrealloc(*a, r, size);
	*room = r;
}

void str_release(struct str *s)
{
	free(s->buf);
	memset(s, 0, sizeof(*s));
}

void str_clear(struct str *s)
{
	s->len = 0;
	if (s->buf)
		s->buf[0] = '\0';
}

void str_addmem(struct str *s, const void *data, size_t n)
{
	if (n > SIZE_MAX - s->len - 1)
		die_of_memory(SIZE_MAX);
	xgrow(&s->buf, &s->room, s->len + n + 1, 1);
	if (n)
		memcpy(s->buf + s->len, data, n);
	s->len += n;
	s->buf[s->len] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_addmem(s, text, strlen(text));
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	str_add(s, text);
	free(text);
}

char *str_detach(struct str *s)
{
	char *buf = s->buf ? s->buf : xstrdup("");

	memset(s, 0, sizeof(*s));
	return buf;
}

const char *str_text(const struct str *s)
{
	return s->buf ? s->buf : "";
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

const char *str_duration(double seconds, char *buf, size_t size)
{
	long s = (long)(seconds + 0.5);

	if (seconds < 9.95)
		snprintf(buf, size, "%.1fs", seconds);
	else if (s < 60)
		snprintf(buf, size, "%lds", s);
	else if (s < 3600)
		snprintf(buf, size, "%ldm %02lds", s / 60, s % 60);
	else
		snprintf(buf, size, "%ldh %02ldm", s / 3600, s / 60 % 60);
	return buf;
}
