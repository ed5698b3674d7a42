/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known_hosts. */
#include "target/ssh_known.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/fs.h"
#include "base/hash.h"
#include "target/ssh_key.h"
#include "target/ssh_match.h"

#define FILE_MAX_BYTES (64u << 20)
#define PORT_DEFAULT 22

/* A word of a line: not terminated. */
struct word {
	const char *text;
	size_t n;
};

void ssh_known_release(struct ssh_known *k)
{
	for (size_t i = 0; i < k->n; i++) {
		free(k->key[i].path);
		free(k->key[i].type);
		str_release(&k->key[i].blob);
	}
	free(k->key);
	free(k->malformed);
	memset(k, 0, sizeof(*k));
}

char *ssh_known_name(const char *host, unsigned port)
{
	char *name = port == PORT_DEFAULT ? xstrdup(host) : xasprintf("[%s]:%u", host, port);

	for (char *p = name; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return name;
}

/* The next word of the line of @left bytes; false: none is left. */
static bool next_word(const char **at, size_t *left, struct word *w)
{
	while (*left && (**at == ' ' || **at == '\t')) {
		(*at)++;
		(*left)--;
	}
	w->text = *at;
	while (*left && **at != ' ' && **at != '\t') {
		(*at)++;
		(*left)--;
	}
	w->n = (size_t)(*at - w->text);
	return w->n > 0;
}

/* "|1|salt|hash": HMAC-SHA1 of the name under the salt. 1: it is the name, 0: not, -1: malformed. */
static int hashed_is(const struct word *w, const char *name)
{
	_cleanup_str_ struct str salt = STR_INIT, want = STR_INIT;
	const char *bar = memchr(w->text + 3, '|', w->n - 3);
	uint8_t mac[HASH_SHA1_SIZE];

	if (!bar || !base64_parse(w->text + 3, (size_t)(bar - w->text - 3), &salt) ||
	    !base64_parse(bar + 1, w->n - (size_t)(bar + 1 - w->text), &want) ||
	    salt.len != sizeof(mac) || want.len != sizeof(mac))
		return -1;
	hash_hmac_sha1(salt.buf, salt.len, name, strlen(name), mac);
	return memcmp(mac, want.buf, sizeof(mac)) == 0;
}

static int names_fit(const struct word *w, const char *name)
{
	if (w->n > 3 && !memcmp(w->text, "|1|", 3))
		return hashed_is(w, name);
	return ssh_match_list(name, w->text, w->n);
}

static bool parse_mark(const struct word *w, enum ssh_known_mark *mark)
{
	static const struct {
		const char *text;
		enum ssh_known_mark mark;
	} marks[] = {
		{ "@revoked", SSH_KNOWN_REVOKED_KEY },
		{ "@cert-authority", SSH_KNOWN_AUTHORITY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (w->n == strlen(marks[i].text) && !memcmp(w->text, marks[i].text, w->n)) {
			*mark = marks[i].mark;
			return true;
		}
	}
	return false;
}

/* The key that the line gives; false: not one. */
static bool parse_key(const struct word *type, const struct word *data, struct ssh_known_key *key)
{
	key->blob = (struct str)STR_INIT;
	key->type = NULL;
	if (base64_parse(data->text, data->n, &key->blob))
		key->type = ssh_key_type(str_text(&key->blob), key->blob.len);
	if (key->type && strlen(key->type) == type->n && !memcmp(key->type, type->text, type->n))
		return true;
	free(key->type);
	str_release(&key->blob);
	return false;
}

/* The two names a host may have: with its port, and without. */
struct names {
	char *exact, *plain; /* the same on port 22 */
};

/* 1: the line is about the host, 0: not, -1: malformed. */
static int parse_line(const char *at, size_t left, const struct names *names,
		      struct ssh_known_key *key)
{
	struct word hosts, type, data;
	int fits, fits_plain;

	if (!next_word(&at, &left, &hosts) || hosts.text[0] == '#')
		return 0;
	key->mark = SSH_KNOWN_KEY;
	if (hosts.text[0] == '@' &&
	    (!parse_mark(&hosts, &key->mark) || !next_word(&at, &left, &hosts)))
		return -1;
	if (!next_word(&at, &left, &type) || !next_word(&at, &left, &data))
		return -1;
	fits = names_fit(&hosts, names->exact);
	fits_plain = names_fit(&hosts, names->plain);
	if (!parse_key(&type, &data, key))
		return -1;
	key->is_other_port = fits != 1;
	if (fits == 1 || fits_plain == 1)
		return 1;
	free(key->type);
	str_release(&key->blob);
	return fits;
}

void ssh_known_parse(const char *path, const char *text, size_t n, const char *host, unsigned port,
		     struct ssh_known *k)
{
	_cleanup_free_ char *exact = ssh_known_name(host, port);
	_cleanup_free_ char *plain = ssh_known_name(host, PORT_DEFAULT);
	const struct names names = { exact, plain };
	int line = 0;

	for (size_t at = 0; at < n;) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - (text + at)) : n - at, left = len;
		struct ssh_known_key key;
		int got;

		line++;
		/* Files that an editor of another system saved. */
		if (left && text[at + left - 1] == '\r')
			left--;
		got = parse_line(text + at, left, &names, &key);
		if (got < 0 && !k->malformed)
			k->malformed = xasprintf("%s:%d", path, line);
		if (got > 0) {
			key.path = xstrdup(path);
			key.line = line;
			xgrow(&k->key, &k->room, k->n + 1, sizeof(*k->key));
			k->key[k->n++] = key;
		}
		at += len + 1;
	}
}

int ssh_known_read(const struct strv *paths, const char *host, unsigned port, struct ssh_known *k,
		   struct err *e)
{
	for (size_t i = 0; i < paths->n; i++) {
		_cleanup_str_ struct str text = STR_INIT;
		struct err why = ERR_INIT;

		if (fs_read(paths->v[i], FILE_MAX_BYTES, &text, &why) < 0) {
			if (why.code == ERR_NOT_FOUND)
				continue;
			return err_set(e, ERR_CONFIG, "cannot check host keys: %s", why.msg);
		}
		ssh_known_parse(paths->v[i], str_text(&text), text.len, host, port, k);
	}
	return 0;
}

static bool is_same(const struct ssh_known_key *key, const void *blob, size_t n)
{
	return key->blob.len == n && !memcmp(key->blob.buf, blob, n);
}

/* The first line that passes; @blob NULL: of the type; @other_port: where such lines count. */
static const struct ssh_known_key *seek(const struct ssh_known *k, enum ssh_known_mark mark,
					const char *type, const void *blob, size_t n,
					bool other_port)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct ssh_known_key *key = &k->key[i];

		if (key->mark != mark || (key->is_other_port && !other_port))
			continue;
		if (blob ? is_same(key, blob, n) : !type || !strcmp(type, key->type))
			return key;
	}
	return NULL;
}

enum ssh_known_verdict ssh_known_check(const struct ssh_known *k, const void *blob, size_t n,
				       const struct ssh_known_key **which)
{
	_cleanup_free_ char *type = ssh_key_type(blob, n);
	const struct ssh_known_key *found;
	enum ssh_known_verdict verdict;

	if ((found = seek(k, SSH_KNOWN_REVOKED_KEY, NULL, blob, n, true)))
		verdict = SSH_KNOWN_REVOKED;
	else if ((found = seek(k, SSH_KNOWN_KEY, NULL, blob, n, false)))
		verdict = SSH_KNOWN_MATCH;
	else if (type && (found = seek(k, SSH_KNOWN_KEY, type, NULL, 0, false)))
		verdict = SSH_KNOWN_CHANGED;
	else if ((found = seek(k, SSH_KNOWN_KEY, NULL, blob, n, true)))
		verdict = SSH_KNOWN_MATCH;
	else
		verdict = SSH_KNOWN_UNKNOWN;
	if (which)
		*which = found;
	return verdict;
}

const struct ssh_known_key *ssh_known_find(const struct ssh_known *k, enum ssh_known_mark mark,
					   const char *type)
{
	return seek(k, mark, type, NULL, 0, true);
}
