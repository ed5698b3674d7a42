/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a console: the scan stays within bounds, and its line is fit to print. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/replay.h"

#include "base/str.h"
#include "target/console.h"

#define MUST(what)                                                     \
	do {                                                           \
		if (!(what)) {                                         \
			fprintf(stderr, "does not hold: %s\n", #what); \
			abort();                                       \
		}                                                      \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* A copy of the exact size: a read past its end is seen. */
	_cleanup_free_ char *text = xcalloc(n + !n, 1);
	_cleanup_str_ struct str quiet = STR_INIT, panicked = STR_INIT;
	char line[120], again[120];
	enum console_sign sign;

	memcpy(text, data, n);
	sign = console_scan(text, n, line, sizeof(line));
	MUST((int)sign >= CONSOLE_CLEAN && (int)sign <= CONSOLE_PANIC);
	MUST(memchr(line, 0, sizeof(line)));
	MUST((sign == CONSOLE_CLEAN) == (line[0] == 0));
	for (const char *p = line; *p; p++)
		MUST((unsigned char)*p >= ' ' || *p == '\t');

	/* A line of no meaning changes nothing; a panic at the end is always the gravest. */
	str_add(&quiet, "[    0.1] Linux version\n");
	str_addmem(&quiet, text, n);
	MUST(console_scan(quiet.buf, quiet.len, again, sizeof(again)) == sign);
	MUST(!strcmp(line, again));
	str_addmem(&panicked, text, n);
	str_add(&panicked, "\n[    9.9] Kernel panic - not syncing: x\n");
	MUST(console_scan(panicked.buf, panicked.len, again, sizeof(again)) == CONSOLE_PANIC);
	return 0;
}
