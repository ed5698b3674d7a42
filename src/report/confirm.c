/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fresh boots said of the culprit. */
#include "report/print.h"

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
	const struct report_confirm *c = &r->confirm;

	fprintf(out, "\n%s by %u fresh boots of each, interleaved:\n",
		c->state == CONFIRM_YES ? "Confirmed" : "Contradicted", c->boots);
	print_side(out, r, "parent", &c->parent_side);
	print_side(out, r, r->fix ? "fix" : "culprit", &c->culprit_side);
	fputs("  difference        ", out);
	print_difference(out, r, c->parent_side.estimate, c->culprit_side.estimate, &c->diff);
	fprintf(out, ", p = %.2g\n", c->p);
}

static void print_detail(FILE *out, const char *detail)
{
	fputs("  ", out);
	print_clean(out, detail);
	fputc('\n', out);
}

static void print_revert(FILE *out, const struct report *r)
{
	const struct report_confirm *c = &r->confirm;
	const char *end = r->fix ? "good" : "bad";

	if (c->revert == REVERT_MEASURED) {
		fprintf(out, "\nReverted on the %s end, %s:\n", end,
			c->revert_helps ? "the difference is gone" : "the difference stays");
		print_side(out, r, "reverted", &c->revert_side);
		return;
	}
	if (c->revert == REVERT_CONFLICTS)
		fprintf(out, "\nIt cannot be reverted on the %s end; these files conflict:\n", end);
	else if (c->revert == REVERT_FAILED)
		fprintf(out, "\nReverted on the %s end it cannot be measured:\n", end);
	else
		return;
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
	fputs("They are left, with git's marks, in '", out);
	print_clean(out, c->conflict_dir);
	fprintf(out,
		"'. A revert made by hand is taken\nwith 'kregress run --revert FILE|COMMIT': a "
		"patch "
		"for the %s end, or the commit.\n",
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
		fputs("\nNot confirmed, since fresh boots failed: ", out);
		print_clean(out, c->detail);
		fputc('\n', out);
	}
	if (c->state == CONFIRM_UNFINISHED)
		fputs("\nIts confirmation is not finished: kregress run goes on with it.\n", out);
	print_revert(out, r);
	print_apply(out, r);
}
