/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kregress: signals first, then the command; the only caller of exit(). */
#include <stdlib.h>

#include "base/sig.h"
#include "cmd/cmd.h"

int main(int argc, char **argv)
{
	sig_install();
	exit(cmd_main(argc, argv));
}
