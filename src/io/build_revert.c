/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel without the culprit: a commit in the private repository. */
#include "io/build_internal.h"

int builder_revert(struct builder *b, const struct commit_id *culprit, const struct commit_id *onto,
		   struct commit_id *out, struct strv *conflicts, struct err *e)
{
	return repo_revert(b->priv, culprit, onto, out, conflicts, e);
}
