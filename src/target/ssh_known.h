/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known_hosts (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"), read by ourselves: libssh2 1.10 does not
 * match wildcards, ignores @revoked, and loses the rest of a file after a line that it dislikes.
 */
#ifndef KR_TARGET_SSH_KNOWN_H
#define KR_TARGET_SSH_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum ssh_known_mark { SSH_KNOWN_KEY = 0, SSH_KNOWN_REVOKED_KEY, SSH_KNOWN_AUTHORITY };

/* A line that is about the host. */
struct ssh_known_key {
	char *path;
	int line; /* 1-based */
	enum ssh_known_mark mark;
	char *type;
	struct str blob;    /* the public key */
	bool is_other_port; /* given for the host's port 22, where we go to another */
};

/* What the files say of one host. */
struct ssh_known {
	struct ssh_known_key *key;
	size_t n, room;
	char *malformed; /* "path:line" of the first line that was passed over; NULL: none */
};
#define SSH_KNOWN_INIT       \
	{                    \
		.key = NULL, \
	}
void ssh_known_release(struct ssh_known *k);

/*
 * Read all @paths; one that does not exist says nothing. ERR_CONFIG when one cannot be read.
 * @host as it is connected to (name or address).
 */
int ssh_known_read(const struct strv *paths, const char *host, unsigned port, struct ssh_known *k,
		   struct err *e);
/* The same from bytes; adds to @k. */
void ssh_known_parse(const char *path, const char *text, size_t n, const char *host, unsigned port,
		     struct ssh_known *k);

/* As known_hosts names it: "host", "[host]:2222". Lower case, owned. */
char *ssh_known_name(const char *host, unsigned port);

enum ssh_known_verdict {
	SSH_KNOWN_UNKNOWN = 0, /* no key of this type is known for it */
	SSH_KNOWN_MATCH,
	SSH_KNOWN_CHANGED, /* another key of this type is */
	SSH_KNOWN_REVOKED,
};
/*
 * Judge the key that the host showed. *@which (may be NULL): the line that decided, NULL where
 * none did; borrowed. A key for the host's port 22 counts when it is the same, as in ssh.
 */
enum ssh_known_verdict ssh_known_check(const struct ssh_known *k, const void *blob, size_t n,
				       const struct ssh_known_key **which);
/* The first line with a mark, or with a key of @type (NULL: any); NULL: none. Borrowed. */
const struct ssh_known_key *ssh_known_find(const struct ssh_known *k, enum ssh_known_mark mark,
					   const char *type);

#endif
