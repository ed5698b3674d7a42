/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine over SSH: made quiet and comparable, and put back. */
#include "target/ssh_box.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "target/ssh_exec.h"

#define STATE_FILE "settings.before"
#define SETUP_MS 120000 /* services take their time */
#define WAIT_STEP_S 5
#define SAY_MS 30000

static const struct {
	const char *name, *values; /* values: parted by '|'; NULL: any word */
} known[] = {
	{ "governor", NULL }, { "turbo", "on|off" }, { "smt", "on|off" },
	{ "aslr", "on|off" }, { "stop", NULL },      { "thp", "always|madvise|never" },
};

/* Without these we would not come back. */
static const char *const needed_units[] = {
	"ssh",     "sshd",           "dropbear",         "networking",
	"network", "NetworkManager", "systemd-networkd", "systemd-resolved",
	"dbus",
};

static bool is_word(const char *s)
{
	for (size_t i = 0; s[i]; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("_.@:-", s[i]))
			return false;
	return *s != 0 && *s != '-';
}

static bool is_one_of(const char *value, const char *values)
{
	size_t n = strlen(value);

	for (const char *at = values; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
		if (strcspn(at, "|") == n && !strncmp(at, value, n))
			return true;
	return false;
}

static int add_units(const char *value, struct strv *out, struct err *e)
{
	while (*value) {
		size_t n = strcspn(value, ",");
		_cleanup_free_ char *unit = xstrndup(value, n);
		_cleanup_free_ char *base = xstrndup(unit, strcspn(unit, "."));

		value += n + (value[n] == ',');
		if (!is_word(unit))
			return err_set(e, ERR_CONFIG,
				       "'%s' is no name of a service (setup = in "
				       "[target])",
				       unit);
		for (size_t i = 0; i < ARRAY_SIZE(needed_units); i++)
			if (str_eq(base, needed_units[i]))
				return err_set(
					e, ERR_CONFIG,
					"without '%s' the machine cannot be reached (setup = "
					"in [target])",
					unit);
		strv_addf(out, "stop=%s", unit);
	}
	return 0;
}

/* PATH=VALUE; runs of blanks in the value become one, as they are when it is read back. */
static int add_path(const char *word, struct strv *out, struct err *e)
{
	_cleanup_str_ struct str clean = STR_INIT;
	const char *value = strchr(word, '=') + 1;
	_cleanup_free_ char *path = xstrndup(word, (size_t)(value - 1 - word));

	if ((!str_starts(path, "/proc/sys/") && !str_starts(path, "/sys/")) ||
	    strpbrk(path, " \t\n") || strstr(path, "/../") || strchr(value, '\n'))
		return err_set(
			e, ERR_CONFIG,
			"'%.200s' is no setting below /proc/sys or /sys (setup = in [target])",
			word);
	str_addf(&clean, "%s=", path);
	for (const char *s = value; *(s += strspn(s, " \t"));) {
		size_t n = strcspn(s, " \t");

		if (s > value + strspn(value, " \t"))
			str_add(&clean, " ");
		str_addmem(&clean, s, n);
		s += n;
	}
	strv_add(out, str_text(&clean));
	return 0;
}

static int unknown_word(const char *word, const char *name, struct err *e)
{
	const char *names[ARRAY_SIZE(known)], *near;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		names[i] = known[i].name;
	near = str_did_you_mean(name, names, ARRAY_SIZE(names));
	err_set(e, ERR_CONFIG, "unknown word '%.200s' in setup = of [target]", word);
	return near ? err_hint(e, "did you mean '%s'?", near) : -1;
}

static int parse_word(const char *word, struct strv *out, struct err *e)
{
	const char *value = strchr(word, '=');
	_cleanup_free_ char *name = xstrndup(word, strcspn(word, "="));

	if (!value || !value[1])
		return err_set(e, ERR_CONFIG, "'%.200s' lacks a value (setup = in [target])", word);
	if (*word == '/')
		return add_path(word, out, e);
	if (str_eq(name, "stop"))
		return add_units(value + 1, out, e);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!str_eq(name, known[i].name))
			continue;
		if (known[i].values ? !is_one_of(value + 1, known[i].values) : !is_word(value + 1))
			return err_set(e, ERR_CONFIG, "'%.200s': it is %s=%s (setup = in [target])",
				       word, name, known[i].values ? known[i].values : "NAME");
		strv_add(out, word);
		return 0;
	}
	return unknown_word(word, name, e);
}

int ssh_setup_parse(const struct strv *words, struct strv *out, struct err *e)
{
	for (size_t i = 0; i < words->n; i++)
		if (parse_word(words->v[i], out, e) < 0)
			return -1;
	return 0;
}

static int ask(const struct ssh_box *b, enum ssh_script s, const struct strv *words,
	       struct strv *answer, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT;

	strv_addf(&args, "%s/%s", b->o.work_dir, STATE_FILE);
	strv_add(&args, b->boot_id);
	if (words)
		strv_extend(&args, words);
	if (ssh_box_ask(b, s, b->is_root, &args, SETUP_MS, answer, e) < 0)
		return -1;
	for (size_t i = 0; i < answer->n; i++) {
		const char *text = ssh_box_line(answer->v[i], "unrestored");
		_cleanup_str_ struct str clean = STR_INIT;

		if (!text)
			continue;
		str_neutralise(&clean, text, strnlen(text, 300), false);
		log_warn("'%s': cannot put back: %s", ssh_name(b->c), str_text(&clean));
	}
	return 0;
}

int ssh_box_restore(const struct ssh_box *b, struct err *e)
{
	_cleanup_strv_ struct strv answer = STRV_INIT;

	return ask(b, SSH_RESTORE, NULL, &answer, e);
}

int ssh_box_setup(const struct ssh_box *b, const struct strv *words, struct err *e)
{
	_cleanup_strv_ struct strv answer = STRV_INIT;
	_cleanup_str_ struct str bad = STR_INIT, clean = STR_INIT;

	if (ask(b, SSH_SETUP, words, &answer, e) < 0)
		return -1;
	for (size_t i = 0; i < answer.n; i++) {
		const char *text = ssh_box_line(answer.v[i], "failed");

		if (text)
			str_addf(&bad, "%s%s", bad.len ? "; " : "", text);
	}
	if (!bad.len)
		return 0;
	str_neutralise(&clean, bad.buf, bad.len, false);
	return err_set(e, ERR_LAB, "cannot set up '%s': %s (setup = in [target])", ssh_name(b->c),
		       str_text(&clean));
}

/* ---- waiting ------------------------------------------------------------------------------- */

struct waiting {
	const struct ssh_box *b;
	int64_t max_wait_ms, said_ms; /* 0: nothing was said */
	char why[80], quiet;
};

static void take_line(void *cookie, const char *text, size_t n)
{
	struct waiting *w = cookie;
	_cleanup_str_ struct str line = STR_INIT;
	const char *value;
	char limit[32];

	str_neutralise(&line, text, n < 100 ? n : 100, false);
	if ((value = ssh_box_line(str_text(&line), "quiet")))
		w->quiet = *value;
	if (!(value = ssh_box_line(str_text(&line), "wait")))
		return;
	snprintf(w->why, sizeof(w->why), "%s", value);
	if (w->said_ms && clock_mono_ms() - w->said_ms < SAY_MS)
		return;
	w->said_ms = clock_mono_ms();
	log_info("'%s': %s: waiting, at most %s", ssh_name(w->b->c), w->why,
		 str_duration((double)w->max_wait_ms / 1000, limit, sizeof(limit)));
}

int ssh_box_wait(const struct ssh_box *b, double max_load, int64_t max_wait_ms, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT, argv = STRV_INIT;
	_cleanup_str_ struct str errors = STR_INIT;
	struct waiting w = { .b = b, .max_wait_ms = max_wait_ms };
	struct ssh_command o = {
		.timeout_ms = max_wait_ms + SETUP_MS,
		.errors = &errors,
		.line = take_line,
		.cookie = &w,
	};
	struct ssh_result r;

	strv_addf(&args, "%d", max_load > 0 ? (int)(max_load * 100 + 0.5) : -1);
	strv_addf(&args, "%lld", (long long)(max_wait_ms + 999) / 1000);
	strv_addf(&args, "%d", WAIT_STEP_S);
	ssh_box_argv(b, SSH_QUIET, false, &args, &argv);
	o.argv = argv.v;
	if (ssh_exec(b->c, &o, &r, e) < 0)
		return -1;
	if (w.quiet == '1')
		return 0;
	if (w.quiet == '0')
		return err_set(
			e, ERR_LAB,
			"'%s' does not become quiet: %s after %lld s (max_load = and max_wait "
			"= in [target])",
			ssh_name(b->c), w.why, (long long)max_wait_ms / 1000);
	ssh_failed(&r, &errors, e);
	return err_wrap(e, "step 'quiet' on '%s'", ssh_name(b->c));
}
