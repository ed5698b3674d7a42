/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ~/.ssh/config: what ssh -G says of a host is what we say. */
#include "unit/ssh_fixture.h"

#include <pwd.h>

#include "target/ssh_config.h"

static int parse(const char *text, const char *alias, struct ssh_config *c, struct err *e)
{
	const struct ssh_config_query q = { .alias = alias };

	return ssh_config_parse("config", text, strlen(text), &q, c, e);
}

/* "host port user", with ssh's defaults for what is not said. */
static char *ours(const char *alias)
{
	_cleanup_(ssh_config_release) struct ssh_config c = SSH_CONFIG_INIT;
	_cleanup_strv_ struct strv paths = STRV_INIT;
	const struct ssh_config_query q = { .alias = alias, .home = fx_dir };
	struct str out = STR_INIT;
	struct err e = ERR_INIT;

	strv_add(&paths, in_dir("config"));
	if (ssh_config_read(&paths, &q, &c, &e) < 0) {
		str_addf(&out, "refused");
		return str_detach(&out);
	}
	str_addf(&out, "%s %u %s", c.host_name, c.port ? c.port : 22,
		 c.user ? c.user : getpwuid(getuid())->pw_name);
	for (size_t i = 0; i < c.identities.n; i++)
		str_addf(&out, " i:%s", c.identities.v[i]);
	for (size_t i = 0; i < c.known_hosts.n; i++)
		str_addf(&out, " k:%s", c.known_hosts.v[i]);
	return str_detach(&out);
}

/* The same from ssh -G, without what it has by default. */
static char *theirs(const char *alias)
{
	return sh("ssh -G -F config '%s' 2>/dev/null >g || { echo refused; exit 0; }; "
		  "v() { sed -n \"s/^$1 //p\" g; }; printf '%%s %%s %%s' \"$(v hostname)\" "
		  "\"$(v port)\" \"$(v user)\"; "
		  "v identityfile | grep -v '^~/' | sed 's/^/ i:/' | tr -d '\\n'; "
		  "v userknownhostsfile | tr ' ' '\\n' | grep -v '/.ssh/known_hosts2*$' | "
		  "sed 's/^/ k:/' | tr -d '\\n'",
		  alias);
}

static const char *const aliases[] = { "box",     "box2", "a.lab",    "old.lab",
				       "x.y.lab", "BOX",  "10.0.0.7", "q" };

static void compare(const char *text)
{
	put_file("config", text);
	shell("chmod 600 config");
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
		_cleanup_free_ char *a = ours(aliases[i]), *b = theirs(aliases[i]);

		if (strcmp(a, b) != 0)
			fail_msg("for '%s' of\n%s\nwe say  '%s'\nssh says '%s'", aliases[i], text,
				 a, b);
	}
}

static void hosts_are_found_by_patterns_and_the_first_value_counts(void **state)
{
	(void)state;
	compare("Port 2200\nHost box\n  Port 2222\n  User root\n  HostName 10.1.1.1\n"
		"Host *\n Port 1\n User ada\n");
	compare("Host *.lab !old.lab\n  User lab\nHost *\n  User any\n");
	compare("Host !old.lab *.lab\n  User lab\nHost old.*\n  HostName %h.example.org\n");
	compare("Host !box\n  User never\n");
	compare("Host box? b?x\n User x\n Host=q\nUser=y\n");
	compare("Host 10.*\n User ten\n");
	compare("host BOX\n user big\n");
	compare("Host box\n HostName %h.%%.example.org\n");
	compare("Host box BOX\n HostName BiG.%h\n");
}

static void quotes_equal_signs_blanks_and_comments_are_read_as_ssh_does(void **state)
{
	(void)state;
	compare("\tHost \t \"box\" q  \n\t  User\t=  \"root\"  \nPort=22022\n# User no\n"
		"  # Port 1\n\nHostName = real\n");
	compare("Host box # box2\n User root # not\n");
	compare("Host \"box\" 'box2'\n User 'ro\"ot'\n");
	compare("Host box\r\n User root\r\n Port 77\r\n");
	compare("HOST box\n HOSTNAME h\n PORT 5\n USER u\n");
	compare("Host box\nUser =x\nPort =8\n");
	compare("Host box\nUser a\\\"b\n");
	compare("Host box\nUser a\\\\b\n");
	compare("Host box\nUser ada");
	compare("");
	compare("\n\n#\n");
}

static void identity_files_add_up_and_known_hosts_do_not(void **state)
{
	(void)state;
	compare("Host box\n IdentityFile /a/one\n IdentityFile \"/a/two three\"\n"
		" UserKnownHostsFile /k/one /k/two\nHost *\n IdentityFile /a/four\n"
		" IdentityFile /a/one\n UserKnownHostsFile /k/three\n");
}

static void includes_count_where_they_stand(void **state)
{
	_cleanup_free_ char *text = NULL, *conditional = NULL, *nested = NULL;

	(void)state;
	shell("mkdir -p inc && printf 'Host box\\n User inc\\nHost q\\n Port 9\\n' >inc/a.conf && "
	      "printf 'User second\\nPort 99\\n' >inc/b.conf && chmod 600 inc/*");
	text = xasprintf("Include %s/inc/a.conf %s/inc/none.conf\nUser outer\nPort 3\n", fx_dir,
			 fx_dir);
	compare(text);
	conditional = xasprintf("Host box\n Include %s/inc/*.conf\nUser outer\nHost q\n User q\n",
				fx_dir);
	compare(conditional);
	shell("printf 'Include %s/inc/b.conf\\nHost none\\n' >inc/c.conf && chmod 600 inc/c.conf",
	      fx_dir);
	nested = xasprintf("Host a.lab\nInclude %s/inc/c.conf\nHostName after\n", fx_dir);
	compare(nested);
}

static void match_all_counts_and_any_other_match_is_passed_over_with_a_note(void **state)
{
	_cleanup_(ssh_config_release) struct ssh_config c = SSH_CONFIG_INIT;
	struct err e = ERR_INIT;

	(void)state;
	compare("Host box\n User a\nMatch all\n Port 7\nHost q\n Port 8\n");
	assert_int_equal(parse("User a\nMatch host box user root\n Port 7\n HostName evil\n"
			       "Host box\n Port 8\n",
			       "box", &c, &e),
			 0);
	assert_string_equal(c.host_name, "box");
	assert_int_equal(c.port, 8);
	assert_string_equal(c.user, "a");
	assert_int_equal(c.notes.n, 1);
	assert_has(c.notes.v[0], "config:2: Match is not supported");
}

static void a_proxy_is_noted_because_it_is_not_used(void **state)
{
	_cleanup_(ssh_config_release) struct ssh_config c = SSH_CONFIG_INIT, d = SSH_CONFIG_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(
		parse("Host box\nProxyJump gate\nHost *\nProxyCommand nc %h %p\n", "box", &c, &e),
		0);
	assert_int_equal(c.notes.n, 1);
	assert_has(c.notes.v[0], "config:2: ProxyJump");
	assert_int_equal(parse("Host q\nProxyJump gate\nHost *\nProxyJump none\n", "box", &d, &e),
			 0);
	assert_int_equal(d.notes.n, 0);
}

static void mistakes_name_the_file_and_the_line(void **state)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ "Host box\nPort x\n", "config:2: 'x' is not a port" },
		{ "Port 0\n", "config:1: '0' is not a port" },
		{ "Port 65536\n", "'65536' is not a port" },
		{ "Port +5\n", "'+5' is not a port" },
		{ "\nPort\n", "config:2: Port without a value" },
		{ "User a b\n", "config:1: User has more than one value" },
		{ "User == x\n", "config:1: User has more than one value" },
		{ "User \"a\n", "config:1: a quote is not closed" },
		{ "HostName %z\n", "only %h and %% are known in HostName '%z'" },
		{ "IdentityFile %z\n", "config:1: a % in '%z' is followed" },
		{ "IdentityFile /x%\n", "is followed by what is not known" },
		{ "IdentityFile ${KREGRESS_NO_SUCH}\n", "variable 'KREGRESS_NO_SUCH' is not set" },
		{ "IdentityFile ~nobody-such/x\n", "no such user" },
		{ "Port \033[2J\n", "config:1: '\\x1b[2J' is not a port" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(ssh_config_release) struct ssh_config c = SSH_CONFIG_INIT;
		struct err e = ERR_INIT;

		if (parse(cases[i].text, "box", &c, &e) == 0)
			fail_msg("accepted: %s", cases[i].text);
		assert_int_equal(e.code, ERR_CONFIG);
		assert_has(e.msg, cases[i].part);
	}
}

static void a_mistake_in_lines_for_another_host_is_not_ours(void **state)
{
	_cleanup_(ssh_config_release) struct ssh_config c = SSH_CONFIG_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(parse("Host q\nPort x\nUser \"a\nHost box\nPort 5\nNoSuchWord \"open\n",
			       "box", &c, &e),
			 0);
	assert_int_equal(c.port, 5);
}

static void names_of_files_are_expanded(void **state)
{
	_cleanup_(ssh_config_release) struct ssh_config c = SSH_CONFIG_INIT;
	const struct ssh_config_query q = { .alias = "box", .user = "root", .port = 2222 };
	_cleanup_strv_ struct strv paths = STRV_INIT;
	_cleanup_free_ char *want = NULL, *me = sh("id -un");
	struct ssh_config_query at_home = q;
	struct err e = ERR_INIT;

	(void)state;
	setenv("KREGRESS_TEST_VAR", "var", 1);
	put_file("config", "Host box\nHostName real.%h\nUser ignored\nPort 9\n"
			   "IdentityFile ~/.ssh/%h-%r-%n-%p-%%-${KREGRESS_TEST_VAR}\n"
			   "IdentityFile %d/%u\nIdentityFile ~root/x\nIdentityFile none\n"
			   "UserKnownHostsFile none\n");
	shell("chmod 600 config");
	strv_add(&paths, in_dir("config"));
	at_home.home = "/home/ada";
	assert_int_equal(ssh_config_read(&paths, &at_home, &c, &e), 0);
	assert_string_equal(c.host_name, "real.box");
	assert_string_equal(c.user, "root");
	assert_int_equal(c.port, 2222);
	assert_int_equal(c.identities.n, 4);
	assert_string_equal(c.identities.v[0], "/home/ada/.ssh/real.box-root-box-2222-%-var");
	want = xasprintf("/home/ada/%s", me);
	assert_string_equal(c.identities.v[1], want);
	assert_string_equal(c.identities.v[2], "/root/x");
	assert_string_equal(c.identities.v[3], "none");
	assert_string_equal(c.known_hosts.v[0], "none");
}

static void a_file_that_others_can_write_is_refused(void **state)
{
	_cleanup_(ssh_config_release) struct ssh_config c = SSH_CONFIG_INIT;
	const struct ssh_config_query q = { .alias = "box", .home = fx_dir };
	_cleanup_strv_ struct strv paths = STRV_INIT;
	struct err e = ERR_INIT;

	(void)state;
	put_file("config", "User a\n");
	shell("chmod 666 config");
	strv_add(&paths, in_dir("config"));
	assert_int_equal(ssh_config_read(&paths, &q, &c, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_has(e.msg, "chmod go-w");
}

static void files_that_include_themselves_end(void **state)
{
	_cleanup_(ssh_config_release) struct ssh_config c = SSH_CONFIG_INIT;
	const struct ssh_config_query q = { .alias = "box", .home = fx_dir };
	_cleanup_strv_ struct strv paths = STRV_INIT;
	_cleanup_free_ char *text = xasprintf("Include %s/config %s/config\n", fx_dir, fx_dir);
	struct err e = ERR_INIT;

	(void)state;
	put_file("config", text);
	shell("chmod 600 config");
	strv_add(&paths, in_dir("config"));
	assert_int_equal(ssh_config_read(&paths, &q, &c, &e), -1);
	assert_has(e.msg, "too many files");
	assert_has(e.msg, "config:1: ");
}

static void without_any_file_the_alias_is_the_name(void **state)
{
	_cleanup_(ssh_config_release) struct ssh_config c = SSH_CONFIG_INIT;
	const struct ssh_config_query q = { .alias = "box", .home = "/nonexistent" };
	_cleanup_strv_ struct strv paths = STRV_INIT;
	struct err e = ERR_INIT;

	(void)state;
	strv_add(&paths, "/nonexistent/.ssh/config");
	assert_int_equal(ssh_config_read(&paths, &q, &c, &e), 0);
	assert_string_equal(c.host_name, "box");
	assert_int_equal(c.port, 0);
	assert_null(c.user);
	assert_int_equal(c.identities.n + c.known_hosts.n + c.notes.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_found_by_patterns_and_the_first_value_counts),
		cmocka_unit_test(quotes_equal_signs_blanks_and_comments_are_read_as_ssh_does),
		cmocka_unit_test(identity_files_add_up_and_known_hosts_do_not),
		cmocka_unit_test(includes_count_where_they_stand),
		cmocka_unit_test(match_all_counts_and_any_other_match_is_passed_over_with_a_note),
		cmocka_unit_test(a_proxy_is_noted_because_it_is_not_used),
		cmocka_unit_test(mistakes_name_the_file_and_the_line),
		cmocka_unit_test(a_mistake_in_lines_for_another_host_is_not_ours),
		cmocka_unit_test(names_of_files_are_expanded),
		cmocka_unit_test(a_file_that_others_can_write_is_refused),
		cmocka_unit_test(files_that_include_themselves_end),
		cmocka_unit_test(without_any_file_the_alias_is_the_name),
	};

	return cmocka_run_group_tests(tests, make_keys, remove_dir);
}
