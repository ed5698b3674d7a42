/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Campaign files: what is taken, defaults, -o, dump and help. */
#include "unit/campaign_fixture.h"

static void a_minimal_campaign_gets_every_default(void **state)
{
	struct config c;

	(void)state;
	must_load(QEMU, &c);
	assert_string_equal(c.path, file);
	assert_string_equal(c.dir, dir);
	assert_string_equal(c.campaign.name, "hunt");
	assert_below_dir(c.campaign.repo, "/linux");
	assert_string_equal(c.campaign.good, "v1");
	assert_string_equal(c.campaign.bad, "v2");
	assert_int_equal(c.campaign.hunt, HUNT_REGRESSION);
	assert_false(c.campaign.first_parent);
	assert_int_equal(c.campaign.paths.n, 0);
	assert_string_equal(c.campaign.state, "/var/none/state/kregress/hunt");
	assert_int_equal(c.build.type, BUILD_KERNEL);
	assert_string_equal(c.build.arch, "x86_64");
	assert_string_equal(c.build.config, "tinyconfig");
	assert_int_equal(c.build.fragments.n, 1);
	assert_below_dir(c.build.fragments.v[0], "/data/configs/kernel/qemu-x86_64.config");
	assert_int_equal(c.build.patches.n, 0);
	assert_int_equal(c.build.patch.n, 0);
	assert_int_equal(c.build.make_args.n, 0);
	assert_int_equal(c.build.jobs, 0);
	assert_int_equal(c.build.timeout_ms, 3600000);
	assert_int_equal(c.build.ccache, TRI_AUTO);
	assert_int_equal(c.build.command.n, 0);
	assert_int_equal(c.build.cache_limit_bytes, 4294967296);
	assert_int_equal(c.target.type, TARGET_QEMU);
	assert_int_equal(c.target.accel, ACCEL_AUTO);
	assert_false(c.target.deterministic);
	assert_int_equal(c.target.cpus, 1);
	assert_int_equal(c.target.memory_bytes, 1073741824);
	assert_below_dir(c.target.machine, "/data/qemu/microvm.ini");
	assert_string_equal(c.target.append, "");
	assert_int_equal(c.target.boot_timeout_ms, 60000);
	assert_int_equal(c.target.extra_args.n, 0);
	assert_below_dir(c.workload.use, "/data/workloads/hugetlb_exit/hugetlb_exit.ini");
	assert_null(c.workload.args);
	assert_string_equal(c.workload.metric, "exit_ms");
	assert_int_equal(c.workload.timeout_ms, 120000);
	assert_int_equal(c.measure.runs_per_boot, 5);
	assert_int_equal(c.measure.warmup_runs, 1);
	assert_int_equal(c.verdict.min_boots, 1);
	assert_int_equal(c.verdict.max_boots, 8);
	assert_int_equal(c.verdict.end_boots, 3);
	assert_int_equal(c.verdict.kind, THRESHOLD_AUTO);
	assert_int_equal(c.verdict.better, METRIC_BETTER_NONE);
	assert_false(c.better_given);
	assert_true(c.verdict.effect == 0.02);
	assert_true(c.verdict.confidence == 0.95);
	assert_false(c.verdict.build_failure_is_bad);
	assert_false(c.verdict.crash_is_bad);
	assert_int_equal(c.search, SEARCH_AUTO);
	assert_int_equal(c.skips, SKIPS_BORDERS);
	assert_false(c.confirm.revert);
	assert_int_equal(c.confirm.boots, 0);
	assert_true(c.confirm.snapshots);
	assert_int_equal(c.confirm.stacks, 100);
	assert_int_equal(c.confirm.profile, 0);
	assert_int_equal(c.confirm.observe_time_ms, 2000);
	config_release(&c);
}

static void every_key_of_a_qemu_campaign_is_taken(void **state)
{
	static const char text[] =
		"[campaign]\nname = my-hunt\nrepo = ./linux\ngood = v6.10^{}\nbad = HEAD~3\n"
		"hunt = fix\nfirst_parent = yes\n"
		"paths = mm\n# a comment between\n  'include/my linux'\nstate = ./state/x\n"
		"[build]\ntype = kernel\narch = x86_64\nconfig = file:own/mine.config\n"
		"fragments = hugetlb own/mine.config qemu-x86_64\n"
		"patches = fixes/*.patch 'fixes/with blank.diff' fixes/[x].diff\n"
		"make_args = LLVM=1 'KCFLAGS=-g -O2'\njobs = 7\ntimeout = 1h30m\nccache = no\n"
		"command = ./measure.sh a\\ b\ncache_limit = 512M\n"
		"[target]\ntype = qemu\naccel = tcg\ndeterministic = no\ncpus = 2\nmemory = 2G\n"
		"machine = own/mine.ini\nappend = mitigations=off # not a comment\n  nosmt\n"
		"boot_timeout = 1500ms\nextra_args = -device 'x,y=z w'\n"
		"[workload]\nuse = own/mine.ini\nargs = --pages 64\n  --page-size 2M\n"
		"metric = exit_ms\ntimeout = 2h\n"
		"[measure]\nruns_per_boot = 3\nwarmup_runs = 0\nmin_boots = 2\nmax_boots = 2\n"
		"end_boots = 9\n"
		"[verdict]\nthreshold = -15%\nbetter = higher\neffect = 0.5%\nconfidence = 0.99\n"
		"on_build_failure = bad\non_crash = bad\nsearch = bisect\nskips = git\n"
		"[confirm]\nrevert = yes\nboots = 4\n";
	struct config c;

	(void)state;
	must_load(text, &c);
	assert_string_equal(c.campaign.name, "my-hunt");
	assert_string_equal(c.campaign.good, "v6.10^{}");
	assert_int_equal(c.campaign.hunt, HUNT_FIX);
	assert_true(c.campaign.first_parent);
	assert_int_equal(c.campaign.paths.n, 2);
	assert_string_equal(c.campaign.paths.v[1], "include/my linux");
	assert_below_dir(c.campaign.state, "/state/x");
	assert_int_equal(strncmp(c.build.config, "file:", 5), 0);
	assert_below_dir(c.build.config + 5, "/own/mine.config");
	assert_int_equal(c.build.fragments.n, 3);
	assert_below_dir(c.build.fragments.v[0], "/data/configs/kernel/hugetlb.config");
	assert_below_dir(c.build.fragments.v[1], "/own/mine.config");
	assert_int_equal(c.build.patches.n, 4);
	assert_below_dir(c.build.patches.v[0], "/fixes/a.patch");
	assert_below_dir(c.build.patches.v[1], "/fixes/b.patch");
	assert_below_dir(c.build.patches.v[2], "/fixes/with blank.diff");
	assert_below_dir(c.build.patches.v[3], "/fixes/[x].diff");
	assert_int_equal(c.build.make_args.n, 2);
	assert_string_equal(c.build.make_args.v[1], "KCFLAGS=-g -O2");
	assert_int_equal(c.build.jobs, 7);
	assert_int_equal(c.build.timeout_ms, 5400000);
	assert_int_equal(c.build.ccache, TRI_NO);
	assert_int_equal(c.build.command.n, 2);
	assert_string_equal(c.build.command.v[0], "./measure.sh");
	assert_string_equal(c.build.command.v[1], "a b");
	assert_int_equal(c.build.cache_limit_bytes, 536870912);
	assert_int_equal(c.target.accel, ACCEL_TCG);
	assert_int_equal(c.target.cpus, 2);
	assert_int_equal(c.target.memory_bytes, 2147483648);
	assert_below_dir(c.target.machine, "/own/mine.ini");
	assert_string_equal(c.target.append, "mitigations=off # not a comment nosmt");
	assert_int_equal(c.target.boot_timeout_ms, 1500);
	assert_string_equal(c.target.extra_args.v[1], "x,y=z w");
	assert_below_dir(c.workload.use, "/own/mine.ini");
	assert_string_equal(c.workload.args, "--pages 64 --page-size 2M");
	assert_int_equal(c.workload.timeout_ms, 7200000);
	assert_int_equal(c.measure.runs_per_boot, 3);
	assert_int_equal(c.measure.warmup_runs, 0);
	assert_int_equal(c.verdict.min_boots, 2);
	assert_int_equal(c.verdict.max_boots, 2);
	assert_int_equal(c.verdict.end_boots, 9);
	assert_int_equal(c.verdict.kind, THRESHOLD_RELATIVE);
	assert_true(c.verdict.threshold == -0.15);
	assert_int_equal(c.verdict.better, METRIC_HIGHER);
	assert_true(c.better_given);
	assert_true(c.verdict.effect == 0.005);
	assert_true(c.verdict.confidence == 0.99);
	assert_true(c.verdict.build_failure_is_bad);
	assert_true(c.verdict.crash_is_bad);
	assert_true(c.confirm.revert);
	assert_int_equal(c.confirm.boots, 4);
	config_release(&c);
}

static void check_patch(const struct config *c, size_t i, const char *name, const char *rest,
			const char *from, const char *to)
{
	const struct config_patch *p = &c->build.patch.v[i];

	assert_string_equal(p->name, name);
	assert_below_dir(p->file, rest);
	if (!from) {
		assert_null(p->from);
		assert_null(p->to);
		return;
	}
	assert_string_equal(p->from, from);
	assert_string_equal(p->to, to);
}

static void patches_have_names_and_ranges(void **state)
{
	_cleanup_free_ char *twelve = xasprintf("%s:12", file);
	_cleanup_strv_ struct strv options = STRV_INIT;
	struct config c;
	struct err e = ERR_INIT;

	(void)state;
	strv_add(&options, "build.patch.b = ./fixes/a.patch x~2..y^{}");
	strv_add(&options, "build.patch.last=fixes/a.patch");
	if (load_options(QEMU "[build]\npatch.gcc-13_a = fixes/a.patch v6.1..v6.3-rc2\n"
			      "patch.b = fixes/b.patch one..two\n# between\n"
			      "patch.9 = 'fixes/with blank.diff'\n  a..b\n",
			 &options, &c, &e) < 0)
		fail_msg("refused: %s", e.msg);
	assert_int_equal(c.build.patch.n, 4);
	check_patch(&c, 0, "gcc-13_a", "/fixes/a.patch", "v6.1", "v6.3-rc2");
	check_patch(&c, 1, "b", "/fixes/a.patch", "x~2", "y^{}");
	check_patch(&c, 2, "9", "/fixes/with blank.diff", "a", "b");
	check_patch(&c, 3, "last", "/fixes/a.patch", NULL, NULL);
	assert_string_equal(config_where(&c, "build.patch.9"), twelve);
	assert_string_equal(config_where(&c, "build.patch.b"), "-o build.patch.b");
	assert_string_equal(config_where(&c, "build.patch.none"), file);
	assert_true(config_given(&c, "build.patch.9"));
	assert_false(config_given(&c, "build.patch.none"));
	config_release(&c);
}

static void a_command_campaign_needs_no_workload_and_no_build(void **state)
{
	struct config c;

	(void)state;
	must_load(COMMAND "[build]\ntype = none\n", &c);
	assert_int_equal(c.build.type, BUILD_NONE);
	assert_int_equal(c.target.type, TARGET_COMMAND);
	assert_int_equal(c.target.command.n, 2);
	assert_string_equal(c.target.command.v[0], "./measure.sh");
	assert_string_equal(c.target.command.v[1], "--x");
	assert_string_equal(c.workload.use, "");
	assert_string_equal(c.target.machine, "");
	assert_int_equal(c.build.fragments.n, 0);
	config_release(&c);
	/* with a build, the fragment for a guest is no default */
	must_load(COMMAND, &c);
	assert_int_equal(c.build.type, BUILD_KERNEL);
	assert_int_equal(c.build.fragments.n, 0);
	config_release(&c);
}

static void the_lines_of_the_design_with_empty_values_are_accepted(void **state)
{
	struct config c;

	(void)state;
	must_load(QEMU "[build]\nmake_args =\ncommand =\npatches =\nfragments =\n", &c);
	assert_int_equal(c.build.fragments.n, 0);
	config_release(&c);
	/* empty keys of the other type do no harm either */
	must_load(QEMU "[target]\ncommand =\n", &c);
	config_release(&c);
	must_load(QEMU "args =\n", &c);
	assert_string_equal(c.workload.args, "");
	config_release(&c);
}

static void a_workload_path_is_looked_up_beside_the_file_then_in_the_data(void **state)
{
	struct config c;

	(void)state;
	must_load(HEAD "[workload]\nmetric = m\nuse = workloads/ebizzy/ebizzy.ini\n", &c);
	assert_below_dir(c.workload.use, "/data/workloads/ebizzy/ebizzy.ini");
	config_release(&c);
	put("workloads/ebizzy/ebizzy.ini", "");
	must_load(HEAD "[workload]\nmetric = m\nuse = workloads/ebizzy/ebizzy.ini\n", &c);
	assert_below_dir(c.workload.use, "/workloads/ebizzy/ebizzy.ini");
	config_release(&c);
}

static void a_machine_by_name_is_in_the_data(void **state)
{
	struct config c;

	(void)state;
	must_load(QEMU "[target]\nmachine = pc\n", &c);
	assert_below_dir(c.target.machine, "/data/qemu/pc.ini");
	config_release(&c);
}

static void the_name_of_the_file_becomes_a_safe_name(void **state)
{
	_cleanup_free_ char *path = fs_join(dir, ".my hunt.ini");
	struct config c;
	struct err e = ERR_INIT;

	(void)state;
	put(".my hunt.ini", QEMU);
	assert_int_equal(config_load(path, NULL, &c, &e), 0);
	assert_string_equal(c.campaign.name, "_my_hunt");
	config_release(&c);
}

static void a_text_in_memory_is_taken_like_a_file(void **state)
{
	struct config c;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(config_parse(file, QEMU, strlen(QEMU), NULL, &c, &e), 0);
	assert_string_equal(c.dir, dir);
	config_release(&c);
}

static void options_of_the_command_line_win_over_the_file(void **state)
{
	_cleanup_strv_ struct strv options = STRV_INIT;
	struct config c;
	struct err e = ERR_INIT;

	(void)state;
	strv_add(&options, "build.jobs=3");
	strv_add(&options, "verdict.threshold=+10%");
	strv_add(&options, " target.append = a=b c ");
	strv_add(&options, "build.jobs=4");
	strv_add(&options, "campaign.repo=own");
	strv_add(&options, "workload.metric=sys_ms");
	assert_int_equal(load_options(QEMU "[build]\njobs = x\n", &options, &c, &e), 0);
	assert_int_equal(c.build.jobs, 4);
	assert_int_equal(c.verdict.kind, THRESHOLD_RELATIVE);
	assert_true(c.verdict.threshold == 0.1);
	assert_string_equal(c.target.append, "a=b c");
	assert_below_dir(c.campaign.repo, "/own");
	assert_string_equal(c.workload.metric, "sys_ms");
	config_release(&c);
}

static void the_place_of_a_value_is_kept_for_later_messages(void **state)
{
	_cleanup_free_ char *good = xasprintf("%s:3", file);
	_cleanup_strv_ struct strv options = STRV_INIT;
	struct config c;
	struct err e = ERR_INIT;

	(void)state;
	strv_add(&options, "campaign.bad=v3");
	assert_int_equal(load_options(QEMU, &options, &c, &e), 0);
	assert_string_equal(config_where(&c, "campaign.good"), good);
	assert_string_equal(config_where(&c, "campaign.bad"), "-o campaign.bad");
	assert_string_equal(config_where(&c, "build.jobs"), file);
	config_release(&c);
}

static void a_campaign_file_is_found_in_this_folder_or_above(void **state)
{
	_cleanup_free_ char *deep = fs_join(dir, "data/workloads/ebizzy");
	_cleanup_free_ char *above = fs_join(dir, "data/kregress.ini");
	char *found;

	(void)state;
	found = config_find(deep);
	assert_null(found);
	put("data/kregress.ini", "");
	found = config_find(deep);
	assert_string_equal(found, above);
	free(found);
	/* a folder of that name is none */
	put("data/workloads/kregress.ini/x", "");
	found = config_find(deep);
	assert_string_equal(found, above);
	free(found);
	unlink(above);
}

/* Lines of a dump as -o settings; comments are none. */
static void to_options(const char *dump, struct strv *options)
{
	while (*dump) {
		size_t n = strcspn(dump, "\n");

		strv_take(options, xstrndup(dump, n));
		dump += n + (dump[n] == '\n');
	}
}

/* Load, dump, load the dump as options over an empty file: the same dump. */
static void check_round_trip(const char *text, struct str *dump)
{
	_cleanup_strv_ struct strv options = STRV_INIT;
	_cleanup_str_ struct str again = STR_INIT;
	struct config c;
	struct err e = ERR_INIT;

	must_load(text, &c);
	config_dump(&c, dump);
	config_release(&c);
	to_options(dump->buf, &options);
	if (load_options("", &options, &c, &e) < 0)
		fail_msg("the dump is refused: %s", e.msg);
	config_dump(&c, &again);
	assert_string_equal(again.buf, dump->buf);
	config_release(&c);
}

static const char rich[] = QEMU
	"args = --a 'b c'\n[build]\npatches = fixes/*.patch fixes/[x].diff\ntimeout = 90m\n"
	"patch.NAME = fixes/a.patch v1..v2\npatch.x = 'fixes/with blank.diff'\n"
	"make_args = 'a b' c\\'d\ncache_limit = 1536M\n[verdict]\nthreshold = +7%\n"
	"better = lower\neffect = 0.3%\nconfidence = 99.9%\n"
	"[compare]\nboots = 6\nsweep = a 400..3600 step 800\naverage = 800..2400\n"
	"variant.NAME = thp=never append=\"a b\"\nvariant.none =\n[campaign";

/* A campaign whose ends are not good and bad. */
static const char series[] = "[campaign]\nrepo = linux\nseries = fixes/a.patch\nbase = v1\n"
			     "skip = a b..c\n[workload]\nuse = hugetlb_exit\nmetric = m\n";

static void a_dump_reads_back_as_the_same_campaign(void **state)
{
	_cleanup_str_ struct str qemu = STR_INIT, command = STR_INIT, full = STR_INIT;
	_cleanup_str_ struct str patches = STR_INIT;
	_cleanup_free_ char *text = xstrndup(rich, strlen(rich) - strlen("[campaign"));

	(void)state;
	check_round_trip(QEMU, &qemu);
	check_round_trip(text, &full);
	check_round_trip(series, &patches);
	assert_null(strstr(patches.buf, "campaign.good ="));
	check_round_trip(COMMAND "[build]\ntype = none\n[verdict]\nthreshold = 0.1\n", &command);
	assert_non_null(strstr(full.buf, "\nbuild.timeout = 90m\n"));
	assert_non_null(strstr(full.buf, "\nbuild.cache_limit = 1536M\n"));
	assert_non_null(strstr(full.buf, "\nverdict.threshold = +7%\n"));
	assert_non_null(strstr(full.buf, "\nverdict.confidence = 99.9%\n"));
	assert_non_null(strstr(full.buf, "\nworkload.args = --a 'b c'\n"));
	assert_non_null(strstr(full.buf, "/fixes/a.patch v1..v2\nbuild.patch.x = '/"));
	assert_non_null(strstr(full.buf, "/fixes/with blank.diff'\n"));
	assert_non_null(strstr(full.buf, "\ncompare.sweep = a 400,1200,2000,2800,3600\n"));
	assert_non_null(strstr(full.buf, "\ncompare.average = 800..2400\n"));
	assert_non_null(strstr(qemu.buf, "\nbuild.command =\n"));
	assert_non_null(strstr(qemu.buf, "\nverdict.threshold = auto\n"));
	assert_null(strstr(qemu.buf, "workload.args"));
	assert_non_null(strstr(command.buf, "\nverdict.threshold = 0.1\n"));
	assert_non_null(strstr(command.buf, "\ntarget.command = ./measure.sh --x\n"));
}

static void every_key_is_in_help_and_dump_and_none_else(void **state)
{
	_cleanup_strv_ struct strv keys = STRV_INIT;
	_cleanup_str_ struct str help = STR_INIT, dump = STR_INIT;
	_cleanup_free_ char *text = xstrndup(rich, strlen(rich) - strlen("[campaign"));
	size_t dumped = 0, helped = 0, only_command = 0;
	struct config c;

	(void)state;
	config_keys(&keys);
	config_help(&help);
	must_load(text, &c);
	config_dump(&c, &dump);
	config_release(&c);
	must_load(series, &c);
	config_dump(&c, &dump);
	config_release(&c);
	/* keys for the other types */
	must_load(COMMAND, &c);
	config_dump(&c, &dump);
	config_release(&c);
	must_load(QEMU "[build]\nconfig = defconfig\n[target]\ntype = ssh\nhost = box\nuser = me\n"
		       "identity = own/mine.ini\nknown_hosts = own/mine.ini\ninitramfs = make\n",
		  &c);
	config_dump(&c, &dump);
	config_release(&c);
	for (size_t i = 0; i < keys.n; i++) {
		const char *dot = strchr(keys.v[i], '.');
		_cleanup_free_ char *in_dump = xasprintf("\n%s =", keys.v[i]);
		_cleanup_free_ char *in_help = xasprintf("\n  %s = ", dot + 1);
		_cleanup_free_ char *header = xasprintf("\n[%.*s]  ", (int)(dot - keys.v[i]),
							keys.v[i]);
		const char *section = strstr(help.buf, header), *found, *next;

		only_command += str_eq(keys.v[i], "target.command");
		if (i > 0)
			assert_non_null(strstr(dump.buf, in_dump));
		assert_non_null(section);
		found = strstr(section, in_help);
		next = strstr(section + 1, "\n[");
		assert_non_null(found);
		assert_true(!next || found < next);
	}
	assert_int_equal(only_command, 1);
	assert_int_equal(strncmp(dump.buf, "campaign.name = hunt\n", 21), 0);
	/* and the other way round: as many lines as keys */
	for (const char *s = help.buf; (s = strstr(s, "\n  ")); s++) {
		size_t n = strspn(s + 3, "abcdefghijklmnopqrstuvwxyz_.NAME");

		helped += n > 0 && !strncmp(s + 3 + n, " = ", 3);
	}
	assert_int_equal(helped, keys.n);
	for (const char *s = dump.buf; *s; s += strcspn(s, "\n") + 1) {
		_cleanup_free_ char *key = xstrndup(s, strcspn(s, " "));

		/* patch.x is one of patch.NAME, variant.none of variant.NAME */
		assert_true(strv_has(&keys, key) !=
			    (str_eq(key, "build.patch.x") || str_eq(key, "compare.variant.none")));
		dumped++;
	}
	assert_true(dumped > keys.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_minimal_campaign_gets_every_default),
		cmocka_unit_test(every_key_of_a_qemu_campaign_is_taken),
		cmocka_unit_test(patches_have_names_and_ranges),
		cmocka_unit_test(a_command_campaign_needs_no_workload_and_no_build),
		cmocka_unit_test(the_lines_of_the_design_with_empty_values_are_accepted),
		cmocka_unit_test(a_workload_path_is_looked_up_beside_the_file_then_in_the_data),
		cmocka_unit_test(a_machine_by_name_is_in_the_data),
		cmocka_unit_test(the_name_of_the_file_becomes_a_safe_name),
		cmocka_unit_test(a_text_in_memory_is_taken_like_a_file),
		cmocka_unit_test(options_of_the_command_line_win_over_the_file),
		cmocka_unit_test(the_place_of_a_value_is_kept_for_later_messages),
		cmocka_unit_test(a_campaign_file_is_found_in_this_folder_or_above),
		cmocka_unit_test(a_dump_reads_back_as_the_same_campaign),
		cmocka_unit_test(every_key_is_in_help_and_dump_and_none_else),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
