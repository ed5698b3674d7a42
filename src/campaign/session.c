/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a campaign: file, history, store, engine. */
#include "campaign/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "campaign/auto_good.h"
#include "campaign/ends.h"
#include "campaign/guest_parts.h"
#include "campaign/import.h"
#include "campaign/patches.h"
#include "campaign/replay.h"
#include "campaign/series.h"
#include "target/ssh_box.h"

/* Where nothing varies one boot decides, unless the file asks for more. */
static struct verdict_opts verdict_of(const struct config *c)
{
	struct verdict_opts v = c->verdict;

	if (c->target.type != TARGET_QEMU || !c->target.deterministic)
		return v;
	if (!config_given(c, "measure.max_boots"))
		v.max_boots = v.min_boots;
	if (!config_given(c, "measure.end_boots"))
		v.end_boots = v.min_boots;
	return v;
}

/* The workload's description and the metric that decides. */
static int load_workload(struct session *s, struct err *e)
{
	const char *name = s->cfg->workload.metric;

	s->verdict = verdict_of(s->cfg);
	if (!s->cfg->workload.use[0]) {
		s->bare_metric = (struct metric){ .name = xstrdup(name),
						  .min = -__builtin_inf(),
						  .max = __builtin_inf() };
		s->metric = &s->bare_metric;
		return 0;
	}
	if (workload_load(s->cfg->workload.use, &s->workload, e) < 0)
		return -1;
	s->metric = workload_metric(&s->workload, name);
	if (!s->metric) {
		_cleanup_str_ struct str names = STR_INIT;

		for (size_t i = 0; i < s->workload.n_metrics; i++)
			str_addf(&names, "%s%s", i ? ", " : "", s->workload.metric[i].name);
		return err_set(e, ERR_CONFIG,
			       "%s: metric '%s' is not declared by '%s' (it has: %s)",
			       config_where(s->cfg, "workload.metric"), name, s->cfg->workload.use,
			       str_text(&names));
	}
	if (!s->cfg->better_given)
		s->verdict.better = s->metric->better;
	if (s->metric->unit && s->metric->unit[0])
		s->unit = xstrdup(s->metric->unit);
	return config_check_better(s->cfg, s->verdict.better, e);
}

/* The campaign's, then those that the workload needs beyond. */
static void collect_fragments(struct session *s)
{
	strv_extend(&s->fragments, &s->cfg->build.fragments);
	for (size_t i = 0; i < s->workload.kernel.n; i++)
		if (!strv_has(&s->fragments, s->workload.kernel.v[i]))
			strv_add(&s->fragments, s->workload.kernel.v[i]);
}

uint32_t session_node(const struct session *s, const struct commit_id *id)
{
	uint32_t node = dag_find(&s->dag, id);

	if (node != DAG_NONE)
		return node;
	if (commit_eq(id, &s->old))
		return s->dag.n;
	for (size_t i = 0; i < s->n_merge_bases; i++)
		if (commit_eq(id, &s->merge_base[i]))
			return s->dag.n + 1 + (uint32_t)i;
	return DAG_NONE;
}

const struct commit_id *session_commit(const struct session *s, uint32_t node)
{
	if (node < s->dag.n)
		return &s->dag.id[node];
	return node == s->dag.n ? &s->old : &s->merge_base[node - s->dag.n - 1];
}

/* What makes it this campaign and no other: one line a field. */
static char *identity(const struct session *s)
{
	const struct config *c = s->cfg;
	_cleanup_str_ struct str text = STR_INIT;
	char good[COMMIT_HEX + 1], bad[COMMIT_HEX + 1];

	str_addf(&text, "name = %s\ngood = %s\nbad = %s\nhunt = %s\nfirst_parent = %s\npaths = ",
		 c->campaign.name, s->auto_good ? "auto" : commit_hex(&s->good, good),
		 commit_hex(&s->bad, bad), s->fix ? "fix" : "regression",
		 s->first_parent ? "yes" : "no");
	if (s->paths.n)
		str_join_words(&text, s->paths.v);
	str_add(&text, "\n");
	return str_detach(&text);
}

/* The first line in which two identities differ, for the message. */
static int other_campaign(const struct session *s, const char *stored, const char *ours,
			  struct err *e)
{
	size_t n, m;

	for (;;) {
		n = strcspn(stored, "\n");
		m = strcspn(ours, "\n");
		if (n != m || memcmp(stored, ours, n) != 0 || !stored[n] || !ours[m])
			break;
		stored += n + 1;
		ours += m + 1;
	}
	return err_set(e, ERR_CONFIG,
		       "state directory '%s' belongs to another campaign: it has '%.*s', this one "
		       "'%.*s' (set another state = in [campaign], or remove that directory)",
		       s->cfg->campaign.state, (int)(n > 120 ? 120 : n), stored,
		       (int)(m > 120 ? 120 : m), ours);
}

static int check_claim(const struct session *s, struct err *e)
{
	_cleanup_free_ char *ours = identity(s);
	_cleanup_(store_campaign_release) struct store_campaign c = { .name = NULL };
	int ret = store_campaign_get(s->store, &c, e);

	if (ret > 0 && !str_eq(c.identity, ours))
		return other_campaign(s, c.identity ? c.identity : "", ours, e);
	return ret < 0 ? -1 : 0;
}

/*
 * Ends that were refused, or not measured yet, leave a store to whoever comes with better ones:
 * its trials are good for them too.
 */
static bool has_begun(const struct session *s)
{
	struct engine_step step;
	struct engine_result r;

	engine_next(s->engine, &step);
	engine_result(s->engine, &r);
	return step.phase != PHASE_ENDS && r.status != ENGINE_NO_DIFFERENCE &&
	       r.status != ENGINE_BLIND && r.status != ENGINE_NO_CULPRIT &&
	       r.status != ENGINE_SWAPPED && r.status != ENGINE_SAME_SIDE &&
	       r.status != ENGINE_END_UNMEASURED;
}

int session_claim(struct session *s, struct err *e)
{
	_cleanup_(store_campaign_release) struct store_campaign c = { .name = NULL };
	_cleanup_str_ struct str text = STR_INIT;
	_cleanup_free_ char *ours = NULL;
	int ret;

	if (s->claimed || !has_begun(s))
		return 0;
	s->claimed = true;
	ours = identity(s);
	config_dump(s->cfg, &text);
	ret = store_campaign_get(s->store, &c, e);
	if (ret < 0)
		return -1;
	if (ret > 0 && str_eq(c.text, str_text(&text)))
		return 0;
	struct store_campaign now = { .name = s->cfg->campaign.name,
				      .identity = ours,
				      .text = text.buf,
				      .time = clock_real_s() };

	return store_campaign_add(s->store, &now, e);
}

static int lock_state(struct session *s, struct err *e)
{
	const char *state = s->cfg->campaign.state;
	_cleanup_free_ char *path = fs_join(state, "lock");
	long owner = 0;
	int ret;

	if (fs_mkdirs(state, e) < 0)
		return -1;
	ret = fs_lock(path, false, &s->lock_fd, &owner, e);
	if (ret == 0)
		return err_set(e, ERR_STORE,
			       "state directory '%s' is in use by another kregress, pid %ld (wait "
			       "until it is done, or stop it)",
			       state, owner);
	return ret < 0 ? -1 : 0;
}

/* A store that lost its bytes beside the folders of its trials is damage, not a new campaign. */
static int check_emptied(const struct session *s, const char *path, struct err *e)
{
	_cleanup_free_ char *trials = fs_join(s->cfg->campaign.state, "trials");
	struct stat st;

	if (stat(path, &st) < 0 || !(S_ISREG(st.st_mode) ? st.st_size == 0 : 1))
		return 0;
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_STORE, "store '%s' is not a regular file", path);
	if (!fs_is_dir(trials))
		return 0;
	return err_set(
		e, ERR_STORE,
		"store '%s' is empty, but there are trials beside it: it was damaged (restore "
		"it from a backup, or remove '%s' to start anew)",
		path, s->cfg->campaign.state);
}

static int open_store(struct session *s, bool claim, struct err *e)
{
	_cleanup_free_ char *path = fs_join(s->cfg->campaign.state, "campaign.db");

	if (s->mode == SESSION_VIEW && !fs_exists(path))
		return 0;
	if (s->mode == SESSION_RUN && lock_state(s, e) < 0)
		return -1;
	if (check_emptied(s, path, e) < 0)
		return -1;
	if (store_open(path, s->mode == SESSION_VIEW, &s->store, e) < 0)
		return -1;
	if (!claim)
		return 0;
	if (check_claim(s, e) < 0)
		return -1;
	return s->mode == SESSION_RUN ? import_store(s, e) : 0;
}

/* What the machine's part says of setup =, with its place. */
static int check_setup(const struct config *c, struct err *e)
{
	_cleanup_strv_ struct strv words = STRV_INIT;

	if (ssh_setup_parse(&c->target.setup, &words, e) == 0)
		return 0;
	return err_wrap(e, "%s", config_where(c, "target.setup"));
}

/* A target that boots needs a kernel and something to run. */
static int check_parts(const struct session *s, struct err *e)
{
	const struct config *c = s->cfg;

	if (c->target.type == TARGET_COMMAND)
		return 0;
	if (c->build.type == BUILD_NONE)
		return err_set(e, ERR_CONFIG,
			       "%s: type = none builds no kernel that could be booted (set type = "
			       "kernel in [build], or type = command in [target])",
			       config_where(c, "build.type"));
	if (!s->workload.name)
		return err_set(e, ERR_CONFIG,
			       "%s: a kernel needs a workload to run (set use = in [workload]; see "
			       "kregress help workloads)",
			       config_where(c, "workload.metric"));
	return c->target.type == TARGET_SSH ? check_setup(c, e) : 0;
}

static int load_machine(struct session *s, struct err *e)
{
	if (s->cfg->target.type != TARGET_QEMU)
		return 0;
	return machine_load(s->cfg->target.machine, &s->machine, e);
}

int session_open(struct session *s, const struct config *cfg, const struct session_opts *o,
		 struct err *e)
{
	*s = (struct session){ .cfg = cfg, .mode = o->mode, .lock_fd = -1, .dag = DAG_INIT };
	s->started = clock_mono_s();
	if (load_workload(s, e) < 0 || check_parts(s, e) < 0 || load_machine(s, e) < 0)
		return -1;
	collect_fragments(s);
	if (ends_open(s, o, e) < 0 || (s->has_ends && !s->engine && ends_walk(s, e) < 0) ||
	    session_setup_hash(s, e) < 0 || patches_open(s, e) < 0 ||
	    open_store(s, s->has_ends && !o->any_store, e) < 0)
		return -1;
	if (!s->store)
		return 0;
	if (s->engine && ends_recall_prior(s, e) < 0)
		return -1;
	return replay_store(s, e);
}

void session_close(struct session *s)
{
	target_close(&s->target);
	guest_parts_free(s->parts);
	free(s->hand);
	free(s->objects);
	strv_release(&s->labels);
	builder_close(s->builder);
	engine_free(s->engine);
	store_close(s->store);
	repo_close(s->repo);
	dag_release(&s->dag);
	workload_release(&s->workload);
	machine_release(&s->machine);
	metric_release(&s->bare_metric);
	strv_release(&s->fragments);
	strv_release(&s->env);
	strv_release(&s->paths);
	auto_good_free(s->auto_good);
	series_free(s->series);
	patches_free(s->patches);
	repo_close(s->user_repo);
	free(s->merge_base);
	free(s->older);
	free(s->told);
	free(s->given);
	free(s->prior);
	free(s->trial_of);
	free(s->import);
	free(s->term_old);
	free(s->term_new);
	free(s->unit);
	free(s->said);
	str_closep(&s->lock_fd);
	memset(s, 0, sizeof(*s));
	s->lock_fd = -1;
}
