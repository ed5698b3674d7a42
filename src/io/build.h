/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a commit to a kernel image: slot, configuration, make, cache. */
#ifndef KR_IO_BUILD_H
#define KR_IO_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "core/commit.h"
#include "core/trial.h"
#include "io/layout.h"
#include "io/repo.h"

/* A build fix that is for some commits. */
struct build_patch {
	const char *name, *file; /* as messages name it; absolute path */
	/* A commit that it is for and that it does not apply to cannot be built as asked;
	 * not: it is applied where it applies. */
	bool must;
};

struct build_opts {
	struct repo *repo;            /* the user's; borrowed */
	const char *arch;             /* x86_64 */
	const char *config;           /* make target, or "file:<absolute path>" */
	const struct strv *fragments; /* absolute paths, in order */
	const struct strv *patches;   /* absolute paths, in order: applied where they apply */
	/* After those; all are read when the builder is opened. */
	const struct build_patch *patch;
	size_t n_patch;
	/* Is patch[@i] for @commit? NULL: each is for all. */
	bool (*patch_is_for)(const void *cookie, size_t i, const struct commit_id *commit);
	const void *patch_cookie;
	const struct strv *make_args;
	enum layout_mode layout;
	unsigned jobs; /* 0: one a CPU */
	int64_t timeout_ms;
	int ccache;                     /* -1 auto, 0 no, 1 yes (missing: ERR_CONFIG) */
	const struct strv *command;     /* not empty: the user's own build, instead of all that */
	const char *command_dir;        /* where it runs */
	const struct strv *command_env; /* KREGRESS_COMMIT … that the caller knows */
	bool want_modules; /* make them too, where the configuration has any; not with a command */
	uint64_t cache_limit_bytes; /* least recently used kernels go first; 0: 4 GiB */
	void (*tick)(void *cookie); /* for a progress line; may be NULL */
	void *tick_cookie;
};

struct build_result {
	enum trial_outcome
		outcome; /* TRIAL_OK, TRIAL_BUILD_FAILED, TRIAL_UNTESTABLE (see signature) */
	/* Of a failure: first compiler error, the options missing, or the patch that does not
	 * apply; untrusted text */
	char *signature;
	char *log_path;               /* the whole build log */
	char *image;                  /* path in the cache */
	char *vmlinux;                /* path with symbols, NULL where the cache has none */
	char *modules;                /* path of a tar of lib/modules/<release>; NULL: none */
	char *config;                 /* path of the final .config; NULL with command = */
	char *release;                /* "<version>-kregress", NULL when not known */
	char build_id[HASH_HEX_SIZE]; /* hex of the GNU build id note, "" when not known */
	char key[HASH_HEX_SIZE];      /* content key: tree, configuration, compiler, patches */
	/* SHA-256 of the image, or with modules of both hashes: equal means an identical kernel */
	char image_hash[HASH_HEX_SIZE];
	struct strv dropped;         /* optional symbols asked for that this commit does not have */
	struct strv patches_applied; /* base names */
	bool cached;                 /* nothing was compiled */
	double seconds;              /* wall time of checkout, configuration and make */
	double seconds_make;         /* of make alone */
};
void build_result_release(struct build_result *r);

struct builder;
/*
 * Take the slot of this repository × architecture × configuration in the cache
 * directory, locked until builder_close(); waits for another kregress that uses it.
 */
int builder_open(const struct build_opts *o, struct builder **out, struct err *e);
void builder_close(struct builder *b);
/* Source and O= folder of the slot, for KREGRESS_SRC and KREGRESS_OUT. Borrowed. */
const char *builder_src(const struct builder *b);
const char *builder_out(const struct builder *b);

/*
 * The kernel of @commit: from the cache, or built. @layout: which drawing of its layout, with
 * LAYOUT_RANDOM; 0, and always without: as the tree lays it out. Another one is a link, and no
 * compilation. A command gets it as $KREGRESS_LAYOUT. @log_path is where the log
 * goes. 0 with @out whatever the commit did; -1 when we failed: disk full,
 * compiler missing, interrupted, time-out of a build that made progress …
 */
int builder_build(struct builder *b, const struct commit_id *commit, uint32_t layout,
		  const char *log_path, struct build_result *out, struct err *e);

/* Is that kernel in the cache already? 1/0/-1; costs no checkout. */
int builder_has(struct builder *b, const struct commit_id *commit, uint32_t layout, struct err *e);

struct used;
/*
 * Add to @u what the kernel of that content key was built from. 1; 0: not known (it was built by an
 * older kregress or by a command, or has left the cache); -1. Needs no slot.
 */
int build_used_of(const char *key, struct used *u, struct err *e);

/*
 * As repo_rework(), repo_revert_tree(), repo_patch() and repo_has() in the private repository;
 * builder_build() takes what they make.
 */
int builder_rework(struct builder *b, enum repo_rework how, const struct commit_id *culprit,
		   const struct commit_id *onto, struct commit_id *out, struct strv *conflicts,
		   struct err *e);
int builder_revert_tree(struct builder *b, const struct commit_id *culprit,
			const struct commit_id *onto, const char *dir, struct commit_id *out,
			struct strv *conflicts, struct err *e);
bool builder_knows(const struct builder *b, const struct commit_id *id);
int builder_patch(struct builder *b, const char *name, const struct str *patch,
		  const struct commit_id *onto, struct commit_id *out, struct err *e);

/*
 * Lines that differ between two .config files, as "-CONFIG_A=y" / "+CONFIG_A=m"
 * (comments "is not set" count as n). Appends; the release string is ignored.
 */
int build_config_diff(const char *old_path, const char *new_path, struct strv *out, struct err *e);

/* First compiler, linker or make error in a build log (at most @size−1 bytes); "" none found. */
void build_first_error(const char *log, size_t n, char *buf, size_t size);

#endif
