/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contradictions between the keys of a campaign file. */
#include <stdlib.h>
#include <string.h>

#include "io/config_table.h"

/* What the checks look at. */
struct check {
	const struct config *c;
	const struct config_given *given;
	struct faults *faults;
};

/* Add a mistake at the place of [@section] @key. */
static void __attribute__((format(printf, 4, 5)))
contradict(struct check *k, const char *section, const char *key, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	faults_add(k->faults, k->given[config_index(section, key)].at, "%s", text);
}

/* A series has its own ends. */
static void check_series(struct check *k)
{
	const struct config *c = k->c;

	if (!c->campaign.base)
		contradict(k, "campaign", "series",
			   "series without a commit to apply it on (add a line 'base = ...')");
	if (c->campaign.good)
		contradict(
			k, "campaign", "good",
			"good contradicts series, whose ends are base and its last patch (remove "
			"good)");
	if (c->campaign.bad)
		contradict(k, "campaign", "bad",
			   "bad contradicts series, whose ends are base and its last patch (remove "
			   "bad)");
}

/* The same commit under two names is found when they are resolved. */
static void check_campaign(struct check *k)
{
	const struct config *c = k->c;
	_cleanup_free_ char *shown = faults_quote(c->campaign.bad ? c->campaign.bad : "");

	if (*c->campaign.series) {
		check_series(k);
		return;
	}
	if (c->campaign.base)
		contradict(k, "campaign", "base", "base is for a series (set series = FILE.mbox)");
	if (c->campaign.good && str_eq(c->campaign.good, "auto") && c->campaign.hunt == HUNT_FIX)
		contradict(
			k, "campaign", "good",
			"good = auto looks for an older good commit, but in a fix hunt good is the "
			"newer end (name it)");
	if (c->campaign.good && str_eq(c->campaign.good, c->campaign.bad))
		contradict(k, "campaign", "bad",
			   "good and bad are the same revision '%s' (name two ends)", shown);
}

static bool is_given(const struct check *k, const char *section, const char *key)
{
	return k->given[config_index(section, key)].text != NULL;
}

/* For a guest we know what its kernel needs; for a machine its owner does. */
static void check_kernel(struct check *k)
{
	const struct config *c = k->c;

	if (c->build.type == BUILD_KERNEL && !c->build.command.n &&
	    !is_given(k, "build", "config") && !c->build.fragments.n)
		contradict(k, "build", "config",
			   "type = ssh needs the configuration of a kernel that its machine can "
			   "boot (config = file:<the machine's .config>, or fragments)");
}

/* What target and build need of each other. */
static void check_target(struct check *k)
{
	const struct config *c = k->c;
	static const char *const names[] = { "qemu", "command", "ssh" };
	bool command = c->target.type == TARGET_COMMAND;

	if (command && c->target.command.n == 0)
		contradict(k, "target", "command",
			   "type = command without a command (add a line 'command = ...')");
	if (!command && c->build.type == BUILD_NONE)
		contradict(k, "build", "type",
			   "type = none leaves nothing for %s to boot (build a kernel, or set "
			   "type = command in [target])",
			   names[c->target.type]);
	if (c->target.type == TARGET_SSH)
		check_kernel(k);
	if (c->build.layout == LAYOUT_FIXED && c->build.command.n)
		contradict(k, "build", "layout",
			   "layout = fixed is nothing that we could ask of command = (let it align "
			   "functions itself, or set layout = random: it gets $KREGRESS_LAYOUT)");
	if (c->target.deterministic && c->target.cpus > 1)
		contradict(
			k, "target", "cpus",
			"cpus = %u contradicts deterministic = yes, which counts the instructions "
			"of one CPU (set cpus = 1)",
			c->target.cpus);
	if (c->target.deterministic && c->target.accel == ACCEL_KVM)
		contradict(
			k, "target", "accel",
			"accel = kvm contradicts deterministic = yes, which needs TCG (set accel "
			"= tcg)");
}

static void check_workload(struct check *k)
{
	const struct config *c = k->c;

	if (*c->workload.use)
		return;
	if (c->target.type != TARGET_COMMAND)
		contradict(k, "workload", "use",
			   "'use' is missing in [workload] (type = %s needs one; see 'kregress "
			   "help workloads')",
			   c->target.type == TARGET_SSH ? "ssh" : "qemu");
	else if (c->workload.args)
		contradict(k, "workload", "args",
			   "args without a workload (set 'use', or put them into the command of "
			   "[target])");
}

static void check_measure(struct check *k)
{
	const struct config *c = k->c;

	if (c->verdict.min_boots > c->verdict.max_boots)
		contradict(k, "measure", "min_boots",
			   "min_boots = %u is more than max_boots = %u (raise max_boots)",
			   c->verdict.min_boots, c->verdict.max_boots);
	if (c->confirm.revert && c->confirm.boots == 0)
		contradict(k, "confirm", "revert",
			   "revert = yes without boots (set boots = 3 in [confirm])");
}

/* What is wrong between threshold and @better, owned; NULL: nothing. */
static char *better_mistake(const struct verdict_opts *v, enum metric_better better)
{
	bool lower = better == METRIC_LOWER;

	if (v->kind != THRESHOLD_RELATIVE || better == METRIC_BETTER_NONE ||
	    lower == (v->threshold > 0))
		return NULL;
	return xasprintf("threshold '%+.15g%%' contradicts better = %s: bad is %s than good (write "
			 "%+.15g%%)",
			 v->threshold * 100, lower ? "lower" : "higher", lower ? "more" : "less",
			 -v->threshold * 100);
}

int config_check_better(const struct config *c, enum metric_better better, struct err *e)
{
	_cleanup_free_ char *mistake = better_mistake(&c->verdict, better);

	if (!mistake)
		return 0;
	return err_set(e, ERR_CONFIG, "%s: %s", config_where(c, "verdict.threshold"), mistake);
}

static void check_verdict(struct check *k)
{
	_cleanup_free_ char *mistake = better_mistake(&k->c->verdict, k->c->verdict.better);

	if (mistake)
		contradict(k, "verdict", "threshold", "%s", mistake);
}

/* Does the range take any value of the sweep? */
static void check_average(struct check *k)
{
	const struct config *c = k->c;
	size_t in = 0;
	double v;

	if (!c->compare.average.given)
		return;
	if (!c->compare.sweep.name) {
		contradict(k, "compare", "average",
			   "average without a sweep (add a line 'sweep = NAME VALUES')");
		return;
	}
	for (size_t i = 0; i < c->compare.sweep.values.n; i++) {
		const char *text = c->compare.sweep.values.v[i];

		if (!config_parse_real(text, strlen(text), &v)) {
			contradict(k, "compare", "average",
				   "average needs numbers, but the sweep has '%s'", text);
			return;
		}
		in += v >= c->compare.average.from && v <= c->compare.average.to;
	}
	if (!in)
		contradict(k, "compare", "average", "no value of the sweep is in this range");
}

void config_check(const struct config *c, const struct config_given *given, struct faults *f)
{
	struct check k = { .c = c, .given = given, .faults = f };

	check_campaign(&k);
	check_target(&k);
	check_workload(&k);
	check_measure(&k);
	check_verdict(&k);
	check_average(&k);
}
