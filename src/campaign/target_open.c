/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a campaign file to its target. */
#include "campaign/target_open.h"

#include "base/fs.h"
#include "campaign/guest_parts.h"
#include "campaign/layout.h"

static int open_qemu(struct session *s, struct err *e)
{
	const struct config *c = s->cfg;
	_cleanup_free_ char *cache = fs_cache_dir();
	_cleanup_free_ char *append = layout_append(s, s->machine.append);
	_cleanup_free_ char *tcg = layout_append(s, s->machine.append_tcg);
	_cleanup_free_ char *counted = layout_append(s, s->machine.append_deterministic);
	struct target_qemu_opts o = {
		.program = s->machine.program,
		.accel = (enum qemu_accel)c->target.accel,
		.deterministic = c->target.deterministic,
		.cpus = c->target.cpus,
		.memory_bytes = c->target.memory_bytes,
		.machine_args = &s->machine.args,
		.machine_append = append,
		.machine_append_tcg = tcg,
		.machine_append_deterministic = counted,
		.append = c->target.append,
		.extra_args = &c->target.extra_args,
		.boot_timeout_ms = c->target.boot_timeout_ms,
		.cache_dir = cache,
	};

	return target_qemu_open(&o, &s->target, e);
}

struct target_ssh_opts target_ssh_opts_of(const struct config *c)
{
	return (struct target_ssh_opts){
		.host = c->target.host,
		.port = c->target.port,
		.user = c->target.user,
		.identity = c->target.identity,
		.known_hosts = c->target.known_hosts,
		.install = &c->target.install,
		.power_cycle = &c->target.power_cycle,
		.console = &c->target.console,
		.boot_timeout_ms = c->target.boot_timeout_ms,
		.append = c->target.append,
		/* What a command builds, it alone knows. */
		.arch = c->build.command.n ? NULL : c->build.arch,
		.initramfs = c->target.initramfs,
		.setup = &c->target.setup,
		.max_load = c->target.max_load,
		.max_wait_ms = c->target.max_wait_ms,
		.watchdog = c->target.watchdog,
		.work_dir = c->target.work_dir,
		.owner = c->campaign.name,
		.dir = c->dir,
	};
}

static int open_ssh(struct session *s, struct err *e)
{
	struct target_ssh_opts o = target_ssh_opts_of(s->cfg);
	struct guest_parts *p;

	if (str_eq(o.initramfs, "make") && o.arch == NULL)
		return err_set(
			e, ERR_CONFIG,
			"%s: initramfs = make in [target] is for kernels that are built here: "
			"nobody knows the release of what a command builds (initramfs = PATH)",
			config_where(s->cfg, "target.initramfs"));
	guest_parts_free(s->parts);
	s->parts = p = xcalloc(1, sizeof(*p));
	if (guest_parts_get(s, p, e) < 0)
		return -1;
	o.settings = p->settings;
	o.n_settings = p->n_settings;
	o.argv = p->argv.v;
	o.files = p->files;
	o.n_files = p->n_files;
	return target_ssh_open(&o, &s->target, e);
}

int target_open(struct session *s, struct err *e)
{
	struct target_command_opts o = { .command = &s->cfg->target.command, .dir = s->cfg->dir };

	if (s->target.ops)
		return 0;
	switch (s->cfg->target.type) {
	case TARGET_QEMU:
		return open_qemu(s, e);
	case TARGET_SSH:
		return open_ssh(s, e);
	default:
		return target_command_open(&o, &s->target, e);
	}
}
