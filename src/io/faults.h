/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mistakes in one file of the user's, collected and reported together. */
#ifndef KR_IO_FAULTS_H
#define KR_IO_FAULTS_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* More are counted, not kept. */
#define FAULTS_MAX 20

/* Where a mistake is: a line of the file, or a setting of the command line. */
struct fault_at {
	int line;           /* 1-based */
	const char *option; /* "section.key" of a -o, NULL: the file; borrowed */
};

struct fault {
	int line;   /* to sort by */
	char *text; /* with its "file:line: " or "-o section.key: " */
};

struct faults {
	const char *path; /* of the file, as messages name it; borrowed */
	struct fault fault[FAULTS_MAX];
	size_t n;     /* kept */
	size_t total; /* found */
};

/* Add a mistake. The text is a message as of struct err. */
void faults_add(struct faults *f, struct fault_at at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Add "unknown <what> '<word>'<where>", with "did you mean" where one of the
 * @n @names is near, else with the list of them where it is short.
 */
void faults_unknown(struct faults *f, struct fault_at at, const char *what, const char *word,
		    const char *where, const char *const *names, size_t n);

/*
 * 0 when there is no mistake. Else -1 and ERR_CONFIG: one a line in the order of
 * lines, as many as fit whole, then how many more there are.
 */
int faults_end(struct faults *f, struct err *e);
void faults_release(struct faults *f);

/* @text fit for a message: neutralised, at most about 60 bytes. Owned. */
char *faults_quote(const char *text);

/*
 * "(did you mean 'x'?)" with a blank before it for the names of the files in @dir that end
 * in @suffix (without it), "" when none is near. Owned.
 */
char *faults_near_file(const char *dir, const char *suffix, const char *word);

#endif
