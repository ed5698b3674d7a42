/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INI files: what is read, and every trap of libinih (FACTS.md 6) as a mistake with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fs.h"
#include "io/inifile.h"

static void check_text(const char *text, size_t n, const char *key, const char *value)
{
	struct inifile f;
	struct err e = ERR_INIT;

	if (inifile_parse("t.ini", text, n, &f, &e) < 0)
		fail_msg("refused: %s", e.msg);
	for (size_t i = 0; i < f.n; i++) {
		if (str_eq(f.entry[i].key, key)) {
			assert_string_equal(f.entry[i].value, value);
			inifile_release(&f);
			return;
		}
	}
	fail_msg("key '%s' is not there", key);
}

static void check_value(const char *text, const char *key, const char *value)
{
	check_text(text, strlen(text), key, value);
}

/* The whole message must be @message. */
static void check_refused_bytes(const char *text, size_t n, const char *message)
{
	struct inifile f = { .path = NULL };
	struct err e = ERR_INIT;

	assert_int_equal(inifile_parse("t.ini", text, n, &f, &e), -1);
	assert_string_equal(e.msg, message);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_null(f.path);
}

static void check_refused(const char *text, const char *message)
{
	check_refused_bytes(text, strlen(text), message);
}

static void keys_have_sections_values_and_lines(void **state)
{
	static const char text[] = "# first\n[one]\na = 1\n\n  ; second\nb=two words\n[two]\n"
				   "a   =   x = y   \nempty =\n";
	struct inifile f;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(inifile_parse("t.ini", text, strlen(text), &f, &e), 0);
	assert_int_equal(f.n, 4);
	assert_string_equal(f.entry[0].section, "one");
	assert_string_equal(f.entry[0].key, "a");
	assert_string_equal(f.entry[0].value, "1");
	assert_int_equal(f.entry[0].line, 3);
	assert_string_equal(f.entry[1].value, "two words");
	assert_int_equal(f.entry[1].line, 6);
	assert_string_equal(f.entry[2].section, "two");
	assert_string_equal(f.entry[2].value, "x = y");
	assert_int_equal(f.entry[2].line, 8);
	assert_string_equal(f.entry[3].value, "");
	assert_int_equal(f.n_sections, 2);
	assert_string_equal(f.section[1], "two");
	assert_int_equal(f.section_line[1], 7);
	inifile_release(&f);
}

static void an_empty_section_is_listed(void **state)
{
	struct inifile f;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(inifile_parse("t.ini", "[a]\n[b]", 7, &f, &e), 0);
	assert_int_equal(f.n_sections, 2);
	assert_int_equal(f.section_line[1], 2);
	inifile_release(&f);
}

static void an_empty_file_has_nothing(void **state)
{
	struct inifile f;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(inifile_parse("t.ini", "", 0, &f, &e), 0);
	assert_int_equal(f.n, 0);
	assert_int_equal(f.n_sections, 0);
	inifile_release(&f);
}

static void hash_and_semicolon_inside_a_value_are_text(void **state)
{
	(void)state;
	check_value("[a]\nk = v ; w # x\n", "k", "v ; w # x");
	check_value("[a]\nk = ;v\n", "k", ";v");
	check_value("[a]\nk = #v\n", "k", "#v");
}

static void a_value_goes_on_in_indented_lines(void **state)
{
	(void)state;
	check_value("[a]\nk = one\n\ttwo\n   three a=b\nl = x\n", "k", "one\ntwo\nthree a=b");
	check_value("[a]\nk =\n  one\n", "k", "\none");
}

static void comments_may_stand_between_continuation_lines(void **state)
{
	(void)state;
	check_value("[a]\nk = one\n# no\n  two\n  ; neither\n\n  three\n", "k", "one\ntwo\nthree");
}

static void the_line_of_a_key_counts_comments_and_continuations(void **state)
{
	static const char text[] = "[a]\nk = 1\n  2\n# c\n  3\n\nlast = x\n";
	struct inifile f;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(inifile_parse("t.ini", text, strlen(text), &f, &e), 0);
	assert_int_equal(f.entry[0].line, 2);
	assert_int_equal(f.entry[1].line, 7);
	inifile_release(&f);
}

static void a_line_of_5000_bytes_is_one_value(void **state)
{
	char text[5100] = "[a]\nk = ", value[5001];

	(void)state;
	memset(value, 'x', 5000);
	value[2500] = '=';
	value[5000] = '\0';
	strcat(text, value);
	strcat(text, "\nl = 1\n");
	check_value(text, "k", value);
	check_value(text, "l", "1");
}

static void a_long_key_is_whole_and_can_be_continued(void **state)
{
	static const char key[] = "/sys/kernel/mm/transparent_hugepage/khugepaged/pages_to_scan";
	char text[200];

	(void)state;
	snprintf(text, sizeof(text), "[setup]\n%s = 1\n  2\n", key);
	check_value(text, key, "1\n2");
}

static void a_colon_is_part_of_a_key_or_value(void **state)
{
	(void)state;
	check_value("[s]\n/sys/bus/0000:00:1f.2/x = a:b\n", "/sys/bus/0000:00:1f.2/x", "a:b");
	check_refused("[s]\nkey: value\n", "t.ini:2: no '=' in 'key: value' (write key = value)");
}

static void crlf_and_the_mark_of_utf8_are_accepted(void **state)
{
	(void)state;
	check_value("\xef\xbb\xbf[a]\r\nk = v\r\n  w\r\nl = \xc3\xa9\r\n", "k", "v\nw");
	check_value("\xef\xbb\xbf[a]\r\nk = v\r\nl = \xc3\xa9\r\n", "l", "\xc3\xa9");
}

static void a_file_without_a_last_newline_is_whole(void **state)
{
	(void)state;
	check_value("[a]\nk = v", "k", "v");
}

static void utf16_is_refused(void **state)
{
	(void)state;
	check_refused_bytes("\xff\xfe[\0a\0]\0", 8, "t.ini:1: UTF-16 text (save it as UTF-8)");
	check_refused_bytes("\xfe\xff\0[\0a\0]", 8, "t.ini:1: UTF-16 text (save it as UTF-8)");
	check_refused_bytes("[\0a\0]\0\n", 7,
			    "t.ini:1: NUL byte in column 2 (save the file as UTF-8 text)");
}

static void a_nul_is_refused(void **state)
{
	(void)state;
	check_refused_bytes("[a]\nk = v\0w\n", 12,
			    "t.ini:2: NUL byte in column 6 (save the file as UTF-8 text)");
}

static void control_bytes_are_refused(void **state)
{
	(void)state;
	check_refused("[a]\nk = \x1b[31m\n", "t.ini:2: control byte 0x1b in column 5 (remove it)");
	check_refused("[a]\nk = a\rb\n", "t.ini:2: control byte 0x0d in column 6 (remove it)");
	check_refused("[a]\nk = \x7f\n", "t.ini:2: control byte 0x7f in column 5 (remove it)");
	check_value("[a]\nk = a\tb\n", "k", "a\tb");
}

static void a_section_name_of_60_characters_is_refused_and_not_cut(void **state)
{
	(void)state;
	check_refused(
		"[aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff]\nk = v\n",
		"t.ini:1: section name longer than 49 bytes "
		"'[aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefffffffff...' (shorten it)");
	check_value("[aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeee]\nk = v\n", "k", "v");
}

static void headers_are_checked(void **state)
{
	(void)state;
	check_refused("[a\nk = v\n", "t.ini:1: section header without ']' '[a' (write [name])");
	check_refused("[]\nk = v\n", "t.ini:1: section header without a name '[]' (write [name])");
	check_refused("[a] x\n", "t.ini:1: text after a section header '[a] x' (comments and keys "
				 "stand on lines of their own)");
	check_refused("[a]\n[b]\n[a]\n",
		      "t.ini:3: section [a] appears twice (first in line 1: join them)");
}

static void keys_are_checked(void **state)
{
	(void)state;
	check_refused("[a]\njust text\n", "t.ini:2: no '=' in 'just text' (write key = value)");
	check_refused("[a]\n= v\n", "t.ini:2: no key before '=' in '= v' (write key = value)");
	check_refused("k = v\n", "t.ini:1: key before any section: 'k = v' (put a header such as "
				 "[campaign] above it)");
	check_refused("[a]\nk = v\n\nk = w\n",
		      "t.ini:4: duplicate key 'k' in [a] (first in line 2: remove one)");
}

static void the_same_key_in_two_sections_is_fine(void **state)
{
	(void)state;
	check_value("[a]\nk = v\n[b]\nk = v\n", "k", "v");
}

static void an_indented_key_or_section_does_not_vanish_in_the_value_above(void **state)
{
	(void)state;
	check_refused(
		"[a]\nk = v\n  l = w\n",
		"t.ini:3: indented line that looks like a key or a section 'l = w' (start it in "
		"the first column, or join it to the line above)");
	check_refused(
		"[a]\nk = v\n\tl =w\n",
		"t.ini:3: indented line that looks like a key or a section 'l =w' (start it in "
		"the first column, or join it to the line above)");
	check_refused(
		"[a]\nk = v\n [b]\n",
		"t.ini:3: indented line that looks like a key or a section '[b]' (start it in "
		"the first column, or join it to the line above)");
	check_refused(
		"[a]\n  k = v\n",
		"t.ini:2: indented line that continues nothing 'k = v' (keys and sections start "
		"in the first column)");
	check_refused("  [a]\n", "t.ini:1: indented line that continues nothing '[a]' (keys and "
				 "sections start in the first column)");
	check_value("[a]\nk = v\n  [ -e x ]\n", "k", "v\n[ -e x ]");
}

static void all_mistakes_are_reported_in_order(void **state)
{
	(void)state;
	check_refused("[a]\nfirst\nk = v\nk = w\n= x\n",
		      "t.ini:2: no '=' in 'first' (write key = value)\n"
		      "t.ini:4: duplicate key 'k' in [a] (first in line 3: remove one)\n"
		      "t.ini:5: no key before '=' in '= x' (write key = value)");
}

static void what_follows_a_bad_line_is_no_mistake_of_its_own(void **state)
{
	(void)state;
	check_refused("[a]\nbad\n  goes on\n", "t.ini:2: no '=' in 'bad' (write key = value)");
	check_refused("[a\nk = v\n  w\nk = v\n",
		      "t.ini:1: section header without ']' '[a' (write [name])");
}

static void more_mistakes_than_fit_are_counted(void **state)
{
	_cleanup_str_ struct str text = STR_INIT;
	struct inifile f;
	struct err e = ERR_INIT;
	const char *last;

	(void)state;
	str_add(&text, "[a]\n");
	for (int i = 0; i < 30; i++)
		str_add(&text, "nonsense\n");
	assert_int_equal(inifile_parse("t.ini", text.buf, text.len, &f, &e), -1);
	/* 48 bytes each: nine fit beside the last line into 511 */
	assert_non_null(strstr(e.msg, "t.ini:10: no '=' in 'nonsense' (write key = value)\n"));
	last = strrchr(e.msg, '\n');
	assert_string_equal(last + 1, "and 21 more mistakes");
}

static void untrusted_text_in_a_message_is_neutralised(void **state)
{
	(void)state;
	check_refused("[a]\n\xff\xc2\x9b\n",
		      "t.ini:2: no '=' in '\\xff\\xc2\\x9b' (write key = value)");
}

static void many_keys_are_refused(void **state)
{
	_cleanup_str_ struct str text = STR_INIT;
	struct inifile f;
	struct err e = ERR_INIT;

	(void)state;
	str_add(&text, "[a]\n");
	for (int i = 0; i < 5000; i++)
		str_addf(&text, "k%d = v\n", i);
	assert_int_equal(inifile_parse("t.ini", text.buf, text.len, &f, &e), -1);
	assert_string_equal(e.msg, "t.ini:4097: more than 4096 sections and keys (split the file)");
}

/* A file in a folder of its own. */
struct place {
	char dir[32];
	char file[64];
};

static void place_open(struct place *p, const void *data, size_t n)
{
	struct err e = ERR_INIT;

	strcpy(p->dir, "/tmp/kr-inifile-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->file, sizeof(p->file), "%s/t.ini", p->dir);
	if (data)
		assert_int_equal(fs_write(p->file, data, n, &e), 0);
}

static void place_close(struct place *p)
{
	assert_int_equal(fs_remove_tree(p->dir, NULL), 0);
}

static void a_file_is_read_and_names_itself_in_messages(void **state)
{
	struct inifile f;
	struct err e = ERR_INIT;
	char expected[200];
	struct place p;

	(void)state;
	place_open(&p, "[a]\nk = v\n", 10);
	assert_int_equal(inifile_read(p.file, &f, &e), 0);
	assert_string_equal(f.path, p.file);
	assert_string_equal(f.entry[0].value, "v");
	inifile_release(&f);
	assert_int_equal(fs_write(p.file, "[a]\nk\n", 6, &e), 0);
	assert_int_equal(inifile_read(p.file, &f, &e), -1);
	snprintf(expected, sizeof(expected), "%s:2: no '=' in 'k' (write key = value)", p.file);
	assert_string_equal(e.msg, expected);
	place_close(&p);
}

static void a_directory_and_a_missing_file_are_mistakes(void **state)
{
	struct inifile f;
	struct err e = ERR_INIT;
	char expected[200];
	struct place p;

	(void)state;
	place_open(&p, NULL, 0);
	assert_int_equal(inifile_read(p.dir, &f, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	snprintf(expected, sizeof(expected), "cannot read '%s': it is a directory (name a file)",
		 p.dir);
	assert_string_equal(e.msg, expected);
	assert_int_equal(inifile_read(p.file, &f, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_non_null(strstr(e.msg, p.file));
	assert_non_null(strstr(e.msg, "No such file or directory"));
	place_close(&p);
}

static void a_file_of_more_than_one_mebibyte_is_refused(void **state)
{
	size_t n = (1u << 20) + 100;
	_cleanup_free_ char *text = xcalloc(n, 1);
	struct inifile f;
	struct err e = ERR_INIT;
	char expected[200];
	struct place p;

	(void)state;
	memset(text, '#', n);
	place_open(&p, text, n);
	snprintf(expected, sizeof(expected), "%s:1: larger than 1 MiB (is it the right file?)",
		 p.file);
	assert_int_equal(inifile_read(p.file, &f, &e), -1);
	assert_string_equal(e.msg, expected);
	assert_int_equal(fs_write(p.file, text, 1u << 20, &e), 0);
	assert_int_equal(inifile_read(p.file, &f, &e), 0);
	inifile_release(&f);
	place_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_have_sections_values_and_lines),
		cmocka_unit_test(an_empty_section_is_listed),
		cmocka_unit_test(an_empty_file_has_nothing),
		cmocka_unit_test(hash_and_semicolon_inside_a_value_are_text),
		cmocka_unit_test(a_value_goes_on_in_indented_lines),
		cmocka_unit_test(comments_may_stand_between_continuation_lines),
		cmocka_unit_test(the_line_of_a_key_counts_comments_and_continuations),
		cmocka_unit_test(a_line_of_5000_bytes_is_one_value),
		cmocka_unit_test(a_long_key_is_whole_and_can_be_continued),
		cmocka_unit_test(a_colon_is_part_of_a_key_or_value),
		cmocka_unit_test(crlf_and_the_mark_of_utf8_are_accepted),
		cmocka_unit_test(a_file_without_a_last_newline_is_whole),
		cmocka_unit_test(utf16_is_refused),
		cmocka_unit_test(a_nul_is_refused),
		cmocka_unit_test(control_bytes_are_refused),
		cmocka_unit_test(a_section_name_of_60_characters_is_refused_and_not_cut),
		cmocka_unit_test(headers_are_checked),
		cmocka_unit_test(keys_are_checked),
		cmocka_unit_test(the_same_key_in_two_sections_is_fine),
		cmocka_unit_test(an_indented_key_or_section_does_not_vanish_in_the_value_above),
		cmocka_unit_test(all_mistakes_are_reported_in_order),
		cmocka_unit_test(what_follows_a_bad_line_is_no_mistake_of_its_own),
		cmocka_unit_test(more_mistakes_than_fit_are_counted),
		cmocka_unit_test(untrusted_text_in_a_message_is_neutralised),
		cmocka_unit_test(many_keys_are_refused),
		cmocka_unit_test(a_file_is_read_and_names_itself_in_messages),
		cmocka_unit_test(a_directory_and_a_missing_file_are_mistakes),
		cmocka_unit_test(a_file_of_more_than_one_mebibyte_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
