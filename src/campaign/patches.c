/* SPDX-License-Identifier: GPL-2.0-or-later */
/* patch.NAME of [build]: which commits each is for, and the setup of a trial that follows. */
#include "campaign/patches.h"

#include <stdlib.h>

/* A patch that is for a range. */
struct ranged {
	struct commit_id *id; /* sorted */
	size_t n;
	char hash[HASH_HEX_SIZE]; /* of the file */
};

/* A commit of ours and the one that it was made on. */
struct alias {
	struct commit_id id, like;
};

struct patches {
	const struct session *s;
	struct build_patch *patch; /* for the builder; of each of the campaign's */
	struct ranged *ranged;     /* of the same; id NULL: no range, for all commits */
	size_t n;
	struct alias *alias;
	size_t n_alias, alias_room;
	struct strv masks, setups; /* a setup for each set of ranged patches seen so far */
};

static int by_id(const void *a, const void *b)
{
	return commit_cmp(a, b);
}

/* The commits of one range. @p belongs to [build]. */
static int expand(const struct session *s, const struct config_patch *p, struct ranged *out,
		  struct err *e)
{
	/* A series has its own repository, which does not have the user's names. */
	struct repo *repo = s->user_repo ? s->user_repo : s->repo;
	_cleanup_free_ char *range = xasprintf("%s..%s", p->from, p->to);
	_cleanup_free_ char *what = xasprintf("patch.%s in [build]", p->name);

	if (repo_expand(repo, range, what, &out->id, &out->n, e) < 0)
		return err_wrap(e, "%s", p->where);
	if (!out->n)
		return err_set(e, ERR_CONFIG,
			       "%s: patch.%s is for no commit: all that '%s' reaches, '%s' reaches "
			       "too (the older side comes first: swap them)",
			       p->where, p->name, p->to, p->from);
	qsort(out->id, out->n, sizeof(*out->id), by_id);
	return 0;
}

static int open_one(const struct session *s, size_t i, struct err *e)
{
	const struct config_patch *p = &s->cfg->build.patch.v[i];

	s->patches->patch[i] =
		(struct build_patch){ .name = p->name, .file = p->file, .must = p->from != NULL };
	if (!p->from)
		return 0;
	if (hash_file(p->file, s->patches->ranged[i].hash, e) < 0)
		return err_wrap(e, "%s", p->where);
	return expand(s, p, &s->patches->ranged[i], e);
}

int patches_open(struct session *s, struct err *e)
{
	size_t n = s->cfg->build.patch.n;

	if (!n)
		return 0;
	s->patches = xcalloc(1, sizeof(*s->patches));
	*s->patches = (struct patches){ .s = s,
					.n = n,
					.patch = xcalloc(n, sizeof(struct build_patch)),
					.ranged = xcalloc(n, sizeof(struct ranged)) };
	for (size_t i = 0; i < n; i++)
		if (open_one(s, i, e) < 0)
			return -1;
	return 0;
}

void patches_free(struct patches *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		free(p->ranged[i].id);
	free(p->ranged);
	free(p->patch);
	free(p->alias);
	strv_release(&p->masks);
	strv_release(&p->setups);
	free(p);
}

void patches_take_after(struct session *s, const struct commit_id *id, const struct commit_id *like)
{
	struct patches *p = s->patches;

	if (!p)
		return;
	for (size_t i = 0; i < p->n_alias; i++)
		if (commit_eq(&p->alias[i].id, id))
			return;
	xgrow(&p->alias, &p->alias_room, p->n_alias + 1, sizeof(*p->alias));
	p->alias[p->n_alias++] = (struct alias){ .id = *id, .like = *like };
}

/* The commit of the user's that decides for @id: a series is made on its base. */
static const struct commit_id *original(const struct patches *p, const struct commit_id *id)
{
	for (size_t i = p->n_alias; i-- > 0;)
		if (commit_eq(&p->alias[i].id, id)) {
			id = &p->alias[i].like;
			break;
		}
	return p->s->series && dag_find(&p->s->dag, id) != DAG_NONE ? &p->s->old : id;
}

/* Of those with a range, is patch @i for @id, which is the user's? */
static bool in_range(const struct patches *p, size_t i, const struct commit_id *id)
{
	const struct ranged *r = &p->ranged[i];

	return r->id && bsearch(id, r->id, r->n, sizeof(*r->id), by_id);
}

static bool is_for(const void *cookie, size_t i, const struct commit_id *commit)
{
	const struct patches *p = cookie;

	return !p->ranged[i].id || in_range(p, i, original(p, commit));
}

void patches_to_builder(const struct session *s, struct build_opts *o)
{
	if (!s->patches)
		return;
	o->patch = s->patches->patch;
	o->n_patch = s->patches->n;
	o->patch_is_for = is_for;
	o->patch_cookie = s->patches;
}

/* The setup where the patches marked 'x' in @mask are applied. Owned by @p. */
static const char *setup_with(struct patches *p, const char *mask)
{
	/* what is compared changes the session's setup as it goes */
	_cleanup_free_ char *key = xasprintf("%s %s", p->s->setup, mask);
	struct hash *h;
	char hex[HASH_HEX_SIZE];

	for (size_t i = 0; i < p->masks.n; i++)
		if (str_eq(p->masks.v[i], key))
			return p->setups.v[i];
	h = hash_new();
	hash_add_text(h, p->s->setup);
	for (size_t i = 0; i < p->n; i++)
		if (mask[i] == 'x')
			hash_add_text(h, p->ranged[i].hash);
	hash_hex(h, hex);
	strv_add(&p->masks, key);
	strv_add(&p->setups, hex);
	return p->setups.v[p->setups.n - 1];
}

const char *session_setup_of(const struct session *s, const struct commit_id *id)
{
	struct patches *p = s->patches;
	_cleanup_free_ char *mask = NULL;
	bool any = false;

	if (!p)
		return s->setup;
	mask = xcalloc(p->n + 1, 1);
	id = original(p, id);
	for (size_t i = 0; i < p->n; i++) {
		mask[i] = in_range(p, i, id) ? 'x' : '-';
		any |= mask[i] == 'x';
	}
	return any ? setup_with(p, mask) : s->setup;
}
