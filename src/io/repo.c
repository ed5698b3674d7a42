/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening repositories and naming commits in them. */
#include "io/repo.h"

#include <errno.h>
#include <git2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/sig.h"
#include "io/repo_internal.h"

void repo_free_object(git_object **p)
{
	git_object_free(*p);
}

void repo_free_commit(git_commit **p)
{
	git_commit_free(*p);
}

void repo_free_tree(git_tree **p)
{
	git_tree_free(*p);
}

void repo_free_odb_object(git_odb_object **p)
{
	git_odb_object_free(*p);
}

void repo_free_index(git_index **p)
{
	git_index_free(*p);
}

const git_oid *repo_oid(const struct commit_id *id)
{
	_Static_assert(sizeof(git_oid) == sizeof(struct commit_id), "both are 20 bytes");
	return (const git_oid *)(const void *)id;
}

struct commit_id repo_id(const git_oid *oid)
{
	struct commit_id id;

	memcpy(id.raw, oid->id, COMMIT_RAW);
	return id;
}

int repo_fail(struct err *e, int rc, const char *fmt, ...)
{
	const git_error *last = git_error_last();
	const char *why = last && last->message ? last->message : "unknown reason";
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	if (strstr(why, strerror(ENOSPC))) {
		err_set(e, ERR_SYS, "%s: %s", text, why);
		if (e)
			e->sys = ENOSPC;
		return err_hint(e, "the disk is full: free some space and start again");
	}
	return err_set(e, ERR_GIT, "%s: %s%s", text, why,
		       rc == GIT_EBUFS ? " (out of memory?)" : "");
}

/*
 * Extensions that do not change how objects and refs are read. Objects that a
 * partial clone lacks fail when they are read.
 */
static const char *extensions[] = { "worktreeconfig", "preciousobjects", "partialclone" };

static void library_init(void)
{
	if (git_libgit2_init() > 1)
		return;
	git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, ARRAY_SIZE(extensions));
	/* git does not hash what it reads either; it doubles the time of a walk */
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
	/* a walk reads each commit once */
	git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_COMMIT, (size_t)0);
	git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_TREE, (size_t)0);
}

/* Is @dir a bare repository, or the .git of one? */
static bool looks_like_git_dir(const char *dir)
{
	_cleanup_free_ char *head = fs_join(dir, "HEAD");
	_cleanup_free_ char *objects = fs_join(dir, "objects");

	return fs_exists(head) && fs_is_dir(objects);
}

/*
 * The repository that @path lies in, as libgit2 would find it, without opening
 * it. *@git_dir: its .git folder or file. Both owned; NULL: none.
 */
static char *discover(const char *path, char **git_dir)
{
	char *dir = fs_absolute(path);

	for (;;) {
		char *dot_git = fs_join(dir, ".git"), *up;

		if (fs_exists(dot_git)) {
			*git_dir = dot_git;
			return dir;
		}
		free(dot_git);
		if (looks_like_git_dir(dir)) {
			*git_dir = xstrdup(dir);
			return dir;
		}
		if (str_eq(dir, "/") || str_eq(dir, "."))
			break;
		up = fs_dirname(dir);
		free(dir);
		dir = up;
	}
	free(dir);
	return NULL;
}

static bool is_foreign(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && st.st_uid != geteuid();
}

/* libgit2's own words for these mislead (FACTS.md 1, traps). */
static int open_failed(const char *path, int rc, struct err *e)
{
	_cleanup_free_ char *git_dir = NULL;
	_cleanup_free_ char *top = discover(path, &git_dir);

	if (!fs_exists(path))
		return err_set(e, ERR_CONFIG, "cannot open repository '%s': no such directory",
			       path);
	if (!top && rc == GIT_ENOTFOUND)
		return err_set(e, ERR_CONFIG, "cannot open repository '%s': not a git repository",
			       path);
	if (top && (rc == GIT_EOWNER || rc == GIT_ENOTFOUND) &&
	    (is_foreign(git_dir) || is_foreign(top)))
		return err_set(e, ERR_CONFIG,
			       "cannot open repository '%s': it belongs to another user (if you "
			       "trust it: git config --global --add safe.directory '%s')",
			       path, top);
	repo_fail(e, rc, "cannot open repository '%s'", path);
	if (e && e->code == ERR_GIT)
		e->code = ERR_CONFIG;
	if (e && strstr(e->msg, "extensions.objectformat"))
		return err_hint(e, "it has SHA-256 object names; only SHA-1 is supported");
	return -1;
}

static bool file_has_bytes(const char *dir, const char *name)
{
	_cleanup_free_ char *path = fs_join(dir, name);
	struct stat st;

	return !stat(path, &st) && st.st_size > 0;
}

/* Wrap an open libgit2 repository; takes it over, also on failure. */
static int wrap(git_repository *git, struct repo **out, struct err *e)
{
	struct repo *r = xcalloc(1, sizeof(*r));
	size_t n;
	int rc;

	r->git = git;
	r->common_dir = xstrdup(git_repository_commondir(git));
	n = strlen(r->common_dir);
	while (n > 1 && r->common_dir[n - 1] == '/')
		r->common_dir[--n] = '\0';
	/* git_repository_is_shallow() looks in the wrong place for a linked worktree */
	r->is_shallow = file_has_bytes(r->common_dir, "shallow");
	rc = git_repository_odb(&r->odb, git);
	if (rc) {
		repo_fail(e, rc, "cannot open the objects of '%s'", r->common_dir);
		repo_close(r);
		return -1;
	}
	*out = r;
	return 0;
}

int repo_open(const char *path, struct repo **out, struct err *e)
{
	git_repository *git = NULL;
	int rc;

	library_init();
	rc = git_repository_open_ext(&git, path, 0, NULL);
	if (rc) {
		open_failed(path, rc, e);
		git_libgit2_shutdown();
		return -1;
	}
	return wrap(git, out, e);
}

void repo_close(struct repo *r)
{
	if (!r)
		return;
	if (r->odb)
		git_odb_free(r->odb);
	git_repository_free(r->git);
	free(r->common_dir);
	free(r);
	git_libgit2_shutdown();
}

const char *repo_common_dir(const struct repo *r)
{
	return r->common_dir;
}

bool repo_is_shallow(struct repo *r)
{
	return r->is_shallow;
}

/* What @rev names instead, in parentheses; "" where it names nothing. */
static const char *kind_of(struct repo *r, const char *rev)
{
	_cleanup_(repo_free_object) git_object *object = NULL;
	_cleanup_(repo_free_object) git_object *target = NULL;
	git_object_t type;

	if (git_revparse_single(&object, r->git, rev))
		return "";
	type = git_object_type(object);
	if (type == GIT_OBJECT_TAG && !git_object_peel(&target, object, GIT_OBJECT_ANY))
		type = git_object_type(target);
	return type == GIT_OBJECT_TREE   ? " (it is a tree)"
	       : type == GIT_OBJECT_BLOB ? " (it is a blob)"
					 : "";
}

static int resolve_failed(struct repo *r, int rc, const char *rev, const char *what, struct err *e)
{
	switch (rc) {
	case GIT_EAMBIGUOUS:
		return err_set(e, ERR_CONFIG,
			       "%s: '%s' is ambiguous (give more digits, or the "
			       "full name of the ref)",
			       what, rev);
	case GIT_ENOTFOUND:
		return err_set(e, ERR_CONFIG, "%s: unknown revision '%s' in '%s' (%s)", what, rev,
			       r->common_dir,
			       r->is_shallow ? "the clone is shallow: git fetch --unshallow --tags"
					     : "is it fetched? git fetch --tags");
	case GIT_EINVALIDSPEC:
	case GIT_EPEEL:
		return err_set(e, ERR_CONFIG, "%s: '%s' does not name a commit%s", what, rev,
			       kind_of(r, rev));
	default:
		return repo_fail(e, rc, "%s: cannot resolve '%s'", what, rev);
	}
}

/* The commit that @rev names. Returns libgit2's codes. */
static int parse_rev(struct repo *r, const char *rev, git_oid *oid)
{
	_cleanup_(repo_free_object) git_object *object = NULL;
	_cleanup_(repo_free_object) git_object *commit = NULL;
	int rc = git_revparse_single(&object, r->git, rev);

	if (!rc)
		rc = git_object_peel(&commit, object, GIT_OBJECT_COMMIT);
	if (!rc)
		git_oid_cpy(oid, git_object_id(commit));
	return rc;
}

/* "rev^{/text}": *@from is rev and *@text the text, both owned; false: no such form. */
static bool split_search(const char *rev, char **from, char **text)
{
	const char *mark = strstr(rev, "^{/");
	size_t n = strlen(rev);

	if (!mark || rev[n - 1] != '}' || !mark[4])
		return false;
	*from = xstrndup(rev, (size_t)(mark - rev));
	*text = xstrndup(mark + 3, n - 1 - (size_t)(mark + 3 - rev));
	return true;
}

int repo_resolve(struct repo *r, const char *rev, const char *what, struct commit_id *id,
		 struct err *e)
{
	_cleanup_free_ char *from = NULL, *text = NULL;
	git_oid oid;
	int rc;

	if (!*rev)
		return err_set(e, ERR_CONFIG, "%s: a revision is wanted, not ''", what);
	if (str_starts(rev, ":/")) {
		rc = repo_search(r, NULL, rev + 2, &oid, e);
	} else if (split_search(rev, &from, &text)) {
		rc = parse_rev(r, from, &oid);
		if (!rc)
			rc = repo_search(r, &oid, text, &oid, e);
	} else if (rev[0] == '@' && (rev[1] == '~' || rev[1] == '^')) {
		/* libgit2 knows @ for HEAD only where it stands alone */
		text = xasprintf("HEAD%s", rev + 1);
		rc = parse_rev(r, text, &oid);
	} else {
		rc = parse_rev(r, rev, &oid);
		if (rc == GIT_EAMBIGUOUS)
			rc = repo_prefix(r, rev, &oid);
	}
	if (rc == GIT_EUSER)
		return sig_check(e), -1;
	if (rc && r->names)
		return repo_resolve(r->names, rev, what, id, e);
	if (rc)
		return resolve_failed(r, rc, rev, what, e);
	*id = repo_id(&oid);
	return 0;
}

static void close_repo(struct repo **r)
{
	repo_close(*r);
}

int repo_head(const char *dir, struct commit_id *id, struct err *e)
{
	_cleanup_(close_repo) struct repo *r = NULL;

	if (repo_open(dir, &r, e))
		return -1;
	if (git_repository_head_unborn(r->git) == 1)
		return err_set(e, ERR_CONFIG, "the repository '%s' has no commit yet", dir);
	return repo_resolve(r, "HEAD", dir, id, e);
}

/* In a shallow clone the commits below its border are not there: the user's to mend, not damage. */
static int walk_failed(const struct repo *r, int rc, struct err *e)
{
	if (r->is_shallow && rc == GIT_ENOTFOUND)
		return err_set(
			e, ERR_CONFIG,
			"the history of '%s' ends before good and bad meet, because the clone is "
			"shallow (git fetch --unshallow)",
			r->common_dir);
	return repo_fail(e, rc, "cannot walk the history of '%s'", r->common_dir);
}

int repo_is_ancestor(struct repo *r, const struct commit_id *ancestor,
		     const struct commit_id *descendant, struct err *e)
{
	int rc;

	if (commit_eq(ancestor, descendant))
		return 1;
	if (r->is_shallow)
		return repo_reaches(r, descendant, ancestor, e);
	rc = git_graph_descendant_of(r->git, repo_oid(descendant), repo_oid(ancestor));
	if (rc < 0)
		return walk_failed(r, rc, e);
	return rc;
}

int repo_merge_bases(struct repo *r, const struct commit_id *a, const struct commit_id *b,
		     size_t n_b, struct commit_id **out, size_t *n, struct err *e)
{
	_cleanup_free_ git_oid *all = xcalloc(n_b + 1, sizeof(*all));
	git_oidarray bases = { 0 };
	int rc;

	git_oid_cpy(&all[0], repo_oid(a));
	for (size_t i = 0; i < n_b; i++)
		git_oid_cpy(&all[i + 1], repo_oid(&b[i]));
	rc = git_merge_bases_many(&bases, r->git, n_b + 1, all);
	if (rc && rc != GIT_ENOTFOUND)
		return walk_failed(r, rc, e);
	*out = xcalloc(bases.count + 1, sizeof(**out));
	*n = bases.count;
	for (size_t i = 0; i < bases.count; i++)
		(*out)[i] = repo_id(&bases.ids[i]);
	git_oidarray_dispose(&bases);
	return 0;
}

char *repo_abbrev(struct repo *r, const struct commit_id *id)
{
	char hex[COMMIT_HEX + 1];
	git_oid found;
	size_t n = 12;

	commit_hex(id, hex);
	while (n < COMMIT_HEX &&
	       git_odb_exists_prefix(&found, r->odb, repo_oid(id), n) == GIT_EAMBIGUOUS)
		n++;
	return xstrndup(hex, n);
}

void repo_commit_release(struct repo_commit *c)
{
	free(c->subject);
	free(c->author);
	free(c->email);
	*c = (struct repo_commit){ 0 };
}

int repo_commit_read(struct repo *r, const struct commit_id *id, struct repo_commit *out,
		     struct err *e)
{
	_cleanup_(repo_free_commit) git_commit *commit = NULL;
	char hex[COMMIT_HEX + 1];
	int rc = git_commit_lookup(&commit, r->git, repo_oid(id));
	const git_signature *author;
	const char *summary;

	if (rc)
		return repo_fail(e, rc, "cannot read commit '%s'", commit_hex(id, hex));
	author = git_commit_author(commit);
	summary = git_commit_summary(commit);
	*out = (struct repo_commit){
		.subject = xstrdup(summary ? summary : ""),
		.author = xstrdup(author->name),
		.email = xstrdup(author->email),
		.author_time = author->when.time,
		.author_offset_min = author->when.offset,
		.tree = repo_id(git_commit_tree_id(commit)),
		.parents = git_commit_parentcount(commit),
	};
	if (out->parents)
		out->parent = repo_id(git_commit_parent_id(commit, 0));
	return 0;
}

/* Borrow the user's objects: the one line in alternates is theirs. */
static int set_alternates(const char *path, struct repo *user, struct err *e)
{
	_cleanup_free_ char *file = fs_join(path, "objects/info/alternates");
	_cleanup_free_ char *line = xasprintf("%s/objects\n", user->common_dir);
	_cleanup_free_ char *info = fs_dirname(file);
	_cleanup_str_ struct str old = STR_INIT;

	if (!fs_read(file, 65536, &old, NULL) && str_eq(str_text(&old), line))
		return 0;
	if (fs_mkdirs(info, e))
		return -1;
	return fs_write(file, line, strlen(line), e);
}

int repo_open_private(const char *path, struct repo *user, struct repo **out, struct err *e)
{
	git_repository_init_options o = {
		.version = GIT_REPOSITORY_INIT_OPTIONS_VERSION,
		.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH |
			 GIT_REPOSITORY_INIT_NO_DOTGIT_DIR,
		.initial_head = "main",
	};
	git_repository *git = NULL;
	int rc;

	/* a line break in the path would end the line in alternates */
	if (strchr(user->common_dir, '\n'))
		return err_set(e, ERR_CONFIG, "the path of the repository holds a line break");
	library_init();
	rc = looks_like_git_dir(path) ? 0 : git_repository_init_ext(&git, path, &o);
	if (!rc && set_alternates(path, user, e)) {
		git_repository_free(git);
		git_libgit2_shutdown();
		return -1;
	}
	/* open it again: a repository reads its alternates when it is opened */
	git_repository_free(git);
	git = NULL;
	if (!rc)
		rc = git_repository_open_bare(&git, path);
	if (rc) {
		repo_fail(e, rc, "cannot make our repository '%s'", path);
		git_libgit2_shutdown();
		return -1;
	}
	if (wrap(git, out, e))
		return -1;
	(*out)->is_shallow = user->is_shallow; /* it ends where the borrowed history ends */
	(*out)->names = user;
	return 0;
}
