/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine over SSH: the lock that says whose it is. */
#include "target/ssh_box.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/hex.h"
#include "base/log.h"

/* The first line of a small file of ours; "" where there is none. Appends. */
static void first_line(const char *path, struct str *out)
{
	_cleanup_str_ struct str text = STR_INIT;

	if (fs_read(path, 65536, &text, NULL) == 0)
		str_addmem(out, str_text(&text), strcspn(str_text(&text), "\n"));
}

/* When a process of this host was started, in ticks since boot; -1: there is none. */
static long long start_of(long pid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%ld/stat", pid);
	_cleanup_str_ struct str line = STR_INIT;
	const char *at;

	first_line(path, &line);
	/* Field 22; the name in parentheses, field 2, may hold blanks (proc(5)). */
	at = line.len ? strrchr(line.buf, ')') : NULL;
	/* Killed, and only not yet waited for by its parent. */
	if (at && at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X'))
		return -1;
	for (int i = 0; at && i < 20; i++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	return at ? atoll(at) : -1;
}

static void add_file(struct strv *lines, const char *key, const char *path)
{
	_cleanup_str_ struct str text = STR_INIT;

	first_line(path, &text);
	strv_addf(lines, "%s=%s", key, str_text(&text));
}

int ssh_lock_describe(const char *campaign, struct strv *lines, struct err *e)
{
	const struct passwd *pw = getpwuid(getuid());
	_cleanup_str_ struct str name = STR_INIT;
	char host[256] = "", pidns[64] = "", token[HEX_TOKEN_SIZE];
	ssize_t n = readlink("/proc/self/ns/pid", pidns, sizeof(pidns) - 1);

	pidns[n > 0 ? n : 0] = 0;
	gethostname(host, sizeof(host) - 1);
	str_neutralise(&name, campaign ? campaign : "", strlen(campaign ? campaign : ""), false);
	if (hex_token(token, e) < 0)
		return -1;
	strv_addf(lines, "token=%s", token);
	strv_addf(lines, "host=%s", host);
	add_file(lines, "machine", "/etc/machine-id");
	add_file(lines, "boot", "/proc/sys/kernel/random/boot_id");
	strv_addf(lines, "pidns=%s", pidns);
	strv_addf(lines, "pid=%ld", (long)getpid());
	strv_addf(lines, "start=%lld", start_of((long)getpid()));
	strv_addf(lines, "user=%s", pw ? pw->pw_name : "?");
	strv_addf(lines, "campaign=%s", str_text(&name));
	strv_addf(lines, "since=%lld", (long long)clock_real_s());
	return 0;
}

void ssh_lock_parse(const struct strv *lines, struct ssh_lock_holder *h)
{
	*h = (struct ssh_lock_holder){
		.token = ssh_box_value(lines, "token"),
		.host = ssh_box_value(lines, "host"),
		.machine = ssh_box_value(lines, "machine"),
		.boot = ssh_box_value(lines, "boot"),
		.pidns = ssh_box_value(lines, "pidns"),
		.user = ssh_box_value(lines, "user"),
		.campaign = ssh_box_value(lines, "campaign"),
		.pid = strtol(ssh_box_value(lines, "pid"), NULL, 10),
		.start = atoll(ssh_box_value(lines, "start")),
		.since = atoll(ssh_box_value(lines, "since")),
	};
}

bool ssh_lock_is_stale(const struct ssh_lock_holder *them, const struct ssh_lock_holder *us)
{
	/* It is made whole, so this one was damaged, by a crash or a full disk. */
	if (!*them->token)
		return true;
	if (!str_eq(them->host, us->host) || !str_eq(them->machine, us->machine))
		return false;
	/* This host has booted since: none of its processes is left. */
	if (!str_eq(them->boot, us->boot))
		return *them->boot != 0;
	/* In another container our pids say nothing. */
	if (!str_eq(them->pidns, us->pidns))
		return false;
	return (them->pid == us->pid && them->start == us->start) ||
	       start_of(them->pid) != them->start;
}

static int refuse(const struct ssh_box *b, const struct ssh_lock_holder *h, struct err *e)
{
	_cleanup_free_ char *who = xasprintf("%s@%s", h->user, h->host);
	_cleanup_str_ struct str name = STR_INIT, owner = STR_INIT;
	char since[40];

	str_neutralise(&name, h->campaign, strnlen(h->campaign, 60), false);
	str_neutralise(&owner, who, strnlen(who, 80), false);
	return err_set(
		e, ERR_LAB,
		"'%s' is in use by campaign '%s' of %s (pid %ld) since %s (wait for its end; "
		"if it is surely gone, remove '%s' there)",
		ssh_name(b->c), str_text(&name), str_text(&owner), h->pid,
		clock_format(h->since, since, sizeof(since)), b->o.lock_path);
}

/* Ask for the lock; @steal: the token that may be replaced. 1 taken, 0 held (@held), -1. */
static int ask(const struct ssh_box *b, const struct strv *lines, const char *steal,
	       struct strv *held, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT, answer = STRV_INIT;
	_cleanup_str_ struct str text = STR_INIT;

	for (size_t i = 0; i < lines->n; i++)
		str_addf(&text, "%s%s", i ? "\n" : "", lines->v[i]);
	strv_add(&args, b->o.lock_path);
	strv_add(&args, str_text(&text));
	strv_add(&args, steal);
	if (ssh_box_ask(b, SSH_LOCK, b->is_root, &args, 0, &answer, e) < 0)
		return -1;
	for (size_t i = 0; i < answer.n; i++)
		if (ssh_box_line(answer.v[i], "held"))
			strv_add(held, ssh_box_line(answer.v[i], "held"));
	return str_eq(ssh_box_value(&answer, "lock"), "taken");
}

int ssh_box_lock(struct ssh_box *b, struct err *e)
{
	_cleanup_strv_ struct strv ours = STRV_INIT, theirs = STRV_INIT, again = STRV_INIT;
	struct ssh_lock_holder us, them;
	int got;

	if (ssh_lock_describe(b->o.owner, &ours, e) < 0)
		return -1;
	ssh_lock_parse(&ours, &us);
	got = ask(b, &ours, "", &theirs, e);
	ssh_lock_parse(&theirs, &them);
	if (got == 0 && !ssh_lock_is_stale(&them, &us))
		return refuse(b, &them, e);
	if (got == 0) {
		if (them.pid != us.pid)
			log_info("'%s': taking over the lock of a campaign that is gone (pid %ld)",
				 ssh_name(b->c), them.pid);
		got = ask(b, &ours, *them.token ? them.token : "-", &again, e);
		ssh_lock_parse(&again, &them);
	}
	if (got < 0)
		return -1;
	if (got == 0)
		return refuse(b, &them, e);
	snprintf(b->token, sizeof(b->token), "%s", us.token);
	return 0;
}

int ssh_box_unlock(struct ssh_box *b, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT, answer = STRV_INIT;

	if (!b->token[0])
		return 0;
	strv_add(&args, b->o.lock_path);
	strv_add(&args, b->token);
	if (ssh_box_ask(b, SSH_UNLOCK, b->is_root, &args, 0, &answer, e) < 0)
		return -1;
	b->token[0] = 0;
	return 0;
}
