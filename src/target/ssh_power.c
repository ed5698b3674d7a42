/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine over SSH got back: restarted, by force, by its power. */
#include "target/ssh_boot_internal.h"

#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"

#define POWER_MS 180000
#define FETCH_MS \
	120000         /* beyond a boot: firmware, checks of file systems; no verdict hangs on it */
#define LEAVE_MS 30000 /* after its power was cut, no boot lives on; this is for slow tools */

static int power_cycle(struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	_cleanup_free_ char *log = job ? fs_join(job->dir, "power.log") : NULL;
	_cleanup_strv_ struct strv env = STRV_INIT;
	_cleanup_str_ struct str shown = STR_INIT;
	const struct strv *argv = b->o.power_cycle;
	struct proc_opts o = {
		.argv = argv->v,
		.env = &env,
		.cwd = b->o.dir,
		.timeout_ms = POWER_MS,
		.log_path = log,
		.merge_stderr = true,
	};
	struct proc_result p;
	char how[80];

	if (job && job->env)
		strv_extend(&env, job->env);
	strv_addf(&env, "KREGRESS_HOST=%s", b->o.ssh->host);
	str_join_words(&shown, argv->v);
	log_info("'%s' is silent: power_cycle, '%s'", b->o.ssh->host, str_text(&shown));
	if (proc_run(&o, &p, e) < 0)
		return -1;
	if (p.end == PROC_EXITED && p.status == 0)
		return 0;
	return err_set(e, ERR_LAB, "power_cycle = '%s' failed: %s: nothing gets '%s' back (%s%s)",
		       str_text(&shown), proc_describe(&p, how, sizeof(how)), b->o.ssh->host,
		       log ? "see " : "power_cycle = in [target]", log ? log : "");
}

int boot_wrong_kernel(const struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	const char *release = job && job->release ? job->release : "the default kernel";
	const char *id = job ? job->build_id : b->home.build_id;
	_cleanup_str_ struct str cmdline = STR_INIT;

	str_neutralise(&cmdline, b->box.cmdline, strlen(b->box.cmdline), false);
	return err_set(e, ERR_LAB,
		       "wrong kernel on '%s': %s (build id %s) runs where %s (%s) was started; its "
		       "command line: %.120s",
		       b->o.ssh->host, b->box.release,
		       b->box.build_id[0] ? b->box.build_id : "unknown",
		       !job && b->home.is_known ? b->home.release : release,
		       id && *id ? id : "unknown", str_text(&cmdline));
}

static bool has_power(const struct ssh_boot *b)
{
	return b->o.power_cycle && b->o.power_cycle->n > 0;
}

int boot_fetch(struct ssh_boot *b, const struct boot_wait *w, enum boot_end *end, struct err *e)
{
	struct boot_wait wait = *w;
	bool was_seen = b->box.boot_id[0];

	if (!has_power(b) && !was_seen)
		return err_set(
			e, ERR_LAB,
			"'%s' cannot be reached: %s (is it on, and host = in [target] right? "
			"power_cycle = there switches it on)",
			b->o.ssh->host, b->why);
	wait.limit_ms = b->o.boot_timeout_ms + FETCH_MS;
	wait.leave_ms = LEAVE_MS;
	if (has_power(b) && power_cycle(b, w->job, e) < 0)
		return -1;
	if (boot_wait(b, &wait, end, e) < 0)
		return -1;
	switch (*end) {
	case BOOT_UP:
	case BOOT_HOME:
		return 0;
	case BOOT_OTHER:
		return boot_wrong_kernel(b, w->job, e);
	case BOOT_STAYED:
		return err_set(e, ERR_LAB, "'%s' was not switched off: %s", b->o.ssh->host,
			       has_power(b)
				       ? "power_cycle = in [target] ended well, but did nothing"
				       : "its boot goes on");
	case BOOT_SILENT:
		break;
	}
	if (!has_power(b))
		return err_set(e, ERR_LAB,
			       "'%s' does not come back: %s (switch it off and on; power_cycle = "
			       "in [target] does that by itself)",
			       b->o.ssh->host, b->why);
	return err_set(e, ERR_LAB, "'%s' does not come back, though power_cycle ended well: %s",
		       b->o.ssh->host, b->why);
}

int boot_restart(struct ssh_boot *b, const struct boot_jump *j, enum boot_end *end, bool *silent,
		 struct err *e)
{
	_cleanup_free_ char *before = xstrdup(b->box.boot_id);
	_cleanup_strv_ struct strv args = STRV_INIT;
	struct err why = ERR_INIT;
	const struct boot_wait w = {
		.before = before,
		.nonce = j->nonce,
		.limit_ms = j->limit_ms,
		.leave_ms = j->leave_ms,
		.job = j->job,
	};

	/* It may be too sick to be told: then its boot stays, or is silent. */
	strv_add(&args, j->nonce ? "" : "home");
	if (boot_script(&b->box, j->how, &args, NULL, &why) != 0 && why.code == ERR_INTERRUPTED)
		return err_set(e, why.code, "%s", why.msg);
	if (boot_wait(b, &w, end, e) < 0)
		return -1;
	if (silent)
		*silent = *end == BOOT_SILENT;
	return *end == BOOT_SILENT ? boot_fetch(b, &w, end, e) : 0;
}

int boot_go_home(struct ssh_boot *b, const struct target_job *job, struct err *e)
{
	_cleanup_free_ char *before = xstrdup(b->box.boot_id);
	const struct boot_wait w = { .before = before, .job = job };
	struct boot_jump j = {
		.how = BOOT_REBOOT,
		.limit_ms = b->o.boot_timeout_ms + BOOT_SHUTDOWN_MS,
		.leave_ms = BOOT_SHUTDOWN_MS,
		.job = job,
	};
	enum boot_end end = BOOT_STAYED;

	if (boot_restart(b, &j, &end, NULL, e) < 0)
		return -1;
	j.how = BOOT_REBOOT_FORCE;
	j.leave_ms = BOOT_FORCE_MS;
	if (end == BOOT_STAYED && boot_restart(b, &j, &end, NULL, e) < 0)
		return -1;
	if (end == BOOT_STAYED && boot_fetch(b, &w, &end, e) < 0)
		return -1;
	if (end == BOOT_HOME)
		return 0;
	boot_wrong_kernel(b, NULL, e);
	return err_hint(e, "is a test kernel its default? see its boot loader");
}
