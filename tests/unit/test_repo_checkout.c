/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our private repository and its source slots: exactly the tree, and nothing else touched. */
#include "unit/repo_fixture.h"

/* A source slot beside the main repository. */
struct slot {
	struct repo *user, *priv;
	char *dir, *index;
};

static struct slot open_slot(const char *name)
{
	_cleanup_free_ char *git = xasprintf("%s/%s.git", top, name);
	struct slot s = { .user = open_at("main") };
	struct err e = ERR_INIT;

	s.dir = fs_join(top, name);
	s.index = xasprintf("%s.index", s.dir);
	if (repo_open_private(git, s.user, &s.priv, &e))
		fail_msg("%s", e.msg);
	return s;
}

static void close_slot(struct slot *s)
{
	repo_close(s->priv);
	repo_close(s->user);
	free(s->dir);
	free(s->index);
}

static size_t check_out(struct slot *s, const char *rev)
{
	struct commit_id id = resolve(s->user, rev);
	struct err e = ERR_INIT;
	size_t changed = 12345;

	if (repo_checkout(s->priv, &id, s->dir, s->index, &changed, &e))
		fail_msg("%s", e.msg);
	return changed;
}

/* The slot holds what git archive gives for @rev, modes and links included. */
static void assert_is_tree_of(const struct slot *s, const char *rev)
{
	_cleanup_free_ char *differ =
		sh("rm -rf want; mkdir want; git -C main ls-tree -r -z '%s' >/dev/null; "
		   "GIT_INDEX_FILE=$PWD/want.index git -C main -c core.autocrlf=false "
		   "-c core.attributesFile=/dev/null read-tree '%s'; "
		   "cp -r main/.git want.git; mkdir -p want.git/info; "
		   "echo '* -text -eol' >want.git/info/attributes; "
		   "GIT_INDEX_FILE=$PWD/want.index git -c core.symlinks=true --git-dir=want.git "
		   "--work-tree=want checkout-index -a; "
		   "rm -rf want.git; diff -r --no-dereference want '%s' || :; "
		   "for d in want '%s'; do (cd $d; find . -printf '%%p %%y %%m\\n' | sort) "
		   ">$d.list; done; "
		   "diff want.list '%s.list' || :",
		   rev, rev, s->dir, s->dir, s->dir);

	assert_string_equal(differ, "");
}

static void a_checkout_is_the_tree_of_the_commit_byte_for_byte(void **state)
{
	struct slot s = open_slot("slot");

	(void)state;
	/* the user's own filters must not reach our kernels */
	do_sh("git config --global core.autocrlf true; git config --global core.fileMode false; "
	      "git config --global core.symlinks false");
	assert_int_equal(check_out(&s, "v1"), 6);
	assert_is_tree_of(&s, "v1");
	check_out(&s, "main");
	assert_is_tree_of(&s, "main");
	check_out(&s, "topic");
	assert_is_tree_of(&s, "topic");
	do_sh("git config --global --unset core.autocrlf; git config --global --unset "
	      "core.fileMode; "
	      "git config --global --unset core.symlinks");
	close_slot(&s);
}

static void files_that_do_not_differ_keep_their_times(void **state)
{
	struct slot s = open_slot("times");

	(void)state;
	check_out(&s, "v1");
	do_sh("find times -type f -exec touch -d 2020-01-02 {} +");
	/* only mm/a differs */
	assert_int_equal(check_out(&s, "topic~1"), 1);
	{
		_cleanup_free_ char *fresh = sh("find times -type f -newermt 2021-01-01");

		assert_string_equal(fresh, "times/mm/a");
	}
	/* the index is lost, or damaged: contents are compared */
	do_sh("rm times.index; find times -type f -exec touch -d 2020-01-02 {} +");
	assert_int_equal(check_out(&s, "topic~1"), 0);
	do_sh("echo nonsense >times.index");
	assert_int_equal(check_out(&s, "topic~1"), 0);
	assert_int_equal(check_out(&s, "topic~1"), 0);
	{
		_cleanup_free_ char *fresh = sh("find times -type f -newermt 2021-01-01");

		assert_string_equal(fresh, "");
	}
	close_slot(&s);
}

static void all_dirt_in_a_slot_is_cleaned(void **state)
{
	struct slot s = open_slot("dirt");

	(void)state;
	check_out(&s, "main~1");
	do_sh("cd dirt; touch -r mm/a ../stamp; echo THREE >mm/a; sed -i s/THREE/thrEE/ mm/a; "
	      "printf 'three' >mm/a; echo >>mm/a; echo x >mm/a.o; touch -r ../stamp mm/a; "
	      "mkdir -p new/deep; echo x >new/deep/f; git init -q nested; echo x >nested/f; "
	      "chmod -x mm/run; rm .gitignore; rm -r include; echo file >include; "
	      "rm crlf.txt; mkdir crlf.txt; echo x >crlf.txt/y; mkdir .git; echo x >.git/config");
	assert_true(check_out(&s, "main~1") >= 8);
	assert_is_tree_of(&s, "main~1");
	/* same size, same time: only the content tells */
	do_sh("cd dirt; touch -r mm/a ../stamp; printf 'THREE\\n' >mm/a; touch -r ../stamp mm/a");
	assert_int_equal(check_out(&s, "main~1"), 1);
	assert_is_tree_of(&s, "main~1");
	assert_int_equal(check_out(&s, "main~1"), 0);
	close_slot(&s);
}

static void nothing_is_written_through_links_that_leave_the_slot(void **state)
{
	struct slot s = open_slot("links");

	(void)state;
	check_out(&s, "main~1");
	do_sh("mkdir outside; echo mine >outside/a; cd links; rm -r mm; ln -s ../outside mm; "
	      "rm crlf.txt; ln -s ../outside/a crlf.txt");
	check_out(&s, "v1");
	assert_is_tree_of(&s, "v1");
	{
		_cleanup_free_ char *mine = sh("cat outside/*; ls outside");

		assert_string_equal(mine, "mine\na");
	}
	close_slot(&s);
}

static void nothing_is_ever_written_to_the_users_repository(void **state)
{
	static const char sum[] = "find main -printf '%p %y %m %s %T@ %i\\n' | sort; "
				  "find main -type f -exec sha256sum {} + | sort";
	struct commit_id tip;
	const struct repo_range range = { .tip = &tip };
	_cleanup_(dag_release) struct dag d = DAG_INIT;
	struct err e = ERR_INIT;
	struct slot s;
	char *before, *after;

	(void)state;
	/* a dirty checkout too stays as it is */
	do_sh("echo dirty >>main/crlf.txt; echo new >main/untracked; chmod -R a-w main/.git");
	before = sh("%s", sum);
	s = open_slot("mine");
	tip = resolve(s.user, "main");
	assert_int_equal(repo_candidates(s.user, &range, &d, &e), 0);
	assert_int_equal(d.n, 7);
	check_out(&s, "v1");
	check_out(&s, "main");
	close_slot(&s);
	after = sh("%s", sum);
	assert_string_equal(after, before);
	do_sh("chmod -R u+w main/.git; git -C main checkout -q crlf.txt; rm main/untracked");
	free(before);
	free(after);
}

static void the_private_repository_borrows_and_opens_again(void **state)
{
	struct slot s = open_slot("again");
	struct commit_id id = resolve(s.user, "main~2");
	struct repo_commit c = { 0 };
	struct err e = ERR_INIT;

	(void)state;
	close_slot(&s);
	/* the user's repository moved: the same private one follows */
	do_sh("mv main moved; ln -s moved main");
	s = open_slot("again");
	assert_int_equal(repo_commit_read(s.priv, &id, &c, &e), 0);
	assert_string_equal(c.subject, "merge topic");
	assert_int_equal(c.parents, 2);
	repo_commit_release(&c);
	close_slot(&s);
	do_sh("rm main; mv moved main");
	{
		_cleanup_free_ char *objects = sh("find again.git/objects -type f");

		assert_string_equal(objects, "again.git/objects/info/alternates");
	}
}

/* Last: the signal stays pending for good. */
static void a_signal_stops_a_checkout(void **state)
{
	struct slot s = open_slot("signal");
	struct commit_id id = resolve(s.user, "main");
	struct err e = ERR_INIT;

	(void)state;
	sig_install();
	raise(SIGTERM);
	assert_int_equal(repo_checkout(s.priv, &id, s.dir, s.index, NULL, &e), -1);
	assert_int_equal(e.code, ERR_INTERRUPTED);
	close_slot(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_checkout_is_the_tree_of_the_commit_byte_for_byte),
		cmocka_unit_test(files_that_do_not_differ_keep_their_times),
		cmocka_unit_test(all_dirt_in_a_slot_is_cleaned),
		cmocka_unit_test(nothing_is_written_through_links_that_leave_the_slot),
		cmocka_unit_test(nothing_is_ever_written_to_the_users_repository),
		cmocka_unit_test(the_private_repository_borrows_and_opens_again),
		cmocka_unit_test(a_signal_stops_a_checkout),
	};

	return cmocka_run_group_tests_name("repo_checkout", tests, set_up, tear_down);
}
