/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a .cmd file, and as a file of paths: what is kept is a plain path below the sources. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/replay.h"

#include "io/used.h"

#define MUST(what)                                                     \
	do {                                                           \
		if (!(what)) {                                         \
			fprintf(stderr, "does not hold: %s\n", #what); \
			abort();                                       \
		}                                                      \
	} while (0)

/* Every line of the file between heading and hash. */
static void check_lines(char *text)
{
	char *line = strchr(text, '\n') + 1;

	for (char *next; (next = strchr(line, '\n')) && next[1]; line = next + 1) {
		*next = '\0';
		MUST(line[0] && line[0] != '/' && line[strlen(line) - 1] != '/');
		MUST(!strstr(line, "//") && !str_starts(line, "../") && !strstr(line, "/../"));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct used *u = used_new(), *back = used_new(), *any = used_new();
	_cleanup_str_ struct str text = STR_INIT;
	char a[HASH_HEX_SIZE], b[HASH_HEX_SIZE];

	used_scan(u, "/s/src", (const char *)data, n);
	MUST(used_count(u) <= n / strlen("/s/src/x"));
	used_format(u, &text);
	MUST(used_parse(back, text.buf, text.len));
	used_digest(u, a);
	used_digest(back, b);
	MUST(str_eq(a, b) && used_count(u) == used_count(back));
	used_parse(any, (const char *)data, n);
	used_is_idle(u, str_text(&text), REPO_MODIFIED);
	check_lines(text.buf);
	used_free(u);
	used_free(back);
	used_free(any);
	return 0;
}
