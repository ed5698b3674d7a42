/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A strict reader of INI files (libinih) with its traps closed (FACTS.md 6). */
#include "io/inifile.h"

#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "io/faults.h"

#define FILE_MAX (1u << 20)
/* Looking for duplicates compares each with each. */
#define ITEMS_MAX 4096
/* libinih keeps 49 bytes of a section's name and drops the rest in silence. */
#define SECTION_MAX 49
/* Stands for ':' in a key while libinih looks at the line; no file may hold it. */
#define COLON_MARK '\001'

/* What an indented line would continue. */
enum open_key { OPEN_NONE = 0, OPEN_KEY, OPEN_BAD };

struct reader {
	const char *text;
	size_t n, pos;
	int line;          /* of the line given last */
	bool indented;     /* that line is a continuation */
	bool skip_section; /* its header was wrong: its keys are no mistakes of their own */
	enum open_key open;
	struct inifile *out;
	struct faults *faults;
	size_t room, section_room, line_room;
	size_t value_len, value_room; /* of the last entry */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void __attribute__((format(printf, 2, 3))) fault(struct reader *r, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	faults_add(r->faults, (struct fault_at){ .line = r->line }, "%s", text);
}

/* A fault that ends in the line it is about. */
static bool fault_line(struct reader *r, const char *what, const char *line, const char *remedy)
{
	_cleanup_free_ char *shown = faults_quote(line);

	fault(r, "%s '%s' (%s)", what, shown, remedy);
	return false;
}

/* Bytes that no text file has; the rest of the line is not looked at then. */
static bool check_bytes(struct reader *r, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x20 ? c != 0x7f : c == '\t')
			continue;
		if (c == 0)
			fault(r, "NUL byte in column %zu (save the file as UTF-8 text)", i + 1);
		else
			fault(r, "control byte 0x%02x in column %zu (remove it)", c, i + 1);
		return false;
	}
	return true;
}

/* Stops reading: an endless file should not cost an endless message. */
static bool too_many(struct reader *r)
{
	if (r->out->n + r->out->n_sections < ITEMS_MAX)
		return false;
	fault(r, "more than %d sections and keys (split the file)", ITEMS_MAX);
	r->pos = r->n;
	return true;
}

/* Note the header of the line given last; twice is a mistake, its keys are still read. */
static void add_section(struct reader *r, const char *name, size_t n)
{
	struct inifile *f = r->out;

	for (size_t i = 0; i < f->n_sections; i++) {
		if (strlen(f->section[i]) == n && !memcmp(f->section[i], name, n)) {
			fault(r, "section [%s] appears twice (first in line %d: join them)",
			      f->section[i], f->section_line[i]);
			return;
		}
	}
	xgrow(&f->section, &r->section_room, f->n_sections + 1, sizeof(*f->section));
	xgrow(&f->section_line, &r->line_room, f->n_sections + 1, sizeof(*f->section_line));
	f->section[f->n_sections] = xstrndup(name, n);
	f->section_line[f->n_sections++] = r->line;
}

/* A header in the first column. */
static bool check_section(struct reader *r, const char *line)
{
	const char *end = strchr(line, ']');
	size_t n = end ? (size_t)(end - line) - 1 : 0;

	r->open = OPEN_NONE;
	r->skip_section = true;
	if (!end)
		return fault_line(r, "section header without ']'", line, "write [name]");
	if (n == 0)
		return fault_line(r, "section header without a name", line, "write [name]");
	if (end[1 + strspn(end + 1, " \t")])
		return fault_line(r, "text after a section header", line,
				  "comments and keys stand on lines of their own");
	if (n > SECTION_MAX)
		return fault_line(r, "section name longer than 49 bytes", line, "shorten it");
	if (too_many(r))
		return false;
	r->skip_section = false;
	add_section(r, line + 1, n);
	return true;
}

/*
 * Does indented text look like something that should start in the first column?
 * A boot parameter (a=b) may continue a value, so a key needs a blank beside its '='.
 */
static bool is_displaced(const char *text)
{
	size_t n = strspn(text,
			  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
	const char *eq = text + n + strspn(text + n, " \t");

	if (text[0] == '[')
		return text[1] && !is_blank(text[1]) && text[strlen(text) - 1] == ']' &&
		       !strchr(text + 1, '[');
	return n > 0 && *eq == '=' && (eq > text + n || is_blank(eq[1]) || !eq[1]);
}

static bool check_continuation(struct reader *r, const char *text)
{
	r->indented = true;
	if (r->skip_section || r->open == OPEN_BAD)
		return false;
	if (r->open == OPEN_NONE)
		return fault_line(r, "indented line that continues nothing", text,
				  "keys and sections start in the first column");
	if (is_displaced(text))
		return fault_line(r, "indented line that looks like a key or a section", text,
				  "start it in the first column, or join it to the line above");
	return true;
}

/* A line that should be "key = value". @line is changed: see COLON_MARK. */
static bool check_key(struct reader *r, char *line)
{
	char *eq = strchr(line, '=');

	if (r->skip_section)
		return false;
	r->open = OPEN_BAD;
	if (!eq)
		return fault_line(r, "no '=' in", line, "write key = value");
	if (eq == line)
		return fault_line(r, "no key before '=' in", line, "write key = value");
	if (r->out->n_sections == 0)
		return fault_line(r, "key before any section:", line,
				  "put a header such as [campaign] above it");
	if (too_many(r))
		return false;
	for (char *c = line; c < eq; c++) {
		if (*c == ':')
			*c = COLON_MARK;
	}
	r->open = OPEN_KEY;
	return true;
}

/* Is the line one that libinih shall see? What is wrong is noted. */
static bool check_line(struct reader *r, char *line, size_t n)
{
	const char *start = line + strspn(line, " \t");

	r->indented = false;
	if (!check_bytes(r, line, n)) {
		r->open = OPEN_BAD;
		return false;
	}
	if (!*start || *start == '#' || *start == ';')
		return false;
	if (start > line)
		return check_continuation(r, start);
	return *line == '[' ? check_section(r, line) : check_key(r, line);
}

/* Reader for ini_parse_stream(): one whole line a call, those that are wrong as empty ones. */
static char *next_line(char *buf, int size, void *cookie)
{
	struct reader *r = cookie;
	const char *start = r->text + r->pos, *newline;
	size_t n = r->n - r->pos, next;

	if (r->pos >= r->n)
		return NULL;
	newline = memchr(start, '\n', n);
	n = newline ? (size_t)(newline - start) : n;
	next = r->pos + n + 1;
	if (n > 0 && start[n - 1] == '\r')
		n--;
	r->pos = next;
	r->line++;
	/* cannot be: the buffer is larger than the file (set_options()) */
	if (n + 2 > (size_t)size) {
		fault(r, "line of %zu bytes is longer than libinih takes", n);
		return NULL;
	}
	memcpy(buf, start, n);
	buf[n] = '\0';
	while (n > 0 && is_blank(buf[n - 1]))
		buf[--n] = '\0';
	if (!check_line(r, buf, n))
		n = 0;
	memcpy(buf + n, "\n", 2);
	return buf;
}

/* One more line for the last entry, in amortised linear time. */
static void extend_value(struct reader *r, const char *more)
{
	struct inifile_entry *entry = &r->out->entry[r->out->n - 1];
	size_t n = strlen(more);

	xgrow(&entry->value, &r->value_room, r->value_len + n + 2, 1);
	entry->value[r->value_len++] = '\n';
	memcpy(entry->value + r->value_len, more, n + 1);
	r->value_len += n;
}

/* Note a key that its section has already. */
static bool is_duplicate(struct reader *r, const char *section, const char *key)
{
	for (size_t i = 0; i < r->out->n; i++) {
		const struct inifile_entry *was = &r->out->entry[i];
		_cleanup_free_ char *shown = NULL;

		if (!str_eq(was->section, section) || !str_eq(was->key, key))
			continue;
		shown = faults_quote(key);
		fault(r, "duplicate key '%s' in [%s] (first in line %d: remove one)", shown,
		      section, was->line);
		r->open = OPEN_BAD;
		return true;
	}
	return false;
}

/* Handler of libinih: a key, or one more line of the last one. Never refuses. */
static int take_value(void *cookie, const char *section, const char *name, const char *value)
{
	struct reader *r = cookie;
	struct inifile *f = r->out;
	_cleanup_free_ char *key = xstrdup(name);

	if (r->indented) {
		extend_value(r, value);
		return 1;
	}
	for (char *c = key; *c; c++) {
		if (*c == COLON_MARK)
			*c = ':';
	}
	if (is_duplicate(r, section, key))
		return 1;
	xgrow(&f->entry, &r->room, f->n + 1, sizeof(*f->entry));
	f->entry[f->n++] = (struct inifile_entry){ .section = xstrdup(section),
						   .key = xstrdup(key),
						   .value = xstrdup(value),
						   .line = r->line };
	r->value_len = strlen(value);
	r->value_room = r->value_len + 1;
	return 1;
}

/* libinih's run-time settings are process-wide; nobody else uses it. */
static void set_options(size_t n)
{
	ini_use_stack = 0;
	ini_allow_realloc = 1;
	ini_initial_alloc = (int)n + 16;
	ini_max_line = (int)n + 16;
	ini_allow_inline_comments = 0;
	ini_allow_multiline = 1;
	ini_stop_on_first_error = 0;
	ini_allow_no_value = 0;
}

/* Bytes of a mark to leave out: 3 for UTF-8's; -1: an encoding that we do not read. */
static int byte_order_mark(const char *text, size_t n)
{
	if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		return 3;
	if (n >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
		return -1;
	return 0;
}

/* Drive libinih over the text. */
static void parse_lines(struct reader *r)
{
	int line;

	set_options(r->n);
	line = ini_parse_stream(next_line, r, take_value, r);
	/* every line it could refuse was refused by us before: say so rather than lose it */
	if (line != 0 && r->faults->total == 0)
		faults_add(r->faults, (struct fault_at){ .line = line > 0 ? line : 1 },
			   "libinih cannot read this line");
}

static int parse(const char *path, const char *text, size_t n, struct inifile *f, struct err *e)
{
	_cleanup_(faults_release) struct faults faults = { .path = path };
	struct reader r = { .text = text, .n = n, .out = f, .faults = &faults };
	int mark = byte_order_mark(text, n);

	if (n > FILE_MAX)
		return err_set(e, ERR_CONFIG, "%s:1: larger than 1 MiB (is it the right file?)",
			       path);
	if (mark < 0)
		return err_set(e, ERR_CONFIG, "%s:1: UTF-16 text (save it as UTF-8)", path);
	r.text += mark;
	r.n -= (size_t)mark;
	f->path = xstrdup(path);
	parse_lines(&r);
	return faults_end(&faults, e);
}

int inifile_parse(const char *path, const char *text, size_t n, struct inifile *out, struct err *e)
{
	struct inifile f = { .path = NULL };

	if (parse(path, text, n, &f, e) < 0) {
		inifile_release(&f);
		return -1;
	}
	*out = f;
	return 0;
}

int inifile_read(const char *path, struct inifile *out, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	struct err cause = ERR_INIT;

	if (fs_is_dir(path))
		return err_set(e, ERR_CONFIG, "cannot read '%s': it is a directory (name a file)",
			       path);
	/* one byte more than allowed, so that parse() can say what is wrong */
	if (fs_read(path, FILE_MAX + 1, &text, &cause) < 0) {
		if (fs_exists(path) && cause.sys == 0)
			return err_set(e, ERR_CONFIG,
				       "%s:1: larger than 1 MiB (is it the right file?)", path);
		return err_set(e, ERR_CONFIG, "%s", cause.msg);
	}
	return inifile_parse(path, str_text(&text), text.len, out, e);
}

void inifile_release(struct inifile *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->entry[i].section);
		free(f->entry[i].key);
		free(f->entry[i].value);
	}
	for (size_t i = 0; i < f->n_sections; i++)
		free(f->section[i]);
	free(f->entry);
	free(f->section);
	free(f->section_line);
	free(f->path);
	*f = (struct inifile){ .path = NULL };
}
