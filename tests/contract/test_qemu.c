/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What QEMU and a guest can do wrong, each told apart; runs in real guests. */
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/sig.h"
#include "contract/target_fixture.h"

static void check(const struct attempt *a, enum trial_outcome outcome, const char *detail)
{
	struct target_result r;
	struct err e = ERR_INIT;

	must(&e, try_qemu(a, &r, &e, NULL));
	if (r.outcome != outcome || !strstr(r.detail, detail))
		fail_msg("outcome %s: %s", trial_outcome_name(r.outcome), r.detail);
	assert_false(r.boot_timed_out);
	target_result_release(&r);
}

static void check_ours(const struct attempt *a, enum err_code code, const char *text)
{
	struct target_result r;
	struct err e = ERR_INIT;

	if (try_qemu(a, &r, &e, NULL) == 0)
		fail_msg("outcome %s: %s", trial_outcome_name(r.outcome), r.detail);
	if (e.code != code || !strstr(e.msg, text))
		fail_msg("error %d: %s", (int)e.code, e.msg);
	target_result_release(&r);
}

/* The kernel's own account of itself, by other means than the agent's. */
static void a_guest_tells_which_kernel_it_runs(void **state)
{
	struct attempt a = { .words = { "print", "kregress: metric x_ms 2 ms" }, .runs = 3 };
	_cleanup_free_ char *dir = NULL, *path = NULL, *banner = NULL;
	_cleanup_str_ struct str console = STR_INIT;
	struct target_result r;
	struct err e = ERR_INIT;

	(void)state;
	a.append = "loglevel=7";
	must(&e, try_qemu(&a, &r, &e, &dir));
	assert_int_equal(r.outcome, TRIAL_OK);
	assert_int_equal(r.n_runs, 3);
	path = fs_join(dir, "console.log");
	must(&e, fs_read(path, 1 << 20, &console, &e));
	banner = xasprintf("Linux version %s ", r.release);
	assert_non_null(strstr(str_text(&console), banner));
	assert_int_equal(strlen(r.boot_id), 36);
	assert_true(strlen(r.build_id) >= 16);
	assert_string_equal(fact(&r, "accel"), "tcg");
	assert_string_equal(fact(&r, "cpus"), "1");
	assert_true(r.boot_seconds > 0 && r.boot_seconds < r.total_seconds);

	/* The same kernel asked for by what it said is accepted; any other is the lab's fault. */
	a.build_id = r.build_id;
	a.release = r.release;
	check(&a, TRIAL_OK, "");
	a.build_id = "00112233445566778899aabbccddeeff00112233";
	check_ours(&a, ERR_LAB, "wrong kernel");
	a.build_id = NULL;
	a.release = "1.2.3-other";
	check_ours(&a, ERR_LAB, "wrong kernel");
	target_result_release(&r);
}

/*
 * With several CPUs under TCG, QEMU 7.2 now and then runs a byte of code that another CPU is patching: an
 * int3 that the kernel does not know (1 of some 100 boots on a loaded host). Once is QEMU's fault.
 */
static bool is_qemus_fault(const struct attempt *a, const struct target_result *r)
{
	return a->cpus > 1 && strstr(fact(r, "accel"), "tcg") && strstr(r->detail, "Oops: int3:");
}

static void every_machine_profile_boots(void **state)
{
	static const char *const profiles[] = { "microvm", "pc", "q35" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
		for (unsigned cpus = 1; cpus <= 2; cpus++) {
			struct attempt a = { .words = { "measure" },
					     .machine = profiles[i],
					     .cpus = cpus,
					     .runs = 2 };
			struct target_result r;
			struct err e = ERR_INIT;
			char expected[8];

			must(&e, try_qemu(&a, &r, &e, NULL));
			if (r.outcome != TRIAL_OK && is_qemus_fault(&a, &r)) {
				target_result_release(&r);
				must(&e, try_qemu(&a, &r, &e, NULL));
			}
			if (r.outcome != TRIAL_OK)
				fail_msg("%s with %u CPUs: %s", profiles[i], cpus, r.detail);
			snprintf(expected, sizeof(expected), "%u", cpus);
			assert_string_equal(fact(&r, "cpus"), expected);
			target_result_release(&r);
		}
}

static void a_panic_before_the_hello_is_a_failed_boot(void **state)
{
	(void)state;
	check(&(struct attempt){ .no_initrd = true }, TRIAL_BOOT_FAILED, "Kernel panic");
}

static void a_first_program_that_resets_is_a_failed_boot(void **state)
{
	(void)state;
	check(&(struct attempt){ .append = "rdinit=/work/misbehave -- reset" }, TRIAL_BOOT_FAILED,
	      "reset before the agent's hello");
}

static void a_silent_boot_is_timed_out_and_left_to_the_canary(void **state)
{
	struct attempt a = { .append = "rdinit=/work/misbehave -- hang", .boot_timeout_ms = 4000 };
	struct target_result r;
	struct err e = ERR_INIT;

	(void)state;
	must(&e, try_qemu(&a, &r, &e, NULL));
	assert_int_equal(r.outcome, TRIAL_BOOT_FAILED);
	assert_string_equal(r.detail, "no hello within 4 s");
	assert_true(r.boot_timed_out);
	assert_true(r.total_seconds >= 4 && r.total_seconds < 8);
	target_result_release(&r);
}

static void a_killed_workload_is_a_crash_with_its_signal(void **state)
{
	(void)state;
	check(&(struct attempt){ .words = { "die" } }, TRIAL_CRASHED,
	      "killed by signal 11 in run 1");
}

static void a_workload_killed_for_lack_of_memory_says_so(void **state)
{
	(void)state;
	check(&(struct attempt){ .words = { "eat" }, .memory_bytes = 96ull << 20 }, TRIAL_CRASHED,
	      "Out of memory: Killed process");
}

static void a_panic_in_a_run_is_a_crash_with_its_line(void **state)
{
	(void)state;
	check(&(struct attempt){ .words = { "eat" },
				 .memory_bytes = 96ull << 20,
				 .setting = "/proc/sys/vm/panic_on_oom",
				 .value = "1" },
	      TRIAL_CRASHED, "Kernel panic - not syncing: Out of memory");
}

static void a_reset_in_a_run_is_a_crash(void **state)
{
	(void)state;
	check(&(struct attempt){ .words = { "reset" } }, TRIAL_CRASHED, "the guest reset in run 1");
}

static void a_guest_that_falls_silent_is_timed_out(void **state)
{
	(void)state;
	check(&(struct attempt){ .words = { "halt" }, .timeout_ms = 1000 }, TRIAL_TIMED_OUT,
	      "no sign of the guest for 11 s in run 1");
}

static void a_setting_that_this_kernel_lacks_is_untestable(void **state)
{
	(void)state;
	check(&(struct attempt){ .setting = "/proc/sys/vm/no_such_knob", .value = "1" },
	      TRIAL_UNTESTABLE, "setup: cannot write 1 to /proc/sys/vm/no_such_knob");
}

static void records_and_panics_that_a_workload_imitates_are_mere_text(void **state)
{
	static const char expected[] =
		"kregress: end 0123456789abcdef 0\nkregress: bye 0123456789abcdef\n"
		"kregress: end\nkregress: metric x_ms 1.5 ms\nno newline at the end\n";
	struct attempt a = { .words = { "imitate" } };
	struct target_result r;
	struct err e = ERR_INIT;

	(void)state;
	must(&e, try_qemu(&a, &r, &e, NULL));
	assert_int_equal(r.outcome, TRIAL_OK);
	assert_int_equal(r.runs[0].n, sizeof(expected) - 1);
	assert_memory_equal(r.runs[0].output, expected, sizeof(expected) - 1);
	target_result_release(&r);
}

static void a_missing_qemu_names_its_package(void **state)
{
	(void)state;
	check_ours(&(struct attempt){ .qemu = "qemu-system-nowhere" }, ERR_LAB, "qemu-system-x86");
}

static void a_wrong_argument_for_qemu_comes_back_in_its_own_words(void **state)
{
	(void)state;
	check_ours(&(struct attempt){ .extra_arg = "-nonsense" }, ERR_LAB, "-nonsense");
}

static void an_initramfs_larger_than_memory_is_refused_before_the_boot(void **state)
{
	(void)state;
	check_ours(&(struct attempt){ .initrd_bytes = 500ull << 20 }, ERR_CONFIG,
		   "raise memory = in [target]");
}

static void a_corrupt_image_is_never_good(void **state)
{
	_cleanup_free_ char *path = fs_join(bench.dir, "corrupt");
	_cleanup_str_ struct str image = STR_INIT;
	struct attempt a = { .image = path, .boot_timeout_ms = 3000 };
	struct target_result r;
	struct err e = ERR_INIT;

	(void)state;
	must(&e, fs_read(getenv("KREGRESS_TEST_KERNEL"), 64 << 20, &image, &e));
	/* The compressed kernel overwritten; header and set-up code as they were. */
	memset(image.buf + image.len / 2, 0, image.len / 3);
	must(&e, fs_write(path, image.buf, image.len, &e));
	must(&e, try_qemu(&a, &r, &e, NULL));
	assert_int_equal(r.outcome, TRIAL_BOOT_FAILED);
	target_result_release(&r);

	must(&e, fs_write(path, "no kernel at all", 16, &e));
	check_ours(&a, ERR_LAB, "QEMU ended before its guest was up: qemu: ");
}

static void a_full_disk_is_ours(void **state)
{
	(void)state;
	check_ours(&(struct attempt){ .words = { "measure" },
				      .append = "loglevel=7",
				      .full_disk = true },
		   ERR_SYS, "No space left");
}

/* Runs of @n trials, each to its end, as one text. */
static void measure_exactly(struct str *out, unsigned from, unsigned n)
{
	for (unsigned i = from; i < from + n; i++) {
		char nonce[17];
		struct attempt a = {
			.words = { "measure" }, .runs = 3, .deterministic = true, .nonce = nonce
		};
		struct target_result r;
		struct err e = ERR_INIT;

		snprintf(nonce, sizeof(nonce), "%016x", 0x9e3779b9u * (i + 1));
		must(&e, try_qemu(&a, &r, &e, NULL));
		if (r.outcome != TRIAL_OK)
			fail_msg("%s", r.detail);
		for (size_t k = 0; k < r.n_runs; k++)
			str_addmem(out, r.runs[k].output, r.runs[k].n);
		str_add(out, "--\n");
		target_result_release(&r);
	}
}

static pid_t start_busy_loop(void)
{
	pid_t pid = fork();
	volatile unsigned x = 0;

	if (pid == 0)
		for (;;)
			x++;
	return pid;
}

static void deterministic_results_are_identical_on_a_loaded_machine(void **state)
{
	_cleanup_str_ struct str quiet = STR_INIT, loaded = STR_INIT;
	pid_t busy[2];
	const char *second;

	(void)state;
	measure_exactly(&quiet, 0, 3);
	for (int i = 0; i < 2; i++)
		busy[i] = start_busy_loop();
	measure_exactly(&loaded, 3, 3);
	for (int i = 0; i < 2; i++) {
		kill(busy[i], SIGKILL);
		waitpid(busy[i], NULL, 0);
	}
	assert_string_equal(str_text(&quiet), str_text(&loaded));
	/* And each trial equals the next: the text is three times the same. */
	second = strstr(str_text(&quiet), "--\n") + 3;
	assert_int_equal((second - str_text(&quiet)) * 3, quiet.len);
	assert_memory_equal(str_text(&quiet), second, (size_t)(second - str_text(&quiet)));
	assert_non_null(strstr(str_text(&quiet), "kregress: metric x_ms "));
}

/* accel = auto settles on what works, and does not look again. */
static void auto_finds_an_accelerator_that_works_and_remembers_it(void **state)
{
	_cleanup_free_ char *cache = fs_join(bench.dir, "cache");
	struct attempt a = { .words = { "measure" }, .auto_accel = true, .cache_dir = cache };
	char accel[8];

	(void)state;
	for (int i = 0; i < 2; i++) {
		_cleanup_free_ char *dir = NULL, *left = NULL;
		struct target_result r;
		struct err e = ERR_INIT;

		must(&e, try_qemu(&a, &r, &e, &dir));
		assert_int_equal(r.outcome, TRIAL_OK);
		assert_non_null(fact(&r, "accel"));
		if (i == 0)
			snprintf(accel, sizeof(accel), "%s", fact(&r, "accel"));
		assert_string_equal(fact(&r, "accel"), accel);
		/* What a failed attempt under KVM leaves behind: at most once. */
		left = fs_join(dir, "qemu-kvm.log");
		assert_false(i == 1 && fs_exists(left));
		target_result_release(&r);
	}
	if (access("/dev/kvm", R_OK | W_OK) == 0)
		assert_true(fs_tree_bytes(cache) > 0);
}

static void a_panic_under_auto_does_not_condemn_kvm(void **state)
{
	_cleanup_free_ char *cache = fs_join(bench.dir, "cache-2");

	(void)state;
	check(&(struct attempt){ .no_initrd = true, .auto_accel = true, .cache_dir = cache },
	      TRIAL_BOOT_FAILED, "Kernel panic");
	assert_int_equal(fs_tree_bytes(cache), 0);
}

/* A process whose parent is @parent and whose command line holds "qemu"; 0: none. */
static pid_t qemu_child_of(pid_t parent)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	pid_t found = 0;

	while (!found && (d = readdir(proc))) {
		_cleanup_str_ struct str stat = STR_INIT;
		char path[300];
		int ppid = 0;

		snprintf(path, sizeof(path), "/proc/%s/stat", d->d_name);
		if (fs_read(path, 4096, &stat, NULL) == 0 &&
		    sscanf(str_text(&stat), "%*d (qemu%*[^)]) %*c %d", &ppid) == 1 &&
		    ppid == parent)
			found = atoi(d->d_name);
	}
	closedir(proc);
	return found;
}

/* Ended: not there, or a zombie that its new parent, PID 1 of this machine, has yet to reap. */
static bool is_gone(pid_t pid)
{
	_cleanup_str_ struct str stat = STR_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return fs_read(path, 4096, &stat, NULL) < 0 || strstr(str_text(&stat), ") Z ");
}

static bool is_gone_within(pid_t pid, int64_t ms)
{
	int64_t deadline = clock_deadline(ms);

	while (!is_gone(pid) && clock_left_ms(deadline) > 0)
		usleep(10000);
	return is_gone(pid);
}

/* A process that is in the middle of a trial; *@qemu: its QEMU. */
static pid_t start_trial_process(pid_t *qemu)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct attempt a = { .words = { "hang" }, .timeout_ms = 60000 };
		struct target_result r;
		struct err e = ERR_INIT;

		sig_install();
		_exit(try_qemu(&a, &r, &e, NULL) < 0 ? (int)e.code : 0);
	}
	for (int i = 0; i < 500 && !(*qemu = qemu_child_of(pid)); i++)
		usleep(10000);
	assert_int_not_equal(*qemu, 0);
	usleep(500000);
	assert_int_equal(kill(*qemu, 0), 0);
	return pid;
}

static void no_qemu_outlives_a_killed_kregress(void **state)
{
	pid_t qemu, pid = start_trial_process(&qemu);

	(void)state;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(is_gone_within(qemu, 2000));
}

static void an_interrupt_ends_the_trial_and_its_qemu(void **state)
{
	pid_t qemu, pid = start_trial_process(&qemu);
	int64_t start = clock_mono_ms();
	int status;

	(void)state;
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	assert_true(clock_mono_ms() - start < 2000);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ERR_INTERRUPTED);
	assert_true(is_gone_within(qemu, 100));
}

static void the_death_of_qemu_is_ours(void **state)
{
	struct attempt a = { .words = { "hang" }, .timeout_ms = 60000 };
	struct target_result r;
	struct err e = ERR_INIT;
	pid_t me = getpid(), killer = fork();

	(void)state;
	if (killer == 0) {
		pid_t qemu = 0;

		while (!(qemu = qemu_child_of(me)))
			usleep(10000);
		usleep(1500000);
		kill(qemu, SIGKILL);
		_exit(0);
	}
	assert_int_equal(try_qemu(&a, &r, &e, NULL), -1);
	waitpid(killer, NULL, 0);
	assert_int_equal(e.code, ERR_LAB);
	assert_non_null(strstr(e.msg, "QEMU"));
	target_result_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guest_tells_which_kernel_it_runs),
		cmocka_unit_test(every_machine_profile_boots),
		cmocka_unit_test(a_panic_before_the_hello_is_a_failed_boot),
		cmocka_unit_test(a_first_program_that_resets_is_a_failed_boot),
		cmocka_unit_test(a_silent_boot_is_timed_out_and_left_to_the_canary),
		cmocka_unit_test(a_killed_workload_is_a_crash_with_its_signal),
		cmocka_unit_test(a_workload_killed_for_lack_of_memory_says_so),
		cmocka_unit_test(a_panic_in_a_run_is_a_crash_with_its_line),
		cmocka_unit_test(a_reset_in_a_run_is_a_crash),
		cmocka_unit_test(a_guest_that_falls_silent_is_timed_out),
		cmocka_unit_test(a_setting_that_this_kernel_lacks_is_untestable),
		cmocka_unit_test(records_and_panics_that_a_workload_imitates_are_mere_text),
		cmocka_unit_test(a_missing_qemu_names_its_package),
		cmocka_unit_test(a_wrong_argument_for_qemu_comes_back_in_its_own_words),
		cmocka_unit_test(an_initramfs_larger_than_memory_is_refused_before_the_boot),
		cmocka_unit_test(a_corrupt_image_is_never_good),
		cmocka_unit_test(a_full_disk_is_ours),
		cmocka_unit_test(deterministic_results_are_identical_on_a_loaded_machine),
		cmocka_unit_test(auto_finds_an_accelerator_that_works_and_remembers_it),
		cmocka_unit_test(a_panic_under_auto_does_not_condemn_kvm),
		cmocka_unit_test(no_qemu_outlives_a_killed_kregress),
		cmocka_unit_test(an_interrupt_ends_the_trial_and_its_qemu),
		cmocka_unit_test(the_death_of_qemu_is_ours),
	};

	if (!getenv("KREGRESS_TEST_KERNEL")) {
		printf("1..0 # SKIP no kernel to boot: set KREGRESS_TEST_KERNEL\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, bench_open, bench_close);
}
