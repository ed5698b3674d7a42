/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a kernel is booted and a workload measured: the contract of every target. */
#ifndef KR_TARGET_TARGET_H
#define KR_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "core/trial.h"

/* What is looked at in extra runs after those that count. All 0: there are none. */
struct target_observe {
	bool snapshots;   /* of /proc, before, during and after one run */
	unsigned stacks;  /* looks a second at the kernel stacks of the workload's threads */
	unsigned profile; /* samples a second of the program counter, from outside (qemu) */
	int64_t time_ms;  /* runs of stacks and profile each go on until so much has passed */
};

/* What one trial needs. All borrowed. */
struct target_job {
	const char *commit; /* 40 hex */
	long trial;         /* number of the trial, for KREGRESS_TRIAL */
	const char *dir; /* existing folder for console.log, output.log, qemu.log … of this trial */
	const char *image;   /* kernel; NULL where nothing is built */
	const char *vmlinux; /* uncompressed kernel with symbols; NULL: not known */
	const char *initrd;  /* qemu: made by the caller with agent, job and workload */
	uint64_t initrd_bytes;
	const char *modules; /* ssh: tar of [lib/modules/]<release>/…; NULL: the kernel has none */
	const char *build_id;   /* hex that /sys/kernel/notes must show; "" or NULL: not known */
	const char *release;    /* uname -r that must show; NULL: not known */
	const char *append;     /* boot parameters of the workload; the campaign's follow */
	uint32_t layout;        /* seeds the guest's random numbers */
	const char *nonce;      /* frames this trial's results; hex */
	unsigned runs;          /* warm-ups included */
	int64_t run_timeout_ms; /* one run of the workload */
	struct target_observe observe;
	const struct strv *env; /* "KREGRESS_…=…" for commands that a campaign names */
	void (*tick)(void *cookie, const char *stage); /* "boot", "run 2/5"; may be NULL */
	void *tick_cookie;
};

/* What one run of the workload printed and how it ended. */
struct target_run {
	char *output; /* stdout, untrusted, at most TARGET_OUTPUT_MAX bytes, may hold NULs */
	size_t n;
	int status; /* exit status; 128 + signal when killed by one */
	double seconds;
};
#define TARGET_OUTPUT_MAX (1u << 20)

/* What the kernel told of itself in extra runs; untrusted. */
struct target_file {
	char phase[12]; /* "before", "during", "after"; "over" for what was counted */
	char name[32];  /* "vmstat", "pressure/cpu", …; "stacks" */
	char *text;     /* NULL: it did not come whole */
	size_t n;
	bool cut; /* it was longer */
};

/* Program counters seen from outside, each once, in no order. */
struct target_profile {
	struct target_hit {
		uint64_t address;
		uint64_t count;
	} * hits;
	size_t n_hits, room;
	uint64_t samples;    /* one for each CPU and look */
	double seconds;      /* of the runs, on the host's clock */
	double cost_seconds; /* of those, how long the guest stood still for it */
};
#define TARGET_HITS_MAX 65536 /* different addresses; more are not kept, but counted */
void target_profile_add(struct target_profile *p, uint64_t address);

struct target_result {
	enum trial_outcome
		outcome; /* TRIAL_OK: all runs ended with status 0; metrics are the caller's */
	char detail[256]; /* why not ok: first panic line, "no hello within 60 s", …; neutralised */
	struct target_run *runs;
	size_t n_runs;        /* complete runs, also when the outcome is not ok */
	double boot_seconds;  /* until the agent's hello */
	double run_seconds;   /* from hello to the end of the last run */
	double total_seconds; /* wall time of the whole trial */
	char boot_id[40];     /* "" where there is none */
	char build_id[65];
	char release[80];
	struct target_file *files; /* of extra runs */
	size_t n_files;
	struct target_profile profile;
	char observe_detail[256]; /* what went wrong in the extra runs; "" nothing */
	struct strv facts;        /* "NAME=value": accelerator, cpu model, memory, … */
	bool boot_timed_out; /* outcome boot_failed by time-out alone, or by QEMU's stopping the
			      * guest: the canary rule applies */
};
void target_result_release(struct target_result *r);
/* Append a run, taking @output. */
void target_result_add_run(struct target_result *r, char *output, size_t n, int status,
			   double seconds);

/* Append a file without text; @phase of @n bytes and @name fit. */
void target_result_add_file(struct target_result *r, const char *phase, size_t n, const char *name);

struct target;

/* Every implementation fills one of these. `priv` is its own. */
struct target_ops {
	const char *name; /* qemu, ssh, command */
	bool boots;       /* needs an image and boots it */
	/*
	 * One trial. 0 with @r whatever the kernel did; -1 when we failed. A kernel that is
	 * not the one asked for (build id, release) is -1 with ERR_LAB, never an outcome.
	 */
	int (*trial)(void *priv, const struct target_job *job, struct target_result *r,
		     struct err *e);
	/* Is it usable at all? Cheap; -1 with the remedy. */
	int (*check)(void *priv, struct err *e);
	void (*close)(void *priv);
};

struct target {
	const struct target_ops *ops;
	void *priv;
};
void target_close(struct target *t);

enum qemu_accel { QEMU_ACCEL_AUTO = 0, QEMU_ACCEL_KVM, QEMU_ACCEL_TCG };

struct target_qemu_opts {
	const char *program; /* qemu-system-x86_64, from the machine profile */
	enum qemu_accel accel;
	bool deterministic;
	unsigned cpus;
	uint64_t memory_bytes;
	const struct strv *machine_args; /* from the machine profile: -M …, -nodefaults … */
	const char *machine_append;      /* boot parameters of the profile */
	const char *machine_append_tcg;  /* more of them when KVM is not used */
	const char *machine_append_deterministic; /* instead, with instruction-counted time */
	const char *append;                       /* of the campaign */
	const struct strv *extra_args;
	int64_t boot_timeout_ms;
	const char *cache_dir; /* where "KVM does not work here" is remembered */
};
int target_qemu_open(const struct target_qemu_opts *o, struct target *t, struct err *e);

struct target_command_opts {
	const struct strv *command; /* argv */
	const char *dir;            /* where it runs: the campaign file's folder */
};
/*
 * DESIGN.md, "A type = command target". Its one "run" holds the output of all runs: the caller
 * finds n values of each metric in it (struct target_result n_runs == 1).
 */
int target_command_open(const struct target_command_opts *o, struct target *t, struct err *e);

struct guest_setting;
struct ssh_run_file;

/* All borrowed until target_close(). */
struct target_ssh_opts {
	const char *host;           /* a name, an address, or a Host of ~/.ssh/config */
	unsigned port;              /* 0: as ~/.ssh/config has it, else 22 */
	const char *user;           /* "": as ~/.ssh/config has it, else root */
	const char *identity;       /* path of a private key; "": ~/.ssh/config, agent, defaults */
	const char *known_hosts;    /* path; "": ~/.ssh/config, else the files that ssh reads */
	const struct strv *install; /* one word "kexec" or "grub", else a command there */
	const struct strv *power_cycle; /* a command here; empty: none */
	const struct strv *console;     /* a command here that prints the console; empty: none */
	int64_t boot_timeout_ms;        /* from the jump to a login */
	const char *append;             /* boot parameters of the campaign */
	const char *arch;               /* of the kernels' build; NULL: not known */
	const char *initramfs;          /* "": none; "make": made there; else a path here */
	const struct strv *setup;       /* NAME=VALUE: how the machine is made quiet */
	double max_load;                /* wait until the load is below; 0: do not */
	int64_t max_wait_ms;            /* for load and temperature */
	bool watchdog;        /* arm the machine's watchdog before a kexec, where it can be */
	const char *work_dir; /* folder of ours there, absolute */
	const char *owner;    /* the campaign, for whoever finds the machine locked */
	/* The workload: settings, command, and what it needs beside it. */
	const struct guest_setting *settings; /* target/guest.h */
	size_t n_settings;
	char *const *argv;
	const struct ssh_run_file *files; /* target/ssh_run.h */
	size_t n_files;
	const char *cache_dir;
	const char *dir; /* the campaign file's folder: commands run there */
};
int target_ssh_open(const struct target_ssh_opts *o, struct target *t, struct err *e);
/*
 * The machine as if we had never been there: back to its default kernel, agents left over ended,
 * and all that we installed removed, which is appended to @removed. Not while another holds it.
 */
int target_ssh_clean(const struct target_ssh_opts *o, struct strv *removed, struct err *e);
/*
 * Look at it without a change: what it is into @about, and one line with its remedy for each
 * thing that is missing, here or there. -1: no connection, or it does not answer.
 */
int target_ssh_look(const struct target_ssh_opts *o, struct str *about, struct strv *missing,
		    struct err *e);

#endif
