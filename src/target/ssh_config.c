/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ~/.ssh/config says of a host. */
#include "target/ssh_config_internal.h"

#include <ctype.h>
#include <glob.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "target/ssh_match.h"

#define FILE_MAX_BYTES (4u << 20)
#define DEPTH_MAX 16
/* All files together: a file that includes itself twice would double with each level. */
#define FILES_MAX 256
#define PORT_DEFAULT 22

/* A file's name as it stands in the configuration; expanded once host and user are known. */
struct named_file {
	char *text;
	char *where; /* "path:line" */
};

struct file_list {
	struct named_file *file;
	size_t n, room;
};

/* Reading, across all files. */
struct reader {
	const struct ssh_config_query *q;
	const char *home;
	struct ssh_config *c;
	char *host_name; /* as it stands */
	struct file_list identities, known_hosts;
	bool is_proxied;
	unsigned files, depth;
	bool is_active;  /* the lines here are for our host */
	bool is_never;   /* included from lines that are not */
	bool is_users;   /* relative includes are below ~/.ssh, and others must not write it */
	bool is_located; /* the message has its file and line */
	const char *path;
	int line;
};

static void file_list_release(struct file_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->file[i].text);
		free(l->file[i].where);
	}
	free(l->file);
}

static void reader_release(struct reader *r)
{
	free(r->host_name);
	file_list_release(&r->identities);
	file_list_release(&r->known_hosts);
}

void ssh_config_release(struct ssh_config *c)
{
	free(c->host_name);
	free(c->user);
	strv_release(&c->identities);
	strv_release(&c->known_hosts);
	strv_release(&c->notes);
	memset(c, 0, sizeof(*c));
}

static void list_add(const struct reader *r, struct file_list *l, const char *text)
{
	xgrow(&l->file, &l->room, l->n + 1, sizeof(*l->file));
	l->file[l->n].text = xstrdup(text);
	l->file[l->n++].where = xasprintf("%s:%d", r->path, r->line);
}

static void note(struct reader *r, const char *text)
{
	strv_addf(&r->c->notes, "%s:%d: %s", r->path, r->line, text);
}

/* ---- keywords ------------------------------------------------------------------------------ */

static int take_host_name(struct reader *r, const struct strv *words, struct err *e)
{
	(void)e;
	if (!r->host_name)
		r->host_name = xstrdup(words->v[0]);
	return 0;
}

static int take_user(struct reader *r, const struct strv *words, struct err *e)
{
	(void)e;
	if (!r->c->user)
		r->c->user = xstrdup(words->v[0]);
	return 0;
}

static int take_port(struct reader *r, const struct strv *words, struct err *e)
{
	const char *text = words->v[0];
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (*end || text[0] < '0' || text[0] > '9' || port < 1 || port > 65535) {
		_cleanup_free_ char *shown = ssh_config_shown(text);

		return err_set(e, ERR_CONFIG, "'%s' is not a port", shown);
	}
	if (!r->c->port)
		r->c->port = (unsigned)port;
	return 0;
}

static int take_identity(struct reader *r, const struct strv *words, struct err *e)
{
	(void)e;
	/* The same file in two blocks is one. */
	for (size_t i = 0; i < r->identities.n; i++)
		if (str_eq(r->identities.file[i].text, words->v[0]))
			return 0;
	list_add(r, &r->identities, words->v[0]);
	return 0;
}

static int take_known_hosts(struct reader *r, const struct strv *words, struct err *e)
{
	(void)e;
	if (r->known_hosts.n)
		return 0;
	for (size_t i = 0; i < words->n; i++)
		list_add(r, &r->known_hosts, words->v[i]);
	return 0;
}

/* Without it another machine would be spoken to, or none: worth a word. */
static int take_proxy(struct reader *r, const struct strv *words, struct err *e)
{
	(void)e;
	if (!r->is_proxied && strcasecmp(words->v[0], "none") != 0)
		note(r, "ProxyJump and ProxyCommand are not supported: the host is connected to "
			"directly");
	r->is_proxied = true;
	return 0;
}

static int take_host(struct reader *r, const struct strv *words, struct err *e)
{
	bool fits = false;

	(void)e;
	for (size_t i = 0; i < words->n; i++) {
		const char *pattern = words->v[i];
		bool negated = pattern[0] == '!';

		if (!ssh_match(r->q->alias, pattern + negated, strlen(pattern + negated)))
			continue;
		fits = !negated;
		if (negated)
			break;
	}
	r->is_active = fits && !r->is_never;
	return 0;
}

static int take_match(struct reader *r, const struct strv *words, struct err *e)
{
	bool is_all = words->n == 1 && !strcasecmp(words->v[0], "all");

	(void)e;
	if (!is_all)
		note(r, "Match is not supported (but 'Match all'): its block is passed over");
	r->is_active = is_all && !r->is_never;
	return 0;
}

static int take_include(struct reader *r, const struct strv *words, struct err *e);

static const struct keyword {
	const char *name;
	int (*take)(struct reader *r, const struct strv *words, struct err *e);
	bool is_single; /* exactly one word */
	bool is_always; /* also where the lines are not for our host */
} keywords[] = {
	{ "host", take_host, false, true },
	{ "match", take_match, false, true },
	{ "include", take_include, false, true },
	{ "hostname", take_host_name, true, false },
	{ "port", take_port, true, false },
	{ "user", take_user, true, false },
	{ "identityfile", take_identity, true, false },
	{ "userknownhostsfile", take_known_hosts, false, false },
	{ "proxyjump", take_proxy, false, false },
	{ "proxycommand", take_proxy, false, false },
};

static const struct keyword *find_keyword(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (!strcasecmp(name, keywords[i].name))
			return &keywords[i];
	return NULL;
}

static int take_line(struct reader *r, const char *line, struct err *e)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_strv_ struct strv words = STRV_INIT;
	const struct keyword *k;
	struct err why = ERR_INIT;
	int got = ssh_config_split(line, &name, &words, &why);

	if (got == 0)
		return 0;
	k = find_keyword(name);
	/* What does not concern us is ssh's to judge. */
	if (!k || (!r->is_active && !k->is_always))
		return 0;
	if (got < 0)
		return err_set(e, ERR_CONFIG, "%s", why.msg);
	if (!words.n)
		return err_set(e, ERR_CONFIG, "%s without a value", name);
	if (k->is_single && words.n > 1)
		return err_set(e, ERR_CONFIG, "%s has more than one value", name);
	return k->take(r, &words, e);
}

/* ---- files --------------------------------------------------------------------------------- */

static int take_text(struct reader *r, const char *text, size_t n, struct err *e)
{
	if (memchr(text, 0, n))
		return err_set(e, ERR_CONFIG, "'%s' is not a text", r->path);
	for (size_t at = 0; at < n;) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - (text + at)) : n - at;
		_cleanup_free_ char *line = xstrndup(text + at, len);

		r->line++;
		if (take_line(r, line, e) < 0) {
			if (!r->is_located)
				err_wrap(e, "%s:%d", r->path, r->line);
			r->is_located = true;
			return -1;
		}
		at += len + 1;
	}
	return 0;
}

/* As ssh: a file of the user's that others can write could send us anywhere. */
static int check_owner(const struct reader *r, struct err *e)
{
	struct stat st;

	if (!r->is_users || stat(r->path, &st) < 0)
		return 0;
	if ((st.st_uid != 0 && st.st_uid != getuid()) || (st.st_mode & 022) != 0)
		return err_set(e, ERR_CONFIG,
			       "'%s' can be written by others (chmod go-w '%s', own it)", r->path,
			       r->path);
	return 0;
}

static int take_file(struct reader *r, const char *path, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	struct err why = ERR_INIT;

	if (r->files++ >= FILES_MAX || r->depth > DEPTH_MAX)
		return err_set(e, ERR_CONFIG, "too many files are included");
	if (fs_read(path, FILE_MAX_BYTES, &text, &why) < 0) {
		if (why.code == ERR_NOT_FOUND)
			return 0;
		return err_set(e, ERR_CONFIG, "%s", why.msg);
	}
	r->path = path;
	r->line = 0;
	if (check_owner(r, e) < 0)
		return -1;
	return take_text(r, str_text(&text), text.len, e);
}

/* An included file starts with what holds at the include, and what it ends with is forgotten. */
static int include_file(struct reader *r, const char *path, struct err *e)
{
	const struct reader saved = *r;
	int ret;

	r->depth++;
	r->is_never = !r->is_active;
	ret = take_file(r, path, e);
	r->depth = saved.depth;
	r->is_active = saved.is_active;
	r->is_never = saved.is_never;
	r->path = saved.path;
	r->line = saved.line;
	return ret;
}

static int include_pattern(struct reader *r, const char *pattern, struct err *e)
{
	glob_t found;
	int ret = 0;

	if (glob(pattern, GLOB_NOCHECK, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc && ret == 0; i++)
		ret = include_file(r, found.gl_pathv[i], e);
	globfree(&found);
	return ret;
}

static int take_include(struct reader *r, const struct strv *words, struct err *e)
{
	const struct ssh_config_names names = {
		.home = r->home, .alias = "", .host_name = "", .user = ""
	};

	if (!r->home)
		return 0; /* bytes of a test: no files */
	for (size_t i = 0; i < words->n; i++) {
		const char *text = words->v[i];
		_cleanup_free_ char *full = NULL;

		if (text[0] == '~')
			full = ssh_config_expand_path(text, &names, e);
		else if (text[0] == '/')
			full = xstrdup(text);
		else if (r->is_users)
			full = xasprintf("%s/.ssh/%s", r->home, text);
		else
			full = xasprintf("/etc/ssh/%s", text);
		if (!full || include_pattern(r, full, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- the end: names are known, files can be -------------------------------------------------- */

static int expand_files(const struct file_list *l, const struct ssh_config_names *names,
			struct strv *out, struct err *e)
{
	for (size_t i = 0; i < l->n; i++) {
		struct err why = ERR_INIT;
		char *path;

		if (!strcasecmp(l->file[i].text, "none")) {
			strv_add(out, "none");
			continue;
		}
		path = ssh_config_expand_path(l->file[i].text, names, &why);
		if (!path)
			return err_set(e, ERR_CONFIG, "%s: %s", l->file[i].where, why.msg);
		strv_take(out, path);
	}
	return 0;
}

static int finish(struct reader *r, struct err *e)
{
	const struct passwd *pw = getpwuid(getuid());
	const char *user = r->q->user ? r->q->user : r->c->user;
	struct ssh_config_names names = { .home = r->home ? r->home : "/", .alias = r->q->alias };

	if (r->host_name)
		r->c->host_name = ssh_config_expand_host(r->host_name, r->q->alias, e);
	else
		r->c->host_name = xstrdup(r->q->alias);
	if (!r->c->host_name)
		return -1;
	for (char *p = r->c->host_name; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (r->q->user) {
		free(r->c->user);
		r->c->user = xstrdup(r->q->user);
	}
	if (r->q->port)
		r->c->port = r->q->port;
	names.host_name = r->c->host_name;
	names.user = user ? user : pw ? pw->pw_name : "";
	names.port = r->c->port ? r->c->port : PORT_DEFAULT;
	if (expand_files(&r->identities, &names, &r->c->identities, e) < 0)
		return -1;
	return expand_files(&r->known_hosts, &names, &r->c->known_hosts, e);
}

int ssh_config_parse(const char *path, const char *text, size_t n, const struct ssh_config_query *q,
		     struct ssh_config *c, struct err *e)
{
	_cleanup_(reader_release) struct reader r = {
		.q = q, .c = c, .path = path, .is_active = true
	};

	if (take_text(&r, text, n, e) < 0)
		return -1;
	return finish(&r, e);
}

int ssh_config_read(const struct strv *paths, const struct ssh_config_query *q,
		    struct ssh_config *c, struct err *e)
{
	_cleanup_free_ char *home = q->home ? xstrdup(q->home) : ssh_config_home();
	_cleanup_(reader_release) struct reader r = { .q = q, .home = home, .c = c };
	_cleanup_strv_ struct strv usual = STRV_INIT;

	if (!paths) {
		strv_addf(&usual, "%s/.ssh/config", home);
		strv_add(&usual, "/etc/ssh/ssh_config");
		paths = &usual;
	}
	for (size_t i = 0; i < paths->n; i++) {
		r.is_active = true;
		r.is_users = !str_starts(paths->v[i], "/etc/");
		if (take_file(&r, paths->v[i], e) < 0)
			return -1;
	}
	return finish(&r, e);
}
