/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all targets share: the result of a trial. */
#include "target/target.h"

#include <stdlib.h>
#include <string.h>

void target_result_release(struct target_result *r)
{
	for (size_t i = 0; i < r->n_runs; i++)
		free(r->runs[i].output);
	free(r->runs);
	strv_release(&r->facts);
	memset(r, 0, sizeof(*r));
}

void target_result_add_run(struct target_result *r, char *output, size_t n, int status,
			   double seconds)
{
	r->runs = xrealloc(r->runs, r->n_runs + 1, sizeof(*r->runs));
	r->runs[r->n_runs++] = (struct target_run){
		.output = output,
		.n = n,
		.status = status,
		.seconds = seconds,
	};
}

void target_close(struct target *t)
{
	if (t->ops)
		t->ops->close(t->priv);
	t->ops = NULL;
	t->priv = NULL;
}
