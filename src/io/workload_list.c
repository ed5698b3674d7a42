/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The installed workloads, for `kregress help workloads`. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "io/workload.h"

/* Entries of a folder as scandir() gives them. */
struct listing {
	struct dirent **entry;
	int n;
};

static void release_listing(struct listing *l)
{
	for (int i = 0; i < l->n; i++)
		free(l->entry[i]);
	free(l->entry);
}

/* Not alphasort(): that depends on the locale. */
static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* A broken one must not hide the others. */
static void add_workload(struct str *out, const char *name, const char *path)
{
	static const char *const better[] = {
		[METRIC_BETTER_NONE] = "",
		[METRIC_LOWER] = ", lower is better",
		[METRIC_HIGHER] = ", higher is better",
	};
	_cleanup_(workload_release) struct workload w = { .path = NULL };
	struct err e = ERR_INIT;

	if (workload_load_text(path, &w, &e) < 0) {
		str_addf(out, "%s — cannot be read: %s\n", name, e.msg);
		return;
	}
	str_addf(out, "%s — %s\n", name, w.description);
	for (size_t i = 0; i < w.n_metrics; i++)
		str_addf(out, "    %-16s %s%s\n", w.metric[i].name, w.metric[i].unit,
			 better[w.metric[i].better]);
}

int workload_list(struct str *out, struct err *e)
{
	_cleanup_free_ char *data = fs_data_dir();
	_cleanup_free_ char *dir = fs_join(data, "workloads");
	_cleanup_(release_listing) struct listing l = { .entry = NULL };

	l.n = scandir(dir, &l.entry, NULL, by_bytes);
	if (l.n < 0)
		return err_sys(e, errno, "cannot list workloads in '%s'", dir);
	for (int i = 0; i < l.n; i++) {
		const char *name = l.entry[i]->d_name;
		_cleanup_free_ char *path = xasprintf("%s/%s/%s.ini", dir, name, name);

		if (name[0] != '.' && fs_exists(path))
			add_workload(out, name, path);
	}
	return 0;
}
