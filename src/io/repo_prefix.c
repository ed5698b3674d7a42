/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A short object name that several objects share, where a commit is wanted. */
#include <git2.h>
#include <stdlib.h>

#include "base/sig.h"
#include "io/repo_internal.h"

struct prefix {
	struct repo *r;
	const char *hex;
	size_t len;
	git_oid commit;
	unsigned commits; /* how many have the prefix */
	size_t seen;
};

static bool has_prefix(const struct prefix *p, const git_oid *oid)
{
	char hex[GIT_OID_HEXSZ];

	git_oid_fmt(hex, oid);
	for (size_t i = 0; i < p->len; i++)
		if (hex[i] != (p->hex[i] >= 'A' && p->hex[i] <= 'F' ? p->hex[i] + 32 : p->hex[i]))
			return false;
	return true;
}

static int see_object(const git_oid *oid, void *cookie)
{
	_cleanup_(repo_free_object) git_object *object = NULL;
	_cleanup_(repo_free_object) git_object *commit = NULL;
	struct prefix *p = cookie;

	if (++p->seen % 65536 == 0 && sig_check(NULL))
		return GIT_EUSER;
	if (!has_prefix(p, oid) || git_object_lookup(&object, p->r->git, oid, GIT_OBJECT_ANY) ||
	    git_object_peel(&commit, object, GIT_OBJECT_COMMIT))
		return 0;
	/* an object can lie in several packs */
	if (p->commits && git_oid_equal(&p->commit, git_object_id(commit)))
		return 0;
	git_oid_cpy(&p->commit, git_object_id(commit));
	p->commits++;
	return 0;
}

int repo_prefix(struct repo *r, const char *hex, git_oid *commit)
{
	struct prefix p = { .r = r, .hex = hex, .len = strlen(hex) };
	int rc;

	if (strspn(hex, "0123456789abcdefABCDEF") != p.len || p.len > GIT_OID_HEXSZ)
		return GIT_EAMBIGUOUS;
	/* git wants four digits at least; fewer are a name like any other */
	if (p.len < GIT_OID_MINPREFIXLEN)
		return GIT_ENOTFOUND;
	rc = git_odb_foreach(r->odb, see_object, &p);
	if (rc || p.commits != 1)
		return rc ? rc : GIT_EAMBIGUOUS;
	git_oid_cpy(commit, &p.commit);
	return 0;
}
