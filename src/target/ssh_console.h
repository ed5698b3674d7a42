/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console of a machine: what a command of the user's (console = in [target]) shows of it. */
#ifndef KR_TARGET_SSH_CONSOLE_H
#define KR_TARGET_SSH_CONSOLE_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "target/console.h"

struct ssh_console;

/* @argv (borrowed) is run in @dir (NULL: here). Never NULL. */
struct ssh_console *ssh_console_new(const struct strv *argv, const char *dir);
void ssh_console_free(struct ssh_console *c);

/* Start it for a trial: all it shows goes to <trial_dir>/console.log. ERR_LAB: no such program. */
int ssh_console_start(struct ssh_console *c, const char *trial_dir, const struct strv *env,
		      struct err *e);
/* Look after it, from time to time: one that floods the disk is ended. */
void ssh_console_poll(struct ssh_console *c);
/* End it. Appends the fact "console=…" when it had ended by itself. */
void ssh_console_stop(struct ssh_console *c, struct strv *facts);

/* From here on counts what ssh_console_text() and ssh_console_scan() see. */
void ssh_console_mark(struct ssh_console *c);
/* The newest of what it showed since the mark, at most 1 MiB; borrowed until the next call. */
const char *ssh_console_text(struct ssh_console *c, size_t *n);
/*
 * The gravest sign since the mark, before a kernel of release @until (NULL: none) told its name:
 * what a fallen test kernel said, not its successor.
 */
enum console_sign ssh_console_scan(struct ssh_console *c, const char *until, char *line,
				   size_t size);

#endif
