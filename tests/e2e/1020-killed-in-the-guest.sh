#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 in the middle of a boot: no QEMU survives, nothing is lost, nothing is measured twice.
. "$(dirname "$0")/lib.sh"

ini=$top/configs/campaigns/mmap-fragmenter.ini
state=$tmp/state-mmap-fragmenter

# The second boot of the campaign is shot down.
"$KREGRESS" run -o "campaign.state=$state" -o "campaign.repo=$demo/linux" "$ini" >first.out 2>&1 &
victim=$!
qemu=
for _ in $(seq 600); do
	qemu=$(pgrep -P "$victim" qemu-system || :)
	[ -n "$qemu" ] && grep -q 'boot 1' first.out && break
	sleep 0.05
done
[ -n "$qemu" ]
ok $? "a QEMU runs as a child of kregress"
kill -9 "$victim"
wait "$victim" 2>/dev/null
gone=1
for _ in $(seq 40); do
	if ! kill -0 "$qemu" 2>/dev/null || grep -q 'State:.*Z' "/proc/$qemu/status" 2>/dev/null; then
		gone=0
		break
	fi
	sleep 0.05
done
ok "$gone" "QEMU is gone within two seconds of kill -9"

stored=$(sqlite3 "$state/campaign.db" 'select count(*) from trial')
campaign mmap-fragmenter
is "$status" 0 "the next run goes on to the end"
is "$(json 'r["culprit"]')" "$(truth mmap-fragmenter)" "with the planted commit as culprit"
[ "$stored" -ge 1 ]
ok $? "the trial that had ended before the kill was stored"
is "$(sqlite3 "$state/campaign.db" 'select count(*) from trial')" \
	"$(sqlite3 "$state/campaign.db" 'select count(distinct id) from trial')" "no trial twice"
is "$(json '[c["trials"] for c in r["tested"][:2]]')" "[2, 2]" \
	"each end was booted as often as asked, the part before the kill included"
campaign mmap-fragmenter
is "$(json '(r["status"], r["trials"])')" \
	"('found', $(sqlite3 "$state/campaign.db" "select count(*) from trial where coalesce(twin, 0) = 0 and coalesce(dir, '') != ''"))" \
	"a finished campaign run again boots nothing"
done_testing
