/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console of a machine. */
#include "target/ssh_console.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"

#define KEPT_MAX (64ll << 20)
#define SEEN_MAX (1u << 20)
#define GRACE_MS 500

struct ssh_console {
	const struct strv *argv;
	const char *dir;
	struct proc proc;
	char *path; /* console.log */
	long long mark;
	struct str text;
	char end[120]; /* how it ended by itself; "" it runs, or did not start */
};

struct ssh_console *ssh_console_new(const struct strv *argv, const char *dir)
{
	struct ssh_console *c = xcalloc(1, sizeof(*c));

	c->argv = argv;
	c->dir = dir;
	c->proc = (struct proc)PROC_INIT;
	return c;
}

void ssh_console_free(struct ssh_console *c)
{
	if (!c)
		return;
	ssh_console_stop(c, NULL);
	free(c->path);
	str_release(&c->text);
	free(c);
}

static long long size_of(const struct ssh_console *c)
{
	struct stat st;

	return c->path && stat(c->path, &st) == 0 ? (long long)st.st_size : 0;
}

int ssh_console_start(struct ssh_console *c, const char *trial_dir, const struct strv *env,
		      struct err *e)
{
	struct proc_opts o = {
		.argv = c->argv->v,
		.env = env,
		.cwd = c->dir,
		.merge_stderr = true,
	};

	ssh_console_stop(c, NULL);
	free(c->path);
	c->path = fs_join(trial_dir, "console.log");
	o.log_path = c->path;
	c->end[0] = 0;
	ssh_console_mark(c);
	if (proc_start(&o, false, &c->proc, e) == 0)
		return 0;
	if (e && e->code == ERR_NOT_FOUND)
		e->code = ERR_LAB;
	return err_wrap(e, "console = in [target]");
}

void ssh_console_poll(struct ssh_console *c)
{
	struct proc_result p;
	char how[80];

	if (c->proc.pid && proc_poll(&c->proc, &p)) {
		snprintf(c->end, sizeof(c->end), "%s", proc_describe(&p, how, sizeof(how)));
		log_warn("console = '%s' ended: %s", c->argv->v[0], c->end);
	} else if (c->proc.pid && size_of(c) > KEPT_MAX) {
		snprintf(c->end, sizeof(c->end), "stopped: it showed more than %lld MiB",
			 KEPT_MAX >> 20);
		proc_stop(&c->proc, GRACE_MS);
		if (truncate(c->path, (off_t)KEPT_MAX) < 0)
			log_warn("cannot cut '%s': %s", c->path, strerror(errno));
		log_warn("console = '%s' is %s", c->argv->v[0], c->end);
	}
}

void ssh_console_stop(struct ssh_console *c, struct strv *facts)
{
	ssh_console_poll(c);
	proc_stop(&c->proc, GRACE_MS);
	if (facts && c->end[0])
		strv_addf(facts, "console=%s", c->end);
}

void ssh_console_mark(struct ssh_console *c)
{
	c->mark = size_of(c);
}

const char *ssh_console_text(struct ssh_console *c, size_t *n)
{
	long long since = size_of(c) - c->mark;

	str_clear(&c->text);
	if (since > 0)
		fs_read_tail(c->path, since < SEEN_MAX ? (size_t)since : SEEN_MAX, &c->text, NULL);
	*n = c->text.len;
	return str_text(&c->text);
}

enum console_sign ssh_console_scan(struct ssh_console *c, const char *until, char *line,
				   size_t size)
{
	_cleanup_free_ char *name = xasprintf("Linux version %s ", until ? until : "");
	const char *text, *at;
	size_t n;

	text = ssh_console_text(c, &n);
	at = until && n ? memmem(text, n, name, strlen(name)) : NULL;
	return console_scan(text, at ? (size_t)(at - text) : n, line, size);
}
