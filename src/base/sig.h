/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INT, TERM and HUP: noticed at safe points, so that state is always saved. */
#ifndef KR_BASE_SIG_H
#define KR_BASE_SIG_H

#include "base/err.h"

/* Catch INT, TERM and HUP, ignore PIPE. A second INT within 2 s has no other effect. */
void sig_install(void);

/* The signal that asked us to stop, 0: none. */
int sig_pending(void);

/* A file descriptor that polls readable once a signal came (-1 before sig_install()). */
int sig_fd(void);

/*
 * As if none had come: for what is to be done before the end. The next one counts again.
 * Returns the one forgotten, 0: none.
 */
int sig_forget(void);

/* 0, or -1 with ERR_INTERRUPTED in @e when a signal came. */
int sig_check(struct err *e);

#endif
