/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel stacks of threads that were looked at: "asleep in synchronize_rcu under …". */
#include "core/sleepers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define LINE_BYTES 2048
#define LOOKS_MAX 1000000000u

void sleepers_release(struct sleepers *s)
{
	shares_release(&s->places);
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].place);
		free(s->v[i].frames);
	}
	free(s->v);
	*s = (struct sleepers){ .n = 0 };
}

/* How one waits, not for what: whoever calls these is the one to name. A final '*': any ending. */
static const char *const inside[] = {
	"__schedule",
	"schedule",
	"schedule_*",
	"preempt_schedule*",
	"__cond_resched",
	"io_schedule*",
	"wait_for_completion*",
	"__wait_for_common",
	"__wait_for_completion*",
	"do_wait_for_common",
	"__wait_rcu_gp",
	"wait_rcu_gp",
	"__synchronize_srcu*",
	"rwsem_down_*",
	"__down_*",
	"__mutex_lock*",
	"mutex_lock_slow*",
	"__rt_mutex_*",
	"rt_mutex_slow*",
	"bit_wait*",
	"__wait_on_bit*",
	"out_of_line_wait_on_bit*",
	"folio_wait_bit_common",
	"percpu_rwsem_wait",
	"do_nanosleep",
	"hrtimer_nanosleep",
	"common_nsleep",
	"futex_wait_queue*",
	"futex_do_wait",
	"__futex_wait",
	"poll_schedule_timeout*",
	/* Pointers that a grace period keeps on the stack, which a guessing unwinder takes for callers. */
	"__call_rcu_common",
	"call_rcu",
	"wakeme_after_rcu",
	"get_completed_synchronize_rcu",
};

static bool is_inside(const char *f, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(inside); i++) {
		size_t len = strlen(inside[i]);

		if (inside[i][len - 1] == '*' ? n >= len - 1 && !memcmp(f, inside[i], len - 1)
					      : n == len && !memcmp(f, inside[i], n))
			return true;
	}
	return false;
}

/* The function as it is written: without what the compiler added, and under its public name. */
static void name_of(const char *f, size_t n, struct str *name)
{
	static const char normal[] = "synchronize_rcu_normal";
	size_t len = 0;

	while (len < n && f[len] != '.')
		len++;
	if (len == sizeof(normal) - 1 && !memcmp(f, normal, len))
		len = strlen("synchronize_rcu");
	/* Names that begin with a dot are not split. */
	str_addmem(name, f, len ? len : n);
}

/* The next function of *@frames that is worth a name; false: none is left. */
static bool take_name(const char **frames, bool last_counts, struct str *name)
{
	while (**frames) {
		size_t n = strcspn(*frames, ";");
		bool last = !(*frames)[n];

		str_clear(name);
		name_of(*frames, n, name);
		*frames += n + !last;
		if ((last && last_counts) || !is_inside(str_text(name), name->len))
			return true;
	}
	return false;
}

void sleepers_place(const char *frames, struct str *place)
{
	_cleanup_str_ struct str in = STR_INIT, under = STR_INIT;
	bool known;

	take_name(&frames, true, &in);
	do
		known = take_name(&frames, false, &under);
	while (known && str_eq(str_text(&in), str_text(&under)));
	str_addf(place, "%s\n%s", str_text(&in), known ? str_text(&under) : "");
}

static void keep_stack(struct sleepers *s, const char *place, const char *frames, uint64_t looks)
{
	if (s->n == SLEEPERS_MAX)
		return;
	xgrow(&s->v, &s->room, s->n + 1, sizeof(*s->v));
	s->v[s->n++] = (struct sleepers_stack){ xstrdup(place), xstrdup(frames), looks };
}

/* Names of functions, and of the places that have none. */
static bool is_clean(const char *frames)
{
	for (; *frames; frames++)
		if (!isalnum((unsigned char)*frames) && !strchr("_.;$[]", *frames))
			return false;
	return true;
}

static void take_line(struct sleepers *s, const char *line)
{
	_cleanup_str_ struct str place = STR_INIT;
	unsigned long long count;
	char state;
	int n = 0;

	if (s->places.total == 0) {
		if (sscanf(line, "looks %llu%n", &count, &n) == 1 && n && count <= LOOKS_MAX)
			s->places.total = count;
		return;
	}
	if (!isdigit((unsigned char)*line) || sscanf(line, "%llu %c%n", &count, &state, &n) != 2 ||
	    !n || !count || count > LOOKS_MAX)
		return;
	line += n;
	if (*line == ' ' && line[1] && is_clean(line + 1)) {
		sleepers_place(line + 1, &place);
		keep_stack(s, str_text(&place), line + 1, count);
	} else if (*line) {
		return;
	} else if (state == 'R') {
		str_add(&place, "[running]\n");
	} else if (strchr("SDTtI", state)) {
		str_add(&place, "[asleep]\n");
	} else {
		return;
	}
	shares_add(&s->places, str_text(&place), count);
}

void sleepers_read(const char *text, size_t n, struct sleepers *out)
{
	char line[LINE_BYTES];

	while (n > 0) {
		const char *nl = memchr(text, '\n', n);
		size_t len = nl ? (size_t)(nl - text) : n;

		if (len < sizeof(line) && !memchr(text, 0, len)) {
			memcpy(line, text, len);
			line[len] = 0;
			take_line(out, line);
		}
		len += nl != NULL;
		text += len;
		n -= len;
	}
}

const char *sleepers_common(const struct sleepers *boots, size_t n, const char *place)
{
	const struct sleepers_stack *best = NULL;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < boots[i].n; k++)
			if (str_eq(boots[i].v[k].place, place) &&
			    (!best || boots[i].v[k].looks > best->looks))
				best = &boots[i].v[k];
	return best ? best->frames : NULL;
}
