/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress log: what was done, in order, from the store. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "campaign/git_log.h"
#include "cmd/cmd.h"
#include "io/store.h"
#include "report/json_value.h"
#include "report/report.h"

/* Values of one trial on one line: as many as fit a glance. */
#define VALUES_MAX 8
#define ABBREV 12
/* Decimal digits that every double keeps: 1.9 is printed as 1.9. */
#define PRECISION 15

static const char usage[] =
	"Usage: kregress log [--json | --git] [-o <section.key=value>]... [FILE]\n"
	"\n"
	"Show what a campaign did, oldest first: each build, each trial with the values\n"
	"of the deciding metric, each verdict, trouble, start and stop. FILE is a\n"
	"campaign file; without it kregress.ini in this folder or above.\n"
	"\n"
	"Options:\n"
	"      --git                    as 'git bisect replay' takes it\n"
	"      --json                   one JSON object a line, for each stored trial\n"
	"  -o <section.key=value>       set a key over the file's value; repeatable\n"
	"  -h, --help                   show this text\n"
	"\n"
	"Exit status: 0, 128 kregress could not work, 129 command line or file wrong.\n";

static void add_clean(struct str *out, const char *text)
{
	str_neutralise(out, text ? text : "", text ? strlen(text) : 0, false);
}

static void print_line(int64_t time, const char *kind, const struct str *text)
{
	char when[40];

	printf("%s  %-8s %s\n", clock_format(time, when, sizeof(when)), kind, str_text(text));
}

static void add_commit(struct str *out, const struct commit_id *id)
{
	char hex[COMMIT_HEX + 1];

	str_addf(out, "%.*s", ABBREV, commit_hex(id, hex));
}

static int print_build(const struct store_build *b, void *cookie)
{
	_cleanup_str_ struct str text = STR_INIT;
	char took[32];

	(void)cookie;
	add_commit(&text, &b->commit);
	str_addf(&text, "  %s, %s", trial_outcome_name(b->outcome),
		 b->cached ? "from the cache" : str_duration(b->seconds, took, sizeof(took)));
	if (b->signature && b->signature[0]) {
		str_add(&text, ": ");
		add_clean(&text, b->signature);
	}
	print_line(b->time, "build", &text);
	return 0;
}

/* The deciding metric's values, warm-ups dropped. */
static void add_values(struct str *out, const struct store_trial *t, const char *metric)
{
	const char *unit = NULL;
	size_t n = 0;
	char number[32];

	for (size_t i = 0; i < t->n_samples; i++) {
		const struct store_sample *v = &t->samples[i];

		if (v->warmup || !str_eq(v->metric, metric))
			continue;
		if (n++ >= VALUES_MAX)
			continue;
		str_addf(out, " %s", report_number(v->value, number, sizeof(number)));
		unit = v->unit;
	}
	if (n > VALUES_MAX)
		str_addf(out, " … (%zu values)", n);
	if (unit && unit[0]) {
		str_add(out, " ");
		add_clean(out, unit);
	}
}

static int print_trial(const struct store_trial *t, void *cookie)
{
	_cleanup_str_ struct str text = STR_INIT;

	add_commit(&text, &t->commit);
	str_addf(&text, "  %lld %s, %s", (long long)t->id, t->purpose ? t->purpose : "",
		 trial_outcome_name(t->outcome));
	if (t->twin)
		str_addf(&text, ", values of trial %lld (identical kernel)", (long long)t->twin);
	if (t->n_samples) {
		str_add(&text, ":");
		add_values(&text, t, cookie);
	}
	if (t->detail && t->detail[0]) {
		str_add(&text, ": ");
		add_clean(&text, t->detail);
	}
	print_line(t->time, "trial", &text);
	return 0;
}

static int print_note(const struct store_note *n, void *cookie)
{
	_cleanup_str_ struct str kind = STR_INIT, text = STR_INIT;

	(void)cookie;
	add_clean(&kind, n->kind);
	/* a whole file in one line is not for reading */
	if (str_eq(n->kind, "import"))
		str_addf(&text, "a bisect log of %zu bytes", n->text ? strlen(n->text) : 0);
	else if (n->text && (str_eq(n->kind, "counters") || str_eq(n->kind, "stacks") ||
			     str_eq(n->kind, "profile")))
		str_addf(&text, "of trial %lld", atoll(n->text));
	else
		add_clean(&text, n->text);
	print_line(n->time, str_text(&kind), &text);
	return 0;
}

static json_t *json_clean(const char *text)
{
	return text && text[0] ? json_of_text(text) : json_null();
}

static json_t *json_samples(const struct store_trial *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n_samples; i++) {
		const struct store_sample *v = &t->samples[i];

		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:i, s:b, s:o}", "metric",
						json_clean(v->metric), "unit", json_clean(v->unit),
						"run", v->run, "warmup", (int)v->warmup, "value",
						json_of_number(v->value)));
	}
	return list;
}

static int print_json(const struct store_trial *t, void *cookie)
{
	json_t *o = json_object();
	char hex[COMMIT_HEX + 1];

	(void)cookie;
	json_object_set_new(o, "trial", json_integer(t->id));
	json_object_set_new(o, "time", json_integer(t->time));
	json_object_set_new(o, "commit", json_string(commit_hex(&t->commit, hex)));
	json_object_set_new(o, "purpose", json_clean(t->purpose));
	json_object_set_new(o, "outcome", json_string(trial_outcome_name(t->outcome)));
	json_object_set_new(o, "detail", json_clean(t->detail));
	json_object_set_new(o, "twin", t->twin ? json_integer(t->twin) : json_null());
	json_object_set_new(o, "dir", json_clean(t->dir));
	json_object_set_new(o, "setup", json_clean(t->setup));
	json_object_set_new(o, "samples", json_samples(t));
	json_object_set_new(o, "seconds",
			    json_pack("{s:o, s:o, s:o}", "total", json_of_number(t->total_seconds),
				      "boot", json_of_number(t->boot_seconds), "workload",
				      json_of_number(t->run_seconds)));
	json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(PRECISION));
	putchar('\n');
	json_decref(o);
	return 0;
}

/* Present state in git's words: that needs the history. */
static int print_git(const struct cmd_file *f, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	struct session s;
	int ret = session_open(&s, &f->cfg, &(struct session_opts){ .mode = SESSION_VIEW }, e);

	if (ret == 0) {
		git_log(&s, &text);
		fputs(str_text(&text), stdout);
	}
	session_close(&s);
	return ret;
}

static int run(int argc, char **argv, struct err *e)
{
	_cleanup_(cmd_file_release) struct cmd_file f = CMD_FILE_INIT;
	_cleanup_free_ char *path = NULL;
	struct store_visitor plain = { .build = print_build,
				       .trial = print_trial,
				       .note = print_note };
	struct store_visitor json = { .trial = print_json };
	struct store *store;
	int ret;

	if (cmd_file_parse(&f, argc, argv, CMD_JSON | CMD_GIT, e) < 0)
		return -1;
	if (f.git && f.json)
		return err_set(e, ERR_USAGE, "--git and --json are two forms: use one of them");
	if (f.git)
		return print_git(&f, e);
	/* The store alone: the log needs no walk of the history. */
	path = fs_join(f.cfg.campaign.state, "campaign.db");
	if (!fs_exists(path)) {
		log_info("nothing yet: '%s' does not exist", path);
		return 0;
	}
	if (store_open(path, true, &store, e) < 0)
		return -1;
	plain.cookie = f.cfg.workload.metric;
	ret = store_visit(store, f.json ? &json : &plain, e);
	store_close(store);
	return ret;
}

const struct cmd cmd_log = {
	.name = "log",
	.summary = "show what a campaign did, oldest first",
	.usage = usage,
	.run = run,
};
