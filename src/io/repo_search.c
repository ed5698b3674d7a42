/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commits named by their message: ":/text" and "rev^{/text}". */
#include <git2.h>
#include <regex.h>

#include "base/sig.h"
#include "io/repo_internal.h"

/*
 * libgit2 1.5 knows these too, but it leaks 20 kB at every commit that does not
 * match: gigabytes on a kernel's history.
 */
struct search {
	regex_t regex;
	bool is_compiled;
	bool negative; /* "!-text": the message does not match */
	git_revwalk *walk;
};

static void search_release(struct search *s)
{
	if (s->is_compiled)
		regfree(&s->regex);
	git_revwalk_free(s->walk);
}

/* 1: matches, 0: not, else libgit2's error. */
static int try_commit(struct search *s, struct repo *r, const git_oid *oid)
{
	_cleanup_(repo_free_commit) git_commit *commit = NULL;
	int rc = git_commit_lookup(&commit, r->git, oid);
	bool matches;

	if (rc)
		return rc;
	matches = !regexec(&s->regex, git_commit_message(commit), 0, NULL, 0);
	return matches != s->negative;
}

static int compile(struct search *s, const char *text)
{
	if (text[0] == '!') {
		if (text[1] != '-' && text[1] != '!')
			return GIT_EINVALIDSPEC;
		s->negative = text[1] == '-';
		text += s->negative ? 2 : 1;
	}
	if (regcomp(&s->regex, text, REG_EXTENDED | REG_NOSUB))
		return GIT_EINVALIDSPEC;
	s->is_compiled = true;
	return 0;
}

int repo_search(struct repo *r, const git_oid *from, const char *text, git_oid *found,
		struct err *e)
{
	_cleanup_(search_release) struct search s = { .walk = NULL };
	int rc = compile(&s, text), is_match = 0;

	if (!rc)
		rc = git_revwalk_new(&s.walk, r->git);
	if (!rc)
		rc = git_revwalk_sorting(s.walk, GIT_SORT_TIME);
	if (!rc && from)
		rc = git_revwalk_push(s.walk, from);
	if (!rc && !from) {
		rc = git_revwalk_push_glob(s.walk, "*");
		/* a HEAD that is not born yet adds nothing */
		if (!rc)
			git_revwalk_push_head(s.walk);
	}
	while (!rc && !is_match) {
		if (sig_check(e))
			return GIT_EUSER;
		rc = git_revwalk_next(found, s.walk);
		if (!rc)
			is_match = try_commit(&s, r, found);
		if (is_match < 0)
			rc = is_match;
	}
	return rc == GIT_ITEROVER ? GIT_ENOTFOUND : rc;
}
