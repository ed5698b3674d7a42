/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress compare: kernels side by side. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "campaign/compare.h"
#include "cmd/cmd.h"

static const char usage[] =
	"Usage: kregress compare [--json] [--plots <folder>] [--profile]\n"
	"                        [-o <section.key=value>]... FILE COMMIT...\n"
	"\n"
	"Measure kernels in interleaved boots and print how they differ from the first.\n"
	"[compare] of the campaign FILE says how often, with which settings and over\n"
	"which values of an argument; its ends do not matter. COMMIT is a revision of the\n"
	"campaign's repository, and what is made of it, from left to right:\n"
	"\n"
	"  v6.14                        as it is\n"
	"  v6.14~revert:d4148ae,efa7df  without these commits\n"
	"  v6.14+fix.patch              with this patch\n"
	"\n"
	"Nothing in the repository is touched. What is in the campaign's store is not\n"
	"measured again: the same command goes on after a stop, and prints again.\n"
	"\n"
	"Options:\n"
	"      --json                   print one JSON object instead of tables\n"
	"      --plots <folder>         also plot there, by gnuplot: the values over the\n"
	"                               sweep, and their change against the first kernel\n"
	"      --profile                also show which functions take the time, by more\n"
	"                               boots (QEMU only)\n"
	"  -o <section.key=value>       set a key over the file's value; repeatable\n"
	"  -h, --help                   show this text\n"
	"\n"
	"Exit status: 0, 125 a kernel could not be measured (the others are printed), 128\n"
	"kregress could not work, 129 command line or file wrong, or a revert or patch\n"
	"does not apply, 130 interrupted.\n";

#define EXIT_UNTESTABLE 125

enum { OPT_JSON = 256, OPT_PLOTS, OPT_PROFILE };

struct request {
	struct cmd_file f;
	char *plots;
	bool profile;
	char *const *words;
	size_t n_words;
};

static void request_release(struct request *q)
{
	cmd_file_release(&q->f);
	free(q->plots);
}

static int parse(struct request *q, int argc, char **argv, struct err *e)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, OPT_JSON },
		{ "plots", required_argument, NULL, OPT_PLOTS },
		{ "profile", no_argument, NULL, OPT_PROFILE },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = cmd_option(argc, argv, ":o:", names, e)) != CMD_OPTION_END) {
		if (c == CMD_OPTION_ERROR)
			return -1;
		q->f.json |= c == OPT_JSON;
		q->profile |= c == OPT_PROFILE;
		if (c == 'o')
			strv_add(&q->f.settings, optarg);
		if (c == OPT_PLOTS) {
			free(q->plots);
			q->plots = xstrdup(optarg);
		}
	}
	if (argc - optind < 2)
		return err_set(e, ERR_USAGE, "a campaign file and the kernels are needed");
	q->f.path = xstrdup(argv[optind]);
	q->words = argv + optind + 1;
	q->n_words = (size_t)(argc - optind - 1);
	return cmd_file_load(&q->f, e);
}

static int show(const struct request *q, const struct report_compare *r, struct err *e)
{
	char why[200] = "";
	int ret = q->plots ? report_compare_plots(r, q->plots, why, sizeof(why), e) : 0;

	if (ret < 0)
		return -1;
	if (ret > 0)
		log_warn("no plots in '%s': %s", q->plots, why);
	(q->f.json ? report_compare_json : report_compare_text)(r, stdout);
	return report_compare_lacks(r) ? EXIT_UNTESTABLE : 0;
}

static int run(int argc, char **argv, struct err *e)
{
	_cleanup_(request_release) struct request q = { .f = CMD_FILE_INIT };
	_cleanup_(report_compare_release) struct report_compare r = { .name = NULL };
	struct session s = { .lock_fd = -1 };
	int ret;

	if (parse(&q, argc, argv, e) < 0)
		return -1;
	ret = session_open(
		&s, &q.f.cfg,
		&(struct session_opts){ .mode = SESSION_RUN, .no_ends = true, .any_store = true },
		e);
	if (ret == 0)
		ret = compare_run(&s, q.words, q.n_words, q.profile, &r, e);
	session_close(&s);
	return ret < 0 ? -1 : show(&q, &r, e);
}

const struct cmd cmd_compare = {
	.name = "compare",
	.summary = "measure kernels side by side, with settings and sweeps",
	.usage = usage,
	.run = run,
};
