/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes into a guest: the agent's job, the agent, the kernel image. */
#include "target/guest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "target/qemu.h"

/* A word on one line: backslash and line break are escaped, the agent undoes it. */
static void add_word(struct str *out, const char *word)
{
	for (; *word; word++) {
		if (*word == '\n')
			str_add(out, "\\n");
		else if (*word == '\\')
			str_add(out, "\\\\");
		else
			str_addmem(out, word, 1);
	}
}

static int check_job(const struct guest_job *j, struct err *e)
{
	size_t n = strlen(j->nonce);

	if (n < 1 || n > 64 || strspn(j->nonce, "0123456789abcdef") != n)
		return err_set(e, ERR_INTERNAL, "bad nonce '%.80s'", j->nonce);
	if (!j->argv || !j->argv[0] || !j->runs || j->run_timeout_ms <= 0)
		return err_set(e, ERR_CONFIG,
			       "nothing to run in the guest: no command, no runs or "
			       "no time (see command = in the workload's file)");
	for (size_t i = 0; i < j->n_settings; i++)
		if (strpbrk(j->settings[i].path, "=\n") || j->settings[i].path[0] != '/')
			return err_set(e, ERR_CONFIG, "bad path '%s' in [setup] of the workload",
				       j->settings[i].path);
	return 0;
}

static void add_observe(const struct target_observe *o, struct str *out)
{
	if (o->snapshots)
		str_add(out, "observe snapshots\n");
	if (o->profile)
		str_add(out, "observe profile\n");
	if (o->stacks)
		str_addf(out, "observe stacks %u\n", o->stacks);
	if (o->profile || o->stacks)
		str_addf(out, "observe time_ms %lld\n", (long long)o->time_ms);
}

int guest_job_write(const struct guest_job *j, struct str *out, struct err *e)
{
	size_t before = out->len;

	if (check_job(j, e) < 0)
		return -1;
	str_addf(out, "kregress-job 1\nnonce %s\nruns %u\nrun_timeout_ms %lld\n", j->nonce, j->runs,
		 (long long)j->run_timeout_ms);
	add_observe(&j->observe, out);
	for (size_t i = 0; i < j->n_settings; i++) {
		str_addf(out, "set %s=", j->settings[i].path);
		add_word(out, j->settings[i].value);
		str_add(out, "\n");
	}
	for (char *const *word = j->argv; *word; word++) {
		str_add(out, "arg ");
		add_word(out, *word);
		str_add(out, "\n");
	}
	if (out->len - before > GUEST_JOB_MAX)
		return err_set(e, ERR_CONFIG,
			       "the command of the workload is too long for a "
			       "guest: at most %u bytes with its settings",
			       GUEST_JOB_MAX);
	return 0;
}

char *guest_agent_path(struct err *e)
{
	static const char *const places[] = { "qemu/agent", "build/qemu/agent" };
	_cleanup_free_ char *data = fs_data_dir();

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_free_ char *path = fs_join(data, places[i]);

		if (access(path, X_OK) == 0)
			return xstrdup(path);
	}
	err_set(e, ERR_LAB,
		"the guest's agent is missing: neither '%s/%s' nor '%s/%s' (run make "
		"workloads)",
		data, places[0], data, places[1]);
	return NULL;
}

const char *guest_pick_image(const char *image, const char *vmlinux)
{
	struct qemu_image info;

	if (!vmlinux || qemu_image_read(vmlinux, &info, NULL) < 0)
		return image;
	return info.pvh ? vmlinux : image;
}
