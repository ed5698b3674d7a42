/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's ssh-agent. */
#include "target/ssh_agent.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sig.h"
#include "target/ssh_key.h"
#include "target/ssh_wire.h"

#define ANSWER_MAX (256u << 10)

/* Messages of the protocol. */
enum { ASK_KEYS = 11, KEYS = 12, ASK_SIGNATURE = 13, SIGNATURE = 14 };

static int wait_for(const struct ssh_agent *a, short events, int64_t deadline, struct err *e)
{
	for (;;) {
		struct pollfd pfd[2] = { { .fd = a->fd, .events = events },
					 { .fd = sig_fd(), .events = POLLIN } };

		if (poll(pfd, 2, clock_left_ms(deadline)) < 0 && errno != EINTR)
			return err_sys(e, errno, "cannot wait for the ssh agent");
		if (sig_check(e) < 0)
			return -1;
		if (pfd[0].revents)
			return 0;
		if (clock_left_ms(deadline) == 0)
			return err_set(e, ERR_TIMEOUT, "the ssh agent does not answer");
	}
}

/* Move all @n bytes; to the agent where @out is set, from it into @in otherwise. */
static int move_bytes(const struct ssh_agent *a, const char *out, char *in, size_t n,
		      int64_t deadline, struct err *e)
{
	for (size_t done = 0; done < n;) {
		ssize_t got;

		if (wait_for(a, out ? POLLOUT : POLLIN, deadline, e) < 0)
			return -1;
		got = out ? send(a->fd, out + done, n - done, MSG_NOSIGNAL)
			  : recv(a->fd, in + done, n - done, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return err_set(e, ERR_LAB, "the ssh agent hung up");
		done += (size_t)got;
	}
	return 0;
}

/* Send one message and take the answer, whose kind must be @kind; its body is in @body. */
static int ask(const struct ssh_agent *a, const struct str *message, uint8_t kind, int64_t deadline,
	       struct str *body, struct err *e)
{
	_cleanup_str_ struct str framed = STR_INIT;
	struct ssh_wire w;
	uint8_t got;
	uint32_t n;
	char head[4];

	ssh_wire_put_string(&framed, message->buf, message->len);
	if (move_bytes(a, framed.buf, NULL, framed.len, deadline, e) < 0 ||
	    move_bytes(a, NULL, head, sizeof(head), deadline, e) < 0)
		return -1;
	w = (struct ssh_wire){ (const uint8_t *)head, sizeof(head) };
	if (!ssh_wire_u32(&w, &n) || n < 1 || n > ANSWER_MAX)
		return err_set(e, ERR_LAB, "the ssh agent answers nonsense");
	xgrow(&body->buf, &body->room, n + 1, 1);
	if (move_bytes(a, NULL, body->buf, n, deadline, e) < 0)
		return -1;
	body->len = n;
	body->buf[n] = '\0';
	w = (struct ssh_wire){ (const uint8_t *)body->buf, n };
	if (!ssh_wire_u8(&w, &got) || got != kind)
		return err_set(e, ERR_LAB, "the ssh agent refuses");
	return 0;
}

static int list_keys(struct ssh_agent *a, int64_t deadline, struct err *e)
{
	_cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
	struct ssh_wire w, blob, comment;
	const char kind = ASK_KEYS;
	uint32_t count;

	str_addmem(&message, &kind, 1);
	if (ask(a, &message, KEYS, deadline, &body, e) < 0)
		return -1;
	w = (struct ssh_wire){ (const uint8_t *)body.buf + 1, body.len - 1 };
	if (!ssh_wire_u32(&w, &count))
		return err_set(e, ERR_LAB, "the ssh agent answers nonsense");
	while (count-- > 0) {
		struct ssh_agent_key key = { .blob = STR_INIT };

		if (!ssh_wire_string(&w, &blob) || !ssh_wire_string(&w, &comment))
			return err_set(e, ERR_LAB, "the ssh agent answers nonsense");
		str_addmem(&key.blob, blob.data, blob.left);
		key.type = ssh_key_type(blob.data, blob.left);
		key.comment = xstrndup((const char *)comment.data, comment.left);
		xgrow(&a->key, &a->room, a->n + 1, sizeof(*a->key));
		a->key[a->n++] = key;
	}
	return 0;
}

int ssh_agent_open(const char *socket_path, int64_t deadline, struct ssh_agent *a, struct err *e)
{
	struct sockaddr_un where = { .sun_family = AF_UNIX };
	size_t n = strlen(socket_path);

	if (n >= sizeof(where.sun_path))
		return err_set(e, ERR_LAB, "the ssh agent's socket has too long a name");
	memcpy(where.sun_path, socket_path, n + 1);
	a->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a->fd < 0)
		return err_sys(e, errno, "cannot make a socket");
	/* Non-blocking: a full backlog is EAGAIN at once. */
	if (connect(a->fd, (struct sockaddr *)&where, sizeof(where)) < 0)
		return err_set(e, ERR_LAB, "no ssh agent at '%s': %s", socket_path,
			       strerror(errno));
	return list_keys(a, deadline, e);
}

int ssh_agent_sign(struct ssh_agent *a, size_t i, const void *data, size_t n, int64_t deadline,
		   struct str *signature, struct err *e)
{
	_cleanup_str_ struct str message = STR_INIT, body = STR_INIT;
	struct ssh_wire w, whole, type, raw;
	const struct ssh_agent_key *key = &a->key[i];
	const char kind = ASK_SIGNATURE;

	str_addmem(&message, &kind, 1);
	ssh_wire_put_string(&message, key->blob.buf, key->blob.len);
	ssh_wire_put_string(&message, data, n);
	ssh_wire_put_u32(&message, 0);
	if (ask(a, &message, SIGNATURE, deadline, &body, e) < 0)
		return -1;
	w = (struct ssh_wire){ (const uint8_t *)body.buf + 1, body.len - 1 };
	if (!ssh_wire_string(&w, &whole) || !ssh_wire_string(&whole, &type) ||
	    !ssh_wire_is(&type, key->type) || !ssh_wire_string(&whole, &raw))
		return err_set(e, ERR_LAB, "the ssh agent answers nonsense");
	str_addmem(signature, raw.data, raw.left);
	return 0;
}

void ssh_agent_close(struct ssh_agent *a)
{
	for (size_t i = 0; i < a->n; i++) {
		str_release(&a->key[i].blob);
		free(a->key[i].type);
		free(a->key[i].comment);
	}
	free(a->key);
	str_closep(&a->fd);
	a->key = NULL;
	a->n = a->room = 0;
}
