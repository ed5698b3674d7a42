/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was seen of one boot, judged: the kernel's doing, or a failure of ours. */
#include "target/qemu.h"

#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "target/results_outcome.h"

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
		return results_outcome(r, TRIAL_BOOT_FAILED, "%s", line);
	agents_complaint(s, words, sizeof(words));
	if (words[0])
		return results_outcome(r, TRIAL_BOOT_FAILED, "agent: %s", words);
	if (s->qmp.stopped) {
		/* The kernel ran into the weeds, or the accelerator is broken: the canary tells. */
		r->boot_timed_out = true;
		return results_outcome(r, TRIAL_BOOT_FAILED,
				       "QEMU stopped the guest before the agent's "
				       "hello: %s",
				       s->qmp.status[0] ? s->qmp.status : "no reason given");
	}
	if (s->limit) {
		r->boot_timed_out = true;
		return results_outcome(r, TRIAL_BOOT_FAILED, "no hello within %g s%s%s", s->limit_s,
				       sign > CONSOLE_WARNING ? ": "
				       : s->console_bytes     ? ""
							      : ", and nothing on the console",
				       sign > CONSOLE_WARNING ? line : "");
	}
	return results_outcome(r, TRIAL_BOOT_FAILED, "the guest %s before the agent's hello",
			       s->qmp.shutdown == QMP_RESET ? "reset" : "switched itself off");
}

static int cut_short(const struct qemu_seen *s, const struct target_job *job,
		     struct target_result *r, struct err *e)
{
	const struct results *h = &s->results;
	char where[60], words[200];

	results_when(h, where, sizeof(where));
	if (qemu_died(s) || s->qmp.shutdown == QMP_OTHER) {
		qemu_last_words(job, words, sizeof(words));
		return err_set(e, ERR_LAB, "QEMU died %s: %s", where, words);
	}
	if (s->qmp.stopped)
		return results_outcome(r, TRIAL_CRASHED, "QEMU stopped the guest %s: %s", where,
				       s->qmp.status[0] ? s->qmp.status : "no reason given");
	if (s->qmp.shutdown == QMP_RESET)
		return results_outcome(r, TRIAL_CRASHED, "the guest reset %s", where);
	if (s->limit)
		return results_outcome(r, TRIAL_TIMED_OUT, "no sign of the guest for %g s %s",
				       s->limit_s, where);
	return results_outcome(r, h->in_run ? TRIAL_CRASHED : TRIAL_GARBLED,
			       "the guest switched itself off %s", where);
}

int qemu_classify(const struct qemu_seen *s, const struct target_job *job, enum qemu_accel accel,
		  struct target_result *r, struct err *e)
{
	const struct results *h = &s->results;
	const struct results_view v = {
		.results = h,
		.job = job,
		.where = "in the guest",
		.console = str_text(&s->console) + s->console_at_hello,
		/* What happens in extra runs is no outcome. */
		.console_bytes = (h->extra ? s->console_at_extra : s->console.len) -
				 s->console_at_hello,
	};
	int ret;

	r->boot_seconds = s->boot_s;
	r->run_seconds = s->run_s;
	r->total_seconds = s->total_s;
	strv_addf(&r->facts, "accel=%s", accel == QEMU_ACCEL_KVM ? "kvm" : "tcg");
	if (s->qmp.version[0])
		strv_addf(&r->facts, "qemu=%s", s->qmp.version);
	if (s->cmdline)
		strv_addf(&r->facts, "cmdline=%s", s->cmdline);
	results_take_hello(h, r);
	if (!h->hello)
		return h->failure ? results_judge_failure(&v, r, e) : no_hello(s, job, r, e);
	if (results_check_kernel(&v, e) < 0)
		return -1;
	ret = results_judge(&v, r, e);
	return ret > 0 ? cut_short(s, job, r, e) : ret;
}
