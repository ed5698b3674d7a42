/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QMP: QEMU's own account of how its guest fares. */
#include "target/qemu.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define QMP_LINE_MAX (1u << 20)

static void send_command(struct qmp *m, const char *text)
{
	/* A lost command shows as a missing answer; QEMU's end shows by itself. */
	(void)!send(m->fd, text, strlen(text), MSG_NOSIGNAL);
}

int qmp_start(struct qmp *m, int fd, struct err *e)
{
	/* Started with -S: no event can come before we are heard. */
	static const char text[] = "{\"execute\":\"qmp_capabilities\"}\n{\"execute\":\"cont\"}\n";

	m->fd = fd;
	if (send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(text) - 1)
		return err_sys(e, errno, "cannot write to QEMU's monitor");
	return 0;
}

void qmp_look(struct qmp *m)
{
	m->look.pending = m->look.stopping = true;
	m->look.n = 0;
	/* In one piece: QEMU works them off without waiting for us in between. */
	send_command(m, "{\"execute\":\"stop\",\"id\":\"look-stop\"}\n"
			"{\"execute\":\"human-monitor-command\",\"id\":\"look\","
			"\"arguments\":{\"command-line\":\"info registers -a\"}}\n"
			"{\"execute\":\"cont\",\"id\":\"look-cont\"}\n");
}

unsigned qmp_read_counters(const char *text, uint64_t *pc, unsigned max)
{
	static const char *const names[] = { "RIP=", "EIP=", " PC=" };
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && n == 0; i++)
		for (const char *at = text; n < max && (at = strstr(at, names[i]));) {
			size_t digits;

			at += strlen(names[i]);
			digits = strspn(at, "0123456789abcdefABCDEF");
			if (digits && digits <= 16)
				pc[n++] = strtoull(at, NULL, 16);
		}
	return n;
}

/* An answer to a look. */
static void take_look(struct qmp *m, const char *id, json_t *message)
{
	const char *text = NULL;

	if (!strcmp(id, "look-stop"))
		m->look.stopping = false;
	if (!strcmp(id, "look") && json_unpack(message, "{s:s}", "return", &text) == 0)
		m->look.n = qmp_read_counters(text, m->look.pc, QEMU_CPUS_MAX);
	if (strcmp(id, "look-cont") != 0)
		return;
	m->look.pending = false;
	/* It refuses where it had stopped the guest itself. */
	if (json_object_get(message, "error") && !m->shutdown && !m->stopped) {
		m->stopped = true;
		send_command(m, "{\"execute\":\"query-status\"}\n");
	}
}

static void take_shutdown(struct qmp *m, json_t *message)
{
	const char *reason = NULL;

	/* The first counts: a later one is only the echo of our own quitting. */
	if (m->shutdown || json_unpack(message, "{s:{s:s}}", "data", "reason", &reason) < 0)
		return;
	if (!strcmp(reason, "guest-shutdown"))
		m->shutdown = QMP_POWER_OFF;
	else if (!strcmp(reason, "guest-reset") || !strcmp(reason, "guest-panic"))
		m->shutdown = QMP_RESET;
	else
		m->shutdown = QMP_OTHER;
}

static void take_event(struct qmp *m, const char *event, json_t *message)
{
	if (!strcmp(event, "SHUTDOWN"))
		take_shutdown(m, message);
	if (!strcmp(event, "STOP") && m->look.stopping) {
		m->look.stopping = false;
	} else if (!strcmp(event, "STOP") && !m->shutdown && !m->stopped) {
		m->stopped = true;
		send_command(m, "{\"execute\":\"query-status\"}\n");
	}
}

static void take_greeting(struct qmp *m, json_t *message)
{
	int major, minor, micro;

	m->greeted = true;
	if (json_unpack(message, "{s:{s:{s:{s:i, s:i, s:i}}}}", "QMP", "version", "qemu", "major",
			&major, "minor", &minor, "micro", &micro) == 0)
		snprintf(m->version, sizeof(m->version), "%d.%d.%d", major, minor, micro);
}

static void take_message(struct qmp *m, json_t *message)
{
	const char *event = NULL, *status = NULL, *desc = NULL, *id = NULL;

	if (json_unpack(message, "{s:s}", "id", &id) == 0) {
		take_look(m, id, message);
		return;
	}
	if (json_object_get(message, "QMP"))
		take_greeting(m, message);
	if (json_unpack(message, "{s:s}", "event", &event) == 0)
		take_event(m, event, message);
	if (json_unpack(message, "{s:{s:s}}", "return", "status", &status) == 0)
		snprintf(m->status, sizeof(m->status), "%s", status);
	if (json_unpack(message, "{s:{s:s}}", "error", "desc", &desc) == 0)
		snprintf(m->error, sizeof(m->error), "%s", desc);
}

void qmp_feed(struct qmp *m, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_t *message;

		if (data[i] != '\n') {
			if (m->buf.len < QMP_LINE_MAX)
				str_addmem(&m->buf, &data[i], 1);
			continue;
		}
		message = json_loadb(str_text(&m->buf), m->buf.len, 0, NULL);
		if (message)
			take_message(m, message);
		json_decref(message);
		str_clear(&m->buf);
	}
}

void qmp_release(struct qmp *m)
{
	str_release(&m->buf);
}
