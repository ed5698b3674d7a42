/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for a machine over SSH, and telling which kernel came up. */
#include "target/ssh_boot_internal.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/sig.h"
#include "target/ssh_cmdline.h"
#include "target/ssh_console.h"

#define PAUSE_MS 500
#define FIRST_PAUSE_MS 3000 /* whoever is told to go takes two seconds: not to be met half dead */
#define TRY_MIN_MS 2000
#define TRY_MAX_MS 10000
#define STRIKES 3

void boot_disconnect(struct ssh_boot *b)
{
	ssh_close(b->conn);
	b->conn = NULL;
	b->box.c = NULL;
}

/*
 * What no waiting helps against: a host key, a key of ours that was never taken, a mistake in a
 * file, a signal, a name that nobody knows. One that dies may look like the first two: they must
 * happen again and again. One that let us in before may refuse us while it comes up, or be gone
 * from the name server.
 */
static bool is_final(struct ssh_boot *b, const struct err *e, enum ssh_step step)
{
	bool is_stranger = !b->box.boot_id[0];

	if ((step == SSH_STEP_HOST_KEY || (step == SSH_STEP_LOGIN && is_stranger)) &&
	    e->code == ERR_LAB)
		return ++b->strikes >= STRIKES;
	b->strikes = 0;
	if (is_stranger && e->code == ERR_NOT_FOUND)
		return true;
	return e->code == ERR_INTERRUPTED || e->code == ERR_CONFIG || e->code == ERR_INTERNAL;
}

int boot_try(struct ssh_boot *b, int64_t limit_ms, struct err *e)
{
	struct ssh_opts o = *b->o.ssh;
	enum ssh_step step = SSH_STEP_NONE;
	struct err why = ERR_INIT;

	boot_disconnect(b);
	if (limit_ms < o.timeout_ms)
		o.timeout_ms = limit_ms > TRY_MIN_MS ? limit_ms : TRY_MIN_MS;
	if (ssh_open(&o, &b->conn, &step, &why) == 0) {
		b->strikes = 0;
		if (ssh_box_identify(b->conn, b->o.box, &b->box, &why) == 0)
			return 1;
		boot_disconnect(b);
		step = SSH_STEP_REACH;
	}
	if (is_final(b, &why, step))
		return err_set(e, why.code == ERR_NOT_FOUND ? ERR_LAB : why.code, "%s", why.msg);
	snprintf(b->why, sizeof(b->why), "%s", why.msg);
	return 0;
}

/* Started by us, whichever trial it was? */
static bool is_ours(const struct ssh_box *b)
{
	return ssh_cmdline_value(b->cmdline, SSH_CMDLINE_NONCE, NULL, 0);
}

static bool is_default(const struct ssh_boot *b)
{
	const struct ssh_home *h = &b->home;

	if (is_ours(&b->box))
		return false;
	if (!h->is_known)
		return true;
	if (h->build_id[0] && b->box.build_id[0] && !str_eq(h->build_id, b->box.build_id))
		return false;
	return str_eq(h->release, b->box.release);
}

enum boot_end boot_who(const struct ssh_boot *b, const char *nonce)
{
	char value[80];

	if (nonce && ssh_cmdline_value(b->box.cmdline, SSH_CMDLINE_NONCE, value, sizeof(value)) &&
	    str_eq(value, nonce))
		return BOOT_UP;
	return is_default(b) ? BOOT_HOME : BOOT_OTHER;
}

static void tick(const struct boot_wait *w)
{
	if (w->job && w->job->tick)
		w->job->tick(w->job->tick_cookie, "boot");
}

/* A pause that a signal ends. */
static int pause_for(int ms, struct err *e)
{
	struct pollfd p = { .fd = sig_fd(), .events = POLLIN };

	poll(&p, p.fd >= 0, ms);
	return sig_check(e);
}

static int64_t try_ms(int64_t deadline)
{
	int left = clock_left_ms(deadline);

	return left < TRY_MAX_MS ? left : TRY_MAX_MS;
}

int boot_wait(struct ssh_boot *b, const struct boot_wait *w, enum boot_end *end, struct err *e)
{
	/* A boot that still answers when the time is up is not silent: it stayed. */
	bool may_stay = w->leave_ms && w->leave_ms < w->limit_ms;
	int64_t leave = clock_deadline(may_stay ? w->leave_ms : w->limit_ms);
	int64_t deadline = clock_deadline(w->limit_ms);
	int got;

	boot_disconnect(b);
	if (*w->before && pause_for(FIRST_PAUSE_MS, e) < 0)
		return -1;
	for (;;) {
		tick(w);
		got = boot_try(b, try_ms(deadline), e);
		if (got < 0)
			return -1;
		if (got > 0 && !str_eq(b->box.boot_id, w->before)) {
			*end = boot_who(b, w->nonce);
			return 0;
		}
		if (got > 0 && !clock_left_ms(leave)) {
			*end = BOOT_STAYED;
			return 0;
		}
		if (!clock_left_ms(deadline))
			break;
		if (pause_for(PAUSE_MS, e) < 0)
			return -1;
	}
	boot_disconnect(b);
	*end = BOOT_SILENT;
	return 0;
}
