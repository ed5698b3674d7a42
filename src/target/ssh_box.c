/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine over SSH: who it is, and how scripts are run there. */
#include "target/ssh_box.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf_note.h"
#include "target/ssh_exec.h"

#define STEP_MS 60000
#define ANSWER_MAX (1u << 20)

void ssh_box_release(struct ssh_box *b)
{
	free(b->cmdline);
	b->cmdline = NULL;
}

void ssh_box_root(const struct ssh_box *b, struct strv *argv)
{
	if (!b->needs_sudo)
		return;
	strv_add(argv, "sudo");
	strv_add(argv, "-n");
	strv_add(argv, "--");
}

void ssh_box_argv(const struct ssh_box *b, enum ssh_script s, bool as_root, const struct strv *args,
		  struct strv *argv)
{
	_cleanup_str_ struct str text = STR_INIT;

	if (as_root)
		ssh_box_root(b, argv);
	ssh_script_text(s, &text);
	strv_add(argv, "sh");
	strv_add(argv, "-c");
	strv_add(argv, str_text(&text));
	strv_addf(argv, "kregress-%s", ssh_script_name(s));
	strv_add(argv, b->o.root ? b->o.root : "");
	if (args)
		strv_extend(argv, args);
}

const char *ssh_box_line(const char *line, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(line, key, n) && line[n] == '=' ? line + n + 1 : NULL;
}

const char *ssh_box_value(const struct strv *answer, const char *key)
{
	for (size_t i = 0; i < answer->n; i++) {
		const char *value = ssh_box_line(answer->v[i], key);

		if (value)
			return value;
	}
	return "";
}

/* Has the line a key, of letters, digits, '_', '.' and '-'? */
static bool has_key(const char *line)
{
	size_t n = strcspn(line, "=");

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)line[i]) && !strchr("_.-", line[i]))
			return false;
	return n > 0 && line[n] == '=';
}

/* The lines between begin=1 and end=1; what a login shell prints may stand before. */
static int take_answer(const char *text, struct strv *answer, struct err *e)
{
	bool begun = false;

	while (*text) {
		size_t n = strcspn(text, "\n");
		_cleanup_free_ char *line = xstrndup(text, n);

		text += n + (text[n] == '\n');
		if (str_eq(line, "begin=1")) {
			begun = true;
		} else if (begun && str_eq(line, "end=1")) {
			return 0;
		} else if (begun && has_key(line)) {
			strv_take(answer, line);
			line = NULL;
		} else if (begun) {
			_cleanup_str_ struct str clean = STR_INIT;

			str_neutralise(&clean, line, n, false);
			return err_set(e, ERR_LAB, "unexpected answer '%.100s'", str_text(&clean));
		}
	}
	return err_set(e, ERR_LAB, "the answer is not complete");
}

int ssh_box_ask(const struct ssh_box *b, enum ssh_script s, bool as_root, const struct strv *args,
		int64_t timeout_ms, struct strv *answer, struct err *e)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT, errors = STR_INIT;
	struct ssh_command o = {
		.timeout_ms = timeout_ms > 0     ? timeout_ms
			      : b->o.step_ms > 0 ? b->o.step_ms
						 : STEP_MS,
		.max_output = ANSWER_MAX,
		.out = &out,
		.errors = &errors,
	};
	struct ssh_result r;
	int ret;

	ssh_box_argv(b, s, as_root, args, &argv);
	o.argv = argv.v;
	if (ssh_exec(b->c, &o, &r, e) < 0)
		return -1;
	/* NULs are cut off here, and then missing. */
	ret = r.end == SSH_EXITED && r.status == 0 ? take_answer(str_text(&out), answer, e)
						   : ssh_failed(&r, &errors, e);
	return ret < 0 ? err_wrap(e, "step '%s' on '%s'", ssh_script_name(s), ssh_name(b->c)) : 0;
}

static size_t unhex(const char *hex, unsigned char *out, size_t room)
{
	size_t n = 0;
	unsigned byte;

	while (n < room && isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1]) &&
	       sscanf(hex, "%2x", &byte) == 1) {
		out[n++] = (unsigned char)byte;
		hex += 2;
	}
	return n;
}

/* Of a kernel of our byte order; "" where its notes (hex) have none. */
static void find_build_id(const char *hex, char id[ELF_BUILD_ID_SIZE])
{
	unsigned char notes[8192];

	id[0] = 0;
	elf_note_build_id(notes, unhex(hex, notes, sizeof(notes)), id);
}

static void take_word(const struct strv *answer, const char *key, char *to, size_t size)
{
	const char *value = ssh_box_value(answer, key);
	_cleanup_str_ struct str clean = STR_INIT;

	str_neutralise(&clean, value, strlen(value), false);
	snprintf(to, size, "%s", str_text(&clean));
}

int ssh_box_identify(struct ssh_conn *c, const struct ssh_box_opts *o, struct ssh_box *b,
		     struct err *e)
{
	_cleanup_strv_ struct strv answer = STRV_INIT;

	ssh_box_release(b);
	b->c = c;
	b->o = *o;
	if (!b->o.work_dir)
		b->o.work_dir = SSH_BOX_WORK_DIR;
	if (!b->o.lock_path)
		b->o.lock_path = SSH_BOX_LOCK;
	if (ssh_box_ask(b, SSH_IDENTIFY, false, NULL, 0, &answer, e) < 0)
		return -1;
	take_word(&answer, "boot_id", b->boot_id, sizeof(b->boot_id));
	take_word(&answer, "release", b->release, sizeof(b->release));
	take_word(&answer, "arch", b->arch, sizeof(b->arch));
	find_build_id(ssh_box_value(&answer, "notes"), b->build_id);
	b->uptime_s = strtod(ssh_box_value(&answer, "uptime"), NULL);
	b->cmdline = xstrdup(ssh_box_value(&answer, "cmdline"));
	b->uid = strtol(ssh_box_value(&answer, "uid"), NULL, 10);
	b->gid = strtol(ssh_box_value(&answer, "gid"), NULL, 10);
	b->needs_sudo = b->uid != 0 && *ssh_box_value(&answer, "sudo") == '1';
	b->is_root = b->uid == 0 || b->needs_sudo;
	return 0;
}

int ssh_box_facts(const struct ssh_box *b, struct strv *facts, struct err *e)
{
	_cleanup_strv_ struct strv answer = STRV_INIT;

	if (ssh_box_ask(b, SSH_FACTS, false, NULL, 0, &answer, e) < 0)
		return -1;
	for (size_t i = 0; i < answer.n; i++) {
		_cleanup_str_ struct str clean = STR_INIT;

		str_neutralise(&clean, answer.v[i], strnlen(answer.v[i], 1000), false);
		if (!str_ends(str_text(&clean), "="))
			strv_add(facts, str_text(&clean));
	}
	return 0;
}
