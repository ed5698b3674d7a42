/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as OpenSSH's files: known_hosts, ssh_config, keys. Read within bounds, and consistent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/replay.h"

#include "base/str.h"
#include "target/ssh_config.h"
#include "target/ssh_key.h"
#include "target/ssh_known.h"

#define MUST(what)                                                     \
	do {                                                           \
		if (!(what)) {                                         \
			fprintf(stderr, "does not hold: %s\n", #what); \
			abort();                                       \
		}                                                      \
	} while (0)

static int count_lines(const char *text, size_t n)
{
	int lines = 1;

	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

/* What was taken as a key is one, of its type, on a line of the text; and it is judged as such. */
static void check_known(const char *text, size_t n, const char *host, unsigned port)
{
	_cleanup_(ssh_known_release) struct ssh_known k = SSH_KNOWN_INIT;
	int last = 0;

	ssh_known_parse("fuzz", text, n, host, port, &k);
	for (size_t i = 0; i < k.n; i++) {
		const struct ssh_known_key *key = &k.key[i], *which;
		_cleanup_free_ char *type = ssh_key_type(key->blob.buf, key->blob.len);
		enum ssh_known_verdict verdict = ssh_known_check(&k, key->blob.buf, key->blob.len,
								 &which);

		MUST(type && !strcmp(type, key->type));
		MUST(key->line > last && key->line <= count_lines(text, n));
		last = key->line;
		MUST(key->mark != SSH_KNOWN_REVOKED_KEY || verdict == SSH_KNOWN_REVOKED);
		MUST(key->mark != SSH_KNOWN_KEY || key->is_other_port ||
		     verdict == SSH_KNOWN_MATCH || verdict == SSH_KNOWN_REVOKED);
		MUST((verdict == SSH_KNOWN_UNKNOWN) == (which == NULL));
	}
	MUST(!k.malformed || str_starts(k.malformed, "fuzz:"));
}

/* A line that is put before or after changes nothing of what the others say. */
static void check_lines_are_apart(const char *text, size_t n)
{
	static const char line[] =
		"box ssh-ed25519 "
		"AAAAC3NzaC1lZDI1NTE5AAAAIEhFr6qYFYXtuqk9C7w7hUiWpU7tyWbT4sC8bwTq5Q5a\n";
	_cleanup_(ssh_known_release) struct ssh_known alone = SSH_KNOWN_INIT,
						      after = SSH_KNOWN_INIT;
	_cleanup_str_ struct str both = STR_INIT;

	ssh_known_parse("fuzz", text, n, "box", 22, &alone);
	str_addmem(&both, text, n);
	str_add(&both, "\n");
	str_add(&both, line);
	ssh_known_parse("fuzz", both.buf, both.len, "box", 22, &after);
	MUST(after.n == alone.n + 1);
	MUST(!strcmp(after.key[after.n - 1].type, "ssh-ed25519"));
}

static void check_config(const char *text, size_t n)
{
	_cleanup_(ssh_config_release) struct ssh_config c = SSH_CONFIG_INIT;
	const struct ssh_config_query q = { .alias = "box", .home = "/home/x" };
	struct err e = ERR_INIT;

	if (ssh_config_parse("fuzz", text, n, &q, &c, &e) < 0) {
		MUST(e.code == ERR_CONFIG && *e.msg);
		for (const char *s = e.msg; *s; s++)
			MUST((unsigned char)*s >= 0x20 && *s != 0x7f);
		return;
	}
	MUST(c.host_name && c.port <= 65535);
	for (size_t i = 0; i < c.identities.n; i++)
		MUST(c.identities.v[i]);
}

static void check_keyfile(const char *text, size_t n)
{
	_cleanup_(ssh_keyfile_release) struct ssh_keyfile k = SSH_KEYFILE_INIT;

	if (!ssh_keyfile_parse(text, n, &k))
		return;
	if (k.blob.len) {
		_cleanup_free_ char *type = ssh_key_type(k.blob.buf, k.blob.len);
		_cleanup_free_ char *fingerprint = ssh_key_fingerprint(k.blob.buf, k.blob.len);

		MUST(k.type && type && !strcmp(type, k.type));
		MUST(strlen(fingerprint) == strlen("SHA256:") + 43);
		MUST(ssh_key_is_usable(k.type) == !ssh_key_why_not(k.type));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* A copy of the exact size: a read past its end is seen. */
	_cleanup_free_ char *text = xcalloc(n + !n, 1);

	memcpy(text, data, n);
	check_known(text, n, "box", 22);
	check_known(text, n, "Box.lab", 2222);
	check_lines_are_apart(text, n);
	check_config(text, n);
	check_keyfile(text, n);
	return 0;
}
