/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The boot part of a trial: target, initramfs, job, outcome. */
#include "campaign/trial_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "campaign/guest_image.h"
#include "campaign/layout.h"
#include "campaign/patches.h"
#include "campaign/progress.h"
#include "campaign/series.h"
#include "campaign/target_open.h"
#include "target/guest.h"

static void make_env(const struct attempt *a, long trial, struct strv *env)
{
	struct session *s = a->s;

	strv_addf(env, "KREGRESS_COMMIT=%s", a->hex);
	strv_addf(env, "KREGRESS_TRIAL=%ld", trial);
	strv_addf(env, "KREGRESS_STATE=%s", s->cfg->campaign.state);
	series_env(s, env);
	for (size_t i = 0; i < s->labels.n; i++)
		strv_addf(env, "KREGRESS_%s", s->labels.v[i]);
	/* "where they exist": a name alone takes away what our own caller had set. */
	if (s->builder) {
		strv_addf(env, "KREGRESS_SRC=%s", builder_src(s->builder));
		strv_addf(env, "KREGRESS_OUT=%s", builder_out(s->builder));
	} else {
		strv_add(env, "KREGRESS_SRC");
		strv_add(env, "KREGRESS_OUT");
	}
	if (a->build.image)
		strv_addf(env, "KREGRESS_IMAGE=%s", a->build.image);
	else
		strv_add(env, "KREGRESS_IMAGE");
}

/* Campaign's and workload's boot parameters; the workload's come first, so that a user can override. */
static char *boot_parameters(const struct session *s)
{
	_cleanup_free_ char *w = layout_append(s, s->workload.append);
	const char *l = layout_parameters(s);

	return xasprintf("%s%s%s%s", l, *l ? " " : "", w, *w ? " " : "");
}

static void fill_trial(struct attempt *a, const struct target_result *r, struct store_trial *t)
{
	_cleanup_str_ struct str facts = STR_INIT;

	for (size_t i = 0; i < r->facts.n; i++)
		str_addf(&facts, "%s\n", r->facts.v[i]);
	trial_add_facts(a, &facts);
	for (size_t i = 0; i < a->s->labels.n; i++)
		str_addf(&facts, "%s\n", a->s->labels.v[i]);
	t->commit = *a->id;
	t->build_id = a->build_row;
	t->setup = xstrdup(session_setup_of(a->s, a->id));
	t->purpose = xstrdup(a->purpose);
	t->outcome = r->outcome;
	t->detail = xstrdup(r->detail);
	t->dir = xasprintf("trials/%06lld", (long long)t->id);
	t->boot_id = xstrdup(r->boot_id);
	t->facts = str_detach(&facts);
	/* A guest that never came up was booting all the time. */
	t->boot_seconds = r->outcome == TRIAL_BOOT_FAILED ? r->total_seconds : r->boot_seconds;
	t->run_seconds = r->run_seconds;
	t->total_seconds = r->total_seconds;
	t->layout = a->layout;
	t->time = clock_real_s();
}

static int run_target(struct attempt *a, unsigned runs, const char *dir, int64_t id,
		      struct target_result *r, struct err *e)
{
	struct session *s = a->s;
	_cleanup_free_ char *initrd = fs_join(dir, "initrd");
	_cleanup_free_ char *append = boot_parameters(s);
	_cleanup_strv_ struct strv env = STRV_INIT;
	char nonce[HEX_TOKEN_SIZE];
	struct target_job job = {
		.commit = a->hex,
		.trial = (long)id,
		.dir = dir,
		.image = a->build.image,
		.vmlinux = a->build.vmlinux,
		.modules = a->build.modules,
		.build_id = a->build.build_id,
		.release = a->build.release,
		.append = append,
		.layout = a->layout,
		.nonce = nonce,
		.runs = runs,
		.run_timeout_ms = s->cfg->workload.timeout_ms,
		.observe = observe_wanted(s, a->purpose),
		.env = &env,
		.tick = progress_target_tick,
		.tick_cookie = s,
	};
	int ret;

	make_env(a, (long)id, &env);
	/* What a workload prints can not imitate the frames of its own trial. */
	if (hex_token(nonce, e) < 0)
		return -1;
	if (s->cfg->target.type == TARGET_QEMU) {
		if (guest_image_write(s, nonce, runs, &job.observe, initrd, &job.initrd_bytes, e) <
		    0)
			return -1;
		job.initrd = initrd;
		if (!layout_moves_kernel(s, a->build.config))
			job.image = guest_pick_image(a->build.image, a->build.vmlinux);
	}
	ret = s->target.ops->trial(s->target.priv, &job, r, e);
	/* It can be made again at any time, and is most of the folder. */
	if (job.initrd)
		unlink(initrd);
	return ret;
}

int trial_boot(struct attempt *a, unsigned runs, struct store_trial *t, bool *boot_timed_out,
	       struct err *e)
{
	struct session *s = a->s;
	_cleanup_(target_result_release) struct target_result r = { .outcome = TRIAL_UNSET };
	_cleanup_free_ char *dir = NULL;

	progress_stage(s, "boot %.12s", a->hex);
	if (target_open(s, e) < 0 || store_trial_begin(s->store, a->id, &t->id, e) < 0)
		return -1;
	dir = xasprintf("%s/trials/%06lld", s->cfg->campaign.state, (long long)t->id);
	if (fs_mkdirs(dir, e) < 0)
		return -1;
	if (run_target(a, runs, dir, t->id, &r, e) < 0)
		return e->code == ERR_INTERRUPTED ? -1 : err_hint(e, "logs in '%s'", dir);
	if (observe_keep(&r, a->build.vmlinux, dir, &a->observed, e) < 0)
		return -1;
	fill_trial(a, &r, t);
	trial_parse(s, &r, runs, t);
	*boot_timed_out = r.boot_timed_out;
	s->boot_seconds += r.boot_seconds;
	s->run_seconds += r.run_seconds;
	return 0;
}

/* The newest stored trial that booted: its commit. */
struct canary_search {
	struct session *s;
	struct commit_id commit;
	uint32_t layout;
};

static int see_booted(const struct store_trial *t, void *cookie)
{
	struct canary_search *q = cookie;

	if (str_eq(t->setup, session_setup_of(q->s, &t->commit)) && !t->twin &&
	    t->outcome == TRIAL_OK) {
		q->commit = t->commit;
		q->layout = t->layout;
	}
	return 0;
}

static int boot_canary(struct session *s, const struct commit_id *id, uint32_t layout,
		       struct err *e)
{
	_cleanup_(store_trial_release) struct store_trial t = { .id = 0 };
	struct attempt a = { .s = s, .id = id, .layout = layout, .purpose = "canary" };
	bool timed_out = false;
	int ret;

	commit_hex(id, a.hex);
	ret = trial_build(&a, e);
	if (ret == 0)
		ret = trial_boot(&a, 1, &t, &timed_out, e);
	if (ret == 0)
		ret = store_trial_add(s->store, &t, e);
	build_result_release(&a.build);
	if (ret < 0)
		return -1;
	if (t.outcome != TRIAL_BOOT_FAILED)
		return 1;
	err_set(e, ERR_LAB,
		"the kernel of %.12s, which booted before, does not boot now either: the machine "
		"is "
		"at fault, not the commit (logs in '%s/%s')",
		a.hex, s->cfg->campaign.state, t.dir);
	return 0;
}

int trial_canary(struct session *s, struct err *e)
{
	struct canary_search q = { .s = s };
	struct store_visitor v = { .trial = see_booted, .cookie = &q };

	if (store_visit(s->store, &v, e) < 0)
		return -1;
	if (commit_is_null(&q.commit)) {
		err_set(e, ERR_LAB,
			"no kernel has booted here yet, so that a boot time-out cannot be blamed "
			"on this "
			"one (see the console, raise boot_timeout = in [target], or try kregress "
			"doctor)");
		return 0;
	}
	log_info("boot time-out: booting the last kernel that worked, to know whose fault it is");
	return boot_canary(s, &q.commit, q.layout, e);
}
