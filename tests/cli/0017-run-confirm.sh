#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# With boots in [confirm] the commit found is measured afresh beside its parent before it counts.
. "$(dirname "$0")/lib.sh"

measure_sh
merged_history repo
campaign test.ini
printf '[confirm]\nboots = 3\n' >>test.ini
slow=$(rev slow) parent=$(rev slow~1)

k run --json test.ini
is "$status $(json '.status, .culprit')" "0 found
$slow" "a difference that stands in fresh boots: found"
is "$(tail -n 6 calls | sort | uniq -c | awk '{ print $1 " " $2 }' | sort)" "$(printf '3 %s\n3 %s\n' "$slow" "$parent" | sort)" \
	"culprit and parent were booted three times each, after the search"
is "$(tail -n 6 calls | uniq | wc -l | tr -d ' ')" 4 "in turn: A B, B A, A B"
n=$(calls)
k run test.ini
answers 0 "Confirmed by 3 fresh boots of each" "the report says so"
is "$(calls)" "$n" "and measures nothing again"

# the value of the culprit was a mistake: from its second boot on it is the parent's
cp measure.sh plain.sh
sed "s/^case \$value in/[ \"\$(grep -c $slow calls)\" -lt 2 ] || [ \$KREGRESS_COMMIT != $slow ] || value=10\n&/" plain.sh >measure.sh
rm -r state
: >calls
k run --json test.ini
is "$status $(json '.status, .culprit, (.candidates | map(.commit) | join(" "))')" "1 not_confirmed
null
$slow" "a difference that does not stand: not confirmed, no culprit, exit 1"
k run test.ini
answers 1 "not confirmed: fresh boots" "the report says so"

# the lab fails within the confirmation
rm -r state
: >calls
sed "s/^case \$value in/[ \"\$(grep -c $slow calls)\" -lt 3 ] || exit 128\n&/" plain.sh >measure.sh
k run --json test.ini
refused 128 "go on with: kregress run test.ini" "a lab that fails within it is exit 128"
k status --json test.ini
is "$(json '.status, .culprit, (.candidates | map(.commit) | join(" "))')" "interrupted
null
$slow" "until it is confirmed the commit is no culprit"
k status test.ini
answers 0 "State     confirming $slow" "status says that it is being confirmed"
answers 0 "Go on with: kregress run test.ini" "and how to go on"
cp plain.sh measure.sh
k run --json test.ini
is "$status $(json '.status, .culprit')" "0 found
$slow" "going on ends with the culprit"
is "$(grep -c "$slow" calls)" 5 "its boots before the failure were not measured again"
done_testing
