/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The long reports: what was seen inside the kernels, escaping, width, and sums done by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/escape.h"
#include "report/plot.h"
#include "report/record.h"
#include "unit/report_fixture.h"

#define EVIL "<script>]]>\"'&\x1b[2J\xe2\x80\xae"

static struct report a_report(void)
{
	struct report r = { .name = xstrdup("demo"),
			    .metric = xstrdup("exit_ms"),
			    .unit = xstrdup("ms"),
			    .state_dir = xstrdup("/state/demo"),
			    .status = ENGINE_FOUND,
			    .phase = PHASE_DONE,
			    .good_id = id_of('a'),
			    .bad_id = id_of('b'),
			    .candidates = 10,
			    .good = SIZE_MAX,
			    .bad = SIZE_MAX };

	r.culprit = (struct report_commit){ .id = id_of('b'),
					    .subject = xstrdup(EVIL),
					    .author = xstrdup(EVIL),
					    .email = xstrdup("ada@example.org"),
					    .date = xstrdup("2024-05-01") };
	r.culprit_parent = id_of('a');
	r.ends = (struct ends){ .state = ENDS_APART,
				.threshold = 10,
				.better = METRIC_LOWER,
				.good = { 2, 1, 3 },
				.bad = { 18, 17, 19 },
				.diff = { 16, 15, 17 } };
	return r;
}

static void add_trial(struct record *d, char commit, bool confirms, enum trial_outcome o,
		      const double *v, size_t n)
{
	struct record_trial t = { .id = (int64_t)d->n_trials + 1,
				  .commit = id_of(commit),
				  .purpose = xstrdup("ends"),
				  .detail = xstrdup(""),
				  .dir = xstrdup(""),
				  .outcome = o,
				  .counts = !confirms,
				  .confirms = confirms };

	if (n) {
		t.values = xcalloc(1, sizeof(*t.values));
		t.n_values = 1;
		t.values[0] = (struct record_values){ .metric = 0,
						      .v = xcalloc(n, sizeof(double)),
						      .n = n };
		memcpy(t.values[0].v, v, n * sizeof(double));
	}
	xgrow(&d->trial, &d->trial_room, d->n_trials + 1, sizeof(t));
	d->trial[d->n_trials++] = t;
}

static void add_commit(struct record *d, char digit, uint32_t position)
{
	xgrow(&d->commit, &d->commit_room, d->n_commits + 1, sizeof(*d->commit));
	d->commit[d->n_commits++] = (struct record_commit){ .id = id_of(digit),
							    .role = xstrdup(""),
							    .placed = true,
							    .position = position,
							    .label = xstrdup("x") };
}

static struct record a_record(void)
{
	struct record d = { .state_dir = xstrdup("/state/demo"), .title = xstrdup("a..b") };

	record_metric_add(&d, "exit_ms", "ms");
	add_trial(&d, 'a', false, TRIAL_OK, (double[]){ 1, 9, 2 }, 3);
	add_trial(&d, 'a', false, TRIAL_OK, (double[]){ 4, 4 }, 2);
	add_trial(&d, 'b', false, TRIAL_OK, (double[]){ 18 }, 1);
	add_trial(&d, 'b', false, TRIAL_CRASHED, NULL, 0);
	add_trial(&d, 'b', true, TRIAL_OK, (double[]){ 20 }, 1);
	add_commit(&d, 'a', 0);
	add_commit(&d, 'b', 7);
	return d;
}

static char *print(void (*p)(const struct report *, const struct record *, FILE *),
		   const struct report *r, const struct record *d)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	assert_non_null(f);
	p(r, d, f);
	fclose(f);
	return text;
}

static void add_evidence(struct report *r, struct record *d)
{
	struct report_evidence *v = &r->evidence;

	v->counters = xcalloc(2, sizeof(*v->counters));
	v->n_counters = 2;
	v->counter_boots[0] = v->counter_boots[1] = 3;
	v->counters[0] = (struct evidence_counter){ .name = xstrdup("vmstat/" EVIL),
						    .side = { { 10, 1 }, { 250, 5 } },
						    .t = 48,
						    .significant = true };
	v->counters[1] = (struct evidence_counter){ .name = xstrdup("softirqs/RCU"),
						    .side = { { 0, 0 }, { 7, 0 } },
						    .t = HUGE_VAL };
	v->stack_boots[0] = v->stack_boots[1] = 3;
	v->stacks = xcalloc(1, sizeof(*v->stacks));
	v->n_stacks = 1;
	v->stacks[0] = (struct evidence_stack){ .in = xstrdup("synchronize_rcu"),
						.under = xstrdup("unmap" EVIL),
						.frames = xstrdup("synchronize_rcu\nunmap" EVIL),
						.side = { { 0, 0 }, { 0.6, 0.1 } },
						.error = 0.05 };
	v->profile_boots[0] = v->profile_boots[1] = 3;
	v->symbols = xcalloc(1, sizeof(*v->symbols));
	v->n_symbols = 1;
	v->symbols[0] = (struct evidence_symbol){ .name = xstrdup("clear_page" EVIL),
						  .side = { { 0.25, 0 }, { 0.5, 0 } },
						  .error = NAN };
	v->profile_how = xstrdup("program counter through QMP");
	d->posterior.share = xcalloc(1, sizeof(*d->posterior.share));
	d->posterior.n = 1;
	d->posterior.share[0] =
		(struct record_share){ .id = id_of('b'), .position = 7, .share = 0.97 };
}

static void assert_has(const char *text, const char *want)
{
	if (!strstr(text, want))
		fail_msg("'%s' is not in:\n%s", want, text);
}

static void assert_not(const char *text, const char *want)
{
	if (strstr(text, want))
		fail_msg("'%s' is in:\n%s", want, text);
}

static void parts_appear_where_their_data_is(void **state)
{
	static const char *const id[] = { "id=\"counters\"", "id=\"stacks\"", "id=\"profile\"",
					  "id=\"posterior\"" };
	static const char *const word[] = { "Counters inside the kernel",
					    "Where the workload slept", "Profile, percent of" };
	struct report r = a_report();
	struct record d = a_record();
	char *html = print(report_html, &r, &d), *mail = print(report_mail, &r, &d);

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_not(html, id[i]);
	for (int i = 0; i < 3; i++)
		assert_not(mail, word[i]);
	free(html);
	free(mail);
	add_evidence(&r, &d);
	html = print(report_html, &r, &d);
	mail = print(report_mail, &r, &d);
	for (int i = 0; i < 4; i++)
		assert_has(html, id[i]);
	for (int i = 0; i < 3; i++)
		assert_has(mail, word[i]);
	assert_has(html, "<td class=\"n\">+48.0 *</td>");
	assert_has(html, "<td class=\"n\">no spread</td>");
	assert_has(html, "<td class=\"n\">60.0 %</td><td class=\"n\">+60.0 ± 5.0</td>");
	assert_has(html, "97.00 %");
	assert_has(mail, "          10 ± 10%    +2400.0%         250 ±  2%  * vmstat/");
	assert_has(mail, "       25.00            +25.00             50.00  clear_page");
	free(html);
	free(mail);
	record_release(&d);
	report_release(&r);
}

static void nothing_breaks_out(void **state)
{
	struct report r = a_report();
	struct record d = a_record();
	char *html, *mail, *junit, *json;

	(void)state;
	add_evidence(&r, &d);
	d.bisect_log = xstrdup("git bisect start\n# bad: [x] " EVIL "\n");
	d.campaign = xstrdup("a.b = " EVIL "\n");
	record_fact_set(&d, "cpu", EVIL);
	html = print(report_html, &r, &d);
	mail = print(report_mail, &r, &d);
	junit = print(report_junit, &r, &d);
	json = print(report_json_long, &r, &d);
	assert_not(html, "<script");
	assert_not(junit, "<script");
	assert_not(junit, "]]>");
	for (int i = 0; i < 4; i++) {
		const char *text = (const char *[]){ html, mail, junit, json }[i];

		assert_not(text, "\x1b");
		assert_not(text, "\xe2\x80\xae");
	}
	free(html);
	free(mail);
	free(junit);
	free(json);
	record_release(&d);
	report_release(&r);
}

static void json_keeps_the_fixed_keys_and_adds_the_rows(void **state)
{
	struct report r = a_report();
	struct record d = a_record();
	char *text = print(report_json_long, &r, &d);
	json_t *o = json_loads(text, 0, NULL);

	(void)state;
	assert_non_null(o);
	assert_int_equal(json_integer_value(json_object_get(o, "schema")), 1);
	assert_int_equal(json_array_size(json_object_get(o, "log")), 5);
	assert_string_equal(json_string_value(json_object_get(o, "status")), "found");
	json_decref(o);
	free(text);
	record_release(&d);
	report_release(&r);
}

/* Medians 2 and 4: mean 3, deviation √2. The confirmation is one boot of 20. */
static void sides_are_means_of_medians(void **state)
{
	struct record d = a_record();
	struct record_sides s;
	struct commit_id a = id_of('a'), b = id_of('b');

	(void)state;
	record_side(&d, &a, 0, false, &s);
	assert_int_equal(s.n, 2);
	assert_float_equal(s.mean, 3, 1e-12);
	assert_float_equal(s.sd, sqrt(2), 1e-12);
	free(s.boot);
	record_side(&d, &b, 0, false, &s);
	assert_int_equal(s.booted, 2);
	assert_int_equal(s.failed, 1);
	assert_int_equal(s.why, TRIAL_CRASHED);
	free(s.boot);
	record_side(&d, &b, 0, true, &s);
	assert_float_equal(s.mean, 20, 1e-12);
	free(s.boot);
	record_release(&d);
}

static void a_value_that_cannot_be_scaled_is_drawn(void **state)
{
	struct report r = a_report();
	struct record d = a_record();
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	add_trial(&d, 'a', false, TRIAL_OK, (double[]){ 1.7e308, -1.7e308, 5e-324 }, 3);
	plot_walk(&r, &d, true, f);
	fclose(f);
	assert_not(text, "nan");
	assert_not(text, "inf");
	assert_has(text, "</svg>");
	free(text);
	record_release(&d);
	report_release(&r);
}

static char *wrapped(const char *text, const char *indent, size_t width)
{
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	escape_wrap(f, text, NULL, indent, width);
	fclose(f);
	return out;
}

static void lines_break_at_blanks_and_else_anywhere(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", ">\n" },
		{ "one two three", ">one two\n>three\n" },
		{ "abcdefghijklm", ">abcdefghi\n>jklm\n" },
		{ "a abcdefghijk", ">a\n>abcdefghi\n>jk\n" },
		/* wide characters are two columns */
		{ "漢字漢字漢字", ">漢字漢字\n>漢字\n" },
		{ "tab\there", ">tab here\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *got = wrapped(cases[i].text, ">", 10);

		assert_string_equal(got, cases[i].want);
		free(got);
	}
}

static void a_cut_text_fits(void **state)
{
	_cleanup_str_ struct str a = STR_INIT, b = STR_INIT, c = STR_INIT;

	(void)state;
	escape_cut(&a, "just fits", 9);
	assert_string_equal(str_text(&a), "just fits");
	escape_cut(&b, "does not fit", 9);
	assert_string_equal(str_text(&b), "does n...");
	escape_cut(&c, "漢字漢字漢字", 8);
	assert_string_equal(str_text(&c), "漢字...");
}

static void a_file_becomes_an_address(void **state)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	escape_url(f, "/a b/\"<", "x#?%.log");
	fclose(f);
	assert_string_equal(text, "file:///a%20b/%22%3C/x%23%3F%25.log");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_appear_where_their_data_is),
		cmocka_unit_test(nothing_breaks_out),
		cmocka_unit_test(json_keeps_the_fixed_keys_and_adds_the_rows),
		cmocka_unit_test(sides_are_means_of_medians),
		cmocka_unit_test(a_value_that_cannot_be_scaled_is_drawn),
		cmocka_unit_test(lines_break_at_blanks_and_else_anywhere),
		cmocka_unit_test(a_cut_text_fits),
		cmocka_unit_test(a_file_becomes_an_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
