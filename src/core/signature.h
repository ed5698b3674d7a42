/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When two failures are alike: the text of a failure without what changes by chance. */
#ifndef KR_CORE_SIGNATURE_H
#define KR_CORE_SIGNATURE_H

#include <stdint.h>

#include "core/trial.h"

/*
 * @detail: first compiler error or panic line, untrusted bytes; NULL is "".
 * Returns its text for a group of failures, owned: printable UTF-8 on one
 * line, at most 160 bytes. Addresses, counts, positions in a file, time stamps,
 * CPUs, processes and names of temporary files are N or gone, quotation marks
 * plain, blanks single. Exit statuses, signals and error numbers stay: they
 * say what happened.
 */
char *signature_text(const char *detail);

/*
 * Failures with the same number failed alike: same outcome and same
 * signature_text(). FNV-1a, 32 bits. Never 0 for a failure; 0: TRIAL_OK, TRIAL_UNSET.
 */
uint32_t signature_of(enum trial_outcome outcome, const char *detail);

#endif
