/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of ELF files and of the running kernel. */
#include "base/elf_note.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "base/hex.h"

/* Notes of both classes have the same header of three words; parts are padded to 4. */
bool elf_note_build_id(const void *data, size_t n, char hex[ELF_BUILD_ID_SIZE])
{
	const unsigned char *notes = data;

	while (n >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr h;

		memcpy(&h, notes, sizeof(h));
		notes += sizeof(h);
		n -= sizeof(h);
		uint64_t name = ((uint64_t)h.n_namesz + 3) & ~(uint64_t)3;
		uint64_t desc = ((uint64_t)h.n_descsz + 3) & ~(uint64_t)3;

		if (name > n || h.n_descsz > n - name)
			return false;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    memcmp(notes, "GNU", 4) == 0 && h.n_descsz &&
		    h.n_descsz <= (ELF_BUILD_ID_SIZE - 1) / 2) {
			hex_encode(notes + name, h.n_descsz, hex);
			return true;
		}
		if (desc > n - name)
			return false;
		notes += name + desc;
		n -= (size_t)(name + desc);
	}
	return false;
}
