/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The initramfs of one trial: agent, job, workload. */
#include "campaign/guest_image.h"

#include <string.h>

#include "base/fs.h"
#include "io/initramfs.h"
#include "target/guest.h"

#define GUEST_FILES_MAX 64

/* Names of the archive's members live as long as the list. */
struct file_list {
	struct initramfs_file file[GUEST_FILES_MAX];
	size_t n;
	struct strv names;
};

static void file_list_release(struct file_list *l)
{
	strv_release(&l->names);
}

static int add_host_file(struct file_list *l, char *name, const char *source, unsigned mode,
			 struct err *e)
{
	strv_take(&l->names, name);
	if (l->n == GUEST_FILES_MAX)
		return err_set(e, ERR_CONFIG, "a workload takes at most %d files",
			       GUEST_FILES_MAX - 2);
	l->file[l->n++] = (struct initramfs_file){ .name = name, .source = source, .mode = mode };
	return 0;
}

static int add_workload(struct file_list *l, const struct workload *w, struct err *e)
{
	if (w->program &&
	    add_host_file(l, xasprintf(GUEST_WORK_DIR "/%s", w->name), w->program, 0755, e) < 0)
		return -1;
	for (size_t i = 0; i < w->files.n; i++) {
		const char *base = strrchr(w->files.v[i], '/');

		base = base ? base + 1 : w->files.v[i];
		if (add_host_file(l, xasprintf(GUEST_WORK_DIR "/%s", base), w->files.v[i], 0755,
				  e) < 0)
			return -1;
	}
	return 0;
}

static int write_job(const struct session *s, const char *nonce, unsigned runs, struct str *text,
		     struct err *e)
{
	const struct workload *w = &s->workload;
	_cleanup_strv_ struct strv argv = STRV_INIT;
	_cleanup_free_ struct guest_setting *settings = xcalloc(w->n_setup, sizeof(*settings));
	struct guest_job job = { .nonce = nonce,
				 .runs = runs,
				 .run_timeout_ms = s->cfg->workload.timeout_ms,
				 .settings = settings,
				 .n_settings = w->n_setup };

	if (workload_argv(w, s->cfg->workload.args, &argv, e) < 0)
		return -1;
	for (size_t i = 0; i < w->n_setup; i++)
		settings[i] = (struct guest_setting){ w->setup[i].path, w->setup[i].value };
	job.argv = argv.v;
	return guest_job_write(&job, text, e);
}

int guest_image_write(struct session *s, const char *nonce, unsigned runs, const char *path,
		      uint64_t *size_bytes, struct err *e)
{
	_cleanup_(file_list_release) struct file_list l = { .n = 0 };
	_cleanup_str_ struct str job = STR_INIT;
	_cleanup_free_ char *agent = guest_agent_path(e);

	if (!agent)
		return -1;
	if (write_job(s, nonce, runs, &job, e) < 0 ||
	    add_host_file(&l, xstrdup(GUEST_INIT), agent, 0755, e) < 0)
		return -1;
	l.file[l.n++] = (struct initramfs_file){
		.name = GUEST_JOB, .data = str_text(&job), .n = job.len, .mode = 0644
	};
	if (add_workload(&l, &s->workload, e) < 0)
		return -1;
	return initramfs_write(path, l.file, l.n, size_bytes, e);
}
