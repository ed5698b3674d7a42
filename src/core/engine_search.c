/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's search: what verdicts do to it, and which commit is next. */
#include "core/engine_internal.h"

#include <stdlib.h>

#include "base/str.h"

static bool *cleared_scratch(struct engine *e, bool **scratch)
{
	free(*scratch);
	*scratch = xcalloc(e->o.dag->n, sizeof(**scratch));
	return *scratch;
}

/* scratch[i]: i is a candidate still, an ancestor of bad and of no commit in the old state. */
static const bool *mark_candidates(struct engine *e)
{
	bool *in = cleared_scratch(e, &e->scratch), *out = cleared_scratch(e, &e->scratch2);

	dag_mark_ancestors(e->o.dag, e->bad, in);
	for (size_t i = 0; i < e->n_commits; i++) {
		uint32_t node = e->commit[i]->node;

		if (node < e->o.dag->n && e->mark[node] == DAG_GOOD)
			dag_mark_ancestors(e->o.dag, node, out);
	}
	for (uint32_t i = 0; i < e->o.dag->n; i++)
		in[i] = in[i] && !out[i];
	return in;
}

static bool is_ancestor_of(struct engine *e, uint32_t ancestor, uint32_t node)
{
	bool *mark = cleared_scratch(e, &e->scratch);

	dag_mark_ancestors(e->o.dag, node, mark);
	return mark[ancestor];
}

static enum dag_mark mark_of(const struct engine *e, enum verdict v)
{
	return engine_is_new_state(e, v)   ? DAG_BAD
	       : engine_is_old_state(e, v) ? DAG_GOOD
					   : DAG_SKIP;
}

static void add_move(struct engine *e, uint32_t node, enum dag_mark mark)
{
	xgrow(&e->move, &e->move_room, e->n_moves + 1, sizeof(*e->move));
	e->move[e->n_moves++] = (struct engine_move){ .node = node, .mark = mark };
}

/* Let the verdict on a candidate move the search, unless it contradicts what is known. */
static void move_search(struct engine *e, uint32_t node, enum verdict v)
{
	bool asked = e->phase == PHASE_SEARCH && e->node == node; /* then it cannot */
	enum dag_mark mark = mark_of(e, v);
	const struct measured *m = engine_measured_of(e, node);

	if (mark == DAG_BAD && !asked && !mark_candidates(e)[node])
		return;
	if (mark == DAG_GOOD && !asked && is_ancestor_of(e, e->bad, node))
		return;
	if (mark == DAG_BAD)
		e->bad = node;
	e->alike[node] = mark == DAG_SKIP && v != VERDICT_UNSURE && m ? m->alike : 0;
	e->mark[node] = mark;
	add_move(e, node, mark);
}

enum verdict engine_given_of(const struct engine *e, uint32_t node)
{
	for (size_t i = 0; i < e->o.n_given; i++)
		if (e->o.given[i].node == node && !e->o.given[i].recheck)
			return e->o.given[i].verdict;
	return VERDICT_UNSET;
}

void engine_finish(struct engine *e, enum engine_status status, uint32_t node)
{
	e->phase = PHASE_DONE;
	e->status = status;
	e->node = node;
}

/* True when @m got its verdict now. */
bool engine_decide(struct engine *e, struct measured *m)
{
	if (m->verdict != VERDICT_UNSET)
		return false;
	m->verdict = verdict_decide(&e->o.verdict, &e->ends, &m->data, &e->pool,
				    dag_candidates(e->o.dag), NULL);
	if (m->verdict == VERDICT_UNSET)
		return false;
	if (m->node < e->o.dag->n && !engine_is_bayes(e) && !engine_given_of(e, m->node))
		move_search(e, m->node, m->verdict);
	return true;
}

/* Said or measured. */
static enum verdict verdict_on(const struct engine *e, uint32_t node)
{
	const struct measured *m = engine_measured_of(e, node);
	enum verdict said = engine_given_of(e, node);

	return said ? said : m ? m->verdict : VERDICT_UNSET;
}

static bool is_any_base_skipped(const struct engine *e)
{
	for (uint32_t i = 0; i < e->o.merge_bases; i++) {
		enum verdict v = verdict_on(e, e->o.dag->n + 1 + i);

		if (v == VERDICT_SKIP || v == VERDICT_UNSURE)
			return true;
	}
	return false;
}

/*
 * git's walk can list a commit that is no candidate (clock skew): what was found out about such
 * a one is then taken as if it had been asked for. False: it is not known yet.
 */
static bool take_known(struct engine *e)
{
	enum verdict known;

	if (e->pick.kind != PICK_TEST)
		return false;
	e->node = e->pick.node;
	known = verdict_on(e, e->node);
	if (known == VERDICT_UNSET)
		return false;
	move_search(e, e->node, known);
	return true;
}

void engine_search_next(struct engine *e)
{
	do {
		pick_bisect_next(e->picker, e->mark, e->bad, &e->pick);
	} while (take_known(e));
	if (e->pick.kind == PICK_TEST)
		return;
	if (e->pick.kind == PICK_FOUND)
		engine_finish(e, ENGINE_FOUND, e->pick.node);
	else
		engine_finish(e, ENGINE_SHORT_LIST, DAG_NONE);
}

static void pick_begin(struct engine *e)
{
	struct pick_opts po = { .first_parent = e->o.first_parent,
				.any_skip = e->o.any_skip || is_any_base_skipped(e),
				.alike = e->o.borders ? e->alike : NULL };

	e->phase = PHASE_SEARCH;
	if (engine_is_bayes(e)) {
		engine_bayes_next(e);
		return;
	}
	e->picker = pick_bisect_new(e->o.dag, &po);
	engine_search_next(e);
}

void engine_merge_bases_next(struct engine *e)
{
	e->phase = PHASE_MERGE_BASES;
	for (uint32_t i = 0; i < e->o.merge_bases; i++) {
		enum verdict v;

		e->node = e->o.dag->n + 1 + i;
		v = verdict_on(e, e->node);
		if (v == VERDICT_UNSET)
			return;
		if (i == e->bases_told) {
			add_move(e, e->node, mark_of(e, v));
			e->bases_told++;
		}
		if (engine_is_new_state(e, v)) {
			engine_finish(e, ENGINE_BAD_MERGE_BASE, e->node);
			return;
		}
	}
	pick_begin(e);
}

/* Those that a person called good or bad, and that are to be measured again. */
void engine_recheck_next(struct engine *e)
{
	e->phase = PHASE_RECHECK;
	for (size_t i = 0; i < e->o.n_given; i++) {
		e->node = e->o.given[i].node;
		if (e->o.given[i].recheck && verdict_on(e, e->node) == VERDICT_UNSET)
			return;
	}
	engine_merge_bases_next(e);
}

/* The ends are what the user says they are; commits measured early are judged now. */
void engine_search_begin(struct engine *e)
{
	e->commit[GOOD_END]->verdict = VERDICT_GOOD;
	e->commit[BAD_END]->verdict = VERDICT_BAD;
	e->mark[e->o.dag->tip] = DAG_BAD;
	for (size_t i = 0; i < e->o.n_given && !engine_is_bayes(e); i++)
		if (!e->o.given[i].recheck && e->o.given[i].node < e->o.dag->n)
			move_search(e, e->o.given[i].node, e->o.given[i].verdict);
	for (size_t i = BAD_END + 1; i < e->n_commits; i++)
		engine_decide(e, e->commit[i]);
	engine_recheck_next(e);
}
