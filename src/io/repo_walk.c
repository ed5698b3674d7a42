/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The candidates of a range: commits read from the object database, limited as git does it. */
#include <git2.h>
#include <stdlib.h>

#include "base/sig.h"
#include "core/history.h"
#include "io/repo_internal.h"

void repo_loader_release(struct repo_loader *l)
{
	free(l->tree);
	free(l->parent);
}

/* The fields that matter of a raw commit. */
struct raw_commit {
	struct commit_id tree;
	size_t parents;
	int64_t time;
};

/* "<key> <40 hex>\n" at @at: its object name, and @at moved on. */
static bool take_name(const char **at, const char *end, const char *key, struct commit_id *id)
{
	size_t n = strlen(key);
	char hex[COMMIT_HEX + 1];

	if ((size_t)(end - *at) < n + COMMIT_HEX + 1 || memcmp(*at, key, n) ||
	    (*at)[n + COMMIT_HEX] != '\n')
		return false;
	memcpy(hex, *at + n, COMMIT_HEX);
	hex[COMMIT_HEX] = '\0';
	if (!commit_parse(hex, id))
		return false;
	*at += n + COMMIT_HEX + 1;
	return true;
}

/* Seconds of the committer line; 0 where there is none, as git takes it. */
static int64_t committer_time(const char *at, const char *end)
{
	const char *line = memchr(at, '\n', (size_t)(end - at));
	const char *stop;
	int64_t time = 0;

	if (!line || (size_t)(end - line) < 11 || memcmp(line + 1, "committer ", 10))
		return 0;
	line++;
	stop = memchr(line, '\n', (size_t)(end - line));
	line = stop ? memchr(line, '>', (size_t)(stop - line)) : NULL;
	if (!line)
		return 0;
	for (line++; line < stop && *line == ' '; line++)
		;
	for (; line < stop && *line >= '0' && *line <= '9'; line++)
		if (time < INT64_MAX / 16)
			time = 10 * time + (*line - '0');
	return time;
}

static bool parse_commit(struct repo_loader *l, const char *at, size_t size, struct raw_commit *c)
{
	const char *end = at + size;
	struct commit_id parent;

	c->parents = 0;
	if (!take_name(&at, end, "tree ", &c->tree))
		return false;
	while (take_name(&at, end, "parent ", &parent)) {
		xgrow(&l->parent, &l->parent_room, c->parents + 1, sizeof(*l->parent));
		l->parent[c->parents++] = parent;
	}
	c->time = committer_time(at, end);
	return true;
}

static int missing(struct repo_loader *l, const struct history *h, uint32_t node, uint32_t child,
		   int rc, struct err *e)
{
	char hex[COMMIT_HEX + 1], child_hex[COMMIT_HEX + 1];

	commit_hex(&h->id[node], hex);
	if (rc != GIT_ENOTFOUND || child == HISTORY_NONE)
		return repo_fail(e, rc, "cannot read commit '%s'", hex);
	commit_hex(&h->id[child], child_hex);
	if (l->r->is_shallow)
		return err_set(e, ERR_CONFIG,
			       "the history ends at '%s' because the clone is "
			       "shallow (git fetch --unshallow, or name a good end that is newer)",
			       child_hex);
	return err_set(e, ERR_GIT,
		       "the repository is damaged: '%s', a parent of '%s', is missing "
		       "(git fsck tells more)",
		       hex, child_hex);
}

int repo_load(void *cookie, struct history *h, uint32_t node, uint32_t child, struct err *e)
{
	_cleanup_(repo_free_odb_object) git_odb_object *object = NULL;
	struct repo_loader *l = cookie;
	struct raw_commit c;
	int rc = git_odb_read(&object, l->r->odb, repo_oid(&h->id[node]));

	if (rc)
		return missing(l, h, node, child, rc, e);
	if (git_odb_object_type(object) != GIT_OBJECT_COMMIT ||
	    !parse_commit(l, git_odb_object_data(object), git_odb_object_size(object), &c))
		return err_set(e, ERR_GIT,
			       "the repository is damaged: a commit is malformed "
			       "(git fsck tells more)");
	history_set(h, node, c.time, l->parent, c.parents);
	if (l->want_trees) {
		xgrow(&l->tree, &l->tree_room, h->n, sizeof(*l->tree));
		l->tree[node] = c.tree;
	}
	return ++l->loads % 1024 ? 0 : sig_check(e);
}

static void free_limit(struct limit *l)
{
	limit_release(l);
}

static int walk_all(struct limit *l, struct repo_loader *loader, struct history *h,
		    const struct repo_range *range, struct err *e)
{
	struct limit_opts o = {
		.tip = history_node(h, range->tip),
		.first_parent = range->first_parent,
		.load = repo_load,
		.cookie = loader,
	};

	for (size_t i = 0; i < range->n_not; i++)
		history_add_older(h, history_node(h, &range->not_[i]));
	o.older = h->older;
	o.n_older = h->n_older;
	return limit_walk(l, h, &o, e);
}

static void fill_dag(struct dag *dag, const struct limit *l, const struct history *h,
		     const struct repo_range *range)
{
	_cleanup_free_ uint32_t *node_of = xcalloc(h->n + (size_t)1, sizeof(*node_of));

	memset(node_of, 0xff, h->n * sizeof(*node_of));
	dag->to_history = xcalloc(l->n + (size_t)1, sizeof(*dag->to_history));
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t x = l->list[i];

		node_of[x] = dag_add(dag, &h->id[x], h->time[x]);
		dag->to_history[i] = x;
	}
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t n;
		const uint32_t *parent = limit_parents(l, h, l->list[i], &n);

		if (range->first_parent && n > 1)
			n = 1;
		for (uint32_t k = 0; k < n; k++)
			if (node_of[parent[k]] != DAG_NONE)
				dag_parent(dag, i, node_of[parent[k]]);
	}
	dag_finish(dag);
	dag->tip = dag_find(dag, range->tip);
}

/* Number the contents of all candidates and their parents. */
static int number_contents(struct repo_paths *paths, const struct repo_loader *loader,
			   struct history *h, const struct limit *l, struct err *e)
{
	_cleanup_free_ bool *done = xcalloc(h->n + (size_t)1, sizeof(*done));

	h->content = xcalloc(h->n + (size_t)1, sizeof(*h->content));
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t n;
		const uint32_t *parent = limit_parents(l, h, l->list[i], &n);

		for (uint32_t k = 0; k <= n; k++) {
			uint32_t x = k < n ? parent[k] : l->list[i];

			if (done[x] || !history_is_loaded(h, x))
				continue;
			done[x] = true;
			if (repo_paths_content(paths, &loader->tree[x], &h->content[x], e))
				return -1;
		}
		if (i % 256 == 0 && sig_check(e))
			return -1;
	}
	return 0;
}

static void free_paths(struct repo_paths **p)
{
	repo_paths_free(*p);
}

/* Which nodes of @dag rev-list leaves out for the sake of the paths. */
static int mark_treesame(struct repo *r, const struct repo_range *range,
			 const struct repo_loader *loader, const struct limit *all,
			 struct history *h, struct dag *dag, struct err *e)
{
	_cleanup_(free_paths) struct repo_paths *paths = NULL;
	_cleanup_(free_limit) struct limit l = { 0 };
	const struct limit_opts o = {
		.tip = history_find(h, range->tip),
		.older = h->older,
		.n_older = h->n_older,
		.first_parent = range->first_parent,
		.simplify = true,
	};

	if (repo_paths_new(r, range->paths, &paths, e) ||
	    number_contents(paths, loader, h, all, e) || limit_walk(&l, h, &o, e))
		return -1;
	dag->treesame = xcalloc(dag->n + (size_t)1, sizeof(*dag->treesame));
	for (uint32_t i = 0; i < dag->n; i++)
		dag->treesame[i] = !limit_has(&l, dag->to_history[i]) ||
				   limit_is_same(&l, dag->to_history[i]);
	return 0;
}

static void free_history(struct history **h)
{
	if (*h)
		history_release(*h);
	free(*h);
}

int repo_candidates(struct repo *r, const struct repo_range *range, struct dag *dag, struct err *e)
{
	_cleanup_(repo_loader_release) struct repo_loader loader = {
		.r = r,
		.want_trees = range->paths && range->paths->n,
	};
	_cleanup_(free_history) struct history *h = xcalloc(1, sizeof(*h));
	_cleanup_(free_limit) struct limit l = { 0 };
	_cleanup_(dag_release) struct dag made = DAG_INIT;

	if (walk_all(&l, &loader, h, range, e))
		return -1;
	fill_dag(&made, &l, h, range);
	if (loader.want_trees && mark_treesame(r, range, &loader, &l, h, &made, e))
		return -1;
	made.history = h;
	*dag = made;
	made = (struct dag)DAG_INIT;
	h = NULL;
	return 0;
}
