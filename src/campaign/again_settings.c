/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings of a replay: those before, those now, and what cannot be decided again. */
#include "campaign/again_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* Settings of their section that are not of its kind. */
static const struct {
	const char *key;
	enum again_kind kind;
} exceptions[] = {
	{ "campaign.skip", AGAIN_DECIDES },        { "campaign.good_tries", AGAIN_DECIDES },
	{ "workload.metric", AGAIN_DECIDES },      { "measure.runs_per_boot", AGAIN_MEASURES },
	{ "measure.warmup_runs", AGAIN_MEASURES },
};

enum again_kind again_kind_of(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(exceptions); i++)
		if (str_eq(exceptions[i].key, key))
			return exceptions[i].kind;
	if (str_starts(key, "campaign."))
		return AGAIN_HUNT;
	if (str_starts(key, "build.") || str_starts(key, "target.") || str_starts(key, "workload."))
		return AGAIN_MEASURES;
	return AGAIN_DECIDES;
}

static void split_lines(const char *text, struct strv *out)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		strv_take(out, xstrndup(text, n));
		text += n + (text[n] == '\n');
	}
}

int again_stored_lines(struct store *store, struct strv *out, struct err *e)
{
	_cleanup_(store_campaign_release) struct store_campaign c = { .name = NULL };
	int ret = store_campaign_get(store, &c, e);

	if (ret > 0 && c.text)
		split_lines(c.text, out);
	return ret < 0 ? -1 : 0;
}

void again_config_lines(const struct config *c, struct strv *out)
{
	_cleanup_str_ struct str text = STR_INIT;

	config_dump(c, &text);
	split_lines(str_text(&text), out);
}

/* "section.key" of "section.key = value" and of "section.key=value"; owned. */
static char *key_of(const char *line)
{
	return xstrndup(line, strcspn(line, " ="));
}

static const char *value_of(const char *line)
{
	const char *equals = strchr(line, '=');

	return equals ? equals + 1 + (equals[1] == ' ') : "";
}

const char *again_value(const struct strv *lines, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < lines->n; i++)
		if (!strncmp(lines->v[i], key, n) && str_starts(lines->v[i] + n, " ="))
			return value_of(lines->v[i]);
	return NULL;
}

/* Of @lines those of the kind, or those that are not: as -o takes them. */
static void take_settings(const struct strv *lines, bool deciding, struct strv *out)
{
	for (size_t i = 0; i < lines->n; i++) {
		_cleanup_free_ char *key = key_of(lines->v[i]);

		if ((again_kind_of(key) == AGAIN_DECIDES) == deciding)
			strv_addf(out, "%s=%s", key, value_of(lines->v[i]));
	}
}

/* The defaults of what decides, as lines, in a campaign that measures as @cfg. */
static int default_lines(const struct config *cfg, const struct strv *measured, struct strv *out,
			 struct err *e)
{
	_cleanup_(config_release) struct config c = { .path = NULL };
	_cleanup_strv_ struct strv all = STRV_INIT;

	strv_extend(&all, measured);
	strv_addf(&all, "workload.metric=%s", cfg->workload.metric);
	if (config_parse(cfg->path, "", 0, &all, &c, e) < 0)
		return -1;
	again_config_lines(&c, out);
	return 0;
}

/* What nobody gave stays ungiven: a default can depend on what else is there. */
int again_config_before(const struct config *cfg, const struct strv *stored, struct config *out,
			struct err *e)
{
	_cleanup_strv_ struct strv now = STRV_INIT, measured = STRV_INIT, decides = STRV_INIT;
	_cleanup_strv_ struct strv all = STRV_INIT, defaults = STRV_INIT;

	again_config_lines(cfg, &now);
	take_settings(&now, false, &measured);
	for (size_t i = 0; i < measured.n; i++) {
		_cleanup_free_ char *key = key_of(measured.v[i]);

		if (config_given(cfg, key))
			strv_add(&all, measured.v[i]);
	}
	if (default_lines(cfg, &all, &defaults, e) < 0)
		return -1;
	take_settings(stored, true, &decides);
	for (size_t i = 0; i < decides.n; i++) {
		_cleanup_free_ char *key = key_of(decides.v[i]);

		if (config_given(cfg, key) ||
		    !str_eq(again_value(&defaults, key), value_of(decides.v[i])))
			strv_add(&all, decides.v[i]);
	}
	return config_parse(cfg->path, "", 0, &all, out, e);
}

int again_config_file(const struct config *cfg, const struct strv *given, struct config *out,
		      struct err *e)
{
	_cleanup_strv_ struct strv kept = STRV_INIT;

	take_settings(given, false, &kept);
	return config_load(cfg->path, &kept, out, e);
}

static void add_difference(struct report_again *a, const char *key, const char *before,
			   const char *after)
{
	a->setting = xrealloc(a->setting, a->n_settings + 1, sizeof(*a->setting));
	a->setting[a->n_settings++] = (struct report_setting){
		.key = xstrdup(key),
		.before = before ? xstrdup(before) : NULL,
		.after = after ? xstrdup(after) : NULL,
	};
}

void again_differences(const struct config *before, const struct config *after,
		       struct report_again *a)
{
	_cleanup_strv_ struct strv was = STRV_INIT, is = STRV_INIT;

	again_config_lines(before, &was);
	again_config_lines(after, &is);
	for (size_t i = 0; i < is.n; i++) {
		_cleanup_free_ char *key = key_of(is.v[i]);
		const char *old = again_value(&was, key);

		if (again_kind_of(key) == AGAIN_DECIDES && !str_eq(old, value_of(is.v[i])))
			add_difference(a, key, old, value_of(is.v[i]));
	}
	for (size_t i = 0; i < was.n; i++) {
		_cleanup_free_ char *key = key_of(was.v[i]);

		if (again_kind_of(key) == AGAIN_DECIDES && !again_value(&is, key))
			add_difference(a, key, value_of(was.v[i]), NULL);
	}
}

static bool is_given(const struct strv *given, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < given->n; i++)
		if (!strncmp(given->v[i], key, n) && given->v[i][n] == '=')
			return true;
	return false;
}

/* "target.command was ./a, is ./b" of each that the store knows with another value. */
static void name_stored(const struct strv *stored, const struct strv *is, struct str *out)
{
	for (size_t i = 0; i < stored->n && out->len < 200; i++) {
		_cleanup_free_ char *key = key_of(stored->v[i]);
		const char *now = again_value(is, key), *was = value_of(stored->v[i]);

		if (again_kind_of(key) == AGAIN_MEASURES && !str_eq(now, was))
			str_addf(out, "%s%s was '%.60s', is '%.60s'", out->len ? "; " : "", key,
				 was, now ? now : "");
	}
}

static void name_given(const struct strv *given, struct str *out)
{
	for (size_t i = 0; i < given->n && out->len < 200; i++) {
		_cleanup_free_ char *key = key_of(given->v[i]);

		if (again_kind_of(key) == AGAIN_MEASURES)
			str_addf(out, "%s-o %.100s", out->len ? ", " : "", given->v[i]);
	}
}

int again_refuse_setup(const struct config *cfg, const struct strv *stored,
		       const struct strv *given, unsigned trials, struct err *e)
{
	_cleanup_strv_ struct strv is = STRV_INIT;
	_cleanup_str_ struct str why = STR_INIT;

	again_config_lines(cfg, &is);
	name_stored(stored, &is, &why);
	if (!why.len)
		name_given(given, &why);
	if (!why.len)
		str_add(&why, "a file that the campaign names has changed since: the workload's "
			      "program, a fragment or a patch");
	return err_set(e, ERR_CONFIG,
		       "all %u stored trials were measured under another setup, and their values "
		       "say nothing of this one: %s (replay decides again, it does not measure: "
		       "leave that as it was, or use kregress run)",
		       trials, str_text(&why));
}

void again_warn_idle(const struct config *cfg, const struct strv *stored, const struct strv *given)
{
	_cleanup_strv_ struct strv is = STRV_INIT;

	again_config_lines(cfg, &is);
	for (size_t i = 0; i < stored->n; i++) {
		_cleanup_free_ char *key = key_of(stored->v[i]);

		if (again_kind_of(key) == AGAIN_MEASURES && is_given(given, key) &&
		    !str_eq(again_value(&is, key), value_of(stored->v[i])))
			log_warn("-o %s: makes no difference here: nothing is measured again", key);
	}
}
