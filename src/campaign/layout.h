/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout = of [build], as far as boots have a part in it. */
#ifndef KR_CAMPAIGN_LAYOUT_H
#define KR_CAMPAIGN_LAYOUT_H

#include "campaign/session.h"

/*
 * @append (NULL: none) as a boot of this campaign gets it, owned: with layout = random without the
 * parameters that keep kernel and programs at fixed addresses.
 */
char *layout_append(const struct session *s, const char *append);
/* What layout = fixed adds to the boot parameters; "" else. */
const char *layout_parameters(const struct session *s);
/* Must the kernel be booted by its own loader, which is what moves it? @config: its .config. */
bool layout_moves_kernel(const struct session *s, const char *config);

#endif
