/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A test kernel put on a machine over SSH, and set for one boot. */
#include "target/ssh_boot_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "target/ssh_cmdline.h"
#include "target/ssh_copy.h"
#include "target/ssh_exec.h"

#define STEP_MS 300000   /* depmod and mkinitramfs take minutes on a small machine */
#define BYTES_PER_MS 100 /* the slowest link that is waited for */
#define ANSWER_MAX (64u << 10)
#define BOOT_DIR "/boot/kregress"
#define WATCHDOG_SLACK_S 30
#define GRUB_COPY (1u << 20) /* what entry and environment take in /boot, by far */

static int run(const struct ssh_box *b, const struct strv *argv, struct str *out, struct err *e)
{
	_cleanup_str_ struct str errors = STR_INIT;
	const struct ssh_command o = {
		.argv = argv->v,
		.timeout_ms = STEP_MS,
		.max_output = ANSWER_MAX,
		.out = out,
		.errors = &errors,
	};
	struct ssh_result r;
	const char *said;

	if (ssh_exec(b->c, &o, &r, e) < 0)
		return -1;
	if (r.end == SSH_EXITED && r.status == 0)
		return 0;
	ssh_failed(&r, &errors, e);
	if (r.end != SSH_EXITED || r.status != BOOT_REFUSED)
		return -1;
	said = e ? strstr(e->msg, ": ") : NULL;
	if (said)
		memmove(e->msg, said + 2, strlen(said + 2) + 1);
	return 1;
}

int boot_script(const struct ssh_box *b, enum boot_script s, const struct strv *args,
		struct str *out, struct err *e)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;
	_cleanup_str_ struct str text = STR_INIT;

	ssh_box_root(b, &argv);
	boot_script_text(s, &text);
	strv_add(&argv, "sh");
	strv_add(&argv, "-c");
	strv_add(&argv, str_text(&text));
	strv_addf(&argv, "kregress-%s", boot_script_name(s));
	if (args)
		strv_extend(&argv, args);
	return run(b, &argv, out, e);
}

/* For scripts that have no business to refuse, other than for the machine's own state. */
static int must(struct ssh_boot *b, enum boot_script s, const struct strv *args, struct str *out,
		const char *what, struct err *e)
{
	return boot_script(&b->box, s, args, out, e) == 0
		       ? 0
		       : err_wrap(e, "cannot %s on '%s'", what, ssh_name(b->conn));
}

/* ---- files --------------------------------------------------------------------------------- */

static int size_of(const char *path, uint64_t *bytes, struct err *e)
{
	struct stat st;

	*bytes = 0;
	if (!path)
		return 0;
	if (stat(path, &st) < 0)
		return err_sys(e, errno, "cannot read '%s'", path);
	*bytes = (uint64_t)st.st_size;
	return 0;
}

static bool makes_initramfs(const struct ssh_boot *b)
{
	return str_eq(b->o.initramfs, "make");
}

static bool has_initramfs(const struct ssh_boot *b)
{
	return b->o.initramfs && *b->o.initramfs;
}

static const char *initramfs_here(const struct ssh_boot *b)
{
	return has_initramfs(b) && !makes_initramfs(b) ? b->o.initramfs : NULL;
}

/* Space, tools, privileges: all that is missing in one error. */
static int require(struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	static const char *const names[] = { "", "kexec", "grub", "" };
	struct ssh_box_need need = {
		.install = names[b->install],
		.has_modules = job->modules != NULL,
		.arch = b->o.arch,
	};
	uint64_t image, initramfs;

	if (size_of(job->image, &image, e) < 0 || size_of(initramfs_here(b), &initramfs, e) < 0 ||
	    size_of(job->modules, &need.modules_bytes, e) < 0)
		return -1;
	need.work_bytes = image + initramfs + need.modules_bytes;
	if (b->install != SSH_INSTALL_KEXEC)
		need.boot_bytes = image + initramfs + GRUB_COPY;
	return ssh_box_require(&b->box, &need, e);
}

/* Is @name there with this checksum? Lines "NAME SHA256 -". */
static bool is_there(const struct str *list, const char *name, const char *sha)
{
	_cleanup_free_ char *line = xasprintf("%s %s", name, sha);
	const char *at = strstr(str_text(list), line);

	return at && (at == list->buf || at[-1] == '\n');
}

struct sending {
	const struct target_job *job;
};

static void on_tick(void *cookie, uint64_t done, uint64_t total)
{
	const struct target_job *job = ((struct sending *)cookie)->job;

	(void)done;
	(void)total;
	if (job->tick)
		job->tick(job->tick_cookie, "upload");
}

static int send_file(struct ssh_boot *b, const struct target_job *job, const char *from,
		     const char *name, const struct str *list, struct err *e)
{
	_cleanup_free_ char *to = xasprintf("%s/boot/%s", b->box.o.work_dir, name);
	struct sending cookie = { job };
	char sha[HASH_HEX_SIZE];
	struct ssh_upload u = {
		.from = from,
		.to = to,
		.mode = 0600,
		.sha256 = sha,
		.durable = true,
		.tick = on_tick,
		.cookie = &cookie,
	};
	uint64_t bytes;

	if (!from)
		return 0;
	if (size_of(from, &bytes, e) < 0 || hash_file(from, sha, e) < 0)
		return -1;
	if (is_there(list, name, sha))
		return 0;
	u.timeout_ms = STEP_MS + (int64_t)(bytes / BYTES_PER_MS);
	return ssh_upload(b->conn, &u, e);
}

static int send_files(struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	_cleanup_str_ struct str list = STR_INIT;

	strv_add(&args, b->box.o.work_dir);
	strv_addf(&args, "%ld:%ld", b->box.uid, b->box.gid);
	if (must(b, BOOT_PREPARE, &args, &list, "prepare a folder", e) < 0 ||
	    send_file(b, job, job->image, "image", &list, e) < 0 ||
	    send_file(b, job, initramfs_here(b), "initramfs", &list, e) < 0)
		return -1;
	return send_file(b, job, job->modules, "modules.tar", &list, e);
}

/* ---- modules and initramfs ----------------------------------------------------------------- */

static int check_release(const struct target_job *job, struct err *e)
{
	const char *r = job->release ? job->release : "";

	if (!*r || *r == '.')
		return err_set(e, ERR_INTERNAL, "modules of a kernel without a release");
	for (; *r; r++)
		if (!isalnum((unsigned char)*r) && !strchr("._+~-", *r))
			return err_set(e, ERR_CONFIG, "'%s' is no release of a kernel",
				       job->release);
	return 0;
}

static int put_modules(struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	char sha[HASH_HEX_SIZE] = "";

	/* Without modules, those of an earlier build must not be found by the kernel. */
	if (!job->modules && !(job->release && *job->release))
		return 0;
	if (check_release(job, e) < 0 || (job->modules && hash_file(job->modules, sha, e) < 0))
		return -1;
	if (str_eq(job->release, b->home.release))
		return err_set(
			e, ERR_LAB,
			"the default kernel of '%s' has the release '%s' of the test kernel, "
			"whose modules would take the place of its own",
			ssh_name(b->conn), job->release);
	if (job->modules)
		strv_addf(&args, "%s/boot/modules.tar", b->box.o.work_dir);
	else
		strv_add(&args, "");
	strv_add(&args, job->release);
	strv_add(&args, sha);
	return must(b, BOOT_MODULES, &args, NULL, "install modules", e);
}

static int make_initramfs(struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	char sha[HASH_HEX_SIZE] = "";

	if (!makes_initramfs(b))
		return 0;
	if (check_release(job, e) < 0)
		return -1;
	if (job->modules && hash_file(job->modules, sha, e) < 0)
		return -1;
	strv_addf(&args, "%s/boot/initramfs", b->box.o.work_dir);
	strv_add(&args, job->release);
	strv_add(&args, sha);
	return must(b, BOOT_MAKE_INITRAMFS, &args, NULL, "make an initramfs", e);
}

/* ---- the next boot ------------------------------------------------------------------------- */

static int make_cmdline(const struct ssh_boot *b, const struct target_job *job, struct str *out,
			struct err *e)
{
	const struct ssh_cmdline c = {
		.home = b->home.cmdline,
		.workload = job->append,
		.campaign = b->o.append,
		.nonce = job->nonce,
		.has_initramfs = has_initramfs(b),
	};

	return ssh_cmdline_make(&c, out, e);
}

static int load_kexec(struct ssh_boot *b, const char *cmdline, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	int ret;

	strv_addf(&args, "%s/boot/image", b->box.o.work_dir);
	if (has_initramfs(b))
		strv_addf(&args, "%s/boot/initramfs", b->box.o.work_dir);
	else
		strv_add(&args, "");
	strv_add(&args, cmdline);
	ret = boot_script(&b->box, BOOT_KEXEC_LOAD, &args, NULL, e);
	if (ret)
		err_wrap(e, "kexec -l on '%s'", ssh_name(b->conn));
	return ret;
}

static int copy_to_boot(struct ssh_boot *b, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT;

	strv_addf(&args, "%s/boot", b->box.o.work_dir);
	strv_add(&args, has_initramfs(b) ? "1" : "0");
	return must(b, BOOT_COPY, &args, NULL, "copy the kernel to " BOOT_DIR, e);
}

static int set_grub(struct ssh_boot *b, const char *cmdline, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	_cleanup_str_ struct str words = STR_INIT;

	ssh_cmdline_quote_grub(cmdline, &words);
	strv_add(&args, str_text(&words));
	strv_add(&args, has_initramfs(b) ? "1" : "0");
	return must(b, BOOT_GRUB_SET, &args, NULL, "set GRUB's entry for one boot", e);
}

/* The user's command sees all as environment; paths are those there. */
static int set_by_command(struct ssh_boot *b, const struct target_job *job, const char *cmdline,
			  struct err *e)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;

	ssh_box_root(&b->box, &argv);
	strv_add(&argv, "env");
	strv_add(&argv, "KREGRESS_IMAGE=" BOOT_DIR "/image");
	strv_addf(&argv, "KREGRESS_INITRD=%s", has_initramfs(b) ? BOOT_DIR "/initramfs" : "");
	strv_addf(&argv, "KREGRESS_CMDLINE=%s", cmdline);
	strv_addf(&argv, "KREGRESS_RELEASE=%s", job->release ? job->release : "");
	strv_extend(&argv, b->o.install);
	if (run(&b->box, &argv, NULL, e) == 0)
		return 0;
	return err_wrap(e, "'%s' on '%s' (install = in [target])", b->o.install->v[0],
			ssh_name(b->conn));
}

int boot_install(struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	_cleanup_str_ struct str cmdline = STR_INIT;

	if (make_cmdline(b, job, &cmdline, e) < 0 || require(b, job, e) < 0 ||
	    send_files(b, job, e) < 0 || put_modules(b, job, e) < 0 ||
	    make_initramfs(b, job, e) < 0)
		return -1;
	if (b->install == SSH_INSTALL_KEXEC)
		return load_kexec(b, str_text(&cmdline), e);
	if (copy_to_boot(b, e) < 0)
		return -1;
	if (b->install == SSH_INSTALL_GRUB)
		return set_grub(b, str_text(&cmdline), e);
	return set_by_command(b, job, str_text(&cmdline), e);
}

int boot_disarm(struct ssh_boot *b, bool *was_due, struct err *e)
{
	_cleanup_str_ struct str out = STR_INIT;

	if (was_due)
		*was_due = false;
	/* An earlier session may have been of another kind. */
	if (b->install != SSH_INSTALL_GRUB && b->home.is_known)
		return 0;
	if (must(b, BOOT_GRUB_CLEAR, NULL, &out, "read GRUB's environment", e) < 0)
		return -1;
	if (was_due)
		*was_due = str_starts(str_text(&out), "set");
	return 0;
}

int boot_watchdog_arm(struct ssh_boot *b, struct strv *facts, bool *armed, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	long long seconds = b->o.boot_timeout_ms / 1000 + WATCHDOG_SLACK_S;
	struct err why = ERR_INIT;
	int ret;

	*armed = false;
	if (!b->o.watchdog || b->install != SSH_INSTALL_KEXEC)
		return 0;
	strv_addf(&args, "%lld", seconds);
	ret = boot_script(&b->box, BOOT_WATCHDOG_ARM, &args, NULL, &why);
	if (ret < 0) {
		err_set(e, why.code, "%s", why.msg);
		return err_wrap(e, "cannot arm the watchdog of '%s' (watchdog = no in [target])",
				ssh_name(b->conn));
	}
	*armed = ret == 0;
	if (*armed)
		strv_addf(facts, "watchdog=%lld s", seconds);
	else
		strv_addf(facts, "watchdog=none: %s", why.msg);
	return 0;
}

int boot_watchdog_stop(struct ssh_boot *b, struct err *e)
{
	return must(b, BOOT_WATCHDOG_STOP, NULL, NULL, "stop the watchdog", e);
}

int ssh_box_clean_boot(const struct ssh_box *b, struct strv *removed, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;

	strv_add(&args, b->o.work_dir);
	if (boot_script(b, BOOT_CLEAN, &args, &out, e) != 0)
		return err_wrap(e, "cannot remove kernels of ours on '%s'", ssh_name(b->c));
	for (const char *at = str_text(&out); *at;) {
		size_t n = strcspn(at, "\n");
		_cleanup_str_ struct str clean = STR_INIT;

		str_neutralise(&clean, at, n, false);
		strv_add(removed, str_text(&clean));
		at += n + (at[n] == '\n');
	}
	return 0;
}
