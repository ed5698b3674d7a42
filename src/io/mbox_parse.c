/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mails as text: subjects, headers, trailers, where a diff begins. */
#include "io/mbox_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TRAILER_MAX 400 /* bytes; a longer line is prose */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

/* The line after the one that @p is in; the end of the text after the last. */
static const char *next_line(const char *p)
{
	p += strcspn(p, "\n");
	return *p ? p + 1 : p;
}

static bool has_prefix(const char *s, const char *prefix)
{
	return strncasecmp(s, prefix, strlen(prefix)) == 0;
}

/* ---- subjects ---- */

/* A number from 0 to MBOX_NUMBER_MAX at *@p, which moves behind it. */
static bool take_number(const char **p, const char *end, unsigned *number)
{
	unsigned n = 0;
	const char *q = *p;

	for (; q < end && isdigit((unsigned char)*q); q++) {
		n = n * 10 + (unsigned)(*q - '0');
		if (n > MBOX_NUMBER_MAX)
			return false;
	}
	if (q == *p)
		return false;
	*p = q;
	*number = n;
	return true;
}

/* "3/12" */
static bool is_count(const char *p, const char *end, struct mbox_tag *tag)
{
	unsigned number, total;

	if (!take_number(&p, end, &number) || p == end || *p++ != '/' ||
	    !take_number(&p, end, &total) || p != end)
		return false;
	if (!tag->numbered) {
		tag->numbered = true;
		tag->number = number;
		tag->total = total;
	}
	return true;
}

/* "v2"; of "v2.1", which is sent in place of a patch of v2, the first number. */
static bool is_version(const char *p, const char *end, struct mbox_tag *tag)
{
	unsigned version;

	if (p == end || (*p != 'v' && *p != 'V'))
		return false;
	p++;
	if (!take_number(&p, end, &version) || (p != end && *p != '.'))
		return false;
	tag->version = version ? version : 1;
	return true;
}

/* "PATCH", "RFC", "PATCHv2" and the like. */
static bool is_kind(const char *p, const char *end, struct mbox_tag *tag)
{
	static const char *const kinds[] = { "PATCH", "RFC", "RFT", "RESEND" };
	size_t n = (size_t)(end - p);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t k = strlen(kinds[i]);

		if (n < k || strncasecmp(p, kinds[i], k) != 0)
			continue;
		if (n == k)
			return true;
		p += k;
		return is_version(*p == '-' ? p + 1 : p, end, tag);
	}
	return false;
}

/* Is what stands between [ and ] the mark of a patch? */
static bool is_tag(const char *p, const char *end, struct mbox_tag *tag)
{
	bool any = false;

	while (p < end) {
		const char *word = p;

		while (p < end && !is_blank(*p) && *p != ',')
			p++;
		if (p > word &&
		    (is_count(word, p, tag) || is_kind(word, p, tag) || is_version(word, p, tag)))
			any = true;
		p += p < end;
	}
	return any;
}

/* Bytes of "Re:", "AW:", "Re[2]:" … at @p, 0: none. */
static size_t reply_bytes(const char *p)
{
	static const char *const words[] = { "Re", "Aw", "Antw", "Fwd", "Fw", "Sv", "Vs" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *q = p + strlen(words[i]);

		if (!has_prefix(p, words[i]))
			continue;
		if (*q == '[' && isdigit((unsigned char)q[1])) {
			q += 1 + strspn(q + 1, "0123456789");
			if (*q++ != ']')
				continue;
		}
		if (*q == ':')
			return (size_t)(q + 1 - p);
	}
	return 0;
}

const char *mbox_subject(const char *subject, struct mbox_tag *tag)
{
	const char *rest = subject, *p = subject;
	bool tagged = false;

	*tag = (struct mbox_tag){ .version = 1 };
	for (;;) {
		p = skip_blanks(p);
		size_t n = tagged ? 0 : reply_bytes(p);
		const char *end = *p == '[' ? strchr(p, ']') : NULL;

		if (n) {
			tag->reply = true;
			rest = p += n;
		} else if (!end) {
			return skip_blanks(rest);
		} else if (is_tag(p + 1, end, tag)) {
			tagged = true;
			rest = p = end + 1;
		} else {
			/* the name of a list, if a tag follows; else it belongs to the subject */
			p = end + 1;
		}
	}
}

/* ---- headers ---- */

size_t mbox_header_bytes(const char *mail, size_t n)
{
	size_t at = 0;

	while (at < n) {
		const char *end = memchr(mail + at, '\n', n - at);
		size_t line = end ? (size_t)(end - (mail + at)) + 1 : n - at;

		if (mail[at] == '\n' || (mail[at] == '\r' && line == 2))
			return at + line;
		at += line;
	}
	return n;
}

/* One line of @n bytes without its line end, blanks around it taken off. */
static void add_line(struct str *out, const char *line, size_t n)
{
	while (n && isspace((unsigned char)line[n - 1]))
		n--;
	while (n && is_blank(*line)) {
		line++;
		n--;
	}
	if (out->len && n)
		str_add(out, " ");
	str_addmem(out, line, n);
}

char *mbox_header(const char *mail, size_t n, const char *name)
{
	const char *p = mail, *end = mail + n;
	size_t len = strlen(name);
	struct str value = STR_INIT;
	bool found = false;

	for (; p < end; p++) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		if (!stop)
			stop = end;
		if (found && !is_blank(*p))
			break;
		if (found) {
			add_line(&value, p, (size_t)(stop - p));
		} else if ((size_t)(stop - p) > len && p[len] == ':' &&
			   strncasecmp(p, name, len) == 0) {
			found = true;
			add_line(&value, p + len + 1, (size_t)(stop - p) - len - 1);
		}
		p = stop;
	}
	return found ? str_detach(&value) : NULL;
}

void mbox_ids(const char *value, struct strv *out)
{
	const char *p = value;

	while ((p = strchr(p, '<'))) {
		size_t n = strcspn(++p, "<>");

		if (n && p[n] == '>')
			strv_take(out, xstrndup(p, n));
		p += n;
	}
}

/* ---- diffs ---- */

/* The first line of a diff that names files; NULL: there is none. */
static const char *find_diff(const char *text)
{
	for (const char *p = text; *p; p = next_line(p)) {
		if (str_starts(p, "diff --git "))
			return p;
		if (str_starts(p, "--- ") && str_starts(next_line(p), "+++ ") &&
		    str_starts(next_line(next_line(p)), "@@ -"))
			return p;
	}
	return NULL;
}

bool mbox_has_diff(const char *text)
{
	return find_diff(text) != NULL;
}

void mbox_unify_ends(struct str *diff)
{
	const char *line = find_diff(str_text(diff));
	size_t n = line ? strcspn(line, "\n") : 0, to = 0;

	if (!n || line[n - 1] != '\r')
		return;
	for (size_t i = 0; i < diff->len; i++)
		if (diff->buf[i] != '\r' || diff->buf[i + 1] != '\n')
			diff->buf[to++] = diff->buf[i];
	diff->len = to;
	diff->buf[to] = '\0';
}

/* ---- trailers ---- */

static const char *const trailer_names[] = {
	"Reviewed-by", "Acked-by",     "Tested-by",    "Reviewed-and-tested-by",
	"Reported-by", "Suggested-by", "Co-tested-by", "Tested-and-reviewed-by",
};

/* Which of the names @line begins with, and where its value is; NULL: none. */
static const char *trailer_name(const char *line, const char **value)
{
	for (size_t i = 0; i < ARRAY_SIZE(trailer_names); i++) {
		size_t n = strlen(trailer_names[i]);

		if (!has_prefix(line, trailer_names[i]))
			continue;
		line += n;
		if (*line != ':')
			continue;
		*value = skip_blanks(line + 1);
		return trailer_names[i];
	}
	return NULL;
}

/* "Name <mail@host>", and perhaps a remark behind it. */
static bool names_person(const char *value)
{
	const char *at = strchr(value, '@');

	for (const char *p = value; *p; p++)
		if (iscntrl((unsigned char)*p) && *p != '\t')
			return false;
	return at && at > value && at[1] && !isspace((unsigned char)at[-1]) &&
	       !isspace((unsigned char)at[1]);
}

void mbox_trailers(const char *text, struct strv *out)
{
	for (const char *p = text; *p; p = next_line(p)) {
		_cleanup_str_ struct str value = STR_INIT;
		const char *at, *next, *name = trailer_name(p, &at);

		if (!name)
			continue;
		add_line(&value, at, strcspn(at, "\n"));
		/* a mailer may break the line before the address */
		next = skip_blanks(next_line(at));
		if (!strchr(str_text(&value), '@') && *next == '<')
			add_line(&value, next, strcspn(next, "\n"));
		if (value.len <= TRAILER_MAX && names_person(str_text(&value)))
			strv_addf(out, "%s: %s", name, str_text(&value));
	}
}

/* Is the line at @p the text @want, but for case and blanks? */
static bool same_line(const char *p, const char *want)
{
	for (;;) {
		while (is_blank(*p) || *p == '\r')
			p++;
		want = skip_blanks(want);
		if (!*want)
			return !*p || *p == '\n';
		if (tolower((unsigned char)*p) != tolower((unsigned char)*want))
			return false;
		p++;
		want++;
	}
}

bool mbox_has_trailer(const char *message, const char *trailer)
{
	for (const char *p = message; *p; p = next_line(p))
		if (same_line(p, trailer))
			return true;
	return false;
}
