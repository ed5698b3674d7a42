/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress status: where a campaign stands. */
#include <stdio.h>

#include "campaign/summary.h"
#include "cmd/cmd.h"
#include "report/report.h"

static const char usage[] =
	"Usage: kregress status [--json] [-o <section.key=value>]... [FILE]\n"
	"\n"
	"Show where a campaign stands, and why: what was measured, what it said, how many\n"
	"commits are left. Changes nothing, and works while the campaign runs. FILE is a\n"
	"campaign file; without it kregress.ini in this folder or above.\n"
	"\n"
	"Options:\n"
	"      --json                   print the JSON object of 'kregress run --json'\n"
	"  -o <section.key=value>       set a key over the file's value; repeatable\n"
	"  -h, --help                   show this text\n"
	"\n"
	"Exit status: 0, 128 kregress could not work, 129 command line or file wrong.\n";

static int show(struct session *s, const struct cmd_file *f, struct err *e)
{
	_cleanup_(report_release) struct report r = { .name = NULL };
	_cleanup_str_ struct str line = STR_INIT;

	if (summary_make(s, &r, e) < 0)
		return -1;
	if (f->json) {
		report_json(&r, stdout);
		return 0;
	}
	report_status(&r, stdout);
	if (s->has_ends && str_eq(report_status_name(&r), "interrupted")) {
		cmd_resume_line(f, &line);
		printf("\n%s with: %s\n", r.n_tested ? "Go on" : "Start", str_text(&line));
	}
	return 0;
}

static int run(int argc, char **argv, struct err *e)
{
	_cleanup_(cmd_file_release) struct cmd_file f = CMD_FILE_INIT;
	struct session s;
	int ret;

	if (cmd_file_parse(&f, argc, argv, CMD_JSON, e) < 0)
		return -1;
	ret = session_open(&s, &f.cfg,
			   &(struct session_opts){ .mode = SESSION_VIEW, .ends_optional = true },
			   e);
	if (ret == 0)
		ret = show(&s, &f, e);
	session_close(&s);
	return ret;
}

const struct cmd cmd_status = {
	.name = "status",
	.summary = "show where a campaign stands, and why",
	.usage = usage,
	.run = run,
};
