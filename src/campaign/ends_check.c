/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person named that has no effect: paths that never existed, words on other commits. */
#include <stdlib.h>

#include "base/log.h"
#include "campaign/ends.h"

int ends_check_paths(const struct session *s, const struct commit_id *oldest, struct err *e)
{
	const struct repo_range range = {
		.tip = &s->new,
		.not_ = oldest,
		.n_not = 1,
		.first_parent = s->first_parent,
		.paths = &s->paths,
	};
	_cleanup_free_ char *near = NULL;
	const char *path;
	int ret;

	/* git took those of its own bisection as they are */
	if (s->import)
		return 0;
	ret = repo_paths_missing(s->repo, &range, &path, &near, e);
	if (ret < 0)
		return err_wrap(e, "%s", config_where(s->cfg, "campaign.paths"));
	if (ret == 0)
		return 0;
	err_set(e, ERR_CONFIG,
		"%s: paths: '%s' did not match any file: neither the ends nor a commit between "
		"them have it",
		config_where(s->cfg, "campaign.paths"), path);
	return near ? err_hint(e, "did you mean '%s'?", near)
		    : err_hint(e, "paths are relative to the top of the repository");
}

/* A commit that the range does not have: what was said of it moves nothing. */
static void say_outside(const struct session *s, const struct session_said *said)
{
	char hex[COMMIT_HEX + 1];

	if (!said->person)
		log_warn("%s: skip: %.12s is not between the ends: it skips nothing",
			 config_where(s->cfg, "campaign.skip"), commit_hex(&said->id, hex));
	else if (!(said->verdict == (s->fix ? VERDICT_BAD : VERDICT_GOOD)))
		log_warn("%.12s was called %s, but is not between the ends: not used",
			 commit_hex(&said->id, hex), verdict_name(said->verdict));
}

void ends_warn(const struct session *s)
{
	bool told = false;

	for (size_t i = 0; i < s->n_told; i++) {
		const struct session_said *said = &s->told[i];
		uint32_t node = session_node(s, &said->id);

		if (node != DAG_NONE && node != s->dag.n)
			continue;
		/* of a range that reaches beyond the ends one line is enough */
		if (!told || said->person)
			say_outside(s, said);
		told |= !said->person;
	}
}
