/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ancestry in a clone whose history ends early. */
#include <git2.h>
#include <stdlib.h>

#include "io/repo_internal.h"

struct walk {
	struct repo_loader loader;
	struct history h;
	uint32_t *stack;
	size_t depth, room;
	bool was_cut; /* the border was met */
};

static void walk_release(struct walk *w)
{
	repo_loader_release(&w->loader);
	history_release(&w->h);
	free(w->stack);
}

bool repo_is_cut_off(struct repo *r, const struct commit_id *id)
{
	return r->is_shallow && !git_odb_exists(r->odb, repo_oid(id));
}

static int visit(struct walk *w, uint32_t node, uint32_t child, struct err *e)
{
	if (history_is_loaded(&w->h, node))
		return 0;
	if (repo_is_cut_off(w->loader.r, &w->h.id[node])) {
		w->was_cut = true;
		return 0;
	}
	xgrow(&w->stack, &w->room, w->depth + 1, sizeof(*w->stack));
	w->stack[w->depth++] = node;
	return repo_load(&w->loader, &w->h, node, child, e);
}

/* libgit2 1.5 takes the border of a shallow clone for damage. */
int repo_reaches(struct repo *r, const struct commit_id *from, const struct commit_id *to,
		 struct err *e)
{
	_cleanup_(walk_release) struct walk w = { .loader = { .r = r } };

	if (visit(&w, history_node(&w.h, from), HISTORY_NONE, e))
		return -1;
	while (w.depth) {
		uint32_t node = w.stack[--w.depth];

		if (commit_eq(&w.h.id[node], to))
			return 1;
		for (uint32_t i = w.h.parent_start[node]; i < w.h.parent_end[node]; i++)
			if (visit(&w, w.h.parent[i], node, e))
				return -1;
	}
	if (w.was_cut)
		return err_set(e, ERR_CONFIG,
			       "the history of '%s' ends before good and bad meet, because the "
			       "clone is shallow (git fetch --unshallow)",
			       r->common_dir);
	return 0;
}
