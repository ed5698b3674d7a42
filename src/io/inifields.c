/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections of plain texts and lists: what workloads and machine profiles are made of. */
#include "io/inifields.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 16

int inifields_section_line(const struct inifile *f, const char *section)
{
	for (size_t i = 0; i < f->n_sections; i++) {
		if (str_eq(f->section[i], section))
			return f->section_line[i];
	}
	return 1;
}

char *inifields_join_lines(const char *value)
{
	char *joined = xstrdup(value);

	for (char *c = strchr(joined, '\n'); c; c = strchr(c, '\n'))
		*c = ' ';
	return joined;
}

/* "patch.NAME" stands for all that start with "patch.". */
static bool has_name(const char *const *names, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i < n; i++) {
		size_t fixed = strlen(names[i]);
		bool open = str_ends(names[i], ".NAME");

		fixed -= open ? strlen("NAME") : 0;
		if ((open ? len > fixed : len == fixed) && !memcmp(names[i], word, fixed))
			return true;
	}
	return false;
}

bool inifields_check_lines(const struct inifile_entry *entry, const char *const *names, size_t n,
			   struct faults *faults)
{
	for (const char *s = strchr(entry->value, '\n'); s; s = strchr(s, '\n')) {
		size_t len = strcspn(++s, "= \t\n");

		if (s[len] != '=' || !has_name(names, n, s, len))
			continue;
		faults_add(
			faults, (struct fault_at){ .line = entry->line },
			"'%.*s=' on an indented line below '%s' would be part of its value (start "
			"keys in the first column, or join it to the line above)",
			(int)len, s, entry->key);
		return false;
	}
	return true;
}

/* Store the value of one entry, or say what is wrong with it. */
static void set_field(const struct inifield *field, const struct inifile_entry *entry, void *base,
		      struct faults *faults)
{
	void *at = (char *)base + field->offset;
	struct fault_at line = { .line = entry->line };
	_cleanup_free_ char *text = inifields_join_lines(entry->value);
	_cleanup_free_ char *shown = faults_quote(text);

	if (field->required && !*text)
		faults_add(faults, line, "'%s' has no value (give it one)", field->key);
	if (field->kind == INIFIELD_LINE && strchr(entry->value, '\n'))
		faults_add(faults, line,
			   "'%s' goes on in an indented line, but takes one line only", field->key);
	if (field->kind == INIFIELD_WORDS) {
		if (str_split_words(text, at, NULL) < 0)
			faults_add(faults, line,
				   "bad list of words '%s' for %s (a quote is open, or a backslash "
				   "ends it)",
				   shown, field->key);
		return;
	}
	free(*(char **)at);
	*(char **)at = text;
	text = NULL;
}

/* The field named @key, NULL: none. */
static const struct inifield *find_field(const struct inifield *fields, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++) {
		if (str_eq(fields[i].key, key))
			return &fields[i];
	}
	return NULL;
}

static bool is_given(const struct inifile *f, const char *section, const char *key)
{
	for (size_t i = 0; i < f->n; i++) {
		if (str_eq(f->entry[i].section, section) && str_eq(f->entry[i].key, key))
			return true;
	}
	return false;
}

/* One entry of the section: a field, or a mistake. */
static void take_entry(const struct inifield *fields, size_t n, const struct inifile_entry *entry,
		       void *base, struct faults *faults)
{
	const struct inifield *field = find_field(fields, n, entry->key);
	_cleanup_free_ char *where = xasprintf(" in [%s]", entry->section);
	const char *names[FIELDS_MAX];

	for (size_t i = 0; i < n; i++)
		names[i] = fields[i].key;
	if (!field)
		faults_unknown(faults, (struct fault_at){ .line = entry->line }, "key", entry->key,
			       where, names, n);
	else if (inifields_check_lines(entry, names, n, faults))
		set_field(field, entry, base, faults);
}

void inifields_take(const struct inifile *f, const char *section, const struct inifield *fields,
		    size_t n, void *base, struct faults *faults)
{
	struct fault_at header = { .line = inifields_section_line(f, section) };

	for (size_t i = 0; i < n; i++) {
		if (fields[i].kind != INIFIELD_WORDS)
			*(char **)((char *)base + fields[i].offset) = xstrdup("");
		if (fields[i].required && !is_given(f, section, fields[i].key))
			faults_add(faults, header,
				   "'%s' is missing in [%s] (add a line '%s = ...')", fields[i].key,
				   section, fields[i].key);
	}
	for (size_t i = 0; i < f->n; i++) {
		if (str_eq(f->entry[i].section, section))
			take_entry(fields, n, &f->entry[i], base, faults);
	}
}

void inifields_release(const struct inifield *fields, size_t n, void *base)
{
	for (size_t i = 0; i < n; i++) {
		void *at = (char *)base + fields[i].offset;

		if (fields[i].kind == INIFIELD_WORDS)
			strv_release(at);
		else
			str_freep(at);
	}
}
