/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commits before a bad one at which a good one may be looked for: tags, or steps of time. */
#include <git2.h>
#include <stdlib.h>

#include "io/repo_internal.h"

#define DAY 86400

/* The commits that carry a tag, each with one name. */
struct tags {
	struct history set;
	struct tag {
		char *name;
		bool annotated;
	} * tag;
	size_t room;
};

/* A commit that waits for its turn. */
struct pending {
	int64_t time;
	uint32_t seq, node;
};

struct walk {
	struct repo_loader loader;
	struct history h;
	struct pending *heap;
	size_t heap_room;
	uint32_t pending, seq;
};

struct found {
	struct repo_named *list;
	size_t n, room;
	unsigned max;
};

static void tags_release(struct tags *t)
{
	for (uint32_t i = 0; i < t->set.n; i++)
		free(t->tag[i].name);
	free(t->tag);
	history_release(&t->set);
}

static void walk_release(struct walk *w)
{
	repo_loader_release(&w->loader);
	history_release(&w->h);
	free(w->heap);
}

void repo_named_free(struct repo_named *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++)
		free(list[i].name);
	free(list);
}

static void found_release(struct found *f)
{
	repo_named_free(f->list, f->n);
}

static void add_found(struct found *f, const struct commit_id *id, const char *name)
{
	xgrow(&f->list, &f->room, f->n + 1, sizeof(*f->list));
	f->list[f->n++] = (struct repo_named){ .id = *id, .name = xstrdup(name) };
}

/* An annotated tag is a release; one that is not may be anything. */
static void add_tag(struct tags *t, const struct commit_id *id, const char *name, bool annotated)
{
	uint32_t known = t->set.n, node = history_node(&t->set, id);
	struct tag *tag;

	xgrow(&t->tag, &t->room, node + (size_t)1, sizeof(*t->tag));
	tag = &t->tag[node];
	if (node < known && !(annotated && !tag->annotated))
		return;
	if (node < known)
		free(tag->name);
	*tag = (struct tag){ .name = xstrdup(name), .annotated = annotated };
}

/* Tags of trees and files, and tags of what is not here, name no commit. */
static void see_tag(struct tags *t, const git_reference *ref)
{
	_cleanup_(repo_free_object) git_object *commit = NULL;
	const git_oid *target = git_reference_target(ref);
	struct commit_id id;

	if (git_reference_peel(&commit, ref, GIT_OBJECT_COMMIT))
		return;
	id = repo_id(git_object_id(commit));
	add_tag(t, &id, git_reference_name(ref) + strlen("refs/tags/"),
		target && !git_oid_equal(target, git_object_id(commit)));
}

static int collect_tags(struct repo *r, struct tags *t, struct err *e)
{
	git_reference_iterator *it;
	git_reference *ref = NULL;
	int rc = git_reference_iterator_glob_new(&it, r->git, "refs/tags/*");

	if (rc)
		return repo_fail(e, rc, "cannot list the tags of '%s'", r->common_dir);
	while ((rc = git_reference_next(&ref, it)) == 0) {
		see_tag(t, ref);
		git_reference_free(ref);
	}
	git_reference_iterator_free(it);
	if (rc != GIT_ITEROVER)
		return repo_fail(e, rc, "cannot list the tags of '%s'", r->common_dir);
	return 0;
}

/* 1: @node is loaded, 0: beyond the border of a shallow clone, -1. */
static int load(struct walk *w, uint32_t node, uint32_t child, struct err *e)
{
	if (history_is_loaded(&w->h, node))
		return 1;
	if (repo_is_cut_off(w->loader.r, &w->h.id[node]))
		return 0;
	return repo_load(&w->loader, &w->h, node, child, e) ? -1 : 1;
}

/* The newest first; of the same second, the first that came: as git rev-list does. */
static bool before(const struct pending *a, const struct pending *b)
{
	return a->time != b->time ? a->time > b->time : a->seq < b->seq;
}

static void put(struct walk *w, uint32_t node)
{
	struct pending item = { w->h.time[node], w->seq++, node };
	uint32_t i = w->pending++;

	xgrow(&w->heap, &w->heap_room, w->pending, sizeof(*w->heap));
	for (; i && before(&item, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = item;
}

static uint32_t take(struct walk *w)
{
	uint32_t node = w->heap[0].node, i = 0;
	struct pending last = w->heap[--w->pending];

	for (uint32_t child; (child = 2 * i + 1) < w->pending; i = child) {
		if (child + 1 < w->pending && before(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!before(&w->heap[child], &last))
			break;
		w->heap[i] = w->heap[child];
	}
	w->heap[i] = last;
	return node;
}

/* What is loaded has had its turn, or waits for it. */
static int put_parents(struct walk *w, uint32_t node, struct err *e)
{
	for (uint32_t i = w->h.parent_start[node]; i < w->h.parent_end[node]; i++) {
		uint32_t parent = w->h.parent[i];
		int ret = history_is_loaded(&w->h, parent) ? 0 : load(w, parent, node, e);

		if (ret < 0)
			return -1;
		if (ret)
			put(w, parent);
	}
	return 0;
}

/* One walk for all tags; it ends with the last one that is wanted. */
static int find_tags(struct walk *w, const struct tags *t, uint32_t bad, struct found *f,
		     struct err *e)
{
	for (uint32_t node = bad;; node = take(w)) {
		uint32_t tag = history_find(&t->set, &w->h.id[node]);

		if (tag != HISTORY_NONE && node != bad)
			add_found(f, &w->h.id[node], t->tag[tag].name);
		if (f->n == f->max || f->n == t->set.n)
			return 0;
		if (put_parents(w, node, e))
			return -1;
		if (!w->pending)
			return 0;
	}
}

static const struct {
	int days;
	const char *name;
} ages[] = {
	{ 1, "1 day before" },      { 3, "3 days before" },   { 7, "1 week before" },
	{ 14, "2 weeks before" },   { 30, "1 month before" }, { 60, "2 months before" },
	{ 120, "4 months before" },
};

/* First parent of @node, loaded; HISTORY_NONE: the history ends. -1 failure. */
static int first_parent(struct walk *w, uint32_t node, uint32_t *parent, struct err *e)
{
	int ret;

	*parent = HISTORY_NONE;
	if (w->h.parent_start[node] == w->h.parent_end[node])
		return 0;
	ret = load(w, w->h.parent[w->h.parent_start[node]], node, e);
	if (ret > 0)
		*parent = w->h.parent[w->h.parent_start[node]];
	return ret < 0 ? -1 : 0;
}

/* How many steps of time @node is older than @bad. */
static size_t age_of(const struct walk *w, uint32_t node, uint32_t bad)
{
	int64_t age = w->h.time[bad] - w->h.time[node];
	size_t n = 0;

	while (n < ARRAY_SIZE(ages) && age >= (int64_t)ages[n].days * DAY)
		n++;
	return n;
}

static int find_ages(struct walk *w, uint32_t bad, struct found *f, struct err *e)
{
	uint32_t node = bad, parent;
	size_t reached = 0;

	while (reached < ARRAY_SIZE(ages) && f->n < f->max) {
		size_t age;

		if (first_parent(w, node, &parent, e))
			return -1;
		if (parent == HISTORY_NONE)
			break;
		node = parent;
		age = age_of(w, node, bad);
		if (age <= reached)
			continue;
		reached = age;
		add_found(f, &w->h.id[node], ages[age - 1].name);
	}
	/* a history that is too short for all the steps: its whole length is the last one */
	if (reached < ARRAY_SIZE(ages) && f->n < f->max && node != bad &&
	    !(f->n && commit_eq(&f->list[f->n - 1].id, &w->h.id[node])))
		add_found(f, &w->h.id[node], "the oldest commit");
	return 0;
}

int repo_earlier(struct repo *r, const struct commit_id *bad, unsigned max, struct repo_named **out,
		 size_t *n, struct err *e)
{
	_cleanup_(tags_release) struct tags tags = { .tag = NULL };
	_cleanup_(walk_release) struct walk w = { .loader = { .r = r } };
	_cleanup_(found_release) struct found f = { .max = max };
	uint32_t node = history_node(&w.h, bad);

	if (collect_tags(r, &tags, e) || repo_load(&w.loader, &w.h, node, HISTORY_NONE, e))
		return -1;
	if (tags.set.n && find_tags(&w, &tags, node, &f, e))
		return -1;
	if (!f.n && find_ages(&w, node, &f, e))
		return -1;
	*out = f.list;
	*n = f.n;
	f = (struct found){ .list = NULL };
	return 0;
}
