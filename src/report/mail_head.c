/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Headers of the mail, what was measured on what, the log of the search. */
#include "report/mail.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/html.h"
#include "report/print.h"

#define LOG_LINES 80 /* of the bisection log */
#define ADDRESSES 30

/* An address that a mail program takes for one and nothing else. */
static bool is_address(const char *s)
{
	const char *at = strchr(s, '@');

	if (!at || at == s || !at[1] || strchr(at + 1, '@') || strlen(s) > 200)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("@.+-_=/", *s))
			return false;
	return true;
}

/* "Name <address>" with a name that cannot end itself early; false: no good address. */
static bool add_address(const char *who, struct str *out)
{
	_cleanup_str_ struct str clean = STR_INIT;
	const char *open = strrchr(who, '<'), *end = open ? strchr(open, '>') : NULL;
	_cleanup_free_ char *address = open && end ? xstrndup(open + 1, (size_t)(end - open - 1))
						   : xstrdup(open ? "" : who);
	size_t n = open ? (size_t)(open - who) : 0;

	if (!is_address(address))
		return false;
	while (n && who[n - 1] == ' ')
		n--;
	str_neutralise(&clean, who, n, false);
	if (n)
		str_add(out, "\"");
	for (const char *s = str_text(&clean); *s; s++)
		if (*s != '"' && *s != '\\')
			str_addmem(out, s, 1);
	str_addf(out, n ? "\" <%s>" : "%s", address);
	return true;
}

/* One a line; the first after the name of the header. */
static void address_header(FILE *out, const char *name, const struct strv *who)
{
	size_t n = 0;

	for (size_t i = 0; i < who->n && n < ADDRESSES; i++) {
		_cleanup_str_ struct str a = STR_INIT;

		if (!add_address(who->v[i], &a) || escape_columns(str_text(&a)) > MAIL_WIDTH - 6)
			continue;
		if (n++)
			fputs(",\n ", out);
		else
			fprintf(out, "%s: ", name);
		fputs(str_text(&a), out);
	}
	if (n)
		fputc('\n', out);
}

static void add_subject(const struct report *r, struct str *out)
{
	char hex[COMMIT_HEX + 1];

	if (r->status != ENGINE_FOUND) {
		str_addf(out, "%s: ", r->name);
		html_headline(r, out);
		return;
	}
	str_addf(out, "%s %s: %s since %s (\"%s\")", r->fix ? "[FIX FOUND]" : "[REGRESSION]",
		 r->name, r->metric, print_abbrev(&r->culprit.id, hex),
		 r->culprit.subject ? r->culprit.subject : "");
}

void mail_headers(FILE *out, const struct report *r, const struct record *d)
{
	_cleanup_str_ struct str subject = STR_INIT;

	fputs("From: YOUR NAME <YOUR@ADDRESS>\n", out);
	address_header(out, "To", &d->to);
	address_header(out, "Cc", &d->cc);
	add_subject(r, &subject);
	escape_wrap(out, str_text(&subject), "Subject: ", " ", MAIL_WIDTH - 8);
	fputs("MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
	      "Content-Transfer-Encoding: 8bit\n\n",
	      out);
	if (!d->no_maintainer)
		return;
	_cleanup_free_ char *note =
		xasprintf("[To be added before this is sent: maintainers and lists, as scripts/"
			  "get_maintainer.pl says; it did not run here: %s]",
			  d->no_maintainer);

	escape_wrap(out, note, NULL, "", MAIL_WIDTH);
	fputc('\n', out);
}

static void fact(FILE *out, const char *name, const char *value)
{
	_cleanup_str_ struct str label = STR_INIT;
	static const char indent[] = "                   ";

	if (!value || !value[0])
		return;
	str_add(&label, "  ");
	escape_cut(&label, name, 15);
	str_addf(&label, ":%*s", (int)(sizeof(indent) - 2 - escape_columns(str_text(&label))), "");
	escape_wrap(out, value, str_text(&label), indent, MAIL_WIDTH);
}

/* Names under which targets tell the same, in the words of a person. */
static const struct {
	const char *name, *label;
} known[] = {
	{ "machine", "machine" },
	{ "product", "machine" },
	{ "bios", "BIOS" },
	{ "cpu_model", "CPU" },
	{ "cpu", "CPU" },
	{ "cpus", "CPUs" },
	{ "cpus_online", "CPUs" },
	{ "microcode", "microcode" },
	{ "memory_kb", "memory, kB" },
	{ "memory_total_kb", "memory, kB" },
	{ "cmdline", "command line" },
	{ "qemu", "QEMU" },
	{ "accel", "accelerator" },
	{ "host_cpu", "host CPU" },
	{ "host_microcode", "host microcode" },
	{ "host_memory_kb", "host memory, kB" },
	{ "host_kernel", "host kernel" },
};

static bool is_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (str_eq(known[i].name, name))
			return true;
	return str_eq(name, "compiler");
}

/* The campaign as it could be sent: long values go on in indented lines, as the file may have them. */
static void campaign(FILE *out, const struct record *d)
{
	size_t n;

	if (!d->given || !d->given[0])
		return;
	fputs("\nTo reproduce: kregress run with this campaign\n\n", out);
	for (const char *at = d->given; *at; at += n + (at[n] == '\n')) {
		_cleanup_free_ char *line = xstrndup(at, n = strcspn(at, "\n"));

		escape_wrap(out, line, "  ", line[0] == '[' ? "  " : "    ", MAIL_WIDTH);
	}
}

void mail_setup(FILE *out, const struct report *r, const struct record *d)
{
	fputs("\nMeasured on\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		fact(out, known[i].label, record_fact(d, known[i].name));
	fact(out, "compiler", d->compiler);
	for (size_t i = 0; i < d->n_facts; i++)
		if (!is_known(d->fact[i].name))
			fact(out, d->fact[i].name, d->fact[i].value);
	if (r->deterministic)
		fputs("  (instructions were counted: caches and contention are invisible)\n", out);
	if (d->config_path)
		fact(out, "attach", "the .config (the HTML report names the file)");
	fact(out, "range", d->title);
	campaign(out, d);
}

/* A comment keeps its name whole and loses the end of its subject; a command stays as it is. */
static void log_line(FILE *out, const char *line, size_t n)
{
	_cleanup_free_ char *copy = xstrndup(line, n);
	_cleanup_str_ struct str cut = STR_INIT;

	escape_cut(&cut, copy, MAIL_WIDTH);
	fprintf(out, "%s\n", str_text(&cut));
}

void mail_log(FILE *out, const struct record *d)
{
	size_t n = 0, lines = 0;

	if (!d->bisect_log || !d->bisect_log[0])
		return;
	fputs("\nThe search, as git bisect replay takes it (kregress log --git)\n\n", out);
	for (const char *at = d->bisect_log; *at; at += n + (at[n] == '\n'), lines++) {
		n = strcspn(at, "\n");
		if (lines < LOG_LINES)
			log_line(out, at, n);
	}
	if (lines > LOG_LINES)
		fprintf(out, "# ... and %zu more lines\n", lines - LOG_LINES);
}
