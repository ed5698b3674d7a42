/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trials of one kernel on a machine over SSH, without a campaign: prints what came of each. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/sig.h"
#include "target/target.h"

static const char usage[] =
	"usage: ssh_boot_once -h HOST [-p PORT] [-u USER] [-k KEY] [-K KNOWN-HOSTS] -d FOLDER\n"
	"       -I IMAGE [-b BUILD-ID] [-r RELEASE] [-m MODULES.tar] [-a APPEND] [-i INSTALL]\n"
	"       [-P POWER-CYCLE] [-c CONSOLE] [-t BOOT-TIMEOUT-S] [-n TRIALS] [-x WORKLOAD] [-W]\n"
	"       -W: arm the watchdog    -C: check only    -Z: clean only\n";

/* All that the options say. */
struct plan {
	struct target_ssh_opts o;
	struct target_job job;
	struct strv install, power, console, command;
	int trials;
	bool checks, cleans;
	double start;
	char nonce[33];
};

static void tick(void *cookie, const char *stage)
{
	static char last[40];
	const struct plan *p = cookie;

	if (strcmp(last, stage) != 0)
		fprintf(stderr, "%7.1f %s\n", clock_mono_s() - p->start, stage);
	snprintf(last, sizeof(last), "%s", stage);
}

static void take_words(struct strv *v, const char *text)
{
	struct err e = ERR_INIT;

	strv_clear(v);
	if (str_split_words(text, v, &e) == 0)
		return;
	fprintf(stderr, "%s\n", e.msg);
	exit(129);
}

static bool take_option(struct plan *p, int c)
{
	switch (c) {
	case 'h':
		p->o.host = optarg;
		return true;
	case 'p':
		p->o.port = (unsigned)strtoul(optarg, NULL, 10);
		return true;
	case 'u':
		p->o.user = optarg;
		return true;
	case 'k':
		p->o.identity = optarg;
		return true;
	case 'K':
		p->o.known_hosts = optarg;
		return true;
	case 'a':
		p->o.append = optarg;
		return true;
	case 't':
		p->o.boot_timeout_ms = strtoll(optarg, NULL, 10) * 1000;
		return true;
	case 'W':
		p->o.watchdog = true;
		return true;
	case 'd':
		p->job.dir = optarg;
		return true;
	case 'I':
		p->job.image = optarg;
		return true;
	case 'b':
		p->job.build_id = optarg;
		return true;
	case 'r':
		p->job.release = optarg;
		return true;
	case 'm':
		p->job.modules = optarg;
		return true;
	case 'i':
		take_words(&p->install, optarg);
		return true;
	case 'P':
		take_words(&p->power, optarg);
		return true;
	case 'c':
		take_words(&p->console, optarg);
		return true;
	case 'x':
		take_words(&p->command, optarg);
		return true;
	case 'n':
		p->trials = atoi(optarg);
		return true;
	case 'C':
		p->checks = true;
		return true;
	case 'Z':
		p->cleans = true;
		return true;
	case 'v':
		log_set_level(LOG_VERBOSE);
		return true;
	default:
		return false;
	}
}

static int say_error(const struct plan *p, const struct err *e)
{
	printf("%7.1f error %d: %s\n", clock_mono_s() - p->start, (int)e->code, e->msg);
	return err_exit_status(e->code);
}

static void say_result(const struct plan *p, const struct target_result *r)
{
	printf("%7.1f outcome %s%s: %s; boot %.1f run %.1f total %.1f; release %s build id %s\n",
	       clock_mono_s() - p->start, trial_outcome_name(r->outcome),
	       r->boot_timed_out ? " (canary due)" : "", r->detail, r->boot_seconds, r->run_seconds,
	       r->total_seconds, r->release, r->build_id);
	for (size_t i = 0; i < r->facts.n; i++)
		printf("  fact %s\n", r->facts.v[i]);
	for (size_t i = 0; i < r->n_runs; i++)
		printf("  run %zu: status %d: %.*s\n", i + 1, r->runs[i].status, (int)r->runs[i].n,
		       r->runs[i].output);
	fflush(stdout);
}

static void new_nonce(struct plan *p)
{
	unsigned char raw[16];

	if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw))
		abort();
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(p->nonce + 2 * i, 3, "%02x", raw[i]);
}

static int do_trials(struct plan *p, struct target *t)
{
	int status = 0;

	for (int i = 0; i < p->trials; i++) {
		struct target_result r = { .outcome = TRIAL_UNSET };
		struct err e = ERR_INIT;

		new_nonce(p);
		if (t->ops->trial(t->priv, &p->job, &r, &e) < 0)
			status = say_error(p, &e);
		else
			say_result(p, &r);
		target_result_release(&r);
	}
	return status;
}

static int do_clean(struct plan *p)
{
	_cleanup_strv_ struct strv removed = STRV_INIT;
	struct err e = ERR_INIT;

	if (target_ssh_clean(&p->o, &removed, &e) < 0)
		return say_error(p, &e);
	for (size_t i = 0; i < removed.n; i++)
		printf("removed %s\n", removed.v[i]);
	return 0;
}

static int work(struct plan *p)
{
	struct target t = { NULL, NULL };
	struct err e = ERR_INIT;
	int status;

	if (p->cleans)
		return do_clean(p);
	if (target_ssh_open(&p->o, &t, &e) < 0)
		return say_error(p, &e);
	if (p->checks)
		status = t.ops->check(t.priv, &e) < 0 ? say_error(p, &e) : 0;
	else
		status = do_trials(p, &t);
	target_close(&t);
	printf("%7.1f closed\n", clock_mono_s() - p->start);
	return status;
}

int main(int argc, char **argv)
{
	struct plan p = {
		.o = { .boot_timeout_ms = 60000, .max_wait_ms = 60000, .owner = "ssh_boot_once" },
		.job = { .commit = "0000000000000000000000000000000000000000",
			 .trial = 1,
			 .runs = 2,
			 .run_timeout_ms = 60000,
			 .tick = tick },
		.trials = 1,
		.start = clock_mono_s(),
	};
	int c;

	p.o.install = &p.install;
	p.o.power_cycle = &p.power;
	p.o.console = &p.console;
	p.job.nonce = p.nonce;
	p.job.tick_cookie = &p;
	take_words(&p.install, "kexec");
	take_words(&p.command, "true");
	while ((c = getopt(argc, argv, "h:p:u:k:K:a:t:Wd:I:b:r:m:i:P:c:x:n:CZv")) != -1)
		if (!take_option(&p, c))
			break;
	if (c != -1 || !p.o.host || (!p.job.dir && !p.checks && !p.cleans)) {
		fputs(usage, stderr);
		return 129;
	}
	p.o.argv = p.command.v;
	sig_install();
	if (p.job.dir && fs_mkdirs(p.job.dir, NULL) < 0)
		return 128;
	return work(&p);
}
