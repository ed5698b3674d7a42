/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Good or bad by threshold, from the values of some boots. */
#include "core/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"

void verdict_data_release(struct verdict_data *d)
{
	free(d->boot);
	*d = (struct verdict_data){ .boot = NULL };
}

static enum trial_outcome checked_outcome(const struct trial *t)
{
	if (t->outcome != TRIAL_OK)
		return t->outcome;
	for (size_t i = 0; i < t->n; i++)
		if (!isfinite(t->samples[i]))
			return TRIAL_GARBLED;
	return t->n ? TRIAL_OK : TRIAL_GARBLED;
}

void verdict_data_add(struct verdict_data *d, const struct trial *t)
{
	enum trial_outcome outcome = checked_outcome(t);

	if (outcome == TRIAL_OK) {
		xgrow(&d->boot, &d->room, d->n + 1, sizeof(*d->boot));
		d->boot[d->n++] = stats_median(t->samples, t->n);
	} else if (d->failed == TRIAL_UNSET) {
		d->failed = outcome;
	}
}

double verdict_alpha(const struct verdict_opts *o, uint32_t candidates)
{
	unsigned first = o->min_boots ? o->min_boots : 1;
	unsigned looks = o->max_boots > first ? o->max_boots - first + 1 : 1;
	unsigned verdicts = 0;

	while (verdicts < 32 && (UINT64_C(1) << verdicts) < candidates)
		verdicts++;
	return (1 - o->confidence) / (verdicts ? verdicts : 1) / looks;
}

static bool single_boots(const struct verdict_opts *o)
{
	return o->min_boots <= 1 && o->max_boots <= 1 && o->end_boots <= 1;
}

/* What s is taken from: with single boots it is unknown for good and counts as 0. */
struct stats_pool verdict_pool(const struct verdict_opts *o, const struct stats_pool *pool)
{
	if (!pool->df && single_boots(o))
		return (struct stats_pool){ .ss = 0, .df = 1 };
	return *pool;
}

struct stats_interval verdict_interval(const struct verdict_opts *o, const struct verdict_data *d,
				       const struct stats_pool *pool, uint32_t candidates)
{
	struct stats_pool known = verdict_pool(o, pool);

	return stats_mean_interval(stats_mean(d->boot, d->n), d->n, &known,
				   verdict_alpha(o, candidates));
}

/* Wholly on the good side of @threshold (which belongs to it), or wholly on the bad one. */
static bool is_good(const struct stats_interval *i, double threshold, enum metric_better better)
{
	return better == METRIC_LOWER ? i->high <= threshold : i->low >= threshold;
}

static bool is_bad(const struct stats_interval *i, double threshold, enum metric_better better)
{
	return better == METRIC_LOWER ? i->low > threshold : i->high < threshold;
}

static struct stats_interval point(double value)
{
	return (struct stats_interval){ value, value, value };
}

static bool excludes_zero(const struct stats_interval *i)
{
	return i->low > 0 || i->high < 0;
}

static double threshold_of(const struct verdict_opts *o, double good, double bad)
{
	if (o->kind == THRESHOLD_ABSOLUTE)
		return o->threshold;
	if (o->kind == THRESHOLD_RELATIVE)
		return good + o->threshold * fabs(good);
	return good / 2 + bad / 2; /* not their sum: that may overflow */
}

static enum metric_better resolve_better(const struct verdict_opts *o, double threshold,
					 double good, double bad)
{
	if (o->better != METRIC_BETTER_NONE)
		return o->better;
	if (o->kind == THRESHOLD_RELATIVE)
		return o->threshold < 0 ? METRIC_HIGHER : METRIC_LOWER;
	if (good != threshold)
		return good < threshold ? METRIC_LOWER : METRIC_HIGHER;
	return bad < threshold ? METRIC_HIGHER : METRIC_LOWER;
}

/*
 * The interval of their difference is without 0 then, too: √(1/na + 1/nb) is less than
 * 1/√na + 1/√nb.
 */
static bool are_apart(const struct ends *n, double threshold, const struct stats_interval *good,
		      const struct stats_interval *bad)
{
	return is_good(good, threshold, n->better) && is_bad(bad, threshold, n->better);
}

static bool are_same_side(const struct ends *n, const struct stats_interval *good,
			  const struct stats_interval *bad)
{
	return excludes_zero(&n->diff) &&
	       ((is_good(good, n->threshold, n->better) && is_good(bad, n->threshold, n->better)) ||
		(is_bad(good, n->threshold, n->better) && is_bad(bad, n->threshold, n->better)));
}

static enum ends_state ends_state_of(const struct verdict_opts *o, const struct ends *n,
				     bool more_possible)
{
	double swapped = threshold_of(o, n->bad.estimate, n->good.estimate);
	struct stats_interval good = point(n->good.estimate), bad = point(n->bad.estimate);

	if (n->equivalent)
		return ENDS_NO_DIFFERENCE;
	if (are_apart(n, n->threshold, &n->good, &n->bad))
		return ENDS_APART;
	if (are_apart(n, swapped, &n->bad, &n->good))
		return ENDS_SWAPPED;
	if (are_same_side(n, &n->good, &n->bad))
		return ENDS_SAME_SIDE;
	if (more_possible)
		return ENDS_MORE;
	return are_same_side(n, &good, &bad) ? ENDS_SAME_SIDE : ENDS_NO_DIFFERENCE;
}

/* The bad end fails, which is its verdict: only the good one can be on the wrong side. */
static enum ends_state good_alone_state(const struct ends *n, bool more_possible)
{
	if (is_good(&n->good, n->threshold, n->better))
		return ENDS_APART;
	if (is_bad(&n->good, n->threshold, n->better))
		return ENDS_SAME_SIDE;
	return more_possible ? ENDS_MORE : ENDS_NO_DIFFERENCE;
}

/* Difference of the two means, two-sided at @alpha. */
static struct stats_interval diff_of(const struct ends *n, const struct verdict_data *good,
				     const struct verdict_data *bad, const struct stats_pool *pool,
				     double alpha)
{
	return stats_diff_interval(n->good.estimate, good->n, n->bad.estimate, bad->n, pool, alpha);
}

/* A 1 − 2·alpha interval within the margin is both one-sided tests at alpha passed. */
static bool is_equivalent(const struct verdict_opts *o, const struct ends *n,
			  const struct verdict_data *good, const struct verdict_data *bad,
			  const struct stats_pool *pool)
{
	double margin = o->effect * fabs(n->good.estimate);
	struct stats_interval d = diff_of(n, good, bad, pool, fmin(2 * (1 - o->confidence), 1));

	return d.low >= -margin && d.high <= margin;
}

void verdict_ends(const struct verdict_opts *o, const struct verdict_data *good,
		  const struct verdict_data *bad, const struct stats_pool *pool,
		  uint32_t candidates, bool more_possible, struct ends *out)
{
	struct stats_pool known = verdict_pool(o, pool);
	struct ends n = { .bad = point(NAN), .diff = point(NAN) };

	n.good = verdict_interval(o, good, pool, candidates);
	if (bad->n)
		n.bad = verdict_interval(o, bad, pool, candidates);
	n.threshold = threshold_of(o, n.good.estimate, n.bad.estimate);
	n.better = resolve_better(o, n.threshold, n.good.estimate, n.bad.estimate);
	if (bad->n) {
		n.diff = diff_of(&n, good, bad, &known, verdict_alpha(o, candidates));
		n.equivalent = is_equivalent(o, &n, good, bad, &known);
	}
	if (bad->failed)
		n.equivalent = false;
	n.state = bad->failed ? good_alone_state(&n, more_possible)
			      : ends_state_of(o, &n, more_possible);
	*out = n;
}

enum verdict verdict_decide(const struct verdict_opts *o, const struct ends *ends,
			    const struct verdict_data *d, const struct stats_pool *pool,
			    uint32_t candidates, struct stats_interval *interval)
{
	struct stats_interval i = point(NAN);

	if (d->n)
		i = verdict_interval(o, d, pool, candidates);
	if (d->n && interval)
		*interval = i;
	if (d->failed)
		return verdict_of_failure(o, d->failed);
	if (!d->n || d->n < o->min_boots)
		return VERDICT_UNSET;
	if (is_good(&i, ends->threshold, ends->better))
		return VERDICT_GOOD;
	if (is_bad(&i, ends->threshold, ends->better))
		return VERDICT_BAD;
	return d->n < o->max_boots ? VERDICT_UNSET : VERDICT_UNSURE;
}

enum verdict verdict_of_failure(const struct verdict_opts *o, enum trial_outcome failed)
{
	switch (failed) {
	case TRIAL_BUILD_FAILED:
		return o->build_failure_is_bad ? VERDICT_BAD : VERDICT_SKIP;
	case TRIAL_BOOT_FAILED:
	case TRIAL_CRASHED:
	case TRIAL_TIMED_OUT:
		return o->crash_is_bad ? VERDICT_BAD : VERDICT_SKIP;
	default:
		return VERDICT_SKIP;
	}
}
