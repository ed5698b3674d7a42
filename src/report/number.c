/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for a person: four digits that count, whole numbers whole. */
#include "report/report.h"

#include <math.h>
#include <string.h>

#define DIGITS 4

static void drop_zeros(char *buf)
{
	size_t n = strlen(buf);

	if (!strchr(buf, '.') || strchr(buf, 'e'))
		return;
	while (n && buf[n - 1] == '0')
		buf[--n] = '\0';
	if (n && buf[n - 1] == '.')
		buf[--n] = '\0';
}

const char *report_number(double v, char *buf, size_t size)
{
	double a = fabs(v);
	int exponent;

	if (v == 0)
		snprintf(buf, size, "0");
	else if (!isfinite(v))
		snprintf(buf, size, "%s", isnan(v) ? "unknown" : v > 0 ? "inf" : "-inf");
	else if (a >= 1e15 || a < 1e-5)
		snprintf(buf, size, "%.*e", DIGITS - 1, v);
	else {
		exponent = (int)floor(log10(a));
		snprintf(buf, size, "%.*f", exponent < DIGITS - 1 ? DIGITS - 1 - exponent : 0, v);
		drop_zeros(buf);
	}
	return buf;
}

const char *report_interval(const struct stats_interval *i, const char *unit, char *buf,
			    size_t size)
{
	_cleanup_str_ struct str text = STR_INIT;
	char n[3][32];

	str_add(&text, report_number(i->estimate, n[0], sizeof(n[0])));
	if (unit && unit[0]) {
		str_add(&text, " ");
		str_neutralise(&text, unit, strlen(unit), false);
	}
	if (!isfinite(i->low) || !isfinite(i->high))
		str_add(&text, " [not known]");
	else if (i->low < i->high)
		str_addf(&text, " [%s, %s]", report_number(i->low, n[1], sizeof(n[1])),
			 report_number(i->high, n[2], sizeof(n[2])));
	snprintf(buf, size, "%s", str_text(&text));
	return buf;
}
