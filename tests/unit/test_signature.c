/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which failures count as alike: texts as compilers and kernels write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/signature.h"

static bool alike(enum trial_outcome o, const char *a, const char *b)
{
	return signature_of(o, a) == signature_of(o, b);
}

static void assert_text(const char *detail, const char *expected)
{
	_cleanup_free_ char *text = signature_text(detail);

	assert_string_equal(text, expected);
}

static void the_same_compiler_error_on_another_line_is_alike(void **state)
{
	static const char *const same[] = {
		"mm/foo.c:123:5: error: implicit declaration of function 'bar'",
		"mm/foo.c:4071:11: error: implicit declaration of function 'bar'",
		"mm/foo.c:99: error: implicit declaration of function 'bar'",
		"mm/foo.c:99: error: implicit  declaration of\tfunction `bar'",
		"mm/foo.c:7:1: error: implicit declaration of function "
		"\xe2\x80\x98"
		"bar\xe2\x80\x99",
	};
	static const char *const other[] = {
		"mm/foo.c:123:5: error: implicit declaration of function 'baz'",
		"mm/foo.c:123:5: error: implicit declaration of function 'bar2'",
		"mm/foo2.c:123:5: error: implicit declaration of function 'bar'",
		"mm/foo.c:123:5: error: conflicting types for 'bar'",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		assert_true(alike(TRIAL_BUILD_FAILED, same[0], same[i]));
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_false(alike(TRIAL_BUILD_FAILED, same[0], other[i]));
	/* the same text of another kind of failure */
	assert_int_not_equal(signature_of(TRIAL_BUILD_FAILED, same[0]),
			     signature_of(TRIAL_CRASHED, same[0]));
	assert_text(same[1], "mm/foo.c:N: error: implicit declaration of function 'bar'");
}

static void names_of_temporary_files_and_counters_do_not_count(void **state)
{
	(void)state;
	assert_text("/tmp/ccXq7bY2.s:1234: Error: no such instruction: `endbr64'",
		    "/tmp/N.s:N: Error: no such instruction: 'endbr64'");
	assert_true(alike(TRIAL_BUILD_FAILED, "ld: /var/tmp/ccab12.o: bad value",
			  "ld: /var/tmp/ccZZZZ.o: bad value"));
	assert_text("cp: cannot stat '.tmp_2817/x.o'", "cp: cannot stat '.tmp_N/x.o'");
	assert_text("rm: .tmp12/a", "rm: .tmpN/a");
	assert_text(
		"call to '__compiletime_assert_567' declared with attribute error: BUILD_BUG_ON "
		"failed: sizeof(struct page) > 64",
		"call to '__compiletime_assert_N' declared with attribute error: BUILD_BUG_ON "
		"failed: sizeof(struct page) > N");
	assert_text("section mismatch: foo.constprop.0+0x1c/0x30",
		    "section mismatch: foo.constprop.N+N/N");
}

static void an_oops_at_another_address_is_alike(void **state)
{
	static const char *const oops[] = {
		"BUG: unable to handle page fault for address: ffffffff81a0b2c0",
		"BUG: unable to handle page fault for address: 00000000deadbeef",
		"[    1.204817] BUG: unable to handle page fault for address: ffff888004a1c000",
		"[  112.000001][  T123] BUG: unable to handle page fault for address: 0xdead",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(oops); i++)
		assert_true(alike(TRIAL_CRASHED, oops[0], oops[i]));
	assert_false(alike(TRIAL_CRASHED, oops[0],
			   "BUG: kernel NULL pointer dereference, address: 0000000000000008"));
	/* without a digit, or without 0x; and words that only look so */
	assert_text("bad page ffffffffffffffff at c0ffee12", "bad page N at N");
	assert_text("the effaced deadbeef of add1", "the effaced deadbeef of add1");
	assert_text("Oops: 0002 [#1] PREEMPT SMP", "Oops: N [#N] PREEMPT SMP");
	assert_text("RIP: 0010:hugetlb_fault+0x1a2/0x6f0", "RIP: N:hugetlb_fault+N/N");
	assert_text("general protection fault, probably for non-canonical address "
		    "0xdead000000000108: 0000 [#1]",
		    "general protection fault, probably for non-canonical address N: N [#N]");
}

static void cpus_processes_and_times_do_not_count(void **state)
{
	(void)state;
	assert_text("watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [ebizzy:123]",
		    "watchdog: BUG: soft lockup - CPU#N stuck for Ns! [ebizzy:N]");
	assert_text("CPU: 3 PID: 1 Comm: swapper/0 Not tainted 6.10.0-kregress #1",
		    "CPU: N PID: N Comm: swapper/N Not tainted N-kregress #N");
	assert_text("INFO: task kworker/0:1:17 blocked for more than 120 seconds.",
		    "INFO: task kworker/N blocked for more than N seconds.");
	assert_true(alike(TRIAL_CRASHED, "rcu: INFO: rcu_sched self-detected stall on CPU1",
			  "rcu: INFO: rcu_sched self-detected stall on CPU3"));
	assert_true(alike(TRIAL_CRASHED,
			  "Out of memory: Killed process 91 (stress) total-vm:9216kB",
			  "Out of memory: Killed process 7 (stress) total-vm:812kB"));
	/* brackets that are no stamp */
	assert_text("[drm] failed", "[drm] failed");
	assert_text("[3] x [T] y [ 4 z", "[N] x [T] y [ N z");
}

static void a_panic_says_what_it_died_of(void **state)
{
	(void)state;
	assert_false(
		alike(TRIAL_BOOT_FAILED,
		      "Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b",
		      "Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100"));
	assert_false(alike(TRIAL_BOOT_FAILED, "Kernel panic - not syncing: No working init found.",
			   "Kernel panic - not syncing: VFS: Unable to mount root fs on "
			   "unknown-block(0,0)"));
	assert_true(alike(TRIAL_BOOT_FAILED,
			  "Kernel panic - not syncing: VFS: Unable to mount root fs on "
			  "unknown-block(0,0)",
			  "Kernel panic - not syncing: VFS: Unable to mount root fs on "
			  "unknown-block(8,1)"));
	/* nor is one signal or status another; which run it was is chance */
	assert_true(alike(TRIAL_CRASHED, "the workload was killed by signal 11 in run 2",
			  "the workload was killed by signal 11 in run 5"));
	assert_false(alike(TRIAL_CRASHED, "the workload was killed by signal 11 in run 2",
			   "the workload was killed by signal 9 in run 2"));
	assert_false(alike(TRIAL_CRASHED, "the workload ended with exit status 1 in run 1",
			   "the workload ended with exit status 2 in run 1"));
}

static void a_failure_without_words_is_a_failure(void **state)
{
	(void)state;
	for (int o = TRIAL_BUILD_FAILED; o < TRIAL_OUTCOMES; o++) {
		assert_int_not_equal(signature_of((enum trial_outcome)o, NULL), 0);
		assert_true(alike((enum trial_outcome)o, NULL, ""));
		assert_true(alike((enum trial_outcome)o, NULL, " \t"));
		assert_false(alike((enum trial_outcome)o, NULL, "x"));
		for (int p = TRIAL_BUILD_FAILED; p < o; p++)
			assert_int_not_equal(signature_of((enum trial_outcome)o, NULL),
					     signature_of((enum trial_outcome)p, NULL));
	}
	assert_int_equal(signature_of(TRIAL_OK, "mm/foo.c:1: error"), 0);
	assert_int_equal(signature_of(TRIAL_UNSET, NULL), 0);
	assert_text(NULL, "");
	assert_text("", "");
}

static void the_number_is_fnv_1a_of_outcome_and_text(void **state)
{
	/* worked out by hand: 2166136261 ^ 2, times 16777619, ^ 'a' (97), times 16777619 */
	uint32_t expected = UINT32_C(0x811c9dc5);

	(void)state;
	expected = (uint32_t)((expected ^ UINT64_C(2)) * UINT64_C(0x01000193));
	expected = (uint32_t)((expected ^ UINT64_C(97)) * UINT64_C(0x01000193));
	assert_int_equal(signature_of(TRIAL_BUILD_FAILED, "a"), expected);
}

static void untrusted_bytes_are_bounded_and_printable(void **state)
{
	char long_text[4096];
	_cleanup_free_ char *text = NULL, *accents = NULL, *raw = NULL;

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	text = signature_text(long_text);
	assert_int_equal(strlen(text), 160);
	/* 159 bytes and a character of two: it does not fit, and is not halved */
	memcpy(long_text + 159, "\xc3\xa9\xc3\xa9", 4);
	accents = signature_text(long_text);
	assert_int_equal(strlen(accents), 159);
	raw = signature_text("a\x1b[31mb\rc\nd\xff");
	for (const char *s = raw; *s; s++)
		assert_true(*s >= 0x20 && *s < 0x7f);
}

static void a_text_cut_off_elsewhere_is_alike(void **state)
{
	static const char error[] =
		"passing argument 1 of 'a_function_with_a_long_name_that_takes_many' from "
		"incompatible pointer type [-Werror=incompatible-pointer-types] in expansion of "
		"macro "
		"'ANOTHER_LONG_NAME_OF_A_MACRO_THAT_GOES_ON_AND_ON_AND_ON_AND_ON_AND_ON'";
	_cleanup_free_ char *a = xasprintf("drivers/a/b.c:1:1: error: %s", error);
	_cleanup_free_ char *b = xasprintf("drivers/a/b.c:12345:123: error: %s", error);

	(void)state;
	/* as a buffer of 256 bytes would */
	assert_true(strlen(a) > 200 && strlen(b) > 200);
	a[strlen(a) > 255 ? 255 : strlen(a)] = 0;
	b[255] = 0;
	assert_true(alike(TRIAL_BUILD_FAILED, a, b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_compiler_error_on_another_line_is_alike),
		cmocka_unit_test(names_of_temporary_files_and_counters_do_not_count),
		cmocka_unit_test(an_oops_at_another_address_is_alike),
		cmocka_unit_test(cpus_processes_and_times_do_not_count),
		cmocka_unit_test(a_panic_says_what_it_died_of),
		cmocka_unit_test(a_failure_without_words_is_a_failure),
		cmocka_unit_test(the_number_is_fnv_1a_of_outcome_and_text),
		cmocka_unit_test(untrusted_bytes_are_bounded_and_printable),
		cmocka_unit_test(a_text_cut_off_elsewhere_is_alike),
	};

	return cmocka_run_group_tests_name("signature", tests, NULL, NULL);
}
