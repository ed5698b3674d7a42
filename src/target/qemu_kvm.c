/* SPDX-License-Identifier: GPL-2.0-or-later */
/* KVM: a device that opens proves nothing, so what a real guest showed is remembered. */
#include "target/qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"

#define NOTE_MAX 4096

bool qemu_kvm_opens(char *why, size_t size)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		snprintf(why, size, "/dev/kvm: %s%s", strerror(errno),
			 errno == EACCES ? " (join the group kvm)" : "");
		return false;
	}
	close(fd);
	return true;
}

/*
 * The place of the note: it holds for one boot of the host, one QEMU binary and one
 * machine. NULL where there is no cache.
 */
static char *note_path(const struct qemu *q)
{
	_cleanup_free_ char *program = proc_which(q->program);
	_cleanup_str_ struct str boot_id = STR_INIT;
	char hex[HASH_HEX_SIZE];
	struct hash *h;
	struct stat st;

	if (!q->cache_dir || !program || stat(program, &st) < 0 ||
	    fs_read("/proc/sys/kernel/random/boot_id", 100, &boot_id, NULL) < 0)
		return NULL;
	h = hash_new();
	hash_add(h, boot_id.buf, boot_id.len);
	hash_add_text(h, program);
	hash_add(h, &st.st_size, sizeof(st.st_size));
	hash_add(h, &st.st_mtim, sizeof(st.st_mtim));
	for (size_t i = 0; i < q->machine_args.n; i++)
		hash_add_text(h, q->machine_args.v[i]);
	hash_hex(h, hex);
	return xasprintf("%s/kvm-%.16s", q->cache_dir, hex);
}

enum qemu_accel qemu_kvm_recall(const struct qemu *q, char *why, size_t size)
{
	_cleanup_free_ char *path = note_path(q);
	_cleanup_str_ struct str text = STR_INIT, clean = STR_INIT;
	const char *reason;

	if (!path || fs_read(path, NOTE_MAX, &text, NULL) < 0)
		return QEMU_ACCEL_AUTO;
	if (str_starts(str_text(&text), "kvm\n"))
		return QEMU_ACCEL_KVM;
	if (!str_starts(str_text(&text), "tcg\n"))
		return QEMU_ACCEL_AUTO;
	reason = str_text(&text) + strlen("tcg\n");
	str_neutralise(&clean, reason, strcspn(reason, "\n"), false);
	snprintf(why, size, "%s", str_text(&clean));
	return QEMU_ACCEL_TCG;
}

void qemu_kvm_remember(const struct qemu *q, enum qemu_accel proven, const char *why)
{
	_cleanup_free_ char *path = note_path(q);
	_cleanup_str_ struct str text = STR_INIT;

	if (!path || fs_mkdirs(q->cache_dir, NULL) < 0)
		return;
	str_addf(&text, "%s\n%s\n", proven == QEMU_ACCEL_KVM ? "kvm" : "tcg", why);
	fs_write(path, text.buf, text.len, NULL);
}
