/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The QEMU target: which accelerator, and one trial. */
#include "target/qemu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/log.h"

/* A guest under a KVM that works is up in a fraction of this. */
#define KVM_LIMIT_MS 15000
#define MEMORY_MIN (32ull << 20)

/* In a few words, why a boot under KVM did not get to the hello. */
static void kvm_reason(const struct qemu_seen *s, const struct target_job *job, char *why,
		       size_t size)
{
	char words[200];

	if (s->qmp.stopped) {
		snprintf(why, size, "QEMU stopped the guest: %s",
			 s->qmp.status[0] ? s->qmp.status : "no reason given");
	} else if (s->limit) {
		snprintf(why, size, "a guest did not start within %g s", s->limit_s);
	} else if (s->qmp.shutdown) {
		snprintf(why, size, "a guest %s before it was up",
			 s->qmp.shutdown == QMP_RESET ? "reset" : "ended");
	} else {
		qemu_last_words(job, words, sizeof(words));
		snprintf(why, size, "%s", words);
	}
}

static int boot_and_classify(struct qemu *q, enum qemu_accel accel, const struct target_job *job,
			     struct target_result *r, struct err *e)
{
	_cleanup_(qemu_seen_release) struct qemu_seen seen = { .limit = QEMU_NO_LIMIT };

	if (qemu_boot(q, accel, job, q->boot_timeout_ms, &seen, r, e) < 0)
		return -1;
	if (q->deterministic)
		strv_add(&r->facts, "deterministic=yes");
	return qemu_classify(&seen, job, accel, r, e);
}

/* Keep what the attempt under KVM left, beside what the next boot writes. */
static void set_aside(const struct target_job *job, const char *name, const char *as)
{
	_cleanup_free_ char *from = fs_join(job->dir, name), *to = fs_join(job->dir, as);

	rename(from, to);
}

static void say_tcg(const char *why)
{
	log_info("KVM does not work here: %s; using TCG, which is slower", why);
}

/*
 * accel = auto, first boot: only a guest that says hello proves KVM. Where it does not,
 * the same kernel under TCG tells whose fault it was: a hello there means that KVM is
 * broken, and that is remembered; none means that the kernel is, and nothing is known.
 */
static int first_boot(struct qemu *q, const struct target_job *job, struct target_result *r,
		      struct err *e)
{
	_cleanup_(qemu_seen_release) struct qemu_seen seen = { .limit = QEMU_NO_LIMIT };
	int64_t limit = q->boot_timeout_ms < KVM_LIMIT_MS ? q->boot_timeout_ms : KVM_LIMIT_MS;
	char why[300] = "";
	int ret;

	if (qemu_boot(q, QEMU_ACCEL_KVM, job, limit, &seen, r, e) < 0)
		return -1;
	if (seen.results.hello) {
		q->proven = QEMU_ACCEL_KVM;
		qemu_kvm_remember(q, QEMU_ACCEL_KVM, why);
		return qemu_classify(&seen, job, QEMU_ACCEL_KVM, r, e);
	}
	kvm_reason(&seen, job, why, sizeof(why));
	set_aside(job, "console.log", "console-kvm.log");
	set_aside(job, "qemu.log", "qemu-kvm.log");
	ret = boot_and_classify(q, QEMU_ACCEL_TCG, job, r, e);
	if (ret == 0 && r->boot_seconds > 0) {
		q->proven = QEMU_ACCEL_TCG;
		qemu_kvm_remember(q, QEMU_ACCEL_TCG, why);
		say_tcg(why);
	}
	return ret;
}

/* Settle what can be settled without a boot. */
static void consider_kvm(struct qemu *q)
{
	char why[300] = "";

	if (q->accel != QEMU_ACCEL_AUTO || q->proven != QEMU_ACCEL_AUTO)
		return;
	q->proven = qemu_kvm_opens(why, sizeof(why)) ? qemu_kvm_recall(q, why, sizeof(why))
						     : QEMU_ACCEL_TCG;
	if (q->proven == QEMU_ACCEL_TCG)
		say_tcg(why);
}

/* accel = kvm, as the user insists: a KVM that does not work is our failure. */
static int kvm_boot(struct qemu *q, const struct target_job *job, struct target_result *r,
		    struct err *e)
{
	_cleanup_(qemu_seen_release) struct qemu_seen seen = { .limit = QEMU_NO_LIMIT };
	char why[300];

	if (qemu_boot(q, QEMU_ACCEL_KVM, job, q->boot_timeout_ms, &seen, r, e) < 0)
		return -1;
	if (seen.results.hello)
		q->proven = QEMU_ACCEL_KVM;
	if (q->proven == QEMU_ACCEL_KVM || seen.console_bytes > 0)
		return qemu_classify(&seen, job, QEMU_ACCEL_KVM, r, e);
	kvm_reason(&seen, job, why, sizeof(why));
	return err_set(e, ERR_LAB,
		       "KVM does not work here: %s (set accel = auto or tcg in [target])", why);
}

/* The initramfs's size, where the caller did not say. */
static uint64_t initrd_bytes(const struct target_job *job)
{
	struct stat st;

	if (job->initrd_bytes || !job->initrd || stat(job->initrd, &st) < 0)
		return job->initrd_bytes;
	return (uint64_t)st.st_size;
}

static int qemu_check(void *priv, struct err *e)
{
	struct qemu *q = priv;
	_cleanup_free_ char *program = proc_which(q->program);
	char why[300];

	if (!program) {
		err_set(e, ERR_LAB, "cannot find '%s'", q->program);
		return err_hint(e, "install the package qemu-system-x86");
	}
	if (q->accel != QEMU_ACCEL_KVM || qemu_kvm_opens(why, sizeof(why)))
		return 0;
	return err_set(e, ERR_LAB,
		       "KVM does not work here: %s (set accel = auto or tcg in [target])", why);
}

static int qemu_trial(void *priv, const struct target_job *job, struct target_result *r,
		      struct err *e)
{
	struct qemu *q = priv;

	if (!job->image)
		return err_set(e, ERR_CONFIG,
			       "a QEMU target needs a kernel (type = none in [build])");
	if (qemu_check(q, e) < 0 ||
	    qemu_check_memory(job->image, initrd_bytes(job), q->memory_bytes, e) < 0)
		return -1;
	consider_kvm(q);
	if (q->accel == QEMU_ACCEL_KVM)
		return kvm_boot(q, job, r, e);
	if (q->accel == QEMU_ACCEL_AUTO && q->proven == QEMU_ACCEL_AUTO)
		return first_boot(q, job, r, e);
	return boot_and_classify(q, q->accel == QEMU_ACCEL_TCG ? q->accel : q->proven, job, r, e);
}

static void qemu_close(void *priv)
{
	struct qemu *q = priv;

	free(q->program);
	strv_release(&q->machine_args);
	strv_release(&q->extra_args);
	free(q->machine_append);
	free(q->machine_append_tcg);
	free(q->machine_append_deterministic);
	free(q->append);
	free(q->cache_dir);
	free(q);
}

static char *copy(const char *text)
{
	return xstrdup(text ? text : "");
}

static int check_opts(const struct target_qemu_opts *o, struct err *e)
{
	if (o->deterministic && o->accel == QEMU_ACCEL_KVM)
		return err_set(e, ERR_CONFIG,
			       "deterministic = yes counts instructions, which KVM "
			       "cannot (set accel = auto or tcg in [target])");
	if (o->deterministic && o->cpus != 1)
		return err_set(e, ERR_CONFIG, "deterministic = yes needs cpus = 1 in [target]");
	if (o->cpus < 1 || o->cpus > QEMU_CPUS_MAX)
		return err_set(e, ERR_CONFIG, "cpus = %u in [target]: from 1 to %d are possible",
			       o->cpus, QEMU_CPUS_MAX);
	if (o->memory_bytes < MEMORY_MIN)
		return err_set(e, ERR_CONFIG, "memory in [target] is less than %lluM",
			       MEMORY_MIN >> 20);
	return 0;
}

int target_qemu_open(const struct target_qemu_opts *o, struct target *t, struct err *e)
{
	static const struct target_ops ops = {
		.name = "qemu",
		.boots = true,
		.trial = qemu_trial,
		.check = qemu_check,
		.close = qemu_close,
	};
	struct qemu *q;

	if (check_opts(o, e) < 0)
		return -1;
	q = xcalloc(1, sizeof(*q));
	q->program = xstrdup(o->program);
	q->accel = o->deterministic ? QEMU_ACCEL_TCG : o->accel;
	q->deterministic = o->deterministic;
	q->cpus = o->cpus;
	q->memory_bytes = o->memory_bytes;
	q->boot_timeout_ms = o->boot_timeout_ms;
	if (o->machine_args)
		strv_extend(&q->machine_args, o->machine_args);
	if (o->extra_args)
		strv_extend(&q->extra_args, o->extra_args);
	q->machine_append = copy(o->machine_append);
	q->machine_append_tcg = copy(o->machine_append_tcg);
	q->machine_append_deterministic = copy(o->machine_append_deterministic);
	q->append = copy(o->append);
	q->cache_dir = o->cache_dir ? xstrdup(o->cache_dir) : NULL;
	qemu_tsc_read(&q->tsc);
	t->ops = &ops;
	t->priv = q;
	return 0;
}
