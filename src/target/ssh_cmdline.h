/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel command lines: that of the test kernel, made from the machine's own. */
#ifndef KR_TARGET_SSH_CMDLINE_H
#define KR_TARGET_SSH_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* The word that tells a boot of ours: kregress=<nonce>. */
#define SSH_CMDLINE_NONCE "kregress"

struct ssh_cmdline {
	const char *home;     /* of the machine's default kernel */
	const char *workload; /* what the workload wants; "" or NULL: nothing */
	const char *campaign; /* likewise; wins over the workload's */
	const char *nonce;
	bool has_initramfs;
};

/*
 * Append it to @out: home's without what the boot loader added, then the workload's, the
 * campaign's, panic=10, oops=panic and the nonce; words after "--" stay behind all. ERR_CONFIG:
 * longer than a kernel takes, or a root= that no kernel finds without an initramfs.
 */
int ssh_cmdline_make(const struct ssh_cmdline *c, struct str *out, struct err *e);

/* Append it quoted as words of a GRUB script. */
void ssh_cmdline_quote_grub(const char *cmdline, struct str *out);

/*
 * Would @words swallow ours behind them? ERR_CONFIG: a quote is not closed, or there is a "--",
 * behind which all is for init. @words may be NULL; @whose for the message.
 */
int ssh_cmdline_check(const char *words, const char *whose, struct err *e);
/* Is there NAME=…? The value of the last one (cut) into @value, where it is not NULL. */
bool ssh_cmdline_value(const char *cmdline, const char *name, char *value, size_t size);

#endif
