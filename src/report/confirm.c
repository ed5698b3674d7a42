/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fresh boots said of the culprit. */
#include "report/print.h"

#include <math.h>

static const char *unit_of(const struct report *r)
{
	return r->unit ? r->unit : "";
}

static void print_side(FILE *out, const struct report *r, const char *label,
		       const struct stats_interval *i)
{
	char buf[96];

	fprintf(out, "  %-17s %s\n", label, report_interval(i, unit_of(r), buf, sizeof(buf)));
}

static void print_pair(FILE *out, const struct report *r)
{
	static const char *const test[] = {
		[TEST_NONE] = "",
		[TEST_WELCH] = " (Welch)",
		[TEST_POOLED] = " (pooled)",
		[TEST_EXACT] = " (exact)",
	};
	const struct report_confirm *c = &r->confirm;

	fprintf(out, "\n%s by %u fresh boots of each, interleaved:\n",
		c->state == CONFIRM_YES ? "Confirmed"
		: c->undecided          ? "Left open"
					: "Contradicted",
		c->boots);
	print_side(out, r, "parent", &c->parent_side);
	print_side(out, r, r->fix ? "fix" : "culprit", &c->culprit_side);
	fputs("  difference        ", out);
	print_difference(out, r, c->parent_side.estimate, c->culprit_side.estimate, &c->diff);
	fprintf(out, ", p = %.2g%s\n", c->p, test[c->test]);
}

static void print_detail(FILE *out, const char *detail)
{
	fputs("  ", out);
	print_clean(out, detail);
	fputc('\n', out);
}

/* How much of the difference of the ends that is; nothing where it is not known. */
static void print_part(FILE *out, const struct report *r, const char *label, double percent)
{
	char part[32], all[32];

	if (isfinite(percent) && isfinite(r->confirm.ends_percent) && r->confirm.ends_percent != 0)
		fprintf(out, "  %-17s %s of %s %%\n", label,
			report_number(percent, part, sizeof(part)),
			report_number(r->confirm.ends_percent, all, sizeof(all)));
}

static void print_revert(FILE *out, const struct report *r)
{
	const struct report_confirm *c = &r->confirm;
	const char *end = r->fix ? "good" : "bad";

	if (c->revert == REVERT_MEASURED) {
		fprintf(out, "\nReverted on the %s end, %s:\n", end,
			c->revert_helps ? "the difference is gone" : "the difference stays");
		print_side(out, r, "reverted", &c->revert_side);
		print_part(out, r, r->fix ? "takes back" : "brings back", c->revert_percent);
		if (!c->by_hand)
			return;
		fputs("  made by hand      ", out);
		print_clean(out, c->by_hand);
		fputc('\n', out);
		return;
	}
	if (c->revert == REVERT_CONFLICTS)
		fprintf(out, "\nIt cannot be reverted on the %s end; these files conflict:\n", end);
	else if (c->revert == REVERT_FAILED)
		fprintf(out, "\nReverted on the %s end it cannot be measured:\n", end);
	else if (c->revert == REVERT_SAME)
		fprintf(out, "\nIt is the %s end itself, which without it is its parent.\n", end);
	else if (c->revert == REVERT_NO_BUILD)
		fputs("\nIt is not reverted, as nothing is built here; 'kregress run --revert "
		      "COMMIT'\ntakes a commit that does.\n",
		      out);
	if (c->revert == REVERT_CONFLICTS || c->revert == REVERT_FAILED)
		print_detail(out, c->revert_detail);
}

static void print_apply(FILE *out, const struct report *r)
{
	const struct report_confirm *c = &r->confirm;
	const char *end = r->fix ? "bad" : "good";

	if (c->apply == REVERT_MEASURED) {
		fprintf(out, "\nApplied on the %s end, %s:\n", end,
			c->apply_shows ? "the difference is there" : "the difference is not there");
		print_side(out, r, "applied", &c->apply_side);
		print_part(out, r, r->fix ? "brings" : "takes", c->apply_percent);
	} else if (c->apply == REVERT_SAME) {
		fprintf(out, "\nIts parent is the %s end, which with it is itself.\n", end);
	} else if (c->apply == REVERT_CONFLICTS) {
		fprintf(out, "\nIt does not apply on the %s end; these files conflict:\n", end);
		print_detail(out, c->apply_detail);
	} else if (c->apply == REVERT_FAILED) {
		fprintf(out, "\nApplied on the %s end it cannot be measured:\n", end);
		print_detail(out, c->apply_detail);
	}
}

void print_conflict_remedy(FILE *out, const struct report *r)
{
	const struct report_confirm *c = &r->confirm;

	if (!c->conflict_dir)
		return;
	fputs("The tree of the revert is left, with git's marks, in '", out);
	print_clean(out, c->conflict_dir);
	fprintf(out,
		"'.\nA revert made by hand is taken with 'kregress run --revert FILE|COMMIT': a "
		"patch "
		"for\nthe %s end ('git diff HEAD' there, once it is done), or a commit.\n",
		r->fix ? "good" : "bad");
}

void print_confirm(FILE *out, const struct report *r)
{
	const struct report_confirm *c = &r->confirm;

	if (c->state == CONFIRM_YES || c->state == CONFIRM_NO)
		print_pair(out, r);
	if (c->state == CONFIRM_FAILS_AGAIN) {
		fputs("\nConfirmed by fresh boots: its parent does not fail, and it fails again:\n "
		      " ",
		      out);
		print_clean(out, c->detail);
		fputc('\n', out);
	}
	if (c->state == CONFIRM_UNMEASURED) {
		fputs("\nNot confirmed, since ", out);
		print_clean(out, c->detail);
		fputc('\n', out);
	}
	if (c->state == CONFIRM_UNFINISHED)
		fputs("\nIts confirmation is not finished: kregress run goes on with it.\n", out);
	print_revert(out, r);
	print_apply(out, r);
}
