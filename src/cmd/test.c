/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress test: one commit, for git bisect run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "campaign/single.h"
#include "campaign/summary.h"
#include "cmd/cmd.h"
#include "io/bisect_log.h"
#include "report/report.h"

static const char usage[] =
	"Usage: kregress test [--json] [-c <file>] [-o <section.key=value>]... [COMMIT]\n"
	"\n"
	"Measure one commit and say what it is, by the exit status too: the command for\n"
	"'git bisect run kregress test'. COMMIT is any revision, of the repository one\n"
	"stands in or of the campaign's; without it the one that git bisect has picked\n"
	"here, or HEAD. Nothing in the repository or its files is touched. What is in the\n"
	"campaign's store is not measured again. Where the threshold depends on the ends,\n"
	"these are measured first, once.\n"
	"\n"
	"Options:\n"
	"  -c <file>                    campaign file; default: kregress.ini here, above\n"
	"      --json                   print one JSON object instead of a line\n"
	"  -o <section.key=value>       set a key over the file's value; repeatable\n"
	"  -h, --help                   show this text\n"
	"\n"
	"Exit status: 0 good, 1 bad (hunt = fix: 0 still bad, 1 good), 125 this commit\n"
	"cannot be tested, 128 kregress could not work, 129 command line or file wrong,\n"
	"130 interrupted. From 128 on git bisect run stops and blames nothing.\n";

#define EXIT_UNTESTABLE 125

enum { OPT_JSON = 256 };

static int parse_options(struct cmd_file *f, int argc, char **argv, struct err *e)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, OPT_JSON },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = cmd_option(argc, argv, ":c:o:", names, e)) != CMD_OPTION_END) {
		if (c == CMD_OPTION_ERROR)
			return -1;
		if (c == 'c') {
			free(f->path);
			f->path = xstrdup(optarg);
		} else if (c == 'o') {
			strv_add(&f->settings, optarg);
		} else {
			f->json = true;
		}
	}
	if (argc - optind > 1)
		return err_set(e, ERR_USAGE, "one commit at a time, but '%s' and '%s' are given",
			       argv[optind], argv[optind + 1]);
	return 0;
}

static void close_repo(struct repo **r)
{
	repo_close(*r);
}

static int head_here(struct commit_id *id, struct err *e)
{
	_cleanup_(close_repo) struct repo *here = cmd_repo_here();

	if (!here)
		return err_set(
			e, ERR_CONFIG,
			"no COMMIT is given, and this folder is in no git repository (name a "
			"commit, or go to where git bisect runs)");
	return repo_bisect_head(cmd_here(), id, e);
}

/* A name means what it means here; what is not known here, what it means to the campaign. */
static int find_name(const struct session *s, const char *rev, struct commit_id *id, struct err *e)
{
	_cleanup_(close_repo) struct repo *here = cmd_repo_here();
	struct err ignored = ERR_INIT;

	if (here && repo_resolve(here, rev, "COMMIT", id, &ignored) == 0)
		return 0;
	return repo_resolve(s->repo, rev, "COMMIT", id, e);
}

static int find_commit(const struct session *s, const char *rev, struct commit_id *id,
		       struct err *e)
{
	struct commit_id same;
	char hex[COMMIT_HEX + 1];

	if ((rev ? find_name(s, rev, id, e) : head_here(id, e)) < 0)
		return -1;
	commit_hex(id, hex);
	if (repo_resolve(s->repo, hex, "COMMIT", &same, e) == 0)
		return 0;
	if (e->code != ERR_CONFIG)
		return -1;
	return err_set(
		e, ERR_CONFIG,
		"commit %.12s%s%s%s is not in the repository of the campaign, '%s' (set repo = "
		"in [campaign] to the one that has it, or fetch it there)",
		hex, rev ? " ('" : ", HEAD here,", rev ? rev : "", rev ? "')" : "",
		s->cfg->campaign.repo);
}

/* Regression: good is old. Fix: bad is old. */
static int exit_status(const struct session *s, enum verdict v)
{
	if (v != VERDICT_GOOD && v != VERDICT_BAD)
		return EXIT_UNTESTABLE;
	return (v == VERDICT_BAD) != s->fix;
}

static void describe_values(const struct session *s, const struct single *o, struct str *out)
{
	const char *unit = s->unit ? s->unit : "", *blank = *unit ? " " : "";
	char interval[96], threshold[32];

	str_addf(out, "%s %s, threshold %s%s%s, %zu boot%s", s->metric->name,
		 report_interval(&o->interval, unit, interval, sizeof(interval)),
		 report_number(o->threshold, threshold, sizeof(threshold)), blank, unit, o->boots,
		 o->boots == 1 ? "" : "s");
	if (o->copies)
		str_addf(out, ", %zu of an identical kernel", o->copies);
}

/* "bad 1a2b3c4d5e6f: exit_ms 18.1 ms [16, 20], threshold 2.28 ms, 3 boots" */
static void print_line(const struct session *s, const struct single *o)
{
	_cleanup_str_ struct str line = STR_INIT;
	char hex[COMMIT_HEX + 1];

	str_addf(&line, "%s %.12s: ", verdict_name(o->verdict), commit_hex(&o->id, hex));
	if (o->outcome == TRIAL_UNSET) {
		str_addf(&line, "not measured, skip = in [campaign] names it");
	} else if (o->outcome == TRIAL_OK) {
		describe_values(s, o, &line);
	} else {
		str_add(&line, trial_outcome_name(o->outcome));
		if (o->detail && *o->detail) {
			str_add(&line, ": ");
			str_neutralise(&line, o->detail, strlen(o->detail), false);
		}
	}
	puts(str_text(&line));
}

static int print_json(struct session *s, const struct single *o, struct err *e)
{
	_cleanup_(report_release) struct report r = { .name = NULL };

	if (summary_make(s, &r, e) < 0 || single_report(s, o, &r, e) < 0)
		return -1;
	report_json(&r, stdout);
	return 0;
}

/* Nothing is blamed: say what is kept, and where one sees more. */
static int give_up(const struct session *s, const struct cmd_file *f, struct err *e)
{
	_cleanup_str_ struct str line = STR_INIT;

	if (e->code == ERR_INTERRUPTED) {
		log_error("interrupted: all that was measured is saved in '%s'; the same command "
			  "goes "
			  "on from there",
			  s->cfg->campaign.state);
		return err_exit_status(e->code);
	}
	if (err_exit_status(e->code) == err_exit_status(ERR_CONFIG))
		return -1;
	cmd_print_error(e, "test");
	cmd_file_line(f, "log", &line);
	log_error("no commit is blamed, and all that was measured is saved; see: %s",
		  str_text(&line));
	return err_exit_status(e->code);
}

static int work(struct session *s, const struct cmd_file *f, const char *rev, struct err *e)
{
	_cleanup_(single_release) struct single one = { .detail = NULL };
	struct commit_id id;

	if (find_commit(s, rev, &id, e) < 0)
		return -1;
	if (single_run(s, &id, &one, e) < 0)
		return give_up(s, f, e);
	if (s->cfg->target.type == TARGET_QEMU && s->cfg->target.deterministic)
		log_info("instructions were counted (deterministic = yes): caches, TLBs and real "
			 "contention are invisible to this verdict");
	if (!f->json)
		print_line(s, &one);
	else if (print_json(s, &one, e) < 0)
		return -1;
	return exit_status(s, one.verdict);
}

/* Are the ends wanted, and does the file have none? */
static int lacks_ends(const struct config *c, bool *lacks, struct err *e)
{
	*lacks = false;
	if (c->campaign.good || c->campaign.bad || c->campaign.series[0])
		return 0;
	return single_needs_ends(c, lacks, e);
}

/* The bisection that runs us gives the terms, and the ends where nobody else does. */
static int open_session(struct session *s, const struct config *c, struct err *e)
{
	_cleanup_(bisect_log_release) struct bisect_log log = BISECT_LOG_INIT;
	_cleanup_(close_repo) struct repo *here = cmd_repo_here();
	struct session_opts o = { .mode = SESSION_RUN, .ends_optional = true, .any_store = true };
	int ret = here ? bisect_log_in_progress(here, &log, e) : 0;
	bool lacks;

	if (ret < 0 || lacks_ends(c, &lacks, e) < 0)
		return -1;
	if (ret > 0)
		o.here = &log;
	if (ret > 0 && lacks)
		o.import = &log;
	return session_open(s, c, &o, e);
}

static int run(int argc, char **argv, struct err *e)
{
	_cleanup_(cmd_file_release) struct cmd_file f = CMD_FILE_INIT;
	struct session s = { .lock_fd = -1 };
	int ret;

	if (parse_options(&f, argc, argv, e) < 0 || cmd_file_load(&f, e) < 0)
		return -1;
	ret = open_session(&s, &f.cfg, e);
	if (ret == 0)
		ret = work(&s, &f, optind < argc ? argv[optind] : NULL, e);
	session_close(&s);
	return ret;
}

const struct cmd cmd_test = {
	.name = "test",
	.summary = "measure one commit: the command for git bisect run",
	.usage = usage,
	.run = run,
};
