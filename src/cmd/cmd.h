/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands: one table, one way to parse options, one place that prints an error. */
#ifndef KR_CMD_CMD_H
#define KR_CMD_CMD_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "io/config.h"

struct cmd {
	const char *name;
	const char *summary; /* one line of `kregress help` */
	const char *usage;   /* what `kregress <name> -h` prints; <= 80 columns */
	/*
	 * argv[0] is the name. Returns the exit status, or -1 with @e: then the status is
	 * err_exit_status() and the caller prints the message, once.
	 */
	int (*run)(int argc, char **argv, struct err *e);
};

extern const struct cmd cmd_run, cmd_test, cmd_status, cmd_log, cmd_compare, cmd_report, cmd_replay,
	cmd_doctor, cmd_clean, cmd_init, cmd_help;

/* The table, ending with NULL. */
extern const struct cmd *const cmd_table[];
/* By name; NULL: there is none. */
const struct cmd *cmd_find(const char *name);
/* Of all commands, the nearest to @word; NULL: none is near. */
const char *cmd_near(const char *word);
/* Text of `kregress --help`. Appends. */
void cmd_overview(struct str *out);

/* "kregress: message" and, for a wrong command line, where to read on. @command may be "". */
void cmd_print_error(const struct err *e, const char *command);

/* Whole program: global options, then the command. Returns the exit status. */
int cmd_main(int argc, char **argv);

/* What cmd_option() returns besides the option's letter. */
#define CMD_OPTION_END (-1)
#define CMD_OPTION_ERROR (-2)

/*
 * The next option of a command, as getopt_long(); options and arguments may be
 * mixed. A wrong one: CMD_OPTION_ERROR with ERR_USAGE in @e. Start with optind = 0.
 */
int cmd_option(int argc, char **argv, const char *letters, const struct option *names,
	       struct err *e);

/* Options that the commands with a campaign FILE share. */
struct cmd_file {
	bool json;
	bool git;             /* --git */
	bool from_git;        /* --from-git */
	char *replay;         /* --replay FILE; owned */
	bool recheck;         /* --recheck */
	char *revert;         /* --revert FILE|COMMIT; owned */
	bool optional;        /* set before: no FILE and no kregress.ini is no error */
	struct strv settings; /* of -o; owned */
	char *path;           /* FILE as given, or found; owned */
	struct config cfg;
	bool loaded;
};
#define CMD_FILE_INIT         \
	{                     \
		.json = false \
	}
void cmd_file_release(struct cmd_file *f);

/*
 * Where the repository that one stands in is looked for, as git does: $GIT_DIR where it is set
 * (git bisect run sets it if it was given), else around this folder.
 */
const char *cmd_here(void);
struct repo;
/* That repository; NULL: in none. Owned. */
struct repo *cmd_repo_here(void);

/* Which of the shared options a command knows. */
#define CMD_JSON 1u
#define CMD_GIT 2u    /* --git */
#define CMD_IMPORT 4u /* --from-git, --replay FILE, --recheck */
#define CMD_REVERT 8u /* --revert FILE|COMMIT */
/* Parse "[options] [-o section.key=value]… [FILE]" and load the campaign. @known: of the above. */
int cmd_file_parse(struct cmd_file *f, int argc, char **argv, unsigned known, struct err *e);

/* Its part behind the options: [FILE] from argv[optind] on. */
int cmd_file_take(struct cmd_file *f, int argc, char **argv, struct err *e);

/* The last part of it, where -o and FILE are read: f->path, else kregress.ini here or above. */
int cmd_file_load(struct cmd_file *f, struct err *e);

/* "kregress <command> -o … FILE", as a person would type it. Appends. */
void cmd_file_line(const struct cmd_file *f, const char *command, struct str *out);
/* The same for "run", to go on. */
void cmd_resume_line(const struct cmd_file *f, struct str *out);

#endif
