/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress init: from flags to a campaign file that runs as it stands. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "campaign/session.h"
#include "cmd/cmd.h"

static const char usage[] =
	"Usage: kregress init --good <rev> --bad <rev> --metric <name> [options]\n"
	"\n"
	"Write a campaign file from flags. It is checked before it is written: it runs as\n"
	"it stands. Only keys that differ from their default are in it.\n"
	"\n"
	"Options:\n"
	"      --repo <folder>          the git repository (default: this folder)\n"
	"      --good <rev>             the end with the wanted behaviour\n"
	"      --bad <rev>              the other end\n"
	"      --hunt <kind>            regression (default), or fix: good is newer\n"
	"      --workload <name|file>   what runs in each guest; see help workloads\n"
	"      --metric <name>          the metric that decides\n"
	"      --threshold <value>      12.5, +20%, -15% or auto (default)\n"
	"      --search <kind>          auto (default: bayes under noise), bisect, bayes\n"
	"      --target <type>          qemu (default), ssh, or command\n"
	"      --command <command>      for command: the program that measures\n"
	"      --name <name>            of the campaign (default: from metric and bad)\n"
	"  -o <section.key=value>       any other key; repeatable\n"
	"      --output <file>          where to (default: kregress.ini)\n"
	"      --force                  write over a file that exists\n"
	"  -h, --help                   show this text\n"
	"\n"
	"Exit status: 0 written, 128 kregress could not work, 129 a flag is wrong.\n";

/* A key that the file will have. Order of the table is the order in the file. */
struct entry {
	const char *section, *key;
	char *value; /* owned; NULL: not given */
};

enum {
	NAME,
	REPO,
	GOOD,
	BAD,
	HUNT,
	BUILD_TYPE,
	TARGET,
	COMMAND,
	WORKLOAD,
	METRIC,
	THRESHOLD,
	SEARCH,
	N_ENTRIES,
	OUTPUT = 300,
	FORCE,
};

struct init {
	struct entry entry[N_ENTRIES];
	struct strv more; /* "section.key=value" of -o */
	char *output;
	bool force;
};

static const struct entry keys[N_ENTRIES] = {
	[NAME] = { .section = "campaign", .key = "name" },
	[REPO] = { .section = "campaign", .key = "repo" },
	[GOOD] = { .section = "campaign", .key = "good" },
	[BAD] = { .section = "campaign", .key = "bad" },
	[HUNT] = { .section = "campaign", .key = "hunt" },
	[BUILD_TYPE] = { .section = "build", .key = "type" },
	[TARGET] = { .section = "target", .key = "type" },
	[COMMAND] = { .section = "target", .key = "command" },
	[WORKLOAD] = { .section = "workload", .key = "use" },
	[METRIC] = { .section = "workload", .key = "metric" },
	[THRESHOLD] = { .section = "verdict", .key = "threshold" },
	[SEARCH] = { .section = "verdict", .key = "search" },
};

static const struct {
	const char *name, *comment;
} sections[] = {
	{ "campaign", "the history and its two ends: good has the wanted behaviour" },
	{ "build", "how each commit becomes a kernel" },
	{ "target", "where it is measured" },
	{ "workload", "what is run, and the value that decides" },
	{ "measure", "how often" },
	{ "verdict", "what separates good from bad" },
	{ "confirm", "how the commit found is checked" },
};

static void init_release(struct init *n)
{
	for (size_t i = 0; i < N_ENTRIES; i++)
		free(n->entry[i].value);
	strv_release(&n->more);
	free(n->output);
}

static void set(char **value, char *owned)
{
	free(*value);
	*value = owned;
}

static int parse(struct init *n, int argc, char **argv, struct err *e)
{
	/* Values from 256 on are 256 + the entry that the option fills. */
	static const struct option names[] = {
		{ "repo", required_argument, NULL, 256 + REPO },
		{ "good", required_argument, NULL, 256 + GOOD },
		{ "bad", required_argument, NULL, 256 + BAD },
		{ "hunt", required_argument, NULL, 256 + HUNT },
		{ "workload", required_argument, NULL, 256 + WORKLOAD },
		{ "metric", required_argument, NULL, 256 + METRIC },
		{ "threshold", required_argument, NULL, 256 + THRESHOLD },
		{ "search", required_argument, NULL, 256 + SEARCH },
		{ "target", required_argument, NULL, 256 + TARGET },
		{ "command", required_argument, NULL, 256 + COMMAND },
		{ "name", required_argument, NULL, 256 + NAME },
		{ "output", required_argument, NULL, OUTPUT },
		{ "force", no_argument, NULL, FORCE },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = cmd_option(argc, argv, ":o:", names, e)) != CMD_OPTION_END) {
		if (c == CMD_OPTION_ERROR)
			return -1;
		if (c == 'o')
			strv_add(&n->more, optarg);
		else if (c == OUTPUT)
			set(&n->output, xstrdup(optarg));
		else if (c == FORCE)
			n->force = true;
		else
			set(&n->entry[c - 256].value, xstrdup(optarg));
	}
	if (optind < argc)
		return err_set(e, ERR_USAGE,
			       "init takes no argument, but '%s' is given (use --output)",
			       argv[optind]);
	return 0;
}

/* A key of the table is set there, so that no key stands twice. */
static bool override(struct init *n, const char *setting)
{
	for (size_t i = 0; i < N_ENTRIES; i++) {
		_cleanup_free_ char *name = xasprintf("%s.%s=", keys[i].section, keys[i].key);

		if (!str_starts(setting, name))
			continue;
		set(&n->entry[i].value, xstrdup(setting + strlen(name)));
		return true;
	}
	return false;
}

static bool in_section(const char *setting, const char *section)
{
	size_t len = strlen(section);

	return str_starts(setting, section) && setting[len] == '.';
}

static bool is_setting(const char *setting)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (in_section(setting, sections[i].name) && strchr(setting, '='))
			return true;
	return false;
}

/* The settings of -o: into the table where they belong there, the others stay in more. */
static int sort_settings(struct init *n, struct err *e)
{
	_cleanup_strv_ struct strv all = n->more;

	n->more = (struct strv)STRV_INIT;
	for (size_t i = 0; i < all.n; i++) {
		if (!is_setting(all.v[i]))
			return err_set(e, ERR_USAGE, "-o '%s' is no section.key=value", all.v[i]);
		if (!override(n, all.v[i]))
			strv_add(&n->more, all.v[i]);
	}
	return 0;
}

static bool has_control(const char *text)
{
	for (; text && *text; text++)
		if (iscntrl((unsigned char)*text))
			return true;
	return false;
}

/* A line break in a value would be a line of the file. */
static int check_values(const struct init *n, struct err *e)
{
	for (size_t i = 0; i < N_ENTRIES; i++)
		if (has_control(n->entry[i].value))
			return err_set(e, ERR_USAGE, "the value of %s.%s has a control character",
				       keys[i].section, keys[i].key);
	for (size_t i = 0; i < n->more.n; i++)
		if (has_control(n->more.v[i]))
			return err_set(e, ERR_USAGE, "a value of -o has a control character");
	return 0;
}

static int need(const struct init *n, int i, const char *flag, struct err *e)
{
	if (n->entry[i].value && n->entry[i].value[0])
		return 0;
	return err_set(e, ERR_USAGE, "%s is missing", flag);
}

/* "exit_ms-v6.11": letters that a name may have, the others as '-'. */
static char *default_name(const struct init *n)
{
	char *name = xasprintf("%s-%s", n->entry[METRIC].value, n->entry[BAD].value);

	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			*p = '-';
	return name;
}

/* What follows from what was given. */
static int complete(struct init *n, struct err *e)
{
	struct entry *v = n->entry;
	bool command = str_eq(v[TARGET].value, "command");

	if (need(n, GOOD, "--good", e) < 0 || need(n, BAD, "--bad", e) < 0 ||
	    need(n, METRIC, "--metric", e) < 0)
		return -1;
	if (command && need(n, COMMAND, "--command, which --target command needs,", e) < 0)
		return -1;
	if (!command && v[COMMAND].value)
		return err_set(e, ERR_USAGE, "--command is for --target command");
	if (!command && need(n, WORKLOAD, "--workload", e) < 0)
		return -1;
	set(&v[REPO].value, fs_absolute(v[REPO].value ? v[REPO].value : "."));
	if (!v[NAME].value)
		v[NAME].value = default_name(n);
	if (command && !v[BUILD_TYPE].value)
		v[BUILD_TYPE].value = xstrdup("none");
	if (v[WORKLOAD].value &&
	    (strchr(v[WORKLOAD].value, '/') || str_ends(v[WORKLOAD].value, ".ini")))
		set(&v[WORKLOAD].value, fs_absolute(v[WORKLOAD].value));
	if (!n->output)
		n->output = xstrdup("kregress.ini");
	return 0;
}

static void add_line(struct str *out, const char *section, const char *comment, bool *opened,
		     const char *key, int key_len, const char *value)
{
	if (!*opened)
		str_addf(out, "\n[%s]\n# %s\n", section, comment);
	*opened = true;
	str_addf(out, "%.*s = %s\n", key_len, key, value);
}

static void compose_section(const struct init *n, const char *section, const char *comment,
			    struct str *out)
{
	bool opened = false, said = false;

	for (size_t i = 0; i < N_ENTRIES; i++)
		if (n->entry[i].value && str_eq(keys[i].section, section))
			add_line(out, section, comment, &opened, keys[i].key,
				 (int)strlen(keys[i].key), n->entry[i].value);
	for (size_t i = 0; i < n->more.n; i++) {
		const char *setting = n->more.v[i], *key = strchr(setting, '.') + 1;

		if (!in_section(setting, section))
			continue;
		if (opened && !said)
			str_add(out, "# set with -o\n");
		said = true;
		add_line(out, section, comment, &opened, key, (int)strcspn(key, "="),
			 strchr(setting, '=') + 1);
	}
}

static void compose(const struct init *n, struct str *out)
{
	str_add(out,
		"# Made by kregress init. Every key is explained by: kregress help campaign\n");
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		compose_section(n, sections[i].name, sections[i].comment, out);
}

/* Messages name the file that is wanted, not the one that was checked. */
static void rename_in_message(struct err *e, const char *from, const char *to)
{
	_cleanup_free_ char *text = xstrdup(e->msg);
	char *at = strstr(text, from);

	if (at)
		snprintf(e->msg, sizeof(e->msg), "%.*s%s%s", (int)(at - text), text, to,
			 at + strlen(from));
}

/* All that `run` checks before it measures. */
static int check_file(const char *path, struct err *e)
{
	struct strv none = STRV_INIT;
	struct config cfg;
	struct session s;
	int ret;

	if (config_load(path, &none, &cfg, e) < 0)
		return -1;
	ret = session_open(&s, &cfg, &(struct session_opts){ .mode = SESSION_VIEW }, e);
	session_close(&s);
	config_release(&cfg);
	return ret;
}

static int write_checked(const struct init *n, const struct str *text, struct err *e)
{
	_cleanup_free_ char *trial = xasprintf("%s.new", n->output);
	int ret;

	if (fs_exists(n->output) && !n->force)
		return err_set(e, ERR_USAGE, "'%s' exists already (--force writes over it)",
			       n->output);
	if (fs_exists(trial))
		return err_set(e, ERR_USAGE, "'%s' is in the way: remove it", trial);
	if (fs_write(trial, text->buf, text->len, e) < 0)
		return -1;
	ret = check_file(trial, e);
	if (ret < 0)
		rename_in_message(e, trial, n->output);
	else if (rename(trial, n->output) < 0)
		ret = err_sys(e, errno, "cannot write '%s'", n->output);
	if (ret < 0)
		unlink(trial);
	return ret;
}

static int run(int argc, char **argv, struct err *e)
{
	_cleanup_(init_release) struct init n = { .output = NULL };
	_cleanup_str_ struct str text = STR_INIT;

	if (parse(&n, argc, argv, e) < 0 || sort_settings(&n, e) < 0 || complete(&n, e) < 0 ||
	    check_values(&n, e) < 0)
		return -1;
	compose(&n, &text);
	if (write_checked(&n, &text, e) < 0)
		return -1;
	log_info("wrote '%s'; start with: kregress run %s", n.output, n.output);
	return 0;
}

const struct cmd cmd_init = {
	.name = "init",
	.summary = "write a campaign file from flags",
	.usage = usage,
	.run = run,
};
