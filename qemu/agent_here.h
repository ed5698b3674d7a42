/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent on a machine that is not ours alone: agent --here DIR. Part of agent.c alone. */
/*
 * Two processes. The worker does the job in a session of its own; the keeper waits for it. Each
 * makes up for the other's sudden death: the worker is told of the keeper's (parent death
 * signal), ends the workload and puts the settings back; the keeper inherits all that a killed
 * worker leaves behind (it is a subreaper), kills it and puts the settings back.
 */
#ifndef KR_QEMU_AGENT_HERE_H
#define KR_QEMU_AGENT_HERE_H

#include <ctype.h>
#include <dirent.h>
#include <sys/prctl.h>

#define STATUS_ENDED 3 /* exit status: told to end, or nobody listened any more */
#define SAVED_MAX 4096
#define OOM_FILE "/proc/self/oom_score_adj"

/* What the settings were before; NULL: cannot be read, so not put back. Same order. */
static char **saved;
static char oom_score[16]; /* of the workload */

/* ---- settings ------------------------------------------------------------------------------ */

/* What is to be written to get what @path says now: "[word]" of a choice. False: unreadable. */
static bool present_value(const char *path, char value[SAVED_MAX])
{
	char *open, *close;

	if (read_small(path, value, SAVED_MAX) < 0)
		return false;
	value[strcspn(value, "\n")] = 0;
	open = strchr(value, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close) {
		*close = 0;
		memmove(value, open + 1, (size_t)(close - open));
	}
	return true;
}

/* The path of "PATH=VALUE", also when it was cut there already. */
static void setting_path(const char *setting, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.*s", (int)strcspn(setting, "="), setting);
}

static void save_settings(const struct job *j)
{
	char path[PATH_MAX], value[SAVED_MAX];
	size_t n = 0;

	while (j->settings && j->settings[n])
		n++;
	saved = calloc(n + 1, sizeof(*saved));
	if (!saved)
		give_up("out of memory");
	for (size_t i = 0; i < n; i++) {
		setting_path(j->settings[i], path);
		if (present_value(path, value))
			saved[i] = strdup(value);
	}
}

/* The last first: what was set on top of something comes off before it. */
static void restore_settings(const struct job *j)
{
	char path[PATH_MAX], value[SAVED_MAX];
	size_t n = 0;

	while (j->settings && j->settings[n])
		n++;
	while (n-- > 0) {
		setting_path(j->settings[n], path);
		if (!saved[n] || (present_value(path, value) && !strcmp(value, saved[n])))
			continue;
		if (!write_small(path, saved[n]))
			dprintf(STDERR_FILENO, "kregress agent: cannot write %s back to %s: %s\n",
				saved[n], path, strerror(errno));
	}
}

/* ---- processes ----------------------------------------------------------------------------- */

/* Field @index of /proc/PID/stat, counted from the state (0), 1 the parent, 19 the start. */
static long long stat_field(pid_t pid, int index)
{
	char path[40], text[1024], *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	/* The name, in parentheses, may hold anything. */
	if (read_small(path, text, sizeof(text)) <= 0 || !(at = strrchr(text, ')')))
		return -1;
	for (at += 2; at && index > 0; index--)
		at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
	return at ? atoll(at) : -1;
}

/* A process and its parent; the list of all that live now. */
struct relation {
	pid_t pid, parent;
	bool ours;
};

static size_t list_processes(struct relation **list)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	size_t n = 0, room = 0;

	while (proc && (d = readdir(proc))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		if (n == room) {
			struct relation *more = realloc(*list,
							(room = 2 * room + 256) * sizeof(**list));

			if (!more)
				break;
			*list = more;
		}
		(*list)[n].pid = atoi(d->d_name);
		(*list)[n].parent = (pid_t)stat_field((*list)[n].pid, 1);
		(*list)[n++].ours = false;
	}
	if (proc)
		closedir(proc);
	return n;
}

/* Mark the children of @pid, and theirs. */
static void mark_children(struct relation *list, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].parent != pid || list[i].ours)
			continue;
		list[i].ours = true;
		mark_children(list, n, list[i].pid);
	}
}

/*
 * Kill what we started and all its offspring. Those that left their parents are children of
 * ours, a subreaper's: none are left when we have no child.
 */
static void kill_descendants(int64_t deadline)
{
	pid_t ended;

	while ((ended = waitpid(-1, NULL, WNOHANG)) >= 0 && now_ms() < deadline) {
		struct relation *list = NULL;
		size_t n;

		if (ended > 0)
			continue;
		n = list_processes(&list);
		mark_children(list, n, getpid());
		for (size_t i = 0; i < n; i++)
			if (list[i].ours)
				kill(list[i].pid, SIGKILL);
		free(list);
		poll(NULL, 0, 1);
	}
}

static void end_soon(int sig)
{
	(void)sig;
	ending = 1;
}

/* Only while we wait (ppoll()) are they let in. */
static void prepare_end(void)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction sa = { .sa_handler = end_soon };
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaction(signals[i], &sa, NULL);
		sigaddset(&block, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &block, NULL);
	sigprocmask(SIG_BLOCK, NULL, &in_poll);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigdelset(&in_poll, signals[i]);
}

/* In the workload, before it starts: nothing of what makes the agent special. */
static void become_ordinary(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };

	sigaction(SIGPIPE, &sa, NULL);
	if (oom_score[0])
		write_small(OOM_FILE, oom_score);
}

/* ---- keeper and worker --------------------------------------------------------------------- */

static void enter_here(const char *dir)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };

	here = dir;
	if (dir[0] != '/' || strlen(dir) > PATH_MAX - 20)
		give_up("'%.80s' is not an absolute path", dir);
	snprintf(place.job, sizeof(place.job), "%.*s/job", PATH_MAX - 20, dir);
	snprintf(place.work, sizeof(place.work), "%.*s/work", PATH_MAX - 20, dir);
	snprintf(place.path, sizeof(place.path),
		 "PATH=%.*s:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		 PATH_MAX - 15, place.work);
	open_as("/dev/null", O_RDONLY, STDIN_FILENO);
	port = STDOUT_FILENO;
	sigaction(SIGPIPE, &sa, NULL);
	/* Lack of memory is to hit the workload, not who reports it. Not granted to everybody. */
	read_small(OOM_FILE, oom_score, sizeof(oom_score));
	write_small(OOM_FILE, "-1000");
}

/* "PID START" in DIR/agent: whoever finds the folder later can end us. */
static void leave_name(void)
{
	char path[PATH_MAX + 8];
	int fd;

	snprintf(path, sizeof(path), "%s/agent.pid", here);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		give_up("cannot write %s: %s", path, strerror(errno));
	dprintf(fd, "%d %lld\n", (int)getpid(), stat_field(getpid(), 19));
	close(fd);
}

static void __attribute__((noreturn))
be_worker(const struct job *j, pid_t keeper, int (*work)(const struct job *j))
{
	/* Whoever kills our group means the keeper: we need a moment more. */
	setsid();
	prepare_end();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != keeper)
		_exit(STATUS_ENDED);
	leave_name();
	_exit(work(j));
}

/* Start the worker, wait for its end. Returns the exit status. */
static int keep_worker(const struct job *j, int (*work)(const struct job *j))
{
	pid_t keeper = getpid(), worker;
	int status;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	worker = fork();
	if (worker < 0)
		give_up("cannot fork: %s", strerror(errno));
	if (worker == 0)
		be_worker(j, keeper, work);
	while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	kill_descendants(now_ms() + 5000);
	restore_settings(j);
	dprintf(STDERR_FILENO, "kregress agent: killed by signal %d\n", WTERMSIG(status));
	return STATUS_ENDED;
}

#endif
