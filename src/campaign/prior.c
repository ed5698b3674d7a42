/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How suspect each commit is before anything is measured: for search = bayes. */
#include "campaign/prior.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static void free_file(struct prior_file **p)
{
	prior_file_free(*p);
}

static void free_changes(struct repo_changes **c)
{
	repo_changes_free(*c);
}

struct heaviest {
	const struct prior_file *file;
	double weight;
	bool any;
};

static int weigh_path(const char *path, enum repo_change change, void *cookie)
{
	struct heaviest *h = cookie;
	double weight = prior_file_path(h->file, path);

	(void)change;
	if (!h->any || weight > h->weight)
		h->weight = weight;
	h->any = true;
	return 0;
}

/* A commit is as suspect as the most suspect file that it changes. */
static int weigh_files(struct session *s, const struct prior_file *f, double *w, struct err *e)
{
	_cleanup_(free_changes) struct repo_changes *c = repo_changes_new(s->repo);
	unsigned parents;

	for (uint32_t i = 0; i < s->dag.n; i++) {
		struct heaviest h = { .file = f, .weight = 1 };

		if (w[i] <= 0)
			continue;
		if (repo_changes_of(c, &s->dag.id[i], &parents, e) < 0 ||
		    repo_changes_walk(c, s->first_parent && parents ? 0 : REPO_ALL_PARENTS,
				      weigh_path, &h, e) < 0)
			return -1;
		w[i] *= h.weight;
	}
	return 0;
}

static int apply_file(struct session *s, double *w, struct err *e)
{
	_cleanup_(free_file) struct prior_file *f = NULL;

	if (!s->cfg->prior || !*s->cfg->prior)
		return 0;
	if (prior_file_load(s->cfg->prior, s->repo, &f, e) < 0)
		return -1;
	for (uint32_t i = 0; i < s->dag.n; i++)
		w[i] *= prior_file_commit(f, &s->dag.id[i]);
	return prior_file_has_paths(f) ? weigh_files(s, f, w, e) : 0;
}

static void say(const struct session *s, uint32_t idle, uint32_t merges)
{
	_cleanup_free_ char *text =
		xasprintf("%u of %u candidates change nothing that these kernels are built from: "
			  "they get almost no weight%s",
			  idle, dag_candidates(&s->dag),
			  merges ? "; merges without such a change of their own get little" : "");

	/* A viewer is not told each time. */
	if (s->mode == SESSION_VIEW)
		log_verbose("%s", text);
	else
		log_info("%s", text);
}

static int apply_built(struct session *s, double *w, struct err *e)
{
	_cleanup_free_ unsigned char *kind = xcalloc(s->dag.n, 1);
	uint32_t idle = 0, merges = 0;
	int ret = prior_built(s, kind, e);

	if (ret <= 0)
		return ret;
	for (uint32_t i = 0; i < s->dag.n; i++) {
		if (w[i] <= 0)
			continue;
		if (kind[i] == PRIOR_IS_IDLE) {
			w[i] *= PRIOR_IDLE;
			idle++;
		} else if (kind[i] == PRIOR_IS_CLEAN_MERGE) {
			w[i] *= PRIOR_CLEAN_MERGE;
			merges++;
		}
	}
	say(s, idle, merges);
	return 0;
}

int prior_weights(struct session *s, double *w, struct err *e)
{
	for (uint32_t i = 0; i < s->dag.n; i++)
		w[i] = s->dag.treesame && s->dag.treesame[i] ? 0 : 1;
	if (apply_built(s, w, e) < 0)
		return -1;
	return apply_file(s, w, e);
}
