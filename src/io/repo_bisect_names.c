/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commits that a log of git bisect names. */
#include <git2.h>
#include <stdlib.h>
#include <string.h>

#include "base/sig.h"
#include "io/bisect_log.h"
#include "io/repo_internal.h"

/* ---- names of commits ---- */

static bool is_full_hex(const char *rev)
{
	return strlen(rev) == COMMIT_HEX && rev[strspn(rev, "0123456789abcdefABCDEF")] == '\0';
}

/* Is there nothing by the name of @rev? (Else it is no commit, or ambiguous.) */
static bool is_nothing(struct repo *r, const char *rev)
{
	_cleanup_(repo_free_object) git_object *object = NULL;
	int rc = git_revparse_single(&object, r->git, rev);
	git_oid oid;

	/* libgit2 says so of any few hex digits */
	if (rc == GIT_EAMBIGUOUS)
		rc = repo_prefix(r, rev, &oid);
	return rc == GIT_ENOTFOUND;
}

/* The commit @rev names, by the words of a log. */
static int resolve_name(struct repo *r, const struct bisect_log *log,
			const struct bisect_entry *entry, const char *rev, struct commit_id *id,
			struct err *e)
{
	_cleanup_free_ char *place = xasprintf("%s:%d", log->name, entry->line);
	_cleanup_str_ struct str shown = STR_INIT;
	struct err why = ERR_INIT;

	if (!repo_resolve(r, rev, place, id, &why))
		return 0;
	if (why.code != ERR_CONFIG || !is_nothing(r, rev)) {
		if (e)
			*e = why;
		return -1;
	}
	str_neutralise(&shown, rev, strnlen(rev, 80), false);
	return err_set(e, ERR_CONFIG,
		       "%s: commit '%s' is not in '%s': is this the log of another repository? "
		       "(%s, or set repo = in [campaign])",
		       place, str_text(&shown), r->common_dir,
		       r->is_shallow ? "git fetch --unshallow --tags" : "git fetch --tags");
}

/* Does @rev start from what names the same commit for ever: hex digits, a tag? */
static bool is_fixed_name(struct repo *r, const char *rev)
{
	_cleanup_free_ char *base = xstrndup(rev, strcspn(rev, "~^@:"));
	_cleanup_free_ char *ref = xasprintf("%s%s",
					     str_starts(base, "refs/")   ? ""
					     : str_starts(base, "tags/") ? "refs/"
									 : "refs/tags/",
					     base);
	git_oid oid;

	if (!git_reference_name_to_id(&oid, r->git, ref))
		return str_starts(ref, "refs/tags/");
	return strlen(base) >= 4 && base[strspn(base, "0123456789abcdefABCDEF")] == '\0';
}

/*
 * The command's name counts where it is fixed, for a person may have changed it; else what
 * git noted when HEAD or a branch was there.
 */
static int resolve_entry(struct repo *r, const struct bisect_log *log, struct bisect_entry *entry,
			 struct err *e)
{
	char hex[COMMIT_HEX + 1];

	if (!commit_is_null(&entry->noted) && !is_full_hex(entry->rev)) {
		if (is_fixed_name(r, entry->rev) &&
		    !resolve_name(r, log, entry, entry->rev, &entry->id, NULL))
			return 0;
		return resolve_name(r, log, entry, commit_hex(&entry->noted, hex), &entry->id, e);
	}
	return resolve_name(r, log, entry, entry->rev, &entry->id, e);
}

/* ---- ranges ---- */

/* One end of a range into @oid; none is HEAD. */
static int resolve_end(struct repo *r, const struct bisect_log *log,
		       const struct bisect_entry *entry, const char *rev, struct commit_id *id,
		       struct err *e)
{
	return resolve_name(r, log, entry, *rev ? rev : "HEAD", id, e);
}

static void free_walk(git_revwalk **walk)
{
	git_revwalk_free(*walk);
}

/* Give the walk both ends; of "A...B" too: all of both but what they share. Libgit2's codes. */
static int push_range(struct repo *r, git_revwalk *walk, const struct commit_id *from,
		      const struct commit_id *to, bool is_symmetric)
{
	git_oidarray base = { 0 };
	int rc = git_revwalk_push(walk, repo_oid(to));

	if (rc)
		return rc;
	if (!is_symmetric)
		return git_revwalk_hide(walk, repo_oid(from));
	rc = git_merge_bases(&base, r->git, repo_oid(from), repo_oid(to));
	if (!rc || rc == GIT_ENOTFOUND)
		rc = git_revwalk_push(walk, repo_oid(from));
	for (size_t i = 0; !rc && i < base.count; i++)
		rc = git_revwalk_hide(walk, &base.ids[i]);
	git_oidarray_dispose(&base);
	return rc;
}

/* Append an entry for each commit of the range that @entry names to @out. */
static int expand_range(struct repo *r, const struct bisect_log *log,
			const struct bisect_entry *entry, struct bisect_log *out, struct err *e)
{
	_cleanup_(free_walk) git_revwalk *walk = NULL;
	const char *dots = strstr(entry->rev, "..");
	_cleanup_free_ char *first = xstrndup(entry->rev, (size_t)(dots - entry->rev));
	bool is_symmetric = dots[2] == '.';
	struct commit_id from, to;
	unsigned long count = 0;
	git_oid oid;
	int rc;

	if (resolve_end(r, log, entry, first, &from, e) ||
	    resolve_end(r, log, entry, dots + 2 + is_symmetric, &to, e))
		return -1;
	rc = git_revwalk_new(&walk, r->git);
	if (!rc)
		rc = push_range(r, walk, &from, &to, is_symmetric);
	if (rc)
		return repo_fail(e, rc, "%s:%d: cannot walk the range", log->name, entry->line);
	git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL);
	while (!(rc = git_revwalk_next(&oid, walk))) {
		char hex[COMMIT_HEX + 1];
		struct commit_id id = repo_id(&oid);

		bisect_log_add(out, BISECT_SKIP, xstrdup(commit_hex(&id, hex)), entry->line)->id =
			id;
		if (++count % 1024 == 0 && sig_check(e))
			return -1;
	}
	if (rc == GIT_ITEROVER)
		return 0;
	return repo_fail(e, rc, "%s:%d: cannot walk the range", log->name, entry->line);
}

static bool is_range(const struct bisect_entry *entry)
{
	return entry->state == BISECT_SKIP && strstr(entry->rev, "..");
}

/* ---- words of start that are commits or paths ---- */

/* Could @word be meant as a path: there in HEAD, or a pattern? */
static bool looks_like_path(struct repo *r, const char *word)
{
	_cleanup_(repo_free_object) git_object *object = NULL;
	_cleanup_free_ char *spec = xasprintf("HEAD:%s", word);

	while (str_ends(spec, "/"))
		spec[strlen(spec) - 1] = '\0';
	return word[strcspn(word, "*?[:")] || !git_revparse_single(&object, r->git, spec);
}

/* The entries from @first on are paths, as git takes what follows the last commit of start. */
static void turn_into_paths(struct bisect_log *log, size_t first)
{
	size_t end = first;

	while (end < log->n && log->entry[end].may_be_path)
		end++;
	/* git forgets a single one */
	for (size_t i = first; end - first > 1 && i < end; i++)
		strv_add(&log->paths, log->entry[i].rev);
	for (size_t i = first; i < end; i++)
		free(log->entry[i].rev);
	memmove(log->entry + first, log->entry + end, (log->n - end) * sizeof(*log->entry));
	log->n -= end - first;
}

static void settle_paths(struct repo *r, struct bisect_log *log)
{
	struct commit_id id;

	for (size_t i = 0; i < log->n; i++) {
		const char *rev = log->entry[i].rev;

		if (log->entry[i].may_be_path && repo_resolve(r, rev, log->name, &id, NULL) &&
		    looks_like_path(r, rev))
			turn_into_paths(log, i);
	}
}

static void swap_entries(struct bisect_log *a, struct bisect_log *b)
{
	struct bisect_log t = *a;

	a->entry = b->entry;
	a->n = b->n;
	a->room = b->room;
	b->entry = t.entry;
	b->n = t.n;
	b->room = t.room;
}

int bisect_log_resolve(struct repo *r, struct bisect_log *log, struct err *e)
{
	_cleanup_(bisect_log_release) struct bisect_log done = BISECT_LOG_INIT;

	settle_paths(r, log);
	for (size_t i = 0; i < log->n; i++) {
		struct bisect_entry *entry = &log->entry[i], *copy;

		if (is_range(entry)) {
			if (expand_range(r, log, entry, &done, e))
				return -1;
			continue;
		}
		if (resolve_entry(r, log, entry, e))
			return -1;
		copy = bisect_log_add(&done, entry->state, xstrdup(entry->rev), entry->line);
		copy->noted = entry->noted;
		copy->id = entry->id;
	}
	swap_entries(log, &done);
	return 0;
}
