/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages for a person, on stderr. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static enum log_level level = LOG_NORMAL;
static bool drawn; /* a progress line stands on the terminal */

void log_set_level(enum log_level l)
{
	level = l;
}

enum log_level log_get_level(void)
{
	return level;
}

bool log_has_progress(void)
{
	static int has = -1;

	if (has < 0) {
		const char *no = getenv("NO_COLOR");

		has = isatty(STDERR_FILENO) && !(no && *no);
	}
	return has && level > LOG_QUIET;
}

static void clear_progress(void)
{
	if (drawn)
		fputs("\r\033[K", stderr);
	drawn = false;
}

static void say(const char *prefix, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

static void say(const char *prefix, const char *fmt, va_list ap)
{
	clear_progress();
	fputs(prefix, stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	fflush(stderr);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("kregress: ", fmt, ap);
	va_end(ap);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("kregress: warning: ", fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	if (level < LOG_NORMAL)
		return;
	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}

void log_verbose(const char *fmt, ...)
{
	va_list ap;

	if (level < LOG_VERBOSE)
		return;
	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}

static int columns(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 10)
		return w.ws_col;
	return 80;
}

void log_progress(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!log_has_progress())
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	clear_progress();
	if (!line[0])
		return;
	fprintf(stderr, "%.*s", columns() - 1, line);
	fflush(stderr);
	drawn = true;
}
