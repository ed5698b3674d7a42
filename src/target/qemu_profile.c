/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a guest spends its time, seen from outside: its program counters, now and then. */
#include "target/qemu.h"

#include "base/clock.h"

/* Not in step with anything that ticks: between a half and one and a half of the interval. */
static double some_interval(struct qemu_sampler *p)
{
	p->random = p->random * 1664525u + 1013904223u;
	return (0.5 + p->random / 4294967296.0) / p->rate;
}

/* However long an answer takes on a busy host: the guest then runs at least as long. */
static void take_answer(struct qemu_sampler *p, const struct qmp *m, struct target_profile *out)
{
	double now = clock_mono_s(), took = now - p->asked_s;

	p->asked = false;
	out->cost_seconds += took;
	if (p->due_s < now + took)
		p->due_s = now + took;
	for (unsigned i = 0; i < m->look.n; i++)
		target_profile_add(out, m->look.pc[i]);
}

void qemu_sample(struct qemu_sampler *p, struct qmp *m, bool on, struct target_profile *out)
{
	double now = clock_mono_s();

	if (!p->rate)
		return;
	if (p->asked && !m->look.pending)
		take_answer(p, m, out);
	if (on && !p->running) {
		p->begun_s = now;
		p->due_s = now + some_interval(p);
	}
	if (p->running && !on)
		out->seconds += now - p->begun_s;
	p->running = on;
	if (!on || p->asked || m->stopped || m->shutdown || now < p->due_s)
		return;
	p->asked = true;
	p->asked_s = now;
	/* From when it was due: the rate is kept as long as answers come in time. */
	p->due_s += some_interval(p);
	if (p->due_s < now)
		p->due_s = now + some_interval(p);
	qmp_look(m);
}

double qemu_sample_wait_ms(const struct qemu_sampler *p, double ms)
{
	double left = (p->due_s - clock_mono_s()) * 1000;

	if (!p->running || p->asked || left >= ms)
		return ms;
	return left > 0 ? left : 0;
}
