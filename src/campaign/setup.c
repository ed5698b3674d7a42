/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hash of everything that must be equal for two values to be comparable. */
#include "campaign/session.h"

#include "base/fs.h"

static void add_words(struct hash *h, const struct strv *words)
{
	hash_add(h, &words->n, sizeof(words->n));
	for (size_t i = 0; i < words->n; i++)
		hash_add_text(h, words->v[i]);
}

static int add_files(struct hash *h, const struct strv *paths, struct err *e)
{
	char hex[HASH_HEX_SIZE];

	for (size_t i = 0; i < paths->n; i++) {
		if (hash_file(paths->v[i], hex, e) < 0)
			return -1;
		hash_add_text(h, hex);
	}
	return 0;
}

/* Those without a range; the others are for some commits only: see session_setup_of(). */
static int add_patches(const struct config_patches *patches, struct hash *h, struct err *e)
{
	char hex[HASH_HEX_SIZE];

	for (size_t i = 0; i < patches->n; i++) {
		if (patches->v[i].from)
			continue;
		if (hash_file(patches->v[i].file, hex, e) < 0)
			return -1;
		hash_add_text(h, hex);
	}
	return 0;
}

static int add_build(const struct session *s, struct hash *h, struct err *e)
{
	const struct config *c = s->cfg;
	char hex[HASH_HEX_SIZE];

	hash_add(h, &c->build.type, sizeof(c->build.type));
	if (c->build.type == BUILD_NONE)
		return 0;
	add_words(h, &c->build.command);
	hash_add_text(h, c->build.arch);
	hash_add_text(h, c->build.config);
	add_words(h, &c->build.make_args);
	if (c->build.layout != LAYOUT_TREE)
		hash_add(h, &c->build.layout, sizeof(c->build.layout));
	if (str_starts(c->build.config, "file:")) {
		if (hash_file(c->build.config + 5, hex, e) < 0)
			return -1;
		hash_add_text(h, hex);
	}
	if (add_files(h, &s->fragments, e) < 0 || add_files(h, &c->build.patches, e) < 0)
		return -1;
	return add_patches(&c->build.patch, h, e);
}

/* How it is watched and got back makes no difference. */
static int add_machine(const struct config *c, struct hash *h, struct err *e)
{
	char hex[HASH_HEX_SIZE];

	hash_add_text(h, c->target.host);
	hash_add(h, &c->target.port, sizeof(c->target.port));
	hash_add_text(h, c->target.user ? c->target.user : "");
	add_words(h, &c->target.install);
	hash_add_text(h, c->target.append);
	hash_add_text(h, c->target.initramfs);
	if (c->target.initramfs[0] == '/') {
		if (hash_file(c->target.initramfs, hex, e) < 0)
			return -1;
		hash_add_text(h, hex);
	}
	add_words(h, &c->target.setup);
	return 0;
}

static int add_target(const struct session *s, struct hash *h, struct err *e)
{
	const struct config *c = s->cfg;

	hash_add(h, &c->target.type, sizeof(c->target.type));
	if (c->target.type == TARGET_COMMAND) {
		add_words(h, &c->target.command);
		return 0;
	}
	if (c->target.type == TARGET_SSH)
		return add_machine(c, h, e);
	/* accel = auto is resolved on the machine: a store that moves is told by its facts. */
	hash_add(h, &c->target.accel, sizeof(c->target.accel));
	hash_add(h, &c->target.deterministic, sizeof(c->target.deterministic));
	hash_add(h, &c->target.cpus, sizeof(c->target.cpus));
	hash_add(h, &c->target.memory_bytes, sizeof(c->target.memory_bytes));
	hash_add_text(h, c->target.append);
	add_words(h, &c->target.extra_args);
	add_words(h, &s->machine.args);
	hash_add_text(h, s->machine.append);
	return 0;
}

static int add_workload(const struct session *s, struct hash *h, struct err *e)
{
	const struct workload *w = &s->workload;
	_cleanup_strv_ struct strv argv = STRV_INIT;
	char hex[HASH_HEX_SIZE];

	if (!w->name)
		return 0;
	if (workload_argv(w, s->cfg->workload.args, &argv, e) < 0)
		return -1;
	add_words(h, &argv);
	hash_add_text(h, w->append);
	for (size_t i = 0; i < w->n_setup; i++) {
		hash_add_text(h, w->setup[i].path);
		hash_add_text(h, w->setup[i].value);
	}
	if (w->program) {
		if (hash_file(w->program, hex, e) < 0)
			return -1;
		hash_add_text(h, hex);
	}
	return add_files(h, &w->files, e);
}

int session_setup_hash(struct session *s, struct err *e)
{
	struct hash *h = hash_new();
	int ret = add_build(s, h, e);

	if (ret == 0)
		ret = add_target(s, h, e);
	if (ret == 0)
		ret = add_workload(s, h, e);
	hash_add(h, &s->cfg->measure.runs_per_boot, sizeof(unsigned));
	hash_add(h, &s->cfg->measure.warmup_runs, sizeof(unsigned));
	hash_hex(h, s->setup);
	return ret;
}
