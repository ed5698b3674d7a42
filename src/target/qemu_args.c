/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's command line and the kernel's. */
#include "target/qemu.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "base/clock.h"

#define TSC_BASE_S 0.020       /* shortest interval that tells the frequency well enough */
#define TSC_ROUND_HZ 100000.0  /* coarser than the error of reading: the same in every trial */
#define ICOUNT_TSC_KHZ 1000000 /* with -icount QEMU's counter runs at 1 GHz of guest time */

/* Panic must end the guest at once, and an oops is a panic: a half-dead kernel measures nothing. */
#define ALWAYS_APPEND "panic=-1 oops=panic"

void qemu_tsc_read(struct qemu_tsc *t)
{
	t->at_s = clock_mono_s();
#if defined(__x86_64__) || defined(__i386__)
	t->ticks = __rdtsc();
#else
	t->ticks = 0;
#endif
}

unsigned long qemu_tsc_khz(const struct qemu_tsc *from)
{
	struct qemu_tsc now;
	double hz;

	qemu_tsc_read(&now);
	if (now.at_s - from->at_s < TSC_BASE_S) {
		poll(NULL, 0, (int)(TSC_BASE_S * 1000) + 1);
		qemu_tsc_read(&now);
	}
	if (now.ticks <= from->ticks)
		return 0;
	hz = (double)(now.ticks - from->ticks) / (now.at_s - from->at_s);
	hz = TSC_ROUND_HZ * (double)(uint64_t)(hz / TSC_ROUND_HZ + 0.5);
	return (unsigned long)(hz / 1000);
}

/* Take the last, unfinished word off @out. */
static void drop_word(struct str *out, size_t start)
{
	while (out->len > start && out->buf[out->len - 1] != ' ')
		out->buf[--out->len] = 0;
}

void qemu_expand(struct str *out, const char *text, unsigned cpus, unsigned long tsc_khz)
{
	static const char tsc[] = "{tsc_khz}", one[] = "{1cpu:";
	size_t start = out->len;

	while (*text) {
		if (str_starts(text, tsc)) {
			text += sizeof(tsc) - 1;
			if (tsc_khz)
				str_addf(out, "%lu", tsc_khz);
			else
				drop_word(out, start);
		} else if (str_starts(text, one)) {
			size_t n;

			text += sizeof(one) - 1;
			n = strcspn(text, "}");
			if (cpus == 1)
				str_addmem(out, text, n);
			text += n + (text[n] == '}');
		} else {
			str_addmem(out, text++, 1);
		}
	}
}

static void add_append(const struct qemu *q, enum qemu_accel accel, const struct target_job *job,
		       struct strv *argv)
{
	_cleanup_str_ struct str line = STR_INIT;
	unsigned long khz = q->deterministic ? ICOUNT_TSC_KHZ : qemu_tsc_khz(&q->tsc);
	const char *parts[] = {
		q->machine_append,
		ALWAYS_APPEND,
		q->deterministic          ? q->machine_append_deterministic
		: accel == QEMU_ACCEL_TCG ? q->machine_append_tcg
					  : "",
		job->append,
		q->append,
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!parts[i] || !*parts[i])
			continue;
		if (line.len)
			str_add(&line, " ");
		/* Braces are ours in profiles only; a user's stay as they are. */
		if (i < 3)
			qemu_expand(&line, parts[i], q->cpus, khz);
		else
			str_add(&line, parts[i]);
	}
	strv_add(argv, "-append");
	strv_add(argv, str_text(&line));
}

static void add_pair(struct strv *argv, const char *option, const char *value)
{
	strv_add(argv, option);
	strv_add(argv, value);
}

/*
 * A pipe that we read, as character device @name. append=on keeps QEMU from
 * truncating it, which fails on a pipe. A pipe keeps up with a guest that prints byte
 * by byte where a socket would be full after a few hundred.
 */
static void add_pipe(struct strv *argv, const char *name, int fd, int set)
{
	strv_add(argv, "-add-fd");
	strv_addf(argv, "fd=%d,set=%d", fd, set);
	strv_add(argv, "-chardev");
	strv_addf(argv, "file,id=%s,path=/dev/fdset/%d,append=on", name, set);
}

void qemu_args(const struct qemu *q, enum qemu_accel accel, const struct target_job *job,
	       const struct qemu_fds *fds, struct strv *argv)
{
	strv_add(argv, q->program);
	strv_extend(argv, &q->machine_args);
	add_pair(argv, "-accel", accel == QEMU_ACCEL_KVM ? "kvm" : "tcg");
	strv_add(argv, "-smp");
	strv_addf(argv, "%u", q->cpus);
	strv_add(argv, "-m");
	strv_addf(argv, "%lluk", (unsigned long long)(q->memory_bytes >> 10));
	strv_add(argv, "-no-reboot");
	strv_add(argv, "-seed");
	strv_addf(argv, "%llu", 1 + (unsigned long long)job->layout);
	if (q->deterministic) {
		/* FACTS of measurement: the only shift that is exact and fast. */
		add_pair(argv, "-icount", "shift=3,sleep=off");
		add_pair(argv, "-rtc", "base=2026-01-01T00:00:00,clock=vm");
	}
	add_pair(argv, "-kernel", job->image);
	if (job->initrd)
		add_pair(argv, "-initrd", job->initrd);
	add_append(q, accel, job, argv);
	add_pipe(argv, "console", fds->console, 1);
	add_pair(argv, "-serial", "chardev:console");
	add_pipe(argv, "result", fds->result, 2);
	add_pair(argv, "-device", "isa-serial,chardev=result,index=1");
	strv_add(argv, "-chardev");
	strv_addf(argv, "socket,id=qmp,fd=%d", fds->qmp);
	add_pair(argv, "-mon", "chardev=qmp,mode=control");
	strv_add(argv, "-S");
	strv_extend(argv, &q->extra_args);
}
