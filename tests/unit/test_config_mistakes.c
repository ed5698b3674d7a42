/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Campaign files: mistakes of lines, keys, files and their combination, each with its place. */
#include "unit/campaign_fixture.h"

/* A campaign without ends; the next line is line 6, in [campaign]. */
#define QEMU_REST "[workload]\nuse = hugetlb_exit\nmetric = m\n[campaign]\nrepo = linux\n"

static void unknown_sections_and_keys_ask_what_was_meant(void **state)
{
	(void)state;
	check_refused(QEMU "[verdit]\nthreshold = 1\n", 8,
		      "unknown section 'verdit' (did you mean 'verdict'?)");
	check_line("verdict", "treshold = 1",
		   "unknown key 'treshold' in [verdict] (did you mean 'threshold'?)");
	check_line("measure", "threshold = 1",
		   "unknown key 'threshold' in [measure] (it belongs to [verdict])");
	check_line("confirm", "zzzzz = 1",
		   "unknown key 'zzzzz' in [confirm] (known: revert, boots, snapshots, stacks, "
		   "profile, observe_time)");
	check_refused(QEMU "[qqqqqqqqqqq]\n", 8,
		      "unknown section 'qqqqqqqqqqq' (known: campaign, build, target, workload, "
		      "measure, verdict, confirm, compare)");
	check_refused(QEMU "[Campaign]\n", 8,
		      "unknown section 'Campaign' (did you mean 'campaign'?)");
}

static void duplicate_keys_are_refused(void **state)
{
	(void)state;
	check_refused(QEMU "metric = x\n", 8,
		      "duplicate key 'metric' in [workload] (first in line 7: remove one)");
	check_refused(QEMU "[build]\npatch.a = fixes/a.patch\npatch.b = fixes/b.patch\n"
			   "patch.a = fixes/b.patch\n",
		      11, "duplicate key 'patch.a' in [build] (first in line 9: remove one)");
}

static void missing_keys_are_named_at_their_section(void **state)
{
	(void)state;
	check_refused("[workload]\nuse = hugetlb_exit\nmetric = m\n\n[campaign]\ngood = y\n"
		      "bad = x\n",
		      5, "'repo' is missing in [campaign] (add a line 'repo = ...')");
	check_refused(HEAD "[workload]\nuse = hugetlb_exit\n", 5,
		      "'metric' is missing in [workload] (add a line 'metric = ...')");
	check_refused(HEAD, 1, "'metric' is missing in [workload] (add a line 'metric = ...')");
	check_refused(HEAD "[workload]\nmetric = m\n", 5,
		      "'use' is missing in [workload] (type = qemu needs one; see 'kregress help "
		      "workloads')");
}

static void empty_values_are_refused_where_one_is_needed(void **state)
{
	(void)state;
	check_line("build", "jobs =", "'jobs' has no value (remove the line for its default)");
	check_line("target",
		   "machine =", "'machine' has no value (remove the line for its default)");
	check_refused("[campaign]\nrepo =\ngood = a\nbad = b\n[workload]\nuse = hugetlb_exit\n"
		      "metric = m\n",
		      2, "'repo' has no value (remove the line or give it one)");
}

static void check_missing(const char *text, int line, const char *format)
{
	_cleanup_free_ char *message = NULL;
	_cleanup_str_ struct str out = STR_INIT;

	/* every @ in the message stands for the folder */
	for (const char *s = format; *s; s++) {
		if (*s == '@')
			str_add(&out, dir);
		else
			str_addmem(&out, s, 1);
	}
	message = str_detach(&out);
	check_refused(text, line, message);
}

static void missing_files_are_refused_with_the_path_looked_at(void **state)
{
	(void)state;
	check_missing(
		"[campaign]\nrepo = ../gone\ngood = a\nbad = b\n[workload]\n"
		"use = hugetlb_exit\nmetric = m\n",
		2,
		"repo '../gone' is not there: no folder '/tmp/gone' (paths are relative to the "
		"file)");
	check_missing(
		"[campaign]\nrepo = hunt.ini\ngood = a\nbad = b\n[workload]\n"
		"use = hugetlb_exit\nmetric = m\n",
		2,
		"repo 'hunt.ini' is not there: not a folder '@/hunt.ini' (paths are relative to "
		"the file)");
	check_missing(QEMU "[build]\nconfig = file:gone.config\n", 9,
		      "config 'gone.config' is not there: no file '@/gone.config'");
	check_missing(QEMU "[build]\nfragments = hugtlb\n", 9,
		      "no fragment 'hugtlb' in '@/data/configs/kernel' (did you mean 'hugetlb'?)");
	check_missing(QEMU "[build]\nfragments = own/gone.config\n", 9,
		      "fragment 'own/gone.config' is not there: no file '@/own/gone.config'");
	check_missing(QEMU "[build]\npatches = fixes/*.gone\n", 9,
		      "patches 'fixes/*.gone': no file matches (paths are relative to the file)");
	check_missing(QEMU "[build]\ncommand = ./gone.sh x\n", 9,
		      "command './gone.sh' is not there: no file '@/gone.sh'");
	check_missing(QEMU "[build]\ncommand = ./plain.sh x\n", 9,
		      "command './plain.sh' is not executable (chmod +x '@/plain.sh')");
	check_missing(QEMU "[target]\nmachine = microvn\n", 9,
		      "no machine profile 'microvn' in '@/data/qemu' (did you mean 'microvm'?)");
	check_missing(QEMU "[target]\nmachine = ./gone.ini\n", 9,
		      "machine profile './gone.ini' is not there: no file '@/gone.ini'");
	check_missing(
		HEAD "[workload]\nmetric = m\nuse = hugetlb_exti\n", 7,
		"no workload 'hugetlb_exti' in '@/data/workloads' (did you mean 'hugetlb_exit'?)");
	check_missing(HEAD "[workload]\nmetric = m\nuse = own/gone.ini\n", 7,
		      "workload 'own/gone.ini' is not there: no file '@/own/gone.ini'");
	check_missing(HEAD "state = measure.sh\n[workload]\nmetric = m\nuse = own/mine.ini\n", 5,
		      "bad folder 'measure.sh' for state (a file is there)");
}

static void a_data_folder_without_the_defaults_is_said_at_the_section(void **state)
{
	_cleanup_free_ char *data = xstrdup(getenv("KREGRESS_DATADIR"));

	(void)state;
	setenv("KREGRESS_DATADIR", dir, 1);
	check_missing(HEAD "[workload]\nuse = own/mine.ini\nmetric = m\n[build]\nfragments =\n"
			   "[target]\n",
		      10, "default of 'machine': no machine profile 'microvm' in '@/qemu'");
	setenv("KREGRESS_DATADIR", data, 1);
}

static void keys_of_the_other_type_are_refused(void **state)
{
	(void)state;
	check_line("target", "command = ./measure.sh",
		   "'command' is for type = command in [target] only (remove it, or change the "
		   "type)");
	check_refused(COMMAND "cpus = 2\n", 10,
		      "'cpus' is for type = qemu in [target] only (remove it, or change the type)");
	check_refused(
		COMMAND "[build]\ntype = none\njobs = 2\n", 12,
		"'jobs' is for type = kernel in [build] only (remove it, or change the type)");
}

static void contradictions_are_refused(void **state)
{
	(void)state;
	check_line("measure", "min_boots = 9",
		   "min_boots = 9 is more than max_boots = 8 (raise max_boots)");
	check_line("confirm", "revert = yes",
		   "revert = yes without boots (set boots = 3 in [confirm])");
	check_line("target", "cpus = 2\ndeterministic = yes",
		   "cpus = 2 contradicts deterministic = yes, which counts the instructions of one "
		   "CPU (set cpus = 1)");
	check_line(
		"target", "accel = kvm\ndeterministic = yes",
		"accel = kvm contradicts deterministic = yes, which needs TCG (set accel = tcg)");
	check_line("build", "type = none",
		   "type = none leaves nothing for qemu to boot (build a kernel, or set type = "
		   "command in [target])");
	check_refused(HEAD "[target]\ntype = command\n[workload]\nmetric = m\n", 5,
		      "type = command without a command (add a line 'command = ...')");
	check_refused(HEAD "[target]\ntype = command\ncommand = x\n[workload]\nmetric = m\n"
			   "args = --a\n",
		      10,
		      "args without a workload (set 'use', or put them into the command of "
		      "[target])");
}

static void ends_of_a_series_are_its_own(void **state)
{
	(void)state;
	check_refused(QEMU_REST "series = fixes/a.patch\n", 6,
		      "series without a commit to apply it on (add a line 'base = ...')");
	check_refused(QEMU_REST "base = v1\nseries = fixes/a.patch\ngood = v1\n", 8,
		      "good contradicts series, whose ends are base and its last patch (remove "
		      "good)");
	check_refused(
		QEMU_REST "base = v1\nseries = fixes/a.patch\nbad = v1\n", 8,
		"bad contradicts series, whose ends are base and its last patch (remove bad)");
	check_refused(QEMU_REST "base = v1\n", 6, "base is for a series (set series = FILE.mbox)");
	check_refused(QEMU_REST "good = auto\nhunt = fix\n", 6,
		      "good = auto looks for an older good commit, but in a fix hunt good is the "
		      "newer end (name it)");
	check_refused(QEMU_REST "good = v1\nbad = v1\n", 7,
		      "good and bad are the same revision 'v1' (name two ends)");
	check_refused(QEMU_REST "good_tries = 0\n", 6,
		      "bad number '0' for good_tries (a whole number from 1 to 1000)");
}

static void lines_that_cannot_go_on_are_refused(void **state)
{
	(void)state;
	check_line("build", "jobs = 1\n  2",
		   "'jobs' goes on in an indented line, but takes one line only");
	check_line("target", "append = a=b\n  cpus=2",
		   "'cpus=' on an indented line below 'append' would be part of its value (start "
		   "keys in the first column, or join it to the line above)");
}

#define BAD_NAME(key)                                                                       \
	"bad name in '" key "' (write patch.NAME, with a NAME of letters, digits, '_' and " \
	"'-', up to 64)"

static void patches_of_ranges_say_what_is_wrong_with_them(void **state)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{ "patch.a =", "'patch.a' has no value (remove the line or give it one)" },
		{ "patch.a = fixes/a.patch v1 v2",
		  "bad value 'fixes/a.patch v1 v2' for patch.a (a file and at most one range "
		  "from..to; quote a path with blanks)" },
		{ "patch.a = fixes/a.patch v1",
		  "bad range 'v1' for patch.a (a range is written from..to; quote a path with "
		  "blanks)" },
		{ "patch.a = fixes/a.patch ..v2",
		  "bad range '..v2' for patch.a (name both sides: from..to)" },
		{ "patch.a = fixes/a.patch v1..",
		  "bad range 'v1..' for patch.a (name both sides: from..to)" },
		{ "patch.a = fixes/a.patch v1...v2",
		  "bad range 'v1...v2' for patch.a (two dots once: from..to is what is reachable "
		  "from to, but not from from)" },
		{ "patch.a = fixes/a.patch v1..v2..v3", "bad range 'v1..v2..v3' for patch.a (two "
							"dots once: from..to is what is reachable "
							"from to, but not from from)" },
		{ "patch.a = fixes/a.patch v1..v1",
		  "bad range 'v1..v1' for patch.a (it is empty: both sides are the same)" },
		{ "patch.a = fixes/a.patch v1..--all",
		  "bad range 'v1..--all' for patch.a (no revision starts with '-')" },
		{ "patch.a = ''", "bad list of words '''' for patch.a (it has an empty word)" },
		{ "patch.a = 'b",
		  "bad list of words ''b' (a quote is open, or a backslash ends it)" },
		{ "patch. = fixes/a.patch", BAD_NAME("patch.") },
		{ "patch.a.b = fixes/a.patch", BAD_NAME("patch.a.b") },
		{ "patch = fixes/a.patch", BAD_NAME("patch") },
		{ "patches = fixes/a.patch\n  patch.b=fixes/b.patch",
		  "'patch.b=' on an indented line below 'patches' would be part of its value "
		  "(start "
		  "keys in the first column, or join it to the line above)" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_line("build", cases[i].line, cases[i].message);
	check_missing(QEMU "[build]\npatch.a = gone.patch v1..v2\n", 9,
		      "patch.a 'gone.patch' is not there: no file '@/gone.patch'");
	check_refused(QEMU "patch.a = x\n", 8,
		      "unknown key 'patch.a' in [workload] (it belongs to [build])");
	check_refused(COMMAND "[build]\ntype = none\npatch.a = fixes/a.patch\n", 12,
		      "'patch.a' is for type = kernel in [build] only (remove it, or change the "
		      "type)");
	check_option("build.patch.a=fixes/a.patch v1",
		     "-o build.patch.a: bad range 'v1' for patch.a (a range is written from..to; "
		     "quote a path with blanks)");
	check_option("build.patch.=x", "-o build.patch.: " BAD_NAME("patch."));
}

static void all_mistakes_are_told_in_the_order_of_lines(void **state)
{
	_cleanup_free_ char *expected =
		xasprintf("%s:9: bad number 'x' for jobs (a whole number from 0 to 4096)\n"
			  "%s:11: bad value 'x' for revert (yes or no)\n"
			  "%s:12: unknown key 'bots' in [confirm] (did you mean 'boots'?)",
			  file, file, file);
	struct config c;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(load_options(QEMU "[build]\njobs = x\n[confirm]\nrevert = x\nbots = 1\n",
				      NULL, &c, &e),
			 -1);
	assert_string_equal(e.msg, expected);
}

static void bad_options_name_themselves(void **state)
{
	(void)state;
	check_option("verdict.treshold=1",
		     "-o verdict.treshold: unknown key 'treshold' in [verdict] (did you mean "
		     "'threshold'?)");
	check_option("verdit.threshold=1",
		     "-o verdit.threshold: unknown section 'verdit' (did you mean 'verdict'?)");
	check_option(
		"verdict.threshold=20%",
		"-o verdict.threshold: bad threshold '20%' (a relative one needs a sign: + for "
		"more, - for less)");
	check_option("verdict.threshold",
		     "-o verdict.threshold: not a setting (write -o section.key=value)");
	check_option("threshold=1", "-o threshold: not a setting (write -o section.key=value)");
	check_option(".=1", "-o .: not a setting (write -o section.key=value)");
	check_option("", "-o : not a setting (write -o section.key=value)");
	check_option("campaign.good=a\nb",
		     "-o campaign.good: the value has control bytes (remove them)");
	check_option("measure.max_boots=0",
		     "-o measure.max_boots: bad number '0' for max_boots (a whole number from 1 to "
		     "10000)");
	check_option("measure.min_boots=9",
		     "-o measure.min_boots: min_boots = 9 is more than max_boots = 8 (raise "
		     "max_boots)");
	check_option(
		"verdict.search=baves",
		"-o verdict.search: bad value 'baves' for search (bisect, bayes, auto; did you "
		"mean 'bayes'?)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_sections_and_keys_ask_what_was_meant),
		cmocka_unit_test(duplicate_keys_are_refused),
		cmocka_unit_test(missing_keys_are_named_at_their_section),
		cmocka_unit_test(empty_values_are_refused_where_one_is_needed),
		cmocka_unit_test(missing_files_are_refused_with_the_path_looked_at),
		cmocka_unit_test(a_data_folder_without_the_defaults_is_said_at_the_section),
		cmocka_unit_test(keys_of_the_other_type_are_refused),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(ends_of_a_series_are_its_own),
		cmocka_unit_test(lines_that_cannot_go_on_are_refused),
		cmocka_unit_test(patches_of_ranges_say_what_is_wrong_with_them),
		cmocka_unit_test(all_mistakes_are_told_in_the_order_of_lines),
		cmocka_unit_test(bad_options_name_themselves),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
