/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SSH target: a trial on a real machine, from the lock to the last run. */
#include "target/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/sig.h"
#include "target/guest.h"
#include "target/results_outcome.h"
#include "target/ssh_boot.h"
#include "target/ssh_cmdline.h"
#include "target/ssh_config.h"
#include "target/ssh_console.h"
#include "target/ssh_exec.h"
#include "target/ssh_run.h"

#define CONNECT_MS 20000 /* a small machine takes seconds for a key exchange */

struct ssh_target {
	struct target_ssh_opts o;
	struct ssh_config config;
	struct strv identities, known_hosts, setup;
	struct ssh_opts ssh;
	struct ssh_box_opts box;
	struct ssh_boot *boot;
	struct ssh_console *console; /* NULL: none */
	bool is_locked;
	bool is_sick;  /* after a crash nothing more is measured on, or started from, that boot */
	bool is_quiet; /* setup = is made: to be put back */
};

static bool is_given(const char *s)
{
	return s && *s;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* The campaign's words win over ~/.ssh/config, and that over the defaults. */
static int resolve(struct ssh_target *t, struct err *e)
{
	const struct target_ssh_opts *o = &t->o;
	const struct ssh_config_query q = {
		.alias = o->host,
		.user = is_given(o->user) ? o->user : NULL,
		.port = o->port,
	};

	if (!is_given(o->host))
		return err_set(e, ERR_CONFIG, "host = in [target] is empty");
	if (ssh_config_read(NULL, &q, &t->config, e) < 0)
		return -1;
	for (size_t i = 0; i < t->config.notes.n; i++)
		log_verbose("%s", t->config.notes.v[i]);
	if (is_given(o->identity))
		strv_add(&t->identities, o->identity);
	else
		strv_extend(&t->identities, &t->config.identities);
	if (is_given(o->known_hosts))
		strv_add(&t->known_hosts, o->known_hosts);
	else
		strv_extend(&t->known_hosts, &t->config.known_hosts);
	t->ssh = (struct ssh_opts){
		.host = t->config.host_name,
		.port = o->port ? o->port : t->config.port,
		.user = is_given(o->user)          ? o->user
			: is_given(t->config.user) ? t->config.user
						   : "root",
		.identities = &t->identities,
		.known_hosts = &t->known_hosts,
		.timeout_ms = CONNECT_MS,
	};
	return 0;
}

static int make_boot(struct ssh_target *t, struct err *e)
{
	const struct target_ssh_opts *o = &t->o;
	struct ssh_boot_opts b = {
		.ssh = &t->ssh,
		.box = &t->box,
		.install = o->install,
		.power_cycle = o->power_cycle,
		.dir = o->dir,
		.arch = o->arch,
		.append = o->append,
		.initramfs = o->initramfs,
		.boot_timeout_ms = o->boot_timeout_ms,
		.watchdog = o->watchdog,
	};

	if (ssh_cmdline_check(o->append, "append = in [target]", e) < 0)
		return -1;
	if (o->setup && ssh_setup_parse(o->setup, &t->setup, e) < 0)
		return -1;
	t->box = (struct ssh_box_opts){
		.work_dir = is_given(o->work_dir) ? o->work_dir : SSH_BOX_WORK_DIR,
		.owner = o->owner,
	};
	if (o->console && o->console->n)
		t->console = ssh_console_new(o->console, o->dir);
	b.console = t->console;
	return ssh_boot_open(&b, &t->boot, e);
}

/* ---- the machine --------------------------------------------------------------------------- */

static struct ssh_box *box_of(struct ssh_target *t)
{
	return ssh_boot_box(t->boot);
}

static bool is_lost(struct ssh_target *t)
{
	const struct ssh_box *b = box_of(t);

	return !b->c || ssh_is_lost(b->c);
}

static int lock(struct ssh_target *t, struct err *e)
{
	if (ssh_box_lock(box_of(t), e) < 0)
		return -1;
	t->is_locked = true;
	return 0;
}

/* A deadline that passed between us and the machine is no word of the kernel's. */
static bool is_lab(const struct err *e)
{
	return e->code == ERR_LAB || e->code == ERR_TIMEOUT;
}

/* Ours. It may be about to jump for a campaign that is gone: then it is reached once more. */
static int reach(struct ssh_target *t, const struct target_job *job, struct err *e)
{
	struct err why = ERR_INIT;

	if (ssh_boot_reach(t->boot, job, e) < 0)
		return -1;
	if (lock(t, &why) == 0)
		return 0;
	if (!is_lab(&why) || !is_lost(t))
		return err_set(e, why.code, "%s", why.msg);
	log_info("%s; once more", why.msg);
	return ssh_boot_reach(t->boot, job, e) < 0 ? -1 : lock(t, e);
}

/* In a state to start from. */
static int take_machine(struct ssh_target *t, const struct target_job *job, struct err *e)
{
	if (reach(t, job, e) < 0)
		return -1;
	if (!t->is_sick)
		return 0;
	if (ssh_boot_home(t->boot, e) < 0)
		return -1;
	t->is_sick = false;
	return 0;
}

/* Quiet, comparable, and described. */
static int prepare(struct ssh_target *t, struct target_result *r, struct err *e)
{
	struct ssh_box *b = box_of(t);

	if (lock(t, e) < 0)
		return -1;
	t->is_quiet = t->setup.n > 0;
	if (ssh_box_setup(b, &t->setup, e) < 0 ||
	    ssh_box_wait(b, t->o.max_load, t->o.max_wait_ms, e) < 0)
		return -1;
	return ssh_box_facts(b, &r->facts, e);
}

static void restore(struct ssh_target *t)
{
	struct err why = ERR_INIT;

	if (t->is_quiet && !is_lost(t) && ssh_box_restore(box_of(t), &why) < 0)
		log_warn("'%s': %s", t->o.host, why.msg);
	t->is_quiet = false;
}

/* ---- one trial ----------------------------------------------------------------------------- */

static const char *console_text(void *cookie, size_t *n)
{
	return ssh_console_text(cookie, n);
}

static int run(struct ssh_target *t, const struct target_job *job, struct target_result *r,
	       struct err *e)
{
	_cleanup_free_ char *agent = guest_agent_path(e);
	struct ssh_run_opts o = {
		.box = box_of(t),
		.agent = agent,
		.settings = t->o.settings,
		.n_settings = t->o.n_settings,
		.argv = t->o.argv,
		.files = t->o.files,
		.n_files = t->o.n_files,
		.console = t->console ? console_text : NULL,
		.console_cookie = t->console,
	};
	int ret;

	if (!agent)
		return -1;
	/* What the boot said was judged: it came up. */
	if (t->console)
		ssh_console_mark(t->console);
	ret = prepare(t, r, e);
	if (ret == 0)
		ret = ssh_run_job(box_of(t)->c, &o, job, r, e);
	restore(t);
	return ret;
}

/*
 * The connection was lost on the test kernel. 0 with an outcome; 1: it was not the kernel, or
 * nobody can say: once more; -1.
 */
static int after_loss(struct ssh_target *t, const struct target_job *job, bool is_last,
		      struct target_result *r, const struct err *lost, struct err *e)
{
	enum ssh_found found;
	char line[160] = "";

	log_info("%s", lost->msg);
	if (ssh_boot_find(t->boot, job, &found, e) < 0)
		return -1;
	if (t->console && ssh_console_scan(t->console, NULL, line, sizeof(line)) < CONSOLE_OOM)
		line[0] = 0;
	if (found == SSH_FOUND_REBOOTED)
		return results_outcome(r, TRIAL_CRASHED, "the machine rebooted%s%s",
				       line[0] ? ": " : "", line);
	if (!is_last)
		return 1;
	if (found == SSH_FOUND_SAME)
		return err_set(e, ERR_LAB, "twice: %s", lost->msg);
	/* Hung, or unplugged, twice: the last good kernel will tell. */
	r->boot_timed_out = true;
	return results_outcome(r, TRIAL_CRASHED,
			       "the machine was silent until it was switched off "
			       "and on%s%s",
			       line[0] ? ": " : "", line);
}

/* 0, 1: once more, -1. */
static int try_once(struct ssh_target *t, const struct target_job *job, bool is_last,
		    struct target_result *r, struct err *e)
{
	struct err why = ERR_INIT;
	bool is_up;

	if (take_machine(t, job, &why) < 0 || ssh_boot_start(t->boot, job, r, &why) < 0) {
		/* Before the jump, or between two trials; after it, the boot itself looks. */
		if (!is_last && is_lab(&why) && is_lost(t) && box_of(t)->c) {
			log_info("%s; once more", why.msg);
			return 1;
		}
		return err_set(e, why.code, "%s", why.msg);
	}
	is_up = r->outcome == TRIAL_UNSET;
	if (!is_up || run(t, job, r, &why) == 0)
		return 0;
	if (!is_lost(t) || why.code == ERR_INTERRUPTED)
		return err_set(e, why.code, "%s", why.msg);
	return after_loss(t, job, is_last, r, &why, e);
}

static int trial(struct ssh_target *t, const struct target_job *job, struct target_result *r,
		 struct err *e)
{
	int ret;

	if (t->console && ssh_console_start(t->console, job->dir, job->env, e) < 0)
		return -1;
	ret = try_once(t, job, false, r, e);
	if (ret > 0) {
		target_result_release(r);
		memset(r, 0, sizeof(*r));
		ret = try_once(t, job, true, r, e);
	}
	t->is_sick = ret < 0 || (r->outcome != TRIAL_OK && r->outcome != TRIAL_BOOT_FAILED);
	if (t->console)
		ssh_console_stop(t->console, ret < 0 ? NULL : &r->facts);
	return ret;
}

/* The console is looked after as often as the caller is told how far we are. */
struct watching {
	const struct ssh_target *t;
	const struct target_job *job;
};

static void on_tick(void *cookie, const char *stage)
{
	const struct watching *w = cookie;

	if (w->t->console)
		ssh_console_poll(w->t->console);
	if (w->job->tick)
		w->job->tick(w->job->tick_cookie, stage);
}

static int ssh_trial(void *priv, const struct target_job *job, struct target_result *r,
		     struct err *e)
{
	_cleanup_free_ char *agent = guest_agent_path(e);
	struct ssh_target *t = priv;
	double start = clock_mono_s();
	struct watching w = { t, job };
	struct target_job own = *job;
	struct err why = ERR_INIT;
	int ret;

	own.tick = on_tick;
	own.tick_cookie = &w;
	if (!job->image)
		return err_set(e, ERR_CONFIG,
			       "an SSH target needs a kernel (type = none in [build])");
	/* Before the machine is booted for nothing. */
	if (!agent)
		return -1;
	ret = trial(t, &own, r, &why);
	if (ret < 0)
		err_set(e, is_lab(&why) ? ERR_LAB : why.code, "%s", why.msg);
	r->total_seconds = clock_mono_s() - start;
	return ret;
}

/* ---- check and close ----------------------------------------------------------------------- */

/* Commands of the campaign that cannot be started here. */
static void check_programs(const struct ssh_target *t, struct strv *missing)
{
	const struct {
		const char *key;
		const struct strv *words;
	} commands[] = { { "power_cycle", t->o.power_cycle }, { "console", t->o.console } };

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct strv *w = commands[i].words;
		_cleanup_free_ char *found = NULL;

		if (!w || !w->n || strchr(w->v[0], '/'))
			continue;
		found = proc_which(w->v[0]);
		if (!found)
			strv_addf(missing, "cannot start '%s': no such program (%s = in [target])",
				  w->v[0], commands[i].key);
	}
}

static int look(struct ssh_target *t, struct str *about, struct strv *missing, struct err *e)
{
	struct ssh_box b = SSH_BOX_INIT;
	struct ssh_box_need need = { .install = t->o.install->v[0], .arch = t->o.arch };
	struct ssh_conn *c = NULL;
	int ret;

	check_programs(t, missing);
	if (ssh_open(&t->ssh, &c, NULL, e) < 0)
		return -1;
	ret = ssh_check_shell(c, CONNECT_MS, e);
	if (ret == 0)
		ret = ssh_box_identify(c, &t->box, &b, e);
	if (ret == 0)
		str_addf(about, "%s: Linux %s, %s", ssh_name(c), b.release, b.arch);
	if (ret == 0)
		ret = ssh_box_check(&b, &need, missing, e);
	ssh_box_release(&b);
	ssh_close(c);
	return ret;
}

static int ssh_check(void *priv, struct err *e)
{
	_cleanup_strv_ struct strv missing = STRV_INIT;
	_cleanup_str_ struct str text = STR_INIT, about = STR_INIT;
	struct ssh_target *t = priv;

	if (look(t, &about, &missing, e) < 0)
		return -1;
	for (size_t i = 0; i < missing.n; i++)
		str_addf(&text, "%s%s", i ? "; " : "", missing.v[i]);
	return missing.n ? err_set(e, ERR_LAB, "'%s': %s", t->o.host, str_text(&text)) : 0;
}

/* As if we had never been there: also what a run that was cut short left. */
static int put_in_order(struct ssh_target *t, struct strv *removed, struct err *e)
{
	if (ssh_boot_home(t->boot, e) < 0 || ssh_run_clean(box_of(t), removed, e) < 0 ||
	    ssh_box_restore(box_of(t), e) < 0)
		return -1;
	return ssh_boot_clean(t->boot, removed, e);
}

/* The machine is given back as it was found; what fails is said. */
static void give_back(struct ssh_target *t)
{
	_cleanup_strv_ struct strv removed = STRV_INIT;
	struct err why = ERR_INIT;

	if (!t->is_locked)
		return;
	if (sig_forget())
		log_info("'%s' goes back to its own kernel (a second signal leaves it as it is)",
			 t->o.host);
	/* One that did not come back was waited for already. */
	if (ssh_boot_connect(t->boot, &why) < 0 || put_in_order(t, &removed, &why) < 0 ||
	    ssh_box_unlock(box_of(t), &why) < 0)
		log_warn("'%s' is left as it is: %s (kregress clean puts it in order)", t->o.host,
			 why.msg);
}

static void ssh_target_close(void *priv)
{
	struct ssh_target *t = priv;

	if (t->boot)
		give_back(t);
	ssh_boot_close(t->boot);
	ssh_console_free(t->console);
	ssh_config_release(&t->config);
	strv_release(&t->identities);
	strv_release(&t->known_hosts);
	strv_release(&t->setup);
	free(t);
}

int target_ssh_open(const struct target_ssh_opts *o, struct target *t, struct err *e)
{
	static const struct target_ops ops = {
		.name = "ssh",
		.boots = true,
		.trial = ssh_trial,
		.check = ssh_check,
		.close = ssh_target_close,
	};
	struct ssh_target *s = xcalloc(1, sizeof(*s));

	s->o = *o;
	if (resolve(s, e) < 0 || make_boot(s, e) < 0) {
		ssh_target_close(s);
		return -1;
	}
	t->ops = &ops;
	t->priv = s;
	return 0;
}

static int clean(struct ssh_target *t, struct strv *removed, struct err *e)
{
	if (reach(t, NULL, e) < 0)
		return -1;
	return put_in_order(t, removed, e);
}

int target_ssh_clean(const struct target_ssh_opts *o, struct strv *removed, struct err *e)
{
	struct target t = { NULL, NULL };
	int ret;

	if (target_ssh_open(o, &t, e) < 0)
		return -1;
	ret = clean(t.priv, removed, e);
	target_close(&t);
	return ret;
}

int target_ssh_look(const struct target_ssh_opts *o, struct str *about, struct strv *missing,
		    struct err *e)
{
	struct target t = { NULL, NULL };
	int ret;

	if (target_ssh_open(o, &t, e) < 0)
		return -1;
	ret = look(t.priv, about, missing, e);
	target_close(&t);
	return ret;
}
