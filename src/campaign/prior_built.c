/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Free information: which candidates change nothing that the kernels so far were built from. */
#include "campaign/prior.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "campaign/patches.h"
#include "io/used.h"

/* Beyond that many, looking costs more than it tells. */
#define CANDIDATES_MAX 200000
#define CACHE_MAX (CANDIDATES_MAX * 48u)
#define BUILDS_MAX 1000000 /* rows of a store */
#define CACHE_NAME "built"

static void free_used(struct used **u)
{
	used_free(*u);
}

static void free_changes(struct repo_changes **c)
{
	repo_changes_free(*c);
}

/* ---- the kernels that were measured ---- */

struct gather {
	struct session *s;
	bool *measured; /* by number of the build row */
	size_t room;
	struct used *used;
	struct strv keys; /* those looked at already */
	bool old_known, new_known;
	struct err *e;
};

/* Only builds of today's setup: another configuration builds other files. */
static int see_trial(const struct store_trial *t, void *cookie)
{
	struct gather *g = cookie;

	if (t->build_id <= 0 || t->build_id > BUILDS_MAX ||
	    !str_eq(t->setup, session_setup_of(g->s, &t->commit)))
		return 0;
	size_t had = g->room;

	xgrow(&g->measured, &g->room, (size_t)t->build_id + 1, sizeof(*g->measured));
	if (g->room > had)
		memset(g->measured + had, 0, (g->room - had) * sizeof(*g->measured));
	g->measured[t->build_id] = true;
	return 0;
}

static int see_build(const struct store_build *b, void *cookie)
{
	struct gather *g = cookie;
	int ret = 1;

	if ((size_t)b->id >= g->room || !g->measured[b->id] || b->outcome != TRIAL_OK || !b->key)
		return 0;
	if (!strv_has(&g->keys, b->key)) {
		ret = build_used_of(b->key, g->used, g->e);
		if (ret < 0)
			return -1;
		if (ret)
			strv_add(&g->keys, b->key);
	}
	g->old_known |= ret && commit_eq(&b->commit, &g->s->old);
	g->new_known |= ret && commit_eq(&b->commit, &g->s->new);
	return 0;
}

/* 1: both ends are known, and @used has what they and all others were built from; 0; -1. */
static int gather_used(struct session *s, struct used *used, struct err *e)
{
	struct gather g = { .s = s, .used = used, .e = e };
	struct store_visitor trials = { .trial = see_trial, .cookie = &g };
	struct store_visitor builds = { .build = see_build, .cookie = &g };
	int ret = -1;

	if (store_visit(s->store, &trials, e) == 0 && store_visit(s->store, &builds, e) == 0)
		ret = g.old_known && g.new_known;
	free(g.measured);
	strv_release(&g.keys);
	return ret;
}

/* ---- one commit ---- */

static int see_change(const char *path, enum repo_change change, void *cookie)
{
	return !used_is_idle(cookie, path, change);
}

/* 1: differs from its parent @nth (or from all) in nothing that is built, 0: in something, -1. */
static int is_idle(struct repo_changes *c, struct used *used, unsigned nth, struct err *e)
{
	int ret = repo_changes_walk(c, nth, see_change, used, e);

	return ret < 0 ? -1 : !ret;
}

/*
 * A merge that differs from any one of its parents in nothing that is built makes that parent's
 * kernel: it is in that parent's state, and cannot be where the state changes.
 */
static int kind_of_merge(struct repo_changes *c, struct used *used, unsigned parents,
			 unsigned char *kind, struct err *e)
{
	int ret = is_idle(c, used, REPO_ALL_PARENTS, e);

	if (ret <= 0)
		return ret;
	*kind = PRIOR_IS_CLEAN_MERGE;
	for (unsigned i = 0; i < parents && *kind != PRIOR_IS_IDLE; i++) {
		ret = is_idle(c, used, i, e);
		if (ret < 0)
			return -1;
		if (ret)
			*kind = PRIOR_IS_IDLE;
	}
	return 0;
}

static int kind_of(struct session *s, struct repo_changes *c, struct used *used, uint32_t node,
		   unsigned char *kind, struct err *e)
{
	unsigned parents;
	int ret;

	if (repo_changes_of(c, &s->dag.id[node], &parents, e) < 0)
		return -1;
	/* On first parents a merge brings in all of the other side. */
	if (parents > 1 && !s->first_parent)
		return kind_of_merge(c, used, parents, kind, e);
	ret = parents ? is_idle(c, used, 0, e) : 0;
	if (ret > 0)
		*kind = PRIOR_IS_IDLE;
	return ret < 0 ? -1 : 0;
}

static int look(struct session *s, struct used *used, unsigned char *kind, struct err *e)
{
	_cleanup_(free_changes) struct repo_changes *c = repo_changes_new(s->repo);
	double start = clock_mono_s();

	/* Perhaps before there is an engine, which progress.h asks. */
	log_progress("look at what %u commits change", s->dag.n);

	for (uint32_t i = 0; i < s->dag.n; i++)
		if (!s->dag.treesame || !s->dag.treesame[i])
			if (kind_of(s, c, used, i, &kind[i], e) < 0)
				return -1;
	log_progress("%s", "");
	log_verbose("looked at what %u commits change in %.1f s", s->dag.n, clock_mono_s() - start);
	return 0;
}

/* ---- kept in the state directory: two lines of heading, then "<commit> idle|merge" ---- */

static void heading(const struct session *s, struct str *out)
{
	char old[COMMIT_HEX + 1], new[COMMIT_HEX + 1];

	str_addf(out, "kregress built 1 %s %s %u%s\n", commit_hex(&s->old, old),
		 commit_hex(&s->new, new), s->dag.n, s->first_parent ? " first_parent" : "");
}

static const char *const kind_names[] = {
	[PRIOR_IS_IDLE] = "idle", [PRIOR_IS_CLEAN_MERGE] = "merge"
};

static int keep(const struct session *s, const char *path, const char *digest,
		const unsigned char *kind, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	char hex[HASH_HEX_SIZE];

	heading(s, &text);
	str_addf(&text, "%s\n", digest);
	for (uint32_t i = 0; i < s->dag.n; i++)
		if (kind[i])
			str_addf(&text, "%s %s\n", commit_hex(&s->dag.id[i], hex),
				 kind_names[kind[i]]);
	str_add(&text, "end\n");
	return fs_write(path, str_text(&text), text.len, e);
}

/* One line; false: damaged. Cuts it at its end. */
static bool take_line(const struct session *s, char *line, unsigned char *kind)
{
	struct commit_id id;
	uint32_t node;

	if (strlen(line) < COMMIT_HEX + 2 || line[COMMIT_HEX] != ' ')
		return false;
	line[COMMIT_HEX] = '\0';
	if (!commit_parse(line, &id))
		return false;
	node = dag_find(&s->dag, &id);
	for (size_t k = PRIOR_IS_IDLE; k < ARRAY_SIZE(kind_names); k++)
		if (node != DAG_NONE && str_eq(line + COMMIT_HEX + 1, kind_names[k])) {
			kind[node] = (unsigned char)k;
			return true;
		}
	return false;
}

/* The lines after the heading; the last one is "end". */
static bool take_lines(const struct session *s, char *text, unsigned char *kind)
{
	for (char *line = text, *next; (next = strchr(line, '\n')); line = next) {
		*next++ = '\0';
		if (str_eq(line, "end"))
			return true;
		if (!take_line(s, line, kind))
			return false;
	}
	return false;
}

/* @digest NULL: whatever the kernels were. True: @kind is filled. */
static bool recall(const struct session *s, const char *path, const char *digest,
		   unsigned char *kind)
{
	_cleanup_str_ struct str text = STR_INIT;
	_cleanup_str_ struct str head = STR_INIT;

	heading(s, &head);
	if (fs_read(path, CACHE_MAX, &text, NULL) < 0 || !str_starts(str_text(&text), head.buf) ||
	    text.len < head.len + HASH_HEX_SIZE)
		return false;
	char *at = text.buf + head.len;

	if ((digest && strncmp(at, digest, HASH_HEX_SIZE - 1) != 0) ||
	    at[HASH_HEX_SIZE - 1] != '\n')
		return false;
	if (take_lines(s, at + HASH_HEX_SIZE, kind))
		return true;
	memset(kind, PRIOR_ORDINARY, s->dag.n);
	return false;
}

int prior_built(struct session *s, unsigned char *kind, struct err *e)
{
	_cleanup_(free_used) struct used *used = used_new();
	_cleanup_free_ char *path = fs_join(s->cfg->campaign.state, CACHE_NAME);
	char digest[HASH_HEX_SIZE];
	int ret;

	if (!s->store || s->cfg->build.type != BUILD_KERNEL || s->dag.n > CANDIDATES_MAX)
		return 0;
	/* A viewer sees what the campaign went by. */
	if (s->mode == SESSION_VIEW)
		return recall(s, path, NULL, kind);
	ret = gather_used(s, used, e);
	if (ret <= 0)
		return ret;
	used_digest(used, digest);
	if (recall(s, path, digest, kind))
		return 1;
	if (look(s, used, kind, e) < 0)
		return -1;
	return keep(s, path, digest, kind, e) < 0 ? -1 : 1;
}
