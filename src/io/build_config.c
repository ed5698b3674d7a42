/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel configurations as text: fragments, merge, check, difference. */
#include "io/build_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

void build_symbols_release(struct build_symbols *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].name);
		free(s->v[i].value);
	}
	free(s->v);
	*s = (struct build_symbols)BUILD_SYMBOLS_INIT;
}

static int by_name(const void *a, const void *b)
{
	const struct build_symbol *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->seq > y->seq) - (x->seq < y->seq);
}

static int by_position(const void *a, const void *b)
{
	const struct build_symbol *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

void build_symbols_by_position(struct build_symbols *s)
{
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_position);
}

void build_symbols_settle(struct build_symbols *s)
{
	size_t kept = 0;

	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_name);
	for (size_t i = 0; i < s->n; i++) {
		if (i + 1 < s->n && str_eq(s->v[i].name, s->v[i + 1].name)) {
			str_freep(&s->v[i].name);
			str_freep(&s->v[i].value);
			continue;
		}
		s->v[kept++] = s->v[i];
	}
	s->n = kept;
}

const char *build_symbols_get(const struct build_symbols *s, const char *name)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strcmp(s->v[mid].name, name);

		if (!c)
			return s->v[mid].value;
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* Length of "CONFIG_[A-Za-z0-9_]+" at the start of @s; 0: none. */
static size_t symbol_length(const char *s, size_t n)
{
	static const char prefix[] = "CONFIG_";
	size_t len = sizeof(prefix) - 1;

	if (n <= len || memcmp(s, prefix, len) != 0)
		return 0;
	while (len < n && (s[len] == '_' || (s[len] >= '0' && s[len] <= '9') ||
			   (s[len] >= 'A' && s[len] <= 'Z') || (s[len] >= 'a' && s[len] <= 'z')))
		len++;
	return len > sizeof(prefix) - 1 ? len : 0;
}

struct line {
	const char *s;
	size_t n;
};

/* Next line of @text from *@at, blanks at both ends cut. */
static bool next_line(const char *text, size_t n, size_t *at, struct line *l)
{
	if (*at >= n)
		return false;
	const char *end = memchr(text + *at, '\n', n - *at);
	size_t stop = end ? (size_t)(end - text) : n;

	*l = (struct line){ text + *at, stop - *at };
	*at = stop + 1;
	while (l->n && strchr(" \t\r", l->s[l->n - 1]))
		l->n--;
	while (l->n && strchr(" \t", l->s[0])) {
		l->s++;
		l->n--;
	}
	return true;
}

static bool line_is(const struct line *l, const char *text)
{
	return l->n == strlen(text) && memcmp(l->s, text, l->n) == 0;
}

/* "CONFIG_X=value" or "# CONFIG_X is not set". */
static bool parse_assignment(const struct line *l, char **name, char **value)
{
	static const char unset[] = " is not set";
	struct line t = *l;
	bool comment = t.n > 2 && t.s[0] == '#' && t.s[1] == ' ';

	if (comment) {
		t.s += 2;
		t.n -= 2;
	}
	size_t len = symbol_length(t.s, t.n);
	struct line rest = { t.s + len, t.n - len };

	if (!len || (comment ? !line_is(&rest, unset) : rest.n < 2 || rest.s[0] != '='))
		return false;
	*name = xstrndup(t.s, len);
	*value = comment ? xstrdup("n") : xstrndup(rest.s + 1, rest.n - 1);
	return true;
}

int build_symbols_parse(const char *path, const char *text, size_t n, struct build_symbols *s,
			struct err *e)
{
	struct line l;
	size_t at = 0, number = 0;
	bool optional = false;

	while (next_line(text, n, &at, &l)) {
		char *name, *value;

		number++;
		if (parse_assignment(&l, &name, &value)) {
			xgrow(&s->v, &s->room, s->n + 1, sizeof(*s->v));
			s->v[s->n] = (struct build_symbol){ name, value, optional, s->n };
			s->n++;
		} else if (path && l.n && l.s[0] != '#') {
			_cleanup_str_ struct str shown = STR_INIT;

			str_neutralise(&shown, l.s, l.n < 80 ? l.n : 80, false);
			return err_set(e, ERR_CONFIG,
				       "%s:%zu: '%s' is no option (CONFIG_X=value, "
				       "or # CONFIG_X is not set)",
				       path, number, str_text(&shown));
		}
		optional = line_is(&l, "# optional");
	}
	return 0;
}

static void add_assignment(struct str *out, const struct build_symbol *s)
{
	if (str_eq(s->value, "n"))
		str_addf(out, "# %s is not set\n", s->name);
	else
		str_addf(out, "%s=%s\n", s->name, s->value);
}

void build_config_merge(const char *base, const struct build_symbols *ask, struct str *out)
{
	_cleanup_symbols_ struct build_symbols names = BUILD_SYMBOLS_INIT;
	size_t at = 0, n = strlen(base);
	struct line l;

	/* A sorted set of the names alone: @ask itself is in the order of the fragments,
	 * in which it must be written, because the last member of a choice wins. */
	for (size_t i = 0; i < ask->n; i++) {
		xgrow(&names.v, &names.room, names.n + 1, sizeof(*names.v));
		names.v[names.n++] = (struct build_symbol){ .name = xstrdup(ask->v[i].name),
							    .value = xstrdup("") };
	}
	build_symbols_settle(&names);
	while (next_line(base, n, &at, &l)) {
		_cleanup_free_ char *name = NULL;
		_cleanup_free_ char *value = NULL;

		if (parse_assignment(&l, &name, &value) && build_symbols_get(&names, name))
			continue;
		str_addmem(out, l.s, l.n);
		str_add(out, "\n");
	}
	for (size_t i = 0; i < ask->n; i++)
		add_assignment(out, &ask->v[i]);
}

static bool parse_number(const char *s, unsigned long long *v)
{
	char *end;

	errno = 0;
	*v = strtoull(s, &end, 0);
	return *s >= '0' && *s <= '9' && !*end && !errno;
}

/* Kconfig writes numbers as it likes: 0x0010 and 0x10 are the same. */
static bool same_value(const char *asked, const char *is)
{
	unsigned long long a, b;

	if (str_eq(asked, is ? is : "n"))
		return true;
	return is && parse_number(asked, &a) && parse_number(is, &b) && a == b;
}

/* Bytes of the tree are untrusted: its Kconfig may default a string to anything. */
static void add_missing(struct str *missing, const struct build_symbol *s, const char *is)
{
	str_addf(missing, "%s%s=%s (is ", missing->len ? ", " : "", s->name, s->value);
	str_neutralise(missing, is ? is : "absent", strlen(is ? is : "absent"), false);
	str_add(missing, ")");
}

void build_config_check(const char *config, size_t n, const struct build_symbols *ask,
			struct str *missing, struct strv *dropped)
{
	_cleanup_symbols_ struct build_symbols have = BUILD_SYMBOLS_INIT;
	size_t untold = 0;

	build_symbols_parse(NULL, config, n, &have, NULL);
	build_symbols_settle(&have);
	for (size_t i = 0; i < ask->n; i++) {
		const struct build_symbol *s = &ask->v[i];
		const char *is = build_symbols_get(&have, s->name);

		if (same_value(s->value, is))
			continue;
		if (s->optional)
			strv_addf(dropped, "%s=%s", s->name, s->value);
		else if (missing->len < BUILD_SIGNATURE_MAX)
			add_missing(missing, s, is);
		else
			untold++;
	}
	if (untold)
		str_addf(missing, " and %zu more", untold);
}

static int read_config(const char *path, struct build_symbols *s, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;

	if (fs_read(path, BUILD_FILE_MAX, &text, e) < 0)
		return -1;
	build_symbols_parse(NULL, str_text(&text), text.len, s, e);
	build_symbols_settle(s);
	return 0;
}

/* @was, @is: NULL where the option is absent. */
static void add_difference(const char *name, const char *was, const char *is, struct strv *out)
{
	/* An absent option and one that is not set make the same kernel. */
	if (str_eq(was ? was : "n", is ? is : "n") || str_eq(name, "CONFIG_LOCALVERSION"))
		return;
	if (was)
		strv_addf(out, "-%s=%s", name, was);
	if (is)
		strv_addf(out, "+%s=%s", name, is);
}

int build_config_diff(const char *old_path, const char *new_path, struct strv *out, struct err *e)
{
	_cleanup_symbols_ struct build_symbols a = BUILD_SYMBOLS_INIT;
	_cleanup_symbols_ struct build_symbols b = BUILD_SYMBOLS_INIT;
	size_t i = 0, j = 0;

	if (read_config(old_path, &a, e) < 0 || read_config(new_path, &b, e) < 0)
		return -1;
	while (i < a.n || j < b.n) {
		int c = i == a.n ? 1 : j == b.n ? -1 : strcmp(a.v[i].name, b.v[j].name);

		add_difference(c <= 0 ? a.v[i].name : b.v[j].name, c <= 0 ? a.v[i].value : NULL,
			       c >= 0 ? b.v[j].value : NULL, out);
		i += c <= 0;
		j += c >= 0;
	}
	return 0;
}
