/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of outcomes and verdicts, as users and the store see them. */
#include "core/trial.h"

#include <string.h>

static const char *const outcome_names[TRIAL_OUTCOMES] = {
	[TRIAL_UNSET] = "unset",
	[TRIAL_OK] = "ok",
	[TRIAL_BUILD_FAILED] = "build_failed",
	[TRIAL_BOOT_FAILED] = "boot_failed",
	[TRIAL_CRASHED] = "crashed",
	[TRIAL_TIMED_OUT] = "timed_out",
	[TRIAL_GARBLED] = "garbled",
	[TRIAL_UNTESTABLE] = "untestable",
};

static const char *const verdict_names[] = {
	[VERDICT_UNSET] = "unset", [VERDICT_GOOD] = "good",     [VERDICT_BAD] = "bad",
	[VERDICT_SKIP] = "skip",   [VERDICT_UNSURE] = "unsure",
};

const char *trial_outcome_name(enum trial_outcome o)
{
	if ((unsigned)o >= TRIAL_OUTCOMES)
		return outcome_names[TRIAL_UNSET];
	return outcome_names[o];
}

const char *verdict_name(enum verdict v)
{
	if ((unsigned)v > VERDICT_UNSURE)
		return verdict_names[VERDICT_UNSET];
	return verdict_names[v];
}

enum trial_outcome trial_outcome_parse(const char *name)
{
	for (int o = TRIAL_OK; name && o < TRIAL_OUTCOMES; o++)
		if (!strcmp(name, outcome_names[o]))
			return (enum trial_outcome)o;
	return TRIAL_UNSET;
}
