/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exact reach counts by sweeping blocks of 512 strands with bit masks. */
#include "core/reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define BLOCK 512
#define WORDS (BLOCK / 64)

struct mask {
	uint64_t word[WORDS];
};

/*
 * Commits are joined to strands: a commit with one parent that has no other
 * child stays in its parent's strand. Only the first commit of a strand has
 * parents outside it, and these are the last of theirs. So sets of strands
 * need masks, and commits do not.
 */
struct strands {
	uint32_t n;
	uint32_t *of;      /* node: its strand */
	uint32_t *place;   /* node: counting nodes of the strand up to it */
	uint32_t *first;   /* strand: its first node */
	uint32_t *length;  /* strand: counting nodes in it */
	uint32_t *below;   /* strand: counting nodes that its first node reaches outside */
	struct mask *mask; /* strand: which ones of the present block it reaches */
};

static void strands_release(struct strands *s)
{
	free(s->of);
	free(s->place);
	free(s->first);
	free(s->length);
	free(s->below);
	free(s->mask);
}

static bool is_ordered(const struct reach_graph *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t k = g->start[i]; k < g->start[i + 1]; k++)
			if (g->parent[k] >= i)
				return false;
	return true;
}

/* Depth first, a node after its parents. */
static void sort_by_ancestry(const struct reach_graph *g, uint32_t *order)
{
	_cleanup_free_ uint32_t *next = xcalloc(g->n + 1, sizeof(*next));
	_cleanup_free_ uint32_t *stack = xcalloc(g->n + 1, sizeof(*stack));
	_cleanup_free_ bool *seen = xcalloc(g->n + 1, sizeof(*seen));
	uint32_t done = 0;

	memcpy(next, g->start, g->n * sizeof(*next));
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t depth = 0;

		if (seen[i])
			continue;
		seen[i] = true;
		stack[depth++] = i;
		while (depth) {
			uint32_t x = stack[depth - 1];

			if (next[x] == g->start[x + 1]) {
				order[done++] = x;
				depth--;
			} else if (!seen[g->parent[next[x]++]]) {
				uint32_t p = g->parent[next[x] - 1];

				seen[p] = true;
				stack[depth++] = p;
			}
		}
	}
}

void reach_order(const struct reach_graph *g, uint32_t *order)
{
	if (!is_ordered(g)) {
		sort_by_ancestry(g, order);
		return;
	}
	for (uint32_t i = 0; i < g->n; i++)
		order[i] = i;
}

static void make_strands(struct strands *s, const struct reach_graph *g, const uint32_t *order)
{
	_cleanup_free_ uint32_t *children = xcalloc(g->n + 1, sizeof(*children));

	for (uint32_t k = 0; k < g->start[g->n]; k++)
		children[g->parent[k]]++;
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t x = order[i], k = g->start[x];

		if (g->start[x + 1] - k == 1 && children[g->parent[k]] == 1) {
			s->of[x] = s->of[g->parent[k]];
		} else {
			s->of[x] = s->n;
			s->first[s->n++] = x;
		}
		s->length[s->of[x]] += !g->free || !g->free[x];
		s->place[x] = s->length[s->of[x]];
	}
}

static uint32_t bits(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555u;
	x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)(x * 0x0101010101010101u >> 56);
}

/* The lengths of the strands of one block, sliced by binary digit. */
struct block {
	uint32_t from, to, total;
	unsigned digits;
	struct mask all, digit[32];
};

static void begin_block(struct block *b, const struct strands *s, uint32_t from)
{
	*b = (struct block){ .from = from, .to = from + BLOCK < s->n ? from + BLOCK : s->n };
	for (uint32_t i = from; i < b->to; i++) {
		uint32_t bit = i - from;

		b->total += s->length[i];
		b->all.word[bit / 64] |= UINT64_C(1) << bit % 64;
		for (unsigned d = 0; d < 32 && s->length[i] >> d; d++) {
			if (s->length[i] >> d & 1)
				b->digit[d].word[bit / 64] |= UINT64_C(1) << bit % 64;
			if (d >= b->digits)
				b->digits = d + 1;
		}
	}
}

static uint32_t count(const struct block *b, const struct mask *m)
{
	uint32_t sum = 0;

	/* most strands reach all of an old block */
	if (!memcmp(m, &b->all, sizeof(*m)))
		return b->total;
	for (unsigned d = 0; d < b->digits; d++) {
		uint32_t n = 0;

		for (int w = 0; w < WORDS; w++)
			n += bits(m->word[w] & b->digit[d].word[w]);
		sum += n << d;
	}
	return sum;
}

/* Which strands of the block each later one reaches; adds them up at merges. */
static void sweep_block(struct strands *s, const struct reach_graph *g, uint32_t from)
{
	struct block b;

	begin_block(&b, s, from);
	for (uint32_t i = from; i < s->n; i++) {
		uint32_t x = s->first[i];
		struct mask m = { { 0 } };

		for (uint32_t k = g->start[x]; k < g->start[x + 1]; k++) {
			uint32_t p = s->of[g->parent[k]];

			for (int w = 0; p >= from && w < WORDS; w++)
				m.word[w] |= s->mask[p].word[w];
		}
		if (g->start[x + 1] - g->start[x] > 1)
			s->below[i] += count(&b, &m);
		if (i < b.to)
			m.word[(i - from) / 64] |= UINT64_C(1) << (i - from) % 64;
		s->mask[i] = m;
	}
}

void reach_weights(const struct reach_graph *g, const uint32_t *order, uint32_t *weight)
{
	_cleanup_(strands_release) struct strands s = {
		.of = xcalloc(g->n + 1, sizeof(*s.of)),
		.place = xcalloc(g->n + 1, sizeof(*s.place)),
		.first = xcalloc(g->n + 1, sizeof(*s.first)),
		.length = xcalloc(g->n + 1, sizeof(*s.length)),
	};

	make_strands(&s, g, order);
	s.below = xcalloc(s.n + 1, sizeof(*s.below));
	s.mask = xcalloc(s.n + 1, sizeof(*s.mask));
	for (uint32_t from = 0; from < s.n; from += BLOCK)
		sweep_block(&s, g, from);
	for (uint32_t i = 0; i < s.n; i++) {
		uint32_t k = g->start[s.first[i]];

		/* one parent: all that it reaches; it is the last of an earlier strand */
		if (g->start[s.first[i] + 1] - k == 1)
			s.below[i] = s.below[s.of[g->parent[k]]] + s.length[s.of[g->parent[k]]];
	}
	for (uint32_t x = 0; x < g->n; x++)
		weight[x] = s.below[s.of[x]] + s.place[x];
}
