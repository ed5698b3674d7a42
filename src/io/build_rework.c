/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels without the culprit, and with it alone: commits in the private repository. */
#include "io/build_internal.h"

int builder_rework(struct builder *b, enum repo_rework how, const struct commit_id *culprit,
		   const struct commit_id *onto, struct commit_id *out, struct strv *conflicts,
		   struct err *e)
{
	return repo_rework(b->priv, how, culprit, onto, NULL, out, conflicts, e);
}

int builder_patch(struct builder *b, const char *name, const struct str *patch,
		  const struct commit_id *onto, struct commit_id *out, struct err *e)
{
	return repo_patch(b->priv, name, patch, onto, out, e);
}

int builder_revert_tree(struct builder *b, const struct commit_id *culprit,
			const struct commit_id *onto, const char *dir, struct commit_id *out,
			struct strv *conflicts, struct err *e)
{
	return repo_revert_tree(b->priv, culprit, onto, dir, out, conflicts, e);
}

bool builder_knows(const struct builder *b, const struct commit_id *id)
{
	return repo_has(b->priv, id);
}
