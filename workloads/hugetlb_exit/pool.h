/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's pool of huge pages of one size: enlarge it for a measurement, put it back after. */
#ifndef WORKLOAD_POOL_H
#define WORKLOAD_POOL_H

#include <dirent.h>
#include <inttypes.h>

#include "../common/workload.h"

#define POOL_SYSFS "/sys/kernel/mm/hugepages"

enum pool_kind { POOL_PERSISTENT, POOL_SURPLUS };

struct pool {
	char dir[64];
	const char *changed;  /* the file that was changed, NULL: none */
	uint64_t former;      /* the value that it had */
	uint64_t used_before; /* pages in use by others */
};

/* Read one counter of the pool. Ends the program with a message when it cannot be read. */
static inline uint64_t pool_get(const struct pool *p, const char *name)
{
	char path[128];
	uint64_t v;

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	if (wl_read_number(path, &v) != 0)
		exit(wl_fail("cannot read '%s': %s", path, strerror(errno)));
	return v;
}

static inline int pool_set(const struct pool *p, const char *name, uint64_t value)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	if (wl_write_number(path, value) != 0)
		return wl_fail("cannot write %" PRIu64 " to '%s': %s (run as root)", value, path,
			       strerror(errno));
	return WL_OK;
}

/* Collect the sizes that the kernel has as "2048kB 1048576kB" into @list. */
static inline void pool_sizes(char *list, size_t size)
{
	DIR *d = opendir(POOL_SYSFS);
	size_t used = 0;

	list[0] = 0;
	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
		if (strncmp(e->d_name, "hugepages-", 10) != 0 || used >= size)
			continue;
		used += (size_t)snprintf(list + used, size - used, " %s", e->d_name + 10);
	}
	if (d)
		closedir(d);
}

/* Find the pool of pages of @page_bytes. Returns WL_OK or WL_FAILED with a message. */
static inline int pool_open(struct pool *p, uint64_t page_bytes)
{
	char sizes[256];

	*p = (struct pool){ .changed = NULL };
	snprintf(p->dir, sizeof(p->dir), POOL_SYSFS "/hugepages-%" PRIu64 "kB", page_bytes >> 10);
	if (access(p->dir, F_OK) == 0)
		return WL_OK;
	pool_sizes(sizes, sizeof(sizes));
	if (!sizes[0])
		return wl_fail("'" POOL_SYSFS "' has no huge pages: mount /sys; the kernel needs "
			       "CONFIG_HUGETLBFS and a CPU with huge pages");
	return wl_fail("no huge pages of %" PRIu64 " kB here; --page-size can be one of:%s",
		       page_bytes >> 10, sizes);
}

/* The persistent pages, what a write to nr_hugepages sets; a read of it adds the surplus pages. */
static inline uint64_t pool_persistent(const struct pool *p)
{
	uint64_t all = pool_get(p, "nr_hugepages"), surplus = pool_get(p, "surplus_hugepages");

	return all > surplus ? all - surplus : 0;
}

/* Pages that some process or file holds, persistent or surplus. */
static inline uint64_t pool_used(const struct pool *p)
{
	uint64_t all = pool_get(p, "nr_hugepages"), unused = pool_get(p, "free_hugepages");

	return all > unused ? all - unused : 0;
}

/* Pages that a new mapping can have: free and not promised to another one. */
static inline uint64_t pool_available(const struct pool *p)
{
	uint64_t all = pool_get(p, "free_hugepages"), reserved = pool_get(p, "resv_hugepages");

	return all > reserved ? all - reserved : 0;
}

static inline int pool_grow_persistent(struct pool *p, uint64_t pages)
{
	uint64_t have = pool_available(p), total = pool_persistent(p);

	if (have >= pages)
		return WL_OK;
	if (pool_set(p, "nr_hugepages", total + pages - have) != WL_OK)
		return WL_FAILED;
	p->former = total;
	p->changed = "nr_hugepages";
	have = pool_available(p);
	if (have < pages)
		return wl_fail("only %" PRIu64 " of %" PRIu64 " huge pages could be had: memory is "
			       "too small or fragmented (more memory, a smaller --pages, or "
			       "hugepages= on the kernel's command line)",
			       have, pages);
	return WL_OK;
}

static inline int pool_grow_surplus(struct pool *p, uint64_t pages)
{
	uint64_t have = pool_available(p), limit = pool_get(p, "nr_overcommit_hugepages");
	uint64_t used = pool_get(p, "surplus_hugepages");

	if (have)
		wl_note("%" PRIu64 " free persistent pages are taken first: no surplus page is "
			"used until they are; set nr_hugepages = 0 for surplus pages only",
			have);
	if (limit >= used + pages)
		return WL_OK;
	if (pool_set(p, "nr_overcommit_hugepages", used + pages) != WL_OK)
		return WL_FAILED;
	p->former = limit;
	p->changed = "nr_overcommit_hugepages";
	return WL_OK;
}

/*
 * Make @pages huge pages of @kind available. What it changes is undone by pool_restore(), to be
 * called even after a failure. Returns WL_OK or WL_FAILED with a message.
 */
static inline int pool_grow(struct pool *p, int kind, uint64_t pages)
{
	p->used_before = pool_used(p);
	if (kind == POOL_SURPLUS)
		return pool_grow_surplus(p, pages);
	return pool_grow_persistent(p, pages);
}

/*
 * Wait, up to 10 s, until the pages of the ended child are free. io_uring and hugetlb_vmemmap let
 * go of them from a work queue, after the process is gone; a pool shrunk before that would keep
 * them as surplus pages.
 */
static inline void pool_settle(const struct pool *p)
{
	const struct timespec pause = { 0, 5000000 };

	for (int i = 0; i < 2000 && pool_used(p) > p->used_before; i++)
		nanosleep(&pause, NULL);
}

/* Put the pool back as it was before pool_grow(). Returns WL_OK or WL_FAILED with a message. */
static inline int pool_restore(struct pool *p)
{
	const char *name = p->changed;
	uint64_t now;

	if (!name)
		return WL_OK;
	p->changed = NULL;
	pool_settle(p);
	if (pool_set(p, name, p->former) != WL_OK)
		return WL_FAILED;
	now = strcmp(name, "nr_hugepages") ? pool_get(p, name) : pool_persistent(p);
	if (now != p->former)
		return wl_fail("'%s/%s' could not be restored to %" PRIu64 ": it is %" PRIu64,
			       p->dir, name, p->former, now);
	return WL_OK;
}

#endif
