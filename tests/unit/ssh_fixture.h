/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A real sshd on loopback with keys of its own, and OpenSSH's tools as the independent means.
 * Included once, by the test program.
 */
#ifndef KR_TESTS_SSH_FIXTURE_H
#define KR_TESTS_SSH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/sig.h"
#include "target/ssh_exec.h"

static char fx_dir[] = "/tmp/kregress-sshconn-XXXXXX";

/* Run a shell command in the temporary folder; its stdout without the last newline, owned. */
static char *sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static __attribute__((unused)) char *sh(const char *fmt, ...)
{
	struct str out = STR_INIT;
	struct proc_result res;
	struct err e = ERR_INIT;
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	char *argv[] = { "sh", "-ec", text, NULL };
	struct proc_opts o = { .argv = argv, .cwd = fx_dir, .out = &out, .inherit_stderr = true };

	if (proc_run(&o, &res, &e) < 0 || res.end != PROC_EXITED || res.status != 0)
		fail_msg("'%s' failed: %s", text, e.msg);
	while (out.len && out.buf[out.len - 1] == '\n')
		out.buf[--out.len] = '\0';
	str_add(&out, "");
	return str_detach(&out);
}

static void shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static __attribute__((unused)) void shell(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	free(sh("%s", text));
}

/* A name in the temporary folder; a few are valid at a time. */
static __attribute__((unused)) const char *in_dir(const char *name)
{
	static char names[8][256];
	static unsigned at;
	char *slot = names[at++ % ARRAY_SIZE(names)];

	snprintf(slot, sizeof(names[0]), "%s/%s", fx_dir, name);
	return slot;
}

static __attribute__((unused)) void put_file(const char *name, const char *text)
{
	struct err e = ERR_INIT;

	if (fs_write(in_dir(name), text, strlen(text), &e) < 0)
		fail_msg("%s", e.msg);
}

/* A file's bytes; owned. */
static __attribute__((unused)) char *get_file(const char *name)
{
	struct str out = STR_INIT;
	struct err e = ERR_INIT;

	str_add(&out, "");
	if (fs_read(in_dir(name), 1u << 30, &out, &e) < 0)
		fail_msg("%s", e.msg);
	return str_detach(&out);
}

static __attribute__((unused)) int free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&a, n) == 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	close(fd);
	return ntohs(a.sin_port);
}

/* ---- sshd ---------------------------------------------------------------------------------- */

struct sshd {
	struct proc proc;
	unsigned port;
};

static __attribute__((unused)) void wait_for_port(unsigned port)
{
	for (int i = 0; i < 500; i++) {
		struct sockaddr_in a = { .sin_family = AF_INET,
					 .sin_port = htons((uint16_t)port),
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		int ret = connect(fd, (struct sockaddr *)&a, sizeof(a));

		close(fd);
		if (ret == 0)
			return;
		poll(NULL, 0, 20);
	}
	fail_msg("nothing listens on port %u", port);
}

/* @extra: more lines of sshd_config. Its own lines come first, so that they win. */
static __attribute__((unused)) void sshd_start(struct sshd *s, const char *extra)
{
	struct err e = ERR_INIT;
	_cleanup_free_ char *conf = NULL, *name = NULL, *log = NULL;

	s->port = (unsigned)free_port();
	name = xasprintf("sshd-%u.conf", s->port);
	log = xasprintf("%s/sshd-%u.log", fx_dir, s->port);
	conf = xasprintf("%s\nListenAddress 127.0.0.1\nPort %u\nPidFile none\nUsePAM no\n"
			 "StrictModes no\nAuthorizedKeysFile %s/authorized\nLogLevel VERBOSE\n"
			 "SetEnv HOME=%s/home\nMaxStartups 100\n%s",
			 extra, s->port, fx_dir, fx_dir,
			 strstr(extra, "HostKey ") ? ""
						   : "HostKey host_ed25519\n"
						     "HostKey host_ecdsa256\n"
						     "HostKey host_ecdsa384\n"
						     "HostKey host_ecdsa521\n"
						     "HostKey host_rsa\n");
	put_file(name, conf);
	/* sshd wants absolute names. */
	shell("sed -i 's#^HostKey \\([^/]\\)#HostKey %s/\\1#' '%s'", fx_dir, name);
	char *argv[] = { "/usr/sbin/sshd", "-D", "-e", "-f", (char[256]){ 0 }, NULL };

	snprintf(argv[4], 256, "%s", in_dir(name));
	struct proc_opts o = { .argv = argv, .log_path = log, .merge_stderr = true };

	s->proc = (struct proc)PROC_INIT;
	if (proc_start(&o, false, &s->proc, &e) < 0)
		fail_msg("%s", e.msg);
	wait_for_port(s->port);
}

static __attribute__((unused)) void sshd_stop(struct sshd *s)
{
	proc_stop(&s->proc, 1000);
}

/* ---- keys ---------------------------------------------------------------------------------- */

static __attribute__((unused)) int make_keys(void **state)
{
	(void)state;
	if (!mkdtemp(fx_dir))
		return -1;
	log_set_level(getenv("V") ? LOG_VERBOSE : LOG_QUIET);
	setenv("SSH_AUTH_SOCK", "", 1);
	shell("mkdir home && for w in host user; do "
	      "ssh-keygen -q -t ed25519 -N '' -C $w-ed25519 -f ${w}_ed25519; "
	      "ssh-keygen -q -t rsa -b 2048 -N '' -C $w-rsa -f ${w}_rsa; "
	      "for b in 256 384 521; do "
	      "ssh-keygen -q -t ecdsa -b $b -N '' -C $w-ecdsa$b -f ${w}_ecdsa$b; done; done; "
	      "ssh-keygen -q -t ed25519 -N '' -C other -f other; "
	      "cat user_*.pub >authorized; : >known");
	/* root's sshd wants its folder; others do not have it. */
	if (getuid() == 0)
		mkdir("/run/sshd", 0755);
	return 0;
}

static __attribute__((unused)) int remove_dir(void **state)
{
	(void)state;
	return getenv("KEEP") ? 0 : fs_remove_tree(fx_dir, NULL);
}

/* "ssh-ed25519 AAAA…" of <name>.pub; owned. */
static __attribute__((unused)) char *public_key(const char *name)
{
	return sh("cut -d' ' -f1,2 %s.pub", name);
}

/* known_hosts of the folder: "<names> <key>" for the sshd on @port. */
static __attribute__((unused)) void know(unsigned port, const char *key_name)
{
	_cleanup_free_ char *key = public_key(key_name);
	_cleanup_free_ char *line = xasprintf("[127.0.0.1]:%u %s\n", port, key);

	put_file("known", line);
}

static __attribute__((unused)) const char *user_name(void)
{
	static char *name;

	if (!name)
		name = sh("id -un");
	return name;
}

/* Open with one identity and the folder's known_hosts. 0 or -1; the step in *@step. */
static __attribute__((unused)) int open_with(unsigned port, const char *identity,
					     struct ssh_conn **c, enum ssh_step *step,
					     struct err *e)
{
	_cleanup_strv_ struct strv identities = STRV_INIT, known = STRV_INIT;
	const struct ssh_opts o = { .host = "127.0.0.1",
				    .port = port,
				    .user = user_name(),
				    .identities = &identities,
				    .known_hosts = &known,
				    .timeout_ms = 20000 };

	strv_add(&identities, in_dir(identity));
	strv_add(&known, in_dir("known"));
	return ssh_open(&o, c, step, e);
}

/* The same; the test fails unless it opens. */
static __attribute__((unused)) struct ssh_conn *must_open(unsigned port, const char *identity)
{
	struct ssh_conn *c = NULL;
	struct err e = ERR_INIT;

	if (open_with(port, identity, &c, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	return c;
}

/* For the start of a group: keys, an sshd, and a connection to it. */
static __attribute__((unused)) int connected(void **state, struct sshd *s, struct ssh_conn **c)
{
	if (make_keys(state) < 0)
		return -1;
	sshd_start(s, "");
	know(s->port, "host_ed25519");
	*c = must_open(s->port, "user_ed25519");
	return 0;
}

/* And for its end. */
static __attribute__((unused)) int disconnected(void **state, struct sshd *s, struct ssh_conn *c)
{
	ssh_close(c);
	sshd_stop(s);
	return remove_dir(state);
}

static __attribute__((unused)) void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text);
}

/* It must fail at @step, with all of @parts (NULL-terminated) in the message. */
static __attribute__((unused)) void refused(unsigned port, const char *identity, enum ssh_step step,
					    const char *const *parts)
{
	enum ssh_step at = SSH_STEP_NONE;
	struct ssh_conn *c = NULL;
	struct err e = ERR_INIT;

	if (open_with(port, identity, &c, &at, &e) == 0) {
		ssh_close(c);
		fail_msg("it was let in");
	}
	assert_null(c);
	if (getenv("V"))
		print_message("  %s\n", e.msg);
	if (e.code != ERR_LAB || at != step)
		fail_msg("code %d, step %d: %s", e.code, at, e.msg);
	for (; *parts; parts++)
		assert_has(e.msg, *parts);
}
#define REFUSED(port, identity, step, ...) \
	refused(port, identity, step, (const char *const[]){ __VA_ARGS__, NULL })

/* Run 'sh -c script' there. */
static void __attribute__((unused))
run_on(struct ssh_conn *c, const char *script, struct ssh_command *o, struct ssh_result *r)
{
	_cleanup_free_ char *text = xstrdup(script);
	char *argv[] = { "sh", "-c", text, NULL };
	struct err e = ERR_INIT;

	o->argv = argv;
	if (!o->timeout_ms)
		o->timeout_ms = 20000;
	if (ssh_exec(c, o, r, &e) < 0)
		fail_msg("'%s': %s", script, e.msg);
	o->argv = NULL;
}

/* A number of seconds that nobody else sleeps, so that the process is found. Valid for a while. */
static __attribute__((unused)) const char *odd_seconds(void)
{
	static char text[4][32];
	static unsigned n;
	char *slot = text[n++ % ARRAY_SIZE(text)];

	snprintf(slot, sizeof(text[0]), "%u.%d", 300 + n, (int)getpid());
	return slot;
}

/* Does somebody sleep so long? */
static __attribute__((unused)) bool sleeps(const char *seconds)
{
	_cleanup_free_ char *answer = sh("pgrep -f '[s]leep %s' >/dev/null && echo y || echo n",
					 seconds);

	return answer[0] == 'y';
}

#endif
