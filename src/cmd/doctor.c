/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress doctor: what is missing or noisy here, each with its remedy. */
#include "cmd/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "campaign/session.h"
#include "cmd/cmd.h"

static const char usage[] =
	"Usage: kregress doctor [-o <section.key=value>]... [FILE]\n"
	"\n"
	"Look for what is missing or noisy on this machine. Each line is 'ok', 'note' (it\n"
	"works, but) or 'problem', with its remedy. FILE is a campaign file, which is\n"
	"checked too; without it kregress.ini in this folder or above; without that, all\n"
	"that a campaign could need is looked at.\n"
	"\n"
	"Options:\n"
	"  -o <section.key=value>       set a key over the file's value; repeatable\n"
	"  -h, --help                   show this text\n"
	"\n"
	"Exit status: 0 no problem, 1 problems, 129 command line or campaign file wrong.\n";

void doctor_say(struct doctor *d, enum doctor_level level, const char *fmt, ...)
{
	static const char *const names[] = { "ok", "note", "problem" };
	_cleanup_str_ struct str clean = STR_INIT;
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	str_neutralise(&clean, text, strlen(text), false);
	printf("%-8s %s\n", names[level], str_text(&clean));
	/* What follows may take seconds. */
	fflush(stdout);
	d->problems += level == DOCTOR_PROBLEM;
	d->notes += level == DOCTOR_NOTE;
}

bool doctor_builds(const struct doctor *d)
{
	return !d->cfg || (d->cfg->build.type == BUILD_KERNEL && !d->cfg->build.command.n);
}

bool doctor_boots(const struct doctor *d)
{
	return !d->cfg || d->cfg->target.type == TARGET_QEMU;
}

static void check_history(struct doctor *d, struct session *s)
{
	doctor_say(d, DOCTOR_OK, "campaign: %u commits between the ends, about %u steps", s->dag.n,
		   pick_bisect_steps(s->dag.n));
	if (s->n_merge_bases)
		doctor_say(d, DOCTOR_NOTE,
			   "history: good is no ancestor of bad; %zu merge base%s tested first",
			   s->n_merge_bases, s->n_merge_bases == 1 ? " is" : "s are");
	if (repo_is_shallow(s->repo))
		doctor_say(
			d, DOCTOR_NOTE,
			"history: the clone is shallow, but reaches both ends (to have it whole: "
			"git fetch --unshallow)");
	if (s->other_setup)
		doctor_say(d, DOCTOR_NOTE,
			   "state: %u stored trials were measured under another setup and are not "
			   "used",
			   s->other_setup);
}

static void check_workload(struct doctor *d, const struct session *s)
{
	if (!s->workload.name)
		return;
	if (s->workload.program)
		doctor_say(d, DOCTOR_OK, "workload: %s, program '%s'", s->workload.name,
			   s->workload.program);
	else
		doctor_say(d, DOCTOR_OK, "workload: %s", s->workload.name);
}

/* That it is there and executable was checked with the file. */
static void check_command(struct doctor *d)
{
	if (d->cfg->target.type == TARGET_COMMAND && d->cfg->target.command.n)
		doctor_say(d, DOCTOR_OK, "command: '%s'", d->cfg->target.command.v[0]);
}

/* ERR_CONFIG is the file's fault and ends the command; anything else is a finding. */
static int check_campaign(struct doctor *d, struct err *e)
{
	struct err why = ERR_INIT;
	struct session s;
	int ret = session_open(&s, d->cfg, &(struct session_opts){ .mode = SESSION_VIEW }, &why);

	if (ret == 0) {
		check_history(d, &s);
		check_workload(d, &s);
		check_command(d);
	} else if (why.code == ERR_CONFIG || why.code == ERR_USAGE) {
		*e = why;
	} else {
		doctor_say(d, DOCTOR_PROBLEM, "campaign: %s", why.msg);
		ret = 0;
	}
	session_close(&s);
	return ret;
}

static int examine(struct doctor *d, struct err *e)
{
	doctor_tools(d);
	doctor_kvm(d);
	doctor_ssh(d);
	doctor_space(d);
	doctor_noise(d);
	if (d->cfg && check_campaign(d, e) < 0)
		return -1;
	printf("\n%u problem%s, %u note%s\n", d->problems, d->problems == 1 ? "" : "s", d->notes,
	       d->notes == 1 ? "" : "s");
	return d->problems ? 1 : 0;
}

static int run(int argc, char **argv, struct err *e)
{
	_cleanup_(cmd_file_release) struct cmd_file f = CMD_FILE_INIT;
	struct doctor d = { .cfg = NULL };

	f.optional = true;
	if (cmd_file_parse(&f, argc, argv, 0, e) < 0)
		return -1;
	if (f.loaded)
		d.cfg = &f.cfg;
	return examine(&d, e);
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.summary = "look for what is missing or noisy on this machine",
	.usage = usage,
	.run = run,
};
