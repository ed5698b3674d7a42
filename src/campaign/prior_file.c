/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prior = FILE: "WEIGHT PATHSPEC" and "WEIGHT commit REVISION" lines. */
#include "campaign/prior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

#define FILE_MAX (1u << 20)
#define LINES_MAX 10000
#define WEIGHT_MIN 1e-6
#define WEIGHT_MAX 1e6

struct line {
	double weight;
	struct repo_paths *paths; /* NULL: it names a commit */
	struct commit_id id;
};

struct prior_file {
	struct line *line;
	size_t n, room;
};

void prior_file_free(struct prior_file *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		repo_paths_free(p->line[i].paths);
	free(p->line);
	free(p);
}

static void free_file(struct prior_file **p)
{
	prior_file_free(*p);
}

/* Owned: as much of @text as a message needs. */
static char *shown(const char *text)
{
	struct str out = STR_INIT;
	size_t n = strlen(text);

	str_neutralise(&out, text, n < 80 ? n : 80, false);
	return str_detach(&out);
}

/* Cut the first word of *@text off; owned. */
static char *take_word(char **text)
{
	size_t n = strcspn(*text, " \t");
	char *word = xstrndup(*text, n);

	*text += n;
	*text += strspn(*text, " \t");
	return word;
}

static int parse_weight(const char *word, double *weight, struct err *e)
{
	_cleanup_free_ char *quoted = shown(word);
	char *end = NULL;

	/* strtod() also takes hex, inf and nan. */
	*weight = strspn(word, "0123456789.eE+-") == strlen(word) ? strtod(word, &end) : NAN;
	if (isfinite(*weight) && end && end != word && !*end && *weight >= WEIGHT_MIN &&
	    *weight <= WEIGHT_MAX)
		return 0;
	return err_set(e, ERR_CONFIG,
		       "bad weight '%s' (a number from 0.000001 to 1000000; nothing is impossible)",
		       quoted);
}

/* @text: a line without blanks at its ends, not empty, no comment. */
static int parse_line(struct prior_file *p, char *text, struct repo *repo, struct err *e)
{
	_cleanup_free_ char *weight = take_word(&text);
	struct line l = { .paths = NULL };

	if (parse_weight(weight, &l.weight, e) < 0)
		return -1;
	if (!*text)
		return err_set(e, ERR_CONFIG,
			       "a weight alone (write 'WEIGHT PATHSPEC' or 'WEIGHT commit "
			       "REVISION')");
	if (strncmp(text, "commit", 6) == 0 && (text[6] == ' ' || text[6] == '\t')) {
		text += 6 + strspn(text + 6, " \t");
		if (repo_resolve(repo, text, "commit", &l.id, e) < 0)
			return -1;
	} else if (repo_pathspec_new(text, &l.paths, e) < 0) {
		return -1;
	}
	xgrow(&p->line, &p->room, p->n + 1, sizeof(*p->line));
	p->line[p->n++] = l;
	return 0;
}

/* Blanks at both ends, and a carriage return, are cut off @line in place. */
static char *trim(char *line)
{
	size_t n = strlen(line);

	while (n && strchr(" \t\r", line[n - 1]))
		line[--n] = '\0';
	return line + strspn(line, " \t");
}

static int parse(struct prior_file *p, char *text, struct repo *repo, unsigned *number,
		 struct err *e)
{
	for (char *at = text, *next; at; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		++*number;
		at = trim(at);
		if (!*at || *at == '#')
			continue;
		if (p->n >= LINES_MAX)
			return err_set(e, ERR_CONFIG, "more than %d weights", LINES_MAX);
		if (parse_line(p, at, repo, e) < 0)
			return -1;
	}
	return 0;
}

int prior_file_load(const char *path, struct repo *repo, struct prior_file **out, struct err *e)
{
	_cleanup_(free_file) struct prior_file *p = xcalloc(1, sizeof(*p));
	_cleanup_str_ struct str text = STR_INIT;
	unsigned number = 0;

	if (fs_read(path, FILE_MAX, &text, e) < 0) {
		if (e && e->code == ERR_NOT_FOUND)
			e->code = ERR_CONFIG;
		return err_wrap(e, "prior in [verdict]");
	}
	if (text.len && memchr(text.buf, '\0', text.len))
		return err_set(e, ERR_CONFIG, "%s: it has a zero byte, and is no text", path);
	str_add(&text, "");
	if (parse(p, text.buf, repo, &number, e) < 0)
		return err_wrap(e, "%s:%u", path, number);
	*out = p;
	p = NULL;
	return 0;
}

bool prior_file_has_paths(const struct prior_file *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->line[i].paths)
			return true;
	return false;
}

double prior_file_path(const struct prior_file *p, const char *path)
{
	for (size_t i = p->n; i-- > 0;)
		if (p->line[i].paths && repo_pathspec_has(p->line[i].paths, path))
			return p->line[i].weight;
	return 1;
}

double prior_file_commit(const struct prior_file *p, const struct commit_id *id)
{
	double weight = 1;

	for (size_t i = 0; i < p->n; i++)
		if (!p->line[i].paths && commit_eq(&p->line[i].id, id))
			weight *= p->line[i].weight;
	return weight;
}
