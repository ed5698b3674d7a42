/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workload and machine files: what is taken, and each mistake with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fs.h"
#include "io/workload.h"

/* A folder of a workload named "demo", its program and files, and data of our own. */
static char dir[64], file[128];

#define HEAD                     \
	"[workload]\n"           \
	"name = demo\n"          \
	"description = a demo\n" \
	"command = ./demo {args}\n"
/* the next line is line 6 */
#define WHOLE HEAD "[metric m]\n"

static void put(const char *name, const char *text, mode_t mode)
{
	_cleanup_free_ char *path = fs_join(dir, name), *folder = fs_dirname(path);
	struct err e = ERR_INIT;

	if (fs_mkdirs(folder, &e) < 0 || fs_write(path, text, strlen(text), &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(chmod(path, mode), 0);
}

static int setup(void **state)
{
	_cleanup_free_ char *data = NULL, *real = NULL;

	(void)state;
	strcpy(dir, "/tmp/kr-workload-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	real = fs_absolute(dir);
	strcpy(dir, real);
	snprintf(file, sizeof(file), "%s/demo.ini", dir);
	put("demo", "#!", 0755);
	put("bench", "#!", 0755);
	put("in/plain", "#!", 0644);
	put("in/bench", "#!", 0755);
	put("own.config", "", 0644);
	put("data/configs/kernel/hugetlb.config", "", 0644);
	put("data/build/workloads/built", "#!", 0755);
	put("data/build/workloads/stale", "#!", 0644);
	data = fs_join(dir, "data");
	setenv("KREGRESS_DATADIR", data, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return fs_remove_tree(dir, NULL);
}

static int load(const char *text, struct workload *w, struct err *e)
{
	put("demo.ini", text, 0644);
	return workload_load(file, w, e);
}

static void must_load(const char *text, struct workload *w)
{
	struct err e = ERR_INIT;

	if (load(text, w, &e) < 0)
		fail_msg("refused: %s", e.msg);
}

/* @message after "file:@line: "; every @ in it stands for the folder. */
static void check_refused(const char *text, int line, const char *message)
{
	_cleanup_str_ struct str expected = STR_INIT;
	struct workload w = { .path = NULL };
	struct err e = ERR_INIT;

	str_addf(&expected, "%s:%d: ", file, line);
	for (const char *s = message; *s; s++) {
		if (*s == '@')
			str_add(&expected, dir);
		else
			str_addmem(&expected, s, 1);
	}
	assert_int_equal(load(text, &w, &e), -1);
	assert_string_equal(e.msg, expected.buf);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_null(w.path);
}

static void assert_below_dir(const char *path, const char *rest)
{
	assert_int_equal(strncmp(path, dir, strlen(dir)), 0);
	assert_string_equal(path + strlen(dir), rest);
}

static void every_key_is_taken(void **state)
{
	static const char text[] = HEAD
		"files = in/plain ./bench\nkernel = hugetlb own.config\nappend = a=b\n  c=d\n"
		"args = -a 'b c'\n[setup]\n/proc/sys/vm/nr_hugepages = 64\n"
		"/sys/kernel/mm/transparent_hugepage/enabled = always # no comment\n"
		"[metric exit_ms]\nunit = ms\nbetter = lower\nmin = 0\nmax = 1e7\n"
		"[metric rate]\nbetter = higher\nregex = ^([0-9]+) records/s; #$\n"
		"[metric plain]\nbetter = none\n";
	struct workload w;

	(void)state;
	must_load(text, &w);
	assert_string_equal(w.path, file);
	assert_string_equal(w.dir, dir);
	assert_string_equal(w.name, "demo");
	assert_string_equal(w.description, "a demo");
	assert_int_equal(w.command.n, 2);
	assert_int_equal(w.files.n, 2);
	assert_below_dir(w.files.v[0], "/in/plain");
	assert_below_dir(w.files.v[1], "/bench");
	assert_int_equal(w.kernel.n, 2);
	assert_below_dir(w.kernel.v[0], "/data/configs/kernel/hugetlb.config");
	assert_below_dir(w.kernel.v[1], "/own.config");
	assert_string_equal(w.append, "a=b c=d");
	assert_string_equal(w.args, "-a 'b c'");
	assert_int_equal(w.n_setup, 2);
	assert_string_equal(w.setup[0].path, "/proc/sys/vm/nr_hugepages");
	assert_string_equal(w.setup[0].value, "64");
	assert_string_equal(w.setup[1].value, "always # no comment");
	assert_int_equal(w.n_metrics, 3);
	assert_string_equal(w.metric[0].name, "exit_ms");
	assert_string_equal(w.metric[0].unit, "ms");
	assert_int_equal(w.metric[0].better, METRIC_LOWER);
	assert_null(w.metric[0].regex);
	assert_true(w.metric[0].min == 0 && w.metric[0].max == 1e7);
	assert_string_equal(w.metric[1].regex, "^([0-9]+) records/s; #$");
	assert_int_equal(w.metric[1].better, METRIC_HIGHER);
	assert_string_equal(w.metric[1].unit, "");
	assert_true(isinf(w.metric[1].min) && w.metric[1].min < 0);
	assert_true(isinf(w.metric[1].max) && w.metric[1].max > 0);
	assert_int_equal(w.metric[2].better, METRIC_BETTER_NONE);
	assert_below_dir(w.program, "/demo");
	assert_ptr_equal(workload_metric(&w, "rate"), &w.metric[1]);
	assert_null(workload_metric(&w, "exit"));
	workload_release(&w);
}

static void a_program_of_a_source_tree_is_found_in_its_build_folder(void **state)
{
	struct workload w;

	(void)state;
	must_load("[workload]\nname = built\ndescription = d\ncommand = ./built\n[metric m]\n", &w);
	assert_below_dir(w.program, "/data/build/workloads/built");
	workload_release(&w);
}

static void a_command_of_the_guest_needs_no_program(void **state)
{
	struct workload w;

	(void)state;
	must_load("[workload]\nname = none\ndescription = d\ncommand = /bin/true\n[metric m]\n",
		  &w);
	assert_null(w.program);
	workload_release(&w);
	must_load("[workload]\nname = none\ndescription = d\ncommand = ./bench\nfiles = in/bench\n"
		  "[metric m]\n",
		  &w);
	assert_null(w.program);
	workload_release(&w);
}

static void arguments_replace_their_place_in_the_command(void **state)
{
	_cleanup_strv_ struct strv own = STRV_INIT, other = STRV_INIT, none = STRV_INIT;
	struct workload w;
	struct err e = ERR_INIT;

	(void)state;
	must_load("[workload]\nname = demo\ndescription = d\ncommand = ./demo -x {args} 'y z'\n"
		  "args = -a 'b c'\n[metric m]\n",
		  &w);
	assert_int_equal(workload_argv(&w, NULL, &own, &e), 0);
	assert_int_equal(own.n, 5);
	assert_string_equal(own.v[1], "-x");
	assert_string_equal(own.v[2], "-a");
	assert_string_equal(own.v[3], "b c");
	assert_string_equal(own.v[4], "y z");
	assert_int_equal(workload_argv(&w, "\"q\"", &other, &e), 0);
	assert_int_equal(other.n, 4);
	assert_string_equal(other.v[2], "q");
	assert_int_equal(workload_argv(&w, "", &none, &e), 0);
	assert_int_equal(none.n, 3);
	assert_int_equal(workload_argv(&w, "'open", &none, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	workload_release(&w);
}

static void arguments_without_a_place_are_refused(void **state)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;
	struct workload w;
	struct err e = ERR_INIT;

	(void)state;
	must_load("[workload]\nname = demo\ndescription = d\ncommand = ./demo\n[metric m]\n", &w);
	assert_int_equal(workload_argv(&w, "-x", &argv, &e), -1);
	assert_string_equal(e.msg,
			    "workload 'demo' takes no arguments (remove 'args', or put {args} "
			    "into its command)");
	workload_release(&w);
	check_refused("[workload]\nname = demo\ndescription = d\ncommand = ./demo\nargs = -x\n"
		      "[metric m]\n",
		      5, "args are given, but command has no '{args}' (add it)");
	check_refused("[workload]\nname = demo\ndescription = d\ncommand = sh -c 'x {args}'\n"
		      "[metric m]\n",
		      4,
		      "bad use of '{args}' in command (once, as a word of its own, after the "
		      "program)");
	check_refused("[workload]\nname = demo\ndescription = d\ncommand = x {args} {args}\n"
		      "[metric m]\n",
		      4,
		      "bad use of '{args}' in command (once, as a word of its own, after the "
		      "program)");
}

static void unknown_names_ask_what_was_meant(void **state)
{
	(void)state;
	check_refused(WHOLE "[setpu]\n", 6, "unknown section 'setpu' (did you mean 'setup'?)");
	check_refused(WHOLE "[metrics]\n", 6,
		      "unknown section 'metrics' (known: workload, setup, metric NAME)");
	check_refused(WHOLE "units = ms\n", 6,
		      "unknown key 'units' in [metric m] (did you mean 'unit'?)");
	check_refused(HEAD "arg = x\n[metric m]\n", 5,
		      "unknown key 'arg' in [workload] (did you mean 'args'?)");
	check_refused(WHOLE "better = lowr\n", 6,
		      "unknown value 'lowr' for better (did you mean 'lower'?)");
}

static void missing_parts_are_named(void **state)
{
	(void)state;
	check_refused("\n[workload]\nname = demo\ndescription = d\n[metric m]\n", 2,
		      "'command' is missing in [workload] (add a line 'command = ...')");
	check_refused("[workload]\nname =\ndescription = d\ncommand = x\n[metric m]\n", 2,
		      "'name' has no value (give it one)");
	check_refused(HEAD, 1, "no metric is declared (add a section [metric NAME])");
}

static void bad_values_of_a_metric_are_refused(void **state)
{
	(void)state;
	check_refused(WHOLE "min = low\n", 6,
		      "bad number 'low' for min (a finite decimal number such as 12.5 or 1e6)");
	check_refused(WHOLE "max = inf\n", 6,
		      "bad number 'inf' for max (a finite decimal number such as 12.5 or 1e6)");
	check_refused(WHOLE "max = 1e999\n", 6,
		      "bad number '1e999' for max (a finite decimal number such as 12.5 or 1e6)");
	check_refused(WHOLE "min = 2\nmax = 1\n", 6, "min '2' is more than max '1' (swap them)");
	check_refused(WHOLE "regex = [0-9]+\n", 6,
		      "bad regex '[0-9]+': it has 0 groups (…) and must have exactly one (POSIX "
		      "extended, one group around the number)");
	check_refused(HEAD "[metric a b]\n", 5,
		      "bad metric name 'a b' (letters, digits, '_', '.' and '-', up to 64)");
	check_refused(HEAD "[metric ]\n", 5,
		      "bad metric name '' (letters, digits, '_', '.' and '-', up to 64)");
	check_refused(WHOLE "unit = a\n  b\n", 6,
		      "'unit' goes on in an indented line, but takes one line only");
}

static void settings_stay_below_proc_sys_and_sys(void **state)
{
	(void)state;
	check_refused(WHOLE "[setup]\n/etc/passwd = x\n", 7,
		      "bad setting '/etc/passwd' (a file below /proc/sys/ or /sys/ is wanted)");
	check_refused(WHOLE "[setup]\nvm.nr_hugepages = 5\n", 7,
		      "bad setting 'vm.nr_hugepages' (a file below /proc/sys/ or /sys/ is wanted)");
	check_refused(WHOLE "[setup]\n/sys/../etc/passwd = x\n", 7,
		      "bad setting '/sys/../etc/passwd' ('.' and '..' are not allowed)");
	check_refused(WHOLE "[setup]\n/proc/sys/vm/.. = x\n", 7,
		      "bad setting '/proc/sys/vm/..' ('.' and '..' are not allowed)");
	check_refused(WHOLE "[setup]\n/sys/a//b = x\n", 7,
		      "bad setting '/sys/a//b' (empty parts and blanks are not allowed)");
	check_refused(WHOLE "[setup]\n/sys/a b = x\n", 7,
		      "bad setting '/sys/a b' (empty parts and blanks are not allowed)");
	check_refused(WHOLE "[setup]\n/sys/a =\n", 7,
		      "setting '/sys/a' has no value (give it one)");
	check_refused(WHOLE "[setup]\n/sys/a = 1\n  2\n", 7,
		      "setting '/sys/a' goes on in an indented line, but takes one line only");
	check_refused(WHOLE "[setup]\n/sys/a = 1\n/sys/a = 2\n", 8,
		      "duplicate key '/sys/a' in [setup] (first in line 7: remove one)");
}

static void missing_files_are_refused(void **state)
{
	(void)state;
	check_refused(HEAD "files = in/gone\n[metric m]\n", 5,
		      "file 'in/gone' is not there (files are relative to the workload's folder)");
	check_refused(HEAD "files = in\n[metric m]\n", 5,
		      "file 'in' is not there (files are relative to the workload's folder)");
	check_refused(HEAD "files = bench in/bench\n[metric m]\n", 5,
		      "two files named 'bench' (rename one: they share a folder in the guest)");
	check_refused(HEAD "kernel = hugtlb\n[metric m]\n", 5,
		      "no fragment 'hugtlb' in '@/data/configs/kernel' (did you mean 'hugetlb'?)");
	check_refused("[workload]\nname = gone\ndescription = d\ncommand = ./gone\n[metric m]\n", 4,
		      "program './gone' is not built (run 'make workloads')");
	check_refused("[workload]\nname = stale\ndescription = d\ncommand = ./stale\n[metric m]\n",
		      4,
		      "program './stale' is not executable (run 'make workloads', or chmod +x "
		      "'@/data/build/workloads/stale')");
	check_refused("[workload]\nname = x\ndescription = d\ncommand = ./bench\n[metric m]\n", 4,
		      "program './bench' is not there (add it to 'files')");
	check_refused("[workload]\nname = x\ndescription = d\ncommand = ./plain\nfiles = in/plain\n"
		      "[metric m]\n",
		      4, "program './plain' is not executable (chmod +x '@/in/plain')");
	check_refused("[workload]\nname = ../x\ndescription = d\ncommand = ./x\n[metric m]\n", 2,
		      "bad name '../x' (letters, digits, '_', '.' and '-', up to 64)");
}

static void an_indented_key_does_not_vanish_in_the_value_above(void **state)
{
	(void)state;
	check_refused(
		HEAD "append = a=b\n  args=x\n[metric m]\n", 5,
		"'args=' on an indented line below 'append' would be part of its value (start "
		"keys in the first column, or join it to the line above)");
}

static void the_list_shows_every_installed_workload(void **state)
{
	_cleanup_str_ struct str list = STR_INIT;
	struct err e = ERR_INIT;

	(void)state;
	put("data/workloads/zeta/zeta.ini",
	    "[workload]\nname = zeta\ndescription = last\ncommand = ./zeta\n[metric m]\nunit = ms\n"
	    "better = lower\n",
	    0644);
	put("data/workloads/alpha/alpha.ini", "[workload]\nnonsense\n", 0644);
	put("data/workloads/common/x.h", "", 0644);
	assert_int_equal(workload_list(&list, &e), 0);
	assert_int_equal(strncmp(list.buf, "alpha — cannot be read: ", 26), 0);
	assert_non_null(strstr(list.buf, "alpha.ini:2: no '=' in 'nonsense'"));
	assert_non_null(
		strstr(list.buf, "\nzeta — last\n    m                ms, lower is better\n"));
	assert_null(strstr(list.buf, "common"));
}

static void a_list_without_a_folder_fails(void **state)
{
	_cleanup_free_ char *data = xstrdup(getenv("KREGRESS_DATADIR"));
	_cleanup_str_ struct str list = STR_INIT;
	struct err e = ERR_INIT;

	(void)state;
	setenv("KREGRESS_DATADIR", "/var/none", 1);
	assert_int_equal(workload_list(&list, &e), -1);
	assert_non_null(strstr(e.msg, "cannot list workloads in '/var/none/workloads'"));
	setenv("KREGRESS_DATADIR", data, 1);
}

static void a_machine_profile_is_read(void **state)
{
	_cleanup_free_ char *path = fs_join(dir, "pc.ini");
	struct machine m;
	struct err e = ERR_INIT;

	(void)state;
	put("pc.ini",
	    "[machine]\nname = pc\ndescription = a PC\nprogram = qemu-system-x86_64\n"
	    "args = -M pc\n  -nodefaults 'a b'\nappend = console=ttyS0\n"
	    "append_tcg = tsc=reliable\nappend_deterministic = norandmaps\n",
	    0644);
	assert_int_equal(machine_load(path, &m, &e), 0);
	assert_string_equal(m.name, "pc");
	assert_string_equal(m.program, "qemu-system-x86_64");
	assert_int_equal(m.args.n, 4);
	assert_string_equal(m.args.v[3], "a b");
	assert_string_equal(m.append, "console=ttyS0");
	assert_string_equal(m.append_tcg, "tsc=reliable");
	assert_string_equal(m.append_deterministic, "norandmaps");
	machine_release(&m);
}

static void check_machine_refused(const char *text, const char *message)
{
	_cleanup_free_ char *path = fs_join(dir, "bad.ini");
	_cleanup_free_ char *expected = xasprintf("%s:%s", path, message);
	struct machine m;
	struct err e = ERR_INIT;

	put("bad.ini", text, 0644);
	assert_int_equal(machine_load(path, &m, &e), -1);
	assert_string_equal(e.msg, expected);
}

static void a_bad_machine_profile_is_refused(void **state)
{
	(void)state;
	check_machine_refused("[machine]\nname = pc\ndescription = d\n",
			      "1: 'program' is missing in [machine] (add a line 'program = ...')");
	check_machine_refused("[machine]\nname = pc\ndescription = d\nprogram = q\nargz = x\n",
			      "5: unknown key 'argz' in [machine] (did you mean 'args'?)");
	check_machine_refused("[machine]\nname = pc\ndescription = d\nprogram = q\n[mashine]\n",
			      "5: unknown section 'mashine' (did you mean 'machine'?)");
	check_machine_refused("[machine]\nname = pc\ndescription = d\nprogram = q\nargs = 'x\n",
			      "5: bad list of words ''x' for args (a quote is open, or a backslash "
			      "ends it)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_taken),
		cmocka_unit_test(a_program_of_a_source_tree_is_found_in_its_build_folder),
		cmocka_unit_test(a_command_of_the_guest_needs_no_program),
		cmocka_unit_test(arguments_replace_their_place_in_the_command),
		cmocka_unit_test(arguments_without_a_place_are_refused),
		cmocka_unit_test(unknown_names_ask_what_was_meant),
		cmocka_unit_test(missing_parts_are_named),
		cmocka_unit_test(bad_values_of_a_metric_are_refused),
		cmocka_unit_test(settings_stay_below_proc_sys_and_sys),
		cmocka_unit_test(missing_files_are_refused),
		cmocka_unit_test(an_indented_key_does_not_vanish_in_the_value_above),
		cmocka_unit_test(the_list_shows_every_installed_workload),
		cmocka_unit_test(a_list_without_a_folder_fails),
		cmocka_unit_test(a_machine_profile_is_read),
		cmocka_unit_test(a_bad_machine_profile_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
