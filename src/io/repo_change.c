/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files a commit changes, of thousands of commits one after the other. */
#include <git2.h>
#include <stdlib.h>
#include <string.h>

#include "base/sig.h"
#include "io/repo_internal.h"

/*
 * A commit shares most trees with its neighbours, and libgit2 caches none above 4 kB: those are
 * parsed once here. A tree takes the place of whichever had its slot.
 */
#define SLOTS 4096
#define DEPTH_MAX 512

struct repo_changes {
	struct repo *r;
	git_tree *slot[SLOTS];
	git_commit *commit; /* see repo_changes_of() */
	git_tree **parent;  /* its parents' */
	git_tree *tree;
	unsigned n_parents;
};

/* One call of repo_changes_walk(). */
struct walk {
	struct repo_changes *c;
	int (*see)(const char *path, enum repo_change change, void *cookie);
	void *cookie;
	struct str path;
	unsigned depth;
	struct err *e;
};

struct repo_changes *repo_changes_new(struct repo *r)
{
	struct repo_changes *c = xcalloc(1, sizeof(*c));

	c->r = r;
	return c;
}

static void drop_commit(struct repo_changes *c)
{
	for (unsigned i = 0; i < c->n_parents; i++)
		git_tree_free(c->parent[i]);
	free(c->parent);
	c->parent = NULL;
	c->n_parents = 0;
	git_tree_free(c->tree);
	c->tree = NULL;
	git_commit_free(c->commit);
	c->commit = NULL;
}

void repo_changes_free(struct repo_changes *c)
{
	if (!c)
		return;
	drop_commit(c);
	for (size_t i = 0; i < SLOTS; i++)
		git_tree_free(c->slot[i]);
	free(c);
}

/* The tree of that name, owned by the caller too. */
static int get_tree(struct repo_changes *c, const git_oid *id, git_tree **out, struct err *e)
{
	git_tree **slot = &c->slot[(id->id[0] | id->id[1] << 8) % SLOTS];
	struct commit_id shown = repo_id(id);
	char hex[COMMIT_HEX + 1];
	int rc = 0;

	if (!*slot || git_oid_cmp(git_tree_id(*slot), id) != 0) {
		git_tree *fresh = NULL;

		rc = git_tree_lookup(&fresh, c->r->git, id);
		if (rc)
			return repo_fail(e, rc, "cannot read the tree '%s'",
					 commit_hex(&shown, hex));
		git_tree_free(*slot);
		*slot = fresh;
	}
	rc = git_tree_dup(out, *slot);
	return rc ? repo_fail(e, rc, "cannot read the tree '%s'", commit_hex(&shown, hex)) : 0;
}

int repo_changes_of(struct repo_changes *c, const struct commit_id *id, unsigned *parents,
		    struct err *e)
{
	char hex[COMMIT_HEX + 1];
	int rc;

	drop_commit(c);
	if (sig_check(e) < 0)
		return -1;
	rc = git_commit_lookup(&c->commit, c->r->git, repo_oid(id));
	if (rc)
		return repo_fail(e, rc, "cannot read commit %s", commit_hex(id, hex));
	if (get_tree(c, git_commit_tree_id(c->commit), &c->tree, e) < 0)
		return -1;
	unsigned n = git_commit_parentcount(c->commit);

	c->parent = xcalloc(n, sizeof(git_tree *));
	for (; c->n_parents < n; c->n_parents++) {
		_cleanup_(repo_free_commit) git_commit *p = NULL;

		rc = git_commit_parent(&p, c->commit, c->n_parents);
		if (rc)
			return repo_fail(e, rc, "cannot read a parent of commit %s",
					 commit_hex(id, hex));
		if (get_tree(c, git_commit_tree_id(p), &c->parent[c->n_parents], e) < 0)
			return -1;
	}
	*parents = n;
	return 0;
}

/* ---- comparing a tree with others, all at once ---- */

static bool is_dir(const git_tree_entry *en)
{
	return en && git_tree_entry_filemode_raw(en) == GIT_FILEMODE_TREE;
}

/* A file with text: neither symbolic link nor submodule. */
static bool is_plain(const git_tree_entry *en)
{
	return (git_tree_entry_filemode_raw(en) & 0170000) == 0100000;
}

static bool same_entry(const git_tree_entry *a, const git_tree_entry *b)
{
	return git_tree_entry_filemode_raw(a) == git_tree_entry_filemode_raw(b) &&
	       git_oid_equal(git_tree_entry_id(a), git_tree_entry_id(b));
}

static int tell(struct walk *w, enum repo_change change)
{
	return w->see(str_text(&w->path), change, w->cookie);
}

static int compare(struct walk *w, git_tree *tree, git_tree *const *old, unsigned n);

/* @entry (NULL: deleted) and what the @n older trees have in its place, NULL where they do not. */
static int go_down(struct walk *w, const git_tree_entry *entry, const git_tree_entry *const *was,
		   unsigned n)
{
	git_tree *tree = NULL, **old = xcalloc(n, sizeof(git_tree *));
	int ret = 0;

	for (unsigned i = 0; i < n && ret == 0; i++)
		if (is_dir(was[i]))
			ret = get_tree(w->c, git_tree_entry_id(was[i]), &old[i], w->e);
	if (ret == 0 && is_dir(entry))
		ret = get_tree(w->c, git_tree_entry_id(entry), &tree, w->e);
	if (ret == 0)
		ret = compare(w, tree, old, n);
	for (unsigned i = 0; i < n; i++)
		git_tree_free(old[i]);
	free(old);
	git_tree_free(tree);
	return ret;
}

/* A name that stands in the new tree, or in all older ones, and is the same in none of them. */
static int see_name(struct walk *w, const git_tree_entry *entry, const git_tree_entry *const *was,
		    unsigned n)
{
	bool dir = is_dir(entry), file = entry && !dir, in_all = true, kept = file;
	unsigned files = 0;
	int ret = 0;

	for (unsigned i = 0; i < n; i++) {
		dir |= is_dir(was[i]);
		files += was[i] && !is_dir(was[i]);
		in_all &= was[i] && !is_dir(was[i]);
		kept &= was[i] && !is_dir(was[i]) && is_plain(was[i]);
	}
	if (file)
		ret = tell(w, kept && is_plain(entry) ? REPO_MODIFIED : REPO_ADDED);
	else if (in_all && files == n)
		ret = tell(w, REPO_DELETED);
	if (ret == 0 && dir) {
		str_add(&w->path, "/");
		ret = go_down(w, entry, was, n);
	}
	return ret;
}

/* Look up @name in each of @old; false: one of them has the very same entry. */
static bool look_up(git_tree *const *old, unsigned n, const char *name, const git_tree_entry *entry,
		    const git_tree_entry **was)
{
	for (unsigned i = 0; i < n; i++) {
		was[i] = old[i] ? git_tree_entry_byname(old[i], name) : NULL;
		if (entry ? was[i] && same_entry(was[i], entry) : !was[i])
			return false;
	}
	return true;
}

static int compare_entries(struct walk *w, git_tree *list, git_tree *tree, git_tree *const *old,
			   unsigned n)
{
	_cleanup_free_ const git_tree_entry **was = xcalloc(n, sizeof(const git_tree_entry *));
	size_t len = w->path.len, count = list ? git_tree_entrycount(list) : 0;
	int ret = 0;

	for (size_t i = 0; i < count && ret == 0; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(list, i);
		const char *name = git_tree_entry_name(entry);

		/* Of the older trees' names only those that the new one does not have. */
		if (list != tree) {
			if (tree && git_tree_entry_byname(tree, name))
				continue;
			entry = NULL;
		}
		if (!look_up(old, n, name, entry, was))
			continue;
		str_add(&w->path, name);
		ret = see_name(w, entry, was, n);
		w->path.len = len;
		w->path.buf[len] = '\0';
	}
	return ret;
}

/* NULL: there is none. */
static int compare(struct walk *w, git_tree *tree, git_tree *const *old, unsigned n)
{
	int ret;

	if (w->depth >= DEPTH_MAX)
		return err_set(w->e, ERR_GIT, "cannot compare trees deeper than %d folders",
			       DEPTH_MAX);
	w->depth++;
	ret = compare_entries(w, tree, tree, old, n);
	/* What is gone was in all of them: one list of names is enough. */
	if (ret == 0 && old[0])
		ret = compare_entries(w, old[0], tree, old, n);
	w->depth--;
	return ret;
}

int repo_changes_walk(struct repo_changes *c, unsigned nth,
		      int (*see)(const char *path, enum repo_change change, void *cookie),
		      void *cookie, struct err *e)
{
	struct walk w = { .c = c, .see = see, .cookie = cookie, .path = STR_INIT, .e = e };
	git_tree *none = NULL, **old = c->n_parents ? c->parent : &none;
	unsigned n = c->n_parents ? c->n_parents : 1;
	int ret;

	if (nth != REPO_ALL_PARENTS) {
		old += nth;
		n = 1;
	}
	str_add(&w.path, "");
	ret = compare(&w, c->tree, old, n);
	str_release(&w.path);
	return ret;
}
