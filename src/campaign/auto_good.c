/* SPDX-License-Identifier: GPL-2.0-or-later */
/* good = auto: the search for the good end, back from bad. */
#include "campaign/auto_good.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "campaign/ends.h"
#include "campaign/replay.h"

struct auto_good {
	struct repo_named *list; /* commits before bad, the nearest first */
	size_t n, asked;         /* there are no more than n when fewer came than were asked for */
	size_t next;             /* of list, after the last one tried */
	struct report_try *tried;
	size_t n_tried, tried_room;
	size_t said; /* what the last line of progress was about */
};

static void forget_tries(struct auto_good *a)
{
	for (size_t i = 0; i < a->n_tried; i++)
		free(a->tried[i].name);
	a->n_tried = 0;
	a->next = 0;
}

void auto_good_free(struct auto_good *a)
{
	if (!a)
		return;
	forget_tries(a);
	free(a->tried);
	repo_named_free(a->list, a->n);
	free(a);
}

/* Ask for @most commits instead of fewer: the first ones are the same. */
static int fetch(struct session *s, size_t most, struct err *e)
{
	struct auto_good *a = s->auto_good;
	struct repo_named *list;
	size_t n;

	if (repo_earlier(s->repo, &s->bad, (unsigned)most, &list, &n, e) < 0)
		return -1;
	repo_named_free(a->list, a->n);
	a->list = list;
	a->n = n;
	a->asked = most;
	return 0;
}

int auto_good_open(struct session *s, struct err *e)
{
	/* "the side the good end is on" does not help to find a good end */
	if (s->verdict.better == METRIC_BETTER_NONE && s->verdict.kind != THRESHOLD_RELATIVE)
		return err_set(e, ERR_CONFIG,
			       "%s: good = auto must know what is better (set better = lower or "
			       "higher in [verdict])",
			       config_where(s->cfg, "campaign.good"));
	s->auto_good = xcalloc(1, sizeof(*s->auto_good));
	/* one more than is tried tells whether it is worth raising the number */
	if (fetch(s, s->cfg->campaign.good_tries + (size_t)1, e) < 0)
		return -1;
	if (s->auto_good->n) {
		/* the widest range that there is: the oldest commit to try, the newer end is bad */
		s->new = s->bad;
		return ends_check_paths(s, &s->auto_good->list[s->auto_good->n - 1].id, e);
	}
	return err_set(e, ERR_CONFIG, "%s: good = auto finds no commit before bad '%s' (%s)",
		       config_where(s->cfg, "campaign.good"), s->cfg->campaign.bad,
		       repo_is_shallow(s->repo) ? "the clone is shallow: git fetch --unshallow"
						: "it is the first of its history");
}

static bool is_skipped(const struct session *s, const struct commit_id *id)
{
	for (size_t i = 0; i < s->n_told; i++)
		if (commit_eq(&s->told[i].id, id))
			return s->told[i].verdict == VERDICT_SKIP;
	return false;
}

/* Another commit in the list? 1, 0 or -1. */
static int has_next(struct session *s, struct err *e)
{
	struct auto_good *a = s->auto_good;

	if (a->next < a->n)
		return 1;
	if (a->n < a->asked)
		return 0;
	return fetch(s, 2 * a->asked, e) < 0 ? -1 : a->next < a->n;
}

static void add_try(struct auto_good *a, const struct repo_named *c)
{
	struct report_try t = { .id = c->id, .name = xstrdup(c->name) };

	xgrow(&a->tried, &a->tried_room, a->n_tried + 1, sizeof(*a->tried));
	a->tried[a->n_tried++] = t;
}

/* Make the next commit that can be tried the good end. 1, 0: there is none, -1. */
static int advance(struct session *s, struct err *e)
{
	struct auto_good *a = s->auto_good;
	int ret;

	if (a->n_tried == s->cfg->campaign.good_tries)
		return 0;
	while ((ret = has_next(s, e)) > 0) {
		const struct repo_named *c = &a->list[a->next++];

		if (is_skipped(s, &c->id))
			continue;
		ends_set_good(s, &c->id);
		ret = ends_walk(s, e);
		if (ret < 0)
			return -1;
		/* no commit of the paths between: the same kernel, as far as they matter */
		if (ret > 0)
			continue;
		add_try(a, c);
		return 1;
	}
	return ret;
}

int auto_good_first(struct session *s, struct err *e)
{
	int ret;

	forget_tries(s->auto_good);
	ret = advance(s, e);
	if (ret != 0)
		return ret < 0 ? -1 : 0;
	return err_set(
		e, ERR_CONFIG,
		"%s: good = auto finds no commit before bad '%s' that is neither skipped nor "
		"the same in the paths of [campaign] (name the good commit)",
		config_where(s->cfg, "campaign.good"), s->cfg->campaign.bad);
}

/* Did its ends refuse this campaign for the sake of the good one? */
static bool is_refused(const struct session *s, const struct engine_result *r)
{
	switch (r->status) {
	case ENGINE_NO_DIFFERENCE:
	case ENGINE_NO_CULPRIT:
	case ENGINE_BLIND:
	case ENGINE_SWAPPED:
	case ENGINE_SAME_SIDE:
		return true;
	case ENGINE_END_UNMEASURED:
		return commit_eq(session_commit(s, r->node), &s->good);
	default:
		return false;
	}
}

static void note_refusal(struct session *s, enum engine_status status)
{
	struct auto_good *a = s->auto_good;
	struct report_try *t = &a->tried[a->n_tried - 1];
	struct engine_commit c;

	t->refused = status;
	if (!engine_commit_of(s->engine, session_node(s, &s->good), &c))
		return;
	t->outcome = c.data->failed ? c.data->failed : TRIAL_OK;
	t->has_interval = c.data->n > 0;
	t->interval = c.interval;
}

/* None is left: back to the last one, whose refusal stands. */
static int stay(struct session *s, struct err *e)
{
	const struct auto_good *a = s->auto_good;
	const struct commit_id *last = &a->tried[a->n_tried - 1].id;

	if (commit_eq(last, &s->good))
		return 0;
	ends_set_good(s, last);
	return ends_walk(s, e) < 0 ? -1 : replay_again(s, e);
}

static void say(const struct session *s)
{
	struct auto_good *a = s->auto_good;
	_cleanup_str_ struct str name = STR_INIT;
	struct engine_step step;
	size_t what;

	engine_next(s->engine, &step);
	what = 2 * a->n_tried + (step.phase != PHASE_ENDS);
	if (s->mode != SESSION_RUN || what == a->said || a->tried[a->n_tried - 1].refused)
		return;
	a->said = what;
	str_neutralise(&name, a->tried[a->n_tried - 1].name, strlen(a->tried[a->n_tried - 1].name),
		       false);
	if (step.phase == PHASE_ENDS) {
		log_info("good = auto: trying %s (%zu of at most %u)", str_text(&name), a->n_tried,
			 s->cfg->campaign.good_tries);
	} else {
		log_info("good = auto: %s is the good end: %u candidates", str_text(&name),
			 dag_candidates(&s->dag));
		ends_warn(s);
	}
}

int auto_good_settle(struct session *s, struct err *e)
{
	struct engine_result r;

	if (!s->auto_good)
		return 0;
	for (;;) {
		int ret;

		engine_result(s->engine, &r);
		if (!is_refused(s, &r))
			break;
		note_refusal(s, r.status);
		ret = advance(s, e);
		if (ret < 0)
			return -1;
		if (ret == 0)
			return stay(s, e);
		if (s->store && replay_again(s, e) < 0)
			return -1;
	}
	say(s);
	return 0;
}

void auto_good_report(const struct session *s, struct report *r)
{
	const struct auto_good *a = s->auto_good;

	if (!a)
		return;
	r->tries = xcalloc(a->n_tried, sizeof(*r->tries));
	for (size_t i = 0; i < a->n_tried; i++) {
		r->tries[i] = a->tried[i];
		r->tries[i].name = xstrdup(a->tried[i].name);
	}
	r->n_tries = a->n_tried;
	r->tries_more = a->next < a->n || a->n == a->asked;
}
