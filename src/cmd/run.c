/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress run: a campaign to its end. */
#include <errno.h>
#include <stdio.h>

#include "base/fs.h"
#include "base/log.h"
#include "campaign/confirm.h"
#include "campaign/loop.h"
#include "campaign/summary.h"
#include "cmd/cmd.h"
#include "io/bisect_log.h"
#include "report/report.h"

static const char usage[] =
	"Usage: kregress run [--from-git | --replay <log>] [--recheck]\n"
	"                    [--revert <patch|commit>] [--json]\n"
	"                    [-o <section.key=value>]... [FILE]\n"
	"\n"
	"Start a campaign, or go on with it, until one commit is left; print that commit\n"
	"and the evidence. FILE is a campaign file; without it kregress.ini in this\n"
	"folder or above. Whatever stops a run, the next one goes on where it stopped.\n"
	"\n"
	"Options:\n"
	"      --from-git               take over the bisection that is in progress here:\n"
	"                               its ends, verdicts, skips, terms and paths\n"
	"      --replay <log>           the same from a saved log of git bisect\n"
	"      --recheck                measure again what such a log calls good or bad\n"
	"      --revert <patch|commit>  the bad end without the culprit, as you made it,\n"
	"                               where git's own revert conflicts\n"
	"      --json                   print one JSON object instead of text\n"
	"  -o <section.key=value>       set a key over the file's value; repeatable\n"
	"  -h, --help                   show this text\n"
	"\n"
	"Exit status: 0 culprit found, 1 ended without a single culprit, 128 kregress\n"
	"could not work, 129 command line or campaign file wrong, 130 interrupted.\n";

#define EXIT_INTERRUPTED 130
#define LOG_MAX (16u << 20) /* bytes of a bisect log */

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

static void close_repo(struct repo **r)
{
	repo_close(*r);
}

static int open_campaign_repo(const struct cmd_file *f, struct repo **out, struct err *e)
{
	if (repo_open(f->cfg.campaign.repo, out, e) < 0)
		return err_wrap(e, "%s", config_where(&f->cfg, "campaign.repo"));
	return 0;
}

/* The bisection where one stands, else that of the campaign's repository. */
static int import_git(const struct cmd_file *f, struct bisect_log *log, struct err *e)
{
	_cleanup_(close_repo) struct repo *here = cmd_repo_here();
	_cleanup_(close_repo) struct repo *r = NULL;
	int ret = here ? bisect_log_in_progress(here, log, e) : 0;

	if (ret != 0)
		return ret < 0 ? -1 : 0;
	if (open_campaign_repo(f, &r, e) < 0)
		return -1;
	ret = bisect_log_in_progress(r, log, e);
	if (ret != 0)
		return ret < 0 ? -1 : 0;
	return err_set(
		e, ERR_CONFIG,
		"--from-git: no bisection is in progress here or in '%s' (git bisect start, or "
		"leave --from-git out)",
		repo_git_dir(r));
}

static int import_file(const struct cmd_file *f, struct bisect_log *log, struct err *e)
{
	_cleanup_(close_repo) struct repo *r = NULL;
	_cleanup_str_ struct str text = STR_INIT;

	if (fs_read(f->replay, LOG_MAX, &text, e) < 0) {
		if (e->sys == ENOENT || e->sys == EACCES || e->sys == EISDIR)
			e->code = ERR_CONFIG;
		return err_wrap(e, "--replay");
	}
	if (open_campaign_repo(f, &r, e) < 0 ||
	    bisect_log_parse(f->replay, str_text(&text), text.len, log, e) < 0)
		return -1;
	return bisect_log_resolve(r, log, e);
}

static int run(int argc, char **argv, struct err *e)
{
	_cleanup_(cmd_file_release) struct cmd_file f = CMD_FILE_INIT;
	_cleanup_(bisect_log_release) struct bisect_log log = { .name = NULL };
	struct session_opts o = { .mode = SESSION_RUN };
	struct session s;
	int ret;

	if (cmd_file_parse(&f, argc, argv, CMD_JSON | CMD_IMPORT | CMD_REVERT, e) < 0)
		return -1;
	o.recheck = f.recheck;
	if (f.from_git || f.replay) {
		if ((f.from_git ? import_git(&f, &log, e) : import_file(&f, &log, e)) < 0)
			return -1;
		o.import = &log;
	}
	ret = session_open(&s, &f.cfg, &o, e);
	if (ret == 0 && f.revert)
		ret = confirm_take_hand_made(&s, f.revert, e);
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
