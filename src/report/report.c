/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plain data of a report: its status in words and numbers, its release. */
#include "report/report.h"

#include <stdlib.h>

void report_commit_release(struct report_commit *c)
{
	free(c->subject);
	free(c->author);
	free(c->email);
	free(c->date);
	free(c->detail);
	free(c->log_path);
	free(c->samples);
	*c = (struct report_commit){ .subject = NULL };
}

void report_release(struct report *r)
{
	for (size_t i = 0; i < r->n_tested; i++)
		report_commit_release(&r->tested[i]);
	for (size_t i = 0; r->left_subject && i < r->n_left; i++)
		free(r->left_subject[i]);
	report_commit_release(&r->culprit);
	strv_release(&r->config_diff);
	report_evidence_release(&r->evidence);
	free(r->confirm.detail);
	free(r->confirm.revert_detail);
	free(r->confirm.by_hand);
	free(r->confirm.conflict_dir);
	free(r->confirm.apply_detail);
	free(r->name);
	free(r->metric);
	free(r->unit);
	free(r->state_dir);
	free(r->term_new);
	free(r->repo);
	free(r->left);
	free(r->left_share);
	for (size_t i = 0; i < r->noise.n_share; i++)
		free(r->noise.share[i].subject);
	free(r->noise.share);
	free(r->left_subject);
	free(r->tested);
	free(r->told);
	for (size_t i = 0; i < r->n_tries; i++)
		free(r->tries[i].name);
	free(r->tries);
	*r = (struct report){ .name = NULL };
}

/* The search, or the confirmation after it, has not come to its end. */
static bool is_unfinished(const struct report *r)
{
	return r->status == ENGINE_RUNNING ||
	       (r->status == ENGINE_FOUND && r->confirm.state == CONFIRM_UNFINISHED);
}

bool report_ends_differ(const struct report *r)
{
	const struct stats_interval *d = &r->ends.diff;

	return r->status == ENGINE_NO_DIFFERENCE && !r->noise.is_bayes && !r->ends.equivalent &&
	       (d->low > 0 || d->high < 0);
}

const char *report_status_name(const struct report *r)
{
	if (is_unfinished(r))
		return "interrupted";
	switch (r->status) {
	case ENGINE_FOUND:
		return "found";
	case ENGINE_SHORT_LIST:
		return r->n_left ? "short_list" : "no_culprit";
	case ENGINE_NO_CULPRIT: /* in the model it is the same: the new end is as the old one */
		return "no_difference";
	case ENGINE_NO_DIFFERENCE:
		return report_ends_differ(r) ? "no_culprit" : "no_difference";
	case ENGINE_NOT_CONFIRMED:
		return "not_confirmed";
	case ENGINE_SWAPPED:
	case ENGINE_SAME_SIDE:
	case ENGINE_END_UNMEASURED:
	case ENGINE_BAD_MERGE_BASE:
	case ENGINE_BLIND:
		return "no_culprit";
	case ENGINE_RUNNING:
		break;
	}
	return "interrupted";
}

int report_exit_status(const struct report *r)
{
	/* An answer that is there stands, whatever signal came after it; one still to be confirmed not. */
	if (is_unfinished(r))
		return 130;
	return r->status == ENGINE_FOUND ? 0 : 1;
}
