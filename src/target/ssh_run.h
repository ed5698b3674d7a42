/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs of one trial on a machine over SSH: agent and workload sent, run, heard, judged. */
#ifndef KR_TARGET_SSH_RUN_H
#define KR_TARGET_SSH_RUN_H

#include "target/guest.h"
#include "target/ssh_box.h"
#include "target/target.h"

/* A file of the workload: it lies beside its program, in the folder where it runs. */
struct ssh_run_file {
	const char *from, *name; /* here; there, without a slash */
	unsigned mode;
};

/* What came of it, beyond the result: for whoever must tell a crash from a lost connection. */
struct ssh_run_seen {
	bool is_lost; /* the connection was lost, or the machine answered no more */
	bool hello;   /* the agent had started */
	bool bye;     /* all runs were done */
	unsigned run; /* begun last; 0: none */
	bool in_run;
};

/* All borrowed. */
struct ssh_run_opts {
	const struct ssh_box *box;            /* identified and locked */
	const char *agent;                    /* here: guest_agent_path() */
	const struct guest_setting *settings; /* of the workload; put back after the runs */
	size_t n_settings;
	char *const *argv; /* the workload's command */
	const struct ssh_run_file *files;
	size_t n_files;
	int64_t hello_timeout_ms; /* from the start of the agent to its hello; 0: 30 s */
	/* What a console showed since the hello (NULL: there is none); untrusted. */
	const char *(*console)(void *cookie, size_t *n);
	void *console_cookie;
	struct ssh_run_seen *seen; /* NULL: not wanted */
};

/*
 * Send what is new (kept there by checksum), run all of job->runs, judge them with the kernel's
 * log. Uses nonce, runs, run_timeout_ms, build_id, release, dir and tick of the job; runs,
 * outcome, ids, facts and run_seconds of @r are set. In job->dir: output.log (the records as
 * they came), errors.log (stderr of agent and workload), kernel.log (since the first run).
 *
 * 0 with @r. -1, ERR_LAB: we failed; where seen->is_lost, the caller looks whether the machine
 * crashed. Nothing is left there but the files kept, if it can be reached.
 */
int ssh_run_job(struct ssh_conn *c, const struct ssh_run_opts *o, const struct target_job *job,
		struct target_result *r, struct err *e);

/*
 * End agents that earlier sessions left behind, and remove their folders, which are appended to
 * @removed (NULL: do not tell).
 */
int ssh_run_clean(const struct ssh_box *b, struct strv *removed, struct err *e);

#endif
