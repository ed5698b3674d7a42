/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds by the user's own command: environment, image, exit status, key. */
#include "unit/build_fixture.h"

static struct build_result command_build(const char *script, struct err *e, int *ret)
{
	_cleanup_fx_ struct fx f;
	struct commit_id id = commit_all();
	struct build_result r = { .outcome = TRIAL_UNSET };

	fx_init(&f);
	write_file("build.sh", script);
	strv_add(&f.command, "sh");
	strv_add(&f.command, "build.sh");
	strv_add(&f.env, "KREGRESS_STATE=/state");
	_cleanup_builder_ struct builder *b = open_builder(&f);

	*ret = try_build(b, id, &r, e);
	return r;
}

static void a_command_gets_its_environment_and_leaves_an_image(void **state)
{
	struct err e = ERR_INIT;
	int ret;

	(void)state;
	_cleanup_result_ struct build_result r =
		command_build("test \"$PWD\" -ef . && test -d \"$KREGRESS_OUT\" && test "
			      "$KREGRESS_STATE = /state &&\n"
			      "echo $KREGRESS_COMMIT >$KREGRESS_IMAGE && cat $KREGRESS_SRC/main.c "
			      ">>$KREGRESS_IMAGE\n",
			      &e, &ret);
	_cleanup_free_ char *want = sh("cd repo; git rev-parse HEAD; cat main.c");

	assert_int_equal(ret, 0);
	assert_int_equal(r.outcome, TRIAL_OK);
	assert_null(r.config);
	_cleanup_free_ char *have = sh("cat '%s'", r.image);

	assert_string_equal(have, want);
	_cleanup_result_ struct build_result again =
		command_build("test \"$PWD\" -ef . && test -d \"$KREGRESS_OUT\" && test "
			      "$KREGRESS_STATE = /state &&\n"
			      "echo $KREGRESS_COMMIT >$KREGRESS_IMAGE && cat $KREGRESS_SRC/main.c "
			      ">>$KREGRESS_IMAGE\n",
			      &e, &ret);

	assert_true(again.cached);
	/* other contents of the script, another kernel */
	_cleanup_result_ struct build_result other = command_build("echo 2 >$KREGRESS_IMAGE\n", &e,
								   &ret);

	assert_false(other.cached);
}

static void the_exit_status_of_a_command_says_whose_failure_it_is(void **state)
{
	static const struct {
		const char *script;
		enum trial_outcome outcome; /* TRIAL_UNSET: ours */
		const char *text;
	} cases[] = {
		{ "echo a.c:1:1: error: x; exit 1\n", TRIAL_BUILD_FAILED, "a.c:1:1: error: x" },
		{ "exit 3\n", TRIAL_BUILD_FAILED, "sh: exit status 3" },
		{ "exit 125\n", TRIAL_UNTESTABLE, "sh: exit status 125" },
		{ "exit 128\n", TRIAL_UNSET, "exit status 128" },
		{ "kill -9 $$\n", TRIAL_UNSET, "killed by signal 9" },
		{ "exit 0\n", TRIAL_UNSET, "leaves no image" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		int ret;
		_cleanup_result_ struct build_result r = command_build(cases[i].script, &e, &ret);

		assert_int_equal(r.outcome, cases[i].outcome);
		assert_int_equal(ret, cases[i].outcome == TRIAL_UNSET ? -1 : 0);
		if (ret == 0)
			assert_string_equal(r.signature, cases[i].text);
		else
			assert_non_null(strstr(e.msg, cases[i].text));
		assert_int_equal(e.code, ret == 0 ? ERR_NONE : ERR_LAB);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_command_gets_its_environment_and_leaves_an_image),
		T(the_exit_status_of_a_command_says_whose_failure_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
