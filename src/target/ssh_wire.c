/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SSH's own encoding. */
#include "target/ssh_wire.h"

#include <string.h>

bool ssh_wire_u8(struct ssh_wire *w, uint8_t *value)
{
	if (w->left < 1)
		return false;
	*value = *w->data++;
	w->left--;
	return true;
}

bool ssh_wire_u32(struct ssh_wire *w, uint32_t *value)
{
	const uint8_t *d = w->data;

	if (w->left < 4)
		return false;
	*value = (uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 | (uint32_t)d[2] << 8 | d[3];
	w->data += 4;
	w->left -= 4;
	return true;
}

bool ssh_wire_string(struct ssh_wire *w, struct ssh_wire *item)
{
	struct ssh_wire rest = *w;
	uint32_t n;

	if (!ssh_wire_u32(&rest, &n) || n > rest.left)
		return false;
	item->data = rest.data;
	item->left = n;
	w->data = rest.data + n;
	w->left = rest.left - n;
	return true;
}

bool ssh_wire_is(const struct ssh_wire *item, const char *text)
{
	return item->left == strlen(text) && !memcmp(item->data, text, item->left);
}

void ssh_wire_put_u32(struct str *out, uint32_t value)
{
	const uint8_t bytes[4] = { (uint8_t)(value >> 24), (uint8_t)(value >> 16),
				   (uint8_t)(value >> 8), (uint8_t)value };

	str_addmem(out, bytes, sizeof(bytes));
}

void ssh_wire_put_string(struct str *out, const void *data, size_t n)
{
	ssh_wire_put_u32(out, (uint32_t)n);
	str_addmem(out, data, n);
}
