/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trial was measured with that the target does not tell: compiler, our own machine. */
#include <string.h>
#include <sys/utsname.h>

#include "base/fs.h"
#include "campaign/trial_internal.h"

#define LOG_HEAD (64u << 10) /* bytes of a build log in which the compiler is looked for */
#define PROC_MAX (16u << 20)

/* The value after "key … : " or "key " at the start of a line; false: there is none. */
static bool value_of(const char *text, const char *key, struct str *out)
{
	size_t n;

	for (; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		if (!str_starts(text, key))
			continue;
		text += strlen(key);
		text += strspn(text, " \t:");
		n = strcspn(text, "\n");
		if (n > 3 && str_starts(text + n - 3, " kB"))
			n -= 3; /* the unit is in our name of it */
		str_neutralise(out, text, n, false);
		return out->len > 0;
	}
	return false;
}

static void add(struct str *facts, const char *name, const char *text, const char *key)
{
	_cleanup_str_ struct str value = STR_INIT;

	if (value_of(text, key, &value))
		str_addf(facts, "%s=%s\n", name, str_text(&value));
}

/* A command target measures here; a guest runs on it. */
static void add_host(struct str *facts)
{
	_cleanup_str_ struct str cpu = STR_INIT, memory = STR_INIT;
	struct err ignored = ERR_INIT;
	struct utsname u;

	if (fs_read("/proc/cpuinfo", PROC_MAX, &cpu, &ignored) == 0) {
		add(facts, "host_cpu", str_text(&cpu), "model name");
		add(facts, "host_microcode", str_text(&cpu), "microcode");
	}
	if (fs_read("/proc/meminfo", PROC_MAX, &memory, &ignored) == 0)
		add(facts, "host_memory_kb", str_text(&memory), "MemTotal");
	if (uname(&u) == 0)
		str_addf(facts, "host_kernel=%s %s\n", u.release, u.machine);
}

void trial_add_facts(const struct attempt *a, struct str *facts)
{
	_cleanup_str_ struct str log = STR_INIT;
	struct err ignored = ERR_INIT;

	/* a log longer than that has its beginning in the buffer all the same */
	if (a->build.log_path) {
		fs_read(a->build.log_path, LOG_HEAD, &log, &ignored);
		add(facts, "compiler", str_text(&log), "kregress: compiler");
	}
	if (a->s->cfg->target.type != TARGET_SSH)
		add_host(facts);
}
