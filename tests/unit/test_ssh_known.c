/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known_hosts: the same lines count as for ssh-keygen, and none is lost by another. */
#include "unit/ssh_fixture.h"

#include "target/ssh_key.h"
#include "target/ssh_known.h"
#include "target/ssh_match.h"

/* What the text says of a key of the folder for the host. */
static enum ssh_known_verdict judge(const char *text, size_t n, const char *host, unsigned port,
				    const char *key_name, int *line)
{
	_cleanup_(ssh_known_release) struct ssh_known k = SSH_KNOWN_INIT;
	_cleanup_(ssh_keyfile_release) struct ssh_keyfile key = SSH_KEYFILE_INIT;
	const struct ssh_known_key *which;
	enum ssh_known_verdict verdict;
	_cleanup_free_ char *pub = xasprintf("%s.pub", key_name);
	_cleanup_free_ char *data = get_file(pub);

	assert_true(ssh_keyfile_parse(data, strlen(data), &key));
	ssh_known_parse("known", text, n, host, port, &k);
	verdict = ssh_known_check(&k, key.blob.buf, key.blob.len, &which);
	if (line)
		*line = which ? which->line : 0;
	return verdict;
}

static enum ssh_known_verdict judge_line(const char *names, const char *listed, const char *host,
					 unsigned port, const char *shown)
{
	_cleanup_free_ char *key = public_key(listed);
	_cleanup_free_ char *text = xasprintf("%s %s comment\n", names, key);

	return judge(text, strlen(text), host, port, shown, NULL);
}

static void a_key_that_is_listed_matches_and_another_of_its_type_has_changed(void **state)
{
	(void)state;
	assert_int_equal(judge_line("box", "host_ed25519", "box", 22, "host_ed25519"),
			 SSH_KNOWN_MATCH);
	assert_int_equal(judge_line("box", "host_ed25519", "box", 22, "other"), SSH_KNOWN_CHANGED);
	assert_int_equal(judge_line("box", "host_ed25519", "box", 22, "host_ecdsa256"),
			 SSH_KNOWN_UNKNOWN);
	assert_int_equal(judge_line("box", "host_ed25519", "bax", 22, "host_ed25519"),
			 SSH_KNOWN_UNKNOWN);
}

static void a_port_that_is_not_22_has_a_name_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(judge_line("[box]:2222", "host_ed25519", "box", 2222, "host_ed25519"),
			 SSH_KNOWN_MATCH);
	assert_int_equal(judge_line("[box]:2222", "host_ed25519", "box", 22, "host_ed25519"),
			 SSH_KNOWN_UNKNOWN);
	assert_int_equal(judge_line("[box]:2222", "host_ed25519", "box", 2222, "other"),
			 SSH_KNOWN_CHANGED);
	assert_int_equal(judge_line("[::1]:2222", "host_ed25519", "::1", 2222, "host_ed25519"),
			 SSH_KNOWN_MATCH);
	assert_int_equal(judge_line("::1", "host_ed25519", "::1", 22, "host_ed25519"),
			 SSH_KNOWN_MATCH);
}

static void a_key_of_port_22_counts_on_another_when_it_is_the_same(void **state)
{
	(void)state;
	assert_int_equal(judge_line("box", "host_ed25519", "box", 2222, "host_ed25519"),
			 SSH_KNOWN_MATCH);
	/* … and says nothing when it is not: another server may be there. */
	assert_int_equal(judge_line("box", "host_ed25519", "box", 2222, "other"),
			 SSH_KNOWN_UNKNOWN);
}

static void the_other_port_s_key_does_not_excuse_a_changed_one(void **state)
{
	_cleanup_free_ char *good = public_key("host_ed25519"), *old = public_key("other");
	_cleanup_free_ char *text = xasprintf("box %s\n[box]:2222 %s\n", good, old);
	int line;

	(void)state;
	assert_int_equal(judge(text, strlen(text), "box", 2222, "host_ed25519", &line),
			 SSH_KNOWN_CHANGED);
	assert_int_equal(line, 2);
}

static void lists_wildcards_and_exceptions_are_matched(void **state)
{
	static const struct {
		const char *names, *host;
		bool fits;
	} cases[] = {
		{ "a,box,c", "box", true },
		{ "*", "box", true },
		{ "b?x", "box", true },
		{ "b?", "box", false },
		{ "*.lab,!old.lab", "new.lab", true },
		{ "*.lab,!old.lab", "old.lab", false },
		{ "!old.lab,*.lab", "old.lab", false },
		{ "!box", "other", false },
		{ "BOX", "box", true },
		{ "box", "BoX", true },
		{ "", "box", false },
		{ ",,box,", "box", true },
		{ "10.0.*", "10.0.3.4", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		enum ssh_known_verdict v = judge_line(cases[i].names, "host_ed25519", cases[i].host,
						      22, "host_ed25519");

		if ((v == SSH_KNOWN_MATCH) != cases[i].fits)
			fail_msg("'%s' and '%s': %d", cases[i].names, cases[i].host, v);
	}
}

static void a_pattern_with_many_stars_is_matched_in_little_time(void **state)
{
	char text[201], pattern[121];
	int64_t begun = clock_mono_ms();

	(void)state;
	memset(text, 'a', 200);
	text[200] = '\0';
	for (int i = 0; i < 120; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[118] = '*';
	pattern[119] = 'b';
	pattern[120] = '\0';
	assert_false(ssh_match(text, pattern, 120));
	assert_true(ssh_match(text, pattern, 119));
	assert_true(clock_mono_ms() - begun < 1000);
}

static void names_that_ssh_keygen_hashed_are_found(void **state)
{
	_cleanup_free_ char *key = public_key("host_ed25519"), *text = NULL;

	(void)state;
	shell("printf 'box,10.0.0.7 %s\\n[box]:2222 %s\\n' >h && ssh-keygen -q -H -f h && rm h.old",
	      key, key);
	text = get_file("h");
	assert_null(strstr(text, "box"));
	assert_int_equal(judge(text, strlen(text), "box", 22, "host_ed25519", NULL),
			 SSH_KNOWN_MATCH);
	assert_int_equal(judge(text, strlen(text), "BOX", 22, "host_ed25519", NULL),
			 SSH_KNOWN_MATCH);
	assert_int_equal(judge(text, strlen(text), "10.0.0.7", 22, "host_ed25519", NULL),
			 SSH_KNOWN_MATCH);
	assert_int_equal(judge(text, strlen(text), "box", 2222, "host_ed25519", NULL),
			 SSH_KNOWN_MATCH);
	assert_int_equal(judge(text, strlen(text), "box", 22, "other", NULL), SSH_KNOWN_CHANGED);
	assert_int_equal(judge(text, strlen(text), "bax", 22, "host_ed25519", NULL),
			 SSH_KNOWN_UNKNOWN);
}

static void a_revoked_key_is_refused_wherever_its_line_stands(void **state)
{
	_cleanup_free_ char *key = public_key("host_ed25519");
	_cleanup_free_ char *after = xasprintf("box %s\n@revoked * %s\n", key, key);
	_cleanup_free_ char *before = xasprintf("@revoked box %s\nbox %s\n", key, key);
	_cleanup_free_ char *elsewhere = xasprintf("@revoked bax %s\nbox %s\n", key, key);
	_cleanup_free_ char *port = xasprintf("@revoked box %s\n[box]:2222 %s\n", key, key);
	int line;

	(void)state;
	assert_int_equal(judge(after, strlen(after), "box", 22, "host_ed25519", &line),
			 SSH_KNOWN_REVOKED);
	assert_int_equal(line, 2);
	assert_int_equal(judge(before, strlen(before), "box", 22, "host_ed25519", &line),
			 SSH_KNOWN_REVOKED);
	assert_int_equal(line, 1);
	assert_int_equal(judge(elsewhere, strlen(elsewhere), "box", 22, "host_ed25519", &line),
			 SSH_KNOWN_MATCH);
	assert_int_equal(judge(port, strlen(port), "box", 2222, "host_ed25519", &line),
			 SSH_KNOWN_REVOKED);
	/* A revoked key of the type is not one that has changed. */
	assert_int_equal(judge_line("@revoked *", "other", "box", 22, "host_ed25519"),
			 SSH_KNOWN_UNKNOWN);
}

static void an_authority_is_not_taken_for_a_key(void **state)
{
	_cleanup_(ssh_known_release) struct ssh_known k = SSH_KNOWN_INIT;
	_cleanup_free_ char *key = public_key("host_ed25519");
	_cleanup_free_ char *text = xasprintf("\n@cert-authority *.lab %s\n", key);

	(void)state;
	assert_int_equal(judge(text, strlen(text), "a.lab", 22, "host_ed25519", NULL),
			 SSH_KNOWN_UNKNOWN);
	ssh_known_parse("f", text, strlen(text), "a.lab", 22, &k);
	assert_non_null(ssh_known_find(&k, SSH_KNOWN_AUTHORITY, NULL));
	assert_int_equal(ssh_known_find(&k, SSH_KNOWN_AUTHORITY, NULL)->line, 2);
}

/* Lines that make libssh2 lose all that follow, each before the right one. */
static void a_line_that_is_not_one_costs_only_itself(void **state)
{
	_cleanup_free_ char *key = public_key("host_ed25519"), *rsa = public_key("host_rsa");
	_cleanup_str_ struct str endless = STR_INIT, types = STR_INIT;
	char *bad[8] = { "box",
			 "box ssh-ed25519",
			 "box ssh-ed25519 !!!notbase64",
			 "|1|short|hash ssh-ed25519 AAAA",
			 "@unknown box ssh-ed25519 AAAA",
			 "box 1024 35 123456789",
			 NULL,
			 NULL };

	(void)state;
	str_add(&endless, "box ssh-ed25519 ");
	for (int i = 0; i < 10000; i++)
		str_add(&endless, "AAAA");
	/* A type that is not the key's own. */
	str_addf(&types, "box ssh-ed25519 %s", strchr(rsa, ' ') + 1);
	bad[6] = endless.buf;
	bad[7] = types.buf;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(ssh_known_release) struct ssh_known k = SSH_KNOWN_INIT;
		_cleanup_free_ char *text = xasprintf("# list\n%s\nbox %s\n", bad[i], key);
		int line;

		if (judge(text, strlen(text), "box", 22, "host_ed25519", &line) != SSH_KNOWN_MATCH)
			fail_msg("lost behind '%.40s'", bad[i]);
		assert_int_equal(line, 3);
		ssh_known_parse("f", text, strlen(text), "box", 22, &k);
		assert_string_equal(k.malformed, "f:2");
		assert_int_equal(k.n, 1);
	}
}

static void comments_blanks_and_other_systems_line_ends_do_no_harm(void **state)
{
	_cleanup_(ssh_known_release) struct ssh_known k = SSH_KNOWN_INIT;
	_cleanup_free_ char *key = public_key("host_ed25519");
	_cleanup_free_ char *crlf = xasprintf("# x\r\n\r\n \tbox\t %s\r\n", key);
	_cleanup_free_ char *tail = xasprintf("box %s   a comment with words", key);
	char with_nul[2000];
	size_t n = (size_t)snprintf(with_nul, sizeof(with_nul), "b%cx\nbox %s\n", 0, key);
	int line;

	(void)state;
	assert_int_equal(judge(crlf, strlen(crlf), "box", 22, "host_ed25519", &line),
			 SSH_KNOWN_MATCH);
	assert_int_equal(line, 3);
	ssh_known_parse("f", crlf, strlen(crlf), "box", 22, &k);
	assert_null(k.malformed);
	assert_int_equal(judge(tail, strlen(tail), "box", 22, "host_ed25519", &line),
			 SSH_KNOWN_MATCH);
	assert_int_equal(judge(with_nul, n, "box", 22, "host_ed25519", &line), SSH_KNOWN_MATCH);
	assert_int_equal(line, 2);
}

static void files_are_read_in_turn_and_a_missing_one_says_nothing(void **state)
{
	_cleanup_(ssh_known_release) struct ssh_known k = SSH_KNOWN_INIT;
	_cleanup_strv_ struct strv paths = STRV_INIT, folder = STRV_INIT;
	_cleanup_free_ char *key = public_key("host_ed25519");
	struct err e = ERR_INIT;

	(void)state;
	shell("echo '[box]:7 %s' >k2", key);
	strv_add(&paths, in_dir("none"));
	strv_add(&paths, in_dir("k2"));
	assert_int_equal(ssh_known_read(&paths, "box", 7, &k, &e), 0);
	assert_int_equal(k.n, 1);
	assert_string_equal(k.key[0].path, in_dir("k2"));
	strv_add(&folder, fx_dir);
	assert_int_equal(ssh_known_read(&folder, "box", 7, &k, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_has(e.msg, fx_dir);
}

/* ssh-keygen -F: exit status 0 when it finds a line for the name. */
static void the_same_lines_are_found_as_by_ssh_keygen(void **state)
{
	static const char *const names[] = { "box",        "a.lab,b.lab",  "*.lab",
					     "[box]:2222", "!a.lab,*.lab", "[*]:2222",
					     "[a*]:22?2",  "BOX,x",        "10.0.0.?",
					     "::1",        "[::1]:2222" };
	static const struct {
		const char *host;
		unsigned port;
	} hosts[] = { { "box", 22 },     { "box", 2222 },    { "a.lab", 22 },     { "b.lab", 22 },
		      { "a.lab", 2222 }, { "10.0.0.9", 22 }, { "10.0.0.10", 22 }, { "::1", 22 },
		      { "::1", 2222 },   { "x", 22 } };
	_cleanup_free_ char *key = public_key("host_ed25519");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *text = xasprintf("%s %s\n", names[i], key);

		put_file("kf", text);
		for (size_t j = 0; j < ARRAY_SIZE(hosts); j++) {
			_cleanup_free_ char *name = ssh_known_name(hosts[j].host, hosts[j].port);
			_cleanup_free_ char *theirs =
				sh("ssh-keygen -F '%s' -f kf >/dev/null && echo y || echo n", name);
			_cleanup_(ssh_known_release) struct ssh_known k = SSH_KNOWN_INIT;
			bool ours;

			ssh_known_parse("kf", text, strlen(text), hosts[j].host, hosts[j].port, &k);
			ours = k.n > 0 && !k.key[0].is_other_port;
			if (ours != (theirs[0] == 'y'))
				fail_msg("'%s' for '%s': ours %d, ssh-keygen %s", names[i], name,
					 ours, theirs);
		}
	}
}

static void fingerprints_are_those_of_ssh_keygen(void **state)
{
	static const char *const names[] = { "host_ed25519", "host_ecdsa521", "host_rsa" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(ssh_keyfile_release) struct ssh_keyfile k = SSH_KEYFILE_INIT;
		_cleanup_free_ char *theirs = sh("ssh-keygen -lf %s.pub | cut -d' ' -f2", names[i]);
		_cleanup_free_ char *pub = xasprintf("%s.pub", names[i]);
		_cleanup_free_ char *text = get_file(pub), *ours = NULL;

		assert_true(ssh_keyfile_parse(text, strlen(text), &k));
		ours = ssh_key_fingerprint(k.blob.buf, k.blob.len);
		assert_string_equal(ours, theirs);
	}
}

static void key_files_tell_their_type_and_whether_they_have_a_passphrase(void **state)
{
	static const struct {
		const char *make, *type;
		bool is_encrypted, has_blob;
	} cases[] = {
		{ "ssh-keygen -q -t ed25519 -N '' -f k", "ssh-ed25519", false, true },
		{ "ssh-keygen -q -t ed25519 -N secret -f k", "ssh-ed25519", true, true },
		{ "ssh-keygen -q -t ecdsa -b 384 -N '' -f k", "ecdsa-sha2-nistp384", false, true },
		{ "ssh-keygen -q -t rsa -b 2048 -N '' -f k", "ssh-rsa", false, true },
		{ "ssh-keygen -q -t rsa -b 2048 -m PEM -N '' -f k", "ssh-rsa", false, true },
		{ "ssh-keygen -q -t ecdsa -m PEM -N '' -f k", "ecdsa-sha2-nistp256", false, true },
		{ "ssh-keygen -q -t ecdsa -m PEM -N secret -f k", "ecdsa-sha2-nistp256", true,
		  true },
		{ "ssh-keygen -q -t ecdsa -m PKCS8 -N secret -f k; rm k.pub", NULL, true, false },
		{ "ssh-keygen -q -t ecdsa -m PEM -N secret -f k; rm k.pub", NULL, true, false },
		{ "ssh-keygen -q -t rsa -b 2048 -m PEM -N secret -f k; rm k.pub", "ssh-rsa", true,
		  false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(ssh_keyfile_release) struct ssh_keyfile k = SSH_KEYFILE_INIT;
		struct err e = ERR_INIT;

		shell("rm -f k k.pub; %s", cases[i].make);
		if (ssh_keyfile_read(in_dir("k"), &k, &e) < 0)
			fail_msg("%s: %s", cases[i].make, e.msg);
		if (!str_eq(k.type, cases[i].type) || k.is_encrypted != cases[i].is_encrypted ||
		    (k.blob.len > 0) != cases[i].has_blob || k.is_public)
			fail_msg("%s: type %s, encrypted %d, %zu bytes", cases[i].make,
				 k.type ? k.type : "-", k.is_encrypted, k.blob.len);
	}
}

static void a_private_key_that_is_open_to_others_is_refused(void **state)
{
	_cleanup_(ssh_keyfile_release) struct ssh_keyfile k = SSH_KEYFILE_INIT;
	struct err e = ERR_INIT;

	(void)state;
	shell("cp user_ed25519 open && chmod 640 open; echo text >none");
	assert_int_equal(ssh_keyfile_read(in_dir("open"), &k, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_has(e.msg, "chmod 600");
	assert_int_equal(ssh_keyfile_read(in_dir("none"), &k, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_int_equal(ssh_keyfile_read(in_dir("missing"), &k, &e), -1);
	assert_int_equal(e.code, ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_that_is_listed_matches_and_another_of_its_type_has_changed),
		cmocka_unit_test(a_port_that_is_not_22_has_a_name_of_its_own),
		cmocka_unit_test(a_key_of_port_22_counts_on_another_when_it_is_the_same),
		cmocka_unit_test(the_other_port_s_key_does_not_excuse_a_changed_one),
		cmocka_unit_test(lists_wildcards_and_exceptions_are_matched),
		cmocka_unit_test(a_pattern_with_many_stars_is_matched_in_little_time),
		cmocka_unit_test(names_that_ssh_keygen_hashed_are_found),
		cmocka_unit_test(a_revoked_key_is_refused_wherever_its_line_stands),
		cmocka_unit_test(an_authority_is_not_taken_for_a_key),
		cmocka_unit_test(a_line_that_is_not_one_costs_only_itself),
		cmocka_unit_test(comments_blanks_and_other_systems_line_ends_do_no_harm),
		cmocka_unit_test(files_are_read_in_turn_and_a_missing_one_says_nothing),
		cmocka_unit_test(the_same_lines_are_found_as_by_ssh_keygen),
		cmocka_unit_test(fingerprints_are_those_of_ssh_keygen),
		cmocka_unit_test(key_files_tell_their_type_and_whether_they_have_a_passphrase),
		cmocka_unit_test(a_private_key_that_is_open_to_others_is_refused),
	};

	return cmocka_run_group_tests(tests, make_keys, remove_dir);
}
