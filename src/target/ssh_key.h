/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SSH keys: their types, fingerprints, and what a file of one holds. */
#ifndef KR_TARGET_SSH_KEY_H
#define KR_TARGET_SSH_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* The types that this libssh2 can use, for hosts and for users, the preferred one first. */
#define SSH_KEY_TYPES 4
extern const char *const ssh_key_types[SSH_KEY_TYPES];

bool ssh_key_is_usable(const char *type);
/* Why a key of this type is not used, for a message; NULL where it is usable. Static. */
const char *ssh_key_why_not(const char *type);

/* The type that a public key ("blob", RFC 4253 section 6.6) names. Owned; NULL: not a key. */
char *ssh_key_type(const void *blob, size_t n);
/* "SHA256:…" of a public key, as ssh-keygen -l prints it. Owned. */
char *ssh_key_fingerprint(const void *blob, size_t n);

/* A file that an identity names. Release it in any case. */
struct ssh_keyfile {
	char *type;         /* "ssh-ed25519"; NULL: the format does not say */
	struct str blob;    /* the public key; empty: not known without the passphrase */
	bool is_encrypted;  /* needs a passphrase */
	bool is_public;     /* holds the public key only */
	const char *oddity; /* a format that is not read: what to do about it; static; or NULL */
};
#define SSH_KEYFILE_INIT      \
	{                     \
		.type = NULL, \
	}

/*
 * Look into @path (and into @path.pub where it does not tell its public key). ERR_NOT_FOUND,
 * ERR_SYS, ERR_CONFIG when it is no key, or is ours and open to others, as ssh refuses it.
 */
int ssh_keyfile_read(const char *path, struct ssh_keyfile *k, struct err *e);
/* The same from bytes, without a look at a file beside it. False: not a key. */
bool ssh_keyfile_parse(const char *text, size_t n, struct ssh_keyfile *k);
void ssh_keyfile_release(struct ssh_keyfile *k);

#endif
