/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process with many huge pages ends: how long until its parent has it reaped. */
#include <getopt.h>
#include <inttypes.h>
#include <linux/io_uring.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "../common/workload.h"
#include "pool.h"

const char wl_name[] = "hugetlb_exit";

/* io_uring takes at most 1 GB a buffer and 16384 buffers */
#define URING_BUFFER_BYTES (UINT64_C(1) << 30)
#define URING_BUFFERS 16384

enum mappings { MAPPINGS_EACH, MAPPINGS_ONE };
enum backing { BACKING_ANON, BACKING_FILE };
enum sharing { SHARING_PRIVATE, SHARING_SHARED };

static const char *const mappings_words[] = { "each", "one", NULL };
static const char *const backing_words[] = { "anon", "file", NULL };
static const char *const sharing_words[] = { "private", "shared", NULL };
static const char *const pool_words[] = { "persistent", "surplus", NULL };

struct options {
	uint64_t pages;
	uint64_t page_bytes;
	uint64_t touch; /* pages that are touched; UINT64_MAX: all */
	int mappings;   /* enum mappings */
	int backing;    /* enum backing */
	int sharing;    /* enum sharing */
	int pool;       /* enum pool_kind */
	const char *dir;
	bool io_register;
};

/* What the child tells, in memory shared with the parent; 0: it did not get there. */
struct story {
	volatile int64_t start_ns;
	volatile int64_t mapped_ns;
	volatile int64_t touched_ns;
	volatile int64_t registered_ns;
	volatile int64_t exit_ns;
	volatile uint64_t touched; /* pages touched so far */
};

static const char help[] =
	"Usage: hugetlb_exit [options]\n"
	"\n"
	"A child maps huge pages, touches them and exits; the parent measures until it\n"
	"is reaped. The pool of huge pages is enlarged before, where that is needed\n"
	"(root), and restored after, outside of what is measured.\n"
	"\n"
	"  --pages N        huge pages (default 64)\n"
	"  --page-size S    their size, 2M or 1G or what the machine has (default 2M)\n"
	"  --mappings HOW   each: a mapping for each page; one: one for all\n"
	"                   (default each)\n"
	"  --backing WHAT   anon: MAP_HUGETLB; file: an unlinked hugetlbfs file\n"
	"                   (default anon)\n"
	"  --sharing HOW    private or shared mappings (default private)\n"
	"  --dir PATH       hugetlbfs directory for --backing file; where it is no\n"
	"                   hugetlbfs, a private one is mounted there (root). Default:\n"
	"                   one that is mounted nowhere (root, Linux 5.2)\n"
	"  --pool KIND      persistent: from nr_hugepages; surplus: from the\n"
	"                   nr_overcommit_hugepages beyond it (default persistent)\n"
	"  --touch N        touch only the first N pages; the others stay reserved\n"
	"                   (default: all)\n"
	"  --register       register the touched pages as fixed buffers of io_uring\n"
	"  -h, --help       print this and exit\n"
	"\n"
	"Metrics, in ms: alloc_ms (mapping), fault_ms (touching), register_ms (only with\n"
	"--register), exit_ms (from the last instruction before _exit until reaped),\n"
	"total_ms (from fork until reaped), user_ms and sys_ms (CPU time of the child).\n"
	"Exit status: 0 measured, 1 could not measure, 2 wrong command line.\n";

enum {
	OPT_PAGES = 256,
	OPT_PAGE_SIZE,
	OPT_MAPPINGS,
	OPT_BACKING,
	OPT_SHARING,
	OPT_DIR,
	OPT_POOL,
	OPT_TOUCH,
	OPT_REGISTER
};

static const struct option long_options[] = {
	{ "pages", required_argument, NULL, OPT_PAGES },
	{ "page-size", required_argument, NULL, OPT_PAGE_SIZE },
	{ "mappings", required_argument, NULL, OPT_MAPPINGS },
	{ "backing", required_argument, NULL, OPT_BACKING },
	{ "sharing", required_argument, NULL, OPT_SHARING },
	{ "dir", required_argument, NULL, OPT_DIR },
	{ "pool", required_argument, NULL, OPT_POOL },
	{ "touch", required_argument, NULL, OPT_TOUCH },
	{ "register", no_argument, NULL, OPT_REGISTER },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void set_option(struct options *o, int c, char *const *argv)
{
	switch (c) {
	case OPT_PAGES:
		o->pages = wl_number("--pages", optarg, 1, 1000000);
		break;
	case OPT_PAGE_SIZE:
		o->page_bytes = wl_size("--page-size", optarg, 16 << 10, UINT64_C(16) << 30);
		break;
	case OPT_MAPPINGS:
		o->mappings = wl_choice("--mappings", optarg, mappings_words);
		break;
	case OPT_BACKING:
		o->backing = wl_choice("--backing", optarg, backing_words);
		break;
	case OPT_SHARING:
		o->sharing = wl_choice("--sharing", optarg, sharing_words);
		break;
	case OPT_DIR:
		o->dir = optarg;
		break;
	case OPT_POOL:
		o->pool = wl_choice("--pool", optarg, pool_words);
		break;
	case OPT_TOUCH:
		o->touch = wl_number("--touch", optarg, 0, 1000000);
		break;
	case OPT_REGISTER:
		o->io_register = true;
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
	struct options o = { .pages = 64, .page_bytes = 2 << 20, .touch = UINT64_MAX };
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", long_options, NULL)) != -1)
		set_option(&o, c, argv);
	if (optind < argc)
		wl_usage("argument '%s' is not an option", argv[optind]);
	if (o.page_bytes & (o.page_bytes - 1))
		wl_usage("--page-size %" PRIu64 " is no power of two", o.page_bytes);
	if (o.touch == UINT64_MAX)
		o.touch = o.pages;
	if (o.touch > o.pages)
		wl_usage("--touch %" PRIu64 " is more than --pages %" PRIu64, o.touch, o.pages);
	if (o.io_register && !o.touch)
		wl_usage("--register has nothing to register with --touch 0");
	if (o.dir && o.backing != BACKING_FILE)
		wl_usage("--dir is for --backing file only");
	return o;
}

/* Mount a hugetlbfs of our page size on @dir, in a mount namespace of our own. */
static int mount_private(const char *dir, uint64_t page_bytes)
{
	char how[64];

	snprintf(how, sizeof(how), "pagesize=%" PRIu64 "K", page_bytes >> 10);
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", dir, "hugetlbfs", 0, how) != 0)
		return wl_fail("cannot mount hugetlbfs on '%s': %s (run as root, or mount it "
			       "there before; the kernel needs CONFIG_HUGETLBFS)",
			       dir, strerror(errno));
	return WL_OK;
}

/* A hugetlbfs that is mounted nowhere; needs no directory. Returns its root as an fd, or -1. */
static int mount_detached(uint64_t page_bytes)
{
	char size[32];
	int fs = (int)syscall(SYS_fsopen, "hugetlbfs", FSOPEN_CLOEXEC), fd = -1;

	snprintf(size, sizeof(size), "%" PRIu64 "K", page_bytes >> 10);
	if (fs >= 0 && syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "pagesize", size, 0) == 0 &&
	    syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	if (fd < 0)
		wl_fail("cannot make a hugetlbfs: %s (run as root, or give one by --dir; the "
			"kernel needs CONFIG_HUGETLBFS)",
			strerror(errno));
	if (fs >= 0)
		close(fs);
	return fd;
}

/* Open the directory of --dir as a hugetlbfs of the right page size. Returns an fd or -1. */
static int open_hugetlbfs(const struct options *o)
{
	struct statfs st;
	int fd;

	if (statfs(o->dir, &st) != 0) {
		wl_fail("cannot use --dir '%s': %s", o->dir, strerror(errno));
		return -1;
	}
	if ((uint64_t)st.f_type != HUGETLBFS_MAGIC &&
	    (mount_private(o->dir, o->page_bytes) != WL_OK || statfs(o->dir, &st) != 0))
		return -1;
	if ((uint64_t)st.f_bsize != o->page_bytes) {
		wl_fail("'%s' has huge pages of %ld bytes: mount one with pagesize=%" PRIu64 "K",
			o->dir, (long)st.f_bsize, o->page_bytes >> 10);
		return -1;
	}
	fd = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		wl_fail("cannot open --dir '%s': %s", o->dir, strerror(errno));
	return fd;
}

/* The file of the mappings, unlinked at once so that the last close frees its pages. fd or -1. */
static int open_file(const struct options *o)
{
	char name[64];
	int dir = o->dir ? open_hugetlbfs(o) : mount_detached(o->page_bytes), fd;

	if (dir < 0)
		return -1;
	snprintf(name, sizeof(name), "kregress-hugetlb-exit-%ld", (long)getpid());
	fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || unlinkat(dir, name, 0) != 0 ||
	    ftruncate(fd, (off_t)(o->pages * o->page_bytes)) != 0) {
		wl_fail("cannot make a file '%s' in hugetlbfs: %s", name, strerror(errno));
		fd = -1;
	}
	close(dir);
	return fd;
}

/* Map @bytes of huge pages, at @offset of the file if there is one. Returns NULL with a message. */
static char *map_pages(const struct options *o, int fd, uint64_t bytes, uint64_t offset)
{
	int flags = o->sharing == SHARING_SHARED ? MAP_SHARED : MAP_PRIVATE;
	char *p;

	if (fd < 0)
		flags |= MAP_ANONYMOUS | MAP_HUGETLB |
			 (__builtin_ctzll(o->page_bytes) << MAP_HUGE_SHIFT);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
	if (p != MAP_FAILED)
		return p;
	wl_fail("mmap of %" PRIu64 " bytes failed: %s (not enough huge pages or too many mappings: "
		"more memory, a smaller --pages, --mappings one, or a larger %s)",
		bytes, strerror(errno),
		o->pool == POOL_SURPLUS ? "nr_overcommit_hugepages" : "nr_hugepages");
	return NULL;
}

/* Map all pages; @page gets the address of each. */
static int map_all(const struct options *o, char **page, int fd)
{
	bool each = o->mappings == MAPPINGS_EACH;

	for (uint64_t i = 0; i < o->pages; i++) {
		uint64_t offset = i * o->page_bytes;

		if (each)
			page[i] = map_pages(o, fd, o->page_bytes, offset);
		else if (i == 0)
			page[i] = map_pages(o, fd, o->pages * o->page_bytes, 0);
		else
			page[i] = page[0] + offset;
		if (!page[i])
			return WL_FAILED;
	}
	return WL_OK;
}

/* Describe the touched pages as buffers: one for each mapping, cut where it is too large. */
static uint64_t make_buffers(const struct options *o, char *const *page, struct iovec *iov)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < o->touch; i++) {
		for (uint64_t at = 0; at < o->page_bytes;) {
			uint64_t bytes = o->page_bytes - at;

			if (bytes > URING_BUFFER_BYTES)
				bytes = URING_BUFFER_BYTES;
			if (o->mappings == MAPPINGS_ONE && n &&
			    iov[n - 1].iov_len + bytes <= URING_BUFFER_BYTES)
				iov[n - 1].iov_len += bytes;
			else
				iov[n++] = (struct iovec){ page[i] + at, bytes };
			at += bytes;
		}
	}
	return n;
}

static int register_buffers(const struct iovec *iov, uint64_t n)
{
	struct io_uring_params params = { 0 };
	int ring;

	if (n > URING_BUFFERS)
		return wl_fail("%" PRIu64 " buffers are more than the %d that io_uring takes: "
			       "--mappings one, or a smaller --pages",
			       n, URING_BUFFERS);
	ring = (int)syscall(SYS_io_uring_setup, 4, &params);
	if (ring < 0)
		return wl_fail("io_uring_setup: %s (the kernel needs CONFIG_IO_URING and "
			       "/proc/sys/kernel/io_uring_disabled = 0)",
			       strerror(errno));
	if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, iov, (unsigned int)n) !=
	    0)
		return wl_fail("io_uring_register of %" PRIu64 " buffers: %s (as another user than "
			       "root, raise the limit of locked memory: ulimit -l)",
			       n, strerror(errno));
	/* the ring stays open: its end is part of the exit */
	return WL_OK;
}

static int register_pages(const struct options *o, char *const *page)
{
	uint64_t most = o->touch * (1 + (o->page_bytes - 1) / URING_BUFFER_BYTES);
	struct iovec *iov = calloc(most ? most : 1, sizeof(*iov));
	int ret;

	if (!iov)
		return wl_fail("out of memory");
	ret = register_buffers(iov, make_buffers(o, page, iov));
	free(iov);
	return ret;
}

/* The child, up to its exit. Everything it maps stays mapped, for exit to undo. */
static int child(const struct options *o, char **page, int fd, struct story *s)
{
	s->start_ns = wl_now_ns();
	if (map_all(o, page, fd) != WL_OK)
		return WL_FAILED;
	s->mapped_ns = wl_now_ns();
	for (uint64_t i = 0; i < o->touch; i++) {
		*(volatile char *)page[i] = 1;
		s->touched = i + 1;
	}
	s->touched_ns = wl_now_ns();
	if (o->io_register) {
		if (register_pages(o, page) != WL_OK)
			return WL_FAILED;
		s->registered_ns = wl_now_ns();
	}
	return WL_OK;
}

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

/* INT and TERM must not end us before the pool is restored: they end the wait for the child. */
static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

/* Say how the child failed, where it could not say so itself. */
static int explain_child(const struct options *o, const struct story *s, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS)
		return wl_fail("SIGBUS at page %" PRIu64 " of %" PRIu64 ": no huge page for it "
			       "(more memory, or a smaller --pages)",
			       s->touched + 1, o->pages);
	if (WIFSIGNALED(status))
		return wl_fail("the child was killed by signal %d", WTERMSIG(status));
	return WL_FAILED;
}

static double ms_between(int64_t from_ns, int64_t to_ns)
{
	return (double)(to_ns - from_ns) / 1e6;
}

static double ms_of(const struct timeval *tv)
{
	return (double)tv->tv_sec * 1e3 + (double)tv->tv_usec / 1e3;
}

static void print_results(const struct options *o, const struct story *s, int64_t forked_ns,
			  int64_t reaped_ns, const struct rusage *ru)
{
	printf("%" PRIu64 " pages of %" PRIu64 " kB, %s, %s, %s, %s, %" PRIu64 " touched\n",
	       o->pages, o->page_bytes >> 10, mappings_words[o->mappings],
	       backing_words[o->backing], sharing_words[o->sharing], pool_words[o->pool], o->touch);
	wl_metric("alloc_ms", ms_between(s->start_ns, s->mapped_ns), "ms");
	wl_metric("fault_ms", ms_between(s->mapped_ns, s->touched_ns), "ms");
	if (o->io_register)
		wl_metric("register_ms", ms_between(s->touched_ns, s->registered_ns), "ms");
	wl_metric("exit_ms", ms_between(s->exit_ns, reaped_ns), "ms");
	wl_metric("total_ms", ms_between(forked_ns, reaped_ns), "ms");
	wl_metric("user_ms", ms_of(&ru->ru_utime), "ms");
	wl_metric("sys_ms", ms_of(&ru->ru_stime), "ms");
}

static void __attribute__((noreturn))
run_child(const struct options *o, char **page, int fd, struct story *s, pid_t parent)
{
	int rc;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(WL_FAILED);
	rc = child(o, page, fd, s);
	s->exit_ns = wl_now_ns();
	_exit(rc);
}

static int measure(const struct options *o, char **page, int fd, struct story *s)
{
	int64_t forked_ns = wl_now_ns(), reaped_ns;
	pid_t parent = getpid(), pid = fork();
	struct rusage ru;
	int status;

	if (pid < 0)
		return wl_fail("fork: %s", strerror(errno));
	if (pid == 0)
		run_child(o, page, fd, s, parent);
	/* the file's pages must be freed by the child's exit, not by ours */
	if (fd >= 0)
		close(fd);
	while (wait4(pid, &status, 0, &ru) < 0) {
		if (interrupted)
			kill(pid, SIGKILL);
	}
	reaped_ns = wl_now_ns();
	if (interrupted)
		return wl_fail("interrupted by signal %d", (int)interrupted);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != WL_OK)
		return explain_child(o, s, status);
	print_results(o, s, forked_ns, reaped_ns, &ru);
	return WL_OK;
}

/* Measure with the pool prepared and the table of pages; @s is shared with the child. */
static int measure_file(const struct options *o, char **page, struct story *s)
{
	int fd = -1;

	if (o->backing == BACKING_FILE) {
		fd = open_file(o);
		if (fd < 0)
			return WL_FAILED;
	}
	return measure(o, page, fd, s);
}

static int prepare_and_measure(const struct options *o)
{
	struct story *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			       -1, 0);
	char **page = calloc(o->pages, sizeof(*page));
	int rc;

	if (s == MAP_FAILED || !page)
		rc = wl_fail("out of memory");
	else
		rc = measure_file(o, page, s);
	free(page);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = parse_options(argc, argv);
	struct pool pool;
	int rc;

	catch_signals();
	if (pool_open(&pool, o.page_bytes) != WL_OK)
		return WL_FAILED;
	rc = pool_grow(&pool, o.pool, o.pages);
	if (rc == WL_OK)
		rc = prepare_and_measure(&o);
	if (pool_restore(&pool) != WL_OK && rc == WL_OK)
		rc = WL_FAILED;
	if (wl_finish() != WL_OK)
		rc = WL_FAILED;
	return rc;
}
