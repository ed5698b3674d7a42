/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent's records and the kernel's console say together; the same wherever it ran. */
#include "target/results_outcome.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int results_outcome(struct target_result *r, enum trial_outcome o, const char *fmt, ...)
{
	va_list ap;

	r->outcome = o;
	va_start(ap, fmt);
	vsnprintf(r->detail, sizeof(r->detail), fmt, ap);
	va_end(ap);
	return 0;
}

const char *results_when(const struct results *h, char *buf, size_t size)
{
	snprintf(buf, size,
		 h->in_run ? "in run %u"
		 : h->run  ? "after run %u"
			   : "before run 1",
		 h->run);
	return buf;
}

int results_check_kernel(const struct results_view *v, struct err *e)
{
	const struct results *h = v->results;
	const struct target_job *job = v->job;

	if (job->build_id && job->build_id[0] && h->build_id[0] &&
	    strcmp(job->build_id, h->build_id) != 0)
		return err_set(e, ERR_LAB, "wrong kernel %s: build id %s where %s was built",
			       v->where, h->build_id, job->build_id);
	if (job->release && job->release[0] && h->release[0] &&
	    strcmp(job->release, h->release) != 0)
		return err_set(e, ERR_LAB, "wrong kernel %s: release %s where %s was built",
			       v->where, h->release, job->release);
	return 0;
}

void results_take_hello(const struct results *h, struct target_result *r)
{
	if (!h->hello)
		return;
	if (h->cpu[0]) {
		_cleanup_str_ struct str clean = STR_INIT;

		str_neutralise(&clean, h->cpu, strlen(h->cpu), false);
		strv_addf(&r->facts, "cpu=%s", str_text(&clean));
	}
	strv_addf(&r->facts, "cpus=%u", h->cpus);
	strv_addf(&r->facts, "memory_kb=%lu", h->memory_kb);
	snprintf(r->boot_id, sizeof(r->boot_id), "%s", h->boot_id);
	snprintf(r->build_id, sizeof(r->build_id), "%s", h->build_id);
	snprintf(r->release, sizeof(r->release), "%s", h->release);
}

int results_judge_failure(const struct results_view *v, struct target_result *r, struct err *e)
{
	const struct results *h = v->results;

	switch (h->failure) {
	case RESULTS_NO_EXEC:
		return err_set(e, ERR_LAB,
			       "%s: %s (is the program static and in files = of the workload?)",
			       v->where, h->text);
	case RESULTS_UNTESTABLE:
		return results_outcome(r, TRIAL_UNTESTABLE, "%s", h->text);
	case RESULTS_TIMED_OUT:
		return results_outcome(r, TRIAL_TIMED_OUT, "%s", h->text);
	default:
		return results_outcome(r, TRIAL_GARBLED, "%s", h->text);
	}
}

/* A run that ended with a status other than 0. */
static int bad_status(unsigned run, int status, enum console_sign sign, const char *line,
		      struct target_result *r)
{
	if (status == 125)
		return results_outcome(r, TRIAL_UNTESTABLE,
				       "the workload says so (exit status 125 in run %u)", run);
	if (status <= 128)
		return results_outcome(r, TRIAL_CRASHED,
				       "the workload ended with exit status %d in run %u", status,
				       run);
	return results_outcome(r, TRIAL_CRASHED,
			       "the workload was killed by signal %d in run %u%s%s", status - 128,
			       run, sign == CONSOLE_OOM ? ": " : "",
			       sign == CONSOLE_OOM ? line : "");
}

int results_judge(const struct results_view *v, struct target_result *r, struct err *e)
{
	const struct results *h = v->results;
	const struct target_run *last = r->n_runs ? &r->runs[r->n_runs - 1] : NULL;
	char line[200];
	enum console_sign sign = console_scan(v->console, v->console_bytes, line, sizeof(line));

	snprintf(r->observe_detail, sizeof(r->observe_detail), "%s",
		 h->extra && !h->bye ? "they were cut short" : h->extra_text);
	if (h->failure == RESULTS_NO_EXEC)
		return results_judge_failure(v, r, e);
	if (sign == CONSOLE_WARNING)
		strv_addf(&r->facts, "warning=%s", line);
	if (sign > CONSOLE_OOM)
		return results_outcome(r, TRIAL_CRASHED, "%s", line);
	if (h->failure)
		return results_judge_failure(v, r, e);
	if (last && last->status != 0)
		return bad_status((unsigned)r->n_runs, last->status, sign, line, r);
	if (!h->bye && !h->extra)
		return 1;
	if (r->n_runs < v->job->runs)
		return results_outcome(r, TRIAL_GARBLED, "%zu runs came of %u", r->n_runs,
				       v->job->runs);
	if (sign == CONSOLE_OOM)
		return results_outcome(r, TRIAL_CRASHED, "%s", line);
	return results_outcome(r, TRIAL_OK, "%s", "");
}
