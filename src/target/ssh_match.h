/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of OpenSSH's files (ssh_config(5), "PATTERNS"). */
#ifndef KR_TARGET_SSH_MATCH_H
#define KR_TARGET_SSH_MATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Does the pattern of @n bytes ('*': any bytes, '?': any one) fit all of @text? */
bool ssh_match(const char *text, const char *pattern, size_t n);

/*
 * A list of patterns that are parted by commas, without regard to case: true when one fits and
 * none that starts with '!' does.
 */
bool ssh_match_list(const char *text, const char *list, size_t n);

#endif
