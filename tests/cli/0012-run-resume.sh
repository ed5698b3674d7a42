#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Whatever stops a run, the next one goes on, measures nothing twice, and gets the same answer.
. "$(dirname "$0")/lib.sh"

measure_sh
merged_history repo
campaign whole.ini
sed -i 's/^state = .*/state = state-whole/' whole.ini
k run --json whole.ini
json '[.status, .culprit, .tested]' >want
all=$(calls)
campaign test.ini

start() { # ARGS...: in the background, slow enough to be stopped in the middle
	DELAY=0.3 "$KREGRESS" run "$@" test.ini >out 2>err &
	pid=$!
}

# until calls has so many lines; at most 20 seconds
wait_for_calls() {
	tries=0
	while [ "$(calls)" -lt "$1" ] && [ $tries -lt 200 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
}

stored() { # trials in the store
	"$KREGRESS" log --json test.ini 2>/dev/null | wc -l | tr -d ' '
}

finish_like_the_whole_run() { # CALLS STORED TITLE: calls before, of which so many are in the store
	k run --json test.ini
	is "$status $(json '[.status, .culprit, .tested]')" "0 $(cat want)" "$3: the answer is that of a run in one go"
	is "$(calls)" "$(($1 + all - $2))" "$3: what was stored was not measured again"
}

: >calls
start
wait_for_calls 3
kill -KILL $pid
wait $pid 2>/dev/null
is $? 137 "killed with KILL"
n=$(calls) m=$(stored)
[ "$m" -ge 2 ] && [ "$m" -lt "$n" ]
ok $? "the trials before the kill are in the store, the one cut off is not ($m of $n)"
k status test.ini
answers 0 "Go on with: kregress run test.ini" "status says how to go on"
finish_like_the_whole_run "$n" "$m" "after kill -9"

rm -r state
: >calls
for signal in TERM INT; do
	before=$(calls)
	start
	wait_for_calls $((before + 2))
	kill -$signal $pid
	wait $pid
	status=$?
	is $status 130 "$signal: exit 130"
	grep -q "saved in '$tmp/state'; go on with: kregress run test.ini" err
	ok $? "$signal: where the state is, and how to go on, is said"
	is "$(wc -c <out)" 0 "$signal: nothing on standard output"
done
before=$(calls)
start --json
wait_for_calls $((before + 2))
kill -TERM $pid
wait $pid
status=$?
is "$status $(json '.status, .culprit')" "130 interrupted
null" "--json: interrupted is an object too, exit 130"
is "$(pgrep -f "$tmp/measure.sh" | wc -l | tr -d ' ')" 0 "no child is left behind"
n=$(calls) m=$(stored)
[ "$m" -ge 3 ] && [ "$m" -lt $all ]
ok $? "three interruptions left $m of $all trials in the store"
finish_like_the_whole_run "$n" "$m" "after signals"

k run test.ini
is "$(calls)" "$((n + all - m))" "a campaign at its end measures nothing"

# the lab fails in the middle: nothing is blamed, and the campaign goes on once it is mended
rm -r state
: >calls
cp measure.sh good-measure.sh
sed -i "3i [ \$(wc -l <calls) -lt 7 ] || exit 128" measure.sh
k run --json test.ini
refused 128 "all that was measured is saved; go on with: kregress run test.ini" "a lab that fails is exit 128"
is "$(stored)" 7 "what was measured before is stored, the failure is not"
cp good-measure.sh measure.sh
n=$(calls)
finish_like_the_whole_run "$n" 7 "after a failure of the lab"
done_testing
