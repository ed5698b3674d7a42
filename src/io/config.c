/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Campaign files: from the lines of a file and -o settings to a checked struct config. */
#include "io/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "io/config_table.h"
#include "io/inifields.h"

/* More than any section has; checked in keys_of(). */
#define KEYS_MAX 32

/* Of keys that the user names. */
#define NAME_LENGTH_MAX 64
static const char name_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/* One key of those that the user names. Borrowed. */
struct named {
	const struct config_key *k;
	const char *key; /* "patch.x" */
	struct config_given given;
};

/* One load: what was given, and the mistakes found. */
struct load {
	const struct inifile *file;
	struct config *c;
	struct faults faults;
	struct config_given *given; /* one for each key of the table */
	struct named *named;
	size_t n_named, named_room;
	struct strv texts;   /* values of -o, and values with their lines joined */
	struct strv options; /* "section.key" of each -o */
};

static void load_release(struct load *l)
{
	faults_release(&l->faults);
	strv_release(&l->texts);
	strv_release(&l->options);
	free(l->given);
	free(l->named);
}

/* One of the table? */
static bool is_section(const char *name)
{
	for (size_t i = 0; i < config_sections_size; i++) {
		if (str_eq(config_sections[i].name, name))
			return true;
	}
	return false;
}

/* Said once for each header, not for each of its keys. */
static void unknown_section(struct load *l, struct fault_at at, const char *name)
{
	const char *names[16];

	for (size_t i = 0; i < config_sections_size; i++)
		names[i] = config_sections[i].name;
	faults_unknown(&l->faults, at, "section", name, "", names, config_sections_size);
}

/* The keys of [@section] into @names, at most KEYS_MAX. Returns how many. */
static size_t keys_of(const char *section, const char **names)
{
	size_t n = 0;

	for (size_t i = 0; i < config_table_size && n < KEYS_MAX; i++) {
		if (str_eq(config_table[i].section, section))
			names[n++] = config_table[i].key;
	}
	return n;
}

/* A key that [@section] does not have: of another section, or misspelt. */
static void unknown_key(struct load *l, struct fault_at at, const char *section, const char *key)
{
	_cleanup_free_ char *shown = faults_quote(key);
	_cleanup_free_ char *where = xasprintf(" in [%s]", section);
	const char *names[KEYS_MAX];
	size_t n = keys_of(section, names);

	for (size_t i = 0; i < config_table_size; i++) {
		const struct config_key *k = &config_table[i];

		if (config_key_is(k, key)) {
			faults_add(&l->faults, at, "unknown key '%s' in [%s] (it belongs to [%s])",
				   shown, section, k->section);
			return;
		}
	}
	faults_unknown(&l->faults, at, "key", key, where, names, n);
}

/* Of several for one name the last counts. */
static void note_named(struct load *l, const struct config_key *k, const char *key,
		       struct config_given given)
{
	size_t i = 0;

	while (i < l->n_named && !str_eq(l->named[i].key, key))
		i++;
	if (i == l->n_named) {
		xgrow(&l->named, &l->named_room, i + 1, sizeof(*l->named));
		l->n_named++;
	}
	l->named[i] = (struct named){ .k = k, .key = key, .given = given };
}

/* What is given for key @i of the table, as @key in the file or in -o. */
static void note(struct load *l, size_t i, const char *key, struct config_given given)
{
	const char *name = config_key_name(&config_table[i], key);
	_cleanup_free_ char *shown = faults_quote(key);

	if (!name)
		l->given[i] = given;
	else if (*name && strlen(name) <= NAME_LENGTH_MAX && !name[strspn(name, name_bytes)])
		note_named(l, &config_table[i], key, given);
	else
		faults_add(&l->faults, given.at,
			   "bad name in '%s' (write %s, with a NAME of letters, digits, '_' and "
			   "'-', up to %d)",
			   shown, config_table[i].key, NAME_LENGTH_MAX);
}

/* One line of the file: noted for its key, or a mistake. */
static void take_entry(struct load *l, const struct inifile_entry *entry)
{
	int i = config_index(entry->section, entry->key);
	struct fault_at at = { .line = entry->line };
	const char *names[KEYS_MAX];

	/* said once, at its header */
	if (!is_section(entry->section))
		return;
	if (i < 0)
		unknown_key(l, at, entry->section, entry->key);
	else if (inifields_check_lines(entry, names, keys_of(entry->section, names), &l->faults))
		note(l, (size_t)i, entry->key,
		     (struct config_given){ .text = entry->value, .at = at });
}

/* Everything that the file gives. Keys that it does not give are placed at their section. */
static void take_file(struct load *l)
{
	for (size_t i = 0; i < config_table_size; i++)
		l->given[i].at.line = inifields_section_line(l->file, config_table[i].section);
	for (size_t i = 0; i < l->file->n_sections; i++) {
		if (!is_section(l->file->section[i]))
			unknown_section(l, (struct fault_at){ .line = l->file->section_line[i] },
					l->file->section[i]);
	}
	for (size_t i = 0; i < l->file->n; i++)
		take_entry(l, &l->file->entry[i]);
}

/* @s without the blanks around it. Owned. */
static char *trim(const char *s, size_t n)
{
	while (n > 0 && (*s == ' ' || *s == '\t'))
		s++, n--;
	while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	return xstrndup(s, n);
}

/* Bytes that inifile.c would refuse in a file. */
static bool has_control(const char *s)
{
	for (; *s; s++) {
		if (((unsigned char)*s < 0x20 && *s != '\t') || *s == 0x7f)
			return true;
	}
	return false;
}

/* "section.key=value" of a -o. The last of several for one key counts. */
static void take_option(struct load *l, const char *setting)
{
	const char *eq = strchr(setting, '=');
	_cleanup_free_ char *name = trim(setting, eq ? (size_t)(eq - setting) : strlen(setting));
	_cleanup_free_ char *shown = faults_quote(name), *section = NULL;
	struct fault_at at = { .option = shown };
	const char *dot = strchr(name, '.');
	int i;

	section = xstrndup(name, dot ? (size_t)(dot - name) : 0);
	if (!eq || !dot || dot == name || !dot[1]) {
		faults_add(&l->faults, at, "not a setting (write -o section.key=value)");
		return;
	}
	if (!is_section(section)) {
		unknown_section(l, at, section);
		return;
	}
	i = config_index(section, dot + 1);
	if (i < 0) {
		unknown_key(l, at, section, dot + 1);
		return;
	}
	if (has_control(eq + 1)) {
		faults_add(&l->faults, at, "the value has control bytes (remove them)");
		return;
	}
	strv_take(&l->options, xstrdup(name));
	strv_take(&l->texts, trim(eq + 1, strlen(eq + 1)));
	at.option = l->options.v[l->options.n - 1];
	note(l, (size_t)i, at.option + strlen(section) + 1,
	     (struct config_given){ .text = l->texts.v[l->texts.n - 1], .at = at });
}

bool config_applies(const struct config *c, const struct config_key *k)
{
	switch (k->applies) {
	case FOR_QEMU:
		return c->target.type == TARGET_QEMU;
	case FOR_COMMAND:
		return c->target.type == TARGET_COMMAND;
	case FOR_KERNEL:
		return c->build.type == BUILD_KERNEL;
	case FOR_SSH:
		return c->target.type == TARGET_SSH;
	case FOR_BOOTED:
		return c->target.type == TARGET_QEMU || c->target.type == TARGET_SSH;
	default:
		return true;
	}
}

/* A key that has no effect is a misunderstanding: say so. */
static void not_for_this_type(struct load *l, const struct config_key *k, struct fault_at at)
{
	static const char *const type[] = {
		[FOR_QEMU] = "type = qemu in [target]",
		[FOR_COMMAND] = "type = command in [target]",
		[FOR_KERNEL] = "type = kernel in [build]",
		[FOR_SSH] = "type = ssh in [target]",
		[FOR_BOOTED] = "type = qemu and type = ssh in [target]",
	};

	faults_add(&l->faults, at, "'%s' is for %s only (remove it, or change the type)", k->key,
		   type[k->applies]);
}

/* The value of a key that was not given. */
static void parse_default(struct load *l, const struct config_key *k, struct fault_at at,
			  void *field)
{
	bool is_ssh = l->c->target.type == TARGET_SSH;
	const char *text = is_ssh && k->ssh_def ? k->ssh_def : k->def;
	struct err e = ERR_INIT;

	if ((k->flags & KEY_REQUIRED) && config_applies(l->c, k)) {
		faults_add(&l->faults, at, "'%s' is missing in [%s] (add a line '%s = ...')",
			   k->key, k->section, k->key);
		return;
	}
	if (!text)
		return;
	if ((k->flags & KEY_QEMU_DEFAULT) &&
	    !(config_applies(l->c, k) && l->c->target.type == TARGET_QEMU))
		text = "";
	if (k->kind->parse(l->c, k, text, field, &e) < 0)
		faults_add(&l->faults, at, "default of '%s': %s", k->key, e.msg);
}

/* The lines of a value as one, where its kind allows that; NULL: it does not. Borrowed. */
static const char *join_lines(struct load *l, const struct config_key *k, const char *text)
{
	if (!strchr(text, '\n'))
		return text;
	if (!k->kind->joins_lines)
		return NULL;
	strv_take(&l->texts, inifields_join_lines(text));
	return l->texts.v[l->texts.n - 1];
}

/* The value of a key that was given: the checks that all kinds share, then its own. */
static void parse_given(struct load *l, const struct config_key *k, const struct config_given *g,
			void *field)
{
	const char *text = join_lines(l, k, g->text);
	struct err e = ERR_INIT;

	if (!text) {
		faults_add(&l->faults, g->at,
			   "'%s' goes on in an indented line, but takes one line only", k->key);
		return;
	}
	if (!*text && !(k->flags & KEY_EMPTY_OK)) {
		faults_add(&l->faults, g->at, "'%s' has no value (remove the line%s)", k->key,
			   k->flags & (KEY_REQUIRED | KEY_NAMED) ? " or give it one"
								 : " for its default");
		return;
	}
	if (*text && !config_applies(l->c, k)) {
		not_for_this_type(l, k, g->at);
		return;
	}
	if (k->kind->parse(l->c, k, text, field, &e) < 0)
		faults_add(&l->faults, g->at, "%s", e.msg);
}

/* Where the value is from, for config_where(). Owned. */
static char *place(const struct load *l, const struct config_given *g)
{
	if (!g->text)
		return xstrdup(l->file->path);
	return g->at.option ? xasprintf("-o %s", g->at.option)
			    : xasprintf("%s:%d", l->file->path, g->at.line);
}

static void parse_named(struct load *l, const struct named *named)
{
	struct config_key k = *named->k;
	struct config_patches *p = config_field(l->c, &k);

	k.key = named->key;
	p->v = xrealloc(p->v, p->n + 1, sizeof(*p->v));
	p->v[p->n] = (struct config_patch){ .name = xstrdup(config_key_name(named->k, k.key)),
					    .where = place(l, &named->given) };
	parse_given(l, &k, &named->given, &p->v[p->n++]);
}

static void parse_key(struct load *l, size_t i)
{
	const struct config_key *k = &config_table[i];
	const struct config_given *g = &l->given[i];

	if (k->flags & KEY_NAMED)
		return;
	if (g->text)
		parse_given(l, k, g, config_field(l->c, k));
	else
		parse_default(l, k, g->at, config_field(l->c, k));
}

/* Types first: they decide which keys and defaults count. False: one of them is wrong. */
static bool parse_types(struct load *l)
{
	size_t before = l->faults.total;

	for (size_t i = 0; i < config_table_size; i++) {
		if (config_table[i].flags & KEY_TYPE)
			parse_key(l, i);
	}
	return l->faults.total == before;
}

static void parse_others(struct load *l)
{
	for (size_t i = 0; i < config_table_size; i++) {
		if (!(config_table[i].flags & KEY_TYPE))
			parse_key(l, i);
	}
	for (size_t i = 0; i < l->n_named; i++)
		parse_named(l, &l->named[i]);
}

/* Any file name is a name of a campaign once the bytes that could hurt are replaced. */
static char *name_of_file(const char *path)
{
	const char *base = strrchr(path, '/');
	char *name = xstrdup(base ? base + 1 : path);

	if (str_ends(name, ".ini") && strlen(name) > strlen(".ini"))
		name[strlen(name) - strlen(".ini")] = '\0';
	for (char *c = name; *c; c++) {
		bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
			     (*c >= '0' && *c <= '9') || strchr("_.-", *c);

		if (!plain || (c == name && (*c == '.' || *c == '-')))
			*c = '_';
	}
	return name;
}

/* Defaults that depend on other values. */
static void derive(struct config *c)
{
	_cleanup_free_ char *state = NULL;

	if (!c->campaign.name)
		c->campaign.name = name_of_file(c->path);
	if (!c->campaign.state) {
		state = fs_state_dir();
		c->campaign.state = fs_join(state, c->campaign.name);
	}
}

/* For config_where(), and for who asks whether better was given. */
static void note_places(struct load *l)
{
	l->c->given = xcalloc(config_table_size, sizeof(*l->c->given));
	for (size_t i = 0; i < config_table_size; i++) {
		const struct config_given *g = &l->given[i];

		l->c->given[i] = g->text != NULL;
		strv_take(&l->c->where, place(l, g));
	}
	l->c->better_given = l->given[config_index("verdict", "better")].text != NULL;
}

static void set_folder(struct config *c, const char *path)
{
	_cleanup_free_ char *dir = fs_dirname(path);
	const char *base = strrchr(path, '/');

	/* the folder where the file is named, also when it is a link to elsewhere */
	c->dir = fs_absolute(dir);
	c->path = fs_join(c->dir, base ? base + 1 : path);
}

/* @c may hold values on failure: the caller releases it. */
static int load(const struct inifile *f, const struct strv *overrides, struct config *c,
		struct err *e)
{
	_cleanup_(load_release) struct load l = {
		.file = f,
		.c = c,
		.faults = { .path = f->path },
		.given = xcalloc(config_table_size, sizeof(struct config_given)),
	};

	set_folder(c, f->path);
	take_file(&l);
	for (size_t i = 0; overrides && i < overrides->n; i++)
		take_option(&l, overrides->v[i]);
	note_places(&l);
	if (parse_types(&l))
		parse_others(&l);
	if (l.faults.total == 0) {
		derive(c);
		config_check(c, l.given, &l.faults);
	}
	return faults_end(&l.faults, e);
}

static int from_inifile(const struct inifile *f, const struct strv *overrides, struct config *out,
			struct err *e)
{
	struct config c = { .path = NULL };

	if (load(f, overrides, &c, e) < 0) {
		config_release(&c);
		return -1;
	}
	*out = c;
	return 0;
}

int config_load(const char *path, const struct strv *overrides, struct config *out, struct err *e)
{
	_cleanup_(inifile_release) struct inifile f = { .path = NULL };

	if (inifile_read(path, &f, e) < 0)
		return -1;
	return from_inifile(&f, overrides, out, e);
}

int config_parse(const char *path, const char *text, size_t n, const struct strv *overrides,
		 struct config *out, struct err *e)
{
	_cleanup_(inifile_release) struct inifile f = { .path = NULL };

	if (inifile_parse(path, text, n, &f, e) < 0)
		return -1;
	return from_inifile(&f, overrides, out, e);
}

void config_release(struct config *c)
{
	for (size_t i = 0; i < config_table_size; i++) {
		const struct config_key *k = &config_table[i];

		if (k->kind->release)
			k->kind->release(config_field(c, k));
	}
	strv_release(&c->where);
	free(c->given);
	free(c->path);
	free(c->dir);
	*c = (struct config){ .path = NULL };
}
