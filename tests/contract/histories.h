/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random histories of many shapes, written into a repository by git fast-import. */
#ifndef KR_TESTS_HISTORIES_H
#define KR_TESTS_HISTORIES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/proc.h"
#include "core/commit.h"

#define HISTORY_MAX 160
#define HISTORY_FILES 6
#define HISTORY_PARENTS 6

enum shape {
	SHAPE_LINEAR,
	SHAPE_KERNEL, /* topic branches merged back into a main line */
	SHAPE_OCTOPUS,
	SHAPE_CRISS_CROSS,
	SHAPE_ROOTS, /* several roots, joined later */
	SHAPE_RANDOM,
	SHAPES,
};
enum dates { DATES_RISING, DATES_TIES, DATES_ALL_EQUAL, DATES_SKEWED, DATES_WILD, DATES_KINDS };

static const char *const shape_name[] = { "linear",      "kernel", "octopus",
					  "criss-cross", "roots",  "random" };
static const char *const dates_name[] = { "rising", "ties", "all equal", "skewed", "wild" };
static const char *const history_file[HISTORY_FILES] = { "a/x.c", "a/sub/y.c", "a/z",
							 "b/x.c", "b/w",       "top.c" };

struct made_commit {
	struct commit_id id;
	int64_t time;
	unsigned parent[HISTORY_PARENTS], parents;
	unsigned file[HISTORY_FILES]; /* version of each file, 0: absent */
};

struct made_history {
	uint64_t seed;
	enum shape shape;
	enum dates dates;
	unsigned n;
	struct made_commit commit[HISTORY_MAX];
};

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 … n-1 */
static unsigned random_below(uint64_t *state, unsigned n)
{
	return (unsigned)(random_next(state) % n);
}

static void add_parent(struct made_commit *c, unsigned parent)
{
	for (unsigned i = 0; i < c->parents; i++)
		if (c->parent[i] == parent)
			return;
	if (c->parents < HISTORY_PARENTS)
		c->parent[c->parents++] = parent;
}

/* A main line and a few topic branches that leave it and come back. */
static void parents_of_kernel(struct made_history *h, unsigned i, unsigned head[4], uint64_t *rng)
{
	struct made_commit *c = &h->commit[i];
	unsigned branch = random_below(rng, 4);

	if (branch && random_below(rng, 5) == 0)
		head[branch] = head[0];
	add_parent(c, head[branch]);
	if (random_below(rng, 6) == 0)
		add_parent(c, head[random_below(rng, 4)]);
	head[branch] = i;
}

static void make_parents(struct made_history *h, unsigned i, unsigned head[4], uint64_t *rng)
{
	struct made_commit *c = &h->commit[i];
	unsigned near = i < 12 ? i : 12;

	switch (h->shape) {
	case SHAPE_KERNEL:
		parents_of_kernel(h, i, head, rng);
		break;
	case SHAPE_OCTOPUS:
		add_parent(c, i - 1 - random_below(rng, near));
		for (unsigned k = random_below(rng, 4) ? 0 : 1 + random_below(rng, 4); k; k--)
			add_parent(c, i - 1 - random_below(rng, near));
		break;
	case SHAPE_CRISS_CROSS:
		/* two lines that keep merging each other's older heads */
		add_parent(c, i < 2 ? 0 : i - 2);
		if (random_below(rng, 3) == 0)
			add_parent(c, i < 3 ? 0 : i - 1 - 2 * random_below(rng, 2));
		break;
	case SHAPE_ROOTS:
		if (random_below(rng, 8) == 0)
			break;
		add_parent(c, i - 1 - random_below(rng, near < 3 ? near : 3));
		if (random_below(rng, 4) == 0)
			add_parent(c, i - 1 - random_below(rng, near));
		break;
	case SHAPE_RANDOM:
		add_parent(c, i - 1 - random_below(rng, near));
		if (random_below(rng, 3) == 0)
			add_parent(c, i - 1 - random_below(rng, near));
		break;
	default:
		add_parent(c, i - 1);
	}
}

static int64_t make_time(const struct made_history *h, unsigned i, uint64_t *rng)
{
	int64_t start = 1700000000;

	switch (h->dates) {
	case DATES_TIES:
		return start + i / 4;
	case DATES_ALL_EQUAL:
		return start;
	case DATES_SKEWED:
		return start + 10 * (int64_t)i +
		       (random_below(rng, 6) ? 0 : (int64_t)random_below(rng, 200) - 100);
	case DATES_WILD:
		return start + random_below(rng, 10000);
	default:
		return start + 10 * (int64_t)i + random_below(rng, 10);
	}
}

/* Merges often take a file as one of their parents has it; other commits change some. */
static void make_files(struct made_history *h, unsigned i, unsigned *version, uint64_t *rng)
{
	struct made_commit *c = &h->commit[i];
	unsigned favourite = c->parents ? random_below(rng, c->parents) : 0;

	for (unsigned f = 0; f < HISTORY_FILES; f++) {
		unsigned from = random_below(rng, 4) ? favourite
				: c->parents         ? random_below(rng, c->parents)
						     : 0;

		c->file[f] = c->parents ? h->commit[c->parent[from]].file[f] : 0;
	}
	if (c->parents > 1 && random_below(rng, 5))
		return;
	for (unsigned k = random_below(rng, 3); k; k--)
		c->file[random_below(rng, HISTORY_FILES)] = random_below(rng, 8) ? ++*version : 0;
}

/* Everything but the object names, from the seed alone. */
static void history_make(struct made_history *h, uint64_t seed, unsigned max)
{
	uint64_t rng = seed;
	unsigned head[4] = { 0 }, version = 0;

	*h = (struct made_history){
		.seed = seed,
		.shape = random_below(&rng, SHAPES),
		.dates = random_below(&rng, DATES_KINDS),
		.n = 3 + random_below(&rng, max - 2),
	};
	for (unsigned i = 0; i < h->n; i++) {
		if (i)
			make_parents(h, i, head, &rng);
		h->commit[i].time = make_time(h, i, &rng);
		make_files(h, i, &version, &rng);
	}
}

static void write_commit(FILE *f, const struct made_history *h, unsigned number, unsigned base,
			 unsigned i)
{
	const struct made_commit *c = &h->commit[i];

	if (!c->parents)
		fprintf(f, "reset refs/heads/h%u\n\n", number);
	fprintf(f, "commit refs/heads/h%u\nmark :%u\ncommitter T <t@e> %lld +0000\n", number,
		base + i + 1, (long long)c->time);
	fprintf(f, "data <<END\nhistory %u commit %u\nEND\n", number, i);
	for (unsigned k = 0; k < c->parents; k++)
		fprintf(f, "%s :%u\n", k ? "merge" : "from", base + c->parent[k] + 1);
	fprintf(f, "deleteall\n");
	for (unsigned k = 0; k < HISTORY_FILES; k++)
		if (c->file[k])
			fprintf(f, "M 100644 inline %s\ndata <<END\n%u\nEND\n", history_file[k],
				c->file[k]);
	fputc('\n', f);
}

static bool run(const char *dir, const char *shell)
{
	char *argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)shell, NULL };
	const struct proc_opts o = { .argv = argv, .cwd = dir, .inherit_stderr = true };
	struct proc_result res;
	struct err e = ERR_INIT;

	return !proc_run(&o, &res, &e) && res.end == PROC_EXITED && res.status == 0;
}

static bool read_names(const char *path, struct made_history *h, unsigned n)
{
	FILE *f = fopen(path, "r");
	unsigned mark, base = 0, number = 0;
	char hex[COMMIT_HEX + 1];

	if (!f)
		return false;
	while (number < n && fscanf(f, ":%u %40s\n", &mark, hex) == 2) {
		if (mark != base + 1 || !commit_parse(hex, &h[number].commit[0].id))
			break;
		for (unsigned i = 1; i < h[number].n; i++)
			if (fscanf(f, ":%u %40s\n", &mark, hex) != 2 || mark != base + i + 1 ||
			    !commit_parse(hex, &h[number].commit[i].id))
				number = n + 1;
		base += h[number].n;
		number++;
	}
	fclose(f);
	return number == n;
}

/* Make the bare repository at @dir hold all @n histories, and fill in the object names. */
static bool histories_import(const char *dir, struct made_history *h, unsigned n)
{
	char *stream = xasprintf("%s/stream", dir), *marks = xasprintf("%s/marks", dir);
	FILE *f = fopen(stream, "w");
	unsigned base = 0;
	bool ok;

	if (!f)
		return false;
	for (unsigned k = 0; k < n; k++) {
		for (unsigned i = 0; i < h[k].n; i++)
			write_commit(f, &h[k], k, base, i);
		base += h[k].n;
	}
	ok = !fclose(f) &&
	     run(dir, "git init -q --bare . && git fast-import --quiet --force "
		      "--export-marks=marks <stream && sort -t: -k2n -o marks marks "
		      "&& git pack-refs --all") &&
	     read_names(marks, h, n);
	free(stream);
	free(marks);
	return ok;
}

/* Is @a an ancestor of (or the same as) @b? By brute force. */
static bool history_is_ancestor(const struct made_history *h, unsigned a, unsigned b)
{
	bool reached[HISTORY_MAX] = { false };

	reached[b] = true;
	for (unsigned i = b; i > a; i--)
		for (unsigned k = 0; reached[i] && k < h->commit[i].parents; k++)
			reached[h->commit[i].parent[k]] = true;
	return reached[a];
}

#endif
