/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine over a real sshd, with fake /proc and /sys: who it is, what it lacks, whose it is. */
#include "unit/ssh_box_fixture.h"

#include "target/ssh_run.h"

/* ---- who it is ----------------------------------------------------------------------------- */

static void it_is_identified_in_one_step(void **state)
{
	(void)state;
	assert_string_equal(box.boot_id, "11111111-2222-3333-4444-555555555555");
	assert_string_equal(box.build_id, "0102030405060708090a0b0c0d0e0f1011121314");
	assert_string_equal(box.release, "6.12.0-kregress");
	assert_string_equal(box.cmdline, "root=/dev/sda1 quiet kregress=abc");
	_cleanup_free_ char *arch = sh("uname -m"), *uid = sh("id -u");

	assert_string_equal(box.arch, arch);
	assert_int_equal(box.uid, atol(uid));
	assert_true(box.uptime_s > 12.49 && box.uptime_s < 12.51);
	assert_int_equal(box.is_root, box.uid == 0);
}

static void facts_are_what_the_files_say(void **state)
{
	_cleanup_strv_ struct strv facts = STRV_INIT;
	struct err e = ERR_INIT;

	(void)state;
	must(&e, ssh_box_facts(&box, &facts, &e));
	assert_true(strv_has(&facts, "cpu_model=Fake CPU @ 1 GHz"));
	assert_true(strv_has(&facts, "microcode=0xd1"));
	assert_true(strv_has(&facts, "cpus_online=2"));
	assert_true(strv_has(&facts, "memory_total_kb=16384"));
	assert_true(strv_has(&facts, "clocksource=tsc"));
	assert_true(strv_has(&facts, "load_before=0.05 0.10 0.20 1/100 4242"));
	assert_true(strv_has(&facts, "governor=powersave schedutil"));
	assert_true(strv_has(&facts, "mitigation.meltdown=Mitigation: PTI"));
	assert_true(strv_has(&facts, "mitigation.l1tf=Not affected"));
	assert_true(strv_has(&facts, "cmdline=root=/dev/sda1 quiet kregress=abc"));
	assert_true(strv_has(&facts, "smt_active=1"));
}

static void escape_sequences_in_facts_are_neutralised(void **state)
{
	_cleanup_strv_ struct strv facts = STRV_INIT;
	struct err e = ERR_INIT;

	(void)state;
	fake("proc/cmdline", "quiet \033[2J");
	must(&e, ssh_box_facts(&box, &facts, &e));
	assert_true(strv_has(&facts, "cmdline=quiet \\x1b[2J"));
}

/* ---- what it lacks ------------------------------------------------------------------------- */

/* The list in one text, owned. */
static char *missing_of(const struct ssh_box_need *need)
{
	struct strv missing = STRV_INIT;
	struct str all = STR_INIT;
	struct err e = ERR_INIT;

	must(&e, ssh_box_check(&box, need, &missing, &e));
	str_add(&all, "");
	for (size_t i = 0; i < missing.n; i++)
		str_addf(&all, "%s\n", missing.v[i]);
	strv_release(&missing);
	return str_detach(&all);
}

static void fake_tools(const char *names)
{
	shell("for t in %s; do printf '#!/bin/sh\\n' >root/bin/$t; chmod +x root/bin/$t; done",
	      names);
}

static void a_machine_that_has_all_lacks_nothing(void **state)
{
	struct ssh_box_need need = { .install = "kexec",
				     .has_modules = true,
				     .boot_dir = in_dir("boot"),
				     .arch = box.arch,
				     .boot_bytes = 1 };

	(void)state;
	shell("mkdir -p boot");
	fake_tools("kexec tar depmod");
	_cleanup_free_ char *missing = missing_of(&need);

	assert_string_equal(missing, box.is_root ? "" : "no privileges");
}

static void all_that_is_missing_is_said_at_once(void **state)
{
	struct ssh_box_need need = { .install = "kexec",
				     .boot_dir = "/proc",
				     .arch = "s390",
				     .boot_bytes = 1,
				     .work_bytes = 1ull << 60 };

	(void)state;
	fake("proc/sys/kernel/kexec_load_disabled", "1");
	fake("sys/kernel/security/lockdown", "none [integrity] confidentiality");
	_cleanup_free_ char *missing = missing_of(&need);

	assert_has(missing, "no 'kexec' (install the package kexec-tools there)");
	assert_has(missing, "kexec is disabled until the next boot");
	assert_has(missing, "locked down");
	assert_has(missing, "where kernels for s390 are built");
	assert_has(missing, "MiB free where 1099511627784 MiB are needed");
}

static void free_space_is_what_df_says(void **state)
{
	_cleanup_strv_ struct strv args = STRV_INIT, answer = STRV_INIT;
	struct err e = ERR_INIT;

	(void)state;
	strv_add(&args, in_dir("work"));
	strv_add(&args, "/dev");
	strv_add(&args, "/lib/modules");
	must(&e, ssh_box_ask(&box, SSH_CHECK, false, &args, 0, &answer, &e));
	_cleanup_free_ char *df = sh("df -Pk /dev | awk 'NR == 2 { print $4 }'");

	assert_string_equal(ssh_box_value(&answer, "free_boot"), df);
	assert_string_equal(ssh_box_value(&answer, "exec"), "7");
}

static struct ssh_box_need with_grub(const char *default_entry, const char *mount)
{
	fake_tools("grub-reboot grub-editenv");
	shell("mkdir -p boot/grub root/etc/default; : >boot/grub/grubenv; "
	      "echo 'if [ \"${next_entry}\" ] ; then' >boot/grub/grub.cfg; "
	      "printf 'GRUB_TIMEOUT=1\\nGRUB_DEFAULT=%s\\n' >root/etc/default/grub",
	      default_entry);
	fake("proc/self/mountinfo", mount);
	return (struct ssh_box_need){ .install = "grub", .boot_dir = in_dir("boot") };
}

static void a_grub_that_boots_an_entry_once_is_fine(void **state)
{
	struct ssh_box_need need = with_grub("saved", "20 1 8:1 / / rw - ext4 /dev/sda1 rw");
	_cleanup_free_ char *missing = missing_of(&need);

	(void)state;
	assert_string_equal(missing, box.is_root ? "" : "no privileges");
}

static void a_grub_with_a_fixed_default_is_not(void **state)
{
	struct ssh_box_need need = with_grub("0", "20 1 8:1 / / rw - ext4 /dev/sda1 rw");
	_cleanup_free_ char *missing = missing_of(&need);

	(void)state;
	assert_has(missing, "GRUB_DEFAULT=saved");
}

static void a_grub_on_lvm_or_btrfs_would_boot_for_ever(void **state)
{
	struct ssh_box_need need;

	(void)state;
	shell("mkdir -p root/sys/dev/block/253:0/dm");
	_cleanup_free_ char *mount = xasprintf("20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
					       "21 20 253:0 / %s/boot rw shared:1 - btrfs x rw",
					       fx_dir);

	need = with_grub("\"saved\"", mount);
	_cleanup_free_ char *missing = missing_of(&need);

	assert_has(missing, "on LVM or RAID");
	assert_has(missing, "on a file system that GRUB cannot write");
	assert_null(strstr(missing, "GRUB_DEFAULT"));
}

/* ---- the folder that is ours --------------------------------------------------------------- */

/* All that would write, read or remove something in "work". */
static void all_leave_it_alone(void)
{
	struct ssh_box_need need = { .install = "", .boot_dir = in_dir("boot") };
	_cleanup_strv_ struct strv words = STRV_INIT, removed = STRV_INIT;
	_cleanup_strv_ struct strv args = STRV_INIT, answer = STRV_INIT;
	_cleanup_free_ char *missing = missing_of(&need);
	_cleanup_free_ char *before = sh("ls -lR work/ other");
	struct err e = ERR_INIT;

	assert_has(missing, "is there, and not ours: somebody else's, or not empty (set work_dir");
	strv_add(&words, "thp=always");
	assert_int_equal(ssh_box_setup(&box, &words, &e), -1);
	strv_add(&args, in_dir("work"));
	strv_add(&args, in_dir("work/run-1"));
	strv_add(&args, "0:0");
	assert_int_equal(ssh_box_ask(&box, SSH_PREPARE, false, &args, 0, &answer, &e), -1);
	assert_has(e.msg, "is not ours");
	must(&e, ssh_run_clean(&box, &removed, &e));
	must(&e, ssh_box_restore(&box, &e));
	assert_int_equal(removed.n, 0);
	_cleanup_free_ char *after = sh("ls -lR work/ other");

	assert_string_equal(after, before);
	assert_faked("sys/kernel/mm/transparent_hugepage/enabled", "madvise");
}

static const char other_folder[] =
	"rm -rf other work; mkdir -p boot other other/files other/run-old; echo x "
	">other/files/notes;"
	"printf 'boot 11111111-2222-3333-4444-555555555555\\n"
	"f %s/root/sys/kernel/mm/transparent_hugepage/enabled never\\n' >other/settings.before;";

static void a_folder_with_files_of_others_is_left_alone(void **state)
{
	(void)state;
	shell(other_folder, fx_dir);
	shell("mv other work; mkdir other");
	all_leave_it_alone();
}

static void a_link_in_the_folders_place_is_not_followed(void **state)
{
	(void)state;
	shell(other_folder, fx_dir);
	shell(": >other/.kregress; ln -s other work");
	all_leave_it_alone();
	shell("rm work");
}

static void a_folder_of_another_user_is_not_believed(void **state)
{
	(void)state;
	if (getuid() != 0) {
		print_message("needs root, to give a folder away\n");
		skip();
	}
	shell(other_folder, fx_dir);
	shell(": >other/.kregress; mv other work; mkdir other; chown -R 65534 work");
	all_leave_it_alone();
}

static void to_look_leaves_no_folder_behind(void **state)
{
	struct ssh_box_need need = { .install = "", .boot_dir = in_dir("boot") };
	_cleanup_free_ char *missing = NULL;

	(void)state;
	shell("mkdir -p boot; rm -rf work");
	missing = missing_of(&need);
	assert_false(fs_exists(in_dir("work")));
	shell("mkdir -p work/lost+found");
	free(missing);
	missing = missing_of(&need);
	assert_null(strstr(missing, "not ours"));
}

static void what_is_cleaned_away_is_told(void **state)
{
	_cleanup_strv_ struct strv removed = STRV_INIT;
	struct err e = ERR_INIT;

	(void)state;
	shell("mkdir -p work/run-0123; : >work/.kregress");
	must(&e, ssh_run_clean(&box, &removed, &e));
	assert_int_equal(removed.n, 1);
	assert_string_equal(removed.v[0], in_dir("work/run-0123"));
	assert_false(fs_exists(in_dir("work/run-0123")));
}

/* ---- answers ------------------------------------------------------------------------------- */

static void what_is_no_answer_is_an_error(void **state)
{
	_cleanup_strv_ struct strv answer = STRV_INIT;
	struct err e = ERR_INIT;

	(void)state;
	/* A kernel that says a line break where a word is due. */
	fake("bin/uname", "#!/bin/sh\nprintf 'x\\nbad line\\n'");
	shell("chmod +x root/bin/uname");
	assert_int_equal(ssh_box_ask(&box, SSH_IDENTIFY, false, NULL, 0, &answer, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "unexpected answer 'bad line'");
}

static void privileges_come_from_sudo_where_one_is_not_root(void **state)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;
	struct ssh_box b = { .needs_sudo = true, .o = { .root = "" } };

	(void)state;
	ssh_box_argv(&b, SSH_FACTS, true, NULL, &argv);
	assert_string_equal(argv.v[0], "sudo");
	assert_string_equal(argv.v[1], "-n");
	assert_string_equal(argv.v[3], "sh");
}

static void shellcheck_and_busybox_find_nothing_in_the_scripts(void **state)
{
	(void)state;
	for (int i = 0; i < SSH_SCRIPTS; i++) {
		_cleanup_str_ struct str text = STR_INIT;
		_cleanup_free_ char *name = xasprintf("script-%s.sh",
						      ssh_script_name((enum ssh_script)i));

		ssh_script_text((enum ssh_script)i, &text);
		put_file(name, str_text(&text));
	}
	/* Parts are shared: not each script uses all of them. */
	shell("command -v shellcheck >/dev/null || { echo 'install shellcheck' >&2; exit 1; }; "
	      "shellcheck -s sh -e SC2034,SC2317,SC3067 script-*.sh; "
	      "for f in script-*.sh; do dash -n $f; busybox sh -n $f; done");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(it_is_identified_in_one_step, fresh),
		cmocka_unit_test_setup(facts_are_what_the_files_say, fresh),
		cmocka_unit_test_setup(escape_sequences_in_facts_are_neutralised, fresh),
		cmocka_unit_test_setup(a_machine_that_has_all_lacks_nothing, fresh),
		cmocka_unit_test_setup(all_that_is_missing_is_said_at_once, fresh),
		cmocka_unit_test_setup(free_space_is_what_df_says, fresh),
		cmocka_unit_test_setup(a_grub_that_boots_an_entry_once_is_fine, fresh),
		cmocka_unit_test_setup(a_grub_with_a_fixed_default_is_not, fresh),
		cmocka_unit_test_setup(a_grub_on_lvm_or_btrfs_would_boot_for_ever, fresh),
		cmocka_unit_test_setup(a_folder_with_files_of_others_is_left_alone, fresh),
		cmocka_unit_test_setup(a_link_in_the_folders_place_is_not_followed, fresh),
		cmocka_unit_test_setup(a_folder_of_another_user_is_not_believed, fresh),
		cmocka_unit_test_setup(to_look_leaves_no_folder_behind, fresh),
		cmocka_unit_test_setup(what_is_cleaned_away_is_told, fresh),
		cmocka_unit_test_setup(what_is_no_answer_is_an_error, fresh),
		cmocka_unit_test(privileges_come_from_sudo_where_one_is_not_root),
		cmocka_unit_test_setup(shellcheck_and_busybox_find_nothing_in_the_scripts, fresh),
	};

	return cmocka_run_group_tests(tests, open_box, close_box);
}
