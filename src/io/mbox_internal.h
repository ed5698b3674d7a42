/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that read a mail series (mbox*.c) share. Nothing else includes this. */
#ifndef KR_IO_MBOX_INTERNAL_H
#define KR_IO_MBOX_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "io/mbox.h"

#define MBOX_NUMBER_MAX 9999 /* patches of a series, and versions */

/* What a subject says of its mail. */
struct mbox_tag {
	bool reply;             /* Re: and the like before any [PATCH] */
	bool numbered;          /* N/M given */
	unsigned number, total; /* 0 unless numbered */
	unsigned version;       /* 1 when not given */
};
/*
 * Understand a decoded Subject: [PATCH v2 3/12] and its like, with list names, prefixes and
 * Re: before. Returns where the text after them begins, in @subject.
 */
const char *mbox_subject(const char *subject, struct mbox_tag *tag);

/*
 * The value of header @name in the first @n bytes of the mail @mail, unfolded; NULL when it
 * has none. Owned. The first one counts; the case of the name does not.
 */
char *mbox_header(const char *mail, size_t n, const char *name);
/* Bytes of the headers in @mail, with the blank line that ends them. */
size_t mbox_header_bytes(const char *mail, size_t n);
/* Append the <names> in a Message-ID, In-Reply-To or References header, without the <>. */
void mbox_ids(const char *value, struct strv *out);

/* Does a line of @text begin a diff? */
bool mbox_has_diff(const char *text);
/*
 * Take CR off the line ends of @diff when its file names end with one, too: then it is the
 * mail that is so, and not a file that is patched.
 */
void mbox_unify_ends(struct str *diff);

/*
 * Append the trailers in @text that a reviewer gives, as "Reviewed-by: Name <address>":
 * at the start of a line, not quoted, with an address.
 */
void mbox_trailers(const char *text, struct strv *out);
/* Is @trailer a line of @message? Case and blanks do not count. */
bool mbox_has_trailer(const char *message, const char *trailer);

/* One mail of the file, decoded. */
struct mbox_mail {
	struct mbox_tag tag;
	char *id;             /* Message-ID; NULL: none */
	struct strv answers;  /* Message-IDs of what it answers, nearest first */
	struct strv trailers; /* of a reply; of a patch: those that replies give it */
	bool has_diff;
	struct mbox_patch patch; /* number and total are set when it is picked */
};
void mbox_mail_release(struct mbox_mail *m);

struct mbox_mails {
	struct mbox_mail *mail;
	size_t n, room;
};

/*
 * Pick the patches of the series @path out of @all: @picked gets *@n of their indices in the
 * order of applying, and room for all->n. ERR_CONFIG as in mbox_read(). Pure but for log_info().
 */
int mbox_pick(const char *path, struct mbox_mails *all, size_t *picked, size_t *n, struct err *e);
/* Hand trailers in replies over to the patch that they answer. */
void mbox_hand_trailers(struct mbox_mails *all);

#endif
