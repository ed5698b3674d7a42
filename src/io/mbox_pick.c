/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which mails are the patches of the series, and in which order. */
#include "io/mbox_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "io/faults.h"

#define HOPS_MAX 100 /* replies to replies: more is a circle */
#define SHOWN_MAX 5  /* numbers in one message */

/* A number 0 is a cover letter, whatever is in it. */
static bool is_patch(const struct mbox_mail *m)
{
	return m->has_diff && !m->tag.reply && (!m->tag.numbered || m->tag.number > 0);
}

/* ---- trailers ---- */

static struct mbox_mail *find_id(struct mbox_mails *all, const char *id)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->mail[i].id && str_eq(all->mail[i].id, id))
			return &all->mail[i];
	return NULL;
}

/* For mails that do not say what they answer, or answer what is not in the file. */
static struct mbox_mail *find_subject(struct mbox_mails *all, const struct mbox_mail *reply)
{
	const struct mbox_tag *t = &reply->tag;

	for (size_t i = 0; i < all->n; i++) {
		struct mbox_mail *m = &all->mail[i];

		if (is_patch(m) && m->tag.numbered == t->numbered && m->tag.number == t->number &&
		    m->tag.total == t->total && m->tag.version == t->version &&
		    strcasecmp(m->patch.subject, reply->patch.subject) == 0)
			return m;
	}
	return NULL;
}

/* The patch that @reply answers, through other replies; NULL: none, or the cover letter. */
static struct mbox_mail *answered(struct mbox_mails *all, const struct mbox_mail *reply)
{
	for (unsigned hops = 0; hops < HOPS_MAX; hops++) {
		struct mbox_mail *m = NULL;

		for (size_t i = 0; i < reply->answers.n && !m; i++)
			m = find_id(all, reply->answers.v[i]);
		if (!m)
			return find_subject(all, reply);
		if (is_patch(m))
			return m;
		if (m->tag.numbered && !m->tag.number)
			return NULL; /* the cover letter, whatever it answers itself */
		reply = m;
	}
	return NULL;
}

void mbox_hand_trailers(struct mbox_mails *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct mbox_mail *reply = &all->mail[i], *patch;

		if (!reply->tag.reply || !reply->trailers.n || !(patch = answered(all, reply)))
			continue;
		for (size_t k = 0; k < reply->trailers.n; k++) {
			const char *t = reply->trailers.v[k];

			if (!mbox_has_trailer(patch->patch.message, t) &&
			    !strv_has(&patch->trailers, t))
				strv_add(&patch->trailers, t);
		}
	}
}

/* ---- which patches ---- */

struct pick {
	const char *path, *name;
	struct mbox_mails *all;
	size_t *list, n;
	bool numbered; /* some of them have numbers */
	unsigned version;
};

static struct mbox_mail *mail_at(const struct pick *p, size_t i)
{
	return &p->all->mail[p->list[i]];
}

static void find_patches(struct pick *p)
{
	for (size_t i = 0; i < p->all->n; i++) {
		const struct mbox_mail *m = &p->all->mail[i];

		if (!is_patch(m))
			continue;
		p->list[p->n++] = i;
		p->numbered |= m->tag.numbered;
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct mbox_tag *t = &mail_at(p, i)->tag;

		if (t->numbered == p->numbered && t->version > p->version)
			p->version = t->version;
	}
}

static bool same_subject(const struct mbox_mail *a, const struct mbox_mail *b)
{
	return strcasecmp(a->patch.subject, b->patch.subject) == 0;
}

/* Versions of patches without numbers have to do with each other only under one subject. */
static bool has_newer(const struct pick *p, const struct mbox_mail *m)
{
	if (p->numbered)
		return m->tag.version < p->version;
	for (size_t i = 0; i < p->n; i++)
		if (mail_at(p, i)->tag.version > m->tag.version && same_subject(mail_at(p, i), m))
			return true;
	return false;
}

static void say_without_number(const struct pick *p, const struct mbox_mail *m)
{
	_cleanup_free_ char *subject = faults_quote(m->patch.subject);

	log_info("series '%s': '%s' has no number like the others: left out", p->name, subject);
}

static void leave_out(struct pick *p)
{
	_cleanup_free_ bool *out = xcalloc(p->n, sizeof(*out));
	size_t kept = 0, older = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct mbox_mail *m = mail_at(p, i);
		bool other = p->numbered && !m->tag.numbered;
		bool old = !other && has_newer(p, m);

		if (other)
			say_without_number(p, m);
		older += old;
		out[i] = other || old;
	}
	for (size_t i = 0; i < p->n; i++)
		if (!out[i])
			p->list[kept++] = p->list[i];
	p->n = kept;
	if (older && p->numbered)
		log_info("series '%s': version %u counts, %zu patches of older ones are left out",
			 p->name, p->version, older);
	else if (older)
		log_info("series '%s': older versions of %zu patches are left out", p->name, older);
}

static int by_number(const void *a, const void *b, void *cookie)
{
	const struct mbox_mails *all = cookie;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	unsigned m = all->mail[x].tag.number, n = all->mail[y].tag.number;

	if (m != n)
		return m < n ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The same mail came twice (two lists), or was sent again as it was. */
static bool same_patch(const struct mbox_mail *a, const struct mbox_mail *b)
{
	if (a->id && b->id && str_eq(a->id, b->id))
		return true;
	return same_subject(a, b) && a->patch.diff.len == b->patch.diff.len &&
	       memcmp(str_text(&a->patch.diff), str_text(&b->patch.diff), a->patch.diff.len) == 0;
}

static int twice(const struct pick *p, const struct mbox_mail *a, const struct mbox_mail *b,
		 struct err *e)
{
	_cleanup_free_ char *x = faults_quote(a->patch.subject);
	_cleanup_free_ char *y = faults_quote(b->patch.subject);

	return err_set(e, ERR_CONFIG,
		       "series '%s': patch %u/%u is there twice with different content: '%s' (mail "
		       "%zu) and '%s' (mail %zu) (leave one series in the file)",
		       p->path, a->tag.number, a->tag.total, x, a->patch.mail, y, b->patch.mail);
}

/* Each of them once. With numbers, equal ones stand together. */
static int merge_same(struct pick *p, struct err *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct mbox_mail *m = mail_at(p, i);
		bool same = false;

		for (size_t k = 0; k < kept && !same; k++)
			same = mail_at(p, k)->tag.number == m->tag.number &&
			       same_patch(mail_at(p, k), m);
		if (same)
			continue;
		if (p->numbered && kept && mail_at(p, kept - 1)->tag.number == m->tag.number)
			return twice(p, mail_at(p, kept - 1), m, e);
		p->list[kept++] = p->list[i];
	}
	p->n = kept;
	return 0;
}

static int check_totals(const struct pick *p, struct err *e)
{
	const struct mbox_mail *first = mail_at(p, 0);

	for (size_t i = 0; i < p->n; i++) {
		const struct mbox_mail *m = mail_at(p, i);
		_cleanup_free_ char *x = faults_quote(first->patch.subject);
		_cleanup_free_ char *y = faults_quote(m->patch.subject);

		if (m->tag.total != first->tag.total)
			return err_set(e, ERR_CONFIG,
				       "series '%s': '%s' is patch %u/%u, but '%s' is %u/%u (leave "
				       "one series in the file)",
				       p->path, x, first->tag.number, first->tag.total, y,
				       m->tag.number, m->tag.total);
		if (m->tag.number > m->tag.total)
			return err_set(e, ERR_CONFIG, "series '%s': '%s' is patch %u of %u",
				       p->path, y, m->tag.number, m->tag.total);
	}
	return 0;
}

static int check_missing(const struct pick *p, struct err *e)
{
	unsigned total = mail_at(p, 0)->tag.total, missing = 0;
	_cleanup_str_ struct str names = STR_INIT;
	size_t at = 0;

	for (unsigned n = 1; n <= total; n++) {
		if (at < p->n && mail_at(p, at)->tag.number == n) {
			at++;
			continue;
		}
		if (missing++ < SHOWN_MAX)
			str_addf(&names, "%s%u/%u", names.len ? ", " : "", n, total);
	}
	if (!missing)
		return 0;
	return err_set(
		e, ERR_CONFIG,
		"series '%s': patch %s%s of version %u %s missing (save the whole thread, as "
		"b4 mbox or t.mbox.gz on lore give it)",
		p->path, str_text(&names), missing > SHOWN_MAX ? ", ..." : "", p->version,
		missing > 1 ? "are" : "is");
}

int mbox_pick(const char *path, struct mbox_mails *all, size_t *picked, size_t *n, struct err *e)
{
	const char *slash = strrchr(path, '/');
	struct pick p = {
		.path = path, .name = slash ? slash + 1 : path, .all = all, .list = picked
	};

	find_patches(&p);
	if (!p.n)
		return err_set(e, ERR_CONFIG,
			       "series '%s': no patch in %zu mails: none has a diff and is not a "
			       "reply (save the whole thread, as b4 mbox or t.mbox.gz on lore give "
			       "it)",
			       path, all->n);
	leave_out(&p);
	if (p.numbered)
		qsort_r(p.list, p.n, sizeof(*p.list), by_number, all);
	if (merge_same(&p, e) < 0 ||
	    (p.numbered && (check_totals(&p, e) < 0 || check_missing(&p, e) < 0)))
		return -1;
	for (size_t i = 0; i < p.n; i++) {
		struct mbox_mail *m = mail_at(&p, i);

		m->patch.number = p.numbered ? m->tag.number : (unsigned)i + 1;
		m->patch.total = p.numbered ? m->tag.total : (unsigned)p.n;
		m->patch.version = m->tag.version;
	}
	*n = p.n;
	return 0;
}
