/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel is made of: compiler, configuration, patches, and the key of all that. */
#include "io/build_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/proc.h"

/* Changes whenever the same inputs would give another entry than before. */
#define KEY_FORMAT "kregress kernel 1"

static const struct build_arch arch_table[] = {
	{ "x86_64", "bzImage", "arch/x86/boot/bzImage", "x86_64" },
	{ "i386", "bzImage", "arch/x86/boot/bzImage", "x86_64" },
	{ "arm64", "Image", "arch/arm64/boot/Image", "aarch64" },
	{ "riscv", "Image", "arch/riscv/boot/Image", "riscv64" },
	{ "s390", "bzImage", "arch/s390/boot/bzImage", "s390x" },
};

const struct build_arch *build_arch_find(const char *name, struct err *e)
{
	_cleanup_str_ struct str known = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(arch_table); i++) {
		if (str_eq(arch_table[i].name, name))
			return &arch_table[i];
		str_addf(&known, "%s%s", i ? ", " : "", arch_table[i].name);
	}
	err_set(e, ERR_CONFIG, "cannot build for architecture '%s' (arch in [build]: %s)", name,
		str_text(&known));
	return NULL;
}

/* Value of the last "NAME=" in make_args, as make sees it; NULL: not given. Borrowed. */
static const char *make_arg(const struct builder *b, const char *name)
{
	const char *value = NULL;
	size_t n = strlen(name);

	for (size_t i = 0; i < b->make_args.n; i++)
		if (strncmp(b->make_args.v[i], name, n) == 0 && b->make_args.v[i][n] == '=')
			value = b->make_args.v[i] + n + 1;
	return value;
}

/* As the kernel's Makefile chooses: NAME=, LLVM=1|-15|/path/, CROSS_COMPILE=. Owned. */
static char *tool_words(const struct builder *b, const char *var, const char *gnu,
			const char *llvm_name)
{
	const char *own = make_arg(b, var), *llvm = make_arg(b, "LLVM");
	const char *cross = make_arg(b, "CROSS_COMPILE");

	if (own)
		return xstrdup(own);
	if (!llvm || !*llvm)
		return xasprintf("%s%s", cross ? cross : "", gnu);
	if (llvm[0] == '-')
		return xasprintf("%s%s", llvm_name, llvm);
	return xasprintf("%s%s", str_ends(llvm, "/") ? llvm : "", llvm_name);
}

/* First line that "<words> <arg>" prints; owned, NULL: it failed. -1: not found. */
static int tool_says(const char *words, const char *arg, const char *package, char **out,
		     struct err *e)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;
	_cleanup_str_ struct str text = STR_INIT;
	struct proc_result res;

	*out = NULL;
	if (str_split_words(words, &argv, e) < 0)
		return -1;
	strv_add(&argv, arg);
	struct proc_opts o = {
		.argv = argv.v, .out = &text, .timeout_ms = 20000, .max_output = 65536
	};

	if (proc_run(&o, &res, e) < 0)
		return -1;
	if (res.end == PROC_NO_START)
		return err_set(e, ERR_LAB, "cannot run '%s' (install the package '%s')", argv.v[0],
			       package);
	if (res.end == PROC_EXITED && res.status == 0)
		*out = xstrndup(str_text(&text), strcspn(str_text(&text), "\n"));
	return 0;
}

static int compiler_versions(struct builder *b, struct err *e)
{
	static const char *const args[] = { "--version", "-dumpmachine", "-dumpfullversion" };
	_cleanup_str_ struct str all = STR_INIT;
	_cleanup_free_ char *machine = NULL;
	_cleanup_free_ char *ld = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(args); i++) {
		_cleanup_free_ char *line = NULL;

		if (tool_says(b->tools.cc, args[i], "gcc", &line, e) < 0)
			return -1;
		str_addf(&all, "%s\n", line ? line : "");
		if (i == 1 && line)
			machine = xstrdup(line);
	}
	if (tool_says(b->tools.ld, "--version", "binutils", &ld, e) < 0)
		return -1;
	str_addf(&all, "%s\n", ld ? ld : "");
	b->tools.text = str_detach(&all);
	/* gcc makes code for one machine only; clang is told by the kernel's Makefile. */
	if (!strstr(b->tools.text, "clang") && machine && !str_starts(machine, b->arch->machine))
		return err_set(e, ERR_CONFIG,
			       "the compiler '%s' makes code for '%s', not for arch = %s "
			       "(make_args = CROSS_COMPILE=… in [build])",
			       b->tools.cc, machine, b->arch->name);
	return 0;
}

static int find_ccache(struct builder *b, int ccache, struct err *e)
{
	_cleanup_free_ char *path = ccache ? proc_which("ccache") : NULL;

	if (ccache > 0 && !path)
		return err_set(e, ERR_CONFIG,
			       "ccache = yes in [build], but there is no 'ccache' "
			       "(install the package 'ccache', or ccache = auto)");
	b->tools.ccache = path && !strstr(b->tools.cc, "ccache");
	return 0;
}

int build_tools_find(struct builder *b, int ccache, struct err *e)
{
	_cleanup_free_ char *make = proc_which("make");

	if (!make)
		return err_set(e, ERR_LAB, "cannot run 'make' (install the package 'make')");
	b->tools.cc = tool_words(b, "CC", "gcc", "clang");
	b->tools.ld = tool_words(b, "LD", "ld", "ld.lld");
	b->tools.strip = tool_words(b, "STRIP", "strip", "llvm-strip");
	b->tools.hostcc = make_arg(b, "HOSTCC")
				  ? xstrdup(make_arg(b, "HOSTCC"))
				  : xstrdup(make_arg(b, "LLVM") ? b->tools.cc : "gcc");
	if (find_ccache(b, ccache, e) < 0)
		return -1;
	return compiler_versions(b, e);
}

void build_tools_release(struct build_tools *t)
{
	free(t->cc);
	free(t->ld);
	free(t->strip);
	free(t->hostcc);
	free(t->text);
	*t = (struct build_tools){ .cc = NULL };
}

static void add_words(struct hash *h, const struct strv *words)
{
	hash_add(h, &words->n, sizeof(words->n));
	for (size_t i = 0; i < words->n; i++)
		hash_add_text(h, words->v[i]);
}

static int add_files(struct hash *h, const struct strv *paths, const char *what,
		     struct build_symbols *symbols, struct err *e)
{
	hash_add(h, &paths->n, sizeof(paths->n));
	for (size_t i = 0; i < paths->n; i++) {
		_cleanup_str_ struct str text = STR_INIT;

		if (fs_read(paths->v[i], BUILD_FILE_MAX, &text, e) < 0) {
			if (e)
				e->code = ERR_CONFIG;
			return err_wrap(e, "%s in [build]", what);
		}
		hash_add(h, str_text(&text), text.len);
		if (symbols &&
		    build_symbols_parse(paths->v[i], str_text(&text), text.len, symbols, e) < 0)
			return -1;
	}
	return 0;
}

/* A word of the user's command that names a file: its contents decide what it builds. */
static int add_command_file(const struct builder *b, struct hash *h, const char *word,
			    struct err *e)
{
	_cleanup_free_ char *path = fs_join(b->command_dir, word);
	char hex[HASH_HEX_SIZE];
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (hash_file(path, hex, e) < 0)
		return -1;
	hash_add_text(h, hex);
	return 0;
}

static int hash_command(struct builder *b, struct hash *h, struct err *e)
{
	add_words(h, &b->command);
	for (size_t i = 0; i < b->command.n; i++)
		if (add_command_file(b, h, b->command.v[i], e) < 0)
			return -1;
	return 0;
}

static int hash_config(struct builder *b, struct hash *h, struct err *e)
{
	if (str_starts(b->config, "file:")) {
		_cleanup_str_ struct str text = STR_INIT;

		if (fs_read(b->config + 5, BUILD_FILE_MAX, &text, e) < 0) {
			if (e)
				e->code = ERR_CONFIG;
			return err_wrap(e, "config in [build]");
		}
		hash_add_text(h, "file");
		hash_add(h, str_text(&text), text.len);
		b->config_text = str_detach(&text);
	} else {
		hash_add_text(h, b->config);
	}
	if (add_files(h, &b->fragments, "fragments", &b->ask, e) < 0)
		return -1;
	build_layout_ask(b);
	build_symbols_settle(&b->ask);
	build_symbols_by_position(&b->ask);
	return 0;
}

/* Those of patch.NAME, each for itself: which of them go in depends on the commit. */
static int hash_patches(struct builder *b, struct err *e)
{
	for (size_t i = 0; i < b->n_patch; i++) {
		struct build_named_patch *p = &b->patch[i];

		if (hash_file(p->file, p->hash, e) < 0) {
			if (e)
				e->code = ERR_CONFIG;
			return err_wrap(e, "patch.%s in [build]", p->name);
		}
	}
	return 0;
}

int build_key_inputs(struct builder *b, struct err *e)
{
	struct hash *h = hash_new();
	int ret;

	hash_add_text(h, KEY_FORMAT);
	hash_add_text(h, b->arch_name);
	ret = b->command.n ? hash_command(b, h, e) : hash_config(b, h, e);
	hash_hex(h, b->config_id);
	if (ret < 0)
		return -1;

	h = hash_new();
	hash_add_text(h, b->config_id);
	hash_add_text(h, b->tools.text);
	add_words(h, &b->make_args);
	if (b->layout_mode == LAYOUT_FIXED)
		hash_add_text(h, "layout fixed");
	hash_hex(h, b->config_inputs);

	h = hash_new();
	hash_add_text(h, b->config_inputs);
	if (b->want_modules)
		hash_add_text(h, "modules");
	ret = add_files(h, &b->patches, "patches", NULL, e);
	hash_hex(h, b->inputs);
	return ret < 0 ? -1 : hash_patches(b, e);
}

void build_key(const struct builder *b, const struct commit_id *commit,
	       const struct commit_id *tree, uint32_t layout, char key[HASH_HEX_SIZE])
{
	struct hash *h = hash_new();

	hash_add_text(h, b->inputs);
	hash_add(h, tree->raw, sizeof(tree->raw));
	/* Layout 0 is the kernel of a campaign that does not draw. */
	if (layout) {
		hash_add_text(h, "layout");
		hash_add(h, &layout, sizeof(layout));
	}
	for (size_t i = 0; i < b->n_patch; i++) {
		if (!build_patch_is_for(b, i, commit))
			continue;
		hash_add_text(h, b->patch[i].must ? "must" : "may");
		hash_add_text(h, b->patch[i].hash);
	}
	hash_hex(h, key);
}
