/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress clean: the machine as if no campaign had been there. */
#include <stdio.h>
#include <string.h>

#include "campaign/target_open.h"
#include "cmd/cmd.h"

static const char usage[] =
	"Usage: kregress clean [-o <section.key=value>]... [FILE]\n"
	"\n"
	"Bring the machine of a campaign with type = ssh back to its default kernel, end\n"
	"what earlier campaigns left running there, and remove what they installed:\n"
	"kernel, modules, boot entry, work folder; never the kernel that runs, nor the\n"
	"default one. Each thing removed is printed. Refused while another kregress uses\n"
	"the machine. Campaigns do this themselves at their end; this is for those that\n"
	"could not.\n"
	"\n"
	"FILE is a campaign file; without it kregress.ini in this folder or above.\n"
	"\n"
	"Options:\n"
	"  -o <section.key=value>       set a key over the file's value; repeatable\n"
	"  -h, --help                   show this text\n"
	"\n"
	"Exit status: 0 done, 128 the machine cannot be reached or put in order, 129\n"
	"command line or campaign file wrong, 130 interrupted.\n";

/* The names come from the machine. */
static void show(const struct strv *removed)
{
	for (size_t i = 0; i < removed->n; i++) {
		_cleanup_str_ struct str clean = STR_INIT;

		str_neutralise(&clean, removed->v[i], strlen(removed->v[i]), false);
		printf("removed  %s\n", str_text(&clean));
	}
	if (!removed->n)
		printf("nothing of ours is there\n");
}

static int run(int argc, char **argv, struct err *e)
{
	_cleanup_(cmd_file_release) struct cmd_file f = CMD_FILE_INIT;
	_cleanup_strv_ struct strv removed = STRV_INIT;
	struct target_ssh_opts o;
	int ret;

	if (cmd_file_parse(&f, argc, argv, 0, e) < 0)
		return -1;
	if (f.cfg.target.type != TARGET_SSH)
		return err_set(e, ERR_CONFIG,
			       "%s: only machines are cleaned, type = ssh in [target]: other "
			       "targets leave nothing behind",
			       config_where(&f.cfg, "target.type"));
	o = target_ssh_opts_of(&f.cfg);
	ret = target_ssh_clean(&o, &removed, e);
	if (ret == 0 || removed.n)
		show(&removed);
	return ret;
}

const struct cmd cmd_clean = {
	.name = "clean",
	.summary = "remove what campaigns left on a machine (type = ssh)",
	.usage = usage,
	.run = run,
};
