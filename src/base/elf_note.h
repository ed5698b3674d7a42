/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of ELF files and of the running kernel (/sys/kernel/notes). */
#ifndef KR_BASE_ELF_NOTE_H
#define KR_BASE_ELF_NOTE_H

#include <stdbool.h>
#include <stddef.h>

#define ELF_BUILD_ID_SIZE 65 /* at most 32 bytes as hex digits, and a NUL */

/*
 * The first GNU build id among @n bytes of notes of this machine's byte order, every bound
 * checked. False, and @hex as it was: there is none.
 */
bool elf_note_build_id(const void *notes, size_t n, char hex[ELF_BUILD_ID_SIZE]);

#endif
