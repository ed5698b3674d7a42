/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commits of the confirmation that nobody has: the culprit reverted, and applied. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "campaign/confirm.h"
#include "campaign/confirm_internal.h"
#include "campaign/patches.h"
#include "campaign/trial_internal.h"

#define PATCH_MAX (16u << 20) /* bytes of a revert made by hand */

char *confirm_conflict_dir(const struct session *s, const struct commit_id *culprit)
{
	char hex[COMMIT_HEX + 1];

	return xasprintf("%s/revert-conflict-%.12s", s->cfg->campaign.state,
			 commit_hex(culprit, hex));
}

static int note_arm(const struct confirm *c, const char *kind, const char *what, struct err *e)
{
	char culprit[COMMIT_HEX + 1];
	_cleanup_free_ char *note = xasprintf("%s %s", commit_hex(&c->arm[ARM_CULPRIT].id, culprit),
					      what);

	return store_note_add(c->s->store, kind, note, 0, e);
}

/* The arm is the commit @id of ours on top of @onto from now on. */
static int made(struct confirm *c, enum arm_index i, const struct commit_id *id,
		const struct commit_id *onto, struct err *e)
{
	char hex[COMMIT_HEX + 1];

	c->arm[i].id = *id;
	patches_take_after(c->s, id, onto);
	return note_arm(c, confirm_note_made[i], commit_hex(id, hex), e);
}

/* ---- by git ---- */

static int give_up(struct confirm *c, enum arm_index i, const struct strv *conflicts,
		   const char *dir, struct err *e)
{
	_cleanup_str_ struct str files = STR_INIT;

	str_join_words(&files, conflicts->v);
	c->arm[i].conflicts = xstrdup(str_text(&files));
	if (dir)
		log_info("confirm: the culprit cannot be reverted on the newer end: conflicts in "
			 "%s (left in '%s')",
			 c->arm[i].conflicts, dir);
	else
		log_info("confirm: the culprit cannot be applied on the older end: conflicts in %s",
			 c->arm[i].conflicts);
	return note_arm(c, confirm_note_conflict[i], c->arm[i].conflicts, e);
}

/* The kernels still to boot have their commit, if ever there was one? The cache may be gone. */
static bool is_there(const struct confirm *c, enum arm_index i)
{
	const struct arm *a = &c->arm[i];

	return a->conflicts || (!commit_is_null(&a->id) &&
				(!confirm_wants(c, i) || builder_knows(c->s->builder, &a->id)));
}

/* Make the culprit's change or its reversal; where it conflicts, say so and go on without. */
static int by_git(struct confirm *c, enum arm_index i, struct err *e)
{
	struct session *s = c->s;
	const struct commit_id *culprit = &c->arm[ARM_CULPRIT].id;
	const struct commit_id *onto = i == ARM_REVERT ? &s->new : &s->old;
	_cleanup_free_ char *dir = i == ARM_REVERT ? confirm_conflict_dir(s, culprit) : NULL;
	_cleanup_strv_ struct strv conflicts = STRV_INIT;
	struct commit_id id;
	int ret;

	ret = builder_rework(s->builder, i == ARM_REVERT ? REPO_REVERT : REPO_APPLY, culprit, onto,
			     &id, &conflicts, e);
	if (ret == 0 && dir) {
		strv_clear(&conflicts);
		ret = builder_revert_tree(s->builder, culprit, onto, dir, &id, &conflicts, e);
	}
	if (ret < 0)
		return -1;
	if (ret == 0)
		return give_up(c, i, &conflicts, dir, e);
	return commit_eq(&id, &c->arm[i].id) ? 0 : made(c, i, &id, onto, e);
}

/* ---- by hand ---- */

int confirm_take_hand_made(struct session *s, const char *what, struct err *e)
{
	bool is_file = fs_exists(what);
	struct commit_id id;

	if (!s->cfg->confirm.boots || !s->cfg->confirm.revert)
		return err_set(e, ERR_CONFIG,
			       "--revert: nothing is reverted here (set revert = yes and boots = 3 "
			       "in [confirm])");
	if (is_file && s->cfg->build.type == BUILD_NONE)
		return err_set(
			e, ERR_CONFIG,
			"--revert: '%s' is a file, but nothing is built here (name a commit)",
			what);
	if (!is_file && repo_resolve(s->repo, what, "--revert", &id, e) < 0)
		return err_wrap(e, "--revert: '%s' is no file, and no commit", what);
	free(s->hand);
	s->hand = xstrdup(what);
	return 0;
}

/* A copy of the patch is kept: the commit made of it is only in the cache. */
static char *patch_path(const struct session *s, const struct commit_id *id)
{
	char hex[COMMIT_HEX + 1];

	return xasprintf("%s/revert-%.12s.patch", s->cfg->campaign.state, commit_hex(id, hex));
}

static int patch_new_end(struct session *s, const char *name, const char *path,
			 struct commit_id *id, struct err *e)
{
	_cleanup_str_ struct str patch = STR_INIT;
	_cleanup_free_ char *copy = NULL;

	if (fs_read(path, PATCH_MAX, &patch, e) < 0 ||
	    builder_patch(s->builder, name, &patch, &s->new, id, e) < 0)
		return err_wrap(e, "--revert");
	copy = patch_path(s, id);
	return fs_exists(copy) ? 0 : fs_write(copy, str_text(&patch), patch.len, e);
}

/* 1: it is another one than the last time; 0; -1. */
static int take_hand_made(struct confirm *c, struct err *e)
{
	struct session *s = c->s;
	struct arm *a = &c->arm[ARM_REVERT];
	struct commit_id id;

	if ((fs_exists(s->hand) ? patch_new_end(s, s->hand, s->hand, &id, e)
				: repo_resolve(s->repo, s->hand, "--revert", &id, e)) < 0)
		return -1;
	if (commit_eq(&id, &s->new))
		return err_set(e, ERR_CONFIG, "--revert: '%s' is the %s end itself", s->hand,
			       s->fix ? "good" : "bad");
	if (commit_eq(&id, &a->id) && a->by_hand)
		return 0;
	if (made(c, ARM_REVERT, &id, &s->new, e) < 0)
		return -1;
	return note_arm(c, "revert-hand", s->hand, e) < 0 ? -1 : 1;
}

/* The cache with the commit was removed. */
static int make_again(struct confirm *c, struct err *e)
{
	const struct arm *a = &c->arm[ARM_REVERT];
	_cleanup_free_ char *path = patch_path(c->s, &a->id);
	struct commit_id id;

	if (fs_exists(path) && patch_new_end(c->s, path, path, &id, e) < 0)
		return -1;
	if (builder_knows(c->s->builder, &a->id))
		return 0;
	return err_set(e, ERR_GIT,
		       "the revert made by hand, '%s', is in no repository any more (give it again "
		       "with --revert)",
		       a->by_hand);
}

static int prepare_revert(struct confirm *c, struct err *e)
{
	const struct arm *a = &c->arm[ARM_REVERT];

	if (a->by_hand)
		return c->s->builder && !is_there(c, ARM_REVERT) ? make_again(c, e) : 0;
	if (!c->s->builder || is_there(c, ARM_REVERT) || confirm_is_new(c))
		return 0;
	return by_git(c, ARM_REVERT, e);
}

int confirm_prepare(struct confirm *c, struct err *e)
{
	struct session *s = c->s;
	int ret = 0;

	if (!s->cfg->confirm.revert || commit_is_null(&c->arm[ARM_PARENT].id))
		return 0;
	/* Without a build of ours there is no kernel to make. */
	if (s->cfg->build.type == BUILD_KERNEL && trial_open_builder(s, e) < 0)
		return -1;
	if (s->hand)
		ret = take_hand_made(c, e);
	if (ret != 0)
		return ret;
	if (prepare_revert(c, e) < 0)
		return -1;
	if (!s->builder || confirm_is_next(c) || is_there(c, ARM_APPLY))
		return 0;
	return by_git(c, ARM_APPLY, e);
}
