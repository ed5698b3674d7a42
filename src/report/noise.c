/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search = bayes and auto for a person: which search, what it believes, what it can see. */
#include <math.h>

#include "report/print.h"

static const char *unit_of(const struct report *r)
{
	return r->unit ? r->unit : "";
}

/* "5.1 ms" */
static const char *value(const struct report *r, double v, char *buf, size_t size)
{
	struct stats_interval point = { v, v, v };

	return report_interval(&point, unit_of(r), buf, size);
}

const char *print_share(double share, char *buf, size_t size)
{
	double percent = 100 * share;

	if (percent > 99.9 && share < 1)
		snprintf(buf, size, "> 99.9%%");
	else if (percent < 0.1 && share > 0)
		snprintf(buf, size, "< 0.1%%");
	else
		snprintf(buf, size, "%.1f%%", percent);
	return buf;
}

/* How far the threshold is, and what that means for one boot. */
static void add_distance(const struct engine_choice *c, const char *unit, struct str *out)
{
	struct stats_interval sd = { c->sd, c->sd, c->sd };
	char buf[96];

	if (!(c->wanted > 0)) {
		str_add(out, "nothing varies");
		return;
	}
	if (c->sd > 0)
		str_addf(out,
			 "the threshold lies %.3g boot-to-boot deviations (%s) from the nearer end",
			 c->distance, report_interval(&sd, unit, buf, sizeof(buf)));
	else
		str_add(out, "the boots of the ends do not differ");
	if (c->search == ENGINE_BAYES)
		str_addf(out,
			 ", and one boot decides from %.3g on: verdicts by threshold would need "
			 "about %.0f boots a commit",
			 c->wanted, c->boots);
	else if (c->sd > 0)
		str_addf(out, ", and one boot decides from %.3g on", c->wanted);
}

void report_choice(const struct engine_choice *c, const char *unit, struct str *out)
{
	static const char *const name[] = {
		[ENGINE_BISECT] = "bisect",
		[ENGINE_BAYES] = "bayes",
		[ENGINE_AUTO] = "auto",
	};

	str_addf(out, "search = %s", name[c->search]);
	if (!c->by_auto)
		return;
	if (c->search == ENGINE_AUTO) {
		str_add(out, ": the ends will decide between bisect and bayes");
		return;
	}
	str_add(out, " (auto): ");
	if (c->threshold_given)
		str_add(out, "the threshold is given");
	else if (c->end_fails)
		str_add(out, "the bad end fails");
	else
		add_distance(c, unit, out);
}

void print_choice(FILE *out, const struct report *r)
{
	_cleanup_str_ struct str text = STR_INIT;

	if (!r->noise.is_bayes && !r->noise.choice.by_auto)
		return;
	report_choice(&r->noise.choice, unit_of(r), &text);
	fputc('\n', out);
	print_clean(out, str_text(&text));
	fputc('\n', out);
}

void print_power(FILE *out, const struct report *r)
{
	const struct engine_power *p = &r->noise.power;
	double level = fabs(r->ends.good.estimate);
	char a[96], b[96];

	if (!p->boots || !(p->sd > 0))
		return;
	fprintf(out,
		"\nWith %u boot%s of each end, which differ by %s (standard deviation), a step of "
		"%s or more\nwould be seen",
		p->boots, p->boots == 1 ? "" : "s", value(r, p->sd, a, sizeof(a)),
		value(r, p->smallest, b, sizeof(b)));
	if (level > 0)
		fprintf(out, " (%.2g%%)", 100 * p->smallest / level);
	fputs(".\n", out);
	if (!(p->effect > 0) || p->needed <= p->boots)
		return;
	fprintf(out, "A %.3g%% step with %.2g%% boot-to-boot spread needs %.0f boots an end: ",
		100 * r->effect, 100 * p->sd / level, ceil(p->needed));
	fputs(r->deterministic ? "a longer run, or a larger effect.\n"
			       : "deterministic = yes, a longer run,\nor a larger effect.\n",
	      out);
}

const char *print_why_step(const struct report *r)
{
	static const char *const text[] = {
		[BAYES_WHY_UNSET] = "",
		[BAYES_WHY_ENDS_FIRST] = "both ends need boots before anything can be said",
		[BAYES_WHY_ENDS_DIFFER] = "it is not certain yet that the ends differ",
		[BAYES_WHY_ENDS_EQUAL] = "the ends may be equal to within the effect",
		[BAYES_WHY_DRIFT] = "to see whether the machine drifts",
		[BAYES_WHY_MIDDLE] = "a new commit that halves what is likely tells most a second",
		[BAYES_WHY_NEAR_END] = "beside an end it tells that end's luck from its level",
		[BAYES_WHY_AGAIN] = "one more boot of it tells most a second",
		[BAYES_WHY_LAYOUT] = "its layout is in doubt: another one tells most a second",
		[BAYES_WHY_SURE] = "one commit holds the confidence",
		[BAYES_WHY_BUDGET] = "the boots allowed are spent",
		[BAYES_WHY_UNAFFORDABLE] = "no step tells enough to pay for it",
		[BAYES_WHY_POWER] = "the spread is too large for the effect",
		[BAYES_WHY_EQUIVALENT] = "the ends differ by less than the effect",
	};
	enum bayes_why why = r->noise.belief.step.why;

	if (r->phase == PHASE_MERGE_BASES || r->phase == PHASE_RECHECK)
		return "it is judged by the threshold before the search";
	return (unsigned)why < ARRAY_SIZE(text) && text[why] ? text[why] : "";
}

static void print_interval(FILE *out, const struct report *r, const char *label, double v,
			   const struct bayes_interval *i)
{
	struct stats_interval s = { v, i->low, i->high };
	char buf[96];

	fprintf(out, "  %-14s %s\n", label, report_interval(&s, unit_of(r), buf, sizeof(buf)));
}

static void print_rates(FILE *out, const struct report *r)
{
	static const char *const label[] = { "old end fails", "new end fails" };
	const struct engine_belief *b = &r->noise.belief;

	for (int s = 0; s < 2; s++)
		fprintf(out, "  %-14s %.0f%% [%.0f, %.0f] of the boots\n", label[s],
			100 * b->levels.level[s], 100 * b->intervals.level[s].low,
			100 * b->intervals.level[s].high);
}

static void print_levels(FILE *out, const struct report *r)
{
	const struct engine_belief *b = &r->noise.belief;
	char buf[96];

	if (!b->has_levels)
		return;
	fprintf(out, "\nLevels, intervals of %g%%\n", 100 * r->confidence);
	if (b->pass) {
		print_rates(out, r);
		return;
	}
	print_interval(out, r, r->fix ? "old (bad)" : "old (good)", b->levels.level[0],
		       &b->intervals.level[0]);
	print_interval(out, r, r->fix ? "new (good)" : "new (bad)", b->levels.level[1],
		       &b->intervals.level[1]);
	fputs("Standard deviations\n", out);
	if (b->run_sd > 0)
		fprintf(out, "  %-14s %s\n", "run to run", value(r, b->run_sd, buf, sizeof(buf)));
	print_interval(out, r, "boot to boot", b->levels.sigma, &b->intervals.boot_sd);
	print_interval(out, r, "build to build", b->levels.luck, &b->intervals.build_sd);
	if (b->intervals.drifting > 0.5)
		fprintf(out, "  %-14s %s so far\n", "drift",
			value(r, b->intervals.drift, buf, sizeof(buf)));
}

static void print_weights(FILE *out, const struct report *r)
{
	const struct report_noise *n = &r->noise;
	char hex[COMMIT_HEX + 1], share[24];

	fputs("\nMost weight\n", out);
	for (size_t i = 0; i < n->n_share; i++) {
		fprintf(out, "  %7s  %s  ", print_share(n->share[i].share, share, sizeof(share)),
			print_abbrev(&n->share[i].id, hex));
		print_clean(out, n->share[i].subject);
		fputc('\n', out);
	}
	if (n->belief.n_top > n->n_share)
		fprintf(out, "  %7s  %zu commits more hold %g%% with these\n", "",
			(size_t)n->belief.n_top - n->n_share, 100 * r->confidence);
	fprintf(out, "  %7s  no commit of this range\n",
		print_share(n->belief.none, share, sizeof(share)));
	fprintf(out, "  %.1f bits left\n", n->belief.bits_left);
}

static void print_to_go(FILE *out, const struct report *r)
{
	const struct report_noise *n = &r->noise;
	const struct engine_belief *b = &n->belief;
	char hex[COMMIT_HEX + 1], buf[32];

	if (r->status != ENGINE_RUNNING)
		return;
	fprintf(out, "\nTo go     about %.0f boots (%.0f to %.0f)", ceil(b->boots),
		floor(b->boots_low), ceil(b->boots_high));
	if (b->price.boot + b->price.run > 0)
		fprintf(out, ", %s", str_duration(b->seconds, buf, sizeof(buf)));
	fprintf(out, "\nNext      %s%s, boot %u: %s\n", print_abbrev(&n->next, hex),
		n->next_is_end ? " (an end)" : "", n->next_boot, print_why_step(r));
}

/* What another number of runs would save. */
static void print_runs(FILE *out, const struct report *r)
{
	unsigned best = r->noise.belief.runs_best, now = r->noise.runs;

	if (best && (best > now + now / 2 || best < now - now / 2))
		fprintf(out,
			"Hint      runs_per_boot = %u in [measure] would tell more in the same "
			"time, "
			"by the spread\n          within boots and what they take (in another "
			"state "
			"folder)\n",
			best);
}

void print_belief(FILE *out, const struct report *r)
{
	if (!r->noise.is_bayes)
		return;
	print_weights(out, r);
	print_levels(out, r);
	print_to_go(out, r);
	print_runs(out, r);
}

void print_unseen(FILE *out, const struct report *r)
{
	if (r->deterministic)
		fputs("\nNote: instructions were counted (deterministic = yes), so one run "
		      "decides, "
		      "and a difference\ncounts from effect on. Caches, TLBs and real contention "
		      "are invisible to it.\n",
		      out);
}
