/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of ssh_config, and what stands for something else in them. */
#include "target/ssh_config_internal.h"

#include <ctype.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_MAX 60

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

/* One word from *@at into @out: quotes of both kinds, a backslash before a quote, itself or a blank. */
static int take_word(const char **at, struct str *out, struct err *e)
{
	char quote = 0;

	for (; **at && (quote || !is_blank(**at)); (*at)++) {
		char c = **at;

		if (c == '\\' && (*at)[1] &&
		    (strchr("'\"\\", (*at)[1]) || (!quote && (*at)[1] == ' '))) {
			(*at)++;
			str_addmem(out, *at, 1);
		} else if (quote ? c == quote : c == '"' || c == '\'') {
			quote = quote ? 0 : c;
		} else {
			str_addmem(out, &c, 1);
		}
	}
	return quote ? err_set(e, ERR_CONFIG, "a quote is not closed") : 0;
}

static const char *skip_blanks(const char *s)
{
	while (is_blank(*s))
		s++;
	return s;
}

int ssh_config_split(const char *line, char **keyword, struct strv *words, struct err *e)
{
	const char *at = skip_blanks(line), *start = at;

	if (!*at || *at == '#')
		return 0;
	while (*at && !is_blank(*at) && *at != '=')
		at++;
	*keyword = xstrndup(start, (size_t)(at - start));
	at = skip_blanks(at);
	if (*at == '=')
		at = skip_blanks(at + 1);
	while (*at && *at != '#') {
		struct str word = STR_INIT;

		if (take_word(&at, &word, e) < 0) {
			str_release(&word);
			return -1;
		}
		strv_take(words, str_detach(&word));
		at = skip_blanks(at);
	}
	return 1;
}

char *ssh_config_shown(const char *text)
{
	struct str out = STR_INIT;
	size_t n = strlen(text);

	str_neutralise(&out, text, n < SHOWN_MAX ? n : SHOWN_MAX, false);
	if (n > SHOWN_MAX)
		str_add(&out, "...");
	return str_detach(&out);
}

char *ssh_config_home(void)
{
	const char *home = getenv("HOME");
	const struct passwd *pw;

	if (home && *home)
		return xstrdup(home);
	pw = getpwuid(getuid());
	return xstrdup(pw ? pw->pw_dir : "/");
}

char *ssh_config_expand_host(const char *text, const char *alias, struct err *e)
{
	_cleanup_str_ struct str out = STR_INIT;

	for (const char *s = text; *s; s++) {
		if (*s != '%') {
			str_addmem(&out, s, 1);
		} else if (s[1] == '%' || s[1] == 'h') {
			s++;
			str_add(&out, *s == 'h' ? alias : "%");
		} else {
			_cleanup_free_ char *shown = ssh_config_shown(text);

			err_set(e, ERR_CONFIG, "only %%h and %%%% are known in HostName '%s'",
				shown);
			return NULL;
		}
	}
	return str_detach(&out);
}

/* What a token stands for, appended; false: not known. */
static bool add_token(struct str *out, char token, const struct ssh_config_names *names)
{
	const struct passwd *pw;
	char host[256];

	switch (token) {
	case '%':
		str_add(out, "%");
		return true;
	case 'd':
		str_add(out, names->home);
		return true;
	case 'h':
		str_add(out, names->host_name);
		return true;
	case 'i':
		str_addf(out, "%u", (unsigned)getuid());
		return true;
	case 'k':
	case 'n':
		str_add(out, names->alias);
		return true;
	case 'l':
	case 'L':
		if (gethostname(host, sizeof(host)) < 0)
			return false;
		host[sizeof(host) - 1] = '\0';
		if (token == 'L')
			host[strcspn(host, ".")] = '\0';
		str_add(out, host);
		return true;
	case 'p':
		str_addf(out, "%u", names->port);
		return true;
	case 'r':
		str_add(out, names->user);
		return true;
	case 'u':
		pw = getpwuid(getuid());
		str_add(out, pw ? pw->pw_name : "");
		return pw != NULL;
	default:
		return false;
	}
}

/* "${NAME}" at *@at, appended; *@at is left on its last byte. */
static int add_variable(struct str *out, const char **at, struct err *e)
{
	size_t n = strcspn(*at + 2, "}");
	_cleanup_free_ char *name = xstrndup(*at + 2, n);
	const char *value = (*at)[2 + n] ? getenv(name) : NULL;

	if (!value) {
		_cleanup_free_ char *shown = ssh_config_shown(name);

		return err_set(e, ERR_CONFIG, "environment variable '%s' is not set", shown);
	}
	str_add(out, value);
	*at += 2 + n;
	return 0;
}

/* "~" and "~user" at the start of @text, appended; the rest, NULL: no such user. */
static const char *add_home(struct str *out, const char *text, const char *home)
{
	size_t n = strcspn(text, "/");
	_cleanup_free_ char *user = NULL;
	const struct passwd *pw;

	if (*text != '~')
		return text;
	if (n == 1) {
		str_add(out, home);
		return text + 1;
	}
	user = xstrndup(text + 1, n - 1);
	pw = getpwnam(user);
	if (!pw)
		return NULL;
	str_add(out, pw->pw_dir);
	return text + n;
}

char *ssh_config_expand_path(const char *text, const struct ssh_config_names *names, struct err *e)
{
	_cleanup_str_ struct str out = STR_INIT;
	_cleanup_free_ char *shown = ssh_config_shown(text);
	const char *s = add_home(&out, text, names->home);

	if (!s) {
		err_set(e, ERR_CONFIG, "no such user in '%s'", shown);
		return NULL;
	}
	for (; *s; s++) {
		if (*s == '$' && s[1] == '{') {
			if (add_variable(&out, &s, e) < 0)
				return NULL;
		} else if (*s != '%') {
			str_addmem(&out, s, 1);
		} else if (!add_token(&out, *++s, names)) {
			err_set(e, ERR_CONFIG, "a %% in '%s' is followed by what is not known",
				shown);
			return NULL;
		}
	}
	return str_detach(&out);
}
