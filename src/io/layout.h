/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout = of [build]: what is done about the luck of where code comes to lie. */
#ifndef KR_IO_LAYOUT_H
#define KR_IO_LAYOUT_H

enum layout_mode {
	LAYOUT_TREE = 0, /* as the tree lays itself out */
	LAYOUT_FIXED,    /* functions begin at 64 bytes; the kernel is not moved at boot */
	LAYOUT_RANDOM,   /* drawn anew for each layout number; the kernel and programs are moved */
};

#endif
