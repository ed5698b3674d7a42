/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that copy records into fresh memory, search them and free it, as a web server does. */
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../common/workload.h"

const char wl_name[] = "ebizzy";

typedef size_t record_t;

#define THREAD_STACK_BYTES (128 << 10)

struct options {
	uint64_t chunks;
	uint64_t chunk_bytes;
	uint64_t threads;
	int64_t run_ns;
	uint64_t sleep_every; /* records between two sleeps; 0: never */
	uint64_t sleep_us;
	bool touch;
	bool own_copy;
	bool always_mmap;
	bool never_mmap;
	bool split_protect;
	bool split_hole;
	bool random_size;
	bool linear;
	int verbose;
};

/* Shared by all threads; written before they start, but for @stop and @failed. */
static struct {
	struct options o;
	record_t **chunk;
	uint64_t page_bytes;
	int64_t deadline_ns;
	pthread_barrier_t ready;
	pthread_barrier_t go;
	atomic_bool stop;
	atomic_bool failed;
} run;

/* Aligned so that counting does not make the threads share cache lines. */
struct __attribute__((aligned(128))) worker {
	pthread_t thread;
	uint64_t random;
	uint64_t records;
};

static const char help[] =
	"Usage: ebizzy [options]\n"
	"\n"
	"Threads allocate memory, copy a chunk of sorted records into it, search for a\n"
	"random one, and free it: a web application server's load on memory management.\n"
	"\n"
	"  -T          just touch the pages of the memory: no copy, no search\n"
	"  -l          copy with a loop of our own, not the library's memcpy\n"
	"  -m          always mmap instead of malloc\n"
	"  -M          never mmap: malloc takes all from its heaps\n"
	"  -n NUM      chunks (default 10)\n"
	"  -p          keep the chunks' mappings apart by permissions\n"
	"  -P          keep the chunks' mappings apart by holes\n"
	"  -R          random sizes of what is copied and searched\n"
	"  -s SIZE     size of a chunk, in bytes or with k, M or G (default 512k)\n"
	"  -S SECONDS  run time, fractions allowed (default 10)\n"
	"  -t NUM      threads (default 2 for each CPU that is online)\n"
	"  -v          more on what is done; -vv: records of each thread as well\n"
	"  -z          linear search instead of binary search\n"
	"  -a NUM      sleep after every NUM records of a thread (default 1 with -i)\n"
	"  -i USEC     length of that sleep in microseconds\n"
	"  -h, --help  print this and exit\n"
	"\n"
	"Metrics: records_s (records/s), user_s and sys_s (CPU seconds, all threads).\n"
	"Exit status: 0 measured, 1 could not measure, 2 wrong command line.\n";

static const struct option long_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool *flag_of(struct options *o, int c)
{
	switch (c) {
	case 'T':
		return &o->touch;
	case 'l':
		return &o->own_copy;
	case 'm':
		return &o->always_mmap;
	case 'M':
		return &o->never_mmap;
	case 'p':
		return &o->split_protect;
	case 'P':
		return &o->split_hole;
	case 'R':
		return &o->random_size;
	case 'z':
		return &o->linear;
	default:
		return NULL;
	}
}

static void set_option(struct options *o, int c, char *const *argv)
{
	switch (c) {
	case 'n':
		o->chunks = wl_number("-n", optarg, 1, 1000000);
		break;
	case 's':
		o->chunk_bytes = wl_size("-s", optarg, sizeof(record_t), UINT64_C(1) << 40);
		break;
	case 'S':
		o->run_ns = wl_seconds_ns("-S", optarg, 1e6);
		break;
	case 't':
		o->threads = wl_number("-t", optarg, 1, 100000);
		break;
	case 'a':
		o->sleep_every = wl_number("-a", optarg, 1, UINT64_MAX);
		break;
	case 'i':
		o->sleep_us = wl_number("-i", optarg, 1, UINT64_C(1000000000000));
		break;
	case 'v':
		o->verbose++;
		break;
	case 'h':
		fputs(help, stdout);
		exit(wl_finish());
	default:
		if (!flag_of(o, c))
			wl_bad_option(c, argv);
		*flag_of(o, c) = true;
	}
}

static struct options parse_options(int argc, char **argv)
{
	struct options o = { .chunks = 10, .chunk_bytes = 512 << 10, .run_ns = 10000000000 };
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":TlmMn:pPRs:S:t:vza:i:h", long_options, NULL)) != -1)
		set_option(&o, c, argv);
	if (optind < argc)
		wl_usage("argument '%s' is not an option", argv[optind]);
	if (o.always_mmap && o.never_mmap)
		wl_usage("-m and -M exclude each other");
	if (o.never_mmap && (o.split_protect || o.split_hole))
		wl_usage("-M excludes -p and -P, which need mappings");
	if (o.split_protect && o.split_hole)
		wl_usage("-p and -P exclude each other");
	if (o.sleep_every && !o.sleep_us)
		wl_usage("-a needs -i, the length of the sleep");
	if (o.sleep_us && !o.sleep_every)
		o.sleep_every = 1;
	if (!o.threads) {
		long cpus = sysconf(_SC_NPROCESSORS_ONLN);

		o.threads = cpus > 0 ? 2 * (uint64_t)cpus : 2;
	}
	/* whole records */
	o.chunk_bytes -= o.chunk_bytes % sizeof(record_t);
	return o;
}

/* xorshift64* (Vigna: An experimental exploration of Marsaglia's xorshift generators). */
static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

static void *get_memory(size_t bytes)
{
	void *p;

	if (!run.o.always_mmap)
		return malloc(bytes);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void put_memory(void *p, size_t bytes)
{
	if (run.o.always_mmap)
		munmap(p, bytes);
	else
		free(p);
}

/* -l: word by word; the volatile keeps the compiler from calling memcpy after all. */
static void copy_words(record_t *to, const record_t *from, size_t records)
{
	volatile record_t *out = to;

	for (size_t i = 0; i < records; i++)
		out[i] = from[i];
}

static const record_t *find_linear(const record_t *from, size_t records, record_t key)
{
	for (size_t i = 0; i < records; i++) {
		if (from[i] == key)
			return &from[i];
	}
	return NULL;
}

static const record_t *find_binary(const record_t *from, size_t records, record_t key)
{
	size_t lo = 0, hi = records;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (from[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < records && from[lo] == key ? &from[lo] : NULL;
}

/* Copy a chunk's first @records to @copy and find a random one there; false if it is not. */
static bool copy_and_search(struct worker *w, record_t *copy, size_t records)
{
	const record_t *chunk = run.chunk[random_next(&w->random) % run.o.chunks], *found;
	record_t key = random_next(&w->random) % records;

	if (run.o.own_copy)
		copy_words(copy, chunk, records);
	else
		memcpy(copy, chunk, records * sizeof(record_t));
	found = run.o.linear ? find_linear(copy, records, key) : find_binary(copy, records, key);
	return found && *found == key;
}

static void touch_pages(void *p, size_t bytes)
{
	volatile char *at = p;

	for (size_t i = 0; i < bytes; i += run.page_bytes)
		at[i] = 1;
}

static size_t next_size(struct worker *w)
{
	size_t records = run.o.chunk_bytes / sizeof(record_t);

	if (run.o.random_size)
		records = 1 + random_next(&w->random) % records;
	return records;
}

/* One record. Returns 0, or -1 with a message: no memory, or memory with wrong contents. */
static int do_record(struct worker *w)
{
	size_t records = next_size(w), bytes = records * sizeof(record_t);
	record_t *copy = get_memory(bytes);
	bool found = true;

	if (!copy) {
		wl_fail("cannot allocate %zu bytes: %s (a smaller -s or -t, or more memory)", bytes,
			strerror(errno));
		return -1;
	}
	if (run.o.touch)
		touch_pages(copy, bytes);
	else
		found = copy_and_search(w, copy, records);
	put_memory(copy, bytes);
	if (!found) {
		wl_fail("a record is not where it was copied to: the memory is corrupt");
		return -1;
	}
	w->records++;
	return 0;
}

/*
 * Sleep as -i says, but not beyond the end of the run, so that the end does not wait for sleepers.
 * Returns false when that end has come: the main thread may not have said so yet.
 */
static bool sleep_between(void)
{
	int64_t until = wl_now_ns() + (int64_t)run.o.sleep_us * 1000;
	bool last = until >= run.deadline_ns;
	struct timespec ts;

	if (last)
		until = run.deadline_ns;
	ts = (struct timespec){ until / 1000000000, until % 1000000000 };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	return !last;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(&run.ready);
	pthread_barrier_wait(&run.go);
	while (!atomic_load_explicit(&run.stop, memory_order_relaxed)) {
		if (do_record(w) != 0) {
			atomic_store(&run.failed, true);
			break;
		}
		if (run.o.sleep_every && w->records % run.o.sleep_every == 0 && !sleep_between())
			break;
	}
	return NULL;
}

/* A chunk with a page after it that is inaccessible (-p) or unmapped again (-P). */
static void *map_apart(size_t bytes)
{
	size_t whole = (bytes + run.page_bytes - 1) / run.page_bytes * run.page_bytes;
	char *p = mmap(NULL, whole + run.page_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (p == MAP_FAILED)
		return NULL;
	if (run.o.split_protect)
		rc = mprotect(p + whole, run.page_bytes, PROT_NONE);
	else
		rc = munmap(p + whole, run.page_bytes);
	return rc == 0 ? p : NULL;
}

static int make_chunks(void)
{
	bool apart = run.o.split_protect || run.o.split_hole;

	run.chunk = calloc(run.o.chunks, sizeof(*run.chunk));
	for (uint64_t c = 0; run.chunk && c < run.o.chunks; c++) {
		run.chunk[c] = apart ? map_apart(run.o.chunk_bytes) : get_memory(run.o.chunk_bytes);
		if (!run.chunk[c])
			return wl_fail("cannot allocate chunk %" PRIu64 " of %" PRIu64 ", %" PRIu64
				       " bytes: %s (a smaller -n or -s, or more memory)",
				       c + 1, run.o.chunks, run.o.chunk_bytes, strerror(errno));
		for (size_t i = 0; i < run.o.chunk_bytes / sizeof(record_t); i++)
			run.chunk[c][i] = i;
	}
	return run.chunk ? WL_OK : wl_fail("out of memory");
}

static int start_threads(struct worker *w)
{
	pthread_attr_t attr;
	int rc = pthread_attr_init(&attr);

	if (!rc)
		rc = pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	for (uint64_t t = 0; !rc && t < run.o.threads; t++) {
		w[t].random = (t + 1) * UINT64_C(0x9e3779b97f4a7c15);
		rc = pthread_create(&w[t].thread, &attr, work, &w[t]);
	}
	if (rc)
		return wl_fail("cannot start %" PRIu64 " threads: %s (a smaller -t)", run.o.threads,
			       strerror(rc));
	return WL_OK;
}

static double cpu_s(const struct timeval *from, const struct timeval *to)
{
	return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_usec - from->tv_usec) / 1e6;
}

static void wait_for_end(void)
{
	struct timespec ts = { run.deadline_ns / 1000000000, run.deadline_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
	atomic_store(&run.stop, true);
}

static void print_results(const struct worker *w, double elapsed_s, double user_s, double sys_s)
{
	uint64_t records = 0;

	for (uint64_t t = 0; t < run.o.threads; t++) {
		if (run.o.verbose > 1)
			printf("thread %" PRIu64 ": %" PRIu64 " records\n", t, w[t].records);
		records += w[t].records;
	}
	if (run.o.verbose)
		printf("%" PRIu64 " records in %.9f s\n", records, elapsed_s);
	printf("%" PRIu64 " records/s\n", (uint64_t)((double)records / elapsed_s));
	printf("real %5.2f s\nuser %5.2f s\nsys  %5.2f s\n", elapsed_s, user_s, sys_s);
	wl_metric("records_s", (double)records / elapsed_s, "records/s");
	wl_metric("user_s", user_s, "s");
	wl_metric("sys_s", sys_s, "s");
}

/*
 * The clock starts when all threads wait at the second barrier and stops when the last one has
 * ended, so that each record counted lies between: a longer last record makes no higher rate.
 */
static int measure(struct worker *w)
{
	struct rusage before, after;
	int64_t start, end;

	if (start_threads(w) != WL_OK)
		return WL_FAILED;
	pthread_barrier_wait(&run.ready);
	getrusage(RUSAGE_SELF, &before);
	start = wl_now_ns();
	run.deadline_ns = start + run.o.run_ns;
	pthread_barrier_wait(&run.go);
	wait_for_end();
	for (uint64_t t = 0; t < run.o.threads; t++)
		pthread_join(w[t].thread, NULL);
	end = wl_now_ns();
	getrusage(RUSAGE_SELF, &after);
	if (atomic_load(&run.failed))
		return WL_FAILED;
	print_results(w, (double)(end - start) / 1e9, cpu_s(&before.ru_utime, &after.ru_utime),
		      cpu_s(&before.ru_stime, &after.ru_stime));
	return wl_finish();
}

int main(int argc, char **argv)
{
	struct worker *w;

	run.o = parse_options(argc, argv);
	run.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	if (run.o.never_mmap)
		mallopt(M_MMAP_MAX, 0);
	if (run.o.verbose)
		printf("%" PRIu64 " threads, %" PRIu64 " chunks of %" PRIu64 " bytes, %.3f s\n",
		       run.o.threads, run.o.chunks, run.o.chunk_bytes, (double)run.o.run_ns / 1e9);
	w = aligned_alloc(_Alignof(struct worker), run.o.threads * sizeof(*w));
	if (!w || make_chunks() != WL_OK)
		return w ? WL_FAILED : wl_fail("out of memory");
	memset(w, 0, run.o.threads * sizeof(*w));
	pthread_barrier_init(&run.ready, NULL, (unsigned int)run.o.threads + 1);
	pthread_barrier_init(&run.go, NULL, (unsigned int)run.o.threads + 1);
	/* after a failed start some threads wait for ever: return from main ends them */
	return measure(w);
}
