/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all targets share: the result of a trial. */
#include "target/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void target_result_release(struct target_result *r)
{
	for (size_t i = 0; i < r->n_runs; i++)
		free(r->runs[i].output);
	free(r->runs);
	for (size_t i = 0; i < r->n_files; i++)
		free(r->files[i].text);
	free(r->files);
	free(r->profile.hits);
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

void target_result_add_file(struct target_result *r, const char *phase, size_t n, const char *name)
{
	struct target_file *f;

	r->files = xrealloc(r->files, r->n_files + 1, sizeof(*r->files));
	f = &r->files[r->n_files++];
	*f = (struct target_file){ .text = NULL };
	snprintf(f->phase, sizeof(f->phase), "%.*s", (int)n, phase);
	snprintf(f->name, sizeof(f->name), "%s", name);
}

void target_profile_add(struct target_profile *p, uint64_t address)
{
	size_t low = 0, high = p->n_hits;

	p->samples++;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->hits[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < p->n_hits && p->hits[low].address == address) {
		p->hits[low].count++;
		return;
	}
	if (p->n_hits == TARGET_HITS_MAX)
		return;
	xgrow(&p->hits, &p->room, p->n_hits + 1, sizeof(*p->hits));
	memmove(p->hits + low + 1, p->hits + low, (p->n_hits - low) * sizeof(*p->hits));
	p->hits[low] = (struct target_hit){ address, 1 };
	p->n_hits++;
}

void target_close(struct target *t)
{
	if (t->ops)
		t->ops->close(t->priv);
	t->ops = NULL;
	t->priv = NULL;
}
