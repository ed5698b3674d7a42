/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A strict reader of INI files (libinih) with its traps closed (FACTS.md 6). */
#ifndef KR_IO_INIFILE_H
#define KR_IO_INIFILE_H

#include <stddef.h>

#include "base/err.h"

struct inifile_entry {
	char *section; /* "" before the first section header */
	char *key;
	char *value; /* continuation lines joined by one newline each */
	int line;    /* 1-based line of the key */
};

struct inifile {
	char *path; /* as given, for messages */
	struct inifile_entry *entry;
	size_t n;
	/* sections in order of appearance, also empty ones */
	char **section;
	int *section_line;
	size_t n_sections;
};

/*
 * Read the whole of @path. ERR_CONFIG with "path:line: …" for: a directory or
 * missing file, NUL or control bytes, a byte order mark other than UTF-8's
 * (that one and CRLF are accepted), a line without '=', an empty key, an
 * unclosed section header, a key before any section, a continuation without a
 * key, a duplicate key in a section, a section that appears twice, a file > 1 MiB.
 * Comments: lines whose first non-blank is '#' or ';'. Inside a value they are text.
 * All mistakes of the file up to 20 are collected in the message, one per line, where they fit.
 */
int inifile_read(const char *path, struct inifile *out, struct err *e);
/* The same from memory; @path names it in messages. */
int inifile_parse(const char *path, const char *text, size_t n, struct inifile *out, struct err *e);
void inifile_release(struct inifile *f);

#endif
