/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The append-only log of a campaign: what is written together, and in which order it is read. */
#include "io/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "io/store_db.h"

static int logged_insert(struct store *s, enum store_table_id id, const void *row, struct err *e)
{
	int64_t seq = 0;

	if (store_db_log(s, id, &seq, e) < 0)
		return -1;
	return store_db_insert(s, id, seq, 0, row, e);
}

static int insert_alone(struct store *s, enum store_table_id id, const void *row, struct err *e)
{
	if (store_db_begin(s, e) < 0)
		return -1;
	return store_db_end(s, logged_insert(s, id, row, e), e);
}

void store_campaign_release(struct store_campaign *c)
{
	store_row_release(TABLE_CAMPAIGN, c);
}

int store_campaign_get(struct store *s, struct store_campaign *c, struct err *e)
{
	struct store_campaign got = { .name = NULL };
	int64_t newest = 0;
	int ret;

	if (store_db_newest(s, "campaign", &newest, e) < 0)
		return -1;
	ret = store_db_get(s, TABLE_CAMPAIGN, newest, &got, e);
	if (ret == 1)
		*c = got;
	else
		store_campaign_release(&got);
	return ret;
}

int store_campaign_add(struct store *s, const struct store_campaign *c, struct err *e)
{
	_cleanup_(store_campaign_release) struct store_campaign old = { .name = NULL };
	int ret;

	if (strlen(c->identity) > STORE_TEXT_MAX || strlen(c->text) > STORE_TEXT_MAX)
		return err_set(e, ERR_CONFIG, "campaign '%.100s' is longer than %d bytes", c->name,
			       STORE_TEXT_MAX);
	ret = store_campaign_get(s, &old, e);
	if (ret < 0)
		return -1;
	if (ret && !str_eq(old.identity, c->identity))
		return err_set(e, ERR_CONFIG,
			       "store '%s' belongs to another campaign, '%.100s' "
			       "(choose another state directory)",
			       store_db_path(s), old.name);
	if (ret && str_eq(old.name, c->name) && str_eq(old.text, c->text))
		return 0;
	return insert_alone(s, TABLE_CAMPAIGN, c, e);
}

void store_build_release(struct store_build *b)
{
	store_row_release(TABLE_BUILD, b);
}

int store_build_add(struct store *s, struct store_build *b, struct err *e)
{
	struct store_build row = *b;

	row.id = 0;
	if (insert_alone(s, TABLE_BUILD, &row, e) < 0)
		return -1;
	b->id = store_db_last_id(s);
	return 0;
}

void store_trial_release(struct store_trial *t)
{
	for (size_t i = 0; i < t->n_samples; i++)
		store_row_release(TABLE_SAMPLE, &t->samples[i]);
	free(t->samples);
	t->samples = NULL;
	t->n_samples = 0;
	store_row_release(TABLE_TRIAL, t);
}

static int insert_trial(struct store *s, const struct store_trial *t, struct err *e)
{
	if (logged_insert(s, TABLE_TRIAL, t, e) < 0)
		return -1;
	for (size_t i = 0; i < t->n_samples; i++)
		if (store_db_insert(s, TABLE_SAMPLE, t->id, (int64_t)i, &t->samples[i], e) < 0)
			return -1;
	return 0;
}

int store_trial_add(struct store *s, const struct store_trial *t, struct err *e)
{
	for (size_t i = 0; i < t->n_samples; i++)
		if (!isfinite(t->samples[i].value))
			return err_set(e, ERR_INTERNAL,
				       "trial %lld has a sample that is not finite",
				       (long long)t->id);
	if (store_db_begin(s, e) < 0)
		return -1;
	return store_db_end(s, insert_trial(s, t, e), e);
}

void store_note_release(struct store_note *n)
{
	store_row_release(TABLE_NOTE, n);
}

int store_note_add(struct store *s, const char *kind, const char *text, double seconds,
		   struct err *e)
{
	_cleanup_(store_note_release) struct store_note n = { .time = clock_real_s(),
							      .kind = xstrdup(kind),
							      .text = text ? xstrdup(text) : NULL,
							      .seconds = seconds };

	return insert_alone(s, TABLE_NOTE, &n, e);
}

/* The row that the log promises at @seq must be there. */
static int row_expect(struct store *s, enum store_table_id id, int64_t seq, void *row,
		      struct err *e)
{
	int ret = store_db_get(s, id, seq, row, e);

	if (!ret)
		return err_set(e, ERR_STORE,
			       "store '%s' is damaged: row %lld of the log is missing "
			       "(keep a copy; restore it from a backup)",
			       store_db_path(s), (long long)seq);
	return ret < 0 ? -1 : 0;
}

static int visit_build(struct store *s, const struct store_visitor *v, int64_t seq, struct err *e)
{
	_cleanup_(store_build_release) struct store_build b = { .id = 0 };

	if (row_expect(s, TABLE_BUILD, seq, &b, e) < 0)
		return -1;
	return v->build(&b, v->cookie);
}

static int visit_trial(struct store *s, const struct store_visitor *v, int64_t seq, struct err *e)
{
	_cleanup_(store_trial_release) struct store_trial t = { .id = 0 };

	if (row_expect(s, TABLE_TRIAL, seq, &t, e) < 0 || store_db_samples(s, &t, e) < 0)
		return -1;
	return v->trial(&t, v->cookie);
}

static int visit_note(struct store *s, const struct store_visitor *v, int64_t seq, struct err *e)
{
	_cleanup_(store_note_release) struct store_note n = { .time = 0 };

	if (row_expect(s, TABLE_NOTE, seq, &n, e) < 0)
		return -1;
	return v->note(&n, v->cookie);
}

/*
 * Row by row without a cursor kept open: the log only grows, and each row is complete once it
 * is seen. So a callback may visit and write, and no writer waits for a reader.
 */
int store_visit(struct store *s, const struct store_visitor *v, struct err *e)
{
	enum store_table_id id = STORE_TABLES;
	int64_t seq = 0, last = 0;
	int ret = 0, more;

	if (store_db_newest(s, "log", &last, e) < 0)
		return -1;
	while (!ret && seq < last) {
		more = store_db_log_next(s, &seq, &id, e);
		if (more <= 0)
			return more;
		if (id == TABLE_BUILD && v->build)
			ret = visit_build(s, v, seq, e);
		else if (id == TABLE_TRIAL && v->trial)
			ret = visit_trial(s, v, seq, e);
		else if (id == TABLE_NOTE && v->note)
			ret = visit_note(s, v, seq, e);
	}
	return ret;
}
