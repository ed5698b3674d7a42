/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON values of what reports and logs are made of (jansson); each a new reference. */
#ifndef KR_REPORT_JSON_VALUE_H
#define KR_REPORT_JSON_VALUE_H

#include <jansson.h>

#include "core/commit.h"
#include "core/stats.h"

#define JSON_SCHEMA 1
/* Decimal digits that every double keeps: 1.9 is printed as 1.9. */
#define JSON_PRECISION 15

/* null where it is not finite. */
json_t *json_of_number(double v);
/* Untrusted text, neutralised; NULL: null. */
json_t *json_of_text(const char *s);
/* 40 hex digits; NULL or the null commit: null. */
json_t *json_of_commit(const struct commit_id *id);
/* [low, high]; NULL, or not finite: null. */
json_t *json_of_interval(const struct stats_interval *i);

#endif
