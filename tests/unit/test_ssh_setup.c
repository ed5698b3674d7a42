/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine made quiet over a real sshd, with fake /proc and /sys (see ssh_box_fixture.h). */
#include "unit/ssh_box_fixture.h"

#define CPU "sys/devices/system/cpu/"

/* Parse @word (…) of setup =; NULL-terminated. */
static struct strv words_of(const char *const *word)
{
	struct strv in = STRV_INIT, out = STRV_INIT;
	struct err e = ERR_INIT;

	for (; *word; word++)
		strv_add(&in, *word);
	must(&e, ssh_setup_parse(&in, &out, &e));
	strv_release(&in);
	return out;
}
#define WORDS(...) words_of((const char *const[]){ __VA_ARGS__, NULL })

static void refuses(const char *word, const char *part)
{
	_cleanup_strv_ struct strv in = STRV_INIT, out = STRV_INIT;
	struct err e = ERR_INIT;

	strv_add(&in, word);
	assert_int_equal(ssh_setup_parse(&in, &out, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_has(e.msg, part);
}

static void mistakes_in_words_are_found_without_the_machine(void **state)
{
	(void)state;
	refuses("goverNor=performance", "did you mean 'governor'?");
	refuses("turbo=maybe", "it is turbo=on|off");
	refuses("turbo", "lacks a value");
	refuses("thp=alway", "it is thp=always|madvise|never");
	refuses("governor=a b", "it is governor=NAME");
	refuses("stop=cron.service,sshd.service", "cannot be reached");
	refuses("stop=NetworkManager", "cannot be reached");
	refuses("stop=a;reboot", "no name of a service");
	refuses("/etc/passwd=x", "below /proc/sys or /sys");
	refuses("/sys/../etc/passwd=x", "below /proc/sys or /sys");
	refuses("/sys/a b=x", "below /proc/sys or /sys");
}

static void units_become_one_word_each_and_blanks_in_values_one(void **state)
{
	_cleanup_strv_ struct strv words = WORDS("stop=a.service,b.timer", "/proc/sys/x= 1 \t 2 ");

	(void)state;
	assert_int_equal(words.n, 3);
	assert_string_equal(words.v[0], "stop=a.service");
	assert_string_equal(words.v[1], "stop=b.timer");
	assert_string_equal(words.v[2], "/proc/sys/x=1 2");
}

static void the_blanks_of_a_value_stay_also_behind_an_equals_sign(void **state)
{
	_cleanup_strv_ struct strv given = WORDS("/proc/sys/kernel/core_pattern=  |/bin/x a=  b ");
	_cleanup_strv_ struct strv words = STRV_INIT;
	struct err e = ERR_INIT;

	(void)state;
	must(&e, ssh_setup_parse(&given, &words, &e));
	assert_string_equal(words.v[0], "/proc/sys/kernel/core_pattern=|/bin/x a= b");
}

static void all_settings_are_made_and_put_back(void **state)
{
	_cleanup_strv_ struct strv words = WORDS("governor=performance", "turbo=off", "smt=off",
						 "thp=never", "aslr=off", "stop=cron.service",
						 "/proc/sys/net/ipv4/tcp_rmem=1 2 3");
	struct err e = ERR_INIT;

	(void)state;
	must(&e, ssh_box_setup(&box, &words, &e));
	assert_faked(CPU "cpufreq/policy0/scaling_governor", "performance");
	assert_faked(CPU "cpufreq/policy1/scaling_governor", "performance");
	assert_faked(CPU "intel_pstate/no_turbo", "1");
	assert_faked(CPU "smt/control", "off");
	assert_faked("sys/kernel/mm/transparent_hugepage/enabled", "never");
	assert_faked("proc/sys/kernel/randomize_va_space", "0");
	assert_faked("proc/sys/net/ipv4/tcp_rmem", "1 2 3");
	assert_false(fs_exists(in_dir("root/units/cron.service")));
	must(&e, ssh_box_restore(&box, &e));
	assert_faked(CPU "cpufreq/policy0/scaling_governor", "powersave");
	assert_faked(CPU "cpufreq/policy1/scaling_governor", "schedutil");
	assert_faked(CPU "intel_pstate/no_turbo", "0");
	assert_faked(CPU "smt/control", "on");
	assert_faked("sys/kernel/mm/transparent_hugepage/enabled", "madvise");
	assert_faked("proc/sys/kernel/randomize_va_space", "2");
	assert_faked("proc/sys/net/ipv4/tcp_rmem", "4096 131072 6291456");
	assert_true(fs_exists(in_dir("root/units/cron.service")));
	assert_false(fs_exists(in_dir("work/settings.before")));
}

static void what_a_killed_session_left_is_put_back_by_the_next(void **state)
{
	_cleanup_strv_ struct strv first = WORDS("turbo=off", "aslr=off"), none = STRV_INIT;
	_cleanup_strv_ struct strv second = WORDS("thp=never");
	struct err e = ERR_INIT;

	(void)state;
	must(&e, ssh_box_setup(&box, &first, &e));
	/* Killed here. The next one wants other things. */
	must(&e, ssh_box_setup(&box, &second, &e));
	assert_faked(CPU "intel_pstate/no_turbo", "0");
	assert_faked("proc/sys/kernel/randomize_va_space", "2");
	assert_faked("sys/kernel/mm/transparent_hugepage/enabled", "never");
	/* And one that wants nothing. */
	must(&e, ssh_box_setup(&box, &none, &e));
	assert_faked("sys/kernel/mm/transparent_hugepage/enabled", "madvise");
}

static void values_from_before_a_reboot_are_forgotten(void **state)
{
	_cleanup_strv_ struct strv words = WORDS("turbo=off");
	struct err e = ERR_INIT;

	(void)state;
	must(&e, ssh_box_setup(&box, &words, &e));
	/* Booted since, and the firmware came up with turbo off: that is its own choice. */
	snprintf(box.boot_id, sizeof(box.boot_id), "another-boot");
	must(&e, ssh_box_restore(&box, &e));
	assert_faked(CPU "intel_pstate/no_turbo", "1");
	assert_false(fs_exists(in_dir("work/settings.before")));
}

static void a_setting_that_does_not_take_is_said_and_all_are_put_back(void **state)
{
	_cleanup_strv_ struct strv words = WORDS("aslr=off", "turbo=off", "smt=off");
	struct err e = ERR_INIT;

	(void)state;
	/* A real file of /proc that nobody can write. */
	shell("rm -r root/" CPU "smt root/" CPU "intel_pstate/no_turbo; "
	      "ln -s /proc/sys/kernel/ostype root/" CPU "intel_pstate/no_turbo");
	assert_int_equal(ssh_box_setup(&box, &words, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "turbo=off: ");
	assert_has(e.msg, "says 'Linux' after '1' was written");
	assert_has(e.msg, "smt=off: no control of it");
	assert_faked("proc/sys/kernel/randomize_va_space", "2");
}

static void a_machine_without_smt_has_it_off(void **state)
{
	_cleanup_strv_ struct strv words = WORDS("smt=off");
	struct err e = ERR_INIT;

	(void)state;
	fake(CPU "smt/control", "notsupported");
	must(&e, ssh_box_setup(&box, &words, &e));
	assert_faked(CPU "smt/control", "notsupported");
}

static void turbo_is_off_where_it_is_called_boost(void **state)
{
	_cleanup_strv_ struct strv words = WORDS("turbo=off");
	struct err e = ERR_INIT;

	(void)state;
	shell("rm -r root/" CPU "intel_pstate");
	fake(CPU "cpufreq/boost", "1");
	must(&e, ssh_box_setup(&box, &words, &e));
	assert_faked(CPU "cpufreq/boost", "0");
	must(&e, ssh_box_restore(&box, &e));
	assert_faked(CPU "cpufreq/boost", "1");
}

static void a_service_that_was_not_running_is_not_started(void **state)
{
	_cleanup_strv_ struct strv words = WORDS("stop=idle.service");
	struct err e = ERR_INIT;

	(void)state;
	must(&e, ssh_box_setup(&box, &words, &e));
	must(&e, ssh_box_restore(&box, &e));
	assert_false(fs_exists(in_dir("root/units/idle.service")));
}

/* ---- waiting ------------------------------------------------------------------------------- */

static void a_quiet_machine_is_not_waited_for(void **state)
{
	int64_t begun = clock_mono_ms();
	struct err e = ERR_INIT;

	(void)state;
	must(&e, ssh_box_wait(&box, 0.5, 60000, &e));
	assert_true(clock_mono_ms() - begun < 1500);
}

static void a_loaded_machine_is_waited_for_and_given_up(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	fake("proc/loadavg", "10.08 9.0 8.0 1/1 1");
	assert_int_equal(ssh_box_wait(&box, 10.07, 2000, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "does not become quiet: load 10.08 after 2 s");
	must(&e, ssh_box_wait(&box, 10.08, 2000, &e));
	must(&e, ssh_box_wait(&box, 0, 2000, &e));
}

static void it_goes_on_when_the_load_has_gone_down(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	fake("proc/loadavg", "0.90 9.0 8.0 1/1 1");
	/* In a session of its own: what a shell of ours leaves behind is killed with it. */
	shell("setsid -f sh -c 'sleep 0.7; echo 0.09 0 0 1/1 1 >root/new; mv root/new "
	      "root/proc/loadavg' >/dev/null "
	      "2>&1; sleep 0.2");
	must(&e, ssh_box_wait(&box, 0.1, 60000, &e));
}

static void a_throttled_cpu_is_waited_for(void **state)
{
	const char *counter = CPU "cpu0/thermal_throttle/core_throttle_count";
	struct err e = ERR_INIT;

	(void)state;
	fake(counter, "5");
	/* A count of long ago is no heat. (Later it is renamed into place: never half a file.) */
	must(&e, ssh_box_wait(&box, 0, 1000, &e));
	shell("setsid -f sh -c 'for i in 6 7 8 9 10 11 12 13 14 15 16 17 18; do sleep 0.3; "
	      "echo $i >root/new; mv root/new root/%s; done' >/dev/null 2>&1; sleep 0.2",
	      counter);
	assert_int_equal(ssh_box_wait(&box, 0, 1000, &e), -1);
	assert_has(e.msg, "throttled for its temperature");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_in_words_are_found_without_the_machine),
		cmocka_unit_test(units_become_one_word_each_and_blanks_in_values_one),
		cmocka_unit_test(the_blanks_of_a_value_stay_also_behind_an_equals_sign),
		cmocka_unit_test_setup(all_settings_are_made_and_put_back, fresh),
		cmocka_unit_test_setup(what_a_killed_session_left_is_put_back_by_the_next, fresh),
		cmocka_unit_test_setup(values_from_before_a_reboot_are_forgotten, fresh),
		cmocka_unit_test_setup(a_setting_that_does_not_take_is_said_and_all_are_put_back,
				       fresh),
		cmocka_unit_test_setup(a_machine_without_smt_has_it_off, fresh),
		cmocka_unit_test_setup(turbo_is_off_where_it_is_called_boost, fresh),
		cmocka_unit_test_setup(a_service_that_was_not_running_is_not_started, fresh),
		cmocka_unit_test_setup(a_quiet_machine_is_not_waited_for, fresh),
		cmocka_unit_test_setup(a_loaded_machine_is_waited_for_and_given_up, fresh),
		cmocka_unit_test_setup(it_goes_on_when_the_load_has_gone_down, fresh),
		cmocka_unit_test_setup(a_throttled_cpu_is_waited_for, fresh),
	};

	return cmocka_run_group_tests(tests, open_box, close_box);
}
