#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# init writes a campaign file that runs as it stands, and nothing where that would not be so.
. "$(dirname "$0")/lib.sh"

measure_sh
merged_history repo

k init --repo repo --good v1 --bad v2 --target command --command ./measure.sh --metric ms \
	--threshold +20% -o measure.runs_per_boot=1 -o measure.warmup_runs=0 -o verdict.better=lower
[ $status = 0 ] && [ ! -s out ] && grep -q "kregress run kregress.ini" err
ok $? "a file is written, and the way on is said"
is "$(grep -v '^#' kregress.ini | grep .)" "[campaign]
name = ms-v2
repo = $tmp/repo
good = v1
bad = v2
[build]
type = none
[target]
type = command
command = ./measure.sh
[workload]
metric = ms
[measure]
runs_per_boot = 1
warmup_runs = 0
[verdict]
threshold = +20%
better = lower" "it has the keys that were given and those that follow, by section"
is "$(awk '/^\[/ { getline next_line; if (next_line !~ /^# /) print $0 }' kregress.ini)" "" \
	"each section starts with a comment"
is "$(ls -A | grep -c 'new$')" 0 "nothing else is left behind"
k run --json
is "$status $(json .culprit)" "0 $(rev slow)" "kregress run takes it as it stands and finds the culprit"

before=$(cat kregress.ini)
k init --repo repo --good v1 --bad v2 --target command --command ./measure.sh --metric other
refused 129 "exists already" "a file that exists is not written over"
is "$(cat kregress.ini)" "$before" "and is unchanged"
k init --repo repo --good v1 --bad v2 --target command --command ./measure.sh --metric other --force
is "$status $(grep -c '^metric = other$' kregress.ini)" "0 1" "--force writes over it"

cd repo || exit 1
k init --good v1 --bad v2 --target command --command ./measure.sh --metric ms --hunt fix --output ../fix.ini
cd .. || exit 1
refused 129 "swap them" "ends in the wrong order are refused"
[ ! -e fix.ini ] && [ ! -e fix.ini.new ]
ok $? "and nothing is written"
k init --repo repo --good nonesuch --bad v2 --target command --command ./measure.sh --metric ms --output x.ini
refused 129 "nonesuch" "an unknown revision is refused"
k init --repo repo --good v1 --bad v2 --target command --command ./measure.sh --metric ms --output x.ini \
	--threshold +20foo
refused 129 "x.ini:" "a wrong value is refused with the line that it would have"
grep -q 'x\.ini\.new' err
is $? 1 "the message names the file that is wanted"
k init --repo repo --good v1 --bad v2 --target command --command ./measure.sh --metric ms --output x.ini \
	-o nosection=1
refused 129 "no section.key=value" "-o without a section is refused"
k init --repo repo --good "$(printf 'v1\nstate = /')" --bad v2 --target command --command ./measure.sh \
	--metric ms --output x.ini
refused 129 "control character" "a line break in a value is refused"
k init --repo repo --bad v2 --metric ms
refused 129 "--good is missing" "a missing end is refused"
k init --repo repo --good v1 --bad v2
refused 129 "--metric is missing" "a missing metric is refused"
k init --repo repo --good v1 --bad v2 --metric ms
refused 129 "--workload is missing" "a missing workload is refused for guests"
k init --repo repo --good v1 --bad v2 --metric ms --target command
refused 129 "--command, which --target command needs, is missing" "a missing command is refused"
k init --repo repo --good v1 --bad v2 --metric ms --workload hugetlb_exit --command ./measure.sh
refused 129 "--command is for --target command" "a command for a guest is refused"
if [ -x "$KREGRESS_DATADIR/build/workloads/hugetlb_exit" ]; then
	k init --repo repo --good v1 --bad v2 --workload hugetlb_exit --metric exit_ms --output guest.ini
	is "$status $(grep -v '^#' guest.ini | grep . | tr '\n' ' ')" "0 [campaign] name = exit_ms-v2 repo = $tmp/repo\
 good = v1 bad = v2 [workload] use = hugetlb_exit metric = exit_ms " "for a guest the defaults serve"
	k init --repo repo --good v1 --bad v2 --workload hugetlb_exit --metric exit --output x.ini
	refused 129 "it has: alloc_ms" "a metric that the workload has not is refused, with those that it has"
else
	skip "workloads are not built" "for a guest the defaults serve"
fi
k init extra
refused 129 "'extra'" "an argument is refused"
[ ! -e x.ini ]
ok $? "no file came of any refusal"
done_testing
