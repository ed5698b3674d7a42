/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kregress doctor looks at on the machine: tools, room, noise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "cmd/doctor.h"

enum tool_for { FOR_ANY = 0, FOR_BUILD, FOR_BOOT };

/* A program in PATH, or a file where @name has a slash. */
struct tool {
	const char *name, *package, *what;
	enum tool_for need;
	enum doctor_level missing;
};

static const struct tool tools[] = {
	{ "git", "git", "applies patches, and is yours to look at the culprit", FOR_ANY,
	  DOCTOR_NOTE },
	{ "gcc", "gcc", "compiles kernels", FOR_BUILD, DOCTOR_PROBLEM },
	{ "ld", "binutils", "links kernels", FOR_BUILD, DOCTOR_PROBLEM },
	{ "make", "make", "builds kernels", FOR_BUILD, DOCTOR_PROBLEM },
	{ "flex", "flex", "the kernel's configuration needs it", FOR_BUILD, DOCTOR_PROBLEM },
	{ "bison", "bison", "the kernel's configuration needs it", FOR_BUILD, DOCTOR_PROBLEM },
	{ "bc", "bc", "the kernel's build needs it", FOR_BUILD, DOCTOR_PROBLEM },
	{ "perl", "perl", "the kernel's build needs it", FOR_BUILD, DOCTOR_PROBLEM },
	{ "/usr/include/libelf.h", "libelf-dev", "objtool needs it", FOR_BUILD, DOCTOR_PROBLEM },
	{ "/usr/include/openssl/opensslv.h", "libssl-dev",
	  "configurations with signed modules need it", FOR_BUILD, DOCTOR_NOTE },
	{ "cpio", "cpio", "configurations with kernel headers in the image need it", FOR_BUILD,
	  DOCTOR_NOTE },
};

static bool wanted(const struct doctor *d, enum tool_for need)
{
	return need == FOR_ANY || (need == FOR_BUILD ? doctor_builds(d) : doctor_boots(d));
}

static bool present(const char *name)
{
	_cleanup_free_ char *path = NULL;

	if (strchr(name, '/'))
		return access(name, R_OK) == 0;
	path = proc_which(name);
	return path != NULL;
}

static void check_tool(struct doctor *d, const struct tool *t)
{
	enum doctor_level missing = t->missing;

	if (!wanted(d, t->need))
		return;
	if (str_eq(t->name, "git") && d->cfg && d->cfg->build.patches.n + d->cfg->build.patch.n)
		missing = DOCTOR_PROBLEM;
	if (present(t->name))
		doctor_say(d, DOCTOR_OK, "tool: %s", t->name);
	else
		doctor_say(d, missing, "tool: %s is missing: %s (apt-get install %s)", t->name,
			   t->what, t->package);
}

static void check_ccache(struct doctor *d)
{
	int want = d->cfg ? d->cfg->build.ccache : TRI_AUTO;

	if (!doctor_builds(d) || want == TRI_NO)
		return;
	if (present("ccache"))
		doctor_say(d, DOCTOR_OK, "tool: ccache");
	else
		doctor_say(d, want == TRI_YES ? DOCTOR_PROBLEM : DOCTOR_NOTE,
			   "tool: ccache is missing: without it each kernel is compiled whole "
			   "(apt-get install ccache%s)",
			   want == TRI_YES ? ", or ccache = no in [build]" : "");
}

void doctor_tools(struct doctor *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		check_tool(d, &tools[i]);
	check_ccache(d);
}

#define GIB (1024.0 * 1024 * 1024)

/* Room in @dir: a problem below @least GiB, a note below @good. */
static void check_room(struct doctor *d, const char *what, const char *dir, double least,
		       double good, const char *remedy)
{
	uint64_t bytes = fs_free_bytes(dir);
	double gib = (double)bytes / GIB;

	if (bytes == UINT64_MAX)
		doctor_say(d, DOCTOR_NOTE, "room: how much is free in '%s' is not known", dir);
	else if (gib < good)
		doctor_say(d, gib < least ? DOCTOR_PROBLEM : DOCTOR_NOTE,
			   "room: %.1f GiB free in '%s' for %s; %.3g GiB is safe (%s)", gib, dir,
			   what, good, remedy);
	else
		doctor_say(d, DOCTOR_OK, "room: %.0f GiB free in '%s' for %s", gib, dir, what);
}

/* A guest whose memory is not there swaps, or is killed. */
static void check_memory(struct doctor *d)
{
	double want = (d->cfg ? (double)d->cfg->target.memory_bytes : GIB) / GIB;
	_cleanup_str_ struct str text = STR_INIT;
	unsigned long long kib;
	const char *at;

	if (!doctor_boots(d) || fs_read("/proc/meminfo", 1 << 16, &text, NULL) < 0)
		return;
	at = strstr(str_text(&text), "MemAvailable:");
	if (!at || sscanf(at, "MemAvailable: %llu", &kib) != 1)
		return;
	if ((double)kib * 1024 / GIB < want)
		doctor_say(d, DOCTOR_PROBLEM,
			   "memory: %.1f GiB available, but the guest takes %.1f GiB (a smaller "
			   "memory = in [target])",
			   (double)kib * 1024 / GIB, want);
	else
		doctor_say(d, DOCTOR_OK, "memory: %.1f GiB available, the guest takes %.1f GiB",
			   (double)kib * 1024 / GIB, want);
}

void doctor_space(struct doctor *d)
{
	_cleanup_free_ char *cache = fs_cache_dir(), *state = fs_state_dir();

	if (doctor_builds(d))
		check_room(d, "sources and kernels", cache, 3, 10,
			   "set XDG_CACHE_HOME to a larger disk");
	check_room(d, "state and logs", d->cfg ? d->cfg->campaign.state : state, 0.1, 1,
		   "set state in [campaign] to a larger disk");
	check_memory(d);
}

/* First word of a small file; "" where it is not there. */
static const char *word_of(const char *path, char *buf, size_t size)
{
	_cleanup_str_ struct str text = STR_INIT;

	buf[0] = '\0';
	if (fs_read(path, 4096, &text, NULL) == 0)
		snprintf(buf, size, "%.*s", (int)strcspn(str_text(&text), " \n"), str_text(&text));
	return buf;
}

/* A file of the kernel whose value @noisy makes values vary. */
struct knob {
	const char *path, *noisy, *text;
};

#define CPU "/sys/devices/system/cpu/"
static const struct knob knobs[] = {
	{ CPU "intel_pstate/no_turbo", "0",
	  "turbo frequencies are on: values vary with heat and load (echo 1 > " CPU
	  "intel_pstate/no_turbo)" },
	{ CPU "cpufreq/boost", "1",
	  "frequency boost is on: values vary with heat and load (echo 0 > " CPU "cpufreq/boost)" },
	{ CPU "smt/active", "1",
	  "two threads share a core: neighbours disturb (echo off > " CPU "smt/control)" },
};

static bool check_governor(struct doctor *d)
{
	char word[64];

	word_of(CPU "cpu0/cpufreq/scaling_governor", word, sizeof(word));
	if (!word[0] || str_eq(word, "performance"))
		return false;
	doctor_say(d, DOCTOR_NOTE,
		   "noise: frequency governor is '%s': clocks vary (cpupower frequency-set -g "
		   "performance)",
		   word);
	return true;
}

static bool check_load(struct doctor *d)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double load;

	if (getloadavg(&load, 1) != 1 || load < 0.5 * (double)cpus)
		return false;
	doctor_say(
		d, DOCTOR_NOTE,
		"noise: load is %.1f on %ld CPUs: other work disturbs what is measured (wait for "
		"it, or deterministic = yes in [target])",
		load, cpus);
	return true;
}

void doctor_noise(struct doctor *d)
{
	bool noisy;
	char word[64];

	/* What runs here does not disturb a machine of its own. */
	if (d->cfg && d->cfg->target.type == TARGET_SSH)
		return;
	if (d->cfg && d->cfg->target.type == TARGET_QEMU && d->cfg->target.deterministic) {
		doctor_say(d, DOCTOR_OK, "noise: none, as instructions are counted");
		return;
	}
	noisy = check_governor(d);
	noisy = check_load(d) || noisy;
	for (size_t i = 0; i < ARRAY_SIZE(knobs); i++) {
		if (!str_eq(word_of(knobs[i].path, word, sizeof(word)), knobs[i].noisy))
			continue;
		doctor_say(d, DOCTOR_NOTE, "noise: %s", knobs[i].text);
		noisy = true;
	}
	if (!noisy)
		doctor_say(d, DOCTOR_OK, "noise: governor, load, turbo and SMT look quiet");
}
