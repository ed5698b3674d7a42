/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The campaign file and the options that most commands share. */
#include "cmd/cmd.h"

#include <stdlib.h>

#include "io/repo.h"

void cmd_file_release(struct cmd_file *f)
{
	if (f->loaded)
		config_release(&f->cfg);
	strv_release(&f->settings);
	free(f->path);
	free(f->replay);
	free(f->revert);
	*f = (struct cmd_file)CMD_FILE_INIT;
}

enum { OPT_JSON = 256, OPT_GIT, OPT_FROM_GIT, OPT_REPLAY, OPT_RECHECK, OPT_REVERT };

static const struct {
	unsigned known;
	struct option option;
} shared[] = {
	{ CMD_JSON, { "json", no_argument, NULL, OPT_JSON } },
	{ CMD_GIT, { "git", no_argument, NULL, OPT_GIT } },
	{ CMD_IMPORT, { "from-git", no_argument, NULL, OPT_FROM_GIT } },
	{ CMD_IMPORT, { "replay", required_argument, NULL, OPT_REPLAY } },
	{ CMD_IMPORT, { "recheck", no_argument, NULL, OPT_RECHECK } },
	{ CMD_REVERT, { "revert", required_argument, NULL, OPT_REVERT } },
};

static void take_option(struct cmd_file *f, int c)
{
	switch (c) {
	case 'o':
		strv_add(&f->settings, optarg);
		break;
	case OPT_JSON:
		f->json = true;
		break;
	case OPT_GIT:
		f->git = true;
		break;
	case OPT_FROM_GIT:
		f->from_git = true;
		break;
	case OPT_REPLAY:
		free(f->replay);
		f->replay = xstrdup(optarg);
		break;
	case OPT_RECHECK:
		f->recheck = true;
		break;
	case OPT_REVERT:
		free(f->revert);
		f->revert = xstrdup(optarg);
		break;
	}
}

static int parse_options(struct cmd_file *f, int argc, char **argv, unsigned known, struct err *e)
{
	struct option names[ARRAY_SIZE(shared) + 1] = { { NULL, 0, NULL, 0 } };
	size_t n = 0;
	int c;

	for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
		if (shared[i].known & known)
			names[n++] = shared[i].option;
	while ((c = cmd_option(argc, argv, ":o:", names, e)) != CMD_OPTION_END) {
		if (c == CMD_OPTION_ERROR)
			return -1;
		take_option(f, c);
	}
	if (f->from_git && f->replay)
		return err_set(e, ERR_USAGE,
			       "--from-git and --replay both give a bisect log: use one of them");
	return 0;
}

int cmd_file_parse(struct cmd_file *f, int argc, char **argv, unsigned known, struct err *e)
{
	if (parse_options(f, argc, argv, known, e) < 0)
		return -1;
	return cmd_file_take(f, argc, argv, e);
}

int cmd_file_take(struct cmd_file *f, int argc, char **argv, struct err *e)
{
	if (argc - optind > 1)
		return err_set(e, ERR_USAGE,
			       "one campaign file at a time, but '%s' and '%s' are given",
			       argv[optind], argv[optind + 1]);
	if (optind < argc)
		f->path = xstrdup(argv[optind]);
	return cmd_file_load(f, e);
}

int cmd_file_load(struct cmd_file *f, struct err *e)
{
	if (!f->path)
		f->path = config_find(".");
	if (!f->path && f->optional)
		return 0;
	if (!f->path)
		return err_set(
			e, ERR_CONFIG,
			"no campaign file: no kregress.ini in this folder or above (name one, or "
			"make one with 'kregress init')");
	if (config_load(f->path, &f->settings, &f->cfg, e) < 0)
		return -1;
	f->loaded = true;
	return 0;
}

void cmd_file_line(const struct cmd_file *f, const char *command, struct str *out)
{
	_cleanup_strv_ struct strv words = STRV_INIT;

	strv_add(&words, "kregress");
	strv_add(&words, command);
	if (f->revert) {
		strv_add(&words, "--revert");
		strv_add(&words, f->revert);
	}
	for (size_t i = 0; i < f->settings.n; i++) {
		strv_add(&words, "-o");
		strv_add(&words, f->settings.v[i]);
	}
	strv_add(&words, f->path);
	str_join_words(out, words.v);
}

void cmd_resume_line(const struct cmd_file *f, struct str *out)
{
	cmd_file_line(f, "run", out);
}

const char *cmd_here(void)
{
	const char *dir = getenv("GIT_DIR");

	return dir && *dir ? dir : ".";
}

struct repo *cmd_repo_here(void)
{
	struct err ignored = ERR_INIT;
	struct repo *r = NULL;

	return repo_open(cmd_here(), &r, &ignored) < 0 ? NULL : r;
}
