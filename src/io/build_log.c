/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a build log says: the first real error, and whose fault a failure is. */
#include "io/build_internal.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"

#define LINE_MAX_BYTES 4096

struct line {
	const char *s;
	size_t n;
};

static bool next_line(const char *log, size_t n, size_t *at, struct line *l)
{
	if (*at >= n)
		return false;
	const char *end = memchr(log + *at, '\n', n - *at);
	size_t stop = end ? (size_t)(end - log) : n;

	*l = (struct line){ log + *at, stop - *at };
	*at = stop + 1;
	if (l->n > LINE_MAX_BYTES)
		l->n = LINE_MAX_BYTES;
	while (l->n && (l->s[l->n - 1] == '\r' || l->s[l->n - 1] == ' '))
		l->n--;
	return true;
}

static bool has(const struct line *l, const char *text)
{
	return memmem(l->s, l->n, text, strlen(text)) != NULL;
}

static bool begins(const struct line *l, const char *text)
{
	return l->n >= strlen(text) && memcmp(l->s, text, strlen(text)) == 0;
}

/* Does it end so, but for closing quotes and stops? */
static bool ends(const struct line *l, const char *text)
{
	size_t n = l->n, len = strlen(text);

	while (n && strchr("'\".)", l->s[n - 1]))
		n--;
	return n >= len && memcmp(l->s + n - len, text, len) == 0;
}

/* Source text that a compiler shows below a message: "  123 |  code". */
static bool is_excerpt(const struct line *l)
{
	return l->n && (l->s[0] == ' ' || l->s[0] == '\t');
}

/*
 * Kinds of error lines, the most telling first: a compiler's message beats the
 * "*** Error 1" that make prints after it, wherever the two stand in the log of a
 * parallel make.
 */
enum error_kind {
	ERROR_COMPILER,
	ERROR_KCONFIG,
	ERROR_LINKER,
	ERROR_MODPOST,
	ERROR_MAKE,
	ERROR_SHELL,
	ERROR_MAKE_STATUS,
	ERROR_KINDS,
};

static const struct {
	enum error_kind kind;
	const char *text; /* in the line */
	const char *with; /* and this, where it is not NULL */
	const char *without;
} error_table[] = {
	{ ERROR_COMPILER, ": error: ", NULL, NULL },
	{ ERROR_COMPILER, ": fatal error: ", NULL, NULL },
	{ ERROR_COMPILER, ": internal compiler error: ", NULL, NULL },
	{ ERROR_COMPILER, ": Error: ", NULL, NULL }, /* the assembler's */
	{ ERROR_COMPILER, ":error: ", "Kconfig", NULL },
	{ ERROR_KCONFIG, ": syntax error", NULL, NULL },
	{ ERROR_KCONFIG, "can't open file", "Kconfig", NULL },
	{ ERROR_KCONFIG, "Can't find default configuration", NULL, NULL },
	{ ERROR_KCONFIG, "recursive inclusion detected", NULL, NULL },
	{ ERROR_LINKER, "undefined reference to", NULL, NULL },
	{ ERROR_LINKER, "multiple definition of", NULL, NULL },
	{ ERROR_LINKER, "relocation truncated to fit", NULL, NULL },
	{ ERROR_LINKER, "ld: ", "cannot", "warning" },
	{ ERROR_LINKER, "ld: ", "not supported", "warning" },
	{ ERROR_LINKER, "ld: ", "failed", "warning" },
	{ ERROR_LINKER, "ld: ", "overlaps", "warning" },
	{ ERROR_MODPOST, "ERROR: ", NULL, NULL },
	{ ERROR_MODPOST, "FAILED: ", NULL, NULL },
	{ ERROR_MAKE, ": *** ", NULL, "] Error " },
	{ ERROR_SHELL, ": not found", NULL, NULL },
	{ ERROR_SHELL, "command not found", NULL, NULL },
	{ ERROR_SHELL, ": No such file or directory", NULL, NULL },
	{ ERROR_SHELL, ": Permission denied", NULL, NULL },
	{ ERROR_MAKE_STATUS, "] Error ", NULL, "(ignored)" },
};

static enum error_kind kind_of(const struct line *l)
{
	if (is_excerpt(l) || begins(l, "+ "))
		return ERROR_KINDS;
	if (begins(l, "error: ") || begins(l, "error[E"))
		return ERROR_COMPILER;
	for (size_t i = 0; i < ARRAY_SIZE(error_table); i++) {
		if (!has(l, error_table[i].text) ||
		    (error_table[i].with && !has(l, error_table[i].with)) ||
		    (error_table[i].without && has(l, error_table[i].without)))
			continue;
		return error_table[i].kind;
	}
	return ERROR_KINDS;
}

/* The source folder as make announces it; owned, NULL: it does not. */
static char *announced_src(const char *log, size_t n)
{
	static const char text[] = "Entering directory '";
	const char *p = memmem(log, n, text, sizeof(text) - 1);

	if (!p)
		return NULL;
	p += sizeof(text) - 1;
	const char *end = memchr(p, '\'', n - (size_t)(p - log));

	return end && end > p && end - p < LINE_MAX_BYTES ? xstrndup(p, (size_t)(end - p)) : NULL;
}

/* The line without "<src>/" wherever it stands, fit for a terminal, cut at @size − 1. */
static void show(const struct line *l, const char *src, char *buf, size_t size)
{
	_cleanup_free_ char *prefix = src ? xasprintf("%s/", src) : NULL;
	_cleanup_str_ struct str shown = STR_INIT;
	size_t at = 0, len = prefix ? strlen(prefix) : 0;

	while (at < l->n) {
		const char *p = len ? memmem(l->s + at, l->n - at, prefix, len) : NULL;
		size_t stop = p ? (size_t)(p - l->s) : l->n;

		str_neutralise(&shown, l->s + at, stop - at, false);
		at = p ? stop + len : stop;
	}
	size_t n = shown.len < size - 1 ? shown.len : size - 1;

	/* not in the middle of a character */
	while (n && n < shown.len && ((unsigned char)shown.buf[n] & 0xc0) == 0x80)
		n--;
	memcpy(buf, str_text(&shown), n);
	buf[n] = '\0';
}

void build_log_error(const char *log, size_t n, const char *src, char *buf, size_t size)
{
	enum error_kind best = ERROR_KINDS;
	struct line l, first = { NULL, 0 };
	size_t at = 0;

	buf[0] = '\0';
	while (best != ERROR_COMPILER && next_line(log, n, &at, &l)) {
		enum error_kind kind = kind_of(&l);

		if (kind >= best)
			continue;
		best = kind;
		first = l;
	}
	if (best != ERROR_KINDS)
		show(&first, src, buf, size);
}

void build_first_error(const char *log, size_t n, char *buf, size_t size)
{
	_cleanup_free_ char *src = announced_src(log, n);

	build_log_error(log, n, src, buf, size);
}

/* Programs that a kernel build calls, and the Debian package that brings each. */
static const struct {
	const char *tool, *package;
} tool_table[] = {
	{ "flex", "flex" },         { "bison", "bison" },      { "bc", "bc" },
	{ "gcc", "gcc" },           { "cc", "gcc" },           { "ld", "binutils" },
	{ "as", "binutils" },       { "ar", "binutils" },      { "nm", "binutils" },
	{ "objcopy", "binutils" },  { "objdump", "binutils" }, { "strip", "binutils" },
	{ "readelf", "binutils" },  { "clang", "clang" },      { "ld.lld", "lld" },
	{ "llvm-ar", "llvm" },      { "llvm-nm", "llvm" },     { "llvm-objcopy", "llvm" },
	{ "perl", "perl" },         { "python3", "python3" },  { "openssl", "openssl" },
	{ "cpio", "cpio" },         { "gzip", "gzip" },        { "bzip2", "bzip2" },
	{ "xz", "xz-utils" },       { "zstd", "zstd" },        { "lz4", "lz4" },
	{ "lz4c", "lz4" },          { "lzop", "lzop" },        { "lzma", "xz-utils" },
	{ "pahole", "dwarves" },    { "rsync", "rsync" },      { "awk", "mawk" },
	{ "depmod", "kmod" },       { "make", "make" },        { "xxd", "xxd" },
	{ "rustc", "rustc" },       { "bindgen", "bindgen" },  { "ccache", "ccache" },
	{ "hostname", "hostname" }, { "tar", "tar" },          { "m4", "m4" },
};

/*
 * Messages that name a missing package by themselves. @header: where it can be
 * included all the same, it is the commit that includes it in a wrong place.
 */
static const struct {
	const char *text, *with, *header, *package;
} header_table[] = {
	{ "libelf.h: No such file", NULL, "libelf.h", "libelf-dev" },
	{ "gelf.h: No such file", NULL, "gelf.h", "libelf-dev" },
	{ "cannot find -lelf", NULL, NULL, "libelf-dev" },
	{ "please install libelf-dev", NULL, NULL, "libelf-dev" },
	{ "openssl/", "No such file or directory", "openssl/bio.h", "libssl-dev" },
	{ "cannot find -lcrypto", NULL, NULL, "libssl-dev" },
	{ "gmp.h: No such file", NULL, "gmp.h", "libgmp-dev" },
	{ "mpc.h: No such file", NULL, "mpc.h", "libmpc-dev" },
	{ "gcc-plugin.h: No such file", NULL, NULL, "gcc-12-plugin-dev" },
	{ "zlib.h: No such file", NULL, "zlib.h", "zlib1g-dev" },
	{ "pahole", "is not available", NULL, "dwarves" },
	{ "stdio.h: No such file", NULL, "stdio.h", "libc6-dev" },
	{ "stdlib.h: No such file", NULL, "stdlib.h", "libc6-dev" },
};

static bool has_header(const char *name)
{
	_cleanup_free_ char *here = xasprintf("/usr/include/%s", name);
	_cleanup_free_ char *multiarch = xasprintf("/usr/include/*/%s", name);
	glob_t g;
	bool found = access(here, F_OK) == 0;

	if (!found && glob(multiarch, 0, NULL, &g) == 0) {
		found = true;
		globfree(&g);
	}
	return found;
}

/* "<name>: not found" and its like as shells, env and make write them. */
static bool says_missing(const struct line *l, const char *tool)
{
	static const char *const tail[] = { ": not found", ": command not found",
					    ": No such file or directory" };
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(tail); i++) {
		snprintf(text, sizeof(text), " %s%s", tool, tail[i]);
		if (ends(l, text))
			return true;
		snprintf(text, sizeof(text), "'%s'%s", tool, tail[i]);
		if (ends(l, text))
			return true;
	}
	return false;
}

static bool missing_tool(const struct line *l, const char **what, const char **package)
{
	if (is_excerpt(l) || begins(l, "+ "))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(header_table); i++) {
		if (!has(l, header_table[i].text) ||
		    (header_table[i].with && !has(l, header_table[i].with)) ||
		    (header_table[i].header && has_header(header_table[i].header)))
			continue;
		*what = header_table[i].header ? header_table[i].header : header_table[i].package;
		*package = header_table[i].package;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tool_table); i++) {
		if (!says_missing(l, tool_table[i].tool))
			continue;
		/* A commit may well call for it in a wrong place. */
		_cleanup_free_ char *found = proc_which(tool_table[i].tool);

		if (found)
			continue;
		*what = tool_table[i].tool;
		*package = tool_table[i].package;
		return true;
	}
	return false;
}

static const char *const disk_ends[] = { "No space left on device", "Disk quota exceeded",
					 "Input/output error", "Read-only file system" };
static const char *const memory_texts[] = {
	"Killed signal terminated program",
	"internal compiler error: Killed",
	"terminated with signal 9",
	"out of memory allocating",
	"virtual memory exhausted",
	"memory exhausted",
	"LLVM ERROR: out of memory",
	": Cannot allocate memory",
	": Cannot fork",
	"fork: Resource temporarily unavailable",
	"] Killed",
	"] Error 137",
};
static const char *const crash_texts[] = {
	"internal compiler error: Segmentation fault",
	"internal compiler error: Bus error",
	"internal compiler error: Illegal instruction",
	"terminated with signal 11",
	"] Segmentation fault",
	"] Bus error",
	"] Error 139",
};

static bool has_any(const struct line *l, const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (has(l, texts[i]))
			return true;
	return false;
}

static bool ends_with_any(const struct line *l, const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ends(l, texts[i]))
			return true;
	return false;
}

enum build_fault build_log_fault(const char *log, size_t n, const char **tool, const char **package)
{
	enum build_fault fault = BUILD_FAULT_COMMIT;
	struct line l;
	size_t at = 0;

	while (next_line(log, n, &at, &l)) {
		/* Source text and #error lines may say anything. */
		if (is_excerpt(&l) || has(&l, "#error") || begins(&l, "+ "))
			continue;
		if (ends_with_any(&l, disk_ends, ARRAY_SIZE(disk_ends)))
			return BUILD_FAULT_DISK;
		if (begins(&l, "ccache: error: "))
			return BUILD_FAULT_CCACHE;
		if (fault == BUILD_FAULT_COMMIT && missing_tool(&l, tool, package))
			fault = BUILD_FAULT_TOOL;
		else if (has_any(&l, memory_texts, ARRAY_SIZE(memory_texts)))
			fault = BUILD_FAULT_MEMORY;
		else if (fault == BUILD_FAULT_COMMIT &&
			 has_any(&l, crash_texts, ARRAY_SIZE(crash_texts)))
			fault = BUILD_FAULT_CRASH;
	}
	return fault;
}
