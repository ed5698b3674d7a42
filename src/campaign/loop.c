/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop: ask the engine, do, tell it. */
#include "campaign/loop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sig.h"
#include "campaign/auto_good.h"
#include "campaign/confirm.h"
#include "campaign/ends.h"
#include "campaign/progress.h"
#include "campaign/status_page.h"
#include "campaign/trial.h"
#include "report/report.h"

static const char *unit_of(const struct session *s)
{
	return s->unit ? s->unit : "";
}

/* "good v6.10" for an end, else the short name. */
static void name_commit(const struct session *s, uint32_t node, char *buf, size_t size)
{
	const struct commit_id *id = session_commit(s, node);
	char hex[COMMIT_HEX + 1];

	snprintf(buf, size, "%.12s%s", commit_hex(id, hex),
		 commit_eq(id, &s->good)  ? " (good end)"
		 : commit_eq(id, &s->bad) ? " (bad end)"
					  : "");
}

/* "exit_ms 18.2 ms" or "boot_failed: first panic line". */
static void describe_trial(const struct session *s, const struct trial_report *r, struct str *out)
{
	_cleanup_str_ struct str detail = STR_INIT;
	char number[32];

	if (r->outcome == TRIAL_OK) {
		str_addf(out, "%s %s %s", s->metric->name,
			 report_number(r->estimate, number, sizeof(number)), unit_of(s));
		return;
	}
	str_neutralise(&detail, r->detail, strlen(r->detail), false);
	str_addf(out, "%s%s%s", trial_outcome_name(r->outcome), detail.len ? ": " : "",
		 str_text(&detail));
}

static void describe_cost(const struct trial_report *r, struct str *out)
{
	char hex[COMMIT_HEX + 1], build[24], boot[24];

	if (r->taken_over) {
		str_addf(out,
			 " (the kernel is identical to that of %.12s: takes over its %u trial%s)",
			 commit_hex(&r->twin, hex), r->taken_over, r->taken_over == 1 ? "" : "s");
		return;
	}
	str_duration(r->build_seconds, build, sizeof(build));
	str_duration(r->boot_seconds + r->run_seconds, boot, sizeof(boot));
	if (r->cached)
		str_addf(out, " [kernel cached, %s]", boot);
	else if (r->build_seconds > 0)
		str_addf(out, " [build %s, %s]", build, boot);
	else
		str_addf(out, " [%s]", boot);
}

void loop_describe(const struct session *s, const struct trial_report *r, struct str *out)
{
	describe_trial(s, r, out);
	describe_cost(r, out);
}

static bool is_bayes(const struct session *s)
{
	struct engine_choice c;

	engine_choice(s->engine, &c);
	return c.search == ENGINE_BAYES;
}

/* The verdict; with bayes how likely the new state is, which the ends' is not asked for. */
static void add_word(const struct session *s, const struct engine_commit *c, struct str *line)
{
	const char *word = s->fix ? "good" : "bad";

	if (!isnan(c->new_state) && c->node != s->dag.n && c->node != s->dag.tip)
		str_addf(line, " -> %s with %.3g%%", word, 100 * c->new_state);
	else if (isnan(c->new_state) && c->verdict != VERDICT_UNSET)
		str_addf(line, " -> %s", verdict_name(c->verdict));
}

/* One line a step; the verdict too, as soon as there is one. */
static void say_step(struct session *s, const struct engine_step *step,
		     const struct trial_report *r)
{
	_cleanup_str_ struct str line = STR_INIT;
	struct engine_commit c;
	char name[80];

	name_commit(s, step->node, name, sizeof(name));
	if (step->phase == PHASE_SEARCH && is_bayes(s))
		str_addf(&line, "%u likely, ~%u boot%s: ", step->left, step->steps,
			 step->steps == 1 ? "" : "s");
	else if (step->phase == PHASE_SEARCH)
		str_addf(&line, "%u left, ~%u step%s: ", step->left, step->steps,
			 step->steps == 1 ? "" : "s");
	else
		str_addf(&line, "%s: ", engine_phase_name(step->phase));
	str_addf(&line, "%s boot %u: ", name, step->boot);
	describe_trial(s, r, &line);
	if (step->phase != PHASE_ENDS && engine_commit_of(s->engine, step->node, &c))
		add_word(s, &c, &line);
	describe_cost(r, &line);
	log_info("%s", str_text(&line));
}

/* The log gets every verdict, with the interval it rests on. */
static int note_verdict(struct session *s, uint32_t node, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	struct engine_commit c;
	char hex[COMMIT_HEX + 1], interval[96];

	if (!engine_commit_of(s->engine, node, &c) || c.verdict == VERDICT_UNSET)
		return 0;
	str_addf(&text, "%s %s", commit_hex(session_commit(s, node), hex), verdict_name(c.verdict));
	if (c.data->n)
		str_addf(&text, " %s %s", s->metric->name,
			 report_interval(&c.interval, unit_of(s), interval, sizeof(interval)));
	return store_note_add(s->store, "verdict", str_text(&text), 0, e);
}

/* auto has decided which search it is: said once, when it happens. */
static int note_choice(struct session *s, const struct engine_choice *before, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	struct engine_choice c;

	engine_choice(s->engine, &c);
	if (before->search != ENGINE_AUTO || c.search == ENGINE_AUTO)
		return 0;
	report_choice(&c, unit_of(s), &text);
	log_info("%s", str_text(&text));
	return store_note_add(s->store, "search", str_text(&text), 0, e);
}

static int note_step(struct session *s, const struct engine_step *step, struct err *e)
{
	/* with bayes the ends are booted now and then, and their word stays */
	if (step->phase == PHASE_SEARCH && is_bayes(s) &&
	    (step->node == s->dag.n || step->node == s->dag.tip))
		return 0;
	if (step->phase != PHASE_ENDS)
		return note_verdict(s, step->node, e);
	/* The ends are judged together, by the boot that completes them. */
	if (note_verdict(s, session_node(s, &s->good), e) < 0)
		return -1;
	return note_verdict(s, session_node(s, &s->bad), e);
}

static int one_step(struct session *s, const struct engine_step *step, struct err *e)
{
	double started = clock_mono_s(), took;
	struct engine_choice before;
	struct trial_report r;

	engine_choice(s->engine, &before);
	if (step->phase == PHASE_ENDS && ends_learn_prior(s, e) < 0)
		return -1;
	if (trial_run(s, session_commit(s, step->node), step->layout,
		      engine_phase_name(step->phase), &r, e) < 0)
		return -1;
	took = clock_mono_s() - started;
	s->pace = s->pace > 0 ? 0.7 * s->pace + 0.3 * took : took;
	say_step(s, step, &r);
	return note_choice(s, &before, e) < 0 ? -1 : note_step(s, step, e);
}

static void say_start(const struct session *s, const struct engine_step *step)
{
	uint32_t tested = engine_tested_count(s->engine);

	if (step->phase == PHASE_DONE) {
		log_info("%s: the search has ended already; state in %s", s->cfg->campaign.name,
			 s->cfg->campaign.state);
		return;
	}
	log_info("%s: %u candidates, ~%u steps; state in %s", s->cfg->campaign.name,
		 dag_candidates(&s->dag), pick_bisect_steps(dag_candidates(&s->dag)),
		 s->cfg->campaign.state);
	if (s->cfg->target.type == TARGET_QEMU && s->cfg->target.deterministic)
		log_info("instructions are counted (deterministic = yes): caches, TLBs and real "
			 "contention are invisible to every verdict");
	if (s->n_merge_bases)
		log_info("the older end is no ancestor of the newer one: %zu merge base%s first",
			 s->n_merge_bases, s->n_merge_bases == 1 ? " is tested" : "s are tested");
	if (s->other_setup)
		log_warn("%u stored trials were measured under another setup and are not used",
			 s->other_setup);
	if (tested)
		log_info("resuming: %u commits have been measured already", tested);
}

/* Steps while the engine is not beyond @last. */
static int run_until(struct session *s, enum engine_phase last, struct err *e)
{
	struct engine_step step;

	engine_next(s->engine, &step);
	while (step.phase <= last && step.phase != PHASE_DONE) {
		if (sig_check(e) < 0 || one_step(s, &step, e) < 0 || auto_good_settle(s, e) < 0 ||
		    (last > PHASE_ENDS && session_claim(s, e) < 0))
			return -1;
		if (last > PHASE_ENDS)
			status_page_write(s, false, NULL);
		engine_next(s->engine, &step);
	}
	return 0;
}

int loop_ends(struct session *s, struct err *e)
{
	int ret = run_until(s, PHASE_ENDS, e);

	log_progress("%s", "");
	return ret;
}

static int run_steps(struct session *s, struct err *e)
{
	struct engine_step step;

	if (session_claim(s, e) < 0)
		return -1;
	engine_next(s->engine, &step);
	say_start(s, &step);
	status_page_write(s, false, NULL);
	return run_until(s, PHASE_SEARCH, e) < 0 ? -1 : confirm_run(s, e);
}

int loop_run(struct session *s, struct err *e)
{
	struct err ignored = ERR_INIT;
	int ret;

	if (store_note_add(s->store, "start", s->cfg->campaign.name, 0, e) < 0)
		return -1;
	ret = run_steps(s, e);
	log_progress("%s", "");
	/* After a failure the first error is the one to report. */
	if (store_note_add(s->store, "stop", ret < 0 ? e->msg : "done", clock_mono_s() - s->started,
			   ret < 0 ? &ignored : e) < 0)
		return -1;
	status_page_write(s, true, ret < 0 ? e->msg : NULL);
	return ret;
}
