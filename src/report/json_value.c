/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON values of what reports and logs are made of. */
#include "report/json_value.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

json_t *json_of_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *json_of_text(const char *s)
{
	_cleanup_str_ struct str clean = STR_INIT;

	if (!s)
		return json_null();
	str_neutralise(&clean, s, strlen(s), true);
	return json_string(str_text(&clean));
}

json_t *json_of_commit(const struct commit_id *id)
{
	char hex[COMMIT_HEX + 1];

	return !id || commit_is_null(id) ? json_null() : json_string(commit_hex(id, hex));
}

json_t *json_of_interval(const struct stats_interval *i)
{
	if (!i || !isfinite(i->low) || !isfinite(i->high))
		return json_null();
	return json_pack("[f,f]", i->low, i->high);
}
