/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One trial of kregress: prints the seconds from starting QEMU to the agent's hello. */
#include "contract/target_fixture.h"

int main(int argc, char **argv)
{
	struct attempt a = { .words = { "print", "x" },
			     .machine = argc > 1 ? argv[1] : NULL,
			     .memory_bytes = 1ull << 30 };
	struct target_result r;
	struct err e = ERR_INIT;

	if (bench_open(NULL) < 0)
		return 1;
	if (try_qemu(&a, &r, &e, NULL) < 0 || r.outcome != TRIAL_OK) {
		fprintf(stderr, "%s%s\n", e.msg, r.detail);
		return 1;
	}
	printf("%.4f %.4f\n", r.boot_seconds, r.total_seconds);
	target_result_release(&r);
	return bench_close(NULL) < 0;
}
