/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bisection begun in git as the range of a campaign, and kept in the store. */
#include "campaign/import.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/log.h"
#include "campaign/ends.h"
#include "campaign/replay.h"

static int see_import(const struct store_note *n, void *cookie)
{
	struct import_kept *k = cookie;

	if (str_eq(n->kind, "import")) {
		free(k->import);
		k->import = xstrdup(n->text ? n->text : "");
		k->recheck = false;
	} else if (str_eq(n->kind, "recheck")) {
		k->recheck = true;
	}
	return 0;
}

static bool has_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* Look into the store before it is opened for good: nothing is made where there is none. */
int import_read(struct session *s, struct import_kept *k, struct err *e)
{
	_cleanup_free_ char *path = fs_join(s->cfg->campaign.state, "campaign.db");
	struct store_visitor v = { .note = see_import, .cookie = k };
	struct store *store;
	int ret;

	if (!has_bytes(path))
		return 0;
	if (store_open(path, true, &store, e) < 0)
		return -1;
	ret = store_visit(store, &v, e);
	store_close(store);
	return ret;
}

static int no_end(const struct bisect_log *log, const char *term, struct err *e)
{
	return err_set(
		e, ERR_CONFIG,
		"%s: the bisection has no %s commit yet, and both ends are needed (git bisect "
		"%s <commit>)",
		log->name, term, term);
}

/* Terms that say what they mean; others leave it to the file. */
static bool terms_say_fix(const struct bisect_log *log)
{
	return str_eq(log->term_new, "fixed") || str_eq(log->term_old, "broken");
}

static void take_settings(struct session *s, const struct bisect_log *log)
{
	const struct config *c = s->cfg;

	if (!config_given(c, "campaign.hunt"))
		s->fix = terms_say_fix(log);
	if (s->first_parent && !log->first_parent)
		log_warn("%s: first_parent is that of the bisection, not of the file", log->name);
	s->first_parent = log->first_parent;
	if (c->campaign.paths.n && !strv_eq(&c->campaign.paths, &log->paths))
		log_warn("%s: paths are those of the bisection, not of the file", log->name);
	strv_clear(&s->paths);
	strv_extend(&s->paths, &log->paths);
	s->term_old = xstrdup(log->term_old);
	s->term_new = xstrdup(log->term_new);
}

/*
 * git has one bad commit, the last that was called so. An earlier word stands where the last
 * one is among its ancestors; else it was taken back. *@keep: one entry for each of the log's.
 */
static int find_standing(struct session *s, const struct bisect_log *log, bool *keep, struct err *e)
{
	const struct bisect_entry *last = bisect_log_last_new(log);

	for (size_t i = 0; i < log->n; i++) {
		int ret = 1;

		if (log->entry[i].state == BISECT_NEW)
			ret = repo_is_ancestor(s->repo, &last->id, &log->entry[i].id, e);
		if (ret < 0)
			return -1;
		keep[i] = ret > 0;
	}
	return 0;
}

static const struct bisect_entry *first_kept(const struct bisect_log *log, const bool *keep,
					     enum bisect_state state)
{
	for (size_t i = 0; i < log->n; i++)
		if (keep[i] && log->entry[i].state == state)
			return &log->entry[i];
	return NULL;
}

static int contradiction(const struct bisect_log *log, const struct bisect_entry *old,
			 const struct bisect_entry *new, struct err *e)
{
	char a[COMMIT_HEX + 1], b[COMMIT_HEX + 1];

	if (commit_eq(&old->id, &new->id))
		return err_set(e, ERR_CONFIG, "%s:%d: %.12s is called both %s and %s", log->name,
			       old->line, commit_hex(&old->id, a), log->term_new, log->term_old);
	return err_set(e, ERR_CONFIG,
		       "%s:%d: %.12s is called %s, but its ancestor %.12s is called %s: the log "
		       "contradicts itself (did you mistake %s and %s? --recheck measures both)",
		       log->name, old->line, commit_hex(&old->id, a), log->term_old,
		       commit_hex(&new->id, b), log->term_new, log->term_new, log->term_old);
}

/* As git: what is in the old state cannot descend from what is in the new one. */
static int check_words(struct session *s, const struct bisect_log *log, struct err *e)
{
	const struct bisect_entry *last = bisect_log_last_new(log);

	for (size_t i = 0; i < log->n; i++) {
		const struct bisect_entry *x = &log->entry[i];
		int ret;

		if (x->state != BISECT_OLD)
			continue;
		ret = repo_is_ancestor(s->repo, &last->id, &x->id, e);
		if (ret != 0)
			return ret < 0 ? -1 : contradiction(log, x, last, e);
	}
	return 0;
}

static int check_there(struct session *s, const struct bisect_log *log, struct err *e)
{
	for (size_t i = 0; i < log->n; i++) {
		char hex[COMMIT_HEX + 1];
		struct commit_id id;

		commit_hex(&log->entry[i].id, hex);
		if (repo_resolve(s->repo, hex, log->name, &id, e) < 0)
			return err_hint(e, "is that bisection of another repository?");
	}
	return 0;
}

/* A log's ends are the first two commits that it calls so; all others are verdicts. */
int import_log(struct session *s, const struct bisect_log *log, struct err *e)
{
	_cleanup_free_ bool *keep = xcalloc(log->n + 1, sizeof(*keep));
	const struct bisect_entry *new, *old;

	if (!bisect_log_last_new(log))
		return no_end(log, log->term_new, e);
	if (check_there(s, log, e) < 0 || find_standing(s, log, keep, e) < 0)
		return -1;
	new = first_kept(log, keep, BISECT_NEW);
	old = first_kept(log, keep, BISECT_OLD);
	if (!new || !old)
		return no_end(log, new ? log->term_old : log->term_new, e);
	if (commit_eq(&new->id, &old->id))
		return contradiction(log, old, new, e);
	if (!s->recheck && check_words(s, log, e) < 0)
		return -1;
	take_settings(s, log);
	s->new = new->id;
	s->old = old->id;
	s->good = s->fix ? s->new : s->old;
	s->bad = s->fix ? s->old : s->new;
	for (size_t i = 0; i < log->n; i++) {
		const struct bisect_entry *x = &log->entry[i];
		bool is_new = x->state == BISECT_NEW;

		if (!keep[i] || commit_eq(&x->id, &s->new) || commit_eq(&x->id, &s->old))
			continue;
		ends_say(s, &x->id,
			 x->state == BISECT_SKIP ? VERDICT_SKIP
			 : is_new == s->fix      ? VERDICT_GOOD
						 : VERDICT_BAD,
			 true);
	}
	return 0;
}

/* The log of an earlier run --from-git or --replay. */
static int parse_kept(struct session *s, const char *text, struct err *e)
{
	_cleanup_(bisect_log_release) struct bisect_log log = { .name = NULL };

	if (bisect_log_parse("imported bisect log", text, strlen(text), &log, e) < 0 ||
	    bisect_log_resolve(s->repo, &log, e) < 0)
		return -1;
	return import_log(s, &log, e);
}

void import_keep_text(struct session *s, const struct bisect_log *log)
{
	_cleanup_str_ struct str text = STR_INIT;

	bisect_log_write(log, NULL, NULL, &text);
	s->import = str_detach(&text);
	s->new_import = true;
}

/* The file's ends are not looked at any more: a person who changed them must be told. */
static void warn_of_kept(const struct session *s)
{
	const char *rev[] = { s->cfg->campaign.good, s->cfg->campaign.bad };
	const struct commit_id *end[] = { &s->good, &s->bad };
	struct err ignored = ERR_INIT;
	struct commit_id id;

	for (int i = 0; i < 2; i++) {
		if (!rev[i] || (repo_resolve(s->repo, rev[i], "", &id, &ignored) == 0 &&
				commit_eq(&id, end[i])))
			continue;
		log_warn("%s: %s '%s' is not used: the ends are those of the bisection that was "
			 "taken over (another state = in [campaign] begins with the file's)",
			 config_where(s->cfg, i ? "campaign.bad" : "campaign.good"),
			 i ? "bad" : "good", rev[i]);
	}
}

int import_kept(struct session *s, const struct import_kept *kept, struct err *e)
{
	s->import = xstrdup(kept->import);
	if (parse_kept(s, kept->import, e) < 0)
		return -1;
	warn_of_kept(s);
	return 0;
}

/* Does what was measured stand against this word? */
static bool is_contradicted(const struct session *s, const struct engine_given *g)
{
	enum verdict old = s->fix ? VERDICT_BAD : VERDICT_GOOD;
	uint32_t n = engine_tested_count(s->engine);
	_cleanup_free_ bool *mark = xcalloc(s->dag.n + (size_t)1, sizeof(*mark));
	struct engine_commit c;

	if (g->node >= s->dag.n)
		return engine_commit_of(s->engine, g->node, &c) && c.verdict != g->verdict &&
		       (c.verdict == VERDICT_GOOD || c.verdict == VERDICT_BAD);
	dag_mark_ancestors(&s->dag, g->node, mark);
	for (uint32_t i = 0; i < n; i++) {
		engine_tested(s->engine, i, &c);
		if (c.node >= s->dag.n || (c.verdict != VERDICT_GOOD && c.verdict != VERDICT_BAD))
			continue;
		/* in the old state, but it reaches what is in the new one */
		if (g->verdict == old && c.verdict != old && mark[c.node])
			return true;
		if (g->verdict != old && c.verdict == old) {
			_cleanup_free_ bool *below = xcalloc(s->dag.n, sizeof(*below));

			dag_mark_ancestors(&s->dag, c.node, below);
			if (below[g->node])
				return true;
		}
	}
	return false;
}

int import_doubt(struct session *s, struct err *e)
{
	_cleanup_free_ bool *believed = xcalloc(s->n_given + 1, sizeof(*believed));
	_cleanup_free_ bool *doubted = xcalloc(s->n_given + 1, sizeof(*doubted));
	bool any = false;

	for (size_t i = 0; i < s->n_given; i++) {
		believed[i] = !s->given[i].recheck && s->given[i].verdict != VERDICT_SKIP;
		s->given[i].recheck |= believed[i];
		any |= believed[i];
	}
	/* an engine that believes nothing has not ended, and judges all that was measured */
	if (!any)
		return 0;
	if (replay_anew(s, e) < 0)
		return -1;
	for (size_t i = 0; i < s->n_given; i++)
		doubted[i] = believed[i] && is_contradicted(s, &s->given[i]);
	for (size_t i = 0; i < s->n_given; i++)
		if (believed[i])
			s->given[i].recheck = doubted[i];
	return replay_anew(s, e);
}

int import_terms(struct session *s, const struct bisect_log *here, struct err *e)
{
	if (!terms_say_fix(here))
		return 0;
	if (config_given(s->cfg, "campaign.hunt") && !s->fix)
		return err_set(e, ERR_CONFIG,
			       "%s: hunt = regression contradicts the bisection in progress, whose "
			       "terms are '%s' and '%s' (set hunt = fix, or leave it out)",
			       config_where(s->cfg, "campaign.hunt"), here->term_old,
			       here->term_new);
	s->fix = true;
	return 0;
}

int import_store(struct session *s, struct err *e)
{
	struct import_kept kept = { .import = NULL };
	struct store_visitor v = { .note = see_import, .cookie = &kept };
	int ret = store_visit(s->store, &v, e);

	if (ret == 0 && s->new_import && !str_eq(kept.import, s->import)) {
		ret = store_note_add(s->store, "import", s->import, 0, e);
		kept.recheck = false;
	}
	if (ret == 0 && s->recheck && !kept.recheck)
		ret = store_note_add(s->store, "recheck", "", 0, e);
	free(kept.import);
	return ret;
}
