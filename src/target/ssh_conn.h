/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to a machine over SSH (libssh2): strict about host keys, with a deadline on all
 * that it does. What goes wrong here is struct err and never says a thing about a kernel.
 */
#ifndef KR_TARGET_SSH_CONN_H
#define KR_TARGET_SSH_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ssh_opts {
	const char *host; /* name or address */
	unsigned port;    /* 0: 22 */
	const char *user;
	/* Private keys, the only ones tried (from the agent where it has them); NULL or empty: what
	 * the agent has, then ~/.ssh/id_ed25519 and id_ecdsa. */
	const struct strv *identities;
	const struct strv *known_hosts; /* NULL or empty: the four that ssh reads */
	const char *agent;              /* its socket; NULL: $SSH_AUTH_SOCK, "": no agent */
	int64_t timeout_ms;             /* all of ssh_open(); > 0 */
	int64_t silence_ms;    /* nothing heard for so long: the connection is lost; 0: 60 s */
	int64_t keep_alive_ms; /* asked after so long a silence, at least a second; 0: 5 s */
};

/* Which step of ssh_open() failed: whoever waits for a boot goes on only for the first. */
enum ssh_step {
	SSH_STEP_NONE = 0,
	SSH_STEP_REACH,    /* nothing that speaks SSH there (yet) */
	SSH_STEP_HOST_KEY, /* unknown, changed or revoked; no key exchange possible */
	SSH_STEP_LOGIN,    /* no key of ours is accepted */
};

struct ssh_conn;

/*
 * Connect, check the host key, log in. ERR_LAB, ERR_TIMEOUT, ERR_CONFIG (a known_hosts file that
 * cannot be read), ERR_INTERRUPTED. @step may be NULL.
 */
int ssh_open(const struct ssh_opts *o, struct ssh_conn **c, enum ssh_step *step, struct err *e);
/* Takes a second at most. NULL is fine. */
void ssh_close(struct ssh_conn *c);
void ssh_closep(struct ssh_conn **c);

/* Is it known to be lost? Then all that is asked of it fails at once with ERR_LAB. */
bool ssh_is_lost(const struct ssh_conn *c);
/* "root@host:22", for messages. Borrowed. */
const char *ssh_name(const struct ssh_conn *c);

/* The files that ssh reads where nothing is said. Appends. */
void ssh_default_known_hosts(struct strv *paths);

#endif
