/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bisection in progress: what git bisect left in the git folder of a worktree. */
#include <dirent.h>
#include <errno.h>
#include <git2.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "io/bisect_log.h"
#include "io/repo_internal.h"

#define SMALL_MAX (1u << 20)
/* terms may hold slashes; so deep their refs may lie */
#define DEPTH_MAX 16

/* The file @name of git bisect into @out. 1, 0: there is none, -1. */
static int read_state(struct repo *r, const char *name, size_t max, struct str *out, struct err *e)
{
	_cleanup_free_ char *path = fs_join(git_repository_path(r->git), name);
	struct err why = ERR_INIT;

	if (!fs_read(path, max, out, &why))
		return 1;
	if (why.code == ERR_NOT_FOUND)
		return 0;
	if (e)
		*e = why;
	return -1;
}

static bool has_state(struct repo *r, const char *name)
{
	_cleanup_free_ char *path = fs_join(git_repository_path(r->git), name);

	return fs_exists(path);
}

/* BISECT_LOG into @log; an empty log of git's terms where there is none. 1, 0, -1. */
static int read_log(struct repo *r, struct bisect_log *log, struct err *e)
{
	_cleanup_free_ char *path = fs_join(git_repository_path(r->git), "BISECT_LOG");
	_cleanup_str_ struct str text = STR_INIT;
	int ret = read_state(r, "BISECT_LOG", BISECT_LOG_MAX, &text, e);

	if (ret < 0)
		return -1;
	if (ret && text.len)
		return bisect_log_parse(path, text.buf, text.len, log, e) ? -1 : 1;
	*log = (struct bisect_log){
		.name = xstrdup(path),
		.term_new = xstrdup("bad"),
		.term_old = xstrdup("good"),
	};
	return 0;
}

/* "<new>\n<old>\n": what git goes by, whatever the log says. */
static int read_terms(struct repo *r, struct bisect_log *log, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	int ret = read_state(r, "BISECT_TERMS", SMALL_MAX, &text, e);
	const char *old;
	size_t n;

	if (ret <= 0 || !text.len)
		return ret < 0 ? -1 : 0;
	n = strcspn(text.buf, "\n");
	old = text.buf + n + (text.buf[n] == '\n');
	if (!n || !strcspn(old, "\n"))
		return err_set(
			e, ERR_CONFIG,
			"'%sBISECT_TERMS' does not hold two terms (git bisect log >FILE; git "
			"bisect reset; git bisect replay FILE writes it anew)",
			git_repository_path(r->git));
	free(log->term_new);
	free(log->term_old);
	log->term_new = xstrndup(text.buf, n);
	log->term_old = xstrndup(old, strcspn(old, "\n"));
	log->terms_given |= !str_eq(log->term_new, "bad") || !str_eq(log->term_old, "good");
	return 0;
}

static int read_paths(struct repo *r, struct bisect_log *log, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	_cleanup_strv_ struct strv words = STRV_INIT;
	int ret = read_state(r, "BISECT_NAMES", SMALL_MAX, &text, e);

	if (ret <= 0)
		return ret;
	if (str_split_words(str_text(&text), &words, NULL))
		return err_set(e, ERR_CONFIG,
			       "'%sBISECT_NAMES' has an open quote (start again: git bisect reset)",
			       git_repository_path(r->git));
	strv_clear(&log->paths);
	for (size_t i = 0; i < words.n; i++)
		if (i || !str_eq(words.v[i], "--"))
			strv_add(&log->paths, words.v[i]);
	return 0;
}

static void close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/*
 * Names of the refs below "refs/bisect" or a folder in it. libgit2 can look up a
 * ref of a linked worktree, but lists those of the main one; git never packs them.
 */
static int list_refs(struct repo *r, const char *below, unsigned depth, struct strv *out,
		     struct err *e)
{
	_cleanup_free_ char *path = fs_join(git_repository_path(r->git), below);
	_cleanup_(close_dir) DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return err_sys(e, errno, "cannot list '%s'", path);
	while ((entry = readdir(dir))) {
		_cleanup_free_ char *name = fs_join(below, entry->d_name);
		_cleanup_free_ char *file = fs_join(path, entry->d_name);

		/* no part of a ref begins with a dot or ends in .lock */
		if (entry->d_name[0] == '.' || str_ends(name, ".lock"))
			continue;
		if (!fs_is_dir(file))
			strv_add(out, name);
		else if (depth < DEPTH_MAX && list_refs(r, name, depth + 1, out, e))
			return -1;
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What a ref below refs/bisect says; 0: nothing. */
static enum bisect_state state_of(const struct bisect_log *log, const char *ref)
{
	const char *name = ref + strlen("refs/bisect/");
	size_t n = strlen(log->term_old);

	if (str_eq(name, log->term_new))
		return BISECT_NEW;
	if (!strncmp(name, log->term_old, n) && name[n] == '-')
		return BISECT_OLD;
	return str_starts(name, "skip-") ? BISECT_SKIP : (enum bisect_state)0;
}

struct known {
	enum bisect_state state;
	struct commit_id id;
};

static int by_state_and_id(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return commit_cmp(&x->id, &y->id);
}

/* What the log's entries say, to be searched. Owned. */
static struct known *sort_entries(const struct bisect_log *log)
{
	struct known *known = xcalloc(log->n + 1, sizeof(*known));

	for (size_t i = 0; i < log->n; i++)
		known[i] = (struct known){ log->entry[i].state, log->entry[i].id };
	qsort(known, log->n, sizeof(*known), by_state_and_id);
	return known;
}

/* The commit that a ref of git bisect names. (git_revparse_single() leaks where it is missing.) */
static int read_ref(struct repo *r, const char *ref, struct commit_id *id, struct err *e)
{
	_cleanup_(repo_free_commit) git_commit *commit = NULL;
	git_oid oid;
	int rc = git_reference_name_to_id(&oid, r->git, ref);

	if (!rc)
		rc = git_commit_lookup(&commit, r->git, &oid);
	if (rc)
		return repo_fail(e, rc, "the bisection in '%s' is damaged: '%s' names no commit",
				 git_repository_path(r->git), ref);
	*id = repo_id(&oid);
	return 0;
}

/* Append what @refs say and the log does not. */
static int add_refs(struct repo *r, const struct strv *refs, struct bisect_log *log, struct err *e)
{
	_cleanup_free_ struct known *known = sort_entries(log);
	size_t n_known = log->n;

	for (size_t i = 0; i < refs->n; i++) {
		struct known k = { .state = state_of(log, refs->v[i]) };
		const struct bisect_entry *last = bisect_log_last_new(log);
		bool is_there;

		if (!k.state)
			continue;
		if (read_ref(r, refs->v[i], &k.id, e))
			return -1;
		is_there = bsearch(&k, known, n_known, sizeof(k), by_state_and_id);
		/* there is one new commit at a time: the last */
		if (k.state == BISECT_NEW)
			is_there = last && commit_eq(&last->id, &k.id);
		if (!is_there)
			bisect_log_add(log, k.state, xstrdup(refs->v[i]), 0)->id = k.id;
	}
	return 0;
}

int bisect_log_in_progress(struct repo *r, struct bisect_log *out, struct err *e)
{
	_cleanup_(bisect_log_release) struct bisect_log log = BISECT_LOG_INIT;
	_cleanup_strv_ struct strv refs = STRV_INIT;
	int has_log = read_log(r, &log, e);

	if (has_log < 0 || list_refs(r, "refs/bisect", 0, &refs, e))
		return -1;
	if (!has_log && !refs.n && !has_state(r, "BISECT_START"))
		return 0;
	if (refs.n)
		qsort(refs.v, refs.n, sizeof(*refs.v), by_name);
	log.first_parent = has_state(r, "BISECT_FIRST_PARENT");
	log.no_checkout = has_state(r, "BISECT_HEAD");
	if (read_terms(r, &log, e) || bisect_log_resolve(r, &log, e) || read_paths(r, &log, e) ||
	    add_refs(r, &refs, &log, e))
		return -1;
	*out = log;
	log = (struct bisect_log)BISECT_LOG_INIT;
	return 1;
}

static void close_repo(struct repo **r)
{
	repo_close(*r);
}

int repo_bisect_head(const char *dir, struct commit_id *id, struct err *e)
{
	_cleanup_(close_repo) struct repo *r = NULL;
	git_oid oid;

	if (repo_open(dir, &r, e))
		return -1;
	if (git_reference_name_to_id(&oid, r->git, "BISECT_HEAD") == GIT_ENOTFOUND)
		return repo_head(dir, id, e);
	return repo_resolve(r, "BISECT_HEAD", dir, id, e);
}

const char *repo_git_dir(const struct repo *r)
{
	return git_repository_path(r->git);
}
