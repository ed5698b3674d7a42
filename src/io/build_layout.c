/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where code lies in a kernel: held still, or drawn anew without compiling anything. */
#include "io/build_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

/*
 * The linker of layout = random: for the kernel itself it puts padding between the objects, 0 to
 * 240 bytes of text and 0 to 192 of data, which a hash of layout number and object name
 * chooses. All else goes to the real one as it is. Objects keep their order (initcalls run in it), and
 * what the link itself makes (.tmp_*) is not padded: each pass of kallsyms has another name for it.
 * A script, because make calls it; its path is part of make's commands and must stay the same.
 */
static const char linker[] =
	"#!/bin/sh\n"
	"# SPDX-License-Identifier: GPL-2.0-or-later\n"
	"# Made by kregress for layout = random: the linker, with padding between objects.\n"
	"layout=${KREGRESS_LAYOUT:-0}\n"
	"out=\n"
	"next=\n"
	"for arg; do\n"
	"	[ -z \"$next\" ] || out=$arg\n"
	"	next=\n"
	"	[ \"$arg\" != -o ] || next=1\n"
	"done\n"
	"case $layout,$out in\n"
	"0,*) exec ${KREGRESS_LD:-ld} \"$@\" ;;\n"
	"*,vmlinux | *,vmlinux.o | *,vmlinux.unstripped | *,.tmp_vmlinux*) ;;\n"
	"*) exec ${KREGRESS_LD:-ld} \"$@\" ;;\n"
	"esac\n"
	"set -e\n"
	"dir=.kregress-layout\n"
	"if [ ! -e $dir/ready ]; then\n"
	"	mkdir -p $dir\n"
	"	i=0\n"
	"	while [ $i -lt 16 ]; do\n"
	"		cat >$dir/$i.S <<END\n"
	"	.section .note.GNU-stack, \"\", %progbits\n"
	"	.text\n"
	"#if defined(__x86_64__) || defined(__i386__)\n"
	"	.skip $((i * 16)), 0xcc\n"
	"#else\n"
	"	.skip $((i * 16))\n"
	"#endif\n"
	"	.data\n"
	"	.skip $((i * 5 % 4 * 64))\n"
	"	.bss\n"
	"	.skip $((i * 3 % 4 * 64))\n"
	"END\n"
	"		$CC $NOSTDINC_FLAGS $LINUXINCLUDE $KBUILD_CPPFLAGS $KBUILD_AFLAGS \\\n"
	"			-c -o $dir/$i.o $dir/$i.S\n"
	"		i=$((i + 1))\n"
	"	done\n"
	"	: >$dir/ready\n"
	"fi\n"
	/* A member that is no file of its own is left in its archive. */
	"members() {\n"
	"	\"${AR:-ar}\" t \"$1\" >$dir/members && [ -s $dir/members ] || return 1\n"
	"	while read -r member; do\n"
	"		[ -f \"$member\" ] || return 1\n"
	"	done <$dir/members\n"
	"	cat $dir/members\n"
	"}\n"
	"whole=0\n"
	"for arg; do\n"
	"	case $whole$arg in\n"
	"	?--whole-archive) whole=1 ;;\n"
	"	?--no-whole-archive) whole=0 ;;\n"
	"	1*.a) members \"$arg\" && continue ;;\n"
	"	esac\n"
	"	printf '%s\\n' \"$arg\"\n"
	"done | awk -v layout=\"$layout\" -v dir=$dir '\n"
	"	BEGIN { for (i = 1; i < 256; i++) code[sprintf(\"%c\", i)] = i }\n"
	"	{ print \"\\\"\" $0 \"\\\"\" }\n"
	"	was != \"-o\" && /\\.o$/ && !/(^|\\/)\\.[^\\/]*$/ {\n"
	"		h = layout\n"
	"		for (i = 1; i <= length($0); i++)\n"
	"			h = (h * 69069 + code[substr($0, i, 1)]) % 4294967296\n"
	"		h = int(h * 69069 % 4294967296 / 65536)\n"
	"		print dir \"/\" h % 16 \".o\"\n"
	"	}\n"
	"	{ was = $0 }' >$dir/args\n"
	"exec ${KREGRESS_LD:-ld} @$dir/args\n";

/* Below the O= folder: the layout that its kernel was linked with. */
#define STAMP_NAME ".kregress-layout-number"

char *build_layout_linker(const struct builder *b)
{
	return fs_join(b->slot, "ld");
}

static int write_linker(const struct builder *b, struct err *e)
{
	_cleanup_free_ char *path = build_layout_linker(b);
	_cleanup_str_ struct str is = STR_INIT;

	/* A new time would make nothing anew, but it need not be written either. */
	if (fs_read(path, sizeof(linker), &is, NULL) == 0 && str_eq(str_text(&is), linker))
		return 0;
	if (fs_write(path, linker, sizeof(linker) - 1, e) < 0)
		return -1;
	return chmod(path, 0755) < 0 ? err_sys(e, errno, "cannot make '%s' executable", path) : 0;
}

static int remove_out(const struct builder *b, const char *name, struct err *e)
{
	_cleanup_free_ char *path = fs_join(b->out, name);

	if (unlink(path) < 0 && errno != ENOENT)
		return err_sys(e, errno, "cannot remove '%s'", path);
	return 0;
}

/* make does not know that another layout is another kernel. */
int build_layout_begin(struct builder *b, struct err *e)
{
	_cleanup_free_ char *stamp = fs_join(b->out, STAMP_NAME);
	_cleanup_free_ char *now = xasprintf("%u\n", b->layout);
	_cleanup_str_ struct str was = STR_INIT;

	if (b->layout_mode == LAYOUT_RANDOM && write_linker(b, e) < 0)
		return -1;
	fs_read(stamp, 32, &was, NULL);
	if (str_eq(was.len ? str_text(&was) : "0\n", now))
		return 0;
	if (remove_out(b, "vmlinux", e) < 0 || remove_out(b, "vmlinux.o", e) < 0)
		return -1;
	return fs_write(stamp, now, strlen(now), e);
}

/* Value of the last KCFLAGS= that the campaign gives. */
static const char *own_flags(const struct builder *b)
{
	const char *flags = "";

	for (size_t i = 0; i < b->make_args.n; i++)
		if (str_starts(b->make_args.v[i], "KCFLAGS="))
			flags = b->make_args.v[i] + strlen("KCFLAGS=");
	return flags;
}

void build_layout_args(const struct builder *b, struct strv *argv)
{
	_cleanup_free_ char *ld = build_layout_linker(b);
	const char *flags = own_flags(b);

	if (b->layout_mode == LAYOUT_RANDOM)
		strv_addf(argv, "LD=%s", ld);
	if (b->align_by_flag)
		strv_addf(argv, "KCFLAGS=%s%s-falign-functions=64", flags, *flags ? " " : "");
}

void build_layout_env(const struct builder *b, struct strv *env)
{
	strv_addf(env, "KREGRESS_LAYOUT=%u", b->layout);
	strv_addf(env, "KREGRESS_LD=%s", b->tools.ld ? b->tools.ld : "ld");
}

void build_layout_ask(struct builder *b)
{
	struct build_symbols *ask = &b->ask;

	if (b->layout_mode != LAYOUT_FIXED)
		return;
	xgrow(&ask->v, &ask->room, ask->n + 1, sizeof(*ask->v));
	ask->v[ask->n] = (struct build_symbol){ .name = xstrdup(BUILD_ALIGN_SYMBOL),
						.value = xstrdup("y"),
						.optional = true,
						.seq = ask->n };
	ask->n++;
}

void build_layout_settle(struct builder *b, struct strv *dropped)
{
	static const char asked[] = BUILD_ALIGN_SYMBOL "=y";
	size_t kept = 0;

	b->align_by_flag = false;
	for (size_t i = 0; i < dropped->n; i++) {
		if (b->layout_mode == LAYOUT_FIXED && str_eq(dropped->v[i], asked)) {
			b->align_by_flag = true;
			free(dropped->v[i]);
			continue;
		}
		dropped->v[kept++] = dropped->v[i];
	}
	if (b->align_by_flag)
		dropped->v[dropped->n = kept] = NULL;
}
