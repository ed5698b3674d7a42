/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The initramfs of one trial: agent, job, workload. */
#include "campaign/guest_image.h"

#include "campaign/guest_parts.h"
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

static int add_workload(struct file_list *l, const struct guest_parts *p, struct err *e)
{
	for (size_t i = 0; i < p->n_files; i++) {
		const struct ssh_run_file *f = &p->files[i];

		if (add_host_file(l, xasprintf(GUEST_WORK_DIR "/%s", f->name), f->from, f->mode,
				  e) < 0)
			return -1;
	}
	return 0;
}

static int write_job(const struct session *s, const struct guest_parts *p, const char *nonce,
		     unsigned runs, const struct target_observe *observe, struct str *text,
		     struct err *e)
{
	const struct guest_job job = { .nonce = nonce,
				       .runs = runs,
				       .run_timeout_ms = s->cfg->workload.timeout_ms,
				       .observe = *observe,
				       .settings = p->settings,
				       .n_settings = p->n_settings,
				       .argv = p->argv.v };

	return guest_job_write(&job, text, e);
}

int guest_image_write(struct session *s, const char *nonce, unsigned runs,
		      const struct target_observe *observe, const char *path, uint64_t *size_bytes,
		      struct err *e)
{
	_cleanup_(guest_parts_release) struct guest_parts p = { .n_files = 0 };
	_cleanup_(file_list_release) struct file_list l = { .n = 0 };
	_cleanup_str_ struct str job = STR_INIT;
	_cleanup_free_ char *agent = guest_agent_path(e);

	if (!agent)
		return -1;
	if (guest_parts_get(s, &p, e) < 0 || write_job(s, &p, nonce, runs, observe, &job, e) < 0 ||
	    add_host_file(&l, xstrdup(GUEST_INIT), agent, 0755, e) < 0)
		return -1;
	l.file[l.n++] = (struct initramfs_file){
		.name = GUEST_JOB, .data = str_text(&job), .n = job.len, .mode = 0644
	};
	if (add_workload(&l, &p, e) < 0)
		return -1;
	return initramfs_write(path, l.file, l.n, size_bytes, e);
}
