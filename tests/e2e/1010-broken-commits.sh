#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the kernel did is told apart: it does not compile, it does not boot; and it is no verdict.
. "$(dirname "$0")/lib.sh"

# The later of the two: the demo's campaigns come by it as well.
broken=$(truth build-broken | tail -n 1)
campaign mmap-fragmenter "campaign.bad=$broken"
is "$status" 1 "a bad end that does not compile ends without a culprit"
is "$(json 'r["status"]')" no_culprit "and says so"
is "$(json '[c["outcome"] for c in r["tested"] if c["commit"] == "'"$broken"'"]')" \
	"['build_failed']" "the outcome is build_failed"
is "$(json '[c["trials"] for c in r["tested"] if c["commit"] == "'"$broken"'"]')" \
	"[0]" "a kernel that was not built was not booted"
k log -o "campaign.state=$tmp/state-mmap-fragmenter" -o "campaign.repo=$demo/linux" \
	-o "campaign.bad=$broken" "$top/configs/campaigns/mmap-fragmenter.ini"
answers 0 "loadavg.c" "the log names the file with the first compiler error"

rm -rf "$tmp/state-mmap-fragmenter"
broken=$(truth boot-broken | tail -n 1)
campaign mmap-fragmenter "campaign.bad=$broken"
is "$status" 1 "a bad end that panics at boot ends without a culprit"
is "$(json '[c["outcome"] for c in r["tested"] if c["commit"] == "'"$broken"'"]')" \
	"['boot_failed']" "the outcome is boot_failed"
k log -o "campaign.state=$tmp/state-mmap-fragmenter" -o "campaign.repo=$demo/linux" \
	-o "campaign.bad=$broken" "$top/configs/campaigns/mmap-fragmenter.ini"
answers 0 "anic" "the log has the panic's line"
done_testing
