/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of git bisect, read as git bisect replay reads it. */
#include "io/bisect_log.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "# bad: [<hex>] …": what git notes of each commit, a line before it uses it. */
struct note {
	char *term;
	struct commit_id id;
};

struct parser {
	struct bisect_log *log;
	struct note *note; /* since the last command */
	size_t n_notes, note_room;
	int line;
	bool is_started;
	bool is_fixed; /* the terms cannot change any more */
	bool is_cut;   /* this line is the last one and has no line break */
	struct err *e;
};

void bisect_log_release(struct bisect_log *log)
{
	for (size_t i = 0; i < log->n; i++)
		free(log->entry[i].rev);
	free(log->entry);
	free(log->name);
	free(log->term_new);
	free(log->term_old);
	strv_release(&log->paths);
	*log = (struct bisect_log)BISECT_LOG_INIT;
}

struct bisect_entry *bisect_log_add(struct bisect_log *log, enum bisect_state state, char *rev,
				    int line)
{
	xgrow(&log->entry, &log->room, log->n + 1, sizeof(*log->entry));
	log->entry[log->n] = (struct bisect_entry){ .state = state, .rev = rev, .line = line };
	return &log->entry[log->n++];
}

const struct bisect_entry *bisect_log_last_new(const struct bisect_log *log)
{
	for (size_t i = log->n; i-- > 0;)
		if (log->entry[i].state == BISECT_NEW)
			return &log->entry[i];
	return NULL;
}

static void replace(char **text, const char *by)
{
	char *copy = xstrdup(by);

	free(*text);
	*text = copy;
}

/* The beginning of a word of the log, fit to print. */
static void add_shown(struct str *out, const char *word)
{
	str_neutralise(out, word, strnlen(word, 80), false);
}

/* "<name>:<line>: <what> '<word>' (<remedy>)". */
static int refuse(const struct parser *p, const char *what, const char *word, const char *remedy)
{
	_cleanup_str_ struct str shown = STR_INIT;

	add_shown(&shown, word);
	return err_set(p->e, ERR_CONFIG, "%s:%d: %s '%s' (%s)", p->log->name, p->line, what,
		       str_text(&shown), remedy);
}

static int refuse_cut(const struct parser *p, const char *line)
{
	return refuse(p, "the log is cut short in its last line", line,
		      "take it again with git bisect log, or remove that line");
}

static void clear_notes(struct parser *p)
{
	for (size_t i = 0; i < p->n_notes; i++)
		free(p->note[i].term);
	p->n_notes = 0;
}

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(word, words[i]))
			return true;
	return false;
}

/* Can @term be what git calls a verdict in this log? */
static bool is_known(const struct parser *p, const char *term)
{
	const char *const known[] = {
		p->log->term_new, p->log->term_old, "skip", "bad", "good", "new", "old"
	};

	return is_one_of(term, known, ARRAY_SIZE(known));
}

static int take_comment(struct parser *p, const char *line)
{
	const char *colon = str_starts(line, "# ") ? strstr(line, ": [") : NULL;
	char hex[COMMIT_HEX + 1] = "";
	_cleanup_free_ char *term = NULL;
	struct commit_id id;
	size_t n;

	/* the words before tell a note on a command from "# first bad commit: [" */
	if (!colon || memchr(line + 2, ' ', (size_t)(colon - line - 2)))
		return 0;
	term = xstrndup(line + 2, (size_t)(colon - line - 2));
	if (p->is_cut && p->is_started && is_known(p, term))
		return refuse_cut(p, line);
	n = strcspn(colon + 3, "]");
	if (n != COMMIT_HEX || colon[3 + n] != ']')
		return 0;
	memcpy(hex, colon + 3, n);
	if (!commit_parse(hex, &id))
		return 0;
	xgrow(&p->note, &p->note_room, p->n_notes + 1, sizeof(*p->note));
	p->note[p->n_notes++] = (struct note){ .term = term, .id = id };
	term = NULL;
	return 0;
}

/* What git check-ref-format allows in a part of a ref; "/" too, as git bisect does. */
static bool is_refname(const char *term)
{
	if (!*term || str_ends(term, "/") || str_ends(term, ".") || str_ends(term, ".lock") ||
	    strstr(term, "..") || strstr(term, "@{") || strstr(term, "//") || strstr(term, "/.") ||
	    strstr(term, ".lock/") || strchr("./", *term))
		return false;
	for (const char *s = term; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f || strchr("~^:?*[\\", *s))
			return false;
	return true;
}

static const char *const builtin_verbs[] = {
	"help", "start",  "skip", "next", "reset", "visualize",
	"view", "replay", "log",  "run",  "terms",
};

static int take_term(struct parser *p, const char *term, bool is_new)
{
	const char *const taken[] = { is_new ? "good" : "bad", is_new ? "old" : "new" };

	if (!is_refname(term))
		return refuse(p, "not a valid term:", term, "a term is one word, as in a ref");
	if (is_one_of(term, builtin_verbs, ARRAY_SIZE(builtin_verbs)))
		return refuse(p, "not a valid term:", term, "it is a command of git bisect");
	if (is_one_of(term, taken, ARRAY_SIZE(taken)))
		return refuse(p, "not a valid term:", term, "it would change its meaning");
	replace(is_new ? &p->log->term_new : &p->log->term_old, term);
	p->log->terms_given = p->is_fixed = true;
	return 0;
}

static int unknown_option(const struct parser *p, const char *word)
{
	static const char *const known[] = {
		"--term-new",  "--term-bad",     "--term-old",
		"--term-good", "--first-parent", "--no-checkout",
	};
	const char *near = str_did_you_mean(word, known, ARRAY_SIZE(known));
	_cleanup_free_ char *remedy =
		near ? xasprintf("did you mean '%s'?", near)
		     : xstrdup("git bisect start knows --term-new, --term-old, "
			       "--first-parent and --no-checkout");

	return refuse(p, "unknown option of git bisect start:", word, remedy);
}

/* The option at words[*i], if it is one; *i moves to its last word. 1, 0: no option, -1. */
static int take_option(struct parser *p, const struct strv *words, size_t *i)
{
	const char *word = words->v[*i], *term;
	size_t n = strcspn(word, "=");
	bool is_new;

	if (!str_starts(word, "--"))
		return 0;
	if (str_eq(word, "--first-parent"))
		p->log->first_parent = true;
	else if (str_eq(word, "--no-checkout"))
		p->log->no_checkout = true;
	if (str_eq(word, "--first-parent") || str_eq(word, "--no-checkout"))
		return 1;
	is_new = n == 10 && (!strncmp(word, "--term-new", n) || !strncmp(word, "--term-bad", n));
	if (!is_new && !(n == 10 && !strncmp(word, "--term-old", n)) &&
	    !(n == 11 && !strncmp(word, "--term-good", n)))
		return unknown_option(p, word);
	if (word[n]) {
		term = word + n + 1;
	} else {
		if (*i + 1 >= words->n)
			return refuse(p, "no term after", word, "give it as in --term-old=fast");
		term = words->v[++*i];
	}
	return take_term(p, term, is_new) ? -1 : 1;
}

/* Are the notes those of a start line: first the new commit, then old ones? */
static bool notes_are_of_start(const struct parser *p)
{
	for (size_t i = 0; i < p->n_notes; i++)
		if (!str_eq(p->note[i].term, i ? p->log->term_old : p->log->term_new))
			return false;
	return p->n_notes > 0;
}

static bool is_hex(const char *rev)
{
	return *rev && rev[strspn(rev, "0123456789abcdefABCDEF")] == '\0';
}

static void add_start_rev(struct parser *p, const char *rev)
{
	bool is_first = p->log->n == 0;

	bisect_log_add(p->log, is_first ? BISECT_NEW : BISECT_OLD, xstrdup(rev), p->line);
}

/* Sort out the words of start that are no options; @dashes: index of "--", or their number. */
static int take_start_words(struct parser *p, const struct strv *words, size_t dashes)
{
	struct bisect_log *log = p->log;
	bool has_dashes = dashes < words->n, noted = notes_are_of_start(p);
	size_t revs = noted && !has_dashes ? p->n_notes : dashes;

	if (p->is_cut && noted && p->n_notes > dashes)
		return refuse_cut(p, "git bisect start");
	if (revs > dashes) {
		noted = false;
		revs = dashes;
	}
	for (size_t i = 0; i < revs; i++)
		add_start_rev(p, words->v[i]);
	for (size_t i = 0; noted && i < revs && p->n_notes == revs; i++)
		log->entry[i].noted = p->note[i].id;
	for (size_t i = 0; i < revs && !noted && !has_dashes; i++)
		log->entry[i].may_be_path = strlen(log->entry[i].rev) != COMMIT_HEX ||
					    !is_hex(log->entry[i].rev);
	if (log->n && !log->entry[0].may_be_path)
		p->is_fixed = true;
	/* git forgets a single path without "--": that bisection was not limited */
	if (!has_dashes && words->n - revs < 2)
		return 0;
	for (size_t i = revs + has_dashes; i < words->n; i++)
		strv_add(&log->paths, words->v[i]);
	return 0;
}

static void forget_bisection(struct parser *p)
{
	struct bisect_log *log = p->log;

	while (log->n > 0)
		free(log->entry[--log->n].rev);
	strv_clear(&log->paths);
	log->first_parent = log->no_checkout = false;
	p->is_fixed = false;
	p->is_started = true;
}

static int take_start(struct parser *p, const struct strv *all)
{
	_cleanup_strv_ struct strv words = STRV_INIT;
	size_t dashes = SIZE_MAX;

	forget_bisection(p);
	for (size_t i = 0; i < all->n; i++) {
		int ret = 0;

		if (dashes == SIZE_MAX && str_eq(all->v[i], "--"))
			dashes = words.n;
		else if (dashes == SIZE_MAX)
			ret = take_option(p, all, &i);
		if (ret < 0)
			return -1;
		if (ret == 0 && !*all->v[i])
			return refuse(p, "an empty word in", "git bisect start", "remove it");
		if (ret == 0)
			strv_add(&words, all->v[i]);
	}
	if (str_eq(p->log->term_new, p->log->term_old))
		return refuse(p, "both terms are", p->log->term_new, "give two different ones");
	return take_start_words(p, &words, dashes == SIZE_MAX ? words.n : dashes);
}

/* What @verb says of a commit; 0: it is no term of this log. */
static enum bisect_state state_of(struct parser *p, const char *verb)
{
	struct bisect_log *log = p->log;
	bool is_other = str_eq(verb, "new") || str_eq(verb, "old");

	if (str_eq(verb, "skip"))
		return BISECT_SKIP;
	/* the first verdict settles the words, where start did not */
	if (!p->is_fixed && (is_other || str_eq(verb, "bad") || str_eq(verb, "good"))) {
		replace(&log->term_new, is_other ? "new" : "bad");
		replace(&log->term_old, is_other ? "old" : "good");
		log->terms_given = is_other;
		p->is_fixed = true;
	}
	if (!str_eq(verb, log->term_new) && !str_eq(verb, log->term_old))
		return (enum bisect_state)0;
	p->is_fixed = true;
	return str_eq(verb, log->term_new) ? BISECT_NEW : BISECT_OLD;
}

static int unknown_term(const struct parser *p, const char *verb)
{
	const char *known[] = { p->log->term_new, p->log->term_old, "skip", "start" };
	const char *near = str_did_you_mean(verb, known, ARRAY_SIZE(known));
	_cleanup_str_ struct str remedy = STR_INIT;

	if (is_one_of(verb, builtin_verbs, ARRAY_SIZE(builtin_verbs)))
		return refuse(p, "a log that is replayed cannot hold the command", verb,
			      "git bisect replay refuses it too: remove the line");
	str_add(&remedy, "the terms of this log are ");
	add_shown(&remedy, known[0]);
	str_add(&remedy, ", ");
	add_shown(&remedy, known[1]);
	str_add(&remedy, " and skip");
	if (near) {
		str_add(&remedy, "; did you mean '");
		add_shown(&remedy, near);
		str_add(&remedy, "'?");
	}
	return refuse(p, "unknown term", verb, str_text(&remedy));
}

static int take_verdict(struct parser *p, const char *verb, const struct strv *revs)
{
	const char *last = revs->n ? revs->v[revs->n - 1] : "";
	enum bisect_state state;

	if (!p->is_started)
		return refuse(p, "no 'git bisect start' before", verb,
			      "take the whole log with git bisect log");
	state = state_of(p, verb);
	if (!state)
		return unknown_term(p, verb);
	if (p->is_cut && (!*last || (is_hex(last) && strlen(last) < COMMIT_HEX)))
		return refuse_cut(p, *last ? last : verb);
	if (state == BISECT_NEW && revs->n > 1)
		return refuse(p, "more than one commit after", verb, "git bisect takes one");
	for (size_t i = 0; i < revs->n; i++)
		if (!*revs->v[i])
			last = "";
	if (!*last)
		return refuse(p, "no commit after", verb, "is the log whole?");
	for (size_t i = 0; i < revs->n; i++) {
		struct bisect_entry *entry = bisect_log_add(p->log, state, xstrdup(revs->v[i]),
							    p->line);
		size_t k = p->n_notes - revs->n + i;

		/* the notes right before the line; those of lines that were removed come first */
		if (p->n_notes >= revs->n && str_eq(p->note[k].term, verb))
			entry->noted = p->note[k].id;
	}
	return 0;
}

static int take_command(struct parser *p, const char *line, const char *rest)
{
	_cleanup_strv_ struct strv words = STRV_INIT;
	_cleanup_free_ char *verb = NULL;
	int ret = 0;

	rest += strspn(rest, " \t");
	verb = xstrndup(rest, strcspn(rest, " \t"));
	rest += strlen(verb);
	if (p->is_cut && !*rest)
		/* "git bisect start" alone is a whole line, but not with notes before it */
		if (!str_eq(verb, "start") || p->n_notes)
			return refuse_cut(p, line);
	if (str_split_words(rest, &words, NULL))
		return p->is_cut ? refuse_cut(p, line)
				 : refuse(p, "a quote is open at the end of", line,
					  "git bisect cannot take a path with a line break");
	if (str_eq(verb, "start"))
		ret = take_start(p, &words);
	else if (!str_eq(verb, "terms"))
		ret = take_verdict(p, verb, &words);
	clear_notes(p);
	return ret;
}

static int take_line(struct parser *p, const char *line)
{
	static const char *const command[] = { "git bisect ", "git-bisect " };

	if (*line == '#')
		return take_comment(p, line);
	line += strspn(line, " \t");
	for (size_t i = 0; i < ARRAY_SIZE(command); i++) {
		size_t n = strlen(command[i]);

		if (!strncmp(line, command[i], n - 1) &&
		    (line[n - 1] == ' ' || line[n - 1] == '\t'))
			return take_command(p, line, line + n);
		if (p->is_cut && *line && !strncmp(line, command[i], strlen(line)))
			return refuse_cut(p, line);
	}
	return 0;
}

static int take_lines(struct parser *p, const char *text, size_t n)
{
	const char *end = text + n;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((stop ? stop : end) - text);
		_cleanup_free_ char *line = NULL;

		p->line++;
		p->is_cut = !stop;
		if (len && text[len - 1] == '\r')
			len--;
		line = xstrndup(text, len);
		if (take_line(p, line))
			return -1;
		text = stop ? stop + 1 : end;
	}
	return 0;
}

int bisect_log_parse(const char *name, const char *text, size_t n, struct bisect_log *out,
		     struct err *e)
{
	static const char remedy[] = "it is what git bisect log prints";
	_cleanup_(bisect_log_release) struct bisect_log log = {
		.name = xstrdup(name),
		.term_new = xstrdup("bad"),
		.term_old = xstrdup("good"),
	};
	struct parser p = { .log = &log, .e = e };
	int ret;

	if (n > BISECT_LOG_MAX)
		return err_set(e, ERR_CONFIG, "%s: too long for a log of git bisect (%s)", name,
			       remedy);
	if (n && memchr(text, '\0', n))
		return err_set(e, ERR_CONFIG,
			       "%s: not a log of git bisect: it holds a zero byte (%s)", name,
			       remedy);
	ret = take_lines(&p, text, n);
	clear_notes(&p);
	free(p.note);
	if (ret)
		return -1;
	if (!p.is_started)
		return err_set(e, ERR_CONFIG,
			       "%s: not a log of git bisect: no line 'git bisect start' (%s)", name,
			       remedy);
	*out = log;
	log = (struct bisect_log)BISECT_LOG_INIT;
	return 0;
}
