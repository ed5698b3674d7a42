/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PID 1 of the guest: runs the one job of a trial and reports it on the second serial port. */
/*
 * With --here DIR it does the same on a real machine, beside all that lives there: agent_here.h.
 *
 * What it is: with the workload, the only program of the guest. It mounts what a
 * workload may want to see, says which kernel this is, writes the settings that the
 * job names, runs the workload as often as told, frames each run, powers off.
 * README.md beside this file has the protocol.
 *
 * What it refuses to be: an init system. No shell, no services, no modules, no
 * disks, no network, no second job. It does not interpret what a workload prints,
 * and it says nothing while a workload runs: output is collected and sent after,
 * so that the serial line is idle during the measurement. stderr goes to the console.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent_system.h"

#define OUTPUT_MAX (1u << 20) /* TARGET_OUTPUT_MAX of the host */
#define TOO_MUCH_KEPT 4096    /* of a run that printed more: enough to see what it is */
#define ERRORS_MAX 65536      /* of a run's stderr; the rest is dropped */
#define REAP_MS 5000          /* how long stragglers may take to die between two runs */

struct job {
	const char *nonce;
	unsigned runs;
	int64_t run_timeout_ms;
	char **settings; /* "PATH=VALUE" */
	char **argv;
};

/* Where it all is; --here has other places. */
static struct {
	char job[PATH_MAX], work[PATH_MAX];
	char path[PATH_MAX + 80]; /* for the workload's environment */
} place = { "/job", "/work", "PATH=/work:/bin" };

#include "agent_here.h"
#include "agent_observe.h"

/* How one run ended. */
struct run {
	const char
		*failure; /* "timeout", "too-much": the status that is reported; NULL: it ended */
	int wstatus;      /* of waitpid() */
	int exec_errno;   /* the workload could not be started */
	size_t n;         /* bytes in output[] */
	size_t errors;    /* bytes of stderr that went to the console */
	bool in_line;     /* of stderr */
	int64_t us;       /* that it took */
};

static char output[OUTPUT_MAX];

/* "\n" and "\\" of the job file back to the bytes they stand for, in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && s[1])
			*to++ = *++s == 'n' ? '\n' : *s;
		else
			*to++ = *s;
	}
	*to = 0;
}

static void add_word(char ***list, size_t *n, char *word)
{
	char **longer = realloc(*list, (*n + 2) * sizeof(char *));

	if (!longer)
		give_up("out of memory while reading %s", place.job);
	unescape(word);
	longer[(*n)++] = word;
	longer[*n] = NULL;
	*list = longer;
}

/* One line of the job; false: not understood. */
static bool take_line(struct job *j, size_t *n_settings, size_t *n_argv, char *line)
{
	char *value = strchr(line, ' ');

	if (!value)
		return false;
	*value++ = 0;
	if (!strcmp(line, "kregress-job"))
		return !strcmp(value, "1");
	if (!strcmp(line, "nonce"))
		j->nonce = value;
	else if (!strcmp(line, "runs"))
		j->runs = (unsigned)strtoul(value, NULL, 10);
	else if (!strcmp(line, "run_timeout_ms"))
		j->run_timeout_ms = strtoll(value, NULL, 10);
	else if (!strcmp(line, "set"))
		add_word(&j->settings, n_settings, value);
	else if (!strcmp(line, "arg"))
		add_word(&j->argv, n_argv, value);
	else if (!strcmp(line, "observe"))
		return take_observe(value);
	else
		return false;
	return true;
}

static void load_job(struct job *j)
{
	static char text[1 << 18];
	size_t n_settings = 0, n_argv = 0;
	char *save = NULL;

	if (read_small(place.job, text, sizeof(text)) < 0)
		give_up("cannot read %s: %s", place.job, strerror(errno));
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (!take_line(j, &n_settings, &n_argv, l))
			give_up("do not understand '%.80s' in %s", l, place.job);
	if (!j->nonce || !j->argv || j->run_timeout_ms <= 0)
		give_up("%s lacks nonce, run_timeout_ms or arg", place.job);
	/* The workload has no business with the nonce. */
	unlink(place.job);
}

/* The processor's own name, from its identification leaves; "" elsewhere than on x86. */
static void cpu_name(char name[49])
{
	uint32_t *words = (uint32_t *)(void *)name;

	memset(name, 0, 49);
#if defined(__x86_64__) || defined(__i386__)
	for (uint32_t leaf = 0; leaf < 3; leaf++) {
		uint32_t *w = words + 4 * leaf;

		__asm__("cpuid"
			: "=a"(w[0]), "=b"(w[1]), "=c"(w[2]), "=d"(w[3])
			: "a"(0x80000002 + leaf), "c"(0));
	}
#else
	(void)words;
#endif
}

/* Few system calls: every one that a guest makes for the first time costs under TCG. */
static void hello(const struct job *j)
{
	char boot[64], id[160], cpu[64] __attribute__((aligned(4)));
	struct utsname uts;
	struct sysinfo info;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	uname(&uts);
	sysinfo(&info);
	read_small("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	boot[strcspn(boot, "\n")] = 0;
	build_id(id, sizeof(id));
	cpu_name(cpu);
	say("kregress: hello %s 1 boot_id=%s build_id=%s release=%s memory_kb=%lu cpus=%d cpu=%s",
	    j->nonce, boot[0] ? boot : "-", id, uts.release, info.totalram / 1024 * info.mem_unit,
	    CPU_COUNT(&cpus), cpu);
}

/* False (and said) when this kernel does not take one of them. */
static bool apply_settings(const struct job *j)
{
	for (char **s = j->settings; s && *s; s++) {
		char *eq = strchr(*s, '=');

		errno = EINVAL;
		if (eq)
			*eq = 0;
		if (!eq || !write_small(*s, eq + 1)) {
			say("kregress: untestable %s setup: cannot write %s to %s: %s", j->nonce,
			    eq ? eq + 1 : "", *s, strerror(errno));
			return false;
		}
	}
	return true;
}

static void noop(int sig)
{
	(void)sig;
}

/* SIGCHLD only ever arrives inside ppoll(): the end of the workload and its output in one wait. */
static void prepare_signals(void)
{
	struct sigaction sa = { .sa_handler = noop };
	sigset_t chld;

	sigaction(SIGCHLD, &sa, NULL);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, here ? NULL : &in_poll);
	sigdelset(&in_poll, SIGCHLD);
}

static void __attribute__((noreturn))
become_workload(const struct job *j, int out, int errors, int failed)
{
	static char home[] = "HOME=/tmp", locale[] = "LC_ALL=C";
	char *const env[] = { place.path, home, locale, NULL };
	struct sigaction sa = { .sa_handler = SIG_DFL };
	sigset_t none;
	int code;

	setsid();
	sigaction(SIGCHLD, &sa, NULL);
	if (here)
		become_ordinary();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(out, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0 &&
	    chdir(place.work) == 0)
		execvpe(j->argv[0], j->argv, env);
	code = errno;
	send_bytes(failed, (const char *)&code, sizeof(code));
	_exit(127);
}

/* Take what the workload printed: 1 more may come, 0 nothing is there (any more), -1 too much. */
static int take_output(int fd, struct run *r)
{
	char excess;
	bool full = r->n == OUTPUT_MAX;
	ssize_t n = full ? read(fd, &excess, 1) : read(fd, output + r->n, OUTPUT_MAX - r->n);

	if (n < 0)
		return errno == EINTR;
	if (full && n > 0) {
		r->failure = "too-much";
		r->n = TOO_MUCH_KEPT;
		return -1;
	}
	r->n += (size_t)n;
	return n > 0;
}

/*
 * Pass stderr on to the console, marked line by line: nothing that a workload prints may
 * look like the kernel's own words. True while more may come.
 */
static bool take_errors(int fd, struct run *r)
{
	static const char mark[] = "workload: ";
	char buf[512];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n < 0)
		return errno == EINTR;
	for (ssize_t i = 0; i < n && r->errors < ERRORS_MAX;) {
		const char *nl = memchr(buf + i, '\n', (size_t)(n - i));
		size_t part = (size_t)((nl ? nl + 1 : buf + n) - (buf + i));

		if (!r->in_line)
			send_bytes(STDERR_FILENO, mark, sizeof(mark) - 1);
		send_bytes(STDERR_FILENO, buf + i, part);
		r->errors += part;
		r->in_line = !nl;
		i += (ssize_t)part;
	}
	return n > 0;
}

/* What is still in the pipes of a workload that ended. */
static void take_rest(const int fds[2], struct run *r)
{
	while (take_output(fds[0], r) > 0)
		;
	while (take_errors(fds[1], r))
		;
}

/* Wait for the end of @pid, its time or its measure; @fds: its output and errors, non-blocking. */
static void watch(pid_t pid, const int fds[2], int64_t deadline, struct run *r)
{
	/* Of the third only errors are seen: nobody reads there any more. */
	struct pollfd p[3] = { { .fd = fds[0], .events = POLLIN },
			       { .fd = fds[1], .events = POLLIN },
			       { .fd = port } };

	while (!ending && waitpid(pid, &r->wstatus, WNOHANG) != pid) {
		int64_t left = deadline - now_ms();
		struct timespec ts = pause_of(left);
		int got;

		if (left <= 0) {
			r->failure = "timeout";
			return;
		}
		got = ppoll(p, here ? 3 : 2, &ts, &in_poll);
		if (beside && now_us() >= beside_due_us)
			beside();
		if (got > 0 && p[2].revents)
			ending = 1;
		if (got <= 0 || ending)
			continue;
		if (p[0].revents && (got = take_output(fds[0], r)) <= 0) {
			if (got < 0)
				return;
			p[0].fd = -1;
		}
		if (p[1].revents && !take_errors(fds[1], r))
			p[1].fd = -1;
	}
	take_rest(fds, r);
}

/* Nothing of this run may live on into the next. */
static void kill_everything(void)
{
	int64_t deadline = now_ms() + REAP_MS;

	if (here) {
		kill_descendants(deadline);
		return;
	}
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, WNOHANG) >= 0 && now_ms() < deadline)
		if (waitpid(-1, NULL, WNOHANG) == 0)
			poll(NULL, 0, 1);
}

/* The workload as a child; its pid, -1 with exec_errno set. @fds: its output and errors. */
static pid_t start_workload(const struct job *j, int fds[2], struct run *r)
{
	int out[2], errors[2], failed[2];
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0 ||
	    pipe2(failed, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		r->exec_errno = errno;
		return -1;
	}
	if (pid == 0)
		become_workload(j, out[1], errors[1], failed[1]);
	close(out[1]);
	close(errors[1]);
	close(failed[1]);
	/* Nothing comes, and the pipe ends, once exec() worked. */
	if (read(failed[0], &r->exec_errno, sizeof(int)) != sizeof(int))
		r->exec_errno = 0;
	close(failed[0]);
	fds[0] = out[0];
	fds[1] = errors[0];
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	return pid;
}

static void run_workload(const struct job *j, struct run *r)
{
	int fds[2];
	pid_t pid = start_workload(j, fds, r);
	int64_t start;

	if (pid < 0)
		return;
	start = now_us();
	watch(pid, fds, now_ms() + j->run_timeout_ms, r);
	r->us = now_us() - start;
	close(fds[0]);
	close(fds[1]);
	kill_everything();
	if (r->in_line)
		send_bytes(STDERR_FILENO, "\n", 1);
}

/* Send one run; true when the next one may follow. */
static bool report_run(const struct job *j, const struct run *r)
{
	int status = WIFSIGNALED(r->wstatus) ? 128 + WTERMSIG(r->wstatus) : WEXITSTATUS(r->wstatus);

	send_bytes(port, output, r->n);
	if (r->n > 0 && output[r->n - 1] != '\n')
		send_bytes(port, "\n", 1);
	if (r->failure)
		say("kregress: end %s %s", j->nonce, r->failure);
	else
		say("kregress: end %s %d", j->nonce, status);
	return !r->failure && status == 0;
}

#include "agent_extra.h"

static void do_runs(const struct job *j)
{
	int64_t run_us = 0;

	prepare_signals();
	for (unsigned i = 1; i <= j->runs; i++) {
		struct run r = { .failure = NULL };

		say("kregress: begin %s %u", j->nonce, i);
		/* The line must be idle before the clock of the workload starts. */
		tcdrain(port);
		run_workload(j, &r);
		if (ending)
			return;
		if (r.exec_errno) {
			say("kregress: noexec %s cannot start %s: %s", j->nonce, j->argv[0],
			    strerror(r.exec_errno));
			return;
		}
		if (!report_run(j, &r))
			return;
		run_us = r.us;
	}
	observe_runs(j, run_us);
}

/* --here: what is done in the worker, see agent_here.h. */
static int work_here(const struct job *j)
{
	hello(j);
	if (apply_settings(j))
		do_runs(j);
	restore_settings(j);
	if (ending)
		return STATUS_ENDED;
	say("kregress: bye %s", j->nonce);
	return 0;
}

static int main_here(const char *dir)
{
	struct job job = { .runs = 0 };

	enter_here(dir);
	load_job(&job);
	save_settings(&job);
	return keep_worker(&job, work_here);
}

int main(int argc, char **argv)
{
	struct job job = { .runs = 0 };

	if (argc == 3 && !strcmp(argv[1], "--here"))
		return main_here(argv[2]);
	if (getpid() != 1) {
		fprintf(stderr, "kregress agent: only for use as PID 1 of a guest, or with "
				"--here DIR on a machine\n");
		return 2;
	}
	mount_all(basic_mounts, sizeof(basic_mounts) / sizeof(basic_mounts[0]));
	make_nodes();
	open_console();
	load_job(&job);
	open_port();
	hello(&job);
	mount_all(more_mounts, sizeof(more_mounts) / sizeof(more_mounts[0]));
	if (apply_settings(&job))
		do_runs(&job);
	say("kregress: bye %s", job.nonce);
	power_off();
}
