/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The campaign file and the options that most commands share. */
#include "cmd/cmd.h"

#include <stdlib.h>

void cmd_file_release(struct cmd_file *f)
{
	if (f->loaded)
		config_release(&f->cfg);
	strv_release(&f->settings);
	free(f->path);
	*f = (struct cmd_file)CMD_FILE_INIT;
}

enum { OPT_JSON = 256 };

static int parse_options(struct cmd_file *f, int argc, char **argv, bool has_json, struct err *e)
{
	static const struct option with_json[] = {
		{ "json", no_argument, NULL, OPT_JSON },
		{ NULL, 0, NULL, 0 },
	};
	/* The same table from its end: no names at all. */
	const struct option *names = has_json ? with_json : with_json + 1;
	int c;

	while ((c = cmd_option(argc, argv, ":o:", names, e)) != CMD_OPTION_END) {
		if (c == CMD_OPTION_ERROR)
			return -1;
		if (c == 'o')
			strv_add(&f->settings, optarg);
		else
			f->json = true;
	}
	return 0;
}

int cmd_file_parse(struct cmd_file *f, int argc, char **argv, bool has_json, struct err *e)
{
	if (parse_options(f, argc, argv, has_json, e) < 0)
		return -1;
	if (argc - optind > 1)
		return err_set(e, ERR_USAGE,
			       "one campaign file at a time, but '%s' and '%s' are given",
			       argv[optind], argv[optind + 1]);
	f->path = optind < argc ? xstrdup(argv[optind]) : config_find(".");
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

void cmd_resume_line(const struct cmd_file *f, struct str *out)
{
	_cleanup_strv_ struct strv words = STRV_INIT;

	strv_add(&words, "kregress");
	strv_add(&words, "run");
	for (size_t i = 0; i < f->settings.n; i++) {
		strv_add(&words, "-o");
		strv_add(&words, f->settings.v[i]);
	}
	strv_add(&words, f->path);
	str_join_words(out, words.v);
}
