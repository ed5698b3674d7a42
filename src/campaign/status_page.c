/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status.html in the state directory. */
#include "campaign/status_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "campaign/record.h"
#include "campaign/summary.h"

/* A page may take this share of the time that passes between two. */
#define SHARE 0.02

/* No fsync: the page is made from rows that are safe, and can be made again at any time. */
static int replace(const char *path, const struct report *r, const struct record *d, struct err *e)
{
	_cleanup_free_ char *part = xasprintf("%s.new", path);
	FILE *f = fopen(part, "we");
	int ret;

	if (!f)
		return err_sys(e, errno, "cannot write '%s'", part);
	report_html(r, d, f);
	ret = ferror(f) ? -1 : 0;
	if (fclose(f) != 0)
		ret = -1;
	if (ret == 0)
		ret = rename(part, path);
	if (ret < 0) {
		err_sys(e, errno, "cannot write '%s'", path);
		unlink(part);
	}
	return ret;
}

/* What comes next, as far as the engine knows. */
static char *next_step(struct session *s)
{
	struct engine_step step;
	char hex[COMMIT_HEX + 1];

	if (!s->engine)
		return NULL;
	engine_next(s->engine, &step);
	if (step.phase == PHASE_DONE)
		return xstrdup("the confirmation");
	return xasprintf("boot %u of %.12s (%s)", step.boot,
			 commit_hex(session_commit(s, step.node), hex),
			 engine_phase_name(step.phase));
}

static int make_page(struct session *s, bool last, const char *why, struct err *e)
{
	_cleanup_(report_release) struct report r = { .name = NULL };
	_cleanup_(record_release) struct record d = { .trial = NULL };
	_cleanup_free_ char *path = fs_join(s->cfg->campaign.state, "status.html");

	if (summary_make(s, &r, e) < 0 || record_make(s, &r, &d, e) < 0)
		return -1;
	d.live = !last;
	d.now = clock_real_s();
	d.stage = last ? (why ? xasprintf("stopped: %s", why) : NULL) : next_step(s);
	return replace(path, &r, &d, e);
}

void status_page_write(struct session *s, bool last, const char *why)
{
	double begun = clock_mono_s(), took;
	struct err e = ERR_INIT;
	int ret;

	if (!last && begun < s->page_next)
		return;
	ret = make_page(s, last, why, &e);
	took = clock_mono_s() - begun;
	s->page_next = begun + took + took / SHARE;
	if (ret == 0)
		log_verbose("status.html: made in %.3f ms", 1000 * took);
	else if (!s->page_failed)
		log_verbose("status.html: %s", e.msg);
	s->page_failed |= ret < 0;
}
