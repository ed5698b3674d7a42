/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A campaign in git's words. */
#include "campaign/git_log.h"

#include <stdlib.h>
#include <string.h>

#include "io/bisect_log.h"

#define SUBJECT_MAX 400

static void add(struct bisect_log *log, enum bisect_state state, const struct commit_id *id)
{
	log->entry = xrealloc(log->entry, log->n + 1, sizeof(*log->entry));
	log->entry[log->n++] = (struct bisect_entry){ .state = state, .id = *id };
}

/* What was said of commits beside the candidates: refs that git has, but no move of the engine. */
static void add_outside(struct bisect_log *log, const struct session *s)
{
	enum verdict old = s->fix ? VERDICT_BAD : VERDICT_GOOD;

	for (size_t i = 0; i < s->n_told; i++) {
		const struct session_said *t = &s->told[i];

		if (session_node(s, &t->id) != DAG_NONE)
			continue;
		if (t->verdict == VERDICT_SKIP)
			add(log, BISECT_SKIP, &t->id);
		else if (t->verdict == old)
			add(log, BISECT_OLD, &t->id);
	}
}

/* The subject of a commit for the comment before its line. Owned. */
static char *subject(void *cookie, const struct commit_id *id)
{
	_cleanup_(repo_commit_release) struct repo_commit c = { .subject = NULL };
	struct session *s = cookie;
	struct err ignored = ERR_INIT;

	if (repo_commit_read(s->repo, id, &c, &ignored) < 0)
		return xstrdup("");
	return xstrndup(c.subject, SUBJECT_MAX);
}

static void add_comment(struct session *s, struct str *out, const char *what,
			const struct commit_id *id)
{
	_cleanup_free_ char *text = subject(s, id);
	char hex[COMMIT_HEX + 1];

	str_addf(out, "# %s commit: [%s] ", what, commit_hex(id, hex));
	str_neutralise(out, text, strlen(text), false);
	str_add(out, "\n");
}

/* The comments with which git ends its log. */
static void add_answer(struct session *s, const char *term, struct str *out)
{
	_cleanup_free_ char *first = xasprintf("first %s", term);
	_cleanup_free_ char *possible = xasprintf("possible first %s", term);
	struct engine_result r;

	engine_result(s->engine, &r);
	if (r.status == ENGINE_FOUND)
		add_comment(s, out, first, session_commit(s, r.node));
	if (r.status != ENGINE_SHORT_LIST)
		return;
	str_add(out, "# only skipped commits left to test\n");
	for (uint32_t i = r.n_left; i-- > 0;)
		add_comment(s, out, possible, session_commit(s, r.left[i]));
}

void git_log(struct session *s, struct str *out)
{
	static const enum bisect_state state[] = {
		[DAG_BAD] = BISECT_NEW, [DAG_GOOD] = BISECT_OLD, [DAG_SKIP] = BISECT_SKIP
	};
	struct bisect_log log = {
		.term_new = xstrdup(s->term_new ? s->term_new
				    : s->fix    ? "fixed"
						: "bad"),
		.term_old = xstrdup(s->term_old ? s->term_old
				    : s->fix    ? "broken"
						: "good"),
		.first_parent = s->first_parent,
	};
	const struct engine_move *move;
	size_t n = engine_moves(s->engine, &move);

	strv_extend(&log.paths, &s->paths);
	add(&log, BISECT_NEW, &s->new);
	add(&log, BISECT_OLD, &s->old);
	add_outside(&log, s);
	for (size_t i = 0; i < n; i++)
		add(&log, state[move[i].mark], session_commit(s, move[i].node));
	/* who replays it needs the commits */
	if (s->series)
		str_addf(out,
			 "# the patches of the series are commits of our own repository; first:\n"
			 "# git fetch '%s' '+refs/kregress/*:refs/kregress/*'\n",
			 repo_common_dir(s->repo));
	bisect_log_write(&log, subject, s, out);
	add_answer(s, log.term_new, out);
	bisect_log_release(&log);
}
