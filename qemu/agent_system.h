/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's hands: console, result channel, small files, mounts. Part of agent.c alone. */
#ifndef KR_QEMU_AGENT_SYSTEM_H
#define KR_QEMU_AGENT_SYSTEM_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define RESULT_PORT "/dev/ttyS1"

/* The result channel; -1 until open_port(). */
static int port = -1;

/* On a machine that is not ours alone (--here): the folder of the job; NULL: PID 1 of a guest. */
static const char *here;
/* There: to be ended, by a signal or because nobody listens any more. */
static volatile sig_atomic_t ending;
/* The signals that are blocked except while we wait: see prepare_signals(). */
static sigset_t in_poll;

/* Flush both lines and switch off; the host has seen our farewell and ends QEMU in any case. */
static void __attribute__((noreturn)) power_off(void)
{
	if (here)
		_exit(2);
	if (port >= 0)
		tcdrain(port);
	tcdrain(STDERR_FILENO);
	reboot(RB_POWER_OFF);
	for (;;) /* a kernel that cannot switch off */
		pause();
}

/* Give up, with a line for whoever reads the console: the host looks for it. */
static void __attribute__((format(printf, 1, 2), noreturn)) give_up(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dprintf(STDERR_FILENO, "kregress agent: %s\n", text);
	power_off();
}

/*
 * On a real machine a reader may be gone, or not read: wait where signals can end it. A pipe
 * that polls writable takes PIPE_BUF bytes at once.
 */
static bool may_send(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	while (!ending && ppoll(&p, 1, NULL, &in_poll) < 0 && errno == EINTR)
		;
	if (fd == port && (p.revents & (POLLERR | POLLHUP | POLLNVAL)))
		ending = 1;
	return !ending && (p.revents & POLLOUT);
}

static void send_bytes(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t done;

		if (here && !may_send(fd))
			return;
		done = write(fd, data, here && n > PIPE_BUF ? PIPE_BUF : n);
		if (done < 0 && errno != EINTR)
			return; /* nobody to tell: the host misses the record and says so */
		if (done > 0) {
			data += done;
			n -= (size_t)done;
		}
	}
}

/* Send one record: a line of the protocol. */
static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	send_bytes(port, line, (size_t)n);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Up to @size - 1 bytes of a file, NUL-terminated; -1 with errno. */
static ssize_t read_small(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 0;

	buf[0] = 0;
	if (fd < 0)
		return -1;
	while (n < size - 1 && (got = read(fd, buf + n, size - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	buf[n] = 0;
	return got < 0 ? -1 : (ssize_t)n;
}

/* Write a file of /proc or /sys in one piece; false with errno. */
static bool write_small(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(value);
	int saved;
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, value, n) == (ssize_t)n;
	saved = errno;
	close(fd);
	errno = saved;
	return ok;
}

/* File systems: those without which nothing works, then those that workloads may want. */
static const struct mount_point {
	const char *type, *dir, *data;
	mode_t mode;
} basic_mounts[] = {
	{ "proc", "/proc", NULL, 0555 },
	{ "sysfs", "/sys", NULL, 0555 },
	{ "devtmpfs", "/dev", NULL, 0755 },
}, more_mounts[] = {
	{ "tmpfs", "/tmp", "mode=1777", 01777 },
	{ "tmpfs", "/dev/shm", "mode=1777", 01777 },
	{ "hugetlbfs", "/dev/hugepages", NULL, 0755 },
	{ "debugfs", "/sys/kernel/debug", NULL, 0700 },
};

static void mount_all(const struct mount_point *m, size_t n)
{
	for (; n > 0; n--, m++) {
		mkdir(m->dir, m->mode);
		/* A kernel without it is no fault of ours: who needs it will miss it. */
		mount(m->type, m->dir, m->type, 0, m->data);
	}
}

/* Without devtmpfs: the nodes that every program takes for granted. */
static void make_nodes(void)
{
	static const struct {
		const char *path;
		unsigned major, minor;
	} nodes[] = {
		{ "/dev/console", 5, 1 }, { "/dev/null", 1, 3 },   { "/dev/zero", 1, 5 },
		{ "/dev/full", 1, 7 },    { "/dev/random", 1, 8 }, { "/dev/urandom", 1, 9 },
		{ "/dev/kmsg", 1, 11 },   { RESULT_PORT, 4, 65 },
	};

	if (access(RESULT_PORT, F_OK) == 0)
		return;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		mknod(nodes[i].path, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor));
}

static void open_as(const char *path, int flags, int as)
{
	int fd = open(path, flags | O_NOCTTY);

	if (fd < 0 || fd == as)
		return;
	dup2(fd, as);
	close(fd);
}

/* The console is where the kernel speaks; stdin is of no use to anybody here. */
static void open_console(void)
{
	open_as("/dev/null", O_RDONLY, STDIN_FILENO);
	open_as("/dev/console", O_WRONLY, STDOUT_FILENO);
	open_as("/dev/console", O_WRONLY, STDERR_FILENO);
}

/* The result channel: raw, so that what is written is what arrives. */
static void open_port(void)
{
	struct termios t;

	port = open(RESULT_PORT, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (port < 0 || tcgetattr(port, &t) < 0)
		give_up("no result channel: cannot use " RESULT_PORT ": %s (the kernel needs "
			"SERIAL_8250 with two ports)",
			strerror(errno));
	cfmakeraw(&t);
	cfsetspeed(&t, B115200);
	tcsetattr(port, TCSANOW, &t);
}

/* The GNU build id of this kernel as hex into @hex, "-" when it does not tell. */
static void build_id(char *hex, size_t size)
{
	char notes[4096];
	ssize_t n = read_small("/sys/kernel/notes", notes, sizeof(notes));
	size_t at = 0;
	uint32_t h[3]; /* name size, descriptor size, type */

	strcpy(hex, "-");
	while (n > 0 && at + sizeof(h) <= (size_t)n) {
		size_t name = at + sizeof(h), desc;

		memcpy(h, notes + at, sizeof(h));
		if (h[0] > sizeof(notes) || h[1] > sizeof(notes))
			return;
		desc = name + ((h[0] + 3) & ~3u);
		at = desc + ((h[1] + 3) & ~3u);
		if (desc + h[1] > (size_t)n)
			return;
		if (h[2] != 3 || h[0] != 4 || memcmp(notes + name, "GNU", 4) != 0 || !h[1] ||
		    h[1] * 2 >= size)
			continue;
		for (uint32_t i = 0; i < h[1]; i++)
			sprintf(hex + 2 * i, "%02x", (unsigned char)notes[desc + i]);
		return;
	}
}

#endif
