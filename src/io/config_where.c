/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a campaign file is, and where its values came from. */
#include <string.h>

#include "base/fs.h"
#include "io/config_table.h"

/* Of "section.key" in the table, -1: none. */
static int index_of(const char *name)
{
	const char *dot = strchr(name, '.');
	_cleanup_free_ char *section = xstrndup(name, dot ? (size_t)(dot - name) : 0);

	return dot ? config_index(section, dot + 1) : -1;
}

/* Of a key that the user named; NULL: it is none, or not given. */
static const struct config_patch *find_named(const struct config *c, int i, const char *name)
{
	const struct config_key *k = i < 0 ? NULL : &config_table[i];
	const char *own = k ? config_key_name(k, name + strlen(k->section) + 1) : NULL;
	const struct config_patches *p = own ? config_field(c, k) : NULL;

	for (size_t n = 0; p && n < p->n; n++)
		if (str_eq(p->v[n].name, own))
			return &p->v[n];
	return NULL;
}

bool config_given(const struct config *c, const char *name)
{
	int i = index_of(name);

	return find_named(c, i, name) || (i >= 0 && c->given && c->given[i]);
}

const char *config_where(const struct config *c, const char *name)
{
	int i = index_of(name);
	const struct config_patch *named = find_named(c, i, name);

	if (named)
		return named->where;
	return i >= 0 && (size_t)i < c->where.n ? c->where.v[i] : c->path;
}

char *config_find(const char *dir)
{
	_cleanup_free_ char *here = fs_absolute(dir);

	for (;;) {
		_cleanup_free_ char *file = fs_join(here, "kregress.ini");
		char *slash = strrchr(here, '/');

		if (fs_exists(file) && !fs_is_dir(file))
			return xstrdup(file);
		if (!slash || !here[1])
			return NULL;
		/* the last step up is to the root itself */
		slash[slash == here] = '\0';
	}
}
