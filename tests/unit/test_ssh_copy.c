/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files to and from a real sshd: whole or not at all, whatever their names and the tools there. */
#include "unit/ssh_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "target/ssh_copy.h"
#include "target/ssh_exec.h"

static struct sshd server;
static struct ssh_conn *conn;

static int start(void **state)
{
	if (connected(state, &server, &conn) < 0)
		return -1;
	shell("mkdir to && head -c 300000 /dev/urandom >from");
	return 0;
}

static int stop(void **state)
{
	return disconnected(state, &server, conn);
}

static int upload_on(struct ssh_conn *c, const char *from, const char *to, struct err *e)
{
	const struct ssh_upload u = {
		.from = in_dir(from), .to = in_dir(to), .mode = 0640, .timeout_ms = 30000
	};

	return ssh_upload(c, &u, e);
}

static void must_upload(struct ssh_conn *c, const char *from, const char *to)
{
	struct err e = ERR_INIT;

	if (upload_on(c, from, to, &e) < 0)
		fail_msg("%s", e.msg);
}

/* It fails with @code and all @part in the message, and leaves the folder as it was. */
static void must_fail(struct ssh_conn *c, const char *from, const char *to, enum err_code code,
		      const char *part)
{
	_cleanup_free_ char *before = sh("ls -lR to | sort"), *after = NULL;
	struct err e = ERR_INIT;

	if (upload_on(c, from, to, &e) == 0)
		fail_msg("'%s' was written", to);
	if (e.code != code)
		fail_msg("code %d: %s", e.code, e.msg);
	assert_has(e.msg, part);
	after = sh("ls -lR to | sort");
	assert_string_equal(before, after);
}

static void files_of_all_sizes_arrive_whole(void **state)
{
	static const long sizes[] = { 0, 1, 32699, 32700, 32701, 261600, 261601, 20000000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		shell("head -c %ld /dev/urandom >sized; rm -f to/sized", sizes[i]);
		must_upload(conn, "sized", "to/sized");
		shell("cmp sized to/sized && [ \"$(stat -c %%a to/sized)\" = 640 ] && "
		      "[ \"$(ls to)\" = sized ]");
	}
	shell("rm to/sized");
}

static void names_that_a_shell_would_take_apart_arrive(void **state)
{
	static const char *const names[] = {
		"a b",  "it's", "\"q\"",   "$(touch evil)", "`touch evil`",
		"a\nb", "\\x",  "*",       "-rf",           "; touch evil",
		"&",    "~",    "\xff\xfe"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *to = xasprintf("to/%s", names[i]);
		_cleanup_str_ struct str back = STR_INIT;
		struct err e = ERR_INIT;

		put_file("small", names[i]);
		must_upload(conn, "small", to);
		assert_true(fs_exists(in_dir(to)));
		if (ssh_download(conn, in_dir(to), 1000, 20000, &back, &e) < 0)
			fail_msg("%s", e.msg);
		assert_string_equal(str_text(&back), names[i]);
		assert_int_equal(unlink(in_dir(to)), 0);
	}
	shell("[ -z \"$(ls to)\" ] && [ ! -e evil ] && [ ! -e home/evil ] && [ ! -e ~/evil ]");
}

static void an_old_file_is_replaced_and_a_link_is_not_followed(void **state)
{
	(void)state;
	shell("echo old >to/old; echo precious >precious; ln -s ../precious to/link; "
	      "ln -s ../precious to/x.kregress-new");
	must_upload(conn, "from", "to/old");
	must_upload(conn, "from", "to/link");
	must_upload(conn, "from", "to/x");
	shell("cmp from to/old && cmp from to/link && cmp from to/x && [ ! -L to/link ] && "
	      "[ \"$(cat precious)\" = precious ] && [ \"$(ls to | tr '\\n' ' ')\" = 'link old x ' "
	      "]"
	      " && rm to/*");
}

static void what_cannot_be_written_is_said_and_leaves_nothing(void **state)
{
	(void)state;
	shell("mkdir to/dir; : >to/file");
	must_fail(conn, "from", "to/none/x", ERR_LAB, "none/x.kregress-new");
	must_fail(conn, "from", "to/file/x", ERR_LAB, "file/x.kregress-new");
	must_fail(conn, "from", "to/dir", ERR_LAB, "it is a folder");
	must_fail(conn, "missing", "to/x", ERR_SYS, "missing");
	must_fail(conn, "to", "to/x", ERR_SYS, "is not a file");
	shell("rmdir to/dir; rm to/file");
}

/* An sshd that sees a file system of 2 MB: in a namespace of its own, nothing is left mounted. */
static void start_on_small_disk(struct sshd *s)
{
	_cleanup_free_ char *log = xstrdup(in_dir("small.log")), *command = NULL;
	_cleanup_free_ char *as_us = NULL;
	struct err e = ERR_INIT;

	shell("mkdir -p disk");
	sshd_start(s, "");
	sshd_stop(s);
	/* Without root: root of a namespace to mount, ourselves again to serve. */
	if (getuid() != 0)
		as_us = xasprintf("unshare -U --map-user=%u --map-group=%u ", getuid(), getgid());
	command = xasprintf("mount -t tmpfs -o size=2m,mode=777 tmpfs %s/disk && "
			    "exec %s/usr/sbin/sshd -D -e -f %s/sshd-%u.conf",
			    fx_dir, as_us ? as_us : "", fx_dir, s->port);
	char *argv[] = { "unshare", getuid() == 0 ? "-m" : "-rm", "sh", "-c", command, NULL };
	const struct proc_opts o = { .argv = argv, .log_path = log, .merge_stderr = true };

	if (proc_start(&o, false, &s->proc, &e) < 0)
		fail_msg("%s", e.msg);
	wait_for_port(s->port);
	know(s->port, "host_ed25519");
}

static void a_full_disk_there_is_said_and_leaves_nothing(void **state)
{
	_cleanup_free_ char *folder = xstrdup(in_dir("disk"));
	char *argv[] = { "ls", "-A", folder, NULL };
	_cleanup_str_ struct str left = STR_INIT;
	struct ssh_conn *c;
	struct err e = ERR_INIT;
	struct sshd s;

	(void)state;
	shell("head -c 5000000 /dev/urandom >much");
	start_on_small_disk(&s);
	c = must_open(s.port, "user_ed25519");
	assert_int_equal(upload_on(c, "much", "disk/x", &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "No space left on device");
	assert_int_equal(ssh_run(c, argv, 20000, &left, &e), 0);
	assert_string_equal(str_text(&left), "");
	must_upload(c, "from", "disk/x");
	ssh_close(c);
	sshd_stop(&s);
	know(server.port, "host_ed25519");
}

/* ---- tools there ------------------------------------------------------------------------------ */

/* A server whose commands find only @tools (and the shell); some of them may be our own scripts. */
static struct ssh_conn *open_restricted(const char *tools, struct sshd *s)
{
	_cleanup_free_ char *extra = xasprintf("SetEnv PATH=%s/bin HOME=%s/home", fx_dir, fx_dir);

	shell("mkdir -p bin; for t in sh %s; do [ -e bin/$t ] || ln -s \"$(command -v $t)\" bin/; "
	      "done",
	      tools);
	sshd_start(s, extra);
	know(s->port, "host_ed25519");
	return must_open(s->port, "user_ed25519");
}

static void close_restricted(struct ssh_conn *c, struct sshd *s)
{
	ssh_close(c);
	sshd_stop(s);
	shell("rm -rf bin to/*");
	know(server.port, "host_ed25519");
}

#define BASE "cat rm mv chmod tee "

static void neither_scp_nor_sftp_nor_openssl_is_needed(void **state)
{
	struct sshd s;
	struct ssh_conn *c = open_restricted(BASE "sha256sum", &s);
	char *argv[] = { "scp", NULL };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(ssh_run(c, argv, 20000, NULL, &e), -1);
	must_upload(c, "from", "to/x");
	shell("cmp from to/x");
	close_restricted(c, &s);
}

static void busybox_alone_serves(void **state)
{
	struct sshd s;
	struct ssh_conn *c;

	(void)state;
	shell("mkdir bin && for t in sh cat rm mv chmod tee busybox; do "
	      "ln -s \"$(command -v busybox)\" bin/$t; done");
	c = open_restricted("", &s);
	must_upload(c, "from", "to/x");
	shell("cmp from to/x");
	close_restricted(c, &s);
}

/* Each tool leaves a mark when it is used. */
static void without_any_tool_for_it_the_file_is_read_back(void **state)
{
	struct sshd s;
	struct ssh_conn *c;
	struct err e = ERR_INIT;

	(void)state;
	shell("mkdir bin && printf '#!/bin/sh\\necho \"$@\" >>%s/cats\\nexec /bin/cat \"$@\"\\n' "
	      ">bin/cat && chmod +x bin/cat; rm -f cats",
	      fx_dir);
	c = open_restricted("rm mv chmod", &s);
	must_upload(c, "from", "to/x");
	shell("cmp from to/x && grep -q 'x.kregress-new' cats");
	/* What comes back is something else. */
	shell("printf '#!/bin/sh\\ncase $1 in \"\") exec /bin/cat;; esac; /bin/cat \"$1\"; echo "
	      "x\\n' "
	      ">bin/cat");
	assert_int_equal(upload_on(c, "from", "to/y", &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	shell("[ \"$(ls to)\" = x ]");
	close_restricted(c, &s);
}

static void a_file_that_arrives_damaged_is_refused(void **state)
{
	struct sshd s;
	struct ssh_conn *c;
	struct err e = ERR_INIT;

	(void)state;
	/* One byte changes on the way to the disk. */
	shell("mkdir bin && printf '#!/bin/sh\\nsed s/A/B/ | /usr/bin/tee \"$@\"\\n' >bin/tee && "
	      "chmod +x bin/tee; yes A | head -c 100000 >letters");
	c = open_restricted(BASE "sha256sum", &s);
	assert_int_equal(upload_on(c, "letters", "to/x", &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "what arrived is something else");
	shell("[ -z \"$(ls to)\" ]");
	close_restricted(c, &s);
}

static void a_tool_that_is_missing_is_named(void **state)
{
	struct sshd s;
	struct ssh_conn *c = open_restricted("cat rm mv chmod sha256sum", &s);
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(upload_on(c, "from", "to/x", &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "tee");
	shell("[ -z \"$(ls to)\" ]");
	close_restricted(c, &s);
}

/* ---- limits ---------------------------------------------------------------------------------- */

struct progress {
	uint64_t last, total;
	int n;
	bool is_truncating;
};

static void on_progress(void *cookie, uint64_t done, uint64_t total)
{
	struct progress *p = cookie;

	assert_true(done >= p->last && done <= total);
	p->last = done;
	p->total = total;
	p->n++;
	if (p->is_truncating)
		assert_int_equal(truncate(in_dir("sparse"), 1000000), 0);
}

static void a_file_that_changes_while_it_is_read_is_refused(void **state)
{
	struct progress p = { .is_truncating = true };
	const struct ssh_upload u = { .from = in_dir("sparse"),
				      .to = in_dir("to/sparse"),
				      .mode = 0644,
				      .timeout_ms = 60000,
				      .tick = on_progress,
				      .cookie = &p };
	struct err e = ERR_INIT;

	(void)state;
	shell("truncate -s 60000000 sparse");
	assert_int_equal(ssh_upload(conn, &u, &e), -1);
	assert_int_equal(e.code, ERR_SYS);
	assert_has(e.msg, "changed while it was read");
	assert_true(p.n >= 1);
	assert_int_equal(p.total, 60000000);
	shell("[ -z \"$(ls to)\" ]");
}

static void a_known_hash_is_compared_with_what_arrives(void **state)
{
	_cleanup_free_ char *right = sh("sha256sum from | cut -d' ' -f1");
	_cleanup_free_ char *wrong = sh("sha256sum known | cut -d' ' -f1");
	struct ssh_upload u = { .from = in_dir("from"),
				.to = in_dir("to/x"),
				.mode = 0755,
				.sha256 = right,
				.durable = true,
				.timeout_ms = 30000 };
	struct err e = ERR_INIT;

	(void)state;
	if (ssh_upload(conn, &u, &e) < 0)
		fail_msg("%s", e.msg);
	shell("cmp from to/x && rm to/x");
	u.sha256 = wrong;
	assert_int_equal(ssh_upload(conn, &u, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "something else");
	shell("[ -z \"$(ls to)\" ]");
}

static void a_deadline_leaves_nothing_and_the_connection_goes_on(void **state)
{
	const struct ssh_upload u = {
		.from = in_dir("sparse"), .to = in_dir("to/x"), .mode = 0644, .timeout_ms = 150
	};
	struct err e = ERR_INIT;

	(void)state;
	shell("truncate -s 2000000000 sparse");
	assert_int_equal(ssh_upload(conn, &u, &e), -1);
	assert_int_equal(e.code, ERR_TIMEOUT);
	shell("[ -z \"$(ls to)\" ]");
	must_upload(conn, "from", "to/x");
	shell("rm to/x sparse");
}

static void an_interrupt_removes_what_was_written(void **state)
{
	int wstatus;
	pid_t pid;

	(void)state;
	shell("truncate -s 2000000000 sparse");
	pid = fork();
	if (pid == 0) {
		struct ssh_conn *c = must_open(server.port, "user_ed25519");
		struct err e = ERR_INIT;

		sig_install();
		_exit(upload_on(c, "sparse", "to/x", &e) < 0 && e.code == ERR_INTERRUPTED ? 0 : 1);
	}
	for (int i = 0; i < 500 && !fs_exists(in_dir("to/x.kregress-new")); i++)
		poll(NULL, 0, 10);
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &wstatus, 0), pid);
	assert_true(WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == 0);
	shell("[ -z \"$(ls to)\" ]; rm sparse");
}

/* ---- download -------------------------------------------------------------------------------- */

static void small_files_come_back_and_large_ones_do_not(void **state)
{
	_cleanup_str_ struct str out = STR_INIT, more = STR_INIT;
	_cleanup_free_ char *from = NULL;
	struct err e = ERR_INIT;

	(void)state;
	if (ssh_download(conn, in_dir("from"), 300000, 20000, &out, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(out.len, 300000);
	from = get_file("from");
	assert_memory_equal(out.buf, from, 300000);
	assert_int_equal(ssh_download(conn, in_dir("from"), 299999, 20000, &more, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "too much");
	assert_int_equal(ssh_download(conn, in_dir("missing"), 100, 20000, &more, &e), -1);
	assert_int_equal(e.code, ERR_NOT_FOUND);
	assert_int_equal(ssh_download(conn, fx_dir, 100, 20000, &more, &e), -1);
	assert_int_equal(e.code, ERR_LAB);
	assert_has(e.msg, "s a directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_all_sizes_arrive_whole),
		cmocka_unit_test(names_that_a_shell_would_take_apart_arrive),
		cmocka_unit_test(an_old_file_is_replaced_and_a_link_is_not_followed),
		cmocka_unit_test(what_cannot_be_written_is_said_and_leaves_nothing),
		cmocka_unit_test(a_full_disk_there_is_said_and_leaves_nothing),
		cmocka_unit_test(neither_scp_nor_sftp_nor_openssl_is_needed),
		cmocka_unit_test(busybox_alone_serves),
		cmocka_unit_test(without_any_tool_for_it_the_file_is_read_back),
		cmocka_unit_test(a_file_that_arrives_damaged_is_refused),
		cmocka_unit_test(a_tool_that_is_missing_is_named),
		cmocka_unit_test(a_file_that_changes_while_it_is_read_is_refused),
		cmocka_unit_test(a_known_hash_is_compared_with_what_arrives),
		cmocka_unit_test(a_deadline_leaves_nothing_and_the_connection_goes_on),
		cmocka_unit_test(an_interrupt_removes_what_was_written),
		cmocka_unit_test(small_files_come_back_and_large_ones_do_not),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
