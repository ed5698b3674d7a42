/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload's INI: what to run, what it needs, what it prints. */
#ifndef KR_IO_WORKLOAD_H
#define KR_IO_WORKLOAD_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "core/metric.h"

/* PATH = VALUE of [setup]: a file under /proc/sys or /sys, written before the workload runs. */
struct workload_setting {
	char *path, *value;
};

struct workload {
	char *path, *dir; /* of the INI, absolute */
	char *name, *description;
	struct strv command; /* words; "{args}" is replaced by workload_argv() */
	struct strv files;  /* absolute host paths, put beside the program under their base names */
	struct strv kernel; /* fragments: absolute paths (workload_load_text(): as written) */
	char *append;       /* boot parameters; "" none */
	char *args;         /* default arguments, "" none */
	struct workload_setting *setup;
	size_t n_setup;
	struct metric *metric;
	size_t n_metrics;
	char *program; /* absolute host path of the built program <name>, NULL: there is none */
};

/*
 * Read and check @path strictly, as campaign files are. `program` is looked for
 * at <dir>/<name> and <data dir>/build/workloads/<name> (a source tree) . A listed file
 * that is missing: ERR_CONFIG. A program named "./<name>" by the command that is found nowhere,
 * or is not executable: ERR_CONFIG saying to run make workloads.
 */
int workload_load(const char *path, struct workload *out, struct err *e);
/* The same without a look at what the file names: for lists, where nothing need be built. */
int workload_load_text(const char *path, struct workload *out, struct err *e);
/* That from memory; @path names the text in messages. */
int workload_parse(const char *path, const char *text, size_t n, struct workload *out,
		   struct err *e);
void workload_release(struct workload *w);
/* By name; NULL when it declares no such metric. */
const struct metric *workload_metric(const struct workload *w, const char *name);
/* The argv to run, with @args (NULL: its default) split as a shell does. Appends. */
int workload_argv(const struct workload *w, const char *args, struct strv *argv, struct err *e);

/*
 * Every installed workload as "name — description" lines with its metrics below, for
 * `kregress help workloads`. One that cannot be read says why.
 */
int workload_list(struct str *out, struct err *e);

/* A QEMU machine profile (qemu/<name>.ini). */
struct machine {
	char *name, *description, *program;
	struct strv args;           /* QEMU arguments */
	char *append;               /* boot parameters always */
	char *append_tcg;           /* more without KVM */
	char *append_deterministic; /* more with instruction-counted time */
};
int machine_load(const char *path, struct machine *out, struct err *e);
int machine_parse(const char *path, const char *text, size_t n, struct machine *out, struct err *e);
void machine_release(struct machine *m);

#endif
