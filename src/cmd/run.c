/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress run: a campaign to its end. */
#include <stdio.h>

#include "base/log.h"
#include "campaign/loop.h"
#include "campaign/summary.h"
#include "cmd/cmd.h"
#include "report/report.h"

static const char usage[] =
	"Usage: kregress run [--json] [-o <section.key=value>]... [FILE]\n"
	"\n"
	"Start a campaign, or go on with it, until one commit is left; print that commit\n"
	"and the evidence. FILE is a campaign file; without it kregress.ini in this\n"
	"folder or above. Whatever stops a run, the next one goes on where it stopped.\n"
	"\n"
	"Options:\n"
	"      --json                   print one JSON object instead of text\n"
	"  -o <section.key=value>       set a key over the file's value; repeatable\n"
	"  -h, --help                   show this text\n"
	"\n"
	"Exit status: 0 culprit found, 1 ended without a single culprit, 128 kregress\n"
	"could not work, 129 command line or campaign file wrong, 130 interrupted.\n";

#define EXIT_INTERRUPTED 130

static void say_resume(const struct cmd_file *f, const struct report *r)
{
	_cleanup_str_ struct str line = STR_INIT;

	cmd_resume_line(f, &line);
	log_progress("%s", "");
	log_error("interrupted: all that was measured is saved in '%s'; go on with: %s",
		  r->state_dir, str_text(&line));
}

/* Prints what the campaign came to; returns the exit status. */
static int conclude(struct session *s, const struct cmd_file *f, bool interrupted, struct err *e)
{
	_cleanup_(report_release) struct report r = { .name = NULL };

	if (summary_make(s, &r, e) < 0)
		return -1;
	r.interrupted = interrupted;
	log_progress("%s", "");
	if (f->json)
		report_json(&r, stdout);
	else if (report_exit_status(&r) != EXIT_INTERRUPTED)
		report_text(&r, stdout);
	if (report_exit_status(&r) == EXIT_INTERRUPTED)
		say_resume(f, &r);
	return report_exit_status(&r);
}

static int work(struct session *s, const struct cmd_file *f, struct err *e)
{
	_cleanup_str_ struct str line = STR_INIT;

	if (loop_run(s, e) == 0)
		return conclude(s, f, false, e);
	if (e->code == ERR_INTERRUPTED) {
		*e = (struct err)ERR_INIT;
		return conclude(s, f, true, e);
	}
	cmd_print_error(e, "run");
	cmd_resume_line(f, &line);
	log_error("all that was measured is saved; go on with: %s", str_text(&line));
	return err_exit_status(e->code);
}

static int run(int argc, char **argv, struct err *e)
{
	_cleanup_(cmd_file_release) struct cmd_file f = CMD_FILE_INIT;
	struct session s;
	int ret;

	if (cmd_file_parse(&f, argc, argv, true, e) < 0)
		return -1;
	ret = session_open(&s, &f.cfg, SESSION_RUN, e);
	if (ret == 0)
		ret = work(&s, &f, e);
	session_close(&s);
	return ret;
}

const struct cmd cmd_run = {
	.name = "run",
	.summary = "start or resume a campaign, to its end",
	.usage = usage,
	.run = run,
};
