#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Whatever a measuring program does instead of printing its value is an outcome, never a zero.
. "$(dirname "$0")/lib.sh"

measure_sh
new_repo repo
linear repo 1 3 10
git -C repo tag v1
linear repo 4 6 10
commit repo odd odd
git -C repo tag odd
linear repo 7 7 10
commit repo slow 20
linear repo 8 10 20
git -C repo tag v2
cp measure.sh plain.sh

# odd COMMANDS: what the program does for the commit "odd", which is the first that is picked
odd() {
	awk -v how="$1" '{ print } /^value=/ { print "if [ \"$value\" = odd ]; then\n" how "\nfi" }' plain.sh >measure.sh
	rm -rf state
	campaign test.ini
	k run --json -o workload.timeout=1s test.ini
}

outcome() {
	jq -r ".tested[] | select(.commit == \"$(rev odd)\") | .outcome + \" \" + .verdict + \" \" + (.samples | length | tostring)" out
}

# as OUTCOME TITLE: skipped with that outcome, without samples, and the culprit is found all the same
as() {
	is "$status $(json .culprit) $(outcome)" "0 $(git -C repo log --format=%H --grep '^slow$') $1 skip 0" "$2"
}

metric='echo "kregress: metric ms'
odd 'exit 0'
as garbled "prints nothing: garbled"
odd 'echo "kregress: metric other 5 ms"; exit 0'
as garbled "prints another metric: garbled"
for value in nan NaN inf -inf 1e999 0x10 '' abc 1,5 '5ms' '--5'; do
	odd "$metric $value\"; exit 0"
	as garbled "prints '$value': garbled"
done
odd "$metric 5 ms\"; $metric 5 ms\"; exit 0"
as garbled "prints more values than runs: garbled"
odd "$metric 10 ms\"; exit 3"
as crashed "prints a value, then exits with 3: crashed"
odd 'exit 125'
as untestable "exits with 125: cannot be tested"
odd 'sleep 600'
as timed_out "never ends: timed out"
is "$(pgrep -f "^sleep 600$" | wc -l | tr -d ' ')" 0 "and is not left behind"
odd 'sleep 600 & sleep 600'
as timed_out "never ends, with a child: timed out"
is "$(pgrep -f "^sleep 600$" | wc -l | tr -d ' ')" 0 "and neither is left behind"
before=$(date +%s)
odd 'head -c 1073741824 /dev/zero; exit 0'
as garbled "prints a gigabyte: garbled"
[ $(($(date +%s) - before)) -le 60 ] && [ "$(du -sm state | cut -f1)" -le 64 ]
ok $? "within a minute, and without keeping it"
odd "$metric 10 ms\"; printf '\\033[2J\\377\\n'; exit 0"
is "$status $(outcome)" "0 ok good 1" "other output is kept apart from values"

# we could not work: no verdict, exit 128
for how in 'exit 128' 'exit 129' 'exit 255' 'kill -SEGV $$'; do
	odd "$how"
	[ $status = 128 ] && [ ! -s out ]
	ok $? "$how: nothing is known, exit 128"
	is "$("$KREGRESS" log --json test.ini | jq -r .commit | grep -c "$(rev odd)")" 0 "$how: nothing is stored of that commit"
done
cp plain.sh measure.sh
printf '#!/no/such/interpreter\n' >measure.sh
k run test.ini
refused 128 "measure.sh" "a program that cannot be started is exit 128 and named"
chmod -x measure.sh
k run test.ini
refused 129 "chmod +x" "a program that is not executable is refused with the remedy"
rm measure.sh
k run test.ini
refused 129 "measure.sh" "a program that is not there is refused by name"

# a workload that declares the metric: its range and unit are checked
cp plain.sh measure.sh
chmod +x measure.sh
cat >work.ini <<-'EOF'
[workload]
name = work
description = a declared metric
command = true

[metric ms]
unit = ms
better = lower
min = 1
max = 100
EOF
declared() { # COMMANDS
	odd "$1"
	rm -rf state
	sed 's/^metric = .*/&\nuse = .\/work.ini/' test.ini >use.ini
	k run --json use.ini
}
declared "$metric 0 ms\"; exit 0"
as garbled "a value below the declared range: garbled"
declared "$metric 101 ms\"; exit 0"
as garbled "a value above the declared range: garbled"
declared "$metric 10 us\"; exit 0"
as garbled "a value in another unit: garbled"
declared "$metric 10\"; exit 0"
is "$status $(outcome)" "0 ok good 1" "a value without unit is taken in the declared one"
sed -i 's/^metric = .*/metric = msec/' use.ini
rm -rf state
k run use.ini
refused 129 "metric 'msec' is not declared" "a metric that the workload does not declare is refused"
grep -q "it has: ms" err
ok $? "with those that it has"
done_testing
