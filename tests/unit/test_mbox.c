/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mail series as lore, b4 and git format-patch give them: which patches, in which order, how they read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "io/mbox_internal.h"

static char top[] = "/tmp/kregress-mbox-test-XXXXXX";

static char *write_mbox(const char *text, size_t n)
{
	char *path = fs_join(top, "series.mbox");
	struct err e = ERR_INIT;

	if (fs_write(path, text, n, &e) < 0)
		fail_msg("%s", e.msg);
	return path;
}

static struct mbox must_read(const char *text)
{
	_cleanup_free_ char *path = write_mbox(text, strlen(text));
	struct mbox m = { .n = 0 };
	struct err e = ERR_INIT;

	if (mbox_read(path, &m, &e) < 0)
		fail_msg("%s", e.msg);
	return m;
}

static void refused_bytes(const char *text, size_t n, const char *words)
{
	_cleanup_free_ char *path = write_mbox(text, n);
	struct mbox m = { .n = 0 };
	struct err e = ERR_INIT;

	assert_int_equal(mbox_read(path, &m, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	if (!strstr(e.msg, words) || !strstr(e.msg, path))
		fail_msg("'%s' does not say '%s' of '%s'", e.msg, words, path);
}

static void refused(const char *text, const char *words)
{
	refused_bytes(text, strlen(text), words);
}

/* ---- building mails ---- */

#define FROM "From mboxrd@z Thu Jan  1 00:00:00 1970\n"
#define BY "From: Ada Love <ada@example.org>\nDate: Mon, 20 Nov 2023 10:00:00 +0100\n"

/* A diff that makes line @n of a file another. */
#define DIFF(n, text)                                                             \
	"---\n mm/x.c | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n" \
	"diff --git a/mm/x.c b/mm/x.c\nindex 1..2 100644\n--- a/mm/x.c\n"         \
	"+++ b/mm/x.c\n@@ -" #n " +" #n " @@\n-" #n "\n+" text "\n-- \n2.39.5\n\n"

#define PATCH(tag, n, title)                                                                      \
	FROM BY "Subject: [" tag "] " title "\nMessage-ID: <" tag "@x>\n\nText of " title ".\n\n" \
		"Signed-off-by: Ada Love <ada@example.org>\n" DIFF(n, title)

static void the_order_is_that_of_the_numbers(void **state)
{
	struct mbox m = must_read(
		PATCH("PATCH 3/3", 3, "three") PATCH("PATCH 1/3", 1, "one") FROM BY
		"Subject: [PATCH 0/3] cover\n\nAll of it.\n" PATCH("PATCH 2/3", 2, "two"));

	(void)state;
	assert_int_equal(m.n, 3);
	assert_string_equal(m.patch[0].subject, "one");
	assert_string_equal(m.patch[1].subject, "two");
	assert_string_equal(m.patch[2].subject, "three");
	assert_int_equal(m.patch[2].number, 3);
	assert_int_equal(m.patch[2].total, 3);
	assert_int_equal(m.patch[2].mail, 1);
	assert_int_equal(m.patch[1].mail, 4);
	assert_string_equal(m.patch[0].author, "Ada Love");
	assert_string_equal(m.patch[0].email, "ada@example.org");
	assert_string_equal(m.patch[0].date, "Mon, 20 Nov 2023 10:00:00 +0100");
	assert_string_equal(m.patch[0].message,
			    "one\n\nText of one.\n\nSigned-off-by: Ada Love <ada@example.org>\n");
	assert_non_null(strstr(str_text(&m.patch[0].diff), "@@ -1 +1 @@\n-1\n+one\n"));
	mbox_release(&m);
}

static void the_highest_version_counts(void **state)
{
	struct mbox m = must_read(PATCH("RFC PATCH v1 1/2", 1, "first") PATCH("PATCH 2/2", 2, "b")
					  PATCH("PATCH net-next v3 2/3", 2,
						"second") PATCH("PATCH v2 1/1", 9, "middle")
						  PATCH("PATCH v3 net-next 03/03", 3, "third")
							  PATCH("PATCHv3 1/3", 1, "first"));

	(void)state;
	assert_int_equal(m.n, 3);
	for (size_t i = 0; i < m.n; i++) {
		assert_int_equal(m.patch[i].version, 3);
		assert_int_equal(m.patch[i].number, i + 1);
	}
	assert_int_equal(m.patch[0].mail, 6);
	assert_string_equal(m.patch[1].subject, "second");
	mbox_release(&m);
}

static void replies_with_a_diff_are_no_patches_and_give_trailers(void **state)
{
	/* Bob answers the patch, Eve answers Bob, Dan the cover letter, Cy by the subject alone. */
	struct mbox m = must_read(
		FROM BY "Subject: [PATCH v2 0/2] cover\nMessage-ID: <c@x>\n"
			"In-Reply-To: <PATCH v2 2/2@x>\n\nText\n" PATCH("PATCH v2 1/2", 1, "one")
				PATCH("PATCH v2 2/2", 2, "two") FROM
		"From: Bob <bob@example.org>\nSubject: Re: [PATCH v2 1/2] one\n"
		"Message-ID: <r1@x>\nIn-Reply-To: <PATCH v2 1/2@x>\n\n"
		"> Acked-by: Quoted <q@example.org>\n"
		"  Acked-by: Indented <i@example.org>\n"
		"Reviewed-by: tags are welcome\n"
		"reviewed-by: Bob <bob@example.org>\n"
		"Signed-off-by: Not A Review <n@example.org>\n"
		"Signed-off-by: Ada Love <ada@example.org>\n" DIFF(1, "instead") FROM
		"From: Eve <eve@example.org>\nSubject: RE: something else\n"
		"Message-ID: <r2@x>\nIn-Reply-To: <unknown@x>\nReferences: <c@x>\n <PATCH v2 "
		"1/2@x>\n\t<r1@x>\n\n"
		"Tested-by: Eve\n <eve@example.org>\nReviewed-by: Bob <bob@example.org>\n" FROM
		"From: Dan <dan@example.org>\nSubject: Re: [PATCH v2 0/2] cover\n"
		"Message-ID: <r3@x>\nIn-Reply-To: <c@x>\n\nAcked-by: Dan <dan@example.org>\n" FROM
		"From: Cy <cy@example.org>\nSubject: AW: [PATCH v2 2/2] two\n"
		"\nReviewed-and-tested-by: Cy <cy@example.org> # on arm64\n");

	(void)state;
	assert_int_equal(m.n, 2);
	assert_string_equal(m.patch[0].message,
			    "one\n\nText of one.\n\nSigned-off-by: Ada Love <ada@example.org>\n"
			    "Reviewed-by: Bob <bob@example.org>\n"
			    "Tested-by: Eve <eve@example.org>\n");
	assert_string_equal(m.patch[1].message,
			    "two\n\nText of two.\n\nSigned-off-by: Ada Love <ada@example.org>\n"
			    "Reviewed-and-tested-by: Cy <cy@example.org> # on arm64\n");
	assert_non_null(strstr(str_text(&m.patch[0].diff), "+one\n"));
	mbox_release(&m);
}

static void the_same_mail_twice_is_one(void **state)
{
	struct mbox m = must_read(PATCH("PATCH 1/2", 1, "one") PATCH("PATCH 2/2", 2, "two")
					  PATCH("PATCH 1/2", 1, "one"));

	(void)state;
	assert_int_equal(m.n, 2);
	assert_string_equal(m.patch[0].subject, "one");
	mbox_release(&m);
	/* once more, from a list that adds a line below */
	m = must_read(PATCH("PATCH 1/1", 1, "one")
			      PATCH("PATCH 1/1", 1, "one") "list@example.org\n");
	assert_int_equal(m.n, 1);
	mbox_release(&m);
	/* sent again, under another Message-ID */
	m = must_read(PATCH("PATCH 1/2", 1, "one") PATCH("PATCH 2/2", 2, "two")
			      PATCH("PATCH RESEND 1/2", 1, "one"));
	assert_int_equal(m.n, 2);
	mbox_release(&m);
}

static void patches_without_numbers_stay_in_the_order_of_the_file(void **state)
{
	struct mbox m = must_read(PATCH("PATCH", 1, "only"));

	(void)state;
	assert_int_equal(m.n, 1);
	assert_int_equal(m.patch[0].total, 1);
	mbox_release(&m);
	m = must_read(PATCH("PATCH", 1, "zebra") PATCH("PATCH v2", 2, "ape")
			      PATCH("PATCH", 2, "ape") FROM BY "Subject: bare\n\n" DIFF(3, "x"));
	assert_int_equal(m.n, 3);
	assert_string_equal(m.patch[0].subject, "zebra");
	assert_string_equal(m.patch[1].subject, "ape");
	assert_int_equal(m.patch[1].version, 2);
	assert_int_equal(m.patch[1].number, 2);
	assert_string_equal(m.patch[2].subject, "bare");
	assert_int_equal(m.patch[2].total, 3);
	mbox_release(&m);
}

static void a_patch_without_a_number_is_no_part_of_a_numbered_series(void **state)
{
	struct mbox m = must_read(PATCH("PATCH 1/1", 1, "one") PATCH("PATCH v7", 2, "fixup"));

	(void)state;
	assert_int_equal(m.n, 1);
	assert_string_equal(m.patch[0].subject, "one");
	mbox_release(&m);
}

static void mails_are_decoded(void **state)
{
	struct mbox m = must_read(
		FROM
		"From: =?utf-8?q?S=C3=A9a?= <sea@example.org>\n"
		"Date: Tue, 21 Nov 2023 10:00:00 -0800\n"
		"Subject: =?utf-8?q?=5BPATCH_2/2=5D_mm=3A_caf=C3=A9_and?=\n"
		" =?utf-8?q?_more?=\nMIME-Version: 1.0\n"
		"Content-Type: text/plain; charset=utf-8\n"
		"Content-Transfer-Encoding: quoted-printable\n\n"
		"caf=C3=A9 =3D coffee, a line that is long and goes =\non\n---\n"
		"diff --git a/mm/x.c b/mm/x.c\n--- a/mm/x.c\n+++ b/mm/x.c\n@@ -1 +1 "
		"@@\n-a=3D1\n+a=3D2\n" FROM BY "Subject: [PATCH 1/2] base64\nMIME-Version: 1.0\n"
		"Content-Type: text/plain; charset=utf-8\n"
		"Content-Transfer-Encoding: base64\n\n"
		/* "text\n---\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", CRLF */
		"dGV4dA0KLS0tDQpkaWZmIC0tZ2l0IGEvZiBiL2YNCi0tLSBhL2YNCisrKyBiL2YNCkBAIC0xICsx\n"
		"IEBADQotYQ0KK2INCg==\n");

	(void)state;
	assert_int_equal(m.n, 2);
	assert_string_equal(m.patch[1].subject, "mm: caf\xc3\xa9 and more");
	assert_string_equal(m.patch[1].author, "S\xc3\xa9"
					       "a");
	assert_string_equal(m.patch[1].message,
			    "mm: caf\xc3\xa9 and more\n\n"
			    "caf\xc3\xa9 = coffee, a line that is long and goes on\n");
	assert_non_null(strstr(str_text(&m.patch[1].diff), "-a=1\n+a=2\n"));
	assert_string_equal(str_text(&m.patch[0].diff),
			    "---\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n");
	mbox_release(&m);
}

static void line_ends_of_a_patched_file_are_kept(void **state)
{
	struct str diff = STR_INIT;

	(void)state;
	str_add(&diff, "---\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\r\n+b\r\n");
	mbox_unify_ends(&diff);
	assert_non_null(strstr(str_text(&diff), "-a\r\n+b\r\n"));
	str_clear(&diff);
	str_add(&diff,
		"---\r\ndiff --git a/f b/f\r\n--- a/f\r\n+++ b/f\r\n@@ -1 +1 @@\r\n-a\r\r\n");
	mbox_unify_ends(&diff);
	assert_string_equal(str_text(&diff),
			    "---\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\r\n");
	assert_int_equal(diff.len, strlen(diff.buf));
	str_release(&diff);
}

static void the_text_may_name_another_author_and_subject(void **state)
{
	struct mbox m = must_read(FROM
				  "From: List <list@example.org>\nSubject: [PATCH 1/1] short\n\n"
				  "From: Real Author <real@example.org>\n"
				  "Subject: the long subject\n\nText\n" DIFF(1, "x"));

	(void)state;
	assert_int_equal(m.patch[0].number, 1);
	assert_string_equal(m.patch[0].author, "Real Author");
	assert_string_equal(m.patch[0].email, "real@example.org");
	assert_string_equal(m.patch[0].subject, "the long subject");
	mbox_release(&m);
}

static void quoted_from_lines_are_taken_back_where_the_file_quotes_them(void **state)
{
	struct mbox m = must_read(FROM BY "Subject: [PATCH] x\n\n>From here\n" DIFF(1, "x"));

	(void)state;
	assert_string_equal(m.patch[0].message, "x\n\nFrom here\n");
	mbox_release(&m);
	m = must_read("From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n" BY
		      "Subject: [PATCH] x\n\n>From here\n" DIFF(1, "x"));
	assert_string_equal(m.patch[0].message, "x\n\n>From here\n");
	mbox_release(&m);
}

static void a_character_set_that_nobody_knows_is_no_obstacle(void **state)
{
	struct mbox m = must_read(
		FROM BY "Subject: [PATCH] x\n"
			"Content-Type: text/plain; charset=klingon\n\nqapla\xb4\n" DIFF(1, "x"));

	(void)state;
	assert_string_equal(m.patch[0].message, "x\n\nqapla\xb4\n");
	mbox_release(&m);
}

static void what_is_no_series_is_refused(void **state)
{
	(void)state;
	refused("", "is empty");
	refused(" \n\n", "is empty");
	refused("Subject: x\n\nno From line\n", "is not an mbox");
	refused("From nobody\n\nno date\n", "is not an mbox: corrupt mailbox");
	refused_bytes("\x1f\x8b\x08\0\0\0\0\0", 8, "is compressed (gunzip it first)");
	refused_bytes("\0\0\0\0", 4, "is not an mbox");
	refused(FROM BY "Subject: [PATCH 0/2] cover\n\nText\n" DIFF(1, "interdiff"),
		"no patch in 1 mails");
	refused(FROM BY "Subject: Re: [PATCH 1/1] x\n\n" DIFF(1, "x"), "no patch in 1 mails");
	refused(FROM BY "Subject: Fwd: [PATCH 1/1] x\n\n" DIFF(1, "x"), "no patch in 1 mails");
	refused(FROM BY "Subject: [PATCH 1/1] x\n\n> diff --git a/x b/x\n", "no patch in 1 mails");
}

static void numbers_that_do_not_add_up_are_refused(void **state)
{
	(void)state;
	refused(PATCH("PATCH 1/3", 1, "a") PATCH("PATCH 3/3", 1, "c"),
		"patch 2/3 of version 1 is missing");
	refused(PATCH("PATCH v4 7/9", 1, "a"),
		"patch 1/9, 2/9, 3/9, 4/9, 5/9, ... of version 4 are missing");
	refused(PATCH("PATCH 1/1", 1, "a") PATCH("PATCH v2 1/2", 1, "a"),
		"patch 2/2 of version 2 is missing");
	refused(PATCH("PATCH 1/2", 1, "a") PATCH("PATCH 2/2", 2, "b")
			PATCH("PATCH RFC 2/2", 3, "c"),
		"patch 2/2 is there twice with different content: 'b' (mail 2) and 'c' (mail 3)");
	refused(PATCH("PATCH 1/2", 1, "a") PATCH("PATCH 2/3", 2, "b"),
		"'a' is patch 1/2, but 'b' is 2/3");
	refused(PATCH("PATCH 3/2", 1, "a"), "'a' is patch 3 of 2");
}

static void too_much_is_refused(void **state)
{
	_cleanup_str_ struct str many = STR_INIT;

	(void)state;
	for (int i = 0; i < 2001; i++)
		str_add(&many, FROM "Subject: x\n\ny\n");
	refused_bytes(many.buf, many.len, "more than 2000 mails");
}

static void no_folder_is_left_behind(void **state)
{
	_cleanup_free_ char *tmp = fs_join(top, "tmp");
	struct err e = ERR_INIT;
	struct mbox m;

	(void)state;
	assert_int_equal(fs_mkdirs(tmp, &e), 0);
	setenv("TMPDIR", tmp, 1);
	m = must_read(PATCH("PATCH 1/1", 1, "a"));
	mbox_release(&m);
	refused(PATCH("PATCH 1/2", 1, "a"), "missing");
	unsetenv("TMPDIR");
	assert_int_equal(rmdir(tmp), 0);
}

/* ---- subjects ---- */

static void subject(const char *text, const char *rest, struct mbox_tag want)
{
	struct mbox_tag tag;
	const char *got = mbox_subject(text, &tag);

	if (strcmp(got, rest) != 0)
		fail_msg("'%s' reads '%s', not '%s'", text, got, rest);
	if (tag.reply != want.reply || tag.numbered != want.numbered || tag.number != want.number ||
	    tag.total != want.total || tag.version != want.version)
		fail_msg("'%s': reply %d, %d %u/%u, version %u", text, tag.reply, tag.numbered,
			 tag.number, tag.total, tag.version);
}

#define TAG(v, n, m) ((struct mbox_tag){ .numbered = true, .number = n, .total = m, .version = v })
#define BARE(v) ((struct mbox_tag){ .version = v })

static void subjects_are_understood_as_they_are_written(void **state)
{
	struct mbox_tag reply = TAG(2, 3, 12);

	(void)state;
	subject("[PATCH 3/12] mm: x", "mm: x", TAG(1, 3, 12));
	subject("[PATCH v2 03/12] mm: x", "mm: x", TAG(2, 3, 12));
	subject("[RFC PATCH v3 3/12] x", "x", TAG(3, 3, 12));
	subject("[PATCH RFC V10 3/12] x", "x", TAG(10, 3, 12));
	subject("[PATCH net-next,v2, 3/12] x", "x", TAG(2, 3, 12));
	subject("[PATCH 3/12 v4] x", "x", TAG(4, 3, 12));
	subject("[PATCHv2 3/12]x", "x", TAG(2, 3, 12));
	subject("[PATCH-v5 3/12] x", "x", TAG(5, 3, 12));
	subject("[PATCH v2.1 3/12] x", "x", TAG(2, 3, 12));
	subject("[PATCH AUTOSEL 6.1 003/120] x", "x", TAG(1, 3, 120));
	subject("[RFC 1/2] x", "x", TAG(1, 1, 2));
	subject("[for-next 1/2] x", "x", TAG(1, 1, 2));
	subject("[RESEND] [PATCH 1/2] x", "x", TAG(1, 1, 2));
	subject("[PATCH] [v2] x", "x", BARE(2));
	subject("[PATCH 0/3] x", "x", TAG(1, 0, 3));
	subject("[Intel-gfx] [PATCH 3/12] drm: x", "drm: x", TAG(1, 3, 12));
	subject("[PATCH 3/12] [media] x", "[media] x", TAG(1, 3, 12));
	subject("[media] x", "[media] x", BARE(1));
	subject("[PATCH 1/99999] x", "x", BARE(1));
	subject("[PATCH 1/2", "[PATCH 1/2", BARE(1));
	subject("[PATCH 4294967297/2] x", "x", BARE(1));
	subject("[PATCH 1/2] Re: x", "Re: x", TAG(1, 1, 2));
	subject("", "", BARE(1));
	subject("x [1/2]", "x [1/2]", BARE(1));
	reply.reply = true;
	subject("Re: [PATCH v2 3/12] x", "x", reply);
	subject("re: RE: Re[2]: [PATCH v2 3/12] x", "x", reply);
	subject("AW: [PATCH v2 3/12] x", "x", reply);
	subject("Fwd: [PATCH v2 3/12] x", "x", reply);
	subject("[lists] Re: [PATCH v2 3/12] x", "x", reply);
	subject("Restore: x", "Restore: x", BARE(1));
}

static void headers_are_unfolded(void **state)
{
	static const char mail[] =
		"From x\nTo: a\n b\n\tc\nsubject:  y \r\nSubject: z\n\nSubject: body\n";
	size_t n = mbox_header_bytes(mail, strlen(mail));
	_cleanup_free_ char *to = mbox_header(mail, n, "To");
	_cleanup_free_ char *title = mbox_header(mail, n, "Subject");
	_cleanup_strv_ struct strv ids = STRV_INIT;

	(void)state;
	assert_string_equal(mail + n, "Subject: body\n");
	assert_string_equal(to, "a b c");
	assert_string_equal(title, "y");
	assert_null(mbox_header(mail, n, "Cc"));
	mbox_ids("<a@x> (as of) <b@x><c", &ids);
	assert_int_equal(ids.n, 2);
	assert_string_equal(ids.v[1], "b@x");
}

static int set_up(void **state)
{
	(void)state;
	log_set_level(LOG_QUIET);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	return mkdtemp(top) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return fs_remove_tree(top, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_is_that_of_the_numbers),
		cmocka_unit_test(the_highest_version_counts),
		cmocka_unit_test(replies_with_a_diff_are_no_patches_and_give_trailers),
		cmocka_unit_test(the_same_mail_twice_is_one),
		cmocka_unit_test(patches_without_numbers_stay_in_the_order_of_the_file),
		cmocka_unit_test(a_patch_without_a_number_is_no_part_of_a_numbered_series),
		cmocka_unit_test(mails_are_decoded),
		cmocka_unit_test(line_ends_of_a_patched_file_are_kept),
		cmocka_unit_test(the_text_may_name_another_author_and_subject),
		cmocka_unit_test(quoted_from_lines_are_taken_back_where_the_file_quotes_them),
		cmocka_unit_test(a_character_set_that_nobody_knows_is_no_obstacle),
		cmocka_unit_test(what_is_no_series_is_refused),
		cmocka_unit_test(numbers_that_do_not_add_up_are_refused),
		cmocka_unit_test(too_much_is_refused),
		cmocka_unit_test(no_folder_is_left_behind),
		cmocka_unit_test(subjects_are_understood_as_they_are_written),
		cmocka_unit_test(headers_are_unfolded),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
