/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ~/.ssh/config says of a host (ssh_config(5)): Host, HostName, Port, User, IdentityFile,
 * UserKnownHostsFile and Include. As in ssh the first value of each counts, identity files add
 * up. Match is understood as "Match all" only; any other keyword is passed over.
 */
#ifndef KR_TARGET_SSH_CONFIG_H
#define KR_TARGET_SSH_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct ssh_config_query {
	const char *alias; /* what the user calls the machine */
	const char *user;  /* given elsewhere, so it wins; NULL: not */
	unsigned port;     /* likewise; 0: not */
	const char *home;  /* what ~ is; NULL: $HOME, else that of the password file */
};

/* Everything is owned, and expanded (~, %h and its like, ${NAME}). */
struct ssh_config {
	char *host_name;         /* to connect to; the alias itself where nothing is said */
	unsigned port;           /* 0: nothing is said */
	char *user;              /* NULL: nothing is said */
	struct strv identities;  /* empty: nothing is said; "none" stands for itself */
	struct strv known_hosts; /* likewise */
	struct strv notes;       /* "FILE:LINE: …": what was passed over and may matter */
};
#define SSH_CONFIG_INIT            \
	{                          \
		.host_name = NULL, \
	}
void ssh_config_release(struct ssh_config *c);

/*
 * Read @paths (NULL: ~/.ssh/config and /etc/ssh/ssh_config) for the host. A file that does not
 * exist says nothing. ERR_CONFIG with file and line on a mistake in what concerns us, and on a
 * file below the home that others can write, as ssh refuses it.
 */
int ssh_config_read(const struct strv *paths, const struct ssh_config_query *q,
		    struct ssh_config *c, struct err *e);
/* The same from the bytes of one file; includes are passed over. */
int ssh_config_parse(const char *path, const char *text, size_t n, const struct ssh_config_query *q,
		     struct ssh_config *c, struct err *e);

/* The home folder as above. Owned. */
char *ssh_config_home(void);

#endif
