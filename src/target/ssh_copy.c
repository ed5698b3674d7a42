/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files to and from the other side. */
#include "target/ssh_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "target/ssh_exec.h"
#include "target/ssh_internal.h"

#define CLEAN_MS 5000
#define ANSWER_MAX 4096
#define MISSING 66 /* exit status of the script that reads */

/*
 * $1 is the name throughout, $2 the mode, $3 whether it must be on the disk. The temporary is
 * ours alone (umask) and new (set -C: a link that somebody put there is not followed). tee, so
 * that it is hashed as it comes: reading it again afterwards would cost a quarter of the speed;
 * cat before it takes what sshd has in larger pieces than tee's 8 KB. openssl uses the
 * processor's own instructions and is four times as fast as sha256sum.
 * What is printed is tee's status, 0: the file is whole, and the SHA-256; nothing where nobody
 * there can tell it. mv into a folder would be another place.
 */
static const char write_script[] =
	"if [ -d \"$1\" ]; then echo \"it is a folder\" >&2; exit 1; fi; "
	"t=$1.kregress-new; umask 077; rm -f \"$t\" || exit 1; "
	"set -C; : >\"$t\" || exit 1; set +C; "
	"if command -v openssl; then h='openssl sha256 -r'; "
	"elif command -v sha256sum; then h=sha256sum; "
	"elif busybox sha256sum; then h='busybox sha256sum'; "
	"else h=; fi </dev/null >/dev/null 2>&1; "
	"if [ -z \"$h\" ]; then cat >\"$t\"; exit; fi; "
	"sum=$({ cat | { tee \"$t\"; echo $? >&3; } | $h; } 3>&1); "
	"case $sum in 0*) echo \"$sum\";; *) exit 1;; esac";
static const char read_back_script[] = "cat \"$1.kregress-new\"";
static const char rename_script[] = "t=$1.kregress-new; chmod \"$2\" \"$t\" || exit 1; "
				    "if [ \"$3\" = yes ]; then sync \"$t\" || exit 1; fi; "
				    "mv -f \"$t\" \"$1\" || exit 1; "
				    "if [ \"$3\" = yes ]; then sync \"${1%/*}/\"; fi";
static const char remove_script[] = "rm -f \"$1.kregress-new\"";
static const char read_script[] = "[ -e \"$1\" ] || exit 66; cat \"$1\"";

static const char *name_of(const char *script)
{
	return script == write_script       ? "write"
	       : script == read_back_script ? "read-back"
	       : script == rename_script    ? "rename"
	       : script == remove_script    ? "remove"
					    : "read";
}

/*
 * Run one of the scripts on its words as @o says. Unless it exits with 0: -1, and *@status (may be
 * NULL) is its exit status where it has one.
 */
static int run_script(struct ssh_conn *c, const char *script, const struct strv *words,
		      const struct ssh_command *o, int *status, struct err *e)
{
	struct ssh_command own = *o;
	_cleanup_strv_ struct strv argv = STRV_INIT;
	_cleanup_str_ struct str errors = STR_INIT;
	struct ssh_result r;

	strv_add(&argv, "sh");
	strv_add(&argv, "-c");
	strv_add(&argv, script);
	strv_addf(&argv, "kregress-%s", name_of(script));
	strv_extend(&argv, words);
	own.argv = argv.v;
	own.errors = &errors;
	if (ssh_exec(c, &own, &r, e) < 0)
		return -1;
	if (r.end == SSH_EXITED && r.status == 0)
		return 0;
	if (status && r.end == SSH_EXITED)
		*status = r.status;
	return ssh_failed(&r, &errors, e);
}

/* ---- upload -------------------------------------------------------------------------------- */

struct upload {
	const struct ssh_upload *u;
	int fd;
	int64_t deadline;
	uint64_t done, total;
	struct hash *hash; /* of what was sent */
	struct strv words; /* of the scripts */
};

static void upload_release(struct upload *s)
{
	strv_release(&s->words);
	str_closep(&s->fd);
}

static int64_t left_ms(const struct upload *s)
{
	int ms = clock_left_ms(s->deadline);

	return ms > 0 ? ms : 1; /* that it has passed is noticed at once */
}

static int more(void *cookie, char *buf, size_t room, size_t *n, struct err *e)
{
	struct upload *s = cookie;
	ssize_t got;

	do
		got = read(s->fd, buf, room);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_sys(e, errno, "cannot read '%s'", s->u->from);
	if (!s->u->sha256)
		hash_feed(s->hash, buf, (size_t)got);
	s->done += (uint64_t)got;
	*n = (size_t)got;
	return 0;
}

static void on_tick(void *cookie)
{
	const struct upload *s = cookie;

	if (s->u->tick)
		s->u->tick(s->u->cookie, s->done, s->total);
}

static void feed_hash(void *cookie, const char *data, size_t n)
{
	hash_feed(cookie, data, n);
}

/* Where nobody there can tell the SHA-256: of the bytes as they come back. */
static int read_back(struct ssh_conn *c, const struct upload *s, char *hex, struct err *e)
{
	struct hash *hash = hash_new();
	const struct ssh_command o = { .timeout_ms = left_ms(s),
				       .max_output = s->total + 1,
				       .data = feed_hash,
				       .cookie = hash };
	int ret = run_script(c, read_back_script, &s->words, &o, NULL, e);

	hash_hex(hash, hex);
	return ret < 0 ? err_wrap(e, "reading it back") : 0;
}

/* Send it; the SHA-256 of what was sent, and the one it has there ("": nobody there can tell). */
static int send_file(struct ssh_conn *c, struct upload *s, char *local, char *remote, struct err *e)
{
	_cleanup_str_ struct str out = STR_INIT;
	const struct ssh_command o = { .more = more,
				       .tick = on_tick,
				       .cookie = s,
				       .timeout_ms = left_ms(s),
				       .max_output = ANSWER_MAX,
				       .out = &out };
	int ret;

	s->hash = hash_new();
	ret = run_script(c, write_script, &s->words, &o, NULL, e);
	hash_hex(s->hash, local);
	if (s->u->sha256)
		snprintf(local, HASH_HEX_SIZE, "%s", s->u->sha256);
	if (ret < 0)
		return -1;
	if (out.len < 2 + HASH_HEX_SIZE - 1 || strspn(out.buf + 2, "0123456789abcdef") != 64)
		remote[0] = '\0'; /* a tool of another kind, or none */
	else
		snprintf(remote, HASH_HEX_SIZE, "%s", out.buf + 2);
	return 0;
}

static int copy(struct ssh_conn *c, struct upload *s, struct err *e)
{
	struct ssh_command o = { .max_output = ANSWER_MAX };
	char local[HASH_HEX_SIZE], remote[HASH_HEX_SIZE];

	if (send_file(c, s, local, remote, e) < 0)
		return -1;
	if (s->done != s->total)
		return err_set(e, ERR_SYS, "'%s' changed while it was read", s->u->from);
	if (!remote[0] && read_back(c, s, remote, e) < 0)
		return -1;
	if (strcmp(remote, local) != 0)
		return err_set(e, ERR_LAB, "what arrived is something else: SHA-256 %s, not %s",
			       remote, local);
	o.timeout_ms = left_ms(s);
	return run_script(c, rename_script, &s->words, &o, NULL, e);
}

/* Also when we were told to stop. */
static void remove_rest(struct ssh_conn *c, const struct upload *s)
{
	const struct ssh_command o = { .timeout_ms = CLEAN_MS, .max_output = ANSWER_MAX };

	c->is_urgent = true;
	if (!c->is_lost)
		run_script(c, remove_script, &s->words, &o, NULL, NULL);
	c->is_urgent = false;
}

static int begin(struct upload *s, struct err *e)
{
	const struct ssh_upload *u = s->u;
	struct stat st;

	if (u->to[0] != '/' || u->timeout_ms <= 0)
		return err_set(e, ERR_INTERNAL, "ssh_upload() to '%s'", u->to);
	s->fd = open(u->from, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return err_sys(e, errno, "cannot open '%s'", u->from);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_SYS, "'%s' is not a file", u->from);
	s->total = (uint64_t)st.st_size;
	s->deadline = clock_deadline(u->timeout_ms);
	strv_add(&s->words, u->to);
	strv_addf(&s->words, "%o", (unsigned)u->mode & 07777);
	strv_add(&s->words, u->durable ? "yes" : "no");
	return 0;
}

int ssh_upload(struct ssh_conn *c, const struct ssh_upload *u, struct err *e)
{
	_cleanup_(upload_release) struct upload s = { .u = u, .fd = -1 };
	struct err why = ERR_INIT;

	if (begin(&s, e) < 0)
		return -1;
	if (copy(c, &s, &why) == 0)
		return 0;
	remove_rest(c, &s);
	err_set(e, why.code, "%s", why.msg);
	return err_wrap(e, "cannot copy '%s' to '%s' on '%s'", u->from, u->to, ssh_name(c));
}

/* ---- download ------------------------------------------------------------------------------ */

int ssh_download(struct ssh_conn *c, const char *from, size_t max, int64_t timeout_ms,
		 struct str *out, struct err *e)
{
	const struct ssh_command o = { .timeout_ms = timeout_ms, .max_output = max, .out = out };
	_cleanup_strv_ struct strv words = STRV_INIT;
	int status = 0;

	strv_add(&words, from);
	if (run_script(c, read_script, &words, &o, &status, e) == 0)
		return 0;
	if (status == MISSING)
		return err_set(e, ERR_NOT_FOUND, "no file '%s' on '%s'", from, ssh_name(c));
	return err_wrap(e, "cannot read '%s' on '%s'", from, ssh_name(c));
}
