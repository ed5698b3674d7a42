/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of ssh_boot. */
#ifndef KR_TARGET_SSH_BOOT_INTERNAL_H
#define KR_TARGET_SSH_BOOT_INTERNAL_H

#include "target/ssh_boot.h"
#include "target/ssh_boot_scripts.h"

enum ssh_install {
	SSH_INSTALL_UNSET = 0,
	SSH_INSTALL_KEXEC,
	SSH_INSTALL_GRUB,
	SSH_INSTALL_COMMAND
};

/* The default kernel of the machine: what it comes back to. */
struct ssh_home {
	bool is_known;
	char build_id[65], release[80];
	char *cmdline;
};

struct ssh_boot {
	struct ssh_boot_opts o;
	enum ssh_install install;
	struct ssh_conn *conn;
	struct ssh_box box; /* box.c == conn */
	struct ssh_home home;
	unsigned strikes; /* tries in a row that ended at the host key */
	char why[512];    /* why the last try to connect failed */
};

/* ---- ssh_install.c: what is put there ------------------------------------------------------ */

/*
 * Run a script as root; stdout is appended to @out (NULL: dropped), @args NULL: none.
 * 0, 1: refused, with the reason in @e (ERR_LAB) as it stands; -1.
 */
int boot_script(const struct ssh_box *b, enum boot_script s, const struct strv *args,
		struct str *out, struct err *e);

/*
 * Everything up to the jump: files, modules, and the test kernel loaded or set for one boot.
 * 0; 1: the machine does not take this kernel, for the reason in @e; -1.
 */
int boot_install(struct ssh_boot *b, const struct target_job *job, struct err *e);
/* The entry for one boot is not due any more. *@was_due: it still was (NULL: do not tell). */
int boot_disarm(struct ssh_boot *b, bool *was_due, struct err *e);

/*
 * Arm the machine's watchdog, so that it bites when the boot takes too long. Where that cannot
 * be done the fact "watchdog=…" tells why. *@armed: it runs.
 */
int boot_watchdog_arm(struct ssh_boot *b, struct strv *facts, bool *armed, struct err *e);
/* ERR_LAB where it goes on: it would bite during the runs. */
int boot_watchdog_stop(struct ssh_boot *b, struct err *e);

/* ---- ssh_wait.c: who comes up -------------------------------------------------------------- */

enum boot_end {
	BOOT_SILENT = 0, /* nobody could log in */
	BOOT_STAYED,     /* the boot that was to end goes on */
	BOOT_UP,         /* the one that was started */
	BOOT_HOME,       /* the default kernel */
	BOOT_OTHER,      /* any other */
};

struct boot_wait {
	const char *before; /* boot id that must be gone; "": any boot will do */
	const char *nonce;  /* of the boot that is wanted; NULL: none */
	int64_t limit_ms;
	int64_t leave_ms;             /* the old boot may live so long; 0: as long as the limit */
	const struct target_job *job; /* for its tick; may be NULL */
};

/* One try to connect and identify. 1, 0: not now (b->why), -1: not ever, or told to stop. */
int boot_try(struct ssh_boot *b, int64_t limit_ms, struct err *e);
/* Disconnect, then wait. On return, but for BOOT_SILENT, we are connected. */
int boot_wait(struct ssh_boot *b, const struct boot_wait *w, enum boot_end *end, struct err *e);
/* What runs there now. */
enum boot_end boot_who(const struct ssh_boot *b, const char *nonce);
void boot_disconnect(struct ssh_boot *b);

/* ---- ssh_power.c: got back ----------------------------------------------------------------- */

/*
 * The machine is silent after @before: power-cycle it, or wait longer where that is not to be had.
 * BOOT_HOME or BOOT_UP (it was only late); else -1.
 */
int boot_fetch(struct ssh_boot *b, const struct boot_wait *w, enum boot_end *end, struct err *e);
/* One way to end the boot that runs. */
struct boot_jump {
	enum boot_script how;
	const char *nonce; /* of the boot that is wanted; NULL: the default kernel's */
	int64_t limit_ms, leave_ms;
	const struct target_job *job;
};
#define BOOT_SHUTDOWN_MS 150000 /* services take their time: systemd gives each 90 s */
#define BOOT_FORCE_MS 60000

/* Jump, wait, and fetch the machine where it is silent (*@silent; NULL: do not tell). */
int boot_restart(struct ssh_boot *b, const struct boot_jump *j, enum boot_end *end, bool *silent,
		 struct err *e);
/* End the boot that runs, by force in the end, until the default kernel runs. */
int boot_go_home(struct ssh_boot *b, const struct target_job *job, struct err *e);
/* ERR_LAB: a kernel runs that nobody asked for. */
int boot_wrong_kernel(const struct ssh_boot *b, const struct target_job *job, struct err *e);

#endif
