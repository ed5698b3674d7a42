/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection over SSH: opened, waited on, noticed when it is lost, closed. */
#include "target/ssh_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libssh2.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/sig.h"
#include "target/ssh_config.h"
#include "target/ssh_socket.h"

#define PORT_DEFAULT 22
#define SILENCE_MS 60000
#define KEEP_ALIVE_MS 5000
#define SLICE_MS 200
#define CLOSE_MS 1000
/* Nobody needs more to say hello: what sends on is no SSH server. */
#define HELLO_MAX (1u << 20)

/* In this order; no SHA-1 where there is a choice, no CBC, no RC4. */
static const struct {
	int method;
	const char *names;
} methods[] = {
	{ LIBSSH2_METHOD_KEX,
	  "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,"
	  "ecdh-sha2-nistp521,diffie-hellman-group-exchange-sha256,diffie-hellman-group16-sha512,"
	  "diffie-hellman-group18-sha512,diffie-hellman-group14-sha256,"
	  "diffie-hellman-group14-sha1" },
	{ LIBSSH2_METHOD_CRYPT_CS, "aes128-ctr,aes256-ctr,aes192-ctr" },
	{ LIBSSH2_METHOD_CRYPT_SC, "aes128-ctr,aes256-ctr,aes192-ctr" },
	{ LIBSSH2_METHOD_MAC_CS, "hmac-sha2-256,hmac-sha2-512,hmac-sha1" },
	{ LIBSSH2_METHOD_MAC_SC, "hmac-sha2-256,hmac-sha2-512,hmac-sha1" },
};

bool ssh_is_lost(const struct ssh_conn *c)
{
	return c->is_lost;
}

const char *ssh_name(const struct ssh_conn *c)
{
	return c->name;
}

/* ---- lost ---------------------------------------------------------------------------------- */

void ssh_lose(struct ssh_conn *c, const char *why, size_t n)
{
	_cleanup_str_ struct str clean = STR_INIT;

	if (c->is_lost)
		return;
	c->is_lost = true;
	str_neutralise(&clean, why, n < sizeof(c->why) ? n : sizeof(c->why), false);
	snprintf(c->why, sizeof(c->why), "%s", str_text(&clean));
}

static void lose(struct ssh_conn *c, const char *why)
{
	ssh_lose(c, why, strlen(why));
}

int ssh_lost(const struct ssh_conn *c, struct err *e)
{
	return err_set(e, ERR_LAB, "the connection to '%s' is lost: %s", c->name, c->why);
}

int ssh_fail(struct ssh_conn *c, ssize_t rc, const char *what, struct err *e)
{
	_cleanup_str_ struct str clean = STR_INIT;
	char *text = NULL;
	int n = 0;

	if (rc == LIBSSH2_ERROR_SOCKET_DISCONNECT)
		lose(c, "the other side ended it");
	if (c->is_lost)
		return ssh_lost(c, e);
	libssh2_session_last_error(c->session, &text, &n, 0);
	if (text && n > 0)
		str_neutralise(&clean, text, (size_t)n, false);
	return err_set(e, ERR_LAB, "cannot %s on '%s': %s (%zd)", what, c->name, str_text(&clean),
		       rc);
}

/* ---- what libssh2 sends and receives -------------------------------------------------------- */

/*
 * libssh2 is never shown a broken connection: it would throw away what came before the break,
 * and report exit status 0. It is told to wait, and we know better.
 */
static ssize_t must_wait(struct ssh_conn *c, const char *why)
{
	if (c->is_closing)
		return -EPIPE;
	if (why)
		lose(c, why);
	return -EAGAIN;
}

static ssize_t on_receive(libssh2_socket_t fd, void *buf, size_t n, int flags, void **abstract)
{
	struct ssh_conn *c = *abstract;
	ssize_t got;

	/* A peer that never pauses must not keep us in libssh2's loops beyond the deadline. */
	if (c->is_lost || (sig_pending() && !c->is_urgent) || clock_left_ms(c->deadline) == 0)
		return must_wait(c, NULL);
	got = recv(fd, buf, n, flags | MSG_DONTWAIT);
	if (got == 0)
		return must_wait(c, "the other side closed it");
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (got < 0)
		return must_wait(c, strerror(errno));
	c->heard_ms = clock_mono_ms();
	c->asked_ms = 0;
	c->in_bytes += (uint64_t)got;
	if (!c->is_open && c->in_bytes > HELLO_MAX)
		return must_wait(c, "what answers there is no SSH server");
	return got;
}

static ssize_t on_send(libssh2_socket_t fd, const void *buf, size_t n, int flags, void **abstract)
{
	struct ssh_conn *c = *abstract;
	ssize_t got;

	if (c->is_lost)
		return must_wait(c, NULL);
	got = send(fd, buf, n, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	return got < 0 ? must_wait(c, strerror(errno)) : got;
}

/* What the server says as it ends the session. */
static void on_disconnect(LIBSSH2_SESSION *session, int reason, const char *message,
			  int message_len, const char *language, int language_len, void **abstract)
{
	(void)session;
	(void)reason;
	(void)language;
	(void)language_len;
	if (message && message_len > 0)
		ssh_lose(*abstract, message, (size_t)message_len);
}

/* ---- waiting ------------------------------------------------------------------------------- */

bool ssh_is_sending(const struct ssh_conn *c)
{
	return (libssh2_session_block_directions(c->session) & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0;
}

bool ssh_can_send(const struct ssh_conn *c)
{
	struct pollfd pfd = { .fd = c->fd, .events = POLLOUT };

	return poll(&pfd, 1, 0) == 1;
}

/* Nothing comes: ask, and give up once that stays without an answer for long enough. */
static void mind_silence(struct ssh_conn *c)
{
	int64_t now = clock_mono_ms();

	if (!c->is_open)
		return; /* the deadline of ssh_open() rules */
	if (c->asked_ms && now - c->asked_ms >= c->silence_ms) {
		_cleanup_free_ char *why = xasprintf("nothing was heard of it for %lld s",
						     (long long)(now - c->heard_ms) / 1000);
		lose(c, why);
		return;
	}
	if (now - c->heard_ms < c->keep_alive_ms || now - c->sent_ms < c->keep_alive_ms)
		return;
	c->sent_ms = now;
	if (!c->asked_ms)
		c->asked_ms = now;
	/* Half a packet that nobody takes is a question of its own. */
	if (!ssh_is_sending(c) && ssh_can_send(c))
		libssh2_keepalive_send(c->session, &(int){ 0 });
}

/* One slice of waiting for @events. */
static int wait_slice(struct ssh_conn *c, short events, struct err *e)
{
	struct pollfd pfd[2] = { { .fd = c->fd, .events = events },
				 { .fd = c->is_urgent ? -1 : sig_fd(), .events = POLLIN } };
	int ms = clock_left_ms(c->deadline);

	if (!c->is_urgent && sig_check(e) < 0)
		return -1;
	if (c->is_lost)
		return ssh_lost(c, e);
	if (ms == 0)
		return err_set(e, ERR_TIMEOUT, "'%s' did not answer in time", c->name);
	if (poll(pfd, 2, ms > 0 && ms < SLICE_MS ? ms : SLICE_MS) < 0 && errno != EINTR)
		return err_sys(e, errno, "cannot wait for '%s'", c->name);
	if (!c->is_urgent && sig_check(e) < 0)
		return -1;
	if (!pfd[0].revents)
		mind_silence(c);
	return pfd[0].revents != 0;
}

int ssh_again(struct ssh_conn *c, ssize_t rc, struct err *e)
{
	int dirs;

	if (c->is_lost)
		return ssh_lost(c, e);
	if (rc != LIBSSH2_ERROR_EAGAIN)
		return 0;
	dirs = libssh2_session_block_directions(c->session);
	/* Not for more than libssh2 would take: that would be no waiting. */
	if (wait_slice(c, dirs & LIBSSH2_SESSION_BLOCK_OUTBOUND ? POLLOUT : POLLIN, e) < 0)
		return -1;
	return 1;
}

int ssh_wait(struct ssh_conn *c, bool to_send, struct err *e)
{
	return wait_slice(c, to_send ? POLLIN | POLLOUT : POLLIN, e) < 0 ? -1 : 0;
}

int ssh_may_send(struct ssh_conn *c, struct err *e)
{
	int got = 0;

	while (!ssh_is_sending(c) && got == 0)
		got = wait_slice(c, POLLOUT, e);
	return got < 0 ? -1 : 0;
}

/* ---- open and close ------------------------------------------------------------------------ */

void ssh_default_known_hosts(struct strv *paths)
{
	_cleanup_free_ char *home = ssh_config_home();

	strv_addf(paths, "%s/.ssh/known_hosts", home);
	strv_addf(paths, "%s/.ssh/known_hosts2", home);
	strv_add(paths, "/etc/ssh/ssh_known_hosts");
	strv_add(paths, "/etc/ssh/ssh_known_hosts2");
}

static struct ssh_conn *new_conn(const struct ssh_opts *o)
{
	struct ssh_conn *c = xcalloc(1, sizeof(*c));

	c->fd = -1;
	c->host = xstrdup(o->host);
	c->user = xstrdup(o->user);
	c->port = o->port ? o->port : PORT_DEFAULT;
	c->name = xasprintf(strchr(c->host, ':') ? "%s@[%s]:%u" : "%s@%s:%u", c->user, c->host,
			    c->port);
	c->silence_ms = o->silence_ms > 0 ? o->silence_ms : SILENCE_MS;
	c->keep_alive_ms = o->keep_alive_ms > 0 ? o->keep_alive_ms : KEEP_ALIVE_MS;
	c->deadline = clock_deadline(o->timeout_ms);
	return c;
}

/* libssh2 takes functions as data. */
static void *as_data(void (*f)(void))
{
	void *p;

	memcpy(&p, &f, sizeof(p));
	return p;
}

static int new_session(struct ssh_conn *c, struct err *e)
{
	const struct {
		int what;
		void (*f)(void);
	} calls[] = {
		{ LIBSSH2_CALLBACK_RECV, (void (*)(void))on_receive },
		{ LIBSSH2_CALLBACK_SEND, (void (*)(void))on_send },
		{ LIBSSH2_CALLBACK_DISCONNECT, (void (*)(void))on_disconnect },
	};
	static bool is_ready;

	if (!is_ready && libssh2_init(0))
		return err_set(e, ERR_INTERNAL, "cannot start libssh2");
	is_ready = true;
	c->session = libssh2_session_init_ex(NULL, NULL, NULL, c);
	if (!c->session)
		return err_set(e, ERR_INTERNAL, "cannot start a session of libssh2");
	libssh2_session_set_blocking(c->session, 0);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		libssh2_session_callback_set(c->session, calls[i].what, as_data(calls[i].f));
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (libssh2_session_method_pref(c->session, methods[i].method, methods[i].names))
			return err_set(e, ERR_INTERNAL, "libssh2 refuses '%s'", methods[i].names);
	return 0;
}

static int shake_hands(struct ssh_conn *c, enum ssh_step *step, struct err *e)
{
	const char *banner;
	int rc, go;

	do
		rc = libssh2_session_handshake(c->session, c->fd);
	while ((go = ssh_again(c, rc, e)) > 0);
	if (go < 0)
		return err_wrap(e, "no SSH connection to '%s'", c->name);
	if (rc == LIBSSH2_ERROR_KEX_FAILURE || rc == LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE) {
		*step = SSH_STEP_HOST_KEY;
		ssh_fail(c, rc, "agree on keys", e);
		return err_hint(e, "it must have a host key of type ed25519 or ecdsa, as "
				   "'ssh-keygen -A' makes there; this libssh2 cannot use RSA");
	}
	if (rc)
		return ssh_fail(c, rc, "begin a session", e);
	banner = libssh2_session_banner_get(c->session);
	c->tells_end = banner && strstr(banner, "OpenSSH") != NULL;
	return 0;
}

static int read_known(const struct ssh_conn *c, const struct ssh_opts *o, struct strv *paths,
		      struct ssh_known *known, struct err *e)
{
	for (size_t i = 0; o->known_hosts && i < o->known_hosts->n; i++)
		if (!str_eq(o->known_hosts->v[i], "none"))
			strv_add(paths, o->known_hosts->v[i]);
	if (!o->known_hosts || !o->known_hosts->n)
		ssh_default_known_hosts(paths);
	return ssh_known_read(paths, c->host, c->port, known, e);
}

static int open_session(struct ssh_conn *c, const struct ssh_opts *o, enum ssh_step *step,
			struct err *e)
{
	_cleanup_(ssh_known_release) struct ssh_known known = SSH_KNOWN_INIT;
	_cleanup_strv_ struct strv paths = STRV_INIT;

	*step = SSH_STEP_NONE;
	if (read_known(c, o, &paths, &known, e) < 0 || new_session(c, e) < 0)
		return -1;
	*step = SSH_STEP_REACH;
	if (ssh_socket_connect(c->host, c->port, c->deadline, &c->fd, e) < 0)
		return err_wrap(e, "no SSH connection to '%s'", c->name);
	if (ssh_socket_tune(c->fd, c->silence_ms, e) < 0 || ssh_prefer_known(c, &known, e) < 0 ||
	    shake_hands(c, step, e) < 0)
		return -1;
	*step = SSH_STEP_HOST_KEY;
	if (ssh_check_host_key(c, &known, paths.n ? paths.v[0] : NULL, e) < 0)
		return -1;
	*step = SSH_STEP_LOGIN;
	if (ssh_login(c, o, e) < 0)
		return -1;
	/* We keep the time: libssh2 goes by the wall clock, which may jump. Always due, for it. */
	libssh2_keepalive_config(c->session, 1, (unsigned)-1000000000);
	c->is_open = true;
	*step = SSH_STEP_NONE;
	return 0;
}

int ssh_open(const struct ssh_opts *o, struct ssh_conn **c, enum ssh_step *step, struct err *e)
{
	_cleanup_(ssh_closep) struct ssh_conn *conn = NULL;
	enum ssh_step at = SSH_STEP_NONE;
	int ret;

	if (!o->host || !*o->host || !o->user || o->timeout_ms <= 0)
		return err_set(e, ERR_INTERNAL, "ssh_open() without host, user or time");
	conn = new_conn(o);
	ret = open_session(conn, o, &at, e);
	if (step)
		*step = at;
	if (ret < 0)
		return -1;
	*c = conn;
	conn = NULL;
	return 0;
}

/* Say good-bye where that is quick, then let libssh2 see that the socket is dead. */
static void end_session(struct ssh_conn *c)
{
	int rc = 0;

	c->deadline = clock_deadline(CLOSE_MS);
	if (c->is_open && !c->is_lost && !ssh_is_sending(c) && ssh_can_send(c))
		do
			rc = libssh2_session_disconnect(c->session, "done");
		while (ssh_again(c, rc, NULL) > 0);
	c->is_closing = true;
	c->is_lost = true;
	if (c->fd >= 0)
		shutdown(c->fd, SHUT_RDWR);
	/* With errors on both sides nothing can block; twice because one call may end a channel. */
	for (int i = 0; i < 100 && libssh2_session_free(c->session) == LIBSSH2_ERROR_EAGAIN; i++)
		;
}

void ssh_close(struct ssh_conn *c)
{
	if (!c)
		return;
	if (c->session)
		end_session(c);
	str_closep(&c->fd);
	free(c->name);
	free(c->host);
	free(c->user);
	free(c);
}

void ssh_closep(struct ssh_conn **c)
{
	ssh_close(*c);
	*c = NULL;
}
