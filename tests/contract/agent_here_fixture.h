/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent started on this machine with a job: what it says, and what it leaves. */
#ifndef KR_TESTS_AGENT_HERE_FIXTURE_H
#define KR_TESTS_AGENT_HERE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "target/guest.h"
#include "target/results.h"

#define NONCE "0123abcd"

static char dir[] = "/tmp/kregress-here-XXXXXX";
static char *agent_path;

/* One job, and what came of it. */
struct here {
	const char *script;  /* of the workload, a shell's; $D is the folder */
	const char *program; /* instead */
	unsigned runs;
	int64_t timeout_ms;
	const char *setting, *value; /* a file of the folder */
	pid_t pid;
	int out, err; /* read ends */
	struct str said, errors;
	int status; /* of waitpid() */
};

static void here_release(struct here *h)
{
	str_release(&h->said);
	str_release(&h->errors);
}

static const char *in_dir(const char *name)
{
	static char names[4][256];
	static unsigned at;
	char *slot = names[at++ % 4];

	snprintf(slot, 256, "%s/%s", dir, name);
	return slot;
}

static void put(const char *name, const char *text)
{
	struct err e = ERR_INIT;

	if (fs_write(in_dir(name), text, strlen(text), &e) < 0)
		fail_msg("%s", e.msg);
}

static void assert_holds(const char *name, const char *text)
{
	_cleanup_str_ struct str has = STR_INIT;

	if (fs_read(in_dir(name), 4096, &has, NULL) < 0)
		fail_msg("no file '%s'", name);
	assert_string_equal(str_text(&has), text);
}

static int set_up(void **state)
{
	struct err e = ERR_INIT;
	const char *given = getenv("KREGRESS_TEST_AGENT");

	(void)state;
	agent_path = given ? xstrdup(given) : guest_agent_path(&e);
	if (!agent_path)
		fprintf(stderr, "%s\n", e.msg);
	return agent_path && mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(agent_path);
	return fs_remove_tree(dir, NULL);
}

static int each(void **state)
{
	(void)state;
	fs_remove_tree(in_dir("work"), NULL);
	mkdir(in_dir("work"), 0755);
	unlink(in_dir("agent.pid"));
	return 0;
}

static void write_job(const struct here *h)
{
	_cleanup_str_ struct str text = STR_INIT;
	_cleanup_free_ char *script = xasprintf("D=%s; %s", dir, h->script ? h->script : "");
	struct guest_setting setting = { h->setting ? in_dir(h->setting) : NULL, h->value };
	char *argv[] = { "sh", "-c", script, NULL };
	struct guest_job job = { .nonce = NONCE,
				 .runs = h->runs ? h->runs : 1,
				 .run_timeout_ms = h->timeout_ms ? h->timeout_ms : 10000,
				 .settings = &setting,
				 .n_settings = h->setting != NULL,
				 .argv = argv };
	struct err e = ERR_INIT;

	if (h->program) {
		argv[0] = (char *)(uintptr_t)h->program;
		argv[1] = NULL;
	}
	if (guest_job_write(&job, &text, &e) < 0)
		fail_msg("%s", e.msg);
	put("job", str_text(&text));
}

static void start(struct here *h)
{
	int out[2], err[2];

	write_job(h);
	assert_true(pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0);
	h->pid = fork();
	assert_true(h->pid >= 0);
	if (h->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], 1);
		dup2(err[1], 2);
		execl(agent_path, agent_path, "--here", dir, NULL);
		_exit(126);
	}
	close(out[1]);
	close(err[1]);
	h->out = out[0];
	h->err = err[0];
}

/* Until the agent has said @text. */
static void read_until(struct here *h, const char *text)
{
	char c;

	while (!strstr(str_text(&h->said), text)) {
		assert_int_equal(read(h->out, &c, 1), 1);
		str_addmem(&h->said, &c, 1);
	}
}

static void slurp(int fd, struct str *to)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		str_addmem(to, buf, (size_t)n);
	close(fd);
}

static void finish(struct here *h)
{
	slurp(h->out, &h->said);
	slurp(h->err, &h->errors);
	assert_int_equal(waitpid(h->pid, &h->status, 0), h->pid);
}

static void run(struct here *h)
{
	start(h);
	finish(h);
}

static void has(const struct str *text, const char *part)
{
	if (!strstr(str_text(text), part))
		fail_msg("'%s' is not in '%s'", part, str_text(text));
}

/* Is a process with this command line alive? pgrep(1) is the independent means. */
static bool lives(const char *words)
{
	_cleanup_free_ char *command = xasprintf("pgrep -fx '%s' >%s/pids 2>/dev/null", words, dir);

	return system(command) == 0; /* constant words of this test */
}

static void gone_soon(const char *words)
{
	int64_t deadline = clock_deadline(8000);

	while (lives(words)) {
		if (clock_left_ms(deadline) == 0)
			fail_msg("'%s' lives on", words);
		poll(NULL, 0, 50);
	}
}

#endif
