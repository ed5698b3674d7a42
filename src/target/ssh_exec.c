/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands on the other side: fed, drained, watched. */
#include "target/ssh_exec.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libssh2.h>

#include "base/clock.h"
#include "target/ssh_channel.h"
#include "target/ssh_internal.h"

#define STDERR 1
#define TICK_MS 200
#define ERRORS_MAX (64u << 10)
#define RUN_OUTPUT_MAX (1u << 20)
#define SENT_MS 10000
#define END_MS 2000
/* What libssh2 puts into one packet; whole ones are the fastest. */
#define PACKET_BYTES 32700
#define INPUT_BYTES (8 * PACKET_BYTES)
/* Packets sent before the other direction has its turn, and the other way round. */
#define TURN 16

/* The calls that may send; one that stops in the middle of a packet must be repeated first. */
enum call { CALL_NONE = 0, CALL_WRITE, CALL_END_INPUT, CALL_READ, CALL_READ_ERRORS };

static const char takes_nothing[] = "it takes nothing any more";
static const char answers_nothing[] = "it answers nothing any more";

struct exec {
	struct ssh_conn *c;
	const struct ssh_command *o;
	struct ssh_result *r;
	LIBSSH2_CHANNEL *ch;
	enum call pending;
	const char *in; /* what is to be sent now */
	size_t in_bytes, in_done;
	char *in_buf;    /* with o->more */
	bool is_given;   /* all input was given to us */
	bool is_sent;    /* … and its end was sent, or nobody takes it any more */
	struct str line; /* the last one, as far as it came */
	struct str errors;
	size_t max_errors;
	long pid; /* of the command there; 0: not known (yet) */
	int64_t ticked_ms;
	char buf[32768];
};

static void exec_release(struct exec *x)
{
	str_release(&x->line);
	str_release(&x->errors);
	free(x->in_buf);
}

static void tick(struct exec *x)
{
	int64_t now;

	if (!x->o->tick || (now = clock_mono_ms()) - x->ticked_ms < TICK_MS)
		return;
	x->ticked_ms = now;
	x->o->tick(x->o->cookie);
}

static ssize_t do_call(struct exec *x, enum call what)
{
	switch (what) {
	case CALL_WRITE:
		return libssh2_channel_write(x->ch, x->in + x->in_done, x->in_bytes - x->in_done);
	case CALL_END_INPUT:
		return libssh2_channel_send_eof(x->ch);
	case CALL_READ:
		return libssh2_channel_read(x->ch, x->buf, sizeof(x->buf));
	case CALL_READ_ERRORS:
		return libssh2_channel_read_ex(x->ch, STDERR, x->buf, sizeof(x->buf));
	case CALL_NONE:
		break;
	}
	return 0;
}

/* A call up to where no half packet is left; *@n as libssh2 returned it in the end. */
static int whole_call(struct exec *x, enum call what, ssize_t *n, struct err *e)
{
	x->pending = what;
	while ((*n = do_call(x, what)) == LIBSSH2_ERROR_EAGAIN && ssh_is_sending(x->c)) {
		if (ssh_again(x->c, *n, e) < 0)
			return -1;
		tick(x);
	}
	x->pending = CALL_NONE;
	return 0;
}

/* ---- input --------------------------------------------------------------------------------- */

static int refill(struct exec *x, struct err *e)
{
	size_t n = 0;

	x->in_done = x->in_bytes = 0;
	if (!x->o->more || x->is_given) {
		x->is_given = true;
		return 0;
	}
	if (!x->in_buf)
		x->in_buf = xcalloc(INPUT_BYTES, 1);
	if (x->o->more(x->o->cookie, x->in_buf, INPUT_BYTES, &n, e) < 0)
		return -1;
	x->in = x->in_buf;
	x->in_bytes = n;
	x->is_given = n == 0;
	return 0;
}

/* Send one packet, or the end of the input. 1: sent, 0: not now, -1. */
static int feed_once(struct exec *x, struct err *e)
{
	ssize_t n;

	if (x->in_done == x->in_bytes && refill(x, e) < 0)
		return -1;
	if (!ssh_can_send(x->c))
		return 0;
	if (whole_call(x, x->is_given && !x->in_bytes ? CALL_END_INPUT : CALL_WRITE, &n, e) < 0)
		return -1;
	if (n == LIBSSH2_ERROR_EAGAIN || (n == 0 && !x->is_given))
		return 0;
	/* A command may end, or close its input, before it has read all. */
	if (n < 0 || (x->is_given && !x->in_bytes))
		x->is_sent = true;
	else
		x->in_done += (size_t)n;
	return 1;
}

static int feed(struct exec *x, bool *moved, struct err *e)
{
	for (int i = 0; i < TURN && !x->is_sent; i++) {
		int got = feed_once(x, e);

		if (got <= 0)
			return got;
		*moved = true;
	}
	return 0;
}

/* ---- output -------------------------------------------------------------------------------- */

static void take_lines(struct exec *x, const char *data, size_t n)
{
	while (n > 0) {
		const char *nl = memchr(data, '\n', n);
		size_t take = nl ? (size_t)(nl - data) : n;

		if (take > SSH_LINE_MAX - x->line.len) {
			take = SSH_LINE_MAX - x->line.len;
			nl = NULL;
		}
		str_addmem(&x->line, data, take);
		if (nl || x->line.len == SSH_LINE_MAX) {
			x->o->line(x->o->cookie, str_text(&x->line), x->line.len);
			str_clear(&x->line);
		}
		take += nl != NULL;
		data += take;
		n -= take;
	}
}

static void take_output(struct exec *x, size_t n)
{
	const struct ssh_command *o = x->o;
	size_t keep = n;

	if (o->max_output && x->r->out_bytes + n > o->max_output) {
		keep = o->max_output - (size_t)x->r->out_bytes;
		x->r->end = SSH_TOO_MUCH;
	}
	x->r->out_bytes += keep;
	if (o->out)
		str_addmem(o->out, x->buf, keep);
	if (o->data)
		o->data(o->cookie, x->buf, keep);
	if (o->line)
		take_lines(x, x->buf, keep);
}

static void take_errors(struct exec *x, size_t n)
{
	size_t room = x->errors.len < x->max_errors ? x->max_errors - x->errors.len : 0;

	x->r->err_bytes += n;
	str_addmem(&x->errors, x->buf, n < room ? n : room);
	if (!x->pid && room) {
		size_t before = x->errors.len;

		x->pid = ssh_channel_take_pid(&x->errors);
		x->r->err_bytes -= before - x->errors.len;
	}
}

static int drain(struct exec *x, enum call what, bool *moved, struct err *e)
{
	for (int i = 0; i < TURN && !x->r->end; i++) {
		ssize_t n;

		if (whole_call(x, what, &n, e) < 0)
			return -1;
		if (n == 0 || n == LIBSSH2_ERROR_EAGAIN)
			return 0;
		if (n < 0)
			return ssh_fail(x->c, n, "read what a command prints", e);
		*moved = true;
		if (what == CALL_READ)
			take_output(x, (size_t)n);
		else
			take_errors(x, (size_t)n);
	}
	return 0;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static bool is_closed(struct exec *x)
{
	return libssh2_channel_eof(x->ch) && libssh2_channel_wait_closed(x->ch) == 0;
}

/* Until the other side has closed the channel, or we have had enough. */
static int pump(struct exec *x, struct err *e)
{
	for (;;) {
		bool moved = false;

		if (feed(x, &moved, e) < 0 || drain(x, CALL_READ, &moved, e) < 0 ||
		    drain(x, CALL_READ_ERRORS, &moved, e) < 0)
			return -1;
		tick(x);
		if (x->r->end || (!moved && is_closed(x)))
			return 0;
		if (moved && clock_left_ms(x->c->deadline) != 0)
			continue;
		/* Also where data never stop coming: this looks at the deadline and at signals. */
		if (ssh_wait(x->c, !x->is_sent && !ssh_can_send(x->c), e) < 0)
			return -1;
	}
}

/* Its pid is the first that it says; on a busy machine that may not have come yet. */
static void await_pid(struct exec *x)
{
	x->c->deadline = clock_deadline(END_MS);
	while (!x->pid) {
		ssize_t n;

		if (whole_call(x, CALL_READ_ERRORS, &n, NULL) < 0)
			return;
		if (n > 0)
			take_errors(x, (size_t)n);
		else if (ssh_wait(x->c, false, NULL) < 0)
			return;
	}
}

/*
 * Kill the command there. True when the machine answered: else nobody can say whether the
 * command took too long, or the network did.
 */
static bool stop(struct exec *x)
{
	struct ssh_conn *c = x->c;
	ssize_t n;
	bool is_alive = false;

	c->deadline = clock_deadline(c->silence_ms < SENT_MS ? c->silence_ms : SENT_MS);
	c->is_urgent = true;
	if (!c->is_lost && (x->pending == CALL_NONE || whole_call(x, x->pending, &n, NULL) == 0)) {
		await_pid(x);
		is_alive = ssh_channel_kill(c, x->pid);
	}
	ssh_channel_end(c, x->ch, END_MS);
	c->is_urgent = false;
	/* Half a packet is left: nothing else can be sent on this connection. */
	if (x->pending != CALL_NONE)
		ssh_lose(c, takes_nothing, strlen(takes_nothing));
	return is_alive;
}

static int end_early(struct exec *x, enum ssh_end end, struct err *e)
{
	if (stop(x)) {
		x->r->end = end;
		return 0;
	}
	ssh_lose(x->c, answers_nothing, strlen(answers_nothing));
	return ssh_lost(x->c, e);
}

static int run_channel(struct exec *x, struct err *e)
{
	struct err why = ERR_INIT;

	if (pump(x, &why) < 0) {
		if (why.code == ERR_TIMEOUT)
			return end_early(x, SSH_TIMED_OUT, e);
		stop(x);
		return err_set(e, why.code, "%s", why.msg);
	}
	if (x->r->end)
		return end_early(x, x->r->end, e);
	if (x->o->line && x->line.len)
		x->o->line(x->o->cookie, str_text(&x->line), x->line.len);
	if (ssh_channel_result(x->c, x->ch, x->r, e) < 0) {
		ssh_channel_end(x->c, x->ch, END_MS);
		return -1;
	}
	ssh_channel_end(x->c, x->ch, END_MS);
	return 0;
}

int ssh_exec(struct ssh_conn *c, const struct ssh_command *o, struct ssh_result *r, struct err *e)
{
	_cleanup_(exec_release) struct exec x = {
		.c = c,
		.o = o,
		.r = r,
		.in = o->input,
		.in_bytes = o->input ? o->input_bytes : 0,
		.max_errors = o->max_errors ? o->max_errors : ERRORS_MAX,
	};
	int64_t begun = clock_mono_ms();
	struct err why = ERR_INIT;
	int ret;

	memset(r, 0, sizeof(*r));
	if (!o->argv || !o->argv[0] || o->timeout_ms <= 0)
		return err_set(e, ERR_INTERNAL, "ssh_exec() without a command or time");
	c->deadline = clock_deadline(o->timeout_ms);
	if (ssh_channel_start(c, o->argv, &x.ch, &why) < 0) {
		/* A question is open whose answer would be taken for that to the next. */
		if (why.code == ERR_TIMEOUT || why.code == ERR_INTERRUPTED)
			ssh_lose(c, answers_nothing, strlen(answers_nothing));
		return why.code == ERR_TIMEOUT ? ssh_lost(c, e)
					       : err_set(e, why.code, "%s", why.msg);
	}
	ret = run_channel(&x, e);
	if (o->errors)
		str_addmem(o->errors, x.errors.buf, x.errors.len);
	r->seconds = (double)(clock_mono_ms() - begun) / 1000;
	return ret;
}

const char *ssh_describe(const struct ssh_result *r, char *buf, size_t size)
{
	switch (r->end) {
	case SSH_EXITED:
		snprintf(buf, size, "exit status %d", r->status);
		break;
	case SSH_SIGNALED:
		snprintf(buf, size, "killed by signal %s", r->signal);
		break;
	case SSH_TIMED_OUT:
		snprintf(buf, size, "timed out after %.0f s", r->seconds);
		break;
	case SSH_TOO_MUCH:
		snprintf(buf, size, "stopped: it printed too much");
		break;
	default:
		snprintf(buf, size, "not ended");
	}
	return buf;
}

int ssh_failed(const struct ssh_result *r, const struct str *errors, struct err *e)
{
	_cleanup_str_ struct str clean = STR_INIT;
	const char *text = str_text(errors), *start;
	size_t n = errors->len;
	char how[80];

	/* The last line: what shells complain of at their start comes first. */
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	start = n ? memrchr(text, '\n', n) : NULL;
	start = start ? start + 1 : text;
	str_neutralise(&clean, start, n - (size_t)(start - text), false);
	return err_set(e, r->end == SSH_TIMED_OUT ? ERR_TIMEOUT : ERR_LAB, "%s%s%.200s",
		       ssh_describe(r, how, sizeof(how)), clean.len ? ": " : "", str_text(&clean));
}

int ssh_run(struct ssh_conn *c, char *const *argv, int64_t timeout_ms, struct str *out,
	    struct err *e)
{
	_cleanup_str_ struct str errors = STR_INIT, shown = STR_INIT;
	const struct ssh_command o = {
		.argv = argv,
		.timeout_ms = timeout_ms,
		.max_output = RUN_OUTPUT_MAX,
		.out = out,
		.errors = &errors,
	};
	struct ssh_result r;

	if (ssh_exec(c, &o, &r, e) < 0)
		return -1;
	if (r.end == SSH_EXITED && r.status == 0)
		return 0;
	ssh_failed(&r, &errors, e);
	str_join_words(&shown, argv);
	return err_wrap(e, "'%.100s' on '%s'", str_text(&shown), ssh_name(c));
}

int ssh_check_shell(struct ssh_conn *c, int64_t timeout_ms, struct err *e)
{
	/* What csh, fish and a forced command stumble over. */
	char word[] = "it's \"a\" \\n $HOME `id` !x *\n~ \t\\\\ # ;&|<>()";
	char *const argv[] = { (char[]){ "printf" }, (char[]){ "%s" }, word, NULL };
	_cleanup_str_ struct str out = STR_INIT;

	if (ssh_run(c, argv, timeout_ms, &out, e) < 0)
		return -1;
	if (str_eq(str_text(&out), word))
		return 0;
	if (strstr(str_text(&out), word))
		return err_set(e, ERR_LAB,
			       "start-up files of the shell on '%s' print something (make .bashrc "
			       "silent where there is no terminal)",
			       ssh_name(c));
	return err_set(
		e, ERR_LAB,
		"the login shell on '%s' changes what it is given (it must be a POSIX shell: "
		"chsh -s /bin/sh there; and no ForceCommand)",
		ssh_name(c));
}
