/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INT, TERM and HUP, noticed at safe points. */
#include "base/sig.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t pending;
static int pipe_fd[2] = { -1, -1 };

static void on_signal(int sig)
{
	pending = sig;
	/* A full pipe is readable already: nothing is lost. */
	if (write(pipe_fd[1], "", 1) < 0)
		return;
}

void sig_install(void)
{
	struct sigaction sa = { .sa_handler = on_signal }, old;

	if (pipe_fd[0] < 0 && pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	/* Under nohup the terminal may go; an INT that a script's shell ignores was meant for us. */
	if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
	sa.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &sa, NULL);
}

int sig_pending(void)
{
	return pending;
}

int sig_fd(void)
{
	return pipe_fd[0];
}

int sig_forget(void)
{
	int was = pending;
	char drained[16];

	pending = 0;
	while (pipe_fd[0] >= 0 && read(pipe_fd[0], drained, sizeof(drained)) > 0)
		;
	return was;
}

int sig_check(struct err *e)
{
	if (!pending)
		return 0;
	return err_set(e, ERR_INTERRUPTED, "interrupted by signal %d (%s)", (int)pending,
		       strsignal(pending));
}
