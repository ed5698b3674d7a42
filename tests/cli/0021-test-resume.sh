#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test shares the store with campaigns: whatever stops which of them, nothing is measured twice.
. "$(dirname "$0")/lib.sh"

start_bisect() { # in ./clone, anew
	git -C clone bisect reset >/dev/null 2>&1
	git -C clone bisect start v2 v1 >/dev/null 2>&1
}

bisect_run() {
	(cd clone && git bisect run "$KREGRESS" test -c ../test.ini) >out 2>err
	status=$?
}

stored() { # trials in the store
	"$KREGRESS" log --json test.ini 2>/dev/null | wc -l | tr -d ' '
}

measure_sh
merged_history repo
git clone -q repo clone
campaign test.ini
start_bisect
bisect_run
grep -q "^$(rev slow) is the first bad commit" out
is "$status $?" "0 0" "the first bad commit is the planted one"
sort calls >calls-whole
all=$(calls)
[ "$all" -ge 10 ]
ok $? "that took six boots of the ends, and four or more of commits"
is "$("$KREGRESS" log --json test.ini | jq -r .purpose | sort | uniq -c | awk '{ print $2, $1 }' | tr '\n' ' ')" \
	"ends 6 test $((all - 6)) " "the log names ends and single commits apart"

start_bisect
bisect_run
is "$status $(calls)" "0 $all" "the same bisection again measures nothing"
k run --json test.ini
is "$status $(json .culprit) $(calls)" "0 $(rev slow) $all" \
	"a campaign after a hand-made bisection measures nothing, and finds the same commit"
is "$(json '.tested[2:][].commit' | sort)" "$(sort -u calls | grep -vFx -e "$(rev v1)" -e "$(rev v2)")" \
	"and has the commits that the bisection had"

# the reverse: the campaign first
rm -r state
: >calls
k run --json test.ini
is "$(sort calls | cmp - calls-whole 2>&1)" "" "the campaign alone takes the same boots"
start_bisect
bisect_run
is "$status $(calls)" "0 $all" "a bisection after the campaign measures nothing"

# stopped half-way by a signal to git and all its children, as ^C gives it
rm -r state
: >calls
m=0
for signal in TERM KILL; do
	before=$(calls)
	start_bisect
	(cd clone && DELAY=0.3 exec setsid git bisect run "$KREGRESS" test -c ../test.ini) >out 2>err &
	pid=$!
	tries=0
	while [ "$(calls)" -lt $((before + 4)) ] && [ $tries -lt 200 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	kill -$signal -$pid
	wait $pid 2>/dev/null
	# kregress is nobody's child now, and saves its state before it goes
	tries=0
	while pgrep -f "$KREGRESS test -c ../test.ini" >/dev/null && [ $tries -lt 100 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	last=$m n=$(calls) m=$(stored)
	[ "$m" -ge $((last + 3)) ] && [ "$m" -lt "$n" ] && [ "$m" -lt "$all" ]
	ok $? "$signal: $m of $n trials begun are in the store"
done
bisect_run
is "$status $(sed -n 's/ is the first bad commit$//p' out)" "0 $(rev slow)" "git bisect run goes on to the same commit"
is "$(calls)" "$((n + all - m))" "what was stored was not measured again"

# and a campaign stopped half-way goes on under git
rm -r state
: >calls
DELAY=0.3 "$KREGRESS" run test.ini >out 2>err &
pid=$!
tries=0
while [ "$(calls)" -lt 8 ] && [ $tries -lt 200 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
kill -TERM $pid
wait $pid
n=$(calls) m=$(stored)
start_bisect
bisect_run
is "$status $(calls)" "0 $((n + all - m))" "a campaign cut off goes on as a bisection by hand"
done_testing
