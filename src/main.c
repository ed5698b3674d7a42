/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress: signals first, then the command; the only caller of exit(). */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sig.h"
#include "cmd/cmd.h"

int main(int argc, char **argv)
{
	int fd;

	/* A closed 0, 1 or 2 would be given to the next file that is opened. */
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < 3);
	if (fd >= 3)
		close(fd);
	sig_install();
	exit(cmd_main(argc, argv));
}
