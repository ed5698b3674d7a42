/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages for a person, on stderr; results go to stdout and not through here. */
#ifndef KR_BASE_LOG_H
#define KR_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_QUIET = -1, LOG_NORMAL = 0, LOG_VERBOSE = 1 };

/* Process-wide level, from -q and -v. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* "kregress: text"; always shown. For warnings: prefix "kregress: warning: ". */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* One line of progress, shown unless -q. */
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Shown with -v: commands run, paths used. */
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * A line that is redrawn in place. Shown only where stderr is a terminal,
 * NO_COLOR is unset and the level is not quiet; the other log functions clear
 * it first. log_progress("%s", "") removes it.
 */
void log_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Is the redrawn line in use? */
bool log_has_progress(void);

#endif
