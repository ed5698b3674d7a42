/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports: whole outputs of hand-made campaigns, and numbers rounded by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/report.h"
#include "unit/report_fixture.h"

static struct report_commit measured(char digit, const char *subject, enum verdict v,
				     unsigned boots, double estimate, double half)
{
	struct report_commit c = { .id = id_of(digit),
				   .subject = xstrdup(subject),
				   .author = xstrdup("Ada L."),
				   .email = xstrdup("ada@example.org"),
				   .date = xstrdup("2024-05-01 10:00:00 +0000"),
				   .verdict = v,
				   .outcome = TRIAL_OK,
				   .trials = boots,
				   .has_interval = true,
				   .interval = { estimate, estimate - half, estimate + half } };

	c.samples = xcalloc(boots, sizeof(double));
	c.n_samples = boots;
	for (unsigned i = 0; i < boots; i++)
		c.samples[i] = estimate;
	return c;
}

static struct report_commit failed(char digit, const char *subject, enum verdict v,
				   enum trial_outcome o, const char *detail, const char *log)
{
	struct report_commit c = measured(digit, subject, v, 0, 0, 0);

	c.outcome = o;
	c.has_interval = false;
	c.trials = 1;
	c.detail = detail ? xstrdup(detail) : NULL;
	c.log_path = log ? xstrdup(log) : NULL;
	return c;
}

static void add(struct report *r, struct report_commit c)
{
	r->tested = xrealloc(r->tested, r->n_tested + 1, sizeof(c));
	r->tested[r->n_tested++] = c;
}

/* Ends of 2 ± 0.5 ms (a…a) and 18 ± 1 ms (b…b), threshold 10, lower is better. */
static struct report campaign(enum engine_status status)
{
	struct report r = { .name = xstrdup("demo"),
			    .metric = xstrdup("exit_ms"),
			    .unit = xstrdup("ms"),
			    .state_dir = xstrdup("/state/demo"),
			    .repo = xstrdup("/linux"),
			    .status = status,
			    .phase = PHASE_DONE,
			    .good_id = id_of('a'),
			    .bad_id = id_of('b'),
			    .candidates = 26,
			    .effect = 0.02,
			    .confidence = 0.95,
			    .good = 0,
			    .bad = 1,
			    .builds = 5,
			    .trials = 9,
			    .samples = 45,
			    .seconds_total = 200,
			    .seconds_build = 100,
			    .seconds_make = 100,
			    .seconds_boot = 50,
			    .seconds_workload = 40,
			    .session_total = 200,
			    .session_make = 100,
			    .session_boot = 50,
			    .session_workload = 40 };

	add(&r, measured('a', "old end", VERDICT_GOOD, 3, 2, 0.5));
	add(&r, measured('b', "new end", VERDICT_BAD, 3, 18, 1));
	r.ends = (struct ends){ .state = ENDS_APART,
				.threshold = 10,
				.better = METRIC_LOWER,
				.good = r.tested[0].interval,
				.bad = r.tested[1].interval,
				.diff = { 16, 15, 17 } };
	return r;
}

typedef void (*printer)(const struct report *r, FILE *out);

static char *print(printer p, const struct report *r)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	assert_non_null(f);
	p(r, f);
	fclose(f);
	return text;
}

static void expect(printer p, struct report *r, const char *want)
{
	char *got = print(p, r);

	assert_string_equal(got, want);
	free(got);
	report_release(r);
}

#define A40 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B40 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C40 "cccccccccccccccccccccccccccccccccccccccc"
#define D40 "dddddddddddddddddddddddddddddddddddddddd"

#define ENDS_TABLE                                                       \
	"\nexit_ms: lower is better, threshold 10 ms\n"                  \
	"  good end  aaaaaaaaaaaa  2 ms [1.5, 2.5]  3 boots, 3 values\n" \
	"  bad end   bbbbbbbbbbbb  18 ms [17, 19]   3 boots, 3 values\n" \
	"  bad end against good end: +800%, +16 ms [15, 17]\n"

#define COST                                                                             \
	"\nWork      26 commits in the range, %d tested, 5 builds, 9 boots, 45 values\n" \
	"Time      3m 20s: make 50.0%%, boot 25.0%%, workload 20.0%%, other 5.0%%\n"     \
	"Logs      /state/demo\n"

static char *with_cost(const char *text, int tested)
{
	char *cost = xasprintf(COST, tested), *all = xasprintf("%s%s", text, cost);

	free(cost);
	return all;
}

static void expect_text(struct report *r, const char *want)
{
	char *all = with_cost(want, (int)r->n_tested);

	expect(report_text, r, all);
	free(all);
}

static void found_names_the_culprit_both_sides_and_what_was_skipped(void **state)
{
	struct report r = campaign(ENGINE_FOUND);

	(void)state;
	add(&r, measured('c', "mm: wait for a grace period", VERDICT_BAD, 1, 17.5, 1.5));
	add(&r, measured('d', "mm: parent", VERDICT_GOOD, 1, 2.1, 0.9));
	add(&r, failed('e', "broken \033[31mred", VERDICT_SKIP, TRIAL_BUILD_FAILED,
		       "mm/x.c:1: error: \a'y'", "/state/demo/builds/e.log"));
	add(&r, failed('f', "panics", VERDICT_SKIP, TRIAL_BOOT_FAILED, "Kernel panic", NULL));
	r.culprit = measured('c', "mm: wait for a grace period", VERDICT_BAD, 0, 0, 0);
	r.culprit_parent = id_of('d');
	r.config_diff_known = true;
	strv_add(&r.config_diff, "-CONFIG_X=y");
	strv_add(&r.config_diff, "+CONFIG_X=n");
	expect_text(&r,
		    C40 " is the first bad commit\n"
			"\n"
			"  commit " C40 "\n"
			"  Author: Ada L. <ada@example.org>\n"
			"  Date:   2024-05-01 10:00:00 +0000\n"
			"\n"
			"      mm: wait for a grace period\n"
			"\n"
			"exit_ms: lower is better, threshold 10 ms\n"
			"  good end  aaaaaaaaaaaa  2 ms [1.5, 2.5]   3 boots, 3 values\n"
			"  parent    dddddddddddd  2.1 ms [1.2, 3]   1 boot, 1 value\n"
			"  culprit   cccccccccccc  17.5 ms [16, 19]  1 boot, 1 value\n"
			"  bad end   bbbbbbbbbbbb  18 ms [17, 19]    3 boots, 3 values\n"
			"  bad end against good end: +800%, +16 ms [15, 17]\n"
			"  culprit against its parent:  +733%, +15.4 ms\n"
			"\n"
			"It changes the kernel configuration, which may be all that it does here:\n"
			"  -CONFIG_X=y\n"
			"  +CONFIG_X=n\n"
			"\n"
			"Skipped (2)\n"
			"  build failed (1)\n"
			"    eeeeeeeeeeee broken \\x1b[31mred\n"
			"      mm/x.c:1: error: \\x07'y'\n"
			"      log: /state/demo/builds/e.log\n"
			"  did not boot (1)\n"
			"    ffffffffffff panics\n"
			"      Kernel panic\n");
}

static void a_fix_is_said_in_words_of_fixes_and_in_the_order_of_history(void **state)
{
	struct report r = campaign(ENGINE_FOUND);

	(void)state;
	r.fix = true;
	r.culprit = measured('a', "old end", VERDICT_GOOD, 0, 0, 0);
	r.config_diff_known = true;
	r.deterministic = true;
	expect_text(&r,
		    "fixed by " A40 ", the first good commit\n"
		    "\n"
		    "  commit " A40 "\n"
		    "  Author: Ada L. <ada@example.org>\n"
		    "  Date:   2024-05-01 10:00:00 +0000\n"
		    "\n"
		    "      old end\n"
		    "\n"
		    "exit_ms: lower is better, threshold 10 ms\n"
		    "  bad end        bbbbbbbbbbbb  18 ms [17, 19]   3 boots, 3 values\n"
		    "  fix, good end  aaaaaaaaaaaa  2 ms [1.5, 2.5]  3 boots, 3 values\n"
		    "  bad end against good end: +800%, +16 ms [15, 17]\n"
		    "\n"
		    "Its kernel configuration is that of its parent.\n"
		    "\n"
		    "Note: instructions were counted (deterministic = yes), so one run decides, "
		    "and a difference\ncounts from effect on. Caches, TLBs and real contention "
		    "are invisible to it.\n");
}

static void a_short_list_says_what_each_candidate_failed_of(void **state)
{
	struct report r = campaign(ENGINE_SHORT_LIST);

	(void)state;
	add(&r, failed('c', "hangs", VERDICT_SKIP, TRIAL_TIMED_OUT, "no end of run 2", NULL));
	add(&r, measured('d', "noisy", VERDICT_UNSURE, 8, 10.1, 2));
	r.n_left = 3;
	r.left = xcalloc(3, sizeof(*r.left));
	r.left_subject = xcalloc(3, sizeof(char *));
	r.left[0] = id_of('c');
	r.left[1] = id_of('d');
	r.left[2] = id_of('b');
	r.left_subject[0] = xstrdup("hangs");
	r.left_subject[1] = xstrdup("noisy");
	r.left_subject[2] = xstrdup("new end");
	expect_text(&r,
		    "only commits that cannot be tested are left; the first bad commit is one of "
		    "these 3:\n"
		    "  " C40 " hangs\n"
		    "    the workload never ended\n"
		    "    no end of run 2\n"
		    "  " D40 " noisy\n"
		    "    not decided: its values lie too near the threshold\n"
		    "  " B40 " new end\n"
		    "    measured: bad\n" ENDS_TABLE "\n"
		    "Skipped (2)\n"
		    "  not decided: its values lie too near the threshold (1)\n"
		    "    dddddddddddd noisy\n"
		    "  the workload never ended (1)\n"
		    "    cccccccccccc hangs\n"
		    "      no end of run 2\n");
}

static void ends_that_do_not_differ_are_refused_with_the_numbers(void **state)
{
	struct report r = campaign(ENGINE_NO_DIFFERENCE);

	(void)state;
	r.tested[1].interval = (struct stats_interval){ 2.01, 1.51, 2.51 };
	r.ends.bad = r.tested[1].interval;
	r.ends.diff = (struct stats_interval){ 0.01, -0.02, 0.04 };
	r.ends.equivalent = true;
	r.ends.threshold = 2.4;
	r.single_boots = true;
	expect_text(&r, "no difference: the two ends cannot be told apart, so there is nothing to "
			"search\n"
			"\n"
			"exit_ms: lower is better, threshold 2.4 ms\n"
			"  good end  aaaaaaaaaaaa  2 ms [1.5, 2.5]       3 boots, 3 values\n"
			"  bad end   bbbbbbbbbbbb  2.01 ms [1.51, 2.51]  3 boots, 3 values\n"
			"  bad end against good end: +0.50%, +0.01 ms [-0.02, 0.04]\n"
			"\n"
			"They are shown to be nearer than the smallest effect that matters, 2% "
			"(0.04 ms).\n"
			"\n"
			"Try a longer workload or one that shows the difference more clearly; more "
			"runs and boots\n"
			"(runs_per_boot, end_boots and max_boots in [measure]); ends that lie "
			"further apart;\n"
			"or, where a smaller difference matters, a nearer threshold and effect in "
			"[verdict].\n"
			"\n"
			"Note: one boot of each commit, so how much boots differ is not known, and "
			"every value was\n"
			"taken as exact. With end_boots = 3 in [measure] it would be known.\n");
}

static void swapped_ends_are_said_with_the_change_to_make(void **state)
{
	struct report r = campaign(ENGINE_SWAPPED);

	(void)state;
	r.ends.better = METRIC_HIGHER;
	expect_text(&r,
		    "good and bad are swapped: the good end is the worse one\n"
		    "\n"
		    "exit_ms: higher is better, threshold 10 ms\n"
		    "  good end  aaaaaaaaaaaa  2 ms [1.5, 2.5]  3 boots, 3 values\n"
		    "  bad end   bbbbbbbbbbbb  18 ms [17, 19]   3 boots, 3 values\n"
		    "  bad end against good end: +800%, +16 ms [15, 17]\n"
		    "\n"
		    "The newer end is the better one here. To find the commit that made it so, "
		    "set\n"
		    "hunt = fix in [campaign] and exchange the values of good and bad. Or, if a "
		    "lower\n"
		    "value is what you want, set better = lower in [verdict].\n");
}

static void ends_on_one_side_of_the_threshold_are_said(void **state)
{
	struct report r = campaign(ENGINE_SAME_SIDE);

	(void)state;
	r.ends.threshold = 1;
	expect_text(&r, "the ends differ, but the threshold is not between them\n"
			"\n"
			"exit_ms: lower is better, threshold 1 ms\n"
			"  good end  aaaaaaaaaaaa  2 ms [1.5, 2.5]  3 boots, 3 values\n"
			"  bad end   bbbbbbbbbbbb  18 ms [17, 19]   3 boots, 3 values\n"
			"  bad end against good end: +800%, +16 ms [15, 17]\n"
			"\n"
			"Both ends are on the bad side. Set threshold in [verdict] to a value "
			"between the two\n"
			"estimates, or to auto (half-way).\n");
}

static void an_end_that_cannot_be_measured_is_said_with_its_log(void **state)
{
	struct report r = campaign(ENGINE_END_UNMEASURED);

	(void)state;
	report_commit_release(&r.tested[0]);
	r.tested[0] = failed('a', "old end", VERDICT_SKIP, TRIAL_CRASHED, "Oops: 0002",
			     "/state/demo/trials/000001");
	r.subject_of_status = id_of('a');
	expect_text(&r, "the good end " A40 " could not be measured: crashed\n"
			"\n"
			"  Oops: 0002\n"
			"  log: /state/demo/trials/000001\n"
			"\n"
			"Without its value there is nothing to compare with. Mend what failed (the "
			"log says what),\n"
			"or name a commit nearby as this end.\n"
			"\n"
			"Skipped (1)\n"
			"  crashed (1)\n"
			"    aaaaaaaaaaaa old end\n"
			"      Oops: 0002\n"
			"      log: /state/demo/trials/000001\n");
}

static void a_bad_merge_base_is_explained_and_the_next_hunt_named(void **state)
{
	struct report r = campaign(ENGINE_BAD_MERGE_BASE);

	(void)state;
	add(&r, measured('c', "base", VERDICT_BAD, 1, 17, 1));
	r.subject_of_status = id_of('c');
	expect_text(&r,
		    "the merge base " C40 " is bad\n"
		    "\n"
		    "exit_ms: lower is better, threshold 10 ms\n"
		    "  good end    aaaaaaaaaaaa  2 ms [1.5, 2.5]  3 boots, 3 values\n"
		    "  merge base  cccccccccccc  17 ms [16, 18]   1 boot, 1 value\n"
		    "  bad end     bbbbbbbbbbbb  18 ms [17, 19]   3 boots, 3 values\n"
		    "\n"
		    "The good end is not an ancestor of the bad one, and where their histories "
		    "part the value is\n"
		    "bad already. So no commit of this range made the difference: a commit "
		    "between\n"
		    "cccccccccccc and aaaaaaaaaaaa (the good end) made it good again. To find it, "
		    "set\n"
		    "hunt = fix, good = aaaaaaaaaaaa and bad = cccccccccccc in [campaign].\n");
}

static void failures_that_count_as_bad_and_identical_kernels_are_listed(void **state)
{
	struct report r = campaign(ENGINE_FOUND);

	(void)state;
	report_commit_release(&r.tested[1]);
	r.tested[1] = failed('b', "new end", VERDICT_BAD, TRIAL_BOOT_FAILED, "panic", NULL);
	r.ends.bad.estimate = r.ends.diff.estimate = NAN;
	add(&r, measured('d', "docs only", VERDICT_GOOD, 0, 2, 0.5));
	r.tested[2].twin = id_of('a');
	r.culprit = failed('b', "new end", VERDICT_BAD, TRIAL_UNSET, NULL, NULL);
	r.culprit_parent = id_of('d');
	r.seconds_total = 400;
	r.seconds_build = r.seconds_make = 300;
	expect(report_text, &r,
	       B40 " is the first bad commit\n"
		   "\n"
		   "  commit " B40 "\n"
		   "  Author: Ada L. <ada@example.org>\n"
		   "  Date:   2024-05-01 10:00:00 +0000\n"
		   "\n"
		   "      new end\n"
		   "\n"
		   "exit_ms: lower is better, threshold 10 ms\n"
		   "  good end          aaaaaaaaaaaa  2 ms [1.5, 2.5]  3 boots, 3 values\n"
		   "  parent            dddddddddddd  2 ms [1.5, 2.5]  0 boots, 0 values\n"
		   "  culprit, bad end  bbbbbbbbbbbb  did not boot     1 boot, 0 values\n"
		   "\n"
		   "Failed, which counts as bad in this campaign (1)\n"
		   "  did not boot (1)\n"
		   "    bbbbbbbbbbbb new end\n"
		   "      panic\n"
		   "\n"
		   "Identical kernels, values taken over\n"
		   "  dddddddddddd is byte for byte the kernel of aaaaaaaaaaaa\n"
		   "\n"
		   "Work      26 commits in the range, 3 tested, 5 builds, 9 boots, 45 values\n"
		   "Time      3m 20s: make 50.0%, boot 25.0%, workload 20.0%, other 5.0%\n"
		   "All time  6m 40s: make 75.0%, boot 12.5%, workload 10.0%, other 2.5%\n"
		   "Logs      /state/demo\n");
}

/* Found c…c with parent d…d, and fresh boots of both: 2 and 17.5 ms. */
static struct report confirmed(enum engine_status status, enum report_confirm_state state)
{
	struct report r = campaign(status);

	r.culprit = measured('c', "mm: wait", VERDICT_BAD, 0, 0, 0);
	r.confirm = (struct report_confirm){ .state = state,
					     .parent = id_of('d'),
					     .boots = 3,
					     .parent_side = { 2, 1.5, 2.5 },
					     .culprit_side = { 17.5, 16, 19 },
					     .diff = { 15.5, 14, 17 },
					     .p = 0.00012 };
	return r;
}

#define COMMIT_C                                \
	"\n  commit " C40 "\n"                  \
	"  Author: Ada L. <ada@example.org>\n"  \
	"  Date:   2024-05-01 10:00:00 +0000\n" \
	"\n      mm: wait\n"

#define FRESH                                       \
	" by 3 fresh boots of each, interleaved:\n" \
	"  parent            2 ms [1.5, 2.5]\n"     \
	"  culprit           17.5 ms [16, 19]\n"    \
	"  difference        +775%, +15.5 ms [14, 17], p = 0.00012\n"

static void a_confirmed_culprit_shows_the_fresh_boots_and_the_revert(void **state)
{
	struct report r = confirmed(ENGINE_FOUND, CONFIRM_YES);

	(void)state;
	r.confirm.revert = REVERT_MEASURED;
	r.confirm.revert_side = (struct stats_interval){ 2.2, 1.7, 2.7 };
	r.confirm.revert_helps = true;
	expect_text(&r, C40 " is the first bad commit\n" COMMIT_C ENDS_TABLE "\n"
			    "Confirmed" FRESH "\n"
			    "Reverted on the bad end, the difference is gone:\n"
			    "  reverted          2.2 ms [1.7, 2.7]\n");
}

static void a_culprit_that_is_not_confirmed_is_no_culprit(void **state)
{
	struct report r = confirmed(ENGINE_NOT_CONFIRMED, CONFIRM_NO);
	char *json = print(report_json, &r);

	(void)state;
	assert_non_null(strstr(json, "\"status\":\"not_confirmed\",\"culprit\":null,"
				     "\"candidates\":[{\"commit\":\"" C40 "\",\"share\":null}]"));
	free(json);
	r.confirm.revert = REVERT_CONFLICTS;
	r.confirm.revert_detail = xstrdup("mm/\001x.c");
	expect_text(&r,
		    "not confirmed: fresh boots of the commit found and of its parent do not "
		    "differ as the search said\n" COMMIT_C ENDS_TABLE "\n"
		    "Contradicted" FRESH "\n"
		    "It cannot be reverted on the bad end; these files conflict:\n"
		    "  mm/\\x01x.c\n"
		    "\n"
		    "So the step that the search saw does not come back: noise led it astray, or "
		    "the machine\n"
		    "changed meanwhile. Measure more (min_boots and end_boots in [measure], "
		    "confidence in\n"
		    "[verdict]) into another state directory; 'kregress log' has every value so "
		    "far.\n");
}

static struct report_told told(char digit, enum verdict v, bool person, enum verdict measured)
{
	struct report_told t = { .verdict = v, .person = person, .measured = measured };

	t.id = id_of(digit);
	return t;
}

static void failures_are_grouped_by_what_they_failed_of(void **state)
{
	struct report r = campaign(ENGINE_RUNNING);
	char *got;

	(void)state;
	add(&r, failed('1', "first", VERDICT_SKIP, TRIAL_BUILD_FAILED,
		       "mm/x.c:12:3: error: 'a' undeclared", NULL));
	add(&r, failed('2', "other", VERDICT_SKIP, TRIAL_BUILD_FAILED,
		       "mm/y.c:7:1: error: expected ';'", NULL));
	add(&r, failed('3', "second", VERDICT_SKIP, TRIAL_BUILD_FAILED,
		       "mm/x.c:19:3: error: 'a' undeclared", NULL));
	got = print(report_text, &r);
	assert_non_null(strstr(got, "  build failed (3)\n"
				    "    2 failed alike:\n"
				    "      mm/x.c:12:3: error: 'a' undeclared\n"
				    "      111111111111 first\n"
				    "      333333333333 second\n"
				    "    222222222222 other\n"
				    "      mm/y.c:7:1: error: expected ';'\n"));
	free(got);
	report_release(&r);
}

static void verdicts_of_a_person_are_told_from_measured_ones(void **state)
{
	struct report r = campaign(ENGINE_RUNNING);
	char *got;

	(void)state;
	r.told = xcalloc(3, sizeof(*r.told));
	r.told[r.n_told++] = told('5', VERDICT_GOOD, true, VERDICT_UNSET);
	r.told[r.n_told++] = told('6', VERDICT_GOOD, true, VERDICT_BAD);
	r.told[r.n_told++] = told('7', VERDICT_SKIP, false, VERDICT_UNSET);
	got = print(report_text, &r);
	assert_non_null(
		strstr(got, "\n1 verdict of the bisect log counted without being measured "));
	assert_non_null(strstr(got, "\nMeasured otherwise than the bisect log says\n"
				    "  666666666666 called good, measured bad\n"));
	free(got);
	report_release(&r);
}

static void a_confirmation_that_is_not_done_is_not_found_yet(void **state)
{
	struct report r = confirmed(ENGINE_FOUND, CONFIRM_UNFINISHED);
	char *json = print(report_json, &r), *text = print(report_status, &r);

	(void)state;
	assert_int_equal(report_exit_status(&r), 130);
	assert_non_null(strstr(json, "\"status\":\"interrupted\",\"culprit\":null,"
				     "\"candidates\":[{\"commit\":\"" C40 "\",\"share\":null}]"));
	assert_non_null(strstr(text, "State     confirming " C40 "\n"));
	free(json);
	free(text);
	report_release(&r);
}

static void what_stands_in_the_way_of_confirming_is_said(void **state)
{
	struct report r = confirmed(ENGINE_FOUND, CONFIRM_UNMEASURED);

	(void)state;
	r.confirm.detail = xstrdup("fresh boots failed: parent: boot_failed: panic");
	r.confirm.revert = REVERT_FAILED;
	r.confirm.revert_detail = xstrdup("build_failed: y");
	expect_text(&r, C40 " is the first bad commit\n" COMMIT_C ENDS_TABLE "\n"
			    "Not confirmed, since fresh boots failed: parent: boot_failed: panic\n"
			    "\n"
			    "Reverted on the bad end it cannot be measured:\n"
			    "  build_failed: y\n");
}

static void long_lists_are_cut_and_counted(void **state)
{
	struct report r = campaign(ENGINE_FOUND);
	char *got;
	size_t lines = 0;

	(void)state;
	r.culprit = measured('b', "new end", VERDICT_BAD, 0, 0, 0);
	for (int i = 0; i < 300; i++)
		add(&r, failed('c', "skipped one", VERDICT_SKIP, TRIAL_BUILD_FAILED, NULL, NULL));
	got = print(report_text, &r);
	for (const char *p = got; (p = strstr(p, "skipped one")); p++)
		lines++;
	assert_int_equal(lines, 20);
	assert_non_null(strstr(got, "Skipped (300)\n  build failed (300)\n"));
	assert_non_null(strstr(got, "    … and 280 more: see kregress log\n"));
	free(got);
	report_release(&r);
}

static void status_of_a_search_shows_what_is_left_and_what_was_said(void **state)
{
	struct report r = campaign(ENGINE_RUNNING);

	(void)state;
	r.phase = PHASE_SEARCH;
	r.steps = 3;
	r.n_left = 12;
	r.left = xcalloc(12, sizeof(*r.left));
	add(&r, measured('c', "in doubt", VERDICT_UNSET, 1, 9.5, 2));
	r.session_make = r.session_boot = r.session_workload = 0;
	expect(report_status, &r,
	       "Campaign  demo (regression hunt, exit_ms)\n"
	       "State     searching, 12 of 26 commits left, about 3 more steps\n"
	       "Decides   lower is better, threshold 10 ms\n"
	       "\n"
	       "Tested\n"
	       "  good end  good    aaaaaaaaaaaa    3  2 ms [1.5, 2.5]               old end\n"
	       "  bad end   bad     bbbbbbbbbbbb    3  18 ms [17, 19]                new end\n"
	       "            open    cccccccccccc    1  9.5 ms [7.5, 11.5]            in doubt\n"
	       "\n"
	       "Work      26 commits in the range, 3 tested, 5 builds, 9 boots, 45 values\n"
	       "All time  3m 20s: make 50.0%, boot 25.0%, workload 20.0%, other 5.0%\n"
	       "Logs      /state/demo\n");
}

static void json_has_the_fixed_keys_in_order(void **state)
{
	struct report r = campaign(ENGINE_FOUND);

	(void)state;
	add(&r, failed('c', "x", VERDICT_SKIP, TRIAL_GARBLED, "bytes \xff", NULL));
	add(&r, measured('d', "y", VERDICT_UNSET, 1, INFINITY, 0));
	free(r.unit);
	r.unit = xstrdup("m\xffs");
	r.tested[0].interval = (struct stats_interval){ 1.9, 1.2, 2.6 };
	r.tested[1].interval.low = -INFINITY;
	r.tested[0].samples[1] = 1e-300;
	r.culprit = measured('b', "new end", VERDICT_BAD, 0, 0, 0);
	expect(report_json, &r,
	       "{\"schema\":1,\"status\":\"found\",\"culprit\":\"" B40 "\","
	       "\"candidates\":[{\"commit\":\"" B40 "\",\"share\":null}],\"confidence\":null,"
	       "\"metric\":\"exit_ms\",\"unit\":\"m\\\\xffs\","
	       "\"good\":{\"commit\":\"" A40 "\",\"estimate\":1.9,\"interval\":[1.2,2.6]},"
	       "\"bad\":{\"commit\":\"" B40 "\",\"estimate\":18.0,\"interval\":null},"
	       "\"tested\":["
	       "{\"commit\":\"" A40 "\",\"verdict\":\"good\",\"outcome\":\"ok\",\"trials\":3,"
	       "\"samples\":[2.0,1e-300,2.0]},"
	       "{\"commit\":\"" B40 "\",\"verdict\":\"bad\",\"outcome\":\"ok\",\"trials\":3,"
	       "\"samples\":[18.0,18.0,18.0]},"
	       "{\"commit\":\"" C40 "\",\"verdict\":\"skip\",\"outcome\":\"garbled\","
	       "\"trials\":1,\"samples\":[]},"
	       "{\"commit\":\"" D40 "\",\"verdict\":\"unsure\",\"outcome\":\"ok\",\"trials\":1,"
	       "\"samples\":[null]}],"
	       "\"builds\":5,\"trials\":9,\"samples\":45,"
	       "\"seconds\":{\"total\":200.0,\"build\":100.0,\"boot\":50.0,\"workload\":40.0}}\n");
}

static void json_before_the_first_value_has_nulls_and_all_candidates(void **state)
{
	struct report r = { .status = ENGINE_RUNNING,
			    .metric = xstrdup("ms"),
			    .unit = NULL,
			    .good_id = id_of('a'),
			    .bad_id = id_of('b'),
			    .good = SIZE_MAX,
			    .bad = SIZE_MAX,
			    .n_left = 2 };

	(void)state;
	r.left = xcalloc(2, sizeof(*r.left));
	r.left[0] = id_of('c');
	r.left[1] = id_of('b');
	expect(report_json, &r,
	       "{\"schema\":1,\"status\":\"interrupted\",\"culprit\":null,"
	       "\"candidates\":[{\"commit\":\"" C40 "\",\"share\":null},"
	       "{\"commit\":\"" B40 "\",\"share\":null}],\"confidence\":null,"
	       "\"metric\":\"ms\",\"unit\":null,"
	       "\"good\":{\"commit\":\"" A40 "\",\"estimate\":null,\"interval\":null},"
	       "\"bad\":{\"commit\":\"" B40 "\",\"estimate\":null,\"interval\":null},"
	       "\"tested\":[],\"builds\":0,\"trials\":0,\"samples\":0,"
	       "\"seconds\":{\"total\":0.0,\"build\":0.0,\"boot\":0.0,\"workload\":0.0}}\n");
}

static void every_status_has_its_word_and_exit_status(void **state)
{
	static const struct {
		enum engine_status status;
		const char *name;
		int exit;
	} want[] = {
		{ ENGINE_RUNNING, "interrupted", 130 },
		{ ENGINE_FOUND, "found", 0 },
		{ ENGINE_SHORT_LIST, "short_list", 1 },
		{ ENGINE_NO_DIFFERENCE, "no_difference", 1 },
		{ ENGINE_SWAPPED, "no_culprit", 1 },
		{ ENGINE_SAME_SIDE, "no_culprit", 1 },
		{ ENGINE_END_UNMEASURED, "no_culprit", 1 },
		{ ENGINE_BAD_MERGE_BASE, "no_culprit", 1 },
		{ ENGINE_NOT_CONFIRMED, "not_confirmed", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		struct report r = { .status = want[i].status, .n_left = 3 };

		assert_string_equal(report_status_name(&r), want[i].name);
		assert_int_equal(report_exit_status(&r), want[i].exit);
	}
}

static void verdicts_that_no_commit_fits_are_no_short_list(void **state)
{
	struct report r = campaign(ENGINE_SHORT_LIST);
	char *got;

	(void)state;
	assert_string_equal(report_status_name(&r), "no_culprit");
	got = print(report_text, &r);
	assert_non_null(strstr(got, "the verdicts contradict each other: there is no commit that "
				    "fits them all\n"));
	free(got);
	report_release(&r);
}

static void an_answer_outlives_a_late_signal(void **state)
{
	struct report r = { .status = ENGINE_FOUND, .interrupted = true };

	(void)state;
	assert_int_equal(report_exit_status(&r), 0);
	assert_string_equal(report_status_name(&r), "found");
}

static void numbers_keep_four_digits_and_whole_numbers_whole(void **state)
{
	static const struct {
		double v;
		const char *text;
	} want[] = {
		{ 12.482, "12.48" },
		{ 0.00123, "0.00123" },
		{ 7692177, "7692177" },
		{ 0, "0" },
		{ -0.0, "0" },
		{ 1.0004, "1" },
		{ 1.001, "1.001" },
		{ 18.1, "18.1" },
		{ 999.96, "1000" },
		{ 1234.5678, "1235" },
		{ -2.5, "-2.5" },
		{ 0.1, "0.1" },
		{ 100, "100" },
		{ 1e15, "1.000e+15" },
		{ 1.2346e-7, "1.235e-07" },
		{ NAN, "unknown" },
		{ INFINITY, "inf" },
		{ -INFINITY, "-inf" },
		{ 99.995, "100" },
		{ 0.00009876, "0.00009876" },
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_string_equal(report_number(want[i].v, buf, sizeof(buf)), want[i].text);
}

static void intervals_show_bounds_only_where_they_are_known_and_apart(void **state)
{
	struct stats_interval i = { 18.1, 16, 20 };
	char buf[64];

	(void)state;
	assert_string_equal(report_interval(&i, "ms", buf, sizeof(buf)), "18.1 ms [16, 20]");
	assert_string_equal(report_interval(&i, "", buf, sizeof(buf)), "18.1 [16, 20]");
	assert_string_equal(report_interval(&i, NULL, buf, sizeof(buf)), "18.1 [16, 20]");
	i.low = i.high = 18.1;
	assert_string_equal(report_interval(&i, "ms", buf, sizeof(buf)), "18.1 ms");
	i.low = -INFINITY;
	assert_string_equal(report_interval(&i, "\033c", buf, sizeof(buf)),
			    "18.1 \\x1bc [not known]");
	assert_string_equal(report_interval(&i, "ms", buf, 6), "18.1 ");
}

/* What bayes believes: 97 % of the culprit, levels 2 and 18 ms, d = 8. */
static void believe(struct report *r)
{
	struct report_noise *n = &r->noise;

	n->is_bayes = true;
	n->choice = (struct engine_choice){ .search = ENGINE_BAYES };
	n->runs = 5;
	n->belief = (struct engine_belief){
		.none = 0.002,
		.bits_left = 0.25,
		.n_top = 1,
		.has_levels = true,
		.levels = { .level = { 2, 18 }, .sigma = 1.5, .luck = 0.5 },
		.intervals = { .level = { { 1.5, 2.5 }, { 17, 19 } },
			       .boot_sd = { 1, 2 },
			       .build_sd = { 0, 1 } },
		.run_sd = 0.75,
		.price = { .build = 100, .boot = 10, .run = 1 },
		.step = { .action = BAYES_BOOT, .why = BAYES_WHY_AGAIN, .seconds = 30 },
		.boots = 4,
		.boots_low = 2,
		.boots_high = 9.5,
		.seconds = 120,
	};
	n->share = xcalloc(2, sizeof(*n->share));
	n->share[0] = (struct report_share){ id_of('c'), xstrdup("mm: slow\033[1m"), 0.97 };
	n->share[1] = (struct report_share){ id_of('d'), NULL, 0.0004 };
	n->n_share = 2;
	n->next = id_of('c');
	n->next_boot = 3;
	r->culprit_share = 0.97;
}

static void bayes_gives_shares_and_the_confidence(void **state)
{
	struct report r = campaign(ENGINE_FOUND);
	_cleanup_free_ char *text = NULL;
	json_t *o, *search;

	(void)state;
	r.culprit = measured('c', "mm: slow", VERDICT_BAD, 3, 18, 1);
	believe(&r);
	text = print(report_json, &r);
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	assert_true(json_real_value(json_object_get(o, "confidence")) == 0.97);
	assert_true(json_real_value(json_object_get(
			    json_array_get(json_object_get(o, "candidates"), 0), "share")) == 0.97);
	search = json_object_get(o, "search");
	assert_string_equal(json_string_value(json_object_get(search, "mode")), "bayes");
	assert_true(json_real_value(json_object_get(search, "no_culprit")) == 0.002);
	assert_true(json_real_value(json_object_get(json_object_get(search, "deviation"), "run")) ==
		    0.75);
	/* it has ended: nothing is next */
	assert_null(json_object_get(search, "next"));
	json_decref(o);
	report_release(&r);
}

static void a_credible_set_is_a_short_list_with_shares(void **state)
{
	struct report r = campaign(ENGINE_SHORT_LIST);
	_cleanup_free_ char *text = NULL, *json = NULL;
	json_t *o;

	(void)state;
	believe(&r);
	r.noise.belief.step = (struct bayes_step){ .why = BAYES_WHY_UNAFFORDABLE };
	r.n_left = 2;
	r.left = xcalloc(2, sizeof(*r.left));
	r.left_subject = xcalloc(2, sizeof(*r.left_subject));
	r.left_share = xcalloc(2, sizeof(*r.left_share));
	r.left[0] = id_of('c');
	r.left[1] = id_of('d');
	r.left_subject[0] = xstrdup("mm: slow");
	r.left_share[0] = 0.75;
	r.left_share[1] = 0.21875;
	add(&r, measured('d', "mm: perhaps", VERDICT_UNSURE, 1, 11, 6));
	text = print(report_text, &r);
	assert_null(strstr(text, "Skipped"));
	assert_non_null(
		strstr(text, "the first bad commit is one of these 2, with 95% of what is likely:\n"
			     "    75.0%  cccccccccccccccccccccccccccccccccccccccc  mm: slow\n"
			     "    21.9%  dddddddddddddddddddddddddddddddddddddddd  \n"
			     "     0.2%  no commit of this range\n\n"
			     "The search ends because no step tells enough to pay for it.\n"));
	json = print(report_json, &r);
	o = json_loads(json, 0, NULL);
	assert_true(json_real_value(json_object_get(o, "confidence")) == 0.96875);
	assert_int_equal(json_array_size(json_object_get(o, "candidates")), 2);
	json_decref(o);
	report_release(&r);
}

static void status_shows_what_bayes_believes_and_why_it_goes_on(void **state)
{
	struct report r = campaign(ENGINE_RUNNING);
	_cleanup_free_ char *text = NULL;

	(void)state;
	r.phase = PHASE_SEARCH;
	r.n_left = 1;
	r.left = xcalloc(1, sizeof(*r.left));
	r.left_share = xcalloc(1, sizeof(*r.left_share));
	believe(&r);
	r.noise.choice = (struct engine_choice){ .search = ENGINE_BAYES,
						 .by_auto = true,
						 .distance = 2,
						 .wanted = 3.25,
						 .sd = 1.5,
						 .boots = 3 };
	text = print(report_status, &r);
	assert_non_null(strstr(text, "searching, 1 of 26 commits hold 95% of what is likely\n"));
	assert_non_null(strstr(text,
			       "search = bayes (auto): the threshold lies 2 boot-to-boot "
			       "deviations (1.5 ms) from the nearer end, and one boot decides "
			       "from 3.25 on: verdicts by threshold would need about 3 boots "
			       "a commit\n"));
	assert_non_null(strstr(text, "\nMost weight\n"
				     "    97.0%  cccccccccccc  mm: slow\\x1b[1m\n"
				     "   < 0.1%  dddddddddddd  \n"
				     "     0.2%  no commit of this range\n"
				     "  0.2 bits left\n"));
	assert_non_null(strstr(text, "\nLevels, intervals of 95%\n"
				     "  old (good)     2 ms [1.5, 2.5]\n"
				     "  new (bad)      18 ms [17, 19]\n"
				     "Standard deviations\n"
				     "  run to run     0.75 ms\n"
				     "  boot to boot   1.5 ms [1, 2]\n"
				     "  build to build 0.5 ms [0, 1]\n"));
	assert_non_null(strstr(text, "\nTo go     about 4 boots (2 to 10), 2m 00s\n"
				     "Next      cccccccccccc, boot 3: one more boot of it tells "
				     "most a second\n"));
	report_release(&r);
}

/* 43.29 / (2/5)² = 270.6 boots: the figures of the manual. */
static void a_refusal_says_how_many_boots_it_would_take(void **state)
{
	struct report r = campaign(ENGINE_BLIND);
	_cleanup_free_ char *text = NULL;

	(void)state;
	believe(&r);
	r.ends.good = (struct stats_interval){ 100, 99, 101 };
	r.noise.power = (struct engine_power){
		.boots = 60, .sd = 5, .smallest = 4.25, .effect = 2, .needed = 270.6
	};
	text = print(report_text, &r);
	assert_non_null(strstr(text, "refused: the ends look alike, and the boots allowed cannot "
				     "show a step that matters\n"));
	assert_non_null(strstr(
		text,
		"With 60 boots of each end, which differ by 5 ms (standard deviation), a step of "
		"4.25 ms or more\nwould be seen (4.2%).\n"
		"A 2% step with 5% boot-to-boot spread needs 271 boots an end: deterministic = "
		"yes, a longer run,\nor a larger effect.\n"));
	assert_string_equal(report_status_name(&r), "no_culprit");
	report_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bayes_gives_shares_and_the_confidence),
		cmocka_unit_test(a_credible_set_is_a_short_list_with_shares),
		cmocka_unit_test(status_shows_what_bayes_believes_and_why_it_goes_on),
		cmocka_unit_test(a_refusal_says_how_many_boots_it_would_take),
		cmocka_unit_test(found_names_the_culprit_both_sides_and_what_was_skipped),
		cmocka_unit_test(failures_are_grouped_by_what_they_failed_of),
		cmocka_unit_test(verdicts_of_a_person_are_told_from_measured_ones),
		cmocka_unit_test(a_fix_is_said_in_words_of_fixes_and_in_the_order_of_history),
		cmocka_unit_test(a_short_list_says_what_each_candidate_failed_of),
		cmocka_unit_test(ends_that_do_not_differ_are_refused_with_the_numbers),
		cmocka_unit_test(swapped_ends_are_said_with_the_change_to_make),
		cmocka_unit_test(ends_on_one_side_of_the_threshold_are_said),
		cmocka_unit_test(an_end_that_cannot_be_measured_is_said_with_its_log),
		cmocka_unit_test(a_bad_merge_base_is_explained_and_the_next_hunt_named),
		cmocka_unit_test(failures_that_count_as_bad_and_identical_kernels_are_listed),
		cmocka_unit_test(a_confirmed_culprit_shows_the_fresh_boots_and_the_revert),
		cmocka_unit_test(a_culprit_that_is_not_confirmed_is_no_culprit),
		cmocka_unit_test(a_confirmation_that_is_not_done_is_not_found_yet),
		cmocka_unit_test(what_stands_in_the_way_of_confirming_is_said),
		cmocka_unit_test(long_lists_are_cut_and_counted),
		cmocka_unit_test(status_of_a_search_shows_what_is_left_and_what_was_said),
		cmocka_unit_test(json_has_the_fixed_keys_in_order),
		cmocka_unit_test(json_before_the_first_value_has_nulls_and_all_candidates),
		cmocka_unit_test(every_status_has_its_word_and_exit_status),
		cmocka_unit_test(verdicts_that_no_commit_fits_are_no_short_list),
		cmocka_unit_test(an_answer_outlives_a_late_signal),
		cmocka_unit_test(numbers_keep_four_digits_and_whole_numbers_whole),
		cmocka_unit_test(intervals_show_bounds_only_where_they_are_known_and_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
