/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of /proc: what each file says, and ranks, p and q worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/str.h"
#include "core/counters.h"

static struct counters parse(const char *file, const char *text)
{
	struct counters c = { .v = NULL };

	counters_parse(file, text, strlen(text), &c);
	counters_sort(&c);
	return c;
}

static void check_text(const char *file, const char *text, const char *expected)
{
	struct counters c = parse(file, text);
	_cleanup_str_ struct str out = STR_INIT;

	counters_write(&c, &out);
	assert_string_equal(str_text(&out), expected);
	counters_release(&c);
}

static void each_file_of_proc_is_understood(void **state)
{
	(void)state;
	check_text("vmstat", "nr_free_pages 120\npgfault 7\n",
		   "c vmstat/nr_free_pages 120\nc vmstat/pgfault 7\n");
	check_text(
		"meminfo", "MemFree:        4056 kB\nActive(anon):   8 kB\nHugePages_Free:   32\n",
		"c meminfo/Active(anon) 8\nc meminfo/HugePages_Free 32\nc meminfo/MemFree 4056\n");
	check_text("buddyinfo", "Node 0, zone    DMA32      3    0     11 \n",
		   "c buddyinfo/node0/DMA32/order0 3\nc buddyinfo/node0/DMA32/order1 0\n"
		   "c buddyinfo/node0/DMA32/order2 11\n");
	check_text("pressure/cpu",
		   "some avg10=0.05 avg60=0.00 avg300=0.00 total=1234\n"
		   "full avg10=0.00 avg60=0.00 avg300=0.00 total=9\n",
		   "c pressure/cpu/full 9\nc pressure/cpu/some 1234\n");
}

static void tables_over_cpus_are_added_up(void **state)
{
	(void)state;
	check_text("softirqs",
		   "                    CPU0       CPU1\n          HI:   1   0\n         RCU:  15  "
		   " 5\n",
		   "c softirqs/HI 1\nc softirqs/RCU 20\n");
	check_text("interrupts",
		   "           CPU0       CPU1\n"
		   "  4:         12          3    XT-PIC      4  ttyS0\n"
		   "LOC:        100         20   Local timer interrupts\n"
		   "ERR:          0\n",
		   "c interrupts/4:ttyS0 15\nc interrupts/ERR 0\nc interrupts/LOC 120\n");
}

static void blocks_and_free_pages_by_type_are_told_apart(void **state)
{
	(void)state;
	check_text("pagetypeinfo",
		   "Page block order: 9\nPages per block:  512\n\n"
		   "Free pages count per migrate type at order       0      1\n"
		   "Node    0, zone      DMA, type    Unmovable      1      2 \n"
		   "Node    0, zone      DMA, type      Movable      0      4 \n\n"
		   "Number of blocks type     Unmovable      Movable\n"
		   "Node 0, zone      DMA            3            5\n",
		   "c pagetypeinfo/node0/DMA/Movable/order0 0\nc "
		   "pagetypeinfo/node0/DMA/Movable/order1 4\n"
		   "c pagetypeinfo/node0/DMA/Unmovable/order0 1\n"
		   "c pagetypeinfo/node0/DMA/Unmovable/order1 2\n"
		   "c pagetypeinfo/node0/DMA/blocks/Movable 5\n"
		   "c pagetypeinfo/node0/DMA/blocks/Unmovable 3\n");
}

static void a_zone_is_read_without_the_lists_of_its_cpus(void **state)
{
	(void)state;
	check_text("zoneinfo",
		   "Node 0, zone      DMA\n  per-node stats\n      nr_inactive_anon 4\n"
		   "  pages free     3840\n        boost    0\n        min      15\n"
		   "        protection: (0, 469, 469, 469)\n      nr_free_pages 3840\n"
		   "  pagesets\n    cpu: 0\n              count:    7\n              high:     8\n"
		   "  node_unreclaimable:  0\n  start_pfn:           1\n",
		   "c zoneinfo/node0/DMA/boost 0\nc zoneinfo/node0/DMA/free 3840\n"
		   "c zoneinfo/node0/DMA/min 15\nc zoneinfo/node0/DMA/node_unreclaimable 0\n"
		   "c zoneinfo/node0/DMA/nr_free_pages 3840\n"
		   "c zoneinfo/node0/DMA/nr_inactive_anon 4\nc zoneinfo/node0/DMA/start_pfn 1\n");
}

static void garbage_is_left_out(void **state)
{
	static const char nul[] = "pgfault 1\0 2\nok 3\n";
	struct counters c = { .v = NULL };

	(void)state;
	check_text("vmstat", "pgfault\nx 1e999\ny 12z\nesc\033 5\n 0x10\nz nan\n<b> 1\nok 3",
		   "c vmstat/ok 3\n");
	check_text("unheard-of", "pgfault 7\n", "");
	check_text("meminfo", ": 5\nA 7\n", "");
	counters_parse("vmstat", nul, sizeof(nul) - 1, &c);
	assert_int_equal(c.n, 1);
	assert_string_equal(c.v[0].name, "vmstat/ok");
	counters_release(&c);
}

static void a_boot_is_changes_and_levels(void **state)
{
	struct counters before = parse("vmstat",
				       "gone 1\nnr_dirtied 1\nnr_free_pages 10\npgfault 5\n");
	struct counters during = parse("vmstat", "nr_dirtied 2\nnr_free_pages 4\npgfault 7\n");
	struct counters after = parse("vmstat", "nr_dirtied 3\nnr_free_pages 9\npgfault 25\n");
	struct counters boot = { .v = NULL }, again = { .v = NULL };
	_cleanup_str_ struct str out = STR_INIT, second = STR_INIT;

	(void)state;
	counters_boot(&before, &during, &after, &boot);
	counters_write(&boot, &out);
	assert_string_equal(str_text(&out), "c vmstat/nr_dirtied 2\nc vmstat/nr_free_pages -1\n"
					    "l vmstat/nr_free_pages 4\nc vmstat/pgfault 20\n");
	counters_read(out.buf, out.len, &again);
	counters_write(&again, &second);
	assert_string_equal(str_text(&second), str_text(&out));
	counters_release(&before);
	counters_release(&during);
	counters_release(&after);
	counters_release(&boot);
	counters_release(&again);
}

/* ---- comparing: boots as text of the store ------------------------------------------------- */

#define BOOTS 3

static struct counters boots[COUNTERS_GROUPS][BOOTS];
static struct counters_group group[COUNTERS_GROUPS];
static struct counters_moved *moved;
static size_t compared;

static size_t compare(const char *text[][BOOTS], size_t n_groups)
{
	for (size_t g = 0; g < n_groups; g++) {
		group[g] = (struct counters_group){ boots[g], 0 };
		for (size_t b = 0; b < BOOTS && text[g][b]; b++)
			counters_read(text[g][b], strlen(text[g][b]), &boots[g][group[g].n++]);
	}
	return counters_compare(group, n_groups, &compared, &moved);
}

static int clean_up(void **state)
{
	(void)state;
	for (size_t g = 0; g < COUNTERS_GROUPS; g++)
		for (size_t b = 0; b < BOOTS; b++)
			counters_release(&boots[g][b]);
	free(moved);
	moved = NULL;
	return 0;
}

static void near(double got, double expected)
{
	if (!(fabs(got - expected) <= 1e-5 * fabs(expected)))
		fail_msg("%.8g where %.8g is right", got, expected);
}

/*
 * By hand, 4 degrees of freedom: moved has s² = 16/4 and t = 10/√(4·2/3); exact never varies
 * within a kernel: s² = 1/12 and t = 3/√(1/12·2/3). p by the closed form for 4 degrees of
 * freedom, 1 − sin θ·(1 + cos²θ/2) with tan θ = t/2 (Abramowitz and Stegun 26.7.4).
 * q of the three that vary: 3·p, 3/2·p, 1.
 */
static void counters_are_ranked_by_their_own_spread(void **state)
{
	static const char *text[][BOOTS] = {
		{ "c exact 5\nc moved 10\nc noise 1\nc same 9\nc only_here 1\n",
		  "c exact 5\nc moved 12\nc noise 2\nc same 9\nc only_here 2\n",
		  "c exact 5\nc moved 14\nc noise 3\nc same 9\nc only_here 3\n" },
		{ "c exact 8\nc moved 20\nc noise 2\nc same 9\n",
		  "c exact 8\nc moved 22\nc noise 3\nc same 9\n",
		  "c exact 8\nc moved 24\nc noise 1\nc same 9\n" },
	};

	(void)state;
	assert_int_equal(compare(text, 2), 3);
	assert_int_equal(compared, 4);
	assert_string_equal(moved[0].name, "exact");
	near(moved[0].t, 12.727922);
	near(moved[0].p, 0.00021951142);
	near(moved[0].q, 3 * 0.00021951142);
	assert_string_equal(moved[1].name, "moved");
	near(moved[1].mean[0], 12);
	near(moved[1].mean[1], 22);
	near(moved[1].sd[0], 2);
	near(moved[1].t, 6.1237244);
	near(moved[1].p, 0.0036022326);
	near(moved[1].q, 1.5 * 0.0036022326);
	assert_string_equal(moved[2].name, "noise");
	assert_true(moved[2].t == 0 && moved[2].p == 1 && moved[2].q == 1);
}

/* 32 counters of noise beside it (and 8 that never vary): what is unlikely alone is not among so many. */
static void many_counters_make_chance_finds(void **state)
{
	struct str text[6] = { STR_INIT };
	const char *lines[2][BOOTS];

	(void)state;
	for (int b = 0; b < 6; b++) {
		str_addf(&text[b], "c maybe %d\n", (b < 3 ? 10 : 20) + 2 * (b % 3) * 2);
		for (int i = 0; i < 40; i++)
			str_addf(&text[b], "c noise%d %d\n", i, (b * 7 + i * 3 + b * i) % 5);
		lines[b / 3][b % 3] = str_text(&text[b]);
	}
	assert_int_equal(compare(lines, 2), 33);
	for (size_t i = 0; i < 33; i++)
		if (!strcmp(moved[i].name, "maybe")) {
			assert_true(moved[i].p < 0.05);
			assert_true(moved[i].q > 0.05);
			assert_true(moved[i].q <= 33 * moved[i].p);
		}
	for (int b = 0; b < 6; b++)
		str_release(&text[b]);
}

static void ties_are_broken_by_the_share_of_the_change_then_the_name(void **state)
{
	/* all three: t = 3/√(1/18) */
	static const char *text[][BOOTS] = {
		{ "c big 1000\nc b 1\nc a 1\n", "c big 1000\nc b 1\nc a 1\n",
		  "c big 1000\nc b 1\nc a 1\n" },
		{ "c big 1003\nc b 4\nc a 4\n", "c big 1003\nc b 4\nc a 4\n",
		  "c big 1003\nc b 4\nc a 4\n" },
	};

	(void)state;
	assert_int_equal(compare(text, 2), 3);
	assert_string_equal(moved[0].name, "a");
	assert_string_equal(moved[1].name, "b");
	assert_string_equal(moved[2].name, "big");
}

static void one_boot_a_side_has_no_spread(void **state)
{
	static const char *text[][BOOTS] = { { "c a 100\nl b 1\nc c 5\n" },
					     { "c a 101\nl b 9\nc c 5\n" } };

	(void)state;
	assert_int_equal(compare(text, 2), 2);
	assert_string_equal(moved[0].name, "b");
	assert_true(moved[0].level);
	assert_true(isnan(moved[0].t) && isnan(moved[0].p) && isnan(moved[0].q));
}

/* A third kernel (the culprit reverted) adds its degrees of freedom: s² = (2 + 2 + 28.67)/4. */
static void other_kernels_tell_of_the_spread(void **state)
{
	static const char *text[][BOOTS] = { { "c a 1\n", "c a 3\n" },
					     { "c a 11\n", "c a 13\n" },
					     { "c a 0\n", "c a 1\n", "c a 7\n" } };

	(void)state;
	assert_int_equal(compare(text, 3), 1);
	near(moved[0].t, 10 / sqrt((2 + 2 + 28.666667) / 4));
}

static void without_boots_nothing_is_compared(void **state)
{
	static const char *text[][BOOTS] = { { "c a 1\n" }, { NULL } };

	(void)state;
	assert_int_equal(compare(text, 2), 0);
	assert_int_equal(compared, 0);
	assert_null(moved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_of_proc_is_understood),
		cmocka_unit_test(tables_over_cpus_are_added_up),
		cmocka_unit_test(blocks_and_free_pages_by_type_are_told_apart),
		cmocka_unit_test(a_zone_is_read_without_the_lists_of_its_cpus),
		cmocka_unit_test(garbage_is_left_out),
		cmocka_unit_test(a_boot_is_changes_and_levels),
		cmocka_unit_test_teardown(counters_are_ranked_by_their_own_spread, clean_up),
		cmocka_unit_test_teardown(many_counters_make_chance_finds, clean_up),
		cmocka_unit_test_teardown(ties_are_broken_by_the_share_of_the_change_then_the_name,
					  clean_up),
		cmocka_unit_test_teardown(one_boot_a_side_has_no_spread, clean_up),
		cmocka_unit_test_teardown(other_kernels_tell_of_the_spread, clean_up),
		cmocka_unit_test_teardown(without_boots_nothing_is_compared, clean_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
