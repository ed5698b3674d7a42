/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds, the pure parts: fragments, .config check and difference, logs, build id. */
#include "unit/build_fixture.h"

static void parse(const char *text, struct build_symbols *s)
{
	struct err e = ERR_INIT;

	if (build_symbols_parse("frag", text, strlen(text), s, &e) < 0)
		fail_msg("%s", e.msg);
}

static void a_later_line_overrides_an_earlier_one(void **state)
{
	_cleanup_symbols_ struct build_symbols s = BUILD_SYMBOLS_INIT;

	(void)state;
	parse("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_N=\"a b\"\n", &s);
	parse("  CONFIG_A=n\t\r\nCONFIG_B=m", &s);
	build_symbols_settle(&s);
	assert_int_equal(s.n, 3);
	assert_string_equal(build_symbols_get(&s, "CONFIG_A"), "n");
	assert_string_equal(build_symbols_get(&s, "CONFIG_B"), "m");
	assert_string_equal(build_symbols_get(&s, "CONFIG_N"), "\"a b\"");
	assert_null(build_symbols_get(&s, "CONFIG_C"));
}

static void a_fragment_line_that_is_no_option_is_an_error_with_its_place(void **state)
{
	static const char *const bad[] = { "CONFIG_A y", "FOO=y", "CONFIG_=y",
					   "CONFIG_A=", "CONFIG_A=y\nwhat" };
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_symbols_ struct build_symbols s = BUILD_SYMBOLS_INIT;

		e = (struct err)ERR_INIT;
		assert_int_equal(build_symbols_parse("f.config", bad[i], strlen(bad[i]), &s, &e),
				 -1);
		assert_int_equal(e.code, ERR_CONFIG);
		assert_non_null(strstr(e.msg, i == 4 ? "f.config:2: 'what'" : "f.config:1: "));
	}
}

static void merging_keeps_the_base_and_writes_fragments_in_their_order(void **state)
{
	_cleanup_symbols_ struct build_symbols s = BUILD_SYMBOLS_INIT;
	_cleanup_str_ struct str out = STR_INIT;

	(void)state;
	parse("CONFIG_Z=y\nCONFIG_B=n\nCONFIG_A=7\n", &s);
	build_symbols_settle(&s);
	build_symbols_by_position(&s);
	build_config_merge("# head\nCONFIG_A=y\nCONFIG_AA=y\n# CONFIG_Z is not set\n", &s, &out);
	assert_string_equal(str_text(&out), "# head\nCONFIG_AA=y\nCONFIG_Z=y\n"
					    "# CONFIG_B is not set\nCONFIG_A=7\n");
}

static void missing_options_are_told_from_optional_ones(void **state)
{
	static const char final[] = "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_H=0x0010\n"
				    "CONFIG_S=\"x\"\nCONFIG_M=m\n";
	_cleanup_symbols_ struct build_symbols s = BUILD_SYMBOLS_INIT;
	_cleanup_str_ struct str missing = STR_INIT;
	_cleanup_strv_ struct strv dropped = STRV_INIT;

	(void)state;
	parse("CONFIG_A=y\nCONFIG_B=y\n# optional\nCONFIG_C=y\n# CONFIG_D is not set\n"
	      "CONFIG_H=0x10\nCONFIG_S=\"y\"\n# optional\n\nCONFIG_M=y\n# optional\n"
	      "# CONFIG_A is not set\n# optional\nCONFIG_A=y\n",
	      &s);
	build_symbols_settle(&s);
	build_symbols_by_position(&s);
	build_config_check(final, strlen(final), &s, &missing, &dropped);
	assert_string_equal(str_text(&missing), "CONFIG_B=y (is n), CONFIG_S=\"y\" (is \"x\"), "
						"CONFIG_M=y (is m)");
	assert_int_equal(dropped.n, 1);
	assert_string_equal(dropped.v[0], "CONFIG_C=y");
}

static void a_difference_ignores_order_release_and_absent_options(void **state)
{
	_cleanup_strv_ struct strv d = STRV_INIT;
	struct err e = ERR_INIT;

	(void)state;
	write_file("a", "# Linux 6.1\nCONFIG_A=y\nCONFIG_B=m\nCONFIG_LOCALVERSION=\"-a\"\n"
			"# CONFIG_OFF is not set\n# CONFIG_ON is not set\nCONFIG_GONE=3\n");
	write_file("b", "# Linux 6.2\nCONFIG_ON=y\nCONFIG_LOCALVERSION=\"-b\"\nCONFIG_B=y\n"
			"CONFIG_A=y\nCONFIG_NEW=\"v\"\n# CONFIG_NEWOFF is not set\n");
	_cleanup_free_ char *a = fs_join(fx_top, "a");
	_cleanup_free_ char *b = fs_join(fx_top, "b");

	assert_int_equal(build_config_diff(a, b, &d, &e), 0);
	_cleanup_str_ struct str text = STR_INIT;

	for (size_t i = 0; i < d.n; i++)
		str_addf(&text, "%s ", d.v[i]);
	assert_string_equal(str_text(&text), "-CONFIG_B=m +CONFIG_B=y -CONFIG_GONE=3 "
					     "+CONFIG_NEW=\"v\" -CONFIG_ON=n +CONFIG_ON=y ");
	assert_int_equal(build_config_diff(a, "/nonexistent", &d, &e), -1);
}

static void the_first_real_error_is_found(void **state)
{
	static const struct {
		const char *log, *error;
	} cases[] = {
		{ "make: Entering directory '/c/slots/1/src'\n  CC      mm/a.o\n"
		  "make[2]: *** [x.mk:3: other.o] Error 1\n"
		  "/c/slots/1/src/mm/a.c: In function 'f':\n"
		  "/c/slots/1/src/mm/a.c:3:9: error: 'x' undeclared (first use in this function)\n"
		  "    3 |  return x; // foo: error: not this\n"
		  "/c/slots/1/src/mm/b.c:1:1: error: second\n",
		  "mm/a.c:3:9: error: 'x' undeclared (first use in this function)" },
		{ "a.c:1:1: warning: here no\n  ld: x: error: shown code\n", "" },
		{ "ld: mm/a.o: in function `f':\na.c:(.text+0x1): undefined reference to `g'\n"
		  "make: *** [Makefile:1: vmlinux] Error 1\n",
		  "a.c:(.text+0x1): undefined reference to `g'" },
		{ "init/Kconfig:12: syntax error\ninit/Kconfig:12: invalid statement\n"
		  "make[1]: *** [scripts/kconfig/Makefile:85: olddefconfig] Error 1\n",
		  "init/Kconfig:12: syntax error" },
		{ "arch/x86/Kconfig:5:error: recursive dependency detected!\n",
		  "arch/x86/Kconfig:5:error: recursive dependency detected!" },
		{ "make[1]: *** No rule to make target 'mm/a.o', needed by 'mm/built-in.a'.  "
		  "Stop.\n"
		  "make: *** [Makefile:224: __sub-make] Error 2\n",
		  "make[1]: *** No rule to make target 'mm/a.o', needed by 'mm/built-in.a'.  "
		  "Stop." },
		{ "vmlinux.o: error: objtool: f(): unreachable\nmake: *** [M:1: x] Error 255\n",
		  "vmlinux.o: error: objtool: f(): unreachable" },
		{ "ERROR: modpost: \"f\" [a.ko] undefined!\nmake: *** [M:1: m] Error 1\n",
		  "ERROR: modpost: \"f\" [a.ko] undefined!" },
		{ "a.S: Assembler messages:\na.S:3: Error: no such instruction: `foo'\n",
		  "a.S:3: Error: no such instruction: `foo'" },
		{ "make: *** [Makefile:9: all] Error 7\n", "make: *** [Makefile:9: all] Error 7" },
		{ "fine\n", "" },
		{ "a.c:1:1: error: \033[31mred\r\n", "a.c:1:1: error: \\x1b[31mred" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char buf[256];

		build_first_error(cases[i].log, strlen(cases[i].log), buf, sizeof(buf));
		assert_string_equal(buf, cases[i].error);
	}
}

static void a_long_error_is_cut_between_characters(void **state)
{
	static const char log[] = "a.c:1:1: error: \xc3\xa4\xc3\xa4\xc3\xa4\n";
	char buf[20];

	(void)state;
	build_first_error(log, sizeof(log) - 1, buf, sizeof(buf));
	assert_string_equal(buf, "a.c:1:1: error: \xc3\xa4");
}

static enum build_fault fault_of(const char *log)
{
	const char *tool, *package;

	return build_log_fault(log, strlen(log), &tool, &package);
}

static void our_failures_are_told_from_the_commits(void **state)
{
	(void)state;
	assert_int_equal(fault_of("a.c:1:1: error: x\n"), BUILD_FAULT_COMMIT);
	assert_int_equal(fault_of("ld: final link failed: No space left on device\n"),
			 BUILD_FAULT_DISK);
	assert_int_equal(fault_of("/tmp/cc1.s: Fatal error: can't write 3 bytes to section .text "
				  "of a.o: 'No space left on device'\n"),
			 BUILD_FAULT_DISK);
	assert_int_equal(fault_of("   12 | e(\"x: No space left on device\n"), BUILD_FAULT_COMMIT);
	assert_int_equal(fault_of("a.c:1:2: error: #error x: No space left on device\n"),
			 BUILD_FAULT_COMMIT);
	assert_int_equal(fault_of("gcc: fatal error: Killed signal terminated program cc1\n"),
			 BUILD_FAULT_MEMORY);
	assert_int_equal(fault_of("make[3]: *** [x.mk:1: a.o] Error 137\n"), BUILD_FAULT_MEMORY);
	assert_int_equal(fault_of("a.c:1:1: internal compiler error: Segmentation fault\n"),
			 BUILD_FAULT_CRASH);
	assert_int_equal(fault_of("ccache: error: Failed to create directory /x: Permission "
				  "denied\n"),
			 BUILD_FAULT_CCACHE);
	assert_int_equal(fault_of("a.c:1:1: internal compiler error: in f, at b.cc:3\n"),
			 BUILD_FAULT_COMMIT);
}

static void a_missing_tool_is_ours_but_a_wrong_call_is_the_commits(void **state)
{
	static const char log[] = "/bin/sh: 1: flex: not found\nmake: *** [M:1: x] Error 127\n";
	static const char plugin_log[] = "a.h:1:10: fatal error: gcc-plugin.h: No such file or "
					 "directory\ncompilation terminated.\n";
	const char *tool = NULL, *package = NULL;
	_cleanup_free_ char *path = xstrdup(getenv("PATH"));
	_cleanup_free_ char *bin = fs_join(fx_top, "bin");

	(void)state;
	shell("mkdir bin");
	setenv("PATH", bin, 1);
	enum build_fault absent = build_log_fault(log, strlen(log), &tool, &package);
	enum build_fault script = fault_of("/bin/sh: 1: scripts/new.sh: not found\n");

	write_file("bin/flex", "#!/bin/sh\n");
	chmod(bin, 0755);
	_cleanup_free_ char *flex = fs_join(bin, "flex");

	chmod(flex, 0755);
	enum build_fault present = fault_of(log);
	/* this header is nowhere, stdio.h is here: kernel code may not include it */
	enum build_fault plugin = build_log_fault(plugin_log, strlen(plugin_log), &tool, &package);
	enum build_fault stdio = fault_of("a.c:1:10: fatal error: stdio.h: No such file or "
					  "directory\n");

	setenv("PATH", path, 1);
	assert_int_equal(absent, BUILD_FAULT_TOOL);
	assert_int_equal(script, BUILD_FAULT_COMMIT);
	assert_int_equal(present, BUILD_FAULT_COMMIT);
	assert_int_equal(plugin, BUILD_FAULT_TOOL);
	assert_string_equal(package, "gcc-12-plugin-dev");
	assert_int_equal(stdio, BUILD_FAULT_COMMIT);
}

static void the_build_id_is_what_readelf_says(void **state)
{
	static const char *const flags[] = { "-m64", "-Wl,--build-id=md5",
					     "-static-pie -nostdlib" };
	char hex[HASH_HEX_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		_cleanup_free_ char *says =
			sh("echo 'int main(void){return %zu;}' >t.c; gcc -nostdlib -Wl,-e,main "
			   "-Wl,--build-id=sha1 %s t.c -o t; readelf -n t | "
			   "sed -n 's/.*Build ID: //p'",
			   i, flags[i]);
		_cleanup_free_ char *elf = fs_join(fx_top, "t");

		build_elf_id(elf, hex);
		assert_true(strlen(says) >= 32);
		assert_string_equal(hex, says);
	}
	shell("gcc -nostdlib -Wl,-e,main -Wl,--build-id=none t.c -o t");
	_cleanup_free_ char *elf = fs_join(fx_top, "t");

	build_elf_id(elf, hex);
	assert_string_equal(hex, "");
}

static void a_damaged_elf_file_gives_no_build_id_and_no_crash(void **state)
{
	char hex[HASH_HEX_SIZE];

	(void)state;
	shell("echo 'int main(void){return 0;}' >t.c; gcc -nostdlib -Wl,-e,main t.c -o t");
	_cleanup_free_ char *elf = fs_join(fx_top, "t");
	_cleanup_str_ struct str whole = STR_INIT;

	assert_int_equal(fs_read(elf, 1 << 20, &whole, NULL), 0);
	for (size_t i = 0; i < 4096; i++) {
		_cleanup_free_ char *bad = xcalloc(1, whole.len);
		size_t cut = i < 128 ? i : whole.len;

		memcpy(bad, whole.buf, whole.len);
		for (size_t k = 0; k < 4; k++)
			bad[(i * 2654435761u + k * 40503u) % (k < 2 ? 512 : whole.len)] =
				(char)(i * 37 + k * 91);
		int fd = open(elf, O_WRONLY | O_TRUNC);

		assert_int_equal(write(fd, bad, cut), (ssize_t)cut);
		close(fd);
		build_elf_id(elf, hex);
		assert_true(strspn(hex, "0123456789abcdef") == strlen(hex));
	}
	build_elf_id("/nonexistent", hex);
	assert_string_equal(hex, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_later_line_overrides_an_earlier_one),
		cmocka_unit_test(a_fragment_line_that_is_no_option_is_an_error_with_its_place),
		cmocka_unit_test(merging_keeps_the_base_and_writes_fragments_in_their_order),
		cmocka_unit_test(missing_options_are_told_from_optional_ones),
		cmocka_unit_test_setup_teardown(
			a_difference_ignores_order_release_and_absent_options, fx_setup,
			fx_teardown),
		cmocka_unit_test(the_first_real_error_is_found),
		cmocka_unit_test(a_long_error_is_cut_between_characters),
		cmocka_unit_test(our_failures_are_told_from_the_commits),
		cmocka_unit_test_setup_teardown(
			a_missing_tool_is_ours_but_a_wrong_call_is_the_commits, fx_setup,
			fx_teardown),
		cmocka_unit_test_setup_teardown(the_build_id_is_what_readelf_says, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(a_damaged_elf_file_gives_no_build_id_and_no_crash,
						fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
