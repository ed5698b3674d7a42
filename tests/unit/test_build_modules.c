/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds: modules beside the image, on a miniature tree. */
#include "unit/build_fixture.h"

/* A module is what dummy.txt says; modules_install leaves what the kernel's leaves. */
static const char modules_rules[] =
	"modules: $(O)/dummy.ko\n"
	"$(O)/dummy.ko: dummy.txt\n"
	"\t@! grep -n '^error' dummy.txt | sed 's/^\\([0-9]*\\):.*/dummy.c:\\1:1: error: no/' | "
	"grep .\n"
	"\t@cp dummy.txt $@\n"
	"modules_install:\n"
	"\t@d=$(INSTALL_MOD_PATH)/lib/modules/$(VERSION)$(LOCALVERSION); "
	"mkdir -p $$d/kernel/net $$d/kernel/fs; cp $(O)/dummy.ko $$d/kernel/net; "
	"echo $(INSTALL_MOD_STRIP) $(DEPMOD) >$$d/kernel/fs/args; "
	"echo order >$$d/modules.order; chmod 600 $$d/modules.order; "
	"ln -s $(O) $$d/build; ln -s $(CURDIR) $$d/source\n";

static int setup(void **state)
{
	fx_setup(state);
	_cleanup_free_ char *text = xasprintf("%s%s", fx_makefile, modules_rules);

	write_file("repo/Makefile", text);
	write_file("repo/Kconfig", "A n\nB n\nMODULES n\nDUMMY n\nLOCALVERSION \"-x\"\n");
	write_file("repo/dummy.txt", "module 1\n");
	write_file("m.config", "CONFIG_MODULES=y\nCONFIG_DUMMY=m\n");
	return 0;
}

static void ask_for_modules(struct fx *f, const char *fragment)
{
	fx_init(f);
	f->o.want_modules = true;
	strv_take(&f->fragments, fs_join(fx_top, fragment));
}

static void modules_are_packed_without_links_times_and_owners(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();

	(void)state;
	ask_for_modules(&f, "m.config");
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r = build(b, id);

	assert_int_equal(r.outcome, TRIAL_OK);
	assert_non_null(r.modules);
	_cleanup_free_ char *list = sh("TZ=UTC tar -tvf '%s' | tr -s ' ' | "
				       "cut -d' ' -f1,2,4-",
				       r.modules);
	_cleanup_free_ char *args = sh("tar -xOf '%s' lib/modules/6.1.2-kregress/kernel/fs/args",
				       r.modules);
	_cleanup_free_ char *module =
		sh("tar -xOf '%s' lib/modules/6.1.2-kregress/kernel/net/dummy.ko", r.modules);

#define DIR "drwxr-xr-x root/root 1970-01-01 00:00 lib/modules/6.1.2-kregress/"
#define FILE_ "-rw-r--r-- root/root 1970-01-01 00:00 lib/modules/6.1.2-kregress/"
	assert_string_equal(list, DIR "\n" DIR "kernel/\n" DIR "kernel/fs/\n" FILE_
				      "kernel/fs/args\n" DIR "kernel/net/\n" FILE_
				      "kernel/net/dummy.ko\n" FILE_ "modules.order");
	assert_string_equal(args, "1 true");
	assert_string_equal(module, "module 1");
}

static void a_kernel_is_image_and_modules_together(void **state)
{
	_cleanup_fx_ struct fx f;

	(void)state;
	write_file("repo/dummy.txt", "module 1\n");
	struct commit_id id = commit_all();

	write_file("repo/README", "other tree, same kernel\n");
	struct commit_id same = commit_all();

	write_file("repo/dummy.txt", "module 2\n");
	struct commit_id other = commit_all();

	ask_for_modules(&f, "m.config");
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r1 = build(b, id);
	_cleanup_result_ struct build_result r2 = build(b, same);
	_cleanup_result_ struct build_result r3 = build(b, other);
	_cleanup_free_ char *both = sh("i=$(sha256sum <'%s' | cut -c-64); "
				       "m=$(sha256sum <'%s' | cut -c-64); "
				       "printf '%%s %%s' $i $m | sha256sum | cut -c-64",
				       r1.image, r1.modules);

	assert_string_equal(r1.image_hash, both);
	assert_string_not_equal(r1.key, r2.key);
	assert_string_equal(r2.image_hash, r1.image_hash);
	shell("cmp '%s' '%s'", r1.image, r3.image);
	assert_string_not_equal(r3.image_hash, r1.image_hash);
}

static void without_modules_there_is_no_archive(void **state)
{
	_cleanup_fx_ struct fx asked, not_asked;
	struct commit_id id;

	(void)state;
	write_file("repo/dummy.txt", "module 1\n");
	write_file("none.config", "CONFIG_MODULES=y\n");
	id = commit_all();
	ask_for_modules(&asked, "none.config");
	_cleanup_builder_ struct builder *b = open_builder(&asked);
	_cleanup_result_ struct build_result r = build(b, id);

	assert_int_equal(r.outcome, TRIAL_OK);
	assert_null(r.modules);
	_cleanup_free_ char *sum = sh("sha256sum <'%s' | cut -c-64", r.image);

	assert_string_equal(r.image_hash, sum);
	builder_close(b);
	ask_for_modules(&not_asked, "m.config");
	not_asked.o.want_modules = false;
	b = open_builder(&not_asked);
	_cleanup_result_ struct build_result plain = build(b, id);

	assert_int_equal(plain.outcome, TRIAL_OK);
	assert_null(plain.modules);
	builder_close(b);
	not_asked.o.want_modules = true;
	b = open_builder(&not_asked);
	_cleanup_result_ struct build_result full = build(b, id);

	assert_non_null(full.modules);
	assert_string_not_equal(full.key, plain.key);
}

static void a_module_that_does_not_compile_is_a_failed_build(void **state)
{
	_cleanup_fx_ struct fx f;

	(void)state;
	write_file("repo/dummy.txt", "error\n");
	struct commit_id id = commit_all();

	ask_for_modules(&f, "m.config");
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r = build(b, id);

	assert_int_equal(r.outcome, TRIAL_BUILD_FAILED);
	assert_string_equal(r.signature, "dummy.c:1:1: error: no");
	assert_null(r.modules);
}

static void modules_damaged_in_the_cache_are_made_again(void **state)
{
	_cleanup_fx_ struct fx f;

	(void)state;
	write_file("repo/dummy.txt", "module 3\n");
	struct commit_id id = commit_all();

	ask_for_modules(&f, "m.config");
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result first = build(b, id);
	_cleanup_result_ struct build_result cached = build(b, id);

	assert_true(cached.cached);
	assert_string_equal(cached.modules, first.modules);
	assert_string_equal(cached.image_hash, first.image_hash);
	builder_close(b);
	shell("printf x | dd of='%s' bs=1 seek=2000 conv=notrunc 2>/dev/null", first.modules);
	b = open_builder(&f);
	_cleanup_result_ struct build_result again = build(b, id);

	assert_false(again.cached);
	assert_string_equal(again.image_hash, first.image_hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_are_packed_without_links_times_and_owners),
		cmocka_unit_test(a_kernel_is_image_and_modules_together),
		cmocka_unit_test(without_modules_there_is_no_archive),
		cmocka_unit_test(a_module_that_does_not_compile_is_a_failed_build),
		cmocka_unit_test(modules_damaged_in_the_cache_are_made_again),
	};

	return cmocka_run_group_tests(tests, setup, fx_teardown);
}
