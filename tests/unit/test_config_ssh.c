/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Campaign files: the keys of machines over SSH. */
#include "unit/campaign_fixture.h"

/* the next line is line 12 */
#define SSH                                                                \
	HEAD "[workload]\nuse = hugetlb_exit\nmetric = exit_ms\n[build]\n" \
	     "fragments = hugetlb\n[target]\ntype = ssh\n"
#define BOX SSH "host = box\n"

static void a_machine_needs_a_host_and_gets_every_default(void **state)
{
	struct config c;

	(void)state;
	check_refused(SSH, 10, "'host' is missing in [target] (add a line 'host = ...')");
	must_load(BOX, &c);
	assert_int_equal(c.target.type, TARGET_SSH);
	assert_string_equal(c.target.host, "box");
	/* not said: ~/.ssh/config has a word in these */
	assert_int_equal(c.target.port, 0);
	assert_null(c.target.user);
	assert_string_equal(c.target.identity, "");
	assert_string_equal(c.target.known_hosts, "");
	assert_int_equal(c.target.install.n, 1);
	assert_string_equal(c.target.install.v[0], "kexec");
	assert_int_equal(c.target.power_cycle.n, 0);
	assert_int_equal(c.target.console.n, 0);
	assert_int_equal(c.target.boot_timeout_ms, 600000);
	assert_string_equal(c.target.append, "");
	assert_string_equal(c.target.initramfs, "");
	assert_int_equal(c.target.setup.n, 0);
	assert_true(c.target.max_load == 0);
	assert_int_equal(c.target.max_wait_ms, 600000);
	assert_true(c.target.watchdog);
	assert_string_equal(c.target.work_dir, "/var/tmp/kregress");
	config_release(&c);
	must_load(QEMU, &c);
	assert_int_equal(c.target.boot_timeout_ms, 60000);
	config_release(&c);
}

static void every_key_of_a_machine_is_taken(void **state)
{
	struct config c;

	(void)state;
	must_load(BOX "port = 2222\nuser = tester\nidentity = own/mine.ini\n"
		      "known_hosts = ./own/mine.config\ninstall = /root/set once 'a b'\n"
		      "power_cycle = ./measure.sh off\nconsole = cat /dev/ttyUSB0\n"
		      "boot_timeout = 90s\nappend = nosmt\ninitramfs = own/mine.ini\n"
		      "setup = governor=performance\n  smt=off\nmax_load = 0.25\nmax_wait = 1h\n"
		      "watchdog = no\nwork_dir = /srv/k//\n",
		  &c);
	assert_int_equal(c.target.port, 2222);
	assert_string_equal(c.target.user, "tester");
	assert_below_dir(c.target.identity, "/own/mine.ini");
	assert_below_dir(c.target.known_hosts, "/own/mine.config");
	assert_int_equal(c.target.install.n, 3);
	assert_string_equal(c.target.install.v[2], "a b");
	assert_int_equal(c.target.power_cycle.n, 2);
	assert_string_equal(c.target.console.v[0], "cat");
	assert_int_equal(c.target.boot_timeout_ms, 90000);
	assert_string_equal(c.target.append, "nosmt");
	assert_below_dir(c.target.initramfs, "/own/mine.ini");
	assert_int_equal(c.target.setup.n, 2);
	assert_string_equal(c.target.setup.v[1], "smt=off");
	assert_true(c.target.max_load == 0.25);
	assert_int_equal(c.target.max_wait_ms, 3600000);
	assert_false(c.target.watchdog);
	assert_string_equal(c.target.work_dir, "/srv/k");
	config_release(&c);
}

static void keys_below_the_home_folder_are_found_there(void **state)
{
	_cleanup_free_ char *home = fs_join(dir, "own");
	struct config c;

	(void)state;
	setenv("HOME", home, 1);
	must_load(BOX "identity = ~/mine.ini\n", &c);
	assert_below_dir(c.target.identity, "/own/mine.ini");
	config_release(&c);
}

static void an_initramfs_is_none_made_there_or_a_file(void **state)
{
	struct config c;

	(void)state;
	must_load(BOX "initramfs = none\n", &c);
	assert_string_equal(c.target.initramfs, "");
	config_release(&c);
	must_load(BOX "initramfs = make\n", &c);
	assert_string_equal(c.target.initramfs, "make");
	config_release(&c);
	put("make", "");
	must_load(BOX "initramfs = ./make\n", &c);
	assert_below_dir(c.target.initramfs, "/make");
	config_release(&c);
}

static void bad_values_of_machines_are_refused(void **state)
{
	_cleanup_free_ char *script =
		xasprintf("command './plain.sh' is not executable (chmod +x '%s/plain.sh')", dir);
	_cleanup_free_ char *none = xasprintf("identity 'none' is not there: no file '%s/none'",
					      dir);

	(void)state;
	check_refused(BOX "port = 65536\n", 13,
		      "bad number '65536' for port (a whole number from 0 to 65535)");
	check_refused(BOX "identity = none\n", 13, none);
	check_refused(BOX "max_load = -1\n", 13,
		      "bad number '-1' for max_load (a number from 0 to 10000)");
	check_refused(BOX "max_load = nan\n", 13,
		      "bad number 'nan' for max_load (a number from 0 to 10000)");
	check_refused(BOX "watchdog = yes\n", 13, "bad value 'yes' for watchdog (auto, no)");
	check_refused(BOX "work_dir = tmp\n", 13,
		      "bad folder 'tmp' for work_dir (an absolute path there, such as "
		      "/var/tmp/kregress)");
	check_refused(BOX "work_dir = /var/../etc\n", 13,
		      "bad folder '/var/../etc' for work_dir (an absolute path there, such as "
		      "/var/tmp/kregress)");
	check_refused(BOX "work_dir = /\n", 13,
		      "bad folder '/' for work_dir (an absolute path there, such as "
		      "/var/tmp/kregress)");
	check_refused(BOX "work_dir = /var/tmp/./\n", 13,
		      "bad folder '/var/tmp/./' for work_dir (an absolute path there, such as "
		      "/var/tmp/kregress)");
	check_refused(BOX "console = ./plain.sh\n", 13, script);
}

static void keys_of_machines_are_for_machines(void **state)
{
	(void)state;
	check_line("target", "host = box",
		   "'host' is for type = ssh in [target] only (remove it, or change the type)");
	check_refused(BOX "cpus = 2\n", 13,
		      "'cpus' is for type = qemu in [target] only (remove it, or change the type)");
	check_refused(COMMAND "append = x\n", 10,
		      "'append' is for type = qemu and type = ssh in [target] only (remove it, or "
		      "change the type)");
	check_refused(BOX "hots = y\n", 13,
		      "unknown key 'hots' in [target] (did you mean 'host'?)");
}

static void a_machine_needs_a_kernel_and_a_workload(void **state)
{
	(void)state;
	check_refused(HEAD "[workload]\nuse = hugetlb_exit\nmetric = m\n[target]\ntype = ssh\n"
			   "host = box\n[build]\ntype = none\n",
		      12,
		      "type = none leaves nothing for ssh to boot (build a kernel, or set type = "
		      "command in [target])");
	check_refused(HEAD "[workload]\nuse = hugetlb_exit\nmetric = m\n[target]\ntype = ssh\n"
			   "host = box\n[build]\njobs = 1\n",
		      11,
		      "type = ssh needs the configuration of a kernel that its machine can boot "
		      "(config = file:<the machine's .config>, or fragments)");
	check_refused(HEAD "[workload]\nmetric = m\n[target]\ntype = ssh\nhost = box\n[build]\n"
			   "config = defconfig\n",
		      5,
		      "'use' is missing in [workload] (type = ssh needs one; see 'kregress help "
		      "workloads')");
}

static void a_dump_of_a_machine_reads_back(void **state)
{
	_cleanup_str_ struct str first = STR_INIT, second = STR_INIT;
	_cleanup_strv_ struct strv lines = STRV_INIT;
	struct config c, again;
	struct err e = ERR_INIT;

	(void)state;
	must_load(BOX "max_load = 0.1\nsetup = stop=a,b\nwatchdog = no\n", &c);
	config_dump(&c, &first);
	config_release(&c);
	assert_non_null(strstr(first.buf, "\ntarget.boot_timeout = 10m\n"));
	assert_non_null(strstr(first.buf, "\ntarget.max_load = 0.1\n"));
	assert_non_null(strstr(first.buf, "\ntarget.watchdog = no\n"));
	assert_null(strstr(first.buf, "target.cpus"));
	_cleanup_free_ char *copy = xstrdup(first.buf);

	for (char *l = strtok(copy, "\n"); l; l = strtok(NULL, "\n"))
		strv_add(&lines, l);
	if (config_parse("x.ini", "", 0, &lines, &again, &e) < 0)
		fail_msg("%s", e.msg);
	config_dump(&again, &second);
	config_release(&again);
	assert_non_null(strstr(second.buf, "\ntarget.host = box\n"));
	assert_string_equal(second.buf, first.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_needs_a_host_and_gets_every_default),
		cmocka_unit_test(every_key_of_a_machine_is_taken),
		cmocka_unit_test(keys_below_the_home_folder_are_found_there),
		cmocka_unit_test(an_initramfs_is_none_made_there_or_a_file),
		cmocka_unit_test(bad_values_of_machines_are_refused),
		cmocka_unit_test(keys_of_machines_are_for_machines),
		cmocka_unit_test(a_machine_needs_a_kernel_and_a_workload),
		cmocka_unit_test(a_dump_of_a_machine_reads_back),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
