/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of a campaign file: what parser, defaults, checks, dump and help go by. */
#include "io/config_table.h"

#include <string.h>

#define FIELD(member) \
	.offset = offsetof(struct config, member), .size = sizeof(((struct config *)0)->member)

#define SECOND ((uint64_t)1000)
#define DAY (24 * 3600 * SECOND)
#define MIB ((uint64_t)1 << 20)

static const struct config_choice hunts[] = {
	{ .name = "regression", .value = HUNT_REGRESSION },
	{ .name = "fix", .value = HUNT_FIX },
	{ .name = NULL },
};

static const struct config_choice build_types[] = {
	{ .name = "kernel", .value = BUILD_KERNEL },
	{ .name = "none", .value = BUILD_NONE },
	{ .name = NULL },
};

static const struct config_choice layouts[] = {
	{ .name = "tree", .value = LAYOUT_TREE },
	{ .name = "fixed", .value = LAYOUT_FIXED },
	{ .name = "random", .value = LAYOUT_RANDOM },
	{ .name = NULL },
};

static const struct config_choice tristates[] = {
	{ .name = "auto", .value = TRI_AUTO },
	{ .name = "yes", .value = TRI_YES },
	{ .name = "no", .value = TRI_NO },
	{ .name = NULL },
};

static const struct config_choice target_types[] = {
	{ .name = "qemu", .value = TARGET_QEMU },
	{ .name = "command", .value = TARGET_COMMAND },
	{ .name = "ssh", .value = TARGET_SSH },
	{ .name = NULL },
};

static const struct config_choice watchdogs[] = {
	{ .name = "auto", .value = true },
	{ .name = "no", .value = false },
	{ .name = NULL },
};

static const struct config_choice accels[] = {
	{ .name = "auto", .value = ACCEL_AUTO },
	{ .name = "kvm", .value = ACCEL_KVM },
	{ .name = "tcg", .value = ACCEL_TCG },
	{ .name = NULL },
};

static const struct config_choice betters[] = {
	{ .name = "lower", .value = METRIC_LOWER },
	{ .name = "higher", .value = METRIC_HIGHER },
	{ .name = "auto", .value = METRIC_BETTER_NONE },
	{ .name = NULL },
};

static const struct config_choice policies[] = {
	{ .name = "skip", .value = 0 },
	{ .name = "bad", .value = 1 },
	{ .name = NULL },
};

static const struct config_choice searches[] = {
	{ .name = "bisect", .value = SEARCH_BISECT },
	{ .name = "bayes", .value = SEARCH_BAYES },
	{ .name = "auto", .value = SEARCH_AUTO },
	{ .name = NULL },
};

static const struct config_choice skip_walks[] = {
	{ .name = "git", .value = SKIPS_GIT },
	{ .name = "borders", .value = SKIPS_BORDERS },
	{ .name = NULL },
};

const struct config_section config_sections[] = {
	{ "campaign", "What is hunted, and where." },
	{ "build", "How a commit becomes a kernel." },
	{ "target", "Where the kernel runs." },
	{ "workload", "What is run there, and which of its values decides." },
	{ "measure", "How often." },
	{ "verdict", "How values become good, bad or skip." },
	{ "confirm", "What is done before the culprit is believed." },
	{ "compare", "What 'kregress compare' measures each kernel with." },
};
const size_t config_sections_size = ARRAY_SIZE(config_sections);

const struct config_key config_table[] = {
	{ "campaign", "name", &config_kind_name, NULL,
	  "Names the campaign and its state. Default: the name of the file without .ini.",
	  FIELD(campaign.name), 0 },
	{ "campaign", "repo", &config_kind_folder, NULL,
	  "The git repository: any, a worktree or a bare one too. Nothing is written to it.",
	  FIELD(campaign.repo), KEY_REQUIRED },
	{ "campaign", "good", &config_kind_revision, NULL,
	  "The end with the wanted behaviour, as git names revisions. auto: walk back from bad "
	  "over "
	  "the tags (or 1 day to 4 months along first parents) until the value is better. Not "
	  "needed where a bisect log or a series gives the ends.",
	  FIELD(campaign.good), 0 },
	{ "campaign", "bad", &config_kind_revision, NULL, "The other end.", FIELD(campaign.bad),
	  0 },
	{ "campaign", "good_tries", &config_kind_count, "10",
	  "How many commits good = auto measures at most.", FIELD(campaign.good_tries), 0, .min = 1,
	  .max = 1000 },
	{ "campaign", "series", &config_kind_file, "",
	  "A mail series (mbox): its patches are applied on base, in a repository of our own, and "
	  "searched like commits. Instead of good and bad.",
	  FIELD(campaign.series), KEY_EMPTY_OK },
	{ "campaign", "base", &config_kind_revision, NULL, "The commit that series goes on.",
	  FIELD(campaign.base), 0 },
	{ "campaign", "hunt", &config_kind_choice, "regression",
	  "regression: good is the older end. fix: good is the newer end; find the commit that "
	  "brought it.",
	  FIELD(campaign.hunt), 0, .choices = hunts },
	{ "campaign", "first_parent", &config_kind_bool, "no",
	  "Follow only the first parent of merges.", FIELD(campaign.first_parent), 0 },
	{ "campaign", "paths", &config_kind_words, "",
	  "Only commits that touch these paths of the repository.", FIELD(campaign.paths),
	  KEY_EMPTY_OK },
	{ "campaign", "skip", &config_kind_words, "",
	  "Commits, and ranges A..B, that are not tested.", FIELD(campaign.skip), KEY_EMPTY_OK },
	{ "campaign", "state", &config_kind_new_folder, NULL,
	  "Folder of the store, the logs and the report. Default: "
	  "$XDG_STATE_HOME/kregress/<name>.",
	  FIELD(campaign.state), 0 },

	{ "build", "type", &config_kind_choice, "kernel",
	  "none: nothing to build, for type = command in [target].", FIELD(build.type), KEY_TYPE,
	  .choices = build_types },
	{ "build", "arch", &config_kind_arch, "x86_64", "Architecture of the kernel.",
	  FIELD(build.arch), 0, FOR_KERNEL },
	{ "build", "config", &config_kind_kconfig, "tinyconfig",
	  "A make target, or file:<path> of a .config.", FIELD(build.config), 0, FOR_KERNEL },
	{ "build", "fragments", &config_kind_fragments, "qemu-x86_64",
	  "Configuration fragments, merged in this order: names in configs/kernel, or paths "
	  "(with a '/' or ending in .config). The default is for type = qemu only.",
	  FIELD(build.fragments), KEY_EMPTY_OK | KEY_QEMU_DEFAULT, FOR_KERNEL },
	{ "build", "patches", &config_kind_patches, "",
	  "Patches (paths or patterns), applied where they apply and reverted after: old trees "
	  "need them to build with new compilers.",
	  FIELD(build.patches), KEY_EMPTY_OK, FOR_KERNEL },
	{ "build", "patch.NAME", &config_kind_patch, NULL,
	  "A build fix under a name of yours, for the commits that are reachable from 'to' but not "
	  "from 'from', as git bisect skip takes ranges: applied to each of them, and reverted "
	  "after; one that it does not apply to cannot be tested. Without a range: like patches.",
	  FIELD(build.patch), KEY_NAMED, FOR_KERNEL },
	{ "build", "make_args", &config_kind_words, "", "More arguments for make.",
	  FIELD(build.make_args), KEY_EMPTY_OK, FOR_KERNEL },
	{ "build", "layout", &config_kind_choice, "tree",
	  "Where code lies moves results, and each kernel has luck of its own in it. tree: as the "
	  "tree lays itself out. fixed: functions begin at multiples of 64 bytes, no KASLR. "
	  "random: "
	  "the layout can be drawn anew by a link, so that the luck can be averaged; KASLR and "
	  "address space randomisation are on.",
	  FIELD(build.layout), 0, FOR_KERNEL, .choices = layouts },
	{ "build", "jobs", &config_kind_count, "0", "make -j of so many; 0: one for each CPU.",
	  FIELD(build.jobs), 0, FOR_KERNEL, .max = 4096 },
	{ "build", "timeout", &config_kind_duration, "1h", "The longest that one build may take.",
	  FIELD(build.timeout_ms), 0, FOR_KERNEL, .min = SECOND, .max = 365 * DAY },
	{ "build", "ccache", &config_kind_choice, "auto",
	  "Compile through ccache; auto: where it is installed.", FIELD(build.ccache), 0,
	  FOR_KERNEL, .choices = tristates },
	{ "build", "command", &config_kind_command, "",
	  "Instead of all that: a command that leaves an image at $KREGRESS_IMAGE.",
	  FIELD(build.command), KEY_EMPTY_OK, FOR_KERNEL },
	{ "build", "cache_limit", &config_kind_size, "4G",
	  "How much built kernels may take on disk; the least recently used go first.",
	  FIELD(build.cache_limit_bytes), 0, FOR_KERNEL, .min = MIB, .max = MIB << 30 },

	{ "target", "type", &config_kind_choice, "qemu",
	  "qemu: each kernel is booted in a guest. ssh: on a machine of yours. command: your own "
	  "program measures.",
	  FIELD(target.type), KEY_TYPE, .choices = target_types },
	{ "target", "accel", &config_kind_choice, "auto",
	  "auto: KVM where a guest really boots under it, else TCG.", FIELD(target.accel), 0,
	  FOR_QEMU, .choices = accels },
	{ "target", "deterministic", &config_kind_bool, "no",
	  "Instruction-counted time on one CPU: results repeat exactly, but caches, TLBs and "
	  "contention are invisible.",
	  FIELD(target.deterministic), 0, FOR_QEMU },
	{ "target", "cpus", &config_kind_count, "1", "CPUs of the guest.", FIELD(target.cpus), 0,
	  FOR_QEMU, .min = 1, .max = 4096 },
	{ "target", "memory", &config_kind_size, "1G", "Memory of the guest.",
	  FIELD(target.memory_bytes), 0, FOR_QEMU, .min = 16 * MIB, .max = MIB << 24 },
	{ "target", "machine", &config_kind_machine, "microvm",
	  "Machine profile: a name in qemu/, or a path (with a '/' or ending in .ini).",
	  FIELD(target.machine), KEY_QEMU_DEFAULT, FOR_QEMU },
	{ "target", "append", &config_kind_long_text, "", "More boot parameters for the kernel.",
	  FIELD(target.append), KEY_EMPTY_OK, FOR_BOOTED },
	{ "target", "boot_timeout", &config_kind_duration, "60s",
	  "The longest until the guest's agent reports, or the machine lets us log in.",
	  FIELD(target.boot_timeout_ms), 0, FOR_BOOTED, .min = SECOND, .max = DAY,
	  .ssh_def = "10m" },
	{ "target", "extra_args", &config_kind_words, "", "More arguments for QEMU.",
	  FIELD(target.extra_args), KEY_EMPTY_OK, FOR_QEMU },
	{ "target", "host", &config_kind_text, NULL,
	  "The machine: a name, an address, or a Host of ~/.ssh/config.", FIELD(target.host),
	  KEY_REQUIRED, FOR_SSH },
	{ "target", "port", &config_kind_count, NULL,
	  "Its port. Default: as ~/.ssh/config has it, else 22.", FIELD(target.port), 0, FOR_SSH,
	  .max = 65535 },
	{ "target", "user", &config_kind_text, NULL,
	  "Who logs in: root, or one for whom 'sudo -n' works. Default: as ~/.ssh/config has it, "
	  "else root.",
	  FIELD(target.user), 0, FOR_SSH },
	{ "target", "identity", &config_kind_file, "",
	  "The private key (ed25519 or ecdsa). Default: as ~/.ssh/config has it, else what the "
	  "agent has, else ~/.ssh/id_ed25519 and id_ecdsa.",
	  FIELD(target.identity), KEY_EMPTY_OK, FOR_SSH },
	{ "target", "known_hosts", &config_kind_file, "",
	  "The file with its host key. Default: as ~/.ssh/config has it, else those that ssh "
	  "reads.",
	  FIELD(target.known_hosts), KEY_EMPTY_OK, FOR_SSH },
	{ "target", "install", &config_kind_words, "kexec",
	  "How a kernel is booted once: kexec; grub (a one-shot entry); or a command there that "
	  "sets $KREGRESS_IMAGE for the next boot alone.",
	  FIELD(target.install), 0, FOR_SSH },
	{ "target", "power_cycle", &config_kind_command, "",
	  "A command here that switches the machine off and on.", FIELD(target.power_cycle),
	  KEY_EMPTY_OK, FOR_SSH },
	{ "target", "console", &config_kind_command, "",
	  "A command here that prints the machine's console and runs beside each trial.",
	  FIELD(target.console), KEY_EMPTY_OK, FOR_SSH },
	{ "target", "initramfs", &config_kind_initramfs, "none",
	  "make: made on the machine by its own tools. A path: of one here.",
	  FIELD(target.initramfs), 0, FOR_SSH },
	{ "target", "setup", &config_kind_words, "",
	  "How the machine is made quiet, and put back after the runs: governor=NAME, "
	  "turbo=on|off, smt=on|off, thp=always|madvise|never, aslr=on|off, stop=UNIT,UNIT, "
	  "/proc/sys/...=VALUE, /sys/...=VALUE.",
	  FIELD(target.setup), KEY_EMPTY_OK, FOR_SSH },
	{ "target", "max_load", &config_kind_number, "0",
	  "Before the runs wait until the machine's load is at most this; 0: any load will do.",
	  FIELD(target.max_load), 0, FOR_SSH, .max = 10000 },
	{ "target", "max_wait", &config_kind_duration, "10m",
	  "The longest wait for that, and for hot CPUs.", FIELD(target.max_wait_ms), 0, FOR_SSH,
	  .max = 365 * DAY },
	{ "target", "watchdog", &config_kind_choice, "auto",
	  "auto: the machine's watchdog is armed before a kexec, where it has one that goes on.",
	  FIELD(target.watchdog), 0, FOR_SSH, .choices = watchdogs },
	{ "target", "work_dir", &config_kind_folder_there, "/var/tmp/kregress",
	  "The folder that is ours on the machine.", FIELD(target.work_dir), 0, FOR_SSH },
	{ "target", "command", &config_kind_command, "",
	  "The program that measures. It prints 'kregress: metric NAME VALUE UNIT' once for each "
	  "of $KREGRESS_RUNS runs.",
	  FIELD(target.command), KEY_EMPTY_OK, FOR_COMMAND },

	{ "workload", "use", &config_kind_workload, "",
	  "The workload: a name in workloads/, or the path of an INI file (with a '/' or ending "
	  "in .ini). Optional for type = command.",
	  FIELD(workload.use), KEY_EMPTY_OK },
	{ "workload", "args", &config_kind_long_text, NULL,
	  "Its arguments. Default: those in the workload's INI file.", FIELD(workload.args),
	  KEY_EMPTY_OK },
	{ "workload", "metric", &config_kind_metric, NULL,
	  "The metric that decides; all are recorded.", FIELD(workload.metric), KEY_REQUIRED },
	{ "workload", "timeout", &config_kind_duration, "2m", "The longest that one run may take.",
	  FIELD(workload.timeout_ms), 0, .min = 1, .max = 365 * DAY },

	{ "measure", "runs_per_boot", &config_kind_count, "5",
	  "Runs in one boot; their median counts.", FIELD(measure.runs_per_boot), 0, .min = 1,
	  .max = 10000 },
	{ "measure", "warmup_runs", &config_kind_count, "1", "Runs before those, not counted.",
	  FIELD(measure.warmup_runs), 0, .max = 10000 },
	{ "measure", "min_boots", &config_kind_count, "1", "Boots for each commit, at least.",
	  FIELD(verdict.min_boots), 0, .min = 1, .max = 10000 },
	{ "measure", "max_boots", &config_kind_count, "8",
	  "Boots for each commit, at most, while the verdict is unsure.", FIELD(verdict.max_boots),
	  0, .min = 1, .max = 10000 },
	{ "measure", "end_boots", &config_kind_count, "3",
	  "Boots for each of the two ends, at least.", FIELD(verdict.end_boots), 0, .min = 1,
	  .max = 10000 },

	{ "verdict", "threshold", &config_kind_threshold, "auto",
	  "What separates good from bad: a value (12.5), a share of the good end's value, signed "
	  "on the raw value (+20%, -15%), or auto: half-way between the ends.",
	  FIELD(verdict), 0 },
	{ "verdict", "better", &config_kind_choice, NULL,
	  "auto: the side the good end is on. Default: what the workload says of its metric, "
	  "else auto.",
	  FIELD(verdict.better), 0, .choices = betters },
	{ "verdict", "effect", &config_kind_share, "2%",
	  "The smallest difference that matters: ends that are shown to be nearer are 'no "
	  "difference'.",
	  FIELD(verdict.effect), 0 },
	{ "verdict", "confidence", &config_kind_confidence, "95%",
	  "Of the whole answer: above 50% and below 100%.", FIELD(verdict.confidence), 0 },
	{ "verdict", "on_build_failure", &config_kind_choice, "skip",
	  "What a commit is that does not build.", FIELD(verdict.build_failure_is_bad), 0,
	  .choices = policies },
	{ "verdict", "on_crash", &config_kind_choice, "skip",
	  "What a commit is that does not boot, crashes or hangs.", FIELD(verdict.crash_is_bad), 0,
	  .choices = policies },
	{ "verdict", "search", &config_kind_choice, "auto",
	  "bisect: git's own choice of commit, verdicts by threshold. bayes: the commits' chances "
	  "from all values, and the fewest and cheapest trials under noise. auto: bayes where one "
	  "boot of a commit could not be told from the threshold, by the spread of the ends.",
	  FIELD(search), 0, .choices = searches },
	{ "verdict", "build_sd", &config_kind_spread, "auto",
	  "For bayes: how much builds differ beyond what boots do (code layout), as a standard "
	  "deviation: a value in the metric's unit, a share of the good end's value (1%), 0, or "
	  "auto: learnt as the search goes.",
	  FIELD(build_sd), 0 },
	{ "verdict", "skips", &config_kind_choice, "borders",
	  "How skipped commits are walked. borders: a range of commits that fail alike is crossed "
	  "by its borders. git: as git bisect does.",
	  FIELD(skips), 0, .choices = skip_walks },
	{ "verdict", "prior", &config_kind_file, "",
	  "For search = bayes, a file of lines 'WEIGHT PATHSPEC' and 'WEIGHT commit REVISION': how "
	  "suspect a commit is before anything is measured.",
	  FIELD(prior), KEY_EMPTY_OK },

	{ "confirm", "revert", &config_kind_bool, "no",
	  "Measure the culprit reverted on top of the bad end, and applied on top of the good end. "
	  "Needs boots.",
	  FIELD(confirm.revert), 0 },
	{ "confirm", "boots", &config_kind_count, "0",
	  "Fresh boots of the culprit and its parent, interleaved; 0: no confirmation.",
	  FIELD(confirm.boots), 0, .max = 10000 },
	{ "confirm", "snapshots", &config_kind_bool, "yes",
	  "In these boots, after the runs that count: a run between snapshots of /proc/vmstat and "
	  "the like, to show which counters moved.",
	  FIELD(confirm.snapshots), 0 },
	{ "confirm", "stacks", &config_kind_count, "100",
	  "Then runs in which the kernel stacks of the workload's threads are looked at so many "
	  "times a second, to show where they sleep; 0: none. The kernel needs CONFIG_STACKTRACE "
	  "(fragment stacks).",
	  FIELD(confirm.stacks), 0, .max = 1000 },
	{ "confirm", "profile", &config_kind_count, "0",
	  "Then runs in which QEMU is asked so many times a second where the CPUs are, to show "
	  "which functions take the time; 0: none. Needs nothing in the guest.",
	  FIELD(confirm.profile), 0, .max = 1000 },
	{ "confirm", "observe_time", &config_kind_duration, "2s",
	  "How long the runs of stacks, and those of the profile, go on: until so much has passed "
	  "in each boot.",
	  FIELD(confirm.observe_time_ms), 0, .min = 1, .max = DAY },

	{ "compare", "boots", &config_kind_count, "4",
	  "Boots of each kernel with each variant and each value of the sweep. An even number "
	  "balances their order.",
	  FIELD(compare.boots), 0, .min = 1, .max = 10000 },
	{ "compare", "sweep", &config_kind_sweep, "",
	  "An argument of the workload (of a command target: of the command), and the values that "
	  "it gets: 'interval 400..3600 step 400', or 'interval 1,2,4'. The value stands where the "
	  "arguments have {interval}; without that, after --interval where they have it, else "
	  "'--interval VALUE' comes last.",
	  FIELD(compare.sweep), KEY_EMPTY_OK },
	{ "compare", "average", &config_kind_span, "",
	  "Average over the values of the sweep that are in this range, too.",
	  FIELD(compare.average), KEY_EMPTY_OK },
	{ "compare", "variant.NAME", &config_kind_variant, NULL,
	  "Each kernel is measured with each variant: settings as setup of [target] takes them (in "
	  "a guest thp, aslr, /proc/sys/...=VALUE and /sys/...=VALUE), and append=\"...\" for "
	  "more boot parameters. A command target gets them as $KREGRESS_SETUP, and NAME as "
	  "$KREGRESS_VARIANT. Empty: as it is.",
	  FIELD(compare.variant), KEY_NAMED | KEY_EMPTY_OK },
};
const size_t config_table_size = ARRAY_SIZE(config_table);

const char *config_key_name(const struct config_key *k, const char *key)
{
	size_t fixed = strcspn(k->key, ".");

	if (!(k->flags & KEY_NAMED) || strncmp(k->key, key, fixed) != 0)
		return NULL;
	if (key[fixed] == '.')
		return key + fixed + 1;
	/* "patch = x": its name is missing */
	return key[fixed] ? NULL : key + fixed;
}

bool config_key_is(const struct config_key *k, const char *key)
{
	return k->flags & KEY_NAMED ? config_key_name(k, key) != NULL : str_eq(k->key, key);
}

int config_index(const char *section, const char *key)
{
	for (size_t i = 0; i < config_table_size; i++) {
		if (str_eq(config_table[i].section, section) &&
		    config_key_is(&config_table[i], key))
			return (int)i;
	}
	return -1;
}
