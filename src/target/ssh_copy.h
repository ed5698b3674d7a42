/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files to and from the other side, by 'cat': neither scp nor sftp is needed there. */
#ifndef KR_TARGET_SSH_COPY_H
#define KR_TARGET_SSH_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/ssh_conn.h"

struct ssh_upload {
	const char *from; /* a regular file here */
	const char *to;   /* absolute; its folder exists; a file of that name is replaced */
	mode_t mode;
	const char *sha256; /* of @from in hex, where it is known: saves the time; NULL */
	int64_t timeout_ms; /* all of it; > 0 */
	bool durable;       /* on the disk there before it returns: for what a reboot follows */
	/* Called about every 200 ms with the bytes sent so far (NULL: not). */
	void (*tick)(void *cookie, uint64_t done, uint64_t total);
	void *cookie;
};

/*
 * Copy a file. It is written beside its place (<to>.kregress-new), its SHA-256 is compared (by
 * openssl, sha256sum or busybox there, else by reading it back), then it is renamed: under the name there
 * is never half a file. ERR_SYS: the file here; ERR_LAB: there (disk full, no folder, …), or the
 * connection is lost; ERR_TIMEOUT, ERR_INTERRUPTED. What was written is removed where that can
 * be done.
 */
int ssh_upload(struct ssh_conn *c, const struct ssh_upload *u, struct err *e);

/*
 * Append a file's bytes to @out. ERR_NOT_FOUND: there is none. More than @max bytes: ERR_LAB.
 */
int ssh_download(struct ssh_conn *c, const char *from, size_t max, int64_t timeout_ms,
		 struct str *out, struct err *e);

#endif
