/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splitting and decoding a mail series with git mailsplit and git mailinfo. */
#include "io/mbox_internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "io/gitrun.h"

#define FILE_MAX ((size_t)64 << 20)
#define MAILS_MAX 2000

#define WHAT_WE_TAKE                                                                           \
	"take what b4 am or git format-patch --stdout write, or a thread's t.mbox.gz on lore " \
	"after gunzip"

/* A folder of our own, its files those of git mailsplit and git mailinfo. */
struct reading {
	const char *path;
	char *dir;
	struct strv env;
	bool rd;  /* lines that begin with From are quoted with > (mboxrd) */
	size_t n; /* mails */
};

static void reading_end(struct reading *r)
{
	if (r->dir)
		fs_remove_tree(r->dir, NULL);
	free(r->dir);
	strv_release(&r->env);
}

static void patch_release(struct mbox_patch *p)
{
	free(p->subject);
	free(p->author);
	free(p->email);
	free(p->date);
	free(p->message);
	str_release(&p->diff);
	*p = (struct mbox_patch){ .number = 0 };
}

void mbox_release(struct mbox *m)
{
	for (size_t i = 0; i < m->n; i++)
		patch_release(&m->patch[i]);
	free(m->patch);
	*m = (struct mbox){ .n = 0 };
}

void mbox_mail_release(struct mbox_mail *m)
{
	free(m->id);
	strv_release(&m->answers);
	strv_release(&m->trailers);
	patch_release(&m->patch);
}

static void mails_release(struct mbox_mails *all)
{
	for (size_t i = 0; i < all->n; i++)
		mbox_mail_release(&all->mail[i]);
	free(all->mail);
}

/* ---- the file as a whole ---- */

static bool is_compressed(const struct str *text)
{
	static const char *const magic[] = { "\x1f\x8b", "BZh", "\xfd\x37zXZ", "\x28\xb5\x2f\xfd" };

	for (size_t i = 0; i < ARRAY_SIZE(magic); i++)
		if (str_starts(str_text(text), magic[i]))
			return true;
	return false;
}

/* Lines that may start a mail; a few more than there are mails. */
static size_t count_mails(const struct str *text)
{
	static const char mark[] = "\nFrom ";
	const char *p = str_text(text), *end = p + text->len;
	size_t n = 1;

	while ((p = memmem(p, (size_t)(end - p), mark, strlen(mark)))) {
		n++;
		p++;
	}
	return n;
}

static int check_text(struct reading *r, const struct str *text, struct err *e)
{
	const char *p = str_text(text);

	if (is_compressed(text))
		return err_set(e, ERR_CONFIG, "series '%s' is compressed (gunzip it first)",
			       r->path);
	while (isspace((unsigned char)*p))
		p++;
	if (p == text->buf + text->len)
		return err_set(e, ERR_CONFIG, "series '%s' is empty (" WHAT_WE_TAKE ")", r->path);
	if (!str_starts(p, "From "))
		return err_set(e, ERR_CONFIG,
			       "series '%s' is not an mbox: it does not begin with a line 'From "
			       "...' (" WHAT_WE_TAKE ")",
			       r->path);
	/* how lore marks them; what git format-patch writes is not quoted */
	r->rd = str_starts(p, "From mboxrd@z");
	if (count_mails(text) > MAILS_MAX)
		return err_set(e, ERR_CONFIG,
			       "series '%s' holds more than %d mails (save only the thread of the "
			       "series)",
			       r->path, MAILS_MAX);
	return 0;
}

static int check_file(struct reading *r, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	struct stat st;

	if (stat(r->path, &st) < 0)
		return err_set(e, ERR_CONFIG, "series '%s' cannot be read: %s", r->path,
			       strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_CONFIG, "series '%s' is not a file (" WHAT_WE_TAKE ")",
			       r->path);
	if ((uint64_t)st.st_size > FILE_MAX)
		return err_set(e, ERR_CONFIG,
			       "series '%s' is larger than 64 MiB (save only the thread of the "
			       "series)",
			       r->path);
	if (fs_read(r->path, FILE_MAX, &text, e) < 0) {
		if (e && e->code == ERR_SYS)
			e->code = ERR_CONFIG;
		return -1;
	}
	return check_text(r, &text, e);
}

static int make_folder(struct reading *r, struct err *e)
{
	const char *tmp = getenv("TMPDIR");

	r->dir = xasprintf("%s/kregress-mbox-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(r->dir)) {
		err_sys(e, errno, "cannot make a folder '%s'", r->dir);
		free(r->dir);
		r->dir = NULL;
		return -1;
	}
	/* git mailinfo would take settings of a repository around it */
	strv_addf(&r->env, "GIT_DIR=%s/none", r->dir);
	return 0;
}

static int split(struct reading *r, struct err *e)
{
	_cleanup_free_ char *into = xasprintf("-o%s", r->dir);
	const char *const args[] = { "mailsplit", "-d4", into, r->rd ? "--mboxrd" : "--",
				     r->path,     NULL };
	_cleanup_str_ struct str out = STR_INIT;
	const struct gitrun g = { .args = args, .env = &r->env, .out = &out, .merge = true };
	char why[160];
	int status = gitrun(&g, e);

	if (status < 0)
		return -1;
	if (status > 0)
		return err_set(e, ERR_CONFIG, "series '%s' is not an mbox: %s (" WHAT_WE_TAKE ")",
			       r->path, gitrun_reason(str_text(&out), why, sizeof(why)));
	r->n = strtoul(str_text(&out), NULL, 10);
	if (!r->n || r->n > MAILS_MAX)
		return err_set(e, ERR_CONFIG, "series '%s' holds %zu mails (at most %d)", r->path,
			       r->n, MAILS_MAX);
	return 0;
}

/* ---- one mail ---- */

/* Without fsync: it lives for a moment. */
static int write_file(const char *path, const char *text, size_t n, struct err *e)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return err_sys(e, errno, "cannot write '%s'", path);
	bool bad = fwrite(text, 1, n, f) != n;

	if (fclose(f) == EOF || bad)
		return err_sys(e, errno, "cannot write '%s'", path);
	return 0;
}

/*
 * git mailinfo on @mail; texts go to the files msg and patch. @raw: leave the character set
 * as it is. Exit status, or -1.
 */
static int mailinfo_once(const struct reading *r, const char *mail, bool raw, bool merge,
			 struct str *out, struct err *e)
{
	_cleanup_free_ char *msg = fs_join(r->dir, "msg");
	_cleanup_free_ char *patch = fs_join(r->dir, "patch");
	const char *const args[] = { "mailinfo", "-k", raw ? "-n" : "-u", msg, patch, NULL };
	const struct gitrun g = { .args = args,
				  .env = &r->env,
				  .cwd = r->dir,
				  .in_path = mail,
				  .out = out,
				  .merge = merge };

	return gitrun(&g, e);
}

/* A mail whose character set nobody knows may still be a fine patch. */
static int mailinfo(const struct reading *r, const char *mail, size_t nr, struct str *out,
		    struct err *e)
{
	_cleanup_str_ struct str words = STR_INIT;
	char why[160];
	int status = mailinfo_once(r, mail, false, false, out, e);

	if (status > 0) {
		str_clear(out);
		status = mailinfo_once(r, mail, true, false, out, e);
	}
	if (status > 0)
		status = mailinfo_once(r, mail, true, true, &words, e);
	if (status <= 0)
		return status;
	return err_set(e, ERR_CONFIG, "series '%s': mail %zu cannot be read: %s", r->path, nr,
		       gitrun_reason(str_text(&words), why, sizeof(why)));
}

/* The value of "Name: value" in what git mailinfo printed; "" when it is not there. Owned. */
static char *info_value(const struct str *info, const char *name)
{
	char *value = mbox_header(str_text(info), info->len, name);

	return value ? value : xstrdup("");
}

/* The Subject header decoded, which a Subject: line in the text does not replace. Owned. */
static int decode_subject(const struct reading *r, const char *raw, size_t nr, char **out,
			  struct err *e)
{
	_cleanup_free_ char *path = fs_join(r->dir, "head");
	_cleanup_free_ char *head = xasprintf("Subject: %s\n\n", raw);
	_cleanup_str_ struct str info = STR_INIT;

	if (!strstr(raw, "=?")) {
		*out = xstrdup(raw);
		return 0;
	}
	if (write_file(path, head, strlen(head), e) < 0 || mailinfo(r, path, nr, &info, e) < 0)
		return -1;
	*out = info_value(&info, "Subject");
	return 0;
}

/* Message-ID and what is answered: In-Reply-To, then References from the last. */
static void read_ids(struct mbox_mail *m, const char *mail, size_t n)
{
	_cleanup_strv_ struct strv own = STRV_INIT;
	_cleanup_strv_ struct strv refs = STRV_INIT;
	_cleanup_free_ char *id = mbox_header(mail, n, "Message-ID");
	_cleanup_free_ char *to = mbox_header(mail, n, "In-Reply-To");
	_cleanup_free_ char *list = mbox_header(mail, n, "References");

	mbox_ids(id ? id : "", &own);
	if (own.n)
		m->id = xstrdup(own.v[0]);
	mbox_ids(to ? to : "", &m->answers);
	mbox_ids(list ? list : "", &refs);
	for (size_t i = refs.n; i-- > 0;)
		if (!strv_has(&m->answers, refs.v[i]))
			strv_add(&m->answers, refs.v[i]);
}

static int read_file(const struct reading *r, const char *name, struct str *out, struct err *e)
{
	_cleanup_free_ char *path = fs_join(r->dir, name);

	return fs_read(path, FILE_MAX, out, e);
}

/* What git mailinfo made of the mail. */
static int fill_patch(const struct reading *r, struct mbox_mail *m, const struct str *info,
		      const char *header_subject, struct err *e)
{
	_cleanup_free_ char *given = info_value(info, "Subject");
	_cleanup_str_ struct str msg = STR_INIT;
	struct mbox_patch *p = &m->patch;
	struct mbox_tag in_text;
	const char *subject;

	if (read_file(r, "msg", &msg, e) < 0 || read_file(r, "patch", &p->diff, e) < 0)
		return -1;
	mbox_subject(header_subject, &m->tag);
	subject = mbox_subject(given, &in_text);
	p->subject = xstrdup(*subject ? subject : "(no subject)");
	p->author = info_value(info, "Author");
	p->email = info_value(info, "Email");
	p->date = info_value(info, "Date");
	p->message = xasprintf("%s\n\n%s", p->subject, str_text(&msg));
	mbox_unify_ends(&p->diff);
	m->has_diff = mbox_has_diff(str_text(&p->diff));
	if (m->tag.reply) {
		mbox_trailers(str_text(&msg), &m->trailers);
		mbox_trailers(str_text(&p->diff), &m->trailers);
	}
	return 0;
}

static int read_mail(const struct reading *r, struct mbox_mail *m, struct err *e)
{
	_cleanup_free_ char *path = xasprintf("%s/%04zu", r->dir, m->patch.mail);
	_cleanup_free_ char *raw = NULL, *subject = NULL;
	_cleanup_str_ struct str mail = STR_INIT;
	_cleanup_str_ struct str info = STR_INIT;
	size_t n;

	if (fs_read(path, FILE_MAX, &mail, e) < 0)
		return -1;
	n = mbox_header_bytes(str_text(&mail), mail.len);
	raw = mbox_header(str_text(&mail), n, "Subject");
	read_ids(m, str_text(&mail), n);
	if (decode_subject(r, raw ? raw : "", m->patch.mail, &subject, e) < 0 ||
	    mailinfo(r, path, m->patch.mail, &info, e) < 0)
		return -1;
	return fill_patch(r, m, &info, subject, e);
}

static int read_mails(const struct reading *r, struct mbox_mails *all, struct err *e)
{
	xgrow(&all->mail, &all->room, r->n, sizeof(*all->mail));
	for (size_t i = 0; i < r->n; i++) {
		all->mail[all->n] = (struct mbox_mail){ .patch.mail = i + 1 };
		if (read_mail(r, &all->mail[all->n++], e) < 0)
			return -1;
	}
	return 0;
}

/* ---- the series ---- */

/* git knows where in a message trailers go. */
static int add_trailers(const struct reading *r, struct mbox_mail *m, struct err *e)
{
	_cleanup_free_ char *path = fs_join(r->dir, "message");
	_cleanup_strv_ struct strv args = STRV_INIT;
	_cleanup_str_ struct str out = STR_INIT;
	int status;

	if (!m->trailers.n)
		return 0;
	strv_add(&args, "interpret-trailers");
	strv_add(&args, "--no-divider");
	strv_add(&args, "--if-exists=addIfDifferent");
	for (size_t i = 0; i < m->trailers.n; i++)
		strv_addf(&args, "--trailer=%s", m->trailers.v[i]);
	strv_add(&args, path);
	struct gitrun g = {
		.args = (const char *const *)args.v, .env = &r->env, .cwd = r->dir, .out = &out
	};

	if (write_file(path, m->patch.message, strlen(m->patch.message), e) < 0)
		return -1;
	status = gitrun(&g, e);
	if (status < 0)
		return -1;
	if (status > 0)
		return err_set(e, ERR_SYS, "git interpret-trailers: exit status %d", status);
	free(m->patch.message);
	m->patch.message = str_detach(&out);
	return 0;
}

static int take_patches(const struct reading *r, struct mbox_mails *all, struct mbox *out,
			struct err *e)
{
	_cleanup_free_ size_t *picked = xcalloc(all->n, sizeof(*picked));
	size_t n = 0;

	mbox_hand_trailers(all);
	if (mbox_pick(r->path, all, picked, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (add_trailers(r, &all->mail[picked[i]], e) < 0)
			return -1;
	out->patch = xcalloc(n, sizeof(*out->patch));
	out->n = n;
	for (size_t i = 0; i < n; i++) {
		out->patch[i] = all->mail[picked[i]].patch;
		all->mail[picked[i]].patch = (struct mbox_patch){ .number = 0 };
	}
	return 0;
}

int mbox_read(const char *path, struct mbox *out, struct err *e)
{
	_cleanup_(reading_end) struct reading r = { .path = path };
	_cleanup_(mails_release) struct mbox_mails all = { .mail = NULL };

	if (check_file(&r, e) < 0 || make_folder(&r, e) < 0 || split(&r, e) < 0 ||
	    read_mails(&r, &all, e) < 0)
		return -1;
	return take_patches(&r, &all, out, e);
}
