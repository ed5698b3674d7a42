/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Extra runs, after those that count: snapshots of /proc, stacks of sleepers. Part of agent.c alone. */
/*
 * What the job does not ask for costs nothing. Each kind has runs of its own, so that taking one
 * does not show in another; all is kept in memory until its runs are over, and sent then.
 */
#ifndef KR_QEMU_AGENT_OBSERVE_H
#define KR_QEMU_AGENT_OBSERVE_H

#define FILE_MAX (256u << 10) /* of one file of /proc; the rest is cut off */
#define POOL_MAX (3u << 20)   /* of all snapshots */
#define RUNS_MAX 50           /* of one kind */
#define STACKS_MAX 512        /* different ones */
#define STACK_TEXT 1024       /* bytes of one */
#define FRAMES_MAX 24
#define TASKS_MAX 64    /* threads that one look goes through */
#define KNOWN_SIZE 8192 /* processes remembered, a power of two */
#define REST 4          /* after a look, at least this many times what it took */

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* What the job asks for. */
static struct {
	bool snapshots, profile;
	unsigned stacks; /* looks a second; 0: none */
	int64_t time_us; /* runs of one kind go on until so much has passed */
} observe;

/* In an extra run: what is done beside the workload, and when next; NULL: nothing. */
static void (*beside)(void);
static int64_t beside_due_us;

/* How long to wait, of @left_ms at most. */
static struct timespec pause_of(int64_t left_ms)
{
	int64_t us = left_ms * 1000, due = beside ? beside_due_us - now_us() : us;

	us = due < us ? due : us;
	us = us > 0 ? us : 0;
	return (struct timespec){ us / 1000000, us % 1000000 * 1000 };
}

/* One "observe WORD [NUMBER]" of the job; false: not understood. */
static bool take_observe(const char *value)
{
	unsigned long long number;

	if (!strcmp(value, "snapshots"))
		observe.snapshots = true;
	else if (!strcmp(value, "profile"))
		observe.profile = true;
	else if (sscanf(value, "stacks %llu", &number) == 1 && number >= 1 && number <= 1000)
		observe.stacks = (unsigned)number;
	else if (sscanf(value, "time_ms %llu", &number) == 1 && number <= 86400000)
		observe.time_us = (int64_t)number * 1000;
	else
		return false;
	return true;
}

/* ---- snapshots ----------------------------------------------------------------------------- */

static const char *const proc_files[] = {
	"vmstat",     "pagetypeinfo", "zoneinfo",        "buddyinfo",   "meminfo",      "softirqs",
	"interrupts", "pressure/cpu", "pressure/memory", "pressure/io", "pressure/irq",
};

struct snapshot {
	const char *phase, *name, *text;
	size_t n;
	bool cut;
};

static struct {
	struct snapshot file[3 * sizeof(proc_files) / sizeof(proc_files[0])];
	size_t n_files, used;
	char pool[POOL_MAX];
} snapshots;

static void take_snapshot(const char *phase)
{
	for (size_t i = 0; i < sizeof(proc_files) / sizeof(proc_files[0]); i++) {
		struct snapshot *s = &snapshots.file[snapshots.n_files];
		char path[40], *to = snapshots.pool + snapshots.used;
		size_t room = sizeof(snapshots.pool) - snapshots.used;
		ssize_t n;

		room = room < FILE_MAX ? room : FILE_MAX;
		snprintf(path, sizeof(path), "/proc/%s", proc_files[i]);
		if (room < 2 || (n = read_small(path, to, room)) <= 0)
			continue;
		*s = (struct snapshot){ phase, proc_files[i], to, (size_t)n,
					(size_t)n == room - 1 };
		snapshots.used += (size_t)n;
		snapshots.n_files++;
	}
}

static void take_during(void)
{
	beside = NULL;
	take_snapshot("during");
}

static void send_file(const struct job *j, const struct snapshot *s)
{
	say("kregress: file %s %s %s", j->nonce, s->phase, s->name);
	send_bytes(port, s->text, s->n);
	if (s->n > 0 && s->text[s->n - 1] != '\n')
		send_bytes(port, "\n", 1);
	say("kregress: eof %s %s", j->nonce, s->cut ? "cut" : "whole");
}

/* ---- stacks -------------------------------------------------------------------------------- */

/* A state and the functions under it, innermost first: "D synchronize_rcu;…", "R". */
struct stack {
	char *text;
	unsigned looks; /* at which some thread was there */
	unsigned last;  /* the last of them */
};

static struct {
	struct stack list[STACKS_MAX];
	size_t n;
	unsigned looks, lost; /* lost: threads whose stack found no place any more */
	int64_t cost_us;
	uint32_t random;
	struct {
		pid_t pid;
		bool ours;
	} known[KNOWN_SIZE];
	size_t n_known;
} stacks;

static void count_stack(const char *text)
{
	struct stack *s = stacks.list;

	for (; s < stacks.list + stacks.n; s++)
		if (!strcmp(s->text, text))
			break;
	if (s == stacks.list + stacks.n) {
		if (stacks.n == STACKS_MAX || !(s->text = strdup(text))) {
			stacks.lost++;
			return;
		}
		stacks.n++;
	}
	/* Two threads at the same place are one share of the time. */
	if (s->last == stacks.looks)
		return;
	s->last = stacks.looks;
	s->looks++;
}

/* "[<0>] name+0x1/0x2" lines of @raw to "STATE name;name" in @text. */
static void fold_stack(char state, char *raw, char text[STACK_TEXT])
{
	size_t at = (size_t)snprintf(text, STACK_TEXT, "%c", state);
	char *save = NULL;
	int frames = 0;

	for (char *l = strtok_r(raw, "\n", &save); l && frames < FRAMES_MAX;
	     l = strtok_r(NULL, "\n", &save)) {
		char *name = strstr(l, "] ");
		size_t n;

		if (!name)
			continue;
		name += 2;
		n = strcspn(name, "+ \t");
		if (!n || at + n + 2 > STACK_TEXT)
			break;
		text[at++] = frames++ ? ';' : ' ';
		memcpy(text + at, name, n);
		at += n;
		text[at] = 0;
	}
}

static void look_at_thread(int pid, const char *tid)
{
	char path[80], raw[4096], text[STACK_TEXT], *at;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat", pid, tid);
	if (read_small(path, raw, sizeof(raw)) <= 0 || !(at = strrchr(raw, ')')) || !at[1] ||
	    !at[2])
		return;
	text[0] = at[2];
	text[1] = 0;
	if (strchr("SDTt", text[0])) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stack", pid, tid);
		if (read_small(path, raw, sizeof(raw)) > 0)
			fold_stack(text[0], raw, text);
	}
	count_stack(text);
}

/* Where @pid is known, or is to be: pid 0. */
static size_t place_of(pid_t pid)
{
	size_t at = (size_t)pid % KNOWN_SIZE;

	while (stacks.known[at].pid && stacks.known[at].pid != pid)
		at = (at + 1) % KNOWN_SIZE;
	return at;
}

static bool remember(pid_t pid, bool ours)
{
	if (++stacks.n_known > KNOWN_SIZE / 2) {
		memset(stacks.known, 0, sizeof(stacks.known));
		stacks.n_known = 1;
	}
	stacks.known[place_of(pid)].pid = pid;
	return stacks.known[place_of(pid)].ours = ours;
}

/* Whoever lives before the workload does is not of it: nothing needs to be read of them. */
static void know_others(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;

	while (proc && (d = readdir(proc)))
		if (isdigit((unsigned char)d->d_name[0]))
			remember(atoi(d->d_name), false);
	if (proc)
		closedir(proc);
}

/* Is @pid the workload's? It is a child of ours or of one that is; asked once for each. */
static bool is_ours(pid_t pid)
{
	size_t at = place_of(pid);
	pid_t parent;

	if (stacks.known[at].pid)
		return stacks.known[at].ours;
	parent = (pid_t)stat_field(pid, 1);
	if (parent < 0)
		return false; /* gone */
	return remember(pid,
			parent == getpid() || (parent > 0 && stacks.known[place_of(parent)].ours));
}

static void look_at_process(int pid, int *tasks)
{
	struct dirent *d;
	char path[40];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && *tasks < TASKS_MAX && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0])) {
			look_at_thread(pid, d->d_name);
			++*tasks;
		}
	if (dir)
		closedir(dir);
}

/* Not in step with anything that ticks: between a half and one and a half of the interval. */
static int64_t some_interval(void)
{
	stacks.random = stacks.random * 1664525u + 1013904223u;
	return (int64_t)(1e6 / observe.stacks * (0.5 + stacks.random / 4294967296.0));
}

static void look_at_stacks(void)
{
	int64_t start = now_us(), end;
	DIR *proc = opendir("/proc");
	struct dirent *d;
	int tasks = 0;

	stacks.looks++;
	while (proc && (d = readdir(proc)))
		if (isdigit((unsigned char)d->d_name[0]) && is_ours(atoi(d->d_name)))
			look_at_process(atoi(d->d_name), &tasks);
	if (proc)
		closedir(proc);
	end = now_us();
	stacks.cost_us += end - start;
	beside_due_us = start + some_interval();
	if (beside_due_us < end + REST * (end - start))
		beside_due_us = end + REST * (end - start);
}

static void send_stacks(const struct job *j, int64_t passed_us)
{
	say("kregress: file %s over stacks", j->nonce);
	say("looks %u us %lld cost_us %lld lost %u", stacks.looks, (long long)passed_us,
	    (long long)stacks.cost_us, stacks.lost);
	for (size_t i = 0; i < stacks.n; i++) {
		char number[16];
		int n = snprintf(number, sizeof(number), "%u ", stacks.list[i].looks);

		send_bytes(port, number, (size_t)n);
		send_bytes(port, stacks.list[i].text, strlen(stacks.list[i].text));
		send_bytes(port, "\n", 1);
	}
	say("kregress: eof %s whole", j->nonce);
}

#endif
