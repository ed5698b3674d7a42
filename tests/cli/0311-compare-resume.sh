#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# compare, stopped by whatever signal: it goes on where it was, and measures nothing twice.
. "$(dirname "$0")/lib.sh"
. "$top/tests/cli/compare-lib.sh"

stored() {
	sqlite3 state/campaign.db 'select count(*) from trial' 2>/dev/null || echo 0
}

compare_history
compare_campaign "sweep = interval 1,2
variant.off = thp=never
variant.on ="
set -- v2 v2~revert:slow-a v1
k compare test.ini "$@"
is "$status $(calls)" "0 48" "12 kinds, four boots of each"
awk '{ print $2, $3, $4, $5, $6, $7 }' calls >whole

rm -r state
: >calls
last=0
for signal in KILL TERM INT KILL; do
	# env: a shell's background jobs ignore INT, but env -i sets it back nowhere; setsid keeps it simple
	DELAY=0.2 python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
		"$KREGRESS" compare test.ini "$@" >out 2>err &
	pid=$!
	tries=0
	while [ "$(stored)" -lt $((last + 5)) ] && [ $tries -lt 300 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	kill -$signal $pid
	wait $pid 2>/dev/null
	ended=$?
	now=$(stored)
	[ "$now" -ge $((last + 5)) ] && [ "$now" -lt 48 ]
	ok $? "$signal: stopped with $now of 48 stored"
	case $signal in
	KILL) ;;
	*) is "$ended" 130 "$signal ends it with 130" ;;
	esac
	last=$now
done
k compare --json test.ini "$@"
is "$status $(stored)" "0 48" "the next call finishes it"
is "$(json '[.cells[].boots | length] | unique | tostring')" "[4]" "each kind has its four boots"
is "$(sqlite3 state/campaign.db "select count(*) from trial_begin") $(calls)" \
	"$((48 + $(calls) - 48)) $(calls)" "what was begun is what was called"
[ "$(calls)" -le 52 ]
ok $? "at most the four that were cut off were called again: $(calls)"
sqlite3 -separator ' ' state/campaign.db 'select id from trial order by id' >ids
awk 'NR == FNR { keep[$1] = 1; next } $1 in keep { print $2, $3, $4, $5, $6, $7 }' ids calls | cmp - whole >>err
ok $? "in the very order of a comparison that nothing stops"

# two at once
DELAY=0.5 "$KREGRESS" compare -o compare.boots=6 test.ini "$@" >out2 2>err2 &
pid=$!
sleep 1
k compare test.ini "$@"
refused 128 "in use by another kregress" "two at a time are refused"
kill $pid
wait $pid
done_testing
