/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is done as root on a machine over SSH to boot a kernel once: POSIX shell that busybox
 * understands, too, run as sh -c TEXT sh ARGUMENTS; nothing is ever put into the text.
 *
 * Exit status: 0; BOOT_REFUSED with the reason on the last line of stderr; else it broke.
 */
#ifndef KR_TARGET_SSH_BOOT_SCRIPTS_H
#define KR_TARGET_SSH_BOOT_SCRIPTS_H

#include "base/str.h"

#define BOOT_REFUSED 3

enum boot_script {
	BOOT_PREPARE = 0,    /* WORK UID:GID: the folder that uploads go to; prints what is there */
	BOOT_MODULES,        /* TAR RELEASE SHA256: unpack ("" for TAR: the kernel has none) */
	BOOT_MAKE_INITRAMFS, /* FILE RELEASE SHA256 (of the modules) */
	BOOT_COPY,           /* FROM-FOLDER HAS-INITRAMFS: into /boot/kregress */
	BOOT_KEXEC_LOAD,     /* IMAGE INITRAMFS CMDLINE ("": no initramfs) */
	BOOT_KEXEC_JUMP,
	BOOT_GRUB_SET,      /* WORDS HAS-INITRAMFS: the entry, for the next boot alone */
	BOOT_GRUB_CLEAR,    /* no entry for the next boot; prints "set" where ours was due */
	BOOT_REBOOT,        /* WHERE: "home": not into a kernel that kexec has loaded */
	BOOT_REBOOT_FORCE,  /* likewise */
	BOOT_WATCHDOG_ARM,  /* SECONDS: started and left alone; refuses where that is of no use */
	BOOT_WATCHDOG_STOP, /* refuses where it cannot be reached any more */
	BOOT_CLEAN,         /* WORK: remove what we installed, but for what runs now */
};
#define BOOT_SCRIPTS (BOOT_CLEAN + 1)

/* The text, appended. */
void boot_script_text(enum boot_script s, struct str *out);
/* "boot-prepare", …; static. */
const char *boot_script_name(enum boot_script s);

#endif
