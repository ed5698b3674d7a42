/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hunt by borders, step by step: for the tests of pick_borders. */
#ifndef KR_TESTS_BORDERS_FIXTURE_H
#define KR_TESTS_BORDERS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/dag.h"
#include "core/pick_bisect.h"

#define MOST 40

/* One more commit. Object names and times rise with the number. */
static void add(struct dag *d, const uint32_t *parents, size_t n)
{
	struct commit_id id = { { (uint8_t)(d->n + 1) } };

	dag_add(d, &id, 1000 + 10 * (int64_t)d->n);
	for (size_t i = 0; i < n; i++)
		dag_parent(d, d->n - 1, parents[i]);
}

/* A hunt by hand: what is known, and what the last pick said. */
struct state {
	enum dag_mark mark[MOST];
	uint32_t alike[MOST];
	uint32_t bad;
	struct pick_bisect *p;
	struct pick pick;
};

static void state_release(struct state *s)
{
	pick_bisect_free(s->p);
}
#define _cleanup_state_ _cleanup_(state_release)

/* @marks: g good, b bad, 0 … 9 skipped with that alike number. */
static void set(struct state *s, const char *marks)
{
	memset(s->mark, 0, sizeof(s->mark));
	memset(s->alike, 0, sizeof(s->alike));
	for (uint32_t i = 0; marks[i]; i++) {
		char c = marks[i];

		s->alike[i] = c >= '0' && c <= '9' ? (uint32_t)(c - '0') : 0;
		s->mark[i] = c == 'g'               ? DAG_GOOD
			     : c == 'b'             ? DAG_BAD
			     : c >= '0' && c <= '9' ? DAG_SKIP
						    : DAG_UNKNOWN;
	}
}

/* The node to test; the pick is asked twice, for it depends on nothing but the state. */
static uint32_t next(struct state *s)
{
	struct pick again;

	pick_bisect_next(s->p, s->mark, s->bad, &s->pick);
	pick_bisect_next(s->p, s->mark, s->bad, &again);
	assert_memory_equal(&again, &s->pick, sizeof(again));
	return s->pick.kind == PICK_TEST ? s->pick.node : DAG_NONE;
}

static void begin(struct state *s, const struct dag *d, bool any_skip, const char *marks)
{
	memset(s, 0, sizeof(*s));
	s->bad = d->tip;
	s->p = pick_bisect_new(d, &(struct pick_opts){ .any_skip = any_skip, .alike = s->alike });
	set(s, marks);
}

#endif
