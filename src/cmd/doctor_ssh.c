/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kregress doctor looks at for machines: the way there, and what is missing there. */
#include "campaign/target_open.h"
#include "cmd/doctor.h"

static void check_rescue(struct doctor *d)
{
	if (!d->cfg->target.power_cycle.n)
		doctor_say(d, DOCTOR_NOTE,
			   "power: no power_cycle in [target]: a kernel that hangs ends the "
			   "campaign until somebody switches the machine off and on");
	if (!d->cfg->target.console.n)
		doctor_say(d, DOCTOR_NOTE,
			   "console: no console in [target]: a panic leaves no words behind");
	if (!d->cfg->target.setup.n)
		doctor_say(
			d, DOCTOR_NOTE,
			"noise: no setup in [target]: the machine's governor, turbo and SMT stay "
			"as they are");
}

void doctor_ssh(struct doctor *d)
{
	_cleanup_strv_ struct strv missing = STRV_INIT;
	_cleanup_str_ struct str about = STR_INIT;
	struct target_ssh_opts o;
	struct err e = ERR_INIT;
	int ret;

	if (!d->cfg || d->cfg->target.type != TARGET_SSH)
		return;
	o = target_ssh_opts_of(d->cfg);
	ret = target_ssh_look(&o, &about, &missing, &e);
	if (about.len)
		doctor_say(d, DOCTOR_OK, "machine: %s", str_text(&about));
	for (size_t i = 0; i < missing.n; i++)
		doctor_say(d, DOCTOR_PROBLEM, "machine: %s", missing.v[i]);
	if (ret < 0)
		doctor_say(d, DOCTOR_PROBLEM, "machine: %s", e.msg);
	else if (!missing.n)
		doctor_say(d, DOCTOR_OK, "machine: has what install = %s needs",
			   d->cfg->target.install.v[0]);
	check_rescue(d);
}
