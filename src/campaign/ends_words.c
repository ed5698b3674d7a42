/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was said of commits without measuring them: one word each. */
#include <stdlib.h>

#include "campaign/ends.h"

void ends_say(struct session *s, const struct commit_id *id, enum verdict v, bool person)
{
	xgrow(&s->told, &s->told_room, s->n_told + 1, sizeof(*s->told));
	s->told[s->n_told++] = (struct session_said){ .id = *id, .verdict = v, .person = person };
}

/* Commits together; of one commit the word that counts first: a person's, then the last. */
static int by_weight(const void *a, const void *b, void *cookie)
{
	const struct session_said *said = cookie;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = commit_cmp(&said[x].id, &said[y].id);

	if (order)
		return order;
	if (said[x].person != said[y].person)
		return said[x].person ? -1 : 1;
	return x > y ? -1 : 1;
}

/* One word for each commit, in the order in which those that count were said. */
void ends_settle_words(struct session *s)
{
	_cleanup_free_ uint32_t *order = xcalloc(s->n_told + 1, sizeof(*order));
	_cleanup_free_ bool *keep = xcalloc(s->n_told + 1, sizeof(*keep));
	size_t n = 0;

	for (uint32_t i = 0; i < s->n_told; i++)
		order[i] = i;
	qsort_r(order, s->n_told, sizeof(*order), by_weight, s->told);
	for (size_t i = 0; i < s->n_told; i++)
		keep[order[i]] = !i || !commit_eq(&s->told[order[i]].id, &s->told[order[i - 1]].id);
	for (size_t i = 0; i < s->n_told; i++)
		if (keep[i])
			s->told[n++] = s->told[i];
	s->n_told = n;
}

/* skip = commits and ranges. */
int ends_take_skips(struct session *s, struct err *e)
{
	const struct strv *words = &s->cfg->campaign.skip;

	for (size_t i = 0; i < words->n; i++) {
		_cleanup_free_ struct commit_id *ids = NULL;
		size_t n = 0;

		if (repo_expand(s->repo, words->v[i], "skip in [campaign]", &ids, &n, e) < 0)
			return err_wrap(e, "%s", config_where(s->cfg, "campaign.skip"));
		for (size_t k = 0; k < n; k++) {
			if (s->has_ends &&
			    (commit_eq(&ids[k], &s->good) || commit_eq(&ids[k], &s->bad)))
				return err_set(
					e, ERR_CONFIG,
					"%s: skip '%s' holds the %s end, which must be measured "
					"(name another end, or skip less)",
					config_where(s->cfg, "campaign.skip"), words->v[i],
					commit_eq(&ids[k], &s->good) ? "good" : "bad");
			ends_say(s, &ids[k], VERDICT_SKIP, false);
		}
	}
	return 0;
}
