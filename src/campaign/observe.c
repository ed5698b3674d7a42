/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel told of itself in the extra runs of one boot: kept as files, and as rows. */
#include "campaign/observe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "core/counters.h"
#include "core/shares.h"
#include "io/symbols.h"

#define NOTE_BYTES 1000000 /* the store would cut a longer one within a line */

/* Looks a second, where [confirm] does not say: odd, so that no tick of the guest beats with it. */
#define COMPARE_PROFILE 199

enum phase { BEFORE, DURING, AFTER, PHASES };

static const char *const phase_name[PHASES] = { "before", "during", "after" };

void observed_release(struct observed *o)
{
	free(o->counters);
	free(o->stacks);
	free(o->profile);
	*o = (struct observed){ .counters = NULL };
}

struct target_observe observe_wanted(const struct session *s, const char *purpose)
{
	const struct config *c = s->cfg;

	if (str_eq(purpose, "compare-profile"))
		return (struct target_observe){
			.profile = c->confirm.profile ? c->confirm.profile : COMPARE_PROFILE,
			.time_ms = c->confirm.observe_time_ms,
		};
	if (!str_eq(purpose, "confirm") || c->target.type == TARGET_COMMAND)
		return (struct target_observe){ .snapshots = false };
	return (struct target_observe){
		.snapshots = c->confirm.snapshots,
		.stacks = c->confirm.stacks,
		.profile = c->target.type == TARGET_QEMU ? c->confirm.profile : 0,
		.time_ms = c->confirm.observe_time_ms,
	};
}

static int write_file(const char *dir, const char *name, const struct str *text, struct err *e)
{
	_cleanup_free_ char *path = fs_join(dir, name);

	return text->len ? fs_write(path, text->buf, text->len, e) : 0;
}

/* ---- snapshots ----------------------------------------------------------------------------- */

/* All files of one phase, each under its name, as they came. */
static int write_phase(const struct target_result *r, enum phase p, const char *dir, struct err *e)
{
	_cleanup_free_ char *name = xasprintf("proc-%s.txt", phase_name[p]);
	_cleanup_str_ struct str text = STR_INIT;

	for (size_t i = 0; i < r->n_files; i++) {
		const struct target_file *f = &r->files[i];

		if (!f->text || !str_eq(f->phase, phase_name[p]))
			continue;
		str_addf(&text, "==> /proc/%s%s <==\n", f->name, f->cut ? " (cut)" : "");
		str_addmem(&text, f->text, f->n);
		str_add(&text, "\n");
	}
	return write_file(dir, name, &text, e);
}

/* Bytes of whole lines: the last of a file that was cut off may end within a number. */
static size_t whole_lines(const struct target_file *f)
{
	size_t n = f->n;

	if (!f->cut)
		return n;
	n -= n > 0; /* the line break that the agent added */
	while (n > 0 && f->text[n - 1] != '\n')
		n--;
	return n;
}

static int keep_snapshots(const struct target_result *r, const char *dir, struct observed *out,
			  struct err *e)
{
	struct counters phase[PHASES] = { { .v = NULL } }, boot = { .v = NULL };
	_cleanup_str_ struct str text = STR_INIT;
	int ret = 0;

	for (int p = 0; p < PHASES; p++) {
		for (size_t i = 0; i < r->n_files; i++) {
			const struct target_file *f = &r->files[i];

			if (f->text && str_eq(f->phase, phase_name[p]))
				counters_parse(f->name, f->text, whole_lines(f), &phase[p]);
		}
		counters_sort(&phase[p]);
		if (ret == 0)
			ret = write_phase(r, p, dir, e);
	}
	counters_boot(&phase[BEFORE], &phase[DURING], &phase[AFTER], &boot);
	counters_write(&boot, &text);
	if (boot.n)
		out->counters = str_detach(&text);
	for (int p = 0; p < PHASES; p++)
		counters_release(&phase[p]);
	counters_release(&boot);
	return ret;
}

/* ---- stacks and profile -------------------------------------------------------------------- */

/* "0xffffffff81234567" in a stack, as kernels without names print it, to the function. */
static void name_addresses(const char *text, size_t n, const struct symbols *s, struct str *out)
{
	for (size_t i = 0; i < n;) {
		char number[17] = "";
		size_t digits = 0;

		if (n - i > 2 && text[i] == '0' && text[i + 1] == 'x')
			while (digits < 16 && i + 2 + digits < n &&
			       isxdigit((unsigned char)text[i + 2 + digits]))
				digits++;
		if (digits < 8) {
			str_addmem(out, &text[i++], 1);
			continue;
		}
		memcpy(number, text + i + 2, digits);
		str_add(out, symbols_find(s, strtoull(number, NULL, 16)));
		i += 2 + digits;
	}
}

static int keep_stacks(const struct target_result *r, const struct symbols *s, const char *dir,
		       struct observed *out, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;

	for (size_t i = 0; i < r->n_files && !text.len; i++)
		if (r->files[i].text && str_eq(r->files[i].name, "stacks"))
			name_addresses(r->files[i].text, r->files[i].n, s, &text);
	if (!text.len)
		return 0;
	if (write_file(dir, "stacks.txt", &text, e) < 0)
		return -1;
	out->stacks = str_detach(&text);
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
				    : strcmp(x->name, y->name);
}

static int keep_profile(const struct target_profile *p, const struct symbols *s, const char *dir,
			struct observed *out, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;
	struct shares all = { .total = p->samples };
	int ret;

	if (!p->samples)
		return 0;
	for (size_t i = 0; i < p->n_hits; i++)
		shares_add(&all, symbols_find(s, p->hits[i].address), p->hits[i].count);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_count);
	str_addf(&text, "samples %llu seconds %.3f cost %.3f\n", (unsigned long long)p->samples,
		 p->seconds, p->cost_seconds);
	for (size_t i = 0; i < all.n; i++)
		str_addf(&text, "%llu %s\n", (unsigned long long)all.v[i].count, all.v[i].name);
	shares_release(&all);
	ret = write_file(dir, "profile.txt", &text, e);
	if (ret == 0)
		out->profile = str_detach(&text);
	return ret;
}

int observe_keep(const struct target_result *r, const char *vmlinux, const char *dir,
		 struct observed *out, struct err *e)
{
	_cleanup_(symbols_release) struct symbols s = { .v = NULL };
	struct err why = ERR_INIT;
	int ret;

	if (!r->n_files && !r->profile.samples) {
		if (r->observe_detail[0])
			log_info("the extra runs told nothing: %s", r->observe_detail);
		return 0;
	}
	/* Without symbols the places have no names, and that is all. */
	if (vmlinux && symbols_load(vmlinux, &s, &why) < 0)
		log_info("no names of functions: %s", why.msg);
	ret = keep_snapshots(r, dir, out, e);
	if (ret == 0)
		ret = keep_stacks(r, &s, dir, out, e);
	if (ret == 0)
		ret = keep_profile(&r->profile, &s, dir, out, e);
	return ret;
}

/* At most @max bytes, in whole lines. */
static void cut_lines(char *text, size_t max)
{
	size_t n = strlen(text);

	if (n <= max)
		return;
	for (n = max; n > 0 && text[n - 1] != '\n';)
		n--;
	text[n] = 0;
}

int observe_store(struct session *s, int64_t id, const struct observed *o, struct err *e)
{
	const struct {
		const char *kind, *text;
	} rows[] = { { "counters", o->counters },
		     { "stacks", o->stacks },
		     { "profile", o->profile } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = NULL;

		if (!rows[i].text)
			continue;
		text = xasprintf("%lld\n%s", (long long)id, rows[i].text);
		cut_lines(text, NOTE_BYTES);
		if (store_note_add(s->store, rows[i].kind, text, 0, e) < 0)
			return -1;
	}
	return 0;
}
