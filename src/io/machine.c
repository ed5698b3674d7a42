/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU machine profiles (qemu/<name>.ini). */
#include <string.h>

#include "io/inifields.h"
#include "io/workload.h"

static const struct inifield fields[] = {
	{ "name", INIFIELD_LINE, offsetof(struct machine, name), true },
	{ "description", INIFIELD_TEXT, offsetof(struct machine, description), true },
	{ "program", INIFIELD_LINE, offsetof(struct machine, program), true },
	{ "args", INIFIELD_WORDS, offsetof(struct machine, args), false },
	{ "append", INIFIELD_TEXT, offsetof(struct machine, append), false },
	{ "append_tcg", INIFIELD_TEXT, offsetof(struct machine, append_tcg), false },
	{ "append_deterministic", INIFIELD_TEXT, offsetof(struct machine, append_deterministic),
	  false },
};

/* Its one section; @m may hold values on failure. */
static int take(const struct inifile *f, struct machine *m, struct err *e)
{
	static const char *const section = "machine";
	_cleanup_(faults_release) struct faults faults = { .path = f->path };

	for (size_t i = 0; i < f->n_sections; i++) {
		if (!str_eq(f->section[i], section))
			faults_unknown(&faults, (struct fault_at){ .line = f->section_line[i] },
				       "section", f->section[i], "", &section, 1);
	}
	inifields_take(f, section, fields, ARRAY_SIZE(fields), m, &faults);
	return faults_end(&faults, e);
}

static int from_inifile(const struct inifile *f, struct machine *out, struct err *e)
{
	struct machine m = { .name = NULL };

	if (take(f, &m, e) < 0) {
		machine_release(&m);
		return -1;
	}
	*out = m;
	return 0;
}

int machine_load(const char *path, struct machine *out, struct err *e)
{
	_cleanup_(inifile_release) struct inifile f = { .path = NULL };

	return inifile_read(path, &f, e) < 0 ? -1 : from_inifile(&f, out, e);
}

int machine_parse(const char *path, const char *text, size_t n, struct machine *out, struct err *e)
{
	_cleanup_(inifile_release) struct inifile f = { .path = NULL };

	return inifile_parse(path, text, n, &f, e) < 0 ? -1 : from_inifile(&f, out, e);
}

void machine_release(struct machine *m)
{
	inifields_release(fields, ARRAY_SIZE(fields), m);
	*m = (struct machine){ .name = NULL };
}
