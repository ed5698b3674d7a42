/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of ours: an explicit object, last parameter, wrapped on the way up. */
#ifndef KR_BASE_ERR_H
#define KR_BASE_ERR_H

/*
 * What kind of failure it is; decides the exit status (DESIGN.md, "Commands").
 * None of these is ever a verdict on a commit.
 */
enum err_code {
	ERR_NONE = 0,
	ERR_USAGE,       /* command line wrong: 129 */
	ERR_CONFIG,      /* campaign file, or a path or revision it names, wrong: 129 */
	ERR_SYS,         /* the operating system refused something: 128 */
	ERR_GIT,         /* repository unreadable or damaged: 128 */
	ERR_STORE,       /* the store is locked, damaged or full: 128 */
	ERR_LAB,         /* target, QEMU or its surroundings sick: 128 */
	ERR_NOT_FOUND,   /* the thing asked for does not exist; caller decides */
	ERR_TIMEOUT,     /* a deadline of ours passed; caller decides */
	ERR_INTERRUPTED, /* INT or TERM: 130 */
	ERR_INTERNAL,    /* a bug of ours: 128 */
};

struct err {
	enum err_code code;
	int sys;       /* errno at the place of failure, 0: none */
	char msg[512]; /* lower case, no full stop; what failed first, then the remedy */
};

/* Starts an err with nothing in it. */
#define ERR_INIT                 \
	{                        \
		.code = ERR_NONE \
	}

/*
 * Fill @e and return -1, so that failing is one line. @e may be NULL (the
 * caller does not care). A message longer than msg is cut, never overrun.
 */
int err_set(struct err *e, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As err_set() with ERR_SYS; appends ": " and the text of @errnum. */
int err_sys(struct err *e, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Put "text: " before the message in @e, keeping its code. Returns -1. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append a remedy in parentheses: "message (text)". Returns -1. */
int err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Exit status that belongs to @code: 0 for ERR_NONE, else 128, 129 or 130. */
int err_exit_status(enum err_code code);

#endif
