/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel booted once on a machine over SSH, and the machine got back, whatever the kernel did.
 * What goes wrong between us and the machine is struct err; only a kernel that was surely
 * started, and did not come up, has an outcome.
 */
#ifndef KR_TARGET_SSH_BOOT_H
#define KR_TARGET_SSH_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "target/ssh_box.h"
#include "target/target.h"

struct ssh_console;

/* All borrowed, until ssh_boot_close(). */
struct ssh_boot_opts {
	const struct ssh_opts *ssh; /* timeout_ms is of one try to connect */
	const struct ssh_box_opts *box;
	const struct strv *install;     /* "kexec", "grub", else a command there */
	const struct strv *power_cycle; /* a command here; NULL or empty: none */
	const char *dir;                /* where power_cycle runs; NULL: here */
	const char *arch;               /* of the kernels' build; NULL: not known */
	const char *append;             /* boot parameters of the campaign; NULL: none */
	const char *initramfs;          /* "" or NULL: none; "make"; else a file here */
	int64_t boot_timeout_ms;        /* from the jump to a login */
	bool watchdog; /* armed before a kexec where the machine has one that lives on */
	struct ssh_console *console; /* what a console shows; NULL: there is none */
};

struct ssh_boot;

/* No contact is made. ERR_CONFIG. */
int ssh_boot_open(const struct ssh_boot_opts *o, struct ssh_boot **b, struct err *e);
/* Disconnects; the machine is left as it is. NULL is fine. */
void ssh_boot_close(struct ssh_boot *b);

/*
 * The machine as it was seen last; its connection is box->c, NULL when there is none. Both are
 * good until the next call here. To take and release its lock.
 */
struct ssh_box *ssh_boot_box(struct ssh_boot *b);

/*
 * Be connected, with whatever kernel runs there. One that does not answer is waited for, then
 * power-cycled. @job: for the environment of power_cycle, and its tick; may be NULL.
 */
int ssh_boot_reach(struct ssh_boot *b, const struct target_job *job, struct err *e);

/* One try to be connected; nothing is waited for. */
int ssh_boot_connect(struct ssh_boot *b, struct err *e);

/*
 * Boot job->image once. 0 and r->outcome TRIAL_UNSET: this very kernel runs (boot id changed, it
 * has the nonce, and build id and release where the job tells them), and we are connected.
 * 0 and TRIAL_BOOT_FAILED: it did not come up, r->boot_timed_out is set, and the machine is back
 * with its default kernel. -1: we failed. Sets boot_seconds and adds facts.
 */
int ssh_boot_start(struct ssh_boot *b, const struct target_job *job, struct target_result *r,
		   struct err *e);

/* What became of a machine whose connection was lost. */
enum ssh_found {
	SSH_FOUND_SAME = 1, /* the same boot: the network failed */
	SSH_FOUND_REBOOTED, /* another boot, by itself */
	SSH_FOUND_FETCHED,  /* it stayed silent, and came back by its power: hung, or unplugged */
};

/* Look; it is waited for, and fetched, as above. */
int ssh_boot_find(struct ssh_boot *b, const struct target_job *job, enum ssh_found *found,
		  struct err *e);

/* Back to the default kernel, if a test kernel runs; nothing is due for the next boot. */
int ssh_boot_home(struct ssh_boot *b, struct err *e);

/*
 * Remove what we installed there: files, boot entry, modules; never of the kernel that runs, so
 * go home first. Appends to @removed what it was.
 */
int ssh_boot_clean(struct ssh_boot *b, struct strv *removed, struct err *e);

/* The same on a machine that is only identified: for kregress clean. */
int ssh_box_clean_boot(const struct ssh_box *b, struct strv *removed, struct err *e);

#endif
