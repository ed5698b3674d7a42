/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bench's workload over a real sshd by the real agent, as the SSH target does it once a kernel
 * is up. Booting is no part of it: tests/e2e/11* do that on a machine.
 */
#ifndef KR_TESTS_TARGET_SSH_FIXTURE_H
#define KR_TESTS_TARGET_SSH_FIXTURE_H

#include "contract/target_fixture.h"
#include "unit/ssh_box_fixture.h"

#include "target/ssh_run.h"

static inline int try_ssh(const struct attempt *a, struct target_result *r, struct err *e)
{
	_cleanup_free_ char *where = trial_dir();
	_cleanup_free_ char *agent = guest_agent_path(e);
	_cleanup_strv_ struct strv argv = STRV_INIT;
	const struct ssh_run_file file = { bench.misbehave, "misbehave", 0755 };
	struct ssh_run_opts o = { .box = &box, .agent = agent, .files = &file, .n_files = 1 };
	const struct target_job job = {
		.dir = where,
		.nonce = "00c0ffee00c0ffee",
		.runs = a->runs ? a->runs : 1,
		.run_timeout_ms = a->timeout_ms ? a->timeout_ms : 10000,
	};
	double start = clock_mono_s();
	int ret;

	must(e, agent ? 0 : -1);
	strv_add(&argv, a->program ? a->program : "./misbehave");
	for (int i = 0; a->words[i]; i++)
		strv_add(&argv, a->words[i]);
	o.argv = argv.v;
	memset(r, 0, sizeof(*r));
	ret = ssh_run_job(conn, &o, &job, r, e);
	/* what target->trial() adds */
	r->total_seconds = clock_mono_s() - start;
	return ret;
}

static int bench_and_box_open(void **state)
{
	return bench_open(state) < 0 || open_box(state) < 0 ? -1 : fresh(state);
}

static int bench_and_box_close(void **state)
{
	return close_box(state) < 0 ? -1 : bench_close(state);
}

#endif
