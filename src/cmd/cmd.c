/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dispatch: global options, the command, its error. */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

const struct cmd *const cmd_table[] = {
	&cmd_run,    &cmd_test,   &cmd_status, &cmd_log,  &cmd_compare, &cmd_report,
	&cmd_replay, &cmd_doctor, &cmd_clean,  &cmd_init, &cmd_help,    NULL,
};

const struct cmd *cmd_find(const char *name)
{
	for (size_t i = 0; cmd_table[i]; i++)
		if (str_eq(cmd_table[i]->name, name))
			return cmd_table[i];
	return NULL;
}

const char *cmd_near(const char *word)
{
	const char *names[ARRAY_SIZE(cmd_table)];
	size_t n = 0;

	for (; cmd_table[n]; n++)
		names[n] = cmd_table[n]->name;
	return str_did_you_mean(word, names, n);
}

void cmd_overview(struct str *out)
{
	str_add(out, "Usage: kregress [-C <dir>] [-v | -q] <command> [<args>]\n\n"
		     "Find the commit that made a Linux kernel slower or faster.\n\nCommands:\n");
	for (size_t i = 0; cmd_table[i]; i++)
		str_addf(out, "  %-8s %s\n", cmd_table[i]->name, cmd_table[i]->summary);
	str_add(out, "\nOptions:\n"
		     "  -C <dir>       go to this folder first\n"
		     "  -v, --verbose  show the commands that are run\n"
		     "  -q, --quiet    show errors only\n"
		     "  -h, --help     show this text, or with a command its options\n"
		     "      --version  show the version\n"
		     "\n"
		     "See 'kregress help <command>', 'kregress help campaign' and "
		     "'kregress help\nworkloads', or the manual page kregress(1).\n");
}

int cmd_option(int argc, char **argv, const char *letters, const struct option *names,
	       struct err *e)
{
	int c;

	opterr = 0;
	c = getopt_long(argc, argv, letters, names, NULL);
	if (c == ':') {
		err_set(e, ERR_USAGE, "option '%s' needs a value", argv[optind - 1]);
		return CMD_OPTION_ERROR;
	}
	if (c != '?')
		return c;
	/* getopt says what it did not like in optopt: nothing, a known letter or number, another letter. */
	if (!optopt)
		err_set(e, ERR_USAGE, "unknown option '%s'", argv[optind - 1]);
	else if (optopt > 255 || strchr(letters, optopt))
		err_set(e, ERR_USAGE, "option '%s' takes no value", argv[optind - 1]);
	else
		err_set(e, ERR_USAGE, "unknown option '-%c'", optopt);
	return CMD_OPTION_ERROR;
}

/* A message may quote what a guest or a file says: neutral before it reaches a terminal. */
void cmd_print_error(const struct err *e, const char *command)
{
	_cleanup_str_ struct str text = STR_INIT;

	str_neutralise(&text, e->msg, strlen(e->msg), true);
	log_progress("%s", "");
	log_error("%s", str_text(&text));
	if (e->code == ERR_USAGE)
		fprintf(stderr, "Try 'kregress %s%s--help' for more information.\n", command,
			command[0] ? " " : "");
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && !str_eq(argv[i], "--"); i++)
		if (str_eq(argv[i], "-h") || str_eq(argv[i], "--help"))
			return true;
	return false;
}

static int run_command(int argc, char **argv, struct err *e)
{
	const struct cmd *c = cmd_find(argv[0]);
	const char *near;

	if (!c) {
		near = cmd_near(argv[0]);
		if (near)
			return err_set(e, ERR_USAGE, "unknown command '%s'; did you mean '%s'?",
				       argv[0], near);
		return err_set(e, ERR_USAGE, "unknown command '%s'", argv[0]);
	}
	if (wants_help(argc, argv)) { /* also beside other mistakes */
		fputs(c->usage, stdout);
		return 0;
	}
	optind = 0;
	return c->run(argc, argv, e);
}

static void show_overview(void)
{
	_cleanup_str_ struct str text = STR_INIT;

	cmd_overview(&text);
	fputs(str_text(&text), stdout);
}

enum { OPT_VERSION = 256 };

/* 0 and on to the command; 1: done already. */
static int global_options(int argc, char **argv, struct err *e)
{
	static const struct option names[] = {
		{ "verbose", no_argument, NULL, 'v' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = cmd_option(argc, argv, "+:C:vqh", names, e)) != CMD_OPTION_END) {
		if (c == CMD_OPTION_ERROR)
			return -1;
		if (c == 'v' || c == 'q')
			log_set_level(c == 'v' ? LOG_VERBOSE : LOG_QUIET);
		else if (c == 'C' && chdir(optarg) < 0)
			return err_set(e, ERR_USAGE, "cannot go to folder '%s': %s", optarg,
				       strerror(errno));
		else if (c == 'h' || c == OPT_VERSION)
			break;
	}
	if (c == CMD_OPTION_END)
		return 0;
	if (c == 'h')
		show_overview();
	else
		printf("kregress %s\n", KR_VERSION);
	return 1;
}

/* What was printed must have arrived: a report on a full disk is no report. */
static int flush_stdout(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	/* A reader that has seen enough is no failure. */
	if (errno == EPIPE)
		return status;
	log_error("cannot write to standard output: %s", strerror(errno));
	return err_exit_status(ERR_SYS);
}

int cmd_main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	int ret = global_options(argc, argv, &e), first = optind;

	if (ret == 1)
		return flush_stdout(0);
	if (ret == 0 && first >= argc)
		ret = err_set(&e, ERR_USAGE, "no command given");
	if (ret < 0) {
		cmd_print_error(&e, "");
		return err_exit_status(e.code);
	}
	ret = run_command(argc - first, argv + first, &e);
	if (ret < 0) {
		fflush(stdout);
		cmd_print_error(&e, cmd_find(argv[first]) ? argv[first] : "");
		return err_exit_status(e.code);
	}
	return flush_stdout(ret);
}
