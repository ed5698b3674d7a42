/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The test kernel's command line, and a console that is followed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "target/ssh_cmdline.h"

#define NONCE "00112233445566778899aabbccddeeff"

static void check(const char *home, const char *workload, const char *campaign, bool initramfs,
		  const char *due)
{
	const struct ssh_cmdline c = { home, workload, campaign, NONCE, initramfs };
	_cleanup_str_ struct str out = STR_INIT;
	struct err e = ERR_INIT;

	if (ssh_cmdline_make(&c, &out, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(str_text(&out), due);
}

static void refuse(const char *home, const char *campaign, const char *word)
{
	const struct ssh_cmdline c = { home, NULL, campaign, NONCE, false };
	_cleanup_str_ struct str out = STR_INIT;
	struct err e = ERR_INIT;

	assert_int_equal(ssh_cmdline_make(&c, &out, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	if (!strstr(e.msg, word))
		fail_msg("'%s' does not say '%s'", e.msg, word);
	assert_int_equal(out.len, 0);
}

static void it_is_the_default_kernels_without_what_the_boot_loader_added(void **state)
{
	(void)state;
	check("BOOT_IMAGE=/vmlinuz-6.1 root=/dev/vda1 ro  initrd=\\x quiet\n", NULL, "", false,
	      "root=/dev/vda1 ro quiet panic=10 oops=panic kregress=" NONCE);
	check("", NULL, NULL, false, "panic=10 oops=panic kregress=" NONCE);
}

static void the_workloads_words_come_before_the_campaigns_and_ours_last(void **state)
{
	(void)state;
	check("root=/dev/sda1 panic=-1 oops=continue kregress=old", "hugepages=64 ", "hugepages=8",
	      false, "root=/dev/sda1 hugepages=64 hugepages=8 panic=10 oops=panic kregress=" NONCE);
}

static void words_for_init_stay_behind_the_double_dash(void **state)
{
	(void)state;
	check("root=/dev/sda1 -- single x=1", "a", "b", false,
	      "root=/dev/sda1 a b panic=10 oops=panic kregress=" NONCE " -- single x=1");
}

static void blanks_within_double_quotes_do_not_cut_a_word(void **state)
{
	(void)state;
	check("root=/dev/sda1 dyndbg=\"file panic=3 +p\" quiet", NULL, NULL, false,
	      "root=/dev/sda1 dyndbg=\"file panic=3 +p\" quiet panic=10 oops=panic "
	      "kregress=" NONCE);
}

static void a_root_that_only_an_initramfs_finds_is_refused_without_one(void **state)
{
	(void)state;
	refuse("root=UUID=1-2 ro", NULL, "initramfs");
	refuse("root=/dev/mapper/vg-root ro", NULL, "initramfs");
	refuse("root=/dev/sda1", "root=LABEL=x", "LABEL=x");
	check("root=UUID=1-2 ro", NULL, NULL, true,
	      "root=UUID=1-2 ro panic=10 oops=panic kregress=" NONCE);
	check("root=UUID=1-2 ro", NULL, "root=PARTUUID=3-01", false,
	      "root=UUID=1-2 ro root=PARTUUID=3-01 panic=10 oops=panic kregress=" NONCE);
	check("root=PARTUUID=3-01", NULL, NULL, false,
	      "root=PARTUUID=3-01 panic=10 oops=panic kregress=" NONCE);
}

static void a_line_that_no_kernel_takes_is_refused(void **state)
{
	const size_t ours = strlen(" panic=10 oops=panic kregress=" NONCE);
	char *longest = calloc(1, 3000);

	(void)state;
	memset(longest, 'x', 2047 - ours);
	{
		_cleanup_free_ char *due = xasprintf("%s panic=10 oops=panic kregress=%s", longest,
						     NONCE);

		assert_int_equal(strlen(due), 2047);
		check(longest, NULL, NULL, false, due);
	}
	strcat(longest, "x");
	refuse(longest, NULL, "2048 bytes");
	free(longest);
}

static void words_that_would_swallow_ours_are_refused(void **state)
{
	(void)state;
	refuse("root=/dev/sda1", "dyndbg=\"file x +p", "a double quote is not closed");
	refuse("root=/dev/sda1", "a -- single", "'--' in 'a -- single' (append = in [target])");
	check("root=/dev/sda1", NULL, "a--b=\"x -- y\" --c", false,
	      "root=/dev/sda1 a--b=\"x -- y\" --c panic=10 oops=panic kregress=" NONCE);
}

static void a_value_is_that_of_the_last_word_of_its_name(void **state)
{
	char v[20] = "untouched";

	(void)state;
	assert_true(
		ssh_cmdline_value("kregress=a xkregress=b kregress=c", "kregress", v, sizeof(v)));
	assert_string_equal(v, "c");
	assert_false(
		ssh_cmdline_value("xkregress=b kregress kregress.y=1", "kregress", v, sizeof(v)));
	/* Behind "--" it is a word for init, and no parameter. */
	assert_false(ssh_cmdline_value("a -- kregress=c", "kregress", v, sizeof(v)));
	/* Within quotes it is part of another. */
	assert_false(ssh_cmdline_value("a=\"b kregress=c\"", "kregress", v, sizeof(v)));
	assert_true(
		ssh_cmdline_value("kregress=0123456789012345678901234", "kregress", v, sizeof(v)));
	assert_string_equal(v, "0123456789012345678");
}

static void check_grub(const char *line, const char *due)
{
	_cleanup_str_ struct str out = STR_INIT;

	ssh_cmdline_quote_grub(line, &out);
	assert_string_equal(str_text(&out), due);
}

static void grub_is_given_words_that_it_expands_nothing_in(void **state)
{
	(void)state;
	check_grub("root=/dev/vda1 quiet", "'root=/dev/vda1' 'quiet'");
	check_grub("a=$x;b}{ it's", "'a=$x;b}{' 'it'\\''s'");
	check_grub("dyndbg=\"file x +p\" y", "'dyndbg=file x +p' 'y'");
	check_grub("", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_default_kernels_without_what_the_boot_loader_added),
		cmocka_unit_test(the_workloads_words_come_before_the_campaigns_and_ours_last),
		cmocka_unit_test(words_for_init_stay_behind_the_double_dash),
		cmocka_unit_test(blanks_within_double_quotes_do_not_cut_a_word),
		cmocka_unit_test(a_root_that_only_an_initramfs_finds_is_refused_without_one),
		cmocka_unit_test(a_line_that_no_kernel_takes_is_refused),
		cmocka_unit_test(words_that_would_swallow_ours_are_refused),
		cmocka_unit_test(a_value_is_that_of_the_last_word_of_its_name),
		cmocka_unit_test(grub_is_given_words_that_it_expands_nothing_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
