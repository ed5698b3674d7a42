/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes into a guest: the agent's job, the agent, the kernel image. */
#ifndef KR_TARGET_GUEST_H
#define KR_TARGET_GUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "target/target.h"

/* Names in the initramfs (without leading slash), as qemu/README.md defines them. */
#define GUEST_INIT "init"     /* the agent, mode 0755 */
#define GUEST_JOB "job"       /* text of guest_job_write(), mode 0644 */
#define GUEST_WORK_DIR "work" /* program and files of the workload; it runs there */

/* A file under /proc/sys or /sys that is written before the first run. */
struct guest_setting {
	const char *path, *value;
};

/* All borrowed. */
struct guest_job {
	const char *nonce; /* 1 to 64 hex digits */
	unsigned runs;     /* warm-ups included, at least 1 */
	int64_t run_timeout_ms;
	struct target_observe observe;
	const struct guest_setting *settings;
	size_t n_settings;
	char *const *argv; /* NULL-terminated, at least one word */
};

/*
 * Append the text of /job. The same job gives the same bytes, and a nonce of the same
 * length a text of the same length. ERR_CONFIG: a job that cannot be said: no command,
 * "=" or a line break in the path of a setting, more than GUEST_JOB_MAX bytes.
 */
int guest_job_write(const struct guest_job *j, struct str *out, struct err *e);
#define GUEST_JOB_MAX ((1u << 18) - 1)

/*
 * Host path of the built agent, owned: <data dir>/qemu/agent where kregress is
 * installed, <data dir>/build/qemu/agent in a source tree. NULL with ERR_LAB: not built.
 */
char *guest_agent_path(struct err *e);

/*
 * The faster of two forms of one kernel: @vmlinux where it is an ELF file with a PVH
 * entry, which QEMU enters without running a decompressor; else @image. @vmlinux may be
 * NULL. Returns one of its arguments.
 */
const char *guest_pick_image(const char *image, const char *vmlinux);

#endif
