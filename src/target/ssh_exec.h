/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands on the other side of a connection. */
#ifndef KR_TARGET_SSH_EXEC_H
#define KR_TARGET_SSH_EXEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "target/ssh_conn.h"

/* How a command ended. */
enum ssh_end {
	SSH_EXITED = 1, /* status: its exit status */
	SSH_SIGNALED,   /* signal: its name; status: 128 + its number, as a shell has it */
	SSH_TIMED_OUT,  /* stopped by us at the deadline, while the machine was there */
	SSH_TOO_MUCH,   /* stopped by us: it printed more than max_output bytes */
};

struct ssh_result {
	enum ssh_end end;
	int status;
	char signal[16]; /* "SEGV"; "" where there is none */
	double seconds;
	uint64_t out_bytes, err_bytes; /* that it printed */
};

/* Longer lines are handed over in pieces. */
#define SSH_LINE_MAX (64u << 10)

struct ssh_command {
	char *const *argv; /* NULL-terminated; each word arrives as it is, whatever is in it */
	const char *input; /* its standard input; NULL: empty */
	size_t input_bytes;
	/* Instead: called for more of it, until it gives 0 bytes. -1 with @e ends the command. */
	int (*more)(void *cookie, char *buf, size_t room, size_t *n, struct err *e);
	int64_t timeout_ms; /* > 0 */
	size_t max_output;  /* bytes of stdout; 0: any number */
	size_t max_errors;  /* bytes of stderr kept, the first; the rest is dropped; 0: 64 KiB */
	struct str *out;    /* stdout is appended here (NULL: not kept) */
	struct str *errors; /* stderr likewise */
	/* Called for each line of stdout without its newline (NULL: not); bytes, NULs included. */
	void (*line)(void *cookie, const char *text, size_t n);
	/* Called for stdout as it comes (NULL: not). */
	void (*data)(void *cookie, const char *data, size_t n);
	/* Called about every 200 ms while it runs (NULL: not). */
	void (*tick)(void *cookie);
	void *cookie;
};

/*
 * Run a command to its end. It is run by 'sh', but no byte of argv is ever seen by a shell
 * unquoted. Its output is untrusted.
 *
 * 0 with @r whatever it did. -1 when we failed: ERR_LAB (connection lost, which not to start in
 * time is, too; no channel; an end without a status: never a verdict), ERR_INTERRUPTED. What we
 * stop, or are told to stop, is killed there with all its process group.
 */
int ssh_exec(struct ssh_conn *c, const struct ssh_command *o, struct ssh_result *r, struct err *e);

/*
 * The same for commands that must succeed: -1 with ERR_LAB unless it exits with 0, with what it
 * said on stderr. Stdout is appended to @out (NULL: dropped), at most 1 MiB.
 */
int ssh_run(struct ssh_conn *c, char *const *argv, int64_t timeout_ms, struct str *out,
	    struct err *e);

/*
 * Does the login shell there pass words on as they are, and print nothing of its own? -1 with
 * ERR_LAB: it does not (csh, a forced command, a .bashrc that talks).
 */
int ssh_check_shell(struct ssh_conn *c, int64_t timeout_ms, struct err *e);

/*
 * For a command that did not exit with 0: -1, ERR_LAB (ERR_TIMEOUT where it timed out) and
 * "exit status 2: <the last line of its stderr>".
 */
int ssh_failed(const struct ssh_result *r, const struct str *errors, struct err *e);

/* "exit status 2", "killed by signal SEGV", …; in @buf. */
const char *ssh_describe(const struct ssh_result *r, char *buf, size_t size);

/* Append @words quoted for a POSIX shell, with blanks between. */
void ssh_quote(struct str *out, char *const *words);

#endif
