/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The redrawn line. */
#include "campaign/progress.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"

static void draw(struct session *s, const char *detail)
{
	double now = clock_mono_s();
	char stage[24], total[24], eta[24];
	struct engine_step step;

	if (!log_has_progress())
		return;
	str_duration(now - s->started, total, sizeof(total));
	str_duration(now - s->stage_started, stage, sizeof(stage));
	if (!s->engine) {
		log_progress("%s%s%s %s | %s elapsed", s->stage, detail ? ": " : "",
			     detail ? detail : "", stage, total);
		return;
	}
	engine_next(s->engine, &step);
	str_duration(s->pace * (step.steps + 1), eta, sizeof(eta));
	log_progress("%s%s%s %s | %u left, ~%u step%s | %s elapsed%s%s", s->stage,
		     detail ? ": " : "", detail ? detail : "", stage, step.left, step.steps,
		     step.steps == 1 ? "" : "s", total, s->pace > 0 ? ", ETA " : "",
		     s->pace > 0 ? eta : "");
}

void progress_stage(struct session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->stage, sizeof(s->stage), fmt, ap);
	va_end(ap);
	s->stage_started = clock_mono_s();
	draw(s, NULL);
}

void progress_tick(void *cookie)
{
	draw(cookie, NULL);
}

void progress_target_tick(void *cookie, const char *stage)
{
	draw(cookie, stage);
}
