/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command target: the user's own program measures. */
#include "target/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "target/results_outcome.h"

#define STATUS_UNTESTABLE 125 /* as git bisect run has it */
#define STATUS_OURS 128       /* and more: the lab, not the commit */

struct command {
	struct strv argv;
	char *dir;
};

struct ticker {
	const struct target_job *job;
};

static void tick(void *cookie)
{
	const struct target_job *job = ((struct ticker *)cookie)->job;

	if (job->tick)
		job->tick(job->tick_cookie, "run");
}

static int judge_status(const struct command *c, const struct target_job *job, int status,
			struct target_result *r, struct err *e)
{
	if (status == 0)
		return results_outcome(r, TRIAL_OK, "%s", "");
	if (status == STATUS_UNTESTABLE)
		return results_outcome(r, TRIAL_UNTESTABLE, "the command says so (exit status %d)",
				       status);
	if (status < STATUS_OURS)
		return results_outcome(r, TRIAL_CRASHED, "the command ended with exit status %d",
				       status);
	return err_set(e, ERR_LAB, "'%s' could not work: exit status %d (see output.log in %s)",
		       c->argv.v[0], status, job->dir);
}

static int judge(const struct command *c, const struct target_job *job, const struct proc_result *p,
		 double limit_s, struct target_result *r, struct err *e)
{
	switch (p->end) {
	case PROC_EXITED:
		return judge_status(c, job, p->status, r, e);
	case PROC_TIMED_OUT:
		return results_outcome(r, TRIAL_TIMED_OUT, "the command did not end within %g s",
				       limit_s);
	case PROC_TOO_MUCH:
		return results_outcome(r, TRIAL_GARBLED, "the command printed more than %u bytes",
				       TARGET_OUTPUT_MAX);
	case PROC_SIGNALED:
		/* A shell would have said 128 + signal. */
		return err_set(e, ERR_LAB, "'%s' was killed by signal %d (see output.log in %s)",
			       c->argv.v[0], p->status, job->dir);
	case PROC_NO_START:
		return err_set(e, ERR_LAB, "cannot start '%s': %s (command = in [target])",
			       c->argv.v[0], strerror(p->status));
	}
	return err_set(e, ERR_INTERNAL, "'%s' ended in no known way", c->argv.v[0]);
}

static int command_trial(void *priv, const struct target_job *job, struct target_result *r,
			 struct err *e)
{
	struct command *c = priv;
	_cleanup_free_ char *log = fs_join(job->dir, "output.log");
	_cleanup_strv_ struct strv env = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;
	int64_t limit_ms = job->run_timeout_ms * job->runs;
	struct ticker ticker = { job };
	struct proc_opts o = {
		.argv = c->argv.v,
		.env = &env,
		.cwd = c->dir,
		.timeout_ms = limit_ms,
		.max_output = TARGET_OUTPUT_MAX,
		.out = &out,
		.log_path = log,
		.tick = tick,
		.tick_cookie = &ticker,
	};
	struct proc_result p;

	if (job->env)
		strv_extend(&env, job->env);
	strv_addf(&env, "KREGRESS_RUNS=%u", job->runs);
	if (proc_run(&o, &p, e) < 0)
		return -1;
	r->run_seconds = r->total_seconds = p.seconds;
	if (judge(c, job, &p, (double)limit_ms / 1000, r, e) < 0)
		return -1;
	if (p.end == PROC_EXITED) {
		size_t n = out.len;

		target_result_add_run(r, str_detach(&out), n, p.status, p.seconds);
	}
	return 0;
}

static int command_check(void *priv, struct err *e)
{
	struct command *c = priv;
	_cleanup_free_ char *found = NULL, *path = NULL;

	/* A path with a slash is seen from the command's own folder, as the child sees it. */
	if (strchr(c->argv.v[0], '/'))
		path = fs_join(c->dir, c->argv.v[0]);
	found = proc_which(path ? path : c->argv.v[0]);
	if (found)
		return 0;
	return err_set(e, ERR_LAB, "cannot start '%s': no such program (command = in [target])",
		       c->argv.v[0]);
}

static void command_close(void *priv)
{
	struct command *c = priv;

	strv_release(&c->argv);
	free(c->dir);
	free(c);
}

int target_command_open(const struct target_command_opts *o, struct target *t, struct err *e)
{
	static const struct target_ops ops = {
		.name = "command",
		.boots = false,
		.trial = command_trial,
		.check = command_check,
		.close = command_close,
	};
	struct command *c;

	if (!o->command || !o->command->n)
		return err_set(e, ERR_CONFIG, "command = in [target] is empty");
	c = xcalloc(1, sizeof(*c));
	strv_extend(&c->argv, o->command);
	c->dir = xstrdup(o->dir ? o->dir : ".");
	t->ops = &ops;
	t->priv = c;
	return 0;
}
