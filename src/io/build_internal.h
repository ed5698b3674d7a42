/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of build_*.c share; nobody else includes it. */
#ifndef KR_IO_BUILD_INTERNAL_H
#define KR_IO_BUILD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/build.h"

#define BUILD_LOCALVERSION "-kregress"
#define BUILD_FILE_MAX (4u << 20) /* a configuration, fragment or patch */
#define BUILD_LOG_TAIL (8u << 20) /* as much of a log is searched for errors */
#define BUILD_SIGNATURE_MAX 1024
#define BUILD_ALIGN_SYMBOL "CONFIG_DEBUG_FORCE_FUNCTION_ALIGN_64B"
#define BUILD_GRACE_MS 10000 /* between TERM and KILL: make removes half-made targets */

/* ---- build_config.c: configuration as text ---- */

struct build_symbol {
	char *name;    /* "CONFIG_X" */
	char *value;   /* "y", "m", "n", "\"text\"", "0x10" */
	bool optional; /* "# optional" stands directly before it */
	size_t seq;    /* position, for the order of the file */
};

/* Sorted by name, or by position after build_symbols_by_position(). */
struct build_symbols {
	struct build_symbol *v;
	size_t n, room;
};
#define BUILD_SYMBOLS_INIT \
	{                  \
		.v = NULL  \
	}
#define _cleanup_symbols_ _cleanup_(build_symbols_release)

void build_symbols_release(struct build_symbols *s);
/*
 * Append the assignments of @text. @path not NULL: a fragment, of which any
 * other line is an ERR_CONFIG with file:line; NULL: a .config, whose other lines
 * do not matter.
 */
int build_symbols_parse(const char *path, const char *text, size_t n, struct build_symbols *s,
			struct err *e);
/* Of each name keep the last assignment; sort by name. */
void build_symbols_settle(struct build_symbols *s);
void build_symbols_by_position(struct build_symbols *s);
/* Value of @name in a settled set, NULL: not there. Borrowed. */
const char *build_symbols_get(const struct build_symbols *s, const char *name);
/* Append the text of @base with @ask over it. */
void build_config_merge(const char *base, const struct build_symbols *ask, struct str *out);
/*
 * Compare a final .config with what was asked for: required ones that are not
 * so are described in @missing, optional ones are appended to @dropped.
 */
void build_config_check(const char *config, size_t n, const struct build_symbols *ask,
			struct str *missing, struct strv *dropped);

/* ---- build_log.c: what a log says ---- */

enum build_fault {
	BUILD_FAULT_COMMIT = 0, /* no sign of anything but the commit itself */
	BUILD_FAULT_DISK,       /* disk full, quota, I/O error */
	BUILD_FAULT_MEMORY,     /* compiler killed or out of memory */
	BUILD_FAULT_CRASH,      /* compiler crashed: hardware, or a bug that the code triggers */
	BUILD_FAULT_TOOL,       /* a program or header of this machine is missing */
	BUILD_FAULT_CCACHE,     /* ccache itself fails */
};

/*
 * Why a build failed, judged from its log. BUILD_FAULT_TOOL: *@tool and *@package
 * (static) say what is missing; a tool that PATH has is no such fault.
 */
enum build_fault build_log_fault(const char *log, size_t n, const char **tool,
				 const char **package);
/* As build_first_error(); "<src>/" is removed from paths (NULL: as the log's make says). */
void build_log_error(const char *log, size_t n, const char *src, char *buf, size_t size);

/* ---- build_elf.c ---- */

/* Hex of the GNU build id in the notes of the ELF file @path; "" where it has none. */
void build_elf_id(const char *path, char hex[HASH_HEX_SIZE]);

/* ---- build_cache.c: finished kernels by content ---- */

struct build_cache {
	char *dir; /* …/kernels */
	char *tag; /* name of our slot: makes temporary names ours alone */
	uint64_t limit;
	int *held; /* shared locks on the entries handed out */
	size_t n_held, room_held;
	struct strv held_keys;
};

/* What goes into an entry; paths NULL where there is nothing. */
struct build_artifacts {
	const char *image, *image_name, *vmlinux, *modules, *config, *log, *used;
};

int build_cache_open(struct build_cache *c, const char *dir, const char *tag, uint64_t limit,
		     struct err *e);
void build_cache_close(struct build_cache *c);
bool build_cache_has(const struct build_cache *c, const char *key);
/*
 * 1: @r is filled from the entry (all but log_path, cached and times), which
 * stays locked until build_cache_close(); *@log: its log, owned, or NULL.
 * 0: no such entry, or a damaged one, which was dropped. -1.
 */
int build_cache_get(struct build_cache *c, const char *key, struct build_result *r, char **log,
		    struct err *e);
/* Insert at once or not at all; an entry of that key that came first is kept. Then trim. */
int build_cache_put(struct build_cache *c, const char *key, const struct build_artifacts *a,
		    const struct build_result *r, struct err *e);
/* Remove least recently used entries above the limit; never @key's nor a locked one. */
int build_cache_trim(struct build_cache *c, const char *key, struct err *e);

/* ---- the builder ---- */

struct build_arch {
	const char *name;    /* of arch = */
	const char *target;  /* of make */
	const char *image;   /* below the O= folder */
	const char *machine; /* how "gcc -dumpmachine" starts */
};

struct build_tools {
	char *cc, *hostcc, *ld, *strip; /* words as make gets them, without ccache */
	char *text;                     /* versions, for the key */
	bool ccache;
};

/* A struct build_patch of our own. */
struct build_named_patch {
	char *name, *file;
	bool must;
	char hash[HASH_HEX_SIZE]; /* of its bytes */
};

struct builder {
	struct repo *user, *priv;
	const struct build_arch *arch; /* NULL with a command */
	char *arch_name, *config;
	struct strv fragments, patches, make_args;
	struct build_named_patch *patch;
	size_t n_patch;
	bool (*patch_is_for)(const void *cookie, size_t i, const struct commit_id *commit);
	const void *patch_cookie;
	struct strv command, command_env;
	char *command_dir;
	enum layout_mode layout_mode;
	uint32_t layout;    /* of the kernel that is being made */
	bool align_by_flag; /* this commit has no option for it */
	unsigned jobs;
	bool want_modules;
	int64_t timeout_ms;
	void (*tick)(void *cookie);
	void *tick_cookie;

	struct build_tools tools;
	struct build_symbols ask;          /* of all fragments, in order */
	char *config_text;                 /* of config = file:, else NULL */
	char config_id[HASH_HEX_SIZE];     /* arch, target or file, fragments */
	char config_inputs[HASH_HEX_SIZE]; /* and compiler, make_args: decide the .config */
	char inputs[HASH_HEX_SIZE];        /* and patches: all of the key but the tree */

	char *slot, *src, *out, *index;
	int lock_fd;
	struct strv env; /* for make */
	struct build_cache cache;
	struct strv patched; /* paths that patches have changed just now */
	int64_t last_tick_ms;
	bool orderly;     /* the last make ended by itself */
	bool has_modules; /* the kernel made last has some */
	bool wrote;       /* the O= folder is newer than what was synced */
	bool said_modules;
};

/* One builder_build() under way. */
struct build_job {
	struct build_result *r;
	const struct commit_id *id;
	const char *log_path;
	uint32_t layout;
	char commit[COMMIT_HEX + 1];
	bool misfit; /* a patch that must apply does not */
	enum build_fault fault;
	char error[BUILD_SIGNATURE_MAX]; /* first error of the last attempt */
	const char *tool, *package;
};

/* ---- build_key.c: what a kernel is made of ---- */

const struct build_arch *build_arch_find(const char *name, struct err *e);
int build_tools_find(struct builder *b, int ccache, struct err *e);
void build_tools_release(struct build_tools *t);
/* Read fragments, files and patches; fill ask, config_text, config_id, config_inputs and inputs. */
int build_key_inputs(struct builder *b, struct err *e);
/* Of the kernel of @commit, whose tree is @tree. */
void build_key(const struct builder *b, const struct commit_id *commit,
	       const struct commit_id *tree, uint32_t layout, char key[HASH_HEX_SIZE]);

/* ---- build_slot.c: the folder where it happens ---- */

int build_slot_open(struct builder *b, struct err *e);
void build_slot_close(struct builder *b);
/* Before make: repair what a killed build left; remember that one is under way. */
int build_slot_begin(struct builder *b, struct err *e);
/* After make: says whether its O= folder can be trusted (builder.orderly). */
void build_slot_end(struct builder *b);
/* Put the O= folder aside to build from nothing, and decide between the two afterwards. */
int build_slot_set_aside(struct builder *b, struct err *e);
int build_slot_keep(struct builder *b, bool fresh, struct err *e);
/* ERR_SYS with the remedy when the slot's file system is as good as full. */
int build_slot_space(const struct builder *b, struct err *e);

/* ---- build_patch.c ---- */

/* Is the builder's patch @i for @commit? */
bool build_patch_is_for(const struct builder *b, size_t i, const struct commit_id *commit);
/* Does git take each for a patch at all? ERR_CONFIG. */
int build_patch_check(struct builder *b, struct err *e);
/*
 * Apply where they apply. File times stay where the patched text is that of the last build.
 * One that must and does not: 0 with the result's outcome TRIAL_UNTESTABLE.
 */
int build_patch_apply(struct builder *b, struct build_job *j, struct err *e);
/* Put the sources back. What cannot be put back here, the next checkout restores. */
void build_patch_revert(struct builder *b);

/* ---- build_configure.c ---- */

/*
 * Make out/.config. 1: as asked for; 0: not, and result and job say why (a required
 * option missing: TRIAL_UNTESTABLE is set; else the fault); -1. Untouched where nothing changed.
 */
int build_configure(struct builder *b, struct build_job *j, struct err *e);

/* ---- build_make.c ---- */

void build_make_env(struct builder *b);
/* Append "make -C src O=out ARCH=… …" without targets. */
void build_make_argv(const struct builder *b, unsigned jobs, struct strv *argv);
/*
 * Run @argv in @dir with the log. 1: exit status 0, 0: it failed and the job says
 * with which fault, -1: time-out, interrupted, not startable.
 */
int build_make_run(struct builder *b, struct build_job *j, const struct strv *argv, struct err *e);
/* Configure and make, with the retries of a failure. 0 with r->outcome set, -1: we failed. */
int build_kernel(struct builder *b, struct build_job *j, struct err *e);
/* The same with the user's own command; @image is where it must leave the image. */
int build_command(struct builder *b, struct build_job *j, const char *image, struct err *e);
/* Lines of our own in the build log. */
int build_log_line(const char *log_path, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- build_layout.c ---- */

/* Before make: what was linked with another layout goes, to be linked anew. */
int build_layout_begin(struct builder *b, struct err *e);
/* Arguments of make for it, and what our linker is told. Append. */
void build_layout_args(const struct builder *b, struct strv *argv);
void build_layout_env(const struct builder *b, struct strv *env);
/* The linker of LAYOUT_RANDOM, in the slot. Owned. */
char *build_layout_linker(const struct builder *b);
/* Add the alignment of LAYOUT_FIXED to the options asked for. */
void build_layout_ask(struct builder *b);
/* Where the commit @dropped that option, the compiler is told; it is not one of the user's. */
void build_layout_settle(struct builder *b, struct strv *dropped);

/* ---- build_used.c ---- */

/* Write what the kernel just made was built from; *@path: where, in the slot, owned; NULL: not known. */
int build_used_write(const struct builder *b, char **path, struct err *e);

/* ---- build_modules.c ---- */

/* Are there any to make, by the .config and by what the builder was asked for? */
bool build_modules_are_wanted(const struct builder *b);
/* "make modules_install", stripped, into a folder of the slot. Returns as build_make_run(). */
int build_modules_install(struct builder *b, struct build_job *j, unsigned jobs, struct err *e);
/* Pack that folder; *@path: the archive, in the slot, owned. */
int build_modules_store(struct builder *b, const char *release, char **path, struct err *e);
/*
 * A tar of @tree's lib/modules/<@release> at @path: sorted, of root, without times and links, so
 * that the same modules give the same bytes.
 */
int build_modules_pack(const char *tree, const char *release, const char *path, struct err *e);

#endif
