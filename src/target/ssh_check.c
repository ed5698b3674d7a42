/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine over SSH: one list of what it lacks. */
#include "target/ssh_box.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_BYTES (8u << 20) /* left free beyond what we put there */
#define MODULES_DIR "/lib/modules"

/* Of a kernel's build and of uname -m: first the former. */
static const struct {
	const char *build, *machine;
} arches[] = {
	{ "x86", "x86_64" },  { "x86", "i686" },        { "i386", "i686" },
	{ "i386", "x86_64" }, { "x86_64", "x86_64" },   { "arm64", "aarch64" },
	{ "arm", "armv7l" },  { "powerpc", "ppc64le" }, { "riscv", "riscv64" },
	{ "s390", "s390x" },
};

/* What each way to install a kernel takes; the package is the remedy. */
static const struct tool {
	const char *install, *name, *package;
} tools[] = {
	{ "kexec", "kexec", "kexec-tools" },       { "grub", "grub-reboot", "grub2-common" },
	{ "grub", "grub-editenv", "grub-common" }, { "modules", "tar", "tar" },
	{ "modules", "depmod", "kmod" },
};

static bool arch_fits(const char *build, const char *machine)
{
	if (str_eq(build, machine))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++)
		if (str_eq(build, arches[i].build) && str_eq(machine, arches[i].machine))
			return true;
	return false;
}

static bool tool_is_due(const struct tool *t, const struct ssh_box_need *need)
{
	return str_eq(t->install, need->install) ||
	       (need->has_modules && str_eq(t->install, "modules"));
}

static bool has_tool(const struct strv *answer, const char *name)
{
	for (size_t i = 0; i < answer->n; i++)
		if (str_eq(ssh_box_line(answer->v[i], "tool"), name))
			return true;
	return false;
}

static void check_tools(const struct strv *answer, const struct ssh_box_need *need,
			struct strv *missing)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		_cleanup_free_ char *other = NULL;

		if (!tool_is_due(&tools[i], need) || has_tool(answer, tools[i].name))
			continue;
		/* grub2-reboot, as Fedora and SUSE name it. */
		if (str_starts(tools[i].name, "grub-"))
			other = xasprintf("grub2-%s", tools[i].name + 5);
		if (!other || !has_tool(answer, other))
			strv_addf(missing, "no '%s' (install the package %s there)", tools[i].name,
				  tools[i].package);
	}
}

static void check_space(const struct strv *answer, const char *name, const char *dir,
			uint64_t bytes, struct strv *missing)
{
	_cleanup_free_ char *free_key = xasprintf("free_%s", name);
	_cleanup_free_ char *write_key = xasprintf("writable_%s", name);
	const char *kb = ssh_box_value(answer, free_key);
	unsigned long long has = strtoull(kb, NULL, 10) << 10;

	if (!bytes)
		return;
	if (!*ssh_box_value(answer, write_key))
		strv_addf(missing, "'%s' cannot be written", dir);
	else if (*kb && has < bytes + ROOM_BYTES)
		strv_addf(missing,
			  "%s: %llu MiB free where %llu MiB are needed (kregress clean removes "
			  "kernels of ours)",
			  dir, has >> 20, (unsigned long long)(bytes + ROOM_BYTES) >> 20);
}

static void check_kexec(const struct strv *answer, struct strv *missing)
{
	const char *disabled = ssh_box_value(answer, "kexec_disabled");
	const char *lockdown = ssh_box_value(answer, "lockdown");

	if (!*ssh_box_value(answer, "kexec"))
		strv_add(missing, "the running kernel cannot kexec (CONFIG_KEXEC)");
	else if (*disabled == '1')
		strv_add(missing,
			 "kexec is disabled until the next boot (kernel.kexec_load_disabled)");
	if (*lockdown && !strstr(lockdown, "[none]"))
		strv_add(missing, "the running kernel is locked down and takes signed kernels only "
				  "(switch Secure Boot off)");
}

static void check_grub(const struct strv *answer, struct strv *missing)
{
	const char *fs = ssh_box_value(answer, "grub_fs");
	_cleanup_str_ struct str word = STR_INIT;

	if (!*ssh_box_value(answer, "grub_dir")) {
		strv_add(missing,
			 "no GRUB in /boot/grub or /boot/grub2 (choose another install =)");
		return;
	}
	for (const char *s = ssh_box_value(answer, "grub_default"); *s; s++)
		if (!strchr("\"' \t", *s))
			str_addmem(&word, s, 1);
	if (!str_eq(str_text(&word), "saved"))
		strv_add(missing, "GRUB does not boot an entry once (GRUB_DEFAULT=saved in "
				  "/etc/default/grub, then update-grub)");
	else if (!*ssh_box_value(answer, "grub_next"))
		strv_add(missing, "grub.cfg knows nothing of next_entry (update-grub)");
	if (!*ssh_box_value(answer, "grub_env"))
		strv_add(missing, "no grubenv (grub-editenv /boot/grub/grubenv create)");
	/* GRUB reads these, but cannot write them: a choice for once would stay. */
	if (*ssh_box_value(answer, "grub_dm") || *ssh_box_value(answer, "grub_md"))
		strv_add(missing,
			 "GRUB's folder is on LVM or RAID, where a choice for one boot stays "
			 "(install = kexec, or efibootmgr)");
	if (str_eq(fs, "btrfs") || str_eq(fs, "zfs"))
		strv_add(missing,
			 "GRUB's folder is on a file system that GRUB cannot write, where a "
			 "choice for one boot stays (install = kexec, or efibootmgr)");
}

/* The script answers with the status of a program that it wrote, if it could write one. */
static void check_exec(const struct strv *answer, const char *dir, bool has_room,
		       struct strv *missing)
{
	const char *status = ssh_box_value(answer, "exec");

	if (*ssh_box_value(answer, "foreign"))
		strv_addf(missing,
			  "'%s' is there, and not ours: somebody else's, or not empty (set "
			  "work_dir = "
			  "in [target])",
			  dir);
	else if (*status && !str_eq(status, "7"))
		strv_addf(missing,
			  "programs in '%s' cannot be started (is it mounted noexec? set "
			  "work_dir = in [target])",
			  dir);
	else if (!*status && has_room)
		strv_addf(missing, "nothing can be written to '%s'", dir);
}

int ssh_box_check(const struct ssh_box *b, const struct ssh_box_need *need, struct strv *missing,
		  struct err *e)
{
	_cleanup_strv_ struct strv answer = STRV_INIT, args = STRV_INIT;
	const char *boot = need->boot_dir ? need->boot_dir : "/boot";
	size_t before;

	strv_add(&args, b->o.work_dir);
	strv_add(&args, boot);
	strv_add(&args, MODULES_DIR);
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		strv_add(&args, tools[i].name);
		if (str_starts(tools[i].name, "grub-"))
			strv_addf(&args, "grub2-%s", tools[i].name + 5);
	}
	if (need->arch && b->arch[0] && !arch_fits(need->arch, b->arch))
		strv_addf(missing, "it is a machine of %s where kernels for %s are built", b->arch,
			  need->arch);
	if (!b->is_root)
		strv_addf(missing,
			  "no privileges (user = root in [target], or let uid %ld use sudo "
			  "without a password)",
			  b->uid);
	if (ssh_box_ask(b, SSH_CHECK, b->is_root, &args, 0, &answer, e) < 0)
		return -1;
	check_tools(&answer, need, missing);
	before = missing->n;
	check_space(&answer, "work", b->o.work_dir, need->work_bytes + 1, missing);
	if (b->is_root)
		check_exec(&answer, b->o.work_dir, missing->n == before, missing);
	check_space(&answer, "boot", boot, need->boot_bytes, missing);
	check_space(&answer, "modules", MODULES_DIR, need->modules_bytes, missing);
	if (str_eq(need->install, "kexec"))
		check_kexec(&answer, missing);
	else if (str_eq(need->install, "grub"))
		check_grub(&answer, missing);
	return 0;
}

int ssh_box_require(const struct ssh_box *b, const struct ssh_box_need *need, struct err *e)
{
	_cleanup_strv_ struct strv missing = STRV_INIT;
	_cleanup_str_ struct str all = STR_INIT;

	if (ssh_box_check(b, need, &missing, e) < 0)
		return -1;
	if (!missing.n)
		return 0;
	for (size_t i = 0; i < missing.n; i++)
		str_addf(&all, "%s%s", i ? "; " : "", missing.v[i]);
	return err_set(e, ERR_LAB, "'%s' is not ready: %s", ssh_name(b->c), str_text(&all));
}
