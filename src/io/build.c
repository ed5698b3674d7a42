/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a commit to a kernel image: the order of things. */
#include "io/build.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"
#include "io/build_internal.h"

#define CACHE_LIMIT_DEFAULT ((uint64_t)4 << 30)

void build_result_release(struct build_result *r)
{
	free(r->signature);
	free(r->log_path);
	free(r->image);
	free(r->vmlinux);
	free(r->modules);
	free(r->config);
	free(r->release);
	strv_release(&r->dropped);
	strv_release(&r->patches_applied);
	*r = (struct build_result){ .outcome = TRIAL_UNSET };
}

/* ---- open and close ---- */

static unsigned cpu_count(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}

static void extend(struct strv *to, const struct strv *from)
{
	if (from)
		strv_extend(to, from);
}

static void copy_patches(struct builder *b, const struct build_opts *o)
{
	b->n_patch = o->n_patch;
	b->patch = xcalloc(o->n_patch, sizeof(*b->patch));
	for (size_t i = 0; i < o->n_patch; i++)
		b->patch[i] = (struct build_named_patch){ .name = xstrdup(o->patch[i].name),
							  .file = xstrdup(o->patch[i].file),
							  .must = o->patch[i].must };
	b->patch_is_for = o->patch_is_for;
	b->patch_cookie = o->patch_cookie;
}

static struct builder *copy_opts(const struct build_opts *o)
{
	struct builder *b = xcalloc(1, sizeof(*b));

	b->user = o->repo;
	b->lock_fd = -1;
	b->arch_name = xstrdup(o->arch ? o->arch : "");
	b->config = xstrdup(o->config ? o->config : "");
	b->command_dir = xstrdup(o->command_dir ? o->command_dir : ".");
	extend(&b->fragments, o->fragments);
	extend(&b->patches, o->patches);
	copy_patches(b, o);
	extend(&b->make_args, o->make_args);
	extend(&b->command, o->command);
	extend(&b->command_env, o->command_env);
	b->want_modules = o->want_modules && !b->command.n;
	b->layout_mode = o->layout;
	b->jobs = o->jobs ? o->jobs : cpu_count();
	b->timeout_ms = o->timeout_ms;
	b->tick = o->tick;
	b->tick_cookie = o->tick_cookie;
	b->cache.limit = o->cache_limit_bytes ? o->cache_limit_bytes : CACHE_LIMIT_DEFAULT;
	return b;
}

static int prepare(struct builder *b, const struct build_opts *o, struct err *e)
{
	if (!b->command.n) {
		b->arch = build_arch_find(b->arch_name, e);
		if (!b->arch || build_tools_find(b, o->ccache, e) < 0)
			return -1;
	}
	if (build_key_inputs(b, e) < 0 || build_slot_open(b, e) < 0)
		return -1;
	build_make_env(b);
	return build_patch_check(b, e);
}

int builder_open(const struct build_opts *o, struct builder **out, struct err *e)
{
	struct builder *b = copy_opts(o);

	if (prepare(b, o, e) < 0) {
		builder_close(b);
		return -1;
	}
	*out = b;
	return 0;
}

void builder_close(struct builder *b)
{
	if (!b)
		return;
	repo_close(b->priv);
	build_slot_close(b);
	build_cache_close(&b->cache);
	build_tools_release(&b->tools);
	build_symbols_release(&b->ask);
	strv_release(&b->fragments);
	strv_release(&b->patches);
	strv_release(&b->make_args);
	strv_release(&b->command);
	strv_release(&b->command_env);
	strv_release(&b->env);
	strv_release(&b->patched);
	for (size_t i = 0; i < b->n_patch; i++) {
		free(b->patch[i].name);
		free(b->patch[i].file);
	}
	free(b->patch);
	free(b->arch_name);
	free(b->config);
	free(b->config_text);
	free(b->command_dir);
	free(b->slot);
	free(b->src);
	free(b->out);
	free(b->index);
	free(b);
}

const char *builder_src(const struct builder *b)
{
	return b->src;
}

const char *builder_out(const struct builder *b)
{
	return b->out;
}

/* The layout that @layout is: without LAYOUT_RANDOM there is one. */
static uint32_t settle_layout(const struct builder *b, uint32_t layout)
{
	return b->layout_mode == LAYOUT_RANDOM ? layout : 0;
}

static int commit_key(struct builder *b, const struct commit_id *commit, uint32_t layout,
		      char key[HASH_HEX_SIZE], struct err *e)
{
	struct repo_commit c = { .subject = NULL };

	if (repo_commit_read(b->priv, commit, &c, e) < 0)
		return -1;
	build_key(b, commit, &c.tree, settle_layout(b, layout), key);
	repo_commit_release(&c);
	return 0;
}

int builder_has(struct builder *b, const struct commit_id *commit, uint32_t layout, struct err *e)
{
	char key[HASH_HEX_SIZE];

	if (commit_key(b, commit, layout, key, e) < 0)
		return -1;
	return build_cache_has(&b->cache, key);
}

/* ---- one build ---- */

static int start_log(const struct builder *b, const struct build_job *j, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;

	str_addf(&text, "kregress: build of commit %s\nkregress: key %s\n", j->commit, j->r->key);
	if (j->layout)
		str_addf(&text, "kregress: layout %u\n", j->layout);
	if (b->tools.text)
		str_addf(&text, "kregress: compiler %.*s\n", (int)strcspn(b->tools.text, "\n"),
			 b->tools.text);
	return fs_write(j->log_path, str_text(&text), text.len, e);
}

static int cached_log(const struct build_job *j, const char *log, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;

	str_addf(&text,
		 "kregress: commit %s: nothing was compiled, its kernel was in the cache\n"
		 "kregress: key %s\nkregress: log of the build that made it:\n%s",
		 j->commit, j->r->key, log ? log : "");
	return fs_write(j->log_path, str_text(&text), text.len, e);
}

/* 1 when the cache had it. */
static int from_cache(struct builder *b, struct build_job *j, struct err *e)
{
	_cleanup_free_ char *log = NULL;
	int ret = build_cache_get(&b->cache, j->r->key, j->r, &log, e);

	if (ret <= 0)
		return ret;
	j->r->cached = true;
	return cached_log(j, log, e) < 0 ? -1 : 1;
}

/* The release that the tree gave itself; untrusted, NULL when it is none. */
static char *read_release(const struct builder *b)
{
	_cleanup_free_ char *path = fs_join(b->out, "include/config/kernel.release");
	_cleanup_str_ struct str text = STR_INIT;

	if (fs_read(path, 256, &text, NULL) < 0)
		return NULL;
	size_t n = strcspn(str_text(&text), "\n");
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.+-_~";

	if (!n || n > 64 || strspn(text.buf, allowed) < n)
		return NULL;
	return xstrndup(text.buf, n);
}

/* vmlinux without debug sections, owned; the symbols stay. */
static char *strip_vmlinux(const struct builder *b)
{
	char *from = fs_join(b->out, "vmlinux");
	_cleanup_free_ char *to = fs_join(b->slot, "vmlinux");
	_cleanup_strv_ struct strv argv = STRV_INIT;
	struct proc_result res;

	if (!fs_exists(from) || str_split_words(b->tools.strip, &argv, NULL) < 0) {
		free(from);
		return NULL;
	}
	strv_add(&argv, "--strip-debug");
	strv_add(&argv, "-o");
	strv_add(&argv, to);
	strv_add(&argv, from);
	struct proc_opts o = { .argv = argv.v, .env = &b->env, .timeout_ms = 120000 };

	if (proc_run(&o, &res, NULL) < 0 || res.end != PROC_EXITED || res.status != 0)
		return from; /* larger, but as good */
	free(from);
	return xstrdup(to);
}

static void say_modules(struct builder *b, const char *config)
{
	_cleanup_str_ struct str text = STR_INIT;

	if (b->want_modules || b->said_modules ||
	    fs_read(config, BUILD_FILE_MAX, &text, NULL) < 0 ||
	    !strstr(str_text(&text), "\nCONFIG_MODULES=y\n"))
		return;
	b->said_modules = true;
	log_info("this configuration has modules; only what is built into the kernel is built "
		 "and measured");
}

static int store_kernel(struct builder *b, struct build_job *j, struct err *e)
{
	_cleanup_free_ char *image = fs_join(b->out, b->arch->image);
	_cleanup_free_ char *config = fs_join(b->out, ".config");
	bool ok = j->r->outcome == TRIAL_OK;
	_cleanup_free_ char *vmlinux = ok ? strip_vmlinux(b) : NULL, *modules = NULL;
	_cleanup_free_ char *used = NULL;
	struct build_artifacts a = { .log = j->log_path, .vmlinux = vmlinux };

	/* Of a failed build there may be another commit's. */
	if (j->r->outcome != TRIAL_BUILD_FAILED && fs_exists(config))
		a.config = config;
	if (ok) {
		a.image = image;
		a.image_name = strrchr(b->arch->image, '/') + 1;
		j->r->release = read_release(b);
		if (vmlinux)
			build_elf_id(vmlinux, j->r->build_id);
		say_modules(b, config);
		if (b->has_modules && build_modules_store(b, j->r->release, &modules, e) < 0)
			return -1;
		if (build_used_write(b, &used, e) < 0)
			return -1;
		a.modules = modules;
		a.used = used;
	}
	return build_cache_put(&b->cache, j->r->key, &a, j->r, e);
}

/*
 * What a user's command fails of may lie outside all that the key knows; and a patch that does not
 * apply takes no time to find.
 */
static bool is_kept(const struct builder *b, const struct build_job *j)
{
	return j->r->outcome == TRIAL_OK || (!b->command.n && !j->misfit);
}

static int store_command(struct builder *b, struct build_job *j, const char *image, struct err *e)
{
	struct build_artifacts a = { .log = j->log_path, .image = image, .image_name = "image" };

	if (!is_kept(b, j))
		return 0;
	build_elf_id(image, j->r->build_id);
	return build_cache_put(&b->cache, j->r->key, &a, j->r, e);
}

/* Sources are there, patched: make it and put it into the cache. */
static int make_and_store(struct builder *b, struct build_job *j, struct err *e)
{
	_cleanup_free_ char *image = fs_join(b->slot, "image");

	if (b->command.n)
		return build_command(b, j, image, e) < 0 ? -1 : store_command(b, j, image, e);
	return build_kernel(b, j, e) < 0 ? -1 : store_kernel(b, j, e);
}

static int build_here(struct builder *b, const struct commit_id *commit, struct build_job *j,
		      struct err *e)
{
	size_t changed = 0;
	int ret = repo_checkout(b->priv, commit, b->src, b->index, &changed, e);

	if (ret == 0)
		ret = build_log_line(j->log_path, e, "%zu files differ from the last build",
				     changed);
	if (ret == 0)
		ret = build_patch_apply(b, j, e);
	if (ret == 0 && !j->misfit)
		ret = make_and_store(b, j, e);
	build_patch_revert(b);
	return ret;
}

/* From the cache's entry, so that a fresh kernel and a cached one are told alike. */
static int read_back(struct builder *b, struct build_job *j, struct err *e)
{
	struct build_result kept = *j->r;
	_cleanup_free_ char *log = NULL;
	struct build_result r = { .log_path = NULL };

	memcpy(r.key, kept.key, sizeof(r.key));
	int ret = build_cache_get(&b->cache, kept.key, &r, &log, e);

	if (ret == 0)
		ret = err_set(e, ERR_SYS, "the kernel just put into '%s' is not there",
			      b->cache.dir);
	if (ret < 0) {
		build_result_release(&r);
		return -1;
	}
	r.log_path = xstrdup(kept.log_path);
	r.seconds_make = kept.seconds_make;
	build_result_release(j->r);
	*j->r = r;
	return 0;
}

static int build_job(struct builder *b, const struct commit_id *commit, struct build_job *j,
		     struct err *e)
{
	int ret = from_cache(b, j, e);

	if (ret != 0)
		return ret < 0 ? -1 : 0;
	if (start_log(b, j, e) < 0 || build_slot_begin(b, e) < 0)
		return -1;
	b->layout = j->layout;
	ret = build_here(b, commit, j, e);
	build_slot_end(b);
	if (ret == 0 && is_kept(b, j))
		ret = read_back(b, j, e);
	return ret < 0 ? -1 : 0;
}

int builder_build(struct builder *b, const struct commit_id *commit, uint32_t layout,
		  const char *log_path, struct build_result *out, struct err *e)
{
	struct build_result r = { .log_path = xstrdup(log_path) };
	struct build_job j = { .r = &r, .id = commit, .log_path = log_path };
	double start = clock_mono_s();

	commit_hex(commit, j.commit);
	j.layout = settle_layout(b, layout);
	if (commit_key(b, commit, layout, r.key, e) < 0 || build_job(b, commit, &j, e) < 0) {
		build_result_release(&r);
		return -1;
	}
	r.seconds = clock_mono_s() - start;
	*out = r;
	return 0;
}
