/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SSH keys: types, fingerprints, files. */
#include "target/ssh_key.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/fs.h"
#include "base/hash.h"
#include "target/ssh_wire.h"

#define KEYFILE_MAX (256u << 10)
#define TYPE_MAX 64

const char *const ssh_key_types[SSH_KEY_TYPES] = {
	"ssh-ed25519",
	"ecdsa-sha2-nistp256",
	"ecdsa-sha2-nistp384",
	"ecdsa-sha2-nistp521",
};

bool ssh_key_is_usable(const char *type)
{
	for (size_t i = 0; i < SSH_KEY_TYPES; i++)
		if (!strcmp(type, ssh_key_types[i]))
			return true;
	return false;
}

const char *ssh_key_why_not(const char *type)
{
	if (ssh_key_is_usable(type))
		return NULL;
	if (strstr(type, "-cert-v01@"))
		return "a certificate, which libssh2 cannot use";
	if (!strcmp(type, "ssh-rsa"))
		return "RSA, which this libssh2 cannot sign with SHA-2: use ed25519";
	if (str_starts(type, "sk-"))
		return "on a security key, which libssh2 cannot use";
	return "of a type that libssh2 cannot use: use ed25519";
}

char *ssh_key_type(const void *blob, size_t n)
{
	struct ssh_wire w = { blob, n }, type;

	if (!ssh_wire_string(&w, &type) || !type.left || type.left > TYPE_MAX)
		return NULL;
	for (size_t i = 0; i < type.left; i++)
		if (type.data[i] <= ' ' || type.data[i] >= 0x7f)
			return NULL;
	return xstrndup((const char *)type.data, type.left);
}

char *ssh_key_fingerprint(const void *blob, size_t n)
{
	struct str out = STR_INIT;
	uint8_t raw[HASH_RAW_SIZE];

	hash_raw(blob, n, raw);
	str_add(&out, "SHA256:");
	base64_add(&out, raw, sizeof(raw));
	out.buf[strcspn(out.buf, "=")] = '\0';
	return str_detach(&out);
}

void ssh_keyfile_release(struct ssh_keyfile *k)
{
	free(k->type);
	k->type = NULL;
	str_release(&k->blob);
}

static void take_blob(struct ssh_keyfile *k, const void *blob, size_t n)
{
	char *type = ssh_key_type(blob, n);

	if (!type)
		return;
	free(k->type);
	k->type = type;
	str_clear(&k->blob);
	str_addmem(&k->blob, blob, n);
}

/* The bytes between the lines BEGIN and END; false: not base64. */
static bool armoured(const char *text, struct str *out)
{
	const char *start = strchr(text, '\n'), *end;

	if (!start || !(end = strstr(start, "\n-----END ")))
		return false;
	return base64_parse(start, (size_t)(end - start), out);
}

/*
 * OpenSSH's own format (its PROTOCOL.key): the public key stands in clear before the private
 * part, and the cipher says whether that is encrypted.
 */
static bool parse_openssh(const char *text, struct ssh_keyfile *k)
{
	static const char magic[] = "openssh-key-v1";
	_cleanup_str_ struct str raw = STR_INIT;
	struct ssh_wire w, cipher, kdf, options, blob;
	uint32_t keys;

	if (!armoured(text, &raw) || raw.len < sizeof(magic) ||
	    memcmp(raw.buf, magic, sizeof(magic)) != 0)
		return false;
	w.data = (const uint8_t *)raw.buf + sizeof(magic);
	w.left = raw.len - sizeof(magic);
	if (!ssh_wire_string(&w, &cipher) || !ssh_wire_string(&w, &kdf) ||
	    !ssh_wire_string(&w, &options) || !ssh_wire_u32(&w, &keys) || keys != 1 ||
	    !ssh_wire_string(&w, &blob))
		return false;
	k->is_encrypted = !ssh_wire_is(&cipher, "none");
	take_blob(k, blob.data, blob.left);
	return k->type != NULL;
}

/* "ssh-ed25519 AAAA… comment" */
static bool parse_public(const char *text, struct ssh_keyfile *k)
{
	size_t type = strcspn(text, " \t\r\n"), start, n;
	_cleanup_str_ struct str raw = STR_INIT;

	start = type + strspn(text + type, " \t");
	n = strcspn(text + start, " \t\r\n");
	if (!type || !n || !base64_parse(text + start, n, &raw))
		return false;
	take_blob(k, raw.buf, raw.len);
	if (!k->type || strlen(k->type) != type || memcmp(k->type, text, type) != 0)
		return false;
	k->is_public = true;
	return true;
}

/* First lines of the other formats. */
static const struct format {
	const char *start, *type;
	bool is_encrypted;
	const char *oddity;
} formats[] = {
	{ "-----BEGIN RSA PRIVATE KEY-----", "ssh-rsa", false, NULL },
	{ "-----BEGIN DSA PRIVATE KEY-----", "ssh-dss", false, NULL },
	{ "-----BEGIN EC PRIVATE KEY-----", NULL, false, NULL },
	{ "-----BEGIN PRIVATE KEY-----", NULL, false, NULL },
	{ "-----BEGIN ENCRYPTED PRIVATE KEY-----", NULL, true, NULL },
	{ "PuTTY-User-Key-File-", NULL, false, "PuTTY's format: export it as an OpenSSH key" },
	{ "---- BEGIN SSH2 ", NULL, false, "RFC 4716's format: convert it by ssh-keygen -i" },
};

static bool parse_other(const char *text, struct ssh_keyfile *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!str_starts(text, formats[i].start))
			continue;
		if (formats[i].type)
			k->type = xstrdup(formats[i].type);
		k->oddity = formats[i].oddity;
		k->is_encrypted = formats[i].is_encrypted || strstr(text, "ENCRYPTED\n") ||
				  strstr(text, "ENCRYPTED\r\n");
		return true;
	}
	return false;
}

bool ssh_keyfile_parse(const char *text, size_t n, struct ssh_keyfile *k)
{
	_cleanup_free_ char *copy = xstrndup(text, n);

	if (strlen(copy) != n)
		return false; /* it holds a NUL */
	if (str_starts(copy, "-----BEGIN OPENSSH PRIVATE KEY-----"))
		return parse_openssh(copy, k);
	return parse_other(copy, k) || parse_public(copy, k);
}

/* Without our own format the public key is beside the file, or not known. */
static void look_beside(const char *path, struct ssh_keyfile *k)
{
	_cleanup_free_ char *beside = xasprintf("%s.pub", path);
	_cleanup_(ssh_keyfile_release) struct ssh_keyfile pub = SSH_KEYFILE_INIT;
	_cleanup_str_ struct str text = STR_INIT;

	if (fs_read(beside, KEYFILE_MAX, &text, NULL) == 0 &&
	    ssh_keyfile_parse(str_text(&text), text.len, &pub) && pub.is_public)
		take_blob(k, pub.blob.buf, pub.blob.len);
}

int ssh_keyfile_read(const char *path, struct ssh_keyfile *k, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	struct stat st;

	if (fs_read(path, KEYFILE_MAX, &text, e) < 0)
		return -1;
	if (!ssh_keyfile_parse(str_text(&text), text.len, k))
		return err_set(e, ERR_CONFIG, "'%s' is not a private key that can be read", path);
	if (k->is_public)
		return 0;
	if (stat(path, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) != 0)
		return err_set(e, ERR_CONFIG, "'%s' is open to other users (chmod 600 '%s')", path,
			       path);
	if (!k->blob.len)
		look_beside(path, k);
	return 0;
}
