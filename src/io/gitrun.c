/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The git program as a child, away from the environment and the settings of our caller. */
#include "io/gitrun.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"

#define TIMEOUT_MS ((int64_t)10 * 60 * 1000)
#define OUTPUT_MAX ((size_t)256 << 20)

static const char *const settings[] = {
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_ATTR_NOSYSTEM=1",
	"GIT_TERMINAL_PROMPT=0",
	"LC_ALL=C",
	"LANGUAGE",
};

static void make_env(const struct strv *more, struct strv *env)
{
	for (char **p = environ; *p; p++)
		if (str_starts(*p, "GIT_"))
			strv_addf(env, "%.*s", (int)strcspn(*p, "="), *p);
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		strv_add(env, settings[i]);
	if (more)
		strv_extend(env, more);
}

static void make_argv(const char *const *args, struct strv *argv)
{
	strv_add(argv, "git");
	/* where the user's attributes are is no setting that GIT_CONFIG_GLOBAL takes away */
	strv_add(argv, "-c");
	strv_add(argv, "core.attributesFile=/dev/null");
	for (; *args; args++)
		strv_add(argv, *args);
}

int gitrun(const struct gitrun *g, struct err *e)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;
	_cleanup_strv_ struct strv env = STRV_INIT;
	struct proc_result res;
	char how[64];

	make_argv(g->args, &argv);
	make_env(g->env, &env);
	struct proc_opts o = { .argv = argv.v,
			       .env = &env,
			       .cwd = g->cwd,
			       .in_path = g->in_path,
			       .out = g->out,
			       .merge_stderr = g->merge,
			       .timeout_ms = TIMEOUT_MS,
			       .max_output = OUTPUT_MAX };

	if (proc_run(&o, &res, e) < 0)
		return -1;
	if (res.end == PROC_EXITED)
		return res.status;
	if (res.end == PROC_NO_START)
		return err_set(e, ERR_LAB, "cannot run 'git': %s (install the package 'git')",
			       strerror(res.status));
	return err_set(e, ERR_SYS, "git %s: %s", g->args[0], proc_describe(&res, how, sizeof(how)));
}

const char *gitrun_reason(const char *words, char *buf, size_t size)
{
	static const char *const marks[] = { "fatal: ", "error: " };
	_cleanup_str_ struct str line = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (str_starts(words, marks[i]))
			words += strlen(marks[i]);
	str_neutralise(&line, words, strcspn(words, "\n"), false);
	snprintf(buf, size, "%s", line.len ? str_text(&line) : "no reason given");
	return buf;
}
