#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test --json: the object of run with commit, verdict and outcome of the one asked for.
. "$(dirname "$0")/lib.sh"

keys() {
	jq -r 'keys[]' out
}

own() { # of the commit asked for, its row in tested
	json '.commit as $c | [.tested[] | select(.commit == $c)] | map([.verdict, .outcome, .trials, (.samples | length)] | map(tostring) | join(" ")) | join("; ")'
}

measure_sh
merged_history repo
git -C repo checkout -q -b side v1
commit repo beside 20
git -C repo tag beside
commit repo never skip
git -C repo tag never
campaign test.ini
k run --json -o campaign.state=other test.ini
keys >run-keys
: >calls

k test --json -c test.ini slow
is "$status $(wc -l <out)" "1 1" "one object on one line"
is "$(keys)" "$(printf '%s\ncommit\nverdict\noutcome' "$(cat run-keys)" | LC_ALL=C sort)" \
	"the keys of run, and commit, verdict, outcome"
is "$(json '.commit, .verdict, .outcome' | tr '\n' ' ')" "$(rev slow) bad ok " "what it says of the commit"
is "$(own)" "bad ok 1 1" "it is one of the tested ones"
is "$(json '[.tested[].commit] | join(" ")')" "$(rev v1) $(rev v2) $(rev slow)" "the ends are before it"
is "$(json '.status, .culprit' | tr '\n' ' ')" "interrupted null " "the campaign is unfinished"
is "$(json '.good.estimate, .bad.estimate, .trials, .samples' | tr '\n' ' ')" "10 20 7 7 " "ends and totals are the campaign's"
"$KREGRESS" status --json test.ini >status.json
is "$(jq -c 'del(.commit, .verdict, .outcome)' out)" "$(jq -c . status.json)" "the rest is what status --json says"

k test --json -c test.ini beside -o measure.runs_per_boot=1
is "$status $(json '.commit, .verdict, .outcome' | tr '\n' ' ')" "1 $(rev beside) bad ok " "a commit beside the range"
is "$(own)" "bad ok 1 1" "is one of the tested ones too"
k test --json -c test.ini never
is "$status $(json '.commit, .verdict, .outcome' | tr '\n' ' ')" "125 $(rev never) skip untestable " "one that cannot be tested"
is "$(own)" "skip untestable 1 0" "with its outcome, and no samples"
n=$(calls)
k test --json -c test.ini beside
is "$status $(own) $(calls)" "1 bad ok 1 1 $n" "from the store it is the same"
k test --json -c test.ini -o campaign.skip=never never
is "$status $(json '.verdict, .outcome' | tr '\n' ' ')" "125 skip null " "skip = in the file: no outcome"

k run test.ini
k test --json -c test.ini slow
is "$status $(json '.status, .culprit' | tr '\n' ' ')" "1 found $(rev slow) " "after the campaign its answer is there"
k test --json -c test.ini no-such
refused 129 "no-such" "an error prints no object"
done_testing
