/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the SSH connection share; libssh2's own types stay behind this. */
#ifndef KR_TARGET_SSH_INTERNAL_H
#define KR_TARGET_SSH_INTERNAL_H

#include <sys/types.h>

#include "target/ssh_conn.h"
#include "target/ssh_known.h"

/* libssh2's, by their tags: its header is included by the .c files. */
struct _LIBSSH2_SESSION;
struct _LIBSSH2_CHANNEL;

struct ssh_conn {
	struct _LIBSSH2_SESSION *session;
	int fd;
	char *name; /* "root@host:22" */
	char *host, *user;
	unsigned port;
	int64_t silence_ms, keep_alive_ms;
	int64_t deadline; /* of what is being done */
	int64_t heard_ms; /* when the last byte came (clock_mono_ms) */
	int64_t asked_ms; /* when the first keep-alive since then was sent; 0: none was */
	int64_t sent_ms;  /* when the last was */
	uint64_t in_bytes;
	bool is_open; /* logged in */
	bool is_lost;
	bool is_closing; /* libssh2 is to see errors as they are, and give up */
	bool is_urgent;  /* goes on in spite of a signal to us */
	bool tells_end;  /* every end of a command comes with a status or a signal: OpenSSH */
	char why[200];   /* it is lost; neutralised */
};

/*
 * A call to libssh2 returned @rc: 1 when it would block and may be repeated now (the socket is
 * ready, or a slice of time passed), 0 when it is done, -1 when that is no use: lost, deadline
 * passed (ERR_TIMEOUT), interrupted.
 *
 * A call that was stopped while it sent must be repeated before any other: libssh2 keeps half a
 * packet then.
 */
int ssh_again(struct ssh_conn *c, ssize_t rc, struct err *e);

/*
 * Wait until a whole packet can be sent. To be called before libssh2 may start to send: some of
 * its small packets do not survive being sent in two parts (they live on its stack).
 */
int ssh_may_send(struct ssh_conn *c, struct err *e);

/*
 * Wait until something can be read (or, where asked for, sent): a slice of time at most. -1 as
 * ssh_again().
 */
int ssh_wait(struct ssh_conn *c, bool to_send, struct err *e);
/* Can a packet be sent now? */
bool ssh_can_send(const struct ssh_conn *c);

/* Did the last call stop in the middle of a packet? */
bool ssh_is_sending(const struct ssh_conn *c);

/* An error of libssh2 as ours: "cannot <what>: …", or that the connection is lost. Returns -1. */
int ssh_fail(struct ssh_conn *c, ssize_t rc, const char *what, struct err *e);
/* The connection is lost, for this reason (the first counts; untrusted). */
void ssh_lose(struct ssh_conn *c, const char *why, size_t n);
/* ERR_LAB: it is lost. Returns -1. */
int ssh_lost(const struct ssh_conn *c, struct err *e);

/* ssh_hostkey.c: which key types to prefer (before the handshake), and the check after it. */
int ssh_prefer_known(struct ssh_conn *c, const struct ssh_known *known, struct err *e);
int ssh_check_host_key(struct ssh_conn *c, const struct ssh_known *known, const char *first_file,
		       struct err *e);

/* ssh_login.c */
int ssh_login(struct ssh_conn *c, const struct ssh_opts *o, struct err *e);

#endif
