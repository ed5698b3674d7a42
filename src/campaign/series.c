/* SPDX-License-Identifier: GPL-2.0-or-later */
/* series = FILE.mbox on base = COMMIT, as commits in our own repository. */
#include "campaign/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "io/mbox.h"

struct series {
	char *objects; /* of our repository */
};

void series_free(struct series *x)
{
	if (x)
		free(x->objects);
	free(x);
}

/* The separator and what quotes it (git's environment, "Quoting" of alternates). */
static void add_quoted(struct str *out, const char *path)
{
	if (!strpbrk(path, ":\"\\\n")) {
		str_add(out, path);
		return;
	}
	str_add(out, "\"");
	for (; *path; path++) {
		if (*path == '"' || *path == '\\')
			str_add(out, "\\");
		if (*path == '\n')
			str_add(out, "\\n");
		else
			str_addmem(out, path, 1);
	}
	str_add(out, "\"");
}

void series_env(const struct session *s, struct strv *env)
{
	static const char name[] = "GIT_ALTERNATE_OBJECT_DIRECTORIES";
	const char *there = getenv(name);
	const char *objects = s->series ? s->series->objects : s->objects;
	_cleanup_str_ struct str value = STR_INIT;

	if (!objects)
		return;
	if (there && *there)
		str_addf(&value, "%s:", there);
	add_quoted(&value, objects);
	strv_addf(env, "%s=%s", name, str_text(&value));
}

/* What is wrong with the file is said with the line that names it. */
static int wrong_file(const struct session *s, struct err *e)
{
	if (e->code == ERR_CONFIG)
		err_wrap(e, "%s", config_where(s->cfg, "campaign.series"));
	return -1;
}

static void release_mbox(struct mbox *m)
{
	mbox_release(m);
}

static int apply(struct session *s, const struct repo_series *o, struct commit_id *tip,
		 struct err *e)
{
	_cleanup_(release_mbox) struct mbox m = { .n = 0 };

	if (mbox_read(o->name, &m, e) < 0 || repo_series_apply(s->repo, o, &m, tip, e) < 0)
		return wrong_file(s, e);
	log_info("series: %zu patches applied on %s", m.n, o->base_name);
	return 0;
}

static void set_ends(struct session *s, const struct commit_id *base, const struct commit_id *tip)
{
	s->old = *base;
	s->new = *tip;
	s->good = s->fix ? *tip : *base;
	s->bad = s->fix ? *base : *tip;
}

static int open_repos(struct session *s, struct err *e)
{
	if (repo_open(s->cfg->campaign.repo, &s->user_repo, e) < 0)
		return err_wrap(e, "%s", config_where(s->cfg, "campaign.repo"));
	if (repo_open_ours(s->user_repo, &s->repo, e) < 0)
		return -1;
	s->series = xcalloc(1, sizeof(*s->series));
	s->series->objects = fs_join(repo_common_dir(s->repo), "objects");
	return 0;
}

int series_open(struct session *s, struct err *e)
{
	const struct config *c = s->cfg;
	_cleanup_free_ char *reject = fs_join(c->campaign.state, "series.rej");
	char content[HASH_HEX_SIZE];
	struct repo_series o = {
		.name = c->campaign.series,
		.content = content,
		.base_name = c->campaign.base,
		/* who only looks leaves no files behind */
		.reject_path = s->mode == SESSION_RUN ? reject : NULL,
	};
	struct commit_id tip;
	int ret;

	if (open_repos(s, e) < 0)
		return -1;
	if (hash_file(c->campaign.series, content, e) < 0) {
		/* what cannot be read was named wrongly; all else is the machine's trouble */
		if (e->sys == EACCES || e->sys == ENOENT)
			e->code = ERR_CONFIG;
		return wrong_file(s, e);
	}
	if (repo_resolve(s->user_repo, c->campaign.base, "base in [campaign]", &o.base, e) < 0)
		return err_wrap(e, "%s", config_where(c, "campaign.base"));
	ret = repo_series_find(s->repo, &o, &tip, e);
	if (ret < 0 || (ret == 0 && apply(s, &o, &tip, e) < 0))
		return -1;
	set_ends(s, &o.base, &tip);
	return 0;
}
