/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of git bisect, written as git bisect replay takes it. */
#include <ctype.h>
#include <string.h>

#include "io/bisect_log.h"

/* " '<option><word>'" as git quotes it. */
static void add_quoted(struct str *out, const char *option, const char *word)
{
	str_addf(out, " '%s", option);
	for (const char *s = word; *s; s++) {
		if (*s == '\'' || *s == '!')
			str_addf(out, "'\\%c'", *s);
		else
			str_addmem(out, *s == '\n' ? "?" : s, 1);
	}
	str_add(out, "'");
}

static const char *name_of(const struct bisect_entry *entry, char hex[COMMIT_HEX + 1])
{
	return commit_is_null(&entry->id) ? entry->rev : commit_hex(&entry->id, hex);
}

static const char *term_of(const struct bisect_log *log, const struct bisect_entry *entry)
{
	return entry->state == BISECT_NEW   ? log->term_new
	       : entry->state == BISECT_OLD ? log->term_old
					    : "skip";
}

static void add_comment(struct str *out, const struct bisect_log *log,
			const struct bisect_entry *entry,
			char *(*subject)(void *cookie, const struct commit_id *id), void *cookie)
{
	_cleanup_free_ char *text = NULL;
	char hex[COMMIT_HEX + 1];

	if (commit_is_null(&entry->id))
		return;
	if (subject)
		text = subject(cookie, &entry->id);
	str_addf(out, "# %s: [%s] ", term_of(log, entry), commit_hex(&entry->id, hex));
	if (text)
		str_neutralise(out, text, strcspn(text, "\r\n"), false);
	str_add(out, "\n");
}

/* " <name>", plain as git wants it there; one that git does not take there is quoted. */
static void add_plain(struct str *out, const char *name)
{
	bool is_plain = true;

	for (const char *s = name; *s; s++)
		is_plain &= !isspace((unsigned char)*s) && !strchr("'\"\\", *s);
	if (is_plain)
		str_addf(out, " %s", name);
	else
		add_quoted(out, "", name);
}

static void add_start(struct str *out, const struct bisect_log *log)
{
	str_add(out, "git bisect start");
	if (log->terms_given || !str_eq(log->term_new, "bad") || !str_eq(log->term_old, "good")) {
		add_quoted(out, "--term-old=", log->term_old);
		add_quoted(out, "--term-new=", log->term_new);
	}
	if (log->first_parent)
		str_add(out, " '--first-parent'");
	if (log->no_checkout)
		str_add(out, " '--no-checkout'");
	if (log->paths.n)
		str_add(out, " '--'");
	for (size_t i = 0; i < log->paths.n; i++)
		add_quoted(out, "", log->paths.v[i]);
	str_add(out, "\n");
}

/*
 * No commits in the line of start: git looks for the next commit right there, and where that
 * is a merge base, or the end already, git bisect replay stops and loses all that follows.
 */
void bisect_log_write(const struct bisect_log *log,
		      char *(*subject)(void *cookie, const struct commit_id *id), void *cookie,
		      struct str *out)
{
	char hex[COMMIT_HEX + 1];

	add_start(out, log);
	for (size_t i = 0; i < log->n; i++) {
		const struct bisect_entry *entry = &log->entry[i];

		add_comment(out, log, entry, subject, cookie);
		str_addf(out, "git bisect %s", term_of(log, entry));
		add_plain(out, name_of(entry, hex));
		str_add(out, "\n");
	}
}
