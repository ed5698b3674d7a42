/* SPDX-License-Identifier: GPL-2.0-or-later */
/* patch.NAME of [build]: a file, and the range of commits that it is for. */
#include <stdlib.h>
#include <string.h>

#include "io/config_table.h"

/* "from..to"; what is wrong with it, NULL: nothing. */
static const char *range_mistake(const char *text)
{
	const char *dots = strstr(text, "..");

	if (!dots)
		return "a range is written from..to; quote a path with blanks";
	if (strstr(dots + 1, ".."))
		return "two dots once: from..to is what is reachable from to, but not from from";
	if (dots == text || !dots[2])
		return "name both sides: from..to";
	if (text[0] == '-' || dots[2] == '-')
		return "no revision starts with '-'";
	if (strlen(text) % 2 == 0 && !strncmp(text, dots + 2, (size_t)(dots - text)) &&
	    strlen(dots + 2) == (size_t)(dots - text))
		return "it is empty: both sides are the same";
	return NULL;
}

static int parse_patch(const struct config *c, const struct config_key *k, const char *text,
		       void *field, struct err *e)
{
	_cleanup_strv_ struct strv words = STRV_INIT;
	struct config_patch *p = field;
	const char *mistake, *dots;

	if (config_kind_words.parse(c, k, text, &words, e) < 0)
		return -1;
	if (words.n > 2)
		return config_bad_value(e, "value", text, k->key,
					"a file and at most one range from..to; quote a path with "
					"blanks");
	mistake = words.n == 2 ? range_mistake(words.v[1]) : NULL;
	if (mistake)
		return config_bad_value(e, "range", words.v[1], k->key, mistake);
	if (config_kind_file.parse(c, k, words.v[0], &p->file, e) < 0)
		return -1;
	if (words.n < 2)
		return 0;
	dots = strstr(words.v[1], "..");
	p->from = xstrndup(words.v[1], (size_t)(dots - words.v[1]));
	p->to = xstrdup(dots + 2);
	return 0;
}

static void format_patch(const struct config_key *k, const void *field, struct str *out)
{
	const struct config_patch *p = field;
	_cleanup_strv_ struct strv words = STRV_INIT;

	(void)k;
	strv_add(&words, p->file);
	if (p->from)
		strv_addf(&words, "%s..%s", p->from, p->to);
	str_join_words(out, words.v);
}

void config_release_named(void *field)
{
	struct config_patches *p = field;

	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].name);
		free(p->v[i].file);
		strv_release(&p->v[i].words);
		free(p->v[i].from);
		free(p->v[i].to);
		free(p->v[i].where);
	}
	free(p->v);
	*p = (struct config_patches){ .v = NULL };
}

const struct config_kind config_kind_patch = {
	.type = "path [from..to]",
	.parse = parse_patch,
	.format = format_patch,
	.release = config_release_named,
	.joins_lines = true,
};
