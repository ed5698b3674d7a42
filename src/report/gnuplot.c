/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all plots by gnuplot share. */
#include "report/gnuplot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"

#define GNUPLOT_MS 60000

void gnuplot_quote(FILE *out, const char *text)
{
	_cleanup_str_ struct str clean = STR_INIT;

	str_neutralise(&clean, text ? text : "", text ? strlen(text) : 0, false);
	fputc('\'', out);
	for (const char *s = str_text(&clean); *s; s++) {
		if (*s == '\'')
			fputc('\'', out);
		/* command substitution is none in single quotes; the backtick is kept out all the same */
		fputc(*s == '`' ? ' ' : *s, out);
	}
	fputc('\'', out);
}

int gnuplot_write(const char *dir, const char *name, FILE *f, char **text, const size_t *n,
		  struct err *e)
{
	_cleanup_free_ char *path = fs_join(dir, name);
	int ret = fclose(f) == 0 ? fs_write(path, *text, *n, e)
				 : err_sys(e, errno, "cannot write '%s'", path);

	free(*text);
	*text = NULL;
	return ret;
}

int gnuplot_run(const char *dir, const char *script, char *why, size_t size, struct err *e)
{
	_cleanup_strv_ struct strv argv = STRV_INIT;
	struct proc_opts o = { .cwd = dir, .timeout_ms = GNUPLOT_MS };
	struct proc_result res;
	char how[64];

	strv_add(&argv, "gnuplot");
	strv_add(&argv, script);
	o.argv = argv.v;
	if (proc_run(&o, &res, e) < 0)
		return -1;
	if (res.end == PROC_EXITED && res.status == 0)
		return 0;
	if (res.end == PROC_NO_START)
		snprintf(why, size, "gnuplot is not installed (package gnuplot-nox)");
	else
		snprintf(why, size, "gnuplot: %s", proc_describe(&res, how, sizeof(how)));
	return 1;
}
