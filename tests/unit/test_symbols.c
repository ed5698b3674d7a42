/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions by address: against nm(1), and files that are damaged in every byte of their tables. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fs.h"
#include "base/proc.h"
#include "io/symbols.h"

static char dir[] = "/tmp/kregress-symbols-XXXXXX";
static char *program; /* small, made of one function of ours and what the compiler adds */

static void run(const char *const *argv, struct str *out)
{
	struct proc_opts o = { .argv = (char *const *)(uintptr_t)argv,
			       .out = out,
			       .max_output = 1 << 24 };
	struct proc_result r;
	struct err e = ERR_INIT;

	if (proc_run(&o, &r, &e) < 0 || r.end != PROC_EXITED || r.status != 0)
		fail_msg("%s: %s", argv[0], e.msg);
}

static int set_up(void **state)
{
	static const char text[] = "int alpha(int x) { return x * 3; }\n"
				   "static int beta(int x) { return x ? alpha(x) : 7; }\n"
				   "int main(int c, char **v) { (void)v; return beta(c); }\n";
	_cleanup_free_ char *source = NULL;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	source = fs_join(dir, "p.c");
	program = fs_join(dir, "p");
	if (fs_write(source, text, sizeof(text) - 1, NULL) < 0)
		return -1;
	run((const char *const[]){ "cc", "-O0", "-no-pie", "-w", "-o", program, source, NULL },
	    NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(program);
	return fs_remove_tree(dir, NULL);
}

/* Each function that nm lists, at its first byte and at its last. */
static void functions_are_those_of_nm(void **state)
{
	_cleanup_(symbols_release) struct symbols s = { .v = NULL };
	_cleanup_str_ struct str out = STR_INIT;
	struct err e = ERR_INIT;
	char *save = NULL;
	int seen = 0;

	(void)state;
	if (symbols_load(program, &s, &e) < 0)
		fail_msg("%s", e.msg);
	run((const char *const[]){ "nm", "-S", program, NULL }, &out);
	for (char *l = strtok_r(out.buf, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		unsigned long address, size;
		char type, name[100];

		if (sscanf(l, "%lx %lx %c %99s", &address, &size, &type, name) != 4 ||
		    (type != 't' && type != 'T'))
			continue;
		assert_string_equal(symbols_find(&s, address), name);
		assert_string_equal(symbols_find(&s, address + size - 1), name);
		seen += !strcmp(name, "alpha") || !strcmp(name, "beta") || !strcmp(name, "main");
	}
	assert_int_equal(seen, 3);
	assert_string_equal(symbols_find(&s, 1), SYMBOLS_USER);
	assert_string_equal(symbols_find(&s, UINT64_MAX), SYMBOLS_UNKNOWN);
}

static void what_has_no_symbols_says_so(void **state)
{
	_cleanup_free_ char *bare = fs_join(dir, "bare"), *text = fs_join(dir, "p.c");
	_cleanup_free_ char *none = fs_join(dir, "none");
	struct symbols s = { .v = NULL };
	struct err e = ERR_INIT;

	(void)state;
	run((const char *const[]){ "strip", "-o", bare, program, NULL }, NULL);
	assert_int_equal(symbols_load(bare, &s, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_int_equal(symbols_load(text, &s, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_int_equal(symbols_load(none, &s, &e), -1);
	assert_int_equal(e.code, ERR_NOT_FOUND);
	assert_string_equal(symbols_find(&s, 4711), SYMBOLS_UNKNOWN);
}

/* Whatever the damage: an error, or names that end inside the table. */
static void damaged_tables_are_refused_or_read_within_bounds(void **state)
{
	_cleanup_str_ struct str file = STR_INIT;
	_cleanup_free_ char *path = fs_join(dir, "damaged");
	static const unsigned char bad[] = { 0x00, 0xff, 0x7f, 0x80 };
	Elf64_Ehdr h;
	struct err e = ERR_INIT;
	size_t table, n = 0;

	(void)state;
	assert_int_equal(fs_read(program, 1 << 20, &file, &e), 0);
	memcpy(&h, file.buf, sizeof(h));
	table = (size_t)h.e_shoff;
	for (size_t at = 0; at < file.len; at += at < 64 || at >= table ? 1 : table - at)
		for (size_t i = 0; i < sizeof(bad); i++) {
			_cleanup_(symbols_release) struct symbols s = { .v = NULL };
			char kept = file.buf[at];
			FILE *f = fopen(path, "w");

			file.buf[at] = (char)bad[i];
			assert_int_equal(fwrite(file.buf, 1, file.len, f), file.len);
			fclose(f);
			file.buf[at] = kept;
			if (symbols_load(path, &s, &e) == 0)
				for (size_t k = 0; k < s.n; k++)
					n += strlen(symbols_find(&s, s.v[k].address));
		}
	assert_true(n > 0);
	/* Cut off anywhere. */
	for (size_t len = 0; len < file.len; len += 97) {
		_cleanup_(symbols_release) struct symbols s = { .v = NULL };
		FILE *f = fopen(path, "w");

		assert_int_equal(fwrite(file.buf, 1, len, f), len);
		fclose(f);
		assert_int_equal(symbols_load(path, &s, &e), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_those_of_nm),
		cmocka_unit_test(what_has_no_symbols_says_so),
		cmocka_unit_test(damaged_tables_are_refused_or_read_within_bounds),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
