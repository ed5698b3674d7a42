/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a real kernel tells in extra runs, against what is known of it otherwise. */
#include "contract/target_fixture.h"
#include "core/counters.h"
#include "core/sleepers.h"

static struct target_result result;
static char *dir; /* of the trial */

static void observe(const struct attempt *a)
{
	struct err e = ERR_INIT;

	must(&e, try_qemu(a, &result, &e, &dir));
	if (result.outcome != TRIAL_OK)
		fail_msg("outcome %s: %s", trial_outcome_name(result.outcome), result.detail);
}

static int clean_up(void **state)
{
	(void)state;
	target_result_release(&result);
	free(dir);
	dir = NULL;
	return 0;
}

static const struct target_file *file(const char *phase, const char *name)
{
	for (size_t i = 0; i < result.n_files; i++)
		if (!strcmp(result.files[i].phase, phase) && !strcmp(result.files[i].name, name))
			return &result.files[i];
	fail_msg("no %s %s", phase, name);
	return NULL;
}

static double counter(const char *phase, const char *name, const char *full)
{
	const struct target_file *f = file(phase, name);
	struct counters c = { .v = NULL };
	double value = -1;

	counters_parse(name, f->text, f->n, &c);
	for (size_t i = 0; i < c.n; i++)
		if (!strcmp(c.v[i].name, full))
			value = c.v[i].value;
	counters_release(&c);
	return value;
}

/* The workload touches 16 MB: 4096 pages, each of which faults, as nothing but it does much. */
static void snapshots_show_what_the_workload_did(void **state)
{
	static const char pgfault[] = "vmstat/pgfault", anon[] = "vmstat/nr_anon_pages";
	struct attempt a = { .words = { "measure" },
			     .runs = 2,
			     .append = "transparent_hugepage=never",
			     .deterministic = true, /* half-way is half-way on a loaded host too */
			     .observe = { .snapshots = true } };
	double faults;

	(void)state;
	observe(&a);
	assert_int_equal(result.n_runs, 2);
	assert_string_equal(result.observe_detail, "");
	faults = counter("after", "vmstat", pgfault) - counter("before", "vmstat", pgfault);
	if (!(faults >= 4096 && faults < 4096 + 600))
		fail_msg("%g page faults", faults);
	/* Half-way a part of its memory is there, and at the end it is gone. */
	assert_true(counter("during", "vmstat", anon) > counter("before", "vmstat", anon) + 1024);
	assert_true(counter("after", "vmstat", anon) < counter("before", "vmstat", anon) + 512);
	assert_true(counter("after", "softirqs", "softirqs/RCU") >=
		    counter("before", "softirqs", "softirqs/RCU"));
	file("during", "zoneinfo");
	file("during", "interrupts");
	assert_int_equal(result.profile.samples, 0);
}

/* nm's idea of where the addresses are: of @samples how many lie in functions with this name. */
static uint64_t in_function(const char *part)
{
	const char *vmlinux = getenv("KREGRESS_TEST_VMLINUX");
	const char *argv[] = { "nm", "-n", vmlinux, NULL };
	_cleanup_str_ struct str out = STR_INIT;
	struct proc_opts o = { .argv = (char *const *)(uintptr_t)argv, .out = &out };
	struct proc_result r;
	struct err e = ERR_INIT;
	uint64_t n = 0, from = 0, to;
	char *save = NULL, type, name[200], last[200] = "";

	must(&e, proc_run(&o, &r, &e));
	for (char *l = strtok_r(out.buf, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		unsigned long at;

		if (sscanf(l, "%lx %c %199s", &at, &type, name) != 3 || !strchr("tTwW", type))
			continue;
		to = at;
		for (size_t i = 0; i < result.profile.n_hits && strstr(last, part); i++)
			if (result.profile.hits[i].address >= from &&
			    result.profile.hits[i].address < to)
				n += result.profile.hits[i].count;
		from = at;
		strcpy(last, name);
	}
	return n;
}

static uint64_t in_user_space(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < result.profile.n_hits; i++)
		if (result.profile.hits[i].address < 1ull << 47)
			n += result.profile.hits[i].count;
	return n;
}

static void check_share(const char *what, uint64_t n, double least)
{
	double share = (double)n / (double)result.profile.samples;

	print_message("%s: %.2f of %lu samples, %.2f s of which %.2f s at a standstill\n", what,
		      share, (unsigned long)result.profile.samples, result.profile.seconds,
		      result.profile.cost_seconds);
	if (share < least)
		fail_msg("%s: %g of the samples, not %g", what, share, least);
}

static void profile(const char *what, unsigned cpus)
{
	struct attempt a = { .words = { what, "300" },
			     .cpus = cpus,
			     .observe = { .profile = 100, .time_ms = 1500 } };

	observe(&a);
	assert_int_equal(result.n_files, 0);
	assert_true(result.profile.samples >= 20);
	assert_true(result.profile.cost_seconds < result.profile.seconds);
}

/* Three workloads of which it is known where their time goes. */
static void a_busy_program_is_seen_in_user_space(void **state)
{
	(void)state;
	profile("spin", 1);
	check_share("user space", in_user_space(), 0.75);
}

static void a_read_of_zeros_is_seen_where_the_kernel_clears(void **state)
{
	(void)state;
	profile("zero", 1);
	/* rep_stos_alternative, or clear_user_… of older kernels */
	check_share("clearing", in_function("stos") + in_function("clear_user"), 0.5);
}

static void a_sleeper_is_seen_as_idle_on_each_cpu(void **state)
{
	(void)state;
	profile("nap", 2);
	assert_true(result.profile.samples % 2 == 0);
	check_share("idle", in_function("idle"), 0.6);
}

static void threads_are_seen_asleep_or_running(void **state)
{
	static const char *const what[] = { "nap", "spin" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct attempt a = { .words = { what[i], "400" },
				     .deterministic = true, /* on a loaded host too */
				     .observe = { .stacks = 50, .time_ms = 1500 } };
		const struct target_file *f;
		struct sleepers s = { .n = 0 };
		double running = 0;

		observe(&a);
		f = file("over", "stacks");
		sleepers_read(f->text, f->n, &s);
		assert_true(s.places.total >= 8);
		for (size_t k = 0; k < s.places.n; k++)
			if (!strcmp(s.places.v[k].name, "[running]\n"))
				running = (double)s.places.v[k].count / (double)s.places.total;
		if (i == 0 ? running > 0.3 : running < 0.7)
			fail_msg("%s runs for %g", what[i], running);
		sleepers_release(&s);
		clean_up(NULL);
	}
}

/* All that counts was measured: how the extra runs end is no outcome. */
static void a_kernel_that_dies_in_an_extra_run_was_measured(void **state)
{
	struct attempt a = { .words = { "reset-in-run", "3" },
			     .runs = 2,
			     .observe = { .snapshots = true, .stacks = 10, .time_ms = 300 } };

	(void)state;
	observe(&a);
	assert_int_equal(result.n_runs, 2);
	assert_string_equal(result.observe_detail, "they were cut short");
	assert_int_equal(result.n_files, 0);
}

static void a_workload_that_dies_in_an_extra_run_ends_that_kind(void **state)
{
	struct attempt a = { .words = { "die-in-run", "2" },
			     .observe = { .snapshots = true, .profile = 50, .time_ms = 100 } };

	(void)state;
	observe(&a);
	assert_int_equal(result.n_runs, 1);
	/* Before and during are there, and an after of a run that died would mislead. */
	file("before", "vmstat");
	for (size_t i = 0; i < result.n_files; i++)
		assert_string_not_equal(result.files[i].phase, "after");
}

/* With counted instructions a look from outside is not to be seen from inside. */
static void looks_from_outside_change_no_guest_time(void **state)
{
	struct str over[2] = { STR_INIT };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct attempt a = { .words = { "measure" },
				     .deterministic = true,
				     .observe = { .profile = i ? 200 : 1, .time_ms = 500 } };
		_cleanup_free_ char *path = NULL;
		_cleanup_str_ struct str log = STR_INIT;
		struct err e = ERR_INIT;
		const char *at;

		observe(&a);
		path = fs_join(dir, "output.log");
		must(&e, fs_read(path, 1 << 20, &log, &e));
		at = strstr(str_text(&log), "kregress: over ");
		assert_non_null(at);
		/* How long the runs of the profile took by the guest's own clock, in µs. */
		str_addmem(&over[i], at, strcspn(at, "\n"));
		assert_true(i == 0 || result.profile.samples > 20);
		clean_up(NULL);
	}
	assert_string_equal(str_text(&over[0]), str_text(&over[1]));
	str_release(&over[0]);
	str_release(&over[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(snapshots_show_what_the_workload_did, clean_up),
		cmocka_unit_test_teardown(a_busy_program_is_seen_in_user_space, clean_up),
		cmocka_unit_test_teardown(a_read_of_zeros_is_seen_where_the_kernel_clears,
					  clean_up),
		cmocka_unit_test_teardown(a_sleeper_is_seen_as_idle_on_each_cpu, clean_up),
		cmocka_unit_test_teardown(threads_are_seen_asleep_or_running, clean_up),
		cmocka_unit_test_teardown(a_kernel_that_dies_in_an_extra_run_was_measured,
					  clean_up),
		cmocka_unit_test_teardown(a_workload_that_dies_in_an_extra_run_ends_that_kind,
					  clean_up),
		cmocka_unit_test_teardown(looks_from_outside_change_no_guest_time, clean_up),
	};

	if (!getenv("KREGRESS_TEST_KERNEL")) {
		printf("1..0 # SKIP no KREGRESS_TEST_KERNEL\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, bench_open, bench_close);
}
