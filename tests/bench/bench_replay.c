/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded boots of real kernels with a planted regression: bayes beside bisection, many times. */
#include <getopt.h>

#include "bench/noise_figures.h"
#include "sim/recorded.h"

static const char help[] =
	"Usage: bench_replay [options] FILE\n"
	"\n"
	"Plants a regression at a random commit of what record-boots has recorded, and\n"
	"searches it over these boots.\n"
	"\n"
	"  -n N   replays (1000)\n"
	"  -p P   the planted change of the values, percent (5)\n"
	"  -t N   number of the commit that is the bad end (24: the last one before the\n"
	"         history's own regression of page faults)\n"
	"  -s N   seed (1)\n"
	"  -h     this text\n";

static struct options {
	unsigned replays;
	double percent;
	uint32_t tip;
	unsigned long seed;
	const char *path;
} opt = { .replays = 1000, .percent = 5, .tip = 24, .seed = 1 };

static void print_line(const char *who, const struct outcome *o)
{
	struct figures f;

	figures_get(o, opt.replays, &f);
	printf("%-28s right %5.1f %%  single commit %5.1f %%, of these right %5.1f %% (claimed "
	       "%5.1f %%)  no difference %5.1f %%  too noisy %5.1f %%  boots %5.1f p90 %3.0f  "
	       "kernels %4.1f  list %1.0f p90 %2.0f\n",
	       who, 100.0 * f.right / f.n, 100.0 * f.found / f.n,
	       f.found ? 100.0 * f.found_right / f.found : 0, 100 * f.claimed,
	       100.0 * f.denied / f.n, 100.0 * f.blind / f.n, f.boots.mean, f.boots.p90,
	       f.kernels.mean, f.list.median, f.list.p90);
	fflush(stdout);
}

/* @looks: of bisection; 0: bayes, that may boot each end @ends times before it gives up. */
static void replay_all(const struct recorded *r, unsigned looks, unsigned ends)
{
	_cleanup_free_ struct outcome *o = xcalloc(opt.replays, sizeof(*o));
	const struct bayes_opts told = { .build_sd = BAYES_AUTO,
					 .confidence = 0.95,
					 .effect = 0.02,
					 .max_boots = 500,
					 .max_end_boots = ends,
					 .price = { .build = 30, .boot = 1, .run = 4 } };
	char who[32];

	for (unsigned i = 0; i < opt.replays; i++) {
		struct replay p;

		replay_new(&p, r, 1 + opt.percent / 100, opt.seed + 104729ul * i);
		if (looks)
			replay_bisect(&p, looks, &o[i]);
		else
			replay_search(&p, &told, &o[i]);
		replay_release(&p);
	}
	if (looks)
		snprintf(who, sizeof(who), "threshold, %2u boots a commit", looks);
	else
		snprintf(who, sizeof(who), "bayes, <= %u boots an end", ends);
	print_line(who, o);
}

/* Sums over the boots of one kernel. */
struct kernel_sums {
	double n, mean, squares; /* squares about the mean */
};

static struct kernel_sums sums_of(const struct recorded_commit *c)
{
	struct kernel_sums s = { .n = c->boots };

	for (unsigned i = 0; i < c->boots; i++)
		s.mean += c->value[i] / s.n;
	for (unsigned i = 0; i < c->boots; i++)
		s.squares += (c->value[i] - s.mean) * (c->value[i] - s.mean);
	return s;
}

/* One-way analysis of variance: deviation between boots of a kernel, and between kernels. */
static void print_noise(const struct recorded *r)
{
	double kernels = 0, n = 0, sum = 0, squares = 0, within = 0, between = 0, mean;
	bool seen[RECORDED_COMMITS_MAX] = { false };

	for (uint32_t x = 0; x <= r->dag.n; x++) {
		uint32_t k = r->c[r->number[x]].kernel;
		struct kernel_sums s;

		if (k == DAG_NONE || seen[k])
			continue;
		seen[k] = true;
		s = sums_of(&r->c[k]);
		kernels++;
		n += s.n;
		sum += s.n * s.mean;
		squares += s.n * s.mean * s.mean;
		within += s.squares;
	}
	mean = sum / n;
	within /= n - kernels;
	between = ((squares - n * mean * mean) / (kernels - 1) - within) * kernels / n;
	printf("%.0f kernels, %.0f boots, mean %.1f us; deviation between boots of a kernel %.2f "
	       "%%,\nbetween kernels %.2f %%; %+g %% is a step of d = %.2f\n",
	       kernels, n, mean, 100 * sqrt(within) / mean,
	       between > 0 ? 100 * sqrt(between) / mean : 0, opt.percent,
	       fabs(opt.percent) / 100 * mean / sqrt(within));
}

static int parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:p:t:s:h")) != -1) {
		if (c == 'n')
			opt.replays = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'p')
			opt.percent = strtod(optarg, NULL);
		else if (c == 't')
			opt.tip = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 's')
			opt.seed = strtoul(optarg, NULL, 0);
		else
			return -1;
	}
	opt.path = argv[optind];
	return optind + 1 == argc && opt.replays && opt.percent > -100 ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct recorded *r;

	if (parse(argc, argv) < 0) {
		fprintf(stderr, "%s", help);
		return 2;
	}
	r = recorded_open(opt.path, opt.tip, &e);
	if (!r) {
		fprintf(stderr, "bench_replay: %s\n", e.msg);
		return 1;
	}
	printf("%u candidates, %u replays; ", r->dag.n, opt.replays);
	print_noise(r);
	replay_all(r, 0, 60);
	replay_all(r, 0, 250);
	for (unsigned looks = 1; looks <= 10; looks += looks < 5 ? 2 : 5)
		replay_all(r, looks, 0);
	recorded_close(r);
	return 0;
}
