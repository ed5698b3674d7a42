/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A TCP connection within a deadline, looking the name up included. */
#ifndef KR_TARGET_SSH_SOCKET_H
#define KR_TARGET_SSH_SOCKET_H

#include <stdint.h>

#include "base/err.h"

/*
 * Connect to @host (name or address), one address after the other; *@fd is set to a
 * non-blocking socket. @deadline as of clock_deadline(). ERR_LAB, ERR_TIMEOUT, ERR_INTERRUPTED.
 */
int ssh_socket_connect(const char *host, unsigned port, int64_t deadline, int *fd, struct err *e);

/*
 * No delay of small packets, the kernel's keep-alives, and an end to a connection whose data
 * nobody acknowledges for @silence_ms.
 */
int ssh_socket_tune(int fd, int64_t silence_ms, struct err *e);

#endif
