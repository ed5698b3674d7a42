/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One boot: QEMU started, heard out to the agent's bye or a limit, and ended. */
#include "target/qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/sig.h"

#define PIPE_BYTES (1 << 20) /* so that a guest is never held up by a busy host */
#define TICK_MS 200
#define START_LIMIT_MS 60000 /* from hello or a run's end to the next begin: settings, stragglers */
#define BYE_LIMIT_MS 10000
#define SLACK_MS 10000      /* what the agent may take beyond the limit that it enforces itself */
#define PANIC_LIMIT_MS 3000 /* from the panic's message to the reset */
#define EXIT_LIMIT_MS 5000  /* from SHUTDOWN or STOP to the last byte */
#define QEMU_TIME_FACTOR 4  /* deterministic: guest time may pass this much slower than ours */
#define EXTRA_STATE 0x40000000u /* above those of runs */
#define PANIC_TEXT "Kernel panic - not syncing"

struct boot {
	const struct qemu *q;
	const struct target_job *job;
	struct qemu_seen *seen;
	struct proc proc;
	int console, result, qmp; /* our ends; -1 once closed */
	int console_log, result_log;
	double start_s, hello_s, last_s; /* last: of the last complete run */
	int64_t boot_limit_ms;
	int64_t deadline;
	enum qemu_limit limit; /* what it means when the deadline passes */
	int64_t limit_ms;
	unsigned state; /* of results, to see progress */
	struct qemu_sampler sampler;
	struct target_profile *profile; /* borrowed */
};

static void close_boot(struct boot *b)
{
	int *fds[] = { &b->console, &b->result, &b->qmp, &b->console_log, &b->result_log };

	proc_stop(&b->proc, 0);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		str_closep(fds[i]);
		*fds[i] = -1;
	}
}

static void set_limit(struct boot *b, enum qemu_limit limit, int64_t ms)
{
	b->limit = limit;
	b->limit_ms = ms;
	b->deadline = clock_deadline(ms);
}

/* A pipe that the child writes; *@ours is non-blocking and close-on-exec. */
static int make_pipe(int *ours, int *theirs, struct err *e)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(e, errno, "cannot make a pipe");
	*ours = fds[0];
	*theirs = fds[1];
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	/* Not allowed to everybody; then it holds 64 KiB. */
	fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

static int make_channels(struct boot *b, struct qemu_fds *theirs, struct err *e)
{
	int pair[2];

	if (make_pipe(&b->console, &theirs->console, e) < 0 ||
	    make_pipe(&b->result, &theirs->result, e) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, errno, "cannot make a socket pair");
	b->qmp = pair[0];
	theirs->qmp = pair[1];
	fcntl(b->qmp, F_SETFL, O_NONBLOCK);
	return qmp_start(&b->seen->qmp, b->qmp, e);
}

static int open_file(const struct boot *b, const char *name, int *fd, struct err *e)
{
	_cleanup_free_ char *path = fs_join(b->job->dir, name);

	*fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return *fd < 0 ? err_sys(e, errno, "cannot write '%s'", path) : 0;
}

static int start_qemu(struct boot *b, enum qemu_accel accel, const struct qemu_fds *theirs,
		      struct err *e)
{
	_cleanup_free_ char *log = fs_join(b->job->dir, "qemu.log");
	_cleanup_strv_ struct strv argv = STRV_INIT;
	const int keep[] = { theirs->console, theirs->result, theirs->qmp };
	struct proc_opts o = {
		.log_path = log,
		.merge_stderr = true,
		.keep_fds = keep,
		.n_keep_fds = ARRAY_SIZE(keep),
	};

	qemu_args(b->q, accel, b->job, theirs, &argv);
	for (size_t i = 0; i + 1 < argv.n && !b->seen->cmdline; i++)
		if (str_eq(argv.v[i], "-append"))
			b->seen->cmdline = xstrdup(argv.v[i + 1]);
	o.argv = argv.v;
	b->start_s = clock_mono_s();
	set_limit(b, QEMU_BOOT_LIMIT, b->boot_limit_ms);
	if (proc_start(&o, false, &b->proc, e) == 0)
		return 0;
	if (e && e->code == ERR_NOT_FOUND) {
		e->code = ERR_LAB;
		err_hint(e, "install the package qemu-system-x86");
	}
	return -1;
}

static int open_boot(struct boot *b, enum qemu_accel accel, struct err *e)
{
	struct qemu_fds theirs = { -1, -1, -1 };
	int ret = -1;

	if (open_file(b, "console.log", &b->console_log, e) == 0 &&
	    open_file(b, "output.log", &b->result_log, e) == 0 && make_channels(b, &theirs, e) == 0)
		ret = start_qemu(b, accel, &theirs, e);
	str_closep(&theirs.console);
	str_closep(&theirs.result);
	str_closep(&theirs.qmp);
	return ret;
}

static int write_log(int fd, const char *name, const char *data, size_t n, struct err *e)
{
	while (n > 0) {
		ssize_t done = write(fd, data, n);

		if (done < 0 && errno != EINTR)
			return err_sys(e, errno, "cannot write %s of the trial", name);
		if (done > 0) {
			data += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

static int take_console(struct boot *b, const char *data, size_t n, struct err *e)
{
	struct qemu_seen *s = b->seen;
	size_t old = s->console.len, from;

	s->console_bytes += n;
	if (n > QEMU_CONSOLE_KEPT - old)
		n = QEMU_CONSOLE_KEPT - old;
	str_addmem(&s->console, data, n);
	from = old > sizeof(PANIC_TEXT) ? old - sizeof(PANIC_TEXT) : 0;
	if (b->limit != QEMU_PANIC_LIMIT && n > 0 &&
	    memmem(s->console.buf + from, s->console.len - from, PANIC_TEXT,
		   sizeof(PANIC_TEXT) - 1))
		set_limit(b, QEMU_PANIC_LIMIT, PANIC_LIMIT_MS);
	return write_log(b->console_log, "console.log", data, n, e);
}

/* In extra runs each record renews it: the longest between two is one kind's runs. */
static void renew_extra(struct boot *b)
{
	const struct results *r = &b->seen->results;
	int64_t factor = b->q->deterministic ? QEMU_TIME_FACTOR : 1;

	if (!b->seen->console_at_extra) {
		b->seen->console_at_extra = b->seen->console.len;
		b->last_s = clock_mono_s();
	}
	if (b->state == EXTRA_STATE + r->extra_step || b->limit == QEMU_PANIC_LIMIT)
		return;
	b->state = EXTRA_STATE + r->extra_step;
	set_limit(b, QEMU_RUN_LIMIT,
		  factor * (b->job->run_timeout_ms + b->job->observe.time_ms) + SLACK_MS);
}

/* Progress renews the limit; what the next sign of life is depends on the state. */
static void renew_limit(struct boot *b)
{
	const struct results *r = &b->seen->results;
	unsigned state = !r->hello ? 0 : 1 + 2 * r->run + r->in_run;
	int64_t factor = b->q->deterministic ? QEMU_TIME_FACTOR : 1;

	if (r->extra) {
		renew_extra(b);
		return;
	}
	if (state == b->state)
		return;
	if (b->state == 0) {
		b->hello_s = b->last_s = clock_mono_s();
		b->seen->console_at_hello = b->seen->console.len;
	}
	b->state = state;
	if (!r->in_run)
		b->last_s = clock_mono_s();
	if (b->limit == QEMU_PANIC_LIMIT)
		return;
	if (r->in_run)
		set_limit(b, QEMU_RUN_LIMIT, factor * b->job->run_timeout_ms + SLACK_MS);
	else
		set_limit(b, QEMU_RUN_LIMIT, r->run < r->wanted ? START_LIMIT_MS : BYE_LIMIT_MS);
}

static int take_result(struct boot *b, const char *data, size_t n, struct err *e)
{
	struct results *r = &b->seen->results;
	bool over = r->bye || r->failure;

	results_feed(r, data, n, clock_mono_s());
	renew_limit(b);
	/* Beyond a failure only garbage can come, and as much as the guest likes. */
	return over ? 0 : write_log(b->result_log, "output.log", data, n, e);
}

static int take_qmp(struct boot *b, const char *data, size_t n)
{
	struct qmp *m = &b->seen->qmp;
	bool ended = m->shutdown || m->stopped;

	qmp_feed(m, data, n);
	if (!ended && (m->shutdown || m->stopped) && clock_left_ms(b->deadline) > EXIT_LIMIT_MS)
		b->deadline = clock_deadline(EXIT_LIMIT_MS);
	return 0;
}

/* Read what is there on *@fd: 1 something, 0 nothing (*@fd is -1 at its end), -1 failed. */
static int drain(struct boot *b, int *fd, struct err *e)
{
	char buf[65536];
	ssize_t n = *fd < 0 ? 0 : read(*fd, buf, sizeof(buf));
	int ret;

	if (*fd < 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	if (n <= 0) {
		close(*fd);
		*fd = -1;
		return 0;
	}
	ret = fd == &b->console  ? take_console(b, buf, (size_t)n, e)
	      : fd == &b->result ? take_result(b, buf, (size_t)n, e)
				 : take_qmp(b, buf, (size_t)n);
	return ret < 0 ? -1 : 1;
}

/* The console first: what it said before a record came is to be before it for us, too. */
static int drain_all(struct boot *b, struct err *e)
{
	int got[3] = { drain(b, &b->console, e) };

	if (got[0] < 0 || (got[1] = drain(b, &b->result, e)) < 0)
		return -1;
	got[2] = drain(b, &b->qmp, e);
	return got[0] + got[1] + got[2];
}

static void tell(const struct boot *b)
{
	const struct results *r = &b->seen->results;
	char stage[40] = "boot";

	if (!b->job->tick)
		return;
	if (r->extra)
		snprintf(stage, sizeof(stage), "extra runs");
	else if (r->hello)
		snprintf(stage, sizeof(stage), "run %u/%u", r->run ? r->run : 1, r->wanted);
	b->job->tick(b->job->tick_cookie, stage);
}

static bool is_over(const struct boot *b)
{
	const struct qemu_seen *s = b->seen;

	return s->results.bye || s->results.failure || s->qmp.status[0] ||
	       (b->console < 0 && b->result < 0);
}

static int wait_for_news(const struct boot *b, struct err *e)
{
	struct pollfd p[] = {
		{ .fd = b->console, .events = POLLIN },
		{ .fd = b->result, .events = POLLIN },
		{ .fd = b->qmp, .events = POLLIN },
		{ .fd = sig_fd(), .events = POLLIN },
	};
	int left = clock_left_ms(b->deadline);
	double ms = qemu_sample_wait_ms(&b->sampler, left >= 0 && left < TICK_MS ? left : TICK_MS);
	const struct timespec ts = { 0, (long)(ms * 1e6) };

	ppoll(p, ARRAY_SIZE(p), &ts, NULL);
	return sig_check(e);
}

static int watch(struct boot *b, struct err *e)
{
	struct qemu_seen *s = b->seen;

	while (!is_over(b)) {
		if (wait_for_news(b, e) < 0 || drain_all(b, e) < 0)
			return -1;
		if (clock_left_ms(b->deadline) == 0) {
			/* Ending by itself, but slowly: no limit of the guest's was passed. */
			if (!s->qmp.shutdown && !s->qmp.stopped)
				s->limit = b->limit;
			s->limit_s = (double)b->limit_ms / 1000;
			break;
		}
		qemu_sample(&b->sampler, &s->qmp, s->results.profiling, b->profile);
		tell(b);
	}
	return 0;
}

/*
 * See QEMU's end. Where all pipes are closed it is gone or nearly so, and its exit status
 * is to be had; else we end it, with KILL: it has no disk and no state that could be hurt.
 */
static void end_qemu(struct boot *b)
{
	int64_t deadline = clock_deadline(b->console < 0 && b->result < 0 ? EXIT_LIMIT_MS : 0);

	while (!proc_poll(&b->proc, &b->seen->end)) {
		if (clock_left_ms(deadline) == 0) {
			b->seen->killed = true;
			kill(b->proc.pid, SIGKILL);
			return;
		}
		poll(NULL, 0, 2);
	}
}

int qemu_boot(const struct qemu *q, enum qemu_accel accel, const struct target_job *job,
	      int64_t boot_limit_ms, struct qemu_seen *seen, struct target_result *r, struct err *e)
{
	struct boot b = {
		.q = q,
		.job = job,
		.seen = seen,
		.proc = PROC_INIT,
		.console = -1,
		.result = -1,
		.qmp = -1,
		.console_log = -1,
		.result_log = -1,
		.boot_limit_ms = boot_limit_ms,
		.sampler.rate = job->observe.profile,
		.profile = &r->profile,
	};
	int ret;

	results_init(&seen->results, job->nonce, job->runs, r);
	ret = open_boot(&b, accel, e);
	if (ret == 0)
		ret = watch(&b, e);
	if (ret == 0) {
		end_qemu(&b);
		/* What the guest said last is still in the pipes. */
		while ((ret = drain_all(&b, e)) > 0)
			;
	}
	if (seen->results.hello) {
		seen->boot_s = b.hello_s - b.start_s;
		seen->run_s = b.last_s - b.hello_s;
	}
	close_boot(&b);
	seen->total_s = clock_mono_s() - b.start_s;
	return ret;
}

void qemu_seen_release(struct qemu_seen *seen)
{
	results_release(&seen->results);
	free(seen->cmdline);
	qmp_release(&seen->qmp);
	str_release(&seen->console);
}
