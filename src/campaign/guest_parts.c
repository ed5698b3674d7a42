/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs where the kernel runs: the workload's command, files and settings. */
#include "campaign/guest_parts.h"

#include <stdlib.h>
#include <string.h>

#define FILES_MAX 62

static int add_file(struct guest_parts *p, const char *name, const char *from, struct err *e)
{
	for (size_t i = 0; i < p->n_files; i++) {
		if (!str_eq(p->files[i].name, name))
			continue;
		if (str_eq(p->files[i].from, from))
			return 0;
		return err_set(e, ERR_CONFIG, "a workload has two files named '%s': '%s' and '%s'",
			       name, p->files[i].from, from);
	}
	if (p->n_files == FILES_MAX)
		return err_set(e, ERR_CONFIG, "a workload takes at most %d files", FILES_MAX);
	strv_add(&p->names, name);
	p->files[p->n_files++] = (struct ssh_run_file){ from, p->names.v[p->names.n - 1], 0755 };
	return 0;
}

static int add_files(struct guest_parts *p, const struct workload *w, struct err *e)
{
	p->files = xcalloc(FILES_MAX, sizeof(*p->files));
	if (w->program && add_file(p, w->name, w->program, e) < 0)
		return -1;
	for (size_t i = 0; i < w->files.n; i++) {
		const char *slash = strrchr(w->files.v[i], '/');

		if (add_file(p, slash ? slash + 1 : w->files.v[i], w->files.v[i], e) < 0)
			return -1;
	}
	return 0;
}

int guest_parts_get(const struct session *s, struct guest_parts *p, struct err *e)
{
	const struct workload *w = &s->workload;

	if (workload_argv(w, s->cfg->workload.args, &p->argv, e) < 0)
		return -1;
	p->settings = xcalloc(w->n_setup, sizeof(*p->settings));
	for (; p->n_settings < w->n_setup; p->n_settings++)
		p->settings[p->n_settings] = (struct guest_setting){
			w->setup[p->n_settings].path, w->setup[p->n_settings].value
		};
	return add_files(p, w, e);
}

void guest_parts_release(struct guest_parts *p)
{
	strv_release(&p->argv);
	strv_release(&p->names);
	free(p->settings);
	free(p->files);
	*p = (struct guest_parts){ .n_files = 0 };
}

void guest_parts_free(struct guest_parts *p)
{
	if (!p)
		return;
	guest_parts_release(p);
	free(p);
}
