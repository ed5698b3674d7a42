/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commits of a range, as git bisect skip takes it. */
#include <stdlib.h>

#include "io/repo_internal.h"

static int expand_range(struct repo *r, const char *from, const char *to, const char *what,
			struct commit_id **out, size_t *n, struct err *e)
{
	_cleanup_(dag_release) struct dag dag = DAG_INIT;
	struct commit_id a, b;
	struct repo_range range = { .tip = &b, .not_ = &a, .n_not = 1 };

	if (repo_resolve(r, from, what, &a, e) < 0 || repo_resolve(r, to, what, &b, e) < 0 ||
	    repo_candidates(r, &range, &dag, e) < 0)
		return -1;
	*out = xcalloc(dag.n + (size_t)1, sizeof(**out));
	*n = dag.n;
	if (dag.n)
		memcpy(*out, dag.id, dag.n * sizeof(**out));
	return 0;
}

int repo_expand(struct repo *r, const char *word, const char *what, struct commit_id **out,
		size_t *n, struct err *e)
{
	const char *dots = strstr(word, "..");
	_cleanup_free_ char *from = NULL;
	struct commit_id id;

	if (!dots) {
		if (repo_resolve(r, word, what, &id, e) < 0)
			return -1;
		*out = xcalloc(1, sizeof(**out));
		(*out)[0] = id;
		*n = 1;
		return 0;
	}
	if (dots == word || !dots[2] || dots[2] == '.')
		return err_set(e, ERR_CONFIG, "%s: '%s' is no range (write A..B, both named)", what,
			       word);
	from = xstrndup(word, (size_t)(dots - word));
	return expand_range(r, from, dots + 2, what, out, n, e);
}
