/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs of one trial on a machine over SSH. */
#include "target/ssh_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "target/results_outcome.h"
#include "target/ssh_copy.h"
#include "target/ssh_exec.h"
#include "target/ssh_internal.h"

#define HELLO_MS 30000
#define START_MS 60000 /* from hello or a run's end to the next begin: settings, stragglers */
#define BYE_MS 60000   /* settings are put back before it */
#define SLACK_MS 10000 /* what the agent may take beyond the limit that it enforces itself */
#define EXTRA_STATE 0x40000000u /* above those of runs */
#define END_MS 60000 /* from the bye to the end: the kernel log, which a slow machine sends */
#define STEP_MS 60000
#define BYTES_PER_MS 100 /* the slowest link that is waited for */
#define ERRORS_MAX (1u << 20)
#define TAIL_MAX (4u << 20)
/* Of a command with the words for each file; an SSH packet has 32 kB for it and the script. */
#define FILES_BYTES 20000u
#define WORDS_BYTES (64 + 14u) /* checksum, folder, mode, quotes */
#define CANNOT_PUT 99 /* exit status of the script where it could not put the files together */

/* One file that goes there. */
struct item {
	const char *from;
	char *name; /* in the folder of the run */
	unsigned mode;
	char sha[HASH_HEX_SIZE];
};

struct run {
	struct ssh_conn *c;
	const struct ssh_run_opts *o;
	const struct target_job *job;
	struct results results;
	char *folder; /* there */
	struct item *item;
	size_t n_items;
	struct str tail;   /* of stdout, after the records */
	struct str errors; /* stderr */
	int log;           /* output.log */
	struct err failed; /* in a callback */
	unsigned state;    /* of results, to see progress */
	int64_t limit_ms;
	double hello_s, last_s;
};

static void run_release(struct run *x)
{
	results_release(&x->results);
	str_release(&x->tail);
	str_release(&x->errors);
	for (size_t i = 0; i < x->n_items; i++)
		free(x->item[i].name);
	free(x->item);
	free(x->folder);
	str_closep(&x->log);
}

/* ---- sending ------------------------------------------------------------------------------- */

static int add_item(struct run *x, const char *from, char *name, unsigned mode, struct err *e)
{
	struct item *i = &x->item[x->n_items++];

	*i = (struct item){ .from = from, .name = name, .mode = mode };
	return hash_file(from, i->sha, e);
}

/* All files are named in one command, with their checksums. */
static int check_number(const struct ssh_run_opts *o, struct err *e)
{
	size_t bytes = 0;

	for (size_t i = 0; i < o->n_files; i++)
		bytes += strlen(o->files[i].name) + WORDS_BYTES;
	if (bytes <= FILES_BYTES)
		return 0;
	return err_set(
		e, ERR_CONFIG,
		"a workload of %zu files is too much for a machine over SSH, which takes "
		"about %u (pack them into one file, and unpack it in the workload's command)",
		o->n_files, FILES_BYTES / (WORDS_BYTES + 20));
}

static int list_items(struct run *x, struct err *e)
{
	const struct ssh_run_opts *o = x->o;

	if (check_number(o, e) < 0)
		return -1;
	x->item = xcalloc(o->n_files + 1, sizeof(*x->item));
	if (add_item(x, o->agent, xstrdup("agent"), 0755, e) < 0)
		return -1;
	for (size_t i = 0; i < o->n_files; i++) {
		if (!*o->files[i].name || strchr(o->files[i].name, '/'))
			return err_set(e, ERR_CONFIG, "'%s' is no name of a file of a workload",
				       o->files[i].name);
		if (add_item(x, o->files[i].from, xasprintf("work/%s", o->files[i].name),
			     o->files[i].mode, e) < 0)
			return -1;
	}
	return 0;
}

/* The folder's name tells nothing of the nonce: the workload sees it. */
static void name_folder(struct run *x)
{
	char hex[HASH_HEX_SIZE];

	hash_bytes(x->job->nonce, strlen(x->job->nonce), hex);
	x->folder = xasprintf("%s/run-%.12s", x->o->box->o.work_dir, hex);
}

static bool is_there(const struct strv *answer, const char *sha)
{
	for (size_t i = 0; i < answer->n; i++)
		if (str_eq(ssh_box_line(answer->v[i], "have"), sha))
			return true;
	return false;
}

static int send_item(struct run *x, const struct item *i, struct err *e)
{
	_cleanup_free_ char *to = xasprintf("%s/files/%s", x->o->box->o.work_dir, i->sha);
	struct stat st;
	struct ssh_upload u = { .from = i->from, .to = to, .mode = 0755 };

	if (stat(i->from, &st) < 0)
		return err_sys(e, errno, "cannot read '%s'", i->from);
	u.timeout_ms = STEP_MS + st.st_size / BYTES_PER_MS;
	return ssh_upload(x->c, &u, e);
}

static int prepare(struct run *x, struct err *e)
{
	const struct ssh_box *b = x->o->box;
	_cleanup_strv_ struct strv args = STRV_INIT, answer = STRV_INIT;

	if (list_items(x, e) < 0)
		return -1;
	name_folder(x);
	strv_add(&args, b->o.work_dir);
	strv_add(&args, x->folder);
	strv_addf(&args, "%ld:%ld", b->uid, b->gid);
	for (size_t i = 0; i < x->n_items; i++)
		strv_add(&args, x->item[i].sha);
	if (ssh_box_ask(b, SSH_PREPARE, b->is_root, &args, STEP_MS, &answer, e) < 0)
		return -1;
	for (size_t i = 0; i < x->n_items; i++) {
		if (is_there(&answer, x->item[i].sha))
			continue;
		if (send_item(x, &x->item[i], e) < 0)
			return -1;
		/* The same bytes may be there under two names. */
		strv_addf(&answer, "have=%s", x->item[i].sha);
	}
	return 0;
}

/* ---- listening ----------------------------------------------------------------------------- */

static bool is_over(const struct run *x)
{
	return x->results.bye || x->results.failure;
}

/* The command there is given so long from now. */
static void set_limit(struct run *x, int64_t ms)
{
	x->limit_ms = ms;
	x->c->deadline = clock_deadline(ms);
}

/* Progress renews the limit; what the next sign of life is depends on the state. */
static void renew_limit(struct run *x)
{
	const struct results *h = &x->results;
	unsigned state = is_over(x) ? -1u : !h->hello ? 0 : 1 + 2 * h->run + h->in_run;

	if (h->extra && !is_over(x))
		state = EXTRA_STATE + h->extra_step;
	if (state == x->state)
		return;
	if (x->state == 0)
		x->hello_s = x->last_s = clock_mono_s();
	x->state = state;
	if (!h->in_run && !h->extra)
		x->last_s = clock_mono_s();
	if (is_over(x))
		set_limit(x, END_MS);
	else if (h->extra)
		set_limit(x, x->job->run_timeout_ms + x->job->observe.time_ms + SLACK_MS);
	else if (h->in_run)
		set_limit(x, x->job->run_timeout_ms + SLACK_MS);
	else
		set_limit(x, h->run < h->wanted ? START_MS : BYE_MS);
}

/* Stop the command: at its next look at the deadline. */
static void give_up(struct run *x)
{
	x->c->deadline = clock_deadline(0);
}

static void write_log(struct run *x, const char *data, size_t n)
{
	while (n > 0 && x->failed.code == ERR_NONE) {
		ssize_t done = write(x->log, data, n);

		if (done < 0 && errno != EINTR) {
			err_sys(&x->failed, errno, "cannot write output.log of the trial");
			give_up(x);
		} else if (done > 0) {
			data += done;
			n -= (size_t)done;
		}
	}
}

/* Records line by line, so that it is known where they end and the rest begins. */
static void take_data(void *cookie, const char *data, size_t n)
{
	struct run *x = cookie;

	while (n > 0 && !is_over(x)) {
		const char *nl = memchr(data, '\n', n);
		size_t part = nl ? (size_t)(nl + 1 - data) : n;

		write_log(x, data, part);
		results_feed(&x->results, data, part, clock_mono_s());
		renew_limit(x);
		data += part;
		n -= part;
	}
	if (n > TAIL_MAX - x->tail.len)
		n = TAIL_MAX - x->tail.len;
	str_addmem(&x->tail, data, n);
}

static void tick(void *cookie)
{
	struct run *x = cookie;
	char stage[40];

	if (!x->job->tick)
		return;
	snprintf(stage, sizeof(stage), "run %u/%u", x->results.run ? x->results.run : 1,
		 x->results.wanted);
	x->job->tick(x->job->tick_cookie, x->results.hello ? stage : "start");
}

static int write_job(struct run *x, struct str *text, struct err *e)
{
	const struct guest_job g = {
		.nonce = x->job->nonce,
		.runs = x->job->runs,
		.run_timeout_ms = x->job->run_timeout_ms,
		.observe = x->job->observe,
		.settings = x->o->settings,
		.n_settings = x->o->n_settings,
		.argv = x->o->argv,
	};

	return guest_job_write(&g, text, e);
}

/* Everything from the agent's start to its end. 0: @res and what was heard; -1. */
static int run_agent(struct run *x, struct ssh_result *res, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT, argv = STRV_INIT;
	_cleanup_str_ struct str job = STR_INIT;
	int64_t hello_ms = x->o->hello_timeout_ms > 0 ? x->o->hello_timeout_ms : HELLO_MS;
	struct ssh_command o = {
		.timeout_ms = hello_ms,
		.max_errors = ERRORS_MAX,
		.errors = &x->errors,
		.data = take_data,
		.tick = tick,
		.cookie = x,
	};

	if (write_job(x, &job, e) < 0)
		return -1;
	strv_add(&args, x->o->box->o.work_dir);
	strv_add(&args, x->folder);
	for (size_t i = 0; i < x->n_items; i++) {
		strv_add(&args, x->item[i].sha);
		strv_add(&args, x->item[i].name);
		strv_addf(&args, "%04o", x->item[i].mode & 07777u);
	}
	ssh_box_argv(x->o->box, SSH_RUN, x->o->box->is_root, &args, &argv);
	o.argv = argv.v;
	o.input = str_text(&job);
	o.input_bytes = job.len;
	x->limit_ms = hello_ms;
	if (ssh_exec(x->c, &o, res, e) < 0)
		return -1;
	return x->failed.code ? err_set(e, x->failed.code, "%s", x->failed.msg) : 0;
}

/* ---- judging ------------------------------------------------------------------------------- */

/* What the kernel said since the first run: after the script's own mark. */
static const char *kernel_log(const struct run *x, size_t *n)
{
	_cleanup_free_ char *mark = xasprintf("kregress: log %s\n", strrchr(x->folder, '/') + 1);
	const char *at = x->tail.len ? memmem(x->tail.buf, x->tail.len, mark, strlen(mark)) : NULL;

	*n = 0;
	if (!at)
		return "";
	at += strlen(mark);
	*n = x->tail.len - (size_t)(at - x->tail.buf);
	return at;
}

static int keep_file(const struct run *x, const char *name, const char *data, size_t n,
		     struct err *e)
{
	_cleanup_free_ char *path = fs_join(x->job->dir, name);

	return n ? fs_write(path, data, n, e) : 0;
}

/* The agent did not even say hello. */
static int no_hello(const struct run *x, const struct ssh_result *res, struct err *e)
{
	const char *name = ssh_name(x->c);

	if (res->end == SSH_TIMED_OUT)
		return err_set(e, ERR_LAB, "the agent on '%s' did not start within %g s", name,
			       (double)x->limit_ms / 1000);
	ssh_failed(res, &x->errors, e);
	if (res->end == SSH_EXITED && res->status == CANNOT_PUT)
		return err_wrap(e, "cannot prepare '%s' on '%s'", x->folder, name);
	err_wrap(e, "the agent on '%s' did not start", name);
	return res->status == 126
		       ? err_hint(e, "is '%s' mounted noexec? set work_dir = in [target]",
				  x->o->box->o.work_dir)
		       : -1;
}

/* Neither bye nor a reason: the agent, or the shell that ran it, ended. */
static int cut_short(const struct run *x, const struct ssh_result *res,
		     const struct results_view *v, struct target_result *r, struct err *e)
{
	char when[40], line[200];

	results_when(&x->results, when, sizeof(when));
	if (res->end == SSH_TIMED_OUT)
		return results_outcome(r, TRIAL_TIMED_OUT, "no sign of the agent for %g s %s",
				       (double)x->limit_ms / 1000, when);
	if (console_scan(v->console, v->console_bytes, line, sizeof(line)) >= CONSOLE_OOM)
		return results_outcome(r, TRIAL_CRASHED, "%s", line);
	ssh_failed(res, &x->errors, e);
	return err_wrap(e, "the agent on '%s' ended %s", ssh_name(x->c), when);
}

static int judge(const struct run *x, const struct ssh_result *res, struct target_result *r,
		 struct err *e)
{
	_cleanup_free_ char *where = xasprintf("on '%s'", ssh_name(x->c));
	_cleanup_str_ struct str said = STR_INIT;
	struct results_view v = { .results = &x->results, .job = x->job, .where = where };
	const char *text;
	size_t n;
	int ret;

	text = kernel_log(x, &n);
	str_addmem(&said, text, n);
	if (keep_file(x, "kernel.log", text, n, e) < 0)
		return -1;
	if (x->o->console) {
		text = x->o->console(x->o->console_cookie, &n);
		str_addf(&said, "\n");
		str_addmem(&said, text, n);
	}
	v.console = str_text(&said);
	v.console_bytes = said.len;
	if (!x->results.hello)
		return x->results.failure ? results_judge_failure(&v, r, e) : no_hello(x, res, e);
	results_take_hello(&x->results, r);
	if (results_check_kernel(&v, e) < 0)
		return -1;
	ret = results_judge(&v, r, e);
	return ret > 0 ? cut_short(x, res, &v, r, e) : ret;
}

static void tell_seen(const struct run *x)
{
	const struct results *h = &x->results;

	if (x->o->seen)
		*x->o->seen = (struct ssh_run_seen){
			.is_lost = ssh_is_lost(x->c),
			.hello = h->hello,
			.bye = h->bye,
			.run = h->run,
			.in_run = h->in_run,
		};
}

static int run_and_judge(struct run *x, struct target_result *r, struct err *e)
{
	struct ssh_result res = { .end = 0 };
	char when[40];
	int ret = run_agent(x, &res, e);

	if (x->results.hello)
		r->run_seconds = x->last_s - x->hello_s;
	if (keep_file(x, "errors.log", str_text(&x->errors), x->errors.len, ret < 0 ? NULL : e) < 0)
		ret = -1;
	if (ret < 0)
		return ssh_is_lost(x->c)
			       ? err_wrap(e, "%s", results_when(&x->results, when, sizeof(when)))
			       : -1;
	return judge(x, &res, r, e);
}

int ssh_run_clean(const struct ssh_box *b, struct strv *removed, struct err *e)
{
	_cleanup_strv_ struct strv args = STRV_INIT, answer = STRV_INIT;

	strv_add(&args, b->o.work_dir);
	if (ssh_box_ask(b, SSH_CLEAN, b->is_root, &args, STEP_MS, &answer, e) < 0)
		return -1;
	for (size_t i = 0; removed && i < answer.n; i++)
		if (ssh_box_line(answer.v[i], "removed"))
			strv_add(removed, ssh_box_line(answer.v[i], "removed"));
	return 0;
}

int ssh_run_job(struct ssh_conn *c, const struct ssh_run_opts *o, const struct target_job *job,
		struct target_result *r, struct err *e)
{
	_cleanup_(run_release) struct run x = { .c = c, .o = o, .job = job, .log = -1 };
	_cleanup_free_ char *path = fs_join(job->dir, "output.log");
	int ret;

	results_init(&x.results, job->nonce, job->runs, r);
	x.log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (x.log < 0)
		return err_sys(e, errno, "cannot write '%s'", path);
	ret = prepare(&x, e);
	if (ret == 0)
		ret = run_and_judge(&x, r, e);
	tell_seen(&x);
	/* After a good end the script has done it itself. */
	if (!x.results.bye && !ssh_is_lost(c))
		ssh_run_clean(o->box, NULL, NULL);
	return ret;
}
