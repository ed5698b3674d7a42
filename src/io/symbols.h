/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which function is at an address of a kernel: the symbols of its vmlinux. */
#ifndef KR_IO_SYMBOLS_H
#define KR_IO_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Functions by address. Zero: none. */
struct symbols {
	struct symbol {
		uint64_t address, size; /* size 0: up to the next one */
		uint32_t name;          /* offset in names */
		uint32_t rank;          /* of those at one address the lowest is kept */
	} * v;
	size_t n, room;
	char *names; /* NUL-terminated strings */
};
#define SYMBOLS_MAX 2000000
void symbols_release(struct symbols *s);

/*
 * Read the symbol table of an ELF file of this machine's byte order, 32 or 64 bit; nothing in it
 * is trusted. ERR_NOT_FOUND, ERR_SYS: cannot be read; ERR_LAB: no ELF file, or no symbols.
 */
int symbols_load(const char *path, struct symbols *out, struct err *e);

/*
 * The function that @address lies in: borrowed. "[user space]" below all of them, "[unknown]"
 * between or above. Of several at one address a global one, then the shortest name counts.
 */
#define SYMBOLS_USER "[user space]"
#define SYMBOLS_UNKNOWN "[unknown]"
const char *symbols_find(const struct symbols *s, uint64_t address);

#endif
