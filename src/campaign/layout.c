/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout = of [build], as far as boots have a part in it. */
#include "campaign/layout.h"

#include <string.h>

#include "base/fs.h"

#define CONFIG_MAX (4u << 20)

bool session_layouts(const struct session *s)
{
	return s->cfg->build.type == BUILD_KERNEL && s->cfg->build.layout == LAYOUT_RANDOM;
}

static bool holds_still(const char *word, size_t n)
{
	static const char *const words[] = { "nokaslr", "norandmaps" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (n == strlen(words[i]) && memcmp(word, words[i], n) == 0)
			return true;
	return false;
}

char *layout_append(const struct session *s, const char *append)
{
	struct str out = STR_INIT;

	str_add(&out, "");
	if (append && !session_layouts(s))
		str_add(&out, append);
	else if (append)
		for (const char *p = append + strspn(append, " \t\n"), *end; *p; p = end) {
			end = p + strcspn(p, " \t\n");
			if (!holds_still(p, (size_t)(end - p)))
				str_addf(&out, "%s%.*s", out.len ? " " : "", (int)(end - p), p);
			end += strspn(end, " \t\n");
		}
	return str_detach(&out);
}

const char *layout_parameters(const struct session *s)
{
	return s->cfg->build.type == BUILD_KERNEL && s->cfg->build.layout == LAYOUT_FIXED
		       ? "nokaslr"
		       : "";
}

bool layout_moves_kernel(const struct session *s, const char *config)
{
	_cleanup_str_ struct str text = STR_INIT;

	return session_layouts(s) && config && fs_read(config, CONFIG_MAX, &text, NULL) == 0 &&
	       strstr(str_text(&text), "\nCONFIG_RANDOMIZE_BASE=y\n");
}
