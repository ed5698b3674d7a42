/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One commit measured and judged for its own sake. */
#include "campaign/single.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sig.h"
#include "campaign/loop.h"
#include "campaign/replay.h"
#include "campaign/trial.h"

/* A commit of the store, for the deviation that all of them share. */
struct group {
	struct commit_id id;
	double mean; /* running, of data.boot */
	struct verdict_data data;
};

/* Without ends nobody knows how many verdicts there will be: as for a range of so many commits. */
#define UNKNOWN_RANGE (1u << 16)

/*
 * The log read once more for one commit. As in the engine, it is looked at after each of its own
 * boots, with the deviation known by then: so its verdict never changes when others are measured
 * later, and asking again costs nothing.
 */
struct judge {
	struct session *s;
	struct ends ends; /* threshold and better */
	struct single *out;
	struct group *group; /* [0] is the commit asked for */
	size_t n, room;
	struct stats_pool pool;
};

void single_release(struct single *o)
{
	free(o->detail);
	free(o->samples);
	*o = (struct single){ .detail = NULL };
}

static void judge_release(struct judge *j)
{
	for (size_t i = 0; i < j->n; i++)
		verdict_data_release(&j->group[i].data);
	free(j->group);
}

static struct group *group_get(struct judge *j, const struct commit_id *id)
{
	for (size_t i = 0; i < j->n; i++)
		if (commit_eq(&j->group[i].id, id))
			return &j->group[i];
	xgrow(&j->group, &j->room, j->n + 1, sizeof(*j->group));
	j->group[j->n] = (struct group){ .id = *id };
	return &j->group[j->n++];
}

/* Welford, as the engine does it: a copy repeats boots that the pool has already. */
static void pool_boot(struct judge *j, struct group *g, bool copy)
{
	double value = g->data.boot[g->data.n - 1], delta = value - g->mean;

	g->mean += delta / (double)g->data.n;
	if (g->data.n < 2 || copy)
		return;
	j->pool.ss += delta * (value - g->mean);
	j->pool.df++;
}

/* What the report says of the commit beside its verdict. */
static void tell_own(struct single *o, const struct store_trial *t, const double *v, size_t n)
{
	bool booted = !t->twin && t->dir && t->dir[0];

	o->trials += booted;
	o->copies += t->twin != 0 && t->outcome == TRIAL_OK;
	o->samples = xrealloc(o->samples, o->n_samples + n, sizeof(*v));
	for (size_t i = 0; i < n; i++)
		o->samples[o->n_samples++] = v[i];
	if (o->outcome == TRIAL_UNSET)
		o->outcome = TRIAL_OK;
	if (t->outcome == TRIAL_OK || o->outcome != TRIAL_OK)
		return;
	o->outcome = t->outcome;
	o->detail = t->detail ? xstrdup(t->detail) : NULL;
}

static void decide(struct judge *j)
{
	const struct verdict_data *d = &j->group[0].data;
	struct single *o = j->out;

	if (o->verdict != VERDICT_UNSET || (!d->n && !d->failed))
		return;
	o->has_interval = d->n > 0;
	o->verdict = verdict_decide(&j->s->verdict, &j->ends, d, &j->pool,
				    j->s->has_ends ? dag_candidates(&j->s->dag) : UNKNOWN_RANGE,
				    &o->interval);
}

static int see_trial(const struct store_trial *t, void *cookie)
{
	struct judge *j = cookie;
	_cleanup_free_ double *v = NULL;
	struct trial trial = { .outcome = t->outcome, .copy = t->twin != 0 };
	struct group *g;
	size_t before;

	if (!replay_counts(j->s, t))
		return 0;
	v = session_samples(j->s, t, &trial.n);
	trial.samples = v;
	/* Measured when another metric decided, without a value of this one. */
	if (trial.outcome == TRIAL_OK && !trial.n)
		return 0;
	g = group_get(j, &t->commit);
	before = g->data.n;
	verdict_data_add(&g->data, &trial);
	if (g->data.n > before)
		pool_boot(j, g, trial.copy);
	if (g != &j->group[0])
		return 0;
	tell_own(j->out, t, v, trial.n);
	decide(j);
	return 0;
}

static bool needs_ends(const struct verdict_opts *v)
{
	return v->kind != THRESHOLD_ABSOLUTE || v->better == METRIC_BETTER_NONE;
}

int single_needs_ends(const struct config *c, bool *needs, struct err *e)
{
	_cleanup_(workload_release) struct workload w = { .name = NULL };
	struct verdict_opts v = c->verdict;
	const struct metric *metric;

	if (!c->better_given && c->workload.use[0]) {
		if (workload_load(c->workload.use, &w, e) < 0)
			return -1;
		metric = workload_metric(&w, c->workload.metric);
		if (metric)
			v.better = metric->better;
	}
	*needs = needs_ends(&v);
	return 0;
}

static bool ends_are_apart(const struct session *s)
{
	return s->engine && engine_ends(s->engine)->state == ENDS_APART;
}

/* Read the store for @o->id. VERDICT_UNSET then: another boot is wanted. */
static int judge(struct session *s, struct single *o, struct err *e)
{
	_cleanup_(judge_release) struct judge j = { .s = s, .out = o };
	struct store_visitor v = { .trial = see_trial, .cookie = &j };
	struct single fresh = { .id = o->id, .measured = o->measured };

	single_release(o);
	*o = fresh;
	group_get(&j, &o->id);
	j.ends = (struct ends){ .threshold = s->verdict.threshold, .better = s->verdict.better };
	if (ends_are_apart(s))
		j.ends = *engine_ends(s->engine);
	o->threshold = j.ends.threshold;
	if (store_visit(s->store, &v, e) < 0)
		return -1;
	o->boots = j.group[0].data.n;
	return 0;
}

/* skip = in the file is obeyed; a person's verdict is not: to ask for a commit is to doubt it. */
static const struct session_said *said_of(const struct session *s, const struct commit_id *id)
{
	for (size_t i = 0; i < s->n_told; i++)
		if (commit_eq(&s->told[i].id, id))
			return &s->told[i];
	return NULL;
}

/* In its range the engine's verdict stands, so that `run` and `test` never differ. */
static void ask_engine(const struct session *s, struct single *o)
{
	uint32_t node = s->engine ? session_node(s, &o->id) : DAG_NONE;
	struct engine_step step;
	struct engine_commit c;

	if (node == DAG_NONE || said_of(s, &o->id))
		return;
	engine_next(s->engine, &step);
	/* the chances of bayes are the search's; one commit is judged by the threshold */
	if (!engine_commit_of(s->engine, node, &c) || !isnan(c.new_state))
		return;
	if (c.verdict == VERDICT_UNSET && (step.phase == PHASE_ENDS || step.phase == PHASE_DONE))
		return;
	o->verdict = c.verdict;
	o->has_interval = c.data->n > 0;
	o->interval = c.interval;
}

/* "good 1a2b3c4d5e6f: 18.1 ms [16, 20]" */
static void name_end(const struct session *s, const char *word, const struct commit_id *id,
		     const struct stats_interval *i, struct str *out)
{
	char hex[COMMIT_HEX + 1], interval[96];

	str_addf(out, "%s %.12s: %s", word, commit_hex(id, hex),
		 report_interval(i, s->unit ? s->unit : "", interval, sizeof(interval)));
}

/* The end that failed, and of what. */
static int refuse_unmeasured(struct session *s, uint32_t node, struct err *e)
{
	_cleanup_(single_release) struct single end = { .id = *session_commit(s, node) };
	char hex[COMMIT_HEX + 1];

	if (judge(s, &end, e) < 0)
		return -1;
	return err_set(e, ERR_LAB,
		       "the %s end %.12s cannot be measured: %s%s%.200s: nothing can be told good "
		       "from bad (name another %s = in [campaign])",
		       commit_eq(&end.id, &s->good) ? "good" : "bad", commit_hex(&end.id, hex),
		       trial_outcome_name(end.outcome), end.detail && *end.detail ? ": " : "",
		       end.detail ? end.detail : "", commit_eq(&end.id, &s->good) ? "good" : "bad");
}

static const char *why_not_apart(const struct session *s, enum engine_status status)
{
	if (status == ENGINE_SWAPPED)
		return s->fix ? "the ends are the other way round (swap good and bad, or set hunt "
				"= "
				"regression in [campaign])"
			      : "the ends are the other way round (swap good and bad, or set hunt "
				"= fix "
				"in [campaign])";
	if (status == ENGINE_SAME_SIDE)
		return "the ends differ, but both are on one side of the threshold (set another "
		       "threshold in [verdict])";
	if (status == ENGINE_BLIND)
		return "the ends look alike, and the boots allowed cannot show a step of effect "
		       "(see kregress run)";
	return "the ends do not differ (name ends that do in [campaign], or raise max_boots in "
	       "[measure])";
}

/* git bisect must stop here: there is nothing by which a commit could be good or bad. */
static int refuse_ends(struct session *s, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	const struct ends *ends = engine_ends(s->engine);
	struct engine_result r;

	engine_result(s->engine, &r);
	if (r.status == ENGINE_END_UNMEASURED)
		return refuse_unmeasured(s, r.node, e);
	name_end(s, "good", &s->good, &ends->good, &text);
	str_add(&text, ", ");
	name_end(s, "bad", &s->bad, &ends->bad, &text);
	return err_set(e, ERR_LAB, "%s: %s", why_not_apart(s, r.status), str_text(&text));
}

/* The first thing that is measured in this call: the log says when it began. */
static int begin(struct session *s, struct single *o, struct err *e)
{
	if (o->measured)
		return 0;
	o->measured = true;
	return store_note_add(s->store, "start", s->cfg->campaign.name, 0, e);
}

static int measure_ends(struct session *s, struct single *o, struct err *e)
{
	struct engine_step step;

	if (!s->engine)
		return err_set(
			e, ERR_CONFIG,
			"%s: this threshold comes from the ends, and there are none (set good "
			"and bad in [campaign], or an absolute threshold and better in "
			"[verdict])",
			config_where(s->cfg, "verdict.threshold"));
	engine_next(s->engine, &step);
	if (step.phase == PHASE_ENDS && (begin(s, o, e) < 0 || loop_ends(s, e) < 0))
		return -1;
	return ends_are_apart(s) ? 0 : refuse_ends(s, e);
}

static int boot_once(struct session *s, struct single *o, struct err *e)
{
	_cleanup_str_ struct str line = STR_INIT;
	struct trial_report r;
	char hex[COMMIT_HEX + 1];

	if (sig_check(e) < 0 || begin(s, o, e) < 0 || trial_run(s, &o->id, 0, "test", &r, e) < 0)
		return -1;
	str_addf(&line, "test: %.12s boot %zu: ", commit_hex(&o->id, hex), o->boots + 1);
	loop_describe(s, &r, &line);
	log_info("%s", str_text(&line));
	return 0;
}

static int measure_commit(struct session *s, struct single *o, struct err *e)
{
	for (;;) {
		if (judge(s, o, e) < 0)
			return -1;
		ask_engine(s, o);
		if (o->verdict != VERDICT_UNSET)
			return 0;
		if (boot_once(s, o, e) < 0)
			return -1;
	}
}

static int note_verdict(struct session *s, const struct single *o, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	char hex[COMMIT_HEX + 1], interval[96];

	str_addf(&text, "%s %s", commit_hex(&o->id, hex), verdict_name(o->verdict));
	if (o->has_interval)
		str_addf(&text, " %s %s", s->metric->name,
			 report_interval(&o->interval, s->unit ? s->unit : "", interval,
					 sizeof(interval)));
	return store_note_add(s->store, "verdict", str_text(&text), 0, e);
}

static int work(struct session *s, struct single *o, struct err *e)
{
	const struct session_said *said = said_of(s, &o->id);

	if (said && !said->person) {
		o->verdict = said->verdict;
		return 0;
	}
	if (needs_ends(&s->verdict) && measure_ends(s, o, e) < 0)
		return -1;
	if (measure_commit(s, o, e) < 0)
		return -1;
	return o->measured ? note_verdict(s, o, e) : 0;
}

int single_run(struct session *s, const struct commit_id *id, struct single *out, struct err *e)
{
	struct err ignored = ERR_INIT;
	int ret;

	out->id = *id;
	ret = work(s, out, e);
	log_progress("%s", "");
	if (!out->measured)
		return ret;
	/* After a failure the first error is the one to report. */
	if (store_note_add(s->store, "stop", ret < 0 ? e->msg : "done", clock_mono_s() - s->started,
			   ret < 0 ? &ignored : e) < 0)
		return -1;
	return ret;
}

/* The commit's row of the report: the campaign's own where it has one. */
static struct report_commit *row_of(const struct single *o, struct report *r)
{
	for (size_t i = 0; i < r->n_tested; i++)
		if (commit_eq(&r->tested[i].id, &o->id))
			return &r->tested[i];
	r->tested = xrealloc(r->tested, r->n_tested + 1, sizeof(*r->tested));
	r->tested[r->n_tested] = (struct report_commit){ .id = o->id };
	return &r->tested[r->n_tested++];
}

/* Without a range there is no engine that knows them. */
static int judge_others(struct session *s, struct report *r, struct err *e)
{
	for (size_t i = 0; i < r->n_tested; i++) {
		_cleanup_(single_release) struct single other = { .id = r->tested[i].id };

		if (judge(s, &other, e) < 0)
			return -1;
		r->tested[i].verdict = other.verdict;
	}
	return 0;
}

int single_report(struct session *s, const struct single *o, struct report *r, struct err *e)
{
	struct report_commit *c;

	if (!s->engine && judge_others(s, r, e) < 0)
		return -1;
	c = row_of(o, r);
	r->asked = o->id;
	c->verdict = o->verdict;
	c->outcome = o->outcome;
	c->has_interval = o->has_interval;
	c->interval = o->interval;
	c->trials = o->trials;
	free(c->detail);
	c->detail = o->detail ? xstrdup(o->detail) : NULL;
	free(c->samples);
	c->samples = xcalloc(o->n_samples, sizeof(*c->samples));
	if (o->n_samples)
		memcpy(c->samples, o->samples, o->n_samples * sizeof(*c->samples));
	c->n_samples = o->n_samples;
	return 0;
}
