/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The QEMU target without QEMU: job, images, command line, monitor, judgement. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fs.h"
#include "target/guest.h"
#include "target/qemu.h"

static char dir[] = "/tmp/kregress-qemu-parts-XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return fs_remove_tree(dir, NULL);
}

static void a_job_is_one_word_a_line_with_line_breaks_escaped(void **state)
{
	_cleanup_str_ struct str text = STR_INIT;
	char *argv[] = { (char[]){ "./x" }, (char[]){ "a b" }, (char[]){ "c\\d\ne" }, NULL };
	struct guest_setting s = { "/proc/sys/vm/nr_hugepages", "64" };
	struct guest_job j = { .nonce = "00ff",
			       .runs = 6,
			       .run_timeout_ms = 120000,
			       .argv = argv,
			       .settings = &s,
			       .n_settings = 1 };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(guest_job_write(&j, &text, &e), 0);
	assert_string_equal(str_text(&text),
			    "kregress-job 1\nnonce 00ff\nruns 6\nrun_timeout_ms 120000\n"
			    "set /proc/sys/vm/nr_hugepages=64\narg ./x\narg a b\narg c\\\\d\\ne\n");
	s.path = "relative";
	assert_int_equal(guest_job_write(&j, &text, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	s.path = "/x";
	argv[0] = NULL;
	assert_int_equal(guest_job_write(&j, &text, &e), -1);
}

static void check_expanded(const char *text, unsigned cpus, unsigned long khz, const char *expected)
{
	_cleanup_str_ struct str out = STR_INIT;

	str_add(&out, "");
	qemu_expand(&out, text, cpus, khz);
	assert_string_equal(str_text(&out), expected);
}

static void braces_of_profiles_are_replaced(void **state)
{
	(void)state;
	check_expanded("a tsc_early_khz={tsc_khz} b", 1, 2600000, "a tsc_early_khz=2600000 b");
	check_expanded("a tsc_early_khz={tsc_khz} b", 1, 0, "a  b");
	check_expanded("{1cpu:x y} z", 1, 1, "x y z");
	check_expanded("{1cpu:x y} z", 2, 1, " z");
	check_expanded("{other} {1cpu:open", 1, 1, "{other} open");
}

static void the_command_line_has_what_comparable_boots_need(void **state)
{
	struct qemu q = { .program = (char[]){ "qemu" },
			  .deterministic = true,
			  .cpus = 1,
			  .memory_bytes = 96ull << 20,
			  .machine_append = (char[]){ "console=x" },
			  .machine_append_tcg = (char[]){ "tcg_only" },
			  .machine_append_deterministic = (char[]){ "khz={tsc_khz}" },
			  .append = (char[]){ "mine={tsc_khz}" } };
	struct target_job job = { .image = "/k,1", .initrd = "/i", .append = "hugepages=4" };
	const struct qemu_fds fds = { 7, 8, 9 };
	_cleanup_strv_ struct strv argv = STRV_INIT;
	_cleanup_str_ struct str line = STR_INIT;

	(void)state;
	qemu_args(&q, QEMU_ACCEL_TCG, &job, &fds, &argv);
	str_join_words(&line, argv.v);
	assert_non_null(strstr(line.buf, "-m 98304k"));
	assert_non_null(strstr(line.buf, "-no-reboot"));
	assert_non_null(strstr(line.buf, "-seed 1"));
	assert_non_null(strstr(line.buf, "-icount shift=3,sleep=off"));
	assert_non_null(strstr(line.buf, "fd=7,set=1"));
	assert_non_null(strstr(line.buf, "fd=8,set=2"));
	assert_non_null(strstr(line.buf, "id=qmp,fd=9"));
	assert_true(strv_has(&argv, "console=x panic=-1 oops=panic khz=1000000 hugepages=4 "
				    "mine={tsc_khz}"));
	assert_true(strv_has(&argv, "/k,1"));
}

static void feed_qmp(struct qmp *m, const char *text)
{
	qmp_feed(m, text, strlen(text));
}

static void the_monitor_tells_reset_from_power_off_and_stop(void **state)
{
	static const char reset[] = "{\"timestamp\": {\"seconds\": 1}, \"event\": \"SHUTDOWN\", "
				    "\"data\": {\"guest\": true, \"reason\": \"guest-reset\"}}\r\n";
	static const char off[] = "{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true, "
				  "\"reason\": \"guest-shutdown\"}}\r\n";
	struct qmp m = { .fd = -1 };
	int pair[2];
	char asked[200] = "";

	(void)state;
	feed_qmp(&m, "not json\r\n[1]\r\n{\"QMP\": {\"version\": {}}}\r\n{\"return\": {}}\r\n");
	assert_true(m.greeted && !m.shutdown && !m.stopped && !m.error[0]);
	for (size_t i = 0; reset[i]; i++)
		qmp_feed(&m, &reset[i], 1);
	feed_qmp(&m, off);
	assert_int_equal(m.shutdown, QMP_RESET);
	qmp_release(&m);

	m = (struct qmp){ .fd = -1 };
	feed_qmp(&m, off);
	assert_int_equal(m.shutdown, QMP_POWER_OFF);
	qmp_release(&m);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	m = (struct qmp){ .fd = pair[0] };
	feed_qmp(&m, "{\"event\": \"STOP\"}\r\n");
	assert_true(m.stopped && !m.status[0]);
	assert_true(read(pair[1], asked, sizeof(asked) - 1) > 0);
	assert_non_null(strstr(asked, "query-status"));
	feed_qmp(&m, "{\"return\": {\"status\": \"internal-error\", \"running\": false}}\r\n");
	assert_string_equal(m.status, "internal-error");
	feed_qmp(&m, "{\"error\": {\"class\": \"GenericError\", \"desc\": \"no such thing\"}}\r\n");
	assert_string_equal(m.error, "no such thing");
	close(pair[0]);
	close(pair[1]);
	qmp_release(&m);
}

static char *write_file(const char *name, const void *data, size_t n)
{
	char *path = fs_join(dir, name);
	struct err e = ERR_INIT;

	assert_int_equal(fs_write(path, data, n, &e), 0);
	return path;
}

/* An ELF file of one loaded segment of 40 MiB and one note of Xen's @type. */
static char *write_elf(const char *name, uint32_t type)
{
	struct {
		Elf64_Ehdr h;
		Elf64_Phdr p[2];
		Elf64_Nhdr n[2];
		char owner[4];
		uint32_t entry;
	} f = {
		.h = { .e_ident = ELFMAG,
		       .e_phoff = sizeof(Elf64_Ehdr),
		       .e_phentsize = sizeof(Elf64_Phdr),
		       .e_phnum = 2 },
		.p = { { .p_type = PT_LOAD, .p_memsz = 40 << 20 },
		       { .p_type = PT_NOTE, .p_filesz = 2 * sizeof(Elf64_Nhdr) + 8 } },
		.n = { { 0, 0, 5 }, { 4, 4, type } },
		.owner = "Xen",
		.entry = 1,
	};

	f.h.e_ident[EI_CLASS] = ELFCLASS64;
	f.p[1].p_offset = offsetof(__typeof__(f), n);
	return write_file(name, &f, sizeof(f));
}

static void a_vmlinux_with_a_pvh_entry_is_preferred(void **state)
{
	_cleanup_free_ char *pvh = write_elf("pvh", 18), *other = write_elf("other", 17);
	_cleanup_free_ char *text = write_file("text", "text", 4);
	struct qemu_image info;

	(void)state;
	assert_string_equal(guest_pick_image("bz", pvh), pvh);
	assert_string_equal(guest_pick_image("bz", other), "bz");
	assert_string_equal(guest_pick_image("bz", text), "bz");
	assert_string_equal(guest_pick_image("bz", "/nowhere"), "bz");
	assert_string_equal(guest_pick_image("bz", NULL), "bz");
	assert_int_equal(qemu_image_read(pvh, &info, NULL), 0);
	assert_true(info.elf && info.pvh);
	assert_int_equal(info.memory_bytes, 40 << 20);
}

static void a_bzimage_says_itself_how_much_memory_it_takes(void **state)
{
	unsigned char image[0x300] = { 0 };
	const uint32_t init_size = 50 << 20;
	struct qemu_image info;
	struct err e = ERR_INIT;

	(void)state;
	memcpy(image + 0x202, "HdrS\x0f\x02", 6);
	memcpy(image + 0x260, &init_size, 4);
	_cleanup_free_ char *path = write_file("bz", image, sizeof(image));

	assert_int_equal(qemu_image_read(path, &info, NULL), 0);
	assert_int_equal(info.memory_bytes, 50 << 20);
	/* 50 for the kernel, twice 20 for the archive and its files, 32 to run: 122. */
	assert_int_equal(qemu_check_memory(path, 20 << 20, 122ull << 20, &e), 0);
	assert_int_equal(qemu_check_memory(path, 20 << 20, (122ull << 20) - 1, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "raise memory = in [target] to 122M"));
	assert_int_equal(qemu_check_memory("/nowhere", 0, 1ull << 30, &e), -1);
	assert_int_equal(e.code, ERR_NOT_FOUND);
}

static void options_that_contradict_each_other_are_refused(void **state)
{
	struct target_qemu_opts o = { .program = "qemu",
				      .cpus = 1,
				      .memory_bytes = 1 << 30,
				      .deterministic = true,
				      .accel = QEMU_ACCEL_KVM };
	struct target t;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(target_qemu_open(&o, &t, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	o.accel = QEMU_ACCEL_AUTO;
	o.cpus = 2;
	assert_int_equal(target_qemu_open(&o, &t, &e), -1);
	assert_non_null(strstr(e.msg, "cpus = 1"));
	o.deterministic = false;
	o.memory_bytes = 1 << 20;
	assert_int_equal(target_qemu_open(&o, &t, &e), -1);
	assert_non_null(strstr(e.msg, "memory"));
	o.memory_bytes = 1 << 30;
	assert_int_equal(target_qemu_open(&o, &t, &e), 0);
	target_close(&t);
}

/* As QEMU 7.2 prints them, cut short; by hand. */
static void program_counters_are_found_in_what_qemu_prints(void **state)
{
	uint64_t pc[4];

	(void)state;
	assert_int_equal(qmp_read_counters("\r\nCPU#0\r\nRAX=0000000000000000 RBX=1\r\n"
					   "RIP=ffffffff812872db RFL=00000246\r\nCS =0010 0\r\n"
					   "CPU#1\r\nRIP=0000000000423b8a RFL=1\r\n",
					   pc, 4),
			 2);
	assert_true(pc[0] == 0xffffffff812872db && pc[1] == 0x423b8a);
	assert_int_equal(qmp_read_counters("EAX=0 EIP=c0101234 EFL=0", pc, 4), 1);
	assert_true(pc[0] == 0xc0101234);
	assert_int_equal(qmp_read_counters(" PC=ffff800010081234 X00=1", pc, 4), 1);
	assert_int_equal(qmp_read_counters("RIP=1 RIP=2 RIP=3 RIP=4 RIP=5", pc, 4), 4);
	assert_int_equal(qmp_read_counters("RIP= RIP=zz RIP=11112222333344445 RIP", pc, 4), 0);
	assert_int_equal(qmp_read_counters("", pc, 4), 0);
}

static void a_look_stops_the_guest_only_by_itself(void **state)
{
	struct qmp m = { .fd = -1 };

	(void)state;
	qmp_look(&m);
	assert_true(m.look.pending);
	feed_qmp(&m,
		 "{\"event\": \"STOP\"}\r\n{\"return\": {}, \"id\": \"look-stop\"}\r\n"
		 "{\"return\": \"CPU#0\\r\\nRIP=000000000000002a RFL=2\", \"id\": \"look\"}\r\n");
	assert_true(m.look.pending && !m.stopped);
	feed_qmp(&m, "{\"event\": \"RESUME\"}\r\n{\"return\": {}, \"id\": \"look-cont\"}\r\n");
	assert_true(!m.look.pending && !m.stopped);
	assert_int_equal(m.look.n, 1);
	assert_true(m.look.pc[0] == 42);
	/* The next one is QEMU's own. */
	feed_qmp(&m, "{\"event\": \"STOP\"}\r\n");
	assert_true(m.stopped);
	qmp_release(&m);

	/* It had stopped the guest before us: that is what its refusal to go on says. */
	m = (struct qmp){ .fd = -1 };
	qmp_look(&m);
	feed_qmp(&m, "{\"return\": {}, \"id\": \"look-stop\"}\r\n"
		     "{\"error\": {\"desc\": \"no\"}, \"id\": \"look\"}\r\n"
		     "{\"error\": {\"desc\": \"reset is required\"}, \"id\": \"look-cont\"}\r\n");
	assert_true(m.stopped && !m.look.pending && m.look.n == 0);
	assert_string_equal(m.error, "");
	qmp_release(&m);
}

static void hits_are_counted_by_address(void **state)
{
	struct target_result r = { .outcome = TRIAL_OK };

	(void)state;
	for (unsigned i = 0; i < 2 * TARGET_HITS_MAX; i++)
		target_profile_add(&r.profile, (i * 7919u) % (TARGET_HITS_MAX + 9));
	assert_int_equal(r.profile.samples, 2 * TARGET_HITS_MAX);
	assert_int_equal(r.profile.n_hits, TARGET_HITS_MAX);
	for (size_t i = 1; i < r.profile.n_hits; i++)
		assert_true(r.profile.hits[i - 1].address < r.profile.hits[i].address);
	target_result_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_one_word_a_line_with_line_breaks_escaped),
		cmocka_unit_test(braces_of_profiles_are_replaced),
		cmocka_unit_test(the_command_line_has_what_comparable_boots_need),
		cmocka_unit_test(the_monitor_tells_reset_from_power_off_and_stop),
		cmocka_unit_test(a_vmlinux_with_a_pvh_entry_is_preferred),
		cmocka_unit_test(a_bzimage_says_itself_how_much_memory_it_takes),
		cmocka_unit_test(options_that_contradict_each_other_are_refused),
		cmocka_unit_test(program_counters_are_found_in_what_qemu_prints),
		cmocka_unit_test(a_look_stops_the_guest_only_by_itself),
		cmocka_unit_test(hits_are_counted_by_address),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
