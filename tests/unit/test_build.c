/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds: slot, cache, configuration, patches, on a miniature tree. */
#include <dirent.h>

#include "unit/build_fixture.h"

static void a_build_gives_image_symbols_config_and_release(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();

	(void)state;
	fx_init(&f);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r = build(b, id);

	assert_int_equal(r.outcome, TRIAL_OK);
	assert_false(r.cached);
	assert_string_equal(r.release, "6.1.2-kregress");
	assert_string_equal(strrchr(r.image, '/'), "/bzImage");
	_cleanup_free_ char *sum = sh("sha256sum '%s' | cut -d' ' -f1", r.image);
	_cleanup_free_ char *note = sh("readelf -n '%s' | sed -n 's/.*Build ID: //p'", r.vmlinux);
	_cleanup_free_ char *nm = sh("nm '%s' | grep -c ' T other'", r.vmlinux);
	_cleanup_free_ char *debug = sh("readelf -S '%s' | grep -c debug || :", r.vmlinux);
	_cleanup_free_ char *head = sh("head -n 1 '%s'", r.image);
	_cleanup_free_ char *config = sh("cat '%s'", r.config);

	assert_string_equal(r.image_hash, sum);
	assert_string_equal(r.build_id, note);
	assert_string_equal(nm, "1");
	assert_string_equal(debug, "0");
	assert_string_equal(head, "image of kregress Thu Jan  1 00:00:00 UTC 1970");
	assert_string_equal(config, "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_NAME=\"none\"\n"
				    "CONFIG_SIZE=0x10\nCONFIG_LOCALVERSION=\"\"");
}

static void the_same_key_is_never_built_twice(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();
	/* another commit with the same tree: the same kernel */
	struct commit_id twin = commit_all();

	(void)state;
	assert_false(commit_eq(&id, &twin));
	fx_init(&f);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	struct err e = ERR_INIT;

	assert_int_equal(builder_has(b, &id, 0, &e), 0);
	_cleanup_result_ struct build_result first = build(b, id);

	assert_int_equal(builder_has(b, &id, 0, &e), 1);
	assert_int_equal(builder_has(b, &twin, 0, &e), 1);
	_cleanup_result_ struct build_result again = build(b, twin);

	assert_true(again.cached);
	assert_int_equal(compiled(b, "main"), 1);
	assert_string_equal(again.key, first.key);
	assert_string_equal(again.image_hash, first.image_hash);
	assert_string_equal(again.build_id, first.build_id);
	assert_string_equal(again.release, first.release);
	assert_true(again.seconds_make == 0);
	_cleanup_free_ char *log = read_file("log");

	assert_non_null(strstr(log, "nothing was compiled"));
	assert_non_null(strstr(log, "CC      main.o"));
}

static void a_key_changes_with_everything_that_makes_a_kernel(void **state)
{
	char keys[6][HASH_HEX_SIZE];
	struct commit_id id = commit_all();

	(void)state;
	write_file("p.patch", "--- a/other.c\n+++ b/other.c\n@@ -1 +1 @@\n"
			      "-int other(void) { return 1; }\n+int other(void) { return 2; }\n");
	write_file("frag", "CONFIG_B=y\n");
	write_file("config", "CONFIG_A=y\n");
	for (int i = 0; i < 6; i++) {
		_cleanup_fx_ struct fx f;
		_cleanup_free_ char *file = xasprintf("file:%s/config", fx_top);

		fx_init(&f);
		if (i == 1)
			strv_addf(&f.fragments, "%s/frag", fx_top);
		if (i == 2)
			strv_addf(&f.patches, "%s/p.patch", fx_top);
		if (i == 3)
			strv_add(&f.make_args, "CC=gcc -O1");
		if (i == 4)
			f.o.config = file;
		if (i == 5)
			write_file("repo/other.c", "int other(void) { return 3; }\n");
		_cleanup_builder_ struct builder *b = open_builder(&f);
		_cleanup_result_ struct build_result r = build(b, i == 5 ? commit_all() : id);

		assert_int_equal(r.outcome, TRIAL_OK);
		assert_false(r.cached);
		memcpy(keys[i], r.key, HASH_HEX_SIZE);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(keys[k], keys[i]);
	}
}

static void unchanged_files_keep_their_times_and_are_not_compiled(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id one = commit_all();

	(void)state;
	write_file("repo/other.c", "int other(void) { return 2; }\n");
	struct commit_id two = commit_all();

	fx_init(&f);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result first = build(b, one);
	int64_t main_time = mtime_ns(builder_src(b), "main.c");
	int64_t config_time = mtime_ns(builder_out(b), ".config");
	_cleanup_result_ struct build_result second = build(b, two);

	assert_int_equal(mtime_ns(builder_src(b), "main.c"), main_time);
	assert_int_equal(mtime_ns(builder_out(b), ".config"), config_time);
	assert_int_equal(compiled(b, "main"), 1);
	assert_int_equal(compiled(b, "other"), 2);
	assert_string_not_equal(first.image_hash, second.image_hash);
	/* nothing that decides the configuration changed: it was not made again */
	_cleanup_free_ char *configured = sh("wc -l <'%s'/configured", builder_out(b));

	assert_string_equal(configured, "1");
}

static void a_changed_kconfig_makes_the_configuration_anew(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id one = commit_all();

	(void)state;
	/* a comment: the same .config must keep its time; then a default: it must change */
	shell("printf '\\n' >repo/scripts.sh");
	struct commit_id two = commit_all();

	shell("cd repo; sed -i 's/^B n/B y/' Kconfig");
	struct commit_id three = commit_all();

	fx_init(&f);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r1 = build(b, one);

	assert_int_equal(r1.outcome, TRIAL_OK);
	int64_t time = mtime_ns(builder_out(b), ".config");
	_cleanup_result_ struct build_result r2 = build(b, two);

	assert_int_equal(mtime_ns(builder_out(b), ".config"), time);
	assert_int_equal(compiled(b, "main"), 1);
	_cleanup_result_ struct build_result r3 = build(b, three);
	_cleanup_free_ char *configured = sh("wc -l <'%s'/configured", builder_out(b));
	_cleanup_strv_ struct strv diff = STRV_INIT;
	struct err e = ERR_INIT;

	assert_string_equal(configured, "3");
	assert_int_equal(compiled(b, "main"), 2);
	assert_int_equal(build_config_diff(r2.config, r3.config, &diff, &e), 0);
	assert_int_equal(diff.n, 2);
	assert_string_equal(diff.v[0], "-CONFIG_B=n");
	assert_string_equal(diff.v[1], "+CONFIG_B=y");
}

static void an_edited_fragment_stays_in_its_slot_and_is_configured_anew(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();

	(void)state;
	write_file("frag", "CONFIG_B=n\n");
	fx_init(&f);
	strv_addf(&f.fragments, "%s/frag", fx_top);
	struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r1 = build(b, id);
	_cleanup_free_ char *src = xstrdup(builder_src(b));

	builder_close(b);
	write_file("frag", "CONFIG_B=y\n");
	_cleanup_builder_ struct builder *again = open_builder(&f);
	_cleanup_result_ struct build_result r2 = build(again, id);

	assert_string_equal(builder_src(again), src);
	assert_false(r2.cached);
	assert_string_not_equal(r1.key, r2.key);
	shell("grep -q '^CONFIG_B=y' '%s'", r2.config);
	assert_int_equal(compiled(again, "main"), 2);
}

static void a_required_option_that_is_dropped_makes_the_commit_untestable(void **state)
{
	_cleanup_fx_ struct fx f;

	(void)state;
	shell("cd repo; sed -i '/^SIZE/d' Kconfig");
	struct commit_id id = commit_all();

	write_file("frag", "CONFIG_A=y\nCONFIG_SIZE=7\n# optional\nCONFIG_GONE=y\n");
	fx_init(&f);
	strv_addf(&f.fragments, "%s/frag", fx_top);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r = build(b, id);

	assert_int_equal(r.outcome, TRIAL_UNTESTABLE);
	assert_string_equal(r.signature, "options missing: CONFIG_SIZE=7 (is absent)");
	assert_int_equal(r.dropped.n, 1);
	assert_string_equal(r.dropped.v[0], "CONFIG_GONE=y");
	assert_null(r.image);
	/* not one file was compiled to learn that, and it is remembered */
	assert_int_equal(mtime_ns(builder_out(b), "compiled"), -1);
	_cleanup_result_ struct build_result again = build(b, id);

	assert_true(again.cached);
	assert_int_equal(again.outcome, TRIAL_UNTESTABLE);
	assert_string_equal(again.signature, r.signature);
}

static void an_unknown_configuration_target_makes_the_commit_untestable(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();

	(void)state;
	fx_init(&f);
	f.o.config = "nosuch_defconfig";
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r = build(b, id);

	assert_int_equal(r.outcome, TRIAL_UNTESTABLE);
	assert_string_equal(r.signature, "this commit has no configuration 'nosuch_defconfig'");
}

static const char other_patch[] = "--- a/other.c\n+++ b/other.c\n@@ -1 +1 @@\n"
				  "-int other(void) { return 1; }\n"
				  "+int other(void) { return 100; }\n";

static void patches_are_applied_where_they_apply_and_reverted(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id one = commit_all();

	(void)state;
	write_file("repo/main.c", "int other(void);\nint main(void) { return other() + 1; }\n");
	struct commit_id two = commit_all();

	write_file("repo/other.c", "int other(void) { return 9; }\n");
	struct commit_id three = commit_all();

	/* a repository around the slot, as a home directory may be: git apply must not use it */
	shell("git init -q .");
	write_file("fits.patch", other_patch);
	write_file("misfits.patch", "--- a/main.c\n+++ b/main.c\n@@ -1 +1 @@\n-nothing\n+more\n");
	fx_init(&f);
	strv_addf(&f.patches, "%s/misfits.patch", fx_top);
	strv_addf(&f.patches, "%s/fits.patch", fx_top);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r1 = build(b, one);

	assert_int_equal(r1.patches_applied.n, 1);
	assert_string_equal(r1.patches_applied.v[0], "fits.patch");
	/* 100 = 0x64 is in the code, and the sources are as they were */
	shell("objdump -d '%s' | grep -q '0x64'", r1.vmlinux);
	shell("grep -q 'return 1;' '%s'/other.c", builder_src(b));
	/* the patched text is the same in the next commit: other.c is not compiled again */
	_cleanup_result_ struct build_result r2 = build(b, two);

	assert_int_equal(r2.patches_applied.n, 1);
	assert_int_equal(compiled(b, "main"), 2);
	assert_int_equal(compiled(b, "other"), 1);
	shell("objdump -d '%s' | grep -q '0x64'", r2.vmlinux);
	_cleanup_result_ struct build_result r3 = build(b, three);

	assert_int_equal(r3.patches_applied.n, 0);
	assert_int_equal(compiled(b, "other"), 2);
	shell("objdump -d '%s' | grep -q '0x9,'", r3.vmlinux);
}

static void a_file_that_is_no_longer_patched_is_compiled_again(void **state)
{
	_cleanup_fx_ struct fx f;
	_cleanup_fx_ struct fx plain;
	struct commit_id id = commit_all();

	(void)state;
	write_file("fits.patch", other_patch);
	fx_init(&f);
	fx_init(&plain);
	strv_addf(&f.patches, "%s/fits.patch", fx_top);
	struct builder *b = open_builder(&plain);
	_cleanup_result_ struct build_result before = build(b, id);

	builder_close(b);
	b = open_builder(&f);
	_cleanup_result_ struct build_result patched = build(b, id);

	assert_string_not_equal(patched.image_hash, before.image_hash);
	builder_close(b);
	/* away with the first kernel, so that the third must be made of the patched objects */
	shell("rm -r cache/kregress/kernels/%s", before.key);
	_cleanup_builder_ struct builder *last = open_builder(&plain);
	_cleanup_result_ struct build_result after = build(last, id);

	assert_false(after.cached);
	assert_string_equal(after.image_hash, before.image_hash);
}

static void a_file_that_is_no_patch_is_refused_at_once(void **state)
{
	_cleanup_fx_ struct fx f;
	struct builder *b = NULL;
	struct err e = ERR_INIT;

	(void)state;
	commit_all();
	write_file("text.patch", "hello\n");
	fx_init(&f);
	strv_addf(&f.patches, "%s/text.patch", fx_top);
	assert_int_equal(builder_open(&f.o, &b, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "text.patch"));
}

static void the_users_checkout_and_its_edits_are_neither_built_nor_touched(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();

	(void)state;
	write_file("repo/other.c", "this does not compile\n");
	write_file("repo/untracked.c", "nor does this\n");
	_cleanup_free_ char *before = sh(
		"cd repo; git status --porcelain; find . -name index -o -type f "
		"-printf '%%p %%T@ %%s\\n' | sort");
	fx_init(&f);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r = build(b, id);
	_cleanup_free_ char *after = sh(
		"cd repo; git status --porcelain; find . -name index -o -type f "
		"-printf '%%p %%T@ %%s\\n' | sort");

	assert_int_equal(r.outcome, TRIAL_OK);
	assert_string_equal(after, before);
}

static void make_settings_of_our_environment_do_not_leak(void **state)
{
	static const char *const names[] = { "MAKEFLAGS",    "MAKELEVEL", "KBUILD_BUILD_USER",
					     "LOCALVERSION", "GIT_DIR",   "KCONFIG_CONFIG" };
	/* dry run: nothing would be built */
	static const char *const values[] = { "n", "3", "me", "-mine", "/nonexistent", "/x" };
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		setenv(names[i], values[i], 1);
	fx_init(&f);
	write_file("fits.patch", other_patch);
	strv_addf(&f.patches, "%s/fits.patch", fx_top);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	struct err e = ERR_INIT;
	_cleanup_result_ struct build_result r = { .outcome = TRIAL_UNSET };
	int ret = try_build(b, id, &r, &e);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
	assert_int_equal(ret, 0);
	assert_int_equal(r.outcome, TRIAL_OK);
	assert_int_equal(r.patches_applied.n, 1);
	assert_string_equal(r.release, "6.1.2-kregress");
	_cleanup_free_ char *head = sh("head -n 1 '%s'", r.image);

	assert_string_equal(head, "image of kregress Thu Jan  1 00:00:00 UTC 1970");
}

static void an_image_is_bit_identical_when_built_from_nothing(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();

	(void)state;
	fx_init(&f);
	struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result first = build(b, id);

	builder_close(b);
	shell("rm -rf cache");
	_cleanup_builder_ struct builder *again = open_builder(&f);
	_cleanup_result_ struct build_result second = build(again, id);

	assert_false(second.cached);
	assert_string_equal(second.image_hash, first.image_hash);
	assert_string_equal(second.key, first.key);
}

static void a_path_that_make_cannot_take_is_refused(void **state)
{
	_cleanup_fx_ struct fx f;
	_cleanup_free_ char *cache = fs_join(fx_top, "my cache");
	struct builder *b = NULL;
	struct err e = ERR_INIT;

	(void)state;
	commit_all();
	setenv("XDG_CACHE_HOME", cache, 1);
	fx_init(&f);
	assert_int_equal(builder_open(&f.o, &b, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "XDG_CACHE_HOME"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_build_gives_image_symbols_config_and_release),
		T(the_same_key_is_never_built_twice),
		T(a_key_changes_with_everything_that_makes_a_kernel),
		T(unchanged_files_keep_their_times_and_are_not_compiled),
		T(a_changed_kconfig_makes_the_configuration_anew),
		T(an_edited_fragment_stays_in_its_slot_and_is_configured_anew),
		T(a_required_option_that_is_dropped_makes_the_commit_untestable),
		T(an_unknown_configuration_target_makes_the_commit_untestable),
		T(patches_are_applied_where_they_apply_and_reverted),
		T(a_file_that_is_no_longer_patched_is_compiled_again),
		T(a_file_that_is_no_patch_is_refused_at_once),
		T(the_users_checkout_and_its_edits_are_neither_built_nor_touched),
		T(make_settings_of_our_environment_do_not_leak),
		T(an_image_is_bit_identical_when_built_from_nothing),
		T(a_path_that_make_cannot_take_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
