/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decide again from stored trials under other settings: what `kregress replay` does. */
#ifndef KR_CAMPAIGN_AGAIN_H
#define KR_CAMPAIGN_AGAIN_H

#include "io/config.h"
#include "report/again.h"

/*
 * Two campaigns over one store, which is only read: the one that was run, by the settings that
 * the store keeps (where it has none yet: by the file), and the one that @cfg describes. The new
 * one is replayed in the order in which its engine asks for boots; each boot is the next stored
 * one of that commit. The first that is not there ends it.
 *
 * @given: the settings of -o, which are in @cfg already. ERR_CONFIG: @cfg measures something
 * else than the store has, or no trial has its metric. ERR_NOT_FOUND: nothing is stored.
 * @out (empty) is released by the caller, also after a failure.
 */
int again_make(const struct config *cfg, const struct strv *given, struct report_again *out,
	       struct err *e);

#endif
