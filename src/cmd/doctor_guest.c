/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kregress doctor looks at for guests: QEMU, and KVM by starting one. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "cmd/doctor.h"
#include "io/workload.h"

#define KVM "/dev/kvm"
#define GUEST_LIMIT_MS 20000

/* QEMU's program for the campaign, owned. */
static char *qemu_program(const struct doctor *d)
{
	_cleanup_(machine_release) struct machine m = { .name = NULL };

	if (d->cfg && machine_load(d->cfg->target.machine, &m, NULL) == 0 && m.program)
		return xstrdup(m.program);
	return xstrdup("qemu-system-x86_64");
}

/* The newest file that matches, owned; NULL: none. */
static char *newest(const char *pattern)
{
	const char *best = NULL;
	char *found;
	struct stat st;
	time_t time = 0;
	glob_t g;

	if (glob(pattern, 0, NULL, &g) != 0)
		return NULL;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		if (access(g.gl_pathv[i], R_OK) < 0 || stat(g.gl_pathv[i], &st) < 0 ||
		    (best && st.st_mtime < time))
			continue;
		best = g.gl_pathv[i];
		time = st.st_mtime;
	}
	found = best ? xstrdup(best) : NULL;
	globfree(&g);
	return found;
}

/* A kernel to try: one that we built, else one of this machine. Owned; NULL: none. */
static char *find_kernel(void)
{
	_cleanup_free_ char *cache = fs_cache_dir();
	_cleanup_free_ char *pattern = fs_join(cache, "kernels/*/bzImage");
	char *ours = newest(pattern);

	return ours ? ours : newest("/boot/vmlinuz-*");
}

/* Last line that QEMU wrote; "" for none. */
static void last_line(struct str *text)
{
	char *at;

	while (text->len && text->buf[text->len - 1] == '\n')
		text->buf[--text->len] = '\0';
	at = text->len ? strrchr(text->buf, '\n') : NULL;
	if (at) {
		text->len -= (size_t)(at + 1 - text->buf);
		memmove(text->buf, at + 1, text->len + 1);
	}
}

/*
 * Without an initramfs the kernel panics within seconds, resets, and QEMU ends. Where KVM
 * does not work QEMU ends with an error, or the guest stands still.
 */
static int start_guest(const char *qemu, const char *kernel, struct proc_result *res,
		       struct str *said, struct err *e)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;
	struct proc_opts o = { .timeout_ms = GUEST_LIMIT_MS,
			       .out = said,
			       .merge_stderr = true,
			       .max_output = 1 << 20 };

	strv_add(&argv, qemu);
	if (str_split_words("-accel kvm -cpu host -M pc -m 256M -nodefaults -no-user-config "
			    "-display none -no-reboot -serial stdio "
			    "-append 'console=ttyS0 panic=-1' -kernel",
			    &argv, e) < 0)
		return -1;
	strv_add(&argv, kernel);
	o.argv = argv.v;
	return proc_run(&o, res, e);
}

static void judge(struct doctor *d, const char *kernel, const struct proc_result *res,
		  struct str *said)
{
	bool must = d->cfg && d->cfg->target.accel == ACCEL_KVM;
	char how[96];

	if (res->end == PROC_EXITED && res->status == 0) {
		doctor_say(d, DOCTOR_OK, "kvm: a kernel starts under it ('%s')", kernel);
		return;
	}
	last_line(said);
	proc_describe(res, how, sizeof(how));
	doctor_say(d, must ? DOCTOR_PROBLEM : DOCTOR_NOTE,
		   "kvm: '" KVM "' opens, but a kernel does not start under it ('%s' %s%s%s): %s",
		   kernel, how, said->len ? ": " : "", str_text(said),
		   must ? "set accel = auto in [target]"
			: "TCG is used, which is several times slower");
}

static void boot_guest(struct doctor *d, const char *qemu)
{
	_cleanup_str_ struct str said = STR_INIT;
	_cleanup_free_ char *kernel = find_kernel();
	struct proc_result res;
	struct err e = ERR_INIT;

	if (!kernel)
		doctor_say(d, DOCTOR_NOTE,
			   "kvm: '" KVM
			   "' opens; whether a guest starts is not known, as no kernel is "
			   "here to try (run kregress doctor again after the first build)");
	else if (start_guest(qemu, kernel, &res, &said, &e) < 0)
		doctor_say(d, DOCTOR_NOTE, "kvm: not tried: %s", e.msg);
	else
		judge(d, kernel, &res, &said);
}

/* False, and a finding, where KVM cannot even be opened. */
static bool kvm_opens(struct doctor *d)
{
	bool must = d->cfg && d->cfg->target.accel == ACCEL_KVM;
	_cleanup_close_ int fd = open(KVM, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return true;
	doctor_say(
		d, must ? DOCTOR_PROBLEM : DOCTOR_NOTE,
		"kvm: cannot open '" KVM "': %s; TCG is used, which is several times slower (%s)",
		strerror(errno),
		errno == EACCES ? "adduser $USER kvm, and log in again"
				: "switch on virtualisation in the firmware, modprobe kvm_intel or "
				  "kvm_amd");
	return false;
}

void doctor_kvm(struct doctor *d)
{
	_cleanup_free_ char *qemu = NULL, *path = NULL;

	if (!doctor_boots(d))
		return;
	qemu = qemu_program(d);
	path = proc_which(qemu);
	if (!path) {
		doctor_say(d, DOCTOR_PROBLEM,
			   "qemu: '%s' is missing (apt-get install "
			   "qemu-system-x86)",
			   qemu);
		return;
	}
	doctor_say(d, DOCTOR_OK, "qemu: %s", path);
	if (d->cfg && (d->cfg->target.accel == ACCEL_TCG || d->cfg->target.deterministic)) {
		doctor_say(d, DOCTOR_OK, "kvm: not used by this campaign");
		return;
	}
	if (kvm_opens(d))
		boot_guest(d, qemu);
}
