/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which function is at an address of a kernel: the symbols of its vmlinux. */
#include "io/symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"

#define SECTIONS_MAX 65536
#define NAMES_MAX (256u << 20)
#define BLOCK 1024 /* symbols read at once */

struct file {
	int fd;
	uint64_t bytes;
	bool is64;
};

/* A section as far as we care. */
struct section {
	uint32_t type, link;
	uint64_t offset, size, entry;
	bool is_code;
};

void symbols_release(struct symbols *s)
{
	free(s->v);
	free(s->names);
	*s = (struct symbols){ .v = NULL };
}

/* Where the table of sections is; false: no ELF file that we understand. */
static bool read_header(struct file *f, uint64_t *table, unsigned *n)
{
	unsigned char ident[EI_NIDENT];
	Elf64_Ehdr h;
	Elf32_Ehdr h32;

	if (!fs_read_at(f->fd, f->bytes, 0, ident, sizeof(ident)) ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    ident[EI_DATA] !=
		    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
		return false;
	f->is64 = ident[EI_CLASS] == ELFCLASS64;
	if (f->is64) {
		if (!fs_read_at(f->fd, f->bytes, 0, &h, sizeof(h)) ||
		    h.e_shentsize != sizeof(Elf64_Shdr))
			return false;
		*table = h.e_shoff;
		*n = h.e_shnum;
	} else {
		if (!fs_read_at(f->fd, f->bytes, 0, &h32, sizeof(h32)) ||
		    h32.e_shentsize != sizeof(Elf32_Shdr))
			return false;
		*table = h32.e_shoff;
		*n = h32.e_shnum;
	}
	return *n > 0;
}

static bool read_section(const struct file *f, uint64_t table, unsigned i, struct section *out)
{
	Elf64_Shdr s;
	Elf32_Shdr s32;

	if (f->is64) {
		if (!fs_read_at(f->fd, f->bytes, table + (uint64_t)i * sizeof(s), &s, sizeof(s)))
			return false;
		*out = (struct section){ s.sh_type, s.sh_link,    s.sh_offset,
					 s.sh_size, s.sh_entsize, s.sh_flags & SHF_EXECINSTR };
	} else {
		if (!fs_read_at(f->fd, f->bytes, table + (uint64_t)i * sizeof(s32), &s32,
				sizeof(s32)))
			return false;
		*out = (struct section){
			s32.sh_type, s32.sh_link,    s32.sh_offset,
			s32.sh_size, s32.sh_entsize, s32.sh_flags & SHF_EXECINSTR
		};
	}
	return true;
}

struct loading {
	struct file f;
	struct section *section;
	unsigned n_sections;
	struct symbols *out;
	uint64_t names_bytes;
};

/* A symbol that can be where a program counter is. */
static void take_symbol(struct loading *l, const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info), bind = ELF64_ST_BIND(s->st_info);
	const char *name;

	if ((type != STT_FUNC && type != STT_NOTYPE) || s->st_name >= l->names_bytes ||
	    s->st_shndx >= l->n_sections || !l->section[s->st_shndx].is_code)
		return;
	name = l->out->names + s->st_name;
	/* Labels of assembler and of the linker's script are no functions. */
	if (!*name || *name == '.' || (type == STT_NOTYPE && bind == STB_LOCAL) ||
	    (type == STT_NOTYPE && (str_starts(name, "__start_") || str_starts(name, "__end_") ||
				    str_ends(name, "_start") || str_ends(name, "_end"))))
		return;
	if (l->out->n == SYMBOLS_MAX)
		return;
	xgrow(&l->out->v, &l->out->room, l->out->n + 1, sizeof(*l->out->v));
	l->out->v[l->out->n++] = (struct symbol){
		.address = s->st_value,
		.size = s->st_size,
		.name = s->st_name,
		.rank = (type == STT_NOTYPE) * 2u + (bind == STB_LOCAL),
	};
}

static bool read_symbols(struct loading *l, const struct section *s)
{
	_cleanup_free_ char *block = NULL;
	size_t size = l->f.is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);

	if (s->entry != size)
		return false;
	block = xcalloc(BLOCK, size);
	for (uint64_t at = 0, n = s->size / size; at < n; at += BLOCK) {
		size_t part = n - at < BLOCK ? (size_t)(n - at) : BLOCK;

		if (!fs_read_at(l->f.fd, l->f.bytes, s->offset + at * size, block, part * size))
			return false;
		for (size_t i = 0; i < part; i++) {
			Elf64_Sym sym;
			Elf32_Sym sym32;

			if (l->f.is64) {
				memcpy(&sym, block + i * size, size);
			} else {
				memcpy(&sym32, block + i * size, size);
				sym = (Elf64_Sym){ sym32.st_name,  sym32.st_info,  sym32.st_other,
						   sym32.st_shndx, sym32.st_value, sym32.st_size };
			}
			take_symbol(l, &sym);
		}
	}
	return true;
}

static bool read_tables(struct loading *l)
{
	uint64_t table;
	const struct section *s = NULL, *names;

	if (!read_header(&l->f, &table, &l->n_sections) || l->n_sections > SECTIONS_MAX)
		return false;
	l->section = xcalloc(l->n_sections, sizeof(*l->section));
	for (unsigned i = 0; i < l->n_sections; i++)
		if (!read_section(&l->f, table, i, &l->section[i]))
			return false;
	for (unsigned i = 0; i < l->n_sections && !s; i++)
		if (l->section[i].type == SHT_SYMTAB)
			s = &l->section[i];
	if (!s || s->link >= l->n_sections)
		return false;
	names = &l->section[s->link];
	if (names->size > NAMES_MAX || names->size > l->f.bytes || !names->size)
		return false;
	l->names_bytes = names->size;
	l->out->names = xcalloc(names->size + 1, 1);
	return fs_read_at(l->f.fd, l->f.bytes, names->offset, l->out->names, names->size) &&
	       read_symbols(l, s);
}

/* qsort() has no cookie: names are compared where addresses and ranks are equal. */
static int by_address(const void *a, const void *b, void *names)
{
	const struct symbol *x = a, *y = b;
	const char *text = names, *nx = text + x->name, *ny = text + y->name;
	size_t lx = strlen(nx), ly = strlen(ny);

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return lx != ly ? (lx < ly ? -1 : 1) : strcmp(nx, ny);
}

static void sort(struct symbols *s)
{
	size_t kept = 0;

	qsort_r(s->v, s->n, sizeof(*s->v), by_address, s->names);
	for (size_t i = 1; i < s->n; i++)
		if (s->v[i].address != s->v[kept].address)
			s->v[++kept] = s->v[i];
	s->n = kept + 1;
}

int symbols_load(const char *path, struct symbols *out, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct symbols got = { .v = NULL };
	struct loading l = { .f.fd = fd, .out = &got };
	struct stat st;
	bool ok;

	if (fd < 0 || fstat(fd, &st) < 0) {
		int saved = errno;

		err_sys(e, saved, "cannot read '%s'", path);
		if (saved == ENOENT && e)
			e->code = ERR_NOT_FOUND;
		return -1;
	}
	l.f.bytes = (uint64_t)st.st_size;
	ok = read_tables(&l) && got.n > 0;
	free(l.section);
	if (!ok) {
		symbols_release(&got);
		return err_set(e, ERR_LAB, "'%s' has no symbols", path);
	}
	sort(&got);
	*out = got;
	return 0;
}

const char *symbols_find(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->v[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!s->n)
		return SYMBOLS_UNKNOWN;
	if (!low)
		return SYMBOLS_USER;
	if (s->v[low - 1].size && address - s->v[low - 1].address >= s->v[low - 1].size)
		return SYMBOLS_UNKNOWN;
	if (low == s->n && !s->v[low - 1].size && address != s->v[low - 1].address)
		return SYMBOLS_UNKNOWN;
	return s->names + s->v[low - 1].name;
}
