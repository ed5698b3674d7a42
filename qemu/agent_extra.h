/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The extra runs themselves, see agent_observe.h. Part of agent.c alone, after its runs. */
#ifndef KR_QEMU_AGENT_EXTRA_H
#define KR_QEMU_AGENT_EXTRA_H

/* One more run of the workload, whose output nobody wants. False: no more of them. */
static bool extra_run(const struct job *j)
{
	struct run r = { .failure = NULL };

	run_workload(j, &r);
	beside = NULL;
	return !ending && !r.failure && !r.exec_errno && WIFEXITED(r.wstatus) &&
	       WEXITSTATUS(r.wstatus) == 0;
}

static void begin_extra(const struct job *j, const char *kind)
{
	say("kregress: extra %s %s", j->nonce, kind);
	tcdrain(port);
}

/* Runs with @look beside them, for the time that the job gives. Returns what passed in µs. */
static int64_t extra_runs(const struct job *j, void (*look)(void))
{
	int64_t start = now_us(), passed = 0;

	for (unsigned i = 0; i < RUNS_MAX && passed < observe.time_us; i++) {
		bool go_on;

		beside = look;
		beside_due_us = now_us() + (look ? some_interval() : 0);
		go_on = extra_run(j);
		passed = now_us() - start;
		if (!go_on)
			break;
	}
	return passed;
}

/* What is to be seen beside runs that do not count: all that do are over. */
static void observe_runs(const struct job *j, int64_t run_us)
{
	int64_t passed;

	if (observe.snapshots) {
		begin_extra(j, "snapshots");
		take_snapshot("before");
		beside = take_during;
		beside_due_us = now_us() + run_us / 2;
		if (extra_run(j))
			take_snapshot("after");
		for (size_t i = 0; !ending && i < snapshots.n_files; i++)
			send_file(j, &snapshots.file[i]);
	}
	if (observe.profile && !ending) {
		begin_extra(j, "profile");
		passed = extra_runs(j, NULL);
		say("kregress: over %s %lld", j->nonce, (long long)passed);
	}
	if (observe.stacks && !ending) {
		begin_extra(j, "stacks");
		know_others();
		passed = extra_runs(j, look_at_stacks);
		send_stacks(j, passed);
	}
}

#endif
