/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signs of trouble in a kernel's console output. */
#ifndef KR_TARGET_CONSOLE_H
#define KR_TARGET_CONSOLE_H

#include <stddef.h>

enum console_sign {
	CONSOLE_CLEAN = 0,
	CONSOLE_WARNING, /* WARN_ON: kept as a note, no failure */
	CONSOLE_OOM,     /* a process was killed for lack of memory */
	CONSOLE_HUNG_TASK,
	CONSOLE_RCU_STALL,
	CONSOLE_SOFT_LOCKUP, /* hard and workqueue lockups, too */
	CONSOLE_OOPS,        /* BUG, Oops, general protection, KASAN */
	CONSOLE_PANIC,
};

/*
 * Scan @n untrusted bytes. Returns the gravest sign (largest value) and puts its
 * first line, without time stamp, neutralised, into @line. For a panic caused by
 * an oops the line is the oops's, which says more.
 */
enum console_sign console_scan(const char *text, size_t n, char *line, size_t size);
/* "panic", "oops", "soft lockup", …, "clean". Static. */
const char *console_sign_name(enum console_sign s);

#endif
