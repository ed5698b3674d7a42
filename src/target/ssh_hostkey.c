/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is it the machine that known_hosts knows? Never taken on trust. */
#include "target/ssh_internal.h"

#include <string.h>

#include <libssh2.h>

#include "target/ssh_key.h"

/* The types that the files know come first: a server that has several then shows one of them. */
int ssh_prefer_known(struct ssh_conn *c, const struct ssh_known *known, struct err *e)
{
	_cleanup_str_ struct str names = STR_INIT;

	for (int is_known = 1; is_known >= 0; is_known--)
		for (size_t i = 0; i < SSH_KEY_TYPES; i++)
			if (!ssh_known_find(known, SSH_KNOWN_KEY, ssh_key_types[i]) == !is_known)
				str_addf(&names, "%s%s", names.len ? "," : "", ssh_key_types[i]);
	if (libssh2_session_method_pref(c->session, LIBSSH2_METHOD_HOSTKEY, str_text(&names)))
		return err_set(e, ERR_INTERNAL, "libssh2 refuses '%s'", str_text(&names));
	return 0;
}

/* "ssh-keyscan …": how to take the key that was shown into the file. */
static char *scan_command(const struct ssh_conn *c, const char *type, const char *file)
{
	_cleanup_strv_ struct strv words = STRV_INIT, target = STRV_INIT;
	struct str out = STR_INIT;

	strv_add(&words, "ssh-keyscan");
	strv_add(&words, "-p");
	strv_addf(&words, "%u", c->port);
	strv_add(&words, "-t");
	strv_add(&words, str_starts(type, "ecdsa") ? "ecdsa" : "ed25519");
	strv_add(&words, c->host);
	strv_add(&target, file);
	str_join_words(&out, words.v);
	str_add(&out, " >> ");
	str_join_words(&out, target.v);
	return str_detach(&out);
}

/* "ssh-keygen -R …": how to forget the keys of the host. */
static char *remove_command(const struct ssh_conn *c, const char *file)
{
	_cleanup_strv_ struct strv words = STRV_INIT;
	struct str out = STR_INIT;

	strv_add(&words, "ssh-keygen");
	strv_add(&words, "-R");
	strv_take(&words, ssh_known_name(c->host, c->port));
	strv_add(&words, "-f");
	strv_add(&words, file);
	str_join_words(&out, words.v);
	return str_detach(&out);
}

/* What else the files say, where nothing in them decided. */
static void explain_unknown(const struct ssh_known *known, struct err *e)
{
	const struct ssh_known_key *authority = ssh_known_find(known, SSH_KNOWN_AUTHORITY, NULL);
	const struct ssh_known_key *other = ssh_known_find(known, SSH_KNOWN_KEY, NULL);

	if (other)
		err_hint(e, "%s:%d has its %s key only", other->path, other->line, other->type);
	if (known->malformed)
		err_hint(e, "%s is malformed", known->malformed);
	if (authority)
		err_hint(e, "%s:%d: @cert-authority is not supported", authority->path,
			 authority->line);
}

static int refuse_unknown(const struct ssh_conn *c, const struct ssh_known *known, const char *type,
			  const char *fingerprint, const char *file, struct err *e)
{
	_cleanup_free_ char *scan = scan_command(c, type, file);

	err_set(e, ERR_LAB,
		"the host key of '%s' is not known: %s %s; if 'ssh-keygen -lf' says the same of "
		"the key in /etc/ssh there, run: %s",
		c->name, type, fingerprint, scan);
	explain_unknown(known, e);
	return -1;
}

static int refuse_changed(const struct ssh_conn *c, const struct ssh_known_key *which,
			  const char *type, const char *fingerprint, struct err *e)
{
	_cleanup_free_ char *scan = scan_command(c, type, which->path);
	_cleanup_free_ char *forget = remove_command(c, which->path);

	return err_set(e, ERR_LAB,
		       "the host key of '%s' has changed: it is not the one in %s:%d but %s %s; "
		       "if the machine was installed anew, run: %s; %s",
		       c->name, which->path, which->line, type, fingerprint, forget, scan);
}

int ssh_check_host_key(struct ssh_conn *c, const struct ssh_known *known, const char *first_file,
		       struct err *e)
{
	size_t n = 0;
	int unused;
	const char *key = libssh2_session_hostkey(c->session, &n, &unused);
	_cleanup_free_ char *type = key ? ssh_key_type(key, n) : NULL;
	_cleanup_free_ char *fingerprint = NULL;
	const struct ssh_known_key *which;

	if (!type)
		return err_set(e, ERR_LAB, "'%s' shows no host key", c->name);
	fingerprint = ssh_key_fingerprint(key, n);
	switch (ssh_known_check(known, key, n, &which)) {
	case SSH_KNOWN_MATCH:
		return 0;
	case SSH_KNOWN_CHANGED:
		return refuse_changed(c, which, type, fingerprint, e);
	case SSH_KNOWN_REVOKED:
		return err_set(e, ERR_LAB,
			       "the host key of '%s' (%s %s) is revoked by %s:%d: the machine must "
			       "be given a new one",
			       c->name, type, fingerprint, which->path, which->line);
	case SSH_KNOWN_UNKNOWN:
		break;
	}
	return refuse_unknown(c, known, type, fingerprint,
			      first_file ? first_file : "~/.ssh/known_hosts", e);
}
