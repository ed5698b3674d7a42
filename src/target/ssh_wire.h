/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SSH's own encoding (RFC 4251, section 5), as keys and agents speak it. */
#ifndef KR_TARGET_SSH_WIRE_H
#define KR_TARGET_SSH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Bytes that are still to be read; borrowed. */
struct ssh_wire {
	const uint8_t *data;
	size_t left;
};

/* False, and nothing taken, when the bytes end before the item does. */
bool ssh_wire_u8(struct ssh_wire *w, uint8_t *value);
bool ssh_wire_u32(struct ssh_wire *w, uint32_t *value);
/* A string: its length, then its bytes; *@item is set to these. */
bool ssh_wire_string(struct ssh_wire *w, struct ssh_wire *item);
/* Is the item this text? */
bool ssh_wire_is(const struct ssh_wire *item, const char *text);

void ssh_wire_put_u32(struct str *out, uint32_t value);
/* @n < 4 GiB. */
void ssh_wire_put_string(struct str *out, const void *data, size_t n);

#endif
