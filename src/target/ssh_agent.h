/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user's ssh-agent (draft-miller-ssh-agent), spoken to with a deadline: libssh2's own client
 * blocks for as long as the agent is silent.
 */
#ifndef KR_TARGET_SSH_AGENT_H
#define KR_TARGET_SSH_AGENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ssh_agent_key {
	struct str blob;
	char *type;    /* NULL: the blob is not a key */
	char *comment; /* untrusted */
};

struct ssh_agent {
	int fd;
	struct ssh_agent_key *key;
	size_t n, room;
};
#define SSH_AGENT_INIT    \
	{                 \
		.fd = -1, \
	}

/*
 * Connect to the agent's socket and ask for its keys. @deadline as of clock_deadline(). ERR_LAB
 * when it cannot be reached or answers nonsense, ERR_TIMEOUT, ERR_INTERRUPTED.
 */
int ssh_agent_open(const char *socket_path, int64_t deadline, struct ssh_agent *a, struct err *e);
/* Have @data signed by key @i; the signature in the format of its type (RFC 4253) is appended. */
int ssh_agent_sign(struct ssh_agent *a, size_t i, const void *data, size_t n, int64_t deadline,
		   struct str *signature, struct err *e);
void ssh_agent_close(struct ssh_agent *a);

#endif
