/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as result channel and as QMP: however they are cut, the same is understood. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/replay.h"

#include "target/qemu.h"

#define NONCE "00c0ffee"
#define RUNS 4

#define MUST(what)                                                     \
	do {                                                           \
		if (!(what)) {                                         \
			fprintf(stderr, "does not hold: %s\n", #what); \
			abort();                                       \
		}                                                      \
	} while (0)

struct reading {
	struct target_result out;
	struct results r;
	struct qmp m;
};

static void read_in_pieces(struct reading *g, const uint8_t *data, size_t n, size_t step)
{
	results_init(&g->r, NONCE, RUNS, &g->out);
	g->m.fd = -1;
	for (size_t at = 0; at < n; at += step) {
		size_t part = n - at < step ? n - at : step;
		_cleanup_free_ char *piece = xcalloc(part, 1);

		memcpy(piece, data + at, part);
		results_feed(&g->r, piece, part, (double)at);
		qmp_feed(&g->m, piece, part);
	}
}

static void check_bounds(const struct reading *g)
{
	MUST(g->out.n_runs <= RUNS && g->out.n_runs <= g->r.run);
	MUST(g->r.hello || g->out.n_runs == 0);
	MUST((g->r.failure != RESULTS_FINE) == (g->r.text[0] != 0) ||
	     g->r.failure == RESULTS_NO_EXEC || g->r.failure == RESULTS_UNTESTABLE);
	for (size_t i = 0; i < g->out.n_runs; i++) {
		MUST(g->out.runs[i].n <= TARGET_OUTPUT_MAX);
		MUST(g->out.runs[i].status >= 0 && g->out.runs[i].status <= 255);
	}
	MUST(!g->r.extra || (g->r.failure == RESULTS_FINE && g->out.n_runs == RUNS));
	MUST(g->r.extra || g->out.n_files == 0);
	for (size_t i = 0; i < g->out.n_files; i++)
		MUST(g->out.files[i].n <= RESULTS_EXTRA_MAX && !strstr(g->out.files[i].name, ".."));
	MUST(g->m.look.n <= QEMU_CPUS_MAX);
	for (const char *p = g->r.text; *p; p++)
		MUST((unsigned char)*p >= ' ' || *p == '\t');
}

static void check_equal(const struct reading *a, const struct reading *b)
{
	MUST(a->r.failure == b->r.failure && a->r.bye == b->r.bye && a->r.hello == b->r.hello);
	MUST(a->r.run == b->r.run && a->r.in_run == b->r.in_run);
	MUST(!strcmp(a->r.text, b->r.text) && !strcmp(a->r.build_id, b->r.build_id));
	MUST(a->out.n_runs == b->out.n_runs && a->out.n_files == b->out.n_files);
	MUST(a->r.extra == b->r.extra && !strcmp(a->r.extra_text, b->r.extra_text));
	for (size_t i = 0; i < a->out.n_files; i++) {
		MUST(a->out.files[i].n == b->out.files[i].n);
		MUST(!a->out.files[i].text == !b->out.files[i].text);
		MUST(!a->out.files[i].text ||
		     !memcmp(a->out.files[i].text, b->out.files[i].text, a->out.files[i].n));
	}
	for (size_t i = 0; i < a->out.n_runs; i++) {
		MUST(a->out.runs[i].n == b->out.runs[i].n);
		MUST(a->out.runs[i].status == b->out.runs[i].status);
		MUST(!memcmp(a->out.runs[i].output, b->out.runs[i].output, a->out.runs[i].n));
	}
	MUST(a->m.shutdown == b->m.shutdown && a->m.stopped == b->m.stopped);
	MUST(!strcmp(a->m.status, b->m.status) && !strcmp(a->m.error, b->m.error));
}

static void release(struct reading *g)
{
	results_release(&g->r);
	qmp_release(&g->m);
	target_result_release(&g->out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct reading whole = { .m.fd = -1 }, cut = { .m.fd = -1 };

	if (n < 2)
		return 0;
	read_in_pieces(&whole, data + 1, n - 1, n - 1);
	read_in_pieces(&cut, data + 1, n - 1, 1 + data[0] % 64);
	check_bounds(&whole);
	check_equal(&whole, &cut);
	release(&whole);
	release(&cut);
	return 0;
}
