/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mail series applied on a base, in the private repository, by the git program. */
#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "io/gitrun.h"
#include "io/repo_internal.h"
#include "io/repo_series_internal.h"

/* Another one when the same mails would give other commits than before. */
#define METHOD "1"

static void applying_end(struct applying *a)
{
	if (a->dir)
		fs_remove_tree(a->dir, NULL);
	free(a->dir);
	free(a->index);
	free(a->patch);
	free(a->place);
}

/* ---- the ref ---- */

static void ref_name(const struct repo_series *s, char name[128])
{
	struct hash *h = hash_new();
	char hex[HASH_HEX_SIZE], base[COMMIT_HEX + 1];

	hash_add_text(h, METHOD);
	hash_add_text(h, commit_hex(&s->base, base));
	hash_add_text(h, s->content);
	hash_hex(h, hex);
	snprintf(name, 128, "refs/kregress/series/%s", hex);
}

int repo_series_find(struct repo *priv, const struct repo_series *s, struct commit_id *tip,
		     struct err *e)
{
	char name[128];
	git_oid oid;
	int rc;

	ref_name(s, name);
	rc = git_reference_name_to_id(&oid, priv->git, name);
	if (rc == GIT_ENOTFOUND)
		return 0;
	if (rc < 0)
		return repo_fail(e, rc, "cannot read '%s' in '%s'", name, priv->common_dir);
	if (!git_odb_exists(priv->odb, &oid))
		return 0; /* somebody tidied up: it is made again */
	*tip = repo_id(&oid);
	return 1;
}

static int keep(struct repo *priv, const struct repo_series *s, const struct commit_id *tip,
		struct err *e)
{
	git_reference *ref = NULL;
	char name[128];
	int rc;

	ref_name(s, name);
	rc = git_reference_create(&ref, priv->git, name, repo_oid(tip), 1, NULL);
	git_reference_free(ref);
	return rc < 0 ? repo_fail(e, rc, "cannot write '%s' in '%s'", name, priv->common_dir) : 0;
}

/* ---- commits ---- */

/* A command that has no reason to fail; its output without the last line break in @out. */
static int must(const struct applying *a, const char *const *args, struct str *out, struct err *e)
{
	int status = series_git(a, a->index, NULL, args, out, e);

	if (status != 0)
		return status < 0 ? -1 : series_git_failed(a, args[0], str_text(out), e);
	while (out->len && out->buf[out->len - 1] == '\n')
		out->buf[--out->len] = '\0';
	return 0;
}

struct author {
	const char *name, *date;
	char *at; /* a date that git takes */
};

static void commit_env(const struct applying *a, const struct author *who, struct strv *env)
{
	strv_addf(env, "GIT_AUTHOR_NAME=%s", who->name);
	strv_addf(env, "GIT_AUTHOR_EMAIL=%s", a->p->email);
	strv_addf(env, "GIT_AUTHOR_DATE=%s", who->date);
	strv_add(env, "GIT_COMMITTER_NAME=kregress");
	strv_add(env, "GIT_COMMITTER_EMAIL=kregress@localhost");
	strv_addf(env, "GIT_COMMITTER_DATE=%s", who->at);
	strv_add(env, "TZ=UTC"); /* for dates without a zone */
	strv_addf(env, "GIT_DIR=%s", a->priv->common_dir);
}

/* A mail may lack a name or a date, or have one that git refuses: it is a patch all the same. */
static bool mend_author(struct author *who, const char *words)
{
	if (strstr(words, "invalid date format") && who->date != who->at) {
		who->date = who->at;
		return true;
	}
	if ((strstr(words, "empty ident name") || strstr(words, "disallowed characters")) &&
	    !str_eq(who->name, "unknown")) {
		who->name = "unknown";
		return true;
	}
	return false;
}

static int commit_tree(struct applying *a, const char *tree, const char *message, struct str *out,
		       struct err *e)
{
	const char *const args[] = { "-c",          "i18n.commitEncoding=UTF-8",
				     "commit-tree", "-p",
				     a->parent,     "-F",
				     message,       tree,
				     NULL };
	_cleanup_free_ char *at = xasprintf("@%lld +0000", (long long)a->time);
	struct author who = { .name = *a->p->author ? a->p->author : a->p->email,
			      .date = *a->p->date ? a->p->date : at,
			      .at = at };

	for (;;) {
		_cleanup_strv_ struct strv env = STRV_INIT;
		const struct gitrun g = {
			.args = args, .env = &env, .cwd = a->dir, .out = out, .merge = true
		};
		int status;

		commit_env(a, &who, &env);
		str_clear(out);
		status = gitrun(&g, e);
		if (status <= 0)
			return status;
		if (!mend_author(&who, str_text(out)))
			return series_git_failed(a, "commit-tree", str_text(out), e);
	}
}

/* git may warn of a text that is not UTF-8: the name is the last line. */
static int last_line_name(const struct str *out, char hex[COMMIT_HEX + 1], struct err *e)
{
	size_t n = out->len;
	struct commit_id id;

	while (n && out->buf[n - 1] == '\n')
		n--;
	snprintf(hex, COMMIT_HEX + 1, "%.*s", COMMIT_HEX,
		 n < COMMIT_HEX ? "" : out->buf + n - COMMIT_HEX);
	if (!commit_parse(hex, &id))
		return err_set(e, ERR_GIT, "git commit-tree gives no name of a commit");
	return 0;
}

/* As git am leaves it: no blanks at line ends, no blank lines twice. */
static int write_message(const struct applying *a, const char *path, struct err *e)
{
	git_buf text = { 0 };
	int rc = git_message_prettify(&text, a->p->message, 0, '#'), ret;

	if (rc < 0)
		return repo_fail(e, rc, "cannot tidy up the text of patch %u/%u", a->p->number,
				 a->p->total);
	ret = fs_write(path, text.ptr, text.size, e);
	git_buf_dispose(&text);
	return ret;
}

static int commit_index(struct applying *a, struct err *e)
{
	static const char *const write_tree[] = { "write-tree", NULL };
	_cleanup_free_ char *message = fs_join(a->dir, "message");
	_cleanup_str_ struct str tree = STR_INIT;
	_cleanup_str_ struct str out = STR_INIT;

	a->time++;
	if (write_message(a, message, e) < 0 || must(a, write_tree, &tree, e) < 0 ||
	    commit_tree(a, str_text(&tree), message, &out, e) < 0)
		return -1;
	return last_line_name(&out, a->parent, e);
}

/* ---- all of them ---- */

static int begin(struct applying *a, struct err *e)
{
	_cleanup_(repo_free_commit) git_commit *base = NULL;
	int rc = git_commit_lookup(&base, a->priv->git, repo_oid(&a->s->base));

	commit_hex(&a->s->base, a->parent);
	if (rc < 0)
		return repo_fail(e, rc, "cannot read commit '%s'", a->parent);
	a->time = git_commit_time(base);
	a->dir = fs_join(a->priv->common_dir, "kregress-series");
	a->index = fs_join(a->dir, "index");
	a->patch = fs_join(a->dir, "patch");
	/* what a killed one left */
	if (fs_remove_tree(a->dir, e) < 0 || fs_mkdirs(a->dir, e) < 0)
		return -1;
	return series_read_tree(a, a->index, e);
}

/*
 * git does not store what the user's repository has, such as the files of a branch that this
 * series was made from: when that branch is gone, so are they. A pack of our own has all.
 */
static int own_objects(const struct applying *a, struct err *e)
{
	_cleanup_free_ char *pack = fs_join(a->priv->common_dir, "objects/pack/pack");
	_cleanup_free_ char *list = fs_join(a->dir, "revisions");
	_cleanup_strv_ struct strv env = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;
	_cleanup_str_ struct str revs = STR_INIT;
	const char *const args[] = { "pack-objects", "--revs", "-q", pack, NULL };
	const struct gitrun g = { .args = args,
				  .env = &env,
				  .cwd = a->dir,
				  .in_path = list,
				  .out = &out,
				  .merge = true };
	char base[COMMIT_HEX + 1];
	int status;

	str_addf(&revs, "%s\n^%s\n", a->parent, commit_hex(&a->s->base, base));
	strv_addf(&env, "GIT_DIR=%s", a->priv->common_dir);
	if (fs_write(list, str_text(&revs), revs.len, e) < 0)
		return -1;
	status = gitrun(&g, e);
	return status > 0 ? series_git_failed(a, args[0], str_text(&out), e) : status;
}

/* -1 also when it does not apply. */
static int one_patch(struct applying *a, const struct mbox_patch *p, struct err *e)
{
	int ret;

	a->p = p;
	if (fs_write(a->patch, str_text(&p->diff), p->diff.len, e) < 0)
		return -1;
	ret = series_patch(a, e);
	if (ret <= 0)
		return ret < 0 ? -1 : series_does_not_apply(a, e);
	return commit_index(a, e);
}

int repo_series_apply(struct repo *priv, const struct repo_series *s, const struct mbox *m,
		      struct commit_id *tip, struct err *e)
{
	_cleanup_free_ char *lock = fs_join(priv->common_dir, "kregress-series.lock");
	_cleanup_(applying_end) struct applying a = { .priv = priv, .s = s };
	_cleanup_close_ int fd = -1;
	struct commit_id made;

	if (fs_lock_wait(lock, "our copy of the repository", &fd, e) < 0 || begin(&a, e) < 0)
		return -1;
	for (size_t i = 0; i < m->n; i++)
		if (one_patch(&a, &m->patch[i], e) < 0)
			return -1;
	commit_parse(a.parent, &made);
	if (own_objects(&a, e) < 0 || keep(priv, s, &made, e) < 0)
		return -1;
	if (s->reject_path)
		unlink(s->reject_path);
	*tip = made;
	return 0;
}
