/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress report: evidence, from stored rows only. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "campaign/maintainers.h"
#include "campaign/record.h"
#include "campaign/summary.h"
#include "cmd/cmd.h"
#include "report/plot.h"

static const char usage[] =
	"Usage: kregress report [--format <format>] [--plots <folder>]\n"
	"                       [-o <section.key=value>]... [FILE]\n"
	"\n"
	"Print what a campaign found and what it rests on, from the stored rows only:\n"
	"nothing is measured, changed or sent. FILE is a campaign file; without it\n"
	"kregress.ini in this folder or above.\n"
	"\n"
	"Options:\n"
	"      --format <format>        text (default), mail, html, json or junit\n"
	"      --plots <folder>         also write the plots there: SVG and, where\n"
	"                               gnuplot is installed, PNG\n"
	"  -o <section.key=value>       set a key over the file's value; repeatable\n"
	"  -h, --help                   show this text\n"
	"\n"
	"Exit status: 0, 128 kregress could not work, 129 command line or file wrong.\n";

enum { OPT_FORMAT = 256, OPT_PLOTS };

static void print_text(const struct report *r, const struct record *d, FILE *out)
{
	(void)d;
	report_text(r, out);
}

static const struct format {
	const char *name;
	void (*print)(const struct report *r, const struct record *d, FILE *out);
} formats[] = {
	{ "text", print_text },       { "mail", report_mail },   { "html", report_html },
	{ "json", report_json_long }, { "junit", report_junit },
};

static int find_format(const char *name, const struct format **out, struct err *e)
{
	const char *names[ARRAY_SIZE(formats)], *near;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		names[i] = formats[i].name;
		if (!str_eq(names[i], name))
			continue;
		*out = &formats[i];
		return 0;
	}
	near = str_did_you_mean(name, names, ARRAY_SIZE(formats));
	return err_set(e, ERR_USAGE, "unknown format '%s' (%s%s%stext, mail, html, json, junit)",
		       name, near ? "did you mean '" : "", near ? near : "",
		       near ? "'? there are " : "");
}

static int write_plots(const struct report *r, const struct record *d, const char *dir,
		       struct err *e)
{
	char why[200] = "";
	int ret = plot_files(r, d, dir, why, sizeof(why), e);

	if (ret > 0)
		log_warn("no PNG in '%s': %s", dir, why);
	return ret < 0 ? -1 : 0;
}

static int show(struct session *s, const struct cmd_file *f, const struct format *format,
		const char *plots, struct err *e)
{
	_cleanup_(report_release) struct report r = { .name = NULL };
	_cleanup_(record_release) struct record d = { .trial = NULL };
	_cleanup_str_ struct str line = STR_INIT;

	if (summary_make(s, &r, e) < 0 || record_make(s, &r, &d, e) < 0)
		return -1;
	cmd_resume_line(f, &line);
	d.rerun = str_detach(&line);
	if (format->print == report_mail)
		maintainers_ask(s, &r, &d);
	if (plots && write_plots(&r, &d, plots, e) < 0)
		return -1;
	format->print(&r, &d, stdout);
	return 0;
}

static int parse(struct cmd_file *f, int argc, char **argv, const struct format **format,
		 char **plots, struct err *e)
{
	static const struct option names[] = {
		{ "format", required_argument, NULL, OPT_FORMAT },
		{ "plots", required_argument, NULL, OPT_PLOTS },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = cmd_option(argc, argv, ":o:", names, e)) != CMD_OPTION_END) {
		if (c == CMD_OPTION_ERROR ||
		    (c == OPT_FORMAT && find_format(optarg, format, e) < 0))
			return -1;
		if (c == 'o')
			strv_add(&f->settings, optarg);
		if (c == OPT_PLOTS) {
			str_freep(plots);
			*plots = xstrdup(optarg);
		}
	}
	return cmd_file_take(f, argc, argv, e);
}

static int run(int argc, char **argv, struct err *e)
{
	_cleanup_(cmd_file_release) struct cmd_file f = CMD_FILE_INIT;
	_cleanup_free_ char *plots = NULL;
	const struct format *format = &formats[0];
	struct session s;
	int ret;

	if (parse(&f, argc, argv, &format, &plots, e) < 0)
		return -1;
	ret = session_open(&s, &f.cfg,
			   &(struct session_opts){ .mode = SESSION_VIEW, .ends_optional = true },
			   e);
	if (ret == 0)
		ret = show(&s, &f, format, plots, e);
	session_close(&s);
	return ret;
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "print the evidence: as text, mail, HTML, JSON or JUnit",
	.usage = usage,
	.run = run,
};
