/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload for record-boots: how long the kernel takes to map, fill and unmap 32 pages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGES 32
#define PAGE_BYTES 4096
#define ROUNDS 500

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Microseconds of one round; below 0: memory ran out. */
static double round_us(void)
{
	double begun = now_us();
	char *p = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -1;
	for (int i = 0; i < PAGES; i++)
		((volatile char *)p)[i * PAGE_BYTES] = 1;
	munmap(p, PAGES * PAGE_BYTES);
	return now_us() - begun;
}

/* The median of short rounds: a host that is busy elsewhere spoils some, not most. */
int main(void)
{
	static double round[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		round[i] = round_us();
		if (round[i] < 0) {
			fprintf(stderr, "fault_rounds: no memory\n");
			return 1;
		}
	}
	qsort(round, ROUNDS, sizeof(*round), by_value);
	printf("kregress: metric round_us %.4f us\n", round[ROUNDS / 2]);
	return 0;
}
