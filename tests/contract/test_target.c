/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every target keeps one contract: the same workload, the same outcome. */
#include "contract/target_ssh_fixture.h"

typedef int try_fn(const struct attempt *a, struct target_result *r, struct err *e);

static int qemu(const struct attempt *a, struct target_result *r, struct err *e)
{
	return try_qemu(a, r, e, NULL);
}

/* Each test runs with the target in its state. */
static try_fn *const targets[] = { qemu, try_command, try_ssh };

static try_fn *target_of(void **state)
{
	return *(try_fn *const *)*state;
}

static void check_outcome(void **state, const struct attempt *a, enum trial_outcome outcome,
			  const char *detail)
{
	struct target_result r;
	struct err e = ERR_INIT;

	must(&e, target_of(state)(a, &r, &e));
	if (r.outcome != outcome || !strstr(r.detail, detail))
		fail_msg("outcome %s: %s", trial_outcome_name(r.outcome), r.detail);
	target_result_release(&r);
}

static void check_failure(void **state, const struct attempt *a, enum err_code code,
			  const char *text)
{
	struct target_result r;
	struct err e = ERR_INIT;

	if (target_of(state)(a, &r, &e) == 0)
		fail_msg("outcome %s: %s", trial_outcome_name(r.outcome), r.detail);
	if (e.code != code || !strstr(e.msg, text))
		fail_msg("error %d: %s", (int)e.code, e.msg);
	target_result_release(&r);
}

static void check_output(void **state, const struct attempt *a, const char *expected, size_t n)
{
	struct target_result r;
	struct err e = ERR_INIT;

	must(&e, target_of(state)(a, &r, &e));
	assert_int_equal(r.outcome, TRIAL_OK);
	assert_string_equal(r.detail, "");
	assert_int_equal(r.n_runs, 1);
	assert_int_equal(r.runs[0].status, 0);
	assert_int_equal(r.runs[0].n, n);
	assert_memory_equal(r.runs[0].output, expected, n);
	assert_true(r.total_seconds >= r.run_seconds && r.run_seconds >= 0);
	target_result_release(&r);
}

static void output_comes_back_as_it_was_printed(void **state)
{
	static const char expected[] = "kregress: metric x_ms 1.5 ms\ntab\there \\n \xff\n\n";

	check_output(state,
		     &(struct attempt){ .words = { "print", "kregress: metric x_ms 1.5 ms",
						   "tab\there \\n \xff", "" } },
		     expected, sizeof(expected) - 1);
}

static void nothing_printed_is_an_empty_output(void **state)
{
	check_output(state, &(struct attempt){ .words = { "print" } }, "", 0);
}

static void output_of_the_greatest_size_is_whole(void **state)
{
	struct target_result r;
	struct err e = ERR_INIT;
	struct attempt a = { .words = { "bytes", "1048576" }, .timeout_ms = 60000 };

	must(&e, target_of(state)(&a, &r, &e));
	assert_int_equal(r.outcome, TRIAL_OK);
	assert_int_equal(r.runs[0].n, 1048576);
	assert_int_equal(r.runs[0].output[1048575], 'z');
	target_result_release(&r);
}

static void one_byte_more_is_garbled(void **state)
{
	check_outcome(state,
		      &(struct attempt){ .words = { "bytes", "1048577" }, .timeout_ms = 60000 },
		      TRIAL_GARBLED, "more than 1048576 bytes");
}

static void a_gigabyte_is_garbled(void **state)
{
	check_outcome(state, &(struct attempt){ .words = { "flood" }, .timeout_ms = 60000 },
		      TRIAL_GARBLED, "more than 1048576 bytes");
}

static void an_exit_status_is_a_crash(void **state)
{
	check_outcome(state, &(struct attempt){ .words = { "exit", "3" } }, TRIAL_CRASHED,
		      "exit status 3");
}

static void exit_status_127_of_the_workload_is_a_crash(void **state)
{
	check_outcome(state, &(struct attempt){ .words = { "exit", "127" } }, TRIAL_CRASHED,
		      "exit status 127");
}

static void exit_status_125_is_untestable(void **state)
{
	check_outcome(state, &(struct attempt){ .words = { "exit", "125" } }, TRIAL_UNTESTABLE,
		      "125");
}

static void a_workload_that_never_ends_is_timed_out(void **state)
{
	check_outcome(state, &(struct attempt){ .words = { "hang" }, .timeout_ms = 1500 },
		      TRIAL_TIMED_OUT, "did not end");
}

static void a_missing_program_is_our_failure(void **state)
{
	check_failure(state, &(struct attempt){ .program = "./nowhere" }, ERR_LAB, "cannot start");
}

#define CASE(target, at, name)                                                       \
	{                                                                            \
		target ": " #name, name, NULL, NULL, (void *)(uintptr_t)&targets[at] \
	}
#define EACH(name) CASE("qemu", 0, name), CASE("command", 1, name), CASE("ssh", 2, name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(output_comes_back_as_it_was_printed),
		EACH(nothing_printed_is_an_empty_output),
		EACH(output_of_the_greatest_size_is_whole),
		EACH(one_byte_more_is_garbled),
		EACH(a_gigabyte_is_garbled),
		EACH(an_exit_status_is_a_crash),
		EACH(exit_status_127_of_the_workload_is_a_crash),
		EACH(exit_status_125_is_untestable),
		EACH(a_workload_that_never_ends_is_timed_out),
		EACH(a_missing_program_is_our_failure),
	};

	if (!getenv("KREGRESS_TEST_KERNEL")) {
		printf("1..0 # SKIP no kernel to boot: set KREGRESS_TEST_KERNEL\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, bench_and_box_open, bench_and_box_close);
}
