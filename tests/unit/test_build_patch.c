/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds: patches that are for some commits only. */
#include "unit/build_fixture.h"

/* Which of the patches are for which commits. */
struct ranges {
	struct commit_id id[4];
	size_t n;
	bool off[2]; /* this patch is for none */
};

static bool is_for(const void *cookie, size_t i, const struct commit_id *commit)
{
	const struct ranges *r = cookie;

	for (size_t k = 0; k < r->n && !r->off[i]; k++)
		if (commit_eq(&r->id[k], commit))
			return true;
	return false;
}

/* At most two patches, p0.patch and p1.patch of the temporary folder. */
struct fixes {
	struct build_patch patch[2];
	char *file[2];
};

static void fixes_init(struct fixes *x, struct fx *f, const struct ranges *r, size_t n)
{
	static const char *const name[] = { "fix", "other-fix" };

	for (size_t i = 0; i < n; i++) {
		x->file[i] = xasprintf("%s/p%zu.patch", fx_top, i);
		x->patch[i] =
			(struct build_patch){ .name = name[i], .file = x->file[i], .must = true };
	}
	fx_init(f);
	f->o.patch = x->patch;
	f->o.n_patch = n;
	f->o.patch_is_for = is_for;
	f->o.patch_cookie = r;
}

static void fixes_release(struct fixes *x)
{
	free(x->file[0]);
	free(x->file[1]);
}
#define _cleanup_fixes_ _cleanup_(fixes_release)

/* The stand-in's other() returns 100 = 0x64 instead of 1. */
static const char hundred[] = "--- a/other.c\n+++ b/other.c\n@@ -1 +1 @@\n"
			      "-int other(void) { return 1; }\n"
			      "+int other(void) { return 100; }\n";

static struct commit_id change_main(int value)
{
	_cleanup_free_ char *text =
		xasprintf("int other(void);\nint main(void) { return other() + %d; }\n", value);

	write_file("repo/main.c", text);
	return commit_all();
}

static void check_returns(const struct build_result *r, const char *value)
{
	assert_int_equal(r->outcome, TRIAL_OK);
	shell("objdump -d '%s' | grep -A9 '<other>:' | grep -q 'mov  *.0x%s,%%eax'", r->vmlinux,
	      value);
}

/* The sources in the slot are those of @commit, all of them and nothing else. */
static void check_clean(const struct builder *b, const struct commit_id *commit)
{
	char hex[COMMIT_HEX + 1];

	shell("cd repo; git archive %s | (rm -rf ../want; mkdir ../want; tar -xf - -C ../want); "
	      "diff -r ../want '%s'",
	      commit_hex(commit, hex), builder_src(b));
}

static void a_patch_is_in_the_kernels_of_its_range_and_in_no_other(void **state)
{
	struct ranges r = { .n = 2 };
	struct commit_id one = commit_all();
	char plain_key[HASH_HEX_SIZE];

	(void)state;
	r.id[0] = change_main(2);
	r.id[1] = change_main(3);
	struct commit_id four = change_main(4);

	write_file("p0.patch", hundred);
	{
		_cleanup_fx_ struct fx plain;

		fx_init(&plain);
		_cleanup_builder_ struct builder *b = open_builder(&plain);
		_cleanup_result_ struct build_result before = build(b, one);

		check_returns(&before, "1");
		memcpy(plain_key, before.key, sizeof(plain_key));
	}
	_cleanup_fx_ struct fx f;
	_cleanup_fixes_ struct fixes x = { .file = { NULL } };

	fixes_init(&x, &f, &r, 1);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r1 = build(b, one);

	/* outside: the same kernel as of a campaign without the patch */
	assert_true(r1.cached);
	assert_string_equal(r1.key, plain_key);
	_cleanup_result_ struct build_result r2 = build(b, r.id[0]);

	check_returns(&r2, "64");
	check_clean(b, &r.id[0]);
	assert_int_equal(r2.patches_applied.n, 1);
	assert_string_equal(r2.patches_applied.v[0], "p0.patch");
	assert_int_equal(compiled(b, "other"), 2);
	/* the next in the range: the patched file is as it was, and not compiled again */
	_cleanup_result_ struct build_result r3 = build(b, r.id[1]);

	check_returns(&r3, "64");
	assert_int_equal(compiled(b, "other"), 2);
	/* and the one after it has none of the patch, though the file itself did not change */
	_cleanup_result_ struct build_result r4 = build(b, four);

	check_returns(&r4, "1");
	check_clean(b, &four);
	assert_int_equal(r4.patches_applied.n, 0);
	assert_int_equal(compiled(b, "other"), 3);
}

static void a_patch_of_the_range_that_does_not_apply_makes_the_commit_untestable(void **state)
{
	struct ranges r = { .n = 1 };
	struct commit_id one = commit_all();
	struct err e = ERR_INIT;
	_cleanup_fx_ struct fx f;
	_cleanup_fixes_ struct fixes x = { .file = { NULL } };

	(void)state;
	r.id[0] = change_main(2);
	/* the first applies, and makes a file */
	write_file("p0.patch", "--- a/other.c\n+++ b/other.c\n@@ -1 +1 @@\n"
			       "-int other(void) { return 1; }\n"
			       "+int other(void) { return 100; }\n"
			       "--- /dev/null\n+++ b/more.c\n@@ -0,0 +1 @@\n+int more;\n");
	write_file("p1.patch", "--- a/main.c\n+++ b/main.c\n@@ -7 +7 @@\n-nothing   \n+more  \n");
	fixes_init(&x, &f, &r, 2);
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r2 = build(b, r.id[0]);

	assert_int_equal(r2.outcome, TRIAL_UNTESTABLE);
	assert_string_equal(r2.signature,
			    "patch other-fix does not apply: p1.patch: patch failed: main.c:7");
	check_clean(b, &r.id[0]);
	shell("grep -q 'kregress: patch other-fix does not apply' log");
	/* nothing of that is kept */
	assert_int_equal(builder_has(b, &r.id[0], 0, &e), 0);
	_cleanup_result_ struct build_result again = build(b, r.id[0]);

	assert_int_equal(again.outcome, TRIAL_UNTESTABLE);
	assert_false(again.cached);
	_cleanup_result_ struct build_result r1 = build(b, one);

	check_returns(&r1, "1");
	check_clean(b, &one);
	/* without the first one's range, the second fails all the same, and the other way round */
	r.off[1] = true;
	_cleanup_result_ struct build_result mended = build(b, r.id[0]);

	check_returns(&mended, "64");
	assert_int_equal(compiled(b, "more"), 1);
	check_clean(b, &r.id[0]);
}

static void a_patch_without_a_range_is_applied_where_it_applies(void **state)
{
	struct commit_id one = commit_all();
	_cleanup_fx_ struct fx f;
	_cleanup_fixes_ struct fixes x = { .file = { NULL } };

	(void)state;
	write_file("repo/other.c", "int other(void) { return 9; }\n");
	struct commit_id two = commit_all();

	write_file("p0.patch", hundred);
	fixes_init(&x, &f, NULL, 1);
	x.patch[0].must = false;
	f.o.patch_is_for = NULL;
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r1 = build(b, one);
	_cleanup_result_ struct build_result r2 = build(b, two);

	check_returns(&r1, "64");
	check_returns(&r2, "9");
}

static void a_key_holds_the_bytes_of_the_patches_that_are_for_the_commit(void **state)
{
	struct ranges r = { .n = 1 };
	struct commit_id one = commit_all();
	char keys[5][HASH_HEX_SIZE];

	(void)state;
	r.id[0] = one;
	write_file("p0.patch", hundred);
	write_file("p1.patch", "--- a/main.c\n+++ b/main.c\n@@ -1,2 +1,2 @@\n"
			       "-int other(void);\n+int other(void); /**/\n"
			       " int main(void) { return other(); }\n");
	for (int i = 0; i < 5; i++) {
		_cleanup_fx_ struct fx f;
		_cleanup_fixes_ struct fixes x = { .file = { NULL } };

		fixes_init(&x, &f, &r, 2);
		/* none; first; second; both; first with other bytes */
		r.off[0] = i == 0 || i == 2;
		r.off[1] = i != 2 && i != 3;
		if (i == 4)
			write_file("p0.patch", "--- a/other.c\n+++ b/other.c\n@@ -1 +1 @@\n"
					       "-int other(void) { return 1; }\n"
					       "+int other(void) { return 101; }\n");
		_cleanup_builder_ struct builder *b = open_builder(&f);
		_cleanup_result_ struct build_result k = build(b, one);

		check_returns(&k, i == 4 ? "65" : i == 1 || i == 3 ? "64" : "1");
		assert_false(k.cached);
		memcpy(keys[i], k.key, HASH_HEX_SIZE);
		for (int n = 0; n < i; n++)
			assert_string_not_equal(keys[n], keys[i]);
	}
}

static void a_patch_that_changes_under_way_stops_the_build(void **state)
{
	struct ranges r = { .n = 1 };
	struct err e = ERR_INIT;
	struct build_result none = { .outcome = TRIAL_UNSET };
	_cleanup_fx_ struct fx f;
	_cleanup_fixes_ struct fixes x = { .file = { NULL } };

	(void)state;
	r.id[0] = commit_all();
	write_file("p0.patch", hundred);
	fixes_init(&x, &f, &r, 1);
	_cleanup_builder_ struct builder *b = open_builder(&f);

	write_file("p0.patch", "--- a/other.c\n+++ b/other.c\n@@ -1 +1 @@\n-x\n+y\n");
	assert_int_equal(try_build(b, r.id[0], &none, &e), -1);
	assert_non_null(strstr(e.msg, "patch.fix in [build]: '"));
	assert_non_null(strstr(e.msg, "was changed meanwhile"));
	shell("rm p0.patch");
	e = (struct err)ERR_INIT;
	assert_int_equal(try_build(b, r.id[0], &none, &e), -1);
	assert_non_null(strstr(e.msg, "p0.patch"));
}

static void a_file_that_is_no_patch_is_refused_with_its_key(void **state)
{
	struct ranges r = { .n = 0 };
	struct err e = ERR_INIT;
	struct builder *b = NULL;
	_cleanup_fx_ struct fx f;
	_cleanup_fixes_ struct fixes x = { .file = { NULL } };

	(void)state;
	commit_all();
	fixes_init(&x, &f, &r, 1);
	assert_int_equal(builder_open(&f.o, &b, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "patch.fix in [build]"));
	write_file("p0.patch", "hello\n");
	e = (struct err)ERR_INIT;
	assert_int_equal(builder_open(&f.o, &b, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "patch.fix in [build]: git apply does not take"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_patch_is_in_the_kernels_of_its_range_and_in_no_other),
		T(a_patch_of_the_range_that_does_not_apply_makes_the_commit_untestable),
		T(a_patch_without_a_range_is_applied_where_it_applies),
		T(a_key_holds_the_bytes_of_the_patches_that_are_for_the_commit),
		T(a_patch_that_changes_under_way_stops_the_build),
		T(a_file_that_is_no_patch_is_refused_with_its_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
