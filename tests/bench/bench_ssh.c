/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time of one upload, for bench-ssh: bench_ssh PORT USER IDENTITY KNOWN_HOSTS FROM TO [SHA256]. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "target/ssh_copy.h"

static int fail(const struct err *e)
{
	fprintf(stderr, "bench_ssh: %s\n", e->msg);
	return 1;
}

/* Seconds from nothing to a file that is checked and in place, as scp is timed. */
int main(int argc, char **argv)
{
	_cleanup_strv_ struct strv identities = STRV_INIT, known = STRV_INIT;
	struct ssh_opts o = { .host = "127.0.0.1", .timeout_ms = 10000 };
	struct ssh_upload u = { .mode = 0644, .timeout_ms = 60000 };
	struct ssh_conn *c = NULL;
	struct err e = ERR_INIT;
	double begun = clock_mono_s();

	if (argc != 7 && argc != 8) {
		fprintf(stderr,
			"usage: bench_ssh PORT USER IDENTITY KNOWN_HOSTS FROM TO [SHA256]\n");
		return 2;
	}
	o.port = (unsigned)atoi(argv[1]);
	o.user = argv[2];
	strv_add(&identities, argv[3]);
	strv_add(&known, argv[4]);
	o.identities = &identities;
	o.known_hosts = &known;
	u.from = argv[5];
	u.to = argv[6];
	u.sha256 = argv[7];
	if (ssh_open(&o, &c, NULL, &e) < 0)
		return fail(&e);
	if (ssh_upload(c, &u, &e) < 0) {
		ssh_close(c);
		return fail(&e);
	}
	ssh_close(c);
	printf("%.4f\n", clock_mono_s() - begun);
	return 0;
}
