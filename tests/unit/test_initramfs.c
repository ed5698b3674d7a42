/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Archives for a guest, read back with cpio(1). */
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
#include "base/proc.h"
#include "io/initramfs.h"

static char dir[] = "/tmp/kregress-initramfs-XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return fs_remove_tree(dir, NULL);
}

static char *in_dir(const char *name)
{
	return fs_join(dir, name);
}

/* What a shell command prints, run in the folder. */
static void shell(const char *command, struct str *out)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, xstrdup(command), NULL };
	struct proc_opts o = { .argv = argv, .cwd = dir, .out = out };
	struct proc_result res;
	struct err e = ERR_INIT;

	str_add(out, "");
	assert_int_equal(proc_run(&o, &res, &e), 0);
	assert_int_equal(res.end, PROC_EXITED);
	assert_int_equal(res.status, 0);
	free(argv[2]);
}

static void write_one(const char *archive, const struct initramfs_file *files, size_t n)
{
	_cleanup_free_ char *path = in_dir(archive);
	struct err e = ERR_INIT;
	uint64_t size = 0;
	struct stat st;

	if (initramfs_write(path, files, n, &size, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(size, st.st_size);
}

static void cpio_unpacks_what_was_packed(void **state)
{
	_cleanup_free_ char *source = in_dir("source");
	_cleanup_str_ struct str data = STR_INIT, text = STR_INIT;
	struct err e = ERR_INIT;

	(void)state;
	for (int i = 0; i < 100000; i++)
		str_addmem(&data, (const char[]){ (char)i, (char)(i >> 8) }, 2);
	assert_int_equal(fs_write(source, data.buf, data.len, &e), 0);
	write_one("a.cpio",
		  (struct initramfs_file[]){
			  { .name = "init", .source = source, .mode = 0755 },
			  { .name = "job", .data = "a\0b\n", .n = 4, .mode = 0644 },
			  { .name = "work/deep/empty", .data = "", .mode = 0600 },
			  { .name = "dev", .mode = S_IFDIR | 0700 },
		  },
		  4);
	shell("mkdir x && cd x && cpio -i --quiet -d <../a.cpio && cmp init ../source && "
	      "od -An -c job && find . -mindepth 1 -printf '%P %m %s %y\\n' | "
	      "grep -v ' d$' | sort && find . -mindepth 1 -type d -printf '%P %m\\n' | sort",
	      &text);
	assert_string_equal(str_text(&text),
			    "   a  \\0   b  \\n\ninit 755 200000 f\njob 644 4 f\n"
			    "work/deep/empty 600 0 f\ndev 700\nwork 755\nwork/deep 755\n");
}

static void all_belongs_to_root_and_has_no_time(void **state)
{
	_cleanup_str_ struct str text = STR_INIT;

	(void)state;
	write_one("b.cpio",
		  (struct initramfs_file[]){
			  { .name = "work/x", .data = "x", .n = 1, .mode = 0644 } },
		  1);
	shell("cpio -itvn --quiet <b.cpio | awk '{ print $1, $3, $4, $5, $NF }'", &text);
	shell("mkdir t && cd t && cpio -idm --quiet <../b.cpio && stat -c %Y work/x", &text);
	assert_string_equal(str_text(&text), "drwxr-xr-x 0 0 0 work\n-rw-r--r-- 0 0 1 work/x\n0\n");
}

static void the_same_input_gives_the_same_bytes(void **state)
{
	_cleanup_free_ char *source = in_dir("source");
	_cleanup_str_ struct str text = STR_INIT;
	const struct initramfs_file files[] = {
		{ .name = "init", .source = source, .mode = 0755 },
		{ .name = "work/a", .data = "1", .n = 1, .mode = 0644 },
	};
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(fs_write(source, "one", 3, &e), 0);
	write_one("c.cpio", files, 2);
	/* Another file with the same contents: other inode, other times. */
	assert_int_equal(fs_write(source, "one", 3, &e), 0);
	shell("touch -d 2001-01-01 source && chmod 400 source", &text);
	write_one("d.cpio", files, 2);
	shell("cmp c.cpio d.cpio && head -c 6 c.cpio", &text);
	assert_string_equal(str_text(&text), "070701");
}

static void check_refused(const struct initramfs_file *f, const char *text)
{
	_cleanup_free_ char *path = in_dir("refused.cpio");
	struct err e = ERR_INIT;

	assert_int_equal(initramfs_write(path, f, 1, NULL, &e), -1);
	if (!strstr(e.msg, text))
		fail_msg("%s", e.msg);
	assert_false(fs_exists(path));
}

static void what_cannot_go_into_a_guest_is_refused_and_leaves_no_archive(void **state)
{
	(void)state;
	check_refused(&(struct initramfs_file){ .name = "x", .source = "/nowhere/at/all" },
		      "/nowhere/at/all");
	check_refused(&(struct initramfs_file){ .name = "x", .source = "/proc" }, "not a file");
	check_refused(&(struct initramfs_file){ .name = "/x", .data = "" }, "bad name");
	check_refused(&(struct initramfs_file){ .name = "a/../x", .data = "" }, "bad name");
	check_refused(&(struct initramfs_file){ .name = "", .data = "" }, "bad name");
	check_refused(&(struct initramfs_file){ .name = "a//b", .data = "" }, "bad name");
	check_refused(&(struct initramfs_file){ .name = "a/", .data = "" }, "bad name");
}

static void a_full_disk_is_an_error(void **state)
{
	const struct initramfs_file f = { .name = "x", .data = "x", .n = 1, .mode = 0644 };
	struct err e = ERR_INIT;

	(void)state;
	/* unlink() of a device that is not ours to remove: use a link to it. */
	_cleanup_free_ char *full = in_dir("full");

	assert_int_equal(symlink("/dev/full", full), 0);
	assert_int_equal(initramfs_write(full, &f, 1, NULL, &e), -1);
	assert_int_equal(e.code, ERR_SYS);
	assert_non_null(strstr(e.msg, "No space left"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpio_unpacks_what_was_packed),
		cmocka_unit_test(all_belongs_to_root_and_has_no_time),
		cmocka_unit_test(the_same_input_gives_the_same_bytes),
		cmocka_unit_test(what_cannot_go_into_a_guest_is_refused_and_leaves_no_archive),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
