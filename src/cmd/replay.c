/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress replay: decide again from stored trials. */
#include <stdio.h>

#include "campaign/again.h"
#include "cmd/cmd.h"

static const char usage[] =
	"Usage: kregress replay [--json] [-o <section.key=value>]... [FILE]\n"
	"\n"
	"Decide again from what is stored, under other settings, and say what would have\n"
	"changed: which verdicts, where the search would have gone another way, which\n"
	"commit is the culprit. All metrics are recorded, so another one can decide:\n"
	"-o workload.metric=<name>. Threshold, better, effect, confidence, boots, skips,\n"
	"search and policies can be others too; build, target, workload and runs cannot:\n"
	"samples of another setup are other samples. Where the search would have asked\n"
	"for a boot that is not stored, the replay ends. Nothing is built, booted or\n"
	"written, and a running campaign is not disturbed. FILE is a campaign file;\n"
	"without it kregress.ini in this folder or above.\n"
	"\n"
	"Options:\n"
	"      --json                   print one JSON object instead of text\n"
	"  -o <section.key=value>       set a key over the file's value; repeatable\n"
	"  -h, --help                   show this text\n"
	"\n"
	"Exit status: 0, 128 kregress could not work, 129 command line or file wrong, or\n"
	"settings under which nothing is stored.\n";

static void say_how_to_go_on(const struct report_again *a, const struct cmd_file *f)
{
	_cleanup_str_ struct str line = STR_INIT;

	if (!a->needs.phase)
		return;
	cmd_resume_line(f, &line);
	printf("\nGo on with: %s\n", str_text(&line));
}

static int run(int argc, char **argv, struct err *e)
{
	_cleanup_(cmd_file_release) struct cmd_file f = CMD_FILE_INIT;
	_cleanup_(report_again_release) struct report_again a = { .n_settings = 0 };

	if (cmd_file_parse(&f, argc, argv, CMD_JSON, e) < 0 ||
	    again_make(&f.cfg, &f.settings, &a, e) < 0)
		return -1;
	if (f.json) {
		report_again_json(&a, stdout);
		return 0;
	}
	report_again_text(&a, stdout);
	say_how_to_go_on(&a, &f);
	return 0;
}

const struct cmd cmd_replay = {
	.name = "replay",
	.summary = "decide again from what is stored, under other settings",
	.usage = usage,
	.run = run,
};
