/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of ours. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(struct err *e, enum err_code code, int sys, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));

static void put(struct err *e, enum err_code code, int sys, const char *fmt, va_list ap)
{
	char text[sizeof(e->msg)];

	/* Formatted apart: an argument may be e->msg itself. */
	vsnprintf(text, sizeof(text), fmt, ap);
	memcpy(e->msg, text, sizeof(text));
	e->code = code;
	e->sys = sys;
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	put(e, code, 0, fmt, ap);
	va_end(ap);
	return -1;
}

int err_sys(struct err *e, int errnum, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	if (!e)
		return -1;
	va_start(ap, fmt);
	put(e, ERR_SYS, errnum, fmt, ap);
	va_end(ap);
	len = strlen(e->msg);
	snprintf(e->msg + len, sizeof(e->msg) - len, ": %s", strerror(errnum));
	return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char old[sizeof(e->msg)];
	va_list ap;
	size_t len;

	if (!e)
		return -1;
	memcpy(old, e->msg, sizeof(old));
	va_start(ap, fmt);
	put(e, e->code, e->sys, fmt, ap);
	va_end(ap);
	len = strlen(e->msg);
	snprintf(e->msg + len, sizeof(e->msg) - len, ": %s", old);
	return -1;
}

int err_hint(struct err *e, const char *fmt, ...)
{
	char hint[sizeof(e->msg)];
	va_list ap;
	size_t len;

	if (!e)
		return -1;
	va_start(ap, fmt);
	vsnprintf(hint, sizeof(hint), fmt, ap);
	va_end(ap);
	len = strlen(e->msg);
	snprintf(e->msg + len, sizeof(e->msg) - len, " (%s)", hint);
	return -1;
}

int err_exit_status(enum err_code code)
{
	switch (code) {
	case ERR_NONE:
		return 0;
	case ERR_USAGE:
	case ERR_CONFIG:
		return 129;
	case ERR_INTERRUPTED:
		return 130;
	default:
		return 128;
	}
}
