/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels by name: a revision, reverts and patches on it, as commits of our own repository. */
#include "campaign/compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "campaign/patches.h"

#define PATCH_MAX (16u << 20) /* bytes */
#define SHOWN 200             /* bytes of a word in a message */
#define FILES_SHOWN 8

static const char revert_mark[] = "~revert:";

/* One kernel in the making. */
struct making {
	struct comparison *c;
	struct compare_kernel *k;
	struct repo *ours; /* NULL until it is needed */
	const char *at;    /* what of the word is left */
};

static void close_repo(struct repo **r)
{
	repo_close(*r);
}

/* Does a part of a word end before @p? */
static bool is_end(const char *p, bool in_list)
{
	return !*p || *p == '+' || (in_list && *p == ',') || str_starts(p, revert_mark);
}

typedef bool (*fits_fn)(const struct making *m, const char *part);

static bool is_revision(const struct making *m, const char *part)
{
	struct err ignored = ERR_INIT;
	struct commit_id id;

	return repo_resolve(m->c->s->repo, part, "COMMIT", &id, &ignored) == 0;
}

static bool is_file(const struct making *m, const char *part)
{
	(void)m;
	return fs_exists(part) && !fs_is_dir(part);
}

/* The longest part from here that @fits, else the shortest one there is: it goes into a message. */
static char *take_part(struct making *m, bool in_list, fits_fn fits)
{
	const char *end = m->at + strlen(m->at);
	char *part;

	for (; end > m->at; end--) {
		if (!is_end(end, in_list))
			continue;
		part = xstrndup(m->at, (size_t)(end - m->at));
		if (fits(m, part)) {
			m->at = end;
			return part;
		}
		free(part);
	}
	while (!is_end(end, in_list))
		end++;
	part = xstrndup(m->at, (size_t)(end - m->at));
	m->at = end;
	return part;
}

static int take_revision(struct making *m, const char *what, bool in_list, struct commit_id *id,
			 struct err *e)
{
	_cleanup_free_ char *part = take_part(m, in_list, is_revision);

	if (!*part)
		return err_set(e, ERR_CONFIG, "%s is missing", what);
	return repo_resolve(m->c->s->repo, part, what, id, e);
}

static int open_ours(struct making *m, struct err *e)
{
	struct session *s = m->c->s;

	if (m->ours)
		return 0;
	if (repo_open_ours(s->repo, &m->ours, e) < 0)
		return -1;
	if (!s->objects)
		s->objects = fs_join(repo_common_dir(m->ours), "objects");
	return 0;
}

/* What does not change the tree was meant for another one. */
static int check_changed(struct making *m, const struct commit_id *id, const char *what,
			 struct err *e)
{
	_cleanup_(repo_commit_release) struct repo_commit before = { .subject = NULL };
	_cleanup_(repo_commit_release) struct repo_commit after = { .subject = NULL };

	if (repo_commit_read(m->ours, &m->k->id, &before, e) < 0 ||
	    repo_commit_read(m->ours, id, &after, e) < 0)
		return -1;
	if (!commit_eq(&before.tree, &after.tree))
		return 0;
	return err_set(e, ERR_CONFIG, "%s changes nothing there: the kernel would be the same",
		       what);
}

static int conflict(const struct strv *files, const char *hex, const char *dir, struct err *e)
{
	_cleanup_str_ struct str list = STR_INIT;

	for (size_t i = 0; i < files->n && i < FILES_SHOWN; i++)
		str_addf(&list, "%s'%.60s'", i ? ", " : "", files->v[i]);
	if (files->n > FILES_SHOWN)
		str_addf(&list, " and %zu more", files->n - FILES_SHOWN);
	err_set(e, ERR_CONFIG, "reverting %.12s conflicts in %s", hex, str_text(&list));
	return err_hint(e, "the files are left in '%.100s'; give the revert as +PATCH", dir);
}

static int revert(struct making *m, const struct commit_id *what, struct err *e)
{
	char hex[COMMIT_HEX + 1];
	_cleanup_strv_ struct strv files = STRV_INIT;
	_cleanup_free_ char *dir = xasprintf("%s/compare-conflict-%.12s",
					     m->c->s->cfg->campaign.state, commit_hex(what, hex));
	_cleanup_free_ char *text = xasprintf("reverting %.12s", hex);
	struct commit_id id;
	int ret;

	if (open_ours(m, e) < 0)
		return -1;
	ret = repo_rework(m->ours, REPO_REVERT, what, &m->k->id, dir, &id, &files, e);
	if (ret <= 0)
		return ret < 0 ? -1 : conflict(&files, hex, dir, e);
	if (check_changed(m, &id, text, e) < 0)
		return -1;
	strv_add(&m->k->reverted, hex);
	m->k->id = id;
	return 0;
}

static int take_reverts(struct making *m, struct err *e)
{
	struct commit_id what;

	m->at += strlen(revert_mark);
	for (;; m->at++) {
		if (take_revision(m, "a commit to revert", true, &what, e) < 0 ||
		    revert(m, &what, e) < 0)
			return -1;
		if (*m->at != ',')
			return 0;
	}
}

static int take_patch(struct making *m, struct err *e)
{
	_cleanup_str_ struct str patch = STR_INIT;
	_cleanup_free_ char *path = NULL, *what = NULL;
	struct commit_id id;

	m->at++;
	path = take_part(m, false, is_file);
	if (!is_file(m, path))
		return err_set(e, ERR_CONFIG, "patch '%.*s' is no file here", SHOWN, path);
	what = xasprintf("patch '%.*s'", SHOWN, path);
	if (open_ours(m, e) < 0 || fs_read(path, PATCH_MAX, &patch, e) < 0 ||
	    repo_patch(m->ours, path, &patch, &m->k->id, &id, e) < 0 ||
	    check_changed(m, &id, what, e) < 0)
		return -1;
	strv_add(&m->k->patches, path);
	m->k->id = id;
	return 0;
}

static int take_word(struct making *m, struct err *e)
{
	_cleanup_(repo_commit_release) struct repo_commit rc = { .subject = NULL };
	struct session *s = m->c->s;
	struct compare_kernel *k = m->k;

	if (take_revision(m, "COMMIT", false, &k->base, e) < 0 ||
	    repo_commit_read(s->repo, &k->base, &rc, e) < 0)
		return -1;
	k->id = k->base;
	k->subject = xstrdup(rc.subject);
	while (*m->at)
		if ((*m->at == '+' ? take_patch(m, e) : take_reverts(m, e)) < 0)
			return -1;
	if (!commit_eq(&k->id, &k->base))
		patches_take_after(s, &k->id, &k->base);
	return 0;
}

/* Their rows could not be told apart. */
static int check_twice(const struct comparison *c, size_t i, struct err *e)
{
	char hex[COMMIT_HEX + 1];

	for (size_t j = 0; j < i; j++)
		if (commit_eq(&c->kernel[i].id, &c->kernel[j].id))
			return err_set(e, ERR_CONFIG,
				       "kernels '%.*s' and '%.*s' are the same, %.12s (name each "
				       "once)",
				       SHOWN / 2, c->kernel[j].word, SHOWN / 2, c->kernel[i].word,
				       commit_hex(&c->kernel[i].id, hex));
	return 0;
}

int compare_kernels(struct comparison *c, char *const *words, size_t n, struct err *e)
{
	_cleanup_(close_repo) struct repo *ours = NULL;

	c->kernel = xcalloc(n, sizeof(*c->kernel));
	for (; c->n_kernels < n; c->n_kernels++) {
		size_t i = c->n_kernels;
		struct making m = { .c = c, .k = &c->kernel[i], .ours = ours, .at = words[i] };
		int ret;

		c->kernel[i].word = words[i];
		ret = take_word(&m, e);
		ours = m.ours;
		if (ret < 0) {
			c->n_kernels++;
			return err_wrap(e, "kernel '%.*s'", SHOWN, words[i]);
		}
		if (check_twice(c, i, e) < 0) {
			c->n_kernels++;
			return -1;
		}
	}
	return 0;
}
