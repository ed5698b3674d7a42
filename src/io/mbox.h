/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mail series as patches: an mbox as lore, b4 and git format-patch give it. */
#ifndef KR_IO_MBOX_H
#define KR_IO_MBOX_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* One patch. Its texts are untrusted bytes, UTF-8 where the mail says what it is written in. */
struct mbox_patch {
	unsigned number,
		total;        /* 3 and 12 of [PATCH 3/12]; in a series without numbers its place */
	unsigned version;     /* 2 of [PATCH v2 3/12]; 1 where none is given */
	char *subject;        /* without [PATCH ...] */
	char *author, *email; /* "" where the mail has none */
	char *date;           /* as the mail gives it */
	char *message;        /* of the commit: subject, blank line, text with trailers */
	struct str diff;      /* what git apply takes */
	size_t mail;          /* which mail of the file, from 1 */
};

struct mbox {
	struct mbox_patch *patch; /* in the order in which they are applied */
	size_t n;                 /* at least 1 */
};

/*
 * Read the patches of the series in the mbox @path. Cover letters, discussion and replies
 * are no patches; trailers in replies (Reviewed-by, Acked-by, Tested-by, ...) are added to
 * the message of the patch that they answer. Of several versions the highest counts, what is
 * left out is said by log_info(). The order is that of the numbers; without numbers, that of
 * the file. @out is released by mbox_release().
 *
 * ERR_CONFIG: not an mbox, compressed, empty, without a patch, more than 64 MiB or 2000
 * mails, a number missing or there twice with another content. Needs the git program.
 */
int mbox_read(const char *path, struct mbox *out, struct err *e);
void mbox_release(struct mbox *m);

#endif
