/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout = fixed and random: same code, other addresses, nothing compiled; by nm's word. */
#include "build_fixture.h"

/* Links as the kernel's make does: objects in a thin archive, by $(LD). */
static const char linking_makefile[] =
	"CC = gcc\nAR = ar\nLD = ld\nexport CC AR\n"
	"OBJS = $(patsubst %.c,%.o,$(sort $(wildcard *.c)))\n"
	"bzImage: $(O)/vmlinux\n"
	"\t@mkdir -p $(O)/arch/x86/boot $(O)/include/config\n"
	"\t@cp $< $(O)/arch/x86/boot/bzImage; echo 6.1-x >$(O)/include/config/kernel.release\n"
	"$(O)/vmlinux: $(OBJS:%=$(O)/%)\n"
	"\t@echo link >>$(O)/compiled\n"
	"\t@cd $(O); rm -f vmlinux.a; $(AR) rcST vmlinux.a $(OBJS)\n"
	"\t@cd $(O); $(LD) --build-id=sha1 -e main -o vmlinux --whole-archive vmlinux.a "
	"--no-whole-archive\n"
	"\t@cd $(O); $(LD) -e main -o setup.elf --whole-archive vmlinux.a\n"
	"$(O)/%.o: %.c $(O)/.config\n"
	"\t@echo $* >>$(O)/compiled\n"
	"\t@$(CC) -O2 $(KCFLAGS) -fno-stack-protector -c -o $@ $(CURDIR)/$<\n"
	"tinyconfig:\n"
	"\t@cp tiny.config $(O)/.config\n"
	"olddefconfig:\n"
	"\t@sed -i 's/ALIGN_64B=y/ALIGN_64B=$(shell cat Kconfig)/' $(O)/.config\n";

static struct commit_id a_kernel(const char *align)
{
	write_file("repo/Makefile", linking_makefile);
	write_file("repo/Kconfig", align);
	write_file(
		"repo/main.c",
		"int third(int); int counter = 1;\n"
		"int main(void) { return third(counter); }\nint more(int x) { return x + 7; }\n");
	write_file("repo/other.c", "int other(int x) { return x * 3; }\nint table[9] = { 1 };\n");
	write_file("repo/third.c",
		   "int other(int); int third(int x) { return other(x) + 1; }\nint zero;\n");
	return commit_all();
}

static struct build_result build_layout(struct builder *b, struct commit_id id, uint32_t layout)
{
	_cleanup_free_ char *log = fs_join(fx_top, "log");
	struct build_result r = { .outcome = TRIAL_UNSET };
	struct err e = ERR_INIT;

	if (builder_build(b, &id, layout, log, &r, &e) < 0)
		fail_msg("%s", e.msg);
	if (r.outcome != TRIAL_OK)
		fail_msg("%s", r.signature);
	return r;
}

/* What nm says of functions and data: "size type name" in the order of names, or addresses too. */
static char *symbols(const char *file, bool addresses)
{
	return sh("nm -S '%s' | grep -i ' [tdb] [a-z]' | cut -d' ' -f%s | sort -k%d", file,
		  addresses ? "1-" : "2-", addresses ? 4 : 3);
}

static void assert_same_code(const char *a, const char *b)
{
	_cleanup_free_ char *was = symbols(a, false), *is = symbols(b, false);
	_cleanup_free_ char *old = symbols(a, true), *new = symbols(b, true);

	assert_non_null(strstr(was, " T third"));
	assert_string_equal(is, was);
	assert_string_not_equal(old, new);
	/* Objects keep their order: so do functions by address. */
	_cleanup_free_ char *order_a = sh("nm -n '%s' | grep -o ' T [a-z].*'", a);
	_cleanup_free_ char *order_b = sh("nm -n '%s' | grep -o ' T [a-z].*'", b);

	assert_string_equal(order_a, order_b);
}

static void another_layout_has_the_same_code_at_other_addresses(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = a_kernel("n");

	(void)state;
	fx_init(&f);
	f.o.layout = LAYOUT_RANDOM;
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r0 = build_layout(b, id, 0);
	_cleanup_free_ char *setup = sh("sha256sum <'%s/setup.elf'", builder_out(b));
	_cleanup_result_ struct build_result r1 = build_layout(b, id, 1);
	_cleanup_result_ struct build_result r2 = build_layout(b, id, 2);

	assert_same_code(r0.vmlinux, r1.vmlinux);
	assert_same_code(r0.vmlinux, r2.vmlinux);
	assert_same_code(r1.vmlinux, r2.vmlinux);
	assert_string_not_equal(r1.key, r2.key);
	assert_string_not_equal(r1.build_id, r2.build_id);
	assert_string_not_equal(r1.image_hash, r2.image_hash);
	/* It is a link, three times, and each object was compiled once; only the kernel is padded. */
	assert_int_equal(compiled(b, "link"), 3);
	assert_int_equal(compiled(b, "other"), 1);
	_cleanup_free_ char *padded = sh("sha256sum <'%s/setup.elf'", builder_out(b));

	assert_string_equal(setup, padded);
}

static void layout_0_is_the_kernel_without_layouts_and_each_other_repeats(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = a_kernel("n");
	static const uint32_t order[] = { 1, 0, 3, 1, 0 };
	char hash[4][HASH_HEX_SIZE] = { "" };

	(void)state;
	fx_init(&f);
	{
		_cleanup_builder_ struct builder *b = open_builder(&f);
		_cleanup_result_ struct build_result r = build_layout(b, id, 0);

		memcpy(hash[0], r.image_hash, HASH_HEX_SIZE);
	}
	f.o.layout = LAYOUT_RANDOM;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		shell("rm -rf cache/kregress/kernels cache/kernels"); /* made again, not found again */
		_cleanup_builder_ struct builder *b = open_builder(&f);
		_cleanup_result_ struct build_result r = build_layout(b, id, order[i]);

		assert_false(r.cached);
		if (hash[order[i]][0])
			assert_string_equal(r.image_hash, hash[order[i]]);
		memcpy(hash[order[i]], r.image_hash, HASH_HEX_SIZE);
	}
	assert_string_not_equal(hash[1], hash[3]);
}

static void only_what_differs_has_another_key(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = a_kernel("y");
	struct err e = ERR_INIT;

	(void)state;
	fx_init(&f);
	_cleanup_builder_ struct builder *tree = open_builder(&f);
	_cleanup_result_ struct build_result r = build_layout(tree, id, 5);

	/* A tree is not drawn: the number says nothing. */
	assert_int_equal(builder_has(tree, &id, 0, &e), 1);
	close_builder(&tree);
	tree = NULL;
	f.o.layout = LAYOUT_RANDOM;
	{
		_cleanup_builder_ struct builder *b = open_builder(&f);

		assert_int_equal(builder_has(b, &id, 0, &e), 1);
		assert_int_equal(builder_has(b, &id, 5, &e), 0);
	}
	f.o.layout = LAYOUT_FIXED;
	_cleanup_builder_ struct builder *b = open_builder(&f);

	assert_int_equal(builder_has(b, &id, 0, &e), 0);
}

/* The addresses of all functions but main (which gcc takes for cold), modulo 64, once each. */
static char *alignments(const char *file)
{
	return sh("nm '%s' | sed -n 's/^.*\\(..\\) T \\(more\\|other\\|third\\)$/\\1/p' | "
		  "sed 's/[048c]0/00/' | sort -u",
		  file);
}

static void fixed_aligns_by_the_option_where_there_is_one_else_by_the_compiler(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id with = a_kernel("y"), without = a_kernel("n");

	(void)state;
	fx_init(&f);
	{
		_cleanup_builder_ struct builder *b = open_builder(&f);
		_cleanup_result_ struct build_result r = build_layout(b, without, 0);
		_cleanup_free_ char *low = alignments(r.vmlinux);

		assert_string_not_equal(low, "00"); /* else this shows nothing */
	}
	f.o.layout = LAYOUT_FIXED;
	strv_add(&f.make_args, "KCFLAGS=-fno-inline");
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result option = build_layout(b, with, 0);
	_cleanup_free_ char *config = sh("cat '%s'", option.config);
	_cleanup_free_ char *log = read_file("log");

	assert_non_null(strstr(config, BUILD_ALIGN_SYMBOL "=y"));
	assert_null(strstr(log, "-falign-functions"));
	_cleanup_result_ struct build_result flag = build_layout(b, without, 0);
	_cleanup_free_ char *low = alignments(flag.vmlinux);
	_cleanup_free_ char *log2 = read_file("log");

	assert_string_equal(low, "00");
	assert_non_null(strstr(log2, "-fno-inline -falign-functions=64"));
	assert_int_equal(flag.dropped.n, 0); /* nothing that the user asked for */
}

static void a_command_is_told_the_layout(void **state)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = a_kernel("n");

	(void)state;
	fx_init(&f);
	f.o.layout = LAYOUT_RANDOM;
	strv_add(&f.command, "sh");
	strv_add(&f.command, "-c");
	strv_add(&f.command, "echo layout $KREGRESS_LAYOUT >$KREGRESS_IMAGE");
	_cleanup_builder_ struct builder *b = open_builder(&f);
	_cleanup_result_ struct build_result r = build_layout(b, id, 12);
	_cleanup_free_ char *image = sh("cat '%s'", r.image);

	assert_string_equal(image, "layout 12");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
		TEST(another_layout_has_the_same_code_at_other_addresses),
		TEST(layout_0_is_the_kernel_without_layouts_and_each_other_repeats),
		TEST(only_what_differs_has_another_key),
		TEST(fixed_aligns_by_the_option_where_there_is_one_else_by_the_compiler),
		TEST(a_command_is_told_the_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
