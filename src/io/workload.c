/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload's INI: what to run, what it needs, what it prints. */
#include "io/workload.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "io/config.h"
#include "io/inifields.h"

static const char metric_prefix[] = "metric ";
static const char args_word[] = "{args}";

static const struct inifield fields[] = {
	{ "name", INIFIELD_LINE, offsetof(struct workload, name), true },
	{ "description", INIFIELD_TEXT, offsetof(struct workload, description), true },
	{ "command", INIFIELD_WORDS, offsetof(struct workload, command), true },
	{ "files", INIFIELD_WORDS, offsetof(struct workload, files), false },
	{ "kernel", INIFIELD_WORDS, offsetof(struct workload, kernel), false },
	{ "append", INIFIELD_TEXT, offsetof(struct workload, append), false },
	{ "args", INIFIELD_TEXT, offsetof(struct workload, args), false },
};

/* The texts of a [metric NAME]. */
struct metric_texts {
	char *unit, *better, *regex, *min, *max;
};

static const struct inifield metric_fields[] = {
	{ "unit", INIFIELD_LINE, offsetof(struct metric_texts, unit), false },
	{ "better", INIFIELD_LINE, offsetof(struct metric_texts, better), false },
	{ "regex", INIFIELD_LINE, offsetof(struct metric_texts, regex), false },
	{ "min", INIFIELD_LINE, offsetof(struct metric_texts, min), false },
	{ "max", INIFIELD_LINE, offsetof(struct metric_texts, max), false },
};

static void release_texts(struct metric_texts *t)
{
	inifields_release(metric_fields, ARRAY_SIZE(metric_fields), t);
}

/* One load. */
struct load {
	const struct inifile *file;
	struct workload *w;
	struct faults faults;
	size_t setup_room, metric_room;
};

static void release_load(struct load *l)
{
	faults_release(&l->faults);
}

/* The line of @key in @section, else the section's header. */
static struct fault_at line_of(const struct load *l, const char *section, const char *key)
{
	struct fault_at at = { .line = inifields_section_line(l->file, section) };

	for (size_t i = 0; i < l->file->n; i++) {
		const struct inifile_entry *entry = &l->file->entry[i];

		if (str_eq(entry->section, section) && str_eq(entry->key, key))
			at.line = entry->line;
	}
	return at;
}

/* A bound of a metric, @otherwise when it has none. */
static double parse_bound(struct load *l, const char *section, const char *key, const char *text,
			  double otherwise)
{
	_cleanup_free_ char *shown = faults_quote(text);
	char *end;
	double v;

	if (!*text)
		return otherwise;
	v = strtod(text, &end);
	/* strtod() alone also takes blanks, hex, nan and inf */
	if (!*end && isfinite(v) && strspn(text, "0123456789+-.eE") == strlen(text))
		return v;
	faults_add(&l->faults, line_of(l, section, key),
		   "bad number '%s' for %s (a finite decimal number such as 12.5 or 1e6)", shown,
		   key);
	return otherwise;
}

/* Not given: nothing is said, which is what "none" means. */
static enum metric_better parse_better(struct load *l, const char *section, const char *text)
{
	static const char *const names[] = { "none", "lower", "higher" };
	static const enum metric_better values[] = { METRIC_BETTER_NONE, METRIC_LOWER,
						     METRIC_HIGHER };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (str_eq(names[i], text))
			return values[i];
	}
	if (*text)
		faults_unknown(&l->faults, line_of(l, section, "better"), "value", text,
			       " for better", names, ARRAY_SIZE(names));
	return METRIC_BETTER_NONE;
}

/* It must compile, and say which part of the line is the number. */
static void check_regex(struct load *l, const char *section, const char *regex)
{
	char buf[128];
	const char *why = metric_check_regex(regex, buf, sizeof(buf));
	_cleanup_free_ char *shown = faults_quote(regex);

	if (why)
		faults_add(&l->faults, line_of(l, section, "regex"),
			   "bad regex '%s': %s (POSIX extended, one group around the number)",
			   shown, why);
}

/* One [metric NAME]. Appended even when wrong, so that all is released together. */
static void add_metric(struct load *l, const char *section, const char *name)
{
	_cleanup_(release_texts) struct metric_texts t = { .unit = NULL };
	_cleanup_free_ char *shown = faults_quote(name);
	struct workload *w = l->w;
	struct metric *m;

	inifields_take(l->file, section, metric_fields, ARRAY_SIZE(metric_fields), &t, &l->faults);
	if (!metric_name_is_valid(name))
		faults_add(&l->faults, line_of(l, section, ""),
			   "bad metric name '%s' (letters, digits, '_', '.' and '-', up to 64)",
			   shown);
	xgrow(&w->metric, &l->metric_room, w->n_metrics + 1, sizeof(*w->metric));
	m = &w->metric[w->n_metrics++];
	*m = (struct metric){ .name = xstrdup(name),
			      .unit = xstrdup(t.unit),
			      .better = parse_better(l, section, t.better),
			      .regex = *t.regex ? xstrdup(t.regex) : NULL,
			      .min = parse_bound(l, section, "min", t.min, -INFINITY),
			      .max = parse_bound(l, section, "max", t.max, INFINITY) };
	if (m->regex)
		check_regex(l, section, m->regex);
	if (m->min > m->max)
		faults_add(&l->faults, line_of(l, section, "min"),
			   "min '%s' is more than max '%s' (swap them)", t.min, t.max);
}

/* Below /proc/sys or /sys, plainly: the agent writes it as root. */
static const char *bad_setting_path(const char *path)
{
	if (!str_starts(path, "/proc/sys/") && !str_starts(path, "/sys/"))
		return "a file below /proc/sys/ or /sys/ is wanted";
	if (strlen(path) >= PATH_MAX)
		return "longer than 4095 bytes";
	if (strstr(path, "//") || str_ends(path, "/") || strpbrk(path, " \t"))
		return "empty parts and blanks are not allowed";
	if (strstr(path, "/./") || strstr(path, "/../") || str_ends(path, "/.") ||
	    str_ends(path, "/.."))
		return "'.' and '..' are not allowed";
	return NULL;
}

/* One line of [setup]. */
static void add_setting(struct load *l, const struct inifile_entry *entry)
{
	struct fault_at at = { .line = entry->line };
	_cleanup_free_ char *shown = faults_quote(entry->key);
	const char *why = bad_setting_path(entry->key);
	struct workload *w = l->w;

	if (why)
		faults_add(&l->faults, at, "bad setting '%s' (%s)", shown, why);
	else if (!*entry->value)
		faults_add(&l->faults, at, "setting '%s' has no value (give it one)", shown);
	else if (strchr(entry->value, '\n'))
		faults_add(&l->faults, at,
			   "setting '%s' goes on in an indented line, but takes one line only",
			   shown);
	xgrow(&w->setup, &l->setup_room, w->n_setup + 1, sizeof(*w->setup));
	w->setup[w->n_setup++] = (struct workload_setting){ .path = xstrdup(entry->key),
							    .value = xstrdup(entry->value) };
}

/* All that the text says. */
static void take_sections(struct load *l)
{
	static const char *const names[] = { "workload", "setup", "metric NAME" };

	for (size_t i = 0; i < l->file->n_sections; i++) {
		const char *section = l->file->section[i];
		struct fault_at at = { .line = l->file->section_line[i] };

		if (str_starts(section, metric_prefix))
			add_metric(l, section, section + strlen(metric_prefix));
		else if (!str_eq(section, "workload") && !str_eq(section, "setup"))
			faults_unknown(&l->faults, at, "section", section, "", names,
				       ARRAY_SIZE(names));
	}
	inifields_take(l->file, "workload", fields, ARRAY_SIZE(fields), l->w, &l->faults);
	for (size_t i = 0; i < l->file->n; i++) {
		if (str_eq(l->file->entry[i].section, "setup"))
			add_setting(l, &l->file->entry[i]);
	}
	if (l->w->n_metrics == 0)
		faults_add(&l->faults, (struct fault_at){ .line = 1 },
			   "no metric is declared (add a section [metric NAME])");
}

static void check_name(struct load *l)
{
	_cleanup_free_ char *shown = faults_quote(l->w->name);

	/* it names a file beside the INI */
	if (*l->w->name && (!metric_name_is_valid(l->w->name) || l->w->name[0] == '.'))
		faults_add(&l->faults, line_of(l, "workload", "name"),
			   "bad name '%s' (letters, digits, '_', '.' and '-', up to 64)", shown);
}

/* "{args}" stands for any number of words, so it cannot be part of one. */
static void check_command(struct load *l)
{
	const struct strv *command = &l->w->command;
	unsigned found = 0;

	for (size_t i = 0; i < command->n; i++) {
		bool is_args = str_eq(command->v[i], args_word);

		found += is_args;
		if (strstr(command->v[i], args_word) && (!is_args || i == 0 || found > 1)) {
			faults_add(
				&l->faults, line_of(l, "workload", "command"),
				"bad use of '{args}' in command (once, as a word of its own, after "
				"the program)");
			return;
		}
	}
	if (*l->w->args && found == 0)
		faults_add(&l->faults, line_of(l, "workload", "args"),
			   "args are given, but command has no '{args}' (add it)");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Paths made absolute, and each base name once: they share one folder in the guest. */
static void resolve_files(struct load *l)
{
	struct strv *files = &l->w->files;
	struct fault_at at = line_of(l, "workload", "files");

	for (size_t i = 0; i < files->n; i++) {
		_cleanup_free_ char *word = files->v[i], *shown = faults_quote(word);
		_cleanup_free_ char *full = fs_join(l->w->dir, word);

		files->v[i] = strlen(word) < PATH_MAX ? fs_absolute(full) : xstrdup("");
		if (!fs_exists(files->v[i]) || fs_is_dir(files->v[i]))
			faults_add(&l->faults, at,
				   "file '%s' is not there (files are relative to "
				   "the workload's folder)",
				   shown);
		for (size_t k = 0; k < i; k++) {
			if (str_eq(base_name(files->v[k]), base_name(files->v[i])))
				faults_add(
					&l->faults, at,
					"two files named '%s' (rename one: they share a folder in "
					"the guest)",
					base_name(files->v[i]));
		}
	}
}

/* Fragments as paths; the first mistake of each is enough. */
static void resolve_kernel(struct load *l)
{
	struct strv *kernel = &l->w->kernel;
	struct err e = ERR_INIT;
	char *path;

	for (size_t i = 0; i < kernel->n; i++) {
		if (config_fragment(kernel->v[i], l->w->dir, &path, &e) < 0) {
			faults_add(&l->faults, line_of(l, "workload", "kernel"), "%s", e.msg);
			continue;
		}
		free(kernel->v[i]);
		kernel->v[i] = path;
	}
}

/* The one of `files` that the guest sees as @name; NULL: none. */
static const char *listed_file(const struct workload *w, const char *name)
{
	for (size_t i = 0; i < w->files.n; i++) {
		if (str_eq(base_name(w->files.v[i]), name))
			return w->files.v[i];
	}
	return NULL;
}

/* The program as `make workloads` leaves it: installed beside the INI, or in a source tree. */
static char *find_program(const struct workload *w)
{
	_cleanup_free_ char *data = fs_data_dir();
	_cleanup_free_ char *here = fs_join(w->dir, w->name);
	char *built;

	if (fs_exists(here) && !fs_is_dir(here))
		return xstrdup(here);
	built = xasprintf("%s/build/workloads/%s", data, w->name);
	if (fs_exists(built) && !fs_is_dir(built))
		return built;
	free(built);
	return NULL;
}

/* What the command starts as "./x" must be among what goes into the guest, and executable. */
static void check_program(struct load *l)
{
	struct workload *w = l->w;
	struct fault_at at = line_of(l, "workload", "command");
	const char *word = w->command.n > 0 ? w->command.v[0] : "", *found;
	_cleanup_free_ char *shown = faults_quote(word);
	bool own;

	w->program = find_program(w);
	if (!str_starts(word, "./"))
		return;
	own = str_eq(word + 2, w->name);
	found = listed_file(w, word + 2);
	if (!found && own)
		found = w->program;
	if (!found)
		faults_add(&l->faults, at,
			   own ? "program '%s' is not built (run 'make workloads')"
			       : "program '%s' is not there (add it to 'files')",
			   shown);
	else if (access(found, X_OK) < 0)
		faults_add(&l->faults, at, "program '%s' is not executable (%s '%s')", shown,
			   own ? "run 'make workloads', or chmod +x" : "chmod +x", found);
}

/* @whole: also what the file names must be there; else only its text is checked. */
static int take(const struct inifile *f, bool whole, struct workload *w, struct err *e)
{
	_cleanup_free_ char *dir = fs_dirname(f->path);
	_cleanup_(
		release_load) struct load l = { .file = f, .w = w, .faults = { .path = f->path } };

	w->dir = fs_absolute(dir);
	w->path = fs_join(w->dir, base_name(f->path));
	take_sections(&l);
	check_name(&l);
	check_command(&l);
	if (whole && l.faults.total == 0) {
		resolve_files(&l);
		resolve_kernel(&l);
		check_program(&l);
	}
	return faults_end(&l.faults, e);
}

static int from_inifile(const struct inifile *f, bool whole, struct workload *out, struct err *e)
{
	struct workload w = { .path = NULL };

	if (take(f, whole, &w, e) < 0) {
		workload_release(&w);
		return -1;
	}
	*out = w;
	return 0;
}

int workload_load(const char *path, struct workload *out, struct err *e)
{
	_cleanup_(inifile_release) struct inifile f = { .path = NULL };

	return inifile_read(path, &f, e) < 0 ? -1 : from_inifile(&f, true, out, e);
}

int workload_load_text(const char *path, struct workload *out, struct err *e)
{
	_cleanup_(inifile_release) struct inifile f = { .path = NULL };

	return inifile_read(path, &f, e) < 0 ? -1 : from_inifile(&f, false, out, e);
}

int workload_parse(const char *path, const char *text, size_t n, struct workload *out,
		   struct err *e)
{
	_cleanup_(inifile_release) struct inifile f = { .path = NULL };

	return inifile_parse(path, text, n, &f, e) < 0 ? -1 : from_inifile(&f, false, out, e);
}

void workload_release(struct workload *w)
{
	inifields_release(fields, ARRAY_SIZE(fields), w);
	for (size_t i = 0; i < w->n_setup; i++) {
		free(w->setup[i].path);
		free(w->setup[i].value);
	}
	for (size_t i = 0; i < w->n_metrics; i++)
		metric_release(&w->metric[i]);
	free(w->setup);
	free(w->metric);
	free(w->program);
	free(w->path);
	free(w->dir);
	*w = (struct workload){ .path = NULL };
}

const struct metric *workload_metric(const struct workload *w, const char *name)
{
	for (size_t i = 0; i < w->n_metrics; i++) {
		if (str_eq(w->metric[i].name, name))
			return &w->metric[i];
	}
	return NULL;
}

int workload_argv(const struct workload *w, const char *args, struct strv *argv, struct err *e)
{
	_cleanup_strv_ struct strv words = STRV_INIT;
	bool used = false;

	if (str_split_words(args ? args : w->args, &words, e) < 0)
		return err_wrap(e, "arguments of workload '%s'", w->name);
	for (size_t i = 0; i < w->command.n; i++) {
		if (!str_eq(w->command.v[i], args_word)) {
			strv_add(argv, w->command.v[i]);
			continue;
		}
		strv_extend(argv, &words);
		used = true;
	}
	if (words.n > 0 && !used)
		return err_set(
			e, ERR_CONFIG,
			"workload '%s' takes no arguments (remove 'args', or put {args} into "
			"its command)",
			w->name);
	return 0;
}
