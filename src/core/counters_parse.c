/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots of /proc to numbers by name: untrusted text of any kernel. */
#include "core/counters.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define LINE_MAX_BYTES 65536 /* a line of interrupts with 4096 CPUs */
#define VALUE_MAX 18446744073709551616.0

void counters_release(struct counters *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].name);
	free(c->v);
	*c = (struct counters){ .v = NULL };
}

/* Names become lines of a store: nothing but what kernels really use. */
static bool is_good_name(const char *name)
{
	size_t n = strlen(name);

	if (!n || n > COUNTERS_NAME_MAX || name[n - 1] == '/')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_-/.:()+", *name))
			return false;
	return true;
}

static void add(struct counters *c, bool level, const char *name, double value)
{
	if (c->n >= COUNTERS_MAX || !is_good_name(name) || !isfinite(value))
		return;
	xgrow(&c->v, &c->room, c->n + 1, sizeof(*c->v));
	c->v[c->n++] = (struct counter){ xstrdup(name), level, value };
}

/* A whole number at *@at, which moves behind it. */
static bool take_number(const char **at, double *value)
{
	char *end;
	const char *p = *at + strspn(*at, " \t");

	if (!isdigit((unsigned char)*p) && !(p[0] == '-' && isdigit((unsigned char)p[1])))
		return false;
	*value = strtod(p, &end);
	if (!isfinite(*value) || fabs(*value) > VALUE_MAX ||
	    (*end && !isspace((unsigned char)*end)))
		return false;
	*at = end;
	return true;
}

/* A word of at most @size − 1 bytes at *@at, which moves behind it. */
static bool take_word(const char **at, char *word, size_t size)
{
	const char *p = *at + strspn(*at, " \t");
	size_t n = strcspn(p, " \t");

	if (!n || n >= size)
		return false;
	memcpy(word, p, n);
	word[n] = 0;
	*at = p + n;
	return true;
}

/* ---- one reader for each kind of file ------------------------------------------------------ */

struct reading {
	struct counters *out;
	const char *file;
	char where[80]; /* zoneinfo: "node0/DMA32" */
	bool per_cpu;   /* zoneinfo: what follows is of one CPU */
	char types[16][24];
	size_t n_types; /* pagetypeinfo: heads of the columns of the second table */
};

static void __attribute__((format(printf, 3, 4)))
put(struct reading *r, double value, const char *fmt, ...)
{
	char name[2 * COUNTERS_NAME_MAX];
	int n = snprintf(name, sizeof(name), "%s/", r->file);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name + n, sizeof(name) - (size_t)n, fmt, ap);
	va_end(ap);
	add(r->out, false, name, value);
}

/* "pgfault 123" */
static void vmstat_line(struct reading *r, const char *line)
{
	char name[COUNTERS_NAME_MAX];
	double value;

	if (take_word(&line, name, sizeof(name)) && take_number(&line, &value))
		put(r, value, "%s", name);
}

/* "MemFree:  123 kB" */
static void meminfo_line(struct reading *r, const char *line)
{
	const char *colon = strchr(line, ':'), *at = colon ? colon + 1 : NULL;
	double value;

	if (at && take_number(&at, &value))
		put(r, value, "%.*s", (int)(colon - line), line);
}

/* "Node 0, zone   DMA32" into "node0/DMA32"; how long that is, 0: no such line. */
static size_t zone_head(const char *line, char *where, size_t size)
{
	char zone[24];
	unsigned node;
	int n = 0;

	if (sscanf(line, "Node %u, zone %23[A-Za-z0-9]%n", &node, zone, &n) != 2 || !n)
		return 0;
	snprintf(where, size, "node%u/%s", node, zone);
	return (size_t)n;
}

static void put_orders(struct reading *r, const char *where, const char *at)
{
	double value;

	for (unsigned order = 0; order < 64 && take_number(&at, &value); order++)
		put(r, value, "%s/order%u", where, order);
}

/* "Node 0, zone  DMA32  1 2 3" */
static void buddyinfo_line(struct reading *r, const char *line)
{
	char where[80];
	size_t n = zone_head(line, where, sizeof(where));

	if (n)
		put_orders(r, where, line + n);
}

/* The table of free pages, "Node 0, zone DMA, type Movable 1 2 3", and that of blocks. */
static void pagetypeinfo_line(struct reading *r, const char *line)
{
	char where[80], type[24], name[120];
	const char *at = line;
	size_t head;
	int n = 0;

	if (str_starts(line, "Number of blocks type")) {
		at += strlen("Number of blocks type");
		for (r->n_types = 0; r->n_types < ARRAY_SIZE(r->types); r->n_types++)
			if (!take_word(&at, r->types[r->n_types], sizeof(r->types[0])))
				break;
		return;
	}
	head = zone_head(line, where, sizeof(where));
	if (!head)
		return;
	at = line + head;
	if (sscanf(at, ", type %23[A-Za-z]%n", type, &n) == 1 && n) {
		snprintf(name, sizeof(name), "%s/%s", where, type);
		put_orders(r, name, at + n);
		return;
	}
	for (size_t i = 0; i < r->n_types; i++) {
		double value;

		if (!take_number(&at, &value))
			return;
		put(r, value, "%s/blocks/%s", where, r->types[i]);
	}
}

/* Blocks of "name value" under a zone; values of a CPU's lists are left out. */
static void zoneinfo_line(struct reading *r, const char *line)
{
	char name[48];
	double value;

	if (zone_head(line, r->where, sizeof(r->where))) {
		r->per_cpu = false;
		return;
	}
	line += strspn(line, " \t");
	if (str_starts(line, "pagesets") || str_starts(line, "cpu:"))
		r->per_cpu = true;
	else if (str_starts(line, "node_unreclaimable") || str_starts(line, "start_pfn"))
		r->per_cpu = false;
	if (r->per_cpu || !r->where[0])
		return;
	if (str_starts(line, "pages "))
		line += strlen("pages ");
	if (take_word(&line, name, sizeof(name)) && take_number(&line, &value)) {
		name[strcspn(name, ":")] = 0;
		put(r, value, "%s/%s", r->where, name);
	}
}

/* "LOC:  1 2 3  Local timer interrupts": over all CPUs; numbered ones with their device. */
static void per_cpu_line(struct reading *r, const char *line)
{
	const char *colon = strchr(line, ':'), *at = colon ? colon + 1 : NULL, *last;
	double sum = 0, value;
	bool any = false;

	line += strspn(line, " \t");
	if (!colon || colon <= line)
		return;
	while (take_number(&at, &value) && (any = true))
		sum += value;
	if (!any)
		return;
	at += strspn(at, " \t");
	last = strrchr(at, ' ');
	if (isdigit((unsigned char)*line) && *at)
		put(r, sum, "%.*s:%s", (int)(colon - line), line, last ? last + 1 : at);
	else
		put(r, sum, "%.*s", (int)(colon - line), line);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123" */
static void pressure_line(struct reading *r, const char *line)
{
	const char *total = strstr(line, " total=");
	char name[16];
	double value;

	if (!total || !take_word(&line, name, sizeof(name)))
		return;
	total += strlen(" total=");
	if (take_number(&total, &value))
		put(r, value, "%s", name);
}

static const struct {
	const char *file;
	void (*line)(struct reading *r, const char *line);
} readers[] = {
	{ "vmstat", vmstat_line },       { "meminfo", meminfo_line },
	{ "buddyinfo", buddyinfo_line }, { "pagetypeinfo", pagetypeinfo_line },
	{ "zoneinfo", zoneinfo_line },   { "softirqs", per_cpu_line },
	{ "interrupts", per_cpu_line },  { "pressure/", pressure_line },
};

/* Each line of @text as a string of its own; those too long or with a NUL are left out. */
static void each_line(const char *text, size_t n, struct reading *r,
		      void (*take)(struct reading *r, const char *line))
{
	_cleanup_free_ char *line = xcalloc(LINE_MAX_BYTES, 1);

	while (n > 0) {
		const char *nl = memchr(text, '\n', n);
		size_t len = nl ? (size_t)(nl - text) : n;

		if (len < LINE_MAX_BYTES && !memchr(text, 0, len)) {
			memcpy(line, text, len);
			line[len] = 0;
			take(r, line);
		}
		len += nl != NULL;
		text += len;
		n -= len;
	}
}

void counters_parse(const char *file, const char *text, size_t n, struct counters *out)
{
	struct reading r = { .out = out, .file = file };

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		if (str_ends(readers[i].file, "/") ? str_starts(file, readers[i].file)
						   : str_eq(file, readers[i].file))
			each_line(text, n, &r, readers[i].line);
}

/* ---- lines of the store -------------------------------------------------------------------- */

void counters_write(const struct counters *c, struct str *out)
{
	for (size_t i = 0; i < c->n; i++)
		str_addf(out, "%c %s %.17g\n", c->v[i].level ? 'l' : 'c', c->v[i].name,
			 c->v[i].value);
}

static void stored_line(struct reading *r, const char *line)
{
	bool level = line[0] == 'l';
	char name[COUNTERS_NAME_MAX + 1], *end;
	const char *at = line + 1;
	double value;

	if ((!level && line[0] != 'c') || *at != ' ' || !take_word(&at, name, sizeof(name)) ||
	    *at != ' ')
		return;
	value = strtod(at, &end);
	if (end != at && !*end)
		add(r->out, level, name, value);
}

void counters_read(const char *text, size_t n, struct counters *out)
{
	struct reading r = { .out = out };

	each_line(text, n, &r, stored_line);
	counters_sort(out);
}
