/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children: argument vectors, own process group, deadline, always reaped, killed with us. */
#ifndef KR_BASE_PROC_H
#define KR_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

/* How a child ended. */
enum proc_end {
	PROC_EXITED = 1, /* status: its exit status */
	PROC_SIGNALED,   /* status: the signal */
	PROC_TIMED_OUT,  /* killed by us at the deadline */
	PROC_TOO_MUCH,   /* killed by us: printed more than max_output bytes */
	PROC_NO_START,   /* exec failed; status: errno (ENOENT, EACCES, …) */
};

struct proc_result {
	enum proc_end end;
	int status;
	double seconds; /* wall time */
};

struct proc_opts {
	char *const *argv;      /* NULL-terminated; argv[0] is looked up in PATH */
	const struct strv *env; /* "NAME=value" set over our environment; "NAME" alone: unset */
	const char *cwd;        /* NULL: ours */
	const char *in_path;    /* stdin comes from this file; NULL: /dev/null */
	int64_t timeout_ms;     /* < 0 or 0: none */
	size_t max_output;      /* bytes of stdout kept or logged; 0: no limit */
	struct str *out;        /* stdout is appended here (NULL: not kept) */
	const char *log_path;   /* stdout and stderr are appended to this file (NULL: not) */
	bool merge_stderr;      /* stderr goes where stdout goes; else to log_path or /dev/null */
	bool inherit_stderr;    /* stderr is ours (wins over the above) */
	const int *keep_fds;    /* descriptors that the child inherits, under the same numbers */
	size_t n_keep_fds;
	unsigned grace_ms; /* between TERM and KILL of the group; 0: 2000 */
	/* Called about every 200 ms while it runs (NULL: not). For progress lines. */
	void (*tick)(void *cookie);
	void *tick_cookie;
};

/*
 * Run a child to its end. The command is echoed at -v.
 * Returns 0 with @res filled whatever the child did; -1 when we failed
 * (ERR_SYS) or were told to stop (ERR_INTERRUPTED, child and its group killed).
 */
int proc_run(const struct proc_opts *o, struct proc_result *res, struct err *e);

/* A child that lives beside us: QEMU, a console reader. pid 0: none. */
struct proc {
	pid_t pid;
	int out_fd; /* read end of its stdout, -1 unless asked for */
};
#define PROC_INIT            \
	{                    \
		.out_fd = -1 \
	}

/*
 * Start a child in its own process group that dies with us (PR_SET_PDEATHSIG,
 * KILL). Uses argv, env, cwd, log_path, merge_stderr. @want_out: give out_fd.
 * Fails with ERR_NOT_FOUND when the program does not exist.
 */
int proc_start(const struct proc_opts *o, bool want_out, struct proc *p, struct err *e);

/* 1 and @res when it has ended (reaped), 0 when it runs. */
int proc_poll(struct proc *p, struct proc_result *res);

/* TERM, grace, KILL to the group; reaps; closes out_fd. Safe on an ended one. */
void proc_stop(struct proc *p, unsigned grace_ms);

/* "exit status 2", "killed by signal 9 (Killed)", "timed out", …; static or in @buf. */
const char *proc_describe(const struct proc_result *res, char *buf, size_t size);

/* Where @name is found in PATH, as an owned path; NULL: nowhere. */
char *proc_which(const char *name);

#endif
