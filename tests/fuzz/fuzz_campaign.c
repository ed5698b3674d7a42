/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a campaign, workload or machine file: refused with a message, or consistent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/replay.h"

#include "base/str.h"
#include "io/config.h"
#include "io/inifile.h"
#include "io/workload.h"

#define MUST(what)                                                     \
	do {                                                           \
		if (!(what)) {                                         \
			fprintf(stderr, "does not hold: %s\n", #what); \
			abort();                                       \
		}                                                      \
	} while (0)

/* A refusal names the file and holds no byte that a terminal would obey. */
static void check_message(const struct err *e)
{
	MUST(e->code == ERR_CONFIG);
	MUST(str_starts(e->msg, "fuzz.ini:"));
	for (const char *s = e->msg; *s; s++)
		MUST((unsigned char)*s >= 0x20 ? *s != 0x7f : *s == '\n' || *s == '\t');
}

/* What was read is whole: keys and sections are named, lines go up within the text. */
static void check_inifile(const char *text, size_t n)
{
	_cleanup_(inifile_release) struct inifile f = { .path = NULL };
	struct err e = ERR_INIT;
	int lines = 1, last = 0;

	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	if (inifile_parse("fuzz.ini", text, n, &f, &e) < 0) {
		check_message(&e);
		return;
	}
	for (size_t i = 0; i < f.n; i++) {
		MUST(*f.entry[i].key && *f.entry[i].section);
		MUST(f.entry[i].line > last && f.entry[i].line <= lines);
		last = f.entry[i].line;
	}
}

static void add_lines(const char *dump, struct strv *options)
{
	while (*dump) {
		size_t n = strcspn(dump, "\n");

		strv_take(options, xstrndup(dump, n));
		dump += n + (dump[n] == '\n');
	}
}

/* An accepted campaign obeys the rules of the table, and its dump reads back as itself. */
static void check_campaign(const struct config *c)
{
	_cleanup_(config_release) struct config again = { .path = NULL };
	_cleanup_strv_ struct strv options = STRV_INIT;
	_cleanup_str_ struct str dump = STR_INIT, second = STR_INIT;
	struct err e = ERR_INIT;

	MUST(c->verdict.confidence > 0.5 && c->verdict.confidence < 1);
	MUST(c->verdict.min_boots >= 1 && c->verdict.min_boots <= c->verdict.max_boots);
	MUST(c->verdict.end_boots >= 1 && c->measure.runs_per_boot >= 1);
	MUST(*c->workload.metric);
	MUST(!c->campaign.good || *c->campaign.good);
	MUST(!c->campaign.bad || *c->campaign.bad);
	MUST(!*c->campaign.series || (c->campaign.base && !c->campaign.good && !c->campaign.bad));
	MUST(c->campaign.repo[0] == '/' && c->campaign.state[0] == '/');
	MUST(c->target.type != TARGET_COMMAND || c->target.command.n > 0);
	MUST(c->target.type != TARGET_QEMU || (*c->workload.use && *c->target.machine));
	MUST(c->target.type != TARGET_SSH ||
	     (*c->workload.use && *c->target.host && c->target.install.n > 0 &&
	      c->target.port <= 65535 && c->target.max_load >= 0 && c->target.work_dir[0] == '/'));
	config_dump(c, &dump);
	add_lines(dump.buf, &options);
	if (config_parse("fuzz.ini", "", 0, &options, &again, &e) < 0) {
		fprintf(stderr, "the dump is refused: %s\n", e.msg);
		abort();
	}
	config_dump(&again, &second);
	MUST(str_eq(dump.buf, second.buf));
}

static void try_campaign(const char *text, size_t n)
{
	_cleanup_(config_release) struct config c = { .path = NULL };
	struct err e = ERR_INIT;

	if (config_parse("fuzz.ini", text, n, NULL, &c, &e) < 0)
		check_message(&e);
	else
		check_campaign(&c);
}

/* Lines of the input as -o settings of a campaign that is right without them. */
static void try_options(const char *text, size_t n)
{
	static const char base[] = "[campaign]\nrepo = /\ngood = a\nbad = b\n[build]\ntype = none\n"
				   "[target]\ntype = command\ncommand = true\n"
				   "[workload]\nmetric = m\n";
	_cleanup_(config_release) struct config c = { .path = NULL };
	_cleanup_free_ char *lines = xstrndup(text, n);
	_cleanup_strv_ struct strv options = STRV_INIT;
	struct err e = ERR_INIT;

	add_lines(lines, &options);
	if (config_parse("fuzz.ini", base, strlen(base), &options, &c, &e) == 0)
		check_campaign(&c);
}

static void try_workload(const char *text, size_t n)
{
	_cleanup_(workload_release) struct workload w = { .path = NULL };
	_cleanup_(machine_release) struct machine m = { .name = NULL };
	struct err e = ERR_INIT;

	if (workload_parse("fuzz.ini", text, n, &w, &e) < 0) {
		check_message(&e);
	} else {
		_cleanup_strv_ struct strv argv = STRV_INIT;

		MUST(w.n_metrics > 0 && w.command.n > 0);
		for (size_t i = 0; i < w.n_metrics; i++)
			MUST(workload_metric(&w, w.metric[i].name) == &w.metric[i]);
		for (size_t i = 0; i < w.n_setup; i++)
			MUST(!strstr(w.setup[i].path, "/../"));
		workload_argv(&w, NULL, &argv, &e);
	}
	e = (struct err)ERR_INIT;
	if (machine_parse("fuzz.ini", text, n, &m, &e) < 0)
		check_message(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *text = (const char *)data;

	setenv("XDG_STATE_HOME", "/var/none", 1);
	check_inifile(text, n);
	try_campaign(text, n);
	try_options(text, n);
	try_workload(text, n);
	return 0;
}
