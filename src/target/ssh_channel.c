/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A channel that runs one command. */
#include "target/ssh_channel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libssh2.h>

#include "base/clock.h"
#include "base/log.h"

/* A request must fit into one packet of libssh2. */
#define COMMAND_MAX 32000
#define KILL_MS 10000
#define PID_MARK "kregress: pid "

/*
 * What runs a command there. Both tell their pid, which is that of a process group. OpenSSH
 * tells how a process ended, so the command takes the shell's place. Of other servers (dropbear)
 * some ends come without a word, and libssh2 reports exit status 0 then: there the shell stays,
 * and success has a number of its own.
 */
#define SUCCESS 222
/* In a process group of its own, where the server made none: what we kill is killed whole. */
static const char run_group[] = "read -r p n s pp g rest 2>/dev/null </proc/$$/stat; "
				"if [ \"$g\" != $$ ] && command -v setsid >/dev/null 2>&1; "
				"then exec setsid sh -c \"$0\" sh \"$@\"; fi; eval \"$0\"";
static const char run_plain[] = "echo \"" PID_MARK "$$\" >&2; exec \"$@\"";
static const char run_sure[] = "echo \"" PID_MARK "$$\" >&2; \"$@\"; s=$?; "
			       "case $s in 0) exit 222;; 222) exit 221;; esac; exit $s";

void ssh_quote(struct str *out, char *const *words)
{
	for (size_t i = 0; words[i]; i++) {
		str_add(out, i ? " '" : "'");
		for (const char *s = words[i]; *s; s++) {
			if (*s == '\'')
				str_add(out, "'\\''");
			else
				str_addmem(out, s, 1);
		}
		str_add(out, "'");
	}
}

/* "exec sh -c <script> <name> <words>": understood by other login shells than sh, too. */
static void make_line(struct str *line, const char *script, const char *name, char *const *argv)
{
	_cleanup_strv_ struct strv words = STRV_INIT;

	strv_add(&words, "sh");
	strv_add(&words, "-c");
	strv_add(&words, script);
	strv_add(&words, name);
	for (size_t i = 0; argv[i]; i++)
		strv_add(&words, argv[i]);
	str_add(line, "exec ");
	ssh_quote(line, words.v);
}

static int open_channel(struct ssh_conn *c, LIBSSH2_CHANNEL **channel, struct err *e)
{
	LIBSSH2_CHANNEL *ch;
	int rc, go;

	do {
		ch = libssh2_channel_open_session(c->session);
		rc = ch ? 0 : libssh2_session_last_errno(c->session);
	} while ((go = ssh_again(c, rc, e)) > 0);
	if (go < 0)
		return -1;
	if (!ch)
		return ssh_fail(c, rc, "open a channel", e);
	*channel = ch;
	return 0;
}

static int start_line(struct ssh_conn *c, const struct str *line, LIBSSH2_CHANNEL *ch,
		      struct err *e)
{
	int rc, go;

	do
		rc = libssh2_channel_process_startup(ch, "exec", 4, line->buf, (unsigned)line->len);
	while ((go = ssh_again(c, rc, e)) > 0);
	if (go < 0)
		return -1;
	return rc ? ssh_fail(c, rc, "start a command", e) : 0;
}

static int start(struct ssh_conn *c, const char *script, const char *name, char *const *argv,
		 LIBSSH2_CHANNEL **channel, struct err *e)
{
	_cleanup_str_ struct str line = STR_INIT;
	LIBSSH2_CHANNEL *ch = NULL;

	make_line(&line, script, name, argv);
	if (line.len > COMMAND_MAX)
		return err_set(e, ERR_INTERNAL, "a command of %zu bytes is too long", line.len);
	if (c->is_lost)
		return ssh_lost(c, e);
	if (ssh_may_send(c, e) < 0 || open_channel(c, &ch, e) < 0)
		return -1;
	if (start_line(c, &line, ch, e) < 0) {
		ssh_channel_end(c, ch, 0);
		return -1;
	}
	*channel = ch;
	return 0;
}

void ssh_channel_show(char *const *argv, struct str *out)
{
	_cleanup_strv_ struct strv words = STRV_INIT;

	for (size_t i = 0; argv[i]; i++) {
		if (str_eq(argv[i], "sh") && argv[i + 1] && str_eq(argv[i + 1], "-c") &&
		    argv[i + 2] && argv[i + 3] && str_starts(argv[i + 3], "kregress-"))
			i += 3;
		strv_add(&words, argv[i]);
	}
	str_join_words(out, words.v);
}

int ssh_channel_start(struct ssh_conn *c, char *const *argv, LIBSSH2_CHANNEL **channel,
		      struct err *e)
{
	_cleanup_str_ struct str shown = STR_INIT;

	if (log_get_level() >= LOG_VERBOSE) {
		ssh_channel_show(argv, &shown);
		log_verbose("+ ssh %s %s", c->name, str_text(&shown));
	}
	if (c->tells_end)
		return start(c, run_plain, "sh", argv, channel, e);
	return start(c, run_group, run_sure, argv, channel, e);
}

/* Names as in RFC 4254, section 6.10, and those that others send; numbers of Linux. */
static const struct {
	const char *name;
	int number;
} signals[] = {
	{ "HUP", 1 },   { "INT", 2 },   { "QUIT", 3 },  { "ILL", 4 },   { "TRAP", 5 },
	{ "ABRT", 6 },  { "BUS", 7 },   { "FPE", 8 },   { "KILL", 9 },  { "USR1", 10 },
	{ "SEGV", 11 }, { "USR2", 12 }, { "PIPE", 13 }, { "ALRM", 14 }, { "TERM", 15 },
	{ "XCPU", 24 }, { "XFSZ", 25 }, { "SYS", 31 },
};

static void set_signal(struct ssh_result *r, const char *name, int number)
{
	_cleanup_str_ struct str clean = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (name ? !strcmp(name, signals[i].name) : number == signals[i].number) {
			name = signals[i].name;
			number = signals[i].number;
		}
	}
	r->end = SSH_SIGNALED;
	r->status = 128 + number;
	str_neutralise(&clean, name ? name : "?", name ? strnlen(name, 15) : 1, false);
	snprintf(r->signal, sizeof(r->signal), "%s", str_text(&clean));
}

int ssh_channel_result(struct ssh_conn *c, LIBSSH2_CHANNEL *ch, struct ssh_result *r, struct err *e)
{
	int status = libssh2_channel_get_exit_status(ch);
	char *name = NULL;
	size_t n;

	libssh2_channel_get_exit_signal(ch, &name, &n, NULL, NULL, NULL, NULL);
	if (name) {
		set_signal(r, name, 0);
		libssh2_free(c->session, name);
		return 0;
	}
	r->end = SSH_EXITED;
	r->status = status;
	if (c->tells_end)
		return 0;
	if (status == 0)
		return err_set(e, ERR_LAB, "a command on '%s' ended without a word on how",
			       c->name);
	if (status == SUCCESS)
		r->status = 0;
	else if (status > 128 && status < 160)
		set_signal(r, NULL, status - 128);
	return 0;
}

void ssh_channel_end(struct ssh_conn *c, LIBSSH2_CHANNEL *ch, int64_t ms)
{
	int64_t saved = c->deadline;
	int rc;

	if (!ch || c->is_lost || ssh_is_sending(c))
		return; /* the end of the session frees it */
	c->deadline = clock_deadline(ms);
	do
		rc = libssh2_channel_free(ch);
	while (ssh_again(c, rc, NULL) > 0);
	c->deadline = saved;
}

/* Read and drop what comes until the other side ends it. */
static void drop_output(struct ssh_conn *c, LIBSSH2_CHANNEL *ch)
{
	char buf[4096];
	ssize_t n;

	do {
		n = libssh2_channel_read(ch, buf, sizeof(buf));
		if (n <= 0)
			libssh2_channel_read_stderr(ch, buf, sizeof(buf));
		/* 0 may also mean that something came, but no data. */
		if (n == 0)
			n = LIBSSH2_ERROR_EAGAIN;
	} while (!libssh2_channel_eof(ch) && (n > 0 || ssh_again(c, n, NULL) > 0));
}

bool ssh_channel_kill(struct ssh_conn *c, long pid)
{
	/* The group, or the process where the server makes no groups. */
	static const char script[] = "for s in TERM KILL; do "
				     "kill -s $s -- -\"$1\" || kill -s $s \"$1\" || exit 0; "
				     "sleep 0.2 || sleep 1; done 2>/dev/null";
	int64_t saved = c->deadline, begun = clock_mono_ms();
	LIBSSH2_CHANNEL *ch = NULL;
	char number[24];
	char *const argv[] = { number, NULL };

	if (c->is_lost)
		return false;
	snprintf(number, sizeof(number), "%ld", pid);
	c->deadline = clock_deadline(c->silence_ms < KILL_MS ? c->silence_ms : KILL_MS);
	if (start(c, pid > 1 ? script : "exit 0", "sh", argv, &ch, NULL) == 0) {
		drop_output(c, ch);
		ssh_channel_end(c, ch, 1000);
	}
	c->deadline = saved;
	return c->heard_ms >= begun;
}

long ssh_channel_take_pid(struct str *text)
{
	char *at = text->len ? memmem(text->buf, text->len, PID_MARK, strlen(PID_MARK)) : NULL;
	char *nl = at ? memchr(at, '\n', text->len - (size_t)(at - text->buf)) : NULL;
	long pid;

	/* At the start of a line; what a shell's own start-up files print may stand before. */
	if (!nl || (at > text->buf && at[-1] != '\n'))
		return 0;
	pid = strtol(at + strlen(PID_MARK), NULL, 10);
	text->len -= (size_t)(nl + 1 - at);
	memmove(at, nl + 1, text->len - (size_t)(at - text->buf) + 1);
	return pid > 0 ? pid : 0;
}
