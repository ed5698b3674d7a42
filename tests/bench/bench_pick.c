/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time and memory of all picks of one hunt, for bench-pick: bench_pick REPO GOOD BAD. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/str.h"
#include "core/pick_bisect.h"
#include "io/repo.h"

static int fail(const struct err *e)
{
	fprintf(stderr, "bench_pick: %s\n", e->msg);
	return 1;
}

static long peak_kb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* A line per pick: seconds, peak kB, candidates, the pick, the bad commit, the good ones. */
static void print_step(const struct dag *d, const struct pick *p, double seconds,
		       const enum dag_mark *mark, uint32_t bad)
{
	char hex[COMMIT_HEX + 1];

	printf("%.6f %ld %u %s", seconds, peak_kb(), p->left, commit_hex(&d->id[p->node], hex));
	printf(" %s", commit_hex(&d->id[bad], hex));
	for (uint32_t i = 0; i < d->n; i++)
		if (mark[i] == DAG_GOOD)
			printf(" %s", commit_hex(&d->id[i], hex));
	printf("\n");
}

int main(int argc, char **argv)
{
	const struct pick_opts o = { .any_skip = false };
	struct repo *r;
	struct commit_id good, bad;
	struct dag d = DAG_INIT;
	const struct repo_range range = { .tip = &bad, .not_ = &good, .n_not = 1 };
	struct pick_bisect *picker;
	struct err e = ERR_INIT;
	struct pick p;
	enum dag_mark *mark;
	bool *has_culprit;
	uint32_t bad_node;
	double start = clock_mono_s();

	if (argc != 4) {
		fprintf(stderr, "usage: bench_pick REPO GOOD BAD\n");
		return 2;
	}
	if (repo_open(argv[1], &r, &e) || repo_resolve(r, argv[2], "good", &good, &e) ||
	    repo_resolve(r, argv[3], "bad", &bad, &e) || repo_candidates(r, &range, &d, &e))
		return fail(&e);
	picker = pick_bisect_new(&d, &o);
	mark = xcalloc(d.n + (size_t)1, sizeof(*mark));
	has_culprit = xcalloc(d.n + (size_t)1, sizeof(*has_culprit));
	bad_node = d.tip;
	for (;;) {
		pick_bisect_next(picker, mark, bad_node, &p);
		if (p.kind != PICK_TEST)
			break;
		print_step(&d, &p, clock_mono_s() - start, mark, bad_node);
		/* the culprit is a third of the way up: both answers occur */
		for (uint32_t i = 0; i < d.n; i++)
			has_culprit[i] = false;
		dag_mark_ancestors(&d, p.node, has_culprit);
		mark[p.node] = has_culprit[d.n / 3] ? DAG_BAD : DAG_GOOD;
		if (mark[p.node] == DAG_BAD)
			bad_node = p.node;
		start = clock_mono_s();
	}
	pick_bisect_free(picker);
	dag_release(&d);
	free(mark);
	free(has_culprit);
	repo_close(r);
	return p.kind == PICK_FOUND ? 0 : 1;
}
