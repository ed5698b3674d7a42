/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel was built from, by the .cmd files that its make left; what cannot matter to it. */
#include "io/used.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_MAX_BYTES 1024 /* longer ones are no kernel's */
#define CMD_MAX (16u << 20) /* one .cmd file */
#define FILES_MAX 1000000   /* of them */
#define PATHS_MAX 1000000   /* in a set */
#define DEPTH_MAX 64        /* folders below O= */
#define HEADING "kregress used 1\n"

struct used {
	struct strv path;
	uint32_t *index; /* open addressing: number of a path + 1 */
	size_t size;     /* of index, a power of two */
	bool full;
};

struct used *used_new(void)
{
	struct used *u = xcalloc(1, sizeof(*u));

	u->size = 1024;
	u->index = xcalloc(u->size, sizeof(*u->index));
	return u;
}

void used_free(struct used *u)
{
	if (!u)
		return;
	strv_release(&u->path);
	free(u->index);
	free(u);
}

size_t used_count(const struct used *u)
{
	return u->path.n;
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint32_t hash_of(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h;
}

/* Where @s is in the index, or would be. */
static size_t find(const struct used *u, const char *s, size_t n)
{
	size_t at = hash_of(s, n) & (u->size - 1);

	for (; u->index[at]; at = (at + 1) & (u->size - 1)) {
		const char *have = u->path.v[u->index[at] - 1];

		if (strncmp(have, s, n) == 0 && !have[n])
			break;
	}
	return at;
}

static void double_index(struct used *u)
{
	free(u->index);
	u->size *= 2;
	u->index = xcalloc(u->size, sizeof(*u->index));
	for (size_t i = 0; i < u->path.n; i++)
		u->index[find(u, u->path.v[i], strlen(u->path.v[i]))] = (uint32_t)i + 1;
}

static void add(struct used *u, const char *s, size_t n)
{
	size_t at = find(u, s, n);

	if (u->index[at] || !n)
		return;
	if (u->path.n >= PATHS_MAX) {
		u->full = true;
		return;
	}
	strv_take(&u->path, xstrndup(s, n));
	u->index[at] = (uint32_t)u->path.n;
	if (u->path.n > u->size / 2)
		double_index(u);
}

bool used_has(const struct used *u, const char *path)
{
	return u->index[find(u, path, strlen(path))] != 0;
}

/* ---- .cmd files ---- */

/* Without "." and ".." and doubled slashes. 0: it leads out of the sources. */
static size_t normalise(const char *s, size_t n, char out[PATH_MAX_BYTES])
{
	size_t len = 0;

	for (size_t i = 0, end; i < n; i = end + 1) {
		const char *slash = memchr(s + i, '/', n - i);

		end = slash ? (size_t)(slash - s) : n;
		if (end == i || (end - i == 1 && s[i] == '.'))
			continue;
		if (end - i == 2 && s[i] == '.' && s[i + 1] == '.') {
			if (!len)
				return 0;
			while (len && out[--len] != '/')
				;
			continue;
		}
		if (len)
			out[len++] = '/';
		memcpy(out + len, s + i, end - i);
		len += end - i;
	}
	return len;
}

/* How many bytes from @s on can be of one path: neither blanks nor what make and shells read. */
static size_t path_length(const char *s, size_t n)
{
	size_t len = 0;

	while (len < n && (unsigned char)s[len] > ' ' && s[len] != 0x7f &&
	       !strchr("'\"`\\():;=<>|&$*?", s[len]))
		len++;
	return len;
}

void used_scan(struct used *u, const char *src, const char *text, size_t n)
{
	size_t len = strlen(src), path;
	char clean[PATH_MAX_BYTES];

	for (const char *end = text + n, *at = text;
	     (at = memmem(at, (size_t)(end - at), src, len)); at += path) {
		at += len;
		path = path_length(at, (size_t)(end - at));
		/* A longer path that begins alike is not ours; what is longer than ours neither. */
		if (path < 2 || path > PATH_MAX_BYTES || *at != '/')
			continue;
		add(u, clean, normalise(at, path, clean));
	}
}

struct scan {
	struct used *u;
	const char *src;
	unsigned files;
	bool partial; /* there is something that we cannot read whole */
};

static bool read_whole(int fd, char *buf, size_t n)
{
	for (size_t got = 0; got < n;) {
		ssize_t m = read(fd, buf + got, n - got);

		if (m < 0 && errno == EINTR)
			continue;
		if (m <= 0)
			return false;
		got += (size_t)m;
	}
	return true;
}

static void scan_file(struct scan *s, int dirfd, const char *name)
{
	/* What lies there a commit's own make has put there: perhaps a pipe. */
	_cleanup_close_ int fd = openat(dirfd, name,
					O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > CMD_MAX ||
	    s->files++ >= FILES_MAX) {
		s->partial = true;
		return;
	}
	_cleanup_free_ char *text = xcalloc((size_t)st.st_size + 1, 1);

	if (read_whole(fd, text, (size_t)st.st_size))
		used_scan(s->u, s->src, text, (size_t)st.st_size);
	else
		s->partial = true;
}

static bool is_cmd(const char *name)
{
	return name[0] == '.' && str_ends(name, ".cmd");
}

/* Takes @fd. Symbolic links are not followed: O=/source leads to all of the sources. */
static int scan_folder(struct scan *s, int fd, unsigned depth, struct err *e)
{
	DIR *d = fdopendir(fd);
	int ret = 0;

	if (!d) {
		close(fd);
		return err_sys(e, errno, "cannot read the build folder");
	}
	for (struct dirent *de; ret == 0 && (de = readdir(d));) {
		if (str_eq(de->d_name, ".") || str_eq(de->d_name, ".."))
			continue;
		int below = openat(fd, de->d_name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

		if (below < 0 && is_cmd(de->d_name))
			scan_file(s, fd, de->d_name);
		else if (below >= 0 && depth < DEPTH_MAX)
			ret = scan_folder(s, below, depth + 1, e);
		else if (below >= 0) {
			close(below);
			s->partial = true;
		}
	}
	closedir(d);
	return ret;
}

int used_scan_tree(struct used *u, const char *src, const char *out, struct err *e)
{
	struct scan s = { .u = u, .src = src };
	int fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, errno, "cannot read '%s'", out);
	if (scan_folder(&s, fd, 0, e) < 0)
		return -1;
	/* Every kernel has it: else make keeps its records in a way that we do not know. */
	return !s.partial && !u->full && used_has(u, "init/main.c");
}

/* ---- as a file ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void format_lines(const struct used *u, struct str *out)
{
	_cleanup_free_ char **sorted = xcalloc(u->path.n, sizeof(*sorted));

	for (size_t i = 0; i < u->path.n; i++)
		sorted[i] = u->path.v[i];
	if (u->path.n)
		qsort(sorted, u->path.n, sizeof(*sorted), by_text);
	str_add(out, HEADING);
	for (size_t i = 0; i < u->path.n; i++)
		str_addf(out, "%s\n", sorted[i]);
}

void used_digest(const struct used *u, char hex[HASH_HEX_SIZE])
{
	_cleanup_str_ struct str text = STR_INIT;

	format_lines(u, &text);
	hash_bytes(text.buf, text.len, hex);
}

/* The last line is the hash of all before it. */
void used_format(const struct used *u, struct str *out)
{
	char hex[HASH_HEX_SIZE];

	used_digest(u, hex);
	format_lines(u, out);
	str_addf(out, "%s\n", hex);
}

bool used_parse(struct used *u, const char *text, size_t n)
{
	size_t tail = HASH_HEX_SIZE; /* 64 digits and a newline */
	char hex[HASH_HEX_SIZE];

	if (n < strlen(HEADING) + tail || memcmp(text, HEADING, strlen(HEADING)) != 0)
		return false;
	hash_bytes(text, n - tail, hex);
	if (memcmp(hex, text + n - tail, tail - 1) != 0 || text[n - 1] != '\n')
		return false;
	for (const char *at = text + strlen(HEADING), *end; at < text + n - tail; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + n - at));
		add(u, at, (size_t)(end - at));
	}
	return !u->full;
}

/* ---- what cannot matter ---- */

static bool ends_in(const char *path, const char *const *ends, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_ends(path, ends[i]))
			return true;
	return false;
}

/* Kconfig, Makefile and Kbuild with what may follow (Kconfig.debug, Makefile_32.cpu). */
static bool decides_what_is_built(const char *path, const char *name)
{
	return str_starts(name, "Kconfig") || str_starts(name, "Makefile") ||
	       str_starts(name, "Kbuild") || str_starts(path, "scripts/") ||
	       str_starts(path, "tools/");
}

/* Read by people alone. */
static bool is_documentation(const char *path, const char *name)
{
	static const char *const top[] = { "MAINTAINERS", "CREDITS", "COPYING", "README",
					   ".mailmap" };

	if (str_starts(path, "Documentation/") || str_starts(path, "LICENSES/") ||
	    str_ends(name, ".rst") || str_eq(name, ".gitignore"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(top); i++)
		if (str_eq(path, top[i]))
			return true;
	return false;
}

bool used_is_idle(const struct used *u, const char *path, enum repo_change change)
{
	/* Of these the compiler, the assembler or dtc write down all that they read. */
	static const char *const code[] = { ".c", ".h", ".S", ".dts", ".dtsi" };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (change != REPO_MODIFIED || used_has(u, path) || decides_what_is_built(path, name))
		return false;
	if (is_documentation(path, name))
		return true;
	if (!ends_in(path, code, ARRAY_SIZE(code)))
		return false;
	return !str_ends(path, ".h") ||
	       (!str_starts(path, "include/") && !strstr(path, "/include/"));
}
