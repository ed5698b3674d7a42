/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The GNU build id in an ELF file, read with every bound checked. */
#include "io/build_internal.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elf_note.h"
#include "base/fs.h"

#define NOTES_MAX (1u << 20)

/* A part of the file, as its tables of segments and sections describe it. */
struct part {
	bool is_note;
	uint64_t offset, size;
};

struct elf {
	int fd;
	uint64_t bytes;
	bool is64;
	uint64_t table; /* offset of the table under way */
	unsigned entry_size, entries;
};

/* Only files of this machine's byte order: all that we boot here are. */
static bool is_native_order(const unsigned char *ident)
{
	return ident[EI_DATA] ==
	       (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
}

static bool read_header(struct elf *f, bool segments)
{
	unsigned char ident[EI_NIDENT];

	if (!fs_read_at(f->fd, f->bytes, 0, ident, sizeof(ident)) ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0 || !is_native_order(ident))
		return false;
	f->is64 = ident[EI_CLASS] == ELFCLASS64;
	if (f->is64) {
		Elf64_Ehdr h;

		if (!fs_read_at(f->fd, f->bytes, 0, &h, sizeof(h)))
			return false;
		f->table = segments ? h.e_phoff : h.e_shoff;
		f->entries = segments ? h.e_phnum : h.e_shnum;
		f->entry_size = segments ? h.e_phentsize : h.e_shentsize;
		return f->entry_size == (segments ? sizeof(Elf64_Phdr) : sizeof(Elf64_Shdr));
	}
	Elf32_Ehdr h;

	if (ident[EI_CLASS] != ELFCLASS32 || !fs_read_at(f->fd, f->bytes, 0, &h, sizeof(h)))
		return false;
	f->table = segments ? h.e_phoff : h.e_shoff;
	f->entries = segments ? h.e_phnum : h.e_shnum;
	f->entry_size = segments ? h.e_phentsize : h.e_shentsize;
	return f->entry_size == (segments ? sizeof(Elf32_Phdr) : sizeof(Elf32_Shdr));
}

static bool read_part(const struct elf *f, bool segments, unsigned i, struct part *p)
{
	union {
		Elf64_Phdr p64;
		Elf32_Phdr p32;
		Elf64_Shdr s64;
		Elf32_Shdr s32;
	} u;

	if (f->table > f->bytes ||
	    !fs_read_at(f->fd, f->bytes, f->table + (uint64_t)i * f->entry_size, &u, f->entry_size))
		return false;
	if (segments && f->is64)
		*p = (struct part){ u.p64.p_type == PT_NOTE, u.p64.p_offset, u.p64.p_filesz };
	else if (segments)
		*p = (struct part){ u.p32.p_type == PT_NOTE, u.p32.p_offset, u.p32.p_filesz };
	else if (f->is64)
		*p = (struct part){ u.s64.sh_type == SHT_NOTE, u.s64.sh_offset, u.s64.sh_size };
	else
		*p = (struct part){ u.s32.sh_type == SHT_NOTE, u.s32.sh_offset, u.s32.sh_size };
	return true;
}

static bool search(struct elf *f, bool segments, char hex[HASH_HEX_SIZE])
{
	if (!read_header(f, segments))
		return false;
	for (unsigned i = 0; i < f->entries; i++) {
		struct part p;

		if (!read_part(f, segments, i, &p))
			return false;
		if (!p.is_note || !p.size || p.size > NOTES_MAX)
			continue;
		_cleanup_free_ unsigned char *notes = xcalloc(1, (size_t)p.size);

		if (fs_read_at(f->fd, f->bytes, p.offset, notes, (size_t)p.size) &&
		    elf_note_build_id(notes, (size_t)p.size, hex))
			return true;
	}
	return false;
}

void build_elf_id(const char *path, char hex[HASH_HEX_SIZE])
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	hex[0] = '\0';
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	struct elf f = { .fd = fd, .bytes = (uint64_t)st.st_size };

	if (!search(&f, true, hex))
		search(&f, false, hex);
}
