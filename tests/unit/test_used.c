/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What .cmd files name, the set as a file, and which changes cannot matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fs.h"
#include "io/used.h"

/* As 6.12 writes them, shortened. */
static const char fork_cmd[] =
	"savedcmd_kernel/fork.o := gcc -Wp,-MMD,kernel/.fork.o.d -nostdinc "
	"-I/s/src/arch/x86/include -I./include -include /s/src/include/linux/kconfig.h "
	"-fmacro-prefix-map=/s/src/= -c -o kernel/fork.o /s/src/kernel/fork.c ; ./tools/objtool\n\n"
	"source_kernel/fork.o := /s/src/kernel/fork.c\n\n"
	"deps_kernel/fork.o := \\\n"
	"    $(wildcard include/config/MMU) \\\n"
	"  /s/src/include/linux/slab.h \\\n"
	"  /s/src/include/dt-bindings/clock/actions,s700-cmu.h \\\n"
	"  /s/src/arch/x86/boot/compressed/../string.c \\\n"
	"  /s/src/arch/x86//realmode/./rm/bioscall.S \\\n"
	"  /s/src/../elsewhere.h \\\n"
	"  /s/src2/not/ours.h \\\n"
	"  include/generated/autoconf.h \\\n\n"
	"kernel/fork.o: $(deps_kernel/fork.o)\n";

static void assert_has(const struct used *u, const char *const *paths)
{
	for (; *paths; paths++)
		if (!used_has(u, *paths))
			fail_msg("'%s' is not in the set", *paths);
}

static void sources_and_headers_of_a_cmd_file_are_found(void **state)
{
	static const char *const want[] = { "kernel/fork.c",
					    "include/linux/kconfig.h",
					    "include/linux/slab.h",
					    "include/dt-bindings/clock/actions,s700-cmu.h",
					    "arch/x86/boot/string.c",
					    "arch/x86/realmode/rm/bioscall.S",
					    NULL };
	struct used *u = used_new();

	(void)state;
	used_scan(u, "/s/src", fork_cmd, strlen(fork_cmd));
	assert_has(u, want);
	/* and the folder of -I */
	assert_int_equal(used_count(u), 7);
	assert_false(used_has(u, "elsewhere.h"));
	assert_false(used_has(u, "not/ours.h"));
	used_free(u);
}

static void tables_on_the_command_line_are_found(void **state)
{
	static const char text[] = "cmd_arch/x86/include/generated/asm/syscalls_64.h := sh "
				   "/s/src/scripts/syscalltbl.sh "
				   "--abis 64 /s/src/arch/x86/entry/syscalls/syscall_64.tbl out.h; "
				   "awk -f '/s/src/arch/x86/tools/gen.awk' (/s/src/a.tbl)\n";
	static const char *const want[] = { "arch/x86/entry/syscalls/syscall_64.tbl",
					    "arch/x86/tools/gen.awk", "a.tbl",
					    "scripts/syscalltbl.sh", NULL };
	struct used *u = used_new();

	(void)state;
	used_scan(u, "/s/src", text, strlen(text));
	assert_has(u, want);
	used_free(u);
}

static void a_set_comes_back_from_its_file_and_damage_is_noticed(void **state)
{
	struct used *u = used_new(), *back = used_new();
	_cleanup_str_ struct str text = STR_INIT;
	char a[HASH_HEX_SIZE], b[HASH_HEX_SIZE];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		_cleanup_free_ char *line = xasprintf("/s/src/d%d/f%d.c ", i % 7, i);

		used_scan(u, "/s/src", line, strlen(line));
		used_scan(u, "/s/src", line, strlen(line));
	}
	assert_int_equal(used_count(u), 5000);
	used_format(u, &text);
	assert_true(used_parse(back, text.buf, text.len));
	assert_int_equal(used_count(back), 5000);
	assert_true(used_has(back, "d0/f0.c") && used_has(back, "d1/f4999.c"));
	used_digest(u, a);
	used_digest(back, b);
	assert_string_equal(a, b);
	for (size_t at = 0; at < text.len; at += text.len / 50) {
		struct used *bad = used_new();

		assert_false(used_parse(bad, text.buf, at));
		text.buf[at] ^= 1;
		assert_false(used_parse(bad, text.buf, text.len));
		text.buf[at] ^= 1;
		used_free(bad);
	}
	used_free(back);
	used_free(u);
}

static char tmp[] = "/tmp/kregress-used-XXXXXX";

static void put(const char *name, const char *text)
{
	_cleanup_free_ char *path = fs_join(tmp, name), *folder = fs_dirname(path);

	assert_int_equal(fs_mkdirs(folder, NULL), 0);
	assert_int_equal(fs_write(path, text, strlen(text), NULL), 0);
}

static int scan(struct used *u)
{
	struct err e = ERR_INIT;
	int ret = used_scan_tree(u, "/s/src", tmp, &e);

	if (ret < 0)
		fail_msg("%s", e.msg);
	return ret;
}

static void a_build_folder_is_read_whole_or_not_believed(void **state)
{
	_cleanup_free_ char *link = fs_join(tmp, "loop"), *fifo = fs_join(tmp, ".pipe.cmd");
	struct used *u = used_new(), *v = used_new(), *w = used_new();

	(void)state;
	put("kernel/.fork.o.cmd", fork_cmd);
	put("kernel/fork.cmd", "/s/src/no/such.c");
	assert_int_equal(scan(u), 0); /* no kernel without init/main.c */
	put("init/.main.o.cmd", "source_init/main.o := /s/src/init/main.c\n");
	assert_int_equal(symlink(tmp, link), 0);
	assert_int_equal(scan(v), 1);
	assert_true(used_has(v, "kernel/fork.c") && used_has(v, "init/main.c"));
	assert_false(used_has(v, "no/such.c"));
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(scan(w), 0);
	used_free(u);
	used_free(v);
	used_free(w);
}

struct rule {
	const char *path;
	enum repo_change change;
	bool idle;
};

static void only_code_that_is_not_built_and_documentation_is_idle(void **state)
{
	static const struct rule rules[] = {
		{ "drivers/gpu/drm/i915/i915_gem.c", REPO_MODIFIED, true },
		{ "drivers/gpu/drm/i915/i915_gem.h", REPO_MODIFIED, true },
		{ "arch/arm64/kernel/entry.S", REPO_MODIFIED, true },
		{ "arch/arm/boot/dts/a.dtsi", REPO_MODIFIED, true },
		{ "Documentation/admin-guide/mm/index.rst", REPO_MODIFIED, true },
		{ "Documentation/devicetree/bindings/a.yaml", REPO_MODIFIED, true },
		{ "MAINTAINERS", REPO_MODIFIED, true },
		{ "LICENSES/preferred/GPL-2.0", REPO_MODIFIED, true },
		/* what is built */
		{ "mm/memory.c", REPO_MODIFIED, false },
		{ "mm/internal.h", REPO_MODIFIED, false },
		/* new, gone, renamed */
		{ "drivers/gpu/drm/i915/new.c", REPO_ADDED, false },
		{ "drivers/gpu/drm/i915/old.c", REPO_DELETED, false },
		{ "Documentation/new.rst", REPO_ADDED, false },
		/* headers for anybody */
		{ "include/linux/mtd/nand.h", REPO_MODIFIED, false },
		{ "arch/arm/include/asm/page.h", REPO_MODIFIED, false },
		/* what decides what is built */
		{ "drivers/gpu/Kconfig", REPO_MODIFIED, false },
		{ "lib/Kconfig.debug", REPO_MODIFIED, false },
		{ "Documentation/Kconfig", REPO_MODIFIED, false },
		{ "drivers/gpu/Makefile", REPO_MODIFIED, false },
		{ "arch/x86/Makefile_32.cpu", REPO_MODIFIED, false },
		{ "Kbuild", REPO_MODIFIED, false },
		{ "include/Kbuild", REPO_MODIFIED, false },
		{ "scripts/mod/modpost.c", REPO_MODIFIED, false },
		{ "tools/objtool/check.c", REPO_MODIFIED, false },
		/* of kinds that we do not know */
		{ "arch/x86/entry/syscalls/syscall_64.tbl", REPO_MODIFIED, false },
		{ "arch/x86/lib/x86-opcode-map.txt", REPO_MODIFIED, false },
		{ "arch/x86/configs/x86_64_defconfig", REPO_MODIFIED, false },
		{ "rust/kernel/lib.rs", REPO_MODIFIED, false },
		{ "scripts.c", REPO_MODIFIED, true },
		{ "drivers/Makefiles.c", REPO_MODIFIED, false },
	};
	static const char text[] = "/s/src/mm/memory.c /s/src/mm/internal.h ";
	struct used *u = used_new();

	(void)state;
	used_scan(u, "/s/src", text, strlen(text));
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (used_is_idle(u, rules[i].path, rules[i].change) != rules[i].idle)
			fail_msg("'%s' is%s idle", rules[i].path, rules[i].idle ? " not" : "");
	used_free(u);
}

static int make_tmp(void **state)
{
	(void)state;
	return mkdtemp(tmp) ? 0 : -1;
}

static int drop_tmp(void **state)
{
	(void)state;
	return fs_remove_tree(tmp, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_and_headers_of_a_cmd_file_are_found),
		cmocka_unit_test(tables_on_the_command_line_are_found),
		cmocka_unit_test(a_set_comes_back_from_its_file_and_damage_is_noticed),
		cmocka_unit_test(a_build_folder_is_read_whole_or_not_believed),
		cmocka_unit_test(only_code_that_is_not_built_and_documentation_is_idle),
	};

	return cmocka_run_group_tests(tests, make_tmp, drop_tmp);
}
