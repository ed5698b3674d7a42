/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings, vectors of strings and checked allocation. Out of memory aborts. */
#ifndef KR_BASE_STR_H
#define KR_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Scope cleanup: declare and acquire in one statement. */
#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _cleanup_free_ _cleanup_(str_freep)
#define _cleanup_str_ _cleanup_(str_release)
#define _cleanup_strv_ _cleanup_(strv_release)
#define _cleanup_close_ _cleanup_(str_closep)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* free(*p) and close(*fd) where fd >= 0: for the attributes above. */
void str_freep(void *p);
void str_closep(int *fd);
/* Hand @fd over: its value, and -1 left behind for the cleanup. */
int str_steal_fd(int *fd);

/* Allocation that never returns NULL; count × size is checked for overflow. */
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t count, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Grow *@array (of @size-byte items, room for *@room) so that @need items fit. */
void xgrow(void *array, size_t *room, size_t need, size_t size);

/* A growing byte buffer; buf is always NUL-terminated and never NULL after an add. */
struct str {
	char *buf;
	size_t len; /* bytes, without the NUL */
	size_t room;
};
#define STR_INIT            \
	{                   \
		.buf = NULL \
	}
void str_release(struct str *s);
void str_clear(struct str *s);
void str_add(struct str *s, const char *text);
void str_addmem(struct str *s, const void *data, size_t n);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Hand the buffer over to the caller (never NULL); @s is empty afterwards. */
char *str_detach(struct str *s);
/* The text, "" when nothing was added. Borrowed. */
const char *str_text(const struct str *s);

/* A NULL-terminated vector of owned strings: v[n] == NULL (v may be NULL when n is 0). */
struct strv {
	char **v;
	size_t n;
	size_t room;
};
#define STRV_INIT         \
	{                 \
		.v = NULL \
	}
void strv_release(struct strv *sv);
void strv_clear(struct strv *sv);
/* The same words in the same order? */
bool strv_eq(const struct strv *a, const struct strv *b);
void strv_add(struct strv *sv, const char *s); /* copies */
void strv_take(struct strv *sv, char *s);      /* takes ownership */
void strv_addf(struct strv *sv, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strv_extend(struct strv *sv, const struct strv *from); /* copies each */
bool strv_has(const struct strv *sv, const char *s);

/*
 * Split @text into words as a shell does, without expansions: blanks separate;
 * '…' is literal; "…" knows \" and \\; a backslash quotes the next byte.
 * Appends to @out. Fails with ERR_CONFIG on an open quote or a final backslash.
 */
int str_split_words(const char *text, struct strv *out, struct err *e);

/* Inverse for display: words joined by blanks, quoted where needed. Appends. */
void str_join_words(struct str *out, char *const *words);

/* Of the @n @names, the nearest to @word by edit distance, NULL if none is near. */
const char *str_did_you_mean(const char *word, const char *const *names, size_t n);

/*
 * Append @n bytes of untrusted @data to @out, fit for a terminal: printable
 * UTF-8, tab kept (newline too where @keep_newlines); anything else as \xNN.
 */
void str_neutralise(struct str *out, const char *data, size_t n, bool keep_newlines);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
static inline bool str_eq(const char *a, const char *b)
{
	return (!a || !b) ? a == b : __builtin_strcmp(a, b) == 0;
}

/* "1h 02m", "3m 12s", "4.2s" from seconds, into @buf. Returns @buf. */
const char *str_duration(double seconds, char *buf, size_t size);

#endif
