/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a campaign's range comes from, and the engine over it. */
#include "campaign/ends.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/log.h"
#include "campaign/auto_good.h"
#include "campaign/import.h"
#include "campaign/prior.h"
#include "campaign/series.h"
#include "io/bisect_log.h"

void ends_order(struct session *s)
{
	s->old = s->fix ? s->bad : s->good;
	s->new = s->fix ? s->good : s->bad;
}

void ends_set_good(struct session *s, const struct commit_id *good)
{
	s->good = *good;
	ends_order(s);
}

static int missing(const struct session *s, const char *key, struct err *e)
{
	_cleanup_free_ char *name = xasprintf("campaign.%s", key);

	return err_set(e, ERR_CONFIG,
		       "%s: '%s' is missing in [campaign] (add a line '%s = ...', or take over a "
		       "bisection: kregress run --from-git)",
		       config_where(s->cfg, name), key, key);
}

static int resolve_end(struct session *s, const char *key, const char *rev, struct commit_id *id,
		       struct err *e)
{
	_cleanup_free_ char *what = xasprintf("%s in [campaign]", key);
	_cleanup_free_ char *name = xasprintf("campaign.%s", key);

	if (!rev)
		return missing(s, key, e);
	if (repo_resolve(s->repo, rev, what, id, e) < 0)
		return err_wrap(e, "%s", config_where(s->cfg, name));
	return 0;
}

static int from_file(struct session *s, struct err *e)
{
	const struct config *c = s->cfg;

	if (resolve_end(s, "bad", c->campaign.bad, &s->bad, e) < 0)
		return -1;
	if (c->campaign.good && str_eq(c->campaign.good, "auto")) /* auto: */
		return auto_good_open(s, e);
	if (resolve_end(s, "good", c->campaign.good, &s->good, e) < 0)
		return -1;
	if (commit_eq(&s->good, &s->bad))
		return err_set(e, ERR_CONFIG,
			       "%s: good '%s' and bad '%s' are the same commit: there is nothing "
			       "between them",
			       config_where(c, "campaign.bad"), c->campaign.good, c->campaign.bad);
	ends_order(s);
	return 0;
}

static int open_repo(struct session *s, struct err *e)
{
	if (repo_open(s->cfg->campaign.repo, &s->repo, e) < 0)
		return err_wrap(e, "%s", config_where(s->cfg, "campaign.repo"));
	return 0;
}

static int find_ends(struct session *s, const struct session_opts *o,
		     const struct import_kept *kept, struct err *e)
{
	const struct config *c = s->cfg;

	if (o->no_ends) {
		s->has_ends = false;
		return open_repo(s, e);
	}
	if (*c->campaign.series && o->import)
		return err_set(e, ERR_CONFIG,
			       "%s: a series has its own ends: a bisect log cannot give others",
			       config_where(c, "campaign.series"));
	if (*c->campaign.series) /* series: */
		return series_open(s, e);
	if (open_repo(s, e) < 0)
		return -1;
	if (o->import) {
		import_keep_text(s, o->import);
		s->recheck |= kept->recheck && str_eq(kept->import, s->import);
		return import_log(s, o->import, e);
	}
	if (kept->import) {
		s->recheck |= kept->recheck;
		return import_kept(s, kept, e);
	}
	if (o->ends_optional && !c->campaign.good && !c->campaign.bad) {
		s->has_ends = false;
		return 0;
	}
	return from_file(s, e);
}

int ends_open(struct session *s, const struct session_opts *o, struct err *e)
{
	struct import_kept kept = { .import = NULL };
	int ret;

	s->fix = s->cfg->campaign.hunt == HUNT_FIX;
	if (o->here && import_terms(s, o->here, e) < 0)
		return -1;
	s->first_parent = s->cfg->campaign.first_parent;
	strv_extend(&s->paths, &s->cfg->campaign.paths);
	s->has_ends = true;
	s->recheck = o->recheck;
	ret = import_read(s, &kept, e);
	if (ret == 0)
		ret = find_ends(s, o, &kept, e);
	free(kept.import);
	if (ret < 0 || (!o->no_ends && ends_take_skips(s, e) < 0))
		return -1;
	if (o->recheck && !s->import)
		return err_set(e, ERR_USAGE,
			       "--recheck measures what a bisect log says, and there is none here "
			       "(--from-git or --replay gives one)");
	ends_settle_words(s);
	/* what is skipped is no good end */
	return s->auto_good ? auto_good_first(s, e) : 0;
}

/* The names of the ends for messages: the file's words, else object names. */
static const char *name_of(const struct session *s, bool good, char hex[COMMIT_HEX + 1])
{
	const char *word = good ? s->cfg->campaign.good : s->cfg->campaign.bad;

	if (word && !s->import && !s->series && !str_eq(word, "auto"))
		return word;
	commit_hex(good ? &s->good : &s->bad, hex);
	hex[12] = '\0';
	return hex;
}

/* The ends must be in the order that the hunt says, or have a common ancestor. */
static int relate_ends(struct session *s, struct err *e)
{
	char g[COMMIT_HEX + 1], b[COMMIT_HEX + 1];
	const char *good = name_of(s, true, g), *bad = name_of(s, false, b);
	/* what good = auto tries was met on a walk from bad */
	int ret = s->auto_good ? 1 : repo_is_ancestor(s->repo, &s->old, &s->new, e);

	if (ret != 0)
		return ret < 0 ? -1 : 0;
	ret = repo_is_ancestor(s->repo, &s->new, &s->old, e);
	if (ret < 0)
		return -1;
	if (ret > 0)
		return err_set(e, ERR_CONFIG,
			       "%s: good '%s' is %s than bad '%s': swap them, or set hunt = %s in "
			       "[campaign]%s",
			       config_where(s->cfg, "campaign.good"), good,
			       s->fix ? "older" : "newer", bad, s->fix ? "regression" : "fix",
			       s->fix ? "" : " to find the commit that brought the improvement");
	if (repo_merge_bases(s->repo, &s->new, &s->old, 1, &s->merge_base, &s->n_merge_bases, e) <
	    0)
		return -1;
	if (!s->n_merge_bases)
		return err_set(
			e, ERR_CONFIG,
			"%s: good '%s' and bad '%s' have no common history: nothing to search",
			config_where(s->cfg, "campaign.good"), good, bad);
	return 0;
}

static void forget_walk(struct session *s)
{
	engine_free(s->engine);
	s->engine = NULL;
	dag_release(&s->dag);
	free(s->merge_base);
	s->merge_base = NULL;
	s->n_merge_bases = 0;
	free(s->older);
	s->older = NULL;
	s->n_older = 0;
	free(s->given);
	s->given = NULL;
	s->n_given = 0;
	free(s->prior);
	s->prior = NULL;
}

static int walk(struct session *s, struct err *e)
{
	struct repo_range range = { .tip = &s->new,
				    .not_ = s->older,
				    .n_not = s->n_older,
				    .first_parent = s->first_parent,
				    .paths = &s->paths };

	dag_release(&s->dag);
	return repo_candidates(s->repo, &range, &s->dag, e);
}

static bool is_old_word(const struct session *s, enum verdict v)
{
	return v == (s->fix ? VERDICT_BAD : VERDICT_GOOD);
}

static bool is_told_old(const struct session *s, const struct commit_id *id)
{
	for (size_t i = 0; i < s->n_told; i++)
		if (commit_eq(&s->told[i].id, id))
			return is_old_word(s, s->told[i].verdict);
	return commit_eq(id, &s->old);
}

/*
 * As git: merge bases of the new end with all that is in the old state. What is said to be so
 * itself needs no test, nor does what such a commit reaches.
 */
static int all_merge_bases(struct session *s, struct err *e)
{
	_cleanup_free_ struct commit_id *old = xcalloc(s->n_told + 1, sizeof(*old));
	size_t n = 0, kept = 0;

	old[n++] = s->old;
	for (size_t i = 0; i < s->n_told; i++)
		if (is_old_word(s, s->told[i].verdict) && !s->recheck)
			old[n++] = s->told[i].id;
	free(s->merge_base);
	s->merge_base = NULL;
	if (repo_merge_bases(s->repo, &s->new, old, n, &s->merge_base, &s->n_merge_bases, e) < 0)
		return -1;
	for (size_t i = 0; s->merge_base && i < s->n_merge_bases; i++)
		if (!is_told_old(s, &s->merge_base[i]) || s->recheck)
			s->merge_base[kept++] = s->merge_base[i];
	s->n_merge_bases = kept;
	return 0;
}

/*
 * Commits in the old state that are no candidates end the history beside the old end: git
 * lists nothing that they reach.
 */
static int add_older(struct session *s, struct err *e)
{
	/* relate_ends() found that the old end is no ancestor */
	bool is_beside = s->n_merge_bases > 0;

	for (size_t i = 0; i < s->n_told; i++) {
		const struct session_said *said = &s->told[i];

		if (!is_old_word(s, said->verdict) || session_node(s, &said->id) != DAG_NONE)
			continue;
		s->older = xrealloc(s->older, s->n_older + 1, sizeof(*s->older));
		s->older[s->n_older++] = said->id;
	}
	for (size_t i = 1; i < s->n_older && !is_beside; i++) {
		int ret = repo_is_ancestor(s->repo, &s->older[i], &s->new, e);

		if (ret < 0)
			return -1;
		is_beside = ret == 0;
	}
	if (is_beside && all_merge_bases(s, e) < 0)
		return -1;
	return s->n_older == 1 ? 0 : walk(s, e);
}

static void make_given(struct session *s, struct engine_opts *o)
{
	s->given = xcalloc(s->n_told, sizeof(*s->given));
	for (size_t i = 0; i < s->n_told; i++) {
		const struct session_said *said = &s->told[i];
		uint32_t node = session_node(s, &said->id);

		if (node == DAG_NONE || node == s->dag.n) {
			o->any_skip |= said->verdict == VERDICT_SKIP;
			continue;
		}
		s->given[s->n_given++] = (struct engine_given){
			.node = node,
			.verdict = said->verdict,
			.recheck = s->recheck && said->person && said->verdict != VERDICT_SKIP,
		};
	}
}

static int nothing_to_search(const struct session *s, struct err *e)
{
	char g[COMMIT_HEX + 1], b[COMMIT_HEX + 1];

	return err_set(e, ERR_CONFIG, "%s: no commit between good '%s' and bad '%s'%s",
		       config_where(s->cfg, s->paths.n ? "campaign.paths" : "campaign.bad"),
		       name_of(s, true, g), name_of(s, false, b),
		       s->paths.n ? " touches the paths of [campaign]" : "");
}

/*
 * A replay must come to the same steps, so once the search has begun the weights are those that it
 * began with: what a viewer would see.
 */
static int weigh(struct session *s, enum session_mode mode, struct err *e)
{
	enum session_mode real = s->mode;
	int ret;

	if (s->cfg->search == SEARCH_BISECT)
		return 0;
	s->mode = mode;
	ret = prior_weights(s, s->prior, e);
	s->mode = real;
	return ret;
}

int ends_recall_prior(struct session *s, struct err *e)
{
	return weigh(s, SESSION_VIEW, e);
}

int ends_learn_prior(struct session *s, struct err *e)
{
	struct engine_commit c;

	/* one look a run, when there are kernels of both ends */
	if (s->prior_learnt || !engine_commit_of(s->engine, s->dag.n, &c) ||
	    !engine_commit_of(s->engine, s->dag.tip, &c))
		return 0;
	s->prior_learnt = true;
	return weigh(s, SESSION_RUN, e);
}

/* What bayes and auto go by. */
static struct engine_noise noise_of(const struct session *s)
{
	static const enum engine_search search[] = {
		[SEARCH_BISECT] = ENGINE_BISECT,
		[SEARCH_BAYES] = ENGINE_BAYES,
		[SEARCH_AUTO] = ENGINE_AUTO,
	};
	const struct config *c = s->cfg;
	unsigned most = s->verdict.max_boots > s->verdict.end_boots ? s->verdict.max_boots
								    : s->verdict.end_boots;

	return (struct engine_noise){
		.search = search[c->search],
		.build_sd = c->build_sd.value,
		.build_sd_relative = c->build_sd.relative,
		.deterministic = c->target.type == TARGET_QEMU && c->target.deterministic,
		.rebuild = session_layouts(s),
		.runs = c->measure.runs_per_boot,
		.warmups = c->measure.warmup_runs,
		.max_end_boots = config_given(c, "measure.max_boots") ? most : 0,
		.prior = s->prior,
	};
}

int ends_walk(struct session *s, struct err *e)
{
	struct engine_opts o = { .hunt_fix = s->fix,
				 .first_parent = s->first_parent,
				 .borders = s->cfg->skips == SKIPS_BORDERS };

	forget_walk(s);
	s->older = xcalloc(1, sizeof(*s->older));
	s->older[s->n_older++] = s->old;
	if (relate_ends(s, e) < 0 || (!s->auto_good && ends_check_paths(s, &s->old, e) < 0) ||
	    walk(s, e) < 0 || add_older(s, e) < 0)
		return -1;
	if (!dag_candidates(&s->dag))
		return s->auto_good ? 1 : nothing_to_search(s, e);
	make_given(s, &o);
	if (!s->auto_good)
		ends_warn(s);
	o.dag = &s->dag;
	o.merge_bases = (uint32_t)s->n_merge_bases;
	o.verdict = s->verdict;
	o.given = s->given;
	o.n_given = s->n_given;
	s->prior = xcalloc(s->dag.n, sizeof(*s->prior));
	if (ends_recall_prior(s, e) < 0)
		return -1;
	o.noise = noise_of(s);
	s->engine = engine_new(&o);
	s->engine_opts = o;
	return 0;
}
