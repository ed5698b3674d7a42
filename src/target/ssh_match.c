/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of OpenSSH's files. */
#include "target/ssh_match.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

/* Only the last '*' is ever gone back to, so the time is bounded by text × pattern. */
bool ssh_match(const char *text, const char *pattern, size_t n)
{
	size_t p = 0, star = 0, from = 0, t = 0;
	bool has_star = false;

	while (text[t]) {
		if (p < n && pattern[p] == '*') {
			has_star = true;
			star = ++p;
			from = t;
		} else if (p < n && (pattern[p] == '?' || pattern[p] == text[t])) {
			p++;
			t++;
		} else if (has_star) {
			p = star;
			t = ++from;
		} else {
			return false;
		}
	}
	while (p < n && pattern[p] == '*')
		p++;
	return p == n;
}

static void lower(char *s)
{
	for (; *s; s++)
		*s = (char)tolower((unsigned char)*s);
}

bool ssh_match_list(const char *text, const char *list, size_t n)
{
	_cleanup_free_ char *small = xstrdup(text), *patterns = xstrndup(list, n);
	bool fits = false;

	lower(small);
	lower(patterns);
	for (const char *p = patterns; *p;) {
		size_t len = strcspn(p, ",");
		bool negated = len > 0 && *p == '!';

		if (len > 0 && ssh_match(small, p + negated, len - negated)) {
			if (negated)
				return false;
			fits = true;
		}
		p += len + (p[len] == ',');
	}
	return fits;
}
