/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A channel that runs one command: opened, read, ended. For ssh_exec.c. */
#ifndef KR_TARGET_SSH_CHANNEL_H
#define KR_TARGET_SSH_CHANNEL_H

#include "target/ssh_exec.h"
#include "target/ssh_internal.h"

/*
 * Start the command on a channel of its own. *@channel is set on success; end it with
 * ssh_channel_end() whatever happens then.
 */
int ssh_channel_start(struct ssh_conn *c, char *const *argv, struct _LIBSSH2_CHANNEL **channel,
		      struct err *e);
/*
 * The words of a command for a reader, appended: a script of ours, sh -c TEXT kregress-NAME …,
 * is shown by its name.
 */
void ssh_channel_show(char *const *argv, struct str *out);
/* How the command ended, on a channel that the other side has closed. -1: it did not say. */
int ssh_channel_result(struct ssh_conn *c, struct _LIBSSH2_CHANNEL *channel, struct ssh_result *r,
		       struct err *e);
/* Close it; within @ms, else it is left to the end of the connection. */
void ssh_channel_end(struct ssh_conn *c, struct _LIBSSH2_CHANNEL *channel, int64_t ms);

/*
 * Kill the process group of a command there; its pid as it said on its own stderr. True when the
 * machine answered within the time, whatever it answered.
 */
bool ssh_channel_kill(struct ssh_conn *c, long pid);

/* The first line of stderr, "kregress: pid 123", which is ours: taken out of @text. 0: not there. */
long ssh_channel_take_pid(struct str *text);

#endif
