/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running make: environment, log, and whether a failure is the commit's. */
#include "io/build_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"

#define OUTPUT_MAX ((size_t)512 << 20)

/*
 * Nothing of our environment may leak into a kernel: kregress itself may run below make,
 * in a git hook, or in the shell of somebody who builds kernels all day.
 * What a campaign wants goes into make_args, which are part of the key.
 */
static const char *const make_names[] = { "MAKEFLAGS",     "MFLAGS",       "MAKELEVEL",
					  "MAKEOVERRIDES", "GNUMAKEFLAGS", "MAKEFILES",
					  "MAKE_TERMOUT",  "MAKE_TERMERR" };
static const char *const unset_names[] = {
	"ARCH",
	"SUBARCH",
	"SRCARCH",
	"CROSS_COMPILE",
	"CROSS_COMPILE_COMPAT",
	"CROSS_COMPILE_COMPAT32",
	"LOCALVERSION",
	"LLVM",
	"LLVM_IAS",
	"KCFLAGS",
	"KAFLAGS",
	"KCPPFLAGS",
	"KRUSTFLAGS",
	"KERNELVERSION",
	"KERNELRELEASE",
	"HOSTCFLAGS",
	"HOSTCXXFLAGS",
	"HOSTLDFLAGS",
	"HOSTLDLIBS",
	"HOSTRUSTFLAGS",
	"USERCFLAGS",
	"USERLDFLAGS",
	"CFLAGS",
	"CPPFLAGS",
	"LDFLAGS",
	"EXTRA_CFLAGS",
	"CFLAGS_KERNEL",
	"AFLAGS_KERNEL",
	"LDFLAGS_vmlinux",
	"CONFIG_",
	"INSTALL_PATH",
	"INSTALL_MOD_PATH",
	"INSTALL_MOD_DIR",
	"INSTALL_MOD_STRIP",
	"DEPMOD",
	"SOURCE_DATE_EPOCH",
	"O",
	"V",
	"C",
	"M",
	"W",
	"srctree",
	"objtree",
	"VPATH",
	"DEPENDENCIES_OUTPUT",
	"SUNPRO_DEPENDENCIES",
	"GCC_COLORS",
	"GREP_OPTIONS",
	"GREP_COLORS",
	"CDPATH",
	"BASH_ENV",
	"ENV",
};
static const char *const unset_prefixes[] = { "KBUILD_", "KCONFIG_", "GIT_", "LC_" };

static bool is_unset(const char *setting)
{
	for (size_t i = 0; i < ARRAY_SIZE(unset_prefixes); i++)
		if (str_starts(setting, unset_prefixes[i]))
			return true;
	return false;
}

void build_make_env(struct builder *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(make_names); i++)
		strv_add(&b->env, make_names[i]);
	for (size_t i = 0; i < ARRAY_SIZE(unset_names); i++)
		strv_add(&b->env, unset_names[i]);
	for (char **p = environ; *p; p++)
		if (is_unset(*p))
			strv_addf(&b->env, "%.*s", (int)strcspn(*p, "="), *p);
	strv_add(&b->env, "LC_ALL=C");
	/* Same inputs, same bytes (the kernel's Documentation/kbuild/reproducible-builds.rst). */
	strv_add(&b->env, "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970");
	strv_add(&b->env, "KBUILD_BUILD_USER=kregress");
	strv_add(&b->env, "KBUILD_BUILD_HOST=kregress");
	strv_add(&b->env, "KBUILD_BUILD_VERSION=1");
	/* The sources are no repository, but a home directory around them may be one. */
	strv_addf(&b->env, "GIT_CEILING_DIRECTORIES=%s", b->slot);
	strv_add(&b->env, "GIT_CONFIG_GLOBAL=/dev/null");
	strv_add(&b->env, "GIT_CONFIG_NOSYSTEM=1");
}

void build_make_argv(const struct builder *b, unsigned jobs, struct strv *argv)
{
	strv_add(argv, "make");
	strv_add(argv, "-C");
	strv_add(argv, b->src);
	strv_addf(argv, "O=%s", b->out);
	strv_addf(argv, "ARCH=%s", b->arch_name);
	strv_addf(argv, "-j%u", jobs);
	strv_extend(argv, &b->make_args);
	build_layout_args(b, argv);
	strv_add(argv, "LOCALVERSION=" BUILD_LOCALVERSION);
	if (b->tools.ccache) {
		strv_addf(argv, "CC=ccache %s", b->tools.cc);
		strv_addf(argv, "HOSTCC=ccache %s", b->tools.hostcc);
	}
}

int build_log_line(const char *log_path, struct err *e, const char *fmt, ...)
{
	FILE *f = fopen(log_path, "ae");
	va_list ap;

	if (!f)
		return err_sys(e, errno, "cannot write '%s'", log_path);
	fputs("kregress: ", f);
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fputc('\n', f);
	bool bad = ferror(f);

	if (fclose(f) == EOF || bad)
		return err_sys(e, errno, "cannot write '%s'", log_path);
	return 0;
}

static int log_command(const struct build_job *j, const struct strv *argv, struct err *e)
{
	_cleanup_str_ struct str line = STR_INIT;

	str_join_words(&line, argv->v);
	return build_log_line(j->log_path, e, "+ %s", str_text(&line));
}

static uint64_t file_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* What the log has gained since @before. */
static int read_new(const char *path, uint64_t before, struct str *out, struct err *e)
{
	uint64_t n = file_bytes(path) - before;

	return fs_read_tail(path, n < BUILD_LOG_TAIL ? (size_t)n : BUILD_LOG_TAIL, out, e);
}

static void tick(void *cookie)
{
	struct builder *b = cookie;

	b->last_tick_ms = clock_mono_ms();
	if (b->tick)
		b->tick(b->tick_cookie);
}

/* Did a child that we told to end obey before it was killed? @since_ms: when we told it. */
static bool obeyed(int64_t since_ms)
{
	return clock_mono_ms() - since_ms < BUILD_GRACE_MS - 1000;
}

/* One child with the log; the job's times and the builder's orderly are kept up. */
static int run(struct builder *b, struct build_job *j, const struct strv *argv, const char *cwd,
	       const struct strv *env, struct proc_result *res, struct err *e)
{
	struct proc_opts o = { .argv = argv->v,
			       .env = env,
			       .cwd = cwd,
			       .timeout_ms = b->timeout_ms,
			       .max_output = OUTPUT_MAX,
			       .log_path = j->log_path,
			       .merge_stderr = true,
			       .grace_ms = BUILD_GRACE_MS,
			       .tick = tick,
			       .tick_cookie = b };

	if (log_command(j, argv, e) < 0)
		return -1;
	b->last_tick_ms = clock_mono_ms();
	int64_t start = b->last_tick_ms;

	if (proc_run(&o, res, e) < 0) {
		b->orderly = b->orderly && obeyed(b->last_tick_ms);
		return -1;
	}
	j->r->seconds_make += res->seconds;
	if (res->end == PROC_TIMED_OUT)
		b->orderly = b->orderly && obeyed(start + b->timeout_ms);
	else if (res->end != PROC_EXITED && res->end != PROC_NO_START)
		b->orderly = false;
	return 0;
}

/* Ends that are ours and not the commit's. */
static int check_end(const struct builder *b, const struct build_job *j, const char *program,
		     const struct proc_result *res, struct err *e)
{
	char text[64], time[32];

	if (res->end == PROC_EXITED)
		return 0;
	if (res->end == PROC_TIMED_OUT)
		return err_set(e, ERR_LAB,
			       "the build of %.12s did not end within %s (timeout in [build]; "
			       "log: '%s')",
			       j->commit,
			       str_duration((double)b->timeout_ms / 1000, time, sizeof(time)),
			       j->log_path);
	if (res->end == PROC_NO_START)
		return err_set(e, ERR_LAB, "cannot run '%s': %s", program, strerror(res->status));
	return err_set(e, ERR_LAB, "the build of %.12s: '%s' was %s (log: '%s')", j->commit,
		       program, proc_describe(res, text, sizeof(text)), j->log_path);
}

int build_make_run(struct builder *b, struct build_job *j, const struct strv *argv, struct err *e)
{
	uint64_t before = file_bytes(j->log_path);
	_cleanup_str_ struct str log = STR_INIT;
	_cleanup_strv_ struct strv env = STRV_INIT;
	struct proc_result res;

	strv_extend(&env, &b->env);
	build_layout_env(b, &env);
	if (run(b, j, argv, NULL, &env, &res, e) < 0 || check_end(b, j, "make", &res, e) < 0)
		return -1;
	if (res.status == 0)
		return 1;
	if (read_new(j->log_path, before, &log, e) < 0)
		return -1;
	j->fault = build_log_fault(str_text(&log), log.len, &j->tool, &j->package);
	build_log_error(str_text(&log), log.len, b->src, j->error, sizeof(j->error));
	if (!j->error[0])
		snprintf(j->error, sizeof(j->error), "make: exit status %d", res.status);
	return 0;
}

/* One attempt: 1 image made, 0 failed (unless the outcome is set: see fault), -1. */
static int attempt(struct builder *b, struct build_job *j, unsigned jobs, struct err *e)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;
	_cleanup_free_ char *image = fs_join(b->out, b->arch->image);
	int ret;

	j->fault = BUILD_FAULT_COMMIT;
	j->error[0] = '\0';
	if (build_layout_begin(b, e) < 0)
		return -1;
	ret = build_configure(b, j, e);
	if (ret <= 0)
		return ret;
	b->has_modules = build_modules_are_wanted(b);
	build_make_argv(b, jobs, &argv);
	strv_add(&argv, b->arch->target);
	if (b->has_modules)
		strv_add(&argv, "modules");
	ret = build_make_run(b, j, &argv, e);
	if (ret <= 0)
		return ret;
	if (fs_exists(image))
		return b->has_modules ? build_modules_install(b, j, jobs, e) : 1;
	snprintf(j->error, sizeof(j->error), "make ends well, but leaves no %s", b->arch->image);
	return 0;
}

/* -1 when the failure of the last attempt is not the commit's. */
static int check_fault(struct builder *b, const struct build_job *j, struct err *e)
{
	if (build_slot_space(b, e) < 0) {
		b->orderly = false;
		return -1;
	}
	switch (j->fault) {
	case BUILD_FAULT_DISK:
		b->orderly = false; /* what was written last may be cut short */
		return err_set(e, ERR_SYS,
			       "disk full, or failing, while building in '%s': %s (free some, or "
			       "set XDG_CACHE_HOME to a larger file system)",
			       b->slot, j->error);
	case BUILD_FAULT_MEMORY:
		return err_set(e, ERR_SYS,
			       "the compiler was killed or found no memory, also with one job: %s "
			       "(log: '%s')",
			       j->error, j->log_path);
	case BUILD_FAULT_TOOL:
		return err_set(e, ERR_LAB,
			       "building a kernel needs %s, which is missing (install "
			       "the package '%s'; log: '%s')",
			       j->tool, j->package, j->log_path);
	case BUILD_FAULT_CCACHE:
		return err_set(e, ERR_LAB, "%s (ccache = no in [build] does without it)", j->error);
	default:
		return 0;
	}
}

static bool wants_one_job(const struct build_job *j)
{
	return j->fault == BUILD_FAULT_MEMORY || j->fault == BUILD_FAULT_CRASH;
}

static bool has_failed(const struct build_job *j, int ret)
{
	return ret == 0 && j->r->outcome == TRIAL_UNSET;
}

static int attempt_twice(struct builder *b, struct build_job *j, struct err *e)
{
	int ret = attempt(b, j, b->jobs, e);

	if (!has_failed(j, ret))
		return ret;
	if (wants_one_job(j)) {
		if (build_log_line(j->log_path, e, "a compiler died: once more, one job") < 0)
			return -1;
		ret = attempt(b, j, 1, e);
	}
	return has_failed(j, ret) ? check_fault(b, j, e) : ret;
}

/*
 * Before a commit is blamed it is built from nothing: objects of other commits may
 * be what is broken. The old O= folder stays when that fails too, for it is warm.
 */
static int from_nothing(struct builder *b, struct build_job *j, struct err *e)
{
	if (build_log_line(j->log_path, e, "failed: %s", j->error) < 0 ||
	    build_log_line(j->log_path, e, "once more, from an empty build folder") < 0 ||
	    build_slot_set_aside(b, e) < 0)
		return -1;
	int ret = attempt_twice(b, j, e);
	int kept = build_slot_keep(b, ret == 1, ret < 0 ? NULL : e);

	return kept < 0 ? -1 : ret;
}

static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	bool empty = true;

	for (struct dirent *de; d && empty && (de = readdir(d));)
		empty = str_eq(de->d_name, ".") || str_eq(de->d_name, "..");
	if (d)
		closedir(d);
	return empty;
}

int build_kernel(struct builder *b, struct build_job *j, struct err *e)
{
	bool was_empty = is_empty(b->out);
	int ret = attempt_twice(b, j, e);

	if (has_failed(j, ret) && !was_empty)
		ret = from_nothing(b, j, e);
	if (ret < 0)
		return -1;
	if (ret == 1)
		j->r->outcome = TRIAL_OK;
	if (j->r->outcome != TRIAL_UNSET)
		return 0;
	j->r->outcome = TRIAL_BUILD_FAILED;
	j->r->signature = xstrdup(j->error);
	return 0;
}

static void command_env(const struct builder *b, const struct build_job *j, const char *image,
			struct strv *env)
{
	/* Below make we must not pass our jobserver on; the rest is the user's. */
	for (size_t i = 0; i < ARRAY_SIZE(make_names); i++)
		strv_add(env, make_names[i]);
	strv_extend(env, &b->command_env);
	strv_addf(env, "KREGRESS_COMMIT=%s", j->commit);
	strv_addf(env, "KREGRESS_SRC=%s", b->src);
	strv_addf(env, "KREGRESS_OUT=%s", b->out);
	strv_addf(env, "KREGRESS_LAYOUT=%u", b->layout);
	strv_addf(env, "KREGRESS_IMAGE=%s", image);
}

static int command_failed(struct builder *b, struct build_job *j, int status, uint64_t before,
			  struct err *e)
{
	_cleanup_str_ struct str log = STR_INIT;

	if (status >= 128)
		return err_set(e, ERR_LAB,
			       "command in [build]: '%s' says with exit status %d that "
			       "it could not work (log: '%s')",
			       b->command.v[0], status, j->log_path);
	if (build_slot_space(b, e) < 0 || read_new(j->log_path, before, &log, e) < 0)
		return -1;
	build_log_error(str_text(&log), log.len, b->src, j->error, sizeof(j->error));
	j->r->outcome = status == 125 ? TRIAL_UNTESTABLE : TRIAL_BUILD_FAILED;
	j->r->signature = j->error[0] ? xstrdup(j->error)
				      : xasprintf("%s: exit status %d", b->command.v[0], status);
	return 0;
}

int build_command(struct builder *b, struct build_job *j, const char *image, struct err *e)
{
	uint64_t before = file_bytes(j->log_path);
	_cleanup_strv_ struct strv env = STRV_INIT;
	struct proc_result res;

	if (unlink(image) < 0 && errno != ENOENT)
		return err_sys(e, errno, "cannot remove '%s'", image);
	command_env(b, j, image, &env);
	if (run(b, j, &b->command, b->command_dir, &env, &res, e) < 0 ||
	    check_end(b, j, b->command.v[0], &res, e) < 0)
		return -1;
	if (res.status != 0)
		return command_failed(b, j, res.status, before, e);
	if (!file_bytes(image))
		return err_set(e, ERR_LAB,
			       "command in [build]: '%s' ends well, but leaves no "
			       "image at $KREGRESS_IMAGE ('%s')",
			       b->command.v[0], image);
	j->r->outcome = TRIAL_OK;
	return 0;
}
