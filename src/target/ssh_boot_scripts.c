/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done on a machine over SSH to boot a kernel once: the shell scripts. */
#include "target/ssh_boot_scripts.h"

#include "target/ssh_scripts.h"

/* Before each: the PATH, die REASON refuses. */
static const char prelude[] =
	"PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin\n"
	"LC_ALL=C\n"
	"export PATH LC_ALL\n"
	"umask 022\n"
	"die() { echo \"$*\" >&2; exit 3; }\n"
	"broken() { echo \"$*\" >&2; exit 1; }\n" SSH_SCRIPT_MINE;

/*
 * Before those on GRUB: g is its folder; editenv and its like have two names. The block of ours
 * in custom.cfg is cut out by others(), so that a user's own entries there stay.
 */
static const char grub_prelude[] =
	"for g in /boot/grub /boot/grub2; do [ ! -f \"$g/grub.cfg\" ] || break; done\n"
	"tool() { command -v \"grub-$1\" || command -v \"grub2-$1\"; }\n"
	"list() { \"$editenv\" \"$g/grubenv\" list; }\n"
	"next() { list | sed -n 's/^next_entry=//p'; }\n"
	"rest() { list | grep -v '^next_entry='; }\n"
	"c=$g/custom.cfg\n"
	"others() { [ ! -f \"$c\" ] || sed '/^### BEGIN kregress/,/^### END kregress/d' \"$c\"; }\n"
	"editenv=$(tool editenv)\n";

/* What the user's login may write to, and nobody else: a kernel that we start lies there. */
static const char prepare_text[] =
	"w=$1\n"
	"claim \"$w\" || die \"'$w' is not ours (set work_dir = in [target])\"\n"
	"[ -d \"$w/boot\" ] || mkdir -m 700 \"$w/boot\" || exit 1\n"
	"chown \"$2\" \"$w/boot\" || exit 1\n"
	"cd \"$w/boot\" || exit 1\n"
	"for f in image initramfs modules.tar; do\n"
	"\t[ ! -f \"$f\" ] || echo \"$f $(sha256sum <\"$f\" 2>/dev/null)\"\n"
	"done\n"
	"exit 0\n";

/* Modules of one release but of another build do not fit: they are replaced as a whole. */
static const char modules_text[] =
	"d=/lib/modules/$2\n"
	"mark=$d/.kregress\n"
	"if [ -e \"$d\" ] && [ ! -f \"$mark\" ]; then\n"
	"\t[ -n \"$1\" ] || exit 0\n"
	"\tdie \"'$d' is there, and not ours: it is left alone (remove it, if it is not needed)\"\n"
	"fi\n"
	"[ -n \"$1\" ] || { rm -rf \"$d\"; exit; }\n"
	"[ \"$(cat \"$mark\" 2>/dev/null)\" != \"$3\" ] || exit 0\n"
	"t=/lib/modules/.kregress.new\n"
	"rm -rf \"$t\"\n"
	"mkdir -p \"$t\" && tar -x -o -f \"$1\" -C \"$t\" || { rm -rf \"$t\"; exit 1; }\n"
	"for s in \"$t/lib/modules/$2\" \"$t/$2\" ''; do [ ! -d \"$s\" ] || break; done\n"
	"[ -n \"$s\" ] || { rm -rf \"$t\"; broken \"no modules of '$2' in what was sent\"; }\n"
	"rm -rf \"$d\"\n"
	": >\"$s/.kregress\" && mv \"$s\" \"$d\" || exit 1\n"
	"rm -rf \"$t\"\n"
	"depmod \"$2\" || exit 1\n"
	"echo \"$3\" >\"$mark\" && sync\n";

static const char make_initramfs_text[] =
	"for_whom() { echo \"$2 $3 $(cksum <\"$1\")\"; }\n"
	"[ ! -s \"$1\" ] || [ \"$(cat \"$1.for\" 2>/dev/null)\" != \"$(for_whom \"$@\")\" ] || "
	"exit 0\n"
	"rm -f \"$1\" \"$1.for\"\n"
	"if command -v mkinitramfs >/dev/null; then mkinitramfs -o \"$1\" \"$2\" >&2\n"
	"elif command -v dracut >/dev/null; then dracut --force \"$1\" \"$2\" >&2\n"
	"elif command -v mkinitcpio >/dev/null; then mkinitcpio -k \"$2\" -g \"$1\" >&2\n"
	"else die 'nothing there makes an initramfs: neither mkinitramfs, dracut nor mkinitcpio'\n"
	"fi\n"
	"[ -s \"$1\" ] && sync && for_whom \"$@\" >\"$1.for\"\n";

static const char copy_text[] =
	"to=/boot/kregress\n"
	"mkdir -p \"$to\" || exit 1\n"
	"put() {\n"
	"\t! cmp -s \"$1\" \"$to/$2\" || return 0\n"
	"\tcp \"$1\" \"$to/$2\" && sync && cmp \"$1\" \"$to/$2\" >&2 || { rm -f \"$to/$2\"; exit "
	"1; }\n"
	"}\n"
	"put \"$1/image\" image\n"
	"if [ \"$2\" = 1 ]; then put \"$1/initramfs\" initramfs; else rm -f \"$to/initramfs\"; fi\n"
	"sync\n";

/* The newer system call first: a locked-down kernel has no other. Not all images do with it. */
static const char kexec_load_text[] =
	"kexec -u >/dev/null 2>&1\n"
	"load() { kexec \"$@\" --command-line=\"$cmdline\" ${initrd:+\"--initrd=$initrd\"}; }\n"
	"image=$1 initrd=$2 cmdline=$3\n"
	"m=$(load -s -l \"$image\" 2>&1) || m2=$(load -l \"$image\" 2>&1) || {\n"
	"\t[ \"$m\" != \"$m2\" ] || m=\n"
	"\tprintf '%s' \"$m2${m:+; with -s: $m}\" | tr '\\n' ' ' >&2\n"
	"\texit 3\n"
	"}\n"
	"[ \"$(cat /sys/kernel/kexec_loaded)\" = 1 ] || die 'kexec -l said nothing, and loaded "
	"nothing'\n";

/*
 * Detached, and late enough for us to be gone. File systems are left clean. By the name of the shell
 * the next campaign knows that it is on its way: see the lock.
 */
static const char kexec_jump_text[] =
	"setsid sh -c 'sleep 1; sync; echo u >/proc/sysrq-trigger; sleep 1; exec kexec -e' "
	"kregress-jump </dev/null >/dev/null 2>&1 &\n";

/* systemd jumps into a kernel that is loaded where it is told to reboot, from 254 on. */
#define NOT_BY_KEXEC                           \
	"if [ \"$1\" = home ]; then\n"         \
	"\tkexec -u >/dev/null 2>&1\n"         \
	"\tSYSTEMCTL_SKIP_AUTO_KEXEC=1\n"      \
	"\texport SYSTEMCTL_SKIP_AUTO_KEXEC\n" \
	"fi\n"

static const char reboot_text[] = NOT_BY_KEXEC
	"setsid sh -c 'sleep 1; sync; reboot || systemctl reboot' kregress-jump </dev/null "
	">/dev/null 2>&1 &\n";

static const char reboot_force_text[] = NOT_BY_KEXEC
	"setsid sh -c 'sleep 1; sync; echo u >/proc/sysrq-trigger; sleep 1; reboot -f & sleep 5; "
	"echo b >/proc/sysrq-trigger' kregress-jump </dev/null >/dev/null 2>&1 &\n";

/*
 * A kernel that GRUB cannot load makes it start again: the entry was for once, so that the
 * default comes up. All is read back; what else lies in GRUB's memory must not have changed.
 */
static const char grub_set_text[] =
	"[ -n \"$editenv\" ] && probe=$(tool probe) && relpath=$(tool mkrelpath) ||\n"
	"\tdie 'grub-editenv, grub-probe or grub-mkrelpath is missing (package grub-common)'\n"
	"grep -q 'save_env next_entry' \"$g/grub.cfg\" ||\n"
	"\tdie 'grub.cfg does not forget next_entry (GRUB_DEFAULT=saved in /etc/default/grub, then "
	"update-grub)'\n"
	"for a in $(\"$probe\" --target=abstraction \"$g\"); do\n"
	"\tcase $a in lvm|diskfilter|mdraid*|raid*) die \"GRUB cannot write to $a, so that a "
	"choice "
	"for one boot would stay (install = kexec)\" ;; esac\n"
	"done\n"
	"fs=$(\"$probe\" --target=fs \"$g\") || broken \"grub-probe does not know the file system "
	"of "
	"$g\"\n"
	"case $fs in ext2|fat|exfat|xfs|jfs) ;; *) die \"GRUB cannot write to $fs, so that a "
	"choice "
	"for one boot would stay (install = kexec)\" ;; esac\n"
	"if ! grep -q 'custom\\.cfg' \"$g/grub.cfg\"; then\n"
	"\tmkconfig=$(tool mkconfig) && [ -d /etc/grub.d ] || die \"$g/grub.cfg does not read "
	"custom.cfg\"\n"
	"\tprintf '%s\\n' '#!/bin/sh' '# kregress: reads custom.cfg' \"cat <<'END'\" 'if [ -f "
	"$prefix/custom.cfg ]; then source $prefix/custom.cfg; fi' END >/etc/grub.d/42_kregress "
	"&&\n"
	"\t\tchmod 755 /etc/grub.d/42_kregress && \"$mkconfig\" -o \"$g/grub.cfg\" >&2 || exit 1\n"
	"\tgrep -q 'custom\\.cfg' \"$g/grub.cfg\" || broken \"$g/grub.cfg does not read "
	"custom.cfg\"\n"
	"fi\n"
	"d=/boot/kregress\n"
	"p=$(\"$relpath\" \"$d\") && u=$(\"$probe\" --target=fs_uuid \"$d\") &&\n"
	"\tfs=$(\"$probe\" --target=fs \"$d\") || broken \"grub-probe does not know $d\"\n"
	"{\n"
	"\tothers\n"
	"\techo '### BEGIN kregress (made and removed by kregress)'\n"
	"\techo \"menuentry 'kregress' --id kregress {\"\n"
	"\tfor m in $(\"$probe\" --target=partmap \"$d\"); do echo \"insmod part_$m\"; done\n"
	"\techo \"insmod $fs\"\n"
	"\techo \"search --no-floppy --fs-uuid --set=root $u\"\n"
	"\tprintf 'if linux %s/image %s; then true; else reboot; fi\\n' \"$p\" \"$1\"\n"
	"\t[ \"$2\" != 1 ] || echo \"if initrd $p/initramfs; then true; else reboot; fi\"\n"
	"\techo '}'\n"
	"\techo '### END kregress'\n"
	"} >\"$c.kregress\" || exit 1\n"
	"if check=$(tool script-check); then \"$check\" \"$c.kregress\" || exit 1; fi\n"
	"[ ! -f \"$c\" ] || chmod \"$(stat -c %a \"$c\")\" \"$c.kregress\"\n"
	"mv \"$c.kregress\" \"$c\" && sync || exit 1\n"
	"before=$(rest)\n"
	"\"$editenv\" \"$g/grubenv\" set next_entry=kregress && sync || exit 1\n"
	"undo() { \"$editenv\" \"$g/grubenv\" unset next_entry; broken \"$*\"; }\n"
	"[ \"$(next)\" = kregress ] || undo 'next_entry did not take'\n"
	"[ \"$(rest)\" = \"$before\" ] || undo 'grubenv changed beyond next_entry'\n";

static const char grub_clear_text[] =
	"[ -n \"$editenv\" ] || exit 0\n"
	"[ \"$(next)\" = kregress ] || exit 0\n"
	"\"$editenv\" \"$g/grubenv\" unset next_entry && sync || exit 1\n"
	"[ \"$(next)\" != kregress ] || exit 1\n"
	"echo set\n";

/*
 * A watchdog that is started and then left alone resets a machine whose next kernel hangs. Most
 * drivers stop it when the kernel is left, unless they are told not to.
 */
static const char watchdog_arm_text[] =
	"d=/sys/class/watchdog/watchdog0\n"
	"[ -c /dev/watchdog0 ] || die 'there is none'\n"
	"[ \"$(cat $d/state 2>/dev/null)\" = inactive ] || die 'it is in use'\n"
	"[ \"$(cat /sys/module/watchdog/parameters/stop_on_reboot 2>/dev/null)\" = 0 ] ||\n"
	"\tdie 'its driver stops it (watchdog.stop_on_reboot=0 on the default command line)'\n"
	"max=$(cat $d/max_timeout 2>/dev/null)\n"
	"[ \"${max:-0}\" = 0 ] || [ \"$max\" -ge \"$1\" ] || die \"it waits for $max s at most\"\n"
	"if busybox watchdog --help >/dev/null 2>&1; then\n"
	"\tbusybox watchdog -F -T \"$1\" -t \"$1\" /dev/watchdog0 >&2 & pid=$!\n"
	"\tsleep 1\n"
	"\tkill -s KILL \"$pid\"\n"
	"elif command -v wdctl >/dev/null; then\n"
	"\twdctl -s \"$1\" /dev/watchdog0 >&2 && echo >/dev/watchdog0 || exit 1\n"
	"else die 'neither busybox nor wdctl is there'\n"
	"fi\n"
	"[ \"$(cat $d/timeout)\" = \"$1\" ] || {\n"
	"\tprintf V >/dev/watchdog0\n"
	"\tdie \"it does not take $1 s\"\n"
	"}\n"
	"[ \"$(cat $d/state)\" = active ] || die 'it did not start'\n";

static const char watchdog_stop_text[] =
	"d=/sys/class/watchdog/watchdog0\n"
	"[ -c /dev/watchdog0 ] || die 'the test kernel has no driver for the watchdog that was "
	"armed, "
	"and will be reset by it (watchdog = no in [target])'\n"
	"[ \"$(cat $d/state 2>/dev/null)\" != inactive ] || exit 0\n"
	"printf V >/dev/watchdog0 || exit 1\n"
	"[ \"$(cat $d/state 2>/dev/null)\" != active ] || die 'the watchdog that was armed cannot "
	"be "
	"stopped (watchdog = no in [target])'\n";

/* Only what bears our marks or our name; the modules of the running kernel stay. */
static const char clean_text[] =
	"kexec -u >/dev/null 2>&1\n"
	"if [ -n \"$editenv\" ] && [ \"$(next)\" = kregress ]; then\n"
	"\t\"$editenv\" \"$g/grubenv\" unset next_entry || exit 1\n"
	"\techo 'next_entry'\n"
	"fi\n"
	"if [ -f \"$c\" ] && grep -q '^### BEGIN kregress' \"$c\"; then\n"
	"\tothers >\"$c.kregress\" || exit 1\n"
	"\tif [ -s \"$c.kregress\" ]; then mv \"$c.kregress\" \"$c\" || exit 1\n"
	"\telse rm -f \"$c.kregress\" \"$c\"; fi\n"
	"\techo \"$c\"\n"
	"fi\n"
	"f=/etc/grub.d/42_kregress\n"
	"if [ -f \"$f\" ]; then\n"
	"\tmkconfig=$(tool mkconfig) && rm -f \"$f\" && \"$mkconfig\" -o \"$g/grub.cfg\" >&2 || "
	"exit 1\n"
	"\techo \"$f\"\n"
	"fi\n"
	"gone() { [ ! -d \"$1\" ] || { rm -rf \"$1\" && echo \"$1\" || exit 1; }; }\n"
	"gone /boot/kregress\n"
	"if mine \"$1\"; then\n"
	"\tgone \"$1/boot\"\n"
	"\tgone \"$1/files\"\n"
	"\trelease \"$1\"\n"
	"fi\n"
	"gone /lib/modules/.kregress.new\n"
	"for f in /lib/modules/*/.kregress; do\n"
	"\tf=${f%/.kregress}\n"
	"\t[ -f \"$f/.kregress\" ] && [ \"${f##*/}\" != \"$(uname -r)\" ] || continue\n"
	"\trm -rf \"$f\" && echo \"$f\" || exit 1\n"
	"done\n"
	"sync\n";

static const struct {
	const char *name, *part, *text;
} scripts[BOOT_SCRIPTS] = {
	[BOOT_PREPARE] = { "boot-prepare", NULL, prepare_text },
	[BOOT_MODULES] = { "modules", NULL, modules_text },
	[BOOT_MAKE_INITRAMFS] = { "make-initramfs", NULL, make_initramfs_text },
	[BOOT_COPY] = { "boot-copy", NULL, copy_text },
	[BOOT_KEXEC_LOAD] = { "kexec-load", NULL, kexec_load_text },
	[BOOT_KEXEC_JUMP] = { "kexec-jump", NULL, kexec_jump_text },
	[BOOT_GRUB_SET] = { "grub-set", grub_prelude, grub_set_text },
	[BOOT_GRUB_CLEAR] = { "grub-clear", grub_prelude, grub_clear_text },
	[BOOT_REBOOT] = { "reboot", NULL, reboot_text },
	[BOOT_REBOOT_FORCE] = { "reboot-force", NULL, reboot_force_text },
	[BOOT_WATCHDOG_ARM] = { "watchdog-arm", NULL, watchdog_arm_text },
	[BOOT_WATCHDOG_STOP] = { "watchdog-stop", NULL, watchdog_stop_text },
	[BOOT_CLEAN] = { "boot-clean", grub_prelude, clean_text },
};

void boot_script_text(enum boot_script s, struct str *out)
{
	str_add(out, prelude);
	if (scripts[s].part)
		str_add(out, scripts[s].part);
	str_add(out, scripts[s].text);
}

const char *boot_script_name(enum boot_script s)
{
	return scripts[s].name;
}
