/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commits before a bad one: tags as git rev-list orders them, or steps of time; beside git itself. */
#include "unit/repo_fixture.h"

/* "name hex" lines of what repo_earlier() finds before @rev. Owned. */
static char *earlier(struct repo *r, const char *rev, unsigned max)
{
	struct commit_id bad = resolve(r, rev);
	struct repo_named *list = NULL;
	struct str text = STR_INIT;
	struct err e = ERR_INIT;
	size_t n = 99;

	if (repo_earlier(r, &bad, max, &list, &n, &e))
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < n; i++) {
		char hex[COMMIT_HEX + 1];

		str_addf(&text, "%s%s %s", i ? "\n" : "", list[i].name,
			 commit_hex(&list[i].id, hex));
	}
	repo_named_free(list, n);
	return str_detach(&text);
}

/* The same lines without the names. Owned. */
static char *earlier_ids(struct repo *r, const char *rev, unsigned max)
{
	char *text = earlier(r, rev, max), *to = text;

	for (char *line = text, *end; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		memmove(to, end - COMMIT_HEX, COMMIT_HEX);
		to += COMMIT_HEX;
		if (*end)
			*to++ = '\n';
	}
	*to = '\0';
	return text;
}

static void assert_same(const char *what, const char *got, const char *want)
{
	if (strcmp(got, want))
		fail_msg("%s: got\n%s\nwant\n%s", what, got, want);
}

/*
 * 60 commits with merges, ties and clock skew from a seed, and tags of every kind on a third of
 * them, for git fast-import.
 */
static void make_random(unsigned seed)
{
	_cleanup_str_ struct str in = STR_INIT;
	_cleanup_free_ char *path = fs_join(top, "stream");
	struct err e = ERR_INIT;
	bool had_root = false;

	srand(seed);
	for (int i = 1; i <= 60; i++) {
		int skew = rand() % 8 ? 0 : rand() % 3000 - 1500;
		int date = 1700000000 + 50 * (i / (1 + rand() % 2)) + skew;

		/* another root now and then, merged soon; branches leave from anywhere */
		bool root = i == 1 || (i % 2 && i < 60 && rand() % 15 == 0);

		str_addf(&in,
			 "%scommit refs/heads/main\nmark :%d\ncommitter A <a@u> %d +0000\n"
			 "data 1\nx\n",
			 root ? "reset refs/heads/main\n" : "", i, date);
		if (!root)
			str_addf(&in, "from :%d\n", rand() % 3 ? i - 1 : 1 + rand() % (i - 1));
		if (!root && (had_root || rand() % 4 == 0))
			str_addf(&in, "merge :%d\n", 1 + rand() % (i - 1));
		had_root = root && i > 1;
		for (int k = rand() % 6; k < 2; k++)
			str_addf(&in, "reset refs/tags/%s%d.%d\nfrom :%d\n\n", k ? "d/" : "t", i, k,
				 i);
		if (rand() % 6 == 0)
			str_addf(&in, "tag a%d\nfrom :%d\ntagger A <a@u> 1 +0000\ndata 1\nx\n", i,
				 i);
	}
	assert_int_equal(fs_write(path, in.buf, in.len, &e), 0);
	do_sh("rm -rf random; git init -q -b main random; cd random; "
	      "git fast-import --quiet --force <../stream; "
	      "git tag nested $(git mktag <<END\n"
	      "object $(git rev-parse main)\ntype commit\ntag inner\ntagger A <a@u> 1 "
	      "+0000\n\nEND\n"
	      "); git -c advice.nestedTag=false tag -a -m x outer nested; git tag of-a-tree "
	      "main^{tree}; "
	      "git tag of-a-blob $(echo x | git hash-object -w --stdin)");
}

static void tags_are_those_of_git_in_the_order_of_rev_list(void **state)
{
	unsigned compared = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 25; seed++) {
		_cleanup_free_ char *tip = NULL, *all = NULL, *five = NULL;
		_cleanup_free_ char *mine = NULL, *my_five = NULL;
		struct repo *r;

		make_random(seed);
		/* the commits that git calls tagged and merged, in the order of its walk */
		do_sh("cd random; git for-each-ref --merged main --format='%(objectname) "
		      "%(*objectname)' refs/tags | awk '{ print $NF }' "
		      "| while read -r t; do git rev-parse \"$t^{commit}\"; done | sort -u "
		      ">../tags; "
		      "git rev-list main | grep -Fxf ../tags | grep -v $(git rev-parse main) "
		      ">../want || :");
		all = sh("cat want");
		five = sh("head -5 want");
		r = open_at("random");
		mine = earlier_ids(r, "main", 1000);
		my_five = earlier_ids(r, "main", 5);
		tip = xasprintf("seed %u", seed);
		/* where the tip has hardly a history, no tag may be in it: other tests' case */
		compared += *all != '\0';
		if (*all) {
			assert_same(tip, mine, all);
			assert_same(tip, my_five, five);
		}
		repo_close(r);
	}
	assert_in_range(compared, 20, 25);
}

static void several_tags_of_a_commit_are_one_entry_named_by_the_annotated_one(void **state)
{
	_cleanup_free_ char *mine = NULL, *want = NULL;
	struct repo *r;

	(void)state;
	do_sh("git init -q -b main names; cd names; c() { n=$((${n:-1700000000}+60)); "
	      "GIT_COMMITTER_DATE=\"$n +0000\" git commit -q --allow-empty -m $1; }\n"
	      "c a; git tag a-light; git tag -a -m x z-release; git tag zz-light; "
	      "c b; git tag two; git tag one; "
	      "c c; git checkout -q -b side; c d; git tag not-merged; git checkout -q main; "
	      "c e; git tag tip; git pack-refs --all");
	r = open_at("names");
	mine = earlier(r, "main", 10);
	want = sh("cd names; echo one $(git rev-parse one); echo z-release $(git rev-parse "
		  "a-light)");
	assert_same("names", mine, want);
	free(mine);
	mine = earlier(r, "a-light", 10);
	assert_same("before the root", mine, "");
	repo_close(r);
}

/* Commits 9 hours apart for 130 days on first parents, with side branches of other dates. */
static const char make_ages[] =
	"git init -q -b main ages; cd ages; n=1700000000; i=0; "
	"while [ $i -lt 347 ]; do i=$((i+1)); n=$((n+32400)); "
	"printf 'commit refs/heads/side\\nmark :%d\\ncommitter A <a@u> %d +0000\\ndata 1\\ny\\n' "
	"$((1000+i)) $((n-86400*5)); [ $i = 1 ] || printf 'from :%d\\n' $((i-1)); "
	"printf 'commit refs/heads/main\\nmark :%d\\ncommitter A <a@u> %d +0000\\ndata 1\\nx\\n' "
	"$i "
	"$n; [ $i = 1 ] || printf 'from :%d\\n' $((i-1)); printf 'merge :%d\\n' $((1000+i)); "
	"done | git fast-import --quiet";

static void without_tags_steps_of_time_on_first_parents_are_taken(void **state)
{
	static const struct {
		const char *name;
		int days;
	} steps[] = { { "1 day", 1 },    { "3 days", 3 },    { "1 week", 7 },    { "2 weeks", 14 },
		      { "1 month", 30 }, { "2 months", 60 }, { "4 months", 120 } };
	_cleanup_str_ struct str want = STR_INIT;
	_cleanup_free_ char *mine = NULL, *three = NULL, *first = NULL;
	struct repo *r;

	(void)state;
	do_sh(make_ages);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		_cleanup_free_ char *id =
			sh("cd ages; t=$(git log -1 --format=%%ct main); git log -1 --first-parent "
			   "--format=%%H --before=$((t-86400*%d)) main",
			   steps[i].days);

		str_addf(&want, "%s%s before %s", i ? "\n" : "", steps[i].name, id);
		if (i == 2)
			first = xstrdup(want.buf);
	}
	r = open_at("ages");
	mine = earlier(r, "main", 10);
	assert_same("ages", mine, want.buf);
	three = earlier(r, "main", 3);
	assert_same("three of them", three, first);
	repo_close(r);
	/* a tag elsewhere is no tag of this history; one in it is taken instead of the steps */
	do_sh("cd ages; git tag elsewhere $(git commit-tree -m x main^{tree}); git gc -q");
	r = open_at("ages");
	free(mine);
	mine = earlier(r, "main", 10);
	assert_same("with a tag elsewhere", mine, want.buf);
	repo_close(r);
	do_sh("cd ages; git tag here main~300^2");
	r = open_at("ages");
	free(mine);
	mine = earlier(r, "main", 10);
	assert_true(str_starts(mine, "here "));
	assert_null(strchr(mine, '\n'));
	repo_close(r);
}

static void a_history_shorter_than_the_steps_ends_with_its_oldest_commit(void **state)
{
	_cleanup_free_ char *mine = NULL, *want = NULL;
	struct repo *r;

	(void)state;
	do_sh("git init -q -b main short; cd short; c() { "
	      "GIT_COMMITTER_DATE=\"$((1700000000+86400*$1)) +0000\" git commit -q --allow-empty "
	      "-m $1; }\n"
	      "c 0; c 2; c 12; c 13; c 19; c 19");
	r = open_at("short");
	/* 6 days jump over 1 day; 17 days stand for 1 and 2 weeks */
	mine = earlier(r, "main", 10);
	want = sh("cd short; echo 3 days before $(git rev-parse main~2); echo 1 week before $(git "
		  "rev-parse main~3); echo 2 weeks before $(git rev-parse main~4); echo the oldest "
		  "commit $(git rev-parse main~5)");
	assert_same("short", mine, want);
	free(mine);
	free(want);
	mine = earlier(r, "main~4", 10);
	want = sh("echo 1 day before $(git -C short rev-parse main~5)");
	assert_same("the root is one of the steps", mine, want);
	free(mine);
	mine = earlier(r, "main~5", 10);
	assert_same("the root has nothing before it", mine, "");
	repo_close(r);
}

static void a_shallow_clone_ends_at_its_border_without_an_error(void **state)
{
	_cleanup_free_ char *mine = NULL, *want = NULL;
	struct repo *r;

	(void)state;
	do_sh("git clone -q --no-tags --depth 4 \"file://$PWD/short\" shallow");
	r = open_at("shallow");
	mine = earlier(r, "HEAD", 10);
	want = sh(
		"cd shallow; echo 3 days before $(git rev-parse HEAD~2); echo 1 week before $(git "
		"rev-parse HEAD~3)");
	assert_same("steps", mine, want);
	repo_close(r);
	do_sh("cd shallow; git tag one HEAD~2; git tag two HEAD~3");
	r = open_at("shallow");
	free(mine);
	free(want);
	mine = earlier(r, "HEAD", 10);
	want = sh("cd shallow; echo one $(git rev-parse one); echo two $(git rev-parse two)");
	assert_same("tags", mine, want);
	repo_close(r);
}

static void a_damaged_history_is_an_error_that_names_the_commit(void **state)
{
	_cleanup_free_ char *gone = NULL;
	struct repo_named *list = NULL;
	struct err e = ERR_INIT;
	struct commit_id bad;
	struct repo *r;
	size_t n;

	(void)state;
	do_sh("git clone -q --no-local short damaged; cd damaged; git tag root main~5; "
	      "p=$(ls .git/objects/pack/*.pack); mv $p ../p; rm -f .git/objects/pack/*; "
	      "git unpack-objects -q <../p");
	gone = sh("cd damaged; h=$(git rev-parse main~2); "
		  "rm -f .git/objects/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-); echo $h");
	r = open_at("damaged");
	bad = resolve(r, "main");
	assert_int_equal(repo_earlier(r, &bad, 5, &list, &n, &e), -1);
	assert_int_equal(e.code, ERR_GIT);
	assert_non_null(strstr(e.msg, gone));
	assert_null(list);
	repo_close(r);
}

static void the_walk_ends_when_enough_is_found(void **state)
{
	_cleanup_free_ char *mine = NULL;
	struct repo *r;

	(void)state;
	/* what is missing behind the tags that were wanted is never read */
	do_sh("cd damaged; git tag near main~1");
	r = open_at("damaged");
	mine = earlier(r, "main", 1);
	assert_true(str_starts(mine, "near "));
	repo_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags_are_those_of_git_in_the_order_of_rev_list),
		cmocka_unit_test(several_tags_of_a_commit_are_one_entry_named_by_the_annotated_one),
		cmocka_unit_test(without_tags_steps_of_time_on_first_parents_are_taken),
		cmocka_unit_test(a_history_shorter_than_the_steps_ends_with_its_oldest_commit),
		cmocka_unit_test(a_shallow_clone_ends_at_its_border_without_an_error),
		cmocka_unit_test(a_damaged_history_is_an_error_that_names_the_commit),
		cmocka_unit_test(the_walk_ends_when_enough_is_found),
	};

	return cmocka_run_group_tests_name("repo_tags", tests, set_up, tear_down);
}
