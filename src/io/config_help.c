/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person sees of the table of keys: help, the effective campaign, the list of keys. */
#include <string.h>

#include "io/config_table.h"

#define COLUMNS 80

static const char head[] =
	"A campaign file describes one hunt. It has [sections] with lines 'key = value'.\n"
	"\n"
	"Keys and sections start in the first column; a long value goes on in indented\n"
	"lines. Comments stand on lines of their own, with '#' or ';' first; inside a\n"
	"value these are part of it. Relative paths are relative to the file. Lists and\n"
	"commands are split into words as a shell does (quotes, backslashes).\n"
	"\n"
	"  duration   500ms, 90s, 10m, 2h, 1d, 1h30m\n"
	"  size       512K, 512M, 2G, 1T (powers of 1024)\n"
	"  share      95% or 0.95\n"
	"\n"
	"Every key can be given on the command line: -o verdict.threshold=+10%\n";

/* @text in lines of at most COLUMNS, each after @indent blanks. */
static void add_wrapped(struct str *out, const char *text, size_t indent)
{
	size_t column = 0;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column > 0 && column + 1 + n > COLUMNS) {
			str_add(out, "\n");
			column = 0;
		}
		if (column == 0)
			str_addf(out, "%*s", (int)indent, "");
		else
			str_add(out, " ");
		column = (column ? column + 1 : indent) + n;
		str_addmem(out, text, n);
		text += n + strspn(text + n, " ");
	}
	str_add(out, "\n");
}

/* "lower | higher | auto" */
static void add_type(struct str *out, const struct config_key *k)
{
	const char *separator = "";

	if (k->kind->type) {
		str_add(out, k->kind->type);
		return;
	}
	for (const struct config_choice *c = k->choices; c->name; c++) {
		str_addf(out, "%s%s", separator, c->name);
		separator = " | ";
	}
}

static void add_default(struct str *out, const struct config_key *k)
{
	if (k->flags & KEY_REQUIRED)
		str_add(out, "   (required)");
	else if (k->def && *k->def)
		str_addf(out, "   (default: %s%s%s)", k->def, k->ssh_def ? "; ssh: " : "",
			 k->ssh_def ? k->ssh_def : "");
	else if (k->def)
		str_add(out, "   (default: none)");
}

static void add_key(struct str *out, const struct config_key *k)
{
	static const char *const applies[] = {
		[FOR_ALL] = "",
		[FOR_QEMU] = " Only for type = qemu.",
		[FOR_COMMAND] = " Only for type = command.",
		[FOR_KERNEL] = "",
		[FOR_SSH] = " Only for type = ssh.",
		[FOR_BOOTED] = " Only for type = qemu and type = ssh.",
	};
	_cleanup_str_ struct str text = STR_INIT;

	str_addf(out, "\n  %s = ", k->key);
	add_type(out, k);
	add_default(out, k);
	str_add(out, "\n");
	str_addf(&text, "%s%s", k->help, applies[k->applies]);
	add_wrapped(out, str_text(&text), 6);
}

void config_help(struct str *out)
{
	str_add(out, head);
	for (size_t s = 0; s < config_sections_size; s++) {
		str_addf(out, "\n[%s]  %s\n", config_sections[s].name, config_sections[s].help);
		for (size_t i = 0; i < config_table_size; i++) {
			if (str_eq(config_table[i].section, config_sections[s].name))
				add_key(out, &config_table[i]);
		}
	}
}

void config_keys(struct strv *out)
{
	for (size_t i = 0; i < config_table_size; i++)
		strv_addf(out, "%s.%s", config_table[i].section, config_table[i].key);
}

static bool is_left_out(const struct config *c, const struct config_key *k)
{
	if (!config_applies(c, k))
		return true;
	/* not given is not the same as empty: the workload's own arguments, its idea of better */
	if (k->kind->format == config_format_text && !*(char *const *)config_field(c, k))
		return true;
	return str_eq(k->key, "better") && !c->better_given;
}

/* "section.patch.x = value" each. */
static void dump_named(const struct config *c, const struct config_key *k, struct str *out)
{
	const struct config_patches *p = config_field(c, k);

	for (size_t i = 0; i < p->n; i++) {
		str_addf(out, "%s.%.*s%s = ", k->section, (int)(strcspn(k->key, ".") + 1), k->key,
			 p->v[i].name);
		k->kind->format(k, &p->v[i], out);
		str_add(out, "\n");
	}
}

void config_dump(const struct config *c, struct str *out)
{
	for (size_t i = 0; i < config_table_size; i++) {
		const struct config_key *k = &config_table[i];
		size_t end;

		if (is_left_out(c, k))
			continue;
		if (k->flags & KEY_NAMED) {
			dump_named(c, k, out);
			continue;
		}
		str_addf(out, "%s.%s =", k->section, k->key);
		end = out->len;
		str_add(out, " ");
		k->kind->format(k, config_field(c, k), out);
		/* no blank at the end of a line without a value */
		if (out->len == end + 1)
			out->buf[--out->len] = '\0';
		str_add(out, "\n");
	}
}
