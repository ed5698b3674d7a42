/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel booted once on a machine over SSH. */
#include "target/ssh_boot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "target/ssh_boot_internal.h"
#include "target/ssh_cmdline.h"
#include "target/ssh_console.h"

#define KEXEC_LEAVE_MS 60000 /* kexec -e takes seconds, and more where devices are many */

int ssh_boot_open(const struct ssh_boot_opts *o, struct ssh_boot **out, struct err *e)
{
	struct ssh_boot *b;

	if (!o->install || !o->install->n)
		return err_set(e, ERR_CONFIG,
			       "install = in [target] is empty (kexec, grub, or a "
			       "command there)");
	b = xcalloc(1, sizeof(*b));
	b->o = *o;
	b->install = SSH_INSTALL_COMMAND;
	if (o->install->n == 1 && str_eq(o->install->v[0], "kexec"))
		b->install = SSH_INSTALL_KEXEC;
	else if (o->install->n == 1 && str_eq(o->install->v[0], "grub"))
		b->install = SSH_INSTALL_GRUB;
	*out = b;
	return 0;
}

void ssh_boot_close(struct ssh_boot *b)
{
	if (!b)
		return;
	boot_disconnect(b);
	ssh_box_release(&b->box);
	free(b->home.cmdline);
	free(b);
}

struct ssh_box *ssh_boot_box(struct ssh_boot *b)
{
	return &b->box;
}

/* ---- reaching it --------------------------------------------------------------------------- */

static bool is_ours(const struct ssh_boot *b)
{
	return ssh_cmdline_value(b->box.cmdline, SSH_CMDLINE_NONCE, NULL, 0);
}

/* Without its own kernel's command line there is none to make others from. */
static int learn_home(struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	struct ssh_home *h = &b->home;

	if (h->is_known)
		return 0;
	if (boot_disarm(b, NULL, e) < 0)
		return -1;
	if (is_ours(b)) {
		log_info("'%s' runs a test kernel of an earlier session: back to its default first",
			 b->o.ssh->host);
		if (boot_go_home(b, job, e) < 0)
			return -1;
	}
	snprintf(h->release, sizeof(h->release), "%s", b->box.release);
	snprintf(h->build_id, sizeof(h->build_id), "%s", b->box.build_id);
	h->cmdline = xstrdup(b->box.cmdline);
	h->is_known = true;
	return 0;
}

/* Not there: it may be booting, or be switched off. */
static int wait_for_it(struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	const struct boot_wait w = {
		.before = "",
		.limit_ms = b->o.boot_timeout_ms,
		.job = job,
	};
	enum boot_end end;
	char limit[32];

	log_info("'%s' does not answer, and is waited for, at most %s: %s", b->o.ssh->host,
		 str_duration((double)w.limit_ms / 1000, limit, sizeof(limit)), b->why);
	if (boot_wait(b, &w, &end, e) < 0)
		return -1;
	return end == BOOT_SILENT ? boot_fetch(b, &w, &end, e) : 0;
}

int ssh_boot_reach(struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	int got;

	if (b->conn && !ssh_is_lost(b->conn))
		return 0;
	do
		got = boot_try(b, b->o.ssh->timeout_ms, e);
	while (got == 0 && b->strikes > 0);
	if (got < 0)
		return -1;
	return got == 0 ? wait_for_it(b, job, e) : 0;
}

int ssh_boot_connect(struct ssh_boot *b, struct err *e)
{
	int got;

	if (b->conn && !ssh_is_lost(b->conn))
		return 0;
	do
		got = boot_try(b, b->o.ssh->timeout_ms, e);
	while (got == 0 && b->strikes > 0);
	return got > 0 ? 0 : got < 0 ? -1 : err_set(e, ERR_LAB, "%s", b->why);
}

int ssh_boot_find(struct ssh_boot *b, const struct target_job *job, enum ssh_found *found,
		  struct err *e)
{
	_cleanup_free_ char *before = xstrdup(b->box.boot_id);
	struct boot_wait w = { .before = "", .limit_ms = b->o.boot_timeout_ms, .job = job };
	enum boot_end end;

	if (boot_wait(b, &w, &end, e) < 0)
		return -1;
	if (end != BOOT_SILENT) {
		*found = str_eq(before, b->box.boot_id) ? SSH_FOUND_SAME : SSH_FOUND_REBOOTED;
		return 0;
	}
	w.before = before;
	if (boot_fetch(b, &w, &end, e) < 0)
		return -1;
	*found = SSH_FOUND_FETCHED;
	return 0;
}

/* ---- starting a kernel --------------------------------------------------------------------- */

/* The boot that came up has our nonce: is it what was built, too? */
static int check_kernel(const struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	if (job->build_id && job->build_id[0] && b->box.build_id[0] &&
	    !str_eq(job->build_id, b->box.build_id))
		return boot_wrong_kernel(b, job, e);
	if (job->release && job->release[0] && !str_eq(job->release, b->box.release))
		return boot_wrong_kernel(b, job, e);
	return 0;
}

/* GRUB must have forgotten the choice, whoever came up: else the next boot is one of ours, too. */
static int check_consumed(struct ssh_boot *b, enum boot_end end, struct err *e)
{
	bool was_due;

	if (boot_disarm(b, &was_due, e) < 0)
		return -1;
	if (!was_due)
		return 0;
	if (end == BOOT_UP)
		return err_set(
			e, ERR_LAB,
			"GRUB on '%s' does not forget what was chosen for one boot (it cannot "
			"write to its own folder): install = kexec in [target]",
			b->o.ssh->host);
	return err_set(e, ERR_LAB,
		       "'%s' booted, but GRUB did not take what was chosen for that boot",
		       b->o.ssh->host);
}

/* The reason on the console, if there is one that shows it; "". */
static void console_words(const struct ssh_boot *b, char *line, size_t size)
{
	line[0] = 0;
	if (b->o.console &&
	    ssh_console_scan(b->o.console, b->home.release, line, size) < CONSOLE_OOM)
		line[0] = 0;
}

/* It was started, and the default kernel runs again. */
static int failed(const struct ssh_boot *b, bool silent, double seconds, struct target_result *r)
{
	char line[160];

	console_words(b, line, sizeof(line));
	r->outcome = TRIAL_BOOT_FAILED;
	r->boot_timed_out = true;
	if (silent)
		snprintf(r->detail, sizeof(r->detail), "no login within %g s%s%s",
			 (double)b->o.boot_timeout_ms / 1000, line[0] ? ": " : "", line);
	else
		snprintf(r->detail, sizeof(r->detail),
			 "the machine fell back to its default kernel after %.0f s%s%s", seconds,
			 line[0] ? ": " : "", line);
	return 0;
}

static int jump(struct ssh_boot *b, const struct target_job *job, enum boot_end *end, bool *silent,
		struct err *e)
{
	bool is_kexec = b->install == SSH_INSTALL_KEXEC;
	struct boot_jump j = {
		.how = is_kexec ? BOOT_KEXEC_JUMP : BOOT_REBOOT,
		.nonce = job->nonce,
		.limit_ms = b->o.boot_timeout_ms + (is_kexec ? 0 : BOOT_SHUTDOWN_MS),
		.leave_ms = is_kexec ? KEXEC_LEAVE_MS : BOOT_SHUTDOWN_MS,
		.job = job,
	};

	if (b->o.console)
		ssh_console_mark(b->o.console);
	if (boot_restart(b, &j, end, silent, e) < 0)
		return -1;
	if (*end != BOOT_STAYED || is_kexec)
		return 0;
	/* A service does not end; what was set for the next boot still holds. */
	j.how = BOOT_REBOOT_FORCE;
	j.leave_ms = BOOT_FORCE_MS;
	return boot_restart(b, &j, end, silent, e);
}

/*
 * kexec -e went wrong before the test kernel was reached: nothing to blame that one for. The
 * machine goes home, since what a broken jump leaves behind is not to be measured on.
 */
static int stayed(struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	struct err why = ERR_INIT;

	if (boot_go_home(b, job, &why) < 0)
		return err_set(e, why.code, "%s", why.msg);
	return err_set(e, ERR_LAB, "'%s' did not leave the kernel that ran (%s)", b->o.ssh->host,
		       b->install == SSH_INSTALL_KEXEC
			       ? "kexec -e had no effect; install = grub "
				 "does without it"
			       : "neither reboot nor reboot -f had an effect");
}

/* What the agent will tell again; if the kernel lets it. */
static void tell_ids(const struct ssh_boot *b, struct target_result *r)
{
	snprintf(r->boot_id, sizeof(r->boot_id), "%s", b->box.boot_id);
	snprintf(r->build_id, sizeof(r->build_id), "%s", b->box.build_id);
	snprintf(r->release, sizeof(r->release), "%s", b->box.release);
}

static int conclude(struct ssh_boot *b, const struct target_job *job, enum boot_end end,
		    bool silent, double seconds, struct target_result *r, struct err *e)
{
	switch (end) {
	case BOOT_UP:
		r->boot_seconds = seconds;
		tell_ids(b, r);
		return check_consumed(b, end, e) < 0 ? -1 : check_kernel(b, job, e);
	case BOOT_HOME:
		return check_consumed(b, end, e) < 0 ? -1 : failed(b, silent, seconds, r);
	case BOOT_STAYED:
		return stayed(b, job, e);
	case BOOT_OTHER:
	case BOOT_SILENT:
		break;
	}
	return boot_wrong_kernel(b, job, e);
}

/* The machine does not take the image: kexec -l says so. */
static int refused(const struct err *why, struct target_result *r)
{
	r->outcome = TRIAL_BOOT_FAILED;
	r->boot_timed_out = true;
	snprintf(r->detail, sizeof(r->detail), "%.250s", why->msg);
	return 0;
}

static int attempt(struct ssh_boot *b, const struct target_job *job, struct target_result *r,
		   struct err *e)
{
	struct err why = ERR_INIT;
	double start, seconds;
	enum boot_end end;
	bool silent = false, armed;
	int ret = boot_install(b, job, &why);

	if (ret < 0)
		return err_set(e, why.code, "%s", why.msg);
	if (ret > 0)
		return refused(&why, r);
	if (boot_watchdog_arm(b, &r->facts, &armed, e) < 0)
		return -1;
	start = clock_mono_s();
	if (jump(b, job, &end, &silent, e) < 0)
		return -1;
	seconds = clock_mono_s() - start;
	if (armed && end == BOOT_UP && boot_watchdog_stop(b, e) < 0)
		return -1;
	return conclude(b, job, end, silent, seconds, r, e);
}

/* A failure of a jump out of a test kernel may be that one's fault: not so from the default. */
static bool deserves_another(int ret, const struct target_result *r, const struct err *e)
{
	return ret == 0 ? r->outcome == TRIAL_BOOT_FAILED
			: e->code == ERR_LAB || e->code == ERR_TIMEOUT;
}

int ssh_boot_start(struct ssh_boot *b, const struct target_job *job, struct target_result *r,
		   struct err *e)
{
	struct err why = ERR_INIT;
	enum boot_end who;
	int ret;

	if (ssh_boot_reach(b, job, e) < 0 || learn_home(b, job, e) < 0)
		return -1;
	who = boot_who(b, NULL);
	if (who == BOOT_OTHER && !is_ours(b))
		return boot_wrong_kernel(b, NULL, e);
	ret = attempt(b, job, r, &why);
	if (who != BOOT_HOME && deserves_another(ret, r, &why)) {
		log_info("'%s': %s; once more from its default kernel", b->o.ssh->host,
			 ret < 0 ? why.msg : r->detail);
		r->outcome = TRIAL_UNSET;
		r->boot_timed_out = false;
		r->detail[0] = 0;
		if (ssh_boot_home(b, e) < 0)
			return -1;
		return attempt(b, job, r, e);
	}
	return ret < 0 ? err_set(e, why.code, "%s", why.msg) : 0;
}

/* ---- going home ---------------------------------------------------------------------------- */

int ssh_boot_home(struct ssh_boot *b, struct err *e)
{
	if (ssh_boot_reach(b, NULL, e) < 0 || learn_home(b, NULL, e) < 0 ||
	    boot_disarm(b, NULL, e) < 0)
		return -1;
	return boot_who(b, NULL) == BOOT_HOME ? 0 : boot_go_home(b, NULL, e);
}

int ssh_boot_clean(struct ssh_boot *b, struct strv *removed, struct err *e)
{
	if (ssh_boot_reach(b, NULL, e) < 0)
		return -1;
	return ssh_box_clean_boot(&b->box, removed, e);
}
