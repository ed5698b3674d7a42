#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run --json: one object with the keys that are fixed, everything else on standard error.
. "$(dirname "$0")/lib.sh"

# structure: each path of the object with the type of what is there, array positions as []
structure() {
	jq -r 'paths as $p | ($p | map(if type == "number" then "[]" else . end) | join(".")) + " "
		+ (getpath($p) | type)' out | sort -u
}

measure_sh
merged_history repo
campaign test.ini
k run test.ini --json -o measure.runs_per_boot=3 -o measure.warmup_runs=1
is "$status $(wc -l <out)" "0 1" "one line on standard output"
is "$(structure)" "bad object
bad.commit string
bad.estimate number
bad.interval array
bad.interval.[] number
builds number
candidates array
candidates.[] object
candidates.[].commit string
candidates.[].share null
confidence null
culprit string
good object
good.commit string
good.estimate number
good.interval array
good.interval.[] number
metric string
samples number
schema number
seconds object
seconds.boot number
seconds.build number
seconds.total number
seconds.workload number
status string
tested array
tested.[] object
tested.[].commit string
tested.[].outcome string
tested.[].samples array
tested.[].samples.[] number
tested.[].trials number
tested.[].verdict string
trials number
unit string" "every key is there with its type, and no other"
is "$(json '.schema, .status, .culprit, .metric, .builds')" "1
found
$(rev slow)
ms
0" "what it says of the campaign"
is "$(json .unit)" "ms" "the unit is the one that the program prints"
is "$(json '.candidates | map(.commit) | join(" ")')" "$(rev slow)" "the culprit is the only candidate"
is "$(json '.good.commit, .bad.commit')" "$(rev v1)
$(rev v2)" "the ends by their full names"
is "$(json '.good.interval + .bad.interval | map(tostring) | join(" ")' | sed 's/\.0//g')" "10 10 20 20" \
	"values without spread have intervals that are points"
is "$(json .trials)" "$(calls)" "trials are the calls of the program"
is "$(json .samples)" "$(($(calls) * 3))" "samples are the runs, warm-ups not counted"
is "$(json '[.tested[].trials] | add')" "$(calls)" "trials of the commits add up to it"
is "$(json '[.tested[].samples | length] | add')" "$(json .samples)" "and so do the samples"
is "$(json '.tested[:2] | map(.trials) | join(" ")')" "3 3" "each end was measured three times"
is "$(json '[.tested[] | {(.samples[0] | floor | tostring): .verdict}] | unique | map(to_entries[0] | .key + " " + .value) | join(", ")')" \
	"10 good, 20 bad" "each verdict is the one that its values call for"
first=$(cat out)
k status --json -o measure.runs_per_boot=3 -o measure.warmup_runs=1 test.ini
is "$(json 'del(.seconds)')" "$(echo "$first" | jq 'del(.seconds)')" "status --json says the same"
k -q run --json -o measure.runs_per_boot=3 -o measure.warmup_runs=1 test.ini
is "$status $(wc -c <err)" "0 0" "with -q there is nothing on standard error"

# decided on a number: what is asked for another threshold is another answer from the same values
k run --json -o verdict.threshold=+200% -o measure.runs_per_boot=3 -o measure.warmup_runs=1 test.ini
is "$status $(json '.status, .culprit, (.candidates | length)')" "1 no_culprit
null
0" "a threshold beyond both ends: no culprit, exit 1"
done_testing
