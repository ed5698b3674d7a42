/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the reader of ssh_config. */
#ifndef KR_TARGET_SSH_CONFIG_INTERNAL_H
#define KR_TARGET_SSH_CONFIG_INTERNAL_H

#include "target/ssh_config.h"

/*
 * The keyword of a line (owned) and its words. 1, 0 on a line that says nothing, -1 with
 * ERR_CONFIG (without file and line) on an open quote.
 */
int ssh_config_split(const char *line, char **keyword, struct strv *words, struct err *e);

/* The start of @text, fit for a message. Owned. */
char *ssh_config_shown(const char *text);

/* What tokens stand for. */
struct ssh_config_names {
	const char *home, *alias, *host_name, *user;
	unsigned port;
};

/* "%h" and "%%" of a HostName. Owned; NULL with ERR_CONFIG on another token. */
char *ssh_config_expand_host(const char *text, const char *alias, struct err *e);
/* ~, tokens and ${NAME} of a file's name. Owned; NULL with ERR_CONFIG. */
char *ssh_config_expand_path(const char *text, const struct ssh_config_names *names, struct err *e);

#endif
