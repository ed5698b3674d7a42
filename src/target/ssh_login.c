/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logging in with a key: of the agent, or of a file. No passwords. */
#include "target/ssh_internal.h"

#include <stdlib.h>
#include <string.h>

#include <libssh2.h>

#include "base/log.h"
#include "target/ssh_agent.h"
#include "target/ssh_config.h"
#include "target/ssh_key.h"

/* What is shown of a comment in the agent. */
#define COMMENT_MAX 40

struct login {
	struct ssh_conn *c;
	struct ssh_agent agent;
	bool has_agent;
	bool *is_used;     /* of the agent's keys: was it offered already? */
	size_t key;        /* the one that is being offered */
	struct strv tried; /* for the message: each with how it went */
	unsigned offered;
	bool was_refused; /* by the server, the last one */
	bool is_unsigned; /* the agent did not sign */
};

static void login_release(struct login *l)
{
	ssh_agent_close(&l->agent);
	free(l->is_used);
	strv_release(&l->tried);
}

/* The result of offering a key: 1: logged in, 0: refused, -1: no use going on. */
static int judge(struct login *l, int rc, const char *what, struct err *e)
{
	struct ssh_conn *c = l->c;

	l->offered++;
	l->was_refused = false;
	if (rc == 0)
		return 1;
	if (l->is_unsigned)
		return 0; /* said already */
	if (c->is_lost || rc == LIBSSH2_ERROR_SOCKET_DISCONNECT ||
	    rc == LIBSSH2_ERROR_SOCKET_SEND || rc == LIBSSH2_ERROR_SOCKET_RECV) {
		ssh_fail(c, rc, "log in", e);
		return err_hint(e, "after %u keys: name the right one, identity = in [target]",
				l->offered);
	}
	l->was_refused = true;
	strv_addf(&l->tried, "%s: refused", what);
	return 0;
}

/* ---- the agent ----------------------------------------------------------------------------- */

static char *agent_key_name(const struct ssh_agent_key *key)
{
	_cleanup_str_ struct str comment = STR_INIT;
	size_t n = strlen(key->comment);

	str_neutralise(&comment, key->comment, n < COMMENT_MAX ? n : COMMENT_MAX, false);
	return xasprintf("'%s' of the agent", str_text(&comment));
}

/* libssh2 wants a signature; called from within its login. It frees what it is given. */
static int sign_by_agent(LIBSSH2_SESSION *session, unsigned char **sig, size_t *sig_len,
			 const unsigned char *data, size_t data_len, void **abstract)
{
	struct login *l = *abstract;
	_cleanup_str_ struct str out = STR_INIT;
	struct err e = ERR_INIT;

	(void)session;
	if (!l->has_agent ||
	    ssh_agent_sign(&l->agent, l->key, data, data_len, l->c->deadline, &out, &e) < 0) {
		strv_addf(&l->tried, "%s", e.msg);
		l->is_unsigned = true;
		/* An answer that comes too late would be taken for that to the next question. */
		l->has_agent = l->has_agent && e.code != ERR_TIMEOUT;
		return -1;
	}
	*sig_len = out.len;
	*sig = (unsigned char *)str_detach(&out);
	return 0;
}

static int offer_agent_key(struct login *l, size_t i, struct err *e)
{
	const struct ssh_agent_key *key = &l->agent.key[i];
	_cleanup_free_ char *what = agent_key_name(key);
	const char *why_not = ssh_key_why_not(key->type ? key->type : "");
	void *self = l;
	int rc, go;

	if (l->is_used[i])
		return 0;
	l->is_used[i] = true;
	if (why_not) {
		strv_addf(&l->tried, "%s: %s", what, why_not);
		return 0;
	}
	l->key = i;
	l->is_unsigned = false;
	log_verbose("ssh: %s: offering %s", l->c->name, what);
	do
		rc = libssh2_userauth_publickey(l->c->session, l->c->user,
						(const unsigned char *)key->blob.buf, key->blob.len,
						sign_by_agent, &self);
	while ((go = ssh_again(l->c, rc, e)) > 0);
	if (go < 0 && !l->c->is_lost)
		return -1;
	return judge(l, rc, what, e);
}

static void open_agent(struct login *l, const struct ssh_opts *o)
{
	const char *path = o->agent ? o->agent : getenv("SSH_AUTH_SOCK");
	struct err e = ERR_INIT;

	if (!path || !*path) {
		strv_add(&l->tried, "no ssh agent (SSH_AUTH_SOCK is not set)");
		return;
	}
	if (ssh_agent_open(path, l->c->deadline, &l->agent, &e) < 0) {
		strv_add(&l->tried, e.msg);
		return;
	}
	l->has_agent = true;
	l->is_used = xcalloc(l->agent.n + 1, sizeof(*l->is_used));
	if (!l->agent.n)
		strv_add(&l->tried, "the ssh agent has no keys (ssh-add)");
}

/* The agent's copy of a key; -1: it has none. */
static ssize_t find_in_agent(const struct login *l, const struct str *blob)
{
	for (size_t i = 0; l->has_agent && blob->len && i < l->agent.n; i++)
		if (l->agent.key[i].blob.len == blob->len &&
		    !memcmp(l->agent.key[i].blob.buf, blob->buf, blob->len))
			return (ssize_t)i;
	return -1;
}

/* ---- files --------------------------------------------------------------------------------- */

static int offer_file(struct login *l, const char *path, struct err *e)
{
	struct ssh_conn *c = l->c;
	int rc, go;

	log_verbose("ssh: %s: offering '%s'", c->name, path);
	l->is_unsigned = false;
	do
		/* An empty passphrase: NULL would let OpenSSL ask for one on the terminal. */
		rc = libssh2_userauth_publickey_fromfile(c->session, c->user, NULL, path, "");
	while ((go = ssh_again(c, rc, e)) > 0);
	if (go < 0 && !c->is_lost)
		return -1;
	if (rc == LIBSSH2_ERROR_FILE) {
		strv_addf(&l->tried,
			  "'%s': libssh2 cannot read it (ssh-keygen -p -f writes it "
			  "anew)",
			  path);
		return 0;
	}
	return judge(l, rc, path, e);
}

/* Why the file cannot be offered by itself; NULL: it can. Static. */
static const char *file_why_not(const struct ssh_keyfile *k)
{
	if (k->type && !ssh_key_is_usable(k->type))
		return ssh_key_why_not(k->type);
	if (k->oddity)
		return k->oddity;
	if (k->is_public)
		return "a public key, and the agent does not have the private one";
	if (k->is_encrypted)
		return "it has a passphrase: give it to the agent (ssh-add)";
	return NULL;
}

/* A usual file may be missing without a word. */
static int try_file(struct login *l, const char *path, bool is_usual, struct err *e)
{
	_cleanup_(ssh_keyfile_release) struct ssh_keyfile k = SSH_KEYFILE_INIT;
	struct err why = ERR_INIT;
	const char *why_not;
	ssize_t i;

	if (ssh_keyfile_read(path, &k, &why) < 0) {
		if (!is_usual || why.code != ERR_NOT_FOUND)
			strv_add(&l->tried, why.msg);
		return 0;
	}
	why_not = file_why_not(&k);
	i = find_in_agent(l, &k.blob);
	if (i >= 0 && (!k.type || ssh_key_is_usable(k.type))) {
		int got = offer_agent_key(l, (size_t)i, e);

		if (got)
			return got;
		/* What the agent does not sign the file may. */
		if (why_not || l->was_refused)
			return 0;
	}
	if (!why_not)
		return offer_file(l, path, e);
	strv_addf(&l->tried, "'%s': %s", path, why_not);
	return 0;
}

static int try_usual(struct login *l, struct err *e)
{
	static const char *const names[] = { "id_ed25519", "id_ecdsa", "id_rsa" };
	_cleanup_free_ char *home = ssh_config_home();
	int got = 0;

	for (size_t i = 0; l->has_agent && i < l->agent.n && got == 0; i++)
		got = offer_agent_key(l, i, e);
	for (size_t i = 0; i < ARRAY_SIZE(names) && got == 0; i++) {
		_cleanup_free_ char *path = xasprintf("%s/.ssh/%s", home, names[i]);

		got = try_file(l, path, true, e);
	}
	return got;
}

static int try_keys(struct login *l, const struct ssh_opts *o, struct err *e)
{
	int got = 0;

	if (!o->identities || !o->identities->n)
		return try_usual(l, e);
	for (size_t i = 0; i < o->identities->n && got == 0; i++)
		if (!str_eq(o->identities->v[i], "none"))
			got = try_file(l, o->identities->v[i], false, e);
	return got;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* 1: logged in without any, 0: keys are welcome, -1. */
static int ask_methods(struct ssh_conn *c, struct err *e)
{
	_cleanup_str_ struct str clean = STR_INIT;
	const char *list;
	int rc, go;

	do {
		list = libssh2_userauth_list(c->session, c->user, (unsigned)strlen(c->user));
		rc = list ? 0 : libssh2_session_last_errno(c->session);
	} while ((go = ssh_again(c, rc, e)) > 0);
	if (go < 0)
		return -1;
	if (!list && libssh2_userauth_authenticated(c->session))
		return 1;
	if (!list)
		return ssh_fail(c, rc, "log in", e);
	if (strstr(list, "publickey"))
		return 0;
	str_neutralise(&clean, list, strlen(list), false);
	return err_set(e, ERR_LAB, "'%s' accepts no keys, only: %s (PubkeyAuthentication there)",
		       c->name, str_text(&clean));
}

int ssh_login(struct ssh_conn *c, const struct ssh_opts *o, struct err *e)
{
	_cleanup_(login_release) struct login l = { .c = c, .agent = SSH_AGENT_INIT };
	_cleanup_str_ struct str tried = STR_INIT;
	int got = ask_methods(c, e);

	if (got)
		return got < 0 ? -1 : 0;
	open_agent(&l, o);
	got = try_keys(&l, o, e);
	if (got)
		return got < 0 ? -1 : 0;
	for (size_t i = 0; i < l.tried.n; i++)
		str_addf(&tried, "%s%s", i ? "; " : "", l.tried.v[i]);
	return err_set(e, ERR_LAB,
		       "'%s' accepts no key of ours (into ~/.ssh/authorized_keys there belongs the "
		       "public one). Tried: %s",
		       c->name, tried.len ? tried.buf : "none, there is none");
}
