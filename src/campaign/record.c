/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a session's store to the rows that the long reports print. */
#include "campaign/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "campaign/git_log.h"
#include "campaign/patches.h"
#include "campaign/replay.h"

#define LABEL_DIGITS 8
#define LOG_HEAD (64u << 10) /* bytes of a build log in which the compiler is looked for */

struct gather {
	struct session *s;
	const struct report *r;
	struct record *d;
	uint32_t *rank; /* of each node among the candidates, from 1 */
};

/* The names that targets give to what they keep. */
static void add_logs(const struct session *s, struct record_trial *t)
{
	static const char *const names[] = { "output.log", "console.log", "qemu.log", "ssh.log" };

	for (size_t i = 0; t->dir[0] && i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s/%s", s->cfg->campaign.state, t->dir,
						      names[i]);

		if (fs_exists(path))
			strv_add(&t->logs, names[i]);
	}
}

static struct record_values *values_of(struct record_trial *t, size_t metric)
{
	for (size_t i = 0; i < t->n_values; i++)
		if (t->values[i].metric == metric)
			return &t->values[i];
	t->values = xrealloc(t->values, t->n_values + 1, sizeof(*t->values));
	t->values[t->n_values] = (struct record_values){ .metric = metric };
	return &t->values[t->n_values++];
}

static void add_values(struct record *d, const struct store_trial *row, struct record_trial *t)
{
	for (size_t i = 0; i < row->n_samples; i++) {
		const struct store_sample *v = &row->samples[i];
		struct record_values *of;

		if (v->warmup)
			continue;
		of = values_of(t, record_metric_add(d, v->metric, v->unit));
		of->v = xrealloc(of->v, of->n + 1, sizeof(double));
		of->v[of->n++] = v->value;
	}
}

/* Lines NAME=value. */
static void add_facts(struct record *d, const char *text)
{
	size_t n;

	for (; text && *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		_cleanup_free_ char *line = xstrndup(text, n);
		char *value = strchr(line, '=');

		if (!value || value == line)
			continue;
		*value++ = '\0';
		record_fact_set(d, line, value);
	}
}

static uint32_t *ranks(const struct session *s)
{
	uint32_t *rank = xcalloc((size_t)s->dag.n + 1, sizeof(*rank)), n = 0;

	for (uint32_t i = 0; i < s->dag.n; i++) {
		n += !s->dag.treesame || !s->dag.treesame[i];
		rank[i] = n;
	}
	return rank;
}

static void add_role(struct str *role, const char *name)
{
	str_addf(role, "%s%s", role->len ? ", " : "", name);
}

static char *role_of(const struct report *r, const struct commit_id *id)
{
	struct str role = STR_INIT;

	if (!commit_is_null(&r->culprit.id) && commit_eq(id, &r->culprit.id))
		add_role(&role, r->fix ? "fix" : "culprit");
	if (commit_eq(id, &r->good_id))
		add_role(&role, "good end");
	if (commit_eq(id, &r->bad_id))
		add_role(&role, "bad end");
	if (!commit_is_null(&r->culprit_parent) && commit_eq(id, &r->culprit_parent))
		add_role(&role, "parent");
	if (r->confirm.revert == REVERT_MEASURED && commit_eq(id, &r->confirm.reverted))
		add_role(&role, r->fix ? "good end, reverted" : "bad end, reverted");
	if (r->confirm.apply == REVERT_MEASURED && commit_eq(id, &r->confirm.applied))
		add_role(&role, r->fix ? "bad end, applied" : "good end, applied");
	return str_detach(&role);
}

static const struct report_commit *tested(const struct report *r, const struct commit_id *id)
{
	for (size_t i = 0; i < r->n_tested; i++)
		if (commit_eq(&r->tested[i].id, id))
			return &r->tested[i];
	return NULL;
}

static void place(const struct gather *g, struct record_commit *c)
{
	uint32_t node = g->s->engine ? session_node(g->s, &c->id) : DAG_NONE;

	if (node == DAG_NONE || node > g->s->dag.n)
		return;
	c->placed = true;
	c->position = node == g->s->dag.n ? 0 : g->rank[node];
}

static void add_commit(struct gather *g, const struct commit_id *id)
{
	struct record *d = g->d;
	struct record_commit c = { .id = *id };
	char hex[COMMIT_HEX + 1];
	const struct report_confirm *k = &g->r->confirm;
	bool reverted = k->revert == REVERT_MEASURED && commit_eq(id, &k->reverted);
	bool applied = k->apply == REVERT_MEASURED && commit_eq(id, &k->applied);

	for (size_t i = 0; i < d->n_commits; i++)
		if (commit_eq(&d->commit[i].id, id))
			return;
	c.tested = tested(g->r, id);
	c.role = role_of(g->r, id);
	c.label = reverted  ? xstrdup("reverted")
		  : applied ? xstrdup("applied")
			    : xstrndup(commit_hex(id, hex), LABEL_DIGITS);
	/* they are in no history: at the end */
	if (reverted || applied)
		c.position = UINT32_MAX - applied;
	else
		place(g, &c);
	xgrow(&d->commit, &d->commit_room, d->n_commits + 1, sizeof(*d->commit));
	d->commit[d->n_commits++] = c;
}

static int see_trial(const struct store_trial *row, void *cookie)
{
	struct gather *g = cookie;
	struct record *d = g->d;
	struct record_trial t = {
		.id = row->id,
		.time = row->time,
		.commit = row->commit,
		.purpose = xstrdup(row->purpose ? row->purpose : ""),
		.detail = xstrdup(row->detail ? row->detail : ""),
		.dir = xstrdup(row->dir ? row->dir : ""),
		.outcome = row->outcome,
		.twin = row->twin,
		.counts = replay_counts(g->s, row),
		.boot_seconds = row->boot_seconds,
		.run_seconds = row->run_seconds,
	};

	t.confirms = str_eq(row->purpose, "confirm") &&
		     str_eq(row->setup, session_setup_of(g->s, &row->commit));
	add_values(d, row, &t);
	add_logs(g->s, &t);
	if (t.counts || t.confirms) {
		add_facts(d, row->facts);
		add_commit(g, &row->commit);
	}
	if (!d->first)
		d->first = row->time;
	d->last = row->time;
	xgrow(&d->trial, &d->trial_room, d->n_trials + 1, sizeof(*d->trial));
	d->trial[d->n_trials++] = t;
	return 0;
}

/* Unplaced ones (merge bases, ends tried before) stand before the range. */
static int64_t place_of(const struct record_commit *c)
{
	return c->placed || c->position ? (int64_t)c->position : -1;
}

static int by_position(const void *a, const void *b)
{
	const struct record_commit *x = a, *y = b;
	int64_t p = place_of(x);
	int64_t q = place_of(y);

	return p < q ? -1 : p > q;
}

/* "kregress: compiler gcc …" near the start of a build's log. */
static char *compiler_in(const char *log)
{
	static const char mark[] = "kregress: compiler ";
	_cleanup_str_ struct str text = STR_INIT;
	struct err ignored = ERR_INIT;
	const char *at;

	if (fs_read(log, LOG_HEAD, &text, &ignored) < 0 && !text.len)
		return NULL;
	at = strstr(str_text(&text), mark);
	return at ? xstrndup(at + strlen(mark), strcspn(at + strlen(mark), "\n")) : NULL;
}

static int see_build(const struct store_build *b, void *cookie)
{
	struct gather *g = cookie;
	const struct commit_id *of = commit_is_null(&g->r->culprit.id) ? &g->r->bad_id
								       : &g->r->culprit.id;

	if (b->outcome != TRIAL_OK)
		return 0;
	if (!g->d->compiler && b->log_path && b->log_path[0])
		g->d->compiler = compiler_in(b->log_path);
	if (!commit_eq(&b->commit, of) || !b->config_path || !b->config_path[0])
		return 0;
	free(g->d->config_path);
	g->d->config_path = xstrdup(b->config_path);
	return 0;
}

static char *range_title(const struct session *s)
{
	const struct config *c = s->cfg;
	char old[COMMIT_HEX + 1], new[COMMIT_HEX + 1];
	const char *good = c->campaign.good, *bad = c->campaign.bad;

	if (!s->has_ends)
		return xstrdup("");
	if (s->import || s->auto_good || s->series || !good || !bad)
		return xasprintf("%.12s..%.12s", commit_hex(&s->old, old),
				 commit_hex(&s->new, new));
	return s->fix ? xasprintf("%s..%s", bad, good) : xasprintf("%s..%s", good, bad);
}

/* As stored when it ran last; before that, as the file has it now. */
static int campaign_text(struct session *s, struct record *d, struct err *e)
{
	_cleanup_(store_campaign_release) struct store_campaign c = { .name = NULL };
	struct str text = STR_INIT;
	int ret = s->store ? store_campaign_get(s->store, &c, e) : 0;

	if (ret < 0)
		return -1;
	if (ret > 0 && c.text)
		str_add(&text, c.text);
	else
		config_dump(s->cfg, &text);
	d->campaign = str_detach(&text);
	return 0;
}

/* Of a path its name: where it lies here says nothing elsewhere. */
static void add_value(struct str *out, const char *value)
{
	_cleanup_strv_ struct strv words = STRV_INIT;
	struct err ignored = ERR_INIT;
	const char *slash;

	if (!strchr(value, '/') || str_split_words(value, &words, &ignored) < 0) {
		str_add(out, value);
		return;
	}
	for (size_t i = 0; i < words.n; i++) {
		slash = words.v[i][0] == '/' ? strrchr(words.v[i], '/') : NULL;
		str_addf(out, "%s%s", i ? " " : "", slash ? slash + 1 : words.v[i]);
	}
}

/* "section.key = value" lines as a campaign file, of the keys that are given. */
static char *given_text(const struct session *s, const char *text)
{
	struct str out = STR_INIT;
	char section[32] = "";

	for (size_t n; *text; text += n + (text[n] == '\n')) {
		_cleanup_free_ char *line = xstrndup(text, n = strcspn(text, "\n"));
		char *value = strstr(line, " = "), *key = strchr(line, '.');

		if (!value || !key || key > value)
			continue;
		*value = '\0';
		value += 3;
		if (!config_given(s->cfg, line) || str_eq(line, "campaign.state") ||
		    str_eq(line, "campaign.repo"))
			continue;
		*key++ = '\0';
		if (!str_eq(section, line))
			str_addf(&out, "[%s]\n", line);
		snprintf(section, sizeof(section), "%s", line);
		str_addf(&out, "%s = ", key);
		add_value(&out, value);
		str_add(&out, "\n");
	}
	return str_detach(&out);
}

/* What search = bayes believes, over the positions of the range. */
static void fill_posterior(const struct gather *g)
{
	const struct report_noise *n = &g->r->noise;
	struct record_posterior *p = &g->d->posterior;

	if (!n->is_bayes)
		return;
	p->share = xcalloc(n->n_share, sizeof(*p->share));
	for (size_t i = 0; i < n->n_share; i++) {
		uint32_t node = session_node(g->s, &n->share[i].id);

		p->share[p->n++] = (struct record_share){
			.id = n->share[i].id,
			.position = node < g->s->dag.n ? g->rank[node] : 0,
			.share = n->share[i].share,
		};
	}
	p->none = n->belief.none;
	p->levels_known = n->belief.has_levels && !n->belief.pass;
	for (int i = 0; p->levels_known && i < 2; i++)
		*(i ? &p->new_level : &p->old_level) =
			(struct stats_interval){ .estimate = n->belief.levels.level[i],
						 .low = n->belief.intervals.level[i].low,
						 .high = n->belief.intervals.level[i].high };
}

int record_make(struct session *s, const struct report *r, struct record *d, struct err *e)
{
	struct gather g = { .s = s, .r = r, .d = d };
	_cleanup_free_ uint32_t *rank = ranks(s);
	struct store_visitor v = { .build = see_build, .trial = see_trial, .cookie = &g };
	_cleanup_str_ struct str log = STR_INIT;

	g.rank = rank;
	d->state_dir = xstrdup(s->cfg->campaign.state);
	d->title = range_title(s);
	record_metric_add(d, s->metric->name, s->unit);
	if (campaign_text(s, d, e) < 0 || (s->store && store_visit(s->store, &v, e) < 0))
		return -1;
	d->given = given_text(s, d->campaign);
	if (d->n_commits)
		qsort(d->commit, d->n_commits, sizeof(*d->commit), by_position);
	if (s->engine) {
		git_log(s, &log);
		d->bisect_log = str_detach(&log);
	}
	if (!d->compiler && record_fact(d, "compiler"))
		d->compiler = xstrdup(record_fact(d, "compiler"));
	fill_posterior(&g);
	return 0;
}
