/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signs of trouble in a kernel's console output. */
#include "target/console.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define LINE_MAX_BYTES 500 /* of one console line; the kernel's own are shorter */

/*
 * A message starts with @start and, where given, has @also further on. Texts from the
 * kernel's sources: kernel/panic.c, kernel/watchdog*.c, kernel/hung_task.c,
 * kernel/rcu/tree_stall.h, mm/oom_kill.c, lib/bug.c, arch/x86/kernel/{dumpstack,traps}.c,
 * arch/x86/mm/fault.c, mm/kasan/report.c. The first that fits counts.
 */
static const struct pattern {
	const char *start, *also;
	enum console_sign sign;
} patterns[] = {
	{ "Kernel panic - not syncing", NULL, CONSOLE_PANIC },
	{ "watchdog: BUG: soft lockup", NULL, CONSOLE_SOFT_LOCKUP },
	{ "NMI watchdog: BUG: soft lockup", NULL, CONSOLE_SOFT_LOCKUP },
	{ "BUG: soft lockup", NULL, CONSOLE_SOFT_LOCKUP },
	{ "BUG: workqueue lockup", NULL, CONSOLE_SOFT_LOCKUP },
	{ "watchdog: ", "hard LOCKUP", CONSOLE_SOFT_LOCKUP },
	{ "NMI watchdog: ", "hard LOCKUP", CONSOLE_SOFT_LOCKUP },
	{ "watchdog: CPU", "self-detected hard LOCKUP", CONSOLE_SOFT_LOCKUP },
	{ "BUG: ", NULL, CONSOLE_OOPS },
	{ "kernel BUG at ", NULL, CONSOLE_OOPS },
	{ "Oops: ", NULL, CONSOLE_OOPS },
	{ "Oops[", NULL, CONSOLE_OOPS },
	{ "general protection fault", NULL, CONSOLE_OOPS },
	{ "Internal error: ", NULL, CONSOLE_OOPS },
	{ "Unable to handle kernel ", NULL, CONSOLE_OOPS },
	{ "divide error: ", NULL, CONSOLE_OOPS },
	{ "invalid opcode: ", NULL, CONSOLE_OOPS },
	{ "stack segment: ", NULL, CONSOLE_OOPS },
	{ "double fault: ", NULL, CONSOLE_OOPS },
	{ "PANIC: double fault", NULL, CONSOLE_OOPS },
	{ "traps: PANIC: double fault", NULL, CONSOLE_OOPS },
	{ "kernel tried to execute NX-protected page", NULL, CONSOLE_OOPS },
	{ "rcu: INFO: ", "detected stall", CONSOLE_RCU_STALL },
	{ "rcu: INFO: ", "self-detected stall", CONSOLE_RCU_STALL },
	{ "rcu: INFO: ", "detected expedited stall", CONSOLE_RCU_STALL },
	{ "INFO: rcu", "detected stall", CONSOLE_RCU_STALL },
	{ "INFO: rcu", "self-detected stall", CONSOLE_RCU_STALL },
	{ "INFO: rcu", "detected expedited stall", CONSOLE_RCU_STALL },
	{ "INFO: task ", "blocked for more than", CONSOLE_HUNG_TASK },
	{ "INFO: task ", "blocked in I/O wait for more than", CONSOLE_HUNG_TASK },
	{ "Out of memory: ", NULL, CONSOLE_OOM },
	{ "Out of memory (oom_kill_allocating_task): ", NULL, CONSOLE_OOM },
	{ "Memory cgroup out of memory: ", NULL, CONSOLE_OOM },
	{ "WARNING: ", NULL, CONSOLE_WARNING },
};

/* What a panic says when it is only the consequence of something that spoke before. */
static const struct {
	const char *text;
	enum console_sign cause;
} consequences[] = {
	{ "hung_task", CONSOLE_HUNG_TASK },
	{ "RCU Stall", CONSOLE_RCU_STALL },
	{ "softlockup", CONSOLE_SOFT_LOCKUP },
	{ "hard LOCKUP", CONSOLE_SOFT_LOCKUP },
	{ "Hard LOCKUP", CONSOLE_SOFT_LOCKUP },
	{ "ut of memory", CONSOLE_OOM },
	{ "", CONSOLE_OOPS },
};

#define SIGNS (CONSOLE_PANIC + 1)

/* The first line of each sign. */
struct scan {
	const char *first[SIGNS];
	size_t len[SIGNS];
};

/* Past "<6>", "[   12.345678]", "[  T123]" and blanks; bytes left in *@n. */
static const char *skip_stamp(const char *s, size_t *n)
{
	for (;;) {
		char close = *n && *s == '<' ? '>' : *n && *s == '[' ? ']' : 0;
		const char *end = close ? memchr(s, close, *n < 24 ? *n : 24) : NULL;

		if (*n && (*s == ' ' || *s == '\r')) {
			s++;
			(*n)--;
			continue;
		}
		/* A stamp holds digits; "[drm] …" is text. */
		if (!end || !isdigit((unsigned char)end[-1]))
			return s;
		*n -= (size_t)(end + 1 - s);
		s = end + 1;
	}
}

static bool fits(const struct pattern *p, const char *s, size_t n)
{
	size_t len = strlen(p->start);

	return n >= len && !memcmp(s, p->start, len) &&
	       (!p->also || memmem(s + len, n - len, p->also, strlen(p->also)));
}

static void take_line(struct scan *scan, const char *s, size_t n)
{
	if (n > LINE_MAX_BYTES)
		n = LINE_MAX_BYTES;
	s = skip_stamp(s, &n);
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		enum console_sign sign = patterns[i].sign;

		if (!fits(&patterns[i], s, n))
			continue;
		if (!scan->first[sign]) {
			scan->first[sign] = s;
			scan->len[sign] = n;
		}
		return;
	}
}

/* Which sign's line tells the most: of a panic, what led to it. */
static enum console_sign telling(const struct scan *scan, enum console_sign gravest)
{
	const char *panic = scan->first[CONSOLE_PANIC];

	if (gravest != CONSOLE_PANIC)
		return gravest;
	for (size_t i = 0; i < ARRAY_SIZE(consequences); i++) {
		const char *cause = scan->first[consequences[i].cause];

		/* Pointers into one text: what came before the panic. */
		if (cause && cause < panic &&
		    memmem(panic, scan->len[CONSOLE_PANIC], consequences[i].text,
			   strlen(consequences[i].text)))
			return consequences[i].cause;
	}
	return gravest;
}

enum console_sign console_scan(const char *text, size_t n, char *line, size_t size)
{
	_cleanup_str_ struct str clean = STR_INIT;
	struct scan scan = { .first = { NULL } };
	enum console_sign gravest = CONSOLE_CLEAN, sign;

	for (size_t at = 0; at < n;) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - (text + at)) : n - at;

		take_line(&scan, text + at, len);
		at += len + 1;
	}
	for (int i = CONSOLE_WARNING; i < SIGNS; i++)
		if (scan.first[i])
			gravest = (enum console_sign)i;
	sign = telling(&scan, gravest);
	if (scan.first[sign]) {
		while (scan.len[sign] > 0 &&
		       isspace((unsigned char)scan.first[sign][scan.len[sign] - 1]))
			scan.len[sign]--;
		str_neutralise(&clean, scan.first[sign], scan.len[sign], false);
	}
	if (size)
		snprintf(line, size, "%s", str_text(&clean));
	return gravest;
}

const char *console_sign_name(enum console_sign s)
{
	static const char *const names[SIGNS] = {
		[CONSOLE_CLEAN] = "clean",         [CONSOLE_WARNING] = "warning",
		[CONSOLE_OOM] = "out of memory",   [CONSOLE_HUNG_TASK] = "hung task",
		[CONSOLE_RCU_STALL] = "RCU stall", [CONSOLE_SOFT_LOCKUP] = "soft lockup",
		[CONSOLE_OOPS] = "oops",           [CONSOLE_PANIC] = "panic",
	};

	return (unsigned)s < SIGNS ? names[s] : names[0];
}
