/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A TCP connection within a deadline. */
#include "target/ssh_socket.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/sig.h"
#include "base/str.h"

#define ANSWER_MAX (64u << 10)

static void release_addresses(struct addrinfo **a)
{
	if (*a)
		freeaddrinfo(*a);
}

/* "10.0.0.7" or "::1" as an address, which needs no name server. NULL: it is not one. */
static struct addrinfo *numeric(const char *host, unsigned port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	return getaddrinfo(host, service, &hints, &found) == 0 ? found : NULL;
}

/*
 * The addresses of a name, by a child: getaddrinfo() itself takes half a minute where a name
 * server is away, and cannot be stopped.
 */
static int look_up(const char *host, int64_t deadline, struct strv *addresses, struct err *e)
{
	_cleanup_free_ char *name = xstrdup(host);
	char program[] = "getent", end[] = "--", base[] = "ahosts";
	char *const argv[] = { program, end, base, name, NULL };
	_cleanup_str_ struct str out = STR_INIT;
	int left = clock_left_ms(deadline);
	const struct proc_opts o = { .argv = argv,
				     .timeout_ms = left > 0 ? left : 1,
				     .max_output = ANSWER_MAX,
				     .out = &out };
	struct proc_result r;

	if (proc_run(&o, &r, e) < 0)
		return -1;
	if (r.end == PROC_TIMED_OUT)
		return err_set(e, ERR_TIMEOUT, "no name server tells of '%s'", host);
	if (r.end != PROC_EXITED || r.status != 0)
		return err_set(
			e, ERR_NOT_FOUND,
			"cannot look up '%s': no such name (host = in [target], or HostName in "
			"~/.ssh/config)",
			host);
	/* "10.0.0.7  STREAM name", then the same for other types. */
	for (const char *line = str_text(&out); *line;) {
		size_t n = strcspn(line, "\n"), word = strcspn(line, " \n");
		_cleanup_free_ char *address = xstrndup(line, word);

		if (!strv_has(addresses, address))
			strv_add(addresses, address);
		line += n + (line[n] == '\n');
	}
	return 0;
}

/* Until the socket is connected. 0, > 0: errno, -1 with @e. */
static int finish_connect(int fd, int64_t deadline, struct err *e)
{
	for (;;) {
		struct pollfd pfd[2] = { { .fd = fd, .events = POLLOUT },
					 { .fd = sig_fd(), .events = POLLIN } };
		int code = 0;
		socklen_t n = sizeof(code);

		if (poll(pfd, 2, clock_left_ms(deadline)) < 0 && errno != EINTR)
			return errno;
		if (sig_check(e) < 0)
			return -1;
		if (pfd[0].revents)
			return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &n) < 0 ? errno : code;
		if (clock_left_ms(deadline) == 0)
			return ETIMEDOUT;
	}
}

/* 0 and *@fd, > 0: errno, -1 with @e. */
static int connect_one(const struct addrinfo *a, int64_t deadline, int *fd, struct err *e)
{
	_cleanup_close_ int s = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
				       a->ai_protocol);
	int code;

	if (s < 0)
		return errno;
	if (connect(s, a->ai_addr, a->ai_addrlen) < 0) {
		if (errno != EINPROGRESS)
			return errno;
		code = finish_connect(s, deadline, e);
		if (code)
			return code;
	}
	*fd = str_steal_fd(&s);
	return 0;
}

static int connect_address(const char *address, unsigned port, int64_t deadline, int *fd,
			   struct err *e)
{
	_cleanup_(release_addresses) struct addrinfo *a = numeric(address, port);

	return a ? connect_one(a, deadline, fd, e) : EHOSTUNREACH;
}

int ssh_socket_connect(const char *host, unsigned port, int64_t deadline, int *fd, struct err *e)
{
	_cleanup_(release_addresses) struct addrinfo *address = numeric(host, port);
	_cleanup_strv_ struct strv addresses = STRV_INIT;
	int code = EHOSTUNREACH;

	if (address)
		strv_add(&addresses, host);
	else if (look_up(host, deadline, &addresses, e) < 0)
		return -1;
	for (size_t i = 0; i < addresses.n; i++) {
		int ms = clock_left_ms(deadline), share = ms / (int)(addresses.n - i);

		/* A fair share: a first address that is a black hole must not use up all. */
		code = connect_address(addresses.v[i], port,
				       ms < 0 ? deadline : clock_deadline(share), fd, e);
		if (code <= 0)
			return code;
	}
	return err_set(e, code == ETIMEDOUT ? ERR_TIMEOUT : ERR_LAB, "cannot connect: %s",
		       strerror(code));
}

int ssh_socket_tune(int fd, int64_t silence_ms, struct err *e)
{
	const int on = 1, probes = 4;
	const unsigned limit = silence_ms < INT_MAX ? (unsigned)silence_ms : INT_MAX;
	const int step = (int)(limit / 1000 / 6) + 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &step, sizeof(step)) < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &step, sizeof(step)) < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes)) < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit)) < 0)
		return err_sys(e, errno, "cannot set up a connection");
	return 0;
}
