/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many anonymous mappings of an odd size, walked with 3-D strides: where the kernel puts them. */
#include <getopt.h>
#include <inttypes.h>
#include <sys/mman.h>

#include "../common/workload.h"

const char wl_name[] = "mmap_fragmenter";

/* Two starts alias when they agree below this: the index of a 2 MB region, so of every cache. */
#define ALIAS_MASK ((UINT64_C(1) << 21) - 1)

enum madvise_mode { MADVISE_NONE, MADVISE_HUGE, MADVISE_NOHUGE };

static const char *const madvise_words[] = { "none", "huge", "nohuge", NULL };

struct options {
	uint64_t count;
	uint64_t size_bytes;
	uint64_t align_bytes; /* place them ourselves; 0: the kernel does */
	uint64_t streams;
	uint64_t points; /* grid points to visit per pass; 0: all */
	uint64_t passes;
	uint64_t seed;
	int madvise; /* enum madvise_mode */
	bool dump_maps;
};

struct span {
	uint64_t start;
	uint64_t end;
};

/* What the kernel made of the mappings. */
struct layout {
	uint64_t vmas;
	uint64_t gaps;
	uint64_t thp_kb;
	uint64_t aliased;
};

static const char help[] =
	"Usage: mmap_fragmenter [options]\n"
	"\n"
	"Map many anonymous areas of an odd size, one by one, populate them, walk some\n"
	"of them together as a 3-D stencil does, and report how the kernel laid them out.\n"
	"\n"
	"  --count N       mappings (default 24)\n"
	"  --size SIZE     size of each, with k, M or G (default 4632k); rounded up to\n"
	"                  whole pages\n"
	"  --align SIZE    place each on a multiple of SIZE, as a kernel that aligns\n"
	"                  large mappings does (default: the kernel decides)\n"
	"  --streams N     mappings that are walked together (default 20, at most N of\n"
	"                  --count)\n"
	"  --points N      grid points visited in a pass; 0: all (default 0)\n"
	"  --passes N      passes over the grid (default 1)\n"
	"  --madvise WHAT  none, huge or nohuge: advice given before the pages are\n"
	"                  populated (default none)\n"
	"  --seed N        which mappings become streams, in which order; 0: the first\n"
	"                  ones as they were mapped (default 0)\n"
	"  --dump-maps     print the ranges that were mapped, the streams, and\n"
	"                  /proc/self/smaps, all as measured\n"
	"  -h, --help      print this and exit\n"
	"\n"
	"Metrics: vmas (areas), gaps (holes between the mappings), thp_kb (kB in huge\n"
	"pages), populate_ms, walk_ns (per access), aliased (streams whose start has the\n"
	"low 21 bits of another one's).\n"
	"Exit status: 0 measured, 1 could not measure, 2 wrong command line.\n";

enum {
	OPT_COUNT = 256,
	OPT_SIZE,
	OPT_ALIGN,
	OPT_STREAMS,
	OPT_POINTS,
	OPT_PASSES,
	OPT_MADVISE,
	OPT_SEED,
	OPT_DUMP
};

static const struct option long_options[] = {
	{ "count", required_argument, NULL, OPT_COUNT },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "align", required_argument, NULL, OPT_ALIGN },
	{ "streams", required_argument, NULL, OPT_STREAMS },
	{ "points", required_argument, NULL, OPT_POINTS },
	{ "passes", required_argument, NULL, OPT_PASSES },
	{ "madvise", required_argument, NULL, OPT_MADVISE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "dump-maps", no_argument, NULL, OPT_DUMP },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void set_option(struct options *o, int c, char *const *argv)
{
	switch (c) {
	case OPT_COUNT:
		o->count = wl_number("--count", optarg, 1, 60000);
		break;
	case OPT_SIZE:
		o->size_bytes = wl_size("--size", optarg, 4096, UINT64_C(1) << 40);
		break;
	case OPT_ALIGN:
		o->align_bytes = wl_size("--align", optarg, 4096, UINT64_C(1) << 30);
		if (o->align_bytes & (o->align_bytes - 1))
			wl_usage("--align %s is no power of two", optarg);
		break;
	case OPT_STREAMS:
		o->streams = wl_number("--streams", optarg, 1, 60000);
		break;
	case OPT_POINTS:
		o->points = wl_number("--points", optarg, 0, UINT64_C(1) << 40);
		break;
	case OPT_PASSES:
		o->passes = wl_number("--passes", optarg, 1, 1000000);
		break;
	case OPT_MADVISE:
		o->madvise = wl_choice("--madvise", optarg, madvise_words);
		break;
	case OPT_SEED:
		o->seed = wl_number("--seed", optarg, 0, UINT64_MAX);
		break;
	case OPT_DUMP:
		o->dump_maps = true;
		break;
	case 'h':
		fputs(help, stdout);
		exit(wl_finish());
	default:
		wl_bad_option(c, argv);
	}
}

static struct options parse_options(int argc, char **argv)
{
	struct options o = { .count = 24, .size_bytes = 4632 << 10, .passes = 1 };
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", long_options, NULL)) != -1)
		set_option(&o, c, argv);
	if (optind < argc)
		wl_usage("argument '%s' is not an option", argv[optind]);
	if (o.streams > o.count)
		wl_usage("--streams %" PRIu64 " is more than --count %" PRIu64, o.streams, o.count);
	if (!o.streams)
		o.streams = o.count < 20 ? o.count : 20;
	o.size_bytes = (o.size_bytes + page - 1) / page * page;
	return o;
}

static int advise(void *p, const struct options *o)
{
	int advice = o->madvise == MADVISE_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;

	if (madvise(p, o->size_bytes, advice) != 0)
		return wl_fail("madvise %s: %s (does the kernel have CONFIG_TRANSPARENT_HUGEPAGE?)",
			       madvise_words[o->madvise], strerror(errno));
	return WL_OK;
}

/*
 * A free address on a multiple of --align, found as __thp_get_unmapped_area() of the kernel does: a
 * hole of size + alignment, and the aligned address in it. NULL without --align, or no room.
 */
static void *place(const struct options *o)
{
	uint64_t bytes = o->size_bytes + o->align_bytes, start;
	void *hole;

	if (!o->align_bytes)
		return NULL;
	hole = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (hole == MAP_FAILED)
		return NULL;
	munmap(hole, bytes);
	start = (uint64_t)(uintptr_t)hole + o->align_bytes - 1;
	return (void *)(uintptr_t)(start / o->align_bytes * o->align_bytes);
}

/* Map and populate one area. With advice the pages come by touching, since advice must be first. */
static int map_one(struct span *s, uint64_t nr, const struct options *o)
{
	int populate = o->madvise == MADVISE_NONE ? MAP_POPULATE : 0;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(place(o), o->size_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0);

	if (p == MAP_FAILED)
		return wl_fail("cannot map area %" PRIu64 " of %" PRIu64 ", %" PRIu64
			       " bytes: %s (more memory, or a smaller --count or --size)",
			       nr + 1, o->count, o->size_bytes, strerror(errno));
	*s = (struct span){ (uint64_t)(uintptr_t)p, (uint64_t)(uintptr_t)p + o->size_bytes };
	if (populate)
		return WL_OK;
	if (advise(p, o) != WL_OK)
		return WL_FAILED;
	for (uint64_t at = 0; at < o->size_bytes; at += page)
		((volatile char *)p)[at] = 0;
	return WL_OK;
}

/*
 * Give each page a value to find again, the number of its mapping: the checksum of the walk can be
 * computed beside it, and MAP_POPULATE, which ignores failures, is followed by a real access.
 */
static void fill(const struct span *spans, const struct options *o)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (uint64_t m = 0; m < o->count; m++) {
		for (uint64_t at = 0; at < o->size_bytes; at += page)
			*(double *)(uintptr_t)(spans[m].start + at) = (double)(m + 1);
	}
}

/* One step of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators). */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Put the indices of the mappings into @order, shuffled unless the seed is 0. */
static void choose_streams(uint64_t *order, const struct options *o)
{
	uint64_t state = o->seed;

	for (uint64_t i = 0; i < o->count; i++)
		order[i] = i;
	if (!o->seed)
		return;
	for (uint64_t i = o->count - 1; i > 0; i--) {
		uint64_t j = random_next(&state) % (i + 1);
		uint64_t t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
}

struct walk {
	uint64_t accesses;
	int64_t ns;
	double checksum;
};

/* Edge of the largest cube of doubles that fits into @bytes, by bisection. */
static uint64_t cube_edge(uint64_t bytes)
{
	uint64_t n = bytes / sizeof(double), lo = 0, hi = UINT64_C(1) << 20;

	while (lo + 1 < hi) {
		uint64_t mid = (lo + hi) / 2;

		if (mid * mid * mid <= n)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* The seven-point star around @at, in a grid with rows of @row and planes of @plane doubles. */
static inline double star(const volatile double *at, ptrdiff_t row, ptrdiff_t plane)
{
	return at[0] + at[-1] + at[1] + at[-row] + at[row] + at[-plane] + at[plane];
}

/* One pass: at each inner grid point, in memory order, the star of every stream in turn. */
static void walk_pass(struct walk *w, const double *const *streams, const struct options *o)
{
	ptrdiff_t edge = (ptrdiff_t)cube_edge(o->size_bytes), plane = edge * edge;
	uint64_t left = o->points ? o->points : UINT64_MAX;

	for (ptrdiff_t k = 1; k < edge - 1; k++) {
		for (ptrdiff_t j = 1; j < edge - 1; j++) {
			for (ptrdiff_t i = 1; i < edge - 1 && left; i++, left--) {
				ptrdiff_t at = i + edge * j + plane * k;

				for (uint64_t s = 0; s < o->streams; s++)
					w->checksum += star(streams[s] + at, edge, plane);
				w->accesses += 7 * o->streams;
			}
		}
	}
}

static int walk(struct walk *w, const struct span *spans, const uint64_t *order,
		const struct options *o)
{
	const double **streams = calloc(o->streams, sizeof(*streams));
	int64_t start;

	if (!streams)
		return wl_fail("out of memory");
	for (uint64_t s = 0; s < o->streams; s++)
		streams[s] = (const double *)(uintptr_t)spans[order[s]].start;
	start = wl_now_ns();
	for (uint64_t p = 0; p < o->passes; p++)
		walk_pass(w, streams, o);
	w->ns = wl_now_ns() - start;
	free(streams);
	if (!w->accesses)
		return wl_fail("no grid point to walk: --size %" PRIu64
			       " is less than 3x3x3 doubles",
			       o->size_bytes);
	return WL_OK;
}

static int by_start(const void *a, const void *b)
{
	uint64_t x = ((const struct span *)a)->start, y = ((const struct span *)b)->start;

	return (x > y) - (x < y);
}

/* Does an area of the kernel hold a part of one of the @count sorted mappings? */
static bool overlaps(const struct span *sorted, uint64_t count, struct span area)
{
	uint64_t lo = 0, hi = count;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (sorted[mid].end <= area.start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < count && sorted[lo].start < area.end;
}

/* Read /proc/self/smaps: areas that hold our mappings, and the kB of huge pages in them. */
static int read_smaps(struct layout *l, const struct span *sorted, const struct options *o)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[512];
	bool ours = false;

	if (!f)
		return wl_fail("cannot open '/proc/self/smaps': %s (mount /proc; the kernel needs "
			       "CONFIG_PROC_PAGE_MONITOR)",
			       strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		struct span area;
		uint64_t kb;

		if (o->dump_maps)
			printf("smaps %s", line);
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &area.start, &area.end) == 2) {
			ours = overlaps(sorted, o->count, area);
			l->vmas += ours;
		} else if (ours && sscanf(line, "AnonHugePages: %" SCNu64 " kB", &kb) == 1) {
			l->thp_kb += kb;
		}
	}
	fclose(f);
	if (!l->vmas)
		return wl_fail("'/proc/self/smaps' does not show the mappings");
	return WL_OK;
}

/* Streams whose start has the low 21 bits of another stream's. */
static uint64_t count_aliased(const struct span *spans, const uint64_t *order, uint64_t streams)
{
	uint64_t aliased = 0;

	for (uint64_t a = 0; a < streams; a++) {
		for (uint64_t b = 0; b < streams; b++) {
			uint64_t differ = spans[order[a]].start ^ spans[order[b]].start;

			if (a != b && !(differ & ALIAS_MASK)) {
				aliased++;
				break;
			}
		}
	}
	return aliased;
}

/* Print what the layout was computed from, so that it can be checked by other means. */
static void dump_layout(const struct span *spans, const uint64_t *order, const struct options *o)
{
	for (uint64_t m = 0; m < o->count; m++)
		printf("mapping %" PRIx64 "-%" PRIx64 "\n", spans[m].start, spans[m].end);
	for (uint64_t s = 0; s < o->streams; s++)
		printf("stream %" PRIx64 "\n", spans[order[s]].start);
}

static int read_layout(struct layout *l, const struct span *spans, struct span *sorted,
		       const uint64_t *order, const struct options *o)
{
	memcpy(sorted, spans, o->count * sizeof(*spans));
	qsort(sorted, o->count, sizeof(*sorted), by_start);
	for (uint64_t m = 1; m < o->count; m++)
		l->gaps += sorted[m].start != sorted[m - 1].end;
	l->aliased = count_aliased(spans, order, o->streams);
	if (o->dump_maps)
		dump_layout(spans, order, o);
	return read_smaps(l, sorted, o);
}

static int measure(struct span *spans, struct span *sorted, uint64_t *order,
		   const struct options *o)
{
	struct layout l = { 0 };
	struct walk w = { 0 };
	int64_t start = wl_now_ns(), populated_ns;

	for (uint64_t m = 0; m < o->count; m++) {
		if (map_one(&spans[m], m, o) != WL_OK)
			return WL_FAILED;
	}
	populated_ns = wl_now_ns() - start;
	choose_streams(order, o);
	fill(spans, o);
	/* the layout first: the walk takes a while and khugepaged would work on */
	if (read_layout(&l, spans, sorted, order, o) != WL_OK || walk(&w, spans, order, o) != WL_OK)
		return WL_FAILED;
	printf("walked %" PRIu64 " accesses, checksum %.0f\n", w.accesses, w.checksum);
	wl_metric_count("vmas", l.vmas, "areas");
	wl_metric_count("gaps", l.gaps, "gaps");
	wl_metric_count("thp_kb", l.thp_kb, "kB");
	wl_metric("populate_ms", (double)populated_ns / 1e6, "ms");
	wl_metric("walk_ns", (double)w.ns / (double)w.accesses, "ns");
	wl_metric_count("aliased", l.aliased, "streams");
	return wl_finish();
}

/*
 * The tables of the program itself must not lie in the address range that is measured: they are in
 * one mapping made before, with an inaccessible page below so that no area of ours merges with it.
 */
int main(int argc, char **argv)
{
	struct options o = parse_options(argc, argv);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = o.count * (2 * sizeof(struct span) + sizeof(uint64_t));
	struct span *spans;
	char *base;

	bytes = (bytes + 2 * page - 1) / page * page;
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED || mprotect(base, page, PROT_NONE) != 0)
		return wl_fail("cannot map %zu bytes: %s", bytes, strerror(errno));
	spans = (struct span *)(void *)(base + page);
	return measure(spans, spans + o.count, (uint64_t *)(void *)(spans + 2 * o.count), &o);
}
