/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was seen of one boot, judged: the kernel's doing, or a failure of ours. */
#include "target/qemu.h"

#include <stdio.h>
#include <string.h>

#include "base/fs.h"

static int __attribute__((format(printf, 3, 4)))
outcome(struct target_result *r, enum trial_outcome o, const char *fmt, ...)
{
	va_list ap;

	r->outcome = o;
	va_start(ap, fmt);
	vsnprintf(r->detail, sizeof(r->detail), fmt, ap);
	va_end(ap);
	return 0;
}

void qemu_last_words(const struct target_job *job, char *buf, size_t size)
{
	_cleanup_str_ struct str text = STR_INIT, clean = STR_INIT;
	_cleanup_free_ char *path = fs_join(job->dir, "qemu.log");

	if (fs_read_tail(path, 300, &text, NULL) == 0) {
		while (text.len > 0 && text.buf[text.len - 1] == '\n')
			text.buf[--text.len] = 0;
		for (size_t i = 0; i < text.len; i++)
			if (text.buf[i] == '\n')
				text.buf[i] = ' ';
		str_neutralise(&clean, str_text(&text), text.len, false);
	}
	snprintf(buf, size, "%s", clean.len ? str_text(&clean) : "it said nothing");
}

/* Is this the kernel that was asked for? What it does not tell is not held against it. */
static int check_kernel(const struct results *h, const struct target_job *job, struct err *e)
{
	if (job->build_id && job->build_id[0] && h->build_id[0] &&
	    strcmp(job->build_id, h->build_id) != 0)
		return err_set(e, ERR_LAB,
			       "wrong kernel in the guest: build id %s where %s was built",
			       h->build_id, job->build_id);
	if (job->release && job->release[0] && h->release[0] &&
	    strcmp(job->release, h->release) != 0)
		return err_set(e, ERR_LAB,
			       "wrong kernel in the guest: release %s where %s was built",
			       h->release, job->release);
	return 0;
}

static void add_facts(const struct qemu_seen *s, enum qemu_accel accel, struct target_result *r)
{
	const struct results *h = &s->results;

	strv_addf(&r->facts, "accel=%s", accel == QEMU_ACCEL_KVM ? "kvm" : "tcg");
	if (!h->hello)
		return;
	if (h->cpu[0]) {
		_cleanup_str_ struct str clean = STR_INIT;

		str_neutralise(&clean, h->cpu, strlen(h->cpu), false);
		strv_addf(&r->facts, "cpu=%s", str_text(&clean));
	}
	strv_addf(&r->facts, "cpus=%u", h->cpus);
	strv_addf(&r->facts, "memory_kb=%lu", h->memory_kb);
}

/* The line that the agent put on the console when it could not even say hello; "" none. */
static void agents_complaint(const struct qemu_seen *s, char *line, size_t size)
{
	static const char mark[] = "kregress agent: ";
	_cleanup_str_ struct str clean = STR_INIT;
	const char *text = str_text(&s->console), *at, *nl;

	line[0] = 0;
	at = memmem(text, s->console.len, mark, sizeof(mark) - 1);
	if (!at)
		return;
	at += sizeof(mark) - 1;
	nl = memchr(at, '\n', s->console.len - (size_t)(at - text));
	str_neutralise(&clean, at, nl ? (size_t)(nl - at) : s->console.len - (size_t)(at - text),
		       false);
	snprintf(line, size, "%s", str_text(&clean));
}

/* QEMU itself ended, without word of its guest's end. */
static bool qemu_died(const struct qemu_seen *s)
{
	return !s->killed && !s->qmp.shutdown && !s->qmp.stopped;
}

static int no_hello(const struct qemu_seen *s, const struct target_job *job,
		    struct target_result *r, struct err *e)
{
	char line[200], words[200];
	enum console_sign sign = console_scan(str_text(&s->console), s->console.len, line,
					      sizeof(line));

	if (qemu_died(s) || s->qmp.shutdown == QMP_OTHER || s->qmp.error[0]) {
		qemu_last_words(job, words, sizeof(words));
		return err_set(e, ERR_LAB,
			       "QEMU ended before its guest was up: %s (see qemu.log in "
			       "%s)",
			       s->qmp.error[0] ? s->qmp.error : words, job->dir);
	}
	if (!s->qmp.greeted && s->limit)
		return err_set(e, ERR_LAB, "QEMU did not answer within %g s", s->limit_s);
	if (sign >= CONSOLE_OOPS)
		return outcome(r, TRIAL_BOOT_FAILED, "%s", line);
	agents_complaint(s, words, sizeof(words));
	if (words[0])
		return outcome(r, TRIAL_BOOT_FAILED, "agent: %s", words);
	if (s->qmp.stopped) {
		/* The kernel ran into the weeds, or the accelerator is broken: the canary tells. */
		r->boot_timed_out = true;
		return outcome(r, TRIAL_BOOT_FAILED,
			       "QEMU stopped the guest before the agent's "
			       "hello: %s",
			       s->qmp.status[0] ? s->qmp.status : "no reason given");
	}
	if (s->limit) {
		r->boot_timed_out = true;
		return outcome(r, TRIAL_BOOT_FAILED, "no hello within %g s%s%s", s->limit_s,
			       sign > CONSOLE_WARNING ? ": "
			       : s->console_bytes     ? ""
						      : ", and nothing on the console",
			       sign > CONSOLE_WARNING ? line : "");
	}
	return outcome(r, TRIAL_BOOT_FAILED, "the guest %s before the agent's hello",
		       s->qmp.shutdown == QMP_RESET ? "reset" : "switched itself off");
}

/* The agent told of an early end. */
static int told_failure(const struct results *h, struct target_result *r, struct err *e)
{
	switch (h->failure) {
	case RESULTS_NO_EXEC:
		return err_set(e, ERR_LAB,
			       "in the guest: %s (is the program static and in files = of "
			       "the workload?)",
			       h->text);
	case RESULTS_UNTESTABLE:
		return outcome(r, TRIAL_UNTESTABLE, "%s", h->text);
	case RESULTS_TIMED_OUT:
		return outcome(r, TRIAL_TIMED_OUT, "%s", h->text);
	default:
		return outcome(r, TRIAL_GARBLED, "%s", h->text);
	}
}

/* A run that ended with a status other than 0. */
static int bad_status(unsigned run, int status, enum console_sign sign, const char *line,
		      struct target_result *r)
{
	if (status == 125)
		return outcome(r, TRIAL_UNTESTABLE,
			       "the workload says so (exit status 125 in run %u)", run);
	if (status <= 128)
		return outcome(r, TRIAL_CRASHED, "the workload ended with exit status %d in run %u",
			       status, run);
	return outcome(r, TRIAL_CRASHED, "the workload was killed by signal %d in run %u%s%s",
		       status - 128, run, sign == CONSOLE_OOM ? ": " : "",
		       sign == CONSOLE_OOM ? line : "");
}

static int cut_short(const struct qemu_seen *s, const struct target_job *job,
		     struct target_result *r, struct err *e)
{
	const struct results *h = &s->results;
	char where[60], words[200];

	snprintf(where, sizeof(where),
		 h->in_run ? "in run %u"
		 : h->run  ? "after run %u"
			   : "before run 1",
		 h->run);
	if (qemu_died(s) || s->qmp.shutdown == QMP_OTHER) {
		qemu_last_words(job, words, sizeof(words));
		return err_set(e, ERR_LAB, "QEMU died %s: %s", where, words);
	}
	if (s->qmp.stopped)
		return outcome(r, TRIAL_CRASHED, "QEMU stopped the guest %s: %s", where,
			       s->qmp.status[0] ? s->qmp.status : "no reason given");
	if (s->qmp.shutdown == QMP_RESET)
		return outcome(r, TRIAL_CRASHED, "the guest reset %s", where);
	if (s->limit)
		return outcome(r, TRIAL_TIMED_OUT, "no sign of the guest for %g s %s", s->limit_s,
			       where);
	return outcome(r, h->in_run ? TRIAL_CRASHED : TRIAL_GARBLED,
		       "the guest switched itself off %s", where);
}

static int after_hello(const struct qemu_seen *s, const struct target_job *job,
		       struct target_result *r, struct err *e)
{
	const struct results *h = &s->results;
	const struct target_run *last = r->n_runs ? &r->runs[r->n_runs - 1] : NULL;
	size_t from = s->console_at_hello;
	char line[200];
	enum console_sign sign = console_scan(str_text(&s->console) + from, s->console.len - from,
					      line, sizeof(line));

	if (h->failure == RESULTS_NO_EXEC)
		return told_failure(h, r, e);
	if (sign == CONSOLE_WARNING)
		strv_addf(&r->facts, "warning=%s", line);
	if (sign > CONSOLE_OOM)
		return outcome(r, TRIAL_CRASHED, "%s", line);
	if (h->failure)
		return told_failure(h, r, e);
	if (last && last->status != 0)
		return bad_status((unsigned)r->n_runs, last->status, sign, line, r);
	if (!h->bye || r->n_runs < job->runs)
		return h->bye ? outcome(r, TRIAL_GARBLED, "%zu runs came of %u", r->n_runs,
					job->runs)
			      : cut_short(s, job, r, e);
	if (sign == CONSOLE_OOM)
		return outcome(r, TRIAL_CRASHED, "%s", line);
	return outcome(r, TRIAL_OK, "%s", "");
}

int qemu_classify(const struct qemu_seen *s, const struct target_job *job, enum qemu_accel accel,
		  struct target_result *r, struct err *e)
{
	const struct results *h = &s->results;

	r->boot_seconds = s->boot_s;
	r->run_seconds = s->run_s;
	r->total_seconds = s->total_s;
	add_facts(s, accel, r);
	if (!h->hello)
		return h->failure ? told_failure(h, r, e) : no_hello(s, job, r, e);
	snprintf(r->boot_id, sizeof(r->boot_id), "%s", h->boot_id);
	snprintf(r->build_id, sizeof(r->build_id), "%s", h->build_id);
	snprintf(r->release, sizeof(r->release), "%s", h->release);
	if (check_kernel(h, job, e) < 0)
		return -1;
	return after_hello(s, job, r, e);
}
