/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The git program as a child, away from the environment and the settings of our caller. */
#ifndef KR_IO_GITRUN_H
#define KR_IO_GITRUN_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct gitrun {
	const char *const *args; /* after "git", NULL-terminated */
	const struct strv *env;  /* settings beyond, such as GIT_DIR; may be NULL */
	const char *cwd;         /* NULL: ours */
	const char *in_path;     /* stdin; NULL: empty */
	struct str *out;         /* its stdout is appended; may be NULL */
	bool merge;              /* its stderr too */
};

/*
 * Run git to its end: no GIT_* of our caller reaches it, and no configuration or attributes
 * of the user or the machine; it speaks English. Returns its exit status, or -1: git is
 * missing, was killed, hangs, prints more than 256 MiB, or we were interrupted.
 */
int gitrun(const struct gitrun *g, struct err *e);

/*
 * What git says without its "fatal: " and "error: ", in one line fit for a message: the
 * first line of @words, at most @size−1 bytes; "no reason given" for none. Returns @buf.
 */
const char *gitrun_reason(const char *words, char *buf, size_t size);

#endif
