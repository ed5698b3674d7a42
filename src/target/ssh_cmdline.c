/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel command lines. */
#include "target/ssh_cmdline.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* COMMAND_LINE_SIZE of x86 and arm64, with the NUL. */
#define LINE_MAX_BYTES 2048

/* Added by boot loaders, or said by us. */
static const char *const dropped[] = {
	"BOOT_IMAGE", "initrd", "panic", "oops", SSH_CMDLINE_NONCE,
};

/*
 * The next word as the kernel cuts them (next_arg() in lib/cmdline.c): blanks separate, but not
 * within double quotes. Returns its length, 0 at the end; *@at is moved to its start.
 */
static size_t next_word(const char **at)
{
	bool quoted = false;
	size_t n = 0;

	while (isspace((unsigned char)**at))
		(*at)++;
	for (; (*at)[n] && (quoted || !isspace((unsigned char)(*at)[n])); n++)
		if ((*at)[n] == '"')
			quoted = !quoted;
	return n;
}

static bool is_named(const char *word, size_t n, const char *name)
{
	size_t len = strlen(name);

	return n > len && !strncmp(word, name, len) && word[len] == '=';
}

static bool is_dropped(const char *word, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++)
		if (is_named(word, n, dropped[i]))
			return true;
	return false;
}

static bool is_end_mark(const char *word, size_t n)
{
	return n == 2 && !memcmp(word, "--", 2);
}

static void add_word(struct str *out, const char *word, size_t n)
{
	if (out->len)
		str_add(out, " ");
	str_addmem(out, word, n);
}

/* Home's words up to "--"; returns what follows (with the mark), "" where nothing does. */
static const char *add_home(struct str *out, const char *home)
{
	const char *at = home;
	size_t n;

	for (; (n = next_word(&at)) > 0; at += n) {
		if (is_end_mark(at, n))
			return at;
		if (!is_dropped(at, n))
			add_word(out, at, n);
	}
	return "";
}

static void add_words(struct str *out, const char *words)
{
	const char *at = words ? words : "";
	size_t n;

	for (; (n = next_word(&at)) > 0; at += n)
		add_word(out, at, n);
}

int ssh_cmdline_check(const char *words, const char *whose, struct err *e)
{
	const char *at = words ? words : "";
	size_t n, quotes = 0;

	for (const char *s = at; *s; s++)
		quotes += *s == '"';
	if (quotes % 2)
		return err_set(e, ERR_CONFIG, "a double quote is not closed in '%.200s' (%s)",
			       words, whose);
	for (; (n = next_word(&at)) > 0; at += n)
		if (is_end_mark(at, n))
			return err_set(
				e, ERR_CONFIG,
				"'--' in '%.200s' (%s): what follows is for init, and no boot "
				"parameter",
				words, whose);
	return 0;
}

bool ssh_cmdline_value(const char *cmdline, const char *name, char *value, size_t size)
{
	const char *at = cmdline;
	bool found = false;
	size_t n;

	for (; (n = next_word(&at)) > 0 && !is_end_mark(at, n); at += n) {
		size_t skip = strlen(name) + 1;

		if (!is_named(at, n, name))
			continue;
		found = true;
		if (value)
			snprintf(value, size, "%.*s", (int)(n - skip), at + skip);
	}
	return found;
}

/* Names of a root file system that only user space in an initramfs can resolve. */
static int check_root(const char *cmdline, struct err *e)
{
	static const char *const helped[] = { "UUID=",      "LABEL=", "/dev/mapper/",
					      "/dev/disk/", "ZFS=",   "zfs:" };
	char root[256];

	if (!ssh_cmdline_value(cmdline, "root", root, sizeof(root)))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(helped); i++)
		if (str_starts(root, helped[i]))
			return err_set(e, ERR_CONFIG,
				       "root=%s cannot be found by a kernel without initramfs "
				       "(initramfs = make, or append = root=PARTUUID=… in "
				       "[target])",
				       root);
	return 0;
}

int ssh_cmdline_make(const struct ssh_cmdline *c, struct str *out, struct err *e)
{
	_cleanup_str_ struct str line = STR_INIT;
	const char *rest = add_home(&line, c->home);

	if (ssh_cmdline_check(c->workload, "append = of the workload", e) < 0 ||
	    ssh_cmdline_check(c->campaign, "append = in [target]", e) < 0)
		return -1;
	add_words(&line, c->workload);
	add_words(&line, c->campaign);
	add_words(&line, "panic=10 oops=panic");
	if (line.len)
		str_add(&line, " ");
	str_addf(&line, "%s=%s", SSH_CMDLINE_NONCE, c->nonce);
	add_words(&line, rest);
	if (line.len >= LINE_MAX_BYTES)
		return err_set(e, ERR_CONFIG,
			       "the kernel's command line would be %zu bytes long, and kernels "
			       "take %d (append = in [target])",
			       line.len, LINE_MAX_BYTES - 1);
	if (!c->has_initramfs && check_root(str_text(&line), e) < 0)
		return -1;
	str_addmem(out, line.buf, line.len);
	return 0;
}

/*
 * In single quotes GRUB takes all but the quote as it is. Around a word with blanks it puts
 * double quotes itself, and it would escape those that are there.
 */
void ssh_cmdline_quote_grub(const char *cmdline, struct str *out)
{
	const char *at = cmdline;
	bool first = true;
	size_t n;

	for (; (n = next_word(&at)) > 0; at += n) {
		str_add(out, first ? "'" : " '");
		first = false;
		for (size_t i = 0; i < n; i++) {
			if (at[i] == '\'')
				str_add(out, "'\\''");
			else if (at[i] != '"')
				str_addmem(out, at + i, 1);
		}
		str_add(out, "'");
	}
}
