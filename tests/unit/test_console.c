/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Console output as kernels print it: each sign found, and nothing found where nothing is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/str.h"
#include "target/console.h"

static void check(const char *text, enum console_sign sign, const char *line)
{
	char got[200] = "untouched";
	enum console_sign s = console_scan(text, strlen(text), got, sizeof(got));

	if (s != sign)
		fail_msg("'%s' where '%s' was due: %s", console_sign_name(s),
			 console_sign_name(sign), text);
	assert_string_equal(got, line);
}

static void a_quiet_boot_is_clean(void **state)
{
	(void)state;
	check("", CONSOLE_CLEAN, "");
	check("[    0.000000] Linux version 6.12.117 (gcc) #1 SMP\r\n"
	      "[    0.006147] ACPI BIOS Error (bug): A valid RSDP was not found\r\n"
	      "[    0.107000] x86/mm: Checked W+X mappings: passed, no W+X pages found.\r\n"
	      "[    0.228725] reboot: Power down\r\n",
	      CONSOLE_CLEAN, "");
}

static void each_sign_is_told_by_its_own_line(void **state)
{
	(void)state;
	check("[    1.2] x\n[   12.345678] Kernel panic - not syncing: VFS: Unable to mount root "
	      "fs "
	      "on unknown-block(0,0)\r\n",
	      CONSOLE_PANIC,
	      "Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)");
	check("[    3.1] BUG: kernel NULL pointer dereference, address: 0000000000000008\n"
	      "[    3.1] #PF: supervisor read access in kernel mode\n"
	      "[    3.1] Oops: 0000 [#1] PREEMPT SMP NOPTI\n",
	      CONSOLE_OOPS, "BUG: kernel NULL pointer dereference, address: 0000000000000008");
	check("[    3.1] ------------[ cut here ]------------\n"
	      "[    3.1] kernel BUG at mm/hugetlb.c:1234!\n"
	      "[    3.1] invalid opcode: 0000 [#1] SMP\n",
	      CONSOLE_OOPS, "kernel BUG at mm/hugetlb.c:1234!");
	check("[    3.1] general protection fault, probably for non-canonical address "
	      "0xdead000000000100: 0000 [#1] SMP\n",
	      CONSOLE_OOPS,
	      "general protection fault, probably for non-canonical address 0xdead000000000100: "
	      "0000 [#1] SMP");
	check("[    3.1][  T123] BUG: KASAN: slab-use-after-free in f+0x12/0x34\n", CONSOLE_OOPS,
	      "BUG: KASAN: slab-use-after-free in f+0x12/0x34");
	check("[   44.0] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [ebizzy:71]\n",
	      CONSOLE_SOFT_LOCKUP, "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [ebizzy:71]");
	check("[   44.0] BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for "
	      "31s!\n",
	      CONSOLE_SOFT_LOCKUP,
	      "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!");
	check("[   21.0] rcu: INFO: rcu_preempt self-detected stall on CPU\n", CONSOLE_RCU_STALL,
	      "rcu: INFO: rcu_preempt self-detected stall on CPU");
	check("<3>[   21.0] INFO: rcu_sched detected stalls on CPUs/tasks: { 1}\n",
	      CONSOLE_RCU_STALL, "INFO: rcu_sched detected stalls on CPUs/tasks: { 1}");
	check("[  242.0] INFO: task khugepaged:33 blocked for more than 120 seconds.\n",
	      CONSOLE_HUNG_TASK, "INFO: task khugepaged:33 blocked for more than 120 seconds.");
	check("[    5.0] Out of memory: Killed process 71 (misbehave) total-vm:90000kB\n",
	      CONSOLE_OOM, "Out of memory: Killed process 71 (misbehave) total-vm:90000kB");
	check("[    5.0] WARNING: CPU: 0 PID: 1 at mm/page_alloc.c:4545 f+0x1/0x2\n",
	      CONSOLE_WARNING, "WARNING: CPU: 0 PID: 1 at mm/page_alloc.c:4545 f+0x1/0x2");
}

static void the_gravest_sign_wins(void **state)
{
	(void)state;
	check("[ 1.0] WARNING: CPU: 0 PID: 1 at a.c:1 f+0x1/0x2\n"
	      "[ 2.0] rcu: INFO: rcu_sched self-detected stall on CPU\n"
	      "[ 3.0] Out of memory: Killed process 7 (x)\n",
	      CONSOLE_RCU_STALL, "rcu: INFO: rcu_sched self-detected stall on CPU");
}

static void a_panic_caused_by_an_oops_is_told_by_the_oops(void **state)
{
	(void)state;
	check("[ 1.0] BUG: unable to handle page fault for address: ffffc90000000000\n"
	      "[ 1.0] Oops: 0002 [#1] SMP\n"
	      "[ 1.1] Kernel panic - not syncing: Fatal exception\n",
	      CONSOLE_PANIC, "BUG: unable to handle page fault for address: ffffc90000000000");
	check("[ 1.0] INFO: task x:1 blocked for more than 10 seconds.\n"
	      "[ 1.1] Kernel panic - not syncing: hung_task: blocked tasks\n",
	      CONSOLE_PANIC, "INFO: task x:1 blocked for more than 10 seconds.");
	check("[ 1.0] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [x:1]\n"
	      "[ 1.1] Kernel panic - not syncing: softlockup: hung tasks\n",
	      CONSOLE_PANIC, "watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [x:1]");
}

static void a_panic_that_has_nothing_to_do_with_an_earlier_sign_keeps_its_line(void **state)
{
	(void)state;
	check("[ 1.0] rcu: INFO: rcu_sched self-detected stall on CPU\n"
	      "[ 9.1] Kernel panic - not syncing: No working init found.\n",
	      CONSOLE_PANIC, "Kernel panic - not syncing: No working init found.");
	/* What follows a panic did not cause it. */
	check("[ 9.1] Kernel panic - not syncing: No working init found.\n"
	      "[ 9.2] BUG: scheduling while atomic: swapper/0/1\n",
	      CONSOLE_PANIC, "Kernel panic - not syncing: No working init found.");
}

static void words_of_programs_and_mentions_are_no_signs(void **state)
{
	(void)state;
	check("workload: Kernel panic - not syncing: imitation\n"
	      "[ 1.0] traps: ebizzy[71] general protection fault ip:401000 sp:7ffc error:0\n"
	      "[ 1.0] ebizzy[71]: segfault at 0 ip 0000000000401000 error 4\n"
	      "[ 1.0] Kernel command line: oops=panic panic=-1\n"
	      "[ 1.0] rcu: INFO: nothing of note\n"
	      "[ 1.0] INFO: task manager started\n"
	      "[ 1.0] debug: this is no BUG: at all\n",
	      CONSOLE_CLEAN, "");
}

static void untrusted_bytes_come_back_harmless(void **state)
{
	static const char text[] = "\0\0\n[ 1.0] BUG: \x1b[31mred\x07 \xff\0tail\n";
	char line[100];

	(void)state;
	assert_int_equal(console_scan(text, sizeof(text) - 1, line, sizeof(line)), CONSOLE_OOPS);
	assert_string_equal(line, "BUG: \\x1b[31mred\\x07 \\xff\\x00tail");
}

static void a_long_line_is_cut_and_a_small_buffer_respected(void **state)
{
	_cleanup_str_ struct str text = STR_INIT;
	char line[16];

	(void)state;
	str_add(&text, "Kernel panic - not syncing: ");
	for (int i = 0; i < 100000; i++)
		str_add(&text, "x");
	assert_int_equal(console_scan(text.buf, text.len, line, sizeof(line)), CONSOLE_PANIC);
	assert_string_equal(line, "Kernel panic - ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_boot_is_clean),
		cmocka_unit_test(each_sign_is_told_by_its_own_line),
		cmocka_unit_test(the_gravest_sign_wins),
		cmocka_unit_test(a_panic_caused_by_an_oops_is_told_by_the_oops),
		cmocka_unit_test(
			a_panic_that_has_nothing_to_do_with_an_earlier_sign_keeps_its_line),
		cmocka_unit_test(words_of_programs_and_mentions_are_no_signs),
		cmocka_unit_test(untrusted_bytes_come_back_harmless),
		cmocka_unit_test(a_long_line_is_cut_and_a_small_buffer_respected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
