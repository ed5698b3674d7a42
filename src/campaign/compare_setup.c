/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variants and values of a sweep, as changes to the campaign. */
#include "campaign/compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "target/ssh_box.h"

/* ---- the sweep ---- */

/* @word with @value for each {name}; false: there is none. */
static bool fill_braces(const char *word, const char *name, const char *value, struct str *out)
{
	_cleanup_free_ char *mark = xasprintf("{%s}", name);
	const char *at;
	bool found = false;

	for (; (at = strstr(word, mark)) != NULL; word = at + strlen(mark)) {
		str_addmem(out, word, (size_t)(at - word));
		str_add(out, value);
		found = true;
	}
	str_add(out, word);
	return found;
}

/* After --name, or behind its "=". Each of them; false: there is none. */
static bool fill_option(const struct strv *words, const char *name, const char *value,
			struct strv *out)
{
	_cleanup_free_ char *option = xasprintf("--%s", name);
	_cleanup_free_ char *equals = xasprintf("--%s=", name);
	bool found = false;

	for (size_t i = 0; i < words->n; i++) {
		if (str_starts(words->v[i], equals)) {
			strv_addf(out, "%s%s", equals, value);
			found = true;
			continue;
		}
		strv_add(out, words->v[i]);
		if (!str_eq(words->v[i], option))
			continue;
		strv_add(out, value);
		found = true;
		i++; /* the value that it had */
	}
	return found;
}

void compare_place(const struct strv *words, const char *name, const char *value, struct strv *out)
{
	_cleanup_strv_ struct strv filled = STRV_INIT;
	bool found = false;

	for (size_t i = 0; i < words->n; i++) {
		_cleanup_str_ struct str word = STR_INIT;

		found |= fill_braces(words->v[i], name, value, &word);
		strv_add(&filled, str_text(&word));
	}
	if (found) {
		strv_extend(out, &filled);
		return;
	}
	if (fill_option(words, name, value, out))
		return;
	strv_addf(out, "--%s", name);
	strv_add(out, value);
}

static int place_value(const struct session *s, struct compare_setup *u, const char *value,
		       struct err *e)
{
	const char *name = s->cfg->compare.sweep.name;
	const char *args = s->cfg->workload.args ? s->cfg->workload.args : s->workload.args;
	_cleanup_strv_ struct strv words = STRV_INIT, placed = STRV_INIT;
	_cleanup_str_ struct str text = STR_INIT;

	strv_addf(&u->labels, "SWEEP=%s=%s", name, value);
	if (s->cfg->target.type == TARGET_COMMAND) {
		compare_place(&s->cfg->target.command, name, value, &u->command);
		u->cfg.target.command = u->command;
		return 0;
	}
	if (str_split_words(args, &words, e) < 0)
		return err_wrap(e, "arguments of workload '%s'", s->workload.name);
	compare_place(&words, name, value, &placed);
	str_join_words(&text, placed.v);
	u->args = str_detach(&text);
	u->cfg.workload.args = u->args;
	return 0;
}

/* ---- variants ---- */

/* Words with a short name that a guest takes, and the file that they stand for. */
static const struct {
	const char *word, *path, *value;
} guest_words[] = {
	{ "thp=always", "/sys/kernel/mm/transparent_hugepage/enabled", "always" },
	{ "thp=madvise", "/sys/kernel/mm/transparent_hugepage/enabled", "madvise" },
	{ "thp=never", "/sys/kernel/mm/transparent_hugepage/enabled", "never" },
	{ "aslr=on", "/proc/sys/kernel/randomize_va_space", "2" },
	{ "aslr=off", "/proc/sys/kernel/randomize_va_space", "0" },
};

static void add_setting(struct compare_setup *u, const char *path, const char *value)
{
	strv_add(&u->texts, path);
	strv_add(&u->texts, value);
	u->settings = xrealloc(u->settings, u->n_settings + 1, sizeof(*u->settings));
	u->settings[u->n_settings++] = (struct workload_setting){ u->texts.v[u->texts.n - 2],
								  u->texts.v[u->texts.n - 1] };
}

static int guest_word(struct compare_setup *u, const char *word, struct err *e)
{
	const char *equals = strchr(word, '=');
	_cleanup_free_ char *path = xstrndup(word, (size_t)(equals - word));

	if (*word == '/') {
		add_setting(u, path, equals + 1);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(guest_words); i++) {
		if (!str_eq(word, guest_words[i].word))
			continue;
		add_setting(u, guest_words[i].path, guest_words[i].value);
		return 0;
	}
	return err_set(e, ERR_CONFIG,
		       "'%.200s' is for machines over SSH (name the file that a guest has: "
		       "/sys/...=VALUE or /proc/sys/...=VALUE)",
		       word);
}

/* What setup = says of the same thing gives way. */
static void machine_word(struct compare_setup *u, const char *word)
{
	size_t n = strcspn(word, "=") + 1, kept = 0;

	for (size_t i = 0; i < u->words.n; i++) {
		if (strncmp(u->words.v[i], word, n) == 0 && !str_starts(word, "stop="))
			free(u->words.v[i]);
		else
			u->words.v[kept++] = u->words.v[i];
	}
	u->words.n = kept;
	strv_add(&u->words, word);
}

static void append_words(struct compare_setup *u, const char *more)
{
	char *all = xasprintf("%s%s%s", u->cfg.target.append ? u->cfg.target.append : "",
			      u->cfg.target.append && *u->cfg.target.append ? " " : "", more);

	free(u->append);
	u->append = all;
	u->cfg.target.append = all;
}

static int take_words(const struct session *s, struct compare_setup *u, const struct strv *words,
		      struct err *e)
{
	static const char append[] = "append=";
	_cleanup_strv_ struct strv checked = STRV_INIT;
	bool guest = s->cfg->target.type == TARGET_QEMU;

	for (size_t i = 0; i < words->n; i++) {
		if (str_starts(words->v[i], append))
			append_words(u, words->v[i] + strlen(append));
		else
			strv_add(&checked, words->v[i]);
	}
	for (size_t i = 0; i < checked.n; i++) {
		_cleanup_strv_ struct strv one = STRV_INIT, parsed = STRV_INIT;

		strv_add(&one, checked.v[i]);
		if (ssh_setup_parse(&one, &parsed, e) < 0)
			return -1;
		if (guest && guest_word(u, checked.v[i], e) < 0)
			return -1;
		if (!guest)
			machine_word(u, checked.v[i]);
	}
	u->cfg.target.setup = u->words;
	return 0;
}

static int take_variant(const struct session *s, struct compare_setup *u,
			const struct config_patch *v, struct err *e)
{
	_cleanup_str_ struct str text = STR_INIT;

	strv_addf(&u->labels, "VARIANT=%s", v->name);
	str_join_words(&text, v->words.v);
	strv_addf(&u->labels, "SETUP=%s", str_text(&text));
	if (s->cfg->target.type == TARGET_COMMAND)
		return 0;
	if (take_words(s, u, &v->words, e) < 0)
		return err_wrap(e, "%s", v->where);
	return 0;
}

/* ---- both ---- */

/* A command is told of its variant by name and words, so they make a difference. */
static void hash_labels(const struct session *s, struct compare_setup *u)
{
	struct hash *h;

	if (s->cfg->target.type != TARGET_COMMAND || !s->cfg->compare.variant.n)
		return;
	h = hash_new();
	hash_add_text(h, u->hash);
	for (size_t i = 0; i < u->labels.n; i++)
		hash_add_text(h, u->labels.v[i]);
	hash_hex(h, u->hash);
}

static int make_setup(struct comparison *c, size_t i, struct err *e)
{
	struct session *s = c->s;
	struct compare_setup *u = &c->setup[i];
	const struct config *cfg = c->cfg;
	int ret;

	u->variant = i / c->n_points;
	u->point = i % c->n_points;
	u->cfg = *cfg;
	strv_extend(&u->words, &cfg->target.setup);
	u->settings = xcalloc(s->workload.n_setup, sizeof(*u->settings));
	for (; u->n_settings < s->workload.n_setup; u->n_settings++)
		u->settings[u->n_settings] = s->workload.setup[u->n_settings];
	if (cfg->compare.variant.n &&
	    take_variant(s, u, &cfg->compare.variant.v[u->variant], e) < 0)
		return -1;
	if (cfg->compare.sweep.name &&
	    place_value(s, u, cfg->compare.sweep.values.v[u->point], e) < 0)
		return -1;
	compare_apply(c, i);
	ret = session_setup_hash(s, e);
	memcpy(u->hash, s->setup, sizeof(u->hash));
	compare_restore(c);
	if (ret < 0)
		return cfg->compare.sweep.name
			       ? err_wrap(e, "%s", config_where(cfg, "compare.sweep"))
			       : -1;
	hash_labels(s, u);
	return 0;
}

static const char *variant_name(const struct comparison *c, size_t i)
{
	return c->cfg->compare.variant.n ? c->cfg->compare.variant.v[c->setup[i].variant].name : "";
}

/* Two that are the same have the same rows. */
static int check_twice(const struct comparison *c, size_t i, struct err *e)
{
	const struct config_sweep *w = &c->cfg->compare.sweep;

	for (size_t j = 0; j < i; j++) {
		if (!str_eq(c->setup[i].hash, c->setup[j].hash))
			continue;
		if (c->setup[i].variant != c->setup[j].variant)
			return err_set(e, ERR_CONFIG,
				       "%s: variant.%s is the same as variant.%s (let them "
				       "differ)",
				       c->cfg->compare.variant.v[c->setup[i].variant].where,
				       variant_name(c, i), variant_name(c, j));
		return err_set(e, ERR_CONFIG, "%s: the values '%s' and '%s' come to the same",
			       config_where(c->cfg, "compare.sweep"),
			       w->values.v[c->setup[j].point], w->values.v[c->setup[i].point]);
	}
	return 0;
}

int compare_setups(struct comparison *c, struct err *e)
{
	const struct config *cfg = c->cfg;

	c->n_variants = cfg->compare.variant.n ? cfg->compare.variant.n : 1;
	c->n_points = cfg->compare.sweep.name ? cfg->compare.sweep.values.n : 1;
	c->n_setups = c->n_variants * c->n_points;
	c->setup = xcalloc(c->n_setups, sizeof(*c->setup));
	for (size_t i = 0; i < c->n_setups; i++)
		if (make_setup(c, i, e) < 0 || check_twice(c, i, e) < 0)
			return -1;
	return 0;
}

void compare_apply(struct comparison *c, size_t i)
{
	struct session *s = c->s;
	struct compare_setup *u = &c->setup[i];

	if (c->applied == i)
		return;
	target_close(&s->target); /* it has the settings of the one before */
	s->cfg = &u->cfg;
	s->workload.setup = u->settings;
	s->workload.n_setup = u->n_settings;
	memcpy(s->setup, u->hash, sizeof(s->setup));
	strv_clear(&s->labels);
	strv_extend(&s->labels, &u->labels);
	c->applied = i;
}

void compare_restore(struct comparison *c)
{
	struct session *s = c->s;

	if (c->applied == SIZE_MAX)
		return;
	target_close(&s->target);
	s->cfg = c->cfg;
	s->workload.setup = c->settings;
	s->workload.n_setup = c->n_settings;
	memcpy(s->setup, c->hash, sizeof(s->setup));
	strv_clear(&s->labels);
	c->applied = SIZE_MAX;
}
