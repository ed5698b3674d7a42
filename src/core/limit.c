/* SPDX-License-Identifier: GPL-2.0-or-later */
/* git's walk that limits a history to the candidates, history simplification by paths included. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/history.h"

enum {
	SEEN = 1,          /* was or is pending */
	UNINTERESTING = 2, /* reachable from an older end, as far as is known yet */
	BOTTOM = 4,        /* an older end itself */
	PARSED = 8,        /* git has read it, so that marks pass through it */
	PENDING = 16,
	TREESAME = 32,
	LISTED = 64,
};

/* Uninteresting commits that are looked at after the last interesting one. */
#define SLOP 5

struct limit_pending {
	int64_t time;
	uint32_t seq, node;
};

struct walk {
	struct limit *l;
	struct history *h;
	const struct limit_opts *o;
	uint32_t *stack;
	size_t stack_room;
};

static void walk_release(struct walk *w)
{
	free(w->stack);
}

void limit_release(struct limit *l)
{
	free(l->list);
	free(l->flag);
	free(l->kept);
	free(l->heap);
	*l = (struct limit){ 0 };
}

/* Loading makes commits known: room for their flags. */
static void fit(struct limit *l, const struct history *h, bool simplify)
{
	size_t room = l->flag_room;

	xgrow(&l->flag, &l->flag_room, h->n, sizeof(*l->flag));
	memset(l->flag + room, 0, l->flag_room - room);
	if (!simplify)
		return;
	room = l->kept_room;
	xgrow(&l->kept, &l->kept_room, l->flag_room, sizeof(*l->kept));
	memset(l->kept + room, 0xff, (l->kept_room - room) * sizeof(*l->kept));
}

/* The newest first; of the same second, the first that came. */
static bool before(const struct limit_pending *a, const struct limit_pending *b)
{
	return a->time != b->time ? a->time > b->time : a->seq < b->seq;
}

static void push(struct walk *w, uint32_t node)
{
	struct limit *l = w->l;
	struct limit_pending item = { w->h->time[node], l->seq++, node };
	uint32_t i = l->pending++;

	l->flag[node] |= SEEN | PENDING;
	if (!(l->flag[node] & UNINTERESTING))
		l->interesting++;
	xgrow(&l->heap, &l->heap_room, l->pending, sizeof(*l->heap));
	for (; i && before(&item, &l->heap[(i - 1) / 2]); i = (i - 1) / 2)
		l->heap[i] = l->heap[(i - 1) / 2];
	l->heap[i] = item;
}

static uint32_t pop(struct walk *w)
{
	struct limit *l = w->l;
	uint32_t node = l->heap[0].node, i = 0;
	struct limit_pending last = l->heap[--l->pending];

	for (uint32_t child; (child = 2 * i + 1) < l->pending; i = child) {
		if (child + 1 < l->pending && before(&l->heap[child + 1], &l->heap[child]))
			child++;
		if (!before(&l->heap[child], &last))
			break;
		l->heap[i] = l->heap[child];
	}
	l->heap[i] = last;
	l->flag[node] &= (uint8_t)~PENDING;
	if (!(l->flag[node] & UNINTERESTING))
		l->interesting--;
	return node;
}

/* 1: there, 0: beyond what was ever loaded, -1: it cannot be read. */
static int parse(struct walk *w, uint32_t node, uint32_t child, struct err *e)
{
	if (!history_is_loaded(w->h, node)) {
		if (!w->o->load)
			return 0;
		if (w->o->load(w->o->cookie, w->h, node, child, e))
			return -1;
		fit(w->l, w->h, w->o->simplify);
	}
	w->l->flag[node] |= PARSED;
	return 1;
}

const uint32_t *limit_parents(const struct limit *l, const struct history *h, uint32_t node,
			      uint32_t *count)
{
	if (l->kept && l->kept[node] != HISTORY_NONE) {
		*count = 1;
		return &h->parent[l->kept[node]];
	}
	*count = h->parent_end[node] - h->parent_start[node];
	return h->parent + h->parent_start[node];
}

static void set_uninteresting(struct limit *l, uint32_t node)
{
	if ((l->flag[node] & (UNINTERESTING | PENDING)) == PENDING)
		l->interesting--;
	l->flag[node] |= UNINTERESTING;
}

/* Mark the parents of @node, and on through what was read before it was known. */
static void mark_parents(struct walk *w, uint32_t node)
{
	struct limit *l = w->l;
	size_t depth = 0;

	for (;;) {
		uint32_t n;
		const uint32_t *parent = limit_parents(l, w->h, node, &n);

		if (!(l->flag[node] & PARSED))
			n = 0;
		xgrow(&w->stack, &w->stack_room, depth + n, sizeof(*w->stack));
		for (uint32_t i = 0; i < n; i++) {
			if (l->flag[parent[i]] & UNINTERESTING)
				continue;
			set_uninteresting(l, parent[i]);
			w->stack[depth++] = parent[i];
		}
		if (!depth)
			return;
		node = w->stack[--depth];
	}
}

static void uninteresting_parents(struct walk *w, uint32_t node)
{
	uint32_t n;
	const uint32_t *parent = limit_parents(w->l, w->h, node, &n);
	uint32_t offset = (uint32_t)(parent - w->h->parent);

	for (uint32_t i = 0; i < n; i++) {
		/* by offset: loading may move the array */
		uint32_t p = w->h->parent[offset + i];

		set_uninteresting(w->l, p);
		/* below an older end a history that ends early does no harm */
		if (parse(w, p, node, NULL) <= 0)
			continue;
		mark_parents(w, p);
		if (!(w->l->flag[p] & SEEN))
			push(w, p);
	}
}

/* An end that was named counts, although it is uninteresting. */
static bool is_relevant(const struct limit *l, uint32_t node)
{
	return (l->flag[node] & (UNINTERESTING | BOTTOM)) != UNINTERESTING;
}

/*
 * History simplification as git does it by default: a merge with a relevant
 * parent that has the same content keeps this parent only.
 */
static int simplify(struct walk *w, uint32_t node, struct err *e)
{
	struct history *h = w->h;
	uint32_t start = h->parent_start[node], end = h->parent_end[node], relevant = 0;
	bool relevant_change = false, other_change = false;

	if (start == end && !h->content[node])
		w->l->flag[node] |= TREESAME;
	if (start == end)
		return 0;
	for (uint32_t i = start; i < end; i++) {
		uint32_t p = h->parent[i];
		bool counts = is_relevant(w->l, p);

		relevant += counts;
		if (i > start && w->o->first_parent)
			break;
		if (parse(w, p, node, e) < 0)
			return -1;
		if (h->content[p] != h->content[node]) {
			*(counts ? &relevant_change : &other_change) = true;
		} else if (counts) {
			w->l->kept[node] = i;
			w->l->flag[node] |= TREESAME;
			return 0;
		}
	}
	if (relevant ? !relevant_change : !other_change)
		w->l->flag[node] |= TREESAME;
	return 0;
}

static int interesting_parents(struct walk *w, uint32_t node, struct err *e)
{
	uint32_t n, offset;

	if (w->o->simplify && simplify(w, node, e))
		return -1;
	offset = (uint32_t)(limit_parents(w->l, w->h, node, &n) - w->h->parent);
	if (w->o->first_parent && n > 1)
		n = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = w->h->parent[offset + i];
		int there = parse(w, p, node, e);

		if (there < 0)
			return -1;
		if (there && !(w->l->flag[p] & SEEN))
			push(w, p);
	}
	return 0;
}

static int start(struct walk *w, struct err *e)
{
	const struct limit_opts *o = w->o;
	struct limit *l = w->l;

	l->n = l->pending = l->interesting = l->seq = 0;
	fit(l, w->h, o->simplify);
	memset(l->flag, 0, l->flag_room);
	if (l->kept)
		memset(l->kept, 0xff, l->kept_room * sizeof(*l->kept));
	if (parse(w, o->tip, HISTORY_NONE, e) < 0)
		return -1;
	for (size_t i = 0; i < o->n_older; i++) {
		if (parse(w, o->older[i], HISTORY_NONE, e) < 0)
			return -1;
		l->flag[o->older[i]] |= UNINTERESTING | BOTTOM;
	}
	push(w, o->tip);
	for (size_t i = 0; i < o->n_older; i++) {
		mark_parents(w, o->older[i]);
		if (!(l->flag[o->older[i]] & SEEN))
			push(w, o->older[i]);
	}
	return 0;
}

/* How many more uninteresting commits to look at. */
static int slop_left(const struct limit *l, int64_t oldest, int slop)
{
	if (!l->pending)
		return 0;
	if (oldest <= l->heap[0].time || l->interesting)
		return SLOP;
	return slop - 1;
}

/* Oldest first, and without those that turned out uninteresting after they were listed. */
static void finish(struct limit *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		if (!(l->flag[l->list[i]] & UNINTERESTING))
			l->list[n++] = l->list[i];
	l->n = n;
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t swap = l->list[i];

		l->list[i] = l->list[n - 1 - i];
		l->list[n - 1 - i] = swap;
	}
}

int limit_walk(struct limit *l, struct history *h, const struct limit_opts *o, struct err *e)
{
	_cleanup_(walk_release) struct walk w = { .l = l, .h = h, .o = o };
	int64_t oldest = INT64_MAX;
	int slop = SLOP;

	if (start(&w, e))
		return -1;
	while (l->pending) {
		uint32_t node = pop(&w);

		if (l->flag[node] & UNINTERESTING) {
			uninteresting_parents(&w, node);
			mark_parents(&w, node);
			slop = slop_left(l, oldest, slop);
			if (!slop)
				break;
			continue;
		}
		if (interesting_parents(&w, node, e))
			return -1;
		oldest = h->time[node];
		xgrow(&l->list, &l->list_room, l->n + 1, sizeof(*l->list));
		l->list[l->n++] = node;
		l->flag[node] |= LISTED;
	}
	finish(l);
	return 0;
}

bool limit_has(const struct limit *l, uint32_t node)
{
	return (l->flag[node] & (LISTED | UNINTERESTING)) == LISTED;
}

bool limit_is_same(const struct limit *l, uint32_t node)
{
	return l->flag[node] & TREESAME;
}
