/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine for tests: a real sshd on loopback, real shells, but FAKE roots of /proc, /sys, /etc
 * and /dev below the temporary folder, and fake dmesg and systemctl. What is proved with it is
 * what the scripts do to files, not that a kernel takes them.
 */
#ifndef KR_TESTS_SSH_BOX_FIXTURE_H
#define KR_TESTS_SSH_BOX_FIXTURE_H

#include "unit/ssh_fixture.h"

#include "target/ssh_box.h"
#include "target/ssh_exec.h"

static struct sshd server;
static struct ssh_conn *conn;
static struct ssh_box box;

/* Files below the fake root, each with one line. */
static void fake(const char *path, const char *text)
{
	_cleanup_free_ char *name = xasprintf("root/%s", path);
	_cleanup_free_ char *line = xasprintf("%s\n", text);
	_cleanup_free_ char *parent = fs_dirname(in_dir(name));
	struct err e = ERR_INIT;

	if (fs_mkdirs(parent, &e) < 0)
		fail_msg("%s", e.msg);
	put_file(name, line);
}

/* The first line of one of them; owned. */
static char *faked(const char *path) __attribute__((unused));
static char *faked(const char *path)
{
	return sh("head -n 1 root/%s", path);
}

static void assert_faked(const char *path, const char *text) __attribute__((unused));
static void assert_faked(const char *path, const char *text)
{
	_cleanup_free_ char *has = faked(path);

	assert_string_equal(has, text);
}

static void fake_machine(void)
{
	free(sh("rm -rf root work lock lock.*"));
	fake("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555");
	fake("proc/sys/kernel/osrelease", "6.12.0-kregress");
	fake("proc/uptime", "12.50 20.00");
	fake("proc/cmdline", "root=/dev/sda1 quiet kregress=abc");
	fake("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fake CPU @ 1 GHz\nmicrocode\t: 0xd1\n"
			     "processor\t: 1\nmodel name\t: Fake CPU @ 1 GHz");
	fake("proc/meminfo", "MemTotal:       16384 kB");
	fake("proc/loadavg", "0.05 0.10 0.20 1/100 4242");
	fake("proc/self/mountinfo", "20 1 8:1 / / rw - ext4 /dev/sda1 rw");
	fake("proc/sys/kernel/randomize_va_space", "2");
	fake("proc/sys/kernel/kexec_load_disabled", "0");
	fake("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456");
	fake("sys/kernel/kexec_loaded", "0");
	fake("sys/kernel/mm/transparent_hugepage/enabled", "madvise");
	fake("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
	fake("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI");
	fake("sys/devices/system/cpu/vulnerabilities/l1tf", "Not affected");
	fake("sys/devices/system/cpu/smt/control", "on");
	fake("sys/devices/system/cpu/smt/active", "1");
	fake("sys/devices/system/cpu/intel_pstate/no_turbo", "0");
	fake("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave");
	fake("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "schedutil");
	/* A note of another kind, then the build id 0102…14, as in include/uapi/linux/elf.h. */
	shell("printf '\\004\\0\\0\\0\\001\\0\\0\\0\\006\\0\\0\\0Xen\\0x\\0\\0\\0"
	      "\\004\\0\\0\\0\\024\\0\\0\\0\\003\\0\\0\\0GNU\\0"
	      "\\001\\002\\003\\004\\005\\006\\007\\010\\011\\012\\013\\014\\015\\016\\017\\020"
	      "\\021\\022\\023\\024' >root/sys/kernel/notes; "
	      "mkdir -p root/bin root/dev root/units");
	fake("bin/systemctl", "#!/bin/sh\n"
			      "u=${0%/bin/*}/units; for w; do l=$w; done\n"
			      "case $1 in is-active) [ -e \"$u/$l\" ];; "
			      "start) : >\"$u/$l\";; stop) rm -f \"$u/$l\";; esac");
	fake("bin/dmesg", "#!/bin/sh\ncat \"${0%/bin/*}/dev/kmsg\"");
	shell("chmod +x root/bin/*; : >root/units/cron.service; : >root/dev/kmsg");
}

/* Owned by the fixture; valid until the next call. */
static const struct ssh_box_opts *box_opts(void)
{
	static struct ssh_box_opts o;
	static char work[256], lock[256], root[256];

	snprintf(work, sizeof(work), "%s/work", fx_dir);
	snprintf(lock, sizeof(lock), "%s/lock", fx_dir);
	snprintf(root, sizeof(root), "%s/root", fx_dir);
	o = (struct ssh_box_opts){
		.work_dir = work, .lock_path = lock, .owner = "hunt", .root = root
	};
	return &o;
}

static int open_box(void **state)
{
	return connected(state, &server, &conn);
}

static int close_box(void **state)
{
	ssh_box_release(&box);
	return disconnected(state, &server, conn);
}

/* A machine as new, looked at. */
static int fresh(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	fake_machine();
	box.token[0] = 0;
	if (ssh_box_identify(conn, box_opts(), &box, &e) < 0)
		fail_msg("%s", e.msg);
	return 0;
}

#ifndef KR_TESTS_TARGET_FIXTURE_H
static void must(const struct err *e, int ret) __attribute__((unused));
static void must(const struct err *e, int ret)
{
	if (ret < 0)
		fail_msg("%s", e->msg);
}
#endif

#endif
