/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result channel of a guest: untrusted bytes to runs (protocol: qemu/README.md). */
#include "target/results.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOISE_MAX (1u << 20) /* outside of runs only records are due */

void results_init(struct results *r, const char *nonce, unsigned runs, struct target_result *out)
{
	memset(r, 0, sizeof(*r));
	r->nonce = nonce;
	r->wanted = runs;
	r->out = out;
}

void results_release(struct results *r)
{
	str_release(&r->buf);
}

static void __attribute__((format(printf, 3, 4)))
fail(struct results *r, enum results_failure failure, const char *fmt, ...)
{
	_cleanup_str_ struct str clean = STR_INIT;
	char raw[sizeof(r->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	str_neutralise(&clean, raw, strlen(raw), false);
	if (r->extra) {
		snprintf(r->extra_text, sizeof(r->extra_text), "%s", str_text(&clean));
		r->profiling = r->in_file = false;
		r->bye = true;
		return;
	}
	snprintf(r->text, sizeof(r->text), "%s", str_text(&clean));
	r->failure = failure;
}

/* The value of field @name ("name=") in @rest, up to a blank or, for the last field, the end. */
static void field(const char *rest, const char *name, bool last, char *value, size_t size)
{
	const char *at = strstr(rest, name);
	size_t n;

	value[0] = 0;
	if (!at || at == rest || at[-1] != ' ')
		return;
	at += strlen(name);
	n = last ? strlen(at) : strcspn(at, " ");
	if (n < size && !(n == 1 && *at == '-'))
		snprintf(value, size, "%.*s", (int)n, at);
}

static bool all_of(const char *s, const char *allowed)
{
	return s[strspn(s, allowed)] == 0;
}

static void take_hello(struct results *r, const char *rest)
{
	static const char hex[] = "0123456789abcdef-";
	char number[24];

	if (strncmp(rest, "1 ", 2) != 0) {
		fail(r, RESULTS_GARBLED, "the agent speaks another protocol: '%.40s'", rest);
		return;
	}
	field(rest, "boot_id=", false, r->boot_id, sizeof(r->boot_id));
	field(rest, "build_id=", false, r->build_id, sizeof(r->build_id));
	field(rest, "release=", false, r->release, sizeof(r->release));
	field(rest, "cpu=", true, r->cpu, sizeof(r->cpu));
	field(rest, "memory_kb=", false, number, sizeof(number));
	r->memory_kb = strtoul(number, NULL, 10);
	field(rest, "cpus=", false, number, sizeof(number));
	r->cpus = (unsigned)strtoul(number, NULL, 10);
	if (!all_of(r->boot_id, hex) || !all_of(r->build_id, hex)) {
		fail(r, RESULTS_GARBLED, "the agent's hello is garbled");
		return;
	}
	r->hello = true;
}

static void take_begin(struct results *r, const char *rest, double now_s)
{
	char *end;
	unsigned long n = isdigit((unsigned char)*rest) ? strtoul(rest, &end, 10) : 0;

	if (!r->hello || !n || *end || n != r->run + 1ul || n > r->wanted) {
		fail(r, RESULTS_GARBLED, "run '%.20s' began where run %u of %u was due", rest,
		     r->run + 1, r->wanted);
		return;
	}
	r->run++;
	r->in_run = true;
	r->run_start = now_s;
}

static void take_end(struct results *r, const char *rest, double now_s)
{
	char *end;
	long status;
	size_t n;

	/* r->buf holds just the output: the record itself was cut off. */
	if (!strcmp(rest, "timeout")) {
		fail(r, RESULTS_TIMED_OUT, "run %u did not end in time", r->run);
		return;
	}
	if (!strcmp(rest, "too-much")) {
		fail(r, RESULTS_TOO_MUCH, "run %u printed more than %u bytes", r->run,
		     TARGET_OUTPUT_MAX);
		return;
	}
	status = isdigit((unsigned char)*rest) ? strtol(rest, &end, 10) : -1;
	if (status < 0 || *end || status > 255) {
		fail(r, RESULTS_GARBLED, "run %u ended with status '%.20s'", r->run, rest);
		return;
	}
	/* One byte over: the line break that the agent added. */
	n = r->buf.len < TARGET_OUTPUT_MAX ? r->buf.len : TARGET_OUTPUT_MAX;
	target_result_add_run(r->out, str_detach(&r->buf), n, (int)status, now_s - r->run_start);
	r->in_run = false;
}

static void take_extra(struct results *r, const char *kind)
{
	const struct target_run *last = r->out->n_runs ? &r->out->runs[r->out->n_runs - 1] : NULL;

	if (r->in_run || r->run != r->wanted || !last || last->status != 0) {
		fail(r, RESULTS_GARBLED, "an extra run began after run %u of %u", r->run,
		     r->wanted);
		return;
	}
	r->extra = true;
	r->profiling = !strcmp(kind, "profile");
}

/* "PHASE NAME": the bytes of a file follow. */
static void take_file(struct results *r, const char *rest)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz/";
	const char *blank = strchr(rest, ' ');
	size_t n = blank ? (size_t)(blank - rest) : 0;

	if (!r->extra || !n || n >= sizeof(r->out->files->phase) || !blank[1] ||
	    strlen(blank + 1) >= sizeof(r->out->files->name) || strspn(rest, safe) != n ||
	    !all_of(blank + 1, safe)) {
		fail(r, RESULTS_GARBLED, "a file came where none was due: '%.40s'", rest);
		return;
	}
	target_result_add_file(r->out, rest, n, blank + 1);
	r->in_file = true;
}

static void end_file(struct results *r, const char *rest)
{
	struct target_file *f = &r->out->files[r->out->n_files - 1];

	f->n = r->buf.len;
	f->text = str_detach(&r->buf);
	f->cut = strcmp(rest, "whole") != 0;
	r->in_file = false;
}

/* A record once extra runs began, or the one that begins them. */
static void take_observed(struct results *r, const char *verb, const char *rest)
{
	r->extra_step++;
	if (r->in_file) {
		if (!strcmp(verb, "eof"))
			end_file(r, rest);
		else
			fail(r, RESULTS_GARBLED, "a file has no end");
	} else if (!strcmp(verb, "extra")) {
		take_extra(r, rest);
	} else if (!strcmp(verb, "file")) {
		take_file(r, rest);
	} else if (!strcmp(verb, "over") && r->extra) {
		r->profiling = false;
	} else if (!strcmp(verb, "bye")) {
		r->bye = true;
	} else {
		fail(r, RESULTS_GARBLED, "unexpected record '%.20s'", verb);
	}
}

/* A record with our nonce: @verb and what follows the nonce. */
static void take_record(struct results *r, const char *verb, const char *rest, double now_s)
{
	if (r->extra || !strcmp(verb, "extra")) {
		take_observed(r, verb, rest);
	} else if (!strcmp(verb, "noexec")) {
		fail(r, RESULTS_NO_EXEC, "%s", rest);
	} else if (!strcmp(verb, "end")) {
		if (r->in_run)
			take_end(r, rest, now_s);
		else
			fail(r, RESULTS_GARBLED, "a run ended that never began");
	} else if (r->in_run) {
		fail(r, RESULTS_GARBLED, "run %u has no end record", r->run);
	} else if (!strcmp(verb, "hello") && !r->hello) {
		take_hello(r, rest);
	} else if (!strcmp(verb, "begin")) {
		take_begin(r, rest, now_s);
	} else if (!strcmp(verb, "untestable")) {
		fail(r, RESULTS_UNTESTABLE, "%s", rest);
	} else if (!strcmp(verb, "bye")) {
		r->bye = true;
	} else {
		fail(r, RESULTS_GARBLED, "unexpected record '%.20s'", verb);
	}
}

/* Is @line a record of ours? Splits it in place; anything else is output. */
static bool split_record(const struct results *r, char *line, char **verb, char **rest)
{
	static const char prefix[] = "kregress: ";
	char *nonce;
	size_t n = strlen(r->nonce);

	if (strncmp(line, prefix, sizeof(prefix) - 1) != 0)
		return false;
	*verb = line + sizeof(prefix) - 1;
	nonce = strchr(*verb, ' ');
	if (!nonce || strncmp(nonce + 1, r->nonce, n) != 0)
		return false;
	*rest = nonce + 1 + n;
	if (**rest && **rest != ' ')
		return false;
	*nonce = 0;
	*rest += **rest == ' ';
	return true;
}

/* The current line is complete (its newline not in buf). */
static void end_line(struct results *r, double now_s)
{
	char line[RESULTS_LINE_MAX + 1], *verb, *rest;
	size_t n = r->buf.len - r->line;
	bool record = false;

	if (n <= RESULTS_LINE_MAX && n > 0 && !memchr(r->buf.buf + r->line, 0, n)) {
		memcpy(line, r->buf.buf + r->line, n);
		line[n] = 0;
		record = split_record(r, line, &verb, &rest);
	}
	if (record || !(r->in_run || r->in_file)) {
		r->buf.len = r->line;
		if (r->buf.buf)
			r->buf.buf[r->line] = 0;
	}
	if (record)
		take_record(r, verb, rest, now_s);
	else if (r->in_run || r->in_file)
		str_add(&r->buf, "\n");
	r->line = r->buf.len;
}

/* Add bytes of the current line, within bounds. */
static void add_bytes(struct results *r, const char *data, size_t n)
{
	size_t len = r->buf.len - r->line;

	if (r->extra && (r->extra_bytes += n) > RESULTS_EXTRA_MAX) {
		fail(r, RESULTS_TOO_MUCH, "the extra runs sent more than %zu bytes",
		     RESULTS_EXTRA_MAX);
		return;
	}
	if (!r->in_run && !r->in_file && (r->noise += n) > NOISE_MAX) {
		fail(r, RESULTS_GARBLED, "the guest floods the result channel");
		return;
	}
	/* Outside a run only records matter: of anything longer one byte too many is kept. */
	if (!r->in_run && !r->in_file && len + n > RESULTS_LINE_MAX + 1)
		n = RESULTS_LINE_MAX + 1 - len;
	str_addmem(&r->buf, data, n);
	/* The agent cuts before us; this is for garbage. Room for its line break and the end record. */
	if (r->in_run && (r->line > TARGET_OUTPUT_MAX + 1 ||
			  r->buf.len > TARGET_OUTPUT_MAX + 1 + RESULTS_LINE_MAX))
		fail(r, RESULTS_TOO_MUCH, "run %u printed more than %u bytes", r->run,
		     TARGET_OUTPUT_MAX);
}

void results_feed(struct results *r, const char *data, size_t n, double now_s)
{
	while (n > 0 && !r->failure && !r->bye) {
		const char *nl = memchr(data, '\n', n);
		size_t part = nl ? (size_t)(nl - data) : n;

		add_bytes(r, data, part);
		if (nl && !r->failure && !r->bye)
			end_line(r, now_s);
		part += nl != NULL;
		data += part;
		n -= part;
	}
}
