/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine over SSH: who it is, what it lacks, whose it is now, how it is made quiet. All that
 * goes wrong here is ours (ERR_LAB), never the kernel's.
 */
#ifndef KR_TARGET_SSH_BOX_H
#define KR_TARGET_SSH_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "target/ssh_conn.h"
#include "target/ssh_scripts.h"

#define SSH_BOX_WORK_DIR "/var/tmp/kregress"
#define SSH_BOX_LOCK "/var/tmp/kregress.lock"

/* All borrowed; zero is a default. */
struct ssh_box_opts {
	const char *work_dir;  /* there, absolute; NULL: SSH_BOX_WORK_DIR */
	const char *lock_path; /* there; one for all campaigns, whatever their work_dir */
	const char *owner;     /* the campaign, for who finds the machine locked */
	const char *root;      /* stands before /proc, /sys, /etc, /dev there: for tests */
	int64_t step_ms;       /* for one step there; 0: 60 s */
};

struct ssh_box {
	struct ssh_conn *c; /* borrowed */
	struct ssh_box_opts o;
	bool needs_sudo;
	bool is_root; /* root, or sudo -n works */
	long uid, gid;
	char boot_id[40], build_id[65], release[80], arch[32]; /* "" where it does not tell */
	double uptime_s;
	char *cmdline;  /* untrusted */
	char token[33]; /* of our lock; "" we hold none */
};
#define SSH_BOX_INIT       \
	{                  \
		.c = NULL, \
	}
void ssh_box_release(struct ssh_box *b);

/* ---- ssh_box.c: who it is ------------------------------------------------------------------ */

/* Ask it. To be called after each connect; what @b held before is released, but for the lock. */
int ssh_box_identify(struct ssh_conn *c, const struct ssh_box_opts *o, struct ssh_box *b,
		     struct err *e);

/*
 * The words that run a script there: [sudo -n --] sh -c TEXT sh ROOT ARGS. Appends. For other
 * commands as root: ssh_box_root().
 */
void ssh_box_argv(const struct ssh_box *b, enum ssh_script s, bool as_root, const struct strv *args,
		  struct strv *argv);
/* "sudo -n --" where that is needed. Appends. */
void ssh_box_root(const struct ssh_box *b, struct strv *argv);

/* Run a script; its lines KEY=VALUE are appended. ERR_LAB: it failed, or answered nonsense. */
int ssh_box_ask(const struct ssh_box *b, enum ssh_script s, bool as_root, const struct strv *args,
		int64_t timeout_ms, struct strv *answer, struct err *e);
/* The first value of @key, "" without one; borrowed. */
const char *ssh_box_value(const struct strv *answer, const char *key);
/* The value of @line if its key is @key, else NULL. */
const char *ssh_box_line(const char *line, const char *key);

/* CPU, microcode, memory, command line, mitigations, …: "NAME=value", neutralised. Appends. */
int ssh_box_facts(const struct ssh_box *b, struct strv *facts, struct err *e);

/* ---- ssh_check.c: what it lacks ------------------------------------------------------------ */

struct ssh_box_need {
	const char *arch;     /* as the kernel's build has it, or uname -m; NULL: any */
	const char *install;  /* "kexec", "grub"; else a command, whose needs we do not know */
	const char *boot_dir; /* NULL: /boot */
	uint64_t boot_bytes, modules_bytes, work_bytes; /* that will be put there */
	bool has_modules;                               /* needs tar and depmod */
};

/*
 * Append to @missing one line, with its remedy, for each thing that is not there; none: all is
 * well. -1 only when it could not be asked.
 */
int ssh_box_check(const struct ssh_box *b, const struct ssh_box_need *need, struct strv *missing,
		  struct err *e);
/* The same as one error: ERR_LAB with all of them, as far as they fit. */
int ssh_box_require(const struct ssh_box *b, const struct ssh_box_need *need, struct err *e);

/* ---- ssh_lock.c: whose it is --------------------------------------------------------------- */

/*
 * Take the machine. One that we hold is renewed; one of a process that is gone (looked at only
 * on this host) is taken over, and said. ERR_LAB: held by another: who, since when, and how to
 * remove it. It lies on the machine's disk, so it outlives its boots; where that is a RAM disk,
 * take it again after each.
 */
int ssh_box_lock(struct ssh_box *b, struct err *e);
/* Nothing when we hold none. */
int ssh_box_unlock(struct ssh_box *b, struct err *e);

/* Who holds a lock: its lines KEY=VALUE. */
struct ssh_lock_holder {
	const char *token, *host, *machine, *boot, *pidns, *user, *campaign;
	long pid;
	long long start, since; /* clock ticks since boot; seconds since the epoch */
};
void ssh_lock_parse(const struct strv *lines, struct ssh_lock_holder *h);
/* About this process. Appends its lines, "token=…" first. ERR_SYS: no random bytes. */
int ssh_lock_describe(const char *campaign, struct strv *lines, struct err *e);
/* Is the holder, described by @them, surely gone, seen from @us? A holder that is us is. */
bool ssh_lock_is_stale(const struct ssh_lock_holder *them, const struct ssh_lock_holder *us);

/* ---- ssh_setup.c: quiet and comparable ----------------------------------------------------- */

/*
 * Check words of setup = and append them one thing each: governor=NAME, turbo=on|off,
 * smt=on|off, thp=always|madvise|never, aslr=on|off, stop=UNIT,UNIT, /proc/sys/…=VALUE,
 * /sys/…=VALUE. ERR_CONFIG.
 */
int ssh_setup_parse(const struct strv *words, struct strv *out, struct err *e);

/*
 * Put back what an earlier session left, then make these settings (from ssh_setup_parse()), each
 * read back. What was there before lies on the machine until ssh_box_restore(). ERR_LAB: one did
 * not take; then all are put back.
 */
int ssh_box_setup(const struct ssh_box *b, const struct strv *words, struct err *e);
/* Put back; what could not be is warned of. A machine that booted since has forgotten by itself. */
int ssh_box_restore(const struct ssh_box *b, struct err *e);

/*
 * Wait until the load is at most @max_load (0: any) and no CPU is throttled; says so. ERR_LAB
 * when @max_wait_ms passed.
 */
int ssh_box_wait(const struct ssh_box *b, double max_load, int64_t max_wait_ms, struct err *e);

#endif
