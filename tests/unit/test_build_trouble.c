/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds that go wrong: broken commits, a full disk, killed compilers, interruption, damage. */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/sig.h"
#include "unit/build_fixture.h"

static void a_commit_that_does_not_compile_fails_once_and_for_all(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id good = commit_all();

	(void)state;
	write_file("repo/other.c", "int other(void) { return x; }\n");
	struct commit_id bad = commit_all();

	fx_init(&f);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r0 = build(b, good);

	assert_int_equal(r0.outcome, TRIAL_OK);
	_cleanup_result_ struct build_result r = build(b, bad);

	assert_int_equal(r.outcome, TRIAL_BUILD_FAILED);
	assert_null(r.image);
	assert_non_null(strstr(r.signature, "error: "));
	/* the path is told as the tree has it, without the slot's folder */
	assert_ptr_equal(strstr(r.signature, "other.c:1:"), r.signature);
	_cleanup_free_ char *log = read_file("log");

	assert_non_null(strstr(log, "once more, from an empty build folder"));
	/* the warm objects of the good commit came back */
	assert_int_equal(compiled(b, "main"), 1);
	_cleanup_result_ struct build_result again = build(b, bad);
	_cleanup_free_ char *cached_log = read_file("log");

	assert_true(again.cached);
	assert_int_equal(again.outcome, TRIAL_BUILD_FAILED);
	assert_string_equal(again.signature, r.signature);
	assert_non_null(strstr(cached_log, r.signature));
}

static void a_failed_build_is_tried_again_once_packages_have_changed(void **state)
{
	_cleanup_fx_ struct fx f;

	(void)state;
	write_file("repo/other.c", "#include <not/there.h>\n");
	struct commit_id id = commit_all();

	fx_init(&f);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r = build(b, id);

	assert_int_equal(r.outcome, TRIAL_BUILD_FAILED);
	/* as if it had failed in another state of this machine, in an entry that is whole */
	shell("cd cache/kregress/kernels/%s; grep -v ^check= meta | sed 's/^host=.*/host=other/' "
	      ">m; "
	      "echo check=$(sha256sum <m | cut -d' ' -f1) >>m; mv m meta",
	      r.key);
	_cleanup_result_ struct build_result again = build(b, id);
	_cleanup_result_ struct build_result third = build(b, id);

	assert_false(again.cached);
	assert_int_equal(again.outcome, TRIAL_BUILD_FAILED);
	assert_true(third.cached);
}

static void stale_objects_are_not_blamed_on_a_commit(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id one = commit_all();

	(void)state;
	/* a commit whose make stumbles over what an earlier build left behind */
	shell("cd repo; sed -i 's|^bzImage:|bzImage: clash|' Makefile; "
	      "printf '$(OBJS): | clash\\nclash:\\n\\t@! test -e $(O)/compiled || "
	      "{ echo a.c:1:1: error: stale; exit 1; }\\n' >>Makefile");
	struct commit_id two = commit_all();

	fx_init(&f);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r1 = build(b, one);

	assert_int_equal(r1.outcome, TRIAL_OK);
	_cleanup_result_ struct build_result r2 = build(b, two);
	_cleanup_free_ char *log = read_file("log");

	assert_int_equal(r2.outcome, TRIAL_OK);
	assert_non_null(strstr(log, "a.c:1:1: error: stale"));
	assert_int_equal(compiled(b, "main"), 1);
	_cleanup_free_ char *aside = xasprintf("%s.aside", builder_out(b));

	assert_false(fs_exists(aside));
}

static void a_kconfig_that_does_not_parse_is_a_failed_build(void **state)
{
	_cleanup_fx_ struct fx f;

	(void)state;
	shell("echo broken line >>repo/Kconfig");
	struct commit_id id = commit_all();

	fx_init(&f);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r = build(b, id);

	assert_int_equal(r.outcome, TRIAL_BUILD_FAILED);
	assert_string_equal(r.signature, "Kconfig:6: syntax error");
}

/* A compiler that is killed on its first @kills calls with -c. */
static void make_fake_compiler(struct fx *f, int kills)
{
	_cleanup_free_ char *text =
		xasprintf("#!/bin/sh\nfor a; do [ \"$a\" = -c ] || continue\n"
			  "n=$(cat '%s/n' 2>/dev/null || echo 0); echo $((n + 1)) >'%s/n'\n"
			  "[ $n -ge %d ] || { echo 'gcc: fatal error: Killed signal terminated "
			  "program cc1' >&2; exit 1; }\n"
			  "done\nexec gcc \"$@\"\n",
			  fx_top, fx_top, kills);

	write_file("fakecc", text);
	shell("chmod +x fakecc; rm -f n");
	strv_addf(&f->make_args, "CC=%s/fakecc", fx_top);
}

static void a_compiler_that_was_killed_is_tried_again_with_one_job(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();

	(void)state;
	fx_init(&f);
	f.o.jobs = 1;
	make_fake_compiler(&f, 1);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r = build(b, id);
	_cleanup_free_ char *log = read_file("log");

	assert_int_equal(r.outcome, TRIAL_OK);
	assert_non_null(strstr(log, "a compiler died: once more, one job"));
}

static void a_compiler_that_is_always_killed_is_our_failure(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();
	struct err e = ERR_INIT;
	struct build_result r;

	(void)state;
	fx_init(&f);
	make_fake_compiler(&f, 1000);
	_cleanup_builder_ struct builder *b = open_builder(&f);

	assert_int_equal(try_build(b, id, &r, &e), -1);
	assert_int_equal(e.code, ERR_SYS);
	assert_non_null(strstr(e.msg, "Killed signal"));
	assert_int_equal(builder_has(b, &id, 0, &e), 0);
}

static void a_build_that_exceeds_its_time_is_no_verdict(void **state)
{
	_cleanup_fx_ struct fx f;

	(void)state;
	shell("cd repo; printf 'bzImage: slow\\nslow:\\n\\tsleep 60\\n' >>Makefile");
	struct commit_id id = commit_all();
	struct err e = ERR_INIT;
	struct build_result r;
	double start = clock_mono_s();

	fx_init(&f);
	f.o.timeout_ms = 1500;
	_cleanup_builder_ struct builder *b = open_builder(&f);

	assert_int_equal(try_build(b, id, &r, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_non_null(strstr(e.msg, "timeout in [build]"));
	assert_true(clock_mono_s() - start < 30);
	assert_int_equal(builder_has(b, &id, 0, &e), 0);
}

/* Build @id in a child; its exit status says how that went. */
static pid_t build_in_child(const struct fx *f, struct commit_id id, const struct builder *ours)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (ours)
		close(ours->lock_fd); /* a copy keeps our lock */
	struct builder *b = NULL;
	struct build_result r;
	struct err e = ERR_INIT;

	sig_install();
	if (builder_open(&f->o, &b, &e) < 0)
		_exit(9);
	int ret = try_build(b, id, &r, &e);

	builder_close(b);
	_exit(ret == 0 ? 0 : e.code == ERR_INTERRUPTED ? 5 : 6);
}

/* A commit whose compilation writes an object, not what it should be yet, and hangs. */
static struct commit_id hanging_commit(void)
{
	shell("cd repo; cp Makefile ../Makefile.good; sed -i "
	      "'s#@$(CC) -g#@if [ $* = other ]; then "
	      "echo \"int other(void) { return 77; }\" | $(CC) -x c -c -o $@ -; "
	      "touch $(O)/hanging; sleep 60; fi; $(CC) -g#' Makefile");
	struct commit_id id = commit_all();

	shell("cp Makefile.good repo/Makefile");
	return id;
}

/* Interrupt the build of a hanging commit by @sig; the wait status. */
static int interrupt_build(const struct fx *f, struct commit_id id, int sig)
{
	pid_t pid = build_in_child(f, id, NULL);
	int status = 0;

	for (int i = 0; i < 300; i++) {
		_cleanup_free_ char *n =
			sh("ls cache/kregress/slots/*/out/hanging 2>/dev/null || :");

		if (*n)
			break;
		usleep(50000);
	}
	kill(pid, sig);
	waitpid(pid, &status, 0);
	return status;
}

static void an_interrupted_build_stops_at_once_and_the_next_one_is_right(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id hangs = hanging_commit(), good = commit_all();

	(void)state;
	fx_init(&f);
	double start = clock_mono_s();
	int status = interrupt_build(&f, hangs, SIGTERM);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 5);
	assert_true(clock_mono_s() - start < 25);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	/* make ended in order and removed the half-made object itself: the folder stays */
	_cleanup_free_ char *mark = fs_join(builder_out(b), "hanging");
	_cleanup_result_ struct build_result r = build(b, good);

	assert_true(fs_exists(mark));
	assert_int_equal(r.outcome, TRIAL_OK);
	shell("! objdump -d '%s' | grep -q '0x4d'", r.vmlinux);
}

static void a_killed_build_leaves_nothing_that_is_trusted(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id hangs = hanging_commit(), good = commit_all();

	(void)state;
	fx_init(&f);
	int status = interrupt_build(&f, hangs, SIGKILL);

	assert_true(WIFSIGNALED(status));
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_free_ char *mark = fs_join(builder_out(b), "hanging");
	_cleanup_result_ struct build_result r = build(b, good);

	assert_false(fs_exists(mark));
	assert_int_equal(r.outcome, TRIAL_OK);
	/* 77 = 0x4d: the object that was left looks finished and is newer than its source */
	shell("! objdump -d '%s' | grep -q '0x4d'", r.vmlinux);
}

static void a_patch_that_an_interruption_left_in_the_sources_is_gone_in_the_next_build(void **state)
{
	_cleanup_fx_ struct fx f;
	_cleanup_fx_ struct fx plain;
	struct commit_id hangs = hanging_commit(), good = commit_all();

	(void)state;
	write_file("p.patch", "--- a/main.c\n+++ b/main.c\n@@ -1,2 +1,2 @@\n int other(void);\n"
			      "-int main(void) { return other(); }\n"
			      "+int main(void) { return other() + 1; }\n");
	fx_init(&f);
	fx_init(&plain);
	strv_addf(&f.patches, "%s/p.patch", fx_top);
	interrupt_build(&f, hangs, SIGKILL);
	shell("grep -q 'other() + 1' cache/kregress/slots/*/src/main.c");
	_cleanup_builder_ struct builder *b = open_builder(&plain);
	_cleanup_result_ struct build_result r = build(b, good);

	assert_int_equal(r.outcome, TRIAL_OK);
	shell("cd '%s'; grep -q 'return other();' main.c; cmp Makefile %s/repo/Makefile",
	      builder_src(b), fx_top);
}

static void a_second_builder_waits_for_the_slot(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();

	(void)state;
	fx_init(&f);
	struct builder *b = open_builder(&f);
	pid_t pid = build_in_child(&f, id, b);
	int status;

	usleep(700000);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	_cleanup_result_ struct build_result r = build(b, id);

	assert_int_equal(r.outcome, TRIAL_OK);
	builder_close(b);
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_damaged_cache_entry_is_dropped_and_built_again(void **state)
{
	static const char *const damage[] = {
		"printf x | dd of=bzImage bs=1 seek=3 conv=notrunc status=none",
		"truncate -s 100 vmlinux", "rm config", "sed -i s/ok/build_failed/ meta",
		"truncate -s 20 meta"
	};
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();

	(void)state;
	fx_init(&f);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r = build(b, id);

	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		shell("cd cache/kregress/kernels/%s; %s", r.key, damage[i]);
		_cleanup_result_ struct build_result again = build(b, id);

		assert_false(again.cached);
		assert_int_equal(again.outcome, TRIAL_OK);
		assert_string_equal(again.image_hash, r.image_hash);
	}
	_cleanup_result_ struct build_result last = build(b, id);

	assert_true(last.cached);
}

static void the_least_recently_used_kernels_go_first_and_none_in_use(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		_cleanup_free_ char *text = xasprintf("int other(void) { return %d; }\n", 40 + i);

		write_file("repo/other.c", text);
		id[i] = commit_all();
	}
	fx_init(&f);
	struct builder *b = open_builder(&f);
	char key[4][HASH_HEX_SIZE];

	for (int i = 0; i < 3; i++) {
		_cleanup_result_ struct build_result r = build(b, id[i]);

		memcpy(key[i], r.key, HASH_HEX_SIZE);
	}
	builder_close(b);
	/* ages: 1 is the oldest, then 0, then 2; using 1 makes it the youngest */
	shell("cd cache/kregress/kernels; touch -d '3 days ago' %s/meta; touch -d '2 days ago' "
	      "%s/meta; touch -d '1 day ago' %s/meta",
	      key[1], key[0], key[2]);
	_cleanup_free_ char *bytes = sh("cd cache/kregress/kernels; cat %s/* | wc -c", key[0]);

	f.o.cache_limit_bytes = strtoull(bytes, NULL, 10) * 5 / 2;
	b = open_builder(&f);
	struct err e = ERR_INIT;
	_cleanup_result_ struct build_result used = build(b, id[1]);

	/* in a session of its own: what a session has used is locked in any case */
	builder_close(b);
	b = open_builder(&f);
	_cleanup_result_ struct build_result fresh = build(b, id[3]);

	assert_true(used.cached);
	assert_false(fresh.cached);
	assert_int_equal(builder_has(b, &id[0], 0, &e), 0);
	assert_int_equal(builder_has(b, &id[1], 0, &e), 1);
	assert_int_equal(builder_has(b, &id[2], 0, &e), 0);
	assert_int_equal(builder_has(b, &id[3], 0, &e), 1);
	/* a limit that not even one fits in: what is in use stays all the same */
	builder_close(b);
	f.o.cache_limit_bytes = 1;
	b = open_builder(&f);
	_cleanup_result_ struct build_result r1 = build(b, id[1]);
	_cleanup_result_ struct build_result r0 = build(b, id[0]);

	assert_true(fs_exists(r1.image));
	assert_true(fs_exists(r0.image));
	builder_close(b);
}

/* A file system of @mb megabytes as cache, seen by this process alone; in a child. */
static int on_small_disk(int mb, int (*body)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		_cleanup_free_ char *cache = fs_join(fx_top, "cache");
		_cleanup_free_ char *size = xasprintf("size=%dm", mb);

		if (unshare(CLONE_NEWNS) < 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    fs_mkdirs(cache, NULL) < 0 || mount("tmpfs", cache, "tmpfs", 0, size) < 0)
			_exit(77);
		_exit(body());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* 0: the build failed as ours, with the remedy, and nothing of it is in the cache. */
static int build_on_full_disk(void)
{
	_cleanup_fx_ struct fx f;
	struct err e = ERR_INIT;
	struct build_result r;
	struct commit_id id = commit_all();

	fx_init(&f);
	_cleanup_builder_ struct builder *b = open_builder(&f);

	if (try_build(b, id, &r, &e) != -1)
		return 2;
	if (e.code != ERR_SYS || !strstr(e.msg, "disk full") || !strstr(e.msg, "XDG_CACHE_HOME"))
		return 3;
	return builder_has(b, &id, 0, &e) == 0 ? 0 : 4;
}

static void need_mounts(int status)
{
	if (status != 77)
		return;
	print_message("# not root: no small file system can be mounted\n");
	skip();
}

static void a_disk_that_fills_up_is_our_failure_and_nothing_is_cached(void **state)
{
	(void)state;
	/* not a word of it in the log */
	shell("cd repo; printf 'bzImage: fill\\nfill:\\n\\thead -c 100M /dev/zero >$(O)/big "
	      "2>/dev/null\\n' "
	      ">>Makefile");
	int status = on_small_disk(40, build_on_full_disk);

	need_mounts(status);
	assert_int_equal(status, 0);
}

static void a_disk_that_was_full_for_a_moment_is_our_failure_too(void **state)
{
	(void)state;
	shell("cd repo; printf 'bzImage: fill\\nfill:\\n\\thead -c 100M /dev/zero >$(O)/big || "
	      "{ rm $(O)/big; exit 1; }\\n' >>Makefile");
	int status = on_small_disk(40, build_on_full_disk);

	need_mounts(status);
	assert_int_equal(status, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_commit_that_does_not_compile_fails_once_and_for_all),
		T(a_failed_build_is_tried_again_once_packages_have_changed),
		T(stale_objects_are_not_blamed_on_a_commit),
		T(a_kconfig_that_does_not_parse_is_a_failed_build),
		T(a_compiler_that_was_killed_is_tried_again_with_one_job),
		T(a_compiler_that_is_always_killed_is_our_failure),
		T(a_build_that_exceeds_its_time_is_no_verdict),
		T(an_interrupted_build_stops_at_once_and_the_next_one_is_right),
		T(a_killed_build_leaves_nothing_that_is_trusted),
		T(a_patch_that_an_interruption_left_in_the_sources_is_gone_in_the_next_build),
		T(a_second_builder_waits_for_the_slot),
		T(a_damaged_cache_entry_is_dropped_and_built_again),
		T(the_least_recently_used_kernels_go_first_and_none_in_use),
		T(a_disk_that_fills_up_is_our_failure_and_nothing_is_cached),
		T(a_disk_that_was_full_for_a_moment_is_our_failure_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
