/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Campaign files: one table drives parser, defaults, checks and help. */
#ifndef KR_IO_CONFIG_H
#define KR_IO_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "core/verdict.h"
#include "io/layout.h"

enum config_hunt { HUNT_REGRESSION = 0, HUNT_FIX };
enum config_build_type { BUILD_KERNEL = 0, BUILD_NONE };
enum config_target_type { TARGET_QEMU = 0, TARGET_COMMAND, TARGET_SSH };
enum config_tristate { TRI_AUTO = -1, TRI_NO = 0, TRI_YES = 1 };
enum config_accel { ACCEL_AUTO = 0, ACCEL_KVM, ACCEL_TCG };
enum config_search { SEARCH_BISECT = 0, SEARCH_BAYES, SEARCH_AUTO };
enum config_skips { SKIPS_GIT = 0, SKIPS_BORDERS };

/* build_sd: how much builds differ beyond what boots do. */
struct config_spread {
	double value;  /* < 0: auto */
	bool relative; /* a share of the good end's value, else in the metric's unit */
};

/*
 * A key whose last part the user chose. patch.NAME of [build]: a build fix for all commits, or for
 * a range of them. variant.NAME of [compare]: words. Owned strings.
 */
struct config_patch {
	char *name, *file; /* file: absolute */
	struct strv words;
	char *from, *to; /* reachable from to, but not from from; both NULL: all commits */
	char *where;     /* see config_where() */
};
/* What an argument of the workload is, one after the other. Owned; name NULL: there is none. */
struct config_sweep {
	char *name;
	struct strv values;
};
/* Both ends are in it. */
struct config_span {
	bool given;
	double from, to;
};
/* In the order of the file, then of -o. */
struct config_patches {
	struct config_patch *v;
	size_t n;
};

/*
 * A campaign file after parsing, `-o` settings and defaults. Keys of DESIGN.md by section.
 * Relative paths are made absolute against the file's folder. Owned strings.
 */
struct config {
	char *path; /* of the file, absolute */
	char *dir;  /* its folder, absolute */
	struct {
		char *name, *repo;
		char *good, *bad; /* NULL: not given */
		unsigned good_tries;
		char *series, *base; /* "" and NULL: none */
		int hunt; /* enum config_hunt; likewise below: ints hold the enum named */
		bool first_parent;
		struct strv paths, skip;
		char *state; /* default $XDG_STATE_HOME/kregress/<name> */
	} campaign;
	struct {
		int type;
		char *arch;
		char *config; /* make target, or file:<absolute> */
		struct strv
			fragments; /* absolute: names are looked up in configs/kernel beside data dir */
		struct strv patches;         /* absolute, globs expanded, sorted within each glob */
		struct config_patches patch; /* patch.NAME */
		struct strv make_args;
		int layout; /* enum layout_mode */
		unsigned jobs;
		int64_t timeout_ms;
		int ccache;                 /* enum config_tristate */
		struct strv command;        /* split into words */
		uint64_t cache_limit_bytes; /* cache_limit = 4G */
	} build;
	struct {
		int type;
		/* qemu */
		int accel;
		bool deterministic;
		unsigned cpus;
		uint64_t memory_bytes;
		char *machine; /* absolute path of the profile's INI; "" when type is not qemu */
		struct strv extra_args;
		/* qemu and ssh */
		char *append;
		int64_t boot_timeout_ms;
		/* ssh */
		char *host, *user;            /* user NULL: as ~/.ssh/config has it, else root */
		unsigned port;                /* 0: likewise, else 22 */
		char *identity, *known_hosts; /* absolute; "": likewise, else as ssh(1) */
		struct strv install;          /* kexec, grub, or a command there */
		struct strv power_cycle, console;
		char *initramfs; /* "": none; "make"; else an absolute path here */
		struct strv setup;
		double max_load; /* 0: any */
		int64_t max_wait_ms;
		bool watchdog;
		char *work_dir; /* absolute, there */
		/* command */
		struct strv command;
	} target;
	struct {
		char *use;  /* absolute path of the workload's INI, "" when none */
		char *args; /* NULL: the workload's default */
		char *metric;
		int64_t timeout_ms;
	} workload;
	struct {
		unsigned runs_per_boot, warmup_runs;
	} measure;
	struct verdict_opts verdict; /* min/max/end_boots of [measure] are here too */
	int search, skips;
	struct config_spread build_sd;
	char *prior;       /* absolute path, "" for none */
	bool better_given; /* better is in the file, also as auto: the workload's own does not count */
	struct {
		bool revert;
		unsigned boots;
		/* extra runs in these boots, see target_observe */
		bool snapshots;
		unsigned stacks, profile;
		int64_t observe_time_ms;
	} confirm;
	struct {
		unsigned boots;
		struct config_sweep sweep;
		struct config_span average;
		struct config_patches variant;
	} compare;
	struct strv where; /* private: see config_where() */
	bool *given;       /* private: see config_given() */
};

/*
 * Read @path and apply @overrides ("section.key=value" each, from -o). ERR_CONFIG
 * with "file:line: …", or "-o section.key: …", the offending text, and "did you mean".
 * Checks that need no repository: units, ranges, contradictions (a relative
 * threshold whose sign contradicts better; min_boots > max_boots; command missing for
 * type = command; keys of the other target type; confirm.revert without boots).
 */
int config_load(const char *path, const struct strv *overrides, struct config *out, struct err *e);
/* The same from memory; @path names the text in messages and its folder is the campaign's. */
int config_parse(const char *path, const char *text, size_t n, const struct strv *overrides,
		 struct config *out, struct err *e);
void config_release(struct config *c);

/*
 * Where a value came from, to start a message about it: "file:12", "-o campaign.good", or
 * the file's name for a default. @name is "campaign.good". Borrowed.
 */
const char *config_where(const struct config *c, const char *name);

/* Is the key in the file, or in -o? */
bool config_given(const struct config *c, const char *name);

/*
 * Does the sign of a relative threshold fit @better (as the workload declares it, or as
 * resolved)? -1 with ERR_CONFIG and the place of the threshold. METRIC_BETTER_NONE fits all.
 */
int config_check_better(const struct config *c, enum metric_better better, struct err *e);

/* kregress.ini in @dir or above, owned; NULL: none. */
char *config_find(const char *dir);

/* "section.key = value" lines of the effective campaign, defaults included. Appends. */
void config_dump(const struct config *c, struct str *out);

/* Text of `kregress help campaign`: each key with type, default and meaning, 80 columns. */
void config_help(struct str *out);
/* Every accepted "section.key", for drift tests and completion. Appends. */
void config_keys(struct strv *out);

/*
 * Where a kernel fragment is: a name is looked up in <data dir>/configs/kernel; one with
 * '/' or ending in .config is a path, relative to @dir. *@path owned, absolute, an existing file.
 */
int config_fragment(const char *word, const char *dir, char **path, struct err *e);

/*
 * Numbers with units, for other option parsers too. 0/-1 ERR_CONFIG with @what in the message
 * ("" or NULL: not). Durations: 500ms, 90s, 10m, 2h, 1d, 1h30m; at most ten years. Sizes: 512K,
 * 2G, T (powers of 1024).
 */
int config_parse_duration(const char *text, const char *what, int64_t *ms, struct err *e);
int config_parse_size(const char *text, const char *what, uint64_t *bytes, struct err *e);

#endif
