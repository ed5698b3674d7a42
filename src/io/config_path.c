/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of a campaign file that name something on disk, and are checked there. */
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "io/config_table.h"

/* A regular file, or a link to one. */
static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Longer ones name nothing, and are kept away from the recursion of fs_absolute(). */
static int check_length(const char *text, struct err *e)
{
	if (strlen(text) < PATH_MAX)
		return 0;
	return config_bad_value(e, "path", text, "", "longer than 4095 bytes");
}

/* @text below @dir unless it is absolute. Owned. */
static char *resolve(const char *dir, const char *text)
{
	_cleanup_free_ char *joined = fs_join(dir, text);

	return fs_absolute(joined);
}

/* A regular file at @text, relative to @dir. *@path is set only when it exists. */
static int find_file(const char *what, const char *dir, const char *text, char **path,
		     struct err *e)
{
	_cleanup_free_ char *shown = faults_quote(text), *full = NULL;

	if (check_length(text, e) < 0)
		return -1;
	full = resolve(dir, text);
	if (!is_file(full))
		return err_set(e, ERR_CONFIG, "%s '%s' is not there: %s '%s'", what, shown,
			       fs_exists(full) ? "not a file" : "no file", full);
	*path = full;
	full = NULL;
	return 0;
}

/* A name in a folder of ours: <data dir>/@folder/@name@suffix. */
static int find_installed(const char *what, const char *folder, const char *name,
			  const char *suffix, char **path, struct err *e)
{
	_cleanup_free_ char *data = fs_data_dir();
	_cleanup_free_ char *dir = fs_join(data, folder), *near = NULL, *shown = NULL;
	_cleanup_free_ char *full = NULL;

	if (check_length(name, e) < 0)
		return -1;
	full = xasprintf("%s/%s%s", dir, name, suffix);
	if (!is_file(full)) {
		near = faults_near_file(dir, suffix, name);
		shown = faults_quote(name);
		return err_set(e, ERR_CONFIG, "no %s '%s' in '%s'%s", what, shown, dir, near);
	}
	*path = full;
	full = NULL;
	return 0;
}

/* A path rather than a name of ours: see the help of these keys. */
static bool is_path(const char *text, const char *suffix)
{
	return strchr(text, '/') || str_ends(text, suffix);
}

int config_fragment(const char *word, const char *dir, char **path, struct err *e)
{
	if (is_path(word, ".config"))
		return find_file("fragment", dir, word, path, e);
	return find_installed("fragment", "configs/kernel", word, ".config", path, e);
}

/* A file that must be there; keys are where "~/" leads. */
static int parse_file(const struct config *c, const struct config_key *k, const char *text,
		      void *field, struct err *e)
{
	const char *home = getenv("HOME");

	if (!*text) {
		*(char **)field = xstrdup("");
		return 0;
	}
	if (str_starts(text, "~/") && home && *home)
		return find_file(k->key, home, text + 2, field, e);
	return find_file(k->key, c->dir, text, field, e);
}

static int parse_initramfs(const struct config *c, const struct config_key *k, const char *text,
			   void *field, struct err *e)
{
	if (str_eq(text, "none") || str_eq(text, "make")) {
		*(char **)field = xstrdup(str_eq(text, "none") ? "" : text);
		return 0;
	}
	return parse_file(c, k, text, field, e);
}

static void format_initramfs(const struct config_key *k, const void *field, struct str *out)
{
	const char *text = *(char *const *)field;

	(void)k;
	str_add(out, text && *text ? text : "none");
}

/* A folder on the machine: absolute, and plain enough to be ours. */
static int parse_folder_there(const struct config *c, const struct config_key *k, const char *text,
			      void *field, struct err *e)
{
	_cleanup_free_ char *path = xstrdup(text);

	(void)c;
	if (check_length(text, e) < 0)
		return -1;
	/* Behind a slash a link would be no link. */
	for (size_t n = strlen(path); n > 0 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	if (path[0] != '/' || str_ends(path, "/..") || str_ends(path, "/.") || strstr(path, "/../"))
		return config_bad_value(e, "folder", text, k->key,
					"an absolute path there, such as /var/tmp/kregress");
	*(char **)field = path;
	path = NULL;
	return 0;
}

/* A folder that must be there. */
static int parse_folder(const struct config *c, const struct config_key *k, const char *text,
			void *field, struct err *e)
{
	_cleanup_free_ char *shown = faults_quote(text), *full = NULL;

	if (check_length(text, e) < 0)
		return -1;
	full = resolve(c->dir, text);
	if (!fs_is_dir(full))
		return err_set(e, ERR_CONFIG,
			       "%s '%s' is not there: %s '%s' (paths are relative "
			       "to the file)",
			       k->key, shown, fs_exists(full) ? "not a folder" : "no folder", full);
	*(char **)field = full;
	full = NULL;
	return 0;
}

/* A folder that may be made later. */
static int parse_new_folder(const struct config *c, const struct config_key *k, const char *text,
			    void *field, struct err *e)
{
	_cleanup_free_ char *full = NULL;

	if (check_length(text, e) < 0)
		return -1;
	full = resolve(c->dir, text);
	if (fs_exists(full) && !fs_is_dir(full))
		return config_bad_value(e, "folder", text, k->key, "a file is there");
	*(char **)field = full;
	full = NULL;
	return 0;
}

/* A program with a '/' must be there; others are looked up in PATH when they are run. */
static int parse_command(const struct config *c, const struct config_key *k, const char *text,
			 void *field, struct err *e)
{
	_cleanup_free_ char *full = NULL, *shown = NULL;
	const struct strv *words = field;

	if (str_split_words(text, field, NULL) < 0)
		return config_bad_value(e, "command", text, k->key,
					"a quote is open, or a backslash ends it");
	if (words->n > 0 && !*words->v[0])
		return config_bad_value(e, "command", text, k->key, "its first word is empty");
	if (words->n == 0 || !strchr(words->v[0], '/'))
		return 0;
	if (find_file("command", c->dir, words->v[0], &full, e) < 0)
		return -1;
	shown = faults_quote(words->v[0]);
	if (full && access(full, X_OK) < 0)
		return err_set(e, ERR_CONFIG, "command '%s' is not executable (chmod +x '%s')",
			       shown, full);
	return 0;
}

/* All absolute afterwards, in the order given. */
static int parse_fragments(const struct config *c, const struct config_key *k, const char *text,
			   void *field, struct err *e)
{
	_cleanup_strv_ struct strv words = STRV_INIT;

	if (config_kind_words.parse(c, k, text, &words, e) < 0)
		return -1;
	for (size_t i = 0; i < words.n; i++) {
		char *path = NULL;

		if (config_fragment(words.v[i], c->dir, &path, e) < 0)
			return -1;
		strv_take(field, path);
	}
	return 0;
}

/* Files that match @pattern, sorted; a pattern that names a file is that file. */
static int add_matches(const char *dir, const char *pattern, struct strv *out, struct err *e)
{
	_cleanup_(globfree) glob_t found = { .gl_pathc = 0 };
	_cleanup_free_ char *full = NULL, *shown = NULL;

	if (check_length(pattern, e) < 0)
		return -1;
	full = fs_join(dir, pattern);
	shown = faults_quote(pattern);
	if (is_file(full)) {
		strv_take(out, fs_absolute(full));
		return 0;
	}
	if (glob(full, 0, NULL, &found) != 0 || found.gl_pathc == 0)
		return err_set(e, ERR_CONFIG,
			       "patches '%s': no file matches (paths are relative to "
			       "the file)",
			       shown);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (!is_file(found.gl_pathv[i]))
			return err_set(e, ERR_CONFIG, "patches '%s': '%s' is not a file", shown,
				       found.gl_pathv[i]);
		strv_take(out, fs_absolute(found.gl_pathv[i]));
	}
	return 0;
}

static int parse_patches(const struct config *c, const struct config_key *k, const char *text,
			 void *field, struct err *e)
{
	_cleanup_strv_ struct strv words = STRV_INIT;

	if (config_kind_words.parse(c, k, text, &words, e) < 0)
		return -1;
	for (size_t i = 0; i < words.n; i++) {
		if (add_matches(c->dir, words.v[i], field, e) < 0)
			return -1;
	}
	return 0;
}

/* "tinyconfig", "kvm_guest.config", or "file:<path>" */
static int parse_kconfig(const struct config *c, const struct config_key *k, const char *text,
			 void *field, struct err *e)
{
	_cleanup_free_ char *path = NULL;

	if (str_starts(text, "file:")) {
		if (find_file("config", c->dir, text + strlen("file:"), &path, e) < 0)
			return -1;
		*(char **)field = xasprintf("file:%s", path);
		return 0;
	}
	if (strchr(text, '/') || text[0] == '.')
		return config_bad_value(e, "make target", text, k->key,
					"a file is written file:<path>");
	if (text[0] == '-' || !str_ends(text, "config") ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") !=
		    strlen(text))
		return config_bad_value(e, "make target", text, k->key,
					"such as tinyconfig or defconfig, or file:<path>");
	*(char **)field = xstrdup(text);
	return 0;
}

/* The folders in workloads/ are the names. */
static int unknown_workload(const char *name, struct err *e)
{
	_cleanup_free_ char *data = fs_data_dir(), *shown = faults_quote(name);
	_cleanup_free_ char *dir = fs_join(data, "workloads");
	_cleanup_free_ char *near = faults_near_file(dir, "", name);

	return err_set(e, ERR_CONFIG, "no workload '%s' in '%s'%s", shown, dir, near);
}

static int parse_workload(const struct config *c, const struct config_key *k, const char *text,
			  void *field, struct err *e)
{
	_cleanup_free_ char *data = fs_data_dir(), *folder = NULL;

	(void)k;
	if (!*text) {
		*(char **)field = xstrdup("");
		return 0;
	}
	if (check_length(text, e) < 0)
		return -1;
	if (!is_path(text, ".ini")) {
		folder = xasprintf("workloads/%s", text);
		if (find_installed("workload", folder, text, ".ini", field, NULL) < 0)
			return unknown_workload(text, e);
		return 0;
	}
	/* beside the file first, then "workloads/x/x.ini" of ours; the message is of the first */
	if (find_file("workload", c->dir, text, field, e) == 0)
		return 0;
	return find_file("workload", data, text, field, NULL);
}

/* Of ours by name, or a file. "" comes from the defaults of other targets only. */
static int parse_machine(const struct config *c, const struct config_key *k, const char *text,
			 void *field, struct err *e)
{
	(void)k;
	if (!*text) {
		*(char **)field = xstrdup("");
		return 0;
	}
	if (is_path(text, ".ini"))
		return find_file("machine profile", c->dir, text, field, e);
	return find_installed("machine profile", "qemu", text, ".ini", field, e);
}

#define TEXT_KIND(type_, parse_)                                              \
	{                                                                     \
		.type = type_, .parse = parse_, .format = config_format_text, \
		.release = config_release_text                                \
	}
#define WORDS_KIND(type_, parse_)                                              \
	{                                                                      \
		.type = type_, .parse = parse_, .format = config_format_words, \
		.release = config_release_words, .joins_lines = true           \
	}

const struct config_kind config_kind_file = {
	.type = "path",
	.parse = parse_file,
	.format = config_format_text,
	.release = config_release_text,
};
const struct config_kind config_kind_initramfs = {
	.type = "none | make | <path>",
	.parse = parse_initramfs,
	.format = format_initramfs,
	.release = config_release_text,
};
const struct config_kind config_kind_folder_there = TEXT_KIND("path", parse_folder_there);
const struct config_kind config_kind_folder = TEXT_KIND("path", parse_folder);
const struct config_kind config_kind_new_folder = TEXT_KIND("path", parse_new_folder);
const struct config_kind config_kind_kconfig = TEXT_KIND("target | file:<path>", parse_kconfig);
const struct config_kind config_kind_workload = TEXT_KIND("name | path", parse_workload);
const struct config_kind config_kind_machine = TEXT_KIND("name | path", parse_machine);
const struct config_kind config_kind_command = WORDS_KIND("command", parse_command);
const struct config_kind config_kind_fragments = WORDS_KIND("names | paths", parse_fragments);
const struct config_kind config_kind_patches = WORDS_KIND("paths | patterns", parse_patches);
