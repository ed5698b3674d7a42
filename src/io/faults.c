/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mistakes in one file of the user's, collected and reported together. */
#include "io/faults.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define QUOTE_MAX 60
/* Longer lists of names do not help in a message. */
#define LIST_MAX 8

static void release_dirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

char *faults_quote(const char *text)
{
	struct str out = STR_INIT;
	size_t n = strlen(text);

	/* not in the middle of a UTF-8 sequence: its rest would be shown as bytes */
	if (n > QUOTE_MAX) {
		n = QUOTE_MAX;
		while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	}
	str_neutralise(&out, text, n, false);
	if (text[n])
		str_add(&out, "...");
	return str_detach(&out);
}

void faults_add(struct faults *f, struct fault_at at, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	struct fault *slot = &f->fault[f->n];
	va_list ap;

	if (f->total++ >= FAULTS_MAX)
		return;
	f->n++;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	slot->line = at.option ? INT_MAX : at.line;
	slot->text = at.option ? xasprintf("-o %s: %s", at.option, text)
			       : xasprintf("%s:%d: %s", f->path, at.line, text);
}

/* "known: a, b, c" of a short list, "" of a long one. */
static void list_names(struct str *out, const char *const *names, size_t n)
{
	if (n == 0 || n > LIST_MAX)
		return;
	str_add(out, " (known: ");
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s%s", i ? ", " : "", names[i]);
	str_add(out, ")");
}

void faults_unknown(struct faults *f, struct fault_at at, const char *what, const char *word,
		    const char *where, const char *const *names, size_t n)
{
	const char *near = str_did_you_mean(word, names, n);
	_cleanup_free_ char *shown = faults_quote(word);
	_cleanup_str_ struct str list = STR_INIT;

	if (near)
		str_addf(&list, " (did you mean '%s'?)", near);
	else
		list_names(&list, names, n);
	faults_add(f, at, "unknown %s '%s'%s%s", what, shown, where, str_text(&list));
}

/* Stable: mistakes of one line stay in the order they were found. */
static void sort_faults(struct faults *f)
{
	for (size_t i = 1; i < f->n; i++) {
		struct fault moving = f->fault[i];
		size_t k = i;

		for (; k > 0 && f->fault[k - 1].line > moving.line; k--)
			f->fault[k] = f->fault[k - 1];
		f->fault[k] = moving;
	}
}

int faults_end(struct faults *f, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	size_t shown = 0;

	if (f->total == 0)
		return 0;
	sort_faults(f);
	/* room for "\nand NN more mistakes" is kept free */
	for (; shown < f->n; shown++) {
		const char *line = f->fault[shown].text;

		if (shown > 0 && text.len + strlen(line) + 32 > sizeof(e->msg))
			break;
		str_addf(&text, "%s%s", shown ? "\n" : "", line);
	}
	if (shown < f->total)
		str_addf(&text, "\nand %zu more mistake%s", f->total - shown,
			 f->total - shown > 1 ? "s" : "");
	return err_set(e, ERR_CONFIG, "%s", str_text(&text));
}

void faults_release(struct faults *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->fault[i].text);
	f->n = 0;
	f->total = 0;
}

/* A folder that cannot be read gives no hint, and no mistake either. */
char *faults_near_file(const char *dir, const char *suffix, const char *word)
{
	_cleanup_(release_dirp) DIR *d = opendir(dir);
	_cleanup_strv_ struct strv names = STRV_INIT;
	const struct dirent *entry;
	const char *near;

	while (d && (entry = readdir(d))) {
		size_t n = strlen(entry->d_name);

		if (entry->d_name[0] != '.' && str_ends(entry->d_name, suffix))
			strv_take(&names, xstrndup(entry->d_name, n - strlen(suffix)));
	}
	near = str_did_you_mean(word, (const char *const *)names.v, names.n);
	return near ? xasprintf(" (did you mean '%s'?)", near) : xstrdup("");
}
