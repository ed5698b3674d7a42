/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status.html in the state directory: a page to leave open while a campaign runs. */
#ifndef KR_CAMPAIGN_STATUS_PAGE_H
#define KR_CAMPAIGN_STATUS_PAGE_H

#include "campaign/session.h"

/*
 * Make the page anew: written beside it and renamed, so that a browser never sees half of one.
 * Left out while the pages so far have cost more than a fiftieth of the time (never for @last,
 * the page of a campaign that ended, which does not load itself again; @why: how, NULL: it is
 * done). What goes wrong is said once at -v and is no failure.
 */
void status_page_write(struct session *s, bool last, const char *why);

#endif
