/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Picks by borders over random histories, against a twin that looks at every pair of commits. */
#include "unit/borders_fixture.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_rng.h>

#include "base/str.h"

#define NODES 40

struct world {
	struct dag d;
	uint32_t culprit;
	bool reaches[NODES][NODES]; /* [x][y]: y is x or an ancestor of x */
	uint32_t broken[NODES];     /* 0: can be tested; else 1 + alike number */
	bool candidate[NODES], counts[NODES];
	uint32_t weight[NODES], n;
};

static gsl_rng *rng;

static int make_rng(void **state)
{
	(void)state;
	rng = gsl_rng_alloc(gsl_rng_taus2);
	gsl_rng_set(rng, 20261201);
	return 0;
}

static int free_rng(void **state)
{
	(void)state;
	gsl_rng_free(rng);
	return 0;
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)gsl_rng_uniform_int(rng, n);
}

/* One tip that reaches all; parents near, so that there are long ways. */
static void grow(struct world *w, uint32_t n)
{
	bool has_child[NODES] = { false }, is_line = !below(4);

	w->d = (struct dag)DAG_INIT;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent[NODES], k = 0;

		w->reaches[i][i] = true;
		for (uint32_t j = 0; j < i; j++)
			if (i == n - 1 ? !has_child[j]
			    : is_line  ? j + 1 == i
				       : j + 5 > i && !below(4)) {
				has_child[j] = true;
				parent[k++] = j;
				for (uint32_t y = 0; y < n; y++)
					w->reaches[i][y] |= w->reaches[j][y];
			}
		add(&w->d, parent, k);
	}
	dag_finish(&w->d);
	w->d.tip = n - 1;
}

static void world_new(struct world *w)
{
	uint32_t n = 1 + below(below(2) ? NODES : 12), from, to,
		 scattered = below(2) ? below(6) : 0;

	memset(w, 0, sizeof(*w));
	grow(w, n);
	w->culprit = below(n);
	if (!below(3))
		w->d.treesame = xcalloc(n, sizeof(bool));
	/* merges that change nothing are simplified away before */
	for (uint32_t i = 0; w->d.treesame && i < n; i++)
		w->d.treesame[i] = i != w->culprit && dag_parent_count(&w->d, i) < 2 && !below(3);
	/* a broken range, and single ones; never the tip, which was tested */
	from = below(n);
	to = below(n);
	for (uint32_t i = 0; i + 1 < n; i++) {
		if (w->reaches[i][from] && w->reaches[to][i])
			w->broken[i] = 2;
		else if (below(12) < scattered)
			w->broken[i] = 1 + below(4);
	}
}

static void world_release(struct world *w)
{
	dag_release(&w->d);
}
#define _cleanup_world_ _cleanup_(world_release)

static void find_candidates(struct world *w, const struct state *s)
{
	w->n = 0;
	for (uint32_t x = 0; x < w->d.n; x++) {
		w->candidate[x] = w->reaches[s->bad][x];
		for (uint32_t g = 0; g < w->d.n; g++)
			if (s->mark[g] == DAG_GOOD && w->reaches[g][x])
				w->candidate[x] = false;
		w->counts[x] = w->candidate[x] && !(w->d.treesame && w->d.treesame[x]);
		w->n += w->counts[x];
	}
	for (uint32_t x = 0; x < w->d.n; x++) {
		w->weight[x] = 0;
		for (uint32_t y = 0; y < w->d.n; y++)
			w->weight[x] += w->counts[y] && w->reaches[x][y];
	}
}

/* Of the broken candidates: the weight of the nearest that @x reaches, or that reaches @x. */
static uint32_t nearest(const struct world *w, const bool *broken, uint32_t x, bool down)
{
	uint32_t best = 0;

	for (uint32_t y = 0; y < w->d.n; y++) {
		if (y == x || !broken[y] || !(down ? w->reaches[x][y] : w->reaches[y][x]))
			continue;
		if (!best || (down ? w->weight[y] > best : w->weight[y] < best))
			best = w->weight[y];
	}
	return best;
}

/* Nodes are in order of ancestry, so parents' chances are known. */
static double naive_chance(const struct world *w, const bool *broken, const double *known,
			   uint32_t x)
{
	uint32_t down = nearest(w, broken, x, true), up = nearest(w, broken, x, false);
	double most = 0;

	if (broken[x])
		return 1;
	if (down)
		return w->n > down ? 1 - log(1.0 + w->weight[x] - down) / log(1.0 + w->n - down)
				   : 1;
	if (up)
		return 1 - log(1.0 + up - w->weight[x]) / log(1.0 + up);
	for (uint32_t k = 0; k < dag_parent_count(&w->d, x); k++) {
		uint32_t p = dag_parents(&w->d, x)[k];

		if (w->candidate[p] && known[p] > most)
			most = known[p];
	}
	return most;
}

struct naive {
	bool shadow[NODES];
	double chance[NODES];
	uint32_t depth[NODES];
};

static void naive_group(struct world *w, const struct state *s, uint32_t group, struct naive *out)
{
	bool member[NODES] = { false }, broken[NODES] = { false };
	double chance[NODES] = { 0 };

	for (uint32_t x = 0; x < w->d.n; x++)
		member[x] = broken[x] = w->counts[x] && s->mark[x] == DAG_SKIP &&
					s->alike[x] == group;
	for (uint32_t x = 0; x < w->d.n; x++) {
		uint32_t down = nearest(w, member, x, true), up = nearest(w, member, x, false);

		if (!w->candidate[x] || !down || !up)
			continue;
		broken[x] = out->shadow[x] = true;
		out->depth[x] = fmin(out->depth[x], fmin(w->weight[x] - down, up - w->weight[x]));
	}
	for (uint32_t x = 0; x < w->d.n; x++) {
		if (!w->candidate[x])
			continue;
		chance[x] = naive_chance(w, broken, chance, x);
		out->chance[x] = fmax(out->chance[x], chance[x]);
	}
}

static double naive_worth(const struct world *w, const struct naive *v, uint32_t x, bool shadow)
{
	double p = (double)w->weight[x] / w->n;
	double h = p < 1 ? -p * log2(p) - (1 - p) * log2(1 - p) : 0;

	return h * (shadow ? log(1.0 + v->depth[x]) : 1 - v->chance[x]);
}

/* One that was tested, amid two that failed alike? */
static bool naive_is_porous(const struct world *w, const struct state *s)
{
	for (uint32_t t = 0; t < w->d.n; t++)
		for (uint32_t x = 0; x < w->d.n; x++)
			for (uint32_t y = 0; y < w->d.n; y++)
				if ((s->mark[t] == DAG_GOOD || s->mark[t] == DAG_BAD) &&
				    s->mark[x] == DAG_SKIP && s->mark[y] == DAG_SKIP &&
				    s->alike[x] && s->alike[x] == s->alike[y] && w->reaches[t][x] &&
				    w->reaches[y][t])
					return true;
	return false;
}

/* The first of those that are worth most; DAG_NONE: none. */
static uint32_t naive_pick(struct world *w, const struct state *s)
{
	struct naive v = { .depth = { 0 } };
	unsigned left[2] = { 0, 0 }, skipped = 0, want;
	uint32_t best = DAG_NONE;

	memset(v.depth, 0x7f, sizeof(v.depth));
	for (uint32_t group = 1; group < 4; group++)
		naive_group(w, s, group, &v);
	for (uint32_t x = 0; x < w->d.n; x++) {
		if (w->counts[x] && x != s->bad && s->mark[x] == DAG_UNKNOWN)
			left[v.shadow[x]]++;
		skipped += w->counts[x] && v.shadow[x] && s->mark[x] == DAG_SKIP;
	}
	want = left[0] ? 0 : 1;
	if (want && left[1] > 8 &&
	    skipped >= ceil(log2(w->n)) * (naive_is_porous(w, s) ? 6 : 3) + 1)
		return DAG_NONE;
	for (uint32_t x = 0; x < w->d.n; x++)
		if (w->counts[x] && x != s->bad && s->mark[x] == DAG_UNKNOWN &&
		    v.shadow[x] == (want == 1) &&
		    (best == DAG_NONE ||
		     naive_worth(w, &v, x, want) > naive_worth(w, &v, best, want) + 1e-9))
			best = x;
	return best;
}

/* What rule 4 takes in the same state: no skip refs, and nothing is alike. */
static uint32_t gits_pick(const struct world *w, const struct state *s)
{
	struct pick_bisect *p = pick_bisect_new(&w->d, &(struct pick_opts){ .any_skip = false });
	enum dag_mark mark[MOST];
	struct pick out;

	memcpy(mark, s->mark, sizeof(mark));
	for (uint32_t i = 0; i < w->d.n; i++)
		if (mark[i] == DAG_SKIP)
			mark[i] = DAG_UNKNOWN;
	pick_bisect_next(p, mark, s->bad, &out);
	pick_bisect_free(p);
	return out.kind == PICK_TEST ? out.node : DAG_NONE;
}

static bool has_skipped(const struct world *w, const struct state *s)
{
	for (uint32_t x = 0; x < w->d.n; x++)
		if (w->counts[x] && s->mark[x] == DAG_SKIP)
			return true;
	return false;
}

static void tell(struct world *w, struct state *s, uint32_t x)
{
	if (w->broken[x]) {
		s->mark[x] = DAG_SKIP;
		s->alike[x] = w->broken[x] - 1;
	} else if (w->reaches[x][w->culprit]) {
		s->mark[x] = DAG_BAD;
		s->bad = x;
	} else {
		s->mark[x] = DAG_GOOD;
	}
}

static void assert_right_end(const struct world *w, const struct state *s)
{
	const uint32_t *left;
	uint32_t n = pick_bisect_left(s->p, &left), k = 0;
	bool found = false;

	if (s->pick.kind == PICK_FOUND) {
		assert_int_equal(s->pick.node, w->culprit);
		assert_int_equal(w->n, 1);
		return;
	}
	assert_int_equal(s->pick.kind, PICK_ONLY_SKIPPED);
	assert_int_equal(n, w->n);
	for (uint32_t x = 0; x < w->d.n; x++)
		if (w->counts[x]) {
			assert_int_equal(left[k++], x);
			found |= x == w->culprit;
		}
	assert_true(found);
}

static void every_hunt_ends_with_the_culprit_and_its_picks_are_the_twins(void **state)
{
	unsigned found = 0, lists = 0, with_borders = 0, untested = 0;

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		_cleanup_world_ struct world w;
		_cleanup_state_ struct state s;
		unsigned picks = 0;

		world_new(&w);
		begin(&s, &w.d, below(2), "");
		s.mark[s.bad] = DAG_BAD;
		for (;; picks++) {
			uint32_t x = next(&s);

			find_candidates(&w, &s);
			assert_int_equal(s.pick.left, w.n);
			if (has_skipped(&w, &s)) {
				assert_int_equal(x, naive_pick(&w, &s));
				with_borders++;
			} else {
				assert_int_equal(x, gits_pick(&w, &s));
			}
			if (x == DAG_NONE)
				break;
			assert_true(w.counts[x] && x != s.bad && s.mark[x] == DAG_UNKNOWN);
			tell(&w, &s, x);
		}
		assert_true(picks <= w.d.n);
		assert_right_end(&w, &s);
		found += s.pick.kind == PICK_FOUND;
		lists += s.pick.kind == PICK_ONLY_SKIPPED;
		for (uint32_t x = 0; x < w.d.n; x++)
			untested += w.counts[x] && s.mark[x] == DAG_UNKNOWN && x != s.bad;
	}
	print_message("# %u found, %u lists, %u picks by borders, %u left untested\n", found, lists,
		      with_borders, untested);
	/* all kinds of end have been seen */
	assert_true(found > 5000 && lists > 1000 && with_borders > 10000 && untested > 30);
}

static void with_wrong_clocks_hunts_end_as_well(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		_cleanup_world_ struct world w;
		_cleanup_state_ struct state s;
		const uint32_t *left;
		bool found = false;
		unsigned picks = 0;

		world_new(&w);
		/* the list is not in order of ancestry then */
		for (uint32_t k = 0; k < w.d.n; k++)
			w.d.time[k] += below(2) * (below(400) - 200);
		begin(&s, &w.d, false, "");
		s.mark[s.bad] = DAG_BAD;
		for (uint32_t x; (x = next(&s)) != DAG_NONE; picks++) {
			assert_int_equal(s.mark[x], DAG_UNKNOWN);
			assert_false(w.d.treesame && w.d.treesame[x]);
			tell(&w, &s, x);
		}
		assert_true(picks <= w.d.n);
		if (s.pick.kind == PICK_FOUND)
			assert_int_equal(s.pick.node, w.culprit);
		else
			assert_int_equal(s.pick.kind, PICK_ONLY_SKIPPED);
		for (uint32_t k = 0, n = pick_bisect_left(s.p, &left); k < n; k++)
			found |= left[k] == w.culprit;
		assert_true(found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_hunt_ends_with_the_culprit_and_its_picks_are_the_twins),
		cmocka_unit_test(with_wrong_clocks_hunts_end_as_well),
	};

	return cmocka_run_group_tests_name("pick_borders_twin", tests, make_rng, free_rng);
}
