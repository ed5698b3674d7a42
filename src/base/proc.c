/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children: started, watched, reaped. */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sig.h"

/* What the child needs between fork and exec; prepared before, since malloc is unsafe there. */
struct launch {
	const struct proc_opts *o;
	char **envp;
	char *program;
	int out_fd, err_fd; /* -1: /dev/null */
	int status_fd;      /* errno of a failed exec goes here */
	pid_t parent;
};

char *proc_which(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return access(name, X_OK) == 0 ? xstrdup(name) : NULL;
	path = path ? path : "/usr/bin:/bin";
	while (*path) {
		size_t n = strcspn(path, ":");
		char *full = xasprintf("%.*s/%s", n ? (int)n : 1, n ? path : ".", name);

		if (access(full, X_OK) == 0)
			return full;
		free(full);
		path += n + (path[n] == ':');
	}
	return NULL;
}

static void env_put(struct strv *env, const char *setting)
{
	size_t n = strcspn(setting, "=");

	for (size_t i = 0; i < env->n; i++) {
		if (strncmp(env->v[i], setting, n) != 0 || env->v[i][n] != '=')
			continue;
		free(env->v[i]);
		env->v[i] = env->v[--env->n];
		env->v[env->n] = NULL;
		break;
	}
	if (setting[n] == '=')
		strv_add(env, setting);
}

static void make_env(const struct strv *settings, struct strv *env)
{
	for (char **p = environ; *p; p++)
		strv_add(env, *p);
	for (size_t i = 0; settings && i < settings->n; i++)
		env_put(env, settings->v[i]);
}

/* Runs in the child: async-signal-safe calls only. */
static void __attribute__((noreturn)) child(const struct launch *l)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	int null = open("/dev/null", O_RDWR);
	int in = l->o->in_path ? open(l->o->in_path, O_RDONLY) : null;
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != l->parent)
		_exit(127); /* the parent died before prctl() */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	sigaction(SIGPIPE, &sa, NULL);
	if (null < 0 || in < 0 || dup2(in, 0) < 0 || dup2(l->out_fd >= 0 ? l->out_fd : null, 1) < 0)
		goto fail;
	if (!l->o->inherit_stderr && dup2(l->err_fd >= 0 ? l->err_fd : null, 2) < 0)
		goto fail;
	if (l->o->cwd && chdir(l->o->cwd) < 0)
		goto fail;
	/* Also what our own parent left open: a lock or a socket must not live on in QEMU. */
	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	for (size_t i = 0; i < l->o->n_keep_fds; i++)
		if (fcntl(l->o->keep_fds[i], F_SETFD, 0) < 0)
			goto fail;
	execve(l->program, l->o->argv, l->envp);
fail:
	null = errno;
	if (write(l->status_fd, &null, sizeof(null)) < 0)
		_exit(126);
	_exit(127);
}

/* 0: exec worked, else its errno. */
static int exec_errno(int fd)
{
	int code = 0;
	ssize_t n;

	do
		n = read(fd, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(code) ? code : 0;
}

static void echo_command(const struct proc_opts *o)
{
	_cleanup_str_ struct str line = STR_INIT;

	if (log_get_level() < LOG_VERBOSE)
		return;
	str_join_words(&line, o->argv);
	log_verbose("+ %s%s%s", o->cwd ? "cd " : "", o->cwd ? o->cwd : "", o->cwd ? " &&" : "");
	log_verbose("  %s", str_text(&line));
}

/* Fork and exec. 0 and *@pid; > 0: errno of exec (child reaped); -1. */
static int launch(struct launch *l, pid_t *pid, struct err *e)
{
	_cleanup_strv_ struct strv env = STRV_INIT;
	_cleanup_free_ char *program = proc_which(l->o->argv[0]);
	int status[2], code;

	if (!program) {
		bool there = strchr(l->o->argv[0], '/') && access(l->o->argv[0], F_OK) == 0;

		/* With a folder of its own, the child looks from there. */
		if (!(l->o->cwd && strchr(l->o->argv[0], '/')))
			return there ? EACCES : ENOENT;
		program = xstrdup(l->o->argv[0]);
	}
	echo_command(l->o);
	if (pipe2(status, O_CLOEXEC) < 0)
		return err_sys(e, errno, "cannot make a pipe");
	make_env(l->o->env, &env);
	l->envp = env.v;
	l->program = program;
	l->status_fd = status[1];
	l->parent = getpid();
	fflush(NULL);
	*pid = fork();
	if (*pid == 0)
		child(l);
	code = errno;
	close(status[1]);
	if (*pid < 0) {
		close(status[0]);
		return err_sys(e, code, "cannot start '%s'", l->o->argv[0]);
	}
	setpgid(*pid, *pid); /* both sides do it: whoever comes first */
	code = exec_errno(status[0]);
	close(status[0]);
	if (code)
		waitpid(*pid, NULL, 0);
	return code;
}

static int open_log(const char *path, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0)
		err_sys(e, errno, "cannot write '%s'", path);
	return fd;
}

static void fill_result(struct proc_result *res, int wstatus)
{
	if (WIFEXITED(wstatus)) {
		res->end = PROC_EXITED;
		res->status = WEXITSTATUS(wstatus);
	} else {
		res->end = PROC_SIGNALED;
		res->status = WTERMSIG(wstatus);
	}
}

int proc_start(const struct proc_opts *o, bool want_out, struct proc *p, struct err *e)
{
	struct launch l = { .o = o, .out_fd = -1, .err_fd = -1 };
	int log = -1, fds[2] = { -1, -1 }, code;

	if (o->log_path && (log = open_log(o->log_path, e)) < 0)
		return -1;
	if (want_out && pipe2(fds, O_CLOEXEC) < 0) {
		code = errno;
		str_closep(&log);
		return err_sys(e, code, "cannot make a pipe");
	}
	l.out_fd = want_out ? fds[1] : log;
	l.err_fd = o->merge_stderr ? l.out_fd : log;
	code = launch(&l, &p->pid, e);
	str_closep(&log);
	str_closep(&fds[1]);
	if (code == 0) {
		p->out_fd = fds[0];
		return 0;
	}
	str_closep(&fds[0]);
	p->pid = 0;
	if (code < 0)
		return -1;
	err_sys(e, code, "cannot run '%s'", o->argv[0]);
	if (e && code == ENOENT)
		e->code = ERR_NOT_FOUND;
	return -1;
}

int proc_poll(struct proc *p, struct proc_result *res)
{
	int wstatus;

	if (p->pid <= 0)
		return 1;
	if (waitpid(p->pid, &wstatus, WNOHANG) != p->pid)
		return 0;
	p->pid = 0;
	if (res)
		fill_result(res, wstatus);
	return 1;
}

/* Wait up to @ms for the leader; true when reaped. */
static bool wait_leader(pid_t pid, int *wstatus, int64_t ms)
{
	int64_t deadline = clock_deadline(ms);
	pid_t got;

	while ((got = waitpid(pid, wstatus, WNOHANG)) == 0 && clock_left_ms(deadline) != 0)
		poll(NULL, 0, 5);
	return got == pid || (got < 0 && errno == ECHILD);
}

/* End the whole group: TERM, grace, KILL; the leader is reaped. */
static int end_group(pid_t pid, unsigned grace_ms)
{
	int wstatus = 0;
	bool gone;

	kill(-pid, SIGTERM);
	gone = wait_leader(pid, &wstatus, grace_ms ? grace_ms : 2000);
	kill(-pid, SIGKILL);
	if (!gone)
		while (waitpid(pid, &wstatus, 0) < 0 && errno == EINTR)
			;
	return wstatus;
}

void proc_stop(struct proc *p, unsigned grace_ms)
{
	if (p->pid > 0)
		end_group(p->pid, grace_ms);
	p->pid = 0;
	str_closep(&p->out_fd);
}

/* State of a proc_run() in progress. */
struct watch {
	const struct proc_opts *o;
	pid_t pid;
	int fd, log;
	int64_t deadline;
	size_t total;
	int log_errno;
};

/* Take what is readable. 1: more may come, 0: end of output, -1: too much. */
static int take_output(struct watch *w)
{
	char buf[65536];
	ssize_t n = read(w->fd, buf, sizeof(buf));
	size_t keep;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0)
		return 0;
	keep = (size_t)n;
	if (w->o->max_output && w->total + keep > w->o->max_output)
		keep = w->o->max_output - w->total;
	w->total += keep;
	if (w->o->out)
		str_addmem(w->o->out, buf, keep);
	if (w->log >= 0 && write(w->log, buf, keep) != (ssize_t)keep && !w->log_errno)
		w->log_errno = errno ? errno : ENOSPC;
	return keep < (size_t)n ? -1 : 1;
}

static int poll_ms(const struct watch *w)
{
	int left = clock_left_ms(w->deadline);

	return left >= 0 && left < 200 ? left : 200;
}

/*
 * Until the leader ends. Output is taken as it comes; once the leader is gone what
 * is in the pipe is taken too, but a grandchild that holds it open is not waited for.
 */
static int watch_child(struct watch *w, struct proc_result *res, struct err *e)
{
	/* Without pidfd_open() (Linux < 5.3) the end is noticed at the next tick. */
	_cleanup_close_ int pidfd = pidfd_open(w->pid, 0);
	int wstatus = 0;
	bool open = w->fd >= 0;

	for (;;) {
		struct pollfd pfd[3] = { { .fd = open ? w->fd : -1, .events = POLLIN },
					 { .fd = sig_fd(), .events = POLLIN },
					 { .fd = pidfd, .events = POLLIN } };
		int got, n = poll(pfd, 3, poll_ms(w));

		if (sig_check(e) < 0) {
			end_group(w->pid, w->o->grace_ms);
			return -1;
		}
		if (n > 0 && open && pfd[0].revents) {
			got = take_output(w);
			open = got != 0;
			if (got < 0) {
				res->end = PROC_TOO_MUCH;
				break;
			}
			if (got > 0)
				goto tick;
		}
		if (waitpid(w->pid, &wstatus, WNOHANG) == w->pid) {
			fcntl(w->fd, F_SETFL, O_NONBLOCK);
			while (open && poll(pfd, 1, 0) > 0 && take_output(w) > 0)
				;
			kill(-w->pid, SIGKILL); /* stragglers of its group */
			fill_result(res, wstatus);
			return 0;
		}
tick:
		if (clock_left_ms(w->deadline) == 0) {
			res->end = PROC_TIMED_OUT;
			break;
		}
		if (w->o->tick)
			w->o->tick(w->o->tick_cookie);
	}
	end_group(w->pid, w->o->grace_ms);
	return 0;
}

static int run_child(struct watch *w, int write_fd, struct proc_result *res, struct err *e)
{
	struct launch l = { .o = w->o, .out_fd = write_fd };
	int code;

	l.err_fd = w->o->merge_stderr ? write_fd : w->log;
	code = launch(&l, &w->pid, e);
	close(write_fd);
	if (code < 0)
		return -1;
	if (code > 0) {
		res->end = PROC_NO_START;
		res->status = code;
		return 0;
	}
	if (watch_child(w, res, e) < 0)
		return -1;
	if (w->log_errno)
		return err_sys(e, w->log_errno, "cannot write '%s'", w->o->log_path);
	return 0;
}

int proc_run(const struct proc_opts *o, struct proc_result *res, struct err *e)
{
	struct watch w = { .o = o, .log = -1 };
	double start = clock_mono_s();
	int fds[2], ret;

	memset(res, 0, sizeof(*res));
	if (sig_check(e) < 0)
		return -1;
	if (o->log_path && (w.log = open_log(o->log_path, e)) < 0)
		return -1;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		ret = err_sys(e, errno, "cannot make a pipe");
		str_closep(&w.log);
		return ret;
	}
	w.fd = fds[0];
	w.deadline = clock_deadline(o->timeout_ms > 0 ? o->timeout_ms : -1);
	ret = run_child(&w, fds[1], res, e);
	res->seconds = clock_mono_s() - start;
	str_closep(&fds[0]);
	str_closep(&w.log);
	return ret;
}

const char *proc_describe(const struct proc_result *res, char *buf, size_t size)
{
	switch (res->end) {
	case PROC_EXITED:
		snprintf(buf, size, "exit status %d", res->status);
		break;
	case PROC_SIGNALED:
		snprintf(buf, size, "killed by signal %d (%s)", res->status,
			 strsignal(res->status));
		break;
	case PROC_TIMED_OUT:
		snprintf(buf, size, "timed out after %.0f s", res->seconds);
		break;
	case PROC_TOO_MUCH:
		snprintf(buf, size, "stopped: it printed too much");
		break;
	case PROC_NO_START:
		snprintf(buf, size, "cannot start: %s", strerror(res->status));
		break;
	default:
		snprintf(buf, size, "not started");
	}
	return buf;
}
