/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside the QEMU target: shared by src/target/qemu*.c and their tests, by nobody else. */
#ifndef KR_TARGET_QEMU_H
#define KR_TARGET_QEMU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/proc.h"
#include "target/console.h"
#include "target/results.h"
#include "target/target.h"

#define QEMU_CPUS_MAX 255

/* A reading of the host's time stamp counter, to learn its frequency. */
struct qemu_tsc {
	double at_s; /* CLOCK_MONOTONIC */
	uint64_t ticks;
};

/* The target; strings are copies. */
struct qemu {
	char *program;
	enum qemu_accel accel; /* as configured */
	bool deterministic;
	unsigned cpus;
	uint64_t memory_bytes;
	struct strv machine_args, extra_args;
	char *machine_append, *machine_append_tcg, *machine_append_deterministic, *append;
	int64_t boot_timeout_ms;
	char *cache_dir;
	enum qemu_accel proven; /* AUTO: not known yet whether KVM works here */
	struct qemu_tsc tsc;    /* read when opened */
};

/* --- qemu_image.c: what QEMU will load ----------------------------------- */

struct qemu_image {
	bool elf;              /* an ELF file (vmlinux), else a bzImage or something unknown */
	bool pvh;              /* has the PVH entry note */
	uint64_t memory_bytes; /* what it needs in the guest, roughly */
};
/* Read the headers of @path (untrusted). ERR_NOT_FOUND, ERR_SYS: cannot read it. */
int qemu_image_read(const char *path, struct qemu_image *out, struct err *e);
/* ERR_CONFIG when image and initramfs do not fit into @memory_bytes with room to run. */
int qemu_check_memory(const char *image, uint64_t initrd_bytes, uint64_t memory_bytes,
		      struct err *e);

/* --- qemu_args.c: the command line --------------------------------------- */

/* Descriptors that QEMU inherits under the same numbers. */
struct qemu_fds {
	int console, result, qmp;
};
void qemu_tsc_read(struct qemu_tsc *t);
/*
 * Ticks in kHz between @from and now, rounded to 100 kHz; waits until they are 20 ms
 * apart. 0: this machine has no such counter.
 */
unsigned long qemu_tsc_khz(const struct qemu_tsc *from);
/*
 * Append @text to @out with what stands in braces replaced: {tsc_khz} by the frequency of
 * the guest's time stamp counter (the whole word is left out where it is not known),
 * {1cpu:WORDS} by WORDS with one CPU and by nothing with more.
 */
void qemu_expand(struct str *out, const char *text, unsigned cpus, unsigned long tsc_khz);
/* The whole argument vector for one boot with @accel (KVM or TCG). Appends. */
void qemu_args(const struct qemu *q, enum qemu_accel accel, const struct target_job *job,
	       const struct qemu_fds *fds, struct strv *argv);

/* --- qemu_qmp.c: what QEMU tells ----------------------------------------- */

enum qmp_shutdown {
	QMP_RUNNING = 0,
	QMP_POWER_OFF, /* the guest switched itself off */
	QMP_RESET,     /* the guest reset: panic, triple fault */
	QMP_OTHER,     /* from outside: a signal, a command */
};

struct qmp {
	/* of QEMU, "7.2.22"; "" until it has greeted */
	char version[24];
	int fd; /* borrowed */
	enum qmp_shutdown shutdown;
	bool greeted;    /* QEMU is up */
	bool stopped;    /* QEMU stopped the guest on its own accord */
	char status[40]; /* then why: "internal-error", …; "" until it has said so */
	char error[200]; /* QEMU refused a command; "" it did not */
	/* A look at the program counters, see qmp_look(). */
	struct {
		bool pending;  /* asked, not all answered */
		bool stopping; /* the next STOP is of our making */
		unsigned n;    /* counters that came, at most one a CPU */
		uint64_t pc[QEMU_CPUS_MAX];
	} look;
	struct str buf; /* private */
};
/*
 * Ask where all CPUs are: the guest is stopped, asked, and let go on. Only so is the answer right
 * under TCG, which writes the counter back when it leaves translated code, not at each jump; and
 * the guest's own clocks stand still meanwhile. Answered once !look.pending.
 */
void qmp_look(struct qmp *m);
/* Program counters in the text of "info registers" (untrusted); returns how many went to @pc. */
unsigned qmp_read_counters(const char *text, uint64_t *pc, unsigned max);
/* The first words to QEMU, written before it listens: handshake, and go. 0/-1. */
int qmp_start(struct qmp *m, int fd, struct err *e);
/* Take @n bytes that QEMU sent; unknown messages are ignored. */
void qmp_feed(struct qmp *m, const char *data, size_t n);
void qmp_release(struct qmp *m);

/* --- qemu_profile.c: where a guest spends its time, from outside ---------- */

struct qemu_sampler {
	unsigned rate; /* looks a second; 0: none */
	bool running;  /* samples are to be taken now */
	bool asked;    /* a look is under way */
	double due_s;  /* of the next, on the monotonic clock */
	double begun_s, asked_s;
	uint32_t random;
};
/* Take the answer, ask again where it is time; @on: runs for the profile are going on. */
void qemu_sample(struct qemu_sampler *p, struct qmp *m, bool on, struct target_profile *out);
/* Milliseconds until there is something to do, @ms at most; 0: now. */
double qemu_sample_wait_ms(const struct qemu_sampler *p, double ms);

/* --- qemu_boot.c: one boot ----------------------------------------------- */

enum qemu_limit {
	QEMU_NO_LIMIT = 0,
	QEMU_BOOT_LIMIT,  /* no hello in time */
	QEMU_RUN_LIMIT,   /* the agent gave no sign in time after it */
	QEMU_PANIC_LIMIT, /* panicked, and did not reset */
};

/* Everything that was seen of one boot; qemu_classify() judges it. */
struct qemu_seen {
	struct results results;
	struct qmp qmp;
	struct str console;      /* the first CONSOLE_KEPT bytes */
	size_t console_at_hello; /* length of console then */
	size_t console_at_extra; /* when the runs that count were over; 0: not yet */
	uint64_t console_bytes;  /* all that came */
	enum qemu_limit limit;
	double limit_s; /* that passed */
	bool killed;    /* we ended QEMU; else `end` is how it ended */
	struct proc_result end;
	double boot_s, run_s, total_s;
	/* of the kernel; owned */
	char *cmdline;
};
#define QEMU_CONSOLE_KEPT (32u << 20)

/* @seen must be zeroed; release in any case. */
void qemu_seen_release(struct qemu_seen *seen);
/*
 * Boot once with @accel, at most @boot_limit_ms until the hello. Runs are added to @r.
 * 0 with @seen filled; -1: could not start QEMU, disk full, interrupted.
 */
int qemu_boot(const struct qemu *q, enum qemu_accel accel, const struct target_job *job,
	      int64_t boot_limit_ms, struct qemu_seen *seen, struct target_result *r,
	      struct err *e);

/* --- qemu_outcome.c: what it means --------------------------------------- */

/* Fill outcome, detail, ids and facts of @r, or -1 when we failed. */
int qemu_classify(const struct qemu_seen *seen, const struct target_job *job, enum qemu_accel accel,
		  struct target_result *r, struct err *e);
/* The last words of qemu.log for a message, neutralised, on one line. */
void qemu_last_words(const struct target_job *job, char *buf, size_t size);

/* --- qemu_kvm.c: does KVM work here? ------------------------------------- */

/* Can /dev/kvm be used at all? If not, @why says it in a few words. */
bool qemu_kvm_opens(char *why, size_t size);
/* What an earlier run on this host since its boot found: KVM, TCG, or AUTO for unknown. */
enum qemu_accel qemu_kvm_recall(const struct qemu *q, char *why, size_t size);
/* Write it down; failing to is no failure. */
void qemu_kvm_remember(const struct qemu *q, enum qemu_accel proven, const char *why);

#endif
