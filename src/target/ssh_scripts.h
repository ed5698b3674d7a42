/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is done on a machine over SSH, each in one go: POSIX shell that busybox understands, too.
 * Each is run as sh -c TEXT sh ROOT ARGUMENTS; nothing is ever put into the text. ROOT stands
 * before /proc, /sys, /etc and /dev: "" but in tests.
 *
 * The answer is "begin=1", lines KEY=VALUE, "end=1".
 */
#ifndef KR_TARGET_SSH_SCRIPTS_H
#define KR_TARGET_SSH_SCRIPTS_H

#include "base/str.h"

enum ssh_script {
	SSH_IDENTIFY = 0, /* who it is; needs no root */
	SSH_LOCK,         /* LOCK TEXT TOKEN: take it; where TOKEN's is held ("-": one without) */
	SSH_UNLOCK,       /* LOCK TOKEN */
	SSH_CHECK,        /* WORK BOOT MODULES TOOL…: what there is */
	SSH_FACTS,
	SSH_RESTORE, /* STATE BOOT-ID: put settings back */
	SSH_SETUP,   /* STATE BOOT-ID WORD…: the same, then make these */
	SSH_QUIET,   /* LOAD LIMIT STEP: wait until load (hundredths; < 0: any) and heat are low */
	SSH_PREPARE, /* WORK FOLDER UID:GID SHA256…: end agents left over, make a run's folder */
	SSH_RUN,     /* WORK FOLDER (SHA256 NAME MODE)…: no such answer, see ssh_run.c */
	SSH_CLEAN,   /* WORK: end agents left over, remove their folders */
};
#define SSH_SCRIPTS (SSH_CLEAN + 1)

/*
 * The folder work_dir, in shell. It bears a mark of ours, and its owner is who runs the script:
 * else nothing in it is believed, written or removed. claim() makes one of a folder that is new
 * or empty; release() removes it if nothing else is in it.
 */
#define SSH_SCRIPT_MINE                                                                           \
	"mine() { [ -d \"$1\" ] && [ ! -L \"$1\" ] && [ -O \"$1\" ] && [ -f \"$1/.kregress\" ]; " \
	"}\n"                                                                                     \
	"claim() {\n"                                                                             \
	"\tmine \"$1\" && return\n"                                                               \
	"\t[ -d \"$1\" ] || mkdir -p \"$1\" || return\n"                                          \
	"\t[ ! -L \"$1\" ] && [ -O \"$1\" ] || return\n"                                          \
	"\tcase $(ls -A \"$1\") in\n"                                                             \
	"\t''|lost+found) : >\"$1/.kregress\" ;;\n"                                               \
	"\t*) return 1 ;;\n"                                                                      \
	"\tesac\n"                                                                                \
	"}\n"                                                                                     \
	"release() {\n"                                                                           \
	"\tmine \"$1\" || return 0\n"                                                             \
	"\trm -f \"$1/.kregress\"\n"                                                              \
	"\trmdir \"$1\" 2>/dev/null || : >\"$1/.kregress\"\n"                                     \
	"}\n"

/* The text, appended. */
void ssh_script_text(enum ssh_script s, struct str *out);
/* "identify", …; static. */
const char *ssh_script_name(enum ssh_script s);

#endif
