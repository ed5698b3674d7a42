/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections of plain texts and lists: what workloads and machine profiles are made of. */
#ifndef KR_IO_INIFIELDS_H
#define KR_IO_INIFIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "io/faults.h"
#include "io/inifile.h"

enum inifield_kind {
	INIFIELD_LINE = 0, /* char *, one line */
	INIFIELD_TEXT,     /* char *, lines joined by blanks */
	INIFIELD_WORDS,    /* struct strv, split as a shell does */
};

struct inifield {
	const char *key;
	enum inifield_kind kind;
	size_t offset;
	bool required; /* given, and not empty */
};

/*
 * Set the fields of @base from [@section] of @f; a text that is not given is "". Unknown
 * keys, missing ones and bad lists go to @faults. Fields are owned by the caller, also
 * after mistakes.
 */
void inifields_take(const struct inifile *f, const char *section, const struct inifield *fields,
		    size_t n, void *base, struct faults *faults);
void inifields_release(const struct inifield *fields, size_t n, void *base);

/*
 * An indented "threshold=+20%" would be swallowed by the value above it, and libinih says
 * nothing. False, and a mistake, where a continuation line of @entry starts with one of @names
 * ("patch.NAME": with "patch." and any name) and '='.
 */
bool inifields_check_lines(const struct inifile_entry *entry, const char *const *names, size_t n,
			   struct faults *faults);

/* Line of the header of [@section]; 1 when there is none. */
int inifields_section_line(const struct inifile *f, const char *section);

/* A value's lines joined by blanks. Owned. */
char *inifields_join_lines(const char *value);

#endif
