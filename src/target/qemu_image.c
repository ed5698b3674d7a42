/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel images: which form it is, and how much memory it takes. */
#include "target/qemu.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* XEN_ELFNOTE_PHYS32_ENTRY of the Xen ABI: the entry that PVH boot loaders use. */
#define NOTE_PVH_ENTRY 18
/* Offsets of the x86 boot protocol (Documentation/arch/x86/boot.rst), from the file's start. */
#define BZ_MAGIC 0x202
#define BZ_VERSION 0x206
#define BZ_INIT_SIZE 0x260
#define ROOM_TO_RUN (32ull << 20)
#define NOTES_MAX 65536

static bool read_at(int fd, void *buf, size_t n, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, buf, n, (off_t)offset) == (ssize_t)n;
}

/* Is there a Xen note of @type in these @n bytes? */
static bool has_xen_note(const unsigned char *notes, size_t n, uint32_t type)
{
	size_t at = 0;

	while (n - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr h;
		uint64_t size;

		memcpy(&h, notes + at, sizeof(h));
		at += sizeof(h);
		size = (((uint64_t)h.n_namesz + 3) & ~3ull) + (((uint64_t)h.n_descsz + 3) & ~3ull);
		if (size > n - at)
			return false;
		if (h.n_type == type && h.n_namesz == 4 && !memcmp(notes + at, "Xen", 4))
			return true;
		at += (size_t)size;
	}
	return false;
}

static void read_segment(int fd, const Elf64_Phdr *p, struct qemu_image *out)
{
	_cleanup_free_ unsigned char *notes = NULL;

	if (p->p_type == PT_LOAD && out->memory_bytes + p->p_memsz >= out->memory_bytes)
		out->memory_bytes += p->p_memsz;
	if (p->p_type != PT_NOTE || p->p_filesz > NOTES_MAX)
		return;
	notes = xcalloc(1, NOTES_MAX);
	if (read_at(fd, notes, (size_t)p->p_filesz, p->p_offset) &&
	    has_xen_note(notes, (size_t)p->p_filesz, NOTE_PVH_ENTRY))
		out->pvh = true;
}

static void read_elf(int fd, const Elf64_Ehdr *h, struct qemu_image *out)
{
	out->elf = true;
	if (h->e_phentsize != sizeof(Elf64_Phdr))
		return;
	for (unsigned i = 0; i < h->e_phnum; i++) {
		Elf64_Phdr p;

		if (!read_at(fd, &p, sizeof(p), h->e_phoff + i * sizeof(p)))
			return;
		read_segment(fd, &p, out);
	}
}

static void read_bzimage(int fd, struct qemu_image *out)
{
	unsigned char magic[6];
	uint32_t init_size;

	if (!read_at(fd, magic, sizeof(magic), BZ_MAGIC) || memcmp(magic, "HdrS", 4) != 0)
		return;
	/* Protocol 2.10 and newer say how much memory the kernel takes to start. */
	if ((magic[BZ_VERSION - BZ_MAGIC + 1] << 8 | magic[BZ_VERSION - BZ_MAGIC]) >= 0x020a &&
	    read_at(fd, &init_size, sizeof(init_size), BZ_INIT_SIZE))
		out->memory_bytes = init_size;
}

int qemu_image_read(const char *path, struct qemu_image *out, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr h;
	struct stat st;

	memset(out, 0, sizeof(*out));
	if (fd < 0 || fstat(fd, &st) < 0) {
		int code = errno;

		err_sys(e, code, "cannot read the kernel image '%s'", path);
		if (e && code == ENOENT)
			e->code = ERR_NOT_FOUND;
		return -1;
	}
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_SYS, "the kernel image '%s' is not a file", path);
	if (read_at(fd, &h, sizeof(h), 0) && !memcmp(h.e_ident, ELFMAG, SELFMAG) &&
	    h.e_ident[EI_CLASS] == ELFCLASS64)
		read_elf(fd, &h, out);
	else
		read_bzimage(fd, out);
	if (out->memory_bytes < (uint64_t)st.st_size && !out->elf)
		out->memory_bytes = (uint64_t)st.st_size;
	return 0;
}

static unsigned long in_mib(uint64_t bytes)
{
	return (unsigned long)((bytes + (1 << 20) - 1) >> 20);
}

int qemu_check_memory(const char *image, uint64_t initrd_bytes, uint64_t memory_bytes,
		      struct err *e)
{
	struct qemu_image info;
	uint64_t need;

	if (qemu_image_read(image, &info, e) < 0)
		return -1;
	/* The archive and the files unpacked from it exist side by side for a while. */
	need = info.memory_bytes + 2 * initrd_bytes + ROOM_TO_RUN;
	if (need <= memory_bytes && info.memory_bytes < memory_bytes)
		return 0;
	return err_set(e, ERR_CONFIG,
		       "the guest's memory of %lu MiB is too small for a kernel of %lu MiB with an "
		       "initramfs of %lu MiB (raise memory = in [target] to %luM or more)",
		       in_mib(memory_bytes), in_mib(info.memory_bytes), in_mib(initrd_bytes),
		       in_mib(need));
}
