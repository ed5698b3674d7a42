/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scripts that install and remove kernels, in a real shell, with folders of our own in place
 * of /boot, /lib/modules and /etc/grub.d.
 */
#include "unit/ssh_fixture.h"

#include "target/ssh_boot_scripts.h"
#include "target/ssh_channel.h"

/* Write the script into the folder, as NAME.sh, for a machine whose root is "root". */
static const char *script(enum boot_script s)
{
	static char path[256];
	_cleanup_str_ struct str text = STR_INIT;
	_cleanup_free_ char *name = xasprintf("%s.sh", boot_script_name(s));

	boot_script_text(s, &text);
	put_file(name, str_text(&text));
	shell("sed -i -e 's#/lib/modules#%s/root/modules#g' -e 's#/boot/#%s/root/boot/#g' "
	      "-e 's#/etc/grub.d#%s/root/grub.d#g' '%s'",
	      fx_dir, fx_dir, fx_dir, name);
	snprintf(path, sizeof(path), "PATH=%s/bin:$PATH sh %s/%s", fx_dir, fx_dir, name);
	return path;
}

static void fake(const char *name, const char *text)
{
	_cleanup_free_ char *path = xasprintf("bin/%s", name);
	_cleanup_free_ char *whole = xasprintf("#!/bin/sh\n%s\n", text);

	put_file(path, whole);
	shell("chmod +x '%s'", path);
}

static int fresh(void **state)
{
	(void)state;
	shell("rm -rf root bin work; mkdir -p root/boot/grub root/modules root/grub.d bin");
	fake("depmod", ":");
	fake("kexec", ":");
	return 0;
}

/* Without "lib/modules": script() gives that name another meaning. */
static void modules_archive(void)
{
	shell("mkdir -p t/6.1-kregress/kernel && : >t/6.1-kregress/kernel/a.ko && "
	      "tar -c -f modules.tar -C t 6.1-kregress");
}

static void modules_whose_installation_was_cut_short_are_ours_still(void **state)
{
	const char *run = script(BOOT_MODULES);

	(void)state;
	modules_archive();
	/* The machine goes down right after the folder has its place. */
	fake("mv", "/bin/mv \"$@\" && kill -9 $PPID");
	shell("%s %s/modules.tar 6.1-kregress sum || :", run, fx_dir);
	assert_true(fs_exists(in_dir("root/modules/6.1-kregress/kernel/a.ko")));
	shell("rm bin/mv");
	shell("%s %s/modules.tar 6.1-kregress sum", run, fx_dir);
	_cleanup_free_ char *mark = get_file("root/modules/6.1-kregress/.kregress");

	assert_string_equal(mark, "sum\n");
}

static void modules_of_others_are_neither_replaced_nor_removed(void **state)
{
	(void)state;
	modules_archive();
	shell("mkdir -p root/modules/6.1-kregress/theirs");
	shell("! %s %s/modules.tar 6.1-kregress sum 2>said", script(BOOT_MODULES), fx_dir);
	_cleanup_free_ char *said = get_file("said");

	assert_non_null(strstr(said, "is there, and not ours"));
	shell("%s '%s'", script(BOOT_CLEAN), in_dir("work"));
	assert_true(fs_exists(in_dir("root/modules/6.1-kregress/theirs")));
}

static void all_that_is_ours_is_removed_and_told(void **state)
{
	_cleanup_free_ char *due =
		xasprintf("%s/root/boot/kregress\n%s/work dir/boot\n%s/work dir/files\n"
			  "%s/root/modules/.kregress.new\n%s/root/modules/6.1-kregress",
			  fx_dir, fx_dir, fx_dir, fx_dir, fx_dir);

	(void)state;
	shell("mkdir -p root/boot/kregress 'work dir/boot' 'work dir/files' "
	      "root/modules/.kregress.new root/modules/6.1-kregress root/modules/6.1; "
	      ": >'work dir/.kregress'; : >root/modules/6.1-kregress/.kregress");
	_cleanup_free_ char *said = sh("%s '%s/work dir'", script(BOOT_CLEAN), fx_dir);
	_cleanup_free_ char *left = sh("find root/boot root/modules 'work dir' 2>/dev/null | sort "
				       "|| :");

	assert_string_equal(said, due);
	assert_string_equal(left, "root/boot\nroot/boot/grub\nroot/modules\nroot/modules/6.1");
}

static void a_work_folder_without_our_mark_is_left_alone(void **state)
{
	(void)state;
	shell("mkdir -p work/boot work/files; : >work/files/notes");
	_cleanup_free_ char *said = sh("%s '%s'", script(BOOT_CLEAN), in_dir("work"));

	assert_string_equal(said, "");
	assert_true(fs_exists(in_dir("work/files/notes")) && fs_exists(in_dir("work/boot")));
	shell("! %s '%s' 0:0 2>said", script(BOOT_PREPARE), in_dir("work"));
	shell("grep -q 'is not ours (set work_dir = ' said");
	shell("rm -r work; %s '%s' 0:0 && [ -d work/boot ]", script(BOOT_PREPARE), in_dir("work"));
}

/* What grub-mkconfig makes tells which snippets there were. */
static void what_was_put_into_grubs_snippets_is_taken_out(void **state)
{
	(void)state;
	fake("grub-mkconfig", "ls \"${0%/bin/*}/root/grub.d\" >\"$2\"");
	shell(": >root/grub.d/10_linux; : >root/grub.d/42_kregress; "
	      "echo custom.cfg >root/boot/grub/grub.cfg");
	_cleanup_free_ char *said = sh("%s '%s'", script(BOOT_CLEAN), in_dir("work"));
	_cleanup_free_ char *cfg = get_file("root/boot/grub/grub.cfg");

	assert_non_null(strstr(said, "root/grub.d/42_kregress"));
	assert_string_equal(cfg, "10_linux\n");
}

static void an_initramfs_is_made_anew_where_another_lies_in_its_place(void **state)
{
	const char *run = script(BOOT_MAKE_INITRAMFS);

	(void)state;
	fake("mkinitramfs", "echo made >>\"${0%/bin/*}/made\"; echo \"initramfs of $3\" >\"$2\"");
	shell("rm -f made; %s %s/initramfs 6.1 sum && %s %s/initramfs 6.1 sum", run, fx_dir, run,
	      fx_dir);
	_cleanup_free_ char *once = sh("wc -l <made");

	assert_string_equal(once, "1");
	/* One that was sent, by a campaign with initramfs = PATH. */
	shell("echo other >initramfs; %s %s/initramfs 6.1 sum", run, fx_dir);
	_cleanup_free_ char *now = get_file("initramfs");

	assert_string_equal(now, "initramfs of 6.1\n");
}

/* setsid is what would do it; here it only tells. */
static void on_the_way_home_no_loaded_kernel_is_jumped_into(void **state)
{
	const char *run = script(BOOT_REBOOT);

	(void)state;
	fake("setsid", "echo \"skip=$SYSTEMCTL_SKIP_AUTO_KEXEC\" >>\"${0%/bin/*}/done\"");
	fake("kexec", "echo \"kexec $*\" >>\"${0%/bin/*}/done\"");
	shell("rm -f done; %s home; while [ ! -s done ] || ! grep -q skip done; do sleep 0.1; done",
	      run);
	_cleanup_free_ char *home = get_file("done");

	assert_string_equal(home, "kexec -u\nskip=1\n");
	/* A command of the user may have loaded the one that is to be booted. */
	shell("rm -f done; %s ''; while [ ! -s done ]; do sleep 0.1; done", run);
	_cleanup_free_ char *there = get_file("done");

	assert_string_equal(there, "skip=\n");
}

static void a_script_is_shown_by_its_name(void **state)
{
	char *const ours[] = {
		"sudo", "-n", "--", "sh", "-c", "a\nb", "kregress-lock", "x y", NULL
	};
	char *const other[] = { "sh", "-c", "echo $1", "sh", "x", NULL };
	_cleanup_str_ struct str a = STR_INIT, b = STR_INIT;

	(void)state;
	ssh_channel_show(ours, &a);
	assert_string_equal(str_text(&a), "sudo -n -- kregress-lock 'x y'");
	ssh_channel_show(other, &b);
	assert_string_equal(str_text(&b), "sh -c 'echo $1' sh x");
}

static void each_script_is_one_for_dash_and_for_busybox(void **state)
{
	(void)state;
	for (int i = 0; i < BOOT_SCRIPTS; i++)
		script((enum boot_script)i);
	shell("for f in *.sh; do dash -n $f; busybox sh -n $f; done");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(modules_whose_installation_was_cut_short_are_ours_still,
				       fresh),
		cmocka_unit_test_setup(modules_of_others_are_neither_replaced_nor_removed, fresh),
		cmocka_unit_test_setup(all_that_is_ours_is_removed_and_told, fresh),
		cmocka_unit_test_setup(a_work_folder_without_our_mark_is_left_alone, fresh),
		cmocka_unit_test_setup(what_was_put_into_grubs_snippets_is_taken_out, fresh),
		cmocka_unit_test_setup(an_initramfs_is_made_anew_where_another_lies_in_its_place,
				       fresh),
		cmocka_unit_test_setup(on_the_way_home_no_loaded_kernel_is_jumped_into, fresh),
		cmocka_unit_test(a_script_is_shown_by_its_name),
		cmocka_unit_test_setup(each_script_is_one_for_dash_and_for_busybox, fresh),
	};

	return cmocka_run_group_tests(tests, make_keys, remove_dir);
}
