/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress help: the campaign file, the workloads, the commands. */
#include <stdio.h>

#include "cmd/cmd.h"
#include "io/workload.h"

static const char usage[] = "Usage: kregress help [TOPIC]\n"
			    "\n"
			    "Topics:\n"
			    "  campaign    every section and key of a campaign file\n"
			    "  workloads   the workloads that are installed\n"
			    "  keys        every section.key, one a line\n"
			    "  <command>   what 'kregress <command> --help' shows\n"
			    "\n"
			    "Options:\n"
			    "  -h, --help  show this text\n";

static int help_overview(struct str *out, struct err *e)
{
	(void)e;
	cmd_overview(out);
	return 0;
}

static int help_campaign(struct str *out, struct err *e)
{
	(void)e;
	config_help(out);
	return 0;
}

static int help_keys(struct str *out, struct err *e)
{
	_cleanup_strv_ struct strv keys = STRV_INIT;

	(void)e;
	config_keys(&keys);
	for (size_t i = 0; i < keys.n; i++)
		str_addf(out, "%s\n", keys.v[i]);
	return 0;
}

struct topic {
	const char *name;
	int (*text)(struct str *out, struct err *e);
};

static const struct topic topics[] = {
	{ "", help_overview },
	{ "campaign", help_campaign },
	{ "workloads", workload_list },
	{ "keys", help_keys },
};

static int unknown_topic(const char *name, struct err *e)
{
	const char *names[ARRAY_SIZE(topics)];
	const char *near;

	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		names[i] = topics[i].name;
	near = cmd_near(name);
	if (!near)
		near = str_did_you_mean(name, names + 1, ARRAY_SIZE(topics) - 1);
	if (near)
		return err_set(e, ERR_USAGE, "no help on '%s'; did you mean '%s'?", name, near);
	return err_set(e, ERR_USAGE, "no help on '%s'", name);
}

static int show(const char *name, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	const struct cmd *c = cmd_find(name);

	for (size_t i = 0; i < ARRAY_SIZE(topics); i++) {
		if (!str_eq(topics[i].name, name))
			continue;
		if (topics[i].text(&text, e) < 0)
			return -1;
		fputs(str_text(&text), stdout);
		return 0;
	}
	if (!c)
		return unknown_topic(name, e);
	fputs(c->usage, stdout);
	return 0;
}

static int run(int argc, char **argv, struct err *e)
{
	static const struct option names[] = { { NULL, 0, NULL, 0 } };

	if (cmd_option(argc, argv, ":", names, e) == CMD_OPTION_ERROR)
		return -1;
	if (argc - optind > 1)
		return err_set(e, ERR_USAGE, "one topic at a time");
	return show(optind < argc ? argv[optind] : "", e);
}

const struct cmd cmd_help = {
	.name = "help",
	.summary = "explain a command, the campaign file or the workloads",
	.usage = usage,
	.run = run,
};
