/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pathspecs: which trees have the same content in the paths of a campaign. */
#include <fnmatch.h>
#include <git2.h>
#include <stdlib.h>

#include "core/history.h"
#include "io/repo_internal.h"

/*
 * One pathspec, as git rev-list takes it in the top directory: a path covers
 * itself and all below it; * and ? also match slashes.
 */
struct item {
	char *match;
	size_t len;
	size_t literal; /* bytes before the first special one */
	bool dir_only;  /* was written with a slash at the end */
	bool exclude;
};

struct repo_paths {
	struct repo *r;
	struct item *item;
	size_t n, room;
	bool includes;            /* any item that is not an exclusion */
	struct history known;     /* trees seen: a set of names, numbered */
	struct commit_id *digest; /* of each */
	size_t digest_room;
	struct history contents; /* digests seen, numbered */
};

void repo_paths_free(struct repo_paths *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		free(p->item[i].match);
	free(p->item);
	free(p->digest);
	history_release(&p->known);
	history_release(&p->contents);
	free(p);
}

/* Take "." and ".." and doubled slashes out of @path. Owned; NULL: it leaves the repository. */
static char *normalise(const char *path)
{
	_cleanup_strv_ struct strv part = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;

	for (const char *end; *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, '/');
		if (end == path || (end - path == 1 && *path == '.'))
			continue;
		if (end - path == 2 && path[0] == '.' && path[1] == '.') {
			if (!part.n)
				return NULL;
			free(part.v[--part.n]);
			part.v[part.n] = NULL;
			continue;
		}
		strv_take(&part, xstrndup(path, (size_t)(end - path)));
	}
	for (size_t i = 0; i < part.n; i++)
		str_addf(&out, "%s%s", i ? "/" : "", part.v[i]);
	return str_detach(&out);
}

/* The magic words that we know; -1 for others. Moves @text behind them. */
static int take_magic(const char **text, bool *literal, bool *exclude)
{
	const char *at = *text;

	if (*at != ':')
		return 0;
	if (at[1] != '(') {
		for (at++; strchr("/!^", *at) && *at; at++)
			*exclude |= *at != '/';
		*text = *at == ':' ? at + 1 : at;
		/* git reserves the other punctuation for magic to come */
		return *at && strchr("\"#$%&'()*+,-;<=>?@[\\]_`{|}~.", *at) && *at != '.' ? -1 : 0;
	}
	for (at += 2; *at && *at != ')';) {
		size_t n = strcspn(at, ",)");

		if (n == 3 && !memcmp(at, "top", 3))
			;
		else if (n == 7 && !memcmp(at, "literal", 7))
			*literal = true;
		else if (n == 7 && !memcmp(at, "exclude", 7))
			*exclude = true;
		else
			return -1;
		at += n + (at[n] == ',');
	}
	if (*at != ')')
		return -1;
	*text = at + 1;
	return 0;
}

static int add_item(struct repo_paths *p, const char *text, struct err *e)
{
	const char *path = text;
	bool literal = false;
	struct item it = { .match = NULL };

	if (take_magic(&path, &literal, &it.exclude))
		return err_set(e, ERR_CONFIG,
			       "paths: '%s' uses a pathspec magic other than top, "
			       "literal and exclude",
			       text);
	it.match = *path == '/' ? NULL : normalise(path);
	if (!it.match)
		return err_set(e, ERR_CONFIG,
			       "paths: '%s' is outside the repository (paths are "
			       "relative to its top)",
			       text);
	it.len = strlen(it.match);
	it.literal = literal ? it.len : strcspn(it.match, "*?[\\");
	it.dir_only = it.len && path[strlen(path) - 1] == '/';
	p->includes |= !it.exclude;
	xgrow(&p->item, &p->room, p->n + 1, sizeof(*p->item));
	p->item[p->n++] = it;
	return 0;
}

int repo_paths_new(struct repo *r, const struct strv *paths, struct repo_paths **out, struct err *e)
{
	struct repo_paths *p = xcalloc(1, sizeof(*p));

	p->r = r;
	for (size_t i = 0; i < paths->n; i++) {
		if (add_item(p, paths->v[i], e)) {
			repo_paths_free(p);
			return -1;
		}
	}
	*out = p;
	return 0;
}

int repo_pathspec_new(const char *text, struct repo_paths **out, struct err *e)
{
	_cleanup_strv_ struct strv one = STRV_INIT;

	strv_add(&one, text);
	return repo_paths_new(NULL, &one, out, e);
}

static bool is_wild(const struct item *it)
{
	return it->literal < it->len;
}

/* Does @it cover @path whatever lies below it? */
static bool covers(const struct item *it, const char *path, bool is_dir)
{
	size_t n = strlen(path);

	if (!it->len)
		return true;
	if (n < it->len || memcmp(path, it->match, it->len))
		return false;
	return path[it->len] == '/' || (!path[it->len] && (is_dir || !it->dir_only));
}

static bool matches_leaf(const struct item *it, const char *path, bool is_dir)
{
	return covers(it, path, is_dir) ||
	       (is_wild(it) && !it->dir_only && !fnmatch(it->match, path, 0));
}

/* Can @it match something below the directory @path? */
static bool may_match_below(const struct item *it, const char *path)
{
	size_t n = strlen(path), common = n + 1 < it->literal ? n + 1 : it->literal;
	_cleanup_free_ char *dir = xasprintf("%s/", path);

	if (covers(it, path, true))
		return true;
	return !memcmp(dir, it->match, common) && (common == n + 1 || is_wild(it));
}

enum cover { COVER_NOTHING, COVER_SOME, COVER_ALL };

/* What the pathspec takes of @path. A gitlink is a leaf that counts as a directory. */
static enum cover cover_of(const struct repo_paths *p, const char *path, bool is_tree, bool is_dir)
{
	bool all = !p->includes, some = all, spared = true;

	for (size_t i = 0; i < p->n; i++) {
		const struct item *it = &p->item[i];
		bool whole = is_tree ? covers(it, path, true) : matches_leaf(it, path, is_dir);

		if (it->exclude && whole)
			return COVER_NOTHING;
		if (it->exclude) {
			spared &= !is_tree || !may_match_below(it, path);
			continue;
		}
		all |= whole;
		some |= whole || (is_tree && may_match_below(it, path));
	}
	if (all && spared)
		return COVER_ALL;
	return some && is_tree ? COVER_SOME : COVER_NOTHING;
}

bool repo_pathspec_has(const struct repo_paths *p, const char *path)
{
	return cover_of(p, path, false, false) == COVER_ALL;
}

static int tree_digest(struct repo_paths *p, const git_oid *tree, const char *dir,
		       struct commit_id *digest, struct err *e);

static int add_entry(struct repo_paths *p, const git_tree_entry *entry, const char *dir,
		     struct str *text, struct err *e)
{
	_cleanup_free_ char *path = xasprintf("%s%s%s", dir, *dir ? "/" : "",
					      git_tree_entry_name(entry));
	git_filemode_t mode = git_tree_entry_filemode_raw(entry);
	bool is_tree = mode == GIT_FILEMODE_TREE;
	struct commit_id id = repo_id(git_tree_entry_id(entry));
	enum cover cover = cover_of(p, path, is_tree, is_tree || mode == GIT_FILEMODE_COMMIT);

	if (cover == COVER_SOME && tree_digest(p, git_tree_entry_id(entry), path, &id, e))
		return -1;
	if (cover == COVER_NOTHING || commit_is_null(&id))
		return 0;
	str_addf(text, "%o ", (unsigned)mode);
	str_addmem(text, path, strlen(path) + 1);
	str_addmem(text, id.raw, COMMIT_RAW);
	return 0;
}

/* A digest of what the pathspec takes of @tree, which stands at @dir; all zero: nothing. */
static int read_digest(struct repo_paths *p, const git_oid *tree_id, const char *dir,
		       struct commit_id *digest, struct err *e)
{
	_cleanup_(repo_free_tree) git_tree *tree = NULL;
	_cleanup_str_ struct str text = STR_INIT;
	struct commit_id id = repo_id(tree_id);
	char hex[COMMIT_HEX + 1];
	int rc = git_tree_lookup(&tree, p->r->git, tree_id);
	git_oid oid;

	if (rc)
		return repo_fail(e, rc, "cannot read the tree '%s'", commit_hex(&id, hex));
	for (size_t i = 0; i < git_tree_entrycount(tree); i++)
		if (add_entry(p, git_tree_entry_byindex(tree, i), dir, &text, e))
			return -1;
	*digest = (struct commit_id){ { 0 } };
	if (!text.len)
		return 0;
	git_odb_hash(&oid, text.buf, text.len, GIT_OBJECT_BLOB);
	*digest = repo_id(&oid);
	return 0;
}

/* The same tree at the same place has the same digest: neighbours share most of theirs. */
static int tree_digest(struct repo_paths *p, const git_oid *tree, const char *dir,
		       struct commit_id *digest, struct err *e)
{
	_cleanup_str_ struct str key = STR_INIT;
	struct commit_id id;
	uint32_t known;
	git_oid oid;

	str_addmem(&key, tree->id, COMMIT_RAW);
	str_add(&key, dir);
	git_odb_hash(&oid, key.buf, key.len, GIT_OBJECT_BLOB);
	id = repo_id(&oid);
	known = history_find(&p->known, &id);
	if (known != HISTORY_NONE) {
		*digest = p->digest[known];
		return 0;
	}
	if (read_digest(p, tree, dir, digest, e))
		return -1;
	known = history_node(&p->known, &id);
	xgrow(&p->digest, &p->digest_room, known + 1, sizeof(*p->digest));
	p->digest[known] = *digest;
	return 0;
}

int repo_paths_content(struct repo_paths *p, const struct commit_id *tree, uint32_t *number,
		       struct err *e)
{
	struct commit_id digest;

	if (tree_digest(p, repo_oid(tree), "", &digest, e))
		return -1;
	*number = commit_is_null(&digest) ? 0 : history_node(&p->contents, &digest) + 1;
	return 0;
}
