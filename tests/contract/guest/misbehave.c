/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload that does what it is told, mostly bad; static, for a guest and for the host. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <time.h>
#include <unistd.h>

#define MEGABYTE (1ul << 20)

static void flood(void)
{
	static char block[MEGABYTE];

	memset(block, 'x', sizeof(block));
	block[sizeof(block) - 1] = '\n';
	for (int i = 0; i < 1024; i++)
		if (fwrite(block, 1, sizeof(block), stdout) != sizeof(block))
			return;
}

/* Exactly @n bytes in lines of 64, the metric's line among them. */
static void print_bytes(size_t n)
{
	size_t used = (size_t)printf("kregress: metric x_ms 1.5 ms\n");

	for (; used + 64 <= n; used += 64)
		printf("%063d\n", 0);
	while (used++ < n)
		putchar('z');
}

static void eat_memory(void)
{
	for (;;) {
		char *p = mmap(NULL, MEGABYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);

		if (p != MAP_FAILED)
			memset(p, 1, MEGABYTE);
	}
}

static long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Work that touches memory, system calls and timers, with the time that it took. */
static void measure(void)
{
	struct timespec nap = { 0, 2000000 };
	long start = now_ns();
	char *p = mmap(NULL, 16 * MEGABYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	memset(p, 1, 16 * MEGABYTE);
	for (int i = 0; i < 5000; i++)
		getppid();
	nanosleep(&nap, NULL);
	munmap(p, 16 * MEGABYTE);
	printf("kregress: metric x_ms %.6f ms\nstart %ld\n", (double)(now_ns() - start) / 1e6,
	       start);
}

/* Records of another trial, and the kernel's last words on the wrong channel. */
static void imitate(void)
{
	printf("kregress: end 0123456789abcdef 0\nkregress: bye 0123456789abcdef\n");
	printf("kregress: end\nkregress: metric x_ms 1.5 ms\n");
	fprintf(stderr, "\nKernel panic - not syncing: imitation\n[    1.000000] BUG: imitation\n");
	printf("no newline at the end");
}

/* Until @ms have passed: in user space, or in the kernel, which clears what it copies to us. */
static void busy(long ms, int in_kernel)
{
	static char block[MEGABYTE];
	long end = now_ns() + ms * 1000000;
	FILE *f = in_kernel ? fopen("/dev/zero", "r") : NULL;
	volatile long n = 0;

	if (f)
		setvbuf(f, NULL, _IONBF, 0);
	while (now_ns() < end) {
		if (f && fread(block, 1, sizeof(block), f) != sizeof(block))
			exit(1);
		for (int i = 0; !f && i < 100000; i++)
			n += i;
	}
}

/* True in run @n: runs are counted in a file. */
static int is_run(long n)
{
	FILE *f = fopen("/tmp/runs", "a+");
	long bytes;

	if (!f)
		return 0;
	fputc('x', f);
	bytes = ftell(f);
	fclose(f);
	return bytes == n;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *value = argc > 2 ? argv[2] : "0";

	if (!strcmp(what, "print"))
		for (int i = 2; i < argc; i++)
			printf("%s\n", argv[i]);
	else if (!strcmp(what, "exit"))
		return atoi(value);
	else if (!strcmp(what, "flood"))
		flood();
	else if (!strcmp(what, "bytes"))
		print_bytes(strtoul(value, NULL, 10));
	else if (!strcmp(what, "hang"))
		for (;;)
			pause();
	else if (!strcmp(what, "die"))
		raise(SIGSEGV);
	else if (!strcmp(what, "eat"))
		eat_memory();
	else if (!strcmp(what, "reset"))
		reboot(RB_AUTOBOOT);
	else if (!strcmp(what, "halt"))
		reboot(RB_HALT_SYSTEM);
	else if (!strcmp(what, "measure"))
		measure();
	else if (!strcmp(what, "spin"))
		busy(atol(value), 0);
	else if (!strcmp(what, "zero"))
		busy(atol(value), 1);
	else if (!strcmp(what, "nap"))
		usleep((useconds_t)atol(value) * 1000);
	else if (!strcmp(what, "reset-in-run"))
		return is_run(atol(value)) ? reboot(RB_AUTOBOOT) : 0;
	else if (!strcmp(what, "die-in-run"))
		return is_run(atol(value)) ? raise(SIGSEGV) : 0;
	else if (!strcmp(what, "imitate"))
		imitate();
	else
		return 2;
	return 0;
}
