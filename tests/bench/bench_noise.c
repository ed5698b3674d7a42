/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The culprit under noise: search = bayes beside git bisect and others, over simulated campaigns. */
#include <getopt.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "bench/noise_figures.h"

static const char help[] =
	"Usage: bench_noise [options]\n"
	"\n"
	"How often the culprit is found, and at what price, over simulated campaigns of\n"
	"1000 commits. Exit status 1 where a target is missed.\n"
	"\n"
	"  -n N   campaigns of a row (1000)\n"
	"  -t N   at most so many where d <= 1 and nothing is to be met: slow rows (200)\n"
	"  -m N   campaigns of a row at the other two price lists (100)\n"
	"  -b N   campaigns of git bisect and Beta-Bernoulli (200)\n"
	"  -r S   only rows whose name holds S; repeatable\n"
	"  -s N   seed (20261130)\n"
	"  -j N   processes (2)\n"
	"  -l     list the rows\n"
	"  -h     this text\n";

/* build : boot : run in seconds; targets are those of the first */
static const struct bayes_price prices[] = { { 30, 5, 60 }, { 300, 10, 30 }, { 0, 180, 600 } };

#define ROWS_ASKED_MAX 16

static struct options {
	unsigned campaigns, slow, others, baselines, jobs;
	unsigned long seed;
	const char *rows[ROWS_ASKED_MAX];
	unsigned rows_asked;
	bool list;
} opt = {
	.campaigns = 1000, .slow = 200, .others = 100, .baselines = 200, .jobs = 2, .seed = 20261130
};

static struct {
	unsigned met, missed, uncalibrated;
	char missed_rows[1 << 13];
	struct calibration calibration;
} sum;

static const char head[] = "    %-22s %5s %6s %6s %6s %6s %6s %6s %13s %13s %12s %11s %24s %7s\n";

static void print_head(void)
{
	printf(head, "", "n", "right", "single", "of it", "claim", "denied", "blind", "runs",
	       "boots", "kernels", "list", "hours at the price lists", "boots to");
	printf(head, "", "", "%", "%", "right", "%", "%", "%", "mean p90", "mean p90", "mean p90",
	       "med. p90", "30:5:60 300:10:30 0:180:600", "bound");
}

static void print_figures(const char *who, const struct figures *f, double bound)
{
	printf("    %-22s %5u %6.1f %6.1f %6.1f %6.1f %6.1f %6.1f %7.1f %5.0f %7.1f %5.0f %6.1f "
	       "%5.0f %5.0f "
	       "%5.0f",
	       who, f->n, 100.0 * f->right / f->n, 100.0 * f->found / f->n,
	       f->found ? 100.0 * f->found_right / f->found : 0, 100 * f->claimed,
	       100.0 * f->denied / f->n, 100.0 * f->blind / f->n, f->runs.mean, f->runs.p90,
	       f->boots.mean, f->boots.p90, f->kernels.mean, f->kernels.p90, f->list.median,
	       f->list.p90);
	for (size_t p = 0; p < ARRAY_SIZE(prices); p++)
		printf(" %8.2f", figures_hours(f, &prices[p]));
	printf(bound > 0 ? " %8.2f\n" : "\n", f->boots.mean / bound);
	fflush(stdout);
}

static void judge(const struct row *r, const char *what, double have, double want, bool least)
{
	size_t used = strlen(sum.missed_rows);
	bool ok = least ? have >= want : have <= want;

	if (!(want > 0))
		return;
	printf("    target: %s %s %g: %s (%.4g)\n", what, least ? ">=" : "<=", want,
	       ok ? "met" : "MISSED", have);
	sum.met += ok;
	sum.missed += !ok;
	if (!ok)
		snprintf(sum.missed_rows + used, sizeof(sum.missed_rows) - used,
			 "  %s: %s %.4g, want %g\n", r->name, what, have, want);
}

static void judge_all(const struct row *r, const struct figures *f)
{
	const struct row_target *t = &r->t;

	judge(r, "right %", 100.0 * f->right / f->n, 100 * t->right, true);
	judge(r, "a single commit %", 100.0 * f->found / f->n, 100 * t->single, true);
	judge(r, "runs", f->runs.mean, t->runs, false);
	judge(r, "kernels", f->kernels.mean, t->kernels, false);
	judge(r, "median list", f->list.median, t->list_median, false);
	judge(r, "p90 of the list", f->list.p90, t->list_p90, false);
}

/* Claims that are right more rarely than chance and the confidence allow. */
static void judge_claims(const struct row *r, const struct figures *f)
{
	size_t used = strlen(sum.missed_rows);

	if (!figures_too_few(f->found_right, f->found, r->c.s.confidence))
		return;
	printf("    calibration: MISSED: %u of %u claims at %g %% are right\n", f->found_right,
	       f->found, 100 * r->c.s.confidence);
	sum.uncalibrated++;
	snprintf(sum.missed_rows + used, sizeof(sum.missed_rows) - used,
		 "  %s: %u of %u claims at %g %% are right\n", r->name, f->found_right, f->found,
		 100 * r->c.s.confidence);
}

static int run_batch(const struct batch *b, struct figures *f)
{
	struct outcome *o = batch_run(b);

	if (!o) {
		fprintf(stderr, "bench_noise: a process of row '%s' failed\n", b->row->name);
		return -1;
	}
	figures_get(o, b->campaigns, f);
	/* where steps are many or none, a claim is not about one culprit */
	if (b->who == SEARCH_BAYES && !b->row->c.s.none && !b->row->c.steps)
		calibration_add(&sum.calibration, o, b->campaigns);
	batch_release(b, o);
	return 0;
}

/* At price list @p. */
static unsigned row_campaigns(const struct row *r, size_t p)
{
	bool is_slow = !(r->t.right > 0) && fabs(r->c.s.d) < 1.1 && !(r->c.s.pass_fail > 0);
	unsigned n = p ? opt.others : opt.campaigns;

	return is_slow && n > opt.slow ? opt.slow : n;
}

/* @first: the figures at the price list of the targets. */
static int run_bayes(const struct row *r, double bound, struct figures *first)
{
	static const char *const who[] = { "bayes at 30:5:60", "bayes at 300:10:30",
					   "bayes at 0:180:600" };
	struct figures f;

	for (size_t p = 0; p < ARRAY_SIZE(prices); p++) {
		struct batch b = { .row = r,
				   .price = prices[p],
				   .campaigns = row_campaigns(r, p),
				   .jobs = opt.jobs,
				   .seed = opt.seed };

		if (run_batch(&b, &f) < 0)
			return -1;
		print_figures(who[p], &f, bound);
		if (!p)
			*first = f;
		if (!r->c.s.none)
			judge_claims(r, &f);
	}
	judge_all(r, first);
	return 0;
}

/* How much dearer a baseline is; only one that is right as often as is claimed counts. */
static bool print_ratio(const struct row *r, const char *who, const struct figures *f,
			const struct figures *bayes)
{
	if (f->right < r->c.s.confidence * f->n)
		return false;
	printf("    %s is right in %.1f %%, with %.2f times the runs of bayes and %.2f times its "
	       "hours at 30:5:60\n",
	       who, 100.0 * f->right / f->n, f->runs.mean / bayes->runs.mean,
	       figures_hours(f, &prices[0]) / figures_hours(bayes, &prices[0]));
	return true;
}

static int run_baselines(const struct row *r, double bound, const struct figures *bayes)
{
	static const unsigned looks[] = { 1, 3, 5, 10 };
	struct batch b = { .who = SEARCH_BISECT,
			   .row = r,
			   .campaigns = opt.baselines,
			   .jobs = opt.jobs,
			   .seed = opt.seed };
	struct figures f[ARRAY_SIZE(looks) + 1];
	char who[ARRAY_SIZE(looks) + 1][32] = { [ARRAY_SIZE(looks)] = "Beta-Bernoulli" };
	bool any = false;

	for (size_t k = 0; k < ARRAY_SIZE(f); k++) {
		if (k < ARRAY_SIZE(looks)) {
			b.looks = looks[k];
			snprintf(who[k], sizeof(who[k]), "git bisect, %2u boots", looks[k]);
		} else {
			b.who = SEARCH_BETABERN;
		}
		if (run_batch(&b, &f[k]) < 0)
			return -1;
		print_figures(who[k], &f[k], bound);
	}
	/* the cheapest bisection that will do, and the other one */
	for (size_t k = 0; k < ARRAY_SIZE(looks) && !any; k++)
		any = print_ratio(r, who[k], &f[k], bayes);
	if (!any)
		printf("    no git bisect of these is right in %g %%\n", 100 * r->c.s.confidence);
	print_ratio(r, who[ARRAY_SIZE(looks)], &f[ARRAY_SIZE(looks)], bayes);
	return 0;
}

static double row_bound(const struct row *r)
{
	const struct scenario *s = &r->c.s;
	double per = s->pass_fail, bits, apart;

	if (s->none)
		return 0;
	if (!(per > 0))
		return baseline_bound(s->commits, fabs(s->d) / r->boot_sd, s->confidence);
	/* the binary symmetric channel, and the divergence of its two inputs */
	bits = 1 + per * log2(per) + (1 - per) * log2(1 - per);
	apart = (1 - 2 * per) * log((1 - per) / per);
	return log2(s->commits) / bits + log(1 / (1 - s->confidence)) / apart;
}

static double children_cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec / 1e6;
}

static int run_row(size_t k)
{
	double start = clock_mono_s(), cpu = children_cpu_s(), bound;
	struct figures bayes;
	struct row r;

	row_get(k, &r);
	bound = row_bound(&r);
	printf("\n%s", r.name);
	if (bound > 0)
		printf("   (information bound: %.1f boots)", bound);
	printf("\n");
	if (run_bayes(&r, bound, &bayes) < 0 ||
	    (!r.c.s.none && run_baselines(&r, bound, &bayes) < 0))
		return -1;
	if (!r.c.s.none && !(r.c.s.pass_fail > 0) && fabs(r.c.s.d) <= 1)
		printf("    boots an end to see this step at all, alpha = beta = 0.01: %.0f\n",
		       bayes_boots_needed(fabs(r.c.s.d) / r.boot_sd, 0.01));
	printf("    %.0f s, CPU %.1f s\n", clock_mono_s() - start, children_cpu_s() - cpu);
	return 0;
}

static void print_end(void)
{
	const struct calibration *c = &sum.calibration;

	printf("\nCalibration: single commits named by bayes in all rows with one step\n"
	       "    claimed    claims  mean %%  right %%\n");
	for (int k = 0; k < BANDS; k++)
		if (c->claims[k])
			printf("    >= %5.3f  %7u  %6.2f  %7.2f\n", band_from[k], c->claims[k],
			       100 * c->claimed[k] / c->claims[k],
			       100.0 * c->right[k] / c->claims[k]);
	printf("\n%u targets met, %u missed; %u rows claim more than they hold\n%s", sum.met,
	       sum.missed, sum.uncalibrated, sum.missed_rows);
}

static bool is_asked(size_t k)
{
	struct row r;

	row_get(k, &r);
	for (unsigned i = 0; i < opt.rows_asked; i++)
		if (strstr(r.name, opt.rows[i]))
			return true;
	return !opt.rows_asked;
}

/* A count from 1 to a million; 0: it is none. */
static unsigned count_of(const char *s)
{
	char *end;
	unsigned long n = strtoul(s, &end, 10);

	return *s && !*end && n <= 1000000 ? (unsigned)n : 0;
}

/* Returns -1 on a bad command line, 1 where there is nothing more to do. */
static int parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:t:m:b:r:s:j:lh")) != -1) {
		unsigned *to = c == 'n'   ? &opt.campaigns
			       : c == 'm' ? &opt.others
			       : c == 'b' ? &opt.baselines
			       : c == 'j' ? &opt.jobs
					  : NULL;

		if (to && !(*to = count_of(optarg))) {
			fprintf(stderr, "bench_noise: '%s' is no count\n", optarg);
			return -1;
		}
		if (c == 's')
			opt.seed = strtoul(optarg, NULL, 0);
		if (c == 'r' && opt.rows_asked < ROWS_ASKED_MAX)
			opt.rows[opt.rows_asked++] = optarg;
		opt.list |= c == 'l';
		if (c == 'h')
			return printf("%s", help), 1;
		if (c == '?')
			return -1;
	}
	return optind < argc ? -1 : 0;
}

int main(int argc, char **argv)
{
	double start = clock_mono_s();
	unsigned done = 0;
	int ret = parse(argc, argv);

	if (ret)
		return ret < 0 ? (fprintf(stderr, "%s", help), 2) : 0;
	if (!opt.list)
		printf("search = bayes over simulated campaigns of %d commits: %u a row, %u at "
		       "other "
		       "price lists\n(build:boot:run, s), %u of git bisect and Beta-Bernoulli; "
		       "seed "
		       "%lu. Targets hold at 30:5:60.\nright: the culprit is in what it names; of "
		       "it "
		       "right: of single commits named; ends are counted.\n\n",
		       ROW_COMMITS, opt.campaigns, opt.others, opt.baselines, opt.seed);
	if (!opt.list)
		print_head();
	for (size_t k = 0; k < ROW_COUNT; k++) {
		struct row r;

		if (!is_asked(k))
			continue;
		done++;
		row_get(k, &r);
		if (opt.list)
			printf("%s\n", r.name);
		else if (run_row(k) < 0)
			return 1;
	}
	if (!done) {
		fprintf(stderr, "bench_noise: no row has such a name (-l lists them)\n");
		return 2;
	}
	if (opt.list)
		return 0;
	print_end();
	printf("%.0f s, CPU %.0f s\n", clock_mono_s() - start, children_cpu_s());
	return sum.missed || sum.uncalibrated;
}
